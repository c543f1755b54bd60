"""NumPy's BLAS, which computes its matrix products, and the number of threads it uses.

Where several threads compute matrix products at the same time, each product should use a single thread: additional BLAS
threads would compete for the cores. OpenBLAS, which is part of NumPy's wheels, can be configured so. The setting is one
number for the whole process: while it is 1, products in other threads take longer, and may differ in their last bits.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from _thread import _local
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import forks, machine

if TYPE_CHECKING:
    from .._core.typing import Array, NumpyType

PATTERNS = "scipy_openblas_{}64_", "openblas_{}64_", "scipy_openblas_{}", "openblas_{}"
OPENMP = 2
"""OpenBLAS's answer if its threads are OpenMP's; then each thread has its own setting of their number."""


@functools.cache
def libraries() -> list[ctypes.CDLL]:
    """Libraries that may contain NumPy's BLAS: NumPy's extension module, which is linked to it, and bundled ones."""
    package = Path(np.__file__).parent
    paths = [Path(str(machine.umath.__file__))]
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        paths += sorted(folder.glob("*blas*"))
    found = []
    for path in paths:
        try:
            found.append(ctypes.CDLL(str(path)))
        except OSError:
            continue
    return found


@functools.cache
def routine(name: str) -> tuple[int, int] | None:
    """The address of a CBLAS function and the width of its integers; None if it is not found."""
    for library in libraries():
        for pattern, bits in (("scipy_cblas_{}64_", 64), ("cblas_{}64_", 64), ("scipy_cblas_{}", 32), ("cblas_{}", 32)):
            function = getattr(library, pattern.format(name), None)
            if function is not None:
                return ctypes.cast(function, ctypes.c_void_p).value or 0, bits
    return None


class Word:
    """The words of CBLAS's functions, as they take them."""

    ROW_MAJOR, LEFT = 101, 141
    PLAIN, TRANSPOSED = 111, 112
    UPPER, LOWER = 121, 122
    DIAGONAL, ONES = 131, 132
    """Whether the diagonal is read, or is of ones."""


@functools.cache
def triangular(dtype: NumpyType) -> Callable[..., None] | None:
    """BLAS's solution of triangular systems of a dtype; None if there is none."""
    pointer = ctypes.c_void_p
    kinds: dict[str, tuple[str, type[ctypes.c_float | ctypes.c_double | ctypes.c_void_p]]] = {
        "f": ("strsm", ctypes.c_float),
        "d": ("dtrsm", ctypes.c_double),
        "F": ("ctrsm", pointer),
        "D": ("ztrsm", pointer),
    }
    name, number = kinds.get(dtype.char, ("", pointer))
    found = routine(name) if name and dtype.isnative else None
    if found is None:
        return None
    address, bits = found
    size = ctypes.c_int64 if bits == 64 else ctypes.c_int32
    factor = 1.0 if dtype.kind == "f" else np.ones(1, dtype).ctypes  # which keeps the array
    solve = ctypes.CFUNCTYPE(None, *[ctypes.c_int] * 5, size, size, number, pointer, size, pointer, size)(address)

    def solved(a: Array, x: Array, upper: bool, unitriangular: bool) -> None:
        """Replace x, a C-contiguous matrix, by the solution of a @ solution = x; one triangle of a is read."""
        flags = a.flags
        turned = flags.f_contiguous and not flags.c_contiguous
        kept = a.T if turned else a  # which lives until the call is over
        if not (flags.aligned and (turned or flags.c_contiguous)):
            kept = np.array(kept, order="C")
        half, way = Word.UPPER if upper != turned else Word.LOWER, Word.TRANSPOSED if turned else Word.PLAIN
        rows, columns = x.shape
        places = kept.ctypes.data, rows, x.ctypes.data, columns
        diagonal = Word.ONES if unitriangular else Word.DIAGONAL
        with single() if rows * rows * columns < _Control.worth else contextlib.nullcontext():
            solve(Word.ROW_MAJOR, Word.LEFT, half, way, diagonal, rows, columns, factor, *places)

    return solved


class _Own(_local):
    """The number of times that this thread has entered and not left."""

    inside = 0


class _Control:
    """OpenBLAS's number of threads, set to 1 while any thread is inside; shared with compiled code.

    Its state is a C lock, the number of threads inside, and the original setting. Both Python and compiled code that
    runs without the GIL use the state, so both take the lock, and neither blocks while holding it.
    """

    worth = 1 << 21
    """Multiplications of a triangular system from which on threads are worth waking: below, they are waited for longer than it takes."""

    def __init__(self, get: Callable[[], int], change: Callable[[int], None]) -> None:
        self.get, self.change = get, change
        self.allocate = _of_python("allocate_lock", ctypes.c_void_p)
        self.acquire = _of_python("acquire_lock", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
        self.release = _of_python("release_lock", None, ctypes.c_void_p)
        self.words = array("q", [self.allocate(), 0, self.get()])
        self.own = _Own()
        forks.around(in_child=self._restart)

    def move(self, by: int) -> None:
        """Enter, with `by` = 1, or leave, with -1; a forked child does not leave what its parent has entered."""
        if self.own.inside + by < 0:
            return
        self.own.inside += by
        self.acquire(self.words[0], 1)
        before, after = self.words[1], self.words[1] + by
        if not before:
            self.words[2] = self.get()
        self.words[1] = max(before, after)  # nonzero while the original setting may have to be restored
        if self.words[2] > 1 and not (before and after):
            self.change(1 if after else self.words[2])
        self.words[1] = after
        self.release(self.words[0])

    def _restart(self) -> None:
        """Reset the state in a forked child, where none of the threads inside, or holding the lock, exist."""
        if self.words[1] and self.words[2] > 1:
            self.change(self.words[2])
        self.words[:2] = array("q", [self.allocate(), 0])
        self.own.inside = 0


def _of_python(name: str, result: Any, *arguments: Any) -> Any:
    """One of Python's C functions for threads, called without the GIL, which it does not need."""
    function = getattr(ctypes.pythonapi, f"PyThread_{name}")
    return ctypes.CFUNCTYPE(result, *arguments)(ctypes.cast(function, ctypes.c_void_p).value or 0)


@functools.cache
def control() -> _Control | None:
    """The control of OpenBLAS's number of threads; None if NumPy has another BLAS."""
    for library in libraries():
        for pattern in PATTERNS:
            names = [pattern.format(name) for name in ("get_num_threads", "set_num_threads", "get_parallel")]
            get, change, kind = (getattr(library, name, None) for name in names)
            if get and change and kind:
                return None if kind() == OPENMP else _Control(get, change)
    return None


def threads() -> int | None:
    """The number of threads that a matrix product uses now; None if NumPy's BLAS cannot be configured."""
    found = control()
    return found.get() if found else None


@contextlib.contextmanager
def single() -> Iterator[None]:
    """A block in which every matrix product runs in its calling thread, if NumPy's BLAS can be configured."""
    found = control()
    if found is None:
        yield
        return
    found.move(1)
    try:
        yield
    finally:
        found.move(-1)


@contextlib.contextmanager
def reproducible() -> Iterator[None]:
    """A block in which results have the same bits everywhere: in every process, and with any number of threads."""
    with machine.repeatable(), single():
        yield
