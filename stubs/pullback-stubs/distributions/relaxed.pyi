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
from .. import lgamma, logsumexp
from . import constraints
from .constraints import Constraint
from .discrete import OfChoices, OfOdds, OneHotCategorical
from .distribution import alias, broadcast_all, clamped, drawn_evenly
from .transformed import TransformedDistribution
from .transforms import ExpTransform, SigmoidTransform
if TYPE_CHECKING:
    from collections.abc import Sequence
    from .._core.typing import Tensor

class LogitRelaxedBernoulli(OfOdds):
    ...
    has_rsample = True
    support = constraints.real

    def __init__(self, temperature: Tensor | float, probs: Tensor | float | None=None, logits: Tensor | float | None=None, validate_args: bool | None=None) -> None:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...
    temperature: Tensor | float

def _log(value: Tensor | float) -> Tensor | float:
    ...

class _Relaxed(TransformedDistribution):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    temperature = alias('base_dist.temperature', 'How far values are from choices.')
    logits = alias('base_dist.logits', 'The logarithms of the odds, or of the probabilities.')
    probs = alias('base_dist.probs', 'The probabilities.')

class RelaxedBernoulli(_Relaxed):
    ...
    support = constraints.unit_interval

    def __init__(self, temperature: Tensor | float, probs: Tensor | float | None=None, logits: Tensor | float | None=None, validate_args: bool | None=None) -> None:
        ...

class ExpRelaxedCategorical(OfChoices):
    ...
    has_rsample = True
    support = constraints.real_vector

    def __init__(self, temperature: Tensor | float, probs: Tensor | None=None, logits: Tensor | None=None, validate_args: bool | None=None) -> None:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...
    temperature: Tensor | float

class RelaxedOneHotCategorical(_Relaxed):
    ...
    support = constraints.simplex

    def __init__(self, temperature: Tensor | float, probs: Tensor | None=None, logits: Tensor | None=None, validate_args: bool | None=None) -> None:
        ...

class OneHotCategoricalStraightThrough(OneHotCategorical):
    ...
    has_rsample = True

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...
