"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from __future__ import annotations
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
from collections.abc import Mapping
from operator import attrgetter, mul
from typing import Any, ClassVar
import numpy as np
from .._core.dtypes import get_default_dtype
from .._core.modes import enable_grad, no_grad
from .._core.primitives import Carrier
from .._core.shapes import Size
from .._core.values import every, holds
from .._tape.backward import grad
from .._tensor.creation import scalar_tensor
from .._tensor.sampling import rand
from ..vocabulary.joining import broadcast_tensors
from .constraints import Constraint

def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Tensors and numbers as tensors of one shape; numbers take the dtype of the first tensor, or the default one."""

class Distribution:
    """A probability distribution with a batch of parameters; subclasses define sampling and log-probabilities."""
    has_rsample = False
    has_enumerate_support = False
    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    support: Any = None
    _validate_args = True

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set the default of `validate_args`."""

    def __init__(self, batch_shape: Any=(), event_shape: Any=(), validate_args: bool | None=None) -> None:
        ...

    def _check_parameters(self) -> None:
        ...

    def _given(self) -> Mapping[str, Any]:
        """The parameters with which the distribution was constructed."""

    def _shown(self) -> Mapping[str, Any]:
        """The parameters that are printed."""

    def expand(self, batch_shape: Any, _instance: Any=None) -> _Self:
        """The same distribution with its parameters broadcast to another batch shape."""

    def _get_checked_instance(self, cls: type, _instance: Any=None) -> Any:
        """The given instance, or an empty one, to be filled by the `expand` of a user's subclass."""

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of parameters."""

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""

    @property
    def mean(self) -> _Tensor:
        """The mean."""

    @property
    def mode(self) -> _Tensor:
        """The most probable value."""

    @property
    def variance(self) -> _Tensor:
        """The variance."""

    @property
    def stddev(self) -> _Tensor:
        """The standard deviation."""

    def sample(self, sample_shape: Any=()) -> _Tensor:
        """Random samples, which cannot be differentiated."""

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        """Random samples, as differentiable functions of the parameters."""

    def sample_n(self, n: int) -> _Tensor:
        """`sample((n,))`, under its deprecated name."""

    def log_prob(self, value: Any) -> _Tensor:
        """The log-probability, or log-density, of a value."""

    def _log_prob(self, value: Any) -> Any:
        """`log_prob` of a checked value."""

    def cdf(self, value: Any) -> _Tensor:
        """The cumulative distribution function."""

    def _cdf(self, value: Any) -> Any:
        """`cdf` of a checked value."""

    def icdf(self, value: Any) -> _Tensor:
        """The quantile for a probability: the inverse of `cdf`."""

    def enumerate_support(self, expand: bool=True) -> _Tensor:
        """All values, along a new first axis."""

    def entropy(self) -> _Tensor:
        """The entropy, in nats."""

    def perplexity(self) -> _Tensor:
        """exp(entropy)."""

    def _extended_shape(self, sample_shape: Any=()) -> Size:
        ...

    def _validate_sample(self, value: Any) -> None:
        """Raise for a value outside the support."""

    def __repr__(self) -> str:
        ...
    _batch_shape: _Any
    _event_shape: _Any

class ExponentialFamily(Distribution):
    """A family whose density is exp(<t, s(x)> - A(t)) times a function of x alone, with natural parameters t."""
    _mean_carrier_measure: Any = 0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        ...

    def _log_normalizer(self, *natural_params: Any) -> Any:
        ...

    def _expected(self) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
        """The natural parameters, A of them, and its gradient, which is the mean of s(x)."""

    def entropy(self) -> _Tensor:
        """The entropy, in nats."""

def alias(path: str, meaning: str) -> property:
    """A property with the value of another attribute, given by a dotted path such as `base_dist.loc`."""

def clamped(probs: Any) -> Any:
    """Probabilities clamped to exclude 0 and 1, by their dtype's precision, so that their logarithms are finite."""

def drawn_evenly(shape: Any, dtype: Any) -> Any:
    """Uniform samples from the open interval (0, 1)."""

def _text(value: Any) -> str:
    """A parameter or a value as text: a single value as a number, if it is known."""

def summed(value: Any, axes: int) -> Any:
    """The sum over a number of last axes."""
LOG_ROOT_TAU = math.log(2 * math.pi) / 2
EULER = 0.5772156649015329
