"""Normalisation: values brought to a mean of zero and a variance of one along axes.

`known` holds the mean and the reciprocal deviation where the caller has computed them. They are functions of x all the
same: a rule that is to be differentiated itself computes them from x.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .. import _xp
from .._core import general, linear

LONGEST = 1 << 14  # a sum of more numbers is left to `_xp.sum`, which keeps its error small


@functools.lru_cache(maxsize=256)
def _ones(count: int, dtype: np.dtype[Any]) -> Any:
    ones = np.ones(count, dtype)
    ones.flags.writeable = False
    return ones


@functools.lru_cache(maxsize=256)
def _plan(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]] | None:
    """How many elements to sum at the end, how many at the front, and the shape then; None for other axes."""
    last = len(shape)
    while last and last - 1 in axis:
        last -= 1
    first = 0
    while first < last and first in axis:
        first += 1
    front, end = math.prod(shape[:first]), math.prod(shape[last:])
    if first + len(shape) - last != len(axis) or 0 in shape or max(front, end) > LONGEST:
        return None
    return end, front, tuple(1 if i in axis else size for i, size in enumerate(shape))


def _total_forward(x: Any, *, axis: tuple[int, ...]) -> Any:
    """The sum over axes, which stay with length 1; a product with ones takes a third of the time of NumPy's sum."""
    plan = _plan(x.shape, axis) if x.dtype.kind == "f" and x.dtype.itemsize >= 4 else None
    if plan is None:
        return _xp.sum(x, axis=axis, keepdims=True)
    end, front, shape = plan
    if end > 1:
        x = x.reshape(-1, end).dot(_ones(end, x.dtype))
    if front > 1:
        x = _ones(front, x.dtype).dot(x.reshape(front, -1))
    return x.reshape(shape)


def _total(xp: Any, g: Any, x_shape: Any, *, axis: tuple[int, ...]) -> Any:
    return xp.broadcast_to(g, shape=x_shape)


def count(shape: tuple[int, ...], axis: tuple[int, ...]) -> int:
    """The number of elements along axes."""
    return math.prod([shape[i] for i in axis])


def statistics(x: Any, axis: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
    """The mean, the variance and the reciprocal deviation of an array over axes, which stay with length 1."""
    number = max(count(x.shape, axis), 1)
    mean = _total_forward(x, axis=axis) / number
    centred = x - mean
    variance = _total_forward(np.multiply(centred, centred, out=centred), axis=axis) / number
    return mean, variance, 1 / np.sqrt(variance + eps)


def _centred(xp: Any, x: Any, axis: tuple[int, ...], eps: float, known: Any) -> tuple[Any, Any]:
    """x less its mean, and the reciprocal of its deviation."""
    if known is not None and xp is _xp:
        return x - known[0], known[1]
    number = max(count(x.shape, axis), 1)
    centred = x - xp.total(x, axis=axis) / number
    return centred, xp.rsqrt(xp.total(centred * centred, axis=axis) / number + eps)


def _standardize_forward(x: Any, *, axis: tuple[int, ...], eps: float, known: Any = None) -> Any:
    centred, scale = _centred(_xp, x, axis, eps, known)
    return np.multiply(centred, scale, out=centred)


def _affine_forward(x: Any, weight: Any, bias: Any, *, axis: tuple[int, ...], eps: float, known: Any = None) -> Any:
    centred, scale = _centred(_xp, x, axis, eps, known)
    if _constant(x.shape, weight.shape, axis):
        np.multiply(centred, scale * weight, out=centred)
    else:
        np.multiply(centred, scale, out=centred)
        np.multiply(centred, weight, out=centred)
    return np.add(centred, bias, out=centred)


def _repeated(shape: tuple[int, ...], weight_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of x along which a weight is repeated."""
    new = len(shape) - len(weight_shape)
    return tuple(i for i, size in enumerate(shape) if i < new or weight_shape[i - new] != size)


def _constant(shape: tuple[int, ...], weight_shape: tuple[int, ...], axis: tuple[int, ...]) -> bool:
    """Whether a weight does not change along axes."""
    new = len(shape) - len(weight_shape)
    return all(i < new or weight_shape[i - new] == 1 for i in axis)


def _to_input(g: Any, centred: Any, scale: Any, gain: Any, sums: Any, products: Any, number: int) -> Any:
    """The cotangent of x: g times a gain, less its parts along the ones and along the centred values."""
    return (g - sums / number) * gain - centred * (products * (gain * scale * scale / number))


def _standardize(xp: Any, g: Any, x: Any, *, axis: tuple[int, ...], eps: float, known: Any = None) -> Any:
    centred, scale = _centred(xp, x, axis, eps, known)
    sums, products = xp.total(g, axis=axis), xp.total(g * centred, axis=axis)
    return _to_input(g, centred, scale, scale, sums, products, max(count(x.shape, axis), 1))


def _affine(
    xp: Any, g: Any, x: Any, weight: Any, *, axis: tuple[int, ...], eps: float, needs: Any, known: Any = None
) -> Any:
    centred, scale = _centred(xp, x, axis, eps, known)
    number = max(count(x.shape, axis), 1)
    if _constant(x.shape, weight.shape, axis):
        sums, products = xp.total(g, axis=axis), xp.total(g * centred, axis=axis)
        to_x = _to_input(g, centred, scale, scale * weight, sums, products, number) if needs[0] else None
        return to_x, xp.tied(products * scale, x), xp.tied(sums, x)
    rest = _repeated(x.shape, weight.shape)
    if rest + tuple(axis) == tuple(range(x.ndim)) and 0 not in x.shape:
        to_x, to_weight, to_bias = _of_rows(xp, g, centred, scale, weight, number)
        return xp.reshape(to_x, shape=x.shape), to_weight, xp.tied(to_bias, x)
    to_weight = xp.total(g * (centred * scale), axis=rest) if needs[1] else None
    to_bias = xp.tied(xp.total(g, axis=rest), x) if needs[2] else None
    if not needs[0]:
        return None, to_weight, to_bias
    g = g * weight
    sums, products = xp.total(g, axis=axis), xp.total(g * centred, axis=axis)
    return _to_input(g, centred, scale, scale, sums, products, number), to_weight, to_bias


def _of_rows(xp: Any, g: Any, centred: Any, scale: Any, weight: Any, number: int) -> tuple[Any, Any, Any]:
    """The cotangents where each row of a matrix is normalised: all sums are products with vectors."""
    rows = count(g.shape, tuple(range(g.ndim))) // number
    g, centred = (xp.reshape(value, shape=(rows, number)) for value in (g, centred))
    gains, weights = xp.reshape(scale, shape=(rows,)), xp.reshape(weight, shape=(number,))
    shares = g * centred
    to_weight = xp.reshape(xp.matmul(gains, shares), shape=weight.shape)
    to_bias = xp.reshape(xp.total(g, axis=(0,)), shape=weight.shape)
    sums, products, column = (
        xp.reshape(value, shape=(rows, 1)) for value in (xp.matmul(g, weights), xp.matmul(shares, weights), gains)
    )
    return _to_input(g * weights, centred, column, column, sums, products, number), to_weight, to_bias


def _scaled(xp: Any, g: Any, x: Any, scale: Any, *, needs: Any) -> Any:
    rest = _repeated(x.shape, scale.shape)
    to_x = g * scale if needs[0] else None
    to_scale = xp.total(g * x, axis=rest) if needs[1] else None
    return to_x, to_scale, xp.tied(xp.total(g, axis=rest), x) if needs[2] else None


def _root_mean_square(xp: Any, x: Any, axis: tuple[int, ...], eps: float) -> Any:
    """The reciprocal of the root of the mean of the squares."""
    return xp.rsqrt(xp.total(x * x, axis=axis) / max(count(x.shape, axis), 1) + eps)


def _rms(xp: Any, g: Any, x: Any, *, axis: tuple[int, ...], eps: float) -> Any:
    scale = _root_mean_square(xp, x, axis, eps)
    share = xp.total(g * x, axis=axis) * (scale * scale * scale / max(count(x.shape, axis), 1))
    return g * scale - x * share


# fmt: off
# `tied` is its first input, recorded as if it depended on the second: so torch's second derivatives of a bias are zeros.
#                                name                 pullback
tied               = linear("tied",               lambda xp, g: g,  forward=lambda x, other: x, inputs=("x", "other"))
total              = linear("total",              _total,        forward=_total_forward, title="SumBackward1")
standardize        = general("standardize",        _standardize, forward=_standardize_forward,
                             title="NativeLayerNormBackward0")
standardize_affine = general("standardize_affine", joint=_affine, forward=_affine_forward,
                             inputs=("x", "weight", "bias"),     title="NativeLayerNormBackward0")
scale_and_shift    = general("scale_and_shift",    joint=_scaled, forward=lambda x, scale, shift: x * scale + shift,
                             inputs=("x", "scale", "shift"),     title="NativeBatchNormBackward0")
rms_normalize      = general("rms_normalize",      _rms, forward=lambda x, *, axis, eps: x * _root_mean_square(_xp, x, axis, eps),
                             title="RmsNormBackward0", complex="holomorphic")
# fmt: on
