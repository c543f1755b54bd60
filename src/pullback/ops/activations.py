"""Activation functions: elementwise operations between the layers of a network.

At a kink the derivative is the one torch uses. `logistic` is the sigmoid as rules use it: its own derivative is computed
from x, which costs an exponential more than from the result, and keeps its digits where that is nearly 1. Where a slope has two possible values, it is a factor computed from a
mask: `np.where` takes nine times as long for many elements.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._core import machine, xp as _xp
from .._core.primitives import elementwise
from .._core.xp import RAW

if TYPE_CHECKING:
    from .._core.primitives import Function
    from .._core.typing import Array, OfComplex, Operations, Same, Tensor

ROOT_HALF = math.sqrt(0.5)
DENSITY_AT_ZERO = 1 / math.sqrt(2 * math.pi)
# The coefficients of the approximation by tanh of Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
TANH_SCALE, TANH_CUBE = math.sqrt(2 / math.pi), 0.044715


def _mask(condition: Function) -> Function:
    """1 where a condition on x holds, else 0."""
    return lambda x, **metadata: np.asarray(condition(x, **metadata)).astype(x.dtype)


def _leaky_factor(x: Array, *, slope: float) -> Array:
    """1 above zero, the slope elsewhere."""
    above, below = x > _xp.constant(0, x.dtype), _xp.constant(slope, x.dtype)
    if 0 <= slope <= 1:
        return _xp.maximum(np.asarray(above).astype(x.dtype), below)
    return np.where(above, _xp.constant(1, x.dtype), below)


def _leaky_relu_forward(x: Array, *, slope: float) -> Array:
    return np.maximum(x, _scaled(RAW, x, slope)) if 0 < slope <= 1 else x * _leaky_factor(x, slope=slope)


def _chosen(xp: Operations, condition: Tensor, x: Tensor, yes: float, no: float) -> Tensor:
    """One number where a condition on x holds, another elsewhere."""
    return xp.where(condition, xp.constant(yes, x.dtype), xp.constant(no, x.dtype))


def _scaled(xp: Operations, x: Same, factor: float) -> Same:
    return x if factor == 1 else x * xp.constant(factor, x.dtype)


def _elu_itself(xp: Operations, x: Tensor, *, alpha: float, scale: float, input_scale: float) -> Tensor:
    zero = xp.constant(0, x.dtype)
    below = xp.expm1(_scaled(xp, xp.minimum(x, zero), input_scale))
    return _scaled(xp, below, alpha * scale) + _scaled(xp, xp.maximum(x, zero), scale)


def _elu(xp: Operations, g: Tensor, x: Tensor, *, alpha: float, scale: float, input_scale: float) -> Tensor:
    least = xp.clip(x, lower=None, upper=0) if xp is RAW else -xp.relu(-x)  # its slope at 0 is 0, as in torch
    slope = xp.exp(_scaled(xp, least, input_scale))  # 1 above 0
    if alpha * input_scale == 1:
        return g * _scaled(xp, slope, scale)
    zero, above = xp.constant(0, x.dtype), xp.constant(scale, x.dtype)
    return g * xp.where(x > zero, above, _scaled(xp, slope, alpha * scale * input_scale))


def _softplus_itself(xp: Operations, x: Tensor, *, beta: float, threshold: float) -> Tensor:
    scaled = x if beta == 1 else x * beta
    limit = xp.constant(threshold, x.dtype)
    soft = xp.log1p(xp.exp(xp.minimum(scaled, limit)))
    return xp.where(scaled > limit, x, soft if beta == 1 else soft / beta)


def _softplus(xp: Operations, g: Tensor, x: Tensor, *, beta: float, threshold: float) -> Tensor:
    scaled = x if beta == 1 else x * beta
    return xp.where(scaled > xp.constant(threshold, x.dtype), g, g * xp.logistic(scaled))


def _silu_forward(x: Array) -> Array:
    return x / (np.exp(-x) + _xp.constant(1, x.dtype))


def _silu(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    return g * (xp.logistic(x) * (x * xp.logistic(-x) + 1))


def _mish(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    """The derivative of x * t, where t = tanh(softplus(x)) = (1 - f * f) / (1 + f * f), and f is the sigmoid of -x."""
    s, f = xp.logistic(x), xp.logistic(-x)
    both = f * f + 1
    t = xp.where(x > xp.constant(0, x.dtype), 1 - 2 * f * f / both, s * (f + 1) / both)
    return g * (t + x * s * (4 * f * f / (both * both)))


def _gelu(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    """The derivative of GELU: the normal distribution function plus x times the normal density."""
    half = xp.constant(0.5, x.dtype)
    below = (xp.erf(x * xp.constant(ROOT_HALF, x.dtype)) + xp.constant(1, x.dtype)) * half
    return g * (below + x * (xp.exp(-half * x * x) * xp.constant(DENSITY_AT_ZERO, x.dtype)))


def _gelu_itself(xp: Operations, x: Tensor) -> Tensor:
    below = xp.erf(x * xp.constant(ROOT_HALF, x.dtype)) + xp.constant(1, x.dtype)
    return below * (x * xp.constant(0.5, x.dtype))


def _inner(x: Same) -> Same:
    return x * (x * x * (TANH_SCALE * TANH_CUBE) + TANH_SCALE)


def _gelu_tanh(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    """With tanh(z) + 1 = 2 * s(2 * z), where s is the sigmoid."""
    twice = 2 * _inner(x)
    inner_slope = x * x * (3 * TANH_SCALE * TANH_CUBE) + TANH_SCALE
    return g * (xp.logistic(twice) * (2 * x * xp.logistic(-twice) * inner_slope + 1))


def _softsign(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    size = xp.abs(x) + 1
    return g / size / size  # its square may be out of range


def _tanhshrink(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    t = xp.tanh(x)
    return g * (t * t)


def _shrink(xp: Operations, g: Tensor, x: Tensor, *, bound: float) -> Tensor:
    return xp.select(xp.beyond(x, bound=bound), g)


def _hardsigmoid(xp: Operations, x: Tensor) -> Tensor:
    return xp.clip(x + xp.constant(3, x.dtype), lower=0, upper=6) / xp.constant(6, x.dtype)


def _hardswish(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    three = xp.constant(3, x.dtype)
    inner = g * (x / three + xp.constant(0.5, x.dtype))  # NaN where x is
    return xp.select(xp.logical_not(x <= xp.constant(-3, x.dtype)), xp.where(x >= three, g, inner))


def _flat(xp: Operations, g: Tensor) -> Tensor:
    return xp.zeros_like(g)


REAL: OfComplex = {"complex": "refused"}

# fmt: off
#                            name            pullback per input
leaky_relu   = elementwise("leaky_relu",   lambda xp, g, x, *, slope: g * xp.leaky_factor(x, slope=slope),
                           definition=lambda xp, x, *, slope: x * xp.leaky_factor(x, slope=slope),
                           forward=_leaky_relu_forward, **REAL)
prelu        = elementwise("prelu",        lambda xp, g, x, weight: xp.prelu_pullback(g, x, weight),
                                           lambda xp, g, x: xp.select(xp.logical_not(x >= 0), g * x),
                           definition=lambda xp, x, weight: xp.where(x > 0, x, x * weight),
                           inputs=("x", "weight"),                          title="PreluKernelBackward0", **REAL)
# At 0 the first derivative is the weight, and the second is that of the negative side, 0, as in torch.
prelu_pullback = elementwise("prelu_pullback", lambda xp, g, x, weight: xp.where(x >= 0, g, g * weight),
                                           _flat,
                                           lambda xp, g, given, x: xp.select(xp.logical_not(x >= 0), g * given),
                           definition=lambda xp, given, x, weight: xp.where(x > 0, given, given * weight),
                           inputs=("given", "x", "weight"),                title="PreluKernelBackwardBackward0", **REAL)
elu          = elementwise("elu",          _elu,       definition=_elu_itself, **REAL)
softplus     = elementwise("softplus",     _softplus,  definition=_softplus_itself, **REAL)
silu         = elementwise("silu",         _silu,      definition=lambda xp, x: x * xp.sigmoid(x), forward=_silu_forward)
mish         = elementwise("mish",         _mish,
                           definition=lambda xp, x: x * xp.tanh(xp.softplus(x, beta=1, threshold=20)), **REAL)
gelu         = elementwise("gelu",         _gelu,      definition=_gelu_itself, **REAL)
gelu_by_tanh = elementwise("gelu_by_tanh", _gelu_tanh,
                           definition=lambda xp, x: (xp.tanh(_inner(x)) + 1) * (x * 0.5), title="GeluBackward0", **REAL)
logistic     = elementwise("logistic",     lambda xp, g, x: g * (xp.logistic(x) * xp.logistic(-x)),
                           definition=lambda xp, x: xp.sigmoid(x),          title="SigmoidBackward0")
logsigmoid   = elementwise("logsigmoid",   lambda xp, g, x: g * xp.logistic(-x),
                           definition=lambda xp, x: xp.minimum(x, xp.constant(0, x.dtype)) - xp.log1p(xp.exp(-xp.abs(x))),
                           title="LogSigmoidBackward0", **REAL)
softsign     = elementwise("softsign",     _softsign,
                           definition=lambda xp, x: x / (xp.abs(x) + 1),    title="DivBackward0", **REAL)
tanhshrink   = elementwise("tanhshrink",   _tanhshrink,
                           definition=lambda xp, x: x - xp.tanh(x),         title="SubBackward0", **REAL)
hardtanh     = elementwise("hardtanh",     lambda xp, g, x, *, lower, upper: xp.select(xp.not_clipped(x, lower=lower, upper=upper), g),
                           definition=lambda xp, x, *, lower, upper: xp.clip(x, lower=lower, upper=upper), **REAL)
hardsigmoid  = elementwise("hardsigmoid",  lambda xp, g, x: xp.select(xp.within(x, lower=-3, upper=3), g / xp.constant(6, x.dtype)),
                           definition=_hardsigmoid, **REAL)
hardswish    = elementwise("hardswish",    _hardswish,
                           definition=lambda xp, x: x * xp.hardsigmoid(x), **REAL)
hardshrink   = elementwise("hardshrink",   _shrink,
                           definition=lambda xp, x, *, bound: xp.where(xp.abs(x) <= bound, xp.constant(0, x.dtype), x), **REAL)
softshrink   = elementwise("softshrink",   _shrink,
                           definition=lambda xp, x, *, bound: x - xp.clip(x, lower=-bound, upper=bound), **REAL)
threshold    = elementwise("threshold",    lambda xp, g, x, *, bound, value: xp.select(xp.above(x, bound=bound), g),
                           definition=lambda xp, x, *, bound, value: xp.where(x <= bound, xp.constant(value, x.dtype), x), **REAL)

# Masks and factors of rules. They are recorded, as torch records second derivatives of zero; masks have the dtype of x.
leaky_factor = elementwise("leaky_factor", _flat, forward=_leaky_factor,
                           definition=lambda xp, x, *, slope: _chosen(xp, x > 0, x, 1, slope), **REAL)
above        = elementwise("above",        _flat, forward=_mask(_xp.above),
                           definition=lambda xp, x, *, bound: _chosen(xp, x <= bound, x, 0, 1), **REAL)
within       = elementwise("within",       _flat, forward=_mask(_xp.within),
                           definition=lambda xp, x, *, lower, upper: _chosen(xp, (x > lower) & (x < upper), x, 1, 0), **REAL)
beyond       = elementwise("beyond",       _flat, forward=_mask(_xp.beyond),
                           definition=lambda xp, x, *, bound: _chosen(xp, xp.abs(x) <= bound, x, 0, 1), **REAL)
not_clipped  = elementwise("not_clipped",  _flat, forward=_mask(_xp.not_clipped),
                           definition=lambda xp, x, *, lower, upper: _chosen(xp, (x <= lower) | (x >= upper), x, 0, 1), **REAL)
# fmt: on

machine.COSTLY.update(each.forward for each in (elu, softplus, silu, mish, gelu, gelu_by_tanh, hardswish))
