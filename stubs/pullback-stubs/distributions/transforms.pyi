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
import functools
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self
import numpy as np
from .. import Size, Tensor, finfo
from .._core import lazy as _lazy
from ..extend import holds
from ..nn.functional import logsigmoid, pad, softmax, softplus
from . import constraints
from .distribution import derived, summed
if TYPE_CHECKING:
    from .._core.shapes import Shape
    from .constraints import Constraint
    from .distribution import Distribution

class Transform:
    ...
    bijective = False
    if TYPE_CHECKING:

        @property
        def domain(self) -> Constraint:
            ...

        @property
        def codomain(self) -> Constraint:
            ...

    def __init__(self, cache_size: int=0) -> None:
        ...

    def __call__(self, x: Tensor) -> Tensor:
        ...

    def _inv_call(self, y: Tensor) -> Tensor:
        ...

    def _kept(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        ...

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...

    @property
    def event_dim(self) -> int:
        ...

    @property
    def inv(self) -> Transform:
        ...

    @property
    def sign(self) -> Tensor | int:
        ...

    def with_cache(self, cache_size: int=1) -> Transform:
        ...

    def _with_cache(self, cache_size: int) -> Self:
        ...

    def forward_shape(self, shape: Shape) -> Shape:
        ...

    def inverse_shape(self, shape: Shape) -> Shape:
        ...

    def _settings(self) -> dict[str, Any]:
        ...

    def __eq__(self, other: object) -> bool:
        ...
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        ...
    _cache_size: int
    _cached: _Any

def _same(a: Any, b: Any) -> bool:
    ...

class _InverseTransform(Transform):
    ...

    def __init__(self, transform: Transform) -> None:
        ...

    @property
    def domain(self) -> Constraint:
        ...

    @property
    def codomain(self) -> Constraint:
        ...

    @derived
    def bijective(self) -> bool:
        ...

    @property
    def sign(self) -> Tensor | int:
        ...

    @property
    def inv(self) -> Transform:
        ...

    def with_cache(self, cache_size: int=1) -> Transform:
        ...

    def __call__(self, x: Tensor) -> Tensor:
        ...

    def _inv_call(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...

    def forward_shape(self, shape: Shape) -> Shape:
        ...

    def inverse_shape(self, shape: Shape) -> Shape:
        ...

    def __repr__(self) -> str:
        ...
    _inv: Transform

class ComposeTransform(Transform):
    ...
    parts: list[Transform]

    def __init__(self, parts: Sequence[Transform], cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Constraint:
        ...

    @property
    def codomain(self) -> Constraint:
        ...

    @derived
    def bijective(self) -> bool:
        ...

    @property
    def sign(self) -> Tensor | int:
        ...

    def with_cache(self, cache_size: int=1) -> ComposeTransform:
        ...

    def __call__(self, x: Tensor) -> Tensor:
        ...

    def _inv_call(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...

    def forward_shape(self, shape: Shape) -> Shape:
        ...

    def inverse_shape(self, shape: Shape) -> Shape:
        ...

    def __repr__(self) -> str:
        ...

def _last(steps: Sequence[tuple[Constraint, Constraint]]) -> Constraint:
    ...

def _widened(constraint: Constraint, axes: int) -> Constraint:
    ...
identity_transform = ComposeTransform([])

class _Growing(Transform):
    ...
    bijective = True
    domain, sign = (constraints.real, 1)

class ExpTransform(_Growing):
    ...
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...

class SigmoidTransform(_Growing):
    ...
    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...

def _inside(y: Tensor) -> Tensor:
    ...

class SoftplusTransform(_Growing):
    ...
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...

class TanhTransform(_Growing):
    ...
    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...

class PowerTransform(_Growing):
    ...
    domain = codomain = constraints.positive

    def __init__(self, exponent: Tensor | float, cache_size: int=0) -> None:
        ...

    @property
    def sign(self) -> Tensor | int:
        ...

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...
    exponent: Tensor | float

def _sign(value: Tensor | float) -> Tensor | int:
    ...

class AbsTransform(Transform):
    ...
    domain, codomain = (constraints.real, constraints.positive)

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

class AffineTransform(Transform):
    ...
    bijective = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int=0, cache_size: int=0) -> None:
        ...

    @property
    def event_dim(self) -> int:
        ...

    @property
    def domain(self) -> Constraint:
        ...
    codomain = domain

    @property
    def sign(self) -> Tensor | int:
        ...

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...

    def forward_shape(self, shape: Shape) -> Shape:
        ...
    inverse_shape = forward_shape
    _event_dim: int
    loc: Tensor | float
    scale: Tensor | float

def _shape(value: Tensor | float) -> tuple[int, ...]:
    ...

class SoftmaxTransform(Transform):
    ...
    domain, codomain = (constraints.real_vector, constraints.simplex)

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

class StickBreakingTransform(Transform):
    ...
    bijective = True
    domain, codomain = (constraints.real_vector, constraints.simplex)

    def _moved(self, x: Tensor) -> Tensor:
        ...

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

class LowerCholeskyTransform(Transform):
    ...
    domain, codomain = (constraints.independent(constraints.real, 2), constraints.lower_cholesky)

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

class PositiveDefiniteTransform(Transform):
    ...
    domain, codomain = (constraints.independent(constraints.real, 2), constraints.positive_definite)

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

class CumulativeDistributionTransform(Transform):
    ...
    bijective = True
    codomain, sign = (constraints.unit_interval, 1)

    def __init__(self, distribution: Distribution, cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Constraint:
        ...

    def _call(self, x: Tensor) -> Tensor:
        ...

    def _inverse(self, y: Tensor) -> Tensor:
        ...

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        ...
    distribution: Distribution
__getattr__, __dir__, _ = _lazy.index(globals(), {'axes': 'IndependentTransform ReshapeTransform', 'correlations': 'CorrCholeskyTransform', 'joined': 'CatTransform StackTransform'})
