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
from collections.abc import Callable
from typing import Any, TypeVar, overload
from . import constraints
from .axes import IndependentTransform
from .constraints import Constraint
from .correlations import CorrCholeskyTransform
from .joined import CatTransform, StackTransform
from .transforms import AffineTransform, ComposeTransform, ExpTransform, LowerCholeskyTransform, PositiveDefiniteTransform, SigmoidTransform, SoftmaxTransform, StickBreakingTransform, Transform, identity_transform
Factory = Callable[[Any], Transform]
F = TypeVar('F', bound=Factory)

class ConstraintRegistry:
    ...

    def __init__(self) -> None:
        ...

    @overload
    def register(self, constraint: Constraint | type[Constraint]) -> Callable[[F], F]:
        ...

    @overload
    def register(self, constraint: Constraint | type[Constraint], factory: F) -> F:
        ...

    def register(self, constraint: Constraint | type[Constraint], factory: F | None=None) -> F | Callable[[F], F]:
        ...

    def __call__(self, constraint: Constraint) -> Transform:
        ...
    _registry: _Any

def _class_of(constraint: object) -> type[Constraint]:
    ...
biject_to, transform_to = (ConstraintRegistry(), ConstraintRegistry())

def _from_lower(constraint: constraints._Lower) -> Transform:
    ...

def _from_upper(constraint: constraints._Upper) -> Transform:
    ...

def _between(constraint: constraints._Both) -> Transform:
    ...
_SAME: dict[Constraint | type[Constraint], Factory] = {constraints.real: lambda constraint: identity_transform, constraints.greater_than: _from_lower, constraints.greater_than_eq: _from_lower, constraints.less_than: _from_upper, constraints.interval: _between, constraints.half_open_interval: _between, constraints.corr_cholesky: lambda constraint: CorrCholeskyTransform()}

def _of_parts(registry: ConstraintRegistry) -> None:
    ...
