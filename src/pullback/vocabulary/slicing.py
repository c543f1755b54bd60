"""Elements chosen by a mask, and slices along one axis: reading, writing into copies, and conversion of indices."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import dtypes, xp as _xp
from .._core.primitives import Carrier
from .._core.shapes import broadcast_shapes, normalize_axis, parse_sizes
from .._core.values import concrete, require_operand, require_tensor
from .._tape.views import Step, view
from .promotion import broadcast, cast, category
from .scatter import filling, seen

if TYPE_CHECKING:
    from typing import Literal, overload

    from .._core.typing import Sizes, Tensor, TensorLike

MASK = (_xp.array,)  # the metadata of an index that is a single mask


# Masks


def _mask(mask: Any, refusal: str) -> Any:
    if not isinstance(mask, (Carrier, np.ndarray)):
        require_operand(refusal.partition(":")[0].partition(" ")[0].rstrip("_"), "mask", mask, 2)
    if category(mask)[0].kind != "b":
        name = dtypes.type_name(dtypes.from_numpy(category(mask)[0]))
        raise RuntimeError(f"{refusal}, but got mask with dtype {name}: compare first, as in mask != 0")
    return mask


def _spread(value: Any, shape: tuple[int, ...]) -> Any:
    """An operand broadcast to a shape, if it has another."""
    return value if tuple(value.shape) == shape else seen(ops.broadcast_to, value, shape=shape)


def masked_fill(input: Tensor, mask: Tensor, value: TensorLike) -> Tensor:
    """A copy with a number, or a 0-d tensor, written where the mask is True.

    Parameters
    ----------
    value
        The number, or a tensor without axes, that is written.

    >>> import pullback
    >>> x = pullback.tensor([1.0, -2.0])
    >>> x.masked_fill(x < 0, 0.0)
    tensor([1., 0.])
    """
    mask = _mask(mask, "masked_fill_ only supports boolean masks")
    value = filling("masked_fill_", input, value)
    label = f"MaskedFillBackward{int(isinstance(value, Carrier))}"
    return broadcast(functools.partial(ops.masked_fill, label=label), input, mask, value)


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy with the elements of `source`, in order, written where the mask is True.

    >>> import pullback
    >>> mask = pullback.tensor([True, False, True])
    >>> pullback.zeros(3).masked_scatter(mask, pullback.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """
    mask = _mask(mask, "masked_scatter_ only supports boolean masks")
    require_operand("masked_scatter", "source", source, 3)
    if category(source)[0] != input._dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {input.dtype} and {source.dtype}"
        )
    shape = tuple(broadcast_shapes(tuple(input.shape), tuple(mask.shape)))
    mask = _spread(mask, shape)
    count = int(np.count_nonzero(concrete(mask, "masked_scatter")))
    if source.size < count:
        raise RuntimeError(
            f"Number of elements of source < number of ones in mask: {int(source.size)} elements for {count} places"
        )
    taken = seen(ops.getitem, seen(ops.reshape, source, shape=(-1,)), index=(slice(0, count), ...))
    return ops.index_put(_spread(input, shape), taken, mask, spec=MASK, label="MaskedScatterBackward0")


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask is True, along a single axis.

    >>> import pullback
    >>> x = pullback.tensor([1.0, -2.0, 3.0])
    >>> x.masked_select(x > 0)
    tensor([1., 3.])
    """
    mask = _mask(mask, "masked_select: expected BoolTensor for mask")
    shape = tuple(broadcast_shapes(tuple(input.shape), tuple(mask.shape)))
    return ops.index(_spread(input, shape), _spread(mask, shape), spec=MASK, label="MaskedSelectBackward0")


# Slices along an axis


def _at(axis: int, entry: Any) -> tuple[Any, ...]:
    """The index with an entry at one axis, and full slices elsewhere."""
    return (*[slice(None)] * axis, entry, ...)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice of a tensor at an index along a dim: a view.

    >>> import pullback
    >>> pullback.select(pullback.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])
    """
    return view(ops.getitem, input, index=_at(*_place(input, dim, index)))


def _place(input: Tensor, dim: int, index: int) -> tuple[int, int]:
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis, place = normalize_axis(dim, input.ndim), operator.index(index)
    size = input.shape[axis]
    if not -size <= place < size:
        raise IndexError(
            f"select(): index {place} out of range for tensor of size {list(input.shape)} at dimension {axis}"
        )
    return axis, place


def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """`length` slices of a tensor from a start index along a dim: a view.

    Parameters
    ----------
    length
        How many elements.

    >>> import pullback
    >>> pullback.tensor([1.0, 2.0, 3.0]).narrow(0, 1, 2)
    tensor([2., 3.])
    """
    if not input.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Carrier):
        if start.ndim or start._dtype.kind not in "iu":
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = start.item()
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, not {length}.")
    axis = normalize_axis(dim, input.ndim)
    size = input.shape[axis]
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    begin = start + size if start < 0 else start
    if begin + length > size:
        raise RuntimeError(f"start ({begin}) + length ({length}) exceeds dimension size ({size}).")
    return view(ops.getitem, input, index=_at(axis, slice(begin, begin + length)))


def overwritten(name: str, input: Tensor, src: Any, *path: Step) -> Tensor:
    """A copy in which the view reached by a chain of views is overwritten by `src`, which has its shape."""
    require_operand(name, "src", src, 2)
    want = list(_xp.replay(np.broadcast_to(np.empty(()), tuple(input.shape)), path=path).shape)
    if list(src.shape) != want:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = {want}"
        )
    source = category(src)[0]
    if source != input._dtype:
        src = ops.astype(src, dtype=input._dtype, source=source)
    title = "".join(word.title() for word in name.split("_"))
    return ops.overwrite(input, src, path=path, label=f"{title}Backward0")


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy whose slice at an index along a dim is `src`.

    >>> import pullback
    >>> pullback.zeros(2, 2).select_scatter(pullback.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    return overwritten("select_scatter", input, src, (ops.getitem, {"index": _at(*_place(input, dim, index))}))


def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy whose slices from `start` to `end` along a dim are those of `src`.

    >>> import pullback
    >>> pullback.zeros(4).slice_scatter(pullback.ones(2), 0, 1, 3)
    tensor([0., 1., 1., 0.])
    """
    if step <= 0:
        raise RuntimeError(f"slice step must be positive, not {step}")
    index = _at(normalize_axis(dim, input.ndim), slice(start, end, step))
    return overwritten("slice_scatter", input, src, (ops.getitem, {"index": index}))


def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sizes, stride: Sizes, storage_offset: int | None = None
) -> Tensor:
    """A copy of a contiguous tensor in which the elements of an `as_strided` view are those of `src`.

    Parameters
    ----------
    stride
        The distances in memory along each axis, in elements.
    storage_offset
        The first element; None for that of the input.

    >>> import pullback
    >>> pullback.zeros(4).as_strided_scatter(pullback.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    """
    require_operand("as_strided_scatter", "src", src, 2)
    sizes, steps = parse_sizes((size,)), parse_sizes((stride,))
    if len(sizes) != len(steps):
        raise RuntimeError(f"mismatch in length of strides and shape: {list(sizes)} and {list(steps)}")
    if not input.is_contiguous():
        raise RuntimeError(
            f"as_strided_scatter of a tensor with strides {input.stride()}: call .contiguous() first, so that its elements "
            "lie in memory in the order of its axes"
        )
    if tuple(src.shape) != tuple(sizes):
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(sizes)}"
        )
    offset = storage_offset or 0
    places = np.asarray(offset)
    for count, step in zip(sizes, steps, strict=True):
        places = places[..., None] + np.arange(count) * step
    if places.size and (places.max() >= input.numel() or places.min() < 0):
        raise RuntimeError(
            f"setStorage: sizes {list(sizes)}, strides {list(steps)}, storage offset {offset}, and itemsize "
            f"{input.itemsize} requiring a storage size of {(int(places.max()) + 1) * input.itemsize} are out of bounds for "
            f"storage of size {input.nbytes}"
        )
    source = category(src)[0]
    if source != input._dtype:
        src = ops.astype(src, dtype=input._dtype, source=source)
    flat = ops.index_put(seen(ops.reshape, input, shape=(-1,)), src, places, spec=MASK)
    return seen(ops.reshape, flat, shape=tuple(input.shape))


# Indices as tensors


if TYPE_CHECKING:

    @overload
    def nonzero(input: Tensor, *, as_tuple: Literal[False] = False) -> Tensor: ...
    @overload
    def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The indices of the nonzero elements: one row each, or one tensor per axis with `as_tuple`.

    Parameters
    ----------
    as_tuple
        Give a tensor for each axis.

    >>> import pullback
    >>> pullback.nonzero(pullback.tensor([[0, 5], [7, 0]]))
    tensor([[0, 1],
            [1, 0]])
    """
    require_tensor("nonzero", "input", input)
    wrap = input.interpreter.wrap
    if not as_tuple:
        return wrap(_xp.long(np.argwhere(input._concrete("nonzero"))), None)
    indices = np.nonzero(np.atleast_1d(input._concrete("nonzero")))
    return tuple(wrap(np.ascontiguousarray(index, np.int64), None) for index in indices)


def argwhere(input: Tensor) -> Tensor:
    """The indices of the nonzero elements, one per row.

    >>> import pullback
    >>> pullback.argwhere(pullback.tensor([[0, 5], [7, 0]]))
    tensor([[0, 1],
            [1, 0]])
    """
    return nonzero(input)


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The indices of the first `size` nonzero elements, one per row; missing ones are filled with `fill_value`.

    Parameters
    ----------
    fill_value
        What the rest is filled with.
    size
        The number of rows of the result.

    >>> import pullback
    >>> pullback.nonzero_static(pullback.tensor([0, 3]), size=2)
    tensor([[ 1],
            [-1]])
    """
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, not {size}")
    found = np.argwhere(concrete(input, "nonzero_static"))[:size]
    rows = np.full((size, input.ndim), fill_value, np.int64)
    rows[: len(found)] = found
    return input.interpreter.wrap(rows, None)


def unravel_index(indices: Tensor, shape: Sizes) -> tuple[Tensor, ...]:
    """The index along each axis of a shape, from indices into the flattened tensor.

    Parameters
    ----------
    indices
        Numbers of elements in order.
    shape
        The lengths of the axes.

    >>> import pullback
    >>> pullback.unravel_index(pullback.tensor([5]), (2, 3))
    (tensor([1]), tensor([2]))
    """
    require_tensor("unravel_index", "indices", indices)
    if indices._dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = tuple(parse_sizes((shape,)))
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    indices = cast(indices, np.dtype(np.int64))
    steps = np.cumprod((1, *sizes[:0:-1]))[::-1][: len(sizes)].tolist()
    return tuple(ops.remainder(ops.floor_divide(indices, step), size) for size, step in zip(sizes, steps, strict=True))
