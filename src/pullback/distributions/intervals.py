"""Distributions on an interval: of probabilities, and of exceedances over a threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from .. import expm1, finfo, log1p, rand, where
from .constraints import Constraint, dependent_property, interval, positive, real, unit_interval
from .discrete import OfOdds
from .distribution import Distribution, ExponentialFamily, alias, broadcast_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import Tensor

# B(2k) / (2k)! for the Bernoulli numbers: the coefficients of t / (exp(t) - 1), full precision for |t| < 1/2
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600)
_NEAR = 0.5


def _series(t: Tensor, factors: Sequence[float], power: int) -> Tensor:
    """The sum of factors[k] * t**(2k + power), for small t."""
    square = t * t
    total: Tensor | float = factors[-1]
    for factor in reversed(factors[:-1]):
        total = total * square + factor
    return total * t**power


class ContinuousBernoulli(OfOdds, ExponentialFamily):
    """The distribution on [0, 1] with a density in proportion to probs**x * (1 - probs)**(1 - x).

    G. Loaiza-Ganem and J. P. Cunningham, The continuous Bernoulli: fixing a pervasive error in variational autoencoders
    (2019). `probs` is not the mean. With t for the logits, the density is exp(t x) t / (exp(t) - 1); near t = 0 it and
    what is made of it are computed by their series. `lims`, between which torch takes a series, has no effect.

    >>> import pullback
    >>> from pullback.distributions import ContinuousBernoulli
    >>> ContinuousBernoulli(0.2).mean, ContinuousBernoulli(0.5).log_prob(pullback.tensor(0.7))
    (tensor(0.3880), tensor(0.))
    """

    has_rsample = True
    support: Constraint = unit_interval

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._lims = lims
        super().__init__(probs, logits, validate_args)

    def _by_size(self, far: Callable[[Tensor], Tensor], factors: Sequence[float], power: int, offset: float) -> Tensor:
        """A function of the logits: its series where they are small, `far` elsewhere."""
        t = self.logits
        near = t.abs() < _NEAR
        return where(near, _series(where(near, t, 0.0), factors, power) + offset, far(where(near, 1.0, t)))

    def _log_mass(self) -> Tensor:
        """log((exp(t) - 1) / t) - t / 2, an even function."""

        def far(t: Tensor) -> Tensor:
            size = t.abs()
            return size / 2 + (-(-size).exp()).log1p() - size.log()

        return self._by_size(far, [b / (2 * k + 2) for k, b in enumerate(_BERNOULLI)], 2, 0.0)

    @property
    def mean(self) -> Tensor:
        """The mean."""
        return self._by_size(lambda t: 0.5 + 0.5 / (t / 2).tanh() - 1 / t, _BERNOULLI, 1, 0.5)

    @property
    def variance(self) -> Tensor:
        """The variance."""
        rates = [b * (2 * k + 1) for k, b in enumerate(_BERNOULLI)]
        return self._by_size(lambda t: 1 / t**2 + 1 / (2 - t.exp() - (-t).exp()), rates, 0, 0.0)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self._param.dtype))

    def _log_prob(self, value: Tensor) -> Tensor:
        t, near = self.logits, self.logits.abs() < _NEAR
        size = where(near, 1.0, t.abs())  # from the end of higher density, to avoid cancellation
        far = t * (value - (t > 0).to(t.dtype)) + size.log() - log1p(-(-size).exp())
        return where(near, t * (value - 0.5) - self._log_mass(), far)

    def _cdf(self, value: Tensor) -> Tensor:
        t, x = broadcast_all(self.logits, value.clamp(0, 1))
        near = t.abs() < _light(t)
        size = where(near, 1.0, t.abs())
        # uses only exp(-size), which does not overflow
        found = expm1(-size * x) / expm1(-size) * (size * where(t > 0, x - 1, 0.0)).exp()
        return where(near, x + t * x * (x - 1) / 2, found)

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile for a probability: the inverse of `cdf`."""
        t, u = broadcast_all(self.logits, value)
        near, large = t.abs() < _light(t), t > 1
        other, size = where(near | large, 1.0, t), where(large, t, 1.0)
        found = where(large, 1 + (u + (1 - u) * (-size).exp()).log() / size, (u * expm1(other)).log1p() / other)
        return where(near, u + t * u * (1 - u) / 2, found)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        t, near = self.logits, self.logits.abs() < _NEAR
        size = where(near, 1.0, t.abs())
        far = 1 + size * (-size).exp() / expm1(-size) + log1p(-(-size).exp()) - size.log()
        return where(near, self._log_mass() - t * (self.mean - 0.5), far)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)


class GeneralizedPareto(Distribution):
    """The distribution of exceedances over `loc`: exponential for concentration 0, with a power-law tail above it.

    For a negative concentration, values are at most loc - scale / concentration. The mean is NaN for a concentration of
    1 or more, the variance for 1/2 or more, as in torch: they do not exist. J. Pickands, Statistical inference using
    extreme order statistics (1975).

    >>> import pullback
    >>> from pullback.distributions import GeneralizedPareto
    >>> GeneralizedPareto(0.0, 2.0, 0.25).cdf(pullback.tensor(8.0))
    tensor(0.9375)
    """

    has_rsample = True
    arg_constraints: ClassVar[dict[str, Constraint]] = {"loc": real, "scale": positive, "concentration": real}
    loc: Tensor
    scale: Tensor
    concentration: Tensor

    def __init__(
        self,
        loc: Tensor | float,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        """The set of possible values."""
        shape = self.concentration
        end = self.loc - self.scale / where(shape < 0, shape, -1.0)
        return interval(self.loc, where(shape < 0, end, math.inf))

    @property
    def mean(self) -> Tensor:
        """The mean; NaN if it does not exist."""
        exists = self.concentration < 1
        return where(exists, self.loc + self.scale / (1 - where(exists, self.concentration, 0.0)), math.nan)

    mode = alias("loc", "The most probable value.")

    @property
    def variance(self) -> Tensor:
        """The variance; NaN if it does not exist."""
        exists = self.concentration < 0.5
        shape = where(exists, self.concentration, 0.0)
        return where(exists, self.scale**2 / ((1 - shape) ** 2 * (1 - 2 * shape)), math.nan)

    def _exceeded(self, value: Tensor) -> Tensor:
        """Minus the logarithm of the probability of larger values: log(1 + c z) / c, or z for c = 0."""
        z, shape = (value - self.loc) / self.scale, self.concentration
        light = shape.abs() < _light(shape)
        heavy = where(light, 1.0, shape)
        return where(light, z - shape * z * z / 2, (heavy * z).log1p() / heavy)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Random samples, as differentiable functions of the parameters."""
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def _log_prob(self, value: Tensor) -> Tensor:
        return -self.scale.log() - (1 + self.concentration) * self._exceeded(value)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of larger values."""
        self._validate_sample(value)
        return -self._exceeded(value)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of values up to this one."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        """The cumulative distribution function."""
        return -expm1(self.log_survival_function(value))

    def icdf(self, value: Tensor) -> Tensor:
        """The quantile for a probability: the inverse of `cdf`."""
        rate, shape = -(-value).log1p(), self.concentration
        light = shape.abs() < _light(shape)
        heavy = where(light, 1.0, shape)
        return self.loc + self.scale * where(light, rate + shape * rate * rate / 2, expm1(heavy * rate) / heavy)

    def entropy(self) -> Tensor:
        """The entropy, in nats."""
        return self.scale.log() + self.concentration + 1


def _light(shape: Tensor) -> float:
    """True for concentrations equivalent to 0: their squares are below the machine precision."""
    return math.sqrt(float(finfo(shape.dtype).eps))
