"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from __future__ import annotations
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
from .._tensor import sampling
from .._tensor.functions import log1p
from ..vocabulary.special import erf, erfinv
from . import constraints
from .constraints import Constraint
from .distribution import LOG_ROOT_TAU, Distribution, ExponentialFamily, alias, broadcast_all, drawn_evenly

class _Scaled(Distribution):
    """The base of location-scale families."""
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': constraints.real, 'scale': constraints.positive}
    support = constraints.real
    loc: _Tensor
    scale: _Tensor

    def __init__(self, loc: _Tensor | float, scale: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    def _standard(self, shape: Any) -> Any:
        """Samples of the standard member, with location 0 and scale 1."""

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        """Random samples, as differentiable functions of the parameters."""

    def _standardized(self, value: Any) -> Any:
        ...

class Normal(_Scaled, ExponentialFamily):
    """The normal distribution with mean `loc` and standard deviation `scale`."""

    def _standard(self, shape: Any) -> Any:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def stddev(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        """The variance."""

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        """The quantile for a probability: the inverse of `cdf`."""

    def entropy(self) -> _Tensor:
        """The entropy, in nats."""

class Laplace(_Scaled):
    """The distribution with density proportional to exp(-abs(x - loc) / scale)."""

    def _standard(self, shape: Any) -> Any:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        """The variance."""

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        """The quantile for a probability: the inverse of `cdf`."""

    def entropy(self) -> _Tensor:
        """The entropy, in nats."""

class Cauchy(_Scaled):
    """The Cauchy distribution, which has no mean and no variance."""

    def _standard(self, shape: Any) -> Any:
        ...

    @property
    def mean(self) -> _Tensor:
        """NaN: the mean does not exist."""

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        """Infinite."""

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        """The quantile for a probability: the inverse of `cdf`."""

    def entropy(self) -> _Tensor:
        """The entropy, in nats."""

class Uniform(Distribution):
    """The distribution on [low, high) with constant density."""
    has_rsample = True
    low: _Tensor
    high: _Tensor

    def __init__(self, low: _Tensor | float, high: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        """The constraints on the bounds."""

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The set of possible values."""

    @property
    def mean(self) -> _Tensor:
        """The mean."""

    @property
    def mode(self) -> _Tensor:
        """NaN: all values have the same density."""

    @property
    def variance(self) -> _Tensor:
        """The variance."""

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        """Random samples, as differentiable functions of the parameters."""

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        """The quantile for a probability: the inverse of `cdf`."""

    def entropy(self) -> _Tensor:
        """The entropy, in nats."""

class Exponential(ExponentialFamily):
    """The distribution of the time to an event that happens `rate` times per unit of time."""
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'rate': constraints.positive}
    support = constraints.nonnegative

    def __init__(self, rate: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        """The mean."""

    @property
    def stddev(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        """The most probable value."""

    @property
    def variance(self) -> _Tensor:
        """The variance."""

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        """Random samples, as differentiable functions of the parameters."""

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        """The quantile for a probability: the inverse of `cdf`."""

    def entropy(self) -> _Tensor:
        """The entropy, in nats."""
    rate: _Tensor
