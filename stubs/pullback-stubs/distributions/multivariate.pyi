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
from typing import Any, ClassVar
import numpy as np
from .. import linalg
from .._core.shapes import Size
from .._tensor import sampling
from .._tensor.functions import logsumexp
from . import constraints
from .constraints import Constraint
from .discrete import Categorical
from .distribution import LOG_ROOT_TAU, Distribution, alias, derived, summed

def given_matrix(covariance_matrix: Any, precision_matrix: Any, scale_tril: Any, error: type[Exception]) -> Any:
    ...

class _Factored(Distribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'covariance_matrix': constraints.positive_definite, 'precision_matrix': constraints.positive_definite, 'scale_tril': constraints.lower_cholesky}
    _unbroadcasted_scale_tril: Any

    def _begun_with(self, name: str, matrix: Any, batch: Size, event: Any, validate_args: bool | None) -> None:
        ...

    @derived
    def scale_tril(self) -> _Tensor:
        ...

    @derived
    def covariance_matrix(self) -> _Tensor:
        ...

    @derived
    def precision_matrix(self) -> _Tensor:
        ...

    def _of_batch(self, matrix: Any) -> Any:
        ...

    def _half_log_det(self) -> Any:
        ...

class MultivariateNormal(_Factored):
    ...
    has_rsample = True
    support = constraints.real_vector
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': constraints.real_vector, **_Factored.arg_constraints}

    def __init__(self, loc: _Tensor | float, covariance_matrix: _Tensor | float | None=None, precision_matrix: _Tensor | float | None=None, scale_tril: _Tensor | float | None=None, validate_args: bool | None=None) -> None:
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

    def _constant(self) -> float:
        ...

    def entropy(self) -> _Tensor:
        ...
    loc: _Tensor

def _factor(matrix: Any, *, inverse: bool) -> Any:
    ...

def mahalanobis(factor: Any, difference: Any) -> Any:
    ...

class Independent(Distribution):
    ...

    def __init__(self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None=None) -> None:
        ...

    def expand(self, batch_shape: Any, _instance: Any=None) -> _Self:
        ...
    has_rsample = alias('base_dist.has_rsample', 'Whether samples can be differentiated by the parameters.')

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...
    has_enumerate_support = property(lambda self: self.base_dist.has_enumerate_support and (not self.reinterpreted_batch_ndims), doc='True if all values can be enumerated, which requires that no batch axes are joined.')

    @constraints.dependent_property
    def support(self) -> Any:
        ...

    def sample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def log_prob(self, value: Any) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...

    def enumerate_support(self, expand: bool=True) -> _Tensor:
        ...

    def __repr__(self) -> str:
        ...
    base_dist: _Any
    reinterpreted_batch_ndims: _Any

class MixtureSameFamily(Distribution):
    ...

    def __init__(self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None=None) -> None:
        ...

    def expand(self, batch_shape: Any, _instance: Any=None) -> _Self:
        ...

    @constraints.dependent_property
    def support(self) -> Any:
        ...

    def _weights(self) -> Any:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def sample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def cdf(self, value: Any) -> _Tensor:
        ...

    def __repr__(self) -> str:
        ...
    _event_axes: _Any
    component_distribution: _Any
    mixture_distribution: _Any
