"""Cumulative products and sums as loops over their axis, whose steps compute all elements along the other axes.

A product with a vector takes such a result apart again: then it is a part of the loop, and nothing else is kept of the steps.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..program import Equation, Program, Value
from ..scans import SCAN, Scan
from .building import Builder
from .rules import Rules

cumulated = Rules()

STEPS = {"cumprod": ("multiply", 1), "cumsum": ("add", 0)}
"""What a step does, and the number from which it starts."""
FEW, MANY = 16, 1 << 14
"""Elements along the other axes up to which NumPy takes less time, and those of rows that lie so that they had to be transposed."""

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
    if x.dtype != e.output.dtype or x.dtype.kind != "f" or x.dtype.itemsize < 4 or e.params.get("exclusive"):
        return None
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])
    if not x.size or x.size // x.shape[axis] <= FEW:
        return None
    name, start = STEPS[e.name]
    steps = _Steps(build, x.shape[axis], build.broadcast_to(build.scalar(start, x.dtype), shape=rest))
    if (whole := _unspread(build, x, axis)) is not None:
        row = steps.given(build.broadcast_to(whole, shape=rest), column=False)
    elif axis == len(x.shape) - 1 and x.size > MANY:
        return None
    else:
        others = [i for i in range(len(x.shape)) if i != axis]
        row = steps.given(build.permute_dims(x, axes=(axis, *others)), column=True)
    steps.after = steps.inside.op(name, steps.before, row)
    stack = steps.placed(e, [], [steps.after])
    return build.permute_dims(stack, axes=(*range(1, axis + 1), 0, *range(axis + 1, len(x.shape))))


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
    steps = _steps_of(build, matrix)
    if steps is None:
        return None
    inside = steps.inside
    if not left:
        one = inside.multiply(steps.after, steps.given(vector, column=False))
        return steps.placed(e, [], [inside.sum(one, axis=(0,), keepdims=False)])
    total = steps.before.like()
    added = inside.add(total, inside.multiply(steps.after, steps.given(vector, column=True)))
    zero = build.broadcast_to(build.scalar(0, total.dtype), shape=total.shape)
    return steps.placed(e, [(total, added, zero)], [])


def _steps_of(build: Builder, matrix: Value) -> _Steps | None:
    """The steps of the loop of a matrix that is cumulative along its rows, as `_as_loop` has placed it."""
    turned = build.maker(matrix, "permute_dims")
    made = None if turned is None else build.maker(turned.inputs[0], SCAN.name)
    if made is None:
        return None
    loop: Scan = made.params["loop"]
    body = loop.body
    if len(body.equations) != 1 or loop.carries != 1 or len(body.inputs) != 2 or loop.reverse:
        return None
    steps = _Steps(build, loop.length, made.inputs[0])
    row = steps.given(made.inputs[1], column=loop.columns == 1)
    inner = dict(zip(body.inputs, (steps.before, row), strict=True))
    (equation,) = body.equations
    if equation.output not in body.outputs or any(v not in inner for v in equation.inputs):
        return None
    steps.after = steps.inside.op(equation.name, *[inner[v] for v in equation.inputs], **equation.params)
    return steps


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
