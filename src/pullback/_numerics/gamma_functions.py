"""The gamma function's logarithm and its derivatives in vectorised NumPy: lgamma, digamma, polygamma, Hurwitz's zeta.

The formulas are those of the NIST Digital Library of Mathematical Functions: Stirling's series with its bound (5.11.1),
the series around 2 (5.7.3), reflection (5.5.3), the asymptotic series of digamma (5.11.2), polygamma from zeta
(25.11.12), and the summation formula of Euler and Maclaurin for zeta (25.11.28). Everything is computed in float64.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .error_functions import by_region, polynomial

Array = np.ndarray[Any, np.dtype[Any]]

LARGE = 10.0  # from here on, the asymptotic series with TERMS terms are accurate
TERMS = 10
STEPS = np.arange(LARGE)
FEW = 1 << 10  # up to this size all steps are computed at once; more would exceed the cache

# Constants of the formulas as arrays, with which NumPy computes 100 others in half the time.
ZERO, HALF, ONE, TWO, SIX, SEVEN, EIGHT, TEN, TWELVE = map(np.array, (0.0, 0.5, 1.0, 2.0, 6.0, 7.0, 8.0, 10.0, 12.0))
STIRLING = np.array((math.log(2 * math.pi) - 1) / 2)


@functools.cache
def bernoulli(count: int) -> tuple[Fraction, ...]:
    """The Bernoulli numbers B2, B4, ... of even index."""
    numbers = [Fraction(1)]
    for m in range(1, 2 * count + 1):
        numbers.append(-sum((math.comb(m + 1, k) * number for k, number in enumerate(numbers)), Fraction(0)) / (m + 1))
    return tuple(numbers[2::2])


@functools.cache
def _around_two() -> tuple[float, ...]:
    """The coefficients of lgamma(2 + z), the highest power first: 1 - Euler's constant, then (zeta(k) - 1) (-1)^k / k."""
    powers = np.arange(30, 1, -1.0)
    zetas = zeta(powers, np.full(powers.shape, 2.0))
    return (*(zetas * (-1) ** powers / powers).tolist(), 1 - 0.57721566490153286061, 0.0)


@functools.cache
def _stirling(terms: int) -> tuple[float, ...]:
    return tuple(float(b / (2 * k * (2 * k - 1))) for k, b in reversed(list(enumerate(bernoulli(terms), 1))))


@functools.cache
def _digamma_series(terms: int) -> tuple[float, ...]:
    return (*(float(-b / (2 * k)) for k, b in reversed(list(enumerate(bernoulli(terms), 1)))), 0.0)


def stirling_correction(x: Array, terms: int = TERMS) -> Array:
    """lgamma(x) minus its leading terms (x - 1/2) log(x) - x + log(2 pi) / 2, for x >= LARGE."""
    return polynomial(ONE / (x * x), _stirling(terms)) / x


def _lgamma_far(x: Array, terms: int = TERMS) -> Any:
    """lgamma for x >= LARGE."""
    y = np.log(x)
    y -= ONE
    y *= x - HALF
    y += STIRLING
    y += stirling_correction(x, terms)
    return y


def _lgamma_near(x: Array) -> Any:
    """lgamma for x from 0 to LARGE, by recurrence from the argument near 2 with the same fraction."""
    whole = np.rint(x)
    factors = np.where(whole == 0, x * (1 + x), np.where(whole == 1, x, 1))
    if x.size <= FEW:
        taken = STEPS[1:-1] <= whole[..., None] - 2
        factors *= np.where(taken, x[..., None] - STEPS[1:-1], 1).prod(-1)
    else:
        for k in STEPS[1:-1]:
            factors *= np.where(whole - 2 >= k, x - k, 1)
    z = x - whole
    return polynomial(z, _around_two()) + np.where(whole < 2, -1, 1) * np.log(factors)


def lgamma(x: Any) -> Array:
    """The logarithm of the absolute value of the gamma function; inf at 0 and at the negative integers.

    Accurate to 4 units in the last place above 0; below 0, to 1e-15 times the larger of 1 and the result.
    """
    x = np.asarray(x)

    def reflected(x: Array) -> Array:
        return math.log(math.pi) - np.log(np.abs(np.sin(math.pi * (x - np.rint(x))))) - lgamma(1 - x)

    return by_region(
        x,
        (x >= LARGE, _lgamma_far),
        ((x >= 0) & (x < LARGE), _lgamma_near),
        ((x < 0) & (x > -np.inf), reflected),
        (x == -np.inf, np.negative),
    )


def _digamma_far(x: Array, terms: int = TERMS) -> Array:
    y = np.log(x)
    y -= HALF / x
    y += polynomial(ONE / (x * x), _digamma_series(terms))
    return y


def _sum_of_steps(function: Callable[[Array], Any], x: Array) -> Any:
    """The sum of a function at x, x + 1, ... below LARGE."""
    if x.size <= FEW:
        return function(x[..., None] + STEPS).sum(-1)
    total = function(x + STEPS[-1])
    for k in STEPS[-2::-1]:
        total += function(x + k)
    return total


def _digamma_near(x: Array) -> Any:
    return _digamma_far(x + LARGE) - _sum_of_steps(np.reciprocal, x)


def digamma(x: Any) -> Array:
    """The derivative of lgamma; NaN at the negative integers, infinite at 0, with the sign of -x."""
    x = np.asarray(x)

    def reflected(x: Array) -> Array:
        fraction = x - np.rint(x)
        cotangent = 1 / np.tan(math.pi * np.where(fraction == 0, np.nan, fraction))
        return digamma(1 - x) - math.pi * cotangent

    return by_region(
        x,
        (x >= LARGE, _digamma_far),
        ((x >= 0) & (x < LARGE), lambda x: np.where(x == 0, np.copysign(np.inf, -x), _digamma_near(x))),
        (x < 0, reflected),
    )


# For arguments converted from float32 the result is rounded to float32, so less accuracy is needed. All positive ones
# are shifted by 8, where few terms of the asymptotic series suffice: x (x + 1) ... (x + 7) is u (u + 6) (u + 10) (u +
# 12) with u = x (x + 7).

COMMON = 1e30  # these products are finite below


def _lgamma_moved(x: Array) -> Any:
    u = x * (x + SEVEN)
    moved = _lgamma_far(x + EIGHT, terms=7)
    moved -= np.log(u * (u + SIX) * (u + TEN) * (u + TWELVE))
    return np.where((x == ONE) | (x == TWO), ZERO, moved)


def _digamma_moved(x: Array) -> Any:
    u = x * (x + SEVEN)
    steps = ONE / u
    for k in (SIX, TEN, TWELVE):
        steps += ONE / (u + k)
    steps *= x + x + SEVEN
    return _digamma_far(x + EIGHT, terms=6) - steps


def _of_singles(x: Array, moved: Callable[[Array], Any], other: Callable[[Array], Any]) -> Any:
    """A function by the formula for common numbers where they are; `other` for the remaining ones."""
    if x.size and np.minimum.reduce(x, None) > 0 and np.maximum.reduce(x, None) < COMMON:
        return moved(x)
    common = (x > 0) & (x < COMMON)
    return by_region(x, (common, moved), (~common, other))


def lgamma_of_singles(x: Array) -> Any:
    """lgamma of numbers converted from float32, to 2 float32 units in the last place above 0."""
    return _of_singles(x, _lgamma_moved, lgamma)


def digamma_of_singles(x: Array) -> Any:
    """digamma of numbers converted from float32, to 1 float32 unit in the last place, and to 1e-14, above 0."""
    return _of_singles(x, _digamma_moved, digamma)


def polygamma(x: Any, *, n: int) -> Array:
    """The n-th derivative of digamma; infinite at 0 and the negative integers, where digamma itself is NaN."""
    if n == 0:
        return digamma(x)
    x = np.asarray(x)
    return by_region(x, (x >= 0, lambda x: _polygamma_above(x, n)), (x < 0, lambda x: _polygamma_below(x, n)))


def _polygamma_above(x: Array, n: int) -> Any:
    values = _zeta_of_whole(n + 1, x)
    scaled = values * math.factorial(n) if n < 171 else np.exp(np.log(values) + math.lgamma(n + 1))
    return scaled if n % 2 else -scaled


@functools.cache
def euler_maclaurin(s: int) -> tuple[float, ...]:
    """The coefficients of the Euler-Maclaurin formula for zeta, highest power first."""
    rising = [math.prod(range(s, s + 2 * j - 1)) for j in range(1, TERMS + 1)]
    pairs = enumerate(zip(bernoulli(TERMS), rising, strict=True), 1)
    return tuple(reversed([float(number * factor / math.factorial(2 * j)) for j, (number, factor) in pairs]))


def _zeta_of_whole(s: int, q: Array) -> Any:
    """Hurwitz's zeta function for an integer s >= 2 and q >= 0."""
    a = q + LARGE
    power = a ** (1.0 - s)
    rest = power / (s - 1) + power / a * (0.5 + polynomial(1 / (a * a), euler_maclaurin(s)) / a)
    return rest + _sum_of_steps(lambda x: 1 / x**s, q)


@functools.cache
def cotangent_slopes(n: int) -> tuple[float, ...]:
    """The n-th derivative of the cotangent as a polynomial in the cotangent, highest power first."""
    terms = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(n):
        terms = -terms.deriv() * np.polynomial.Polynomial([1.0, 0.0, 1.0])
    return tuple(reversed(terms.coef.tolist()))


def _polygamma_below(x: Array, n: int) -> Array:
    """By reflection: (-1)^n psi_n(1 - x) - psi_n(x) is pi times the n-th derivative of cot(pi x)."""
    fraction = x - np.rint(x)
    cotangent = 1 / np.tan(math.pi * fraction)
    values = polynomial(cotangent, cotangent_slopes(n)) * math.pi ** (n + 1)
    regular = _polygamma_above(1 - x, n) * (-1) ** n - values
    return np.where(fraction == 0, np.inf if n % 2 else -np.inf, regular)


def zeta(s: Any, q: Any, *, order: int = 0) -> Array:
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


def _zeta(s: Array, q: Array, order: int) -> Any:
    total = np.zeros(q.shape)
    while (low := q < 0).any():
        total[low] += q[low] ** -s[low]
        q = np.where(low, q + 1, q)
    terms = [(q + k) ** -s * (-np.log(q + k)) ** order for k in range(int(LARGE))]
    rest = _zeta_rest(s, q + LARGE, order)
    for term in reversed(terms):
        rest += term
    return total + rest


def _zeta_rest(s: Array, a: Array, order: int) -> Any:
    """The terms of the series from a on, by the Euler-Maclaurin formula, as a truncated power series around s."""

    def times(series: list[Any], factor: Array) -> list[Any]:
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
