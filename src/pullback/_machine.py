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
