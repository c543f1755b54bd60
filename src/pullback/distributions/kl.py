"""The Kullback-Leibler divergence of two distributions of given families."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .. import digamma, lgamma, linalg, mvlgamma, where
from ..extend import holds
from ..nn.functional import softplus
from . import expectations  # noqa: F401  # the formulas for different families
from .continuous import Cauchy, Exponential, Laplace, Normal, Uniform
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import EULER, ExponentialFamily, summed
from .gamma import Beta, Dirichlet, Gamma
from .intervals import ContinuousBernoulli
from .lowrank import LowRankMultivariateNormal
from .matrices import Wishart, mvdigamma
from .multivariate import Independent, MultivariateNormal, mahalanobis
from .registry import RULES, kl_divergence as kl_divergence, register_kl as register_kl, unknown
from .transformed import Gumbel, HalfNormal, Pareto, TransformedDistribution

if TYPE_CHECKING:
    from .._core.typing import Tensor


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_families(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    if type(p) is not type(q):
        raise unknown(p, q)
    ours, normalizer, means = p._expected()
    theirs = q._natural_params
    parts = (
        ((b - a) * mean).reshape(*q._batch_shape, -1).sum(-1) for a, b, mean in zip(ours, theirs, means, strict=True)
    )
    return q._log_normalizer(*theirs) - normalizer - sum(parts)


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    return (p.logits - q.logits) * (p.mean - 0.5) - p._log_mass() + q._log_mass()


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, distance = p.scale / q.scale, (q.loc - p.loc) / q.scale
    return -ratio.log() - distance + (distance + lgamma(1 + ratio)).exp() + EULER * (ratio - 1) - 1


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    """F. Chyzak and F. Nielsen, A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions."""
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return found.masked_fill(p.scale < q.scale, math.inf)


def _weighed(weight: Tensor, ours: Tensor, theirs: Tensor) -> Tensor:
    """weight * (ours - theirs), which is 0 for weight 0 even if the difference is infinite."""
    return where(weight == 0, weight * 0, weight * (ours - theirs))


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    def part(chance: Tensor, other: Tensor, sign: int) -> Tensor:
        found = _weighed(chance, -softplus(-sign * p.logits), -softplus(-sign * q.logits))
        return found.masked_fill((other == 0) & (chance > 0), math.inf)

    return part(p.probs, q.probs, 1) + part(1 - p.probs, 1 - q.probs, -1)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if not holds(p.total_count >= q.total_count):
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    chance, other = p.probs, q.probs
    each = chance * (p.logits - q.logits) + (-chance).log1p() - (-other).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    parts = _weighed(p.probs, p.logits, q.logits)
    return parts.masked_fill((q.probs == 0) & (p.probs > 0), math.inf).sum(-1)


RULES[OneHotCategorical, OneHotCategorical] = _categorical


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + lgamma(b) - lgamma(a) + (a - b) * digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    counts = ((a - b) * (digamma(a) - digamma(total).unsqueeze(-1))).sum(-1)
    return lgamma(total) - lgamma(b.sum(-1)) - (lgamma(a) - lgamma(b)).sum(-1) + counts


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return _dirichlet(p._both(), q._both())


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
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


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_rank(
    p: LowRankMultivariateNormal | MultivariateNormal, q: LowRankMultivariateNormal | MultivariateNormal
) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two {type(p).__name__} and {type(q).__name__} with different event shapes cannot be "
            f"computed: {p.event_shape} and {q.event_shape}"
        )
    difference = q.loc - p.loc
    if isinstance(q, LowRankMultivariateNormal):
        distance = q._mahalanobis(difference)
    else:
        distance = mahalanobis(q._unbroadcasted_scale_tril, difference)
    spread = (q.precision_matrix * p.covariance_matrix).sum((-2, -1))
    return q._half_log_det() - p._half_log_det() + 0.5 * (spread + distance - p.event_shape[0])


@register_kl(Wishart, Wishart)
def _wishart(p: Wishart, q: Wishart) -> Tensor:
    a, b, n = p.df, q.df, p.event_shape[-1]
    spread = (q.precision_matrix * p.covariance_matrix).sum((-2, -1))
    scales = b * (q._half_log_det() - p._half_log_det())
    gammas = mvlgamma(b / 2, n) - mvlgamma(a / 2, n) + (a - b) / 2 * mvdigamma(a / 2, n)
    return scales + gammas + a * (spread - n) / 2


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("the divergence of distributions that are transformed differently")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("Independent distributions that take different numbers of axes together")
    return summed(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
