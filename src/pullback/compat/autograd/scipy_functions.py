"""autograd.scipy.special and autograd.scipy.stats: SciPy's functions, with formulas for traced arguments.

Most special functions are ufuncs, which dispatch to the box. The others, and densities, are SciPy's functions for plain
arguments, and the formulas below for traced ones.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._numerics.scipy import special
from .boxes import arrayed, getval, holds_box
from .namespaces import Namespace, opened_list
from .primitives import defvjp, primitive

if TYPE_CHECKING:
    from ..._core.typing import Array, Dim


Function = Callable[..., Any]

LOG_TWO_PI = math.log(2 * math.pi)


def _stats() -> Any:
    special()  # raises with the name of the extra to install, if SciPy is missing
    return importlib.import_module("scipy.stats")


def either(formula: Any, scipys: Callable[[], Function]) -> Function:
    """SciPy's function for plain arguments, a formula for traced ones."""

    def call(*args: object, **kwargs: object) -> Any:
        if holds_box((*args, *kwargs.values())):
            return formula(*map(opened_list, args), **{key: opened_list(value) for key, value in kwargs.items()})
        return scipys()(*args, **kwargs)

    call.__name__, call.__doc__ = formula.__name__, formula.__doc__
    return call


# 1. Special functions that are not ufuncs


def logsumexp(
    a: Array, axis: Dim = None, b: Array | float = 1.0, keepdims: bool = False, return_sign: bool = False
) -> Array:
    """The logarithm of a sum of exponentials with weights b."""
    if return_sign:
        raise NotImplementedError("logsumexp has no derivative with return_sign=True")
    top = np.max(np.asarray(getval(a)), axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.log(np.sum(b * np.exp(a - top), axis=axis, keepdims=keepdims))
    return total + (top if keepdims else np.squeeze(top, axis=axis))


def softmax(x: Array, axis: Dim = None) -> Array:
    """Exponentials divided by their sum."""
    return np.exp(log_softmax(x, axis))


def log_softmax(x: Array, axis: Dim = None) -> Array:
    """The logarithm of softmax."""
    return x - logsumexp(x, axis=axis, keepdims=True)


def polygamma(n: Array, x: Array) -> Array:
    """The n-th derivative of digamma, by the Hurwitz zeta function (DLMF 5.15.2)."""
    n, sp = np.asarray(n), special()
    order = np.where(n == 0, 1, n)
    higher = (-1.0) ** (order + 1) * sp.gamma(order + 1.0) * sp.zeta(order + 1, x)
    return np.where(n == 0, sp.psi(x), higher)


def multigammaln(a: Array, d: int) -> Array:
    """The logarithm of the multivariate gamma function of dimension d."""
    shifted = np.expand_dims(a, -1) - np.arange(d) / 2
    return np.sum(special().gammaln(shifted), -1) + d * (d - 1) / 4 * math.log(math.pi)


@primitive
def rgamma(x: Array) -> Array:
    """1 / gamma."""
    return special().rgamma(x)


defvjp(rgamma, lambda ans, x: lambda g: -g * rgamma(x) * special().psi(x))


def _complex_too(name: str, sign: int) -> Function:
    """erf and erfc, which SciPy also defines for complex numbers."""

    @primitive
    def entire(x: Array) -> Array:
        return getattr(special(), name)(x)

    defvjp(entire, lambda ans, x: lambda g: g * sign * 2 / math.sqrt(math.pi) * np.exp(-x * x))
    return lambda x: (entire if np.iscomplexobj(getval(x)) else getattr(special(), name))(x)


SPECIAL = Namespace(
    "autograd.scipy.special",
    special,
    {
        "rgamma": rgamma,
        "gammasgn": lambda x: special().gammasgn(getval(x)),
        "yn": lambda n, x: special().yv(n, x) if holds_box(x) else special().yn(n, x),
        "kn": lambda n, x: special().kv(n, x) if holds_box(x) else special().kn(n, x),
        "erf": _complex_too("erf", 1),
        "erfc": _complex_too("erfc", -1),
    }
    | {
        formula.__name__: either(formula, functools.partial(lambda name: getattr(special(), name), formula.__name__))
        for formula in (logsumexp, softmax, log_softmax, polygamma, multigammaln)
    },
    "scipy.special, for arrays and what is traced.",
)

# 2. Distributions
#
# A distribution is a dict of formulas. `_located` adds `loc` and `scale` to those of a standard distribution.


def _located(function: Function, change: str) -> Function:
    """A function of a standard distribution as one of (x, *shapes, loc=0, scale=1); `change` applies the scale."""
    names = tuple(inspect.signature(function).parameters)[1:]

    def located(x: Array, *args: Array, **kwargs: Array) -> Array:
        given = dict(zip((*names, "loc", "scale"), args, strict=False)) | kwargs
        loc, scale = given.pop("loc", 0.0), given.pop("scale", 1.0)
        value = function((x - loc) / scale, **given)
        return value - np.log(scale) if change == "log" else value / scale if change == "density" else value

    located.__name__ = function.__name__
    return located


def _inside(condition: Array, x: Array, function: Function, outside: float = -np.inf) -> Array:
    """A function where a condition is True, and a constant elsewhere, without NaN gradients."""
    within = np.where(condition, x, 0.5)
    return np.where(condition, function(within), outside)


def _densities(logpdf: Function, cdf: Function | None = None) -> dict[str, Function]:
    """logpdf, pdf, and functions of the cdf, of a distribution with location and scale."""

    def pdf(x: Array, *args: object, **kwargs: object) -> Array:
        return np.exp(located(x, *args, **kwargs))

    located = _located(logpdf, "log")
    found = {"logpdf": located, "pdf": pdf}
    if cdf is not None:
        below = _located(cdf, "none")
        found["cdf"] = below
        found["sf"] = lambda x, *args, **kwargs: 1 - below(x, *args, **kwargs)
        found["logcdf"] = lambda x, *args, **kwargs: np.log(below(x, *args, **kwargs))
        found["logsf"] = lambda x, *args, **kwargs: np.log1p(-below(x, *args, **kwargs))
    return found


def _normal(x: Array) -> Array:
    return -0.5 * x * x - 0.5 * LOG_TWO_PI


NORM: dict[str, Function] = {
    **_densities(_normal, lambda x: special().ndtr(x)),
    "sf": _located(lambda x: special().ndtr(-x), "none"),
    "logcdf": _located(lambda x: special().log_ndtr(x), "none"),
    "logsf": _located(lambda x: special().log_ndtr(-x), "none"),
    "ppf": lambda q, loc=0.0, scale=1.0: loc + scale * special().ndtri(q),
    "isf": lambda q, loc=0.0, scale=1.0: loc - scale * special().ndtri(q),
    "entropy": lambda loc=0.0, scale=1.0: 0.5 * (LOG_TWO_PI + 1) + np.log(scale) + 0 * loc,
}  # fmt: skip


def _student(x: Array, df: Array) -> Array:
    lgamma = special().gammaln
    constant = lgamma((df + 1) / 2) - lgamma(df / 2) - 0.5 * np.log(df * math.pi)
    return constant - (df + 1) / 2 * np.log1p(x * x / df)


@primitive
def _student_cdf(x: Array, df: Array) -> Array:
    return special().stdtr(df, x)


@primitive
def _student_logcdf(x: Array, df: Array) -> Array:
    return _stats().t.logcdf(x, df)


def _summed(g: Array, like: Array) -> Array:
    """A cotangent summed to the shape of an argument that was broadcast."""
    while np.ndim(g) > np.ndim(like):
        g = np.sum(g, axis=0)
    short = tuple(axis for axis, length in enumerate(np.shape(like)) if length == 1 and np.shape(g)[axis] != 1)
    return np.sum(g, axis=short, keepdims=True) if short else g


defvjp(_student_cdf, lambda ans, x, df: lambda g: _summed(g * np.exp(_student(x, df)), x))
defvjp(_student_logcdf, lambda ans, x, df: lambda g: _summed(g * np.exp(_student(x, df) - ans), x))

STUDENT: dict[str, Function] = {
    **_densities(_student, _student_cdf),
    "sf": _located(lambda x, df: _student_cdf(-x, df), "none"),
    "logcdf": _located(_student_logcdf, "none"),
    "logsf": _located(lambda x, df: _student_logcdf(-x, df), "none"),
}  # fmt: skip


def _beta(x: Array, a: Array, b: Array) -> Array:
    sp = special()
    return _inside((x >= 0) & (x <= 1), x, lambda x: sp.xlogy(a - 1.0, x) + sp.xlog1py(b - 1.0, -x) - sp.betaln(a, b))


def _gamma(x: Array, a: Array) -> Array:
    sp = special()
    return _inside(x >= 0, x, lambda x: sp.xlogy(a - 1.0, x) - x - sp.gammaln(a))


def _squares(x: Array, df: Array) -> Array:
    return _gamma(x / 2, df / 2) - math.log(2)


def _events(k: Array, mu: Array) -> Array:
    sp = special()
    return _inside((k >= 0) & (np.floor(k) == k), k, lambda k: sp.xlogy(k, mu) - sp.gammaln(k + 1) - mu)


BETA = _densities(
    _beta, lambda x, a, b: _inside((x > 0) & (x < 1), x, lambda x: special().betainc(a, b, x), 0.0) + (x >= 1)
)
GAMMA = _densities(_gamma, lambda x, a: _inside(x > 0, x, lambda x: special().gammainc(a, x), 0.0))
CHI_SQUARE = _densities(_squares, lambda x, df: _inside(x > 0, x, lambda x: special().gammainc(df / 2, x / 2), 0.0))
POISSON: dict[str, Function] = {
    "logpmf": lambda k, mu, loc=0: _events(k - loc, mu),
    "pmf": lambda k, mu, loc=0: np.exp(_events(k - loc, mu)),
    "cdf": lambda k, mu, loc=0: special().pdtr(getval(k) - loc, mu),
    "sf": lambda k, mu, loc=0: special().pdtrc(getval(k) - loc, mu),
}


def _dirichlet(x: Array, alpha: Array) -> Array:
    sp = special()
    alpha = arrayed(alpha)
    if np.shape(x)[0] + 1 == np.shape(alpha)[0]:
        x = np.concatenate([x, 1 - np.sum(x, axis=0, keepdims=True)])
    constant = sp.gammaln(np.sum(alpha)) - np.sum(sp.gammaln(alpha))
    return np.sum(sp.xlogy(alpha - 1, np.transpose(x)), -1) + constant


DIRICHLET: dict[str, Function] = {"logpdf": _dirichlet, "pdf": lambda x, alpha: np.exp(_dirichlet(x, alpha))}


def _spread(mean: Array | None, cov: Array | int, count: int) -> tuple[Array, Array]:
    """A mean and a covariance, given in short form, as a vector and a matrix."""
    mean = np.zeros(count) if mean is None else np.reshape(mean, -1) * np.ones(count)
    if isinstance(cov, int) or np.ndim(cov) == 0:
        return mean, cov * np.eye(count)
    return mean, cov if np.ndim(cov) == 2 else np.diag(cov)


def _quadratic(cov: Array, dev: Array) -> Array:
    """The quadratic form of the inverse of a covariance, for each row of deviations."""
    return np.sum(dev * np.transpose(np.linalg.solve(cov, np.transpose(dev))), -1)


def _volume(cov: Array, allow_singular: bool) -> tuple[Array, int, Function]:
    """The log-determinant and rank of a covariance, and the function of deviations that gives its quadratic form.

    For a singular covariance these are taken in its range.
    """
    count = np.shape(cov)[0]
    scales = np.linalg.eigvalsh(getval(cov))
    rank = int(np.sum(scales > 1e6 * np.finfo(scales.dtype).eps * np.max(np.abs(scales), initial=0)))
    if rank == count:
        return np.linalg.slogdet(cov)[1], rank, functools.partial(_quadratic, cov)
    if not allow_singular:
        raise np.linalg.LinAlgError(
            f"the covariance, of shape {np.shape(cov)}, has rank {rank}: pass allow_singular=True, or a regular one"
        )
    values, vectors = np.linalg.eigh(cov)
    values, vectors = values[count - rank :], vectors[:, count - rank :]
    return np.sum(np.log(values)), rank, lambda dev: np.sum(np.dot(dev, vectors) ** 2 / values, -1)


def _gaussian(x: Array, mean: Array | None = None, cov: Array | int = 1, allow_singular: bool = False) -> Array:
    given = next((each for each in (mean, cov) if each is not None and np.ndim(each)), None)
    count = np.shape(given)[0] if given is not None else 1
    mean, cov = _spread(mean, cov, count)
    logdet, rank, form = _volume(cov, allow_singular)
    x = np.reshape(x, (-1, 1)) if count == 1 and np.ndim(x) < 2 else x  # points of one coordinate
    return np.squeeze(-0.5 * (rank * LOG_TWO_PI + logdet + form(x - mean)))


def _gaussian_entropy(mean: Array | None = None, cov: Array | int = 1) -> Array:
    count = np.shape(cov)[0] if np.ndim(cov) else np.size(mean) if mean is not None else 1
    _, cov = _spread(None, cov, count)
    return 0.5 * (count * (1 + LOG_TWO_PI) + np.linalg.slogdet(cov)[1])


GAUSSIAN: dict[str, Function] = {
    "logpdf": _gaussian,
    "pdf": lambda *args, **kwargs: np.exp(_gaussian(*args, **kwargs)),
    "entropy": _gaussian_entropy,
}


def _distribution(name: str, formulas: dict[str, Function]) -> Namespace:
    """A distribution as a module of functions."""

    def scipys(function: str) -> Callable[[], Function]:
        return lambda: getattr(getattr(_stats(), name), function)

    own = {function: either(formula, scipys(function)) for function, formula in formulas.items()}
    return Namespace(
        f"autograd.scipy.stats.{name}", lambda: getattr(_stats(), name), own, f"scipy.stats.{name}, differentiable."
    )


FORMULAS: dict[str, dict[str, Function]] = {
    "beta": BETA, "chi2": CHI_SQUARE, "dirichlet": DIRICHLET, "gamma": GAMMA, "multivariate_normal": GAUSSIAN,
    "norm": NORM, "poisson": POISSON, "t": STUDENT,
}  # fmt: skip
DISTRIBUTIONS = {name: _distribution(name, formulas) for name, formulas in FORMULAS.items()}
STATS = Namespace("autograd.scipy.stats", _stats, dict(DISTRIBUTIONS), "scipy.stats: distributions that differentiate.")
