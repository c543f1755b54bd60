"""Products: matmul for operands of any rank, and einsum."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._core import xp as _xp
from .._core.primitives import SINGLES, multilinear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, Operations, Tensor


def _left(xp: Operations, g: Tensor, b: Tensor, a_shape: tuple[int, ...]) -> Tensor:
    """The cotangent of a in a @ b; the tape sums it over batch axes that were broadcast."""
    if b.ndim == 1:
        return g * b if len(a_shape) == 1 else _column(xp, g) * b
    if len(a_shape) == 1:
        return xp.matmul(b, g) if b.ndim == 2 else xp.sum(b * _row(xp, g), axis=(b.ndim - 1,), keepdims=False)
    return xp.times_transpose(g, b) if b.ndim == 2 == g.ndim else xp.matmul(g, xp.matrix_transpose(b))


def _right(xp: Operations, g: Tensor, a: Tensor, b_shape: tuple[int, ...]) -> Tensor:
    """The cotangent of b in a @ b."""
    if a.ndim == 1:
        return g * a if len(b_shape) == 1 else _column(xp, a) * _row(xp, g)
    if len(b_shape) == 1:
        if a.ndim == 2:
            return xp.matmul(g, a)
        return xp.sum(_column(xp, g) * a, axis=tuple(range(a.ndim - 1)), keepdims=False)
    if len(b_shape) == 2 < a.ndim:  # the sum over the batch is that of one product
        a, g = (xp.reshape(x, shape=(math.prod(x.shape[:-1]), x.shape[-1])) for x in (a, g))
    return xp.transpose_times(a, g) if a.ndim == 2 == g.ndim else xp.matmul(xp.matrix_transpose(a), g)


def _column(xp: Operations, x: Tensor) -> Tensor:
    return xp.reshape(x, shape=(*x.shape, 1))


def _row(xp: Operations, x: Tensor) -> Tensor:
    return xp.reshape(x, shape=(*x.shape[:-1], 1, x.shape[-1]))


def _matmul_title(*, label: str = "MmBackward0") -> str:
    return label


def _einsum(
    xp: Operations, g: Tensor, arrays: Sequence[Tensor], *, equation: str, needs: Sequence[bool]
) -> list[Tensor | None]:
    """For each operand, the einsum of the cotangent with all the other operands.

    Labels are unique within an operand (callers take diagonals first). The cotangent is constant along a label that
    occurs in only one operand, and along one in which all other operands have length 1.
    """
    terms, result = equation.split("->")
    operands = terms.split(",")
    cotangents: list[Tensor | None] = []
    for i, (labels, array) in enumerate(zip(operands, arrays, strict=True)):
        if not needs[i]:
            cotangents.append(None)
            continue
        others = [(term, other) for j, (term, other) in enumerate(zip(operands, arrays, strict=True)) if j != i]
        known = set(result).union(*(term for term, _ in others))
        kept = "".join(label for label in labels if label in known)
        given = ",".join([result, *(term for term, _ in others)])
        part = xp.einsum(g, *(other for _, other in others), equation=f"{given}->{kept}")
        if kept != labels:
            sizes = iter(part.shape)
            part = xp.reshape(part, shape=tuple(next(sizes) if label in known else 1 for label in labels))
        full = tuple(have if have != 1 else want for have, want in zip(part.shape, array.shape, strict=True))
        cotangents.append(part if full == part.shape else xp.broadcast_to(part, shape=full))
    return cotangents


def _by_column(xp: Operations, g: Tensor, b: Tensor, a_shape: tuple[int, ...]) -> Tensor:
    """The cotangent of a in a * b for a column a and a vector b: a matrix-vector product, without the matrix g * b."""
    return xp.reshape(xp.matmul(g, b), shape=a_shape)


def _by_vector(xp: Operations, g: Tensor, a: Tensor) -> Tensor:
    return xp.matmul(xp.reshape(a, shape=(a.shape[0],)), g)


AFTER, BEFORE = np.array((1, 2, 0)), np.array((2, 0, 1))


def _crossed(xp: Operations, a: Tensor, b: Tensor, *, axis: int) -> Tensor:
    rest = (slice(None),) * (-axis - 1)
    (x, y, z), (u, v, w) = ([xp.getitem(each, index=(..., i, *rest)) for i in range(3)] for each in (a, b))
    parts = [y * w - z * v, z * u - x * w, x * v - y * u]
    return xp.stack(*parts, axis=parts[0].ndim + 1 + axis)


def _cross(a: Array, b: Array, *, axis: int) -> Array:
    """The vector product along an axis, counted from the end."""
    if a.shape == b.shape == (3,) and a.dtype.kind == "f":  # a fifth of the time of NumPy's calls
        (x, y, z), (u, v, w) = a.tolist(), b.tolist()
        return np.array((y * w - z * v, z * u - x * w, x * v - y * u), a.dtype)
    after, before = ([x.take(places, axis) for x in (a, b)] for places in (AFTER, BEFORE))
    product = after[0] * before[1]
    product -= before[0] * after[1]
    return product


# fmt: off
#                         name      pullback per operand
matmul = multilinear("matmul", _left, _right, title=_matmul_title, forward=lambda a, b, *, label="": _xp.matmul(a, b))
outer  = multilinear("outer",  _by_column, _by_vector, title="MulBackward0", definition=lambda xp, a, b: a * b)
cross  = multilinear("cross",  lambda xp, g, b, *, axis: xp.cross(b, g, axis=axis),
                               lambda xp, g, a, *, axis: xp.cross(g, a, axis=axis), title="LinalgCrossBackward0", forward=_cross,
                     definition=_crossed)
einsum = multilinear("einsum", joint=_einsum, inputs=("*arrays",), **SINGLES)

# Products of two matrices, one of them transposed: the derivatives of these three are made of each other.
times_transpose = multilinear("times_transpose", lambda xp, g, b: xp.matmul(g, b),
                                                 lambda xp, g, a: xp.transpose_times(g, a),
                              title="MmBackward0", definition=lambda xp, a, b: xp.matmul(a, xp.matrix_transpose(b)))
transpose_times = multilinear("transpose_times", lambda xp, g, b: xp.times_transpose(b, g),
                                                 lambda xp, g, a: xp.matmul(a, g),
                              title="MmBackward0", definition=lambda xp, a, b: xp.matmul(xp.matrix_transpose(a), b))
# fmt: on
