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
from typing import TYPE_CHECKING, ClassVar, Self
import numpy as np
from .. import as_tensor, digamma, finfo, igamma, lgamma, log1p, ops, randn, stack, where, xlogy
from ..autograd.function import Function, FunctionCtx
from ..extend import sampled
from ..nn.functional import one_hot
from .constraints import Constraint, independent, nonnegative, positive, real, simplex, unit_interval
from .distribution import Distribution, ExponentialFamily, alias, broadcast_all
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from .._core.shapes import Shape
    from .._core.typing import Array, Tensor

class _Moving(Function):
    ...
    generate_vmap_rule = True

    @staticmethod
    def forward(parameter: Tensor, samples: Tensor) -> Tensor:
        ...

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ...

class _MovingGamma(_Moving):
    ...

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor, None]:
        ...

class _MovingDirichlet(_Moving):
    ...

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor, None]:
        ...

def _gammas(rng: np.random.Generator, size: Shape, shapes: Array) -> Array:
    ...

def _portions(rng: np.random.Generator, size: Shape, concentration: Array) -> Array:
    ...

def _moving(family: type[_Moving], draw: Callable[..., Array], parameter: Tensor) -> Tensor:
    ...

def _standard_gamma(concentration: Tensor) -> Tensor:
    ...

class Gamma(ExponentialFamily):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'concentration': positive, 'rate': positive}
    support = nonnegative
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None=None) -> None:
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

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def log_prob(self, value: Tensor) -> Tensor:
        ...

    def _cdf(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class Chi2(Gamma):
    ...
    arg_constraints: ClassVar[dict[str, Constraint]] = {'df': positive}
    df: Tensor

    def __init__(self, df: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None=None) -> Self:
        ...

class Dirichlet(ExponentialFamily):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'concentration': independent(positive, 1)}
    support = simplex

    def __init__(self, concentration: Tensor, validate_args: bool | None=None) -> None:
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

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...
    concentration: Tensor

class Beta(ExponentialFamily):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'concentration1': positive, 'concentration0': positive}
    support = unit_interval
    concentration1: Tensor
    concentration0: Tensor

    def __init__(self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None=None) -> None:
        ...

    def _both(self) -> Dirichlet:
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

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class StudentT(Distribution):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'df': positive, 'loc': real, 'scale': positive}
    support = real
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(self, df: Tensor | float, loc: Tensor | float=0.0, scale: Tensor | float=1.0, validate_args: bool | None=None) -> None:
        ...

    @property
    def mean(self) -> Tensor:
        ...
    mode = alias('loc', 'The most probable value.')

    @property
    def variance(self) -> Tensor:
        ...

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...

    def entropy(self) -> Tensor:
        ...

class FisherSnedecor(Distribution):
    ...
    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {'df1': positive, 'df2': positive}
    support = positive
    df1: Tensor
    df2: Tensor

    def __init__(self, df1: Tensor | float, df2: Tensor | float, validate_args: bool | None=None) -> None:
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

    def rsample(self, sample_shape: Sequence[int]=()) -> Tensor:
        ...

    def _log_prob(self, value: Tensor) -> Tensor:
        ...
