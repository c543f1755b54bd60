"""Special functions that only `pullback.special` has: entropies, Bessel's, Airy's and orthogonal polynomials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import ops
from .._core.sites import named
from . import special, spelled
from .special import of_one, of_two

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Tensor, TensorLike


@of_one(ops.entr)
def entr(input: Tensor) -> Tensor:
    """-input * log(input), the entropy; 0 at 0 and -inf below.

    >>> import pullback
    >>> pullback.special.entr(pullback.tensor([0.0, 0.5, -1.0]))
    tensor([0.0000, 0.3466,   -inf])
    """


@of_one(ops.erfcx)
def erfcx(input: Tensor) -> Tensor:
    """exp(input * input) * erfc(input), far out where erfc is 0.

    >>> import pullback
    >>> pullback.special.erfcx(pullback.tensor([0.0, 100.0]))
    tensor([1.0000, 0.0056])
    """


@of_one(ops.log_ndtr)
def log_ndtr(input: Tensor) -> Tensor:
    """log(ndtr(input)), far out where ndtr is 0.

    >>> import pullback
    >>> pullback.special.log_ndtr(pullback.tensor([0.0, -100.0]))
    tensor([-6.9315e-01, -5.0055e+03])
    """


@of_one(ops.ndtr)
def ndtr(input: Tensor) -> Tensor:
    """The probability that a standard normal deviate lies below input.

    >>> import pullback
    >>> pullback.special.ndtr(pullback.tensor([0.0, 1.96]))
    tensor([0.5000, 0.9750])
    """


@of_one(ops.ndtri)
def ndtri(input: Tensor) -> Tensor:
    """The number below which a standard normal deviate lies with probability input.

    >>> import pullback
    >>> pullback.special.ndtri(pullback.tensor([0.5, 0.975]))
    tensor([0.0000, 1.9600])
    """


@of_two(ops.xlog1py)
def xlog1py(input: Tensor, other: TensorLike) -> Tensor:
    """input * log1p(other), and 0 where input is 0.

    >>> import pullback
    >>> pullback.special.xlog1py(pullback.tensor([0.0, 2.0]), pullback.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
    """


@of_two(ops.zeta, order=0)
def zeta(input: Tensor, other: TensorLike) -> Tensor:
    """Hurwitz's zeta function, the sum of (other + k) ** -input over k = 0, 1, 2, ..., for input above 1.

    Both arguments have derivatives, of which torch has that of the second alone.

    >>> import pullback
    >>> pullback.special.zeta(pullback.tensor([2.0]), 1)  # pi * pi / 6
    tensor([1.6449])
    """


def betainc(a: TensorLike, b: TensorLike, x: TensorLike) -> Tensor:
    """The regularized incomplete beta function: the beta distribution function at x, with shape parameters a and b.

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


@of_one(ops.airy)
def airy_ai(input: Tensor) -> Tensor:
    """Airy's function Ai.

    >>> import pullback
    >>> pullback.special.airy_ai(pullback.tensor([0.0, 1.0]))
    tensor([0.3550, 0.1353])
    """


@of_one(ops.bessel_j, order=0)
def bessel_j0(input: Tensor) -> Tensor:
    """The Bessel function of the first kind of order 0.

    >>> import pullback
    >>> pullback.special.bessel_j0(pullback.tensor([0.0, 1.0]))
    tensor([1.0000, 0.7652])
    """


@of_one(ops.bessel_j, order=1)
def bessel_j1(input: Tensor) -> Tensor:
    """The Bessel function of the first kind of order 1.

    >>> import pullback
    >>> pullback.special.bessel_j1(pullback.tensor([0.0, 1.0]))
    tensor([0.0000, 0.4401])
    """


@of_one(ops.bessel_y, order=0)
def bessel_y0(input: Tensor) -> Tensor:
    """The Bessel function of the second kind of order 0.

    >>> import pullback
    >>> pullback.special.bessel_y0(pullback.tensor([1.0]))
    tensor([0.0883])
    """


@of_one(ops.bessel_y, order=1)
def bessel_y1(input: Tensor) -> Tensor:
    """The Bessel function of the second kind of order 1.

    >>> import pullback
    >>> pullback.special.bessel_y1(pullback.tensor([1.0]))
    tensor([-0.7812])
    """


@of_one(ops.scaled_bessel_i, order=0)
def i0e(input: Tensor) -> Tensor:
    """exp(-abs(input)) * i0(input), without overflow.

    >>> import pullback
    >>> pullback.special.i0e(pullback.tensor([0.0, 1000.0]))
    tensor([1.0000, 0.0126])
    """


@of_one(ops.bessel_i, order=1)
def i1(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 1.

    >>> import pullback
    >>> pullback.special.i1(pullback.tensor([0.0, 1.0]))
    tensor([0.0000, 0.5652])
    """


@of_one(ops.scaled_bessel_i, order=1)
def i1e(input: Tensor) -> Tensor:
    """exp(-abs(input)) * i1(input), without overflow.

    >>> import pullback
    >>> pullback.special.i1e(pullback.tensor([0.0, 1000.0]))
    tensor([0.0000, 0.0126])
    """


modified_bessel_i1 = i1


@of_one(ops.bessel_k, order=0)
def modified_bessel_k0(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind of order 0.

    >>> import pullback
    >>> pullback.special.modified_bessel_k0(pullback.tensor([1.0]))
    tensor([0.4210])
    """


@of_one(ops.bessel_k, order=1)
def modified_bessel_k1(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind of order 1.

    >>> import pullback
    >>> pullback.special.modified_bessel_k1(pullback.tensor([1.0]))
    tensor([0.6019])
    """


@of_one(ops.scaled_bessel_k, order=0)
def scaled_modified_bessel_k0(input: Tensor) -> Tensor:
    """exp(input) * modified_bessel_k0(input).

    >>> import pullback
    >>> pullback.special.scaled_modified_bessel_k0(pullback.tensor([1.0, 1000.0]))
    tensor([1.1445, 0.0396])
    """


@of_one(ops.scaled_bessel_k, order=1)
def scaled_modified_bessel_k1(input: Tensor) -> Tensor:
    """exp(input) * modified_bessel_k1(input).

    >>> import pullback
    >>> pullback.special.scaled_modified_bessel_k1(pullback.tensor([1.0, 1000.0]))
    tensor([1.6362, 0.0396])
    """


@of_one(ops.spherical_bessel_j, order=0)
def spherical_bessel_j0(input: Tensor) -> Tensor:
    """The spherical Bessel function of order 0, sin(input) / input.

    >>> import pullback
    >>> pullback.special.spherical_bessel_j0(pullback.tensor([0.0, 1.5708]))
    tensor([1.0000, 0.6366])
    """


def _polynomial(name: str, family: str, whose: str, at_two: str) -> Callable[..., Tensor]:
    """An orthogonal polynomial; `at_two` is that of degree 2 at 2."""

    def function(input: Tensor, n: TensorLike) -> Tensor:
        return special.of_several(ops.orthogonal_polynomial, name, input, n, family=family, order=0)

    text = f"""{whose} polynomial of degree n at input; n is a whole number or a tensor of them.

    It has no derivative with respect to n.

    >>> import pullback
    >>> pullback.special.{name}(pullback.tensor([2.0]), 2)
    tensor([{at_two}])
    """
    return named(name, function, text)


chebyshev_polynomial_t = _polynomial("chebyshev_polynomial_t", "chebyshev_t", "Chebyshev's first", "7.")
chebyshev_polynomial_u = _polynomial("chebyshev_polynomial_u", "chebyshev_u", "Chebyshev's second", "15.")
chebyshev_polynomial_v = _polynomial("chebyshev_polynomial_v", "chebyshev_v", "Chebyshev's third", "11.")
chebyshev_polynomial_w = _polynomial("chebyshev_polynomial_w", "chebyshev_w", "Chebyshev's fourth", "19.")
shifted_chebyshev_polynomial_t = _polynomial(
    "shifted_chebyshev_polynomial_t", "shifted_chebyshev_t", "Chebyshev's first shifted", "17."
)
shifted_chebyshev_polynomial_u = _polynomial(
    "shifted_chebyshev_polynomial_u", "shifted_chebyshev_u", "Chebyshev's second shifted", "35."
)
shifted_chebyshev_polynomial_v = _polynomial(
    "shifted_chebyshev_polynomial_v", "shifted_chebyshev_v", "Chebyshev's third shifted", "29."
)
shifted_chebyshev_polynomial_w = _polynomial(
    "shifted_chebyshev_polynomial_w", "shifted_chebyshev_w", "Chebyshev's fourth shifted", "41."
)
hermite_polynomial_h = _polynomial("hermite_polynomial_h", "hermite_h", "Hermite's physical", "14.")
hermite_polynomial_he = _polynomial("hermite_polynomial_he", "hermite_he", "Hermite's probabilistic", "3.")
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", "laguerre_l", "Laguerre's", "-1.")
legendre_polynomial_p = _polynomial("legendre_polynomial_p", "legendre_p", "Legendre's", "5.5000")

# torch's name of the argument of these is x
for _name in (
    "airy_ai scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0 chebyshev_polynomial_t "
    "chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w shifted_chebyshev_polynomial_t "
    "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w "
    "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p"
).split():
    globals()[_name] = spelled(globals()[_name], {"x": "input"})
