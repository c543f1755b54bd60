"""Machine code for single eager operations: if llvmlite is installed, modules of `compile.machine` compute some of them."""

from __future__ import annotations

import contextlib
import functools
import importlib
import math
import os
import sys
from _thread import _local  # from `threading`, which takes 1.5 ms to import
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .forks import lock
from .lazy import PROVIDERS, imported

if TYPE_CHECKING:
    from .dtypes import NumpyType
    from .primitives import Function, Primitive
    from .typing import Array, Params, Threshold


def installed() -> bool:
    """True if llvmlite is installed, without which there is no machine code, and the package that makes it."""
    return _found("llvmlite") and _found(PROVIDERS.get("machine code", "llvmlite").rpartition(".")[0] or "llvmlite")


@functools.cache
def _found(package: str) -> bool:
    return importlib.import_module("importlib.util").find_spec(package) is not None


@functools.cache
def module(name: str) -> Any:
    """The module of that name in the package that makes machine code, imported when an operation first needs it."""
    return imported(f"{PROVIDERS['machine code']}.{name}")


class _Once(_local):
    """A flag of each thread: True while its operations are computed only once."""

    running = False


_once = _Once()


class once:
    """A block of operations that are computed only once, such as those of a recording: they are not counted."""

    def __enter__(self) -> None:
        self._before, _once.running = _once.running, True

    def __exit__(self, *exc: object) -> None:
        _once.running = self._before


class Budget:
    """What decides when machine code begins: what was chosen, and how much this process has computed so far."""

    def __init__(self) -> None:
        self.chosen = "auto"
        self.blocks = 0
        """How many `repeatable` blocks are entered in which "auto" is "never"."""
        self.elements = 0
        """The number of elements that rows, reductions and the like have processed."""
        self.multiplications = 0
        """The number of multiplications of all products of matrices."""
        self.of_operations: dict[object, int] = {}
        """The number of elements that each elementwise operation has processed, by its parameters and dtypes."""
        self.of_updates: dict[object, int] = {}
        """The number of elements that the formula of each optimizer has updated."""
        self.products: dict[str, Function | None] = dict.fromkeys("?bBhHiIlLqQeFDgGO")
        """The compiled functions for products, by dtype; None where BLAS is to compute them."""
        self.batches = dict(self.products)
        self.single: Function | None = None
        """The block in which BLAS uses one thread, once our threads multiply matrices."""

    once = once

    def usable(self) -> bool:
        """Whether operations may be computed by machine code."""
        return self.chosen != "never" and installed()

    def due(self, met: dict[object, int], key: object, elements: int) -> bool:
        """Whether there is to be machine code for what is counted under a key, which has processed some elements more."""
        if not counts():
            return False
        found = met.get(key, 0) + elements
        if len(met) < KINDS:
            met[key] = found
        return found > ENOUGH or always()


budget = Budget()
VARIABLE = "PULLBACK_MACHINE_CODE"
CHOICES = "auto", "always", "never"


def get_machine_code() -> str:
    """When operations outside of compiled functions are computed by machine code: "auto", "always" or "never".

    >>> import pullback
    >>> pullback.get_machine_code() in {"auto", "always", "never"}
    True
    """
    return budget.chosen


def set_machine_code(mode: str, /) -> None:
    """Choose when operations outside of compiled functions are computed by machine code, if llvmlite is installed.

    With "auto", the default, they are once the process has met enough large arrays for the code to pay. It sums in another
    order than NumPy, so the last bits of a result depend on what the process has computed before. With "always" and
    "never" they do not: the same call gives the same bits in every thread and process on the same machine, whatever came
    before, and for any number of threads that `set_num_threads` chooses. "always" makes code when an operation first needs it, which takes from some
    milliseconds to some hundreds; "never" leaves everything to NumPy.

    It holds for this process and for those that it starts from now on: it sets the environment variable
    `PULLBACK_MACHINE_CODE`, by which it can be chosen from outside, too. Compiled functions always use machine code.

    Parameters
    ----------
    mode
        "auto", "always" or "never".

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
    budget.chosen = mode


_choose(os.environ.get(VARIABLE) or "auto", f"the environment variable {VARIABLE}")


usable = budget.usable


def always() -> bool:
    """Whether operations are computed by machine code from the first call on."""
    return budget.chosen == "always"


def automatic() -> bool:
    """Whether bits of results may depend on what else the process computes."""
    return budget.chosen == "auto"


_guard = lock()


@contextlib.contextmanager
def repeatable() -> Iterator[None]:
    """A block in which the same operations give the same bits in any process: "auto" is "never" there, in all threads."""
    with _guard:
        budget.blocks += budget.chosen == "auto" or budget.blocks > 0
        counted = budget.blocks > 0
        budget.chosen = "never" if counted else budget.chosen
    try:
        yield
    finally:
        with _guard:
            budget.blocks -= counted
            if counted and not budget.blocks:
                budget.chosen = "auto"


SHORTEST: Threshold = 16
LONGEST: Threshold = 1 << 14
"""The shortest and the longest rows for which there is machine code: longer sums need more accurate algorithms."""
FEW: Threshold = 1 << 6
WORTH: Threshold = 1 << 12
LARGE: Threshold = 1 << 19
"""Sizes of arrays above which machine code pays off: for functions on which NumPy spends microseconds even for a few elements,
for functions of several steps, and for those whose NumPy code is as good."""
COSTLY: set[object] = set()
"""Functions on which NumPy spends microseconds even for a few elements, because they and their rules take many steps."""
WORTH_OF = dict.fromkeys(("total", "squares", "spread", "inner", "product"), 1 << 16)
WORTH_OF |= {"largest": 1 << 18, "smallest": 1 << 18, "product_pullback": 1 << 12}
"""The same threshold for each reduction in `totals`."""
ENOUGH = 1 << 22
"""The number of elements processed, over all such arrays, after which code is compiled: compiling takes as long as NumPy needs
for a few times as many."""
KINDS: Threshold = 1000
"""The largest number of operations that are counted, by dtypes and parameters."""
CALL = 1 << 8
"""The least number of elements that one call counts for: 16 384 calls on small arrays save enough to pay for loading llvmlite."""
PORTION = ENOUGH >> 4
"""The number of elements that an operation processes between two attempts to use compiled code."""


def counts() -> bool:
    """True if the elements that this thread processes are counted, because the same operations may be repeated."""
    return always() or not _once.running


umath: Any = sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
"""NumPy's extension module; its second name is that of NumPy 1."""
SLOW = {np.logaddexp, np.logaddexp2, np.remainder, np.fmod, np.floor_divide, np.hypot}
"""Functions that NumPy does not vectorize. Without AVX-512 it takes two to ten times as long as machine code for those below."""
_SLOWER = "arccos arccosh arcsin arcsinh arctan arctan2 arctanh cos cosh exp exp2 expm1 log log10 log1p log2 power sin sinh tan tanh"
if not umath.__cpu_features__.get("AVX512_SKX"):
    SLOW |= {getattr(np, name) for name in _SLOWER.split()}


def worth(function: object) -> int:
    """The size above which machine code for a function pays off: the more steps the function takes, the lower."""
    if function in COSTLY:
        return FEW
    return LARGE if isinstance(function, np.ufunc) and function not in SLOW else WORTH


def way(primitive: Primitive, place: int | None = None) -> Function:
    """A function that computes an operation, or its rule for one input, by machine code, and returns None if there is none."""
    latest: tuple[Function | None, Params | None, str] = (None, None, "")
    waiting = 0

    def by(*arrays: Array, **params: Any) -> Array | None:
        nonlocal latest, waiting
        if budget.chosen == "never":
            return None
        function, known, text = latest
        same = known == params and (not params or text == str(params))  # 1 == 1.0, 0.0 == -0.0
        if function is not None and same and (made := function(*arrays)) is not None:
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
        latest = function, params, str(params)
        return function(*arrays)

    return by


STEP: Threshold = 1 << 14
"""The size of a parameter above which machine code pays off for the step of an optimizer that remembers one array or none."""


def update(formula: Callable[..., None], arrays: list[Array]) -> bool:
    """Whether the formula of an optimizer has been carried out, in place, by machine code."""
    dtype = arrays[0].dtype
    if arrays[0].size < (STEP if len(arrays) < 4 else WORTH) or dtype.char not in "fd" or not usable():
        return False
    if not all(x.flags.c_contiguous and x.dtype is dtype for x in arrays) or np.may_share_memory(arrays[0], arrays[1]):
        return False
    carried_out: Callable[..., bool] = module("updates").carried_out
    return carried_out(formula, arrays)


def _begins(x: Array) -> bool:
    """True if x is C-contiguous and enough elements have been processed to justify compiling."""
    return x.flags.c_contiguous and usable() and _enough(x.size if counts() else 0)


def _enough(elements: int) -> bool:
    """True if enough elements have been processed for machine code to pay off; otherwise these are added to the count."""
    if budget.elements < ENOUGH and not always():
        budget.elements += elements
        return False
    return True


def rows(x: Any, size: int) -> Any:
    """Compiled code for rows of `size` elements of an array; None if there is none, or NumPy is as fast."""
    if x.size < WORTH or not SHORTEST <= size <= LONGEST or not _begins(x):
        return None
    return module("rows").plan(x.size // size, size, x.dtype)


SHORT_COLUMNS: Threshold = 1 << 8
INNER: Threshold = 1 << 13
"""The size of an array from which compiled code pays off for columns of matrices in it, and the most that a matrix may have."""


def columns(x: Array, axis: int) -> Any:
    """Compiled code for an axis with others behind it; None if there is none, or NumPy is as fast."""
    few = x.size >= SHORT_COLUMNS and axis < x.ndim - 1 and math.prod(x.shape[axis:]) <= INNER
    return module("rows").plan(math.prod(x.shape[:axis]), x.shape[axis], x.dtype) if few and _begins(x) else None


def totals(name: str, x: Any, axis: tuple[int, ...]) -> Any:
    """Compiled code for a reduction of an array over axes; None if there is none, or NumPy is as fast."""
    if x.size < WORTH_OF[name] or x.dtype.char not in "fd" or not _begins(x):
        return None
    return module("totals").plan(name, x.shape, axis, x.dtype)


def inner(a: Array, b: Array) -> Array | None:
    """The dot product of two float32 vectors by compiled code; None if there is none, or BLAS is as fast."""
    if a.size < WORTH_OF["inner"] or a.shape != b.shape or not a.dtype.char == "f" == b.dtype.char:
        return None
    if not b.flags.c_contiguous:
        return None
    code = totals("inner", a, (0,))
    return None if code is None else code(a, y=b, keepdims=False)


MOVED: Threshold = 1 << 20
"""The number of bytes above which several threads copy an array: below, starting them takes longer than NumPy's copy."""


def _moves(size: int, worth: int) -> bool:
    """True if compiled code is to copy `size` bytes: if that pays off, and enough has been processed to justify compiling."""
    return size >= worth and usable() and _enough(size // 4)


def copied(x: Array) -> Array | None:
    """A contiguous copy of an array made by several threads; None if NumPy is as fast."""
    return module("moving").copied(x) if _moves(x.nbytes, MOVED) else None


def triangle(x: Array, k: int, *, lower: bool) -> Array | None:
    """The lower or the upper triangles of matrices by compiled code; None if NumPy is as fast."""
    return module("moving").triangle(x, k, lower=lower) if _moves(x.nbytes, 4 * WORTH) else None


def running_sums(x: Array) -> Array | None:
    """Running sums along the last axis by compiled code; None if there is none, or NumPy is as fast."""
    whole = not any(step % x.itemsize for step in x.strides)
    return module("scanning").running_sums(x) if whole and repays(x) else None


def repays(x: Array) -> bool:
    """True if compiled code that reads an aligned array in any order pays off, and enough has been processed."""
    if x.size < WORTH or x.dtype.char not in "fd" or not (x.dtype.isnative and x.flags.aligned and usable()):
        return False
    return _enough(x.size if counts() else 0)


def accumulates(values: Array) -> bool:
    """True if compiled code is to add such values at indices: if that pays off, and enough has been processed."""
    return values.dtype.char in "fd" and _moves(4 * values.size, 4 * WORTH)


ALIGNED: Threshold = 1 << 10
"""The number of states, over all steps and sequences, above which compiled code pays off for alignments."""


def aligns(reached: Any) -> bool:
    """True if compiled code is to do the steps of alignments: if that pays off, and enough has been processed."""
    if reached.size < ALIGNED or reached.shape[-3] < 2 or reached.dtype.char not in "fd" or not usable():
        return False
    return reached.flags.c_contiguous and _enough(64 * reached.size if counts() else 0)


BATCHED: Threshold = 1 << 9
"""The size of the left factors above which compiled code is considered for a batch of products."""
FACTOR: Threshold = 1 << 11
"""The size of the left factor above which compiled code is considered for a matrix product."""
PRODUCTS = 1 << 31
"""The number of multiplications, over all such products, after which code is compiled: some hundredths of a second of work."""


BUSY: Threshold = 1 << 13
SPREAD: Threshold = 1 << 18
"""The number of elements of a factor, and that of multiplications, from which on BLAS may use several threads."""


def spreads(a: Array, b: Array) -> bool:
    """True if BLAS may use several threads for a product."""
    return a.size >= BUSY or b.size >= BUSY or a.size * b.shape[-1] >= SPREAD


def dot(a: Array, b: Array) -> Array:
    """The product of two arrays by BLAS: in one thread, once ours multiply matrices.

    BLAS's threads go on spinning for a while after a product, and would take processors from ours.
    """
    if spreads(a, b) and budget.chosen != "never":
        if always() and budget.single is None:  # so that bits depend on no product before
            _multiplier("product", np.dtype(np.float32))
        if budget.single is not None:
            with budget.single():
                return _by_blas(a, b)
    return _by_blas(a, b)


def _by_blas(a: Array, b: Array) -> Array:
    """The product of two arrays. For `dot` one element is a factor that scales the other array: zero times NaN would be zero."""
    return np.matmul(a, b) if a.ndim > 2 or b.ndim > 2 or a.size == 1 or b.size == 1 else a.dot(b)


def product(a: Array, b: Array) -> Array | None:
    """The product of two matrices by compiled code; None if there is none (yet)."""
    return _multiplied_by("product", budget.products, a, b)


def batched(a: Array, b: Array, out: Array | None = None) -> Array:
    """The products of two arrays of three axes or more: by compiled code, or by BLAS, which takes one after another.

    They are written to `out`, if that is given; it shares no memory with the factors.
    """
    into = () if out is None else (out,)
    made = _multiplied_by("batched", budget.batches, a, b, *into) if a.size >= BATCHED else None
    if made is not None:
        return made
    return dot(a, b) if out is None else np.matmul(a, b, out)


def _multiplied_by(name: str, functions: dict[str, Function | None], a: Array, b: Array, *into: Array) -> Array | None:
    """A product by a function for its dtype; None if there is none, or not enough has been multiplied."""
    dtype = a.dtype
    try:
        function = functions[dtype.char]
    except KeyError:
        if not counts():
            return None
        budget.multiplications += a.size * b.shape[-1]
        if (budget.multiplications < PRODUCTS and not always()) or not usable():
            return None
        function = functions[dtype.char] = _multiplier(name, dtype)
    return None if function is None or budget.chosen == "never" else function(a, b, *into)


def _multiplier(name: str, dtype: NumpyType) -> Function | None:
    """The compiled function for products of a dtype, if there is one; from now on BLAS has one thread beside ours."""
    function: Function | None = getattr(module("dense"), name)(dtype)
    if function is not None:
        budget.single = module("dense").single
    return function


def multiplied(a: Array, b: Array) -> Array:
    """The products of two batches, by compiled code whatever has been multiplied before, where there is any."""
    function = _multiplier("batched", a.dtype)
    made = None if function is None else function(a, b)
    return dot(a, b) if made is None else made
