"""Transforms of distributions, and the distributions made of them, against torch's."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402

A, B = [0.5, 1.5, 2.0], [0.2, 1.0, 3.0]
X, SIMPLEX = [0.3, 0.6, 1.9], [0.1, 0.2, 0.3, 0.4]
both = (pullback, torch)


@pytest.fixture(autouse=True)
def checked():
    """torch checks arguments, also where its compiler, imported by other tests of this process, has turned that off."""
    torch.distributions.Distribution.set_default_validate_args(True)


TRANSFORMS = {
    "exp": "T.ExpTransform()",
    "power": "T.PowerTransform(t.tensor(2.0).double())",
    "falling power": "T.PowerTransform(-0.5)",
    "sigmoid": "T.SigmoidTransform()",
    "tanh": "T.TanhTransform()",
    "softplus": "T.SoftplusTransform()",
    "abs": "T.AbsTransform()",
    "affine": "T.AffineTransform(a, -b)",
    "affine of a vector": "T.AffineTransform(1.0, 2.0, event_dim=1)",
    "softmax": "T.SoftmaxTransform()",
    "stick": "T.StickBreakingTransform()",
    "composed": "T.ComposeTransform([T.AffineTransform(a, b), T.ExpTransform(), T.IndependentTransform(T.SoftplusTransform(), 1)])",
    "independent": "T.IndependentTransform(T.ExpTransform(), 1)",
    "reshape": "T.ReshapeTransform((3,), (1, 3))",
    "cdf": "T.CumulativeDistributionTransform(t.distributions.Normal(a, b))",
    "identity": "T.identity_transform",
}


def parameters(t):
    return {name: t.tensor(value, dtype=t.float64, requires_grad=True) for name, value in {"a": A, "b": B}.items()}


def evaluated(t, text, **names):
    return eval(text, {"t": t, "D": t.distributions, "T": t.distributions.transforms, **names})


def answer(ask):
    """What is answered, as arrays and plain values; the type of the error where there is none."""
    try:
        found = ask()
    except (NotImplementedError, ValueError) as error:
        return type(error).__name__
    return found.detach().numpy() if hasattr(found, "detach") else tuple(found) if hasattr(found, "numel") else found


def compare(programs):
    for ours, theirs in zip(*programs, strict=True):
        if isinstance(theirs, np.ndarray):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)
        else:
            assert ours == theirs


def of_transform(t, kind):
    f, x = evaluated(t, TRANSFORMS[kind], **parameters(t)), t.tensor(X, dtype=t.float64, requires_grad=True)
    y = f(x)
    asked = [
        lambda: y,
        lambda: f.inv(y.detach()),
        lambda: f.log_abs_det_jacobian(x, y),
        lambda: f.inv.log_abs_det_jacobian(y, x),
        lambda: f.sign,
        lambda: [f.bijective, f.domain.event_dim, f.codomain.event_dim, f.inv.domain.event_dim],
        lambda: f.event_dim,
        lambda: f.forward_shape(t.Size((2, 3))),
        lambda: f.inverse_shape(f.forward_shape(t.Size((2, 3)))),
        lambda: f(x.expand(2, 3)).shape == f.forward_shape(t.Size((2, 3))),
        lambda: f.inv.inv is f,
        lambda: f.codomain.check(y.detach()),
    ]
    answers = [answer(ask) for ask in asked]
    y.sum().backward()
    return [*answers, x.grad.numpy()]


@pytest.mark.parametrize("kind", TRANSFORMS)
def test_values_inverses_and_jacobians(kind):
    compare([of_transform(t, kind) for t in both])


@pytest.mark.parametrize("kind", ["LowerCholeskyTransform", "PositiveDefiniteTransform"])
def test_matrices(kind):
    results = []
    for t in both:
        f = getattr(t.distributions.transforms, kind)()
        matrix = t.arange(9, dtype=t.float64).view(3, 3) / 10 + t.eye(3, dtype=t.float64)
        results.append([f(matrix).numpy(), f.inv(f(matrix)).numpy(), f.codomain.check(f(matrix)).numpy()])
    compare(results)


def test_equality_and_memory():
    for t in both:
        transforms = t.distributions.transforms
        affine = transforms.AffineTransform
        assert transforms.ExpTransform() == transforms.ExpTransform() != transforms.TanhTransform()
        assert affine(1.0, 2.0) == affine(1.0, 2.0) != affine(1.0, 3.0)
        assert affine(t.ones(2), 2.0) == affine(t.ones(2), 2.0)
        x = t.tensor([20.0])
        remembering, other = transforms.TanhTransform(cache_size=1), transforms.TanhTransform()
        assert remembering.inv(remembering(x)) is x and other.inv(other(x)).isinf().all()
        with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
            transforms.ExpTransform(cache_size=2)
        with pytest.raises(ValueError, match="in_shape, out_shape have different numbers of elements"):
            transforms.ReshapeTransform((2,), (3,))


NORMAL = "D.Normal(a, b)"
FAMILIES = {
    "two": (f"D.TransformedDistribution({NORMAL}, [T.AffineTransform(1.0, 2.0), T.ExpTransform()])", X),
    "falling": (f"D.TransformedDistribution({NORMAL}, T.AffineTransform(1.0, -2.0))", X),
    "tanh": (f"D.TransformedDistribution({NORMAL}, [T.TanhTransform(cache_size=1)])", [0.3, -0.6, 0.9]),
    "stick": (f"D.TransformedDistribution({NORMAL}, T.StickBreakingTransform())", SIMPLEX),
    "independent": (f"D.TransformedDistribution(D.Independent({NORMAL}, 1), [T.ExpTransform()])", X),
    "reshaped": (f"D.TransformedDistribution({NORMAL}, [T.ReshapeTransform((3,), (1, 3))])", [X]),
    "none": (f"D.TransformedDistribution({NORMAL}, [])", X),
    "logistic": (
        "D.TransformedDistribution(D.Uniform(0 * a, 0 * a + 1), [T.SigmoidTransform().inv, T.AffineTransform(a, b)])",
        X,
    ),
    "of a vector": (
        "D.TransformedDistribution(D.MultivariateNormal(a, t.eye(3).double()), [T.AffineTransform(1.0, 2.0, event_dim=1)])",
        X,
    ),
    "broadcast": ("D.TransformedDistribution(D.Normal(0.0 * a[0], 1.0), [T.AffineTransform(a, b)])", X),
    "HalfNormal": ("D.HalfNormal(b)", X),
    "HalfCauchy": ("D.HalfCauchy(b)", X),
    "Pareto": ("D.Pareto(a / 10, b + 2)", X),
    "Weibull": ("D.Weibull(a, b + 1)", X),
    "LogisticNormal": ("D.LogisticNormal(a, b)", SIMPLEX),
    "Chi2": ("D.Chi2(b)", X),
    "RelaxedBernoulli": ("D.RelaxedBernoulli(t.tensor(0.7).double(), logits=a)", [0.3, 0.4, 0.99]),
    "RelaxedBernoulli of chances": ("D.RelaxedBernoulli(b[0], probs=a / 3)", [0.3, 0.4, 0.99]),
    "RelaxedOneHotCategorical": ("D.RelaxedOneHotCategorical(b[1], logits=a)", [0.2, 0.3, 0.5]),
    "RelaxedOneHotCategorical of chances": (
        "D.RelaxedOneHotCategorical(t.tensor(0.5).double(), probs=b)",
        [0.2, 0.3, 0.5],
    ),
    "straight through": ("D.OneHotCategoricalStraightThrough(logits=a)", [0.0, 1.0, 0.0]),
}


def of_distribution(t, family):
    text, value = FAMILIES[family]
    leaves = parameters(t)
    d, x = evaluated(t, text, **leaves), t.tensor(value, dtype=t.float64)
    density = d.log_prob(x)
    density.sum().backward()
    gradients = [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves.values()]
    chances = t.tensor([0.1, 0.5, 0.9], dtype=t.float64)
    asked = [lambda: d.cdf(x), lambda: d.icdf(chances), lambda: d.mean, lambda: d.variance, lambda: d.mode, d.entropy]
    shapes = [tuple(s) for s in (d.batch_shape, d.event_shape, d.sample((4,)).shape, d.rsample().shape)]
    larger = d.expand((2, *d.batch_shape))
    answers = [density.detach().numpy(), *gradients, *map(answer, asked), shapes, tuple(larger.sample().shape)]
    flags = [d.has_rsample, d.rsample().requires_grad, d.sample().requires_grad]
    return [*answers, larger.log_prob(x).detach().numpy(), flags, bool(d.support.check(d.sample((9,))).all())]


@pytest.mark.parametrize("family", FAMILIES)
def test_distributions_of_transformed_values(family):
    compare([of_distribution(t, family) for t in both])


REFUSED = {
    "no transform": (
        "D.TransformedDistribution(D.Normal(0.0, 1.0), 3)",
        "transforms must be a Transform or list, but was 3",
    ),
    "no transforms": (
        "D.TransformedDistribution(D.Normal(0.0, 1.0), [3])",
        "transforms must be a Transform or a list of",
    ),
    "too few axes": (
        "D.TransformedDistribution(D.Normal(0.0, 1.0), T.StickBreakingTransform())",
        "base_distribution needs to have shape with size at least 1, but got",
    ),
    "scale": ("D.HalfNormal(-1.0)", "Expected parameter scale"),
    "concentration": ("D.Weibull(1.0, -1.0)", "Expected parameter"),
    "alpha": ("D.Pareto(1.0, -1.0)", "Expected parameter"),
    "df": ("D.Chi2(-1.0)", "Expected parameter df"),
    "both": ("D.RelaxedBernoulli(0.5)", "Either `probs` or `logits` must be specified, but not both."),
    "value": ("D.HalfNormal(t.ones(2)).log_prob(t.tensor([1.0, -2.0]))", "to be within the support"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    text, words = REFUSED[case]
    for t in both:
        with pytest.raises(ValueError) as caught:
            evaluated(t, text)
        assert words in str(caught.value)


def test_relaxed_choices_come_near_to_choices() -> None:
    pullback.manual_seed(0)
    chance = pullback.distributions.RelaxedBernoulli(pullback.tensor(0.01), probs=pullback.tensor(0.3)).sample((4000,))
    assert abs(float(chance.mean()) - 0.3) < 0.03
    places = pullback.distributions.RelaxedOneHotCategorical(0.01, probs=pullback.tensor([0.2, 0.5, 0.3])).sample(
        (4000,)
    )
    assert np.allclose(places.mean(0).numpy(), [0.2, 0.5, 0.3], atol=0.03)


def test_samples_carry_the_gradients_of_the_parameters() -> None:
    a = pullback.tensor([0.5, 1.0], requires_grad=True)
    normal = pullback.distributions.Normal(a, 1.0)
    exp = pullback.distributions.transforms.ExpTransform()
    x = pullback.distributions.TransformedDistribution(normal, exp).rsample()
    x.sum().backward()
    assert np.allclose(a.grad.numpy(), x.detach().numpy())


@pytest.mark.parametrize("t", [pullback, torch], ids=["pullback", "torch"])
def test_arguments_without_the_axes_that_form_one_value(t):
    d = t.distributions
    matrices = d.ReshapeTransform((4,), (2, 2))
    with pytest.raises(ValueError, match="Too few dimensions on input"):
        matrices.forward_shape(())
    with pytest.raises(ValueError, match="Shape mismatch: expected"):
        matrices.forward_shape((3,))
    rows = d.IndependentTransform(d.ExpTransform(), 1)
    for call in (rows, rows.inv):
        with pytest.raises(ValueError, match="Too few dimensions on input"):
            call(t.tensor(1.0))


def test_what_axes_are_missing_is_said():
    d = pullback.distributions
    with pytest.raises(ValueError, match=r"on input: the shape .* does not end with"):
        d.ReshapeTransform((4,), (2, 2)).forward_shape(())
    with pytest.raises(ValueError, match="and at least 1 are needed"):
        d.IndependentTransform(d.ExpTransform(), 1)(pullback.tensor(1.0))
