"""Lowering: a program rewritten in the operations that loop nests support, with index checks and distinct outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ... import ops
from ..passes.building import Builder, Table
from ..passes.dead import without_dead_code
from ..passes.rules import Rules, joined
from ..program import ARRAY, Equation, Program, Value
from .borders import bordered
from .elements import ELEMENTS, KINDS
from .fusion import is_solved
from .im2col import windowed
from .indices import strides

if TYPE_CHECKING:
    from ..._core.typing import Entry, NumpyType

indexed = Rules()

LONG, MANY = 256, 1 << 17
"""The length of rows, and the number of elements, from which on NumPy finds the places of extremes in less time."""


def lowered(program: Program) -> Program:
    """The program, rewritten as far as possible in operations that have machine code.

    Guards that indices are in range are added after those of the program.
    """
    program = _guarded_by_bools(without_dead_code(program))
    rules = joined(indexed.table, windowed.table)
    if any(equation.name in rules or _codeless(equation) for equation in program.equations):
        builder = Checking(program, rules)
        program = builder.rewrite()
        guards = (*program.guards, *[(value, True) for value in builder.inside])
        program = without_dead_code(program.changed(guards=guards))
    return distinct(bordered(program))


def _codeless(equation: Equation) -> bool:
    """Whether a definition is the only way to machine code for an elementwise operation."""
    primitive = equation.primitive
    return (
        primitive.definition is not None
        and primitive.kind in {"elementwise", "zero"}
        and primitive.name not in ELEMENTS
    )


def _guarded_by_bools(program: Program) -> Program:
    """The program with guards of supported dtypes; others become comparisons with the recorded value."""
    constants, equations, guards = dict(program.constants), list(program.equations), []
    for value, expected in program.guards:
        if value.dtype in KINDS:
            guards.append((value, expected))
            continue
        same, known = Value(value.shape, np.dtype(bool)), Value((), value.dtype)
        constants[known] = np.array(expected, value.dtype)
        equations.append(Equation(ops.equal, (value, known), {}, (same,)))
        guards.append((same, True))
    return program.changed(constants=constants, equations=tuple(equations), guards=tuple(guards))


class Checking(Builder):
    """A builder that collects the conditions under which indices are valid, and diagonals can be divided by."""

    def __init__(self, program: Program, rules: Table) -> None:
        super().__init__(program, rules, strict=False, fold=False, share=True, inner=lambda body: body)
        self.defined = _codeless
        self.inside: list[Value] = []
        self._checked: set[tuple[Value, int]] = set()

    def check(self, chosen: Value, size: int) -> None:
        """Require that indices are in range for an axis of that length; negative ones count from the end."""
        if chosen.dtype.kind not in "iu" or (chosen, size) in self._checked or _in_range(self, chosen, -size, size):
            return
        self._checked.add((chosen, size))
        right = self.less(chosen, size)
        if chosen.dtype.kind == "i":
            right = self.logical_and(right, self.greater_equal(chosen, -size))
        self.require(right)

    def require(self, right: Value) -> None:
        """Require that all elements of a mask are true."""
        self.inside.append(self.all(right, axis=tuple(range(len(right.shape))), keepdims=False))


def _in_range(build: Builder, chosen: Value, first: int, end: int) -> bool:
    """Whether indices are known to be in a range: constant ones, in another shape perhaps."""
    while made := build.maker(chosen, "reshape"):
        (chosen,) = made.inputs
    known = build.constants.get(chosen)
    return known is not None and bool(known.size) and bool(first <= known.min() and known.max() < end)


PUT = 1 << 16
"""Elements up to which it is written down for each place of an array what is put there."""


@indexed("take_rows")
def _take_rows(build: Builder, e: Equation) -> Value | None:
    """A gather of a stored value; of a computed one, a sum in which all elements but one are 0."""
    x, chosen = e.inputs
    if not e.output.size:
        return None
    maker = build.makers.get(x)
    if maker is None or maker.name not in ELEMENTS:
        build.check(chosen, x.shape[1])
        return None
    return _summed(build, x, build.reshape(chosen, shape=(*chosen.shape, 1)), 1)


def _summed(build: Builder, x: Value, chosen: Value, axis: int) -> Value:
    """The element that is chosen along an axis, as a sum in which all others are 0."""
    own = build.where(_mask(build, chosen, x.shape[axis], axis), x, build.scalar(0, x.dtype))
    return build.sum(own, axis=(axis,), keepdims=False)


@indexed("put_rows")
def _put_rows(build: Builder, e: Equation) -> Value | None:
    g, chosen = e.inputs
    rows, columns = e.params["shape"]
    if not e.output.size or g.dtype != e.output.dtype:
        return None
    column = build.broadcast_to(g, shape=(rows,)) if g.shape != (rows,) else g
    column, places = (build.reshape(value, shape=(rows, 1)) for value in (column, chosen))
    return build.where(_mask(build, places, columns, 1), column, build.scalar(0, g.dtype))


@indexed("take_along_axis")
def _take_along_axis(build: Builder, e: Equation) -> Value | None:
    x, chosen = e.inputs
    if not e.output.size:
        return None
    if (line := _line(build, x.shape, chosen, e.params["axis"])) is not None:
        return _rows_at(build, x, line, e.output, _as_rows(x.shape))
    if e.params["axis"] != len(x.shape) - 1 or not _one_in_each_row(x.shape, chosen, e.params["axis"]):
        return _rows_at(build, x, _flat(build, x.shape, chosen, e.params["axis"]), e.output, (x.size, 1))
    rows = build.reshape(x, shape=(chosen.size, x.shape[-1]))
    return build.reshape(build.take_rows(rows, build.reshape(chosen, shape=(chosen.size,))), shape=e.output.shape)


@indexed("select_along")
def _select_along(build: Builder, e: Equation) -> Value | None:
    (x, chosen), axis = e.inputs, e.params["axis"]
    if not e.output.size:
        return None
    chosen = build.reshape(chosen, shape=(*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    last = axis == len(x.shape) - 1
    taken = build.take_along_axis(x, chosen, axis=axis) if last else _summed(build, x, chosen, axis)
    return build.reshape(taken, shape=e.output.shape)


@indexed("argmax", "argmin")
def _place(build: Builder, e: Equation) -> Value | None:
    """The first place along an axis, or in all elements, whose element is the extreme one or NaN."""
    (x,), axis = e.inputs, e.params["axis"]
    if not e.output.size or x.dtype not in KINDS:
        return None
    if axis is None:
        x, axis = build.reshape(x, shape=(x.size,)), 0
    if axis == len(x.shape) - 1 and x.shape[axis] >= LONG and x.size >= MANY:
        return None
    extreme = build.op("amax" if e.name == "argmax" else "amin", x, axis=(axis,), keepdims=True)
    found = build.equal(x, extreme)
    if x.dtype.kind == "f":
        found = build.logical_or(found, build.isnan(x))
    places = _numbers(build, x.shape[axis], np.int64, len(x.shape) - axis)
    none = build.scalar(x.shape[axis] - 1, places.dtype)
    first = build.amin(build.where(found, places, none), axis=(axis,), keepdims=False)
    return build.reshape(first, shape=e.output.shape)


@indexed("put_along_axis")
def _put_along_axis(build: Builder, e: Equation) -> Value | None:
    g, chosen = e.inputs
    shape = e.params["shape"]
    if (line := _line(build, shape, chosen, e.params["axis"])) is not None:
        return _added_up(build, g, line, e.output, _as_rows(shape))
    axis = e.params["axis"]
    if not _one_in_each_row(shape, chosen, axis):
        return _added_up(build, g, _flat(build, shape, chosen, axis), e.output, (math.prod(shape), 1))
    if not e.output.size or g.dtype != e.output.dtype:
        return None
    return build.where(_mask(build, chosen, shape[axis], axis), g, build.scalar(0, g.dtype))


def _flat(build: Builder, shape: tuple[int, ...], chosen: Value, axis: int) -> Value:
    """The places in a flat array of a shape that an index along an axis amounts to."""
    places = build.multiply(_wrapped(build, chosen, shape[axis]), strides(shape)[axis])
    for i, (count, step) in enumerate(zip(chosen.shape, strides(shape), strict=True)):
        if i != axis and count > 1:
            starts = np.arange(count, dtype=np.int64) * step
            places = build.add(places, build.constant(starts.reshape(count, *[1] * (len(shape) - 1 - i))))
    return places


def _one_in_each_row(shape: tuple[int, ...], chosen: Value, axis: int) -> bool:
    """Whether an index selects one element along an axis for each position along the others."""
    return bool(chosen.size) and chosen.shape == (*shape[:axis], 1, *shape[axis + 1 :])


@indexed("solve")
def _solve(build: Builder, e: Equation) -> Value | None:
    (a, b), triangle = e.inputs, e.params.get("triangle")
    if not triangle or len(a.shape) != len(b.shape):
        return None
    return build.solve_triangular(a, b, upper=triangle == "upper", unitriangular=False)


@indexed("solve_triangular")
def _solve_triangular(build: Builder, e: Equation) -> None:
    if is_solved(e) and e.output.size and not e.params.get("unitriangular"):
        build.require(build.not_equal(build.diagonal(e.inputs[0], axes=(0, 1)), 0))


@indexed("embedding")
def _embedding(build: Builder, e: Equation) -> None:
    if e.output.size:
        build.check(e.inputs[1], e.inputs[0].shape[0])


@indexed("scatter_rows")
def _scatter_rows(build: Builder, e: Equation) -> None:
    if e.output.size and e.inputs[0].size:
        build.check(e.inputs[1], e.output.shape[0])


@indexed("index")
def _index(build: Builder, e: Equation) -> Value | None:
    x, *chosen = e.inputs
    found = _chosen_rows(build, x.shape, chosen, e.params["spec"]) if e.output.size else None
    return None if found is None else _rows_at(build, x, found[0], e.output, found[1])


@indexed("index_add")
def _index_add(build: Builder, e: Equation) -> Value | None:
    g, *chosen = e.inputs
    found = _chosen_rows(build, e.output.shape, chosen, e.params["spec"]) if g.size else None
    return None if found is None else _added_up(build, g, found[0], e.output, found[1])


def _indexed_axes(shape: tuple[int, ...], chosen: list[Value], spec: Sequence[Entry]) -> slice | None:
    """The axes that integer indices are of, if they are beside each other and all others are taken whole."""
    count, first = len(chosen), next(place for place, entry in enumerate(spec) if entry is ARRAY)
    whole = [entry is Ellipsis or (type(entry) is slice and entry == slice(None)) for entry in spec]
    arrays = [entry is ARRAY for entry in spec[first : first + count]]
    if not all(whole[:first] + arrays + whole[first + count :]) or any(x.dtype.kind not in "iu" for x in chosen):
        return None
    before = len(shape) - (len(spec) - first) if Ellipsis in spec[:first] else first
    return slice(before, before + count)


def _chosen_rows(
    build: Builder, shape: tuple[int, ...], chosen: list[Value], spec: Sequence[Entry]
) -> tuple[Value, tuple[int, int]] | None:
    """The rows at integer indices, and the shape of the array as rows; None where an index is no index of rows."""
    axes = _indexed_axes(shape, chosen, spec)
    if axes is None:
        return None
    sizes, outer = shape[axes], math.prod(shape[: axes.start])
    places = [_wrapped(build, x, size) for x, size in zip(chosen, sizes, strict=True)]
    line = places[0]
    for place, size in zip(places[1:], sizes[1:], strict=True):
        line = build.add(build.multiply(line, size), place)
    line = build.reshape(line, shape=(line.size,))
    if outer != 1:
        starts = build.constant(np.arange(outer).reshape(-1, 1) * math.prod(sizes))
        line = build.reshape(build.add(starts, line), shape=(outer * line.size,))
    return line, (outer * math.prod(sizes), math.prod(shape[axes.stop :]))


@indexed("index_put")
def _index_put(build: Builder, e: Equation) -> Value | None:
    """What is put at constant places: each place knows which value it gets, if any; of several it is the last."""
    x, value, *chosen = e.inputs
    known = [build.constants.get(each) for each in chosen]
    axes = _indexed_axes(x.shape, chosen, e.params["spec"])
    if axes is None or value.dtype != x.dtype or not x.size or x.size > PUT:
        return None
    sizes, outer, inner = x.shape[axes], math.prod(x.shape[: axes.start]), math.prod(x.shape[axes.stop :])
    places = [np.where(one < 0, one + size, one) for one, size in zip(known, sizes, strict=True) if one is not None]
    within = [bool(((one >= 0) & (one < size)).all()) for one, size in zip(places, sizes, strict=False)]
    if len(places) < len(chosen) or not all(within):
        return None
    taken = np.ravel_multi_index(np.broadcast_arrays(*places), sizes)
    line = (np.arange(outer).reshape(-1, 1) * math.prod(sizes) + taken.reshape(-1)).reshape(-1)
    if not line.size:
        return x
    source = np.full(outer * math.prod(sizes), -1)
    source[line] = np.arange(line.size)
    spread = build.broadcast_to(value, shape=(*x.shape[: axes.start], *taken.shape, *x.shape[axes.stop :]))
    rows = build.reshape(spread, shape=(line.size, inner))
    put = build.embedding(rows, build.constant(np.maximum(source, 0)), padding=None, by_frequency=False)
    mask = build.constant(source.reshape(-1, 1) >= 0)
    return build.reshape(build.where(mask, put, build.reshape(x, shape=(len(source), inner))), shape=x.shape)


def _wrapped(build: Builder, chosen: Value, count: int) -> Value:
    """Indices in range counted from the front, as int64."""
    if chosen.dtype == np.uint64:  # others are the same numbers as int64
        build.check(chosen, count)
    if chosen.dtype != np.int64:
        chosen = build.astype(chosen, dtype=np.dtype(np.int64), source=chosen.dtype)
    build.check(chosen, count)
    if _in_range(build, chosen, 0, count):
        return chosen
    return build.where(build.less(chosen, 0), build.add(chosen, count), chosen)


@indexed("scatter_add")
def _scatter_add(build: Builder, e: Equation) -> Value | None:
    x, g, chosen = e.inputs
    line = _line(build, x.shape, chosen, e.params["axis"])
    added = None if line is None else _added_up(build, g, line, e.output, _as_rows(x.shape))
    return None if added is None else build.add(x, added)


def _line(build: Builder, shape: tuple[int, ...], chosen: Value, axis: int) -> Value | None:
    """The row indices that an index of elements amounts to; None if it does not select whole rows."""
    if axis != 0 or chosen.shape[1:] != shape[1:]:
        return None
    if len(shape) == 1:
        return chosen
    made = build.maker(chosen, "broadcast_to")
    if made is None or made.inputs[0].shape != (chosen.shape[0], *[1] * (len(shape) - 1)):
        return None
    return build.reshape(made.inputs[0], shape=chosen.shape[:1])


def _as_rows(shape: tuple[int, ...]) -> tuple[int, int]:
    return shape[0], math.prod(shape[1:])


def _rows_at(build: Builder, x: Value, line: Value, out: Value, rows: tuple[int, int]) -> Value:
    """The rows at indices, of an array seen as rows."""
    places = build.reshape(line, shape=(line.size,))
    return build.reshape(
        build.embedding(build.reshape(x, shape=rows), places, padding=None, by_frequency=False), shape=out.shape
    )


def _added_up(build: Builder, g: Value, line: Value, out: Value, rows: tuple[int, int]) -> Value | None:
    """Zeros, seen as rows, with those of g added at indices."""
    if not out.size or not g.size or g.dtype != out.dtype:
        return None
    places = build.reshape(line, shape=(line.size,))
    added = build.scatter_rows(build.reshape(g, shape=(line.size, rows[1])), places, rows=rows[0])
    return build.reshape(added, shape=out.shape)


def _mask(build: Builder, chosen: Value, count: int, axis: int) -> Value:
    """A mask of the elements selected along an axis, which has length 1 in the index."""
    wrapped = _wrapped(build, chosen, count)
    return build.equal(_numbers(build, count, wrapped.dtype, len(chosen.shape) - axis), wrapped)


def _numbers(build: Builder, count: int, dtype: type[np.int64] | NumpyType, axes: int) -> Value:
    """The numbers 0 to count - 1 along the first of some axes."""
    return build.constant(np.arange(count, dtype=dtype).reshape(-1, *[1] * (axes - 1)))


def distinct(program: Program) -> Program:
    """The program with outputs and writes that are distinct results of its equations."""
    equations: list[Equation] = []
    fixed = {*program.inputs, *program.constants}

    def copied(value: Value) -> Value:
        copy = value.like()
        equations.append(Equation(ops.clone, (value,), {}, (copy,)))
        return copy

    outputs: list[Value] = []
    for value in program.outputs:
        outputs.append(copied(value) if value in fixed else value)
        fixed.add(value)
    writes = [(place, copied(value) if value in program.inputs else value) for place, value in program.writes]
    if not equations and writes == list(program.writes):
        return program
    return replace(program, equations=(*program.equations, *equations), outputs=tuple(outputs), writes=tuple(writes))
