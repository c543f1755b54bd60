"""The Kullback-Leibler divergence of different families: minus the entropy of p, minus the mean of log q over p.

That mean is composed of the means of a few functions of x: x, its square, its logarithm, exp(-x / s), |x - c|.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .. import digamma, erf, lgamma, where, xlogy
from .continuous import Exponential, Laplace, Normal, Uniform
from .discrete import Bernoulli, Binomial, Poisson
from .distribution import EULER, LOG_ROOT_TAU, Distribution
from .gamma import Beta, Gamma
from .intervals import ContinuousBernoulli
from .registry import RULES, Rule, register_kl
from .transformed import Gumbel, Pareto

if TYPE_CHECKING:
    from .._core.typing import Tensor

T = TypeVar("T")
Mean = Callable[[Any], "Tensor"]

# 1. Means over p


def _over(p: Uniform, low: Tensor, high: Tensor) -> Tensor:
    """The increase of x log x over an interval, divided by the length of p's interval."""
    return (xlogy(high, high) - xlogy(low, low)) / (p.high - p.low)


_LOG: dict[type, Mean] = {
    Beta: lambda p: digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0),
    Exponential: lambda p: -EULER - p.rate.log(),
    Gamma: lambda p: digamma(p.concentration) - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: _over(p, p.low.clamp(min=0), p.high.clamp(min=0)) - 1,
}

_EXP: dict[type, Callable[[Any, Tensor], Tensor]] = {  # of -x / s
    Exponential: lambda p, s: p.rate * s / (p.rate * s + 1),
    Gamma: lambda p, s: (1 + (p.rate * s).reciprocal()).pow(-p.concentration),
    Normal: lambda p, s: (0.5 * (p.scale / s).pow(2) - p.loc / s).exp(),
    Uniform: lambda p, s: s * ((-p.low / s).exp() - (-p.high / s).exp()) / (p.high - p.low),
}


def _family_of(p: Distribution, table: dict[type, T]) -> T:
    """The entry of a family in a table, also for its subclasses."""
    return next(table[kind] for kind in type(p).__mro__ if kind in table)


# 2. Divergences


def _with_moment(order: int, divergence: Rule) -> Rule:
    """A formula with a moment of p; the divergence is infinite for a Pareto distribution without this moment."""

    def guarded(p: Distribution, q: Distribution) -> Tensor:
        if not isinstance(p, Pareto):
            return divergence(p, q)
        without = p.alpha <= order
        tame = Pareto(p.scale, where(without, order + 1.0, p.alpha), validate_args=False)
        return divergence(tame, q).masked_fill(without, math.inf)

    return guarded


def _to_normal(p: Distribution, q: Normal) -> Tensor:
    spread = p.variance + (p.mean - q.loc).pow(2)
    return -p.entropy() + q.scale.log() + LOG_ROOT_TAU + spread / (2 * q.scale.pow(2))


def _inside(p: Distribution, found: Tensor) -> Tensor:
    """A divergence to a family of positive numbers: infinite if p has other values."""
    return found.masked_fill(p.low < 0, math.inf) if isinstance(p, Uniform) else found


def _to_exponential(p: Distribution, q: Exponential) -> Tensor:
    return _inside(p, -p.entropy() - q.rate.log() + q.rate * p.mean)


def _to_gamma(p: Distribution, q: Gamma) -> Tensor:
    a = q.concentration
    scale = lgamma(a) - a * q.rate.log()
    return _inside(p, -p.entropy() + scale - (a - 1) * _family_of(p, _LOG)(p) + q.rate * p.mean)


def _to_gumbel(p: Distribution, q: Gumbel) -> Tensor:
    return (
        -p.entropy()
        + q.scale.log()
        + (p.mean - q.loc) / q.scale
        + (q.loc / q.scale).exp() * _family_of(p, _EXP)(p, q.scale)
    )


def _never(p: Distribution, q: Distribution) -> Tensor:
    """Infinite: p has values that q does not have."""
    parameter = next(iter(p._given().values()))
    return parameter.detach() * 0 + math.inf


for _family in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform):
    RULES[_family, Normal] = _with_moment(2, _to_normal)
for _family in (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform):
    RULES[_family, Exponential] = _with_moment(1, _to_exponential)
for _family in (Beta, Exponential, Pareto, Uniform):
    RULES[_family, Gamma] = _with_moment(1, _to_gamma)
for _kind in _EXP:
    RULES[_kind, Gumbel] = _to_gumbel
for _pair in [
    *itertools.product((Beta, ContinuousBernoulli), (Pareto,)),
    *itertools.product((Exponential, Gamma), (Beta, ContinuousBernoulli, Pareto, Uniform)),
    *itertools.product((Gumbel, Laplace, Normal), (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    *itertools.product((Pareto,), (Beta, ContinuousBernoulli, Uniform)),
    *itertools.product((Poisson,), (Bernoulli, Binomial)),
]:
    RULES[_pair] = _never


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - p.probs * q.rate.log() + q.rate


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def _to_continuous_bernoulli(p: Beta | Uniform, q: ContinuousBernoulli) -> Tensor:
    found = -p.entropy() - q.logits * (p.mean - 0.5) + q._log_mass()
    return found.masked_fill((p.low < 0) | (p.high > 1), math.inf) if isinstance(p, Uniform) else found


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _beta_uniform(p: Beta | ContinuousBernoulli, q: Uniform) -> Tensor:
    return ((q.high - q.low).log() - p.entropy()).masked_fill((q.low > 0) | (q.high < 1), math.inf)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    distance = (p.loc - q.loc) / p.scale
    mean = p.scale * (math.sqrt(2 / math.pi) * (-0.5 * distance.pow(2)).exp() + distance * erf(distance / math.sqrt(2)))
    return -p.entropy() + (2 * q.scale).log() + mean / q.scale


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    outside = (p.high > 1) | (p.low < 0)
    low, high = where(outside, 0.0, p.low), where(outside, 1.0, p.high)
    logs = (xlogy(high, high) - xlogy(low, low)) / (high - low) - 1
    others = (xlogy(1 - low, 1 - low) - xlogy(1 - high, 1 - high)) / (high - low) - 1
    found = lgamma(a) + lgamma(b) - lgamma(a + b) - p.entropy() - (a - 1) * logs - (b - 1) * others
    return found.masked_fill(outside, math.inf)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    found = (q.alpha + 1) * _LOG[Uniform](p) - p.entropy() - q.alpha.log() - q.alpha * q.scale.log()
    return found.masked_fill(p.low < q.scale, math.inf)
