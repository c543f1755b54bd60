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
from typing import TYPE_CHECKING, ClassVar, Self, overload
import numpy as np
from .. import Size, arange, bernoulli, binomial, eye, finfo, full, lgamma, logsumexp, multinomial, no_grad, poisson, rand, where, xlogy
from ..extend import holds, restoring
from ..nn import functional
from .constraints import Constraint, boolean, dependent_property, integer_interval, nonnegative, nonnegative_integer, one_hot, real, real_vector, simplex, unit_interval
from .distribution import Distribution, ExponentialFamily, alias, broadcast_all, clamped, derived
if TYPE_CHECKING:
    from collections.abc import Sequence
    from .._core.shapes import Shape
    from .._core.typing import Tensor

class OfOdds(Distribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'probs': unit_interval, 'logits': real}
    _param: Tensor

    def __init__(self, probs: Tensor | float | None=None, logits: Tensor | float | None=None, validate_args: bool | None=None) -> None:
        ...

    @derived
    def logits(self) -> Tensor:
        ...

    @derived
    def probs(self) -> Tensor:
        ...

    @property
    def param_shape(self) -> Size:
        ...

@overload
def _given(probs: Tensor | None, logits: Tensor | None) -> tuple[str, Tensor]:
    ...

@overload
def _given(probs: Tensor | float | None, logits: Tensor | float | None) -> tuple[str, Tensor | float]:
    ...

def _given(probs: Tensor | float | None, logits: Tensor | float | None) -> tuple[str, Tensor | float]:
    ...

class _Counted(OfOdds):
    ...
    total_count: Tensor

    def __init__(self, total_count: Tensor | float, probs: Tensor | float | None=None, logits: Tensor | float | None=None, validate_args: bool | None=None) -> None:
        ...
    _param: _Any

class Bernoulli(OfOdds, ExponentialFamily):
    ...
    has_enumerate_support = True
    support = boolean
    mean = alias('probs', 'The mean.')

    @property
    def mode(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    @restoring
    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

    def enumerate_support(self, expand: bool=True) -> Tensor:
        ...

class Geometric(OfOdds):
    ...
    support = nonnegative_integer

    def _check_parameters(self) -> None:
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

    @restoring
    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class Poisson(ExponentialFamily):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'rate': nonnegative}
    support = nonnegative_integer
    rate: Tensor

    def __init__(self, rate: Tensor | float, validate_args: bool | None=None) -> None:
        ...
    mean = alias('rate', 'The mean.')
    variance = mean

    @property
    def mode(self) -> Tensor:
        ...

    @restoring
    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

class Binomial(_Counted):
    ...
    has_enumerate_support = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'total_count': nonnegative_integer, **OfOdds.arg_constraints}

    def __init__(self, total_count: Tensor | float=1, probs: Tensor | float | None=None, logits: Tensor | float | None=None, validate_args: bool | None=None) -> None:
        ...

    @dependent_property(is_discrete=True, event_dim=0)
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

    @restoring
    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def _count(self, asked: str) -> int:
        ...

    def entropy(self) -> Tensor:
        ...

    def enumerate_support(self, expand: bool=True) -> Tensor:
        ...

class OfChoices(Distribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'probs': simplex, 'logits': real_vector}
    _param: Tensor

    def __init__(self, probs: Tensor | None=None, logits: Tensor | None=None, validate_args: bool | None=None) -> None:
        ...

    def _one_value(self) -> Shape:
        ...

    @derived
    def logits(self) -> Tensor:
        ...

    @derived
    def probs(self) -> Tensor:
        ...

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None=None) -> Self:
        ...

    @property
    def param_shape(self) -> Size:
        ...

    @property
    def _num_events(self) -> int:
        ...

    @restoring
    def _drawn(self, sample_shape: Sequence[int]) -> Tensor:
        ...

    def _log_prob_at(self, places: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class Categorical(OfChoices):
    ...
    has_enumerate_support = True

    def _one_value(self) -> Shape:
        ...

    @dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        ...

    @property
    def mean(self) -> Tensor:
        ...
    variance = mean

    @property
    def mode(self) -> Tensor:
        ...

    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def enumerate_support(self, expand: bool=True) -> Tensor:
        ...

class OneHotCategorical(OfChoices):
    ...
    has_enumerate_support = True
    support = one_hot
    mean = alias('probs', 'The mean.')

    @property
    def mode(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    def _one_hot(self, places: Tensor) -> Tensor:
        ...

    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def enumerate_support(self, expand: bool=True) -> Tensor:
        ...
