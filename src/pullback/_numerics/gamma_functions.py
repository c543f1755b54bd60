"""The gamma function's logarithm and its derivatives: lgamma, digamma, polygamma, Hurwitz's zeta.

For large numbers lgamma and digamma are asymptotic series (5.11.1 and 5.11.2 of the NIST Digital Library of Mathematical
Functions); below, the recurrence leads to a polynomial between 1 and 2.5; negative numbers are reflected (5.5.3 and 5.5.4).
polygamma is zeta (25.11.12), and that the summation formula of Euler and Maclaurin (25.11.28). Everything is computed in
float64. The functions with an `xp` are machine code as well: see `arrays`.
"""

from __future__ import annotations

import functools
import math
import operator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .arrays import ARRAYS
from .coefficients import DIGAMMA, DIGAMMA_ROOT, DIGAMMA_SERIES, LGAMMA, SIN_PI, STIRLING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, Numeric
    from .arrays import Formulas

LARGE, LARGE_FOR_SLOPE = 10, 6  # from here on, the asymptotic series are accurate
TERMS = 10
TINY = 2.0**-60
STIRLING_CONSTANT = (math.log(2 * math.pi) - 1) / 2
FACTORIALS = 171  # their factorial is infinite


@functools.cache
def bernoulli(count: int) -> tuple[Fraction, ...]:
    """The Bernoulli numbers B2, B4, ... of even index."""
    numbers = [Fraction(1)]
    for m in range(1, 2 * count + 1):
        numbers.append(-sum((math.comb(m + 1, k) * number for k, number in enumerate(numbers)), Fraction(0)) / (m + 1))
    return tuple(numbers[2::2])


def _sin_pi(r: Numeric, xp: Formulas) -> Numeric:
    """sin(pi r) for |r| up to 1/2."""
    return r * xp.polynomial(r * r, SIN_PI["d"])


def _complement(x: Numeric) -> Numeric:
    return 1 - x


def _cot_pi(fraction: Numeric, xp: Formulas) -> Numeric:
    """cot(pi r) for |r| up to 1/2."""
    return _sin_pi(0.5 - abs(fraction), xp) / _sin_pi(fraction, xp)


def stirling_correction(x: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """lgamma(x) minus its leading terms (x - 1/2) log(x) - x + log(2 pi) / 2, for x >= LARGE; for singles from 8 on."""
    inverse = 1 / x
    return inverse * xp.polynomial(inverse * inverse, STIRLING["d"])


def _lgamma_far(x: Numeric, xp: Formulas) -> Numeric:
    """lgamma for x >= LARGE."""
    return (x - 0.5) * (xp.log(x) - 1) + (stirling_correction(x, xp) + STIRLING_CONSTANT)


def _lgamma_near(x: Numeric, xp: Formulas) -> Numeric:
    """lgamma for x from 0 to LARGE.

    From 1 to 2.5 it is a polynomial times its zeros, z and z + 1. Below 1 it is that at x + 1, less log(x); above 2.5 that
    at a number with the same fraction between 1 and 2, and the logarithm of the factors between.
    """
    reached = xp.where(x < 2.5, xp.minimum(x, 1), x)
    factors = xp.minimum(reached, 1)
    for k in range(1, LARGE - 1):
        factors *= xp.maximum(reached - k, 1)
    z = (x - 1) - xp.floor(reached)
    return xp.multiply_add(z * (z + 1), xp.polynomial(z, LGAMMA["d"]), abs(xp.log(factors)))


def _lgamma_below(x: Numeric, above: Numeric, xp: Formulas) -> Numeric:
    """lgamma of negative x, from that of -x, to which it is equal next to 0."""
    found = xp.log(math.pi / abs(x * _sin_pi(x - xp.rint(x), xp))) - above
    return xp.where((x > -TINY) | (x == -math.inf), above, found)


def lgamma(x: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """The logarithm of the absolute value of the gamma function; inf at 0 and at the negative integers.

    Accurate to 4 units in the last place above 0; below 0, to 16 of the larger of 1 and the result.
    """

    def above(x: Numeric) -> Numeric:
        return xp.choose(x < LARGE, lambda x: _lgamma_near(x, xp), lambda x: _lgamma_far(x, xp), x)

    return xp.reflect(x, operator.neg, above, lambda x, above: _lgamma_below(x, above, xp))


def _digamma_far(x: Numeric, xp: Formulas) -> Numeric:
    inverse = 1 / x
    square = inverse * inverse
    return xp.log(x) - (0.5 * inverse + square * xp.polynomial(square, DIGAMMA_SERIES["d"]))


def _digamma_near(x: Numeric, xp: Formulas) -> Numeric:
    """digamma for x from 0 to LARGE_FOR_SLOPE: by a polynomial between 1 and 2, and the sum of 1 / (x - k) down to there."""
    whole = xp.floor(x)
    y = x - (whole - 1)
    over, under = xp.minimum(whole - 1, 0), xp.minimum(x, 1)  # below 1 it is -1 / x
    for k in range(1, LARGE_FOR_SLOPE - 1):
        term, counts = xp.maximum(x - k, 1), xp.minimum(xp.maximum(whole - k, 0), 1)
        over = xp.multiply_add(over, term, under * counts)
        under *= term
    root, rest = DIGAMMA_ROOT["d"]
    return ((y - root) - rest) * xp.polynomial(y - 2, DIGAMMA["d"]) + over / under


def _digamma_below(x: Numeric, above: Numeric, xp: Formulas) -> Numeric:
    """digamma of negative x, from that of 1 - x; NaN at the negative integers."""
    fraction = x - xp.rint(x)
    return above - math.pi * _cot_pi(xp.where(fraction == 0, math.nan, fraction), xp)


def digamma(x: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """The derivative of lgamma; NaN at the negative integers, infinite at 0, with the sign of -x."""

    def above(x: Numeric) -> Numeric:
        return xp.choose(x < LARGE_FOR_SLOPE, lambda x: _digamma_near(x, xp), lambda x: _digamma_far(x, xp), x)

    return xp.reflect(x, _complement, above, lambda x, above: _digamma_below(x, above, xp))


# For arguments converted from float32 the result is rounded to float32, so less accuracy is needed. All positive ones
# are shifted to where the asymptotic series suffice: x (x + 1) ... (x + 7) is u times EIGHT in u = x (x + 7), and x (x + 1) ...
# (x + 5) is u times SIX in u = x (x + 5), of which the logarithm has the slope (2 x + 5) SIX_SLOPE / (u SIX).

EIGHT, SIX, SIX_SLOPE = (720.0, 252.0, 28.0, 1.0), (24.0, 10.0, 1.0), (24.0, 20.0, 3.0)
COMMON = 1e30  # these products are finite below, and make no difference beyond


def lgamma_of_singles(x: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """lgamma of numbers converted from float32, to 2 float32 units in the last place above 0."""

    def above(x: Numeric) -> Numeric:
        common = xp.minimum(x, COMMON)
        u = common * (common + 7)
        moved = _lgamma_far(x + 8, xp) - xp.log(u * xp.polynomial(u, EIGHT))
        return xp.where((x == 1) | (x == 2), 0, moved)

    return xp.reflect(x, operator.neg, above, lambda x, above: _lgamma_below(x, above, xp))


def digamma_of_singles(x: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """digamma of numbers converted from float32, to 1 float32 unit in the last place, and to 1e-14, above 0."""

    def above(x: Numeric) -> Numeric:
        common = xp.minimum(x, COMMON)
        u = common * (common + 5)
        steps = (common + common + 5) * xp.polynomial(u, SIX_SLOPE) / (u * xp.polynomial(u, SIX))
        return _digamma_far(x + 6, xp) - steps

    return xp.reflect(x, _complement, above, lambda x, above: _digamma_below(x, above, xp))


def polygamma(x: Numeric, *, n: int, xp: Formulas = ARRAYS) -> Numeric:
    """The n-th derivative of digamma; infinite at 0 and the negative integers, where digamma itself is NaN."""
    if n == 0:
        return digamma(x, xp)

    def below(x: Numeric, above: Numeric) -> Numeric:
        """(-1)^n psi_n(1 - x) - psi_n(x) is pi times the n-th derivative of cot(pi x)."""
        fraction = x - xp.rint(x)
        slope = xp.polynomial(_cot_pi(fraction, xp), cotangent_slopes(n)) * math.pi ** (n + 1)
        return xp.where(fraction == 0, math.inf if n % 2 else -math.inf, above * (-1.0) ** n - slope)

    return xp.reflect(x, _complement, lambda x: _polygamma_above(x, n, xp), below)


def _polygamma_above(x: Numeric, n: int, xp: Formulas) -> Numeric:
    values = _zeta_of_whole(n + 1, x, xp)
    scaled = values * float(math.factorial(n)) if n < FACTORIALS else xp.exp(xp.log(values) + math.lgamma(n + 1))
    return scaled if n % 2 else -scaled


@functools.cache
def euler_maclaurin(s: int) -> tuple[float, ...]:
    """The coefficients of the Euler-Maclaurin formula for zeta, the constant first."""
    rising = [math.prod(range(s, s + 2 * j - 1)) for j in range(1, TERMS + 1)]
    pairs = enumerate(zip(bernoulli(TERMS), rising, strict=True), 1)
    return tuple(float(number * factor / math.factorial(2 * j)) for j, (number, factor) in pairs)


def _to_the(x: Numeric, power: int) -> Numeric:
    """x to a whole power from 1 on."""
    half = x if power < 2 else _to_the(x, power // 2)
    return half if power < 2 else half * half * x if power % 2 else half * half


def _zeta_of_whole(s: int, q: Numeric, xp: Formulas) -> Numeric:
    """Hurwitz's zeta function for an integer s >= 2 and q >= 0."""
    inverse = 1 / (q + LARGE)
    power = _to_the(inverse, s - 1)
    correction = inverse * xp.polynomial(inverse * inverse, euler_maclaurin(s))
    rest = power / (s - 1) + power * inverse * (correction + 0.5)
    return rest + xp.sum_of_steps(lambda x: 1 / _to_the(x, s), q, LARGE)


@functools.cache
def cotangent_slopes(n: int) -> tuple[float, ...]:
    """The n-th derivative of the cotangent as a polynomial in the cotangent, the constant first."""
    terms = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(n):
        terms = -terms.deriv() * np.polynomial.Polynomial([1.0, 0.0, 1.0])
    return tuple(terms.coef.tolist())


def zeta(s: Array, q: Array, *, order: int = 0) -> Array:
    """Hurwitz's zeta function, the sum of (q + k) ** -s over k from 0, or a derivative of it with respect to s.

    inf at s = 1 and where q is 0 or a negative integer; NaN for s below 1, and for negative q unless s is an integer.
    """
    s, q = np.broadcast_arrays(s, q)
    defined = (s > 1) & ((q > 0) | ((s == np.floor(s)) & (order == 0)) | (q == np.floor(q)))
    infinite = (s == 1) | (defined & (q <= 0) & (q == np.floor(q)))
    chosen = defined & ~infinite
    out = np.where(infinite, np.inf if order % 2 == 0 else -np.inf, np.nan)
    if chosen.any():
        out[chosen] = _zeta(s[chosen], q[chosen], order)
    return out


def _zeta(s: Array, q: Array, order: int) -> Array:
    total = np.zeros(q.shape)
    while (low := q < 0).any():
        total[low] += q[low] ** -s[low]
        q = np.where(low, q + 1, q)
    terms = [(q + k) ** -s * (-np.log(q + k)) ** order for k in range(LARGE)]
    rest = _zeta_rest(s, q + LARGE, order)
    for term in reversed(terms):
        rest += term
    return total + rest


def _zeta_rest(s: Array, a: Array, order: int) -> Array:
    """The terms of the series from a on, by the Euler-Maclaurin formula, as a truncated power series around s."""

    def times(series: Sequence[Array | float], factor: Array) -> list[Array]:
        """The product of a power series and (factor + its variable) / a."""
        return [(factor * term + below) / a for term, below in zip(series, [0.0, *series], strict=False)]

    sums = [a / (s - 1) * (-1 / (s - 1)) ** r for r in range(order + 1)]
    sums[0] = sums[0] + 0.5
    rising = times([1.0, *[0.0] * order], s)
    for j, number in enumerate(bernoulli(TERMS), 1):
        weight = float(number / math.factorial(2 * j))
        sums = [total + weight * term for total, term in zip(sums, rising, strict=True)]
        rising = times(times(rising, s + 2 * j - 1), s + 2 * j)
    powers = [a**-s * (-np.log(a)) ** r / math.factorial(r) for r in range(order + 1)]
    return math.factorial(order) * sum(powers[order - r] * sums[r] for r in range(order + 1))
