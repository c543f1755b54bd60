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
from typing import TYPE_CHECKING
import numpy as np
from .. import Size, finfo
from ..nn.functional import pad, softplus
from . import constraints
from .transforms import Transform
if TYPE_CHECKING:
    from .._core.shapes import Shape
    from .._core.typing import Tensor

def vec_to_tril_matrix(vec: Tensor, diag: int=0) -> Tensor:
    ...

def tril_matrix_to_vec(mat: Tensor, diag: int=0) -> Tensor:
    ...

class CorrCholeskyTransform(Transform):
    ...
    domain, codomain = (constraints.real_vector, constraints.corr_cholesky)
    bijective = True

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
