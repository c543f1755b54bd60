"""The Kullback-Leibler divergence of two distributions, by the pair of their families."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import linalg
from .._functions import where
from ..nn.functional import softplus
from ..vocabulary.special import digamma, lgamma
from .continuous import Exponential, Laplace, Normal, Uniform
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import Distribution, summed
from .gamma import Beta, Dirichlet, Gamma
from .multivariate import Independent, MultivariateNormal, mahalanobis

Rule = Callable[[Any, Any], Any]

_RULES: dict[tuple[type, type], Rule] = {}


def register_kl(type_p: Any, type_q: Any) -> Callable[[Rule], Rule]:
    """A decorator for the function of two distributions that gives their divergence; subclasses use it, too.

    Raises
    ------
    TypeError
        If one of the two is no family of distributions.

    >>> from pullback.distributions import Normal, register_kl
    >>> class Mine(Normal): ...
    >>> @register_kl(Mine, Mine)
    ... def mine(p, q):
    ...     return (p.loc - q.loc).abs()
    """
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"Expected type_p and type_q to be subclasses of Distribution but got {kind!r}")

    def register(rule: Rule) -> Rule:
        _RULES[type_p, type_q] = rule
        return rule

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The mean, over p, of log(p / q).

    Raises
    ------
    NotImplementedError
        If there is no formula for the two families.

    >>> from pullback.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    for a in type(p).__mro__:
        for b in type(q).__mro__:
            if (a, b) in _RULES:
                return _RULES[a, b](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}: register_kl adds one"
    )


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Uniform, Normal)
def _uniform_normal(p: Any, q: Any) -> Any:
    spread = (p.high - p.low).pow(2) / 12 + ((p.high + p.low) / 2 - q.loc).pow(2)
    return spread / (2 * q.scale.pow(2)) + (math.sqrt(2 * math.pi) * q.scale / (p.high - p.low)).log()


def _weighed(weight: Any, ours: Any, theirs: Any) -> Any:
    """weight * (ours - theirs), where a weight of 0 counts as nothing, whatever it stands before."""
    return where(weight == 0, weight * 0, weight * (ours - theirs))


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    def part(chance: Any, other: Any, sign: int) -> Any:
        found = _weighed(chance, -softplus(-sign * p.logits), -softplus(-sign * q.logits))
        return found.masked_fill((other == 0) & (chance > 0), math.inf)

    return part(p.probs, q.probs, 1) + part(1 - p.probs, 1 - q.probs, -1)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    chance, other = p.probs, q.probs
    each = chance * (p.logits - q.logits) + (-chance).log1p() - (-other).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    parts = _weighed(p.probs, p.logits, q.logits)
    return parts.masked_fill((q.probs == 0) & (p.probs > 0), math.inf).sum(-1)


_RULES[OneHotCategorical, OneHotCategorical] = _categorical


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + lgamma(b) - lgamma(a) + (a - b) * digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    counts = ((a - b) * (digamma(a) - digamma(total).unsqueeze(-1))).sum(-1)
    return lgamma(total) - lgamma(b.sum(-1)) - (lgamma(a) - lgamma(b)).sum(-1) + counts


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    return _dirichlet(p._both(), q._both())


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed: "
            f"{p.event_shape} and {q.event_shape}"
        )
    n = p.event_shape[0]
    batch = np.broadcast_shapes(tuple(p.batch_shape), tuple(q.batch_shape))
    ours, theirs = (each.scale_tril.expand(*batch, n, n) for each in (p, q))
    spread = linalg.solve_triangular(theirs, ours, upper=False).pow(2).sum((-2, -1))
    distance = mahalanobis(theirs, q.loc - p.loc)
    return q._half_log_det() - p._half_log_det() + 0.5 * (spread + distance - n)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("Independent distributions that take different numbers of axes together")
    return summed(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
