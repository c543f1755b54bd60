"""Decompositions: composed operations as the elementary ones that loops can be made of.

`DECOMPOSITIONS` has, by the name of a primitive, a function of a builder, the values and the metadata, which gives the
result, or None for a case that is left as it is. Each says what the primitive's forward function says, and rounds
otherwise where a fused loop is the better for it. They are for real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.activations import ROOT_HALF, TANH_CUBE, TANH_SCALE
from ...ops.losses import LOWEST_LOG
from ..program import Equation, Value
from .building import Builder
from .rules import Rules

Decomposition = Callable[..., "Value | None"]
DECOMPOSITIONS: dict[str, Decomposition] = {}
decomposed = Rules()


def decomposition(*names: str) -> Callable[[Decomposition], Decomposition]:
    """The decorator that makes a function the decomposition of primitives."""

    def register(function: Decomposition) -> Decomposition:
        for name in names:
            DECOMPOSITIONS[name] = function
            decomposed(name)(_rule(function))
        return function

    return register


def decompositions(**functions: Decomposition) -> None:
    """Make functions the decompositions of the primitives of their names."""
    for name, function in functions.items():
        decomposition(name)(function)


def _rule(function: Decomposition) -> Callable[[Builder, Equation], Value | None]:
    def rule(build: Builder, e: Equation) -> Value | None:
        if any(value.dtype.kind == "c" for value in e.inputs):
            return None
        found = function(build, *e.inputs, **e.params)
        if found is None or found.dtype != e.output.dtype:  # NumPy 1 widens arrays without axes
            return None
        return found

    return rule


# 1. Elements


@decomposition("clip", "hardtanh")
def _clip(b: Builder, x: Value, *, lower: float | None, upper: float | None) -> Value:
    if lower is not None:
        x = b.maximum(x, lower)
    return x if upper is None else b.minimum(x, upper)


def _truth(b: Builder, condition: Value) -> Value:
    return condition if condition.dtype.kind == "b" else b.not_equal(condition, 0)


@decomposition("masked_fill")
def _masked_fill(b: Builder, x: Value, mask: Value, value: Value, *, label: str = "") -> Value | None:
    return b.where(_truth(b, mask), value, x) if x.dtype == value.dtype else None


@decomposition("sinc")
def _sinc(b: Builder, x: Value) -> Value:
    turned = b.multiply(x, math.pi)
    return b.where(b.equal(x, 0), b.scalar(1, x.dtype), b.divide(b.sin(turned), turned))


@decomposition("lerp")
def _lerp(b: Builder, a: Value, other: Value, weight: Value) -> Value | None:
    """From the nearer end, as eager has it."""
    if not a.dtype == other.dtype == weight.dtype:
        return None
    step = b.subtract(other, a)
    near = b.add(a, b.multiply(weight, step))
    far = b.subtract(other, b.multiply(step, b.subtract(1, weight)))
    return b.where(b.less(b.abs(weight), 0.5), near, far)


decompositions(
    relu=lambda b, x: b.maximum(x, 0),
    rsqrt=lambda b, x: b.reciprocal(b.sqrt(x)),
    clip_by=lambda b, x, low, high: b.minimum(b.maximum(x, low), high),
    select=lambda b, condition, x: b.where(_truth(b, condition), x, b.scalar(0, x.dtype)),
    copy=lambda b, x, value: b.broadcast_to(b.astype(value, dtype=x.dtype, source=value.dtype), shape=x.shape),
    fill=lambda b, x, value: b.broadcast_to(b.astype(value, dtype=x.dtype, source=value.dtype), shape=x.shape),
    modulo=lambda b, x, *, divisor: b.remainder(x, divisor) if x.dtype.kind == "f" else None,
    exponential=lambda b, x, *, base: b.pow(b.scalar(base, x.dtype), x) if x.dtype.kind == "f" else None,
    sgn=lambda b, x: b.sign(x),
    attached=lambda b, value, x: value,
)

# 2. Activations


def _times(b: Builder, x: Value, factor: float) -> Value:
    return x if factor == 1 else b.multiply(x, factor)


@decomposition("elu")
def _elu(b: Builder, x: Value, *, alpha: float, scale: float, input_scale: float) -> Value:
    below = b.multiply(b.expm1(_times(b, b.minimum(x, 0), input_scale)), alpha * scale)
    return b.add(below, _times(b, b.maximum(x, 0), scale))


@decomposition("softplus")
def _softplus(b: Builder, x: Value, *, beta: float, threshold: float) -> Value:
    scaled = _times(b, x, beta)
    soft = b.log1p(b.exp(b.minimum(scaled, threshold)))
    return b.where(b.greater(scaled, threshold), x, soft if beta == 1 else b.divide(soft, beta))


@decomposition("gelu_by_tanh")
def _gelu_by_tanh(b: Builder, x: Value) -> Value:
    square = b.multiply(b.multiply(x, x), TANH_SCALE * TANH_CUBE)
    inner = b.multiply(x, b.add(square, TANH_SCALE))
    return b.multiply(b.add(b.tanh(inner), 1), b.multiply(x, 0.5))


def _hard(b: Builder, x: Value) -> Value:
    return b.divide(b.clip(b.add(x, 3), lower=0, upper=6), 6)


def _mask(b: Builder, holds: Value, x: Value, yes: float = 1, no: float = 0) -> Value:
    return b.where(holds, b.scalar(yes, x.dtype), b.scalar(no, x.dtype))


decompositions(
    tanh_pullback=lambda b, given, t: b.subtract(given, b.multiply(b.multiply(given, t), t)),
    sigmoid_pullback=lambda b, given, s: b.multiply(b.subtract(given, b.multiply(given, s)), s),
    leaky_factor=lambda b, x, *, slope: _mask(b, b.greater(x, 0), x, no=slope),
    leaky_relu=lambda b, x, *, slope: b.multiply(x, _mask(b, b.greater(x, 0), x, no=slope)),
    prelu=lambda b, x, weight: b.where(b.greater(x, 0), x, b.multiply(x, weight)),
    bend=lambda b, x, there: b.broadcast_to(b.scalar(0, x.dtype), shape=x.shape),
    logistic=lambda b, x: b.sigmoid(x),
    silu=lambda b, x: b.multiply(x, b.sigmoid(x)),
    mish=lambda b, x: b.multiply(x, b.tanh(b.softplus(x, beta=1, threshold=20))),
    gelu=lambda b, x: b.multiply(b.add(b.erf(b.multiply(x, ROOT_HALF)), 1), b.multiply(x, 0.5)),
    logsigmoid=lambda b, x: b.subtract(b.minimum(x, 0), b.log1p(b.exp(b.negative(b.abs(x))))),
    softsign=lambda b, x: b.divide(x, b.add(b.abs(x), 1)),
    tanhshrink=lambda b, x: b.subtract(x, b.tanh(x)),
    hardsigmoid=_hard,
    hardswish=lambda b, x: b.multiply(x, _hard(b, x)),
    hardshrink=lambda b, x, *, bound: b.where(b.less_equal(b.abs(x), bound), b.scalar(0, x.dtype), x),
    softshrink=lambda b, x, *, bound: b.subtract(x, b.clip(x, lower=-bound, upper=bound)),
    threshold=lambda b, x, *, bound, value: b.where(b.less_equal(x, bound), b.scalar(value, x.dtype), x),
    above=lambda b, x, *, bound: _mask(b, b.less_equal(x, bound), x, 0, 1),
    within=lambda b, x, *, lower, upper: _mask(b, b.logical_and(b.greater(x, lower), b.less(x, upper)), x),
    beyond=lambda b, x, *, bound: _mask(b, b.less_equal(b.abs(x), bound), x, 0, 1),
    not_clipped=lambda b, x, *, lower, upper: _mask(
        b, b.logical_or(b.less_equal(x, lower), b.greater_equal(x, upper)), x, 0, 1
    ),
)

# 3. Losses


@decomposition("huber")
def _huber(b: Builder, x: Value, *, delta: float) -> Value:
    size = b.abs(x)
    near = b.minimum(size, delta)
    return b.multiply(near, b.subtract(size, b.multiply(near, 0.5)))


@decomposition("binary_cross_entropy")
def _binary_cross_entropy(b: Builder, x: Value, target: Value) -> Value:
    failure = b.maximum(b.log1p(b.negative(x)), LOWEST_LOG)
    success = b.maximum(b.log(x), LOWEST_LOG)
    return b.subtract(b.multiply(b.subtract(target, 1), failure), b.multiply(target, success))


decompositions(
    binary_cross_entropy_of_logits=lambda b, x, target: b.subtract(
        b.multiply(b.subtract(1, target), x), b.logsigmoid(x)
    )
)


@decomposition("weighed_nll")
def _weighed_nll(b: Builder, x: Value, indices: Value, weights: Value) -> Value | None:
    if weights.dtype != x.dtype or weights.shape != indices.shape:
        return None
    return b.multiply(b.take_rows(x, indices), b.negative(weights))


# 4. Reductions


def _count(x: Value, axis: tuple[int, ...]) -> int:
    return math.prod([x.shape[i] for i in axis])


@decomposition("mean")
def _mean(
    b: Builder, x: Value, *, axis: tuple[int, ...], keepdims: bool, given: bool = True, label: str = ""
) -> Value | None:
    """Halves are left: eager divides a sum that they could not hold."""
    if x.dtype.kind != "f" or x.dtype.itemsize < 4:
        return None
    return b.divide(b.sum(x, axis=axis, keepdims=keepdims), _count(x, axis))


decompositions(
    total=lambda b, x, *, axis: b.sum(x, axis=axis, keepdims=True),
    largest=lambda b, x, *, axis, keepdims: b.amax(x, axis=axis, keepdims=keepdims),
    smallest=lambda b, x, *, axis, keepdims: b.amin(x, axis=axis, keepdims=keepdims),
)


@decomposition("var")
def _var(b: Builder, x: Value, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Value | None:
    if x.dtype.itemsize < 4:
        return None
    centred = b.subtract(x, b.mean(x, axis=axis, keepdims=True))
    total = b.sum(b.multiply(centred, centred), axis=axis, keepdims=keepdims)
    return b.divide(total, max(_count(x, axis) - correction, 0))


@decomposition("std")
def _std(b: Builder, x: Value, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Value | None:
    if x.dtype.itemsize < 4:
        return None
    centred = b.subtract(x, b.mean(x, axis=axis, keepdims=True))
    return _root_of_squares(b, centred, axis, keepdims, max(_count(x, axis) - correction, 0))


def _cast(b: Builder, x: Value, dtype: np.dtype[Any]) -> Value:
    return x if x.dtype == dtype else b.op("astype", x, dtype=dtype, source=x.dtype)


def _widened(b: Builder, x: Value) -> Value:
    """Single precision as double: squares and products of it stay in range."""
    return _cast(b, x, np.dtype(np.float64))


@decomposition("logsumexp")
def _logsumexp(b: Builder, x: Value, *, axis: tuple[int, ...], keepdims: bool) -> Value | None:
    if not x.size or x.dtype.itemsize < 4:
        return None
    top = b.amax(x, axis=axis, keepdims=True)
    most = float(np.finfo(x.dtype).max)  # so that beside inf, exponentials of large numbers are finite
    shift = b.minimum(b.maximum(top, -most), most)
    total = b.sum(b.exp(b.subtract(x, shift)), axis=axis, keepdims=True)
    logs = b.add(b.log(total), shift)
    if keepdims:
        return logs
    return b.reshape(logs, shape=tuple([size for i, size in enumerate(x.shape) if i not in axis]))


@decomposition("vector_norm")
def _vector_norm(b: Builder, x: Value, *, order: float, axis: tuple[int, ...], keepdims: bool) -> Value | None:
    if x.dtype.itemsize < 4:
        return None
    size = b.abs(x)
    if abs(order) == math.inf:
        return b.op("amax" if order > 0 else "amin", size, axis=axis, keepdims=keepdims)
    if order == 1:
        return b.sum(size, axis=axis, keepdims=keepdims)
    if order == 2:
        return _root_of_squares(b, x, axis, keepdims)
    return None


def _root_of_squares(b: Builder, x: Value, axis: tuple[int, ...], keepdims: bool, count: float | None = None) -> Value:
    """The root of the sum of squares, or of their mean: what is too large or too small to be squared is scaled before."""
    if x.dtype.itemsize < 8 or not x.size:
        factor, wide = None, _widened(b, x)
    else:
        top = b.amax(b.abs(x), axis=axis, keepdims=True)
        down, up, one = (b.scalar(number, x.dtype) for number in (2.0**-600, 2.0**700, 1))
        factor = b.where(b.greater(top, 2.0**500), down, b.where(b.less(top, 2.0**-450), up, one))
        wide = b.multiply(x, factor)
    total = b.sum(b.multiply(wide, wide), axis=axis, keepdims=keepdims)
    root = _cast(b, b.sqrt(total if count is None else b.divide(total, count)), x.dtype)
    return root if factor is None else b.divide(root, b.reshape(factor, shape=root.shape))


@decomposition("cross")
def _cross(b: Builder, left: Value, right: Value, *, axis: int) -> Value:
    rest = (slice(None),) * (-axis - 1)
    (x, y, z), (u, v, w) = ([b.getitem(each, index=(..., i, *rest)) for i in range(3)] for each in (left, right))
    parts = [
        b.subtract(b.multiply(p, q), b.multiply(r, s)) for p, q, r, s in ((y, w, z, v), (z, u, x, w), (x, v, y, u))
    ]
    return b.stack(*parts, axis=len(parts[0].shape) + 1 + axis)


@decomposed("prod")
def _prod(b: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    return _cast(b, b.op("prod", _widened(b, x), **e.params), x.dtype) if x.dtype.char == "f" else None


# 5. Rearrangements


@decomposition("roll")
def _roll(b: Builder, x: Value, *, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Value:
    for shift, axis in zip(shifts, axes, strict=True):
        size = x.shape[axis]
        moved = shift % size if size else 0
        if moved:
            before = (slice(None),) * axis
            ends = [(*before, slice(size - moved, None), ...), (*before, slice(None, size - moved), ...)]
            x = b.concat(*[b.getitem(x, index=end) for end in ends], axis=axis, sizes=(moved, size - moved))
    return x


@decomposition("tile")
def _tile(b: Builder, x: Value, *, repeats: tuple[int, ...]) -> Value:
    full = (1,) * (len(repeats) - len(x.shape)) + x.shape
    apart = b.reshape(x, shape=tuple([length for size in full for length in (1, size)]))
    pairs = zip(repeats, full, strict=True)
    wide = b.broadcast_to(apart, shape=tuple([length for pair in pairs for length in pair]))
    return b.reshape(wide, shape=tuple([count * size for count, size in zip(repeats, full, strict=True)]))


LARGEST_MASK = 1 << 16
"""Elements of a mask that is made a constant."""


def _triangle(keep: Callable[..., Any]) -> Decomposition:
    """What is left of matrices by a mask, which is a constant of the program if it is not too large."""

    def rule(b: Builder, x: Value, *, k: int) -> Value | None:
        if math.prod(x.shape[-2:]) > LARGEST_MASK:
            return None
        return b.where(b.constant(keep(np.ones(x.shape[-2:], bool), k)), x, b.scalar(0, x.dtype))

    return rule


decompositions(tril=_triangle(np.tril), triu=_triangle(np.triu))
