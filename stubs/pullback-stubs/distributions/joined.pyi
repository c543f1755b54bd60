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
import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from .. import cat, stack
from . import constraints
from .distribution import derived
from .transforms import Transform
if TYPE_CHECKING:
    from .._core.typing import Tensor
    from .constraints import Constraint

class _Parts(Transform):
    ...
    transforms: list[Transform]

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        ...

    def with_cache(self, cache_size: int=1) -> Transform:
        ...

    @derived
    def bijective(self) -> bool:
        ...
    _join: Callable[[list[Tensor], int], Tensor]

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

    def _split(self, value: Tensor) -> Sequence[Tensor]:
        ...

    def _each(self, made: Callable[..., Tensor], *values: Tensor) -> list[Tensor]:
        ...
    dim: int

class CatTransform(_Parts):
    ...
    lengths: list[int]

    def __init__(self, tseq: Sequence[Transform], dim: int=0, lengths: Sequence[int] | None=None, cache_size: int=0) -> None:
        ...

    @property
    def event_dim(self) -> int:
        ...

    @property
    def length(self) -> int:
        ...

    @property
    def domain(self) -> Constraint:
        ...

    @property
    def codomain(self) -> Constraint:
        ...

    def _split(self, value: Tensor) -> Sequence[Tensor]:
        ...
    _join = staticmethod(cat)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...

class StackTransform(_Parts):
    ...

    def __init__(self, tseq: Sequence[Transform], dim: int=0, cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Constraint:
        ...

    @property
    def codomain(self) -> Constraint:
        ...

    def _split(self, value: Tensor) -> Sequence[Tensor]:
        ...
    _join = staticmethod(stack)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...
