"""Samples of distributions: their shapes, their slopes, and what becomes of the smallest parameters."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: there is nothing to compare with")

import pullback  # noqa: E402
from pullback import distributions as d  # noqa: E402

from .compare import parity  # noqa: E402


@pytest.mark.parametrize("dtype", [pullback.float32, pullback.float64])
def test_small_shapes_of_beta_end_near_0_and_1_but_not_there(dtype):
    pullback.manual_seed(1)
    shape = pullback.tensor(1e-2, dtype=dtype)
    values = d.Beta(shape, shape).sample((20000,))
    assert 0 < values.min() < values.max() < 1
    assert abs((values < 0.1).double().mean() - 0.5) < 0.02
    assert abs((values > 0.9).double().mean() - 0.5) < 0.02


def test_means_and_variances_of_dirichlet():
    pullback.manual_seed(2)
    family = d.Dirichlet(pullback.tensor([0.3, 1.5, 3.0], dtype=pullback.float64))
    values = family.sample((200000,))
    assert pullback.allclose(values.mean(0), family.mean, atol=2e-3)
    assert pullback.allclose(values.var(0), family.variance, atol=1e-3)
    assert pullback.allclose(values.sum(-1), pullback.ones((), dtype=pullback.float64))


@pytest.mark.parametrize("shapes", [[0.3, 2.0, 5.0], [0.1, 0.1, 0.1], [1e-3, 1.0, 20.0], [2.0, 3.0]])
def test_slopes_of_dirichlet_are_those_of_the_distribution_function(shapes):
    pullback.manual_seed(3)
    concentration = pullback.tensor(shapes, dtype=pullback.float64, requires_grad=True)
    values = d.Dirichlet(concentration).rsample((40,))
    gradient = pullback.linspace(-1, 2, values.numel(), dtype=pullback.float64).reshape(values.shape)
    (mine,) = pullback.autograd.grad(values, concentration, gradient)
    a, x = (
        torch.tensor(each.tolist(), dtype=torch.float64).expand(40, len(shapes)) for each in (concentration, values)
    )
    g = torch.tensor(gradient.tolist(), dtype=torch.float64)
    slope = torch._dirichlet_grad(x.contiguous(), a.contiguous(), a.sum(-1, True).expand_as(a).contiguous())
    theirs = (slope * (g - (x * g).sum(-1, True))).sum(0)  # torch's are approximations of three to four digits
    assert mine.tolist() == pytest.approx(theirs.tolist(), rel=2e-3, abs=2e-3 * float(slope.abs().max()))


def test_one_entry_does_not_move():
    concentration = pullback.tensor([2.0], requires_grad=True)
    d.Dirichlet(concentration).rsample().sum().backward()
    assert concentration.grad.tolist() == [0.0]


FAMILIES = {
    "Chi2": lambda t, own: own(t.distributions.Chi2)(t.tensor([1.0, 2.0])),
    "Independent": lambda t, own: own(t.distributions.Independent)(
        t.distributions.Normal(t.zeros(4, 2), t.ones(4, 2)), 1
    ),
    "MixtureSameFamily": lambda t, own: own(t.distributions.MixtureSameFamily)(
        t.distributions.Categorical(t.tensor([0.3, 0.7])), t.distributions.Normal(t.zeros(2), t.tensor([1.0, 2.0]))
    ),
    "MixtureSameFamily of vectors": lambda t, own: own(t.distributions.MixtureSameFamily)(
        t.distributions.Categorical(t.ones(3, 2)),
        t.distributions.Independent(t.distributions.Normal(t.zeros(3, 2, 5), t.ones(3, 2, 5)), 1),
    ),
}


@pytest.mark.parametrize("inherited", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
@parity
def test_expanded(t, family, inherited):
    made = FAMILIES[family](t, lambda cls: type("Own", (cls,), {}) if inherited else cls)
    wider = made.expand((2, *made.batch_shape))
    shapes = [wider.batch_shape, wider.event_shape, wider.sample().shape, wider.sample((7,)).shape]
    value = t.full(wider.sample().shape, 0.5)
    return [*map(tuple, shapes)], type(wider) is type(made), wider.log_prob(value), wider.mean, wider.variance


def test_a_mixture_with_one_set_of_weights_for_all():
    pullback.manual_seed(4)
    weights = d.Categorical(pullback.tensor([0.25, 0.75]))
    mixture = d.MixtureSameFamily(weights, d.Normal(pullback.tensor([[-9.0, 9.0]] * 3), 0.1))
    values = mixture.sample((4000,))
    assert values.shape == (4000, 3)
    above = (values > 0).double()
    assert pullback.allclose(above.mean(0), pullback.tensor(0.75, dtype=pullback.float64), atol=0.05)
    assert abs((above[:, 0] * above[:, 1]).mean() - 0.75**2) < 0.05  # drawn for each on its own


NAMES = [
    "Uniform",
    "Binomial",
    "Categorical",
    "Multinomial",
    "Pareto",
    "GeneralizedPareto",
    "Normal",
    "Dirichlet",
    "Gamma",
]


@pytest.mark.parametrize("name", NAMES)
@parity
def test_support_of_a_class(t, name):
    support = getattr(t.distributions, name).support
    return support.event_dim, support.is_discrete, t.distributions.constraints.is_dependent(support)


@pytest.mark.parametrize("name", ["Independent", "MixtureSameFamily", "TransformedDistribution"])
@parity
def test_a_support_that_only_an_instance_knows(t, name):
    support = getattr(t.distributions, name).support
    with pytest.raises(NotImplementedError):
        _ = support.event_dim
    return t.distributions.constraints.is_dependent(support)


@pytest.mark.parametrize("dtype", [pullback.float32, pullback.float64])
@pytest.mark.parametrize("size", [2.0, 30.0, 1e8, 1e30])
def test_continuous_bernoulli_loses_no_digits_to_large_logits(size, dtype):
    logits = pullback.tensor([size, -size], dtype=dtype, requires_grad=True)
    family = d.ContinuousBernoulli(logits=logits)
    t = pullback.tensor(size, dtype=pullback.float64)
    left = (1 - (-t).exp()).log()
    density = family.log_prob(pullback.tensor([1.0, 0.0], dtype=dtype))
    entropy = 1 - t * (-t).exp() / (1 - (-t).exp()) - t.log() + left
    assert density.tolist() == pytest.approx([float(t.log() - left)] * 2, rel=1e-6)
    assert family.entropy().tolist() == pytest.approx([float(entropy)] * 2, rel=1e-6)
    (slope,) = pullback.autograd.grad(density.sum() + family.entropy().sum(), logits)
    assert slope.isfinite().all()


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@parity
def test_a_grid_keeps_its_dtype_whatever_the_default_is(t, padding):
    before = t.get_default_dtype()
    t.set_default_dtype(t.float64)
    try:
        x = t.arange(9, dtype=t.float32).reshape(1, 1, 3, 3)
        grid = t.tensor([[[[-1.7, 0.2], [0.4, 1.3], [-0.1, -2.9]]]], dtype=t.float32)
        return t.nn.functional.grid_sample(x, grid, padding_mode=padding, align_corners=False)
    finally:
        t.set_default_dtype(before)


def test_samples_of_gamma_and_dirichlet_in_transforms():
    """torch has those of both by its own operators, but for Dirichlet's."""
    func = pullback.func
    rows = pullback.rand(4, 3) + 0.5
    for family in (lambda a: d.Gamma(a, a), d.Dirichlet, d.StudentT):
        for randomness in ("same", "different"):
            batched = func.vmap(lambda a, f=family: f(a).rsample((2,)), randomness=randomness)
            assert tuple(batched(rows).shape) == (4, 2, 3)
            slopes = func.vmap(func.grad(lambda a, f=family: f(a).rsample()[0]), randomness=randomness)(rows)
            assert tuple(slopes.shape) == (4, 3)
            assert slopes.isfinite().all()
    with pytest.raises(ValueError, match="Expected parameter scale"):
        func.vmap(lambda a: d.Normal(a, a).log_prob(a))(pullback.tensor([1.0, -1.0]))


@pytest.mark.parametrize("shape", [0.5, 1.0, 8.0])
def test_second_derivatives_of_gamma_samples_are_those_of_the_inverse_distribution_function(shape):
    special = pytest.importorskip("scipy.special")
    pullback.manual_seed(0)
    a = pullback.tensor(shape, dtype=pullback.float64, requires_grad=True)
    value = d.Gamma(a, 1.0).rsample()
    (slope,) = pullback.autograd.grad(value, a, create_graph=True)
    (curvature,) = pullback.autograd.grad(slope, a)
    chance, step = special.gammainc(shape, value.item()), 5e-4
    low, middle, high = special.gammaincinv(shape + step * np.array([-1, 0, 1]), chance)
    np.testing.assert_allclose(slope.item(), (high - low) / (2 * step), rtol=1e-5)
    np.testing.assert_allclose(curvature.item(), (high - 2 * middle + low) / step**2, rtol=1e-3)
