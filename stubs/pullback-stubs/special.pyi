"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from collections.abc import Sequence as _Sequence
from typing import overload as _overload
import numpy as _np
from pullback._core.dtypes import dtype as _dtype
from pullback._tensor.tensor import Tensor
from typing import Any as _Any

_Number = bool | int | float | complex
_TensorLike = Tensor | _np.ndarray[_Any, _Any] | _np.generic | _Number
_DType = _dtype | _np.dtype[_Any] | type[_Any] | str

def airy_ai(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Airy's function Ai."""
def bessel_j0(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Bessel function of the first kind of order 0."""
def bessel_j1(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Bessel function of the first kind of order 1."""
def bessel_y0(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Bessel function of the second kind of order 0."""
def bessel_y1(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The Bessel function of the second kind of order 1."""
def betainc(a: _TensorLike, b: _TensorLike, x: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The regularized incomplete beta function: the beta distribution function at x, with shape parameters a and b."""
def chebyshev_polynomial_t(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Chebyshev's first polynomial of degree n at input; n is a whole number or a tensor of them."""
def chebyshev_polynomial_u(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Chebyshev's second polynomial of degree n at input; n is a whole number or a tensor of them."""
def chebyshev_polynomial_v(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Chebyshev's third polynomial of degree n at input; n is a whole number or a tensor of them."""
def chebyshev_polynomial_w(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Chebyshev's fourth polynomial of degree n at input; n is a whole number or a tensor of them."""
def digamma(input: Tensor) -> Tensor:
    """The derivative of lgamma."""
def entr(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """-input * log(input), the entropy; 0 at 0 and -inf below."""
def erf(input: Tensor) -> Tensor:
    """The error function, twice the integral of exp(-t * t) from 0 to input over the square root of pi."""
def erfc(input: Tensor) -> Tensor:
    """1 - erf(input), exact where that is nearly 0."""
def erfcx(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """exp(input * input) * erfc(input), far out where erfc is 0."""
def erfinv(input: Tensor) -> Tensor:
    """The number whose error function is input; inf at 1, NaN beyond."""
def exp2(input: Tensor) -> Tensor:
    """2 to the input, elementwise."""
def expit(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input)), elementwise."""
def expm1(input: Tensor) -> Tensor:
    """exp(input) - 1, exact for small inputs."""
def gammainc(input: Tensor, other: Tensor) -> Tensor:
    """The regularized lower incomplete gamma function: how much of a gamma distribution of shape input lies below other."""
def gammaincc(input: Tensor, other: Tensor) -> Tensor:
    """The regularized upper incomplete gamma function, 1 - igamma(input, other), with the same derivatives."""
def gammaln(input: Tensor) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""
def hermite_polynomial_h(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Hermite's physical polynomial of degree n at input; n is a whole number or a tensor of them."""
def hermite_polynomial_he(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Hermite's probabilistic polynomial of degree n at input; n is a whole number or a tensor of them."""
def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 0. It needs SciPy."""
def i0e(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """exp(-abs(input)) * i0(input), without overflow."""
def i1(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""
def i1e(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """exp(-abs(input)) * i1(input), without overflow."""
def laguerre_polynomial_l(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Laguerre's polynomial of degree n at input; n is a whole number or a tensor of them."""
def legendre_polynomial_p(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Legendre's polynomial of degree n at input; n is a whole number or a tensor of them."""
def log1p(input: Tensor) -> Tensor:
    """log(1 + input), exact for small inputs."""
def log_ndtr(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """log(ndtr(input)), far out where ndtr is 0."""
def log_softmax(input: Tensor, dim: int | None = None, dtype: _DType | None = None, *, axis: int | None = None) -> Tensor:
    """The logarithm of softmax along a dim, without overflow."""
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """log(input / (1 - input)), the inverse of sigmoid; `eps` clamps the input to [eps, 1 - eps]."""
@_overload
def logsumexp(input: Tensor, dim: int | _Sequence[int] | None, keepdim: bool = False, *, keepdims: bool = False) -> Tensor:
    """log(sum(exp(input))) along axes, without overflow."""
@_overload
def logsumexp(input: Tensor, axis: int | _Sequence[int] | None, keepdim: bool = False, *, keepdims: bool = False) -> Tensor:
    """log(sum(exp(input))) along axes, without overflow."""
def modified_bessel_i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind of order 0. It needs SciPy."""
def modified_bessel_i1(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""
def modified_bessel_k0(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0."""
def modified_bessel_k1(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1."""
def multigammaln(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p."""
def ndtr(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The probability that a standard normal deviate lies below input."""
def ndtri(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The number below which a standard normal deviate lies with probability input."""
def polygamma(n: int, input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The n-th derivative of digamma, n >= 0."""
def psi(input: Tensor) -> Tensor:
    """The derivative of lgamma."""
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest integer, halves to even, or the nearest number with `decimals` decimals; its gradient is 0."""
def scaled_modified_bessel_k0(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """exp(input) * modified_bessel_k0(input)."""
def scaled_modified_bessel_k1(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """exp(input) * modified_bessel_k1(input)."""
def shifted_chebyshev_polynomial_t(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Chebyshev's first shifted polynomial of degree n at input; n is a whole number or a tensor of them."""
def shifted_chebyshev_polynomial_u(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Chebyshev's second shifted polynomial of degree n at input; n is a whole number or a tensor of them."""
def shifted_chebyshev_polynomial_v(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Chebyshev's third shifted polynomial of degree n at input; n is a whole number or a tensor of them."""
def shifted_chebyshev_polynomial_w(input: Tensor, n: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Chebyshev's fourth shifted polynomial of degree n at input; n is a whole number or a tensor of them."""
def sinc(input: Tensor) -> Tensor:
    """sin(pi * input) / (pi * input), elementwise; 1 at 0."""
def softmax(input: Tensor, dim: int | None = None, dtype: _DType | None = None, *, axis: int | None = None) -> Tensor:
    """exp(input) divided by its sum along a dim."""
def spherical_bessel_j0(input: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The spherical Bessel function of order 0, sin(input) / input."""
def xlog1py(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input * log1p(other), and 0 where input is 0."""
def xlogy(input: Tensor, other: _TensorLike) -> Tensor:
    """input * log(other); 0 where input is 0."""
def zeta(input: Tensor, other: _TensorLike, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """Hurwitz's zeta function, the sum of (other + k) ** -input over k = 0, 1, 2, ..., for input above 1."""
