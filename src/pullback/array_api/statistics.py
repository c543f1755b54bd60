"""Reductions and scans: sums, products, extremes, means, truth values and differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import dtypes
from .._core.primitives import Function
from .._numpy.statistics import STATISTICS
from ..vocabulary.promotion import cast
from .operands import array, of_tensors, together

if TYPE_CHECKING:
    from .._core.typing import Dim, DType, Tensor, TensorLike

LARGEST = {"b": np.dtype(np.int64), "i": np.dtype(np.int64), "u": np.dtype(np.uint64)}


def _summed(function: str, x: Tensor, dtype: DType | None) -> tuple[Tensor, np.dtype[Any]]:
    """The operand of a sum or product in the dtype of the result, and this dtype: of integers the largest."""
    own = array(function, x)._dtype
    wanted = LARGEST.get(own.kind, own) if dtype is None else dtypes.as_dtype(dtype).numpy
    return cast(x, wanted), wanted


def reduced(function: Function, x: Tensor, axis: Dim, keepdims: bool, **options: Any) -> Tensor:
    """One of NumPy's reductions of a tensor; over no axes at all, (), it is that of a new axis of length 1."""
    x = array(function.__name__, x)
    if isinstance(axis, Sequence) and not axis:
        return function(np.expand_dims(x, 0), axis=0, **options)
    return function(x, axis=axis, keepdims=keepdims, **options)


def sum(x: Tensor, /, *, axis: Dim = None, dtype: DType | None = None, keepdims: bool = False) -> Tensor:
    """The sum along axes, by default of all elements; of integers in int64, or uint64, unless a dtype is given.

    >>> from pullback import array_api as xp
    >>> xp.sum(xp.asarray([[1, 2], [3, 4]]), axis=0)
    tensor([4, 6])
    """
    x, wanted = _summed("sum", x, dtype)
    return reduced(np.sum, x, axis, keepdims, dtype=wanted)


def prod(x: Tensor, /, *, axis: Dim = None, dtype: DType | None = None, keepdims: bool = False) -> Tensor:
    """The product along axes, by default of all elements; of integers as for `sum`.

    >>> from pullback import array_api as xp
    >>> xp.prod(xp.asarray([[1, 2], [3, 4]]), axis=0)
    tensor([3, 8])
    """
    x, wanted = _summed("prod", x, dtype)
    return reduced(np.prod, x, axis, keepdims, dtype=wanted)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """The sums of the elements up to each along an axis; with `include_initial` a zero comes first.

    >>> from pullback import array_api as xp
    >>> xp.cumulative_sum(xp.asarray([1, 2, 3]), include_initial=True)
    tensor([0, 1, 3, 6])
    """
    x, wanted = _summed("cumulative_sum", x, dtype)
    return STATISTICS["cumulative_sum"](x, axis=axis, dtype=wanted, include_initial=include_initial)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """The products of the elements up to each along an axis; with `include_initial` a one comes first.

    >>> from pullback import array_api as xp
    >>> xp.cumulative_prod(xp.asarray([1, 2, 3]))
    tensor([1, 2, 6])
    """
    x, wanted = _summed("cumulative_prod", x, dtype)
    return STATISTICS["cumulative_prod"](x, axis=axis, dtype=wanted, include_initial=include_initial)


def diff(
    x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: TensorLike | None = None, append: TensorLike | None = None
) -> Tensor:
    """The n-th differences of neighbors along an axis, with elements prepended and appended first.

    >>> from pullback import array_api as xp
    >>> xp.diff(xp.asarray([1, 4, 9]))
    tensor([3, 5])
    """
    ends = {name: value for name, value in (("prepend", prepend), ("append", append)) if value is not None}
    joined, *values = together("diff", x, *ends.values())
    return of_tensors(np.diff)(joined, n, axis, **dict(zip(ends, values, strict=True)))


def mean(x: Tensor, /, *, axis: Dim = None, keepdims: bool = False) -> Tensor:
    """The mean along axes, by default of all elements.

    >>> from pullback import array_api as xp
    >>> xp.mean(xp.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    tensor([2., 3.], dtype=pullback.float64)
    """
    return reduced(np.mean, x, axis, keepdims)


def var(x: Tensor, /, *, axis: Dim = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The variance along axes: the sum of squared deviations, divided by count - correction.

    >>> from pullback import array_api as xp
    >>> xp.var(xp.asarray([1.0, 3.0]))
    tensor(1., dtype=pullback.float64)
    """
    return reduced(np.var, x, axis, keepdims, ddof=correction)


def std(x: Tensor, /, *, axis: Dim = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The standard deviation along axes: the square root of `var`.

    >>> from pullback import array_api as xp
    >>> xp.std(xp.asarray([1.0, 3.0]), correction=1)
    tensor(1.4142, dtype=pullback.float64)
    """
    return reduced(np.std, x, axis, keepdims, ddof=correction)


def max(x: Tensor, /, *, axis: Dim = None, keepdims: bool = False) -> Tensor:
    """The largest element along axes, by default of all; NaN if there is one.

    >>> from pullback import array_api as xp
    >>> xp.max(xp.asarray([[1, 2], [4, 3]]), axis=1)
    tensor([2, 4])
    """
    return reduced(np.max, x, axis, keepdims)


def min(x: Tensor, /, *, axis: Dim = None, keepdims: bool = False) -> Tensor:
    """The smallest element along axes, by default of all; NaN if there is one.

    >>> from pullback import array_api as xp
    >>> xp.min(xp.asarray([[1, 2], [4, 3]]), axis=1)
    tensor([1, 3])
    """
    return reduced(np.min, x, axis, keepdims)


def all(x: Tensor, /, *, axis: Dim = None, keepdims: bool = False) -> Tensor:
    """True where all elements along axes are nonzero, by default all of the tensor.

    >>> from pullback import array_api as xp
    >>> xp.all(xp.asarray([[True, False], [True, True]]), axis=1)
    tensor([False,  True])
    """
    return reduced(np.all, array("all", x) != 0, axis, keepdims)


def any(x: Tensor, /, *, axis: Dim = None, keepdims: bool = False) -> Tensor:
    """True where an element along axes is nonzero, by default one of the tensor.

    >>> from pullback import array_api as xp
    >>> xp.any(xp.asarray([[True, False], [False, False]]), axis=1)
    tensor([ True, False])
    """
    return reduced(np.any, array("any", x) != 0, axis, keepdims)
