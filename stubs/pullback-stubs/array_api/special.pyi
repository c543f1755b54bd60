"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from collections.abc import Sequence as _Sequence
from typing import Any as _Any
from typing import overload as _overload
import numpy as _np
import numpy.typing as _npt
from pullback._core.dtypes import dtype as _dtype
from pullback._tensor.tensor import Tensor

_Number = bool | int | float | complex
_TensorLike = Tensor | _np.ndarray[_Any, _Any] | _np.generic | _Number
_DType = _dtype | _np.dtype[_Any] | type[_Any] | str

def bdtr(k: _Any, n: _Number, p: _Any) -> Tensor:
    """`scipy.special.bdtr` of tensors, with gradients."""
def bdtrc(k: _Any, n: _Number, p: _Any) -> Tensor:
    """`scipy.special.bdtrc` of tensors, with gradients."""
def beta(*operands: _Any) -> Tensor:
    """`scipy.special.beta` of tensors, with gradients."""
def betainc(*operands: _Any) -> Tensor:
    """`scipy.special.betainc` of tensors, with gradients."""
def betaincc(*operands: _Any) -> Tensor:
    """`scipy.special.betaincc` of tensors, with gradients."""
def betaincinv(*operands: _Any) -> Tensor:
    """`scipy.special.betaincinv` of tensors, with gradients."""
def betaln(*operands: _Any) -> Tensor:
    """`scipy.special.betaln` of tensors, with gradients."""
def binom(*operands: _Any) -> Tensor:
    """`scipy.special.binom` of tensors, with gradients."""
def boxcox(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.boxcox` of tensors, with gradients."""
def boxcox1p(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.boxcox1p` of tensors, with gradients."""
def cbrt(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.cbrt` of tensors, with gradients."""
def chdtr(v: _Any, x: Tensor) -> Tensor:
    """`scipy.special.chdtr` of tensors, with gradients."""
def chdtrc(v: _Any, x: Tensor) -> Tensor:
    """`scipy.special.chdtrc` of tensors, with gradients."""
def cosdg(*operands: _Any) -> Tensor:
    """`scipy.special.cosdg` of tensors, with gradients."""
def cosm1(*operands: _Any) -> Tensor:
    """`scipy.special.cosm1` of tensors, with gradients."""
def cotdg(*operands: _Any) -> Tensor:
    """`scipy.special.cotdg` of tensors, with gradients."""
def dawsn(*operands: _Any) -> Tensor:
    """`scipy.special.dawsn` of tensors, with gradients."""
def ellipe(*operands: _Any) -> Tensor:
    """`scipy.special.ellipe` of tensors, with gradients."""
def ellipk(*operands: _Any) -> Tensor:
    """`scipy.special.ellipk` of tensors, with gradients."""
def entr(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.entr` of tensors, with gradients."""
def erf(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.erf` of tensors, with gradients."""
def erfc(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.erfc` of tensors, with gradients."""
def erfcinv(*operands: _Any) -> Tensor:
    """`scipy.special.erfcinv` of tensors, with gradients."""
def erfcx(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.erfcx` of tensors, with gradients."""
def erfi(*operands: _Any) -> Tensor:
    """`scipy.special.erfi` of tensors, with gradients."""
def erfinv(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.erfinv` of tensors, with gradients."""
def eval_chebyt(n: Tensor | _npt.ArrayLike, x: Tensor) -> Tensor:
    """`scipy.special.eval_chebyt` of tensors, with gradients."""
def eval_chebyu(n: Tensor | _npt.ArrayLike, x: Tensor) -> Tensor:
    """`scipy.special.eval_chebyu` of tensors, with gradients."""
def eval_hermite(n: Tensor | _npt.ArrayLike, x: Tensor) -> Tensor:
    """`scipy.special.eval_hermite` of tensors, with gradients."""
def eval_hermitenorm(n: Tensor | _npt.ArrayLike, x: Tensor) -> Tensor:
    """`scipy.special.eval_hermitenorm` of tensors, with gradients."""
def eval_laguerre(n: Tensor | _npt.ArrayLike, x: Tensor) -> Tensor:
    """`scipy.special.eval_laguerre` of tensors, with gradients."""
def eval_legendre(n: Tensor | _npt.ArrayLike, x: Tensor) -> Tensor:
    """`scipy.special.eval_legendre` of tensors, with gradients."""
def eval_sh_chebyt(n: Tensor | _npt.ArrayLike, x: Tensor) -> Tensor:
    """`scipy.special.eval_sh_chebyt` of tensors, with gradients."""
def eval_sh_chebyu(n: Tensor | _npt.ArrayLike, x: Tensor) -> Tensor:
    """`scipy.special.eval_sh_chebyu` of tensors, with gradients."""
def exp1(*operands: _Any) -> Tensor:
    """`scipy.special.exp1` of tensors, with gradients."""
def exp10(x: Tensor) -> Tensor:
    """`scipy.special.exp10` of tensors, with gradients."""
def exp2(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.exp2` of tensors, with gradients."""
def expi(*operands: _Any) -> Tensor:
    """`scipy.special.expi` of tensors, with gradients."""
def expit(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.expit` of tensors, with gradients."""
def expm1(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.expm1` of tensors, with gradients."""
def expn(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.expn` of tensors, with gradients."""
def fdtr(dfn: _Any, dfd: _Any, x: Tensor) -> Tensor:
    """`scipy.special.fdtr` of tensors, with gradients."""
def fdtrc(dfn: _Any, dfd: _Any, x: Tensor) -> Tensor:
    """`scipy.special.fdtrc` of tensors, with gradients."""
def fresnel(x: Tensor) -> Tensor:
    """`scipy.special.fresnel` of tensors, with gradients."""
def gamma(*operands: _Any) -> Tensor:
    """`scipy.special.gamma` of tensors, with gradients."""
def gammainc(*operands: _Any) -> Tensor:
    """`scipy.special.gammainc` of tensors, with gradients."""
def gammaincc(*operands: _Any) -> Tensor:
    """`scipy.special.gammaincc` of tensors, with gradients."""
def gammainccinv(*operands: _Any) -> Tensor:
    """`scipy.special.gammainccinv` of tensors, with gradients."""
def gammaincinv(*operands: _Any) -> Tensor:
    """`scipy.special.gammaincinv` of tensors, with gradients."""
def gammaln(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.gammaln` of tensors, with gradients."""
def gdtr(a: Tensor, b: _TensorLike, x: Tensor) -> Tensor:
    """`scipy.special.gdtr` of tensors, with gradients."""
def gdtrc(a: Tensor, b: _TensorLike, x: Tensor) -> Tensor:
    """`scipy.special.gdtrc` of tensors, with gradients."""
def huber(delta: _TensorLike, r: _TensorLike) -> Tensor:
    """`scipy.special.huber` of tensors, with gradients."""
def hyp0f1(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.hyp0f1` of tensors, with gradients."""
def hyp1f1(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.hyp1f1` of tensors, with gradients."""
def hyp2f1(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.hyp2f1` of tensors, with gradients."""
def i0(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.i0` of tensors, with gradients."""
def i0e(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.i0e` of tensors, with gradients."""
def i1(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.i1` of tensors, with gradients."""
def i1e(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.i1e` of tensors, with gradients."""
def inv_boxcox(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.inv_boxcox` of tensors, with gradients."""
def inv_boxcox1p(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.inv_boxcox1p` of tensors, with gradients."""
def iv(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.iv` of tensors, with gradients."""
def ive(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.ive` of tensors, with gradients."""
def j0(*operands: _Any) -> Tensor:
    """`scipy.special.j0` of tensors, with gradients."""
def j1(*operands: _Any) -> Tensor:
    """`scipy.special.j1` of tensors, with gradients."""
def jv(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.jv` of tensors, with gradients."""
def k0(*operands: _Any) -> Tensor:
    """`scipy.special.k0` of tensors, with gradients."""
def k0e(*operands: _Any) -> Tensor:
    """`scipy.special.k0e` of tensors, with gradients."""
def k1(*operands: _Any) -> Tensor:
    """`scipy.special.k1` of tensors, with gradients."""
def k1e(*operands: _Any) -> Tensor:
    """`scipy.special.k1e` of tensors, with gradients."""
def kl_div(*operands: _Any) -> Tensor:
    """`scipy.special.kl_div` of tensors, with gradients."""
def kv(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.kv` of tensors, with gradients."""
def kve(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.kve` of tensors, with gradients."""
def lambertw(z: Tensor, k: Tensor | _npt.ArrayLike = 0, tol: Tensor | _npt.ArrayLike = 1e-08) -> Tensor:
    """`scipy.special.lambertw` of tensors, with gradients."""
def log1p(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.log1p` of tensors, with gradients."""
def log_expit(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.log_expit` of tensors, with gradients."""
def log_ndtr(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.log_ndtr` of tensors, with gradients."""
def log_softmax(input: Tensor, dim: int | None = None, dtype: _DType | None = None, *, axis: int | None = None) -> Tensor:
    """The logarithm of softmax along a dim, without overflow."""
def loggamma(x: Tensor) -> Tensor:
    """`scipy.special.loggamma` of tensors, with gradients."""
def logit(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.logit` of tensors, with gradients."""
@_overload
def logsumexp(input: Tensor, dim: int | _Sequence[int] | None, keepdim: bool = False, *, keepdims: bool = False) -> Tensor:
    """log(sum(exp(input))) along axes, without overflow."""
@_overload
def logsumexp(input: Tensor, axis: int | _Sequence[int] | None, keepdim: bool = False, *, keepdims: bool = False) -> Tensor:
    """log(sum(exp(input))) along axes, without overflow."""
def multigammaln(a: Tensor, d: int, /) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension d."""
def nbdtr(k: _Any, n: _Number, p: _Any) -> Tensor:
    """`scipy.special.nbdtr` of tensors, with gradients."""
def nbdtrc(k: _Any, n: _Number, p: _Any) -> Tensor:
    """`scipy.special.nbdtrc` of tensors, with gradients."""
def ndtr(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.ndtr` of tensors, with gradients."""
def ndtri(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.ndtri` of tensors, with gradients."""
def owens_t(*operands: _Any) -> Tensor:
    """`scipy.special.owens_t` of tensors, with gradients."""
def pdtr(k: _Any, m: Tensor) -> Tensor:
    """`scipy.special.pdtr` of tensors, with gradients."""
def pdtrc(k: _Any, m: Tensor) -> Tensor:
    """`scipy.special.pdtrc` of tensors, with gradients."""
def poch(*operands: _Any) -> Tensor:
    """`scipy.special.poch` of tensors, with gradients."""
def polygamma(n: int, x: Tensor, /) -> Tensor:
    """The n-th derivative of the digamma function."""
def powm1(*operands: _Any) -> Tensor:
    """`scipy.special.powm1` of tensors, with gradients."""
def pseudo_huber(*operands: _Any) -> Tensor:
    """`scipy.special.pseudo_huber` of tensors, with gradients."""
def psi(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.psi` of tensors, with gradients."""
def rel_entr(*operands: _Any) -> Tensor:
    """`scipy.special.rel_entr` of tensors, with gradients."""
def rgamma(x: Tensor, /) -> Tensor:
    """The reciprocal of the gamma function."""
def round(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.round` of tensors, with gradients."""
def shichi(x: Tensor) -> Tensor:
    """`scipy.special.shichi` of tensors, with gradients."""
def sici(x: Tensor) -> Tensor:
    """`scipy.special.sici` of tensors, with gradients."""
def sinc(input: Tensor) -> Tensor:
    """sin(pi * input) / (pi * input), elementwise; 1 at 0."""
def sindg(*operands: _Any) -> Tensor:
    """`scipy.special.sindg` of tensors, with gradients."""
def softmax(input: Tensor, dim: int | None = None, dtype: _DType | None = None, *, axis: int | None = None) -> Tensor:
    """exp(input) divided by its sum along a dim."""
def stdtr(df: _TensorLike, t: _TensorLike, /) -> Tensor:
    """The cumulative distribution function of Student's t, with df degrees of freedom."""
def stdtr(df: _TensorLike, t: _TensorLike, /) -> Tensor:
    """The cumulative distribution function of Student's t, with df degrees of freedom."""
def stdtrit(df: _TensorLike, p: _TensorLike, /) -> Tensor:
    """The quantile of Student's t, with df degrees of freedom, for the probability p: the inverse of `stdtr` by t."""
def tandg(*operands: _Any) -> Tensor:
    """`scipy.special.tandg` of tensors, with gradients."""
def wrightomega(*operands: _Any) -> Tensor:
    """`scipy.special.wrightomega` of tensors, with gradients."""
def xlog1py(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.xlog1py` of tensors, with gradients."""
def xlogy(*args: _Any, **options: _Any) -> Tensor:
    """`scipy.special.xlogy` of tensors, with gradients."""
def y0(*operands: _Any) -> Tensor:
    """`scipy.special.y0` of tensors, with gradients."""
def y1(*operands: _Any) -> Tensor:
    """`scipy.special.y1` of tensors, with gradients."""
def yv(*operands: Tensor | _npt.ArrayLike) -> Tensor:
    """`scipy.special.yv` of tensors, with gradients."""
def zeta(*operands: _Any) -> Tensor:
    """`scipy.special.zeta` of tensors, with gradients."""
