"""The table of SciPy functions on tensors: the operation for each ufunc of scipy.special.

SciPy's special functions are NumPy ufuncs, so `scipy.special.erf(t)` is dispatched to the tensor t. SciPy is not
imported here: a program that calls its functions has imported it.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.primitives import Function
from ..vocabulary import arithmetic, later
from ..vocabulary.promotion import broadcast, cast, fractional, inexact, together
from ..vocabulary.special import of_several
from .operands import constants, on_tensors, tensors

if TYPE_CHECKING:
    from .._core.typing import ArrayLike, Tensor, TensorLike

MODULES = ("scipy.special", "scipy.special._ufuncs")  # the second has ufuncs that functions such as zeta call


def name(ufunc: np.ufunc) -> str | None:
    """The name of a ufunc of scipy.special; None for any other."""
    for module in MODULES:
        if getattr(sys.modules.get(module), ufunc.__name__, None) is ufunc:
            return str(ufunc.__name__).removeprefix("_")
    return None


def _primitive(name: str, **params: Any) -> Function:
    """A primitive of real operands, with derivatives with respect to all of them."""
    return lambda *operands: of_several(getattr(ops, name), name, *operands, **params)


def _at(name: str, *places: int) -> Function:
    """A primitive of real operands, without derivatives for those at some positions: orders, parameters."""

    def function(*operands: ArrayLike) -> Tensor:
        fixed = [operands[place] for place in places]
        plain = constants(f"scipy.special.{name}", fixed, why=f"none is known by argument {places[0] + 1}")
        rest = [inexact(x) for place, x in enumerate(operands) if place not in places]
        moving = iter(together(*tensors(*rest, *operands)[: len(rest)]))
        given = [None if place in places else next(moving) for place in range(len(operands))]
        dtype = next(x for x in given if x is not None)._dtype
        for place, value in zip(places, plain, strict=True):
            given[place] = cast(value, dtype)
        return broadcast(getattr(ops, name), *given)

    return function


def _parts(name: str, *parts: str) -> Function:
    """A function that returns several results."""
    return lambda x: tuple(_primitive(f"{part}_of_{name}")(x) for part in parts)


def _polynomial(name: str, ours: str) -> Function:
    """An orthogonal polynomial; its first argument is the degree, an integer."""

    def function(n: ArrayLike, x: ArrayLike) -> Tensor:
        degree = constants(f"scipy.special.{name}", n, why="a degree is a whole number")
        if (np.trunc(degree) != degree).any() or (np.asarray(degree) < 0).any():
            raise TypeError(
                f"scipy.special.{name} has no derivative here at degree {degree}: degrees are whole numbers from 0"
            )
        return later("special", ours)(tensors(x, n)[0], np.asarray(degree))

    return function


def _halved(x: Tensor) -> Tensor:
    return arithmetic.div(x, 2)


def _poisson(k: ArrayLike, m: ArrayLike, tail: str) -> Tensor:
    events = np.floor(constants("scipy.special.pdtr", k, why="the number of events is a whole number"))
    return FUNCTIONS[tail](np.asarray(events) + 1, tensors(m, k)[0])


def _binomial(k: ArrayLike, n: ArrayLike, p: ArrayLike, tail: str) -> Tensor:
    few, all_of_them = np.broadcast_arrays(*constants("scipy.special.bdtr", (k, n), why="numbers of events are whole"))
    few = np.floor(few)
    return FUNCTIONS[tail](all_of_them - few, few + 1.0, 1 - tensors(p)[0])


def _negative_binomial(k: ArrayLike, n: ArrayLike, p: ArrayLike, tail: str) -> Tensor:
    failures, wanted = constants("scipy.special.nbdtr", (k, n), why="numbers of events are whole")
    return FUNCTIONS[tail](np.asarray(wanted, float), np.asarray(failures) + 1.0, tensors(p)[0])


def _fisher(first: TensorLike, second: TensorLike, x: TensorLike, tail: str) -> Tensor:
    m, n, value = fractional(first, second, x)
    share = m * value / (n + m * value)
    return FUNCTIONS[tail](_halved(m), _halved(n), share)


def _student(df: TensorLike, t: TensorLike) -> Tensor:
    freedom, value = fractional(df, t)
    half = FUNCTIONS["betainc"](_halved(freedom), 0.5, freedom / (freedom + value * value)) / 2
    return on_tensors.where(np.less(value, 0), half, 1 - half)


def _lambert(z: Tensor, k: ArrayLike = 0, tol: ArrayLike = 1e-8) -> Tensor:
    branch, accuracy = constants("scipy.special.lambertw", (k, tol))
    return broadcast(
        functools.partial(ops.lambertw, tol=float(accuracy)), cast(z, np.dtype(np.complex128)), *tensors(branch)
    )


def spherical(n: ArrayLike, z: Tensor) -> Tensor:
    """A spherical Bessel function of the first kind, of each degree where that is asked for."""
    degree = np.asarray(constants("scipy.special.spherical_jn", n, why="a degree is a whole number"))
    each = {
        order: of_several(ops.spherical_bessel_j, "spherical_jn", z, order=order)
        for order in np.unique(degree).tolist()
    }
    found = each.popitem()[1]
    for order, values in each.items():
        found = on_tensors.where(degree == order, values, found)
    return (
        found
        if found.ndim >= degree.ndim
        else on_tensors.broadcast_to(found, np.broadcast_shapes(found.shape, degree.shape))
    )


def _huber(delta: TensorLike, r: TensorLike) -> Tensor:
    bound, value = fractional(delta, r)
    size = np.abs(value)
    inside = on_tensors.where(size <= bound, value * value / 2, bound * (size - bound / 2))
    return on_tensors.where(np.less(bound, 0), np.inf, inside)


def _loggamma(x: Tensor) -> Tensor:
    return on_tensors.where(np.less(x, 0), np.nan, of_several(ops.lgamma, "loggamma", x))


# fmt: off
FUNCTIONS: dict[str, Function] = {
    # those that pullback implements
    **{name: later("special", name) for name in (
        "erf erfc erfcx erfinv entr exp2 expit expm1 gammaln i0 i0e i1 i1e log1p log_ndtr logit ndtr ndtri psi round "
        "xlog1py xlogy").split()},
    **{name: _primitive(name) for name in ("betainc", "gammainc", "gammaincc")},
    **{f"{kind}{order}": _primitive(f"bessel_{kind}", order=order) for kind in "jyk" for order in (0, 1)},
    **{f"k{order}e": _primitive("scaled_bessel_k", order=order) for order in (0, 1)},
    "zeta": _primitive("zeta", order=0),
    "cbrt": later("vocabulary.functions", "cbrt"),
    "exp10": lambda x: arithmetic.pow(10.0, inexact(x)),
    "log_expit": later("vocabulary.activations", "logsigmoid"),
    "loggamma": _loggamma,
    "huber": _huber,
    # distributions
    "chdtr": lambda v, x: FUNCTIONS["gammainc"](_halved(v), _halved(x)),
    "chdtrc": lambda v, x: FUNCTIONS["gammaincc"](_halved(v), _halved(x)),
    "gdtr": lambda a, b, x: FUNCTIONS["gammainc"](b, a * x),
    "gdtrc": lambda a, b, x: FUNCTIONS["gammaincc"](b, a * x),
    "pdtr": lambda k, m: _poisson(k, m, "gammaincc"),
    "pdtrc": lambda k, m: _poisson(k, m, "gammainc"),
    "bdtr": lambda k, n, p: _binomial(k, n, p, "betainc"),
    "bdtrc": lambda k, n, p: _binomial(k, n, p, "betaincc"),
    "nbdtr": lambda k, n, p: _negative_binomial(k, n, p, "betainc"),
    "nbdtrc": lambda k, n, p: _negative_binomial(k, n, p, "betaincc"),
    "lambertw": _lambert,
    "stdtr": _student,
    "fdtr": lambda dfn, dfd, x: _fisher(dfn, dfd, x, "betainc"),
    "fdtrc": lambda dfn, dfd, x: _fisher(dfn, dfd, x, "betaincc"),
    # those of `ops.classical`
    **{name: _primitive(name) for name in (
        "gamma beta betaln binom poch dawsn erfi erfcinv owens_t expi exp1 ellipk ellipe betaincc gammaincinv "
        "gammainccinv betaincinv wrightomega rel_entr kl_div pseudo_huber cosm1 powm1 sindg cosdg tandg cotdg").split()},
    **{name: _at(name, 0) for name in "jv yv iv kv ive kve hyp0f1 expn".split()},
    **{name: _at(name, 1) for name in "boxcox boxcox1p inv_boxcox inv_boxcox1p".split()},
    "hyp1f1": _at("hyp1f1", 0, 1),
    "hyp2f1": _at("hyp2f1", 0, 1, 2),
    "sici": _parts("sici", "sine", "cosine"),
    "shichi": _parts("shichi", "sine", "cosine"),
    "fresnel": _parts("fresnel", "sine", "cosine"),
    **{f"eval_{name}": _polynomial(f"eval_{name}", ours) for name, ours in {
        "chebyt": "chebyshev_polynomial_t", "chebyu": "chebyshev_polynomial_u", "hermite": "hermite_polynomial_h",
        "hermitenorm": "hermite_polynomial_he", "laguerre": "laguerre_polynomial_l", "legendre": "legendre_polynomial_p",
        "sh_chebyt": "shifted_chebyshev_polynomial_t", "sh_chebyu": "shifted_chebyshev_polynomial_u"}.items()},
}
# fmt: on
