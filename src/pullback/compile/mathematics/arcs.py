"""The inverses of sin, cos and tan."""

from __future__ import annotations

import math

from .coefficients import ARCSIN, ARCTAN, HALF_PI
from .lanes import IRValue

STEEP, FLAT = math.tan(3 * math.pi / 8), math.tan(math.pi / 8)  # where arctan changes its formula
HUGE = 2.0**1000  # sums of numbers below do not overflow


def _arctan_of_quotient(a: IRValue, b: IRValue, divisor: IRValue) -> IRValue:
    """arctan(a / b) of numbers from 0 on, of which b or `divisor`, which is b or 1 for b = 0, is not 0.

    Above tan(pi / 8), arctan(a / b) is pi / 4 + arctan((a - b) / (a + b)); above tan(3 pi / 8), pi / 2 - arctan(b / a).
    """
    steep, middle = a > STEEP * b, a > FLAT * b
    t = steep.select(-b, middle.select(a - b, a)) / steep.select(a, middle.select(a + b, divisor))
    high, low = HALF_PI[a.kind]
    base = steep.select(high, middle.select(high / 2, 0, a.kind))
    rest = steep.select(low, middle.select(low / 2, 0, a.kind))
    z = t * t
    return base + (t + (t * z).mad(z.polynomial(ARCTAN[a.kind]), rest))


def arctan(x: IRValue) -> IRValue:
    """The inverse of tan, between -pi / 2 and pi / 2."""
    size, one = abs(x), x.like(1)
    return _arctan_of_quotient(size, one, one).copysign(x)


def arctan_of_point(y: IRValue, x: IRValue) -> IRValue:
    """The angle of the point (x, y), of doubles: C99's atan2."""
    a, b = abs(y), abs(x)
    both = (a == math.inf) & (b == math.inf)
    scale = ((a > HUGE) | (b > HUGE)).select(0.25, 1, "d")
    a, b = both.select(1, a * scale), both.select(1, b * scale)
    angle = _arctan_of_quotient(a, b, ((a == 0) & (b == 0)).select(1, b))
    high, low = HALF_PI["d"]
    left = 2 * high - (angle - 2 * low)
    return (x.bits() < 0).select(left, angle).copysign(y)


def _half_arcsin(x: IRValue) -> tuple[IRValue, IRValue, IRValue]:
    """For |x| up to 1/2, |x|; else s = sqrt((1 - |x|) / 2), of which arcsin(|x|) is pi / 2 - 2 arcsin(s).

    With it what arcsin adds to it, and where |x| is above 1/2.
    """
    size = abs(x)
    outer = size > 0.5
    z = outer.select(0.5 - 0.5 * size, size * size)
    s = outer.select(z.sqrt(), size)
    return s, s * z * z.polynomial(ARCSIN["d"]), outer


def arcsin(x: IRValue) -> IRValue:
    """The inverse of sin, of doubles, between -pi / 2 and pi / 2; NaN beyond 1."""
    s, more, outer = _half_arcsin(x)
    high, low = HALF_PI["d"]
    return outer.select(high - (2 * (s + more) - low), s + more).copysign(x)


def arccos(x: IRValue) -> IRValue:
    """The inverse of cos, of doubles, between 0 and pi; NaN beyond 1."""
    s, more, outer = _half_arcsin(x)
    high, low = HALF_PI["d"]
    inner = high - (s.copysign(x) + (more.copysign(x) - low))
    double = 2 * (s + more)
    return outer.select((x < 0).select(2 * high - (double - 2 * low), double), inner)
