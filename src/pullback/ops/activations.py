"""Activation functions: elementwise operations between the layers of a network.

At a kink the derivative is the one torch uses. `logistic` is the sigmoid as rules use it: its own derivative is computed
from x, which costs an exponential more than from the result, and keeps its digits where that is nearly 1. Where a slope has two possible values, it is a factor computed from a
mask: `np.where` takes nine times as long for many elements.
"""

import math
from typing import Any

import numpy as np

from .._core import machine, xp as _xp
from .._core.primitives import elementwise

ROOT_HALF = math.sqrt(0.5)
DENSITY_AT_ZERO = 1 / math.sqrt(2 * math.pi)
# The coefficients of the approximation by tanh of Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
TANH_SCALE, TANH_CUBE = math.sqrt(2 / math.pi), 0.044715


def _mask(condition: Any) -> Any:
    """1 where a condition on x holds, else 0."""
    return lambda x, **metadata: np.asarray(condition(x, **metadata)).astype(x.dtype)


def _leaky_factor(x: Any, *, slope: float) -> Any:
    """1 above zero, the slope elsewhere."""
    above, below = x > _xp.constant(0, x.dtype), _xp.constant(slope, x.dtype)
    if 0 <= slope <= 1:
        return _xp.maximum(np.asarray(above).astype(x.dtype), below)
    return np.where(above, _xp.constant(1, x.dtype), below)


def _leaky_relu_forward(x: Any, *, slope: float) -> Any:
    return np.maximum(x, _times(x, slope)) if 0 < slope <= 1 else x * _leaky_factor(x, slope=slope)


def _times(x: Any, factor: float) -> Any:
    return x if factor == 1 else x * _xp.constant(factor, x.dtype)


def _elu_forward(x: Any, *, alpha: float, scale: float, input_scale: float) -> Any:
    zero = _xp.constant(0, x.dtype)
    below = np.expm1(_times(np.minimum(x, zero), input_scale))
    return _times(below, alpha * scale) + _times(np.maximum(x, zero), scale)


def _scaled(xp: Any, x: Any, factor: float) -> Any:
    return x if factor == 1 else x * xp.constant(factor, x.dtype)


def _elu(xp: Any, g: Any, x: Any, *, alpha: float, scale: float, input_scale: float) -> Any:
    least = xp.clip(x, lower=None, upper=0) if xp is _xp else -xp.relu(-x)  # its slope at 0 is 0, as in torch
    slope = xp.exp(_scaled(xp, least, input_scale))  # 1 above 0
    if alpha * input_scale == 1:
        return g * _scaled(xp, slope, scale)
    zero, above = xp.constant(0, x.dtype), xp.constant(scale, x.dtype)
    return g * xp.where(x > zero, above, _scaled(xp, slope, alpha * scale * input_scale))


def _softplus_forward(x: Any, *, beta: float, threshold: float) -> Any:
    scaled = x if beta == 1 else x * beta
    limit = _xp.constant(threshold, x.dtype)
    soft = np.log1p(np.exp(np.minimum(scaled, limit)))
    return np.where(scaled > limit, x, soft if beta == 1 else soft / beta)


def _softplus(xp: Any, g: Any, x: Any, *, beta: float, threshold: float) -> Any:
    scaled = x if beta == 1 else x * beta
    return xp.where(scaled > xp.constant(threshold, x.dtype), g, g * xp.logistic(scaled))


def _silu_forward(x: Any) -> Any:
    return x / (np.exp(-x) + _xp.constant(1, x.dtype))


def _silu(xp: Any, g: Any, x: Any) -> Any:
    return g * (xp.logistic(x) * (x * xp.logistic(-x) + 1))


def _mish(xp: Any, g: Any, x: Any) -> Any:
    """The derivative of x * t, where t = tanh(softplus(x)) = (1 - f * f) / (1 + f * f), and f is the sigmoid of -x."""
    s, f = xp.logistic(x), xp.logistic(-x)
    both = f * f + 1
    t = xp.where(x > xp.constant(0, x.dtype), 1 - 2 * f * f / both, s * (f + 1) / both)
    return g * (t + x * s * (4 * f * f / (both * both)))


def _mish_forward(x: Any) -> Any:
    return x * np.tanh(_softplus_forward(x, beta=1, threshold=20))


def _gelu(xp: Any, g: Any, x: Any) -> Any:
    """The derivative of GELU: the normal distribution function plus x times the normal density."""
    half = xp.constant(0.5, x.dtype)
    below = (xp.erf(x * xp.constant(ROOT_HALF, x.dtype)) + xp.constant(1, x.dtype)) * half
    return g * (below + x * (xp.exp(-half * x * x) * xp.constant(DENSITY_AT_ZERO, x.dtype)))


def _gelu_forward(x: Any) -> Any:
    below = _xp.erf(x * _xp.constant(ROOT_HALF, x.dtype))
    below += _xp.constant(1, x.dtype)
    return below * (x * _xp.constant(0.5, x.dtype))


def _inner(x: Any) -> Any:
    return x * (x * x * (TANH_SCALE * TANH_CUBE) + TANH_SCALE)


def _gelu_tanh(xp: Any, g: Any, x: Any) -> Any:
    """With tanh(z) + 1 = 2 * s(2 * z), where s is the sigmoid."""
    twice = 2 * _inner(x)
    inner_slope = x * x * (3 * TANH_SCALE * TANH_CUBE) + TANH_SCALE
    return g * (xp.logistic(twice) * (2 * x * xp.logistic(-twice) * inner_slope + 1))


def _gelu_tanh_forward(x: Any) -> Any:
    return (np.tanh(_inner(x)) + 1) * (x * 0.5)


def _softsign(xp: Any, g: Any, x: Any) -> Any:
    size = xp.abs(x) + 1
    return g / size / size  # its square may be out of range


def _tanhshrink(xp: Any, g: Any, x: Any) -> Any:
    t = xp.tanh(x)
    return g * (t * t)


def _shrink(xp: Any, g: Any, x: Any, *, bound: float) -> Any:
    return xp.select(xp.beyond(x, bound=bound), g)


def _hardsigmoid_forward(x: Any) -> Any:
    six = _xp.constant(6, x.dtype)
    return np.minimum(np.maximum(x + _xp.constant(3, x.dtype), _xp.constant(0, x.dtype)), six) / six


def _hardswish(xp: Any, g: Any, x: Any) -> Any:
    three = xp.constant(3, x.dtype)
    inner = g * (x / three + xp.constant(0.5, x.dtype))  # NaN where x is
    return xp.select(xp.logical_not(x <= xp.constant(-3, x.dtype)), xp.where(x >= three, g, inner))


def _flat(xp: Any, g: Any) -> Any:
    return xp.zeros_like(g)


REAL: Any = {"complex": "refused"}

# fmt: off
#                            name            pullback per input
leaky_relu   = elementwise("leaky_relu",   lambda xp, g, x, *, slope: g * xp.leaky_factor(x, slope=slope),
                           forward=_leaky_relu_forward, **REAL)
prelu        = elementwise("prelu",        lambda xp, g, x, weight: xp.prelu_pullback(g, x, weight),
                                           lambda xp, g, x: xp.select(xp.logical_not(x >= 0), g * x),
                           forward=lambda x, weight: np.where(x > 0, x, x * weight),
                           inputs=("x", "weight"),                          title="PreluKernelBackward0", **REAL)
# At 0 the first derivative is the weight, and the second is that of the negative side, 0, as in torch.
prelu_pullback = elementwise("prelu_pullback", lambda xp, g, x, weight: xp.where(x >= 0, g, g * weight),
                                           _flat,
                                           lambda xp, g, given, x: xp.select(xp.logical_not(x >= 0), g * given),
                           forward=lambda given, x, weight: np.where(x > 0, given, given * weight),
                           inputs=("given", "x", "weight"),                title="PreluKernelBackwardBackward0", **REAL)
elu          = elementwise("elu",          _elu,       forward=_elu_forward, **REAL)
softplus     = elementwise("softplus",     _softplus,  forward=_softplus_forward, **REAL)
silu         = elementwise("silu",         _silu,      forward=_silu_forward)
mish         = elementwise("mish",         _mish,      forward=_mish_forward, **REAL)
gelu         = elementwise("gelu",         _gelu,      forward=_gelu_forward, **REAL)
gelu_by_tanh = elementwise("gelu_by_tanh", _gelu_tanh, forward=_gelu_tanh_forward, title="GeluBackward0", **REAL)
logistic     = elementwise("logistic",     lambda xp, g, x: g * (xp.logistic(x) * xp.logistic(-x)),
                           forward=_xp.sigmoid,                             title="SigmoidBackward0")
logsigmoid   = elementwise("logsigmoid",   lambda xp, g, x: g * xp.logistic(-x),
                           forward=lambda x: np.minimum(x, _xp.constant(0, x.dtype)) - np.log1p(np.exp(-np.abs(x))),
                           title="LogSigmoidBackward0", **REAL)
softsign     = elementwise("softsign",     _softsign,
                           forward=lambda x: x / (np.abs(x) + 1),           title="DivBackward0", **REAL)
tanhshrink   = elementwise("tanhshrink",   _tanhshrink,
                           forward=lambda x: x - np.tanh(x),                title="SubBackward0", **REAL)
hardtanh     = elementwise("hardtanh",     lambda xp, g, x, *, lower, upper: xp.select(xp.not_clipped(x, lower=lower, upper=upper), g),
                           forward=lambda x, *, lower, upper: _xp.clip(x, lower=lower, upper=upper), **REAL)
hardsigmoid  = elementwise("hardsigmoid",  lambda xp, g, x: xp.select(xp.within(x, lower=-3, upper=3), g / xp.constant(6, x.dtype)),
                           forward=_hardsigmoid_forward, **REAL)
hardswish    = elementwise("hardswish",    _hardswish,
                           forward=lambda x: x * _hardsigmoid_forward(x), **REAL)
hardshrink   = elementwise("hardshrink",   _shrink,
                           forward=lambda x, *, bound: np.where(np.abs(x) <= bound, x.dtype.type(0), x), **REAL)
softshrink   = elementwise("softshrink",   _shrink,
                           forward=lambda x, *, bound: x - _xp.clip(x, lower=-bound, upper=bound), **REAL)
threshold    = elementwise("threshold",    lambda xp, g, x, *, bound, value: xp.select(xp.above(x, bound=bound), g),
                           forward=lambda x, *, bound, value: np.where(x <= bound, x.dtype.type(value), x), **REAL)

# Masks and factors of rules. They are recorded, as torch records second derivatives of zero; masks have the dtype of x.
leaky_factor = elementwise("leaky_factor", _flat, forward=_leaky_factor, **REAL)
above        = elementwise("above",        _flat, forward=_mask(_xp.above), **REAL)
within       = elementwise("within",       _flat, forward=_mask(_xp.within), **REAL)
beyond       = elementwise("beyond",       _flat, forward=_mask(_xp.beyond), **REAL)
not_clipped  = elementwise("not_clipped",  _flat, forward=_mask(_xp.not_clipped), **REAL)
# fmt: on

machine.COSTLY.update(each.forward for each in (elu, softplus, silu, mish, gelu, gelu_by_tanh, hardswish))
