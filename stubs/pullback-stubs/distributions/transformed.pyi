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
from typing import Any, ClassVar
from .._core.bfloat import finfo
from .._core.modes import no_grad, restoring
from .._core.shapes import Size
from .constraints import Constraint, dependent_property, greater_than_eq, independent, nonnegative, positive, real, simplex, unit_interval
from .continuous import Cauchy, Exponential, Normal, Uniform
from .distribution import EULER, Distribution, alias, broadcast_all, summed
from .gamma import Gamma
from .multivariate import Independent
from .transforms import AbsTransform, AffineTransform, ComposeTransform, ExpTransform, PowerTransform, StickBreakingTransform, Transform

class TransformedDistribution(Distribution):
    ...

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None=None) -> None:
        ...

    def expand(self, batch_shape: Any, _instance: Any=None) -> _Self:
        ...
    has_rsample = alias('base_dist.has_rsample', 'Whether samples can be differentiated by the parameters.')

    @dependent_property
    def support(self) -> Any:
        ...

    @restoring
    def sample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _transformed(self, value: Any) -> Any:
        ...

    def _traced_back(self, value: Any) -> Any:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def _turned(self, chance: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        ...
    base_dist: _Any
    transforms: _Any

class _OfBase(TransformedDistribution):
    ...

    def _shown(self) -> dict[str, Any]:
        ...

class LogNormal(_OfBase):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': real, 'scale': positive}
    support = positive
    loc = alias('base_dist.loc', 'The mean of the logarithm.')
    scale = alias('base_dist.scale', 'The standard deviation of the logarithm.')

    def __init__(self, loc: _Tensor | float, scale: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...

class Gumbel(TransformedDistribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': real, 'scale': positive}
    support = real

    def __init__(self, loc: _Tensor | float, scale: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def _exponent(self, value: Any) -> Any:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...
    loc: _Tensor
    scale: _Tensor

class _Half(_OfBase):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'scale': positive}
    support = nonnegative
    scale = alias('base_dist.scale', 'How far the values are spread.')

    def __init__(self, base: Any, validate_args: bool | None) -> None:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...

class HalfNormal(_Half):
    ...

    def __init__(self, scale: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

class HalfCauchy(_Half):
    ...

    def __init__(self, scale: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

class Pareto(TransformedDistribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'alpha': positive, 'scale': positive}

    def __init__(self, scale: _Tensor | float, alpha: Any, validate_args: bool | None=None) -> None:
        ...

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...
    alpha: _Any
    scale: _Tensor

class Weibull(TransformedDistribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'scale': positive, 'concentration': positive}
    support = positive

    def __init__(self, scale: _Tensor | float, concentration: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    def _moment(self, order: int) -> Any:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...
    concentration: _Tensor
    scale: _Tensor

class InverseGamma(_OfBase):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'concentration': positive, 'rate': positive}
    support = positive
    concentration = alias('base_dist.concentration', 'The concentration of the gamma distribution.')
    rate = alias('base_dist.rate', 'Its rate.')

    def __init__(self, concentration: _Tensor | float, rate: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...

class Kumaraswamy(TransformedDistribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'concentration1': positive, 'concentration0': positive}
    support = unit_interval

    def __init__(self, concentration1: _Tensor | float, concentration0: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    def _moment(self, order: int) -> Any:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...
    concentration0: _Tensor
    concentration1: _Tensor

class LogisticNormal(TransformedDistribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': real, 'scale': positive}
    support = simplex

    def __init__(self, loc: _Tensor | float, scale: _Tensor | float, validate_args: bool | None=None) -> None:
        ...
    loc = alias('base_dist.base_dist.loc', 'The means of the normal numbers.')
    scale = alias('base_dist.base_dist.scale', 'Their standard deviations.')
