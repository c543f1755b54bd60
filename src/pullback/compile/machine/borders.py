"""Borders: a long part with short ones beside it, as what is shifted or padded has, is computed part by part.

A concatenation is stored before anything else reads it. In the stages of a stencil each would be stored so, and read again. As
elementwise operations on it are those of its parts side by side, and a slice of it is slices of the parts, nothing needs to be
stored between them: the long parts of all stages are one loop nest, and the short ones another.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from ... import ops
from ..passes.building import Builder, Rule, Table
from ..passes.dead import without_dead_code
from ..passes.pieces import extent
from ..program import Equation, Program, Value
from .elements import ELEMENTS, lowers

LONG, SHARE = 512, 8
"""Elements that the long part has at least, and of how many of all elements the short ones have at most one."""
MOST = 16
"""The most parts of a value."""
SHIFTED = 32
"""The cost, in additions, up to which what is sliced is computed again for each shift."""
JOINING = {"concat", "scatter_slice"}


class Parts(NamedTuple):
    """Values side by side along an axis."""

    axis: int
    parts: tuple[Value, ...]

    @property
    def cuts(self) -> list[int]:
        """Where each begins, and where the last one ends."""
        return [0, *itertools.accumulate(part.shape[self.axis] for part in self.parts)]


def bordered(program: Program) -> Program:
    """The program with elementwise operations on bordered values, and slices of these, as those of their parts."""
    if not any(equation.name in JOINING and equation.output.size >= LONG for equation in program.equations):
        return program
    split = _never_whole(program)
    if not any(equation.name in JOINING and equation.output in split for equation in program.equations):
        return program
    return without_dead_code(PartBuilder(program, split).rewrite())


def _never_whole(program: Program) -> set[Value]:
    """Values that only elementwise operations, slices and concatenations read."""
    whole = set(program.needed)
    for equation in program.equations:
        if equation.name != "getitem" and equation.name not in JOINING and equation.name not in ELEMENTS:
            whole.update(equation.inputs)
    return {value for equation in program.equations for value in equation.outputs} - whole


class PartBuilder(Builder):
    """A builder that knows of which parts values are."""

    def __init__(self, program: Program, split: set[Value]) -> None:
        elementwise: Rule = lambda _, e: self._elementwise(e)  # noqa: E731  # as the others are
        table: Table = dict.fromkeys(ELEMENTS, (elementwise,))
        table["concat"] = (lambda _, e: self._joined(e, Parts(e.params["axis"], e.inputs)),)
        table["scatter_slice"] = (lambda _, e: self._scattered(e),)
        table["getitem"] = (lambda _, e: self._sliced(e),)
        super().__init__(program, table, strict=False, fold=False, share=True, inner=lambda body: body)
        self.split, self.ends = split, set(program.needed)
        self.known: dict[Value, Parts] = {}
        self.costs: dict[Value, int] = {}

    def _joined(self, e: Equation, found: Parts) -> Value | None:
        """What an equation gives, as parts, which are put together where somebody reads them as a whole."""
        flat = [part for value in found.parts for part in self._parts(value, found.axis) if part.size]
        sizes = [part.size for part in flat]
        long, total = max(sizes, default=0), sum(sizes)
        known = e.output in self.split or e.output in self.ends
        if not known or long < LONG or (total - long) * SHARE > total or len(flat) > MOST:
            return None
        if any(part.dtype != e.output.dtype for part in flat):
            return None
        along = tuple([part.shape[found.axis] for part in flat])
        params = {"axis": found.axis, "sizes": along}
        (whole,) = self._shared(Equation(ops.concat, tuple(flat), params, e.outputs, e.site))
        if e.output in self.split:
            self.known[whole] = Parts(found.axis, tuple(flat))
        return whole

    def _parts(self, value: Value, axis: int) -> tuple[Value, ...]:
        found = self.known.get(value)
        return found.parts if found is not None and found.axis == axis else (value,)

    def _scattered(self, e: Equation) -> Value | None:
        (x,), shape = e.inputs, e.output.shape
        found = extent(e.params["index"], shape)
        if found is None or len(x.shape) != len(shape):
            return None
        axis, start, stop = found
        before, after = [
            self.broadcast_to(self.scalar(0, x.dtype), shape=(*shape[:axis], length, *shape[axis + 1 :]))
            for length in (start, shape[axis] - stop)
        ]
        return self._joined(e, Parts(axis, (before, x, after)))

    def _elementwise(self, e: Equation) -> Value | None:
        """An elementwise operation, part by part; its parts end where one of any operand does."""
        shape, dtypes = e.output.shape, tuple([value.dtype for value in e.inputs])
        found = [self.known[value] for value in e.inputs if value in self.known and value.shape == shape]
        if not found or not lowers(e.name, dtypes, e.output.dtype, e.params):
            return None
        axis = found[0].axis
        cuts = sorted({cut for each in found if each.axis == axis for cut in each.cuts})
        parts = []
        for start, stop in itertools.pairwise(cuts):
            operands = tuple([self._between(value, len(shape), axis, start, stop) for value in e.inputs])
            parts.append(self.apply(e.primitive, operands, e.params)[0])
        return self._joined(e, Parts(axis, tuple(parts)))

    def _between(self, value: Value, axes: int, axis: int, start: int, stop: int) -> Value:
        """What of an operand belongs to a stretch of an axis of the result: all of it, if it is broadcast along that axis."""
        own = axis - axes + len(value.shape)
        if own < 0 or value.shape[own] == 1:
            return value
        found = self._stretch(Parts(own, self._parts(value, own)), start, stop)
        return found[0] if len(found) == 1 else self.getitem(value, index=_span(own, start, stop))

    def _stretch(self, whole: Parts, start: int, stop: int) -> list[Value]:
        """The parts of a stretch of a value."""
        found = []
        for part, (first, last) in zip(whole.parts, itertools.pairwise(whole.cuts), strict=True):
            begin, end = max(start, first) - first, min(stop, last) - first
            if begin < end:
                found.append(self._cut(part, whole.axis, begin, end))
        return found

    def _cut(self, value: Value, axis: int, start: int, stop: int) -> Value:
        """A stretch of a value that is no whole of parts: what is computed from its operands' stretches, if that costs little."""
        if stop - start == value.shape[axis]:
            return value
        maker = self.makers.get(value)
        if maker is None or maker.name not in ELEMENTS or self._cost(value) > SHIFTED:
            return self.getitem(value, index=_span(axis, start, stop))
        operands = tuple([self._between(x, len(value.shape), axis, start, stop) for x in maker.inputs])
        return self.apply(maker.primitive, operands, maker.params)[0]

    def _sliced(self, e: Equation) -> Value | None:
        """A slice of parts: the parts that it cuts, unless those would be costly to compute again."""
        (x,) = e.inputs
        whole, found = self.known.get(x), extent(e.params["index"], x.shape)
        if whole is None or found is None or found[0] != whole.axis or len(e.output.shape) != len(x.shape):
            return None
        if max(map(self._cost, whole.parts)) > SHIFTED:
            return None
        parts = self._stretch(whole, *found[1:])
        return parts[0] if len(parts) == 1 else self._joined(e, Parts(whole.axis, tuple(parts)))

    def _cost(self, value: Value) -> int:
        """The additions that an element of a value takes, from what is stored; no more than are allowed, and one."""
        if value not in self.costs:
            maker = self.makers.get(value)
            inputs = maker.inputs if maker is not None and (maker.name == "getitem" or maker.name in ELEMENTS) else ()
            own = ELEMENTS[maker.name].cost if maker is not None and maker.name in ELEMENTS else 0
            self.costs[value] = min(own + sum(map(self._cost, inputs)), SHIFTED + 1)
        return self.costs[value]


def _span(axis: int, start: int, stop: int) -> tuple[Any, ...]:
    """The index of a stretch of an axis."""
    return (*[slice(None)] * axis, slice(start, stop), Ellipsis)
