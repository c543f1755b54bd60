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
from typing import Any, ClassVar
import numpy as np
from .. import ops
from .._core.bfloat import finfo
from .._numerics import random
from .._tensor import sampling
from .._tensor.creation import as_tensor, made
from .._tensor.function import Function
from .._tensor.functions import log1p, stack, where
from ..nn.functional import one_hot
from ..vocabulary.functions import xlogy
from ..vocabulary.special import digamma, igamma, lgamma
from .constraints import Constraint, independent, nonnegative, positive, real, simplex, unit_interval
from .distribution import Distribution, ExponentialFamily, alias, broadcast_all

class _Moving(Function):
    ...
    generate_vmap_rule = True

    @staticmethod
    def forward(parameter: Any, samples: Any) -> Any:
        ...

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ...

class _MovingGamma(_Moving):
    ...

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        ...

class _MovingDirichlet(_Moving):
    ...

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        ...

def _gammas(rng: np.random.Generator, size: Any, shapes: Any) -> Any:
    ...

def _portions(rng: np.random.Generator, size: Any, concentration: Any) -> Any:
    ...

def _moving(family: type[_Moving], draw: Any, parameter: Any) -> Any:
    ...

def _standard_gamma(concentration: Any) -> Any:
    ...

class Gamma(ExponentialFamily):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'concentration': positive, 'rate': positive}
    support = nonnegative
    concentration: _Tensor
    rate: _Tensor

    def __init__(self, concentration: _Tensor | float, rate: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def log_prob(self, value: Any) -> _Tensor:
        ...

    def _cdf(self, value: Any) -> Any:
        ...

    def entropy(self) -> _Tensor:
        ...

class Chi2(Gamma):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'df': positive}

    def __init__(self, df: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    def expand(self, batch_shape: Any, _instance: Any=None) -> _Self:
        ...
    df: _Tensor

class Dirichlet(ExponentialFamily):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'concentration': independent(positive, 1)}
    support = simplex

    def __init__(self, concentration: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def entropy(self) -> _Tensor:
        ...
    concentration: _Tensor

class Beta(ExponentialFamily):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'concentration1': positive, 'concentration0': positive}
    support = unit_interval

    def __init__(self, concentration1: _Tensor | float, concentration0: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    def _both(self) -> Dirichlet:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def entropy(self) -> _Tensor:
        ...
    concentration0: _Tensor
    concentration1: _Tensor

class StudentT(Distribution):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'df': positive, 'loc': real, 'scale': positive}
    support = real

    def __init__(self, df: _Tensor | float, loc: _Tensor | float=0.0, scale: _Tensor | float=1.0, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...

    def entropy(self) -> _Tensor:
        ...
    df: _Tensor
    loc: _Tensor
    scale: _Tensor

class FisherSnedecor(Distribution):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'df1': positive, 'df2': positive}
    support = positive

    def __init__(self, df1: _Tensor | float, df2: _Tensor | float, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> _Tensor:
        ...

    @property
    def mode(self) -> _Tensor:
        ...

    @property
    def variance(self) -> _Tensor:
        ...

    def rsample(self, sample_shape: Any=()) -> _Tensor:
        ...

    def _log_prob(self, value: Any) -> Any:
        ...
    df1: _Tensor
    df2: _Tensor
