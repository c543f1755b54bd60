"""Transforms of random values: invertible functions with the logarithm of their Jacobian determinant.

A `TransformedDistribution` applies them to another distribution. A custom transform is a subclass with `domain`,
`codomain`, `_call`, `_inverse` and `log_abs_det_jacobian`; `bijective` is True if the inverse returns the argument.
"""

from __future__ import annotations

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


def _checked(cache_size: int) -> int:
    if cache_size not in {0, 1}:
        raise ValueError("cache_size must be 0 or 1")
    return cache_size


class Transform:
    """A function of random values: the base of all transforms.

    With `cache_size=1` the last argument and value are stored, and the inverse of that value returns that argument:
    exact where computing the inverse is not.

    >>> import pullback
    >>> from pullback.distributions.transforms import ExpTransform
    >>> t = ExpTransform()
    >>> t(pullback.tensor(0.0)), t.inv(pullback.tensor(1.0)), t.log_abs_det_jacobian(pullback.tensor(2.0), None)
    (tensor(1.), tensor(0.), tensor(2.))
    """

    bijective = False
    _inv: Any = None  # where subclasses of others keep a weak reference to their inverse
    if TYPE_CHECKING:  # a subclass has attributes, or properties

        @property
        def domain(self) -> Constraint:
            """The set of arguments."""

        @property
        def codomain(self) -> Constraint:
            """The set of values."""

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = _checked(cache_size)
        self._cached: tuple[Tensor, Tensor] | None = None

    def __call__(self, x: Tensor) -> Tensor:
        """The value at x."""
        cached = self._cached
        if cached is not None and cached[0] is x:
            return cached[1]
        return self._kept(x, self._call(x))[1]

    def _inv_call(self, y: Tensor) -> Tensor:
        """An argument whose value is y."""
        cached = self._cached
        if cached is not None and cached[1] is y:
            return cached[0]
        return self._kept(self._inverse(y), y)[0]

    def _kept(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        if self._cache_size:
            self._cached = x, y
        return x, y

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not say what its values are: define _call")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det dy/dx| at the argument x, with the value y."""
        raise NotImplementedError(f"{type(self).__name__} has no determinant of its Jacobian")

    @property
    def event_dim(self) -> int:
        """The number of axes that form one argument, if values have the same number."""
        if self.domain.event_dim == self.codomain.event_dim:
            return int(self.domain.event_dim)
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse transform."""
        return _InverseTransform(self)

    @property
    def sign(self) -> Tensor | int:
        """1 if the transform is increasing, -1 if it is decreasing."""
        raise NotImplementedError(f"{type(self).__name__} does not say whether it grows")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform, with or without a cache of its last argument."""
        return self._with_cache(cache_size)

    def _with_cache(self, cache_size: int) -> Self:
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._cache_size, made._cached = _checked(cache_size), None
        return made

    def forward_shape(self, shape: Shape) -> Shape:
        """The shape of the value, given that of the argument."""
        return shape

    def inverse_shape(self, shape: Shape) -> Shape:
        """The shape of the argument, given that of the value."""
        return shape

    def _settings(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_cache")}

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return False
        mine, theirs = self._settings(), other._settings()
        return mine.keys() == theirs.keys() and all(_same(mine[name], theirs[name]) for name in mine)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _same(a: Any, b: Any) -> bool:
    return holds(a == b) if isinstance(a == b, Tensor) else bool(a == b)


class _InverseTransform(Transform):
    """The inverse of a transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._inv = transform

    @property
    def domain(self) -> Constraint:
        return self._inv.codomain

    @property
    def codomain(self) -> Constraint:
        return self._inv.domain

    @derived
    def bijective(self) -> bool:
        return self._inv.bijective

    @property
    def sign(self) -> Tensor | int:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Tensor) -> Tensor:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Shape) -> Shape:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Shape) -> Shape:
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"


class ComposeTransform(Transform):
    """Transforms applied one after the other, the first of the list first.

    >>> import pullback
    >>> from pullback.distributions.transforms import AffineTransform, ComposeTransform, ExpTransform
    >>> ComposeTransform([AffineTransform(1.0, 2.0), ExpTransform()])(pullback.tensor(-0.5))
    tensor(1.)
    """

    parts: list[Transform]

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @property
    def domain(self) -> Constraint:
        """The set of arguments: that of the first part, with enough axes for all parts."""
        return _last([(part.codomain, part.domain) for part in reversed(self.parts)])

    @property
    def codomain(self) -> Constraint:
        """The set of values: that of the last part, with enough axes for all parts."""
        return _last([(part.domain, part.codomain) for part in self.parts])

    @derived
    def bijective(self) -> bool:
        """True if all parts are bijective."""
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Tensor | int:
        """1 if the transform is increasing, -1 if it is decreasing."""
        return math.prod((part.sign for part in self.parts), start=1)

    def with_cache(self, cache_size: int = 1) -> ComposeTransform:
        """The same transform, with or without a cache of its last argument."""
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        """The value at x."""
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det dy/dx| at the argument x, with the value y."""
        if not self.parts:
            return x * 0
        found = []
        event = self.domain.event_dim
        for part in self.parts:
            value = part(x)
            found.append(summed(part.log_abs_det_jacobian(x, value), event - part.domain.event_dim))
            event += part.codomain.event_dim - part.domain.event_dim
            x = value
        return functools.reduce(operator.add, found)

    def forward_shape(self, shape: Shape) -> Shape:
        """The shape of the value, given that of the argument."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Shape) -> Shape:
        """The shape of the argument, given that of the value."""
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return f"ComposeTransform({self.parts})"


def _last(steps: Sequence[tuple[Constraint, Constraint]]) -> Constraint:
    """The last of the constraints that each step leads from and to, with as many event axes as the steps need."""
    if not steps:
        return constraints.real
    needed = steps[0][0].event_dim
    for start, end in steps:
        needed = end.event_dim + max(needed - start.event_dim, 0)
    return _widened(steps[-1][1], needed)


def _widened(constraint: Constraint, axes: int) -> Constraint:
    """A constraint on values with at least `axes` axes."""
    return (
        constraints.independent(constraint, axes - constraint.event_dim) if axes > constraint.event_dim else constraint
    )


identity_transform = ComposeTransform([])


class _Growing(Transform):
    """An increasing elementwise transform."""

    bijective = True
    domain, sign = constraints.real, 1


class ExpTransform(_Growing):
    """exp(x).

    >>> from pullback import distributions, tensor
    >>> exp = distributions.ExpTransform()
    >>> exp.inv(exp(tensor([1.0, 2.0]))).round(decimals=3), exp.log_abs_det_jacobian(tensor(2.0), exp(tensor(2.0)))
    (tensor([1., 2.]), tensor(2.))
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy/dx| at the argument x, with the value y."""
        return x


class SigmoidTransform(_Growing):
    """1 / (1 + exp(-x)), clamped to the interior of (0, 1).

    >>> import pullback
    >>> pullback.distributions.SigmoidTransform()(pullback.tensor([0.0, 1.0]))
    tensor([0.5000, 0.7311])
    """

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _inside(x.sigmoid())

    def _inverse(self, y: Tensor) -> Tensor:
        y = _inside(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy/dx| at the argument x, with the value y."""
        return -softplus(-x) - softplus(x)


def _inside(y: Tensor) -> Tensor:
    """Probabilities clamped to exclude 0 and 1, by the precision of their dtype."""
    info = finfo(y.dtype)
    return y.clamp(min=float(info.tiny), max=1.0 - float(info.eps))


class SoftplusTransform(_Growing):
    """log(1 + exp(x))."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy/dx| at the argument x, with the value y."""
        return -softplus(-x)


class TanhTransform(_Growing):
    """tanh(x). Its inverse is inaccurate near -1 and 1: use `cache_size=1` to invert its own values.

    >>> import pullback
    >>> pullback.distributions.TanhTransform()(pullback.tensor([0.0, 0.5]))
    tensor([0.0000, 0.4621])
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy/dx| at the argument x, with the value y."""
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class PowerTransform(_Growing):
    """x ** exponent for positive x.

    >>> import pullback
    >>> pullback.distributions.PowerTransform(2.0)(pullback.tensor([1.0, 3.0]))
    tensor([1., 9.])
    """

    domain = codomain = constraints.positive

    def __init__(self, exponent: Tensor | float, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent

    @property
    def sign(self) -> Tensor | int:  # type: ignore[override]  # as the exponent has it
        """1 if the transform is increasing, -1 if it is decreasing."""
        return _sign(self.exponent)

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy/dx| at the argument x, with the value y."""
        return (self.exponent * y / x).abs().log()


def _sign(value: Tensor | float) -> Tensor | int:
    return value.sign() if isinstance(value, Tensor) else (value > 0) - (value < 0)


class AbsTransform(Transform):
    """|x|; its inverse returns the nonnegative argument.

    >>> import pullback
    >>> pullback.distributions.AbsTransform()(pullback.tensor([-2.0, 3.0]))
    tensor([2., 3.])
    """

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """loc + scale * x, where `event_dim` axes form one value.

    >>> import pullback
    >>> from pullback.distributions import Normal, TransformedDistribution
    >>> from pullback.distributions.transforms import AffineTransform
    >>> TransformedDistribution(Normal(0.0, 1.0), AffineTransform(3.0, 2.0)).log_prob(pullback.tensor(3.0))
    tensor(-1.6121)
    """

    bijective = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        """The number of axes that form one value."""
        return self._event_dim

    @property
    def domain(self) -> Constraint:
        """The set of arguments."""
        return _widened(constraints.real, self._event_dim)

    codomain = domain

    @property
    def sign(self) -> Tensor | int:
        """1 if the transform is increasing, -1 if it is decreasing."""
        return _sign(self.scale)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det dy/dx| at the argument x, with the value y."""
        scale = self.scale
        logs = scale.abs().log() if isinstance(scale, Tensor) else x.new_tensor(math.log(abs(scale)))
        return summed(logs.expand(x.shape), self._event_dim)

    def forward_shape(self, shape: Shape) -> Shape:
        """The shape of the value, given that of the argument."""
        return Size(np.broadcast_shapes(tuple(shape), _shape(self.loc), _shape(self.scale)))

    inverse_shape = forward_shape


def _shape(value: Tensor | float) -> tuple[int, ...]:
    return tuple(value.shape) if isinstance(value, Tensor) else ()


class SoftmaxTransform(Transform):
    """The softmax over the last axis; the inverse is log, up to a constant.

    >>> import pullback
    >>> pullback.distributions.SoftmaxTransform()(pullback.tensor([1.0, 1.0]))
    tensor([0.5000, 0.5000])
    """

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()


class StickBreakingTransform(Transform):
    """The stick-breaking transform: n numbers to n + 1 probabilities, each a fraction of the remainder.

    >>> import pullback
    >>> pullback.distributions.StickBreakingTransform()(pullback.zeros(3))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    bijective = True
    domain, codomain = constraints.real_vector, constraints.simplex

    def _moved(self, x: Tensor) -> Tensor:
        """The argument shifted such that zeros give equal probabilities."""
        return x - x.new_tensor(np.arange(x.shape[-1], 0, -1)).log()

    def _call(self, x: Tensor) -> Tensor:
        part = _inside(self._moved(x).sigmoid())
        return pad(part, [0, 1], value=1) * pad((1 - part).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        part = y[..., :-1]
        left = (1 - part.cumsum(-1)).clamp(min=float(finfo(y.dtype).tiny))
        return part.log() - left.log() + part.new_tensor(np.arange(part.shape[-1], 0, -1)).log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det dy/dx| at the argument x, with the value y."""
        moved = self._moved(x)
        return (-moved + logsigmoid(moved) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Shape) -> Shape:
        """The shape of the value, given that of the argument."""
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Shape) -> Shape:
        """The shape of the argument, given that of the value."""
        return Size((*shape[:-1], shape[-1] - 1))


class LowerCholeskyTransform(Transform):
    """The lower triangle of matrices, with the exponential of the diagonal.

    >>> import pullback
    >>> pullback.distributions.LowerCholeskyTransform()(pullback.tensor([[0.0, 5.0], [3.0, 0.0]]))
    tensor([[1., 0.],
            [3., 1.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Matrices mapped to positive definite ones, L @ L.T with L from `LowerCholeskyTransform`.

    >>> import pullback
    >>> pullback.distributions.PositiveDefiniteTransform()(pullback.tensor([[0.0, 5.0], [3.0, 0.0]]))
    tensor([[ 1.,  3.],
            [ 3., 10.]])
    """

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(y.cholesky())


class CumulativeDistributionTransform(Transform):
    """The cumulative distribution function of a distribution.

    >>> import pullback
    >>> normal = pullback.distributions.Normal(0.0, 1.0)
    >>> pullback.distributions.CumulativeDistributionTransform(normal)(pullback.tensor([0.0, 1.96]))
    tensor([0.5000, 0.9750])
    """

    bijective = True
    codomain, sign = constraints.unit_interval, 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Constraint:
        """The support of the distribution."""
        return self.distribution.support or constraints.real

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |dy/dx| at the argument x, with the value y."""
        return self.distribution.log_prob(x)


# Transforms of other modules, which torch has here
__getattr__, __dir__, _ = _lazy.index(
    globals(),
    {
        "axes": "IndependentTransform ReshapeTransform",
        "correlations": "CorrCholeskyTransform",
        "joined": "CatTransform StackTransform",
    },
)
