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
from collections.abc import Sequence
from operator import attrgetter
from typing import Any
import numpy as np
from .._core import lazy as _lazy
from .._core.primitives import Carrier
from .._core.shapes import Size
from .._core.values import holds
from ..nn.functional import logsigmoid, pad, softmax, softplus
from . import constraints
from .distribution import alias, summed

class Transform:
    """A function of random values: the base of all transforms."""
    bijective = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int=0) -> None:
        ...

    def __call__(self, x: Any) -> Any:
        """The value at x."""

    def _inv_call(self, y: Any) -> Any:
        """An argument whose value is y."""

    def _kept(self, x: Any, y: Any) -> tuple[Any, Any]:
        ...

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """log |det dy/dx| at the argument x, with the value y."""

    @property
    def event_dim(self) -> int:
        """The number of axes that form one argument, if values have the same number."""

    @property
    def inv(self) -> Transform:
        """The inverse transform."""

    @property
    def sign(self) -> Any:
        """1 if the transform is increasing, -1 if it is decreasing."""

    def with_cache(self, cache_size: int=1) -> Any:
        """The same transform, with or without a cache of its last argument."""

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the value, given that of the argument."""

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the argument, given that of the value."""

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
    """The inverse of a transform."""

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
    """Transforms applied one after the other, the first of the list first."""

    def __init__(self, parts: Sequence[Transform], cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Any:
        """The set of arguments: that of the first part, with enough axes for all parts."""

    @property
    def codomain(self) -> Any:
        """The set of values: that of the last part, with enough axes for all parts."""

    @property
    def bijective(self) -> bool:
        """True if all parts are bijective."""

    @property
    def sign(self) -> Any:
        """1 if the transform is increasing, -1 if it is decreasing."""

    def with_cache(self, cache_size: int=1) -> Any:
        """The same transform, with or without a cache of its last argument."""

    def __call__(self, x: Any) -> Any:
        """The value at x."""

    def _inv_call(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """log |det dy/dx| at the argument x, with the value y."""

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the value, given that of the argument."""

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the argument, given that of the value."""

    def __repr__(self) -> str:
        ...
    parts: _Any

def _widened(constraint: Any, axes: int) -> Any:
    """A constraint on values with at least `axes` axes."""
identity_transform = ComposeTransform([])

class IndependentTransform(Transform):
    """Another transform with additional batch axes that become part of one value."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Any:
        """The set of arguments."""

    @property
    def codomain(self) -> Any:
        """The set of values."""
    bijective = property(attrgetter('base_transform.bijective'))
    sign = alias('base_transform.sign', '1 if it grows with its argument, -1 if it falls.')

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """log |det dy/dx| at the argument x, with the value y."""

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the value, given that of the argument."""

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the argument, given that of the value."""

    def __repr__(self) -> str:
        ...
    base_transform: _Any
    reinterpreted_batch_ndims: _Any

class ReshapeTransform(Transform):
    """The same numbers in another shape: of `in_shape` before, of `out_shape` after."""
    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Any:
        """The set of arguments."""

    @property
    def codomain(self) -> Any:
        """The set of values."""

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """Zeros: volumes do not change."""

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the value, given that of the argument."""

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the argument, given that of the value."""
    in_shape: _Any
    out_shape: _Any

def _replaced(shape: Any, old: Size, new: Size) -> Size:
    """A shape whose last axes `old` are replaced by `new`."""

class _Growing(Transform):
    """An increasing elementwise transform."""
    bijective = True
    domain, sign = (constraints.real, 1)

class ExpTransform(_Growing):
    """exp(x)."""
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """log |dy/dx| at the argument x, with the value y."""

class SigmoidTransform(_Growing):
    """1 / (1 + exp(-x)), clamped to the interior of (0, 1)."""
    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """log |dy/dx| at the argument x, with the value y."""

def _inside(y: Any) -> Any:
    """Probabilities clamped to exclude 0 and 1, by the precision of their dtype."""

class SoftplusTransform(_Growing):
    """log(1 + exp(x))."""
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """log |dy/dx| at the argument x, with the value y."""

class TanhTransform(_Growing):
    """tanh(x). Its inverse is inaccurate near -1 and 1: use `cache_size=1` to invert its own values."""
    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """log |dy/dx| at the argument x, with the value y."""

class PowerTransform(_Growing):
    """x ** exponent for positive x."""
    domain = codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int=0) -> None:
        ...

    @property
    def sign(self) -> Any:
        """1 if the transform is increasing, -1 if it is decreasing."""

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """log |dy/dx| at the argument x, with the value y."""
    exponent: _Any

def _sign(value: Any) -> Any:
    ...

class AbsTransform(Transform):
    """|x|; its inverse returns the nonnegative argument."""
    domain, codomain = (constraints.real, constraints.positive)

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

class AffineTransform(Transform):
    """loc + scale * x, where `event_dim` axes form one value."""
    bijective = True

    def __init__(self, loc: _Tensor | float, scale: _Tensor | float, event_dim: int=0, cache_size: int=0) -> None:
        ...

    @property
    def event_dim(self) -> int:
        """The number of axes that form one value."""

    @property
    def domain(self) -> Any:
        """The set of arguments."""
    codomain = domain

    @property
    def sign(self) -> Any:
        """1 if the transform is increasing, -1 if it is decreasing."""

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """log |det dy/dx| at the argument x, with the value y."""

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the value, given that of the argument."""
    inverse_shape = forward_shape
    _event_dim: _Any
    loc: _Tensor
    scale: _Tensor

def _shape(value: Any) -> tuple[int, ...]:
    ...

class SoftmaxTransform(Transform):
    """The softmax over the last axis; the inverse is log, up to a constant."""
    domain, codomain = (constraints.real_vector, constraints.simplex)

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

class StickBreakingTransform(Transform):
    """The stick-breaking transform: n numbers to n + 1 probabilities, each a fraction of the remainder."""
    bijective = True
    domain, codomain = (constraints.real_vector, constraints.simplex)

    def _moved(self, x: Any) -> Any:
        """The argument shifted such that zeros give equal probabilities."""

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """log |det dy/dx| at the argument x, with the value y."""

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the value, given that of the argument."""

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the argument, given that of the value."""

class LowerCholeskyTransform(Transform):
    """The lower triangle of matrices, with the exponential of the diagonal."""
    domain, codomain = (constraints.independent(constraints.real, 2), constraints.lower_cholesky)

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

class PositiveDefiniteTransform(Transform):
    """Matrices mapped to positive definite ones, L @ L.T with L from `LowerCholeskyTransform`."""
    domain, codomain = (constraints.independent(constraints.real, 2), constraints.positive_definite)

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

class CumulativeDistributionTransform(Transform):
    """The cumulative distribution function of a distribution."""
    bijective = True
    codomain, sign = (constraints.unit_interval, 1)

    def __init__(self, distribution: Any, cache_size: int=0) -> None:
        ...

    @property
    def domain(self) -> Any:
        """The support of the distribution."""

    def _call(self, x: Any) -> Any:
        ...

    def _inverse(self, y: Any) -> Any:
        ...

    def log_abs_det_jacobian(self, x: Any, y: Any) -> _Tensor:
        """log |dy/dx| at the argument x, with the value y."""
    distribution: _Any
__getattr__, __dir__, _ = _lazy.index(globals(), {'joined': 'CatTransform StackTransform', 'correlations': 'CorrCholeskyTransform'})
