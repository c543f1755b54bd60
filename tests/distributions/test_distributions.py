"""What distributions and transforms say of themselves; their numbers beside torch's are in tests/parity."""

import math

import pytest

import pullback
from pullback import distributions as d


@pytest.mark.parametrize("kind", [d.CatTransform, d.StackTransform])
def test_a_joined_transform_keeps_one_value_of_each_part_unless_told(kind):
    x = pullback.tensor([[0.5, 1.0], [2.0, 3.0]])
    joined = kind([d.ExpTransform(), d.SigmoidTransform()]).with_cache()
    y = joined(x)
    assert joined.inv(y) is x
    assert all(part._cache_size == 1 for part in joined.transforms)
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        joined.with_cache(2)


@pytest.mark.parametrize(
    ("kind", "axes"),
    [(d.Binomial, 0), (d.Bernoulli, 0), (d.Categorical, 0), (d.Multinomial, 1), (d.OneHotCategorical, 1)],
)
def test_the_axes_of_a_value_are_known_before_there_are_parameters(kind, axes):
    assert (kind.support.event_dim, kind.support.is_discrete) == (axes, True)


def test_samples_of_a_multivariate_normal_are_its_mean_and_what_its_scale_makes_of_normal_ones():
    scale = pullback.tensor([[2.0, 0.0], [1.0, 0.5]])
    normal = d.MultivariateNormal(pullback.tensor([10.0, -20.0]), scale_tril=scale)
    pullback.manual_seed(3)
    found = normal.rsample((4,))
    pullback.manual_seed(3)
    z = pullback.randn(4, 2)
    assert pullback.allclose(found, pullback.tensor([10.0, -20.0]) + z @ scale.T)


def test_the_entropy_of_a_log_normal_is_that_of_the_normal_and_its_mean():
    found = d.LogNormal(pullback.tensor(3.0), pullback.tensor(2.0)).entropy()
    assert found.item() == pytest.approx(3 + 0.5 + 0.5 * math.log(2 * math.pi) + math.log(2), rel=1e-6)


@pytest.mark.parametrize("kind", [d.Categorical, d.OneHotCategorical])
def test_classes_have_an_axis(kind):
    for name in ("probs", "logits"):
        with pytest.raises(ValueError, match=f"`{name}` parameter must be at least one-dimensional"):
            kind(**{name: pullback.tensor(0.5)})
    assert kind(probs=pullback.tensor([1.0, 3.0])).probs.tolist() == [0.25, 0.75]
