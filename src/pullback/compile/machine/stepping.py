"""Loops of the program whose steps contain Python operations: each step is a call from Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program import Array, Equation, Program
from ..scans import SCAN, Scan, stepped
from .executable import stored
from .fusion import kind


class Repeated:
    """A primitive that runs a scan whose step contains Python operations."""

    name = SCAN.name
    kind = SCAN.kind
    definition = None
    view = commutes = False

    def __init__(self, loop: Scan) -> None:
        self.step = stored(with_loops(loop.body), of=loop.body)

    def forward(self, *arrays: Array, loop: Scan) -> tuple[Array, ...]:
        """Run the scan step by step."""
        return stepped(self.step, [np.asarray(array, order="C") for array in arrays], loop)


def with_loops(program: Program) -> Program:
    """The program with the scans that contain Python operations replaced by `Repeated`."""
    return program.changed(equations=tuple(map(_with_loop, program.equations)))


def _with_loop(equation: Equation) -> Equation:
    if equation.primitive is not SCAN or not equation.params["loop"].length or kind(equation) == "steps":
        return equation
    ready: Any = Repeated(equation.params["loop"])
    return Equation(ready, equation.inputs, equation.params, equation.outputs, equation.site)
