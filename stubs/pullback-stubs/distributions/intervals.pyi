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
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar
from .. import expm1, finfo, log1p, rand, where
from .constraints import Constraint, dependent_property, interval, positive, real, unit_interval
from .discrete import OfOdds
from .distribution import Distribution, ExponentialFamily, alias, broadcast_all
if TYPE_CHECKING:
    from collections.abc import Callable
    from .._core.typing import Tensor
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600)
_NEAR = 0.5

def _series(t: Tensor, factors: Sequence[float], power: int) -> Tensor:
    ...

class ContinuousBernoulli(OfOdds, ExponentialFamily):
    ...
    has_rsample = True
    support = unit_interval

    def __init__(self, probs: Tensor | float | None=None, logits: Tensor | float | None=None, lims: tuple[float, float]=(0.499, 0.501), validate_args: bool | None=None) -> None:
        ...

    def _by_size(self, far: Callable[[Tensor], Tensor], factors: Sequence[float], power: int, offset: float) -> Tensor:
        ...

    def _log_mass(self) -> Tensor:
        ...

    @property
    def mean(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def _cdf(self, value: Tensor) -> Tensor:
        ...

    def icdf(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        ...
    _lims: tuple[float, float]

class GeneralizedPareto(Distribution):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'loc': real, 'scale': positive, 'concentration': real}
    loc: Tensor
    scale: Tensor
    concentration: Tensor

    def __init__(self, loc: Tensor | float, scale: Tensor | float, concentration: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        ...

    @property
    def mean(self) -> Tensor:
        ...
    mode = alias('loc', 'The most probable value.')

    @property
    def variance(self) -> Tensor:
        ...

    def _exceeded(self, value: Tensor) -> Tensor:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def log_survival_function(self, value: Tensor) -> Tensor:
        ...

    def log_cdf(self, value: Tensor) -> Tensor:
        ...

    def cdf(self, value: Tensor) -> Tensor:
        ...

    def icdf(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

def _light(shape: Tensor) -> float:
    ...
