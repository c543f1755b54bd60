"""Rearrangements of elements: shapes, axes, joins, repetitions and selections by indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import ops
from ..vocabulary import shapes
from .operands import array, of_tensors, together

if TYPE_CHECKING:
    from .._core.typing import Dim, Tensor, TensorLike


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Tensors broadcast to their common shape.

    >>> from pullback import array_api as xp
    >>> a, b = xp.broadcast_arrays(xp.ones((3, 1)), xp.ones(2))
    >>> a.shape, b.shape
    (pullback.Size([3, 2]), pullback.Size([3, 2]))
    """
    return tuple(of_tensors(np.broadcast_arrays)(*arrays))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which tensors of several shapes are broadcast together; ValueError if there is none.

    >>> from pullback import array_api as xp
    >>> xp.broadcast_shapes((3, 1), (2,))
    (3, 2)
    """
    return np.broadcast_shapes(*shapes)


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """A tensor broadcast to a shape.

    >>> from pullback import array_api as xp
    >>> xp.broadcast_to(xp.asarray([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return shapes.broadcast_to(array("broadcast_to", x), shape)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Tensors joined along an axis; flattened first if that is None.

    >>> from pullback import array_api as xp
    >>> xp.concat([xp.asarray([1, 2]), xp.asarray([3])])
    tensor([1, 2, 3])
    """
    return of_tensors(np.concatenate)(together("concat", *arrays), axis)


def expand_dims(x: Tensor, /, axis: int | Sequence[int]) -> Tensor:
    """A tensor with new axes of length 1 at the given positions of the result.

    >>> from pullback import array_api as xp
    >>> xp.expand_dims(xp.ones(3), (0, 2)).shape
    pullback.Size([1, 3, 1])
    """
    x, axes = array("expand_dims", x), axis if isinstance(axis, Sequence) else (axis,)
    if len({place % (x.ndim + len(axes)) for place in axes}) < len(axes):
        raise ValueError(f"expand_dims: an axis is repeated in {axis}")
    return of_tensors(np.expand_dims)(x, axis)


def flip(x: Tensor, /, *, axis: Dim = None) -> Tensor:
    """A tensor with the elements reversed along axes, by default along all.

    >>> from pullback import array_api as xp
    >>> xp.flip(xp.asarray([1, 2, 3]))
    tensor([3, 2, 1])
    """
    return of_tensors(np.flip)(array("flip", x), axis)


def moveaxis(x: Tensor, source: int | Sequence[int], destination: int | Sequence[int], /) -> Tensor:
    """A tensor with axes moved to other positions.

    >>> from pullback import array_api as xp
    >>> xp.moveaxis(xp.ones((2, 3, 4)), 0, -1).shape
    pullback.Size([3, 4, 2])
    """
    return of_tensors(np.moveaxis)(array("moveaxis", x), source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """A tensor with the axes in another order.

    >>> from pullback import array_api as xp
    >>> xp.permute_dims(xp.ones((2, 3, 4)), (2, 0, 1)).shape
    pullback.Size([4, 2, 3])
    """
    return shapes.permute(array("permute_dims", x), axes)


def repeat(x: Tensor, repeats: TensorLike, /, *, axis: int | None = None) -> Tensor:
    """A tensor with each element, or each slice along an axis, repeated.

    >>> from pullback import array_api as xp
    >>> xp.repeat(xp.asarray([1, 2]), 2)
    tensor([1, 1, 2, 2])
    """
    return of_tensors(np.repeat)(array("repeat", x), repeats, axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """A tensor with the same elements in another shape; with `copy=True` always a copy, with `copy=False` never.

    >>> from pullback import array_api as xp
    >>> xp.reshape(xp.arange(6), (2, 3))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    x = array("reshape", x)
    if copy is False:
        try:
            return shapes.view(x, shape)
        except RuntimeError as error:
            raise ValueError(f"reshape with copy=False: {error}") from None
    return shapes.reshape(ops.clone(x) if copy else x, shape)


def roll(x: Tensor, /, shift: int | Sequence[int], *, axis: Dim = None) -> Tensor:
    """A tensor with the elements rolled along axes, from the end to the beginning; without axes, in flat order.

    >>> from pullback import array_api as xp
    >>> xp.roll(xp.arange(4), 1)
    tensor([3, 0, 1, 2])
    """
    x = array("roll", x)
    if axis is None:
        return shapes.reshape(of_tensors(np.roll)(shapes.ravel(x), shift), x.shape)
    several = axis if isinstance(axis, Sequence) else [axis]
    return of_tensors(np.roll)(x, shift if isinstance(shift, Sequence) else [shift] * len(several), tuple(several))


def squeeze(x: Tensor, /, axis: int | Sequence[int]) -> Tensor:
    """A tensor without the given axes, which must have length 1.

    >>> from pullback import array_api as xp
    >>> xp.squeeze(xp.ones((1, 3, 1)), 0).shape
    pullback.Size([3, 1])
    """
    return of_tensors(np.squeeze)(array("squeeze", x), axis)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis.

    >>> from pullback import array_api as xp
    >>> xp.stack([xp.asarray([1, 2]), xp.asarray([3, 4])], axis=1)
    tensor([[1, 3],
            [2, 4]])
    """
    return shapes.stack(together("stack", *arrays), axis)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """A tensor repeated along each axis.

    >>> from pullback import array_api as xp
    >>> xp.tile(xp.asarray([1, 2]), (2, 2))
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    return of_tensors(np.tile)(array("tile", x), repetitions)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of a tensor along an axis.

    >>> from pullback import array_api as xp
    >>> xp.unstack(xp.asarray([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
    """
    return shapes.unbind(array("unstack", x), axis)


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The elements, or the slices along an axis, at indices.

    >>> from pullback import array_api as xp
    >>> xp.take(xp.asarray([10, 20, 30]), xp.asarray([2, 0]))
    tensor([30, 10])
    """
    x = array("take", x)
    if axis is None and x.ndim > 1:
        raise ValueError(f"take: axis is needed for a tensor of {x.ndim} axes")
    return of_tensors(np.take)(x, indices, axis)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """The elements at indices along an axis, each in its own row.

    >>> from pullback import array_api as xp
    >>> x = xp.asarray([[3.0, 1.0, 2.0]])
    >>> xp.take_along_axis(x, xp.argsort(x))
    tensor([[1., 2., 3.]], dtype=pullback.float64)
    """
    return of_tensors(np.take_along_axis)(array("take_along_axis", x), indices, axis)
