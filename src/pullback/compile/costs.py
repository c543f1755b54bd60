"""Costs: how many operations on numbers an equation takes, how many bytes it moves, and how many are alive at once.

Counts are of additions and multiplications; a function such as exp counts as what a good polynomial for it takes. They
are estimates to be held against what a machine can do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from .definitions import EquationList, read
from .program import Equation, Program, Value, sizes_of_labels


def _attention(e: Equation) -> int:
    query, key, value, *_ = e.inputs
    scores = math.prod(query.shape[:-1]) * key.shape[-2]
    return scores * (2 * query.shape[-1] + 2 * value.shape[-1] + 24)


def _of_each(weight: Value) -> int:
    """The elements of a weight for each of its first axis."""
    return weight.size // max(weight.shape[0], 1)


def _all(program: Program) -> int:
    return sum(map(flops, program.equations))


_COUNTED: dict[str, Callable[[Equation], int]] = {
    **dict.fromkeys(("matmul", "times_transpose"), lambda e: 2 * e.output.size * e.inputs[0].shape[-1]),
    "transpose_times": lambda e: 2 * e.output.size * e.inputs[0].shape[0],
    **dict.fromkeys(("project", "affine"), lambda e: (2 * e.inputs[0].shape[-1] + len(e.inputs) - 2) * e.output.size),
    **dict.fromkeys(("attention", "masked_attention"), _attention),
    "einsum": lambda e: len(e.inputs) * math.prod(sizes_of_labels(e.params["equation"], e.inputs).values()),
    "convolve": lambda e: 2 * e.output.size * _of_each(e.inputs[1]),
    "convolve_transpose": lambda e: 2 * e.inputs[0].size * _of_each(e.inputs[1]),
    "convolve_weight": lambda e: 2 * e.inputs[1].size * _of_each(e.output) if e.inputs[0].size else 0,
    "scan_loop": lambda e: e.params["loop"].length * _all(e.params["loop"].body),
    "branch": lambda e: max(map(_all, e.params["bodies"])),
}


def flops(equation: Equation) -> int:
    """How many additions and multiplications an equation takes, about."""
    if equation.name in _COUNTED:
        return _COUNTED[equation.name](equation)
    cost = equation.primitive.cost
    if cost is None:
        parts = _parts(equation)
        if parts is not None:
            return sum(map(flops, parts))
        cost = 1
    results = sum([value.size for value in equation.outputs])
    if equation.primitive.kind == "elementwise":
        return int(cost * results)
    return int(cost * max([results, *[value.size for value in equation.inputs]]))


def _parts(equation: Equation) -> list[Equation] | None:
    """The equations that an equation is by the definition of its primitive; None if that leaves it as it is."""
    parts = EquationList()
    return None if read(parts, equation) is None else parts.equations


def moved(equation: Equation) -> tuple[int, int]:
    """Bytes that an equation reads and writes when it is computed on its own."""
    if equation.primitive.view:
        return 0, 0
    inputs = dict.fromkeys(equation.inputs)
    return sum(value.nbytes for value in inputs), sum(value.nbytes for value in equation.outputs)


def peak(program: Program) -> int:
    """The most bytes of intermediate values alive at once, when the equations run one after another."""
    roots: dict[Value, Value] = {}
    for equation in program.equations:
        if equation.primitive.view:
            roots |= {value: roots.get(equation.inputs[0], equation.inputs[0]) for value in equation.outputs}
    last: dict[Value, int] = {}
    for place, equation in enumerate(program.equations):
        last.update({roots.get(value, value): place for value in (*equation.inputs, *equation.outputs)})
    kept = {roots.get(value, value) for value in (*program.needed, *program.inputs, *program.constants)}
    alive = most = 0
    ends: dict[int, list[Value]] = {}
    for value, place in last.items():
        ends.setdefault(place, []).append(value)
    for place, equation in enumerate(program.equations):
        if not equation.primitive.view:
            alive += sum(value.nbytes for value in equation.outputs if value not in kept)
        most = max(most, alive)
        alive -= sum(value.nbytes for value in ends.get(place, ()) if value not in kept)
    return most


class Work(NamedTuple):
    """What one step of a program does, as a report tells it; machine code says the same of its kernels."""

    name: str
    equations: tuple[str, ...]
    flops: int
    read: int
    written: int
    threads: bool = False
    seconds: float | None = None


def works(program: Program) -> list[Work]:
    """The work of a program that is run one equation after another, where there is any."""
    working = [equation for equation in program.equations if not equation.primitive.view]
    return [Work(e.name, (e.name,), flops(e), *moved(e)) for e in working]
