"""Special functions that only `pullback.special` has: entropies, Bessel's, Airy's and orthogonal polynomials."""

from typing import Any

from .. import ops
from .._core.sites import named
from . import special, spelled
from .special import of_one, of_two

entr = of_one(ops.entr, "entr", "-input * log(input), the entropy; 0 at 0 and -inf below.")
erfcx = of_one(ops.erfcx, "erfcx", "exp(input * input) * erfc(input), far out where erfc is 0.")
log_ndtr = of_one(ops.log_ndtr, "log_ndtr", "log(ndtr(input)), far out where ndtr is 0.")
ndtr = of_one(ops.ndtr, "ndtr", "The probability that a standard normal deviate lies below input.")
ndtri = of_one(ops.ndtri, "ndtri", "The number below which a standard normal deviate lies with probability input.")
xlog1py = of_two(ops.xlog1py, "xlog1py", "input * log1p(other), and 0 where input is 0.")
zeta = of_two(
    ops.zeta,
    "zeta",
    """Hurwitz's zeta function, the sum of (other + k) ** -input over k = 0, 1, 2, ..., for input above 1.

    Both arguments have derivatives, of which torch has that of the second alone.

    >>> import pullback
    >>> pullback.special.zeta(pullback.tensor([2.0]), 1)  # pi * pi / 6
    tensor([1.6449])
    """,
    order=0,
)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularised incomplete beta function: the beta distribution function at x, with shape parameters a and b.

    All three arguments have derivatives; torch does not have this function. Those by the shape parameters are computed
    by quadrature in float64. Compared with 40-digit values, for parameters from 1e-6 to 1000, their relative errors
    were below 2e-11, mostly near 1e-14; those of second derivatives below 1e-11 for parameters from 0.01, 1e-7 for
    smaller ones. It needs SciPy.

    >>> import pullback
    >>> a = pullback.tensor([2.0], requires_grad=True)
    >>> pullback.special.betainc(a, 2.0, 0.5).backward()
    >>> a.grad
    tensor([-0.2216])
    """
    return special.of_several(ops.betainc, "betainc", a, b, x)


airy_ai = of_one(ops.airy, "airy_ai", "Airy's function Ai.")
bessel_j0 = of_one(ops.bessel_j, "bessel_j0", "The Bessel function of the first kind of order 0.", order=0)
bessel_j1 = of_one(ops.bessel_j, "bessel_j1", "The Bessel function of the first kind of order 1.", order=1)
bessel_y0 = of_one(ops.bessel_y, "bessel_y0", "The Bessel function of the second kind of order 0.", order=0)
bessel_y1 = of_one(ops.bessel_y, "bessel_y1", "The Bessel function of the second kind of order 1.", order=1)
i0e = of_one(ops.scaled_bessel_i, "i0e", "exp(-abs(input)) * i0(input), without overflow.", order=0)
i1 = of_one(ops.bessel_i, "i1", "The modified Bessel function of the first kind of order 1.", order=1)
i1e = of_one(ops.scaled_bessel_i, "i1e", "exp(-abs(input)) * i1(input), without overflow.", order=1)
modified_bessel_i1 = i1
modified_bessel_k0 = of_one(
    ops.bessel_k, "modified_bessel_k0", "The modified Bessel function of the second kind of order 0.", order=0
)
modified_bessel_k1 = of_one(
    ops.bessel_k, "modified_bessel_k1", "The modified Bessel function of the second kind of order 1.", order=1
)
scaled_modified_bessel_k0 = of_one(
    ops.scaled_bessel_k, "scaled_modified_bessel_k0", "exp(input) * modified_bessel_k0(input).", order=0
)
scaled_modified_bessel_k1 = of_one(
    ops.scaled_bessel_k, "scaled_modified_bessel_k1", "exp(input) * modified_bessel_k1(input).", order=1
)
spherical_bessel_j0 = of_one(
    ops.spherical_bessel_j,
    "spherical_bessel_j0",
    "The spherical Bessel function of order 0, sin(input) / input.",
    order=0,
)


def _polynomial(name: str, family: str, whose: str) -> Any:
    text = f"{whose} polynomial of degree n at input; n is a whole number or a tensor of them, and has no derivative."
    of_degree = of_two(ops.orthogonal_polynomial, name, text, family=family, order=0)

    def function(input: Any, n: Any) -> Any:
        return of_degree(input, n)

    return named(name, function, text)


chebyshev_polynomial_t = _polynomial("chebyshev_polynomial_t", "chebyshev_t", "Chebyshev's first")
chebyshev_polynomial_u = _polynomial("chebyshev_polynomial_u", "chebyshev_u", "Chebyshev's second")
chebyshev_polynomial_v = _polynomial("chebyshev_polynomial_v", "chebyshev_v", "Chebyshev's third")
chebyshev_polynomial_w = _polynomial("chebyshev_polynomial_w", "chebyshev_w", "Chebyshev's fourth")
shifted_chebyshev_polynomial_t = _polynomial(
    "shifted_chebyshev_polynomial_t", "shifted_chebyshev_t", "Chebyshev's first shifted"
)
shifted_chebyshev_polynomial_u = _polynomial(
    "shifted_chebyshev_polynomial_u", "shifted_chebyshev_u", "Chebyshev's second shifted"
)
shifted_chebyshev_polynomial_v = _polynomial(
    "shifted_chebyshev_polynomial_v", "shifted_chebyshev_v", "Chebyshev's third shifted"
)
shifted_chebyshev_polynomial_w = _polynomial(
    "shifted_chebyshev_polynomial_w", "shifted_chebyshev_w", "Chebyshev's fourth shifted"
)
hermite_polynomial_h = _polynomial("hermite_polynomial_h", "hermite_h", "Hermite's physical")
hermite_polynomial_he = _polynomial("hermite_polynomial_he", "hermite_he", "Hermite's probabilistic")
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", "laguerre_l", "Laguerre's")
legendre_polynomial_p = _polynomial("legendre_polynomial_p", "legendre_p", "Legendre's")

# torch's name of the argument of these is x
for _name in (
    "airy_ai scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0 chebyshev_polynomial_t "
    "chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w shifted_chebyshev_polynomial_t "
    "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w "
    "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p"
).split():
    globals()[_name] = spelled(globals()[_name], {"x": "input"})
