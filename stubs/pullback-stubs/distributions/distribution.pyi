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
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload
import numpy as np
from .. import Size, Tensor, broadcast_tensors, enable_grad, finfo, get_default_dtype, no_grad, rand, scalar_tensor
from .._core.values import every
from ..autograd import grad
from ..extend import holds, restoring
from .constraints import Constraint, is_dependent
if TYPE_CHECKING:
    from collections.abc import Sequence
    from .._core.shapes import Shape
    from .._core.typing import DType
T = TypeVar('T')

def broadcast_all(*values: Tensor | float) -> tuple[Tensor, ...]:
    ...

class derived(Generic[T]):
    ...

    def __init__(self, function: Callable[[Any], T]) -> None:
        ...

    @overload
    def __get__(self, instance: None, owner: type) -> Self:
        ...

    @overload
    def __get__(self, instance: object, owner: type | None=None) -> T:
        ...

    def __get__(self, instance: object, owner: type | None=None) -> Self | T:
        ...
    __doc__: _Any
    function: Callable[[Any], T]

class Distribution:
    ...
    has_rsample = False
    has_enumerate_support = False
    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    support: Constraint | None = None
    _validate_args = True

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        ...

    def __init__(self, batch_shape: Sequence[int]=(), event_shape: Sequence[int]=(), validate_args: bool | None=None) -> None:
        ...

    def _check_parameters(self) -> None:
        ...

    def _given(self) -> Mapping[str, Tensor]:
        ...

    def _shown(self) -> Mapping[str, Tensor]:
        ...

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None=None) -> Self:
        ...

    def _get_checked_instance(self, cls: type, _instance: Self | None=None) -> Self:
        ...

    @property
    def batch_shape(self) -> Size:
        ...

    @property
    def event_shape(self) -> Size:
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

    @property
    def stddev(self) -> Tensor:
        ...

    @restoring
    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def sample_n(self, n: int) -> Tensor:
        ...

    def log_prob(self, value: Tensor) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def cdf(self, value: Tensor) -> Tensor:
        ...

    def _cdf(self, value: Tensor) -> Tensor:
        ...

    def icdf(self, value: Tensor) -> Tensor:
        ...

    def enumerate_support(self, expand: bool=True) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

    def perplexity(self) -> Tensor:
        ...

    def _extended_shape(self, sample_shape: Sequence[int]=()) -> Size:
        ...

    def _validate_sample(self, value: Tensor) -> None:
        ...

    def __repr__(self) -> str:
        ...
    _batch_shape: _Any
    _event_shape: _Any

class ExponentialFamily(Distribution):
    ...
    _mean_carrier_measure: Tensor | float = 0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        ...

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        ...

    @restoring
    def _expected(self) -> tuple[tuple[Tensor, ...], Tensor, tuple[Tensor, ...]]:
        ...

    def entropy(self) -> Tensor:
        ...

class alias(property):
    ...

    def __init__(self, path: str, meaning: str) -> None:
        ...

    @overload
    def __get__(self, instance: None, owner: type, /) -> Self:
        ...

    @overload
    def __get__(self, instance: object, owner: type | None=None, /) -> Tensor:
        ...

    def __get__(self, instance: object, owner: type | None=None, /) -> Self | Tensor:
        ...

def clamped(probs: Tensor) -> Tensor:
    ...

def drawn_evenly(shape: Shape, dtype: DType) -> Tensor:
    ...

def _text(value: Tensor) -> str:
    ...

def summed(value: Tensor, axes: int) -> Tensor:
    ...
LOG_ROOT_TAU = math.log(2 * math.pi) / 2
EULER = 0.5772156649015329
