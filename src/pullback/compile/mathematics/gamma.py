"""The logarithm of the gamma function and its derivatives, of doubles.

For large numbers the asymptotic series (DLMF 5.11.1 and 5.11.2); below, the recurrence leads to a polynomial between 1 and
2.5; negative numbers are reflected (5.5.3 and 5.5.4). Derivatives above the first are Hurwitz's zeta function, as in
`_gamma_functions`.
"""

from __future__ import annotations

import math

from ..._numerics.gamma_functions import cotangent_slopes, euler_maclaurin
from .coefficients import DIGAMMA, DIGAMMA_ROOT, DIGAMMA_SERIES, LGAMMA, SIN_PI, STIRLING
from .lanes import IRValue
from .logarithms import log

LARGE, LARGE_FOR_SLOPE = 10, 6  # where the series begin
MOST_SLOPES = 16  # the highest derivative of digamma that has code: of higher ones, factors overflow
TINY = 2.0**-60
HALF_LOG_TWO_PI = math.log(2 * math.pi) / 2


def _sin_pi(r: IRValue) -> IRValue:
    """sin(pi r) for |r| up to 1/2."""
    return r * (r * r).polynomial(SIN_PI["d"])


def _lgamma_above(x: IRValue) -> IRValue:
    """lgamma of numbers from 0 on.

    From 1 to 2.5 it is a polynomial times its zeros, z and z + 1. Below 1 it is that at x + 1, less log(x); above 2.5 that
    at a number with the same fraction between 1.5 and 2.5, and the logarithm of the factors between.
    """
    under, whole = x < 1, x.at_most(LARGE).rint()
    z = x - under.select(1, (x < 2.5).select(2, whole))
    factors = under.select(x, 1)
    for k in range(1, LARGE - 1):
        factors = ((whole - 2 >= k) & (x >= 2.5)).select(factors * (x - k), factors)
    far = x >= LARGE
    logarithm = log(far.select(x, factors))
    near = (z * (z + 1)).mad(z.polynomial(LGAMMA["d"]), under.select(-logarithm, logarithm))
    inverse = 1 / x
    stirling = inverse * (inverse * inverse).polynomial(STIRLING["d"])
    return far.select((x - 0.5) * (logarithm - 1) + (HALF_LOG_TWO_PI - 0.5 + stirling), near)


def lgamma(x: IRValue) -> IRValue:
    """The logarithm of the absolute value of the gamma function; inf at 0 and at the negative whole numbers."""
    size = abs(x)
    above = _lgamma_above(size)
    sine = abs(_sin_pi(size - size.rint()))
    below = log(math.pi / (size * sine)) - above
    reflected = (x < 0) & (size > TINY)  # from there on, lgamma(x) is lgamma(-x), and the product might underflow
    return (size == math.inf).select(size, reflected.select(below, above))


def _digamma_above(x: IRValue) -> IRValue:
    """digamma of positive numbers: below LARGE_FOR_SLOPE the sum of 1 / (y + k) from the polynomial for y between 1 and 2."""
    far = x >= LARGE_FOR_SLOPE
    bounded = x.at_most(LARGE_FOR_SLOPE)
    steps = bounded.floor() - 1
    y = bounded - steps
    near = ((y - DIGAMMA_ROOT["d"][0]) - DIGAMMA_ROOT["d"][1]) * (y - 2).polynomial(DIGAMMA["d"])
    over, under = (steps < 0).select(-1, 0, "d"), (steps < 0).select(x, 1)
    for k in range(LARGE_FOR_SLOPE - 2):
        term = y + k
        counts = steps > k
        over, under = counts.select(over * term + under, over), counts.select(under * term, under)
    inverse = 1 / x
    series = inverse * inverse * (inverse * inverse).polynomial(DIGAMMA_SERIES["d"])
    return far.select(log(x) - (0.5 * inverse + series), near + over / under)


def digamma(x: IRValue) -> IRValue:
    """The derivative of lgamma; NaN at the negative whole numbers, infinite at 0, with the sign of -x."""
    below = x < 0
    above = _digamma_above(below.select(1 - x, x))
    fraction = x - x.rint()
    cotangent = _sin_pi(0.5 - abs(fraction)) / _sin_pi(fraction)
    reflected = (fraction == 0).select(math.nan, above - math.pi * cotangent)
    result = below.select(reflected, above)
    return (x == 0).select(x.like(-math.inf).copysign(-x), result)


def _to_the(x: IRValue, power: int) -> IRValue:
    """x to a whole power from 1 on."""
    half = x if power < 2 else _to_the(x, power // 2)
    return half if power < 2 else half * half * x if power % 2 else half * half


def _polygamma_above(x: IRValue, n: int) -> IRValue:
    """The n-th derivative of digamma, n from 1 on, for numbers from 0 on: (-1)^(n+1) n! times zeta(n + 1, x)."""
    inverse = 1 / (x + LARGE)
    power = _to_the(inverse, n)
    correction = inverse * (inverse * inverse).polynomial(tuple(reversed(euler_maclaurin(n + 1))))
    total = power * (1 / n) + power * inverse * (correction + 0.5)
    for k in range(LARGE - 1, -1, -1):
        total = total + _to_the(1 / (x + k), n + 1)
    return total * float(math.factorial(n) * (-1) ** (n + 1))


def polygamma(x: IRValue, n: int) -> IRValue:
    """The n-th derivative of digamma, n from 1 to MOST_SLOPES; infinite at 0 and at the negative whole numbers."""
    below = x < 0
    above = _polygamma_above(below.select(1 - x, x), n)
    fraction = x - x.rint()
    cotangent = _sin_pi(0.5 - abs(fraction)) / _sin_pi(fraction)
    slope = cotangent.polynomial(tuple(reversed(cotangent_slopes(n)))) * math.pi ** (n + 1)
    reflected = (fraction == 0).select(math.inf if n % 2 else -math.inf, above * (-1.0) ** n - slope)
    return below.select(reflected, above)
