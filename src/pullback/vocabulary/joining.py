"""Joining and splitting tensors along their first axes, and bringing them to common shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.primitives import Carrier
from .._core.shapes import broadcast_shapes, normalize_axis, parse_sizes
from .._core.sites import named
from .._core.values import concrete, require_tensor
from .._tape.views import view as view_of
from . import shapes
from .promotion import category

if TYPE_CHECKING:
    from .._core.typing import Sizes, Tensor, TensorLike

# Joins


def _listed(name: str, tensors: Tensor | Sequence[TensorLike]) -> list[Any]:
    listed = list(shapes.unbind(tensors) if isinstance(tensors, Carrier) else tensors)
    if not listed:
        raise RuntimeError(f"{name} expects a non-empty TensorList: pass at least one tensor")
    return _each(name, listed)


def _each(name: str, tensors: Sequence[Any]) -> list[Any]:
    for place, tensor in enumerate(tensors, 1):
        require_tensor(name, "tensors", tensor, place)
    return list(tensors)


def hstack(tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """Tensors joined along their second axis, or along the only one.

    >>> import pullback
    >>> pullback.hstack([pullback.ones(2), pullback.zeros(1)])
    tensor([1., 1., 0.])
    """
    listed = [atleast_1d(tensor) for tensor in _listed("hstack", tensors)]
    return shapes.cat(listed, 0 if listed[0].ndim == 1 else 1)


def vstack(tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """Tensors joined along their first axis, those with fewer than two axes as rows.

    >>> import pullback
    >>> pullback.vstack([pullback.ones(2), pullback.zeros(2)])
    tensor([[1., 1.],
            [0., 0.]])
    """
    return shapes.cat([atleast_2d(tensor) for tensor in _listed("vstack", tensors)], 0)


def dstack(tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """Tensors joined along their third axis, which is added if necessary.

    >>> import pullback
    >>> pullback.dstack([pullback.ones(2), pullback.zeros(2)]).shape
    pullback.Size([1, 2, 2])
    """
    return shapes.cat([atleast_3d(tensor) for tensor in _listed("dstack", tensors)], 2)


def column_stack(tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """Tensors joined along their second axis, those with fewer than two axes as columns.

    >>> import pullback
    >>> pullback.column_stack([pullback.ones(2), pullback.zeros(2)])
    tensor([[1., 0.],
            [1., 0.]])
    """
    listed = _listed("column_stack", tensors)
    return shapes.cat([tensor if tensor.ndim > 1 else shapes.reshape(tensor, -1, 1) for tensor in listed], 1)


# A minimum number of axes


def _of_one_or_more(name: str, function: Callable[[Any], Any], tensors: tuple[Any, ...]) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Carrier):
        return function(tensors[0])
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    return tuple([function(tensor) for tensor in _each(name, tensors)])


def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """A tensor with one axis if it had none; of several tensors, or a list of them, a tuple.

    >>> import pullback
    >>> pullback.atleast_1d(pullback.tensor(2.0))
    tensor([2.])
    """
    return _of_one_or_more("atleast_1d", lambda x: x if x.ndim else shapes.reshape(x, 1), tensors)


def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """A tensor with two axes, the first of them new, if it had fewer; of several tensors, or a list, a tuple.

    >>> import pullback
    >>> pullback.atleast_2d(pullback.ones(3)).shape
    pullback.Size([1, 3])
    """

    def raised(x: Tensor) -> Tensor:
        return x if x.ndim > 1 else shapes.unsqueeze(x, 0) if x.ndim else shapes.reshape(x, 1, 1)

    return _of_one_or_more("atleast_2d", raised, tensors)


def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """A tensor with three axes, the first and last of them new as needed; of several tensors, or a list, a tuple.

    >>> import pullback
    >>> pullback.atleast_3d(pullback.ones(3)).shape, pullback.atleast_3d(pullback.ones(3, 4)).shape
    (pullback.Size([1, 3, 1]), pullback.Size([3, 4, 1]))
    """

    def raised(x: Tensor) -> Tensor:
        return x if x.ndim > 2 else shapes.unsqueeze(x, -1) if x.ndim == 2 else shapes.reshape(x, 1, -1, 1)

    return _of_one_or_more("atleast_3d", raised, tensors)


# To a common shape


def _unpacked(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors of a call, which may have been passed as one list."""
    return tuple(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of tensors broadcast to their common shape.

    >>> import pullback
    >>> a, b = pullback.broadcast_tensors(pullback.ones(3, 1), pullback.ones(2))
    >>> a.shape, b.shape
    (pullback.Size([3, 2]), pullback.Size([3, 2]))
    """
    listed = _each("broadcast_tensors", _unpacked(tensors))
    shape = broadcast_shapes(*(tensor.shape for tensor in listed))
    return tuple([tensor if tuple(tensor.shape) == shape else shapes.expand(tensor, shape) for tensor in listed])


def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: str = "ij") -> tuple[Tensor, ...]:
    """For each vector a view of it broadcast over the grid they span; indexing="xy" exchanges the first two axes.

    Parameters
    ----------
    indexing
        'ij' or 'xy': the order of the first two axes.

    >>> import pullback
    >>> rows, columns = pullback.meshgrid(pullback.arange(2), pullback.arange(3), indexing="ij")
    >>> rows
    tensor([[0, 0, 0],
            [1, 1, 1]])
    """
    listed = _each("meshgrid", _unpacked(tensors))
    if not listed:
        raise RuntimeError("meshgrid expects a non-empty TensorList: pass at least one tensor")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for tensor in listed:
        if tensor.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got {tensor.ndim}D")
        if tensor._dtype != listed[0]._dtype:
            raise RuntimeError(
                f"torch.meshgrid expects all tensors to have the same dtype, but got {listed[0].dtype} and {tensor.dtype}"
            )
    swapped = indexing == "xy" and len(listed) > 1
    order = [1, 0, *range(2, len(listed))] if swapped else list(range(len(listed)))
    grid = [listed[place].numel() for place in order]
    found = []
    for place, tensor in enumerate(listed):
        own = [-1 if place == axis else 1 for axis in order]
        found.append(shapes.expand(shapes.reshape(tensor, own), grid))
    return tuple(found)


# Splitting


def _places(indices_or_sections: Any) -> Any:
    """The number of parts, or the indices at which to split: an int, or ints."""
    if isinstance(indices_or_sections, Carrier):
        dtype, array = category(indices_or_sections)[0], concrete(indices_or_sections, "tensor_split")
        if dtype != np.int64 or array.ndim > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional int64 tensor "
                f"on cpu, but it is {array.ndim}-dimensional, of dtype {indices_or_sections.dtype}"
            )
        return array.tolist()
    if isinstance(indices_or_sections, (int, np.integer)) and not isinstance(indices_or_sections, bool):
        return int(indices_or_sections)
    return parse_sizes((indices_or_sections,), "tensor_split", "indices_or_sections")


def tensor_split(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | Tensor | None = None,
    dim: int = 0,
    *,
    indices: Sequence[int] | Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Parts along an axis, as views: a number of parts of nearly equal size, or those between given indices.

    Parameters
    ----------
    indices
        The places before which to split.

    >>> import pullback
    >>> [piece.tolist() for piece in pullback.tensor_split(pullback.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    >>> [piece.tolist() for piece in pullback.tensor_split(pullback.arange(5), (1, 3))]
    [[0], [1, 2], [3, 4]]
    """
    if input.ndim == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    axis = normalize_axis(dim, input.ndim, "tensor_split")
    places = _places(indices if indices_or_sections is None else indices_or_sections)
    length = input.shape[axis]
    if isinstance(places, int | np.integer):
        if places < 1:
            raise RuntimeError(f"number of sections must be larger than 0, got {places}")
        size, longer = divmod(length, places)
        sizes = (size + 1,) * longer + (size,) * (places - longer)
        result: tuple[Any, ...] = view_of(ops.split, input, axis=axis, sizes=sizes, label="SplitWithSizesBackward0")
        return result
    before = (slice(None),) * axis
    ends = zip((0, *places), (*places, length), strict=True)
    return tuple([view_of(ops.getitem, input, index=(*before, slice(start, end), ...)) for start, end in ends])


def _along(name: str, least: int, axis_of: Callable[[int], int]) -> Callable[..., tuple[Tensor, ...]]:
    def pieces(input: Tensor, indices_or_sections: int | Sequence[int] | Tensor) -> tuple[Tensor, ...]:
        if input.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with "
                f"{input.ndim} dimensions!"
            )
        axis = axis_of(input.ndim)
        places = _places(indices_or_sections)
        if isinstance(places, int | np.integer) and (places < 1 or input.shape[axis] % places):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {axis}, but the size of the dimension "
                f"{input.shape[axis]} is not divisible by the split_size {places}!"
            )
        return tensor_split(input, indices_or_sections, axis)

    which = {"hsplit": "second axis, or the only one", "vsplit": "first axis", "dsplit": "third axis"}[name]
    shape = {"hsplit": (2, 4), "vsplit": (4, 1), "dsplit": (1, 1, 4)}[name]
    text = f"""Parts along the {which}, as views: a number of equal parts, or those between given indices.

    >>> import pullback
    >>> len(pullback.{name}(pullback.ones{shape}, 2))
    2
    """
    return named(name, pieces, text)


hsplit = _along("hsplit", 1, lambda ndim: min(ndim - 1, 1))
vsplit = _along("vsplit", 2, lambda ndim: 0)
dsplit = _along("dsplit", 3, lambda ndim: 2)


def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Consecutive pieces of given sizes along an axis, as views.

    Parameters
    ----------
    split_sizes
        The length of each part.

    >>> import pullback
    >>> [piece.tolist() for piece in pullback.split_with_sizes(pullback.arange(3), [1, 2])]
    [[0], [1, 2]]
    """
    return shapes.split(input, parse_sizes((split_sizes,), "split_with_sizes", "split_sizes"), dim)


def unsafe_split(input: Tensor, split_size: Sizes, dim: int = 0) -> tuple[Tensor, ...]:
    """`split`, with the checks that torch leaves out.

    Parameters
    ----------
    split_size
        The length of each part.

    >>> import pullback
    >>> pullback.unsafe_split(pullback.arange(5), 3)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    return shapes.split(input, split_size, dim)


def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """`split_with_sizes`, with the checks that torch leaves out.

    >>> import pullback
    >>> pullback.unsafe_split_with_sizes(pullback.arange(5), [1, 4])
    (tensor([0]), tensor([1, 2, 3, 4]))
    """
    return split_with_sizes(input, split_sizes, dim)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`chunk`, with the checks that torch leaves out.

    Parameters
    ----------
    chunks
        The number of parts, of which there may be fewer.

    >>> import pullback
    >>> pullback.unsafe_chunk(pullback.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    return shapes.chunk(input, chunks, dim)
