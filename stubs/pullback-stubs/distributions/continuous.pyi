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
from .._tensor import sampling
from .._tensor.functions import log1p
from ..vocabulary.special import erf, erfinv
from . import constraints
from .constraints import Constraint
from .distribution import LOG_ROOT_TAU, Distribution, ExponentialFamily, alias, broadcast_all, drawn_evenly

class _Scaled(Distribution):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': constraints.real, 'scale': constraints.positive}
    support = constraints.real
    loc: _Tensor
    scale: _Tensor

    def __init__(self, loc: _Tensor | float, scale: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    def _standard(self, shape: Any) -> Any:
        ...

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _standardized(self, value: Any) -> Any:
        ...

class Normal(_Scaled, ExponentialFamily):
    ...

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
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...

class Laplace(_Scaled):
    ...

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
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...

class Cauchy(_Scaled):
    ...

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
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...

class Uniform(Distribution):
    ...
    has_rsample = True
    low: _Tensor
    high: _Tensor

    def __init__(self, low: _Tensor | float, high: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        ...

    @constraints.dependent_property(is_discrete=False, event_dim=0)
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

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...

class Exponential(ExponentialFamily):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'rate': constraints.positive}
    support = constraints.nonnegative

    def __init__(self, rate: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def stddev(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...
    rate: _Tensor
