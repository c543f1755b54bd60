"""The error function and its relatives."""

from __future__ import annotations

import math

from ..._numerics.error_functions import (
    ERFCX_FOR_SINGLES,
    NONE_FOR_SINGLES,
    NORMAL,
    NORMAL_FAR,
    NORMAL_MIDDLE,
    ROOT_HALF,
)
from .coefficients import ERF, ERFC, LOG_ERFC
from .exponentials import exp_of_moderate, exp_pair, scaled
from .lanes import IRValue
from .logarithms import log
from .pairs import ordered_total, product, total

ERF_IS_ONE = {"f": 4.0, "d": 6.0}
ERFC_IS_ZERO = 28.0


def _near(x: IRValue) -> IRValue:
    """erf for |x| up to 1."""
    return x.mad((x * x).polynomial(ERF[x.kind]), x)


def _small_complement(x: IRValue) -> IRValue:
    """erfc of doubles from 0.6 to 6, to some units: e^(-x^2) times a polynomial in (x - 3) / (x + 3), over x + 3."""
    inverse = 1 / (x + 3)
    return exp_of_moderate(-x * x) * ((x - 3) * inverse).polynomial(ERFC["d"]) * inverse


def _complement(x: IRValue) -> IRValue:
    """The same from 0.6 to 28, and closer: with the errors of the sums, the products and the quotient."""
    below, lost = total(x, x.like(3))
    inverse = 1 / below
    back, rest = product(inverse, below)
    error = ((1 - back) - rest) - inverse * lost  # times the inverse, what that lacks
    u = (x - 3) * inverse
    u = u.mad(error, u)
    constant, *higher = ERFC["d"]
    varying, varying_low = product(u, u.polynomial(higher))
    value, value_low = ordered_total(u.like(constant), varying)
    factor, factor_low = product(value, inverse)
    factor_low += (varying_low + value_low) * inverse
    square, square_low = product(x, x)
    power, power_low, n = exp_pair(-square)
    y, y_low = product(power, factor)
    y_low += power.mad(factor_low, power_low * factor)
    return scaled(y + y.mad(error - square_low, y_low), n)


def erf(x: IRValue) -> IRValue:
    """The error function: a polynomial up to 1, then 1 - erfc."""
    size = abs(x)
    bounded = size.at_most(ERF_IS_ONE[x.kind])
    single = x.kind == "f"
    rest = exp_of_moderate(bounded.polynomial(LOG_ERFC["f"])) if single else _small_complement(bounded)
    return (size < 1).select(_near(x), (1 - rest).copysign(x))


def erfc(x: IRValue) -> IRValue:
    """1 - erf(x), exact far out; of floats in doubles, by the rational function of `erfc_of_singles`."""
    size = abs(x)
    if x.kind == "f":
        size = size.at_most(float(NONE_FOR_SINGLES)).to("d")
        over, under = (size.polynomial(part[::-1]) for part in ERFCX_FOR_SINGLES)
        tail = exp_of_moderate(-size * size) * over / under
        return (x < 0).select(2 - tail, tail).to("f")
    far = _complement(size.at_most(ERFC_IS_ZERO))
    return (size < 0.6).select(1 - _near(x), (x < 0).select(2 - far, far))


def _quantile(x: IRValue) -> IRValue:
    """The inverse of erf, of doubles, to some units in the last place: Wichura's quotients, see `_error_functions`."""
    half = 0.5 * x
    inner, root = abs(half) <= 0.425, (-log(0.5 - abs(half))).sqrt()
    middle = root <= 5
    place = 0.180625 - half * half, root - 1.6, root - 5
    over, under = (
        [y.polynomial(parts[i][::-1]) for y, parts in zip(place, (NORMAL, NORMAL_MIDDLE, NORMAL_FAR), strict=True)]
        for i in (0, 1)
    )
    above = inner.select(half * over[0], middle.select(over[1], over[2]).copysign(x))
    return ROOT_HALF * above / inner.select(under[0], middle.select(under[1], under[2]))


def erfinv(x: IRValue) -> IRValue:
    """The inverse of erf; NaN beyond 1. Doubles are improved by a step of Newton's method."""
    ends = abs(x) == 1
    if x.kind == "f":
        return ends.select(x * math.inf, _quantile(x.to("d")).to("f"))
    y = _quantile(x)
    size = abs(y)
    error = (size < 1).select(_near(size) - abs(x), (1 - abs(x)) - _small_complement(size))
    better = size - error * (math.sqrt(math.pi) / 2) * exp_of_moderate(size * size)
    return ends.select(x * math.inf, better.copysign(x))
