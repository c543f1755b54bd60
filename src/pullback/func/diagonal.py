"""Diagonal batches of cotangents: row i is nonzero only at index i of one axis.

A Jacobian, and per-example gradients, pull back one unit vector for each output element. Along an elementwise operation
or a product of rows such a batch stays diagonal, and one array of the size of a single cotangent represents it. This
interpreter keeps that form as long as possible, and falls back to vmap's rules where an operation mixes the rows. So
the result is always exact, and where the rows of a batch do not mix, per-example gradients cost one pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.primitives import Carrier, Primitive
from .._core.shapes import Size, size_of
from .batching import Batch, BatchedTensor

if TYPE_CHECKING:
    from .._core.typing import Result, Tensor, Value

    Kept = Tensor | tuple[Tensor, int] | None
    """A dense batch, the diagonal's values and their axis, or None where a rule does not apply."""
    from .._core.typing import Params


class DiagonalTensor(BatchedTensor):
    """A batch whose row i is nonzero only at index i of `axis`: the array of these entries; a dense batch for None."""

    __slots__ = ("axis",)

    axis: int | None
    _held = (*BatchedTensor._held, "axis")

    @property
    def shape(self) -> Size:
        """The length of each axis of one example."""
        shape = self._array.shape
        return size_of(shape[1:] if self.axis is None and self.batched else shape)

    @property
    def ndim(self) -> int:
        """The number of axes of one example."""
        return len(self._array.shape) - (self.axis is None and self.batched)


class Rows(Batch):
    """The interpreter for batches of cotangents that stores diagonal ones as single arrays."""

    carrier = DiagonalTensor

    def box(self, value: object, batched: bool = True, axis: int | None = None) -> Any:
        """A dense batch with one example per row, or a diagonal batch with the examples along an axis."""
        boxed = super().box(value, batched)
        if type(boxed) is not tuple:
            boxed.axis = axis
        return boxed

    def process(self, primitive: Primitive, args: Sequence[Value], params: Params) -> Result:
        """The operation on the diagonal's values if the result is diagonal too, else on the dense batch."""
        diagonal, plain = False, True
        for arg in args:
            if isinstance(arg, Carrier) and arg.interpreter is self:
                if arg.axis is None:
                    plain = False
                else:
                    diagonal = True
        if not diagonal:
            return super().process(primitive, args, params)
        rule = RULES.get(primitive.name) if plain else None
        kept = None if rule is None else rule(self, primitive, args, params)
        if isinstance(kept, tuple):
            return self.box(kept[0], axis=kept[1])
        if kept is not None:
            return self.box(kept)
        return super().process(primitive, [self.spread(arg) for arg in args], params)

    def spread(self, arg: Value) -> Value:
        """A diagonal batch as a dense one; anything else unchanged."""
        if not self.holds(arg) or arg.axis is None:
            return arg
        value, axis = arg._array, arg.axis
        order = (*(i for i in range(value.ndim) if i != axis), axis)
        last = value if axis == value.ndim - 1 else ops.permute_dims(value, axes=order)
        return self.box(ops.scatter_diagonal(last, axes=(0, axis + 1), shape=(self.size, *value.shape)))

    def rows(self, value: Value) -> Value:
        """The dense values of all examples, along a first axis."""
        spread = self.spread(value)
        if self.holds(spread) and spread.batched:
            return spread._array
        shared = self.unbox(spread)
        return ops.broadcast_to(shared, shape=(self.size, *shared.shape))


# A rule takes diagonal operands and returns a diagonal result (its values and its axis), a dense batch, or None if it
# does not apply or zeros would not stay zeros. Pullbacks are linear, but the user's hooks need not be.


def _elementwise(rows: Rows, primitive: Primitive, args: Sequence[Value], params: Params) -> Kept:
    values: list[Value] = []
    places = set()
    for arg in args:
        if isinstance(arg, Carrier) and arg.interpreter is rows:
            values.append(arg._array)
            places.add(arg.axis - arg._array.ndim)  # counted from the end, as in broadcasting
        else:
            values.append(arg)
    if len(places) > 1:
        return None
    value = primitive(*values, **params)
    (place,) = places
    return (value, value.ndim + place) if value.shape[place] == rows.size else None


def _added(rows: Rows, primitive: Primitive, args: Sequence[Value], params: Params) -> Kept:
    return _elementwise(rows, primitive, args, params) if all(map(rows.holds, args)) else None


def _by_first(rows: Rows, primitive: Primitive, args: Sequence[Value], params: Params) -> Kept:
    """An operation that is linear in its first operand."""
    return None if rows.holds(args[1]) else _elementwise(rows, primitive, args, params)


def _chosen(rows: Rows, primitive: Primitive, args: Sequence[Value], params: Params) -> Kept:
    condition, *values = args
    zeros = all(rows.holds(value) or not (isinstance(value, Carrier) or np.any(value)) for value in values)
    return _elementwise(rows, primitive, args, params) if zeros and not rows.holds(condition) else None


def _sum(rows: Rows, primitive: Primitive, args: Sequence[Tensor], params: Params) -> Kept:
    (x,) = args
    axis, keepdims = params["axis"], params["keepdims"]
    if x.axis not in axis:
        gone = 0 if keepdims else sum(one < x.axis for one in axis)
        return primitive(x._array, **params), x.axis - gone
    others = tuple(one for one in axis if one != x.axis)  # the sum over the other axes of row i stays in row i
    total = primitive(x._array, **{**params, "axis": others, "keepdims": True}) if others else x._array
    order = (x.axis, *(i for i in range(x.ndim) if i != x.axis))
    front = ops.permute_dims(total, axes=order)
    kept = [1 if i in axis else n for i, n in enumerate(x.shape) if keepdims or i not in axis]
    return ops.reshape(front, shape=(rows.size, *kept))


def _matmul(rows: Rows, primitive: Primitive, args: Sequence[Tensor], params: Params) -> Kept:
    a, b = args
    if rows.holds(a) == rows.holds(b) or a.ndim > 2 or b.ndim > 2:
        return None
    if rows.holds(a):
        if a.ndim == 1:
            return b * ops.reshape(a._array, shape=(rows.size, 1)) if b.ndim == 2 else None
        if a.axis == 0:
            return primitive(a._array, b, **params), 0
        return _outer(ops.matrix_transpose(a._array), b) if b.ndim == 2 else None
    if a.ndim == 1:
        return None
    if b.ndim == 2 and b.axis == 1:
        return primitive(a, b._array, **params), 1
    columns = ops.matrix_transpose(a)
    return _outer(columns, b._array) if b.ndim == 2 else columns * ops.reshape(b._array, shape=(rows.size, 1))


def _times_transpose(rows: Rows, primitive: Primitive, args: Sequence[Tensor], params: Params) -> Kept:
    return _matmul(rows, ops.matmul, (args[0], ops.matrix_transpose(args[1])), params)


def _transpose_times(rows: Rows, primitive: Primitive, args: Sequence[Tensor], params: Params) -> Kept:
    return _matmul(rows, ops.matmul, (ops.matrix_transpose(args[0]), args[1]), params)


def _outer(left: Tensor, right: Tensor) -> Tensor:
    """The outer product of each pair of rows."""
    return ops.reshape(left, shape=(*left.shape, 1)) * ops.reshape(right, shape=(right.shape[0], 1, right.shape[1]))


def _reshape(rows: Rows, primitive: Primitive, args: Sequence[Tensor], params: Params) -> Kept:
    (x,) = args
    before, shape = math.prod(x.shape[: x.axis]), params["shape"]
    for axis, length in enumerate(shape):
        if length == rows.size and math.prod(shape[:axis]) == before:
            return primitive(x._array, **params), axis
    return None


def _permute(rows: Rows, primitive: Primitive, args: Sequence[Tensor], params: Params) -> Kept:
    return primitive(args[0]._array, **params), params["axes"].index(args[0].axis)


def _transpose(rows: Rows, primitive: Primitive, args: Sequence[Tensor], params: Params) -> Kept:
    (x,) = args
    last = x.ndim - 1
    return primitive(x._array), {last: last - 1, last - 1: last}.get(x.axis, x.axis)


def _broadcast(rows: Rows, primitive: Primitive, args: Sequence[Tensor], params: Params) -> Kept:
    (x,) = args
    axis = x.axis + len(params["shape"]) - x.ndim
    return (primitive(x._array, **params), axis) if params["shape"][axis] == rows.size else None


def _same(rows: Rows, primitive: Primitive, args: Sequence[Tensor], params: Params) -> Kept:
    return primitive(args[0]._array, **params), args[0].axis


def _along(rows: Rows, primitive: Primitive, args: Sequence[Tensor], params: Params) -> Kept:
    """An operation along another axis than the diagonal's; for lookups of rows by number, along the last."""
    x, *others = args
    axis = params.get("axis", x.ndim - 1)
    if any(map(rows.holds, others)) or x.axis in (axis if isinstance(axis, tuple) else (axis,)):
        return None
    return primitive(x._array, *others, **params), x.axis


def _each_row(rows: Rows, primitive: Primitive, args: Sequence[Tensor], params: Params) -> Kept:
    """An operation on each row separately, which sums nothing over rows."""
    x, *others = args
    if any(map(rows.holds, others)) or x.axis != 0 or params["reduction"] != "none":
        return None
    return primitive(x._array, *others, **params), 0


RULES: dict[str, Callable[[Rows, Primitive, Sequence[Any], Params], Kept]] = {
    **dict.fromkeys(("negative", "multiply", "select"), _elementwise),
    **dict.fromkeys(("add", "subtract"), _added),
    **dict.fromkeys(("astype", "clone"), _same),
    **dict.fromkeys(("take_along_axis", "put_along_axis", "select_along", "cumsum", "flip", "put_rows"), _along),
    **dict.fromkeys(("softmax_pullback", "log_softmax_pullback"), _along),
    **dict.fromkeys(("divide", "tanh_pullback", "sigmoid_pullback"), _by_first),
    "where": _chosen,
    "cross_entropy_pullback": _each_row,
    "sum": _sum,
    "matmul": _matmul,
    "times_transpose": _times_transpose,
    "transpose_times": _transpose_times,
    "reshape": _reshape,
    "permute_dims": _permute,
    "matrix_transpose": _transpose,
    "broadcast_to": _broadcast,
}
