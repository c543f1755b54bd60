"""Distributions in compiled functions: their checks are guards, their samples are drawn at each call."""

import numpy as np
import pytest

import pullback
from pullback import distributions as d

A = pullback.tensor([0.3, 0.6, 0.8])
FAMILIES = {
    "Normal": lambda a: d.Normal(a, a + 1),
    "Gamma": lambda a: d.Gamma(a + 1, a),
    "Beta": lambda a: d.Beta(a, a + 1),
    "Dirichlet": lambda a: d.Dirichlet(a + 1),
    "LogNormal": lambda a: d.LogNormal(a, a),
    "Bernoulli": d.Bernoulli,
    "Categorical": lambda a: d.Categorical(logits=a),
    "Geometric": d.Geometric,
    "MultivariateNormal": lambda a: d.MultivariateNormal(a, pullback.diag(a)),
    "Independent": lambda a: d.Independent(d.Laplace(a, a), 1),
    "MixtureSameFamily": lambda a: d.MixtureSameFamily(d.Categorical(a), d.Normal(a, a)),
    "Wishart": lambda a: d.Wishart(a[0] + 4, pullback.diag(a)),
}


def drawn(family, a):
    """Samples, their densities, and how the sum of both moves with the parameter."""
    a = a.detach().requires_grad_()
    distribution = family(a)
    value = distribution.rsample((3,)) if distribution.has_rsample else distribution.sample((3,))
    density = distribution.log_prob(value.detach())
    (density.sum() + value.sum()).backward()
    return value.detach(), density.detach(), a.grad


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.filterwarnings("ignore:Singular sample detected")
def test_samples_and_densities_are_those_of_the_function(name):
    function = pullback.compile(lambda a: drawn(FAMILIES[name], a), fullgraph=True)
    for a in (A, A / 2):
        pullback.manual_seed(1)
        expected = drawn(FAMILIES[name], a)
        pullback.manual_seed(1)
        for mine, theirs in zip(function(a), expected, strict=True):
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=2e-5, atol=1e-6)


def test_parameters_and_values_are_checked_at_each_call():
    density = pullback.compile(lambda scale, x: d.LogNormal(0.0, scale).log_prob(x), fullgraph=True)
    one = pullback.tensor(1.0)
    assert density(one, one).isfinite()
    with pytest.raises(ValueError, match="Expected parameter scale"):
        density(-one, one)
    with pytest.raises(ValueError, match="to be within the support"):
        density(one, -one)
    assert density(one, one).isfinite()


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "float32"])
def test_values_that_have_to_be_whole(dtype):
    density = pullback.compile(lambda x: d.Categorical(logits=A).log_prob(x), fullgraph=True)
    inside = pullback.tensor([0, 2], dtype=getattr(pullback, dtype))
    for _ in range(2):
        np.testing.assert_allclose(density(inside).numpy(), A.log_softmax(0)[[0, 2]].numpy(), rtol=1e-5)
        for outside in (3, 1.5) if dtype == "float32" else (3,):
            with pytest.raises(ValueError, match="to be within the support"):
                density(pullback.full_like(inside, outside))


def test_entropies_and_divergences():
    def told(a):
        return d.Multinomial(3, a).entropy(), d.Beta(a, a).entropy(), d.kl_divergence(d.Normal(a, a), d.Gumbel(a, a))

    for mine, theirs in zip(pullback.compile(told, fullgraph=True)(A), told(A), strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=2e-5)


@pytest.mark.parametrize("dtype", [pullback.float32, pullback.float64])
def test_certain_probabilities_have_finite_logits(dtype):
    """Clamped to [eps, 1 - eps] as in torch."""
    eps = pullback.finfo(dtype).eps
    logits = d.Bernoulli(pullback.tensor([0.0, 1.0], dtype=dtype)).logits
    np.testing.assert_allclose(logits.numpy(), [np.log(eps / (1 - eps)), np.log((1 - eps) / eps)], rtol=1e-6)
