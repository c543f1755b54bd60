"""Machine code for single operations: where llvmlite is installed, modules of `compile.machine` compute some of them."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
from _thread import _local  # what `threading` has, which would cost the import 1.5 ms
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .lazy import provider


@functools.cache
def installed() -> bool:
    """Whether there is machine code: if llvmlite is installed."""
    return importlib.import_module("importlib.util").find_spec("llvmlite") is not None


@functools.cache
def module(name: str) -> Any:
    """The module of that name in the package that makes machine code, imported when an operation first needs it."""
    package = provider("machine code")  # at first and whole: threads that import parts of it would meet half of it
    return importlib.import_module(f"{package.__name__}.{name}")


VARIABLE = "PULLBACK_MACHINE_CODE"
CHOICES = "auto", "always", "never"
_chosen = ["auto"]


def get_machine_code() -> str:
    """When operations outside of compiled functions are computed by machine code: "auto", "always" or "never".

    >>> import pullback
    >>> pullback.get_machine_code() in {"auto", "always", "never"}
    True
    """
    return _chosen[0]


def set_machine_code(mode: str, /) -> None:
    """Choose when operations outside of compiled functions are computed by machine code, if llvmlite is installed.

    With "auto", the default, they are once the process has met enough large arrays for the code to pay. It sums in another
    order than NumPy, so the last bits of a result depend on what the process has computed before. With "always" and
    "never" they do not: the same call gives the same bits in every thread and process on the same machine, whatever came
    before, and for any number of threads that `set_num_threads` chooses. "always" makes code when an operation first needs it, which takes from some
    milliseconds to some hundreds; "never" leaves everything to NumPy.

    It holds for this process and for those that it starts from now on: it sets the environment variable
    `PULLBACK_MACHINE_CODE`, by which it can be chosen from outside, too. Compiled functions always use machine code.

    >>> import pullback
    >>> before = pullback.get_machine_code()
    >>> pullback.set_machine_code("never")
    >>> pullback.get_machine_code()
    'never'
    >>> pullback.set_machine_code(before)

    Raises
    ------
    ValueError
        If the mode is none of the three.
    RuntimeError
        If it is "always" and llvmlite is not installed.
    """
    _choose(mode, "set_machine_code")
    os.environ[VARIABLE] = mode


def _choose(mode: str, where: str) -> None:
    if mode not in CHOICES:
        raise ValueError(f"{where} must be 'auto', 'always' or 'never', but got {mode!r}")
    if mode == "always" and not installed():
        raise RuntimeError(f"{where} is 'always', but llvmlite is not installed: pip install 'pullback[compile]'")
    _chosen[0] = mode


_choose(os.environ.get(VARIABLE) or "auto", f"the environment variable {VARIABLE}")


def usable() -> bool:
    """Whether operations may be computed by machine code."""
    return _chosen[0] != "never" and installed()


def always() -> bool:
    """Whether operations are computed by machine code from the first call on."""
    return _chosen[0] == "always"


def automatic() -> bool:
    """Whether bits of results may depend on what else the process computes."""
    return _chosen[0] == "auto"


SHORTEST, LONGEST = 16, 1 << 14
"""The fewest elements of a row for which there is machine code, and the most: sums of more need more care."""
FEW, WORTH, LARGE = 1 << 6, 1 << 12, 1 << 19
"""Elements of an array from which on machine code is worth its way: where NumPy takes microseconds for a few of them, where
it takes several steps, and where its own code is as good."""
COSTLY: set[Any] = set()
"""Functions for which NumPy takes microseconds, however few the elements: they, and their rules, are many steps."""
WORTH_OF = dict.fromkeys(("total", "squares", "spread", "inner", "product"), 1 << 16)
WORTH_OF |= {"largest": 1 << 18, "smallest": 1 << 18, "product_pullback": 1 << 12}
"""The same of reductions: of each function in `totals`."""
ENOUGH = 1 << 22
"""Elements, of all such arrays, after which it is made: that takes as long as NumPy for some times as many."""
CALL = 1 << 8
"""Elements that an array counts for at least: with 16 384 calls for few elements, what they save has paid for llvmlite."""
PORTION = ENOUGH >> 4
"""Elements that an operation meets before it is asked for its code, and met again between two such questions."""
met = [0]
"""How many rows and reductions have had so far."""


class _Once(_local):
    """Whether a thread computes what it will not compute again."""

    running = False


_once = _Once()


@contextlib.contextmanager
def once() -> Iterator[None]:
    """A block whose operations are computed once, as those that are recorded: they do not count as met."""
    before, _once.running = _once.running, True
    try:
        yield
    finally:
        _once.running = before


def counts() -> bool:
    """Whether what this thread computes counts: whether it may come back."""
    return always() or not _once.running


SLOW = {np.logaddexp, np.logaddexp2, np.remainder, np.fmod, np.floor_divide, np.hypot}
"""NumPy's functions that compute one element at a time."""


def worth(function: Any) -> int:
    """The elements from which on machine code is worth its way in the place of a function: the fewer the more steps it takes."""
    if function in COSTLY:
        return FEW
    return LARGE if isinstance(function, np.ufunc) and function not in SLOW else WORTH


def way(primitive: Any, place: int | None = None) -> Callable[..., Any]:
    """An operation, or its rule for one input, by machine code: called with arrays, it gives None where there is none."""
    latest: tuple[Any, Any] = (None, None)
    waiting = 0

    def by(*arrays: Any, **params: Any) -> Any:
        nonlocal latest, waiting
        if _chosen[0] == "never":
            return None
        function, known = latest
        if function is not None and known == params and (made := function(*arrays)) is not None:
            return made
        met = max(CALL, arrays[0].size)
        if function is None:
            waiting += met
            if waiting < PORTION and not always():
                return None
            met, waiting = waiting, 0
        function = module("large").function(primitive, place, arrays, params, met)
        if function is None:
            return None
        latest = function, params
        return function(*arrays)

    return by


def _begins(x: Any) -> bool:
    """Whether there is machine code for what is done to the rows of an array: if it lies as they do, and many were met."""
    return x.flags.c_contiguous and usable() and _enough(x.size if counts() else 0)


def _enough(elements: int) -> bool:
    """Whether enough elements were met for machine code to pay; if not, these are counted."""
    if met[0] < ENOUGH and not always():
        met[0] += elements
        return False
    return True


def rows(x: Any, size: int) -> Any:
    """Machine code for the rows of so many elements of an array; None where there is none, or NumPy is as quick."""
    if x.size < WORTH or not SHORTEST <= size <= LONGEST or not _begins(x):
        return None
    return module("rows").plan(x.size // size, size, x.dtype)


def totals(name: str, x: Any, axis: tuple[int, ...]) -> Any:
    """Machine code for a reduction of an array over axes; None where there is none, or NumPy is as quick."""
    if x.size < WORTH_OF[name] or x.dtype.char not in "fd" or not _begins(x):
        return None
    return module("totals").plan(name, x.shape, axis, x.dtype)


def inner(a: Any, b: Any) -> Any:
    """The sum of the products of two vectors of singles by machine code; None where there is none, or BLAS is as quick."""
    if a.size < WORTH_OF["inner"] or a.shape != b.shape or not a.dtype.char == "f" == b.dtype.char:
        return None
    if not b.flags.c_contiguous:
        return None
    code = totals("inner", a, (0,))
    return None if code is None else code(a, y=b, keepdims=False)


MOVED = 1 << 20
"""Bytes from which on threads copy: below, NumPy takes less time than it takes to ask them."""


def _moves(size: int, worth: int) -> bool:
    """Whether there is machine code for copies of so many bytes: if that is worth it, and many were met."""
    return size >= worth and usable() and _enough(size // 4)


def copied(x: Any) -> Any:
    """A contiguous copy of an array by threads; None where NumPy is as quick."""
    return module("moving").copied(x) if _moves(x.nbytes, MOVED) else None


def triangle(x: Any, k: int, *, lower: bool) -> Any:
    """The lower or the upper triangles of matrices by machine code; None where NumPy is as quick."""
    return module("moving").triangle(x, k, lower=lower) if _moves(x.nbytes, 4 * WORTH) else None


def accumulates(values: Any) -> bool:
    """Whether there is machine code that adds up such values at places: if that is worth it, and many were met."""
    return values.dtype.char in "fd" and _moves(4 * values.size, 4 * WORTH)


FACTOR = 1 << 11
"""Elements of a left factor from which on it is asked whether a product is worth its way."""
PRODUCTS = 1 << 31
"""Multiplications, of all such products, after which they are machine code: of some hundredths of a second."""
_products: dict[str, Callable[[Any, Any], Any] | None] = dict.fromkeys("?bBhHiIlLqQeFDgGO")
_multiplied = [0]


def product(a: Any, b: Any) -> Any:
    """The product of two matrices by machine code; None where there is none, or not yet."""
    dtype = a.dtype
    try:
        function = _products[dtype.char]
    except KeyError:
        if not counts():
            return None
        _multiplied[0] += a.size * b.shape[-1]
        if (_multiplied[0] < PRODUCTS and not always()) or not usable():
            return None
        function = _products[dtype.char] = module("dense").product(dtype)
    return None if function is None or _chosen[0] == "never" else function(a, b)
