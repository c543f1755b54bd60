"""What is not computed while it is recorded: long loops, and operations on large arrays.

The program computes them a moment later, many times quicker. Until then the record goes on with arrays that have the right
shapes and dtypes, and memory without numbers. What needs the numbers gets them: they are computed by what is written down,
from arrays that are kept as they were. So nothing is put off whose shape or layout might depend on numbers, which
might fail, or which draws random ones.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

import numpy as np

from .._core.machine import budget
from .._core.modes import quiet
from ..extend import Primitive
from .program import Equation, Value, effectful

Array = np.ndarray[Any, np.dtype[Any]]
Kind = tuple[tuple[int, ...], np.dtype[Any]]

LARGE = 1 << 16
"""Elements of a result from which on it is put off."""
LONG = 64
"""Steps of a loop from which on it is put off."""

REDUCTIONS = {"sum", "mean", "amax", "amin"}


class Deferred:
    """What is put off: the equations in order, the arrays they begin with, and the memory that waits for numbers."""

    def __init__(self) -> None:
        self.equations: list[Equation] = []
        self.known: dict[Value, Array] = {}
        self.memories: WeakSet[Any] = WeakSet()

    def waiting(self) -> list[Any]:
        """The memory that waits, and that anybody still holds."""
        return [memory for memory in list(self.memories) if memory.array is None]

    def compute(self) -> None:
        """Have all numbers, operation by operation; then nothing is put off any more."""
        with budget.once():
            self._compute()
        self._forget()

    def _compute(self) -> None:
        memories = self.waiting()
        held, wanted = dict(self.known), {memory.value for memory in memories}
        needed, uses = set(wanted), Counter(wanted)
        steps = []
        for equation in reversed(self.equations):
            if not needed.isdisjoint(equation.outputs):
                steps.append(equation)
                needed.update(equation.inputs)
                uses.update(set(equation.inputs))
        for equation in reversed(steps):
            arrays = [held[value] for value in equation.inputs]
            made = quiet.copy().run(equation.primitive.forward, *arrays, **equation.params)
            held.update(zip(equation.outputs, made if type(made) is tuple else (made,), strict=True))
            for value in {*equation.inputs}:
                uses[value] -= 1
                if not uses[value]:
                    del held[value]
        for memory in memories:
            memory.fill(np.asarray(held[memory.value]))

    def abandon(self, error: BaseException) -> None:
        """Have all numbers, as far as they can be had after an error; nobody needs those that become NaN here."""
        if self.waiting() and isinstance(error, Exception):
            with contextlib.suppress(Exception):  # it may be that error, once more
                self.compute()
        for memory in self.waiting():
            memory.fill(np.full(memory.form.shape, np.nan).astype(memory.form.dtype))
        self._forget()

    def _forget(self) -> None:
        self.equations.clear()
        self.known.clear()
        self.memories.clear()


def begins(primitive: Primitive, forms: Sequence[Any], params: dict[str, Any]) -> bool:
    """Whether an operation is worth putting off."""
    if primitive.name == "scan_loop":
        return bool(params["loop"].length >= LONG)
    if primitive.kind != "elementwise" or math.prod([form.size for form in forms]) < LARGE:
        return False
    return math.prod(np.broadcast_shapes(*[form.shape for form in forms])) >= LARGE


def foreseen(primitive: Primitive, forms: Sequence[Array], params: dict[str, Any]) -> list[Kind] | None:
    """The shapes and dtypes of the results of an operation that may be put off; None for others."""
    if primitive.name == "scan_loop":
        loop = params["loop"]
        if not loop.length or any(effectful(equation) for equation in loop.body.equations):
            return None
        ends, rows = loop.body.outputs[: loop.carries], loop.body.outputs[loop.carries :]
        return [(v.shape, v.dtype) for v in ends] + [((loop.length, *v.shape), v.dtype) for v in rows]
    if not all(form.dtype.kind in "bf" and form.size and _in_order(form) for form in forms):
        return None
    if len({form.dtype for form in forms if form.dtype.kind == "f"}) > 1:
        return None
    if primitive.kind == "elementwise":
        small = [np.zeros((1,) * form.ndim, form.dtype) for form in forms]
        made = quiet.copy().run(primitive.forward, *small, **params)
        if type(made) is tuple or any(np.may_share_memory(made, each) for each in small):
            return None
        return [(np.broadcast_shapes(*[form.shape for form in forms]), made.dtype)]
    if primitive.name in REDUCTIONS and type(params["axis"]) is tuple and params["axis"]:
        (x,) = forms
        axes = [axis % x.ndim for axis in params["axis"]]
        kept = [1 if i in axes else size for i, size in enumerate(x.shape) if i not in axes or params["keepdims"]]
        return [(tuple(kept), x.dtype)] if x.dtype.kind == "f" else None
    return None


def _in_order(form: Array) -> bool:
    """Whether elements lie in memory in the order of the axes, so that those of results will."""
    steps = [step for step, size in zip(form.strides, form.shape, strict=True) if size > 1 and step]
    return all(step > 0 for step in steps) and steps == sorted(steps, reverse=True)
