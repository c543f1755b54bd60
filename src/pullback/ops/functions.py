"""Less common elementwise functions: inverse functions, logarithms to other bases, functions of several arguments."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from .._core.primitives import SINGLES, elementwise, linear, zero
from .._core.xp import RAW

if TYPE_CHECKING:
    from .._core.typing import Array, OfComplex, Operations, Same, Tensor

LN_TWO, LN_TEN = math.log(2), math.log(10)

# 1. Forward functions


def _sinc(xp: Operations, x: Tensor) -> Tensor:
    turned = x * xp.constant(math.pi, x.dtype)
    return xp.where(x == 0, xp.constant(1, x.dtype), xp.sin(turned) / turned)


def _logit(xp: Operations, x: Tensor, *, eps: float | None) -> Tensor:
    if eps is not None:
        x = xp.minimum(xp.maximum(x, xp.constant(eps, x.dtype)), xp.constant(1 - eps, x.dtype))
    return xp.log(x / (xp.constant(1, x.dtype) - x))


def _nan_to_num(
    xp: Operations, x: Tensor, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    if x.dtype.kind != "f":
        return NotImplemented
    most = float(np.finfo(x.dtype).max)
    above, below = most if posinf is None else posinf, -most if neginf is None else neginf
    nan, above, below = (xp.constant(number, x.dtype) for number in (nan, above, below))
    return xp.where(xp.isnan(x), nan, xp.where(x == math.inf, above, xp.where(x == -math.inf, below, x)))


def _round_to(x: Array, *, decimals: int) -> Array:
    """x rounded to a number of decimals; scaling uses a positive power of ten, which is exact."""
    shift = x.dtype.type(10.0 ** abs(decimals))
    return np.rint(x * shift) / shift if decimals >= 0 else np.rint(x / shift) * shift


def _logaddexp(a: Array, b: Array) -> Array:
    if a.dtype.kind != "c":
        return np.logaddexp(a, b)
    first = a.real >= b.real
    top, low = np.where(first, a, b), np.where(first, b, a)
    return np.where((top == low) & np.isinf(top.real), top, top + np.log1p(np.exp(low - top)))


def _lerp(xp: Operations, a: Same, b: Same, weight: Same) -> Same:
    """Linear interpolation from the nearer end, so that both ends are reproduced exactly."""
    way, one = b - a, xp.constant(1, weight.dtype)
    return xp.where(xp.abs(weight) < 0.5, a + weight * way, b - way * (one - weight))


def _lerp_of_arrays(a: Array, b: Array, weight: Array) -> Array:
    """Of a single weight, only the end that it is nearer to."""
    if weight.ndim:
        return _lerp(RAW, a, b, weight)
    way = b - a
    return a + weight * way if np.abs(weight) < 0.5 else b - way * (weight.dtype.type(1) - weight)


def zero_times(xp: Operations, a: Tensor, b: Tensor, product: Tensor) -> Tensor:
    """A product with a function of b that is 0 where a is, except for NaN."""
    return xp.where((a == 0) & xp.logical_not(xp.isnan(b)), xp.constant(0, a.dtype), product)


def _whole_quotient(xp: Operations, a: Tensor, b: Tensor) -> Tensor:
    """The quotient without its fraction, which what is left over shows exactly; that by 0, or of infinity, is infinite."""
    endless = (b == 0) | xp.isinf(a)
    x, y = xp.where(endless, xp.constant(0, a.dtype), a), xp.where(endless, xp.constant(1, b.dtype), b)
    return xp.where(endless, xp.trunc_quotient(a, b), xp.rint((x - xp.fmod(x, y)) / y))


def _trunc_quotient(a: Array, b: Array) -> Array:
    return np.trunc(a / b) if a.dtype.kind == "f" else (a - np.fmod(a, b)) // b


def _heaviside(xp: Operations, a: Tensor, b: Tensor) -> Tensor:
    return xp.where(a == 0, b, xp.where(a > 0, xp.constant(1, a.dtype), xp.constant(0, a.dtype)))


# 2. Pullbacks


SINC_SLOPES = [(-1) ** k * 2 * k * math.pi ** (2 * k) / math.factorial(2 * k + 1) for k in range(24, 0, -1)]
"""So many that derivatives of order 20 have them, too."""


def _sinc_pullback(xp: Operations, g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """The derivative of sinc: near 0, where the difference and its derivatives cancel, by its series."""
    small = xp.abs(x) < 1
    near = xp.where(small, x, 0)
    series = near * functools.reduce(lambda total, coefficient: total * near * near + coefficient, SINC_SLOPES)
    return g * xp.where(small, series, (xp.cos(x * math.pi) - y) / xp.where(small, 1, x))


def _logit_pullback(xp: Operations, g: Tensor, x: Tensor, *, eps: float | None) -> Tensor:
    """g / (x (1 - x)) as a sum, whose derivative is a sum as well: that of the product is inf - inf near 0."""
    low = eps or 0
    outside = (x < low) | (x > 1 - low)
    inside = xp.where(outside, 0.5, x)  # no 1 / 0 behind a mask: second derivatives would propagate it
    return xp.where(outside, 0 if eps is not None else math.nan, g / xp.abs(inside) + g / (1 - inside))


def _angle_slope(xp: Operations, g: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """g * a / (a^2 + b^2), whose square may be out of range where the quotient is not.

    At the origin it is 0, as in torch: a convention, of which nothing follows for the second derivative.
    """
    origin = (a == 0) & (b == 0)
    length = xp.hypot(xp.where(origin, 1, a), b)  # no NaN behind a mask: forward mode would propagate it
    slopes = xp.where(origin, 0, g * (a / length) / length)
    return slopes if xp is RAW else slopes + xp.bend(a, origin) + xp.bend(b, origin)


def _leg(xp: Operations, g: Tensor, a: Tensor, b: Tensor, y: Tensor, *, place: int) -> Tensor:
    """The quotient of a leg and y; where that is differentiated itself, one operation: the quotient's derivative cancels."""
    return g * ((a, b)[place] / y if xp is RAW else xp.hypot_slope(a, b, place=place))


def _hypot_bend(xp: Operations, g: Tensor, a: Tensor, b: Tensor, *, place: int, by: int) -> Tensor:
    """g times b^2, a^2 or -a b, divided by (a^2 + b^2)^1.5: these powers may be out of range where the result is not."""
    length = xp.hypot(a, b)
    first, second = (-a, b) if by != place else (a, a) if by else (b, b)
    return g * (first / length) * (second / length) / length


def _cosine(xp: Operations, sine: Tensor) -> Tensor:
    """The cosine of an angle by its sine; 0 if that is 1, and for a complex sine that of the angle which NumPy chooses."""
    return xp.sqrt(-(sine * sine - 1)) if xp.is_complex(sine) else xp.sqrt(1 - sine * sine)


def _acosh(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    """The square root is taken of each factor: for complex numbers sqrt(u) sqrt(v) is not always sqrt(u v)."""
    x = x if xp.is_complex(x) else xp.abs(x)  # below -1 as above 1, as in torch
    return g / xp.sqrt(x - 1) / xp.sqrt(x + 1)


def _asinh(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    return g / (xp.sqrt(x * x + 1) if xp.is_complex(x) else xp.hypot(x, 1 + xp.zeros_like(x)))


REAL: OfComplex = {"complex": "refused"}

# 3. The table

# fmt: off
#                            name           pullback per input
acos        = elementwise("acos",        lambda xp, g, x: -g / _cosine(xp, x),                  forward=np.arccos, cost=24)
acosh       = elementwise("acosh",       _acosh,                                              forward=np.arccosh)
asin        = elementwise("asin",        lambda xp, g, x: g / _cosine(xp, x),                   forward=np.arcsin, cost=24)
asinh       = elementwise("asinh",       _asinh,                                              forward=np.arcsinh)
atan        = elementwise("atan",        lambda xp, g, x: g / (x * x + 1),                    forward=np.arctan, cost=24)
atanh       = elementwise("atanh",       lambda xp, g, x: g / (1 - x * x),                    forward=np.arctanh)
cbrt        = elementwise("cbrt",        lambda xp, g, y: g / (3 * y * y),                    forward=np.cbrt, **REAL, cost=24)
exp2        = elementwise("exp2",        lambda xp, g, y: g * y * LN_TWO,                     forward=np.exp2, cost=16)
log2        = elementwise("log2",        lambda xp, g, x: g / x / LN_TWO,                     forward=np.log2, cost=16)
log10       = elementwise("log10",       lambda xp, g, x: g / x / LN_TEN,                     forward=np.log10, cost=16)
deg2rad     = elementwise("deg2rad",     lambda xp, g: g * (math.pi / 180), **REAL,
                          definition=lambda xp, x: x * xp.constant(math.pi / 180, x.dtype))
rad2deg     = elementwise("rad2deg",     lambda xp, g: g * (180 / math.pi), **REAL,
                          definition=lambda xp, x: x * xp.constant(180 / math.pi, x.dtype))
frac        = elementwise("frac",        lambda xp, g: g,            definition=lambda xp, x: x - xp.trunc(x), **REAL)
round_to    = elementwise("round_to",    lambda xp, g: xp.zeros_like(g), forward=_round_to, title="RoundBackward1", **REAL)
sinc        = elementwise("sinc",        _sinc_pullback,                                      definition=_sinc)
logit       = elementwise("logit",       _logit_pullback,                                     definition=_logit, **REAL)
nan_to_num  = elementwise("nan_to_num",  lambda xp, g, x: xp.select(xp.isfinite(x), g),       forward=np.nan_to_num,
                          definition=_nan_to_num, **REAL)

atan2       = elementwise("atan2",       lambda xp, g, a, b: _angle_slope(xp, g, b, a),
                                         lambda xp, g, a, b: _angle_slope(xp, -g, a, b),      forward=np.arctan2, **REAL, cost=32)
hypot       = elementwise("hypot",       lambda xp, g, a, b, y: _leg(xp, g, a, b, y, place=0),
                                         lambda xp, g, a, b, y: _leg(xp, g, a, b, y, place=1),      forward=np.hypot, **REAL)
hypot_slope = elementwise("hypot_slope", lambda xp, g, a, b, *, place: _hypot_bend(xp, g, a, b, place=place, by=0),
                                         lambda xp, g, a, b, *, place: _hypot_bend(xp, g, a, b, place=place, by=1), **REAL,
                          definition=lambda xp, a, b, *, place: (a, b)[place] / xp.hypot(a, b))
copysign    = elementwise("copysign",    lambda xp, g, a, y: xp.where(a == 0, 0, g * (y / xp.where(a == 0, 1, a))),
                                         lambda xp, g: xp.zeros_like(g),                      forward=np.copysign, **REAL)
fmax        = elementwise("fmax",        lambda xp, g, a, b: xp.select((a >= b) | xp.isnan(b), g),
                                         lambda xp, g, a, b: xp.select(xp.logical_not((a >= b) | xp.isnan(b)), g),
                                                                                              forward=np.fmax, **REAL)
fmin        = elementwise("fmin",        lambda xp, g, a, b: xp.select((a <= b) | xp.isnan(b), g),
                                         lambda xp, g, a, b: xp.select(xp.logical_not((a <= b) | xp.isnan(b)), g),
                                                                                              forward=np.fmin, **REAL)
fmod        = elementwise("fmod",        lambda xp, g: g,
                                         lambda xp, g, a, b: -g * xp.whole_quotient(a, b),    forward=np.fmod, **REAL)
floor_quotient = elementwise("floor_quotient", lambda xp, g: xp.zeros_like(g),
                                         lambda xp, g: xp.zeros_like(g),
                             forward=np.floor_divide,                                         title="DivBackward2", **REAL)
trunc_quotient = elementwise("trunc_quotient", lambda xp, g: xp.zeros_like(g),
                                         lambda xp, g: xp.zeros_like(g),
                             forward=_trunc_quotient,                                         title="DivBackward2", **REAL)
whole_quotient = elementwise("whole_quotient", lambda xp, g: xp.zeros_like(g),
                                         lambda xp, g: xp.zeros_like(g),
                             definition=_whole_quotient,                                      title="DivBackward2", **REAL)
nextafter   = elementwise("nextafter",   lambda xp, g, a, b: xp.select(a != b, g),
                                         lambda xp, g: xp.zeros_like(g),                      forward=np.nextafter, **REAL)
logaddexp   = elementwise("logaddexp",   lambda xp, g, a, b: g * xp.logistic(a - b),
                                         lambda xp, g, a, b: g * xp.logistic(b - a),          forward=_logaddexp, cost=32)
logaddexp2  = elementwise("logaddexp2",  lambda xp, g, a, b: g * xp.logistic((a - b) * LN_TWO),
                                         lambda xp, g, a, b: g * xp.logistic((b - a) * LN_TWO),
                                                                                              forward=np.logaddexp2, **REAL)
xlogy       = elementwise("xlogy",       lambda xp, g, a, b: xp.where((a == 0) & (b <= 0), 0, xp.xlogy(g, b)),
                                         lambda xp, g, a, b: g * (a / b),                     **REAL,
                          definition=lambda xp, a, b: zero_times(xp, a, b, a * xp.log(b)))
lerp        = elementwise("lerp",        lambda xp, g, weight: g * (1 - weight),
                                         lambda xp, g, weight: g * weight,
                                         lambda xp, g, a, b: g * (b - a),
                          definition=_lerp, forward=_lerp_of_arrays, inputs=("a", "b", "weight"), title="LerpBackward1",  **SINGLES)
ldexp       = linear("ldexp",            lambda xp, g, exponent: xp.ldexp(g, exponent),       forward=np.ldexp,
                     inputs=("x", "exponent"),                                                title="FrexpBackward0", cost=1)

exponent    = zero("exponent",    forward=lambda x: np.frexp(x)[1])
signbit     = zero("signbit",     forward=np.signbit)
isposinf    = zero("isposinf",    definition=lambda xp, x: x == math.inf)
isneginf    = zero("isneginf",    definition=lambda xp, x: x == -math.inf)
heaviside   = zero("heaviside",   definition=_heaviside, inputs=("a", "b"))
gcd         = zero("gcd",         forward=np.gcd,         inputs=("a", "b"))
lcm         = zero("lcm",         forward=np.lcm,         inputs=("a", "b"))
isclose     = zero("isclose",     forward=np.isclose,     inputs=("a", "b"))
isin        = zero("isin",        forward=np.isin,        inputs=("a", "b"))
# fmt: on
