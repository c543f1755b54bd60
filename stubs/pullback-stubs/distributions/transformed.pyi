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
from typing import TYPE_CHECKING, ClassVar, Self
from .. import Size, finfo, no_grad
from ..extend import restoring
from .constraints import Constraint, dependent_property, greater_than_eq, independent, nonnegative, positive, real, simplex, unit_interval
from .continuous import Cauchy, Exponential, Normal, Uniform
from .distribution import EULER, Distribution, alias, broadcast_all, derived, summed
from .gamma import Gamma
from .multivariate import Independent
from .transforms import AbsTransform, AffineTransform, ComposeTransform, ExpTransform, PowerTransform, StickBreakingTransform, Transform
if TYPE_CHECKING:
    from collections.abc import Sequence
    from .._core.typing import Tensor

class TransformedDistribution(Distribution):
    ...
    base_dist: Distribution
    transforms: list[Transform]

    def __init__(self, base_distribution: Distribution, transforms: Transform | list[Transform], validate_args: bool | None=None) -> None:
        ...

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None=None) -> Self:
        ...

    @derived
    def has_rsample(self) -> bool:
        ...

    @dependent_property
    def support(self) -> Constraint | None:
        ...

    @restoring
    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _transformed(self, value: Tensor) -> Tensor:
        ...

    def _traced_back(self, value: Tensor) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def _turned(self, chance: Tensor) -> Tensor:
        ...

    def _cdf(self, value: Tensor) -> Tensor:
        ...

    def icdf(self, value: Tensor) -> Tensor:
        ...

class _OfBase(TransformedDistribution):
    ...

    def _shown(self) -> dict[str, Tensor]:
        ...

class LogNormal(_OfBase):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': real, 'scale': positive}
    support = positive
    loc = alias('base_dist.loc', 'The mean of the logarithm.')
    scale = alias('base_dist.scale', 'The standard deviation of the logarithm.')

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> Tensor:
        ...

    @property
    def mode(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class Gumbel(TransformedDistribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': real, 'scale': positive}
    support = real
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> Tensor:
        ...
    mode = alias('loc', 'The most probable value.')

    @property
    def variance(self) -> Tensor:
        ...

    def _exponent(self, value: Tensor) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def _cdf(self, value: Tensor) -> Tensor:
        ...

    def icdf(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class _Half(_OfBase):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'scale': positive}
    support = nonnegative
    scale = alias('base_dist.scale', 'How far the values are spread.')

    def __init__(self, base: Distribution, validate_args: bool | None) -> None:
        ...

    @property
    def mode(self) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def _cdf(self, value: Tensor) -> Tensor:
        ...

    def icdf(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class HalfNormal(_Half):
    ...
    base_dist: Normal

    def __init__(self, scale: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

class HalfCauchy(_Half):
    ...

    def __init__(self, scale: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

class Pareto(TransformedDistribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'alpha': positive, 'scale': positive}
    scale: Tensor
    alpha: Tensor

    def __init__(self, scale: Tensor | float, alpha: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        ...

    @property
    def mean(self) -> Tensor:
        ...
    mode = alias('scale', 'The most probable value.')

    @property
    def variance(self) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class Weibull(TransformedDistribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'scale': positive, 'concentration': positive}
    support = positive
    scale: Tensor
    concentration: Tensor

    def __init__(self, scale: Tensor | float, concentration: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    def _moment(self, order: int) -> Tensor:
        ...

    @property
    def mean(self) -> Tensor:
        ...

    @property
    def mode(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class InverseGamma(_OfBase):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'concentration': positive, 'rate': positive}
    support = positive
    concentration = alias('base_dist.concentration', 'The concentration of the gamma distribution.')
    rate = alias('base_dist.rate', 'Its rate.')

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> Tensor:
        ...

    @property
    def mode(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class Kumaraswamy(TransformedDistribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'concentration1': positive, 'concentration0': positive}
    support = unit_interval
    concentration1: Tensor
    concentration0: Tensor

    def __init__(self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    def _moment(self, order: int) -> Tensor:
        ...

    @property
    def mean(self) -> Tensor:
        ...

    @property
    def mode(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class LogisticNormal(TransformedDistribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': real, 'scale': positive}
    support = simplex

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None=None) -> None:
        ...
    loc = alias('base_dist.base_dist.loc', 'The means of the normal numbers.')
    scale = alias('base_dist.base_dist.scale', 'Their standard deviations.')
