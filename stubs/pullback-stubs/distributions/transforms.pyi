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
from operator import attrgetter
from typing import Any
import numpy as np
from .._core import lazy as _lazy
from .._core.bfloat import finfo
from .._core.primitives import Carrier
from .._core.shapes import Size
from .._core.values import holds
from ..nn.functional import logsigmoid, pad, softmax, softplus
from . import constraints
from .distribution import alias, summed

class Transform:
    ...
    bijective = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int=0) -> None:
        ...

    def __call__(self, x: Any) -> Any:
        ...

    def _inv_call(self, y: Any) -> Any:
        ...

    def _kept(self, x: Any, y: Any) -> tuple[Any, Any]:
        ...

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...

    @property
    def event_dim(self) -> int:
        ...

    @property
    def inv(self) -> Transform:
        ...

    @property
    def sign(self) -> Any:
        ...

    def with_cache(self, cache_size: int=1) -> Any:
        ...

    def forward_shape(self, shape: Any) -> Any:
        ...

    def inverse_shape(self, shape: Any) -> Any:
        ...

    def _settings(self) -> dict[str, Any]:
        ...

    def __eq__(self, other: object) -> bool:
        ...
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        ...
    _cache_size: _Any
    _cached: _Any

def _same(a: Any, b: Any) -> bool:
    ...

class _InverseTransform(Transform):
    ...

    def __init__(self, transform: Transform) -> None:
        ...
    domain, codomain = (property(attrgetter('_inv.codomain')), property(attrgetter('_inv.domain')))
    bijective = property(attrgetter('_inv.bijective'))
    sign, inv = (property(attrgetter('_inv.sign')), property(attrgetter('_inv')))

    def with_cache(self, cache_size: int=1) -> Any:
        ...

    def __call__(self, x: Any) -> Any:
        ...

    def _inv_call(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...

    def forward_shape(self, shape: Any) -> Any:
        ...

    def inverse_shape(self, shape: Any) -> Any:
        ...

    def __repr__(self) -> str:
        ...
    _inv: _Any

class ComposeTransform(Transform):
    ...

    def __init__(self, parts: Sequence[Transform], cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Any:
        ...

    @property
    def codomain(self) -> Any:
        ...
    bijective = property(lambda self: all((part.bijective for part in self.parts)), doc='True if all parts are bijective.')

    @property
    def sign(self) -> Any:
        ...

    def with_cache(self, cache_size: int=1) -> Any:
        ...

    def __call__(self, x: Any) -> Any:
        ...

    def _inv_call(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...

    def forward_shape(self, shape: Any) -> Any:
        ...

    def inverse_shape(self, shape: Any) -> Any:
        ...

    def __repr__(self) -> str:
        ...
    parts: _Any

def _last(steps: Sequence[tuple[Any, Any]]) -> Any:
    ...

def _widened(constraint: Any, axes: int) -> Any:
    ...
identity_transform = ComposeTransform([])

class IndependentTransform(Transform):
    ...

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Any:
        ...

    @property
    def codomain(self) -> Any:
        ...
    bijective = property(attrgetter('base_transform.bijective'))
    sign = alias('base_transform.sign', '1 if it grows with its argument, -1 if it falls.')

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...

    def forward_shape(self, shape: Any) -> Any:
        ...

    def inverse_shape(self, shape: Any) -> Any:
        ...

    def __repr__(self) -> str:
        ...
    base_transform: _Any
    reinterpreted_batch_ndims: _Any

class ReshapeTransform(Transform):
    ...
    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Any:
        ...

    @property
    def codomain(self) -> Any:
        ...

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...

    def forward_shape(self, shape: Any) -> Any:
        ...

    def inverse_shape(self, shape: Any) -> Any:
        ...
    in_shape: _Any
    out_shape: _Any

def _replaced(shape: Any, old: Size, new: Size) -> Size:
    ...

class _Growing(Transform):
    ...
    bijective = True
    domain, sign = (constraints.real, 1)

class ExpTransform(_Growing):
    ...
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...

class SigmoidTransform(_Growing):
    ...
    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...

def _inside(y: Any) -> Any:
    ...

class SoftplusTransform(_Growing):
    ...
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...

class TanhTransform(_Growing):
    ...
    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...

class PowerTransform(_Growing):
    ...
    domain = codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int=0) -> None:
        ...

    @property
    def sign(self) -> Any:
        ...

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...
    exponent: _Any

def _sign(value: Any) -> Any:
    ...

class AbsTransform(Transform):
    ...
    domain, codomain = (constraints.real, constraints.positive)

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

class AffineTransform(Transform):
    ...
    bijective = True

    def __init__(self, loc: _Tensor | float, scale: _Tensor | float, event_dim: int=0, cache_size: int=0) -> None:
        ...

    @property
    def event_dim(self) -> int:
        ...

    @property
    def domain(self) -> Any:
        ...
    codomain = domain

    @property
    def sign(self) -> Any:
        ...

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...

    def forward_shape(self, shape: Any) -> Any:
        ...
    inverse_shape = forward_shape
    _event_dim: _Any
    loc: _Tensor
    scale: _Tensor

def _shape(value: Any) -> tuple[int, ...]:
    ...

class SoftmaxTransform(Transform):
    ...
    domain, codomain = (constraints.real_vector, constraints.simplex)

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

class StickBreakingTransform(Transform):
    ...
    bijective = True
    domain, codomain = (constraints.real_vector, constraints.simplex)

    def _moved(self, x: Any) -> Any:
        ...

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...

    def forward_shape(self, shape: Any) -> Any:
        ...

    def inverse_shape(self, shape: Any) -> Any:
        ...

class LowerCholeskyTransform(Transform):
    ...
    domain, codomain = (constraints.independent(constraints.real, 2), constraints.lower_cholesky)

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

class PositiveDefiniteTransform(Transform):
    ...
    domain, codomain = (constraints.independent(constraints.real, 2), constraints.positive_definite)

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

class CumulativeDistributionTransform(Transform):
    ...
    bijective = True
    codomain, sign = (constraints.unit_interval, 1)

    def __init__(self, distribution: Any, cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Any:
        ...

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        ...
    distribution: _Any
__getattr__, __dir__, _ = _lazy.index(globals(), {'joined': 'CatTransform StackTransform', 'correlations': 'CorrCholeskyTransform'})
