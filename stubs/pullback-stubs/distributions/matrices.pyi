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
from typing import TYPE_CHECKING, ClassVar
import numpy as np
from .. import Size, Tensor, arange, diag_embed, digamma, finfo, linalg, mvlgamma, no_grad, randn, scalar_tensor
from .._core.sites import warn
from ..extend import holds, restoring
from ..nn.functional import pad
from . import constraints
from .constraints import Constraint
from .distribution import Distribution, ExponentialFamily, broadcast_all
from .gamma import Beta, Chi2
from .multivariate import _Factored, given_matrix
if TYPE_CHECKING:
    from collections.abc import Sequence
LOG_TWO = math.log(2)

def mvdigamma(x: Tensor, p: int) -> Tensor:
    ...

class Wishart(_Factored, ExponentialFamily):
    ...
    has_rsample = True
    support = constraints.positive_definite
    df: Tensor

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        ...

    def __init__(self, df: Tensor | float, covariance_matrix: Tensor | None=None, precision_matrix: Tensor | None=None, scale_tril: Tensor | None=None, validate_args: bool | None=None) -> None:
        ...

    def _per_matrix(self, value: Tensor) -> Tensor:
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

    def rsample(self, sample_shape: Sequence[int]=(), max_try_correction: int | None=None) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class LKJCholesky(Distribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'concentration': constraints.positive}
    support = constraints.corr_cholesky
    concentration: Tensor

    def __init__(self, dim: int, concentration: Tensor | float=1.0, validate_args: bool | None=None) -> None:
        ...

    @restoring
    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...
    dim: int
