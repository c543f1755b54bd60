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
from collections.abc import Callable, Mapping
from operator import attrgetter, mul
from typing import Any, ClassVar
import numpy as np
from .._core.bfloat import finfo
from .._core.dtypes import get_default_dtype
from .._core.modes import enable_grad, no_grad, restoring
from .._core.primitives import Carrier
from .._core.shapes import Size
from .._core.values import every, holds
from .._tape.backward import grad
from .._tensor.creation import scalar_tensor
from .._tensor.sampling import rand
from ..vocabulary.joining import broadcast_tensors
from .constraints import Constraint, is_dependent

def broadcast_all(*values: Any) -> tuple[Any, ...]:
    ...

class derived:
    ...

    def __init__(self, function: Callable[[Any], Any]) -> None:
        ...

    def __get__(self, instance: Any, owner: Any=None) -> Any:
        ...
    __doc__: _Any
    function: _Any

class Distribution:
    ...
    has_rsample = False
    has_enumerate_support = False
    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    support: Any = None
    _validate_args = True

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        ...

    def __init__(self, batch_shape: Any=(), event_shape: Any=(), validate_args: bool | None=None) -> None:
        ...

    def _check_parameters(self) -> None:
        ...

    def _given(self) -> Mapping[str, Any]:
        ...

    def _shown(self) -> Mapping[str, Any]:
        ...

    def expand(self, batch_shape: Any, _instance: Any=None) -> _Self:
        ...

    def _get_checked_instance(self, cls: type, _instance: Any=None) -> Any:
        ...

    @property
    def batch_shape(self) -> Size:
        ...

    @property
    def event_shape(self) -> Size:
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

    @property
    def stddev(self) -> _Tensor:
        ...

    @restoring
    def sample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def sample_n(self, n: int) -> _Tensor:
        ...

    def log_prob(self, value: Any) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def cdf(self, value: Any) -> _Tensor:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def icdf(self, value: Any) -> _Tensor:
        ...

    def enumerate_support(self, expand: bool=True) -> _Tensor:
        ...

    def entropy(self) -> _Tensor:
        ...

    def perplexity(self) -> _Tensor:
        ...

    def _extended_shape(self, sample_shape: Any=()) -> Size:
        ...

    def _validate_sample(self, value: Any) -> None:
        ...

    def __repr__(self) -> str:
        ...
    _batch_shape: _Any
    _event_shape: _Any

class ExponentialFamily(Distribution):
    ...
    _mean_carrier_measure: Any = 0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        ...

    def _log_normalizer(self, *natural_params: Any) -> Any:
        ...

    @restoring
    def _expected(self) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
        ...

    def entropy(self) -> _Tensor:
        ...

def alias(path: str, meaning: str) -> property:
    ...

def clamped(probs: Any) -> Any:
    ...

def drawn_evenly(shape: Any, dtype: Any) -> Any:
    ...

def _text(value: Any) -> str:
    ...

def summed(value: Any, axes: int) -> Any:
    ...
LOG_ROOT_TAU = math.log(2 * math.pi) / 2
EULER = 0.5772156649015329
