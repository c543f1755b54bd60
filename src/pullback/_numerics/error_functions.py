"""The error function and its relatives: erf, erfc, erfcx, their inverses, and the normal CDF's.

erf and erfc are polynomials of `coefficients`, erfcx far out is a quotient of W. J. Cody, "Rational Chebyshev
approximations for the error function", Mathematics of Computation 23 (1969), pages 631-637; the inverse is algorithm AS 241
of M. J. Wichura, "The percentage points of the normal distribution", Applied Statistics 37 (1988), pages 477-484.
Everything is computed in float64. The functions with an `xp` are machine code as well: see `arrays`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from . import arrays
from .arrays import ARRAYS, choose, polynomial
from .coefficients import ERF, ERFC
from .pairs import ordered_total, total

if TYPE_CHECKING:
    from .._core.typing import Array, Numeric
    from .arrays import Formulas

NEAR, FAR = 0.6, 4.0  # erfc is 1 - erf up to the first; from the second on, erfcx is a quotient
ERF_IS_ONE, ERFC_IS_ZERO = 6.0, 28.0
ROOT_HALF = math.sqrt(0.5)
PER_ROOT_PI = 1 / math.sqrt(math.pi)
NONE_FOR_SINGLES = 11.0  # erfc is 0 in float32 from here on

# Coefficients, the constant first; of quotients those of the numerator, then those of the denominator.
SINGLES = (
    1.1283792471877514, 0.1027698641121487, -0.00019528813524974354, -0.0006148382619951565, 8.459658909344589e-05,
    -4.794605648813954e-06, 2.7576078037053403e-08, 5.421604304920818e-09,
)  # fmt: skip
ERFCX_FOR_SINGLES = (
    (
        55.00577773704878, 79.26080830718794, 55.50742624318298, 22.413746040448345, 5.195534769160769,
        0.5641889934835366,
    ),
    (
        55.00577774215383, 141.32818129099533, 159.9734390662881, 102.97438180215522, 40.2284473944019,
        9.208794258221825, 1.0,
    ),
)  # fmt: skip
ERFCX_FAR = (
    (
        0.0006587491615298378, 0.016083785148742275, 0.12578172611122926, 0.36034489994980445, 0.30532663496123236,
        0.016315387137302097,
    ),
    (
        0.0023352049762686918, 0.06051834131244132, 0.5279051029514285, 1.8729528499234673, 2.568520192289822, 1.0,
    ),
)  # fmt: skip
NORMAL = (
    (
        3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987,
        67265.7709270087, 33430.57558358813, 2509.0809287301227,
    ),
    (
        1.0, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
        28729.085735721943, 5226.495278852854,
    ),
)  # fmt: skip
NORMAL_MIDDLE = (
    (
        1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
        0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
    ),
    (
        1.0, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
        0.0005475938084995345, 1.0507500716444169e-09,
    ),
)  # fmt: skip
NORMAL_FAR = (
    (
        6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
        0.0012426609473880784, 2.7115555687434876e-05, 2.0103343992922881e-07,
    ),
    (
        1.0, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133,
        1.8463183175100548e-05, 1.421511758316446e-07, 2.0442631033899397e-15,
    ),
)  # fmt: skip


def _ratio(x: Numeric, parts: tuple[tuple[float, ...], tuple[float, ...]], xp: Formulas = ARRAYS) -> Numeric:
    return xp.polynomial(x, parts[0]) / xp.polynomial(x, parts[1])


def erf_near(x: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """erf for |x| up to 1."""
    return xp.multiply_add(x, xp.polynomial(x * x, ERF["d"]), x)


def erfc_beyond(x: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """erfc from 1 to 6, to some units in the last place: e^(-x^2) times a polynomial in (x - 3) / (x + 3), over x + 3."""
    return xp.exp(-x * x) * _scaled(x, xp)


def _scaled(x: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """erfcx from NEAR to 28."""
    inverse = 1 / (x + 3)
    return xp.polynomial((x - 3) * inverse, ERFC["d"]) * inverse


def _complement(x: Numeric, xp: Formulas) -> Numeric:
    """erfc from NEAR to 28, with the errors of the sums, the products and the quotient."""
    below, lost = total(x, 3)
    inverse = 1 / below
    back, rest = xp.product(inverse, below)
    error = ((1 - back) - rest) - inverse * lost  # times the inverse, what that lacks
    u = (x - 3) * inverse
    u = xp.multiply_add(error, u, u)
    constant, *higher = ERFC["d"]
    value, value_low = ordered_total(constant, u * xp.polynomial(u, tuple(higher)))
    factor, factor_low = xp.product(value, inverse)
    square, square_low = xp.product(x, x)
    factor_low += xp.multiply_add(value_low, inverse, factor * (error - square_low))
    return xp.exp_times(-square, factor, factor_low)


def erf(x: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """The error function: a polynomial up to 1, then 1 - erfc."""

    def beyond(x: Numeric) -> Numeric:
        return xp.copysign(1 - erfc_beyond(xp.minimum(abs(x), ERF_IS_ONE), xp), x)

    return xp.choose(abs(x) < 1, lambda x: erf_near(x, xp), beyond, x)


def erf_of_singles(x: Array) -> Array:
    """The error function of float32, to 4 units in the last place: tanh(x * p(x * x)) with a polynomial p.

    tanh is the fastest of NumPy's functions with range (-1, 1). The coefficients are a least-squares fit of
    artanh(erf(x)) / x on [0, 3.93], beyond which erf is 1, with the weights adjusted until the relative errors of the
    result were level: 7e-8.
    """
    return np.tanh(x * polynomial(x * x, SINGLES))


def erfc_of_singles(x: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """erfc in float64 of numbers converted from float32: one rational function for all.

    It is a least-squares fit of erfcx on [0, NONE_FOR_SINGLES] to 1e-10, computed like that of erf. The square of a
    float32 number is exact in float64.
    """
    size = xp.minimum(abs(x), NONE_FOR_SINGLES)
    tail = xp.exp(-size * size) * _ratio(size, ERFCX_FOR_SINGLES, xp)
    return xp.copysign(tail, x) + (1 - xp.copysign(1.0, x))  # 2 - tail below 0


def erfc(x: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """1 - erf(x), with full relative accuracy for large x."""

    def beyond(x: Numeric) -> Numeric:
        tail = _complement(xp.minimum(abs(x), ERFC_IS_ZERO), xp)
        return xp.copysign(tail, x) + (1 - xp.copysign(1.0, x))  # 2 - tail below 0

    return xp.choose(abs(x) < NEAR, lambda x: 1 - erf_near(x, xp), beyond, x)


def _erfcx_far(x: Array) -> Array:
    z = 1 / (x * x)
    return (PER_ROOT_PI - z * _ratio(z, ERFCX_FAR)) / x


def _erfcx_near(x: Array) -> Array:
    """erfcx up to NEAR."""

    def below(x: Array) -> Array:
        square, lost = arrays.product(x, x)
        return 2 * (np.exp(square) * (1 + lost)) - erfcx(-x)

    return choose(x < -NEAR, lambda x: below(np.maximum(x, -30)), lambda x: np.exp(x * x) * (1 - erf_near(x)), x)


def erfcx(x: Array) -> Array:
    """exp(x * x) * erfc(x), without the underflow of erfc."""
    return choose(x > NEAR, lambda x: choose(x > FAR, _erfcx_far, _scaled, x), _erfcx_near, x)


def erfcx_slope(x: Array) -> Array:
    """The derivative of erfcx, 2 * x * erfcx(x) - 2 / sqrt(pi), without cancellation for large x."""

    def far(x: Array) -> Array:
        z = 1 / (x * x)
        return -2 * z * _ratio(z, ERFCX_FAR)

    return choose(x > FAR, far, lambda x: 2 * x * erfcx(x) - 2 * PER_ROOT_PI, x)


def _quantile(x: Numeric, tail: Numeric, xp: Formulas) -> Numeric:
    """The normal quantile of the probability 1/2 + x; `tail` is the smaller of that probability and its complement."""

    def inner(x: Numeric, tail: Numeric) -> Numeric:
        return x * _ratio(0.180625 - x * x, NORMAL, xp)

    def outer(x: Numeric, tail: Numeric) -> Numeric:
        r = xp.sqrt(-xp.log(tail))
        found = xp.choose(
            r <= 5, lambda r: _ratio(r - 1.6, NORMAL_MIDDLE, xp), lambda r: _ratio(r - 5, NORMAL_FAR, xp), r
        )
        return xp.copysign(xp.where(tail == 0, math.inf, found), x)

    return xp.choose(abs(x) <= 0.425, inner, outer, x, tail)


def ndtri(p: Array) -> Array:
    """The quantile function of the normal distribution: the inverse of `ndtr`."""
    return _quantile(p - 0.5, np.minimum(p, 1 - p), ARRAYS)


def erfinv(y: Numeric, xp: Formulas = ARRAYS) -> Numeric:
    """The inverse of erf."""
    half = 0.5 * y
    return ROOT_HALF * _quantile(half, 0.5 - abs(half), xp)


def ndtr(x: Array) -> Array:
    """The cumulative distribution function of the normal distribution."""
    return erfc(x * -ROOT_HALF) / 2


def log_ndtr(x: Array) -> Array:
    """log(ndtr(x)), without the underflow of ndtr."""
    return choose(
        x < -1, lambda x: np.log(erfcx(x * -ROOT_HALF) / 2) - x * x / 2, lambda x: np.log1p(erfc(x * ROOT_HALF) / -2), x
    )
