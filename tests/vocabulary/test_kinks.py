"""Derivatives at kinks, ties and NaNs: there is none, or there are several, and torch's choice is the one to be found.

The numbers are torch's (2.9, CPU, float64).
"""

import numpy as np
import pytest

import pullback
from pullback import nn
from pullback.autograd import grad

NAN = np.nan


def tracked(values):
    return pullback.tensor(values, dtype=pullback.float64, requires_grad=True)


def ramp(like, start):
    return pullback.arange(start, start + like.numel(), dtype=pullback.float64).reshape(like.shape)


def test_prelu_at_zero():
    """The first derivative at 0 is that of the left side; the second is 0, as that of the right side."""
    x, weight = tracked([0.0, 1.0, -1.0, -0.0]), tracked([0.5])
    y = pullback.prelu(x, weight)
    first = grad(y, (x, weight), ramp(y, 1.0), create_graph=True)
    assert first[0].tolist() == [0.5, 2, 1.5, 2]
    assert first[1].tolist() == [-3]
    second = grad((first[0] * ramp(x, 2.0)).sum() + 2 * first[1].sum(), (x, weight))
    assert second[0].tolist() == [0, 0, 6, 0]
    assert second[1].tolist() == [12]


def test_prelu_of_nan():
    x, weight = tracked([NAN]), tracked([0.5])
    by_x, by_weight = grad(pullback.prelu(x, weight).sum(), (x, weight))
    assert by_x.tolist() == [0.5]
    assert np.isnan(by_weight.item())


@pytest.mark.parametrize("count", [4, 40_000])
@pytest.mark.parametrize(
    ("function", "outside"),
    [
        (nn.functional.elu, 1.0),
        (lambda x: nn.functional.elu(x, alpha=1.5), 1.0),
        (lambda x: nn.functional.elu(x, alpha=-1.5), 1.0),
        (lambda x: nn.functional.celu(x, alpha=2.0), 1.0),
        (nn.functional.selu, 1.0507009873554805),
        (nn.functional.hardswish, 1.0),
    ],
    ids=["elu", "elu of 1.5", "elu of -1.5", "celu", "selu", "hardswish"],
)
def test_a_value_that_is_nan_has_no_slope(function, outside, count):
    x = tracked([NAN, 4.0] * (count // 2))
    y = function(x)
    (slopes,) = grad(y.sum(), x)
    _, tangents = pullback.func.jvp(function, (x.detach(),), (pullback.ones_like(x),))
    for found in (slopes, tangents):
        np.testing.assert_array_equal(found.numpy(), [NAN, outside] * (count // 2))


@pytest.mark.parametrize("reduce", ["amax", "amin"])
@pytest.mark.parametrize("function", ["scatter_reduce", "index_reduce"])
def test_an_extreme_that_is_nan_has_no_gradient(function, reduce):
    x, source = tracked([1.0, 2.0, NAN, 4.0]), tracked([1.0, NAN, 5.0])
    y = getattr(x, function)(0, pullback.tensor([0, 0, 2]), source, reduce)
    by_x, by_source = grad(y, (x, source), ramp(y, 1.0))
    np.testing.assert_array_equal(by_x.numpy(), [NAN, 2, NAN, 4])
    np.testing.assert_array_equal(by_source.numpy(), [NAN, NAN, NAN])


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [
        ("max", [0.5, 0, 0.5, 2, 0]),
        ("min", [0.5, 0, 0.5, 0, 2]),
        ("prod", [NAN, NAN, NAN, 2, 10]),
    ],
)
def test_nans_share_the_gradient_of_the_extreme_of_a_segment(reduce, expected):
    x = tracked([NAN, 1.0, NAN, 5.0, 1.0])
    y = pullback.segment_reduce(x, reduce, lengths=pullback.tensor([3, 2]))
    np.testing.assert_array_equal(grad(y, x, ramp(y, 1.0))[0].numpy(), expected)


def test_the_product_of_a_segment_with_one_nan():
    x = tracked([3.0, NAN, 2.0])
    y = pullback.segment_reduce(x, "prod", lengths=pullback.tensor([3]))
    np.testing.assert_array_equal(grad(y.sum(), x)[0].numpy(), [NAN, 6, NAN])


def test_a_norm_over_batches_divides_by_no_zero():
    x = pullback.ones(2, 2)
    with pytest.raises(ValueError, match=r"batch_norm eps must be positive during training, but got 0\.0"):
        nn.BatchNorm1d(2, eps=0.0)(x)
    with pytest.raises(ValueError, match=r"batch_norm eps must be non-negative, but got -1\.0"):
        nn.functional.batch_norm(x, pullback.zeros(2), pullback.ones(2), eps=-1.0)
    assert nn.functional.batch_norm(x, pullback.zeros(2), pullback.ones(2), eps=0.0).tolist() == x.tolist()
