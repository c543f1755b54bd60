"""Arguments of a batched operation, and the layouts that put the batch axis beside the examples' own axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ops
from .._core.primitives import Primitive

if TYPE_CHECKING:
    from .._core.typing import Params, Result, Value


ndarray = np.ndarray


class Argument(NamedTuple):
    """A value, and whether its first axis is the batch axis; if not, all examples share the value."""

    value: Any
    batched: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one example."""
        shape = tuple(getattr(self.value, "shape", ()))
        return shape[1:] if self.batched else shape

    @property
    def rank(self) -> int:
        """The number of axes of one example."""
        value, batched = self
        return (value.ndim if type(value) is ndarray else len(getattr(value, "shape", ()))) - batched


Rule = Callable[[int, Primitive, list[Argument], dict[str, Any]], Any]


def raised(arg: Argument, rank: int) -> Value:
    """A value reshaped so that each example has `rank` axes: new axes of length 1 are inserted in front."""
    if not arg.batched:
        return arg.value
    shape = arg.value.shape
    missing = rank - len(shape) + 1
    return arg.value if missing <= 0 else ops.reshape(arg.value, shape=(shape[0], *(1,) * missing, *shape[1:]))


def whole(size: int, arg: Argument) -> Value:
    """A value with a batch axis: a shared value is repeated for each example."""
    return arg.value if arg.batched else ops.broadcast_to(numeric(arg.value), shape=(size, *arg.shape))


def numeric(value: Any) -> Value:
    """A value unchanged, or a Python number as an array."""
    return value if hasattr(value, "shape") else np.asarray(value)


def spread(size: int, arg: Argument, shape: tuple[int, ...]) -> Value:
    """A value with a batch axis, each example broadcast to `shape`."""
    return ops.broadcast_to(numeric(raised(arg, len(shape))), shape=(size, *shape))


def folded(size: int, arg: Argument) -> Value:
    """A value whose batch axis and first example axis are merged into one, example after example."""
    value = whole(size, arg)
    return ops.reshape(value, shape=(size * arg.shape[0], *arg.shape[1:]))


def unfolded(size: int, result: Any, count: int) -> Any:
    """The inverse of `folded`, for one result or a tuple; `count` is the length of an example's first axis."""
    if type(result) is tuple:
        return tuple([unfolded(size, piece, count) for piece in result])
    return ops.reshape(result, shape=(size, count, *result.shape[1:]))


def merged(value: Value, axis: int) -> Value:
    """A value whose batch axis is merged into one of the example's axes, which is counted without the batch axis."""
    order = (*range(1, axis + 1), 0, *range(axis + 1, len(value.shape)))
    moved = ops.permute_dims(value, axes=order) if axis else value
    shape = tuple(moved.shape)
    return ops.reshape(moved, shape=(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))


def parted(size: int, value: Value, axis: int) -> Value:
    """The inverse of `merged`."""
    shape = tuple(value.shape)
    count = shape[axis] // size if size else 0
    value = ops.reshape(value, shape=(*shape[:axis], size, count, *shape[axis + 1 :]))
    return ops.permute_dims(value, axes=(axis, *range(axis), *range(axis + 1, len(shape) + 1))) if axis else value


def one_by_one(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The fallback rule: compute each example separately and stack the results."""
    if not size:
        return _of_none(primitive, args, params)
    rows = [
        primitive(*[ops.getitem(arg.value, index=(i, ...)) if arg.batched else arg.value for arg in args], **params)
        for i in range(size)
    ]
    if type(rows[0]) is tuple:
        return tuple([ops.stack(*pieces, axis=0) for pieces in zip(*rows, strict=True)])
    return ops.stack(*rows, axis=0)


def _of_none(primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The result for an empty batch, with the shape that an example of ones would give."""

    def example(arg: Argument) -> Value:
        if not arg.batched:
            return arg.value
        dtype = arg.value._dtype if hasattr(arg.value, "_dtype") else arg.value.dtype
        if dtype.kind not in "fc":
            return np.zeros(arg.shape, dtype)
        square = len(arg.shape) > 1 and arg.shape[-1] == arg.shape[-2]
        return np.broadcast_to(np.eye(arg.shape[-1], dtype=dtype) if square else np.ones((), dtype), arg.shape).copy()

    def none(y: Value) -> Value:
        return np.zeros((0, *y.shape), y._dtype if hasattr(y, "_dtype") else y.dtype)

    result = primitive(*map(example, args), **params)
    return tuple(map(none, result)) if type(result) is tuple else none(result)


def count(shape: tuple[int, ...]) -> int:
    """The number of elements of a shape."""
    return math.prod(shape)
