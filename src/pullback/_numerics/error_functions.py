"""The error function and its relatives in vectorised NumPy: erf, erfc, erfcx, their inverses, and the normal CDF's.

erf, erfc and erfcx are the rational approximations of W. J. Cody, "Rational Chebyshev approximations for the error
function", Mathematics of Computation 23 (1969), pages 631-637; the inverse is algorithm AS 241 of M. J. Wichura, "The
percentage points of the normal distribution", Applied Statistics 37 (1988), pages 477-484. Everything is computed in
float64.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

NEAR, MIDDLE = 0.46875, 4.0  # the boundaries of Cody's three approximations
ROOT_HALF = math.sqrt(0.5)
PER_ROOT_PI = 1 / math.sqrt(math.pi)

ONE = np.array(1.0)
NONE_FOR_SINGLES = np.array(11.0)  # erfc is 0 in float32 from here on

# Numerators and denominators, highest power first; the denominators of the tails begin with 1.
ERF = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e0,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3),
)
SINGLES = (
    5.421604304920818e-9, 2.7576078037053403e-8, -4.794605648813954e-6, 8.459658909344589e-5, -6.148382619951565e-4,
    -1.9528813524974354e-4, 0.1027698641121487, 1.1283792471877514,
)  # fmt: skip
ERFCX_FOR_SINGLES = (
    (
        0.5641889934835366, 5.195534769160769, 22.413746040448345, 55.50742624318298, 79.26080830718794,
        55.00577773704878,
    ),
    (
        1.0, 9.208794258221825, 40.2284473944019, 102.97438180215522, 159.9734390662881, 141.32818129099533,
        55.00577774215383,
    ),
)  # fmt: skip
ERFCX = (
    (
        2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
        2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
        3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3,
    ),
)  # fmt: skip
ERFCX_FAR = (
    (
        1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
        1.60837851487422766e-2, 6.58749161529837803e-4,
    ),
    (
        1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)  # fmt: skip
NORMAL = (
    (
        2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
        1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
        5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0,
    ),
)  # fmt: skip
NORMAL_MIDDLE = (
    (
        7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
        3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
        6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0,
    ),
)  # fmt: skip
NORMAL_FAR = (
    (
        2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
        2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
        1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0,
    ),
)  # fmt: skip


@functools.lru_cache(maxsize=64)
def _arrays(coefficients: tuple[float, ...], dtype: np.dtype[Any]) -> list[Array]:
    """Coefficients as 0-d arrays, which NumPy adds to small arrays in half the time of Python floats."""
    return [np.array(coefficient, dtype) for coefficient in coefficients]


def polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    """The value of a polynomial, with coefficients from the highest power, by Horner's rule."""
    first, second, *rest = _arrays(coefficients, x.dtype)
    y = x * first
    y += second
    for coefficient in rest:
        y *= x
        y += coefficient
    return y


def _ratio(x: Array, parts: tuple[tuple[float, ...], tuple[float, ...]]) -> Array:
    return polynomial(x, parts[0]) / polynomial(x, parts[1])


def by_region(x: Array, *regions: tuple[Array, Callable[[Array], Array]]) -> Array:
    """Each function applied to the elements of its mask, NaN elsewhere, in the memory order of x; the masks are disjoint."""
    out = np.full_like(x, np.nan, np.float64)
    for mask, function in regions:
        if mask.all():
            return np.asarray(function(x))
        if mask.any():
            out[mask] = function(x[mask])
    return out


def _erf_near(x: Array) -> Array:
    return x * _ratio(x * x, ERF)


def _erfcx_middle(x: Array) -> Array:
    return _ratio(x, ERFCX)


def _erfcx_far(x: Array) -> Array:
    z = 1 / (x * x)
    return (PER_ROOT_PI - z * _ratio(z, ERFCX_FAR)) / x


def _exp_of_square(x: Array, sign: int) -> Any:
    """exp(sign * x * x), with the square split in two parts so that its rounding error does not grow with x."""
    head = np.trunc(x * 16) / 16
    rest = (x - head) * (x + head)
    return np.exp(sign * head * head) * np.exp(sign * rest)


def erf(x: Any) -> Array:
    """The error function, accurate to 2 units in the last place."""
    size = np.abs(x)

    def beyond(x: Array) -> Any:
        return np.copysign(1 - _erfc_beyond(np.minimum(np.abs(x), 6)), x)  # at 6, erf is 1

    return by_region(np.asarray(x), (size <= NEAR, _erf_near), (size > NEAR, beyond))


def erf_of_singles(x: Any) -> Any:
    """The error function of float32, to 4 units in the last place: tanh(x * p(x * x)) with a polynomial p.

    tanh is the fastest of NumPy's functions with range (-1, 1). The coefficients are a least-squares fit of
    artanh(erf(x)) / x on [0, 3.93], beyond which erf is 1, with the weights adjusted until the relative errors of the
    result were level: 7e-8.
    """
    return np.tanh(x * polynomial(x * x, SINGLES))


def erfc_of_singles(x: Array) -> Any:
    """erfc in float64 of numbers converted from float32: one rational function for all.

    It is a least-squares fit of erfcx on [0, NONE_FOR_SINGLES] to 1e-10, computed like that of erf. The square of a
    float32 number is exact in float64.
    """
    size = np.minimum(np.abs(x), NONE_FOR_SINGLES)
    tail = np.exp(-size * size) * _ratio(size, ERFCX_FOR_SINGLES)
    return np.copysign(tail, x) + (ONE - np.copysign(ONE, x))  # 2 - tail below 0


def _erfc_beyond(x: Array) -> Any:
    """erfc of numbers above NEAR."""
    x = np.minimum(x, 30)  # erfc is 0 there, and inf would give inf - inf in the square
    scaled = by_region(x, (x <= MIDDLE, _erfcx_middle), (x > MIDDLE, _erfcx_far))
    return _exp_of_square(x, -1) * scaled


def erfc(x: Any) -> Array:
    """1 - erf(x), with full relative accuracy for large x."""
    x = np.asarray(x)
    return by_region(
        x,
        (x > NEAR, _erfc_beyond),
        (np.abs(x) <= NEAR, lambda x: 1 - _erf_near(x)),
        (x < -NEAR, lambda x: 2 - _erfc_beyond(-x)),
    )


def erfcx(x: Any) -> Array:
    """exp(x * x) * erfc(x), without the underflow of erfc."""
    x = np.asarray(x)
    return by_region(
        x,
        ((x > NEAR) & (x <= MIDDLE), _erfcx_middle),
        (x > MIDDLE, _erfcx_far),
        (np.abs(x) <= NEAR, lambda x: np.exp(x * x) * (1 - _erf_near(x))),
        (x < -NEAR, lambda x: 2 * _exp_of_square(np.maximum(x, -30), 1) - erfcx(-x)),
    )


def erfcx_slope(x: Any) -> Array:
    """The derivative of erfcx, 2 * x * erfcx(x) - 2 / sqrt(pi), without cancellation for large x."""
    x = np.asarray(x)

    def far(x: Array) -> Any:
        z = 1 / (x * x)
        return -2 * z * _ratio(z, ERFCX_FAR)

    return by_region(x, (x > MIDDLE, far), (x <= MIDDLE, lambda x: 2 * x * erfcx(x) - 2 * PER_ROOT_PI))


def _quantile(x: Array, tail: Array) -> Array:
    """The normal quantile of the probability 1/2 + x; `tail` is the smaller of that probability and its complement."""
    out = x * _ratio(0.180625 - x * x, NORMAL)
    outer = np.abs(x) > 0.425
    if outer.any():
        r = np.sqrt(-np.log(tail[outer]))
        found = by_region(
            r, (r <= 5, lambda r: _ratio(r - 1.6, NORMAL_MIDDLE)), (r > 5, lambda r: _ratio(r - 5, NORMAL_FAR))
        )
        found[np.isinf(r)] = np.inf
        out[outer] = np.copysign(found, x[outer])
    return out


def ndtri(p: Any) -> Array:
    """The quantile function of the normal distribution: the inverse of `ndtr`."""
    p = np.asarray(p, np.float64)
    return _quantile(np.atleast_1d(p - 0.5), np.atleast_1d(np.minimum(p, 1 - p))).reshape(p.shape)


def erfinv(y: Any) -> Array:
    """The inverse of erf."""
    y = np.asarray(y, np.float64)
    half = np.atleast_1d(y) / 2
    return ROOT_HALF * _quantile(half, 0.5 - np.abs(half)).reshape(y.shape)


def ndtr(x: Any) -> Array:
    """The cumulative distribution function of the normal distribution."""
    return erfc(x * -ROOT_HALF) / 2


def log_ndtr(x: Any) -> Array:
    """log(ndtr(x)), without the underflow of ndtr."""
    x = np.asarray(x)
    return by_region(
        x,
        (x < -1, lambda x: np.log(erfcx(x * -ROOT_HALF) / 2) - x * x / 2),
        (x >= -1, lambda x: np.log1p(erfc(x * ROOT_HALF) / -2)),
    )
