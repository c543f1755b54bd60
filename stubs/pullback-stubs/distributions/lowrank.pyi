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
from .. import linalg
from .._tensor.creation import eye
from .._tensor.sampling import randn
from ..vocabulary.diagonals import diag_embed
from ..vocabulary.joining import broadcast_tensors
from . import constraints
from .constraints import Constraint
from .distribution import LOG_ROOT_TAU, Distribution, alias

class LowRankMultivariateNormal(Distribution):
    ...
    has_rsample = True
    support = constraints.real_vector
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': constraints.real_vector, 'cov_factor': constraints.independent(constraints.real, 2), 'cov_diag': constraints.independent(constraints.positive, 1)}

    def __init__(self, loc: _Tensor | float, cov_factor: _Tensor | float, cov_diag: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    def _repeated(self, value: Any, axes: int) -> Any:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    @property
    def covariance_matrix(self) -> _Tensor:
        ...

    @property
    def precision_matrix(self) -> _Tensor:
        ...

    @property
    def scale_tril(self) -> _Tensor:
        ...

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _mahalanobis(self, difference: Any) -> Any:
        ...

    def _half_log_det(self) -> Any:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def entropy(self) -> _Tensor:
        ...
    _capacitance_tril: _Any
    _diagonal: _Any
    _narrow: _Any
    _weighed: _Any
    cov_diag: _Tensor
    cov_factor: _Tensor
    loc: _Tensor
