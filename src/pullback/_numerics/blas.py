"""NumPy's BLAS, the library that makes its products of matrices, and the number of threads that it has for them.

Where several threads make products at the same time, each product should be made by one of them: threads that BLAS
adds would wait for one another. OpenBLAS, which NumPy's wheels bring with them, can be told so. It knows one number for
the whole process: while that is 1, products that other threads make take longer, and may have other last bits.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from _thread import _local
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._core import forks

PATTERNS = "scipy_openblas_{}64_", "openblas_{}64_", "scipy_openblas_{}", "openblas_{}"
OPENMP = 2
"""What OpenBLAS says of threads that it does not begin itself, of which every thread has a number of its own."""


@functools.cache
def libraries() -> list[Any]:
    """Libraries that may hold NumPy's BLAS: NumPy's own module, which finds what it is linked with, and those beside it."""
    core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
    package = Path(np.__file__).parent
    paths = [Path(str(core.__file__))]
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        paths += sorted(folder.glob("*blas*"))
    found = []
    for path in paths:
        try:
            found.append(ctypes.CDLL(str(path)))
        except OSError:
            continue
    return found


class _Own(_local):
    """How often a thread is inside."""

    inside = 0


class _Control:
    """OpenBLAS's number of threads, while several want products to be made by one; machine code has a part in it.

    Its words are a lock of C, how many are inside, and the number from before. They are for Python and for code that has
    no use for Python, so both take that lock, and neither waits with it.
    """

    def __init__(self, get: Callable[[], int], change: Callable[[int], None]) -> None:
        self.get, self.change = get, change
        self.allocate = _of_python("allocate_lock", ctypes.c_void_p)
        self.acquire = _of_python("acquire_lock", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
        self.release = _of_python("release_lock", None, ctypes.c_void_p)
        self.words = array("q", [self.allocate(), 0, self.get()])
        self.own = _Own()
        forks.around(in_child=self._restart)

    def move(self, by: int) -> None:
        """Go inside, by 1, or leave, by -1; a child does not leave what its parent has entered."""
        if self.own.inside + by < 0:
            return
        self.own.inside += by
        self.acquire(self.words[0], 1)
        before, after = self.words[1], self.words[1] + by
        if not before:
            self.words[2] = self.get()
        self.words[1] = max(before, after)  # as long as there is another number to go back to
        if self.words[2] > 1 and not (before and after):
            self.change(1 if after else self.words[2])
        self.words[1] = after
        self.release(self.words[0])

    def _restart(self) -> None:
        """In a child nobody is inside, and none of the threads is left that may have held the lock."""
        if self.words[1] and self.words[2] > 1:
            self.change(self.words[2])
        self.words[:2] = array("q", [self.allocate(), 0])
        self.own.inside = 0


def _of_python(name: str, result: Any, *arguments: Any) -> Any:
    """One of Python's C functions for threads, called without the interpreter's lock, which it does not need."""
    function = getattr(ctypes.pythonapi, f"PyThread_{name}")
    return ctypes.CFUNCTYPE(result, *arguments)(ctypes.cast(function, ctypes.c_void_p).value or 0)


@functools.cache
def control() -> _Control | None:
    """What tells OpenBLAS how many threads to have; None where NumPy has another BLAS."""
    for library in libraries():
        for pattern in PATTERNS:
            names = [pattern.format(name) for name in ("get_num_threads", "set_num_threads", "get_parallel")]
            get, change, kind = (getattr(library, name, None) for name in names)
            if get and change and kind:
                return None if kind() == OPENMP else _Control(get, change)
    return None


def threads() -> int | None:
    """How many threads make a product now; None where NumPy's BLAS does not say, or cannot be told."""
    found = control()
    return found.get() if found else None


@contextlib.contextmanager
def single() -> Iterator[None]:
    """While somebody is inside, every product is made by the thread that asks for it, where NumPy's BLAS can be told."""
    found = control()
    if found is None:
        yield
        return
    found.move(1)
    try:
        yield
    finally:
        found.move(-1)
