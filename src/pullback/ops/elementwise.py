"""Elementwise operations: one output element from the elements at the same index.

Each line of the table is a complete derivative. The parameter names of a rule say which values it saves for the
backward pass.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._core import xp as _xp
from .._core.primitives import elementwise, zero
from .._core.xp import RAW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.primitives import Function, Rule
    from .._core.typing import Array, OfComplex, Operations, Tensor


def _pow(a: Array, b: Array) -> Array:
    """NumPy's power; for integers to negative powers as in torch, the result truncated to an integer."""
    if a.dtype.kind not in "iu" or not (b < 0).any():
        return _xp.pow(a, b)
    return np.where(b < 0, np.power(np.where(np.abs(a) == 1, a, 0), np.abs(b)), np.power(a, np.abs(b)))


def _pow_base(xp: Operations, g: Tensor, a: Tensor, b: Tensor) -> Tensor:
    exponent = xp.where(b == 0, 0, b - 1)  # no NaN behind a mask: forward mode would propagate it
    return xp.where(b == 0, 0, g * (b * xp.pow(a, exponent)))  # b * b may be out of range


def _pow_exponent(xp: Operations, g: Tensor, a: Tensor, b: Tensor, y: Tensor) -> Tensor:
    masked = (a == 0) & ((xp.real(b) if xp.is_complex(b) else b) >= 0)
    return xp.where(masked, 0, g * y * xp.log(xp.where(masked, 1, a)))


def _power(xp: Operations, g: Tensor, x: Tensor, *, exponent: float) -> Tensor:
    if exponent == 0:
        return xp.zeros_like(x)
    return g * (x + x) if exponent == 2 else g * (exponent * xp.power(x, exponent=exponent - 1))


def _exponential(xp: Operations, g: Tensor, y: Tensor, *, base: float) -> Tensor:
    return g * y * math.log(base) if base > 0 else xp.where(xp.isinf(y), -g * y, 0)


def _abs(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    slopes = g * xp.sgn(x)
    return slopes if xp is RAW or not xp.is_complex(x) else bent(xp, slopes, x, x == 0)


def bent(xp: Operations, slopes: Tensor, x: Tensor, bends: Tensor) -> Tensor:
    """Slopes, of which those where x `bends` have a convention for their value, and a derivative that they do not tell."""
    return slopes if xp is RAW else slopes + xp.bend(x, bends)


def nondifferentiable_zero(xp: Operations, bends: Tensor, size: Tensor) -> Tensor:
    """What forward mode adds to the tangent of a size that `bends`: 0 without a derivative, as the slope of sqrt at 0 times 0 is NaN."""
    return xp.select(bends, xp.sqrt(xp.where(bends, 0 * size, 1)))


def _bend(xp: Operations, g: Tensor, there: Tensor) -> Tensor:
    nan = complex(math.nan, math.nan) if xp.is_complex(g) else math.nan
    return xp.select(there, xp.where(g != 0, nan, xp.zeros_like(g)))


def pushed_at_zero(rule: Rule) -> Function:
    """Forward mode for a function of complex numbers that is itself differentiated: see `reductions._pushed`."""

    def push(xp: Operations, primals: Sequence[Tensor | Array], tangents: Sequence[Tensor], y: Tensor) -> Tensor:
        (x,), (moved,) = primals, tangents
        if isinstance(x, np.ndarray) or not xp.is_complex(x):
            return NotImplemented
        bends = (x == 0) & (moved != 0)
        return xp.real(xp.conj(rule(xp, xp.zeros_like(y) + 1, x)) * moved) + nondifferentiable_zero(
            xp, bends, xp.abs(x)
        )

    return push


def _clip(xp: Operations, g: Tensor, x: Tensor, *, lower: float | None, upper: float | None) -> Tensor:
    above = None if lower is None else x >= xp.constant(lower, x.dtype)
    below = None if upper is None else x <= xp.constant(upper, x.dtype)
    inside = below if above is None else above if below is None else above & below
    return g if inside is None else xp.select(inside, g)


def _clipped(xp: Operations, x: Tensor, *, lower: float | None, upper: float | None) -> Tensor:
    if lower is not None:
        x = xp.maximum(x, xp.constant(lower, x.dtype))
    return x if upper is None else xp.minimum(x, xp.constant(upper, x.dtype))


REAL: OfComplex = {"complex": "refused"}

# `bend(x, there)` is 0, and where x is `there` it has no derivative: a cotangent or a tangent other than 0 becomes NaN. A rule
# whose value is a convention at a point, as the slope of a norm at 0, adds it, so that nothing wrong is made of the
# convention's own derivative.

# fmt: off
#                             name         pullback per input
add        = elementwise("add",         lambda xp, g: g,
                                        lambda xp, g: g, commutes=True)
subtract   = elementwise("subtract",    lambda xp, g: g,
                                        lambda xp, g: -g,                              title="SubBackward0")
rsub       = elementwise("rsub",        lambda xp, g: -g,
                                        lambda xp, g: g,                               title="RsubBackward1")
multiply   = elementwise("multiply",    lambda xp, g, b: g * b,
                                        lambda xp, g, a: g * a,                        title="MulBackward0", commutes=True)
divide     = elementwise("divide",      lambda xp, g, b: g / b,
                                        lambda xp, g, b, y: -g * (y / b),              title="DivBackward0", cost=4)
modulo     = elementwise("modulo",      lambda xp, g: g,                               title="RemainderBackward0", **REAL,
                         definition=lambda xp, x, *, divisor: xp.remainder(x, divisor))
remainder  = elementwise("remainder",   lambda xp, g: g,
                                        lambda xp, g, a, b: -g * xp.floor_quotient(a, b),      title="RemainderBackward1", **REAL, cost=4)
pow        = elementwise("pow",         _pow_base,
                                        _pow_exponent, forward=_pow,                   title="PowBackward1", cost=32)
maximum    = elementwise("maximum",     lambda xp, g, a, b: xp.where(a < b, 0, xp.where(a == b, g / 2, g)),
                                        lambda xp, g, a, b: xp.where(a > b, 0, xp.where(a == b, g / 2, g)), **REAL)
minimum    = elementwise("minimum",     lambda xp, g, a, b: xp.where(a > b, 0, xp.where(a == b, g / 2, g)),
                                        lambda xp, g, a, b: xp.where(a < b, 0, xp.where(a == b, g / 2, g)), **REAL)
where      = elementwise("where",       None,
                                        lambda xp, g, condition: xp.select(condition, g),
                                        lambda xp, g, condition: xp.select(xp.logical_not(condition), g))
select     = elementwise("select",      lambda xp, g: xp.zeros_like(g),
                                        lambda xp, g, condition: xp.select(condition, g), inputs=("condition", "x"),
                         title="WhereBackward0", forward=_xp.select,
                         definition=lambda xp, condition, x: xp.where(condition, x, xp.constant(0, x.dtype)))

negative   = elementwise("negative",    lambda xp, g: -g,                              title="NegBackward0")
reciprocal = elementwise("reciprocal",  lambda xp, g, y: -g * y * y, cost=4)
square     = elementwise("square",      lambda xp, g, x: g * (x + x),                  title="PowBackward0")
sqrt       = elementwise("sqrt",        lambda xp, g, y: g / (2 * y), cost=4)
rsqrt      = elementwise("rsqrt",       lambda xp, g, y: g * y * y * y / -2, definition=lambda xp, x: xp.reciprocal(xp.sqrt(x)))
abs        = elementwise("abs",         _abs, push=pushed_at_zero(_abs),                complex="as written")
conj       = elementwise("conj",        lambda xp, g: xp.conj(g),                        complex="as written")
exp        = elementwise("exp",         lambda xp, g, y: g * y, cost=16)
expm1      = elementwise("expm1",       lambda xp, g, x: g * xp.exp(x), cost=16)
log        = elementwise("log",         lambda xp, g, x: g / x, cost=16)
log1p      = elementwise("log1p",       lambda xp, g, x: g / (x + 1), cost=16)
sin        = elementwise("sin",         lambda xp, g, x: g * xp.cos(x), cost=16)
cos        = elementwise("cos",         lambda xp, g, x: g * -xp.sin(x), cost=16)
tan        = elementwise("tan",         lambda xp, g, y: g * (1 + y * y), cost=24)
sinh       = elementwise("sinh",        lambda xp, g, x: g * xp.cosh(x), cost=24)
cosh       = elementwise("cosh",        lambda xp, g, x: g * xp.sinh(x), cost=24)
tanh       = elementwise("tanh",        lambda xp, g, y: xp.tanh_pullback(g, y), cost=24)
sigmoid    = elementwise("sigmoid",     lambda xp, g, y: xp.sigmoid_pullback(g, y), cost=24)
relu       = elementwise("relu",        lambda xp, g, y: xp.select(y, g), forward=_xp.relu,
                         definition=lambda xp, x: xp.maximum(x, xp.constant(0, x.dtype)), **REAL)
power      = elementwise("power",       _power,                                        title="PowBackward0", cost=8)
exponential = elementwise("exponential", _exponential,                                 title="PowBackward2",
                         definition=lambda xp, x, *, base: xp.pow(xp.constant(base, x.dtype), x))
clip       = elementwise("clip",        _clip, definition=_clipped,                    title="ClampBackward1", **REAL)
clip_by    = elementwise("clip_by",     lambda xp, g, x, a, b: xp.where((x >= a) & (x <= b), g, 0),
                                        lambda xp, g, x, a, b: xp.where(((a < b) | (a == math.inf)) & (x < a), g, 0),
                                        lambda xp, g, x, a, b: xp.where((x > b) | (b < a), g, 0),
                         definition=lambda xp, x, a, b: xp.minimum(xp.maximum(x, a), b),
                         inputs=("x", "a", "b"),                                       title="ClampBackward0", **REAL)
floor      = elementwise("floor",       lambda xp, g: xp.zeros_like(g), **REAL)
ceil       = elementwise("ceil",        lambda xp, g: xp.zeros_like(g), **REAL)
rint       = elementwise("rint",        lambda xp, g: xp.zeros_like(g),                title="RoundBackward0", **REAL)
trunc      = elementwise("trunc",       lambda xp, g: xp.zeros_like(g), **REAL)
sign       = elementwise("sign",        lambda xp, g: xp.zeros_like(g), **REAL)
bend       = elementwise("bend",        _bend,
                         None, inputs=("x", "there"), definition=lambda xp, x, there: xp.broadcast_to(xp.constant(0, x.dtype), shape=tuple(x.shape)),
                         forward=lambda x, there: np.zeros(np.broadcast_shapes(np.shape(x), np.shape(there)), x.dtype), title="ZeroBackward0")
zeros_like = elementwise("zeros_like",  lambda xp, g: xp.zeros_like(g),                title="ZeroBackward0", cost=0)

# Pullbacks that are primitives themselves, as in torch: their derivatives take half the operations.
tanh_pullback    = elementwise("tanh_pullback",    lambda xp, g, t: xp.tanh_pullback(g, t),
                                                   lambda xp, g, given, t: g * given * t * -2,
                               inputs=("given", "t"), definition=lambda xp, given, t: given - given * t * t,
                               title="TanhBackwardBackward0")
sigmoid_pullback = elementwise("sigmoid_pullback", lambda xp, g, s: xp.sigmoid_pullback(g, s),
                                                   lambda xp, g, given, s: g * given * (1 - 2 * s),
                               inputs=("given", "s"), definition=lambda xp, given, s: (given - given * s) * s,
                               title="SigmoidBackwardBackward0")

isnan, isinf, isfinite, logical_not = map(zero, ("isnan", "isinf", "isfinite", "logical_not"))
less, less_equal, greater, greater_equal = (
    zero(name, inputs=("a", "b")) for name in ("less", "less_equal", "greater", "greater_equal"))
equal, not_equal, logical_and, logical_or, logical_xor, bitwise_and, bitwise_or, bitwise_xor = (
    zero(name, inputs=("a", "b"), commutes=True)
    for name in ("equal", "not_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"))
floor_divide = zero("floor_divide", inputs=("a", "b"))
left_shift = zero("left_shift", forward=np.left_shift, inputs=("a", "b"))
right_shift = zero("right_shift", forward=np.right_shift, inputs=("a", "b"))
# fmt: on
