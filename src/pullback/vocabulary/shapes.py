"""Shapes: views of tensors with other axes, and the basic functions that join and split tensors."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import dtypes
from .._core.errors import AbsentError
from .._core.primitives import Carrier
from .._core.shapes import Shape, expand_shape, infer_shape, normalize_axes, normalize_axis, parse_sizes, sum_to
from .._core.sites import warn
from .._core.values import require_tensor
from .._tape.generating import AXES
from .._tape.views import view as view_of
from . import in_both_spellings
from .promotion import cast, common
from .reinterpreting import reinterpreted

if TYPE_CHECKING:
    from .._core.typing import Array, Dim, DType, Sizes, Tensor

_inferred = functools.lru_cache(maxsize=1024)(infer_shape)  # for shapes that are requested repeatedly


def reshape(input: Tensor, *sizes: Sizes, shape: Sizes | None = None) -> Tensor:
    """The same elements in another shape, one entry of which may be -1; a view if the strides allow it.

    Parameters
    ----------
    shape
        The lengths of the axes; -1 for the one that follows from the others.

    >>> import pullback
    >>> pullback.reshape(pullback.arange(6), (2, -1))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    target = parse_sizes(sizes if shape is None else (shape,))
    return view_of(ops.reshape, input, shape=_inferred(target, math.prod(input.shape)))


def view(input: Tensor, *shape: Sizes | DType, size: Sizes | None = None, dtype: DType | None = None) -> Tensor:
    """A view with another shape, an error if that would require a copy; with a dtype, the bytes as that dtype.

    >>> import pullback
    >>> x = pullback.arange(4)
    >>> x.view(2, 2)[0] = -1
    >>> x
    tensor([-1, -1,  2,  3])
    """
    if dtype is not None or (shape and type(shape[0]) is dtypes.dtype):
        return reinterpreted(input, shape[0] if dtype is None else dtype)
    array = getattr(input._array, "form", input._array)  # that of a recorded value
    target = _inferred(parse_sizes(shape if size is None else (size,)), input.shape.numel())
    laid_out = input.level > 0 or not isinstance(array, np.ndarray) or array.flags.c_contiguous or not array.size
    if not laid_out and not np.shares_memory(array.reshape(target), array):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            f"contiguous subspaces). Use .reshape(...) instead. The tensor has shape {tuple(input.shape)} and strides "
            f"{input.stride()}."
        )
    return view_of(ops.reshape, input, shape=target)


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """input.view(other.shape).

    >>> import pullback
    >>> pullback.arange(4).view_as(pullback.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    require_tensor("view_as", "other", other)
    return view(input, other.shape)


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """input.reshape(other.shape).

    >>> import pullback
    >>> pullback.arange(4).reshape_as(pullback.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    require_tensor("reshape_as", "other", other)
    return reshape(input, other.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from start_dim to end_dim flattened into one.

    Parameters
    ----------
    start_dim
        The first axis.
    end_dim
        The last axis.

    >>> import pullback
    >>> pullback.flatten(pullback.zeros(2, 3, 4), start_dim=1).shape
    pullback.Size([2, 12])
    """
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


def ravel(input: Tensor, order: str = "C") -> Tensor:
    """All elements along one axis, contiguous in memory; with order 'F' the first index changes fastest, as in NumPy.

    Parameters
    ----------
    order
        "C" for the last index changing fastest, "F" for the first.

    >>> import pullback
    >>> pullback.ravel(pullback.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
    """
    if order not in ("C", "F"):
        raise ValueError(f"ravel: the order is 'C' or 'F', not {order!r}")
    return reshape(input if order == "C" else reversed_axes(input), -1).contiguous()


def unflatten(input: Tensor, dim: int, sizes: Sizes) -> Tensor:
    """An axis divided into several, one of whose sizes may be -1.

    Parameters
    ----------
    sizes
        The lengths of the axes that it becomes.

    >>> import pullback
    >>> pullback.ones(4, 6).unflatten(1, (2, -1)).shape
    pullback.Size([4, 2, 3])
    """
    place = normalize_axis(dim, input.ndim, "unflatten")
    parts = parse_sizes((sizes,), "unflatten", "sizes")
    if not parts:
        raise RuntimeError("unflatten: sizes must be non-empty")
    length = input.shape[place] if input.ndim else 1
    try:
        parts = infer_shape(parts, length)
    except RuntimeError as error:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(parts)} don't multiply up to the size of dim {place} ({length}) in the "
            f"input tensor: {error}"
        ) from None
    return reshape(input, *input.shape[:place], *parts, *input.shape[place + 1 :])


# Axes in another order


@functools.lru_cache(maxsize=1024)
def _order(axes: Shape, ndim: int) -> Shape:
    """The order of axes passed to permute, normalized."""
    if len(axes) != ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(axes)}"
        )
    order = tuple([normalize_axis(axis, ndim) for axis in axes])
    if len(set(order)) != len(order):
        raise RuntimeError(f"permute(): duplicate dims are not allowed: {tuple(axes)}")
    return order


@functools.lru_cache(maxsize=1024)
def _exchanged(first: int, second: int, ndim: int) -> Shape:
    """All axes in order, except that two are exchanged."""
    order = list(range(ndim))
    first, second = normalize_axis(first, ndim), normalize_axis(second, ndim)
    if ndim:
        order[first], order[second] = second, first
    return tuple(order)


def permute(input: Tensor, *axes: Sizes, dims: Sizes | None = None) -> Tensor:
    """The axes in another order."""
    given = parse_sizes(axes if dims is None else (dims,))
    return view_of(ops.permute_dims, input, axes=_order(given, input.ndim))


def _swapped(input: Tensor, first: int, second: int, label: str) -> Tensor:
    ndim = input.ndim
    if not ndim:
        normalize_axis(first, 0), normalize_axis(second, 0)
        return alias(input)
    return view_of(ops.permute_dims, input, axes=_exchanged(first, second, ndim), label=label)


def alias(input: Tensor) -> Tensor:
    """A view of the whole tensor."""
    return view_of(ops.getitem, input, index=(...,))


def reversed_axes(input: Tensor) -> Tensor:
    """The axes in reverse order.

    >>> import pullback
    >>> pullback.zeros(2, 3).T.shape
    pullback.Size([3, 2])
    """
    return view_of(ops.permute_dims, input, axes=AXES[input.ndim][::-1])


def transpose(input: Tensor, *dims: int, dim0: int | None = None, dim1: int | None = None) -> Tensor:
    """Two axes exchanged; with no axes, or all of them, NumPy's transpose.

    >>> import pullback
    >>> pullback.transpose(pullback.zeros(2, 3, 4), 0, 1).shape
    pullback.Size([3, 2, 4])
    """
    if dim0 is not None or dim1 is not None:
        dims = (*dims, *(dim for dim in (dim0, dim1) if dim is not None))
    if not dims:
        return reversed_axes(input)
    axes = parse_sizes(dims)
    if len(axes) != 2 or (len(dims) == 1 and input.ndim == 2):
        return permute(input, *axes)
    return _swapped(input, *axes, "TransposeBackward0")


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two axes exchanged.

    >>> import pullback
    >>> pullback.swapaxes(pullback.zeros(2, 3, 4), 0, 2).shape
    pullback.Size([4, 3, 2])
    """
    return _swapped(input, axis0, axis1, "TransposeBackward0")


def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two axes exchanged."""
    return _swapped(input, dim0, dim1, "TransposeBackward0")


def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; a tensor with fewer axes is returned unchanged.

    >>> import pullback
    >>> pullback.t(pullback.tensor([[1, 2, 3]]))
    tensor([[1],
            [2],
            [3]])
    """
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D: use .mT or permute")
    return alias(input) if input.ndim < 2 else _swapped(input, 0, 1, "TBackward0")


def matrix_transpose(input: Tensor) -> Tensor:
    """The last two axes exchanged."""
    return _of_matrices(input, "mT")


def _of_matrices(input: Tensor, name: str) -> Tensor:
    if input.ndim == 0:
        warn(f"Tensor.{name} is deprecated on 0-D tensors. This function is the identity in these cases.")
        return input
    if input.ndim < 2:
        raise AbsentError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got {input.ndim}-D tensor."
        )
    return _swapped(input, -2, -1, "TransposeBackward0")


def _conjugate(input: Tensor) -> Tensor:
    return ops.conj(input) if input._dtype.kind == "c" else input


def adjoint(input: Tensor) -> Tensor:
    """The last two axes exchanged, and complex elements conjugated.

    >>> import pullback
    >>> pullback.adjoint(pullback.tensor([[1 + 2j, 3 + 0j]]))
    tensor([[1.-2.j],
            [3.-0.j]])
    """
    return _conjugate(_of_matrices(input, "adjoint()"))


def _adjoint_of_matrix(input: Tensor) -> Tensor:
    """The conjugate transpose of a matrix.

    >>> import pullback
    >>> pullback.tensor([[1 + 2j, 3 + 0j]]).H
    tensor([[1.-2.j],
            [3.-0.j]])
    """
    if input.ndim not in (0, 2):
        raise AbsentError(f"tensor.H is only supported on matrices (2-D tensors). Got {input.ndim}-D tensor.")
    return _conjugate(reversed_axes(input)) if input.ndim else input


def _adjoint_of_matrices(input: Tensor) -> Tensor:
    return _conjugate(_of_matrices(input, "mH"))


H = property(_adjoint_of_matrix, doc=_adjoint_of_matrix.__doc__)
mH = property(_adjoint_of_matrices, doc=adjoint.__doc__)  # noqa: N816  # torch's name


def movedim(input: Tensor, source: Sizes, destination: Sizes) -> Tensor:
    """Axes moved to other positions; the others keep their order; arguments as for `moveaxis`.

    >>> import pullback
    >>> pullback.movedim(pullback.zeros(2, 3, 4), 0, -1).shape
    pullback.Size([3, 4, 2])
    """
    places = [(axes,) if isinstance(axes, int | np.integer) else parse_sizes((axes,)) for axes in (source, destination)]
    if len(places[0]) != len(places[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(places[0])} dims) should contain the same number "
            f"of dims as destination ({list(places[1])} dims)"
        )
    for name, axes in zip(("source", "destination"), places, strict=True):
        if len({normalize_axis(axis, input.ndim) for axis in axes}) != len(axes):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(axes)})")
    taken, given = (normalize_axes(axes, input.ndim) for axes in places)
    order = [axis for axis in range(input.ndim) if axis not in taken]
    for place, axis in sorted(zip(given, taken, strict=True)):
        order.insert(place, axis)
    return view_of(ops.permute_dims, input, axes=tuple(order)) if input.ndim else alias(input)


def moveaxis(input: Tensor, source: Sizes, destination: Sizes) -> Tensor:
    """Axes moved to other positions; the others keep their order.

    Parameters
    ----------
    source
        The axes, as they are.
    destination
        Where they go.
    """
    return movedim(input, source, destination)


# Axes repeated, added and removed


def expand(input: Tensor, *sizes: Sizes, size: Sizes | None = None, implicit: bool = False) -> Tensor:
    """A view in which axes of length 1, and new ones in front, are repeated; -1 keeps a size.

    Parameters
    ----------
    implicit
        Accepted as in torch, and of no effect.

    >>> import pullback
    >>> x = pullback.tensor([[1.0], [2.0]], requires_grad=True)
    >>> x.expand(-1, 3).sum().backward()  # the gradient is summed along the repeated axis
    >>> x.grad
    tensor([[3.],
            [3.]])
    """
    target = parse_sizes(sizes if size is None else (size,))
    return view_of(ops.broadcast_to, input, shape=expand_shape(tuple(input.shape), target))


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """input.expand(other.shape).

    >>> import pullback
    >>> pullback.tensor([1, 2]).expand_as(pullback.zeros(2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    require_tensor("expand_as", "other", other)
    return expand(input, other.shape)


def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """input.expand(size).

    >>> import pullback
    >>> pullback.broadcast_to(pullback.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return expand(input, size)


def sum_to_size(input: Tensor, *sizes: Sizes, size: Sizes | None = None) -> Tensor:
    """The sum over broadcast axes: the transpose of expanding from a size to the input's.

    >>> import pullback
    >>> pullback.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    shape, target = tuple(input.shape), parse_sizes(sizes if size is None else (size,), "sum_to_size")
    try:
        fits = expand_shape(target, shape) == shape
    except RuntimeError:
        fits = False
    if not fits:
        raise RuntimeError(f"size {{{list(target)}}} is not expandable to size {{{list(shape)}}}.")
    if target != shape and input._dtype.kind in "biu":
        input = cast(input, np.dtype(np.int64))
    return sum_to(ops, input, target)


def squeeze(input: Tensor, dim: Dim = None, *, axis: Dim = None) -> Tensor:
    """A view without its axes of length 1, or without those of the given axes that have length 1.

    >>> import pullback
    >>> pullback.squeeze(pullback.zeros(1, 2, 1)).shape, pullback.squeeze(pullback.zeros(1, 2, 1), 0).shape
    (pullback.Size([2]), pullback.Size([2, 1]))
    """
    dim = axis if dim is None else dim
    shape = tuple(input.shape)
    axes = range(len(shape)) if dim is None else normalize_axes(dim, len(shape))
    gone = tuple([i for i in axes if i < len(shape) and shape[i] == 1])
    return view_of(ops.squeeze, input, axis=gone, given=dim is not None)


@in_both_spellings
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A view with a new axis of length 1.

    >>> import pullback
    >>> pullback.unsqueeze(pullback.tensor([1, 2]), 1)
    tensor([[1],
            [2]])
    """
    return view_of(ops.expand_dims, input, axis=normalize_axis(dim, input.ndim + 1))


def flip(input: Tensor, *axes: Sizes, dims: Sizes | None = None) -> Tensor:
    """A copy with the elements reversed along axes.

    >>> import pullback
    >>> pullback.flip(pullback.tensor([[1, 2], [3, 4]]), dims=(0, 1))
    tensor([[4, 3],
            [2, 1]])
    """
    if not axes and dims is None:
        raise TypeError('flip() missing 1 required positional arguments: "dims": the axes along which to reverse')
    given = parse_sizes(axes if dims is None else (dims,), "flip", "dims")
    return ops.flip(input, axis=normalize_axes(given, input.ndim))


# Joining and splitting


def _sequence(name: str, tensors: Tensor | Sequence[Tensor | Array]) -> list[Any]:
    """The tensors to be joined, in one dtype."""
    listed: list[Any] = list(unbind(tensors) if isinstance(tensors, Carrier) else tensors)
    if not listed:
        what = "stack expects a non-empty TensorList" if name == "stack" else "expected a non-empty list of Tensors"
        raise (RuntimeError if name == "stack" else ValueError)(f"{name}(): {what}: pass at least one tensor")
    kept = None
    for tensor in listed:
        if not isinstance(tensor, Carrier) or (kept is not None and tensor._array.dtype != kept):
            break
        kept = tensor._array.dtype
    else:
        return listed
    if not any(isinstance(tensor, Carrier) for tensor in listed):
        raise TypeError(f"{name}(): expected Tensors, not {type(listed[0]).__name__}: wrap arrays with as_tensor")
    dtype = common(*listed)
    return [cast(tensor, dtype) for tensor in listed]


def cat(tensors: Tensor | Sequence[Tensor | Array], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors joined along an existing axis; their other axes must agree.

    >>> import pullback
    >>> pullback.cat([pullback.tensor([1, 2]), pullback.tensor([3])])
    tensor([1, 2, 3])
    """
    listed = _sequence("cat", tensors)
    shapes = [each._array.shape if isinstance(each, Carrier) and not each.level else each.shape for each in listed]
    empty = (0,) in shapes
    first = next(filter((0,).__ne__, shapes), shapes[0]) if empty else shapes[0]
    if not first:
        raise RuntimeError(
            "zero-dimensional tensor (at position 0) cannot be concatenated: pass a list of tensors, and join numbers with stack"
        )
    if first == (0,):
        return ops.concat(*listed, axis=0, sizes=(0,) * len(listed))  # along any axis: legacy behavior of torch
    place = normalize_axis(dim if axis is None else axis, len(first))
    if len(first) > 1 and empty:  # torch skips 1-d empty tensors, a legacy behavior
        nothing = (*first[:place], 0, *first[place + 1 :])
        listed = [ops.reshape(t, shape=nothing) if t.shape == (0,) else t for t in listed]
        shapes = [tensor.shape for tensor in listed]
    for index, shape in enumerate(shapes):
        if shape != first:
            _check_joined(tuple(first), tuple(shape), place, index)
    return ops.concat(*listed, axis=place, sizes=tuple([shape[place] for shape in shapes]))


def _check_joined(first: Shape, shape: Shape, place: int, index: int) -> None:
    """Raise for tensors that cannot be joined to the first one along an axis."""
    if len(shape) != len(first):
        raise RuntimeError(
            f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}: shapes {first} and {shape}"
        )
    if shape[:place] + shape[place + 1 :] != first[:place] + first[place + 1 :]:
        raise RuntimeError(
            f"Sizes of tensors must match except in dimension {place}. {_first_difference(first, shape, place)} for "
            f"tensor number {index} in the list: it has shape {shape}, and tensor number 0 has shape {first}."
        )


def _first_difference(first: tuple[int, ...], shape: tuple[int, ...], place: int) -> str:
    axis = next(i for i, size in enumerate(shape) if i != place and size != first[i])
    return f"Expected size {first[axis]} but got size {shape[axis]}"


def stack(tensors: Tensor | Sequence[Tensor | Array], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Tensors of one shape joined along a new axis.

    >>> import pullback
    >>> pullback.stack([pullback.tensor([1, 2]), pullback.tensor([3, 4])])
    tensor([[1, 2],
            [3, 4]])
    """
    listed = _sequence("stack", tensors)
    shapes = [each._array.shape if isinstance(each, Carrier) and not each.level else each.shape for each in listed]
    first, *others = shapes
    for index, shape in enumerate(others, 1):
        if shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(shape)} at "
                f"entry {index}: cat joins along an axis that is there, and lets that one differ"
            )
    return ops.stack(*listed, axis=normalize_axis(dim if axis is None else axis, len(first) + 1))


@in_both_spellings
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, as views with a common node.

    >>> import pullback
    >>> first, second = pullback.unbind(pullback.tensor([[1, 2], [3, 4]]))
    >>> second
    tensor([3, 4])
    """
    if input.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions: unbind needs an axis")
    result: tuple[Any, ...] = view_of(ops.unbind, input, axis=normalize_axis(dim, input.ndim))
    return result


def split(
    input: Tensor, split_size_or_sections: Sizes | None = None, dim: int = 0, *, split_size: Sizes | None = None
) -> tuple[Tensor, ...]:
    """Consecutive parts along an axis: of one size (the last may be smaller), or of the given sizes.

    `split_size` is the method's name in torch for `split_size_or_sections`.

    Parameters
    ----------
    split_size_or_sections
        The length of each part, or a list of lengths.

    >>> import pullback
    >>> pullback.split(pullback.arange(5), 2), pullback.split(pullback.arange(5), [1, 4])
    ((tensor([0, 1]), tensor([2, 3]), tensor([4])), (tensor([0]), tensor([1, 2, 3, 4])))
    """
    if (split_size_or_sections is None) == (split_size is None):
        raise TypeError('split() missing 1 required positional arguments: "split_size_or_sections", a size or sizes')
    if split_size_or_sections is None:
        split_size_or_sections = split_size
    shape = tuple(input.shape)
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor: one without axes has no parts")
    place = normalize_axis(dim, len(shape))
    length = shape[place]
    if isinstance(split_size_or_sections, int | np.integer):
        size = split_size_or_sections
        if size < 0 or (size == 0 and length):
            raise RuntimeError(f"split expects split_size be positive, but got split_size={size}")
        count = max(-(-length // size), 1) if size else 1
        sizes = (size,) * (count - 1) + (length - (count - 1) * size,)
        return _pieces(input, sizes, place, "SplitBackward0")
    sizes = tuple(parse_sizes((split_size_or_sections,)))
    if sum(sizes) != length or any(size < 0 for size in sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size at dimension {place}), "
            f"but got split_sizes={list(sizes)}"
        )
    return _pieces(input, sizes, place, "SplitWithSizesBackward0")


def _pieces(input: Tensor, sizes: tuple[int | np.integer[Any], ...], axis: int, label: str) -> tuple[Tensor, ...]:
    result: tuple[Any, ...] = view_of(ops.split, input, axis=axis, sizes=sizes, label=label)
    return result


@in_both_spellings
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` consecutive parts of one size along an axis; the last may be smaller.

    Parameters
    ----------
    chunks
        The number of parts, of which there may be fewer.

    >>> import pullback
    >>> pullback.chunk(pullback.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    if not input.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor: one without axes has no parts")
    length = input.shape[normalize_axis(dim, input.ndim)]
    return split(input, -(-length // chunks), dim) if length else split(input, [0] * chunks, dim)
