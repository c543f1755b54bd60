"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable
from collections.abc import Mapping as _Mapping
from typing import Any as _Any
from typing import Concatenate as _Concatenate
from typing import Literal as _Literal
from typing import ParamSpec as _ParamSpec
from typing import Self as _Self
from typing import TypeVar as _TypeVar
from typing import overload as _overload

import numpy as _np

from pullback._tensor.tensor import Tensor as _Tensor

_A = _TypeVar("_A")
_B = _TypeVar("_B")
_P = _ParamSpec("_P")
_R = _TypeVar("_R")
_T = _TypeVar("_T")
_V = _TypeVar("_V", bound=_Tensor)
_Numbers = _np.ndarray[_Any, _Any] | _np.generic | complex | list[_Any]
_TensorLike = _Tensor | _Numbers
_First = _Callable[_Concatenate[_A, _P], _R]
_Second = _Callable[_Concatenate[_A, _B, _P], _R]
from typing import Self as _Self
import math
from typing import Any
import numpy as np
from .. import linalg
from .._core.values import holds
from .._tensor.functions import where
from ..nn.functional import softplus
from ..vocabulary.special import digamma, lgamma, mvlgamma
from . import expectations
from .continuous import Cauchy, Exponential, Laplace, Normal, Uniform
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import EULER, ExponentialFamily, summed
from .gamma import Beta, Dirichlet, Gamma
from .intervals import ContinuousBernoulli
from .lowrank import LowRankMultivariateNormal
from .matrices import Wishart, mvdigamma
from .multivariate import Independent, MultivariateNormal, mahalanobis
from .registry import RULES, kl_divergence as kl_divergence, register_kl as register_kl, unknown
from .transformed import Gumbel, HalfNormal, Pareto, TransformedDistribution

@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_families(p: Any, q: Any) -> Any:
    ...

@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ...

@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    ...

@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ...

@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ...

@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ...

@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    ...

@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    ...

@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    ...

@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ...

def _weighed(weight: Any, ours: Any, theirs: Any) -> Any:
    ...

@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    ...

@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    ...

@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    ...
RULES[OneHotCategorical, OneHotCategorical] = _categorical

@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    ...

@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    ...

@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    ...

@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    ...

@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    ...

@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    ...

@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_rank(p: Any, q: Any) -> Any:
    ...

@register_kl(Wishart, Wishart)
def _wishart(p: Any, q: Any) -> Any:
    ...

@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    ...

@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    ...
