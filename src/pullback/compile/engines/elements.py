"""Lowerings of elementwise operations, and of functions that are made of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .lowerings import LOWERINGS, lowering, missing

if TYPE_CHECKING:
    from ..program import Equation
    from .libraries import Engine
    from .lowerings import Foreign


def unit(w: Engine, e: Equation, x: Foreign) -> Foreign:
    """x / abs(x); 0 at 0 and, for real numbers, at NaN."""
    if e.output.dtype.kind == "c":
        return w.xp.where(x == 0, x, x / w.xp.abs(x))
    return w.astype(x > 0, e.output.dtype) - w.astype(x < 0, e.output.dtype)


@lowering("power")
def _power(w: Engine, e: Equation, x: Foreign, *, exponent: float) -> Foreign:
    name = {0.5: "sqrt", 0: "ones_like", -1: "reciprocal"}.get(exponent)
    if name and e.output.dtype.kind in "fc":
        return getattr(w.xp, name)(x)
    if exponent in {1, 2, 3}:
        return math.prod([x] * (int(exponent) - 1), start=x)
    return w.xp.pow(x, w.constant(np.asarray(exponent, e.output.dtype)))


@lowering("pow")
def _pow(w: Engine, e: Equation, a: Foreign, b: Foreign) -> Foreign:
    """Integers to powers below 0 are truncated: 0, but for 1 and -1."""
    if e.output.dtype.kind != "i":
        return w.xp.pow(a, b)
    unit = w.xp.where(w.xp.abs(a) == 1, a, w.xp.zeros_like(a))
    below = w.xp.pow(unit, w.xp.remainder(b, w.xp.full_like(b, 2)) + 2)
    return w.xp.where(b < 0, below, w.xp.pow(a, w.xp.where(b < 0, w.xp.zeros_like(b), b)))


@lowering("fmod", "trunc_quotient")
def _truncated(w: Engine, e: Equation, a: Foreign, b: Foreign) -> Foreign:
    """The remainder that has the sign of a, and the quotient that belongs to it."""
    xp, kind = w.xp, e.output.dtype.kind
    if kind == "f":
        rest = xp.remainder(xp.abs(a), xp.abs(b))
        return xp.where(a < 0, -rest, rest) if e.name == "fmod" else xp.trunc(a / b)
    if kind == "u":
        return xp.remainder(a, b) if e.name == "fmod" else xp.floor_divide(a, b)
    # The least integer has no absolute value, and its quotient by -1 is itself.
    turned = b == -1
    b = xp.where(turned, xp.ones_like(b), b)
    rest = xp.remainder(a, b)
    rest = xp.where((rest != 0) & ((a < 0) != (b < 0)), rest - b, rest)
    return rest if e.name == "fmod" else xp.where(turned, -a, (a - rest) // b)


@lowering("logaddexp")
def _logaddexp(w: Engine, e: Equation, a: Foreign, b: Foreign) -> Foreign:
    xp = w.xp
    if e.output.dtype.kind == "f":
        return xp.logaddexp(a, b)
    first = xp.real(a) >= xp.real(b)
    top, low = xp.where(first, a, b), xp.where(first, b, a)
    return xp.where((top == low) & xp.isinf(xp.real(top)), top, top + xp.log(1 + xp.exp(low - top)))


@lowering("angle")
def _angle(w: Engine, e: Equation, x: Foreign) -> Foreign:
    if e.inputs[0].dtype.kind == "c":
        return w.xp.atan2(w.xp.imag(x), w.xp.real(x))
    return w.xp.where(missing(x), x, w.astype(x < 0, e.output.dtype) * math.pi)


@lowering("round_to")
def _round_to(w: Engine, e: Equation, x: Foreign, *, decimals: int) -> Foreign:
    shift = 10.0 ** abs(decimals)
    return w.xp.round(x * shift) / shift if decimals >= 0 else w.xp.round(x / shift) * shift


@lowering("ldexp")
def _ldexp(w: Engine, e: Equation, x: Foreign, exponent: Any) -> Foreign:
    """By two factors, each of which is finite."""
    two, half = w.constant(np.asarray(2, e.output.dtype)), exponent // 2
    factors = (w.xp.pow(two, w.astype(part, e.output.dtype)) for part in (half, exponent - half))
    return math.prod(factors, start=x)


@lowering("exp2")
def _exponential(w: Engine, e: Equation, x: Foreign) -> Foreign:
    return w.xp.pow(w.constant(np.asarray(2, e.output.dtype)), x)


@lowering("isclose")
def _isclose(
    w: Engine, e: Equation, a: Foreign, b: Foreign, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Foreign:
    a, b = (w.astype(x, np.result_type(w.kind(x), 1.0)) for x in (a, b))
    found = (a == b) | (w.xp.isfinite(b) & (w.xp.abs(a - b) <= atol + rtol * w.xp.abs(b)))
    return found | (missing(a) & missing(b)) if equal_nan else found


@lowering("isin")
def _isin(
    w: Engine, e: Equation, a: Foreign, b: Foreign, *, assume_unique: bool = False, invert: bool = False
) -> Foreign:
    found = w.xp.any(a[..., None] == w.xp.reshape(b, (-1,)), axis=-1)
    return ~found if invert else found


LOWERINGS |= {
    **dict.fromkeys(("tied", "clone"), lambda w, e, x, *others, **_: x),
    **dict.fromkeys(("sgn", "sign"), unit),
    "abs": lambda w, e, x: x if e.output.dtype.kind == "b" else w.xp.abs(x),
    "rsub": lambda w, e, a, b: b - a,
    "bend": lambda w, e, x, there: w.xp.zeros_like(x),
    "select": lambda w, e, condition, x: w.xp.where(w.truth(condition), x, w.xp.zeros_like(x)),
    "masked_fill": lambda w, e, x, mask, value: w.xp.where(
        w.truth(mask), w.astype(value, e.output.dtype), w.astype(x, e.output.dtype)
    ),
    **dict.fromkeys(
        ("copy", "fill"), lambda w, e, x, value: w.xp.broadcast_to(w.astype(value, e.output.dtype), e.output.shape)
    ),
    "sigmoid": lambda w, e, x: 1 / (1 + w.xp.exp(-x)),
    "rint": lambda w, e, x: w.xp.round(x),
    "floor_quotient": lambda w, e, a, b: w.xp.floor_divide(a, b),
    "left_shift": lambda w, e, a, b: w.xp.bitwise_left_shift(a, b),
    "right_shift": lambda w, e, a, b: w.xp.bitwise_right_shift(a, b),
    "cbrt": lambda w, e, x: unit(w, e, x) * w.xp.pow(w.xp.abs(x), w.constant(np.asarray(1 / 3, e.output.dtype))),
    "fmax": lambda w, e, a, b: w.xp.where(w.xp.isnan(a), b, w.xp.where(w.xp.isnan(b), a, w.xp.maximum(a, b))),
    "fmin": lambda w, e, a, b: w.xp.where(w.xp.isnan(a), b, w.xp.where(w.xp.isnan(b), a, w.xp.minimum(a, b))),
    "logaddexp2": lambda w, e, a, b: w.xp.logaddexp(a * math.log(2), b * math.log(2)) / math.log(2),
    "real": lambda w, e, x: w.xp.real(x) if e.inputs[0].dtype.kind == "c" else x,
    "imag": lambda w, e, x: w.xp.imag(x) if e.inputs[0].dtype.kind == "c" else w.xp.zeros_like(x),
    "signbit": lambda w, e, x: w.xp.signbit(x) if w.kind(x).kind == "f" else x < 0,
    "complex_of": lambda w, e, a, b: w.complex(a, b),
    "view_as_complex": lambda w, e, x: w.complex(x[..., 0], x[..., 1]),
    "view_as_real": lambda w, e, x: w.xp.stack([w.xp.real(x), w.xp.imag(x)], axis=-1),
    "cosm1": lambda w, e, x: -2 * w.xp.sin(x / 2) * w.xp.sin(x / 2),
    "sindg": lambda w, e, x: w.xp.sin(w.xp.remainder(x, 360.0) * (math.pi / 180)),
    "cosdg": lambda w, e, x: w.xp.cos(w.xp.remainder(x, 360.0) * (math.pi / 180)),
    "tandg": lambda w, e, x: w.xp.tan(w.xp.remainder(x, 180.0) * (math.pi / 180)),
    "cotdg": lambda w, e, x: 1 / w.xp.tan(w.xp.remainder(x, 180.0) * (math.pi / 180)),
}  # fmt: skip
