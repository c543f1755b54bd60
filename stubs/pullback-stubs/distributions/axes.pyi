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
from typing import TYPE_CHECKING
from .. import Size
from . import constraints
from .distribution import derived, summed
from .transforms import Transform
if TYPE_CHECKING:
    from collections.abc import Sequence
    from .._core.shapes import Shape
    from .._core.typing import Tensor
    from .constraints import Constraint

class IndependentTransform(Transform):
    ...
    base_transform: Transform

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Constraint:
        ...

    @property
    def codomain(self) -> Constraint:
        ...

    @derived
    def bijective(self) -> bool:
        ...

    @property
    def sign(self) -> Tensor | int:
        ...

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...

    def forward_shape(self, shape: Shape) -> Shape:
        ...

    def inverse_shape(self, shape: Shape) -> Shape:
        ...

    def __repr__(self) -> str:
        ...
    reinterpreted_batch_ndims: int

class ReshapeTransform(Transform):
    ...
    bijective = True
    in_shape: Size
    out_shape: Size

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Constraint:
        ...

    @property
    def codomain(self) -> Constraint:
        ...

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...

    def forward_shape(self, shape: Shape) -> Shape:
        ...

    def inverse_shape(self, shape: Shape) -> Shape:
        ...

def _replaced(shape: Shape, old: Size, new: Size) -> Size:
    ...
