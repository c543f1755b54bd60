"""Orders: which values lie in memory in the order of their axes, when a program runs as NumPy calls.

NumPy adds up elements in the order in which they lie in memory, and lays results out as it finds its operands. So what is
put somewhere else keeps its bits in all that follows only if it lay in the order of its axes before. Inputs are taken to.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.modes import quiet
from .. import keys
from ..program import Equation, Value

if TYPE_CHECKING:
    from .repeats import Numbering

PROBED = 1 << 20
"""Elements of the largest operands with which an operation is tried."""
MIXED, ORDERED, PLAIN = 0, 1, 2
"""Axes in another order, or none that is known; axes in order, perhaps with gaps; axes in order, without gaps."""


class Orders:
    """How the values of a program lie in memory."""

    def __init__(self, numbering: Numbering) -> None:
        self.numbering = numbering
        constants = numbering.program.constants
        known = [
            value not in constants or constants[value].flags.c_contiguous
            for value in numbering.values[: numbering.first_output[0]]
        ]
        self.found = [PLAIN if plain else MIXED for plain in known]
        self._tried: dict[Hashable, bool] = {}

    def plain(self, number: int) -> bool:
        """Whether a value lies in the order of its axes, without gaps."""
        place = self.numbering.makers[number]
        if self.numbering.values[number].size < 2 or place < 0:
            return self.numbering.values[number].size < 2 or self.found[number] == PLAIN
        equations = self.numbering.program.equations
        while number >= len(self.found):
            place = self.numbering.makers[len(self.found)]
            given = [self.found[each] for each in self.numbering.inputs(place)]
            self.found += [self._of(equations[place], given, value) for value in equations[place].outputs]
        return self.found[number] == PLAIN

    def _of(self, equation: Equation, given: list[int], output: Value) -> int:
        if output.size < 2:
            return PLAIN
        if equation.primitive.view:
            return _of_view(equation, given[0])
        if sum([length > 1 for length in output.shape]) < 2:
            return PLAIN
        if equation.primitive.kind != "elementwise" and not self._kept(equation):
            return MIXED
        return PLAIN if min(given, default=PLAIN) >= ORDERED or equation.name == "matmul" else MIXED

    def _kept(self, equation: Equation) -> bool:
        """Whether an operation gives plain results for plain operands, as is seen when it is tried."""
        values = equation.inputs
        if equation.name == "matmul":
            return True
        if sum([value.size for value in (*values, *equation.outputs)]) > PROBED or equation.primitive.kind == "effect":
            return False
        key = (
            id(equation.primitive),
            keys.of_metadata(equation.params),
            tuple([(v.shape, v.dtype.char) for v in values]),
        )
        if key not in self._tried:
            self._tried[key] = _try(equation)
        return self._tried[key]


def _try(equation: Equation) -> bool:
    arrays = [np.ones(value.shape, value.dtype) for value in equation.inputs]
    try:
        made = quiet.run(equation.primitive.forward, *arrays, **equation.params)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        return False
    return all(np.asarray(array).flags.c_contiguous for array in (made if type(made) is tuple else (made,)))


def _of_view(equation: Equation, given: int) -> int:
    """The order of a view."""
    x, name, params = equation.inputs[0], equation.name, equation.params
    if given == MIXED:
        return MIXED
    if name == "getitem":
        return PLAIN if given == PLAIN and contiguous(x.shape, params["index"]) else ORDERED
    if name in {"reshape", "expand_dims", "squeeze"}:
        return given
    if name in {"permute_dims", "matrix_transpose"}:
        axes = params.get("axes") or (*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2)
        long = [axis % len(x.shape) for axis in axes if x.shape[axis] > 1]
        return given if long == sorted(long) else MIXED
    return ORDERED if name in {"broadcast_to", "split", "unbind"} else MIXED


def contiguous(shape: tuple[int, ...], index: Any) -> bool:
    """Whether a part of an array has no gaps, if the array has none."""
    steps = np.cumprod([1, *shape[:0:-1]])[::-1] * 8
    array = np.lib.stride_tricks.as_strided(np.zeros(1), shape, steps.tolist() if shape else ())
    return bool(array[index].flags.c_contiguous)
