"""Pieces: a sum of zeros with something written into each, which is those pieces side by side.

It is what a loop over the rows of a tensor pulls back to. One after another, n additions of n rows each take n * n; put
together at once they take n.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..program import Equation, Program, Value
from .building import Builder

MOST_IN_ONE_PLACE = 4
"""How many pieces may overlap, on average: where there are more, most additions would be left, out of their loops."""


class AxisRange(NamedTuple):
    """Where on an axis a value stands, from the first element to the one behind the last."""

    axis: int
    start: int
    stop: int
    value: Value


def side_by_side(program: Program) -> Program:
    """The program with sums of pieces that do not overlap put together."""
    if not any(equation.name == "scatter_slice" for equation in program.equations):
        return program
    plans = dict(_plans(program))
    if not plans:
        return program

    def rule(build: Builder, e: Equation) -> Value | None:
        plan = plans.get(e.output)
        return None if plan is None else _joined(build, e.output, *plan)

    return Builder(program, {"add": (rule,)}, strict=False, fold=False, share=False, inner=side_by_side).rewrite()


def _plans(program: Program) -> Iterator[tuple[Value, tuple[list[AxisRange], list[Value]]]]:
    """Sums with the pieces to put together and the other terms."""
    makers, uses = program.makers(), program.uses()
    inner = {
        value
        for e in program.equations
        if e.name == "add"
        for value in e.inputs
        if uses[value] == 1 and value in makers and makers[value].name == "add" and value.shape == e.output.shape
    }
    for e in program.equations:
        if e.name == "add" and e.output not in inner:
            pieces: dict[Value, AxisRange] = {}
            terms = list(_terms(e, inner, makers))
            for value in terms:
                if value in makers and uses[value] == 1 and (piece := _piece(makers[value])):
                    pieces[value] = piece
            chosen = _apart(pieces)
            if len(chosen) > 1 and len(chosen) * MOST_IN_ONE_PLACE >= len(pieces):
                yield e.output, ([*chosen.values()], [value for value in terms if value not in chosen])


def _terms(root: Equation, inner: set[Value], makers: dict[Value, Equation]) -> Iterator[Value]:
    """What is added up to a sum, from left to right."""
    left = list(reversed(root.inputs))
    while left:
        value = left.pop()
        if value in inner:
            left += reversed(makers[value].inputs)
        else:
            yield value


def _piece(e: Equation) -> AxisRange | None:
    """The piece that an equation writes into zeros, if all axes but one are whole."""
    found = extent(e.params["index"], e.output.shape) if e.name == "scatter_slice" and e.inputs[0].size else None
    return None if found is None else AxisRange(*found, e.inputs[0])


def extent(index: Sequence[Any], shape: Sequence[int]) -> tuple[int, int, int] | None:
    """The one axis of which an index takes a part, and where that begins and ends; None for other indices."""
    if None in index or any(entry is not Ellipsis and not isinstance(entry, int | slice) for entry in index):
        return None
    place = next((i for i, entry in enumerate(index) if entry is Ellipsis), len(index))
    after = index[place + 1 :]
    full = [*index[:place], *[slice(None)] * (len(shape) - place - len(after)), *after]
    parts = []
    for axis, (entry, size) in enumerate(zip(full, shape, strict=True)):
        span = range(*(entry if isinstance(entry, slice) else slice(entry % size, entry % size + 1)).indices(size))
        if span.step != 1:
            return None
        if len(span) != size or not isinstance(entry, slice):
            parts.append((axis, span.start, span.start + len(span)))
    return parts[0] if len(parts) == 1 else None


def _apart(pieces: dict[Value, AxisRange]) -> dict[Value, AxisRange]:
    """Of pieces those on the axis of the first that do not overlap, in their order."""
    axis = next((piece.axis for piece in pieces.values()), 0)
    along = [(value, piece) for value, piece in pieces.items() if piece.axis == axis]
    chosen: dict[Value, AxisRange] = {}
    end = 0
    for value, piece in sorted(along, key=lambda each: each[1].start):
        if piece.start >= end:
            chosen[value] = piece
            end = piece.stop
    return chosen


def _joined(build: Builder, output: Value, pieces: list[AxisRange], rest: list[Value]) -> Value:
    """Pieces side by side, with zeros between them, and the other terms added."""
    axis, shape = pieces[0].axis, output.shape

    def long(length: int) -> tuple[int, ...]:
        return (*shape[:axis], length, *shape[axis + 1 :])

    def zeros(length: int) -> list[Value]:
        return [build.broadcast_to(build.scalar(0, output.dtype), shape=long(length))] if length else []

    parts: list[Value] = []
    end = 0
    for piece in pieces:
        parts += zeros(piece.start - end)
        parts.append(build.reshape(build.current(piece.value), shape=long(piece.stop - piece.start)))
        end = piece.stop
    parts += zeros(shape[axis] - end)
    total = build.concat(*parts, axis=axis, sizes=tuple([part.shape[axis] for part in parts]))
    for value in rest:
        total = build.add(total, build.current(value))
    return total
