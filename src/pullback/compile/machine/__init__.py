"""Machine code: programs compiled by LLVM, if llvmlite is installed."""

from __future__ import annotations

from ..costs import Work as Kernel
from .executable import Executable, build, stored

__all__ = ["Executable", "Kernel", "build", "stored"]
