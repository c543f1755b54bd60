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
from typing import TYPE_CHECKING, ClassVar
from .. import broadcast_tensors, diag_embed, eye, linalg, randn
from . import constraints
from .constraints import Constraint
from .distribution import LOG_ROOT_TAU, Distribution, alias
if TYPE_CHECKING:
    from collections.abc import Sequence
    from .._core.typing import Tensor

class LowRankMultivariateNormal(Distribution):
    ...
    has_rsample = True
    support = constraints.real_vector
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': constraints.real_vector, 'cov_factor': constraints.independent(constraints.real, 2), 'cov_diag': constraints.independent(constraints.positive, 1)}
    loc: Tensor
    cov_factor: Tensor
    cov_diag: Tensor

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None=None) -> None:
        ...
    mean = alias('loc', 'The mean.')
    mode = mean

    def _repeated(self, value: Tensor, axes: int) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    @property
    def covariance_matrix(self) -> Tensor:
        ...

    @property
    def precision_matrix(self) -> Tensor:
        ...

    @property
    def scale_tril(self) -> Tensor:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _mahalanobis(self, difference: Tensor) -> Tensor:
        ...

    def _half_log_det(self) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...
    _capacitance_tril: _Any
    _diagonal: Tensor
    _narrow: Tensor
    _weighed: _Any
