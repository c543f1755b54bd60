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
from .. import arange, lgamma, no_grad, poisson
from ..extend import restoring, sampled
from ..nn import functional
from . import constraints
from .constraints import Constraint
from .discrete import Binomial, OfChoices, _Counted
from .distribution import broadcast_all
from .gamma import Gamma
if TYPE_CHECKING:
    from collections.abc import Sequence
    from .._core.shapes import Shape
    from .._core.typing import Array, Tensor

class NegativeBinomial(_Counted):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'total_count': constraints.greater_than_eq(0), 'probs': constraints.half_open_interval(0.0, 1.0), 'logits': constraints.real}
    support = constraints.nonnegative_integer

    @property
    def mean(self) -> Tensor:
        ...

    @property
    def mode(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    @restoring
    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

class Multinomial(OfChoices):
    ...

    def __init__(self, total_count: int=1, probs: Tensor | None=None, logits: Tensor | None=None, validate_args: bool | None=None) -> None:
        ...

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Constraint:
        ...

    @property
    def mean(self) -> Tensor:
        ...

    @property
    def variance(self) -> Tensor:
        ...

    def sample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...
    total_count: int
