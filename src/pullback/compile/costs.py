"""Costs: how many operations on numbers an equation takes, how many bytes it moves, and how many are alive at once.

Counts are of additions and multiplications; a function such as exp counts as what a good polynomial for it takes. They
are estimates to be held against what a machine can do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ..observe import Site, describe
from .definitions import EquationList, read
from .program import Equation, Program, Value, bodies, sizes_of_labels


def _attention(e: Equation) -> int:
    query, key, value, *_ = e.inputs
    scores = math.prod(query.shape[:-1]) * key.shape[-2]
    return scores * (2 * query.shape[-1] + 2 * value.shape[-1] + 24)


def _of_each(weight: Value) -> int:
    """The elements of a weight for each of its first axis."""
    return weight.size // max(weight.shape[0], 1)


def _matrices(factor: float) -> Callable[[Equation], int]:
    """What takes so many flops times rows, columns and the smaller of the two, for each matrix of a stack."""

    def counted(e: Equation) -> int:
        matrices = e.inputs[0]
        return math.ceil(factor * matrices.size * min(matrices.shape[-2:]))

    return counted


def _solved(factor: float, each: int) -> Callable[[Equation], int]:
    """A factorization, and for each right hand side so many flops an element of the matrix."""
    factored = _matrices(factor)
    return lambda e: factored(e) + each * e.inputs[0].shape[-1] * e.output.size


def _transformed(e: Equation) -> int:
    """Fourier transforms: five flops an element for each doubling of the length, half of them where one side is real."""
    lines = max((e.inputs[0], e.output), key=lambda value: value.size)
    axes = e.params["axes"] if e.name == "fft" else (e.params["axis"],)
    length = math.prod([lines.shape[axis] for axis in axes])
    return int((5 if e.name == "fft" else 2.5) * lines.size * math.log2(max(length, 2)))


def _sorted(e: Equation) -> int:
    """Comparisons of lines that are sorted."""
    return int(e.inputs[0].size * math.log2(max(e.inputs[0].shape[e.params["axis"]], 2)))


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
    "repeat_loop": lambda e: sum(map(_all, bodies(e.params))),
    "branch": lambda e: max(map(_all, e.params["bodies"])),
    **dict.fromkeys(("det", "slogdet", "lu_factor"), _matrices(2 / 3)),
    "argsort": _sorted,
    "inv": _matrices(2),
    "cholesky": _matrices(1 / 3),
    "qr": _matrices(4 / 3),
    "eigh": _matrices(4 / 3),
    **dict.fromkeys(("eig", "svd", "pinv", "matrix_exp"), _matrices(4)),
    "solve": _solved(2 / 3, 2),
    "solve_triangular": _solved(0, 1),
    **dict.fromkeys(("fft", "rfft", "irfft"), _transformed),
}
"""Loops whose length is not known count one iteration, and factorizations what is least: direct steps, no iterations."""


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
    """What one step of a program does, as a report tells it; machine code says the same of its kernels.

    `read` and `written` are bytes; `among` how many different ones they are, where a loop moves the same again; `sites` are
    the places of the user's program that asked for the equations, in their order.
    """

    name: str
    equations: tuple[str, ...]
    flops: int
    read: int
    written: int
    threads: bool = False
    seconds: float | None = None
    sites: tuple[Site, ...] = ()
    among: int | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """The user's lines that asked for the equations, each once."""
        return tuple(dict.fromkeys(describe(site).partition(": ")[0] for site in self.sites))

    @property
    def moved(self) -> int:
        """Bytes read and written."""
        return self.read + self.written

    @property
    def within(self) -> int:
        """Bytes of the memory that it works in."""
        return self.moved if self.among is None else self.among


def sites(equations: Sequence[Equation]) -> tuple[Site, ...]:
    """The places of the user's program that equations come from, in their order, each once."""
    return tuple(dict.fromkeys(equation.site for equation in equations if equation.site is not None))


def work(equation: Equation, name: str = "", seconds: float | None = None) -> Work:
    """The work of an equation that is computed on its own."""
    of = sites([equation])
    return Work(name or equation.name, (equation.name,), flops(equation), *moved(equation), seconds=seconds, sites=of)


def works(program: Program, seconds: Mapping[Equation, float] = {}) -> list[Work]:
    """The work of a program that is run one equation after another, where there is any."""
    return [work(e, seconds=seconds.get(e)) for e in program.equations if not e.primitive.view]
