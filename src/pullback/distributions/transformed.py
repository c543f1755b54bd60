"""Distributions of functions of random values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Self

from .. import Size, finfo, no_grad
from ..extend import restoring
from .constraints import (
    Constraint,
    dependent_property,
    greater_than_eq,
    independent,
    nonnegative,
    positive,
    real,
    simplex,
    unit_interval,
)
from .continuous import Cauchy, Exponential, Normal, Uniform
from .distribution import EULER, Distribution, alias, broadcast_all, derived, summed
from .gamma import Gamma
from .multivariate import Independent
from .transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    StickBreakingTransform,
    Transform,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Tensor


class TransformedDistribution(Distribution):
    """The distribution of values of another after a sequence of transforms.

    Raises
    ------
    ValueError
        If one of them is not a transform, or needs more axes than the other distribution has.

    >>> import pullback
    >>> from pullback.distributions import TransformedDistribution, Uniform
    >>> from pullback.distributions.transforms import AffineTransform, SigmoidTransform
    >>> logistic = TransformedDistribution(Uniform(0.0, 1.0), [SigmoidTransform().inv, AffineTransform(2.0, 1.0)])
    >>> logistic.log_prob(pullback.tensor(2.0))
    tensor(-1.3863)
    """

    base_dist: Distribution
    transforms: list[Transform]

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        if not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        if not all(isinstance(transform, Transform) for transform in transforms):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms}")
        self.transforms = transforms
        whole = ComposeTransform(transforms)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        taken, given = whole.domain.event_dim, whole.codomain.event_dim
        if len(shape) < taken:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {taken}, but got {tuple(shape)}."
            )
        forward = Size(whole.forward_shape(shape))
        needed = whole.inverse_shape(forward)
        event = len(base_distribution.event_shape)
        if tuple(needed) != tuple(shape):
            base_distribution = base_distribution.expand(needed[: len(needed) - event])
        if taken > event:
            base_distribution = Independent(base_distribution, taken - event)
        self.base_dist = base_distribution
        cut = len(forward) - max(given, event + given - taken)
        super().__init__(forward[:cut], forward[cut:], validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Self:
        """The same distribution with its parameters broadcast to another batch shape."""
        made = super().expand(batch_shape)
        shape = ComposeTransform(self.transforms).inverse_shape(made._batch_shape + self.event_shape)
        made.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return made

    @derived
    def has_rsample(self) -> bool:
        """Whether samples can be differentiated by the parameters."""
        return self.base_dist.has_rsample

    @dependent_property
    def support(self) -> Constraint | None:
        """The set of possible values."""
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        more = len(self.event_shape) - last.event_dim
        return independent(last, more) if more > 0 else last

    @restoring
    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, which cannot be differentiated."""
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, value: Tensor) -> Tensor:
        for transform in self.transforms:
            value = transform(value)
        return value

    def _traced_back(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return value

    def _log_prob(self, value: Tensor) -> Tensor:
        event = len(self.event_shape)
        stretched: Tensor | int = 0
        for transform in reversed(self.transforms):
            argument = transform.inv(value)
            event += transform.domain.event_dim - transform.codomain.event_dim
            jacobian = transform.log_abs_det_jacobian(argument, value)
            stretched = stretched - summed(jacobian, event - transform.domain.event_dim)
            value = argument
        return stretched + summed(self.base_dist.log_prob(value), event - len(self.base_dist.event_shape))

    def _turned(self, chance: Tensor) -> Tensor:
        """A probability p, or 1 - p if the transforms are decreasing."""
        sign = math.prod((transform.sign for transform in self.transforms), start=1)
        return chance if isinstance(sign, int) and sign == 1 else sign * (chance - 0.5) + 0.5

    def _cdf(self, value: Tensor) -> Tensor:
        return self._turned(self.base_dist.cdf(self._traced_back(value)))

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile for a probability: the inverse of `cdf`."""
        return self._transformed(self.base_dist.icdf(self._turned(value)))


class _OfBase(TransformedDistribution):
    """The base of distributions with the parameters of the distribution that is transformed."""

    def _shown(self) -> dict[str, Tensor]:
        return {name: getattr(self, name) for name in self.arg_constraints}


class LogNormal(_OfBase):
    """The distribution of exp(x) for normal x with mean `loc` and standard deviation `scale`.

    >>> from pullback.distributions import LogNormal
    >>> LogNormal(0.0, 1.0).mean
    tensor(1.6487)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": real, "scale": positive}
    support: Constraint = positive
    loc = alias("base_dist.loc", "The mean of the logarithm.")
    scale = alias("base_dist.scale", "The standard deviation of the logarithm.")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return (self.loc + self.scale**2 / 2).exp()

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return (self.loc - self.scale**2).exp()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (self.scale**2).expm1() * (2 * self.loc + self.scale**2).exp()

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return self.base_dist.entropy() + self.loc


class Gumbel(TransformedDistribution):
    """The distribution of the largest of many values: its distribution function is exp(-exp(-(x - loc) / scale)).

    >>> from pullback.distributions import Gumbel
    >>> Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": real, "scale": positive}
    support: Constraint = real
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        numbers, zeros = finfo(self.loc.dtype), self.loc.detach() * 0
        base = Uniform(zeros + float(numbers.tiny), zeros + (1 - float(numbers.eps)), validate_args=validate_args)
        to_log = ExpTransform().inv
        transforms = [to_log, AffineTransform(0, -1.0), to_log, AffineTransform(self.loc, -self.scale)]
        super().__init__(base, transforms, validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.loc + self.scale * EULER

    mode = alias("loc", "The most probable value.")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return (math.pi * self.scale) ** 2 / 6

    def _exponent(self, value: Tensor) -> Tensor:
        """y such that exp(-exp(y)) is the cumulative distribution function."""
        return (self.loc - value) / self.scale

    def _log_prob(self, value: Tensor) -> Tensor:
        y = self._exponent(value)
        return y - y.exp() - self.scale.log()

    def _cdf(self, value: Tensor) -> Tensor:
        return (-self._exponent(value).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile for a probability: the inverse of `cdf`."""
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return self.scale.log() + 1 + EULER


class _Half(_OfBase):
    """The base of distributions of absolute values of a symmetric distribution."""

    arg_constraints: ClassVar[dict[str, Constraint]] = {"scale": positive}
    support: Constraint = nonnegative
    scale = alias("base_dist.scale", "How far the values are spread.")

    def __init__(self, base: Distribution, validate_args: bool | None) -> None:
        super().__init__(base, AbsTransform(), validate_args)

    @property
    def mode(self) -> Tensor:
        """The most probable value: 0."""
        return self.scale * 0

    def _log_prob(self, value: Tensor) -> Tensor:
        return (self.base_dist.log_prob(value) + math.log(2)).masked_fill(value < 0, -math.inf)

    def _cdf(self, value: Tensor) -> Tensor:
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile for a probability: the inverse of `cdf`."""
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The distribution of |x| for normal x with mean 0 and standard deviation `scale`.

    >>> from pullback.distributions import HalfNormal
    >>> HalfNormal(1.0).mean
    tensor(0.7979)
    """

    base_dist: Normal

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=validate_args), validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The distribution of |x| for x from the Cauchy distribution around 0 with `scale`.

    >>> import pullback
    >>> from pullback.distributions import HalfCauchy
    >>> HalfCauchy(1.0).cdf(pullback.tensor(1.0))
    tensor(0.5000)
    """

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=validate_args), validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean, which is infinite."""
        return self.scale.detach() * 0 + math.inf

    @property
    def variance(self) -> Tensor:
        """The variance, which is infinite."""
        return self.scale.detach() * 0 + math.inf


class Pareto(TransformedDistribution):
    """The Pareto distribution: values above x > `scale` have probability (scale / x) ** alpha.

    >>> from pullback.distributions import Pareto
    >>> Pareto(1.0, 3.0).mean
    tensor(1.5000)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"alpha": positive, "scale": positive}
    scale: Tensor
    alpha: Tensor

    def __init__(self, scale: Tensor | float, alpha: Tensor | float, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        """The set of possible values."""
        return greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        alpha = self.alpha.clamp(min=1)
        return alpha * self.scale / (alpha - 1)

    mode = alias("scale", "The most probable value.")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        alpha = self.alpha.clamp(min=2)
        return self.scale.pow(2) * alpha / ((alpha - 1).pow(2) * (alpha - 2))

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """The Weibull distribution: values above x have probability exp(-(x / scale) ** concentration).

    >>> from pullback.distributions import Weibull
    >>> Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"scale": positive, "concentration": positive}
    support: Constraint = positive
    scale: Tensor
    concentration: Tensor

    def __init__(self, scale: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(self.scale * 0 + 1, validate_args=validate_args)
        transforms = [PowerTransform(self.concentration.reciprocal()), AffineTransform(0, self.scale)]
        super().__init__(base, transforms, validate_args)

    def _moment(self, order: int) -> Tensor:
        return (1 + order / self.concentration).lgamma().exp()

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        inner = ((self.concentration - 1) / self.concentration).clamp(min=0)
        return self.scale * inner ** self.concentration.reciprocal()

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self.scale.pow(2) * (self._moment(2) - self._moment(1).pow(2))

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return EULER * (1 - self.concentration.reciprocal()) + (self.scale / self.concentration).log() + 1


class InverseGamma(_OfBase):
    """The distribution of 1 / x for x of the gamma distribution with a concentration and a rate.

    >>> from pullback.distributions import InverseGamma
    >>> InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration": positive, "rate": positive}
    support: Constraint = positive
    concentration = alias("base_dist.concentration", "The concentration of the gamma distribution.")
    rate = alias("base_dist.rate", "Its rate.")

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(base.rate.new_tensor(-1.0)), validate_args)

    @property
    def mean(self) -> Tensor:
        """The mean; infinite if it does not exist."""
        found = self.rate / (self.concentration - 1)
        return found.masked_fill(self.concentration <= 1, math.inf)

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """The variance; infinite if it does not exist."""
        found = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return found.masked_fill(self.concentration <= 2, math.inf)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Kumaraswamy(TransformedDistribution):
    """The Kumaraswamy distribution: values above x in (0, 1) have probability (1 - x ** a) ** b.

    a is `concentration1`, b is `concentration0`.

    >>> from pullback.distributions import Kumaraswamy
    >>> Kumaraswamy(1.0, 1.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"concentration1": positive, "concentration0": positive}
    support: Constraint = unit_interval
    concentration1: Tensor
    concentration0: Tensor

    def __init__(
        self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        ones = self.concentration0 * 0 + 1
        base = Uniform(ones * 0, ones, validate_args=validate_args)
        transforms = [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args)

    def _moment(self, order: int) -> Tensor:
        a = 1 + order / self.concentration1
        b = self.concentration0
        return (b.log() + a.lgamma() + b.lgamma() - (a + b).lgamma()).exp()

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """The most probable value; NaN if the density is unbounded."""
        a, b = self.concentration1, self.concentration0
        found = a.reciprocal() * ((-b).log1p() - (-a * b).log1p())
        return found.exp().masked_fill((a < 1) | (b < 1), math.nan)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        return self._moment(2) - self._moment(1).square()

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + EULER
        return 1 - b.reciprocal() + (1 - a.reciprocal()) * harmonic - a.log() - b.log()


class LogisticNormal(TransformedDistribution):
    """The distribution of probabilities obtained from n normal numbers by stick breaking: n + 1 of them.

    >>> import pullback
    >>> from pullback.distributions import LogisticNormal
    >>> LogisticNormal(pullback.zeros(3), pullback.ones(3)).sample().shape
    pullback.Size([4])
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": real, "scale": positive}
    support: Constraint = simplex

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args)

    loc = alias("base_dist.base_dist.loc", "The means of the normal numbers.")
    scale = alias("base_dist.base_dist.scale", "Their standard deviations.")
