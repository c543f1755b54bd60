"""Derivatives of any order of the incomplete gamma and beta functions with respect to their shape parameters.

Both functions are integrals of a density over one of its tails. A derivative of the density with respect to a shape is
the density times a polynomial in the derivatives of its logarithm (`moment`), so a derivative of the function is
another integral. With the logarithm or the log-odds of t as the variable, the logarithm of the integrand is concave. Of
the two tails, the one on the side of x away from the mode is used: there the integrand only decreases, from a known
slope and curvature to negligible values at a known distance. The trapezoidal rule is applied in the logarithm of the
distance, transformed so that the near end vanishes doubly exponentially (H. Takahasi and M. Mori, "Double exponential
formulas for numerical integration", 1974); it converges exponentially. For x up to 1 the incomplete gamma function is
computed by its power series (8.7.1 of the NIST Digital Library of Mathematical Functions).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from . import scipy
from .gamma_functions import LARGE, lgamma, polygamma, stirling_correction

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Array, Same, Threshold

STEP = 0.06  # of the trapezoidal rule
NEGLIGIBLE = 45.0  # exp(-45) is negligible compared to 1
BLOCK: Threshold = 256  # the number of integrals computed at a time


def moment(order: tuple[int, int], slope: Callable[[int, int], Same]) -> Same | float:
    """A derivative of exp(f(a, b)) divided by exp(f), from f's derivatives `slope(i, j)`: Bell's polynomials."""
    i, j = order
    if i == j == 0:
        return 1.0
    if i == 0:
        return sum(math.comb(j - 1, q) * moment((0, j - 1 - q), slope) * slope(0, q + 1) for q in range(j))
    return sum(
        math.comb(i - 1, p) * math.comb(j, q) * moment((i - 1 - p, j - q), slope) * slope(p + 1, q)
        for p in range(i)
        for q in range(j + 1)
    )


def _integral(integrand: Callable[[Array], Array], scale: Array, end: Array, step: float = STEP) -> Array:
    """The integral from 0 to `end` of a function that varies on the length `scale`, for columns; beyond, it is 0."""
    farthest = np.log(end / scale).max() + 0.1
    u = np.arange(-3.7, farthest, step)
    bend = np.exp(-u)
    s = scale * np.exp(u - bend)
    total: Array = (integrand(s) * (s * (1 + bend))).sum(axis=-1)
    return total * step


def _in_blocks(function: Callable[..., Array], *arrays: Array) -> Array:
    """A function of columns, applied to the elements of flat arrays in blocks."""
    size = arrays[0].size
    parts = [function(*(array[i : i + BLOCK, None] for array in arrays)) for i in range(0, size, BLOCK)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _times_shape(order: int, shape: Array, derivative: Callable[[int], Array]) -> Array:
    """The derivative with respect to a shape of the shape times a function whose derivatives are given."""
    return shape[:, 0] * derivative(order) + (order * derivative(order - 1) if order else 0)


def _polygammas(x: Array, count: int) -> list[Array]:
    return [polygamma(x, n=n) for n in range(count)]


def _above_logarithm(d: Array, ratio: Array) -> Array:
    """d - log(1 + d); `ratio` is 1 + d, which is more accurate than 1 + d itself if it is small."""
    return d - np.where(ratio < 0.5, np.log(ratio), np.log1p(d))


# The incomplete gamma function


def gammainc_by_shape(a: Array, x: Array, *, order: int) -> Array:
    """The derivative of the regularized lower incomplete gamma function with respect to a, of order 1 or more."""
    a, x = np.broadcast_arrays(a, x)
    shape, a, x = a.shape, a.ravel(), x.ravel()
    out = np.full(a.size, np.nan)
    proper = (a >= 0) & (a < np.inf)
    out[proper & ((x == 0) | (x == np.inf))] = 0
    proper &= (x > 0) & (x < np.inf)
    for mask, function in (
        (proper & (x <= 1), _gamma_series),
        (proper & (x > 1) & (x < a), _gamma_below),
        (proper & (x > 1) & (x >= a), _gamma_above),
    ):
        if mask.any():
            out[mask] = _in_blocks(lambda a, x, function=function: function(a, x, order), a[mask], x[mask])
    return out.reshape(shape)


def _gamma_front(a: Array, x: Array) -> Array:
    """x ** a * exp(-x) / gamma(a + 1); for large a by Stirling's series, whose large terms cancel."""
    d = (x - a) / a
    large = np.exp(-a * _above_logarithm(d, x / a) - stirling_correction(a)) / np.sqrt(2 * math.pi * a)
    return np.where(a >= LARGE, large, np.exp(a * np.log(x) - x - lgamma(a + 1)))


def _gamma_series(a: Array, x: Array, order: int) -> Array:
    """x ** a / gamma(a + 1) times the sum of (-x) ** k / k! * a / (a + k), by the product rule."""
    psi = _polygammas(a + 1, order)
    front = np.exp(a * np.log(x) - lgamma(a + 1))
    k = np.arange(1, 22)
    powers = np.cumprod(-x / k, axis=-1)
    total = np.zeros(a.shape[0])
    for j in range(order + 1):
        outer = front * moment((j, 0), lambda i, _: np.log(x) - psi[0] if i == 1 else -psi[i - 1])
        n = order - j
        rest = (powers * (a / (a + k) if n == 0 else -k * (-1.0) ** n * math.factorial(n) / (a + k) ** (n + 1))).sum(-1)
        total += math.comb(order, j) * outer[:, 0] * (rest + (n == 0))
    return total


def _gamma_tail(a: Array, x: Array, order: int, side: int, end: Array) -> Array:
    """A derivative of the integral over the tail below x (side -1) or above x (side 1)."""
    psi = _polygammas(a + 1, order)
    front = _gamma_front(a, x)
    scale = 1 / (np.abs(a - x) + np.sqrt(x))
    log = np.log(x)

    def derivative(order: int) -> Array:
        def integrand(s: Array) -> Array:
            density = np.exp(side * a * s - x * np.expm1(side * s))
            factor = moment((order, 0), lambda i, _: log + side * s - psi[0] if i == 1 else -psi[i - 1])
            return density * factor

        return front[:, 0] * _integral(integrand, scale, end)

    return _times_shape(order, a, derivative)


def _gamma_below(a: Array, x: Array, order: int) -> Array:
    return _gamma_tail(a, x, order, -1, (NEGLIGIBLE + x) / a)


def _gamma_above(a: Array, x: Array, order: int) -> Array:
    end = np.minimum(np.sqrt(2 * NEGLIGIBLE / x), NEGLIGIBLE / np.maximum(x - a, 1e-300))
    return -_gamma_tail(a, x, order, 1, end)


# The incomplete beta function


def betainc_by_shapes(a: Array, b: Array, x: Array, *, order: tuple[int, int]) -> Array:
    """A derivative of the regularized incomplete beta function with respect to a and b, of orders not both 0."""
    a, b, x = np.broadcast_arrays(a, b, x)
    shape, a, b, x = a.shape, a.ravel(), b.ravel(), x.ravel()
    out = np.full(a.size, np.nan)
    proper = (a > 0) & (b > 0) & (a < np.inf) & (b < np.inf)
    out[proper & ((x == 0) | (x == 1))] = 0
    proper &= (x > 0) & (x < 1)
    lower = proper & (x <= a / (a + b))
    upper = proper & ~lower
    rest = 1 - x
    if lower.any():
        tail = (array[lower] for array in (a, b, x, rest))
        out[lower] = _in_blocks(lambda a, b, x, rest: _beta_tail(a, b, x, rest, *order), *tail)
    if upper.any():
        tail = (array[upper] for array in (b, a, rest, x))
        out[upper] = -_in_blocks(lambda a, b, x, rest: _beta_tail(a, b, x, rest, *order[::-1]), *tail)
    return out.reshape(shape)


def _logarithms(x: Array, rest: Array) -> tuple[Array, Array]:
    """The logarithms of x and rest = 1 - x, each computed from the smaller of the two."""
    near = x < 0.5
    return np.where(near, np.log(x), np.log1p(-rest)), np.where(near, np.log1p(-x), np.log(rest))


def _beta_front(a: Array, b: Array, x: Array, rest: Array) -> Array:
    """x ** a * (1 - x) ** b / (a * beta(a, b)); for two large shapes by Stirling's series, whose large terms cancel."""
    log_x, log_rest = _logarithms(x, rest)
    plain = np.exp(a * log_x + b * log_rest - scipy.special().betaln(a, b)) / a
    n = a + b
    d = x - a / n
    correction = stirling_correction(n) - stirling_correction(a) - stirling_correction(b)
    logarithm = correction - a * _above_logarithm(d * n / a, x * n / a) - b * _above_logarithm(-d * n / b, rest * n / b)
    large = np.exp(logarithm) * np.sqrt(b / (2 * math.pi * n * a))
    return np.where(np.minimum(a, b) >= LARGE, large, plain)


def _rise(x: Array, by: Array, n: int) -> Array:
    """polygamma(x + by) - polygamma(x); for a small step by Gauss quadrature of the derivative."""
    if not (by < x / 4).any():
        return polygamma(x + by, n=n) - polygamma(x, n=n)
    places, weights = np.polynomial.legendre.leggauss(8)
    small = np.minimum(by, x / 4)
    short = (polygamma(x + small * ((places + 1) / 2), n=n + 1) * weights).sum(axis=-1, keepdims=True) * small / 2
    return np.where(by < x / 4, short, polygamma(x + by, n=n) - polygamma(x, n=n))


def _beta_tail(a: Array, b: Array, x: Array, rest: Array, i: int, j: int) -> Array:
    """A derivative of the integral over the tail below x; rest is 1 - x."""
    n = a + b
    psi_a, psi_n = (_polygammas(shape, i + j) for shape in (a + 1, n))
    rise = [_rise(b, a, m) for m in range(i + j)]
    log_x, log_rest = _logarithms(x, rest)
    scale = 1 / (np.maximum(a - n * x, 0) + np.sqrt(n * x * rest) + 1)
    end = np.minimum((NEGLIGIBLE - n * log_rest) / a, 1e300)
    step = min(STEP, 0.3 / max((log_x - log_rest).max(), 1))  # the integrand bends at a rate given by its log-odds
    front = _beta_front(a, b, x, rest)

    def derivative(i: int) -> Array:
        def integrand(s: Array) -> Array:
            shrunk = np.where(s < 0.5, np.log1p(x * np.expm1(-s)), np.log(rest + x * np.exp(-s)))

            def slope(p: int, q: int) -> Array:
                if p == 0:
                    return rise[q - 1] + (log_rest - shrunk if q == 1 else 0)
                own = psi_n[p + q - 1] - (psi_a[p - 1] if q == 0 else 0)
                return own + log_x - s - shrunk if (p, q) == (1, 0) else own

            return np.exp(-a * s - n * shrunk) * moment((i, j), slope)

        return front[:, 0] * _integral(integrand, scale, end, step)

    return _times_shape(i, a, derivative)
