"""Sorting: sorted orders, ranks, distinct elements, and insertion indices.

Selected elements are gathered by their indices, so that gradients flow to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ops
from .._core.primitives import Carrier
from .._core.shapes import normalize_axis
from .._core.values import require_tensor
from .._tape.views import beside
from . import arithmetic
from .promotion import cast, category, common, together

if TYPE_CHECKING:
    from .._core.typing import Tensor, TensorLike


class Selection(NamedTuple):
    """Elements selected along an axis, and their indices."""

    values: Tensor
    indices: Tensor


def _refuse_complex(name: str, input: Tensor) -> None:
    if input._dtype.kind == "c":
        raise RuntimeError(f"{name}(): Sort does not support complex dtypes on CPU: complex numbers have no order")


def gathered(input: Tensor, places: Any, axis: int, label: str) -> Selection:
    """The elements at several indices along an axis."""
    return Selection(ops.take_along_axis(input, places, axis=axis, label=label), places)


def picked(input: Tensor, places: Any, axis: int, keepdim: bool, label: str) -> Selection:
    """The elements at one index along an axis."""
    values = ops.select_along(input, places, axis=axis, keepdims=keepdim, label=label)
    return Selection(values, places if keepdim else beside(ops.squeeze, places, axis=axis, given=True))


def alone(input: Tensor) -> Selection:
    """The selection from a 0-d tensor: its element."""
    return Selection(input.clone(), input.interpreter.wrap(np.zeros((), np.int64), None))


def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The indices that sort the input along a dim; equal elements keep their order, NaN counts as the largest.

    >>> import pullback
    >>> pullback.argsort(pullback.tensor([3.0, 1.0, 2.0]))
    tensor([1, 2, 0])
    """
    _refuse_complex("argsort", input)
    place = normalize_axis(dim, input.ndim, "argsort")
    return ops.argsort(input, axis=place, descending=descending) if input.ndim else alone(input).indices


def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Selection:
    """The sorted elements along a dim, and their original indices: (values, indices); indices as from `argsort`.

    >>> import pullback
    >>> pullback.sort(pullback.tensor([3.0, 1.0, 2.0])).values
    tensor([1., 2., 3.])
    """
    _refuse_complex("sort", input)
    place = normalize_axis(dim, input.ndim, "sort")
    if not input.ndim:
        return alone(input)
    return gathered(input, ops.argsort(input, axis=place, descending=descending), place, "SortBackward0")


def msort(input: Tensor) -> Tensor:
    """The elements sorted along the first dim.

    >>> import pullback
    >>> pullback.msort(pullback.tensor([[3, 1], [2, 4]]))
    tensor([[2, 1],
            [3, 4]])
    """
    return sort(input, 0).values


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Selection:
    """The k largest (or smallest) elements along a dim, in order, and their indices: (values, indices).

    Parameters
    ----------
    k
        How many.
    largest
        The largest, not the smallest.
    sorted
        In their order.

    >>> import pullback
    >>> pullback.topk(pullback.tensor([10, 40, 30, 20]), 2)
    Selection(values=tensor([40, 30]), indices=tensor([1, 2]))
    """
    _refuse_complex("topk", input)
    place = normalize_axis(dim, input.ndim, "topk")
    size = input.shape[place] if input.ndim else 1
    if not 0 <= k <= size:
        raise RuntimeError(f"topk(): selected index k out of range: k is {k}, and dim {place} has size {size}")
    if not input.ndim:
        return alone(input)
    return gathered(input, ops.argtop(input, axis=place, k=int(k), largest=largest), place, "TopkBackward0")


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Selection:
    """The k-th smallest element along a dim, k from 1, and its index: (values, indices).

    Parameters
    ----------
    k
        1 for the smallest.

    >>> import pullback
    >>> pullback.kthvalue(pullback.tensor([30, 10, 20]), 2)
    Selection(values=tensor(20), indices=tensor(2))
    """
    arithmetic.refuse_unordered("kthvalue", input._dtype)
    place = normalize_axis(dim, input.ndim, "kthvalue")
    if not 1 <= k <= (input.shape[place] if input.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {place}: k is {k}")
    if not input.ndim:
        return alone(input)
    return picked(input, ops.argkth(input, axis=place, k=int(k) - 1), place, keepdim, "KthvalueBackward0")


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor:
    """The sorted distinct elements, or slices along a dim.

    With `return_inverse` also the index of each input element or slice among them, with `return_counts` how often each
    occurs. No NaN equals another. The result is always sorted.

    Parameters
    ----------
    sorted
        Accepted: results are sorted.
    return_inverse
        Give where each element is in the result, too.
    return_counts
        Give how often each occurs, too.

    >>> import pullback
    >>> pullback.unique(pullback.tensor([2, 1, 2]), return_counts=True)
    (tensor([1, 2]), tensor([1, 2]))
    """
    return _distinct(ops.unique, input, return_inverse, return_counts, dim)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor:
    """The elements, or slices along a dim, without those equal to the previous one; results as those of `unique`.

    Arguments as for `unique`.

    >>> import pullback
    >>> pullback.unique_consecutive(pullback.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    return _distinct(ops.unique_consecutive, input, return_inverse, return_counts, dim)


def _distinct(primitive: Any, input: Tensor, inverse: bool, counts: bool, dim: int | None) -> Any:
    axis = None if dim is None or not input.ndim else normalize_axis(dim, input.ndim, primitive.name)
    if axis is not None and input.numel() == 0 and input.shape[axis]:
        raise RuntimeError(
            f"{primitive.name}(): There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    found = primitive(input, axis=axis)
    kept = [found[0], *([found[1]] if inverse else []), *([found[2]] if counts else [])]
    return tuple(kept) if len(kept) > 1 else kept[0]


def searchsorted(
    sorted_sequence: Tensor,
    input: TensorLike,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """The indices at which values would be inserted into a sorted sequence, or into each row of several.

    They are inserted before equal elements, or after them with `right=True` or `side='right'`; `sorter` holds the
    indices that sort a sequence that is not sorted itself.

    Parameters
    ----------
    sorted_sequence
        Sequences that are sorted along the last axis.
    out_int32
        Give int32, not int64.
    right
        Give the place behind equal elements, not before them.
    side
        'left' or 'right', in words.
    sorter
        The order in which the sequence is sorted.

    >>> import pullback
    >>> pullback.searchsorted(pullback.tensor([1, 3, 5]), pullback.tensor([3, 4]))
    tensor([1, 2])
    """
    require_tensor("searchsorted", "sorted_sequence", sorted_sequence)
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    if not isinstance(input, Carrier):
        if sorted_sequence.ndim != 1:
            raise RuntimeError(
                "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we "
                f"got boundaries tensor dim({sorted_sequence.ndim})"
            )
        input = sorted_sequence.interpreter.wrap(cast(input, common(sorted_sequence, input)), None)
    _check_searched(sorted_sequence, input, sorter)
    if sorter is not None:
        sorted_sequence = ops.take_along_axis(sorted_sequence, sorter, axis=sorted_sequence.ndim - 1)
    found = ops.searchsorted(*together(sorted_sequence, input), right=right or side == "right")
    return cast(found, np.dtype(np.int32)) if out_int32 else found


def _check_searched(ordered: Any, values: Any, sorter: Any) -> None:
    shape, wanted = tuple(ordered.shape), tuple(values.shape)
    if ordered.ndim != 1 and (ordered.ndim == 0 or shape[:-1] != wanted[:-1] or len(shape) != len(wanted)):
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(shape)} and input value "
            f"tensor {list(wanted)}"
        )
    if sorter is None:
        return
    require_tensor("searchsorted", "sorter", sorter, 3)
    if tuple(sorter.shape) != shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(shape)} and got sorter tensor {list(sorter.shape)}"
        )
    if category(sorter)[0] != np.int64:
        raise RuntimeError(f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {sorter.dtype}")


def bucketize(input: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The index of the bucket between sorted boundaries in which each value lies.

    A value on a boundary belongs to the bucket below it, or with `right=True` to the one above.

    Parameters
    ----------
    boundaries
        A sorted sequence.
    out_int32
        Give int32, not int64.
    right
        Count a bound that is equal to the element as below it.

    >>> import pullback
    >>> pullback.bucketize(pullback.tensor([0, 3, 9]), pullback.tensor([1, 3, 5]))
    tensor([0, 1, 3])
    """
    require_tensor("bucketize", "boundaries", boundaries, 2)
    if boundaries.ndim != 1:
        raise RuntimeError(f"bucketize(): boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)
