"""Special functions: error functions, gamma functions and related ones, Bessel functions, orthogonal polynomials.

Families of functions have an index as metadata, `n` or `order`, and each rule uses another member of its family: so
every derivative has a derivative itself.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import machine, xp as _xp
from .._core.primitives import Function, elementwise
from .._numerics import blocks, error_functions, gamma_functions, incomplete_functions, polynomials, scipy
from .._numerics.incomplete_functions import moment
from .functions import zero_times

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._core.primitives import Primitive
    from .._core.typing import Array, OfComplex, Operations, Tensor

    Scale: TypeAlias = Callable[[Operations, Tensor], Tensor | float]


WORK = 16
"""Bytes per element when choosing the block size: the results of two passes."""
TINY = float(np.finfo(np.float64).tiny)
ROOT_PI, ROOT_HALF, ROOT_TWO_PI = math.sqrt(math.pi), math.sqrt(0.5), math.sqrt(2 * math.pi)


def _double(function: Function, of_singles: Function | None = None) -> Function:
    """A float64 function for every dtype: the others are computed in float64, or by `of_singles`, and rounded once.

    It makes dozens of passes over its input, so large arrays are processed block by block.
    """
    others = of_singles or function

    def whole(*arrays: Array, **params: Any) -> Array:
        dtype = arrays[0].dtype
        if dtype.char == "d":
            return function(*arrays, **params)
        return np.asarray(others(*[array.astype(np.float64) for array in arrays], **params)).astype(dtype)

    @functools.wraps(function)
    def forward(*arrays: Array, **params: Any) -> Array:
        first, *rest = arrays
        if first.size * WORK <= blocks.BLOCK or any(x.shape != first.shape for x in rest):
            return whole(*arrays, **params)
        out = np.empty_like(first)
        axes = sorted(range(out.ndim), key=lambda axis: -out.strides[axis])  # in the memory order of the first array
        flat, made = [x.transpose(axes).reshape(-1) for x in arrays], _xp.reshaped_view(out.transpose(axes), -1)

        def part(start: int, stop: int) -> None:
            made[start:stop] = whole(*[x[start:stop] for x in flat], **params)

        blocks.pieces(part, out.size, WORK)
        return out

    return forward


_erf_of_doubles = _double(error_functions.erf)


def _erf(x: Array) -> Array:
    if x.dtype.char == "d":
        return _erf_of_doubles(x)
    if x.dtype.char == "f":
        return error_functions.erf_of_singles(x)
    return np.asarray(error_functions.erf_of_singles(x.astype(np.float32))).astype(x.dtype)


def _entr(xp: Operations, x: Tensor) -> Tensor:
    zero, least = xp.constant(0, x.dtype), xp.constant(-math.inf, x.dtype)
    return xp.where(x < 0, least, xp.where(x == 0, zero, -x * xp.log(x)))


# Bessel functions. The derivative is half the signed sum of the functions of the adjacent orders n - 1 and n + 1.


def _of_order(scipy_name: str, first: tuple[str, str]) -> Function:
    """A family of Bessel functions of integer order: SciPy's functions of orders 0 and 1, and the general one."""

    def forward(x: Array, *, order: int) -> Array:
        name, orders = (first[order], ()) if order < 2 else (scipy_name, (order,))
        function = functools.partial(getattr(scipy.special(), name), *orders)
        y = function(x)
        if (
            scipy_name == "iv" and (early := np.isinf(y) & np.isfinite(x)).any()
        ):  # SciPy's overflow before the result does
            root = np.exp(np.abs(x) / 2)
            y = np.where(early, scipy.special().ive(order, x) * root * root, y)
        lost = np.isnan(y)
        if lost.any():  # SciPy's at denormal numbers
            lost &= (np.abs(x) < TINY) & ((x > 0) | (scipy_name[0] in "ij"))
            y = np.where(lost, function(0.0), y)
        return y

    return _double(forward)


def _neighbours(name: str, below: int, above: int, scale: Scale | None = None) -> Function:
    """The rule of a family; `scale(xp, x)` is the logarithmic derivative of the factor in front, if there is one."""

    def slope(xp: Operations, x: Tensor, order: int) -> Tensor:
        function = getattr(xp, name)
        after = function(x, order=order + 1)
        if order == 0:
            return above * after
        return below / 2 * function(x, order=order - 1) + above / 2 * after  # their sum may be out of range

    def rule(xp: Operations, g: Tensor, x: Tensor, y: Tensor, *, order: int) -> Tensor:
        if scale is None:
            return g * slope(xp, x, order)
        large = xp.abs(x) > _edge(x)
        near = xp.where(large, 1, x)
        return g * xp.where(large, _far(xp, x, order, -below) * y, slope(xp, near, order) + scale(xp, near) * y)

    return rule


TERMS = 11


def _edge(x: Tensor) -> int:
    """From there on the scaled Bessel functions of low orders are series in 1 / x, of which TERMS terms are exact."""
    return 50 if str(x.dtype).endswith("float64") else 14


def _far(xp: Operations, x: Tensor, order: int, sign: int) -> Tensor:
    """The logarithmic derivative of a scaled Bessel function far from 0, where the difference of neighbors cancels.

    The function is x ** -0.5 times a series in 1 / x: "NIST Handbook of Mathematical Functions", 10.40.1 and 10.40.2.
    """
    x = xp.where(xp.abs(x) > _edge(x), x, _edge(x))  # no 1 / 0 behind a mask: second derivatives would propagate it
    t = 1 / xp.abs(x)
    terms = [1.0]
    for k in range(1, TERMS):
        terms.append(terms[-1] * sign * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
    series: Tensor | float = terms[-1]
    slopes: Tensor | float = terms[-1] * (TERMS - 0.5)
    for k in reversed(range(TERMS - 1)):
        series, slopes = series * t + terms[k], slopes * t + terms[k] * (k + 0.5)
    return -slopes / series / x


REAL: OfComplex = {"complex": "refused"}


def _bessel(
    name: str, scipy_name: str, first: tuple[str, str], below: int, above: int, scale: Scale | None = None
) -> Primitive:
    rule = _neighbours(name, below, above, scale)
    return elementwise(name, rule, forward=_of_order(scipy_name, first), **REAL)


def _spherical_bessel(x: Array, *, order: int) -> Array:
    """The spherical Bessel function, by its parity for negative x, where SciPy before 1.14 gives NaN."""
    size = np.abs(x)
    values = scipy.special().spherical_jn(order, np.where((size > 0) & (size < TINY), TINY, size))
    return np.where(x < 0, -values, values) if order % 2 else values


def _spherical_rule(xp: Operations, g: Tensor, x: Tensor, *, order: int) -> Tensor:
    after = -(order + 1) * xp.spherical_bessel_j(x, order=order + 1)
    return g * ((order * xp.spherical_bessel_j(x, order=order - 1) if order else 0) + after) / (2 * order + 1)


def _airy(x: Array) -> list[Array]:
    """Ai and its derivative: SciPy's, and from 2**20 on, where those are NaN, by "NIST Handbook", 9.7.9 and 9.7.10."""
    z = np.maximum(np.abs(x), 1 << 20)
    phase = z * np.sqrt(z) * (2 / 3)
    sine, cosine = np.sin(phase - math.pi / 4), np.cos(phase - math.pi / 4)
    root = np.sqrt(np.sqrt(z))
    waves = (cosine + sine * 5 / (72 * phase)) / (ROOT_PI * root), (sine + cosine * 7 / (72 * phase)) * root / ROOT_PI
    near = scipy.special().airy(np.where(np.abs(x) > z, 0, x))[:2]
    far = [np.where(x > 0, 0, np.where(np.isinf(x) & (i == 0), 0, wave)) for i, wave in enumerate(waves)]
    return [np.where(np.abs(x) >= 1 << 20, far[i], near[i]) for i in (0, 1)]


def _zeta_by_exponent(xp: Operations, g: Tensor, s: Tensor, q: Tensor, *, order: int) -> Tensor:
    return g * xp.zeta(s, q, order=order + 1)


def _zeta_by_start(xp: Operations, g: Tensor, s: Tensor, q: Tensor, *, order: int) -> Tensor:
    slope = s * xp.zeta(s + 1, q, order=order)
    return -g * (slope + order * xp.zeta(s + 1, q, order=order - 1) if order else slope)


# Incomplete functions: integrals of a density from 0 to x. The density's derivatives by its parameters are `moment`
# times it.


def _gamma_density(xp: Operations, a: Tensor, x: Tensor) -> Tensor:
    return xp.exp(xp.xlogy(a - 1, x) - x - xp.lgamma(a))


def _gamma_slope(xp: Operations, g: Tensor, a: Tensor, x: Tensor, *, order: int) -> Tensor:
    def slope(i: int, _: int) -> Tensor:
        return xp.log(x) - xp.digamma(a) if i == 1 else -xp.polygamma(a, n=i - 1)

    return g * (_gamma_density(xp, a, x) * moment((order, 0), slope))


def _beta_density(xp: Operations, a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    logarithm = xp.xlogy(a - 1, x) + xp.xlog1py(b - 1, -x)
    return xp.exp(logarithm - (xp.lgamma(a) + xp.lgamma(b) - xp.lgamma(a + b)))


def _beta_slope(xp: Operations, g: Tensor, a: Tensor, b: Tensor, x: Tensor, *, order: tuple[int, int]) -> Tensor:
    def slope(i: int, j: int) -> Tensor:
        both = xp.polygamma(a + b, n=i + j - 1)
        if i and j:
            return both
        own = both - xp.polygamma(a if i else b, n=i + j - 1)
        return own if i + j > 1 else own + (xp.log(x) if i else xp.log1p(-x))

    return g * (_beta_density(xp, a, b, x) * moment(order, slope))


def _beta_by_first(xp: Operations, g: Tensor, a: Tensor, b: Tensor, x: Tensor, *, order: tuple[int, int]) -> Tensor:
    return g * xp.betainc_by_shapes(a, b, x, order=(order[0] + 1, order[1]))


def _beta_by_second(xp: Operations, g: Tensor, a: Tensor, b: Tensor, x: Tensor, *, order: tuple[int, int]) -> Tensor:
    return g * xp.betainc_by_shapes(a, b, x, order=(order[0], order[1] + 1))


FLAT = 40
"""Above this abs(x), the normal density is 0 in every dtype."""


def _log_ndtr(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    """The density divided by its integral: on the left, where both vanish, by erfcx, which overflows on the right."""
    left = 2 / (ROOT_TWO_PI * xp.erfcx(xp.where(x > 0, 0, x) * -ROOT_HALF))
    right = xp.clip(x, lower=0, upper=FLAT)
    density = xp.exp(right * right / -2) * (2 / ROOT_TWO_PI)
    return g * xp.where(x > 0, density / (xp.erf(right * ROOT_HALF) + 1), left)


CANCELS, LEVELS = 5, 20
"""From there on erfcx(x) + x erfcx'(x) cancels, and so many levels of its fraction are exact to 1e-15."""


def _erfcx_bend(xp: Operations, g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """erfcx'' by erfcx': far from 0 as a continued fraction, of the recurrence in "NIST Handbook", 7.18.7."""
    far = x > CANCELS
    beyond, near = xp.where(far, x, CANCELS), xp.where(far, 1, x)
    ratio = 1 / (2 * beyond)
    for n in range(LEVELS, 2, -1):
        ratio = 1 / (2 * beyond + 2 * n * ratio)
    return g * xp.where(far, -4 * ratio * y, 2 * (xp.erfcx(near) + near * y))


# fmt: off
#                         name         pullback per input
erf      = elementwise("erf",      lambda xp, g, x: g * (xp.exp(-x * x) * (2 / ROOT_PI)),
                       forward=_erf, **REAL, cost=32)
erfc     = elementwise("erfc",     lambda xp, g, x: g * (xp.exp(-x * x) * (-2 / ROOT_PI)),
                       forward=_double(error_functions.erfc, error_functions.erfc_of_singles), **REAL, cost=32)
erfcx    = elementwise("erfcx",    lambda xp, g, x: g * xp.erfcx_slope(x),
                       forward=_double(error_functions.erfcx), title="SpecialErfcxBackward0", **REAL)
erfcx_slope = elementwise("erfcx_slope", _erfcx_bend,
                       forward=_double(error_functions.erfcx_slope), **REAL)
erfinv   = elementwise("erfinv",   lambda xp, g, y: g * (xp.exp(y * y) * (ROOT_PI / 2)),
                       forward=_double(error_functions.erfinv), **REAL)
ndtr     = elementwise("ndtr",     lambda xp, g, x: g * (xp.exp(x * x / -2) / ROOT_TWO_PI),
                       forward=_double(error_functions.ndtr), title="SpecialNdtrBackward0", **REAL)
ndtri    = elementwise("ndtri",    lambda xp, g, y: g * (xp.exp(y * y / 2) * ROOT_TWO_PI),
                       forward=_double(error_functions.ndtri), title="SpecialNdtriBackward0", **REAL)
log_ndtr = elementwise("log_ndtr", _log_ndtr,
                       forward=_double(error_functions.log_ndtr), title="SpecialLogNdtrBackward0", **REAL)
entr     = elementwise("entr",     lambda xp, g, x: g * (-1 - xp.log(x)),
                       definition=_entr, title="SpecialEntrBackward0", **REAL)
xlog1py  = elementwise("xlog1py",  lambda xp, g, a, b: xp.where((a == 0) & (b <= -1), 0, xp.xlog1py(g, b)),
                                   lambda xp, g, a, b: g * (a / (b + 1)),
                       definition=lambda xp, a, b: zero_times(xp, a, b, a * xp.log1p(b)), title="SpecialXlog1PyBackward0", **REAL)

lgamma    = elementwise("lgamma",    lambda xp, g, x: g * xp.digamma(x),
                        forward=_double(gamma_functions.lgamma, gamma_functions.lgamma_of_singles), **REAL)
digamma   = elementwise("digamma",   lambda xp, g, x: g * xp.polygamma(x, n=1),
                        forward=_double(gamma_functions.digamma, gamma_functions.digamma_of_singles), **REAL)
polygamma = elementwise("polygamma", lambda xp, g, x, *, n: g * xp.polygamma(x, n=n + 1),
                        forward=_double(gamma_functions.polygamma), **REAL)
zeta      = elementwise("zeta",      _zeta_by_exponent,
                                     _zeta_by_start,
                        forward=_double(gamma_functions.zeta), inputs=("s", "q"), title="SpecialZetaBackward0", **REAL)

bessel_j = _bessel("bessel_j", "jv", ("j0", "j1"), 1, -1)
bessel_y = _bessel("bessel_y", "yv", ("y0", "y1"), 1, -1)
bessel_i = _bessel("bessel_i", "iv", ("i0", "i1"), 1, 1)
bessel_k = _bessel("bessel_k", "kv", ("k0", "k1"), -1, -1)
scaled_bessel_i = _bessel("scaled_bessel_i", "ive", ("i0e", "i1e"), 1, 1, lambda xp, x: -xp.sign(x))
scaled_bessel_k = _bessel("scaled_bessel_k", "kve", ("k0e", "k1e"), -1, -1, lambda xp, x: 1)
spherical_bessel_j = elementwise("spherical_bessel_j", _spherical_rule, forward=_double(_spherical_bessel), **REAL)
airy       = elementwise("airy",       lambda xp, g, x: g * xp.airy_slope(x),
                         forward=_double(lambda x: _airy(x)[0]), **REAL)
airy_slope = elementwise("airy_slope", lambda xp, g, x: g * (x * xp.airy(x)),
                         forward=_double(lambda x: _airy(x)[1]), **REAL)

gammainc  = elementwise("gammainc",  lambda xp, g, a, x: g * xp.gammainc_by_shape(a, x, order=1),
                                     lambda xp, g, a, x: g * _gamma_density(xp, a, x),
                        forward=_double(lambda a, x: scipy.special().gammainc(a, x)), inputs=("a", "x"), **REAL)
gammaincc = elementwise("gammaincc", lambda xp, g, a, x: -g * xp.gammainc_by_shape(a, x, order=1),
                                     lambda xp, g, a, x: -g * _gamma_density(xp, a, x),
                        forward=_double(lambda a, x: scipy.special().gammaincc(a, x)), inputs=("a", "x"), **REAL)
betainc   = elementwise("betainc",   lambda xp, g, a, b, x: g * xp.betainc_by_shapes(a, b, x, order=(1, 0)),
                                     lambda xp, g, a, b, x: g * xp.betainc_by_shapes(a, b, x, order=(0, 1)),
                                     lambda xp, g, a, b, x: g * _beta_density(xp, a, b, x),
                        forward=_double(lambda a, b, x: scipy.special().betainc(a, b, x)), inputs=("a", "b", "x"), **REAL)
gammainc_by_shape = elementwise(
    "gammainc_by_shape", lambda xp, g, a, x, *, order: g * xp.gammainc_by_shape(a, x, order=order + 1), _gamma_slope,
    forward=_double(incomplete_functions.gammainc_by_shape), inputs=("a", "x"), **REAL)
betainc_by_shapes = elementwise(
    "betainc_by_shapes", _beta_by_first, _beta_by_second, _beta_slope,
    forward=_double(incomplete_functions.betainc_by_shapes), inputs=("a", "b", "x"), **REAL)

orthogonal_polynomial = elementwise(
    "orthogonal_polynomial",
    lambda xp, g, x, n, *, family, order: g * xp.orthogonal_polynomial(x, n, family=family, order=order + 1),
    None,
    forward=_double(polynomials.orthogonal_polynomial), inputs=("x", "n"), **REAL)
# fmt: on

machine.COSTLY.update(each.forward for each in (erf, erfc, erfinv, lgamma, digamma, polygamma))
