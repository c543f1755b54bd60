"""Buffers: arrays that a loop fills row by row, or that grow at their end, are put together once, when they are complete.

Each `buf[t] = h` makes another version of the whole buffer, its way back adds an array of zeros but for a row to another one,
and each `acc = cat([acc, h])` makes a longer array. A program reads few of these versions, and of most only some row. So writes
wait: a row that has been written is that value, and only a version that is read as a whole is made, as a stack of its rows.
What is left of a loop is its steps.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import ops
from ..program import Equation, Program, Value
from .dead import without_dead_code
from .layouts import expanded, part_of_part

if TYPE_CHECKING:
    from ..._core.primitives import Primitive
    from ..._core.typing import Threshold

FEWEST: Threshold = 32
"""Writes, or concatenations, of the shortest program that is looked at."""


class Spot(NamedTuple):
    """The part of an array at some places of adjacent axes: all of the axes before and behind."""

    axis: int
    places: tuple[int, ...]


def put_together(program: Program) -> Program:
    """The program with buffers made once."""
    counts = Counter(e.name for e in program.equations)
    if max(counts["overwrite"], counts["scatter_slice"], counts["concat"]) < FEWEST:
        return program
    return without_dead_code(_Rewriting(program).rewrite())


class _Rows:
    """A buffer of which rows are written, version by version."""

    def __init__(self, base: Value, spot: Spot) -> None:
        self.base = base
        self.axis, self.axes = spot.axis, len(spot.places)
        self.written: list[Equation] = []
        self._rows: dict[tuple[int, ...], list[tuple[int, Value]]] = {}

    def fits(self, spot: Spot) -> bool:
        """Whether a part is a row of this buffer."""
        return spot.axis == self.axis and len(spot.places) == self.axes

    def know(self, spot: Spot, value: Value) -> None:
        """Note what a row is in the newest version."""
        self._rows.setdefault(spot.places, []).append((len(self.written), value))

    def row(self, places: tuple[int, ...], version: int) -> Value | None:
        """What was written to a row last, up to a version."""
        known = self._rows.get(places, [])
        found = bisect.bisect_right(known, version, key=lambda each: each[0])
        return known[found - 1][1] if found else None

    def mostly_written(self, version: int) -> bool:
        """Whether most rows of a version have been written."""
        count = sum(known[0][0] <= version for known in self._rows.values())
        return 2 * count >= math.prod(self.lengths) > 1

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of the axes along which the rows are counted."""
        return self.base.shape[self.axis : self.axis + self.axes]


class _Pieces:
    """An array that grows at the end of an axis, version by version: a version is how many pieces it has."""

    def __init__(self, axis: int) -> None:
        self.axis = axis
        self.values: list[Value] = []
        self.starts = [0]

    def add(self, values: tuple[Value, ...]) -> int:
        """The next version, with more pieces."""
        for value in values:
            self.values.append(value)
            self.starts.append(self.starts[-1] + value.shape[self.axis])
        return len(self.values)

    def within(self, start: int, stop: int) -> int | None:
        """The piece that has all places from one up to another."""
        found = bisect.bisect_right(self.starts, start) - 1
        return found if found < len(self.values) and start < stop <= self.starts[found + 1] else None


class _Rewriting:
    """One walk through a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.equations: list[Equation] = []
        self.now: dict[Value, Value] = {}
        self.waiting: dict[Value, tuple[_Rows | _Pieces, int]] = {}
        self.newest: dict[_Rows | _Pieces, int] = {}
        self.outputs: dict[tuple[_Rows | _Pieces, int], Equation] = {}
        self.makers = program.makers()
        self.parts: dict[Value, tuple[Value, tuple[int | slice, ...]]] = {}

    def rewrite(self) -> Program:
        """The program with what waits made where it is needed."""
        rules: dict[str, Callable[[Equation], bool]] = {
            "overwrite": self._written, "add": self._added, "concat": self._joined, "getitem": self._read, "replay": self._read,
        }  # fmt: skip
        for e in self.program.equations:
            rule = rules.get(e.name)
            if rule is None or not rule(e):
                self._keep(e)
        program = self.program
        return program.changed(
            outputs=tuple(map(self._made, program.outputs)),
            writes=tuple((place, self._made(value)) for place, value in program.writes),
            guards=tuple((self._made(value), expected) for value, expected in program.guards),
            equations=tuple(self.equations),
        )

    def _keep(self, e: Equation) -> None:
        self.equations.append(Equation(e.primitive, tuple(map(self._made, e.inputs)), e.params, e.outputs, e.site))

    def _new(
        self, like: Equation, primitive: Primitive, inputs: tuple[Value, ...], output: Value, **params: object
    ) -> Value:
        """A new equation at the site of another one."""
        self.equations.append(Equation(primitive, inputs, params, (output,), like.site))
        return output

    def _made(self, value: Value) -> Value:
        """A value of the program as it now is; a version that waits is made."""
        if value not in self.waiting:
            return self.now.get(value, value)
        kept, version = self.waiting[value]
        made = self._stacked(kept, version) if isinstance(kept, _Rows) else self._concatenated(kept, version)
        del self.waiting[value]
        self.now[value] = made
        return made

    def _extends(self, value: Value) -> tuple[_Rows | _Pieces | None, int]:
        """What waits for a value to be written on, if nothing else has been written to it since."""
        kept, version = self.waiting.get(value, (None, 0))
        return (kept, version) if kept is not None and self.newest[kept] == version else (None, 0)

    def _wait(self, e: Equation, kept: _Rows | _Pieces, version: int) -> None:
        self.waiting[e.output] = kept, version
        self.newest[kept] = version
        self.outputs[kept, version] = e

    # Rows

    def _written(self, e: Equation) -> bool:
        """Note a write to a row; False for any other."""
        target, value = e.inputs
        spot = _spot(e, target)
        if spot is None or value.dtype != target.dtype:
            return False
        rows, value = self._rows_of(target, spot), self._made(value)
        self._write(rows, spot, value, Equation(e.primitive, (target, value), e.params, e.outputs, e.site))
        return True

    def _added(self, e: Equation) -> bool:
        """Note that something is added to a row; False for any other sum."""
        for target, value in (e.inputs, e.inputs[::-1]):
            maker = self.makers.get(value)
            spot = _spot(maker, value) if maker is not None and maker.name == "scatter_slice" else None
            if maker is not None and spot is not None and target.shape == value.shape and target is not value:
                rows, part = self._rows_of(target, spot), self._made(maker.inputs[0])
                before = self._row(e, rows, spot.places, len(rows.written))
                total = self._new(e, ops.add, (before, part), part.like())
                self._write(rows, spot, total, Equation(e.primitive, (target, value), e.params, e.outputs, e.site))
                return True
        return any(self._added_at_end(e, *pair) for pair in (e.inputs, e.inputs[::-1]))

    def _added_at_end(self, e: Equation, target: Value, value: Value) -> bool:
        """Note that something is added at the end of a part of an array, as on the way back of one that has grown."""
        maker, whole = self.makers.get(value), self.now.get(target, target)
        if maker is None or maker.name != "scatter_slice" or whole not in self.parts or whole.shape != value.shape:
            return False
        full = expanded(maker.params["index"], len(value.shape)) if isinstance(maker.params["index"], tuple) else None
        axes = [axis for axis, entry in enumerate(full or ()) if entry != slice(None)]
        if full is None or len(axes) != 1 or not isinstance(entry := full[axes[0]], slice):
            return False
        span, length = range(value.shape[axes[0]])[entry], value.shape[axes[0]]
        if span.step != 1 or not 0 < span.start < span.stop == length:
            return False
        rest, last = (self._part(e, whole, axes[0], *ends) for ends in ((0, span.start), (span.start, length)))
        total = self._new(e, ops.add, (last, self._made(maker.inputs[0])), last.like())
        pieces = _Pieces(axes[0])
        self._wait(e, pieces, pieces.add((rest, total)))
        return True

    def _part(self, like: Equation, whole: Value, axis: int, start: int, stop: int) -> Value:
        """A part of what is a part itself, along one axis."""
        source, within = self.parts[whole]
        index = part_of_part(source.shape, within, (*[slice(None)] * axis, slice(start, stop), ...))
        assert index is not None
        shape = (*whole.shape[:axis], stop - start, *whole.shape[axis + 1 :])
        made = self._new(like, ops.getitem, (self._made(source),), Value(shape, whole.dtype), index=index)
        self.parts[made] = source, index
        return made

    def _rows_of(self, target: Value, spot: Spot) -> _Rows:
        """What waits for a buffer of which such a row is written."""
        kept, _ = self._extends(target)
        if isinstance(kept, _Rows) and kept.fits(spot):
            return kept
        rows = _Rows(self._made(target), spot)
        maker = self.makers.get(target)
        if maker is not None and maker.name == "scatter_slice" and (first := _spot(maker, target)) and rows.fits(first):
            rows.know(first, self._made(maker.inputs[0]))
        return rows

    def _write(self, rows: _Rows, spot: Spot, value: Value, e: Equation) -> None:
        rows.written.append(e)
        rows.know(spot, value)
        self._wait(e, rows, len(rows.written))

    def _stacked(self, rows: _Rows, version: int) -> Value:
        """A version of a buffer: its rows, or the writes one after another where most of it was there before."""
        e = self.outputs[rows, version]
        if not rows.mostly_written(version) or (rows.axis and rows.axes > 1):
            last = rows.base
            for written in rows.written[:version]:
                inputs = last, self._made(written.inputs[1])
                last = self._new(written, written.primitive, inputs, written.output.like(), **written.params)
            return last
        axis, shape = rows.axis, e.output.shape
        parts = [self._row(e, rows, places, version) for places in np.ndindex(*rows.lengths)]
        stacked = Value((len(parts), *_row_shape(rows)), e.output.dtype)
        self._new(e, ops.stack, tuple(parts), stacked, axis=0)
        if axis:
            axes = (*range(1, axis + 1), 0, *range(axis + 1, len(shape)))
            return self._new(e, ops.permute_dims, (stacked,), e.output.like(), axes=axes)
        return (
            stacked if stacked.shape == shape else self._new(e, ops.reshape, (stacked,), e.output.like(), shape=shape)
        )

    def _row(self, e: Equation, rows: _Rows, places: tuple[int, ...], version: int) -> Value:
        """A row of a version in its shape; one number may have been written to all of it."""
        row, shape = rows.row(places, version), _row_shape(rows)
        if row is None:
            index = (*[slice(None)] * rows.axis, *places, Ellipsis)
            return self._new(e, ops.getitem, (rows.base,), Value(shape, rows.base.dtype), index=index)
        return (
            row if row.shape == shape else self._new(e, ops.broadcast_to, (row,), Value(shape, row.dtype), shape=shape)
        )

    # Pieces

    def _joined(self, e: Equation) -> bool:
        """Note that an array has grown."""
        axis = e.params["axis"]
        kept, _ = self._extends(e.inputs[0])
        if isinstance(kept, _Pieces) and kept.axis == axis:
            more = e.inputs[1:]
        else:
            kept, more = _Pieces(axis), e.inputs
        self._wait(e, kept, kept.add(tuple(map(self._made, more))))
        return True

    def _concatenated(self, pieces: _Pieces, version: int) -> Value:
        e, values = self.outputs[pieces, version], pieces.values[:version]
        sizes = tuple(value.shape[pieces.axis] for value in values)
        return self._new(e, ops.concat, tuple(values), e.output.like(), axis=pieces.axis, sizes=sizes)

    # Reads

    def _read(self, e: Equation) -> bool:
        """Read a row, or a part of a piece, of what waits, or a part of a part; False for anything else."""
        if e.inputs[0] not in self.waiting:
            return self._read_part(e)
        kept, version = self.waiting[e.inputs[0]]
        if isinstance(kept, _Pieces):
            return self._read_piece(e, kept, version)
        spot = _spot(e, e.inputs[0])
        if spot is None or not kept.fits(spot):
            return False
        self.now[e.output] = self._row(e, kept, spot.places, version)
        return True

    def _read_part(self, e: Equation) -> bool:
        source, within = self.parts.get(e.inputs[0], (e.inputs[0], None))
        index = _index(e)
        if index is not None and (found := part_of_part(source.shape, within, index)) is not None:
            self.parts[e.output] = source, found
            self._new(e, ops.getitem, (self._made(source),), e.output, index=found)
            return True
        return False

    def _read_piece(self, e: Equation, pieces: _Pieces, version: int) -> bool:
        index = _index(e)
        full = None if index is None else expanded(index, len(e.inputs[0].shape))
        if full is None or any(entry != slice(None) for i, entry in enumerate(full) if i != pieces.axis):
            return False
        entry, length = full[pieces.axis], pieces.starts[version]
        span = range(length)[entry] if isinstance(entry, slice) else range(entry % length, entry % length + 1)
        piece = pieces.within(span.start, span.stop) if span.step == 1 and len(span) else None
        if piece is None or piece >= version:
            return False
        value, start = pieces.values[piece], pieces.starts[piece]
        if value.shape == e.output.shape:
            self.now[e.output] = value
            return True
        full[pieces.axis] = (
            slice(span.start - start, span.stop - start) if isinstance(entry, slice) else span.start - start
        )
        self._new(e, ops.getitem, (value,), e.output, index=(*full, Ellipsis))
        return True


def _row_shape(rows: _Rows) -> tuple[int, ...]:
    shape = rows.base.shape
    return (*shape[: rows.axis], *shape[rows.axis + rows.axes :])


def _index(e: Equation) -> tuple[object, ...] | None:
    """The index of an equation that reads or writes a part, if it is one alone."""
    if "index" in e.params:
        found = e.params["index"]
    else:
        path = e.params["path"]
        found = path[0][1]["index"] if len(path) == 1 and path[0][0] is ops.getitem else None
    return found if isinstance(found, tuple) else None


def _spot(e: Equation, array: Value) -> Spot | None:
    """The part of an array that an equation reads or writes, if that is at some places of adjacent axes."""
    index = _index(e)
    full = None if index is None else expanded(index, len(array.shape))
    if full is None:
        return None
    counted = [i for i, entry in enumerate(full) if isinstance(entry, int)]
    if not counted or counted != [*range(counted[0], counted[-1] + 1)]:
        return None
    if any(entry != slice(None) for i, entry in enumerate(full) if i not in counted):
        return None
    return Spot(
        counted[0], tuple(int(entry) % array.shape[i] for i, entry in enumerate(full) if isinstance(entry, int))
    )
