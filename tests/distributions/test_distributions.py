"""What distributions and transforms say of themselves; their numbers beside torch's are in tests/parity."""

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
