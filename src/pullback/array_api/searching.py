"""Positions, orders and sets: where elements are, in which order, and which are distinct."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core.primitives import Carrier
from ..vocabulary import bits, reductions, shapes, slicing, sorting
from ..vocabulary.promotion import cast
from .operands import array, common, together
from .statistics import reduced

if TYPE_CHECKING:
    from .._core.typing import Tensor, TensorLike


class AllOfUnique(NamedTuple):
    """The distinct elements, the index of each, the index of each element among them, and how often each occurs."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class CountsOfUnique(NamedTuple):
    """The distinct elements, and how often each occurs."""

    values: Tensor
    counts: Tensor


class InverseOfUnique(NamedTuple):
    """The distinct elements, and the index of each element among them."""

    values: Tensor
    inverse_indices: Tensor


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the largest element along an axis, or of the flattened tensor.

    >>> from pullback import array_api as xp
    >>> xp.argmax(xp.asarray([1, 3, 2]))
    tensor(1)
    """
    return reductions.argmax(array("argmax", x), axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the smallest element along an axis, or of the flattened tensor.

    >>> from pullback import array_api as xp
    >>> xp.argmin(xp.asarray([3, 1, 2]))
    tensor(1)
    """
    return reductions.argmin(array("argmin", x), axis, keepdims)


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The indices that sort the elements along an axis; equal ones keep their order.

    >>> from pullback import array_api as xp
    >>> xp.argsort(xp.asarray([3, 1, 2]), descending=True)
    tensor([0, 2, 1])
    """
    return sorting.argsort(array("argsort", x), axis, descending, stable=stable)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements sorted along an axis.

    >>> from pullback import array_api as xp
    >>> xp.sort(xp.asarray([3, 1, 2]))
    tensor([1, 2, 3])
    """
    return sorting.sort(array("sort", x), axis, descending, stable).values


def count_nonzero(x: Tensor, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The number of elements along axes, by default of all, that are not zero.

    >>> from pullback import array_api as xp
    >>> xp.count_nonzero(xp.asarray([0, 1, 2]))
    tensor(2)
    """
    return reduced(np.sum, array("count_nonzero", x) != 0, axis, keepdims)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The indices of the elements that are not zero, for each axis.

    >>> from pullback import array_api as xp
    >>> xp.nonzero(xp.asarray([0, 1, 2]))
    (tensor([1, 2]),)
    """
    if not array("nonzero", x).ndim:
        raise ValueError("nonzero of a 0-d tensor has no axis to give indices for: use reshape(x, (1,))")
    indices: tuple[Tensor, ...] = slicing.nonzero(x, as_tuple=True)
    return indices


def searchsorted(x1: TensorLike, x2: TensorLike, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """The indices at which values would be inserted into a sorted vector, before or after equal elements.

    `sorter` holds the indices that sort a vector that is not sorted itself.

    >>> from pullback import array_api as xp
    >>> xp.searchsorted(xp.asarray([1, 3, 5]), xp.asarray([3, 4]))
    tensor([1, 2])
    """
    x1 = array("searchsorted", x1)
    dtype = common(x1, x2)
    values = cast(x2, dtype) if isinstance(x2, Carrier) else x1.interpreter.wrap(cast(x2, dtype), None)
    sorter = sorter if sorter is None else cast(sorter, np.dtype(np.int64))
    return sorting.searchsorted(cast(x1, dtype), values, side=side, sorter=sorter)


def isin(x1: TensorLike, x2: TensorLike, /, *, invert: bool = False) -> Tensor:
    """True where the elements of x1 are among those of x2, or with `invert` are not.

    >>> from pullback import array_api as xp
    >>> xp.isin(xp.asarray([1, 2, 3]), xp.asarray([2, 5]))
    tensor([False,  True, False])
    """
    return bits.isin(*together("isin", x1, x2), invert=invert)


def unique_all(x: Tensor, /) -> AllOfUnique:
    """The distinct elements, their first indices, the index of each element among them, and how often each occurs.

    >>> from pullback import array_api as xp
    >>> xp.unique_all(xp.asarray([2, 1, 2])).counts
    tensor([1, 2])
    """
    x = array("unique_all", x)
    found = np.unique(x._concrete(), return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    indices, inverse, counts = (x.interpreter.wrap(each.astype(np.int64), None) for each in found[1:])
    return AllOfUnique(shapes.ravel(x)[indices], indices, shapes.reshape(inverse, x.shape), counts)


def unique_counts(x: Tensor, /) -> CountsOfUnique:
    """The distinct elements, and how often each occurs.

    >>> from pullback import array_api as xp
    >>> xp.unique_counts(xp.asarray([2, 1, 2]))
    CountsOfUnique(values=tensor([1, 2]), counts=tensor([1, 2]))
    """
    found = unique_all(x)
    return CountsOfUnique(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> InverseOfUnique:
    """The distinct elements, and the index of each element of the tensor among them.

    >>> from pullback import array_api as xp
    >>> xp.unique_inverse(xp.asarray([2, 1, 2])).inverse_indices
    tensor([1, 0, 1])
    """
    found = unique_all(x)
    return InverseOfUnique(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """The distinct elements.

    >>> from pullback import array_api as xp
    >>> xp.unique_values(xp.asarray([2, 1, 2]))
    tensor([1, 2])
    """
    return unique_all(x).values
