"""Special functions that only SciPy has, with their derivatives: what `scipy.special.gamma(t)` and the like record.

Orders and parameters whose derivative is not known have None in place of a rule; `_numpy.scipy_names` refuses tensors
there that require grad. Where a rule is 0 / 0 at a single point, as that of Ci at 0, the derivative there is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.primitives import Primitive, elementwise
from .._numerics import scipy
from .special import REAL, ROOT_HALF, ROOT_PI, ROOT_TWO_PI, _beta_density, _double, _gamma_density

if TYPE_CHECKING:
    from .._core.dtypes import dtype as Dtype
    from .._core.primitives import Function
    from .._core.typing import Array, NumpyType, Operations, Tensor

Rule = Callable[..., Any] | None

DEGREE = math.pi / 180


def _scipys(
    name: str,
    *rules: Rule,
    inputs: tuple[str, ...] = ("x",),
    part: int | None = None,
    definition: Function | None = None,
) -> Primitive:
    """A primitive that computes a SciPy function, or one output of a SciPy function that returns several."""

    def forward(*arrays: Array) -> Array:
        function = getattr(scipy.special(), name.partition("_of_")[2] or name)
        values = function(*(array.astype(np.float64) for array in arrays))
        return np.asarray(values if part is None else values[part]).astype(
            max((a.dtype for a in arrays), key=_is_float)
        )

    wide = None if definition is None else _in_doubles(definition)
    return elementwise(name, *rules, forward=forward, inputs=inputs, definition=wide, **REAL)


def _written(name: str, definition: Function, *rules: Rule, inputs: tuple[str, ...]) -> Primitive:
    """A primitive that computes a SciPy function by a definition of its own, as SciPy's is wrong at numbers at the ends."""
    return elementwise(name, *rules, inputs=inputs, definition=_in_doubles(definition), **REAL)


def _in_doubles(definition: Function) -> Function:
    """A definition that computes in double precision, as SciPy's function does."""
    double = np.dtype(np.float64)

    def wide(xp: Operations, *values: Tensor) -> Tensor:
        own = max((x.dtype for x in values), key=_is_float)
        found = definition(xp, *[xp.astype(x, dtype=double, source=x.dtype) for x in values])
        return xp.astype(found, dtype=own, source=double)

    return wide


def _is_float(dtype: Dtype | NumpyType) -> bool:
    return bool(dtype.kind == "f")


def _neighbours(
    name: str, below: int, above: int, scale: Callable[[Operations, Tensor], Tensor | float] | None = None
) -> Primitive:
    """The rule of a Bessel function of real order v: half the signed sum of the functions of orders v - 1 and v + 1."""

    def rule(xp: Operations, g: Tensor, v: Tensor, x: Tensor, y: Tensor) -> Tensor:
        function = getattr(xp, name)
        slope = (below * function(v - 1, x) + above * function(v + 1, x)) / 2
        return g * (slope if scale is None else slope + scale(xp, x) * y)

    return _scipys(name, None, rule, inputs=("v", "x"))


def _inverse_by_shape(xp: Operations, g: Tensor, a: Tensor, y: Tensor) -> Tensor:
    return -g * (xp.gammainc_by_shape(a, y, order=1) / _gamma_density(xp, a, y))


def _inverse_by_first(xp: Operations, g: Tensor, a: Tensor, b: Tensor, y: Tensor) -> Tensor:
    return -g * (xp.betainc_by_shapes(a, b, y, order=(1, 0)) / _beta_density(xp, a, b, y))


def _inverse_by_second(xp: Operations, g: Tensor, a: Tensor, b: Tensor, y: Tensor) -> Tensor:
    return -g * (xp.betainc_by_shapes(a, b, y, order=(0, 1)) / _beta_density(xp, a, b, y))


def _pseudo_huber_by_scale(xp: Operations, g: Tensor, d: Tensor, r: Tensor) -> Tensor:
    root = xp.sqrt(1 + (r / d) * (r / d))
    return g * (2 * d * (root - 1) - r * r / (d * root))


TINY = float(np.finfo(np.float64).tiny)


def _relative(xp: Operations, a: Tensor, b: Tensor) -> Tensor:
    """a log(a / b): 0 where a is 0, infinite where one is negative."""
    inside, one = (a > 0) & (b > 0), xp.constant(1, a.dtype)
    x, y = xp.where(inside, a, one), xp.where(inside, b, one)
    ratio = x / y
    log = xp.where((ratio > 0.5) & (ratio < 2), xp.log1p((x - y) / y), xp.log(ratio))
    found = x * xp.where((ratio > TINY) & (ratio < math.inf), log, xp.log(x) - xp.log(y))
    outside = xp.where((a == 0) & (b >= 0), xp.constant(0, a.dtype), xp.constant(math.inf, a.dtype))
    return xp.where(inside, found, xp.where(xp.isnan(a) | xp.isnan(b), xp.constant(math.nan, a.dtype), outside))


def _divergence(xp: Operations, a: Tensor, b: Tensor) -> Tensor:
    """a log(a / b) - a + b: infinite where one is negative, and where a is infinite."""
    found = xp.rel_entr(a, b)
    return xp.where(found < math.inf, found - a + b, found)


def _pseudo_huber(xp: Operations, d: Tensor, r: Tensor) -> Tensor:
    """d^2 (sqrt(1 + (r / d)^2) - 1) without cancellation: 0 where d or r is 0, infinite where d is negative."""
    zero, ratio = xp.constant(0, d.dtype), r / d
    found = d * d * xp.expm1(xp.log1p(ratio * ratio) / 2)
    return xp.where(d < 0, xp.constant(math.inf, d.dtype), xp.where((d == 0) | (r == 0), zero, found))


def _power_less_one(xp: Operations, x: Tensor, p: Tensor) -> Tensor:
    """x^p - 1 without cancellation."""
    exponent = p * xp.log(x)
    return xp.where(exponent < 0.5, xp.expm1(exponent), xp.pow(x, p) - 1)


NEGLIGIBLE = 1e-17
"""A size at which exp(x) - 1 and log(1 + x) are x, but for less than rounding."""


def _powered(xp: Operations, y: Tensor, p: Tensor) -> Tensor:
    """(exp(p y) - 1) / p, which tends to y as p tends to 0; finite where only exp(p y) overflows."""
    exponent = p * y
    half = xp.exp(exponent / 2)
    found = xp.where(exponent < 1, xp.expm1(exponent) / p, half * ((half - 1 / half) / p))
    return xp.where((p == 0) | (xp.abs(exponent) < NEGLIGIBLE), y, found)


def _unpowered(xp: Operations, x: Tensor, p: Tensor) -> Tensor:
    """log(1 + p x) / p, which tends to x as p tends to 0; finite where only p x overflows."""
    product = p * x
    log = xp.where(product < math.inf, xp.log1p(product), xp.log(xp.abs(p)) + xp.log(xp.abs(x)))
    return xp.where((p == 0) | (xp.abs(product) < NEGLIGIBLE), x, log / p)


INVERSE_E = 0.36787944117144233, -1.2428753672788363e-17
"""1/e, and what its rounding leaves."""
MEETING = -1, 1, -1 / 3, 11 / 72, -43 / 540, 769 / 17280, -221 / 8505, 680863 / 43545600, -1963 / 204120
"""The series of Lambert's function in p = sqrt(2 (e x + 1)), of which the other branch has -p."""


def _step_down(xp: Operations, g: Tensor, n: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return -g * xp.where(n == 0, y * (1 + 1 / x), xp.expn(xp.where(n == 0, n, n - 1), x))


def _ellipd_pullback(xp: Operations, g: Tensor, m: Tensor, y: Tensor) -> Tensor:
    """The slope of (K - E) / m: near 0, where the difference cancels, as a hypergeometric function."""
    small = xp.abs(m) < 0.5
    near, far = xp.where(small, m, 0), xp.where(small, 0.5, m)
    none = xp.zeros_like(m)
    slope = xp.hyp2f1(none + 2.5, none + 1.5, none + 3, near) * (3 * math.pi / 32)
    return g * xp.where(small, slope, ((xp.ellipk(far) - y) / (2 * (1 - far)) - y / 2) / far)


def _lambert(x: Array, k: Array, *, tol: float) -> Array:
    """SciPy's function; as a series near -1/e, where two branches meet and SciPy's loses all digits of y + 1."""
    y = np.asarray(scipy.special().lambertw(x, k, tol))
    p = np.sqrt(2 * math.e * ((x + INVERSE_E[0]) + INVERSE_E[1]))
    p = np.where(k == 0, p, -p)
    near = (abs(p) < 0.01) & ((k == 0) | (k == -1) & (np.imag(x) >= 0) | (k == 1) & (np.imag(x) < 0))
    return np.where(near, np.polynomial.polynomial.polyval(np.where(near, p, 0), MEETING), y)


# fmt: off
#                    name       pullback per input
gamma     = _scipys("gamma",    lambda xp, g, x, y: g * (y * xp.digamma(x)))
beta      = _scipys("beta",     lambda xp, g, a, b, y: g * (y * (xp.digamma(a) - xp.digamma(a + b))),
                                lambda xp, g, a, b, y: g * (y * (xp.digamma(b) - xp.digamma(a + b))), inputs=("a", "b"))
betaln    = _scipys("betaln",   lambda xp, g, a, b: g * (xp.digamma(a) - xp.digamma(a + b)),
                                lambda xp, g, a, b: g * (xp.digamma(b) - xp.digamma(a + b)), inputs=("a", "b"))
binom     = _scipys("binom",    lambda xp, g, n, k, y: g * (y * (xp.digamma(n + 1) - xp.digamma(n - k + 1))),
                                lambda xp, g, n, k, y: g * (y * (xp.digamma(n - k + 1) - xp.digamma(k + 1))),
                    inputs=("n", "k"))
poch      = _scipys("poch",     lambda xp, g, z, m, y: g * (y * (xp.digamma(z + m) - xp.digamma(z))),
                                lambda xp, g, z, m, y: g * (y * xp.digamma(z + m)), inputs=("z", "m"))

dawsn     = _scipys("dawsn",    lambda xp, g, x, y: g * (1 - 2 * x * y))
erfi      = _scipys("erfi",     lambda xp, g, x: g * (xp.exp(x * x) * (2 / ROOT_PI)))
erfcinv   = _scipys("erfcinv",  lambda xp, g, y: g * (xp.exp(y * y) * (ROOT_PI / -2)))
owens_t   = _scipys("owens_t",  lambda xp, g, h, a: g * (xp.exp(h * h / -2) * xp.erf(a * h * ROOT_HALF) / (-2 * ROOT_TWO_PI)),
                                lambda xp, g, h, a: g * (xp.exp(h * h * (1 + a * a) / -2) / (2 * math.pi * (1 + a * a))),
                    inputs=("h", "a"))

expi      = _scipys("expi",     lambda xp, g, x: g * (xp.exp(x) / x))
exp1      = _scipys("exp1",     lambda xp, g, x: -g * (xp.exp(-x) / x))
expn      = _scipys("expn",     None, _step_down, inputs=("n", "x"))
sine_of_sici       = _scipys("sine_of_sici",       lambda xp, g, x: g * xp.sinc(x / math.pi), part=0)
cosine_of_sici     = _scipys("cosine_of_sici",     lambda xp, g, x: g * (xp.cos(x) / x), part=1)
sine_of_shichi     = _scipys("sine_of_shichi",     lambda xp, g, x: g * xp.hyp0f1(xp.zeros_like(x) + 1.5, x * x / 4), part=0)
cosine_of_shichi   = _scipys("cosine_of_shichi",   lambda xp, g, x: g * (xp.cosh(x) / x), part=1)
sine_of_fresnel    = _scipys("sine_of_fresnel",    lambda xp, g, x: g * xp.sin(x * x * (math.pi / 2)), part=0)
cosine_of_fresnel  = _scipys("cosine_of_fresnel",  lambda xp, g, x: g * xp.cos(x * x * (math.pi / 2)), part=1)

ellipk    = _scipys("ellipk",   lambda xp, g, m, y: g * ((y - xp.ellipd(m)) / (2 * (1 - m))), inputs=("m",))
ellipe    = _scipys("ellipe",   lambda xp, g, m: g * (xp.ellipd(m) / -2), inputs=("m",))
ellipd    = elementwise("ellipd", _ellipd_pullback, inputs=("m",),  # (K - E) / m
                    forward=_double(lambda m: scipy.special().elliprd(0.0, 1 - m, 1.0) / 3), **REAL)

betaincc  = _scipys("betaincc", lambda xp, g, a, b, x: -g * xp.betainc_by_shapes(a, b, x, order=(1, 0)),
                                lambda xp, g, a, b, x: -g * xp.betainc_by_shapes(a, b, x, order=(0, 1)),
                                lambda xp, g, a, b, x: -g * _beta_density(xp, a, b, x), inputs=("a", "b", "x"))
gammaincinv  = _scipys("gammaincinv",  _inverse_by_shape,
                                       lambda xp, g, a, y: g / _gamma_density(xp, a, y), inputs=("a", "p"))
gammainccinv = _scipys("gammainccinv", _inverse_by_shape,
                                       lambda xp, g, a, y: -g / _gamma_density(xp, a, y), inputs=("a", "p"))
betaincinv   = _scipys("betaincinv",   _inverse_by_first,
                                       _inverse_by_second,
                                       lambda xp, g, a, b, y: g / _beta_density(xp, a, b, y), inputs=("a", "b", "p"))

jv, yv    = _neighbours("jv", 1, -1), _neighbours("yv", 1, -1)
iv, kv    = _neighbours("iv", 1, 1), _neighbours("kv", -1, -1)
ive       = _neighbours("ive", 1, 1, lambda xp, x: -xp.sign(x))
kve       = _neighbours("kve", -1, -1, lambda xp, x: 1)
hyp0f1    = _scipys("hyp0f1",   None, lambda xp, g, v, x: g * (xp.hyp0f1(v + 1, x) / v), inputs=("v", "x"))
hyp1f1    = _scipys("hyp1f1",   None, None, lambda xp, g, a, b, x: g * (a / b * xp.hyp1f1(a + 1, b + 1, x)),
                    inputs=("a", "b", "x"))
hyp2f1    = _scipys("hyp2f1",   None, None, None,
                                lambda xp, g, a, b, c, x: g * (a * b / c * xp.hyp2f1(a + 1, b + 1, c + 1, x)),
                    inputs=("a", "b", "c", "x"))
wrightomega = _scipys("wrightomega", lambda xp, g, y: g * (y / (1 + y)))
lambertw  = elementwise("lambertw", lambda xp, g, y: g / (xp.exp(y) * (1 + y)), None, inputs=("x", "k"), forward=_lambert)

rel_entr  = _scipys("rel_entr", lambda xp, g, a, b: g * (xp.log(a / b) + 1),
                                lambda xp, g, a, b: -g * (a / b), inputs=("a", "b"), definition=_relative)
kl_div    = _written("kl_div",  _divergence,
                                lambda xp, g, a, b: g * xp.log(a / b),
                                lambda xp, g, a, b: g * (1 - a / b), inputs=("a", "b"))
pseudo_huber = _scipys("pseudo_huber", _pseudo_huber_by_scale,
                                lambda xp, g, d, r: g * (r / xp.sqrt(1 + (r / d) * (r / d))), inputs=("d", "r"),
                    definition=_pseudo_huber)
boxcox    = _written("boxcox",  lambda xp, x, p: _powered(xp, xp.log(x), p),
                                lambda xp, g, x, p: g * x ** (p - 1), None, inputs=("x", "p"))
boxcox1p  = _written("boxcox1p", lambda xp, x, p: _powered(xp, xp.log1p(x), p),
                                lambda xp, g, x, p: g * (1 + x) ** (p - 1), None, inputs=("x", "p"))
inv_boxcox   = _written("inv_boxcox",   lambda xp, x, p: xp.exp(_unpowered(xp, x, p)),
                                lambda xp, g, p, y: g * y ** (1 - p), None, inputs=("x", "p"))
inv_boxcox1p = _written("inv_boxcox1p", lambda xp, x, p: xp.expm1(_unpowered(xp, x, p)),
                                lambda xp, g, p, y: g * (1 + y) ** (1 - p), None, inputs=("x", "p"))
cosm1     = _scipys("cosm1",    lambda xp, g, x: -g * xp.sin(x))
powm1     = _written("powm1",   _power_less_one,
                                lambda xp, g, x, p: g * (p * x ** (p - 1)),
                                lambda xp, g, x, p: g * (x ** p * xp.log(x)), inputs=("x", "p"))
sindg     = _scipys("sindg",    lambda xp, g, x: g * (xp.cosdg(x) * DEGREE))
cosdg     = _scipys("cosdg",    lambda xp, g, x: -g * (xp.sindg(x) * DEGREE))
tandg     = _scipys("tandg",    lambda xp, g, y: g * ((1 + y * y) * DEGREE))
cotdg     = _scipys("cotdg",    lambda xp, g, y: -g * ((1 + y * y) * DEGREE))
# fmt: on
