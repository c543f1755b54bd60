"""Shapes: views, joins and pieces of tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _refusals, ops
from .._core import Carrier
from .._promotion import cast, common
from .._shapes import expand_shape, infer_shape, normalize_axes, normalize_axis, parse_sizes
from .._views import view as view_of


def reshape(input: Any, *shape: Any) -> Any:
    """The same elements in another shape, one entry of which may be -1; a view where the layout allows it."""
    target = infer_shape(parse_sizes(shape), math.prod(input.shape))
    return view_of(ops.reshape, input, shape=tuple(target))


def view(input: Any, *shape: Any) -> Any:
    """A view with another shape, refused where the layout would need a copy."""
    target = tuple(infer_shape(parse_sizes(shape), math.prod(input.shape)))
    array = input._array
    if isinstance(array, np.ndarray) and array.size and not np.shares_memory(array.reshape(target), array):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            f"contiguous subspaces). Use .reshape(...) instead. The tensor has shape {tuple(input.shape)} and strides "
            f"{input.stride()}."
        )
    return view_of(ops.reshape, input, shape=target)


def _require_tensor(name: str, other: Any) -> None:
    if not isinstance(other, Carrier):
        raise _refusals.no_tensor(name, "other", 1, other)


def view_as(input: Any, other: Any) -> Any:
    """input.view(other.shape)."""
    _require_tensor("view_as", other)
    return view(input, other.shape)


def reshape_as(input: Any, other: Any) -> Any:
    """input.reshape(other.shape)."""
    _require_tensor("reshape_as", other)
    return reshape(input, other.shape)


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The axes from start_dim to end_dim made one."""
    shape = tuple(input.shape)
    if not shape:
        return reshape(input, 1)
    start, end = normalize_axis(start_dim, len(shape)), normalize_axis(end_dim, len(shape))
    if start > end:
        raise RuntimeError(
            f"flatten() has invalid args: start_dim cannot come after end_dim: got {start_dim}, {end_dim}"
        )
    if start == end:
        return input
    return reshape(input, *shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])


def ravel(input: Any) -> Any:
    """All elements along one axis."""
    return reshape(input, -1)


def permute(input: Any, *dims: Any) -> Any:
    """The axes in another order."""
    axes = parse_sizes(dims)
    if len(axes) != input.ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(axes)}"
        )
    order = tuple(normalize_axis(axis, input.ndim) for axis in axes)
    if len(set(order)) != len(order):
        raise RuntimeError(f"permute(): duplicate dims are not allowed: {tuple(axes)}")
    return view_of(ops.permute_dims, input, axes=order)


def _swapped(input: Any, first: int, second: int, label: str) -> Any:
    order = list(range(input.ndim))
    order[first], order[second] = order[second], order[first]
    return view_of(ops.permute_dims, input, axes=tuple(order), label=label)


def transpose(input: Any, *dims: Any, dim0: Any = None, dim1: Any = None) -> Any:
    """Two axes exchanged; with no axes, or all of them, NumPy's transpose."""
    if dim0 is not None:
        dims = (dim0, dim1)
    if not dims:
        return permute(input, *reversed(range(input.ndim)))
    axes = parse_sizes(dims)
    if len(axes) != 2 or (input.ndim == 2 and isinstance(dims[0], (tuple, list))):
        return permute(input, *axes)
    first, second = (normalize_axis(axis, input.ndim) for axis in axes)
    return (
        _swapped(input, first, second, "TransposeBackward0")
        if input.ndim
        else view_of(ops.getitem, input, index=(...,))
    )


def t(input: Any) -> Any:
    """The transpose of a matrix; a tensor with fewer axes as it is."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D: use .mT or permute")
    if input.ndim < 2:
        return view_of(ops.getitem, input, index=(...,))
    return _swapped(input, 0, 1, "TBackward0")


def matrix_transpose(input: Any) -> Any:
    """The last two axes exchanged."""
    if input.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {input.ndim}-D tensor."
        )
    return _swapped(input, input.ndim - 2, input.ndim - 1, "TransposeBackward0")


def movedim(input: Any, source: int, destination: int) -> Any:
    """An axis moved to another place."""
    order = list(range(input.ndim))
    order.insert(normalize_axis(destination, input.ndim), order.pop(normalize_axis(source, input.ndim)))
    return permute(input, *order)


def expand(input: Any, *sizes: Any) -> Any:
    """A view in which axes of length 1, and new ones in front, are repeated; -1 keeps a size."""
    return view_of(ops.broadcast_to, input, shape=tuple(expand_shape(tuple(input.shape), parse_sizes(sizes))))


def expand_as(input: Any, other: Any) -> Any:
    """input.expand(other.shape)."""
    _require_tensor("expand_as", other)
    return expand(input, other.shape)


def broadcast_to(input: Any, size: Sequence[int]) -> Any:
    """input.expand(size)."""
    return expand(input, size)


def squeeze(input: Any, dim: Any = None, *, axis: Any = None) -> Any:
    """A view without its axes of length 1, or without those of the given ones that have length 1."""
    dim = axis if dim is None else dim
    axes = normalize_axes(dim, input.ndim)
    gone = tuple(i for i in axes if i < input.ndim and input.shape[i] == 1)
    return view_of(ops.squeeze, input, axis=gone, given=dim is not None)


def unsqueeze(input: Any, dim: int) -> Any:
    """A view with a new axis of length 1."""
    return view_of(ops.expand_dims, input, axis=normalize_axis(dim, input.ndim + 1))


def flip(input: Any, *dims: Any) -> Any:
    """A copy with the elements reversed along axes."""
    axes = normalize_axes(tuple(parse_sizes(dims)), input.ndim)
    return ops.flip(input, axis=axes)


def _sequence(name: str, tensors: Any) -> list[Any]:
    if isinstance(tensors, Carrier):
        tensors = unbind(tensors)
    listed = list(tensors)
    if not listed:
        what = "stack expects a non-empty TensorList" if name == "stack" else "expected a non-empty list of Tensors"
        raise (RuntimeError if name == "stack" else ValueError)(f"{name}(): {what}: pass at least one tensor")
    if not any(isinstance(tensor, Carrier) for tensor in listed):
        raise TypeError(f"{name}(): expected Tensors, not {type(listed[0]).__name__}: wrap arrays with as_tensor")
    dtype = common(*listed)
    return [cast(tensor, dtype) for tensor in listed]


def cat(tensors: Any, dim: int = 0, *, axis: int | None = None) -> Any:
    """Tensors joined along an existing axis; their other axes agree."""
    listed = _sequence("cat", tensors)
    listed = [tensor for tensor in listed if tuple(tensor.shape) != (0,)] or listed[:1]
    first = tuple(listed[0].shape)
    if not first:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated: use stack")
    place = normalize_axis(dim if axis is None else axis, len(first))
    for index, tensor in enumerate(listed):
        shape = tuple(tensor.shape)
        if len(shape) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}: shapes {first} and {shape}"
            )
        if shape[:place] + shape[place + 1 :] != first[:place] + first[place + 1 :]:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {place}. {_first_difference(first, shape, place)} for "
                f"tensor number {index} in the list: it has shape {shape}, and tensor number 0 has shape {first}."
            )
    return ops.concat(*listed, axis=place, sizes=tuple(tensor.shape[place] for tensor in listed))


def _first_difference(first: tuple[int, ...], shape: tuple[int, ...], place: int) -> str:
    axis = next(i for i, size in enumerate(shape) if i != place and size != first[i])
    return f"Expected size {first[axis]} but got size {shape[axis]}"


def stack(tensors: Any, dim: int = 0, *, axis: int | None = None) -> Any:
    """Tensors of one shape joined along a new axis."""
    listed = _sequence("stack", tensors)
    first = list(listed[0].shape)
    for index, tensor in enumerate(listed):
        if list(tensor.shape) != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {first} at entry 0 and {list(tensor.shape)} at "
                f"entry {index}"
            )
    return ops.stack(*listed, axis=normalize_axis(dim if axis is None else axis, len(first) + 1))


def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """The slices along an axis, as views with one node behind them all."""
    if input.ndim == 0:
        raise RuntimeError("Dimension specified as 0 but tensor has no dimensions: unbind needs an axis")
    result: tuple[Any, ...] = view_of(ops.unbind, input, axis=normalize_axis(dim, input.ndim))
    return result


def split(input: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Consecutive pieces along an axis: of one size (the last may be smaller), or of the sizes given."""
    place = normalize_axis(dim, input.ndim)
    length = input.shape[place]
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if size < 0 or (size == 0 and length):
            raise RuntimeError(f"split expects split_size be positive, but got split_size={size}")
        count = max(-(-length // size), 1) if size else 1
        sizes = tuple(min(size, length - i * size) for i in range(count))
        return _pieces(input, sizes, place, "SplitBackward0")
    sizes = tuple(parse_sizes((split_size_or_sections,)))
    if sum(sizes) != length or any(size < 0 for size in sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size at dimension {place}), "
            f"but got split_sizes={list(sizes)}"
        )
    return _pieces(input, sizes, place, "SplitWithSizesBackward0")


def _pieces(input: Any, sizes: tuple[int, ...], axis: int, label: str) -> tuple[Any, ...]:
    result: tuple[Any, ...] = view_of(ops.split, input, axis=axis, sizes=sizes, label=label)
    return result


def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """At most `chunks` consecutive pieces of one size along an axis; the last may be smaller."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    length = input.shape[normalize_axis(dim, input.ndim)]
    return split(input, max(-(-length // chunks), 1) if length else 0, dim)


def diagonal(input: Any, *, dim: int = 0, other: int = 1) -> Any:
    """The diagonal of two axes, as the last axis."""
    axes = normalize_axis(dim, input.ndim), normalize_axis(other, input.ndim)
    return view_of(ops.diagonal, input, axes=axes)
