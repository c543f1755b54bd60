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
from typing import TYPE_CHECKING, ClassVar
from .. import erf, erfinv, log1p, rand, randn
from . import constraints
from .constraints import Constraint
from .distribution import LOG_ROOT_TAU, Distribution, ExponentialFamily, alias, broadcast_all, drawn_evenly
if TYPE_CHECKING:
    from collections.abc import Sequence
    from .._core.shapes import Shape
    from .._core.typing import Tensor

class _Scaled(Distribution):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': constraints.real, 'scale': constraints.positive}
    support = constraints.real
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    def _standard(self, shape: Shape) -> Tensor:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _standardized(self, value: Tensor) -> Tensor:
        ...

class Normal(_Scaled, ExponentialFamily):
    ...

    def _standard(self, shape: Shape) -> Tensor:
        ...
    mean = alias('loc', 'The mean.')
    mode = mean
    stddev = alias('scale', 'The standard deviation.')

    @property
    def variance(self) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def _cdf(self, value: Tensor) -> Tensor:
        ...

    def icdf(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class Laplace(_Scaled):
    ...

    def _standard(self, shape: Shape) -> Tensor:
        ...
    mean = alias('loc', 'The mean.')
    mode = mean

    @property
    def variance(self) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def _cdf(self, value: Tensor) -> Tensor:
        ...

    def icdf(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class Cauchy(_Scaled):
    ...

    def _standard(self, shape: Shape) -> Tensor:
        ...

    @property
    def mean(self) -> Tensor:
        ...
    mode = alias('loc', 'The most probable value.')

    @property
    def variance(self) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def _cdf(self, value: Tensor) -> Tensor:
        ...

    def icdf(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class Uniform(Distribution):
    ...
    has_rsample = True
    low: Tensor
    high: Tensor

    def __init__(self, low: Tensor | float, high: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        ...

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
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

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def _cdf(self, value: Tensor) -> Tensor:
        ...

    def icdf(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class Exponential(ExponentialFamily):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'rate': constraints.positive}
    support = constraints.nonnegative
    rate: Tensor

    def __init__(self, rate: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> Tensor:
        ...
    stddev = mean

    @property
    def mode(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def _cdf(self, value: Tensor) -> Tensor:
        ...

    def icdf(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...
