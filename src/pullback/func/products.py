"""Batching rules for products: matrix products, einsum, layers, convolutions and cross entropy.

If the examples share a factor, the batch is merged into the rows of a single product; if both factors differ, the
product is one of stacked matrices. Convolutions with different weights become the groups of one convolution.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from .. import ops
from .._core.primitives import Primitive
from .arguments import Argument, count, folded, merged, one_by_one, parted, raised, unfolded, whole

if TYPE_CHECKING:
    from .._core.typing import Params, Result, Value
    from ..ops.convolution import Window


def matmul(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """Products of vectors, matrices and stacks of matrices."""
    a, b = args
    ranks = a.rank, b.rank
    if not b.batched and ranks[1] == 2:  # one product with all examples' rows
        rows = ops.reshape(a.value, shape=(size * count(a.shape[:-1]), a.shape[-1]))
        product = primitive(rows, b.value, **params)
        return ops.reshape(product, shape=(size, *a.shape[:-1], b.shape[-1]))
    if not a.batched and ranks == (2, 1):
        return primitive(b.value, ops.matrix_transpose(a.value), **params)
    left, right = _matrix(a, -2), _matrix(b, -1)
    rank = max(left.rank, right.rank)
    product = primitive(raised(left, rank), raised(right, rank), **params)
    shape = list(product.shape)
    for is_vector, axis in ((ranks[1] == 1, -1), (ranks[0] == 1, -2 if ranks[1] > 1 else -1)):
        if is_vector:
            del shape[axis]
    return ops.reshape(product, shape=tuple(shape))


def times_transpose(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """A product with the transpose of the second matrix."""
    a, b = args
    return matmul(size, ops.matmul, [a, _transposed(b)], {})


def transpose_times(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """A product with the transpose of the first matrix."""
    a, b = args
    return matmul(size, ops.matmul, [_transposed(a), b], {})


def outer(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The outer product of two vectors."""
    a, b = args
    row = ops.reshape(b.value, shape=(*b.value.shape[:-1], 1, b.value.shape[-1]))
    return matmul(size, ops.matmul, [a, Argument(row, b.batched)], {})


def _transposed(arg: Argument) -> Argument:
    return Argument(ops.matrix_transpose(arg.value), arg.batched)


def _matrix(arg: Argument, axis: int) -> Argument:
    """A vector as a matrix with an axis of length 1; a matrix unchanged."""
    if arg.rank > 1:
        return arg
    shape = tuple(arg.value.shape)
    wider = (*shape[:-1], 1, shape[-1]) if axis == -2 else (*shape, 1)
    return Argument(ops.reshape(arg.value, shape=wider), arg.batched)


def einsum(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """Sums of products over labels: the batch axis gets its own label."""
    terms, result = params["equation"].split("->")
    label = next(letter for letter in string.ascii_letters if letter not in params["equation"])
    marked = [f"{label}{term}" if arg.batched else term for term, arg in zip(terms.split(","), args, strict=True)]
    return primitive(*[arg.value for arg in args], **{**params, "equation": f"{','.join(marked)}->{label}{result}"})


def affine(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """x times the transpose of a weight, plus a bias."""
    x, weight, *bias = args
    if not weight.batched and not any(arg.batched for arg in bias):
        return primitive(x.value, weight.value, *[arg.value for arg in bias], **params)
    if not x.batched and not weight.batched:
        return ops.add(ops.project(x.value, weight.value), raised(bias[0], x.rank))
    product = matmul(size, ops.matmul, [x, _transposed(weight)], {})
    return ops.add(product, raised(bias[0], x.rank)) if bias else product


def recurrent(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The steps of a recurrent layer: with shared weights, the batch is merged into the rows of each step."""
    states = 3 if primitive.name.startswith("lstm") else 2
    if not size or any(arg.batched for arg in args[states:]):
        return one_by_one(size, primitive, args, params)

    def turned(arg: Argument) -> Value:
        rows = ops.permute_dims(whole(size, arg), axes=(1, 0, 2))
        return ops.reshape(rows, shape=(arg.shape[0] * size, arg.shape[1]))

    def parted_rows(y: Value) -> Value:
        rows = ops.reshape(y, shape=(y.shape[0] // size, size, y.shape[1]))
        return ops.permute_dims(rows, axes=(1, 0, 2))

    sizes = tuple([count * size for count in params["sizes"]])
    values = [*map(turned, args[:states]), *[arg.value for arg in args[states:]]]
    result = primitive(*values, **{**params, "sizes": sizes})
    return tuple(map(parted_rows, result)) if type(result) is tuple else parted_rows(result)


# Convolutions


def _grouped(size: int, window: Window) -> Window:
    return window._replace(groups=window.groups * size)


def convolve(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """A convolution: the batch becomes more images, more output channels, or more groups."""
    if not size:
        return one_by_one(size, primitive, args, params)
    x, weight = args
    if not weight.batched:
        return unfolded(size, primitive(folded(size, x), weight.value, **params), x.shape[0])
    window = params["window"]
    if not x.batched and window.groups == 1:
        return parted(size, primitive(x.value, folded(size, weight), **params), 1)
    y = primitive(merged(whole(size, x), 1), folded(size, weight), **{**params, "window": _grouped(size, window)})
    return parted(size, y, 1)


def convolve_transpose(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """A transposed convolution: the batch becomes more images, or more groups."""
    if not size:
        return one_by_one(size, primitive, args, params)
    y, weight = args
    if not weight.batched:
        return unfolded(size, primitive(folded(size, y), weight.value, **params), y.shape[0])
    window = _grouped(size, params["window"])
    x = primitive(merged(whole(size, y), 1), folded(size, weight), **{**params, "window": window})
    return parted(size, x, 1)


def convolve_weight(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """A convolution's weight gradient: the batch becomes more output channels, or more groups."""
    if not size:
        return one_by_one(size, primitive, args, params)
    x, y = args
    window = params["window"]
    if not x.batched and window.groups == 1:
        return unfolded(size, primitive(x.value, merged(y.value, 1), **params), y.shape[1])
    grouped = {**params, "window": _grouped(size, window)}
    return unfolded(size, primitive(merged(whole(size, x), 1), merged(whole(size, y), 1), **grouped), y.shape[1])


def biased(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """An image plus a bias per channel."""
    x, bias = args
    if not bias.batched:
        return unfolded(size, primitive(folded(size, x), bias.value, **params), x.shape[0])
    column = ops.reshape(bias.value, shape=(size, 1, bias.shape[0], *(1,) * (x.rank - 2)))
    return ops.add(whole(size, x), column)


# Losses over rows


def cross_entropy(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The losses of all rows of all examples, reduced per example."""
    x, indices = args
    rows = primitive(folded(size, x), folded(size, indices), reduction="none", known=None)
    losses = unfolded(size, rows, x.shape[0])
    if params["reduction"] == "none":
        return losses
    total = ops.sum(losses, axis=(1,), keepdims=False)
    return total if params["reduction"] == "sum" else total / x.shape[0]


def cross_entropy_pullback(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The cotangents of all rows of all examples, each row scaled by its example's cotangent."""
    given, x, indices = args
    shares = whole(size, given)
    if params["reduction"] != "none":
        shares = ops.broadcast_to(ops.expand_dims(shares, axis=1), shape=(size, x.shape[0]))
    if params["reduction"] == "mean":
        shares = shares / x.shape[0]
    flat = ops.reshape(shares, shape=(size * x.shape[0],))
    y = primitive(flat, folded(size, x), folded(size, indices), reduction="none", known=None)
    return unfolded(size, y, x.shape[0])
