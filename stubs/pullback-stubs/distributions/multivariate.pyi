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
from typing import TYPE_CHECKING, ClassVar, Self
import numpy as np
from .. import Size, linalg, logsumexp, randn
from . import constraints
from .constraints import Constraint
from .discrete import Categorical
from .distribution import LOG_ROOT_TAU, Distribution, alias, derived, summed
if TYPE_CHECKING:
    from collections.abc import Sequence
    from .._core.typing import Tensor

def given_matrix(covariance_matrix: Tensor | None, precision_matrix: Tensor | None, scale_tril: Tensor | None, error: type[Exception]) -> tuple[str, Tensor]:
    ...

class _Factored(Distribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'covariance_matrix': constraints.positive_definite, 'precision_matrix': constraints.positive_definite, 'scale_tril': constraints.lower_cholesky}
    _unbroadcasted_scale_tril: Tensor

    def _begun_with(self, name: str, matrix: Tensor, batch: Size, event: Size, validate_args: bool | None) -> None:
        ...

    @derived
    def scale_tril(self) -> Tensor:
        ...

    @derived
    def covariance_matrix(self) -> Tensor:
        ...

    @derived
    def precision_matrix(self) -> Tensor:
        ...

    def _of_batch(self, matrix: Tensor) -> Tensor:
        ...

    def _half_log_det(self) -> Tensor:
        ...

class MultivariateNormal(_Factored):
    ...
    has_rsample = True
    support = constraints.real_vector
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': constraints.real_vector, **_Factored.arg_constraints}
    loc: Tensor

    def __init__(self, loc: Tensor, covariance_matrix: Tensor | None=None, precision_matrix: Tensor | None=None, scale_tril: Tensor | None=None, validate_args: bool | None=None) -> None:
        ...
    mean = alias('loc', 'The mean.')
    mode = mean

    @property
    def variance(self) -> Tensor:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def _constant(self) -> float:
        ...

    def entropy(self) -> Tensor:
        ...

def _factor(matrix: Tensor, *, inverse: bool) -> Tensor:
    ...

def mahalanobis(factor: Tensor, difference: Tensor) -> Tensor:
    ...

class Independent(Distribution):
    ...

    def __init__(self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None=None) -> None:
        ...

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None=None) -> Self:
        ...

    @derived
    def has_rsample(self) -> bool:
        ...

    @derived
    def has_enumerate_support(self) -> bool:
        ...
    mean = alias('base_dist.mean', 'The mean.')
    mode = alias('base_dist.mode', 'The most probable value.')
    variance = alias('base_dist.variance', 'The variance of each entry.')

    @constraints.dependent_property
    def support(self) -> Constraint | None:
        ...

    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def log_prob(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

    def enumerate_support(self, expand: bool=True) -> Tensor:
        ...

    def __repr__(self) -> str:
        ...
    base_dist: Distribution
    reinterpreted_batch_ndims: int

class MixtureSameFamily(Distribution):
    ...

    def __init__(self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None=None) -> None:
        ...

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None=None) -> Self:
        ...

    @constraints.dependent_property
    def support(self) -> Constraint | None:
        ...

    def _weights(self) -> Tensor:
        ...

    @property
    def mean(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def cdf(self, value: Tensor) -> Tensor:
        ...

    def __repr__(self) -> str:
        ...
    _event_axes: _Any
    component_distribution: Distribution
    mixture_distribution: Categorical
