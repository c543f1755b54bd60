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
from .._core.bfloat import finfo
from .._core.modes import no_grad, restoring
from .._core.shapes import Size
from .._core.values import holds
from .._tensor import creation, sampling
from .._tensor.functions import logsumexp, where
from ..nn import functional
from ..vocabulary.functions import xlogy
from ..vocabulary.special import lgamma
from .constraints import Constraint, boolean, dependent_property, integer_interval, nonnegative, nonnegative_integer, one_hot, real, real_vector, simplex, unit_interval
from .distribution import Distribution, ExponentialFamily, alias, broadcast_all, clamped, derived

class OfOdds(Distribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'probs': unit_interval, 'logits': real}

    def __init__(self, probs: _Tensor | float | None=None, logits: _Tensor | float | None=None, validate_args: bool | None=None) -> None:
        ...

    @derived
    def logits(self) -> Any:
        ...

    @derived
    def probs(self) -> Any:
        ...

    @property
    def param_shape(self) -> Size:
        ...
    _param: _Any

def _given(probs: Any, logits: Any) -> tuple[str, Any]:
    ...

class _Counted(OfOdds):
    ...

    def __init__(self, total_count: _Tensor | float, probs: _Tensor | float | None=None, logits: _Tensor | float | None=None, validate_args: bool | None=None) -> None:
        ...
    _param: _Any
    total_count: _Tensor

class Bernoulli(OfOdds, ExponentialFamily):
    ...
    has_enumerate_support = True
    support = boolean

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    @restoring
    def sample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def entropy(self) -> _Tensor:
        ...

    def enumerate_support(self, expand: bool=True) -> _Tensor:
        ...

class Geometric(OfOdds):
    ...
    support = nonnegative_integer

    def _check_parameters(self) -> None:
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

    @restoring
    def sample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def entropy(self) -> _Tensor:
        ...

class Poisson(ExponentialFamily):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'rate': nonnegative}
    support = nonnegative_integer

    def __init__(self, rate: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @restoring
    def sample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...
    rate: _Tensor

class Binomial(_Counted):
    ...
    has_enumerate_support = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'total_count': nonnegative_integer, **OfOdds.arg_constraints}

    def __init__(self, total_count: _Tensor | float=1, probs: _Tensor | float | None=None, logits: _Tensor | float | None=None, validate_args: bool | None=None) -> None:
        ...

    @dependent_property(is_discrete=True, event_dim=0)
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

    @restoring
    def sample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def _count(self, asked: str) -> int:
        ...

    def entropy(self) -> _Tensor:
        ...

    def enumerate_support(self, expand: bool=True) -> _Tensor:
        ...

class OfChoices(Distribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'probs': simplex, 'logits': real_vector}

    def __init__(self, probs: _Tensor | float | None=None, logits: _Tensor | float | None=None, validate_args: bool | None=None) -> None:
        ...

    def _one_value(self) -> Any:
        ...

    @derived
    def logits(self) -> Any:
        ...

    @derived
    def probs(self) -> Any:
        ...

    def expand(self, batch_shape: Any, _instance: Any=None) -> _Self:
        ...

    @property
    def param_shape(self) -> Size:
        ...

    @property
    def _num_events(self) -> int:
        ...

    @restoring
    def _drawn(self, sample_shape: Any) -> Any:
        ...

    def _log_prob_at(self, places: Any) -> Any:
        ...

    def entropy(self) -> _Tensor:
        ...
    _param: _Any

class Categorical(OfChoices):
    ...
    has_enumerate_support = True

    def _one_value(self) -> Any:
        ...

    @dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    def sample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def enumerate_support(self, expand: bool=True) -> _Tensor:
        ...

class OneHotCategorical(OfChoices):
    ...
    has_enumerate_support = True
    support = one_hot

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def _one_hot(self, places: Any) -> Any:
        ...

    def sample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def enumerate_support(self, expand: bool=True) -> _Tensor:
        ...
