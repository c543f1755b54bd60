"""Machine code for single operations: where llvmlite is installed, modules of `compile.machine` compute some of them."""

from __future__ import annotations

import functools
import importlib
from typing import Any


@functools.cache
def installed() -> bool:
    """Whether there is machine code: if llvmlite is installed."""
    return importlib.import_module("importlib.util").find_spec("llvmlite") is not None


@functools.cache
def module(name: str) -> Any:
    """The module of that name in `compile.machine`, imported when an operation first needs it."""
    return importlib.import_module(f"pullback.compile.machine.{name}")


SHORTEST, LONGEST = 16, 1 << 14
"""The fewest elements of a row for which there is machine code, and the most: sums of more need more care."""
WORTH = 1 << 12
"""Elements of an array from which on machine code for rows is worth its way."""
ENOUGH = 1 << 22
"""Elements, of all such arrays, from which on it is made: that takes as long as NumPy for some times as many."""
met = [0]
"""How many have been met so far."""


def rows(x: Any, size: int) -> Any:
    """Machine code for the rows of so many elements of an array; None where there is none, or NumPy is as quick."""
    if x.size < WORTH or not SHORTEST <= size <= LONGEST or not x.flags.c_contiguous or not installed():
        return None
    if met[0] < ENOUGH:
        met[0] += x.size
        return None
    return module("rows").plan(x.size // size, size, x.dtype)
