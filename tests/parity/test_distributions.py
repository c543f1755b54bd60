"""Distributions: torch's log-probabilities, moments, entropies, divergences, texts and errors, with their gradients."""

import functools
import math

import numpy as np
import pytest

import pullback

torch = pytest.importorskip("torch")

A, B, C = [0.5, 1.5, 2.0], [0.2, 1.0, 3.0], [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]
MATRIX = [[2.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 1.5]]
SCATTER = [[5.0, 1.3, 0.5], [1.3, 4.0, 0.2], [0.5, 0.2, 3.5]]


@pytest.fixture(autouse=True)
def checked():
    """torch checks arguments, also where its compiler, imported by other tests of this process, has turned that off."""
    torch.distributions.Distribution.set_default_validate_args(True)


# the family, its parameters by name, values in its support
FAMILIES = {
    "Normal": ("Normal", {"loc": A, "scale": B}, [0.1, -1.0, 4.0]),
    "LogNormal": ("LogNormal", {"loc": A, "scale": B}, [0.1, 1.0, 4.0]),
    "Laplace": ("Laplace", {"loc": A, "scale": B}, [0.1, -1.0, 4.0]),
    "Gumbel": ("Gumbel", {"loc": A, "scale": B}, [0.1, -1.0, 4.0]),
    "Cauchy": ("Cauchy", {"loc": A, "scale": B}, [0.1, -1.0, 4.0]),
    "Uniform": ("Uniform", {"low": [0.0, -1.0, 1.0], "high": [1.0, 2.0, 4.0]}, [0.5, 0.0, 3.0]),
    "Exponential": ("Exponential", {"rate": B}, [0.5, 2.0, 0.0]),
    "Gamma": ("Gamma", {"concentration": A, "rate": B}, [0.5, 2.0, 1.0]),
    "Beta": ("Beta", {"concentration1": A, "concentration0": B}, [0.5, 0.2, 0.9]),
    "Dirichlet": ("Dirichlet", {"concentration": A}, [0.2, 0.3, 0.5]),
    "StudentT": ("StudentT", {"df": [1.0, 3.0, 5.0], "loc": A, "scale": B}, [0.1, -1.0, 4.0]),
    "Bernoulli": ("Bernoulli", {"probs": [0.2, 0.5, 0.9]}, [0.0, 1.0, 1.0]),
    "Bernoulli-logits": ("Bernoulli", {"logits": [-2.0, 0.0, 1.0]}, [0.0, 1.0, 1.0]),
    "ContinuousBernoulli": ("ContinuousBernoulli", {"probs": [0.2, 0.45, 0.9]}, [0.3, 0.0, 1.0]),
    "ContinuousBernoulli-logits": ("ContinuousBernoulli", {"logits": [-9.0, 0.3, 2.0]}, [0.3, 0.2, 1.0]),
    "Geometric": ("Geometric", {"probs": [0.2, 0.5, 0.9]}, [0.0, 1.0, 3.0]),
    "Poisson": ("Poisson", {"rate": A}, [0.0, 1.0, 3.0]),
    "Categorical": ("Categorical", {"probs": C}, [2, 0]),
    "Categorical-logits": ("Categorical", {"logits": C}, [2, 0]),
    "OneHotCategorical": ("OneHotCategorical", {"probs": C}, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "MultivariateNormal": ("MultivariateNormal", {"loc": A, "covariance_matrix": MATRIX}, [0.1, -1.0, 4.0]),
    "MultivariateNormal-precision": (
        "MultivariateNormal",
        {"loc": A, "precision_matrix": MATRIX},
        [0.1, -1.0, 4.0],
    ),
    "MultivariateNormal-factor": (
        "MultivariateNormal",
        {"loc": A, "scale_tril": np.tril(MATRIX).tolist()},
        [0.1, -1.0, 4.0],
    ),
    "LowRankMultivariateNormal": (
        "LowRankMultivariateNormal",
        {"loc": A, "cov_factor": [[1.0, 0.2], [0.0, -0.5], [0.7, 0.1]], "cov_diag": B},
        [0.1, -1.0, 4.0],
    ),
    "NegativeBinomial": ("NegativeBinomial", {"total_count": [1.0, 2.5, 4.0], "probs": [0.2, 0.5, 0.7]}, [0, 3, 1]),
    "NegativeBinomial-logits": (
        "NegativeBinomial",
        {"total_count": [1.0, 2.5, 4.0], "logits": [-2.0, 0.0, 1.0]},
        [0.0, 3.0, 1.0],
    ),
    "InverseGamma": ("InverseGamma", {"concentration": [0.5, 1.5, 3.0], "rate": B}, [0.5, 2.0, 1.0]),
    "Kumaraswamy": ("Kumaraswamy", {"concentration1": A, "concentration0": B}, [0.5, 0.2, 0.9]),
    "FisherSnedecor": ("FisherSnedecor", {"df1": [1.0, 3.0, 5.0], "df2": [1.5, 3.0, 9.0]}, [0.5, 2.0, 1.0]),
    "VonMises": ("VonMises", {"loc": A, "concentration": [0.2, 1.0, 30.0]}, [0.1, -1.0, 1.9]),
    "Wishart": ("Wishart", {"df": 4.5, "covariance_matrix": MATRIX}, SCATTER),
    "Wishart-precision": ("Wishart", {"df": [5.5, 6.5], "precision_matrix": MATRIX}, SCATTER),
    "Wishart-factor": ("Wishart", {"df": 3.5, "scale_tril": np.tril(MATRIX).tolist()}, SCATTER),
}
every_family = pytest.mark.parametrize("family", FAMILIES)
both = (pullback, torch)


def made(t, family, factor=1.0):
    """The distribution in one library, with its parameters as leaves."""
    name, parameters, _ = FAMILIES[family]
    leaves = {
        key: t.tensor(np.array(value) * factor, dtype=t.float64, requires_grad=True)
        for key, value in parameters.items()
    }
    return getattr(t.distributions, name)(**leaves), list(leaves.values())


def value(t, family):
    return t.tensor(FAMILIES[family][2], dtype=t.int64 if FAMILIES[family][0] == "Categorical" else t.float64)


def same(ours, theirs, family=None):
    """Equal; torch's Bessel functions of VonMises are polynomials good to 2e-7, ours are held to SciPy's below."""
    assert tuple(ours.shape) == tuple(theirs.shape)
    rtol, atol = (1e-6, 1e-6) if family == "VonMises" else (1e-9, 1e-10)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=rtol, atol=atol)


@every_family
def test_log_prob_and_its_gradients(family):
    results = []
    for t in both:
        distribution, leaves = made(t, family)
        found = distribution.log_prob(value(t, family))
        found.sum().backward()
        grads = [leaf.grad for leaf in leaves]
        if (
            family == "Wishart-factor"
        ):  # torch's has entries above the diagonal, on which the distribution does not depend
            grads[1] = grads[1].tril()
        results.append([found, *grads])
    for ours, theirs in zip(*results, strict=True):
        same(ours, theirs, family)


@every_family
@pytest.mark.parametrize("asked", ["mean", "mode", "variance", "stddev", "entropy", "perplexity"])
def test_moments_and_entropy(family, asked):
    results = []
    for t in both:
        distribution, _ = made(t, family)
        try:
            found = getattr(distribution, asked)
            results.append(found() if callable(found) else found)
        except NotImplementedError:
            results.append(None)
    ours, theirs = results
    if theirs is not None:
        same(ours, theirs, family)


@every_family
@pytest.mark.parametrize("asked", ["cdf", "icdf"])
def test_distribution_functions(family, asked):
    results = []
    for t in both:
        distribution, _ = made(t, family)
        at = t.tensor([0.1, 0.5, 0.8], dtype=t.float64) if asked == "icdf" else value(t, family)
        try:
            results.append(getattr(distribution, asked)(at))
        except (NotImplementedError, AttributeError):
            results.append(None)
    ours, theirs = results
    if theirs is not None:
        same(ours, theirs)


@every_family
@pytest.mark.filterwarnings("ignore:Singular sample detected")  # torch takes good samples of Wishart for singular ones
def test_shapes_and_texts(family):
    pullback.manual_seed(0)  # single precision may round what Beta draws to 1, where the density is infinite
    (ours, _), (theirs, _) = (made(t, family) for t in both)
    for asked in ("batch_shape", "event_shape"):
        assert tuple(getattr(ours, asked)) == tuple(getattr(theirs, asked))
    for shape in ((), (4,), (2, 3)):
        drawn = ours.sample(shape)
        assert tuple(drawn.shape) == tuple(theirs.sample(shape).shape)
        assert not drawn.requires_grad
        assert pullback.isfinite(ours.log_prob(drawn)).all()
    assert ours.has_rsample == theirs.has_rsample
    if family not in {
        "LogNormal",
        "InverseGamma",
        "Beta",
        "OneHotCategorical",
        "Bernoulli-logits",
        "Categorical-logits",
        "ContinuousBernoulli-logits",
        "NegativeBinomial",
    }:
        assert repr(ours) == repr(theirs).replace("torch.", "pullback.")  # torch's loses parameters of those
    batch = (2, *ours.batch_shape)
    wide, theirs_wide = ours.expand(batch), theirs.expand(batch)
    assert tuple(wide.batch_shape) == tuple(theirs_wide.batch_shape)
    same(wide.log_prob(value(pullback, family)), theirs_wide.log_prob(value(torch, family)), family)


@pytest.mark.parametrize("family", [f for f in FAMILIES if FAMILIES[f][0] not in {"Cauchy", "StudentT", "Wishart"}])
def test_divergence(family):
    results = []
    for t in both:
        (p, leaves), (q, _) = made(t, family), made(t, family, 0.9)
        if "Categorical" in family:
            q = type(q)(logits=t.tensor([[0.1, 0.2, 0.3], [0.0, 1.0, 0.0]], dtype=t.float64))
        try:
            found = t.distributions.kl_divergence(p, q)
        except NotImplementedError:
            pytest.skip("none in torch")
        found.sum().backward()
        results.append([found, *(leaf.grad for leaf in leaves)])
    for ours, theirs in zip(*results, strict=True):
        same(ours, theirs)


# Of these every ordered pair is compared, where torch has a formula
PAIRED = {
    "Beta": {"concentration1": [0.7, 2.0, 3.0], "concentration0": [1.5, 0.8, 2.0]},
    "Exponential": {"rate": [0.5, 1.0, 2.0]},
    "Gamma": {"concentration": [0.7, 2.0, 3.0], "rate": [1.5, 0.8, 2.0]},
    "Gumbel": {"loc": [0.1, -0.5, 1.0], "scale": [0.5, 1.0, 2.0]},
    "Laplace": {"loc": [0.1, -0.5, 1.0], "scale": [0.5, 1.0, 2.0]},
    "Normal": {"loc": [0.1, -0.5, 1.0], "scale": [0.5, 1.0, 2.0]},
    "Pareto": {"scale": [0.5, 1.0, 2.0], "alpha": [0.8, 2.5, 4.0]},
    "Uniform": {"low": [0.1, 0.3, 0.01], "high": [0.7, 0.9, 0.99]},
    "ContinuousBernoulli": {"probs": [0.2, 0.45, 0.9]},
    "Bernoulli": {"probs": [0.2, 0.5, 0.9]},
    "Binomial": {"probs": [0.2, 0.5, 0.9]},
    "Poisson": {"rate": [0.5, 1.0, 2.0]},
    "Cauchy": {"loc": [0.1, -0.5, 1.0], "scale": [0.5, 1.0, 2.0]},
    "LogNormal": {"loc": [0.1, -0.5, 1.0], "scale": [0.5, 1.0, 2.0]},
    "HalfNormal": {"scale": [0.5, 1.0, 2.0]},
    "LowRankMultivariateNormal": {"loc": A, "cov_factor": [[1.0], [0.3], [-2.0]], "cov_diag": B},
    "MultivariateNormal": {"loc": A, "covariance_matrix": MATRIX},
}


@pytest.mark.parametrize("first", PAIRED)
def test_divergence_of_different_families(first):
    compared = 0
    for second, others in PAIRED.items():
        results = []
        for t in both:
            p, q = (
                {key: t.tensor(np.array(v) * factor, dtype=t.float64, requires_grad=True) for key, v in family.items()}
                for family, factor in ((PAIRED[first], 1.0), (others, 0.9))
            )
            try:
                d = t.distributions
                found = d.kl_divergence(getattr(d, first)(**p), getattr(d, second)(**q))
            except NotImplementedError:
                continue
            if found.requires_grad:
                found.masked_fill(found == float("inf"), 0.0).sum().backward()
            slopes = [leaf.grad for leaf in (*p.values(), *q.values())]
            results.append([found, *(t.zeros(1).double() if each is None else each for each in slopes)])
        assert len(results) in {0, 2}, f"{second}: a formula in one library only"
        compared += bool(results)
        for ours, theirs in zip(*results, strict=True) if results else ():
            np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-8, atol=1e-9)
    assert compared


@pytest.mark.parametrize("name", torch.distributions.__all__)
def test_what_a_family_is_one_of(name):
    """`isinstance`, by which programs and divergences choose: a LogNormal is no Normal, a OneHotCategorical no Categorical."""
    ours, theirs = (getattr(t.distributions, name) for t in both)
    if not (isinstance(theirs, type) and issubclass(theirs, torch.distributions.Distribution)):
        pytest.skip("not a family")
    known = set(torch.distributions.__all__)
    assert [k.__name__ for k in ours.__mro__ if k.__name__ in known] == [
        k.__name__ for k in theirs.__mro__ if k.__name__ in known
    ]


def test_no_formula_for_a_logarithm_that_is_normal():
    d = pullback.distributions
    for p, q in (
        (d.LogNormal(0.0, 1.0), d.Normal(0.0, 1.0)),
        (d.Exponential(1.0), d.LogNormal(0.0, 1.0)),
        (d.Categorical(pullback.ones(2)), d.OneHotCategorical(pullback.ones(2))),
    ):
        with pytest.raises(NotImplementedError, match="No KL"):
            d.kl_divergence(p, q)


def test_only_the_place_of_the_one_counts():
    for t in both:
        x, logits = (t.tensor(row, requires_grad=True) for row in ([0.0, 1.0, 0.0], [0.0, -1.0, -float("inf")]))
        found = t.distributions.OneHotCategorical(logits=logits, validate_args=False).log_prob(x)
        assert found.isfinite()
        slopes = t.autograd.grad(found, (x, logits), allow_unused=True)
        assert slopes[0] is None
        np.testing.assert_allclose(slopes[1].numpy(), [-0.7310586, 0.7310586, 0.0], rtol=1e-6)


def test_values_of_one_axis_fewer_are_listed():
    for t in both:
        d = t.distributions
        single, joint = (d.Independent(d.Bernoulli(t.tensor([0.1, 0.2])), n) for n in (0, 1))
        assert single.has_enumerate_support
        assert single.enumerate_support().tolist() == [[0, 0], [1, 1]]
        assert not joint.has_enumerate_support
        with pytest.raises(NotImplementedError, match="cartesian product"):
            joint.enumerate_support()


@pytest.mark.parametrize("family", ["Pareto", "Weibull", "Kumaraswamy", "Gumbel"])
def test_expanding_does_not_check_again(family):
    for t in both:
        unchecked = getattr(t.distributions, family)(t.tensor([-1.0]), t.tensor([2.0]), validate_args=False)
        assert tuple(unchecked.expand((2, 1)).batch_shape) == (2, 1)


def test_zeros_among_uniform_numbers_give_finite_samples(monkeypatch):
    """One of 2**24 single-precision numbers is 0."""
    d = pullback.distributions
    for module in (d.distribution, d.continuous, d.intervals):
        monkeypatch.setattr(module, "rand", lambda shape, dtype: pullback.zeros(shape, dtype=dtype))
    for distribution in (d.Laplace(0.0, 1.0), d.Cauchy(0.0, 1.0), d.Exponential(1.0), d.Gumbel(0.0, 1.0)):
        assert distribution.sample().isfinite()
    assert d.Weibull(1.0, 1.0).sample() > 0


def test_continuous_bernoulli_near_one_half_and_far_from_it():
    """Against sums: torch's series near 1/2 is too short, and its divergence from a uniform distribution infinite."""
    d, at = pullback.distributions, np.linspace(0, 1, 20001)
    integral = getattr(np, "trapezoid", None) or np.trapz  # noqa: NPY201  # its name in NumPy 2, or in NumPy 1
    for logit in (0.0, 1e-9, -1e-3, 0.3, 0.49, -0.51, 3.0, -40.0, 90.0):
        t = pullback.tensor(logit, dtype=pullback.float64, requires_grad=True)
        p = d.ContinuousBernoulli(logits=t)
        density = np.exp(logit * at - max(logit, 0))
        density /= integral(density, at)
        mean = integral(at * density, at)
        same_number = functools.partial(np.testing.assert_allclose, rtol=2e-6, atol=2e-8)
        same_number(p.mean.item(), mean)
        same_number(p.variance.item(), integral((at - mean) ** 2 * density, at))
        same_number(p.cdf(pullback.tensor(0.3).double()).item(), integral(density[:6001], at[:6001]))
        same_number(p.icdf(p.cdf(pullback.tensor(0.3).double())).item(), 0.3, rtol=1e-4)
        same_number(p.log_prob(pullback.tensor(0.3).double()).exp().item(), density[6000])
        same_number(pullback.autograd.grad(p.mean, t)[0].item(), p.variance.item())
    found = d.kl_divergence(d.Uniform(0.0, 1.0), d.ContinuousBernoulli(0.3))
    same_number(found.item(), d.kl_divergence(d.ContinuousBernoulli(0.5), d.ContinuousBernoulli(0.3)).item())


@pytest.mark.parametrize("t", both, ids=["pullback", "torch"])
def test_numbers_and_edges(t):
    d = t.distributions
    assert abs(d.Gamma(1.0, 2.0).log_prob(1).item() - (math.log(2) - 2)) < 1e-6
    with pytest.raises(ValueError, match="to be positive but found invalid values"):
        d.Geometric(probs=t.tensor([0.5, 0.0]))


def test_what_lies_above_a_threshold():
    """GeneralizedPareto, in single precision, since torch's refuses others, and in double against SciPy's."""
    parameters, inside = ([1.0] * 5, [2.0, 0.5, 1.0, 3.0, 1.0], [-0.5, 0.0, 0.3, 0.7, 1.5]), [2.0, 1.1, 1.0, 9.0, 30.0]
    ours, theirs = (t.distributions.GeneralizedPareto(*map(t.tensor, parameters)) for t in both)
    for asked in ("mean", "variance", "mode"):
        same(getattr(ours, asked), getattr(theirs, asked))
    same(ours.entropy(), theirs.entropy())
    for asked in ("log_prob", "cdf", "log_survival_function"):
        found, expected = (getattr(p, asked)(t.tensor(inside)) for p, t in zip((ours, theirs), both, strict=True))
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-7)
    assert repr(ours) == repr(theirs).replace("torch.", "pullback.")
    assert ours.expand((2, 5)).support.upper_bound.shape == (2, 5)
    with pytest.raises(ValueError, match="within the support"):
        ours.log_prob(pullback.tensor(6.0))
    scipy_stats = pytest.importorskip("scipy.stats")
    loc, scale, shape = leaves = [
        pullback.tensor(each, dtype=pullback.float64, requires_grad=True) for each in parameters
    ]
    p, x = pullback.distributions.GeneralizedPareto(loc, scale, shape), np.array(inside)
    known = scipy_stats.genpareto(parameters[2], loc=parameters[0], scale=parameters[1])
    at = pullback.tensor(x)
    np.testing.assert_allclose(p.log_prob(at).detach().numpy(), known.logpdf(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(p.cdf(at).detach().numpy(), known.cdf(x), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(p.icdf(at / 31).detach().numpy(), known.ppf(x / 31), rtol=1e-12)
    assert pullback.autograd.gradcheck(lambda *each: type(p)(*each).log_prob(at[[1, 1, 3, 3, 3]]), leaves)
    pullback.manual_seed(0)
    assert abs((p.rsample((4000,)) <= p.icdf(pullback.tensor(0.7).double())).double().mean(0) - 0.7).max() < 0.03


@pytest.mark.parametrize("t", both, ids=["pullback", "torch"])
def test_an_exponential_family_of_ones_own(t):
    class Rate(t.distributions.ExponentialFamily):
        arg_constraints = {"rate": t.distributions.constraints.positive}  # noqa: RUF012  # as torch's own are
        _mean_carrier_measure = 0

        def __init__(self, rate):
            self.rate = rate
            super().__init__(rate.shape)

        @property
        def _natural_params(self):
            return (-self.rate,)

        def _log_normalizer(self, x):
            return -(-x).log()

    p, q = Rate(t.tensor([0.5, 2.0])), Rate(t.tensor([1.0, 3.0]))
    known = [t.distributions.Exponential(each.rate) for each in (p, q)]
    np.testing.assert_allclose(p.entropy().detach().numpy(), known[0].entropy().numpy(), rtol=1e-6)
    found = t.distributions.kl_divergence(p, q).detach()
    np.testing.assert_allclose(found.numpy(), t.distributions.kl_divergence(*known).numpy(), rtol=1e-5)
    assert isinstance(t.distributions.Normal(0.0, 1.0), t.distributions.ExponentialFamily)
    with pytest.raises(NotImplementedError):
        t.distributions.kl_divergence(p, t.distributions.Normal(0.0, 1.0))


def test_divergence_of_scatters():
    """torch's, by the gradient of its log-normaliser, which it has for single ones: for several it adds that up."""
    results = []
    for t in both:
        p = t.distributions.Wishart(t.tensor(5.5, dtype=t.float64), t.tensor(MATRIX, dtype=t.float64))
        q = t.distributions.Wishart(t.tensor(4.5, dtype=t.float64), t.eye(3, dtype=t.float64))
        results.append(t.distributions.kl_divergence(p, q))
    same(*results)
    several = [
        pullback.distributions.Wishart(pullback.tensor(df).double(), pullback.tensor(MATRIX).double())
        for df in ([5.5, 4.5], [4.5, 4.0])
    ]
    single = [
        pullback.distributions.Wishart(pullback.tensor(df).double(), pullback.tensor(MATRIX).double())
        for df in (4.5, 4.0)
    ]
    found, last = (pullback.distributions.kl_divergence(*pair) for pair in (several, single))
    np.testing.assert_allclose(found[1].numpy(), last.numpy(), rtol=1e-12)


@pytest.mark.parametrize("family", ["Gamma", "Beta", "Dirichlet", "StudentT", "Normal", "MultivariateNormal"])
def test_samples_follow_their_parameters(family):
    """The slope of a mean over many samples is that of the mean."""
    pullback.manual_seed(0)
    distribution, leaves = made(pullback, family)
    if family == "StudentT":
        distribution = pullback.distributions.StudentT(8.0, leaves[1], leaves[2])
        leaves = leaves[1:2]
    weights = pullback.tensor([1.0, 2.0, 3.0], dtype=pullback.float64)
    drawn = distribution.rsample((40_000,))
    slopes = pullback.autograd.grad((drawn.mean(0) * weights).sum(), leaves, allow_unused=True)
    exact = pullback.autograd.grad((distribution.mean * weights).sum(), leaves, allow_unused=True)
    for found, expected in zip(slopes, exact, strict=True):
        if expected is not None:
            assert pullback.allclose(found, expected, rtol=0.1, atol=0.1)


@pytest.mark.parametrize(
    "misuse",
    [
        lambda t: t.distributions.Normal(0.0, -1.0),
        lambda t: t.distributions.Normal(t.tensor([0.0, float("nan")]), 1.0),
        lambda t: t.distributions.Uniform(1.0, 0.0),
        lambda t: t.distributions.Bernoulli(probs=1.5),
        lambda t: t.distributions.Bernoulli(),
        lambda t: t.distributions.Bernoulli(0.5, logits=0.0),
        lambda t: t.distributions.Bernoulli(0.5).log_prob(t.tensor(2.0)),
        lambda t: t.distributions.Categorical(t.tensor(1.0)),
        lambda t: t.distributions.Categorical(t.ones(3)).log_prob(t.tensor(3)),
        lambda t: t.distributions.Categorical(t.ones(2, 3)).log_prob(t.tensor([0, 1, 2])),
        lambda t: t.distributions.Normal(t.zeros(2), 1.0).log_prob(t.ones(3)),
        lambda t: t.distributions.Normal(0.0, 1.0).log_prob(1.0),
        lambda t: t.distributions.MultivariateNormal(t.zeros(2), t.tensor([[1.0, 2.0], [2.0, 1.0]])),
        lambda t: t.distributions.MultivariateNormal(t.zeros(2)),
        lambda t: t.distributions.Independent(t.distributions.Normal(0.0, 1.0), 1),
        lambda t: t.distributions.Dirichlet(t.tensor([1.0, 0.0])),
        lambda t: t.distributions.NegativeBinomial(1.0),
        lambda t: t.distributions.NegativeBinomial(-1.0, 0.5),
        lambda t: t.distributions.NegativeBinomial(1.0, 1.0),
        lambda t: t.distributions.NegativeBinomial(1.0, 0.5).log_prob(t.tensor(0.5)),
        lambda t: t.distributions.VonMises(0.0, 0.0),
        lambda t: t.distributions.Multinomial(2, t.ones(3)).log_prob(t.tensor([2.0, 0.0])),
        lambda t: t.distributions.LKJCholesky(1),
        lambda t: t.distributions.LKJCholesky(2).log_prob(t.ones(2, 2)),
        lambda t: t.distributions.Wishart(1.0, t.eye(3)),
        lambda t: t.distributions.Wishart(3.0, t.tensor([[1.0, 2.0], [2.0, 1.0]])),
        lambda t: t.distributions.LowRankMultivariateNormal(t.tensor(0.0), t.ones(1, 1), t.ones(1)),
        lambda t: t.distributions.LowRankMultivariateNormal(t.zeros(2), t.ones(3, 1), t.ones(2)),
        lambda t: t.distributions.LowRankMultivariateNormal(t.zeros(2), t.ones(2, 1), t.ones(3)),
        lambda t: t.distributions.LowRankMultivariateNormal(t.zeros(2), t.ones(2, 1), t.zeros(2)),
        lambda t: t.distributions.LowRankMultivariateNormal(t.zeros(2, 2), t.ones(3, 2, 1), t.ones(2)),
    ],
)
def test_errors(misuse):
    texts = []
    for t in both:
        with pytest.raises(ValueError) as caught:  # the texts are compared
            misuse(t)
        texts.append(str(caught.value))
    ours, theirs = texts
    assert ours.replace("pullback.", "torch.").startswith(theirs.splitlines()[0])


def test_angles_against_scipy():
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    concentration = np.array([1e-3, 0.2, 1.0, 30.0, 1e4])
    special = pytest.importorskip("scipy.special", reason="SciPy is not installed")
    for at in (0.1, -1.0, 2.5):
        ours = pullback.distributions.VonMises(
            pullback.tensor(0.3, dtype=pullback.float64), pullback.tensor(concentration)
        )
        found = ours.log_prob(pullback.tensor(at, dtype=pullback.float64)).numpy()
        np.testing.assert_allclose(found, stats.vonmises.logpdf(at, concentration, loc=0.3), rtol=1e-11)
        spread = 1 - special.ive(1, concentration) / special.ive(0, concentration)
        np.testing.assert_allclose(ours.variance.numpy(), spread, rtol=1e-9)


def test_counts_of_several_kinds():
    results = []
    lost = torch.lgamma(torch.tensor(6)).double() - torch.lgamma(torch.tensor(6.0, dtype=torch.float64))
    for t in both:
        found = []
        for name, parameter in (("probs", C), ("logits", [[0.1, -0.4, 0.3], [1.0, 0.0, -2.0]])):
            leaf = t.tensor(parameter, dtype=t.float64, requires_grad=True)
            counts = t.distributions.Multinomial(5, **{name: leaf})
            at = counts.log_prob(t.tensor([[2.0, 0.0, 3.0], [1.0, 3.0, 1.0]], dtype=t.float64))
            found += [at, counts.entropy(), counts.mean, counts.variance]
            if t is torch:
                found[-3] = found[-3] + lost  # which it computes in single precision
            sum(each.sum() for each in found[-4:]).backward()
            wide = counts.expand((3, 2))
            assert tuple(wide.batch_shape) == (3, 2) and tuple(wide.sample((4,)).shape) == (4, 3, 2, 3)
            assert (counts.sample((7,)).sum(-1) == 5).all()
            found += [leaf.grad, wide.log_prob(t.tensor([2.0, 0.0, 3.0], dtype=t.float64))]
        none = t.distributions.Multinomial(2, logits=t.tensor([0.0, -float("inf")])).log_prob(t.tensor([2.0, 0.0]))
        results.append([*found, none.double()])
    for ours, theirs in zip(*results, strict=True):
        same(ours, theirs)


def test_values_that_are_refused():
    d = pullback.distributions
    with pytest.raises(ValueError, match=r"within the support \(Multinomial\(\)\)"):
        d.Multinomial(2, pullback.ones(3)).log_prob(pullback.tensor([2.0, 2.0, 0.0]))
    with pytest.raises(NotImplementedError, match="inhomogeneous total_count is not supported"):
        d.Multinomial(pullback.tensor(2.0), pullback.ones(3))
    with pytest.raises(ValueError, match=r"concentration .* of distribution LKJCholesky"):
        d.LKJCholesky(2, 0.0)
    with pytest.raises(AssertionError, match="Exactly one of covariance_matrix or precision_matrix or scale_tril"):
        d.Wishart(3.0)
    with pytest.warns(UserWarning, match="Low df values detected"):
        d.Wishart(2.5, pullback.eye(3))


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_factors_of_correlations(dim):
    results = []
    for t in both:
        leaf = t.tensor([0.5, 1.0, 3.0], dtype=t.float64, requires_grad=True)
        factors = t.distributions.LKJCholesky(dim, leaf)
        at = np.linalg.cholesky(0.3 + 0.7 * np.eye(dim))
        found = factors.log_prob(t.tensor(at))
        found.sum().backward()
        drawn = factors.expand((2, 3)).sample((4,))
        assert tuple(drawn.shape) == (4, 2, 3, dim, dim)
        assert factors.support.check(drawn).all()
        results.append([found, leaf.grad, factors.expand((2, 3)).log_prob(t.tensor(at))])
    for ours, theirs in zip(*results, strict=True):
        same(ours, theirs)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_drawn_has_the_moments(dtype):
    """Means and variances of many samples, within six deviations of their own."""
    pullback.manual_seed(1)
    d, count = pullback.distributions, 20_000

    def of(values):
        return pullback.tensor(values, dtype=dtype)

    families = [
        d.NegativeBinomial(of([1.0, 2.5, 4.0]), of([0.2, 0.5, 0.7])),
        d.Multinomial(5, of(C)),
        d.Wishart(of([4.5, 9.0]), of(MATRIX)),
        d.LowRankMultivariateNormal(of(A), of([[1.0], [0.3], [-2.0]]), of(B)),
    ]
    for family in families:
        drawn = family.sample((count,)).numpy().astype(np.float64)
        mean, variance = family.mean.numpy(), family.variance.numpy()
        assert np.abs(drawn.mean(0) - mean).max() < 6 * np.sqrt(variance.max() / count)
        fourth = ((drawn - mean) ** 4).mean(0)
        assert (np.abs(drawn.var(0) - variance) < 6 * np.sqrt(fourth / count)).all()
    angles = d.VonMises(of([0.0, 3.0]), of([0.5, 20.0])).sample((count,)).numpy()
    assert np.abs(angles).max() <= np.float32(np.pi) + 1e-6
    turned = np.exp(1j * (angles - np.array([0.0, 3.0]))).mean(0)
    lengths = 1 - d.VonMises(0.0, of([0.5, 20.0])).variance.numpy()
    np.testing.assert_allclose(turned, lengths, atol=6 / np.sqrt(count))
    factors = d.LKJCholesky(3, of(2.0)).sample((count,))
    entries = (factors @ factors.mT)[:, [0, 0, 1], [1, 2, 2]].numpy()
    # each entry is 2 x - 1 of a Beta(eta + (dim - 2) / 2, same) variable, whose variance is 1 / (2 eta + dim - 1)
    assert np.abs(entries.mean(0)).max() < 6 * np.sqrt(1 / 6 / count)
    np.testing.assert_allclose(entries.var(0), 1 / 6, rtol=0.06)


def test_independent_and_mixtures():
    results = []
    for t in both:
        loc = t.tensor(C, dtype=t.float64, requires_grad=True)
        d = t.distributions
        diagonal = d.Independent(d.Normal(loc, 1.0), 1)
        mixture = d.MixtureSameFamily(d.Categorical(t.tensor([0.25, 0.75], dtype=t.float64)), diagonal)
        at = t.tensor([0.0, 1.0, 2.0], dtype=t.float64)
        found = [diagonal.log_prob(at), mixture.log_prob(at), mixture.mean, mixture.variance, diagonal.entropy()]
        found.append(d.kl_divergence(diagonal, d.Independent(d.Normal(0.0 * loc, 2.0), 1)))
        sum(each.sum() for each in found).backward()
        results.append([*found, loc.grad])
        assert tuple(mixture.sample((5,)).shape) == (5, 3)
    for ours, theirs in zip(*results, strict=True):
        same(ours, theirs)


def sets(t):
    """Constraints, with a shape of free numbers that their transforms take."""
    c = t.distributions.constraints
    flat = (c.real, c.positive, c.nonnegative, c.unit_interval, c.simplex, c.corr_cholesky, c.real_vector)
    bounded = (c.greater_than(2.0), c.less_than(1.0), c.interval(0.0, 2.0), c.half_open_interval(-1.0, 2.0))
    made = (c.independent(c.positive, 1), c.cat([c.positive, c.real], 0, [2, 4]))
    sides = (c.stack([c.positive, c.less_than(0.0)], -1), c.stack([c.positive, c.unit_interval, c.real], 0))
    return [(each, (6,)) for each in (*flat, *bounded, *made)] + [(each, (3, 2)) for each in sides]


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("place", range(15))
def test_transforms_to_sets(registry, place):
    results = []
    for t in both:
        constraint, shape = sets(t)[place]
        transform = getattr(t.distributions, registry)(constraint)
        x = t.tensor([0.1, -0.7, 1.2, 0.3, 0.2, -2.0], dtype=t.float64, requires_grad=True)
        y = transform(x.reshape(shape))
        assert constraint.check(y).all()
        (gradient,) = t.autograd.grad((y * y).sum(), x)
        found = [y, transform.inv(y), gradient]
        if transform.bijective:
            found.append(transform.log_abs_det_jacobian(x.reshape(shape), y))
            np.testing.assert_allclose(transform.inv(y).detach().numpy(), x.reshape(shape).detach().numpy(), atol=1e-9)
        results.append([np.asarray(each.detach()) for each in found] + [repr(constraint)])
    assert results[0][-1] == results[1][-1]
    for ours, theirs in zip(results[0][:-1], results[1][:-1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


MATRICES = (
    "square symmetric lower_triangular positive_definite positive_semidefinite lower_cholesky corr_cholesky".split()
)


@pytest.mark.parametrize("name", MATRICES)
def test_sets_of_matrices(name):
    factors = np.tril(np.random.default_rng(0).normal(size=(2, 3, 3)))
    factors[:, range(3), range(3)] = 1 + np.arange(3)
    scaled = factors / np.linalg.norm(factors, axis=-1, keepdims=True)
    symmetric = factors @ factors.swapaxes(1, 2)
    for matrices in (factors, scaled, symmetric, symmetric - 2 * np.eye(3), factors[:, :2], factors + 1.5):
        ours, theirs = (getattr(t.distributions.constraints, name).check(t.tensor(matrices)).tolist() for t in both)
        assert ours == theirs


@pytest.mark.parametrize("t", both, ids=["pullback", "torch"])
def test_sets_of_ones_own(t):
    constraints = t.distributions.constraints

    class Even(constraints.Constraint):
        is_discrete = True

        def check(self, value):
            return value % 2 == 0

    class Wheel(t.distributions.Distribution):
        arg_constraints = {"size": constraints.positive_integer}  # noqa: RUF012  # torch's form

        def __init__(self, size):
            self.size = size
            super().__init__()

        @constraints.dependent_property(is_discrete=True, event_dim=0)
        def support(self):
            return constraints.integer_interval(0, self.size)

    registry = t.distributions.transform_to
    with pytest.raises(NotImplementedError, match="Cannot transform Even constraints"):
        registry(Even())
    registry.register(Even, lambda constraint: t.distributions.transforms.AffineTransform(0, 2))
    assert registry(Even())(t.tensor([1.0, 3.0])).tolist() == [2.0, 6.0]
    with pytest.raises(TypeError, match="Expected constraint to be either a Constraint subclass or instance"):
        registry.register(3, lambda constraint: None)
    assert constraints.is_dependent(Wheel.support) and Wheel.support.is_discrete and Wheel.support.event_dim == 0
    assert repr(Wheel(t.tensor(4)).support) == "IntegerInterval(lower_bound=0, upper_bound=4)"
    with pytest.raises(ValueError, match="Expected parameter size"):
        Wheel(t.tensor(0))
    with pytest.raises(NotImplementedError):
        constraints.dependent.is_discrete  # reading it is the test
    with pytest.raises(ValueError, match="Cannot determine validity of dependent constraint"):
        constraints.dependent.check(t.ones(1))


@pytest.mark.parametrize("diag", [-2, -1, 0, 1, 2])
def test_triangles_as_vectors(diag):
    from pullback.distributions import correlations

    theirs = torch.distributions.utils
    vector = correlations.tril_matrix_to_vec(pullback.arange(25.0).reshape(5, 5), diag)
    assert vector.tolist() == theirs.tril_matrix_to_vec(torch.arange(25.0).reshape(5, 5), diag).tolist()
    matrix = correlations.vec_to_tril_matrix(vector, diag)
    assert matrix.tolist() == theirs.vec_to_tril_matrix(torch.tensor(vector.tolist()), diag).tolist()
    with pytest.raises(ValueError, match="cannot be expressed as the lower triangular part"):
        correlations.vec_to_tril_matrix(pullback.ones(2), diag)


@pytest.mark.parametrize("t", both, ids=["pullback", "torch"])
def test_families_of_ones_own_expand(t):
    class Shifted(t.distributions.Distribution):
        def __init__(self, loc, validate_args=None):
            self.loc = loc
            super().__init__(loc.shape, validate_args=validate_args)

        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Shifted, _instance)
            new.loc = self.loc.expand(batch_shape)
            super(Shifted, new).__init__(batch_shape, validate_args=False)
            new._validate_args = self._validate_args
            return new

    class Other(Shifted):
        def __init__(self):
            super().__init__(t.zeros(1))

    Shifted.arg_constraints = {}
    wide = Shifted(t.zeros(1)).expand((3,))
    assert type(wide) is Shifted and tuple(wide.batch_shape) == (3,) and wide.loc.shape == (3,)
    with pytest.raises(NotImplementedError, match="must also define a custom"):
        Other().expand((3,))


def test_values_of_a_mixture_lie_in_the_support_of_every_part():
    for t in both:
        d = t.distributions
        parts = d.Uniform(t.tensor([0.0, 1.0]), t.tensor([2.0, 3.0]))
        mixture = d.MixtureSameFamily(d.Categorical(t.ones(2)), parts)
        assert repr(mixture.support).startswith("MixtureSameFamilyConstraint(Interval(")
        assert mixture.log_prob(t.tensor([1.1, 1.5, 1.9])).exp().tolist() == pytest.approx([0.5] * 3)
        with pytest.raises(ValueError, match="to be within the support"):
            mixture.log_prob(t.tensor([0.5, 1.5, 2.5]))
        parts = d.Uniform(parts.low, parts.high, validate_args=False)
        unchecked = d.MixtureSameFamily(d.Categorical(t.ones(2)), parts, validate_args=False).expand((4,))
        assert unchecked.log_prob(t.tensor([[0.5], [2.5]])).shape == (2, 4)


@pytest.mark.filterwarnings("ignore:.*does not define `support`")
@pytest.mark.parametrize("t", both, ids=["pullback", "torch"])
def test_mixtures_of_ones_own_family_that_names_no_support(t):
    class Peaked(t.distributions.Distribution):
        def log_prob(self, value):
            return -value.abs() + t.zeros(self.batch_shape)

    Peaked.arg_constraints = {}
    mixture = t.distributions.MixtureSameFamily(t.distributions.Categorical(t.ones(3)), Peaked((3,)))
    assert mixture.log_prob(t.tensor(2.0)).item() == -2.0
    assert t.distributions.Independent(Peaked((3,)), 1).log_prob(t.tensor(2.0)).item() == -6.0


def test_a_support_that_is_not_named_is_none():
    d = pullback.distributions
    mine = d.Distribution((3,))
    assert mine.support is None and d.Independent(mine, 1).support is None
    assert d.MixtureSameFamily(d.Categorical(pullback.ones(3)), mine).support is None
    assert d.CumulativeDistributionTransform(mine).domain is d.constraints.real
