"""Recurrent layers as loops: one step is a program of a product and of elementwise operations, which fuse.

The forward functions of `ops.recurrent` are loops of NumPy calls; a loop of the program's own runs as machine code. It
leaves what they leave, the gates too, for those the way back reads. A layer of one step, a cell, is no loop. Where
sequences have different lengths, and with a projection, a layer stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..program import Equation, Program, Value
from ..scans import SCAN, Scan
from .building import Builder
from .rules import Rules

decomposed = Rules()
Step = Callable[..., tuple[Sequence[Value], Sequence[Value]]]
"""From a builder, the step's rows, the states and what all steps share: the new states, and what is kept of the step."""


def _columns(b: Builder, x: Value, start: int, stop: int) -> Value:
    return b.getitem(x, index=(slice(None), slice(start, stop)))


def _rnn(b: Builder, row: Value, h: Value, weight: Value, *, relu: bool) -> tuple[Sequence[Value], Sequence[Value]]:
    total = b.add(row, b.matmul(h, b.matrix_transpose(weight)))
    state = b.maximum(total, 0) if relu else b.tanh(total)
    return [state], [state]


def _lstm(b: Builder, row: Value, h: Value, c: Value, weight: Value) -> tuple[Sequence[Value], Sequence[Value]]:
    width = c.shape[1]
    sums = b.add(row, b.matmul(h, b.matrix_transpose(weight)))
    i, f, g, o = (
        (b.tanh if gate == 2 else b.sigmoid)(_columns(b, sums, gate * width, (gate + 1) * width)) for gate in range(4)
    )
    cell = b.add(b.multiply(f, c), b.multiply(i, g))
    state = b.multiply(o, b.tanh(cell))
    return [state, cell], [state, cell, b.concat(i, f, g, o, axis=1, sizes=(width,) * 4)]


def _gru(b: Builder, row: Value, h: Value, weight: Value, bias: Value) -> tuple[Sequence[Value], Sequence[Value]]:
    width = h.shape[1]
    moved = b.add(b.matmul(h, b.matrix_transpose(weight)), bias)
    shares = b.sigmoid(b.add(_columns(b, row, 0, 2 * width), _columns(b, moved, 0, 2 * width)))
    product = _columns(b, moved, 2 * width, 3 * width)
    reset, update = _columns(b, shares, 0, width), _columns(b, shares, width, 2 * width)
    new = b.tanh(b.add(_columns(b, row, 2 * width, 3 * width), b.multiply(reset, product)))
    state = b.add(b.multiply(b.subtract(h, new), update), new)
    return [state], [state, b.concat(shares, new, axis=1, sizes=(2 * width, width)), product]


def _rule(step: Step, states: int) -> Callable[[Builder, Equation], tuple[Value, ...] | None]:
    """The rule that makes a layer of equal steps a loop."""

    def rule(build: Builder, e: Equation) -> tuple[Value, ...] | None:
        x, *others = e.inputs
        params: dict[str, Any] = dict(e.params)
        sizes, reverse = params.pop("sizes"), params.pop("reverse")
        equal = len(set(sizes)) == 1 and all(value.size for value in e.inputs)
        if not equal or any(value.dtype != x.dtype or value.dtype.kind != "f" for value in (*others, *e.outputs)):
            return None
        count, rows = len(sizes), sizes[0]
        if any(state.shape[0] != rows for state in others[:states]):
            return None
        if count == 1:  # a cell: its operations fuse with those around it
            return tuple(step(build, x, *others, **params)[1])
        inside = Builder(Program((), (), ()), {}, strict=False, fold=False, share=True, inner=lambda body: body)
        row = Value((rows, x.shape[1]), x.dtype)
        carries, shared = ([value.like() for value in part] for part in (others[:states], others[states:]))
        following, kept = step(inside, row, *carries, *shared, **params)
        body = Program((*carries, row, *shared), tuple(inside.equations), (*following, *kept), inside.constants)
        outputs = [*[v.like() for v in carries], *[Value((count, *v.shape), v.dtype) for v in kept]]
        column = build.reshape(x, shape=(count, rows, x.shape[1]))
        inputs = (*others[:states], column, *others[states:])
        loop = Scan(build.inner(body), states, 1, count, reverse)
        stacks = build.place(Equation(SCAN, inputs, {"loop": loop}, tuple(outputs), e.site))[states:]
        return tuple([build.reshape(s, shape=v.shape) for s, v in zip(stacks, e.outputs, strict=True)])

    return rule


decomposed("rnn")(_rule(_rnn, 1))
decomposed("lstm")(_rule(_lstm, 2))
decomposed("gru")(_rule(_gru, 1))
