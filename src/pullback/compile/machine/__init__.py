"""Machine code: programs compiled by LLVM, if llvmlite is installed."""

from __future__ import annotations

from .executable import Executable, Kernel, build, stored

__all__ = ["Executable", "Kernel", "build", "stored"]
