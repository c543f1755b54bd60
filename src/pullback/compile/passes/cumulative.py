"""Cumulative products, sums and extremes as loops over their axis, whose steps compute all elements along the other axes.

Products and sums are carried in doubles, as `_core.xp.running` has it: errors add up, and factors may be out of range before
the whole is not.

A product with a vector takes such a result apart again: then it is a part of the loop, and nothing else is kept of the steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..program import Equation, Program, Value
from ..scans import SCAN, Scan
from .building import Builder
from .rules import Rules

if TYPE_CHECKING:
    from ..._core.typing import NumpyType

cumulated = Rules()

STEPS = {"cumprod": ("multiply", 1), "cumsum": ("add", -0.0)}
"""What a step does, and the number from which it starts, which changes none, not the sign of a zero either."""
WIDE = np.dtype(np.float64)
"""In what they are carried."""
MANY = 1 << 14
"""Elements of rows up to which it takes less time to transpose them than to leave them to NumPy."""

Pair = tuple[Value, Value]
"""What a step is given, and where that comes from."""


class _Steps:
    """The steps of a cumulative result: the state `before` and `after` one, what they are given, and what they do besides."""

    def __init__(self, build: Builder, length: int, first: Value) -> None:
        self.build, self.length, self.first = build, length, first
        self.inside = Builder(Program((), (), ()), {}, strict=False, fold=False, share=True, inner=lambda body: body)
        self.before = self.after = first.like()
        self.columns: list[Pair] = []
        self.shared: list[Pair] = []

    def given(self, value: Value, *, column: bool) -> Value:
        """A value within the steps: one of its rows at each of them, or the whole."""
        inner = Value(value.shape[1:] if column else value.shape, value.dtype)
        (self.columns if column else self.shared).append((inner, value))
        return inner

    def placed(self, e: Equation, carries: Sequence[tuple[Value, Value, Value]], outputs: Sequence[Value]) -> Value:
        """The last result of the loop; of carries are given what they are before and after a step, and at first."""
        states = [(self.before, self.after, self.first), *carries]
        pairs = [*[(inner, outer) for inner, _, outer in states], *self.columns, *self.shared]
        results = (*[after for _, after, _ in states], *outputs)
        body = Program(tuple([v for v, _ in pairs]), tuple(self.inside.equations), results, self.inside.constants)
        loop = Scan(body, len(states), len(self.columns), self.length, reverse=False)
        made = [*[v.like() for v, *_ in states], *[Value((self.length, *v.shape), v.dtype) for v in outputs]]
        inputs = tuple([v for _, v in pairs])
        return self.build.place(Equation(SCAN, inputs, {"loop": loop}, tuple(made), e.site))[-1]


@cumulated("cumprod", "cumsum")
def _as_loop(build: Builder, e: Equation) -> Value | None:
    (x,), axis = e.inputs, e.params["axis"] % max(len(e.output.shape), 1)
    if x.dtype != e.output.dtype or not _looped(x):
        return None
    if (parts := _from_first(build, e, axis)) is not None:
        return build.concat(*parts, axis=axis, sizes=(1, x.shape[axis] - 1))
    _, start = STEPS[e.name]
    steps = _Steps(build, x.shape[axis], _spread(build, start, x, axis, WIDE))
    if (whole := _unspread(build, x, axis)) is not None:
        row = steps.given(_cast(build, build.broadcast_to(whole, shape=steps.first.shape), WIDE), column=False)
    elif (found := _row(steps, x, axis)) is not None:
        row = found
    else:
        return None
    return _stacked(build, e, steps, row, axis)


@cumulated("arglast")
def _last_extremes(build: Builder, e: Equation) -> Value | None:
    """The place of the last extreme element, or NaN, up to each."""
    (x,), axis, largest = e.inputs, e.params["axis"] % max(len(e.output.shape), 1), e.params["largest"]
    if not _looped(x):
        return None
    steps = _Steps(build, x.shape[axis], _spread(build, -math.inf if largest else math.inf, x, axis, x.dtype))
    row = _row(steps, x, axis)
    if row is None:
        return None
    inside, place = steps.inside, Value(steps.first.shape, e.output.dtype)
    number = steps.given(build.constant(np.arange(x.shape[axis], dtype=place.dtype)), column=True)
    steps.after = inside.op("maximum" if largest else "minimum", steps.before, row)
    found = inside.logical_or(inside.equal(row, steps.after), inside.isnan(row))
    last = inside.where(found, number, place)
    none = build.broadcast_to(build.scalar(0, place.dtype), shape=place.shape)
    return _along(build, steps.placed(e, [(place, last, none)], [last]), axis)


def _looped(x: Value) -> bool:
    """Whether there are elements, of a dtype that loops have."""
    return bool(x.size and x.shape) and x.dtype.kind == "f" and x.dtype.itemsize >= 4


def _spread(build: Builder, number: float, x: Value, axis: int, dtype: NumpyType) -> Value:
    """A number for each row of a value along an axis."""
    return build.broadcast_to(build.scalar(number, dtype), shape=(*x.shape[:axis], *x.shape[axis + 1 :]))


def _cast(build: Builder, x: Value, dtype: NumpyType) -> Value:
    return x if x.dtype == dtype else build.astype(x, dtype=dtype, source=x.dtype)


def _row(steps: _Steps, x: Value, axis: int) -> Value | None:
    """A row at each step; none where the rows lie so that they had to be transposed, which takes longer."""
    if axis == len(x.shape) - 1 > 0 and x.size > MANY:
        return None
    others = [i for i in range(len(x.shape)) if i != axis]
    return steps.given(steps.build.permute_dims(x, axes=(axis, *others)), column=True)


def _from_first(build: Builder, e: Equation, axis: int) -> tuple[Value, Value] | None:
    """The first and all further results, where all but the first of what is accumulated have been broadcast."""
    parts = None if e.params.get("exclusive") else _parted(build, e.inputs[0], axis)
    if parts is None:
        return None
    first, others = parts
    whole = _unspread(build, others, axis) if first.shape[axis] == 1 else None
    if whole is None:
        return None
    rest = (*first.shape[:axis], *first.shape[axis + 1 :])
    steps = _Steps(build, others.shape[axis], _cast(build, build.reshape(first, shape=rest), WIDE))
    row = steps.given(_cast(build, build.broadcast_to(whole, shape=rest), WIDE), column=False)
    return first, _stacked(build, e, steps, row, axis)


def _parted(build: Builder, x: Value, axis: int) -> tuple[Value, Value] | None:
    """Two values that have been put beside each other along an axis, or the second of which was written over the end of one."""
    if (joined := build.maker(x, "concat")) is not None:
        both = len(joined.inputs) == 2 and joined.params["axis"] % len(x.shape) == axis
        return (joined.inputs[0], joined.inputs[1]) if both else None
    written = build.maker(x, "overwrite")
    whole = slice(None)
    if written is None or [primitive.name for primitive, _ in written.params["path"]] != ["getitem"]:
        return None
    target, value = written.inputs
    index = written.params["path"][0][1]["index"]
    index = index[:-1] if index[-1:] == (Ellipsis,) else index
    ends = [slice(1, None), slice(1, x.shape[axis])]
    if len(index) != axis + 1 or any(entry != whole for entry in index[:-1]) or index[-1] not in ends:
        return None
    first = build.getitem(target, index=(*index[:-1], slice(0, 1)))
    rest = (*x.shape[:axis], x.shape[axis] - 1, *x.shape[axis + 1 :])
    return first, build.broadcast_to(value, shape=rest)


def _stacked(build: Builder, e: Equation, steps: _Steps, row: Value, axis: int) -> Value:
    """What there is after each step, or before it, along an axis."""
    inside = steps.inside
    steps.after = inside.op(STEPS[e.name][0], steps.before, _cast(inside, row, WIDE))
    kept = _cast(inside, steps.before if e.params.get("exclusive") else steps.after, e.output.dtype)
    return _along(build, steps.placed(e, [], [kept]), axis)


def _along(build: Builder, stack: Value, axis: int) -> Value:
    """Rows along an axis."""
    return build.permute_dims(stack, axes=(*range(1, axis + 1), 0, *range(axis + 1, len(stack.shape))))


def _unspread(build: Builder, x: Value, axis: int) -> Value | None:
    """What has been broadcast along an axis, without that axis: all steps are given the same then."""
    spread = build.maker(x, "broadcast_to")
    if spread is None:
        return None
    (source,) = spread.inputs
    place = axis - len(x.shape) + len(source.shape)
    if place < 0:
        return source
    shape = (*source.shape[:place], *source.shape[place + 1 :])
    return build.reshape(source, shape=shape) if source.shape[place] == 1 else None


@cumulated("sum")
def _of_scaled(build: Builder, e: Equation) -> Value | None:
    """A sum along an axis of a matrix that is cumulative, times a vector: their product."""
    product, axes = build.maker(e.inputs[0], "multiply"), e.params["axis"]
    if product is None or len(e.inputs[0].shape) != 2 or len(axes) != 1 or not e.output.size:
        return None
    rows, columns = e.inputs[0].shape
    fitting = {(rows, 1)} if axes[0] % 2 == 0 else {(columns,), (1, columns)}
    for matrix, other in (product.inputs, product.inputs[::-1]):
        fits = matrix.shape == (rows, columns) and other.shape in fitting
        if fits and (_steps_of(build, matrix) or _beside(build, matrix)):
            vector = build.reshape(other, shape=(other.size,))
            both = (matrix, vector) if axes[0] % 2 else (vector, matrix)
            return build.reshape(build.matmul(*both), shape=e.output.shape)
    return None


@cumulated("matmul")
def _with_vector(build: Builder, e: Equation) -> Value | None:
    """A product of a vector and a matrix that is cumulative along its rows, or has such ones beside each other."""
    a, b = e.inputs
    if (len(a.shape), len(b.shape)) not in {(2, 1), (1, 2)} or not e.output.size:
        return None
    left = len(a.shape) == 2
    matrix, vector = (a, b) if left else (b, a)
    if (parts := _beside(build, matrix)) is not None:
        return _of_parts(build, parts, vector, left=left)
    found = _steps_of(build, matrix)
    if found is None:
        return None
    steps, kept = found
    inside = steps.inside
    if not left:
        one = inside.multiply(kept, steps.given(vector, column=False))
        return steps.placed(e, [], [inside.sum(one, axis=(0,), keepdims=False)])
    total = kept.like()
    added = inside.add(total, inside.multiply(kept, steps.given(vector, column=True)))
    zero = build.broadcast_to(build.scalar(0, total.dtype), shape=total.shape)
    return steps.placed(e, [(total, added, zero)], [])


def _steps_of(build: Builder, matrix: Value) -> tuple[_Steps, Value] | None:
    """The steps of the loop of a matrix that is cumulative along its rows, as `_as_loop` has placed it, and what it keeps of each."""
    turned = build.maker(matrix, "permute_dims")
    made = None if turned is None else build.maker(turned.inputs[0], SCAN.name)
    if made is None:
        return None
    loop: Scan = made.params["loop"]
    body = loop.body
    names = [e.name for e in body.equations if e.name != "astype"]
    if len(names) != 1 or loop.carries != 1 or len(body.inputs) != 2 or len(body.outputs) != 2 or loop.reverse:
        return None
    steps = _Steps(build, loop.length, made.inputs[0])
    row = steps.given(made.inputs[1], column=loop.columns == 1)
    inner = dict(zip(body.inputs, (steps.before, row), strict=True))
    for e in body.equations:
        if any(v not in inner for v in e.inputs):
            return None
        inner[e.output] = steps.inside.op(e.name, *[inner[v] for v in e.inputs], **e.params)
    if any(v not in inner for v in body.outputs):
        return None
    steps.after, kept = (inner[v] for v in body.outputs)
    return steps, kept


def _beside(build: Builder, matrix: Value) -> list[Value] | None:
    """The matrices that one consists of from left to right, if one of them is cumulative."""
    joined = build.maker(matrix, "concat")
    if joined is None or joined.params["axis"] % 2 != 1:
        return None
    return [*joined.inputs] if any(_steps_of(build, part) for part in joined.inputs) else None


def _of_parts(build: Builder, parts: Sequence[Value], vector: Value, *, left: bool) -> Value:
    """The product of matrices beside each other and a vector."""
    if not left:
        products = [build.matmul(vector, part) for part in parts]
        return build.concat(*products, axis=0, sizes=tuple([part.shape[1] for part in parts]))
    start, total = 0, None
    for part in parts:
        product = build.matmul(part, build.getitem(vector, index=(slice(start, start + part.shape[1]),)))
        total = product if total is None else build.add(total, product)
        start += part.shape[1]
    assert total is not None
    return total
