"""Distributions of real numbers whose samples are functions of uniform or normal ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from .. import erf, erfinv, log1p, rand, randn
from . import constraints
from .constraints import Constraint
from .distribution import LOG_ROOT_TAU, Distribution, ExponentialFamily, alias, broadcast_all, drawn_evenly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.shapes import Shape
    from .._core.typing import Tensor


class _Scaled(Distribution):
    """The base of location-scale families."""

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": constraints.real, "scale": constraints.positive}
    support: Constraint = constraints.real
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def _standard(self, shape: Shape) -> Tensor:
        """Samples of the standard member, with location 0 and scale 1."""
        raise NotImplementedError

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        return self.loc + self.scale * self._standard(self._extended_shape(sample_shape))

    def _standardized(self, value: Tensor) -> Tensor:
        return (value - self.loc) / self.scale


class Normal(_Scaled, ExponentialFamily):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    >>> import pullback
    >>> from pullback.distributions import Normal
    >>> Normal(0.0, 2.0).log_prob(pullback.tensor(1.0))
    tensor(-1.7371)
    """

    def _standard(self, shape: Shape) -> Tensor:
        return randn(shape, dtype=self.loc.dtype)

    mean = alias("loc", "The mean.")

    mode = mean

    stddev = alias("scale", "The standard deviation.")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale.pow(2)

    def _log_prob(self, value: Tensor) -> Tensor:
        return -(self._standardized(value) ** 2) / 2 - self.scale.log() - LOG_ROOT_TAU

    def _cdf(self, value: Tensor) -> Tensor:
        return 0.5 * (1 + erf(self._standardized(value) / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile for a probability: the inverse of `cdf`."""
        return self.loc + self.scale * erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return 0.5 + LOG_ROOT_TAU + self.scale.log()


class Laplace(_Scaled):
    """The distribution with density proportional to exp(-abs(x - loc) / scale).

    >>> import pullback
    >>> from pullback.distributions import Laplace
    >>> Laplace(0.0, 1.0).log_prob(pullback.tensor(1.0))
    tensor(-1.6931)
    """

    def _standard(self, shape: Shape) -> Tensor:
        u = drawn_evenly(shape, self.loc.dtype) * 2 - 1
        return -u.sign() * log1p(-u.abs())

    mean = alias("loc", "The mean.")

    mode = mean

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return 2 * self.scale.pow(2)

    def _log_prob(self, value: Tensor) -> Tensor:
        return -self._standardized(value).abs() - (2 * self.scale).log()

    def _cdf(self, value: Tensor) -> Tensor:
        z = self._standardized(value)
        return 0.5 - 0.5 * z.sign() * (-z.abs()).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile for a probability: the inverse of `cdf`."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * log1p(-2 * term.abs())

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return 1 + (2 * self.scale).log()


class Cauchy(_Scaled):
    """The Cauchy distribution, which has no mean and no variance.

    >>> import pullback
    >>> from pullback.distributions import Cauchy
    >>> Cauchy(0.0, 1.0).cdf(pullback.tensor(1.0))
    tensor(0.7500)
    """

    def _standard(self, shape: Shape) -> Tensor:
        return (math.pi * (drawn_evenly(shape, self.loc.dtype) - 0.5)).tan()

    @property
    def mean(self) -> Tensor:
        """NaN: the mean does not exist."""
        return self.loc * math.nan

    mode = alias("loc", "The most probable value.")

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return self.loc * 0 + math.inf

    def _log_prob(self, value: Tensor) -> Tensor:
        return -log1p(self._standardized(value) ** 2) - self.scale.log() - math.log(math.pi)

    def _cdf(self, value: Tensor) -> Tensor:
        return self._standardized(value).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile for a probability: the inverse of `cdf`."""
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return math.log(4 * math.pi) + self.scale.log()


class Uniform(Distribution):
    """The distribution on [low, high) with constant density.

    >>> import pullback
    >>> from pullback.distributions import Uniform
    >>> Uniform(0.0, 4.0).log_prob(pullback.tensor(1.0))
    tensor(-1.3863)
    """

    has_rsample = True
    low: Tensor
    high: Tensor

    def __init__(self, low: Tensor | float, high: Tensor | float, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, Constraint]:  # type: ignore[override]  # each depends on the other
        """The constraints on the bounds."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        """The set of possible values."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self.low + self.high) / 2

    @property
    def mode(self) -> Tensor:
        """NaN: all values have the same density."""
        return self.high * math.nan

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        u = rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + u * (self.high - self.low)

    def _log_prob(self, value: Tensor) -> Tensor:
        inside = (self.low <= value) & (self.high > value)
        return inside.type_as(self.low).log() - (self.high - self.low).log()

    def _cdf(self, value: Tensor) -> Tensor:
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile for a probability: the inverse of `cdf`."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return (self.high - self.low).log()


class Exponential(ExponentialFamily):
    """The distribution of the time to an event that happens `rate` times per unit of time.

    >>> import pullback
    >>> from pullback.distributions import Exponential
    >>> Exponential(2.0).log_prob(pullback.tensor(1.0))
    tensor(-1.3069)
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"rate": constraints.positive}
    support: Constraint = constraints.nonnegative
    rate: Tensor

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.rate.reciprocal()

    stddev = mean

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self.rate * 0

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        return -drawn_evenly(self._extended_shape(sample_shape), self.rate.dtype).log() / self.rate

    def _log_prob(self, value: Tensor) -> Tensor:
        return self.rate.log() - self.rate * value

    def _cdf(self, value: Tensor) -> Tensor:
        return -(-self.rate * value).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile for a probability: the inverse of `cdf`."""
        return -log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return 1 - self.rate.log()
