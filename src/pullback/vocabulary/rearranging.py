"""Elements rearranged: rolled, rotated, repeated, in windows, and with arbitrary strides."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import xp as _xp
from .._core.shapes import normalize_axis, parse_sizes
from .._core.values import concrete
from .._tape.views import attach, beside, view as view_of
from . import shapes
from .promotion import category

if TYPE_CHECKING:
    from .._core.typing import Dim, Sizes, Tensor


def roll(input: Tensor, shifts: Sizes, dims: Dim = None) -> Tensor:
    """A copy with the elements rolled along axes, from the end to the beginning; without axes, in flat order.

    Parameters
    ----------
    shifts
        How far, along each axis.

    >>> import pullback
    >>> pullback.arange(4).roll(1)
    tensor([3, 0, 1, 2])
    """
    by = parse_sizes((shifts if isinstance(shifts, (list, tuple)) else (shifts,),), "roll", "shifts")
    if dims is None or (isinstance(dims, (list, tuple)) and not dims and len(by) == 1):
        if len(by) != 1:
            raise RuntimeError(f"shifts and dimensions must align. shifts: {len(by)}, dims:0")
        if input.ndim == 1:
            return ops.roll(input, shifts=by, axes=(0,))
        return beside(ops.reshape, roll(shapes.ravel(input), by, 0), shape=tuple(input.shape))
    axes = parse_sizes((dims if isinstance(dims, (list, tuple)) else (dims,),), "roll", "dims")
    if not by:
        raise RuntimeError("`shifts` required: by how many places")
    if input.ndim == 0:
        raise IndexError(f"Dimension specified as {axes[0]} but tensor has no dimensions: leave dims out")
    if len(by) != len(axes):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(by)}, dims:{len(axes)}")
    axes = tuple([normalize_axis(axis, input.ndim, "roll") for axis in axes])
    return ops.roll(input, shifts=by, axes=axes)


def fliplr(input: Tensor) -> Tensor:
    """A copy with the elements reversed along the second axis.

    >>> import pullback
    >>> pullback.fliplr(pullback.tensor([[1, 2], [3, 4]]))
    tensor([[2, 1],
            [4, 3]])
    """
    if input.ndim < 2:
        raise RuntimeError(f"Input must be >= 2-d: this tensor has {input.ndim} dimensions")
    return shapes.flip(input, 1)


def flipud(input: Tensor) -> Tensor:
    """A copy with the elements reversed along the first axis.

    >>> import pullback
    >>> pullback.flipud(pullback.tensor([[1, 2], [3, 4]]))
    tensor([[3, 4],
            [1, 2]])
    """
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d: this tensor has no dimensions")
    return shapes.flip(input, 0)


def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """A copy rotated k times by 90 degrees, from the first of two axes towards the second.

    Parameters
    ----------
    k
        How often.

    >>> import pullback
    >>> pullback.rot90(pullback.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    given = parse_sizes((dims,), "rot90", "dims")
    if len(given) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(given)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    for place, axis in enumerate(given):
        if not -input.ndim <= axis < input.ndim:
            raise RuntimeError(f"Rotation dim{place} out of range, dim{place} = {axis}")
    first, second = (axis % input.ndim for axis in given)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {given[0]} and dim1 = {given[1]}")
    turns = operator.index(k) % 4
    if turns == 0:
        return ops.clone(input)
    if turns == 2:
        return shapes.flip(input, first, second)
    return shapes.transpose(shapes.flip(input, second if turns == 1 else first), first, second)


# Repetition


def repeat(input: Tensor, *times: Sizes, repeats: Sizes | None = None) -> Tensor:
    """Copies side by side, a number for each axis; axes are added in front if there are more numbers.

    Parameters
    ----------
    repeats
        How often each axis is repeated, the last one last.

    >>> import pullback
    >>> pullback.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    counts = parse_sizes(times if repeats is None else (repeats,), "repeat", "repeats")
    if len(counts) < input.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: got "
            f"{list(counts)} for shape {tuple(input.shape)}: pass one count an axis, 1 to keep it"
        )
    if any(count < 0 for count in counts):
        lengths = (1,) * (len(counts) - input.ndim) + tuple(input.shape)
        sizes = [count * length for count, length in zip(counts, lengths, strict=True)]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {sizes}")
    return ops.tile(input, repeats=counts)


def tile(input: Tensor, *counts: Sizes, dims: Sizes | None = None) -> Tensor:
    """Copies side by side, a number for each of the last axes, one along the axes before.

    Parameters
    ----------
    dims
        How often each axis is repeated, the last one last.

    >>> import pullback
    >>> pullback.tile(pullback.tensor([[1], [2]]), (2,))
    tensor([[1, 1],
            [2, 2]])
    """
    each = parse_sizes(counts if dims is None else (dims,), "tile", "dims")
    return repeat(input, (1,) * (input.ndim - len(each)) + each)


def repeat_interleave(
    input: Tensor, repeats: Tensor | int | None = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element repeated along an axis, or in flat order if none is given, as often as `repeats` says.

    Called with only a tensor of counts: each index, repeated as often as its count says.

    Parameters
    ----------
    repeats
        How often, for all or for each.
    output_size
        The length of the result, if it is known.

    >>> import pullback
    >>> pullback.repeat_interleave(pullback.tensor([7, 8]), pullback.tensor([1, 2]))
    tensor([7, 8, 8])
    """
    if repeats is None:
        counts = _counts(input)
        if counts.ndim != 1:
            raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
        return input.interpreter.wrap(_repeated(np.arange(len(counts)), counts, output_size).astype(input._dtype), None)
    if dim is None:
        input, dim = shapes.ravel(input), 0
    elif input.ndim == 0:
        normalize_axis(dim, 0)
        input = shapes.reshape(input, 1)
    axis = normalize_axis(dim, input.ndim, "repeat_interleave")
    length = input.shape[axis]
    counts = _counts(repeats)
    if counts.size == 1:
        each = int(counts.reshape(()))
        _check_output(each * length, output_size)
        pieces = [1] * (input.ndim + 1)
        pieces[axis + 1] = each
        return shapes.flatten(ops.tile(shapes.unsqueeze(input, axis + 1), repeats=tuple(pieces)), axis, axis + 1)
    if counts.ndim != 1:
        raise RuntimeError(f"repeats must be 0-dim or 1-dim tensor, not {counts.ndim}-dim")
    if len(counts) != length:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {len(counts)} and "
            f"input.size({axis}) = {length}"
        )
    places = _repeated(np.arange(length), counts, output_size)
    return ops.index(input, places, spec=(*[slice(None)] * axis, _xp.array))


def _counts(repeats: Any) -> Any:
    """The number of repetitions, as an array."""
    if isinstance(repeats, (list, tuple)):
        repeats = np.asarray(parse_sizes((repeats,), "repeat_interleave", "repeats"), np.int64)
    if category(repeats)[0].kind not in "iu":
        name = category(repeats)[0].name
        raise NotImplementedError(f'"repeat_interleave_cpu" not implemented for {name!r}: repeats are whole numbers')
    counts = np.asarray(concrete(repeats, "repeat_interleave"))
    if counts.size and counts.min() < 0:
        raise RuntimeError(f"Repeats must be non-negative: the smallest is {counts.min()}")
    return counts


def _repeated(places: Any, counts: Any, output_size: Any) -> Any:
    _check_output(int(counts.sum()), output_size)
    return np.repeat(places, _xp.indexing(counts))


def _check_output(size: int, output_size: Any) -> None:
    if output_size is not None and size != output_size:
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {size} but got {output_size}")


# Strides


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """A view of windows along an axis, one every `step` elements, with their elements along a new last axis.

    Parameters
    ----------
    dimension
        The axis.
    size
        The length of each window.
    step
        The distance of windows.

    >>> import pullback
    >>> pullback.arange(5).unfold(0, 3, 2)
    tensor([[0, 1, 2],
            [2, 3, 4]])
    """
    axis = normalize_axis(dimension, input.ndim, "unfold")
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    length = input.shape[axis] if input.ndim else 1
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {length} but size is {size}")
    if input.ndim == 0:
        return view_of(ops.getitem, shapes.reshape(input, 1), index=(slice(0, size), ...))
    return view_of(ops.windows, input, axis=axis, size=size, step=step)


def as_strided(input: Tensor, size: Sizes, stride: Sizes, storage_offset: int | None = None) -> Tensor:
    """A view of the tensor's memory with another size and strides, counted in elements.

    Elements that occur more than once get the sum of their gradients. The view must lie within the tensor, or within
    its base if it is a view itself.

    >>> import pullback
    >>> pullback.arange(6).as_strided((2, 3), (2, 1))
    tensor([[0, 1, 2],
            [2, 3, 4]])
    """
    sizes, steps = parse_sizes((size,), "as_strided"), parse_sizes((stride,), "as_strided", "stride")
    if len(sizes) != len(steps):
        raise RuntimeError(f"mismatch in length of strides and shape: {list(steps)} and {list(sizes)}")
    if any(step < 0 for step in steps):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(steps)}")
    if any(length < 0 for length in sizes):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)} and strides={list(steps)}")
    start = input.storage_offset() if storage_offset is None else storage_offset
    if start < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {start}")
    reach = sum((length - 1) * step for length, step in zip(sizes, steps, strict=True)) + 1 if 0 not in sizes else 0
    for medium in (input, input._base):
        laid_out, unit = (None, 1) if medium is None else _in_order(medium)
        if laid_out is not None:
            offset = start - laid_out.storage_offset()
            if (
                offset >= 0
                and offset + reach <= laid_out.numel() * unit
                and not any(n % unit for n in (offset, *steps))
            ):
                step = {"size": sizes, "stride": tuple([n // unit for n in steps]), "offset": offset // unit}
                result = view_of(ops.as_strided, laid_out, **step)
                if input.level and result._base is None:  # inside a transform there is no memory layout
                    attach(laid_out, result, (ops.as_strided, step))
                return result
    if input.level:
        raise RuntimeError(
            f"as_strided: sizes {list(sizes)}, strides {list(steps)} and storage offset {start} lead to elements between those "
            f"of a tensor of shape {tuple(input.shape)} and strides {input.stride()}, or beyond them. This is not supported "
            "inside of vmap, please try to rewrite the as_strided call as a sequence of view operations"
        )
    whole = input if input._base is None else input._base
    raise RuntimeError(
        f"setStorage: sizes {list(sizes)}, strides {list(steps)}, storage offset {start}, and itemsize {input.itemsize} "
        f"requiring a storage size of {(start + reach) * input.itemsize} are out of bounds for storage of size "
        f"{whole.nbytes}, or for what of it the tensor can reach: write x.contiguous() first"
    )


def _in_order(tensor: Tensor) -> tuple[Any, int]:
    """A tensor, or a view of it, with axes in memory order, and the distance of its elements in memory.

    The distance is None if the elements are not equally spaced, or overlap. In `vmap` an example's elements are spaced
    by the batch size if its batch axis was not the first.
    """
    strides = tensor.stride()
    order = sorted(range(tensor.ndim), key=lambda axis: (-strides[axis], axis))
    straight = tensor if order == list(range(tensor.ndim)) else shapes.permute(tensor, order)
    if not tensor.numel():
        return straight, 1
    unit = expected = 0
    for length, step in reversed([(tensor.shape[axis], strides[axis]) for axis in order]):
        if length == 1:
            continue
        unit = unit or step
        if step != (expected or unit) or not step:
            return None, 1
        expected = step * length
    return straight, unit or 1
