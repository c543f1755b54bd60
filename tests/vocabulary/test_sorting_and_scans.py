"""Sorting, medians, quantiles and scans: ties, NaNs, kinks and dtypes, as torch has them."""

import numpy as np
import pytest

import pullback
from pullback.autograd import grad

from ..tensors import leaf

NAN = float("nan")


def slope(y, x):
    return grad(y, x)[0].tolist()


def test_equal_elements_keep_their_order():
    x = pullback.tensor([2, 1, 2, 1])
    assert x.sort().indices.tolist() == x.argsort().tolist() == [1, 3, 0, 2]
    assert x.sort(descending=True).indices.tolist() == [0, 2, 1, 3]


def test_nan_counts_as_the_largest_number():
    x = pullback.tensor([1.0, NAN, 3.0])
    assert x.argsort().tolist() == [0, 2, 1]
    assert x.topk(2).indices.tolist() == [1, 2]
    assert x.kthvalue(2).values.item() == 3


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [0, 1, 3, 40])
def test_few_and_many_of_the_largest(largest, k):
    x = pullback.from_numpy(np.random.default_rng(1).permutation(np.arange(240.0)).reshape(3, 80))
    values, places = x.topk(k, largest=largest)
    ordered = np.sort(x.numpy(), 1)
    assert values.tolist() == (ordered[:, ::-1] if largest else ordered)[:, :k].tolist()
    assert values.tolist() == np.take_along_axis(x.numpy(), places.numpy(), 1).tolist()


def test_ties_for_a_median_share_its_gradient_unless_a_dim_is_named():
    x = leaf(1.0, 2.0, 2.0, 5.0)
    assert slope(x.median(), x) == [0, 0.5, 0.5, 0]
    assert sorted(slope(x.median(0).values, x)) == [0, 0, 0, 1]


def test_medians_beside_nan():
    x = leaf(4.0, NAN, 1.0, 2.0, NAN)
    assert np.isnan(x.median().item())
    assert x.median(0).indices.item() == 1
    assert (x.nanmedian().item(), x.nanmedian(0).indices.item()) == (2, 3)
    assert slope(x.nanmedian(), x) == [0, 0, 0, 1, 0]
    assert np.isnan(pullback.tensor([NAN, NAN]).nanmedian(0).values.item())


def test_a_mode_is_the_smallest_of_the_most_frequent():
    values, indices = pullback.tensor([[3, 1, 3, 1], [2, 5, 5, 0]]).mode()
    assert (values.tolist(), indices.tolist()) == ([1, 5], [3, 2])


def test_quantiles_have_gradients_for_elements_and_fractions():
    x, q = leaf(4.0, 1.0, 3.0), leaf(0.25, 1.0)
    y = pullback.quantile(x, q)
    assert y.tolist() == [2, 4]
    assert slope(y.sum(), x) == [1, 0.5, 0.5]
    assert slope(pullback.quantile(x, q).sum(), q) == [4, 0]


def test_running_extremes_give_the_last_of_several_and_stay_at_nan():
    values, indices = leaf(1.0, 3.0, 3.0, 2.0, NAN, 7.0).cummax(0)
    assert indices.tolist() == [0, 1, 2, 2, 4, 4]
    assert np.isnan(values.tolist()[4:]).all()


def test_products_of_zeros_have_gradients():
    for zeros in (1, 2):
        x = leaf(*[0.0] * zeros, 2.0, 3.0)
        assert slope(x.prod(), x) == [6.0 if zeros == 1 else 0.0] * zeros + [0, 0]
    x = leaf(2.0, 0.0, 3.0)
    assert slope(x.cumprod(0).sum(), x) == [1, 8, 0]
    (twice,) = grad(grad(x.prod(), x, create_graph=True)[0].sum(), x)
    assert twice.tolist() == [3, 5, 2]


def test_log_sums_begin_at_minus_infinity():
    x = leaf(-np.inf, -np.inf, 0.0, 1000.0)
    y = x.logcumsumexp(0)
    assert y.tolist() == [-np.inf, -np.inf, 0, 1000]
    assert slope(y[2:].sum(), x) == [0, 0, 1, 1]


def test_distinct_elements():
    x = pullback.tensor([[3, 1], [3, 1], [1, 2]])
    found, inverse, counts = x.unique(return_inverse=True, return_counts=True)
    assert (found.tolist(), counts.tolist()) == ([1, 2, 3], [3, 1, 2])
    assert found[inverse].tolist() == x.tolist()
    found, inverse = x.unique_consecutive(return_inverse=True, dim=0)
    assert (found.tolist(), inverse.tolist()) == ([[3, 1], [1, 2]], [0, 0, 1])
    with pytest.raises(RuntimeError, match="0 sized dimensions"):
        pullback.zeros(2, 0).unique(dim=0)


def test_places_among_ordered_numbers():
    rows = pullback.tensor([[1, 3, 5], [2, 4, 6]])
    for right in (False, True):
        expected = [np.searchsorted(row, [1, 3, 6, 0], "right" if right else "left").tolist() for row in rows.numpy()]
        values = pullback.tensor([[1, 3, 6, 0]] * 2)
        assert pullback.searchsorted(rows, values, right=right).tolist() == expected
    assert pullback.bucketize(3.5, rows[0]).item() == 2
    assert pullback.bucketize(pullback.tensor([3]), rows[0], out_int32=True).dtype == pullback.int32


def test_scans_in_place_keep_the_dtype():
    x = pullback.tensor([1, 2, 3], dtype=pullback.int32)
    assert x.cumsum_(0).tolist() == [1, 3, 6]
    assert (x.cumprod_(0).tolist(), x.dtype) == ([1, 3, 18], pullback.int32)


@pytest.mark.parametrize("p", [1, 2, 3.0, np.inf])
def test_norms_of_complex_numbers_are_real_and_point_outwards(p):
    z = leaf(3 + 4j)
    y = z.norm(p)
    assert y.dtype == pullback.float32
    np.testing.assert_allclose(slope(y, z), [0.6 + 0.8j], rtol=1e-6)


def test_histograms():
    x = pullback.tensor([0.0, 1.0, 1.0, 3.0])
    assert x.histc(3).tolist() == [1, 2, 1]
    hist, edges = x.histogram(pullback.tensor([0.0, 1.0, 3.0]), weight=pullback.ones(4) / 2)
    assert (hist.tolist(), edges.tolist()) == ([0.5, 1.5], [0, 1, 3])
    points = pullback.tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    assert pullback.histogramdd(points, [2, 1]).hist.tolist() == [[1], [2]]
    with pytest.raises(RuntimeError, match="monotonically"):
        x.histogram(pullback.tensor([3.0, 1.0]))


SELECTED = {
    "max": lambda x: x.max(2),
    "min": lambda x: x.min(2),
    "median": lambda x: x.median(2),
    "nanmedian": lambda x: x.nanmedian(2),
    "mode": lambda x: x.mode(2),
    "kthvalue": lambda x: x.kthvalue(2, 2),
    "sort": lambda x: x.sort(2),
    "topk": lambda x: x.topk(2, 2),
    "cummax": lambda x: x.cummax(2),
    "max_pool1d": lambda x: pullback.nn.functional.max_pool1d(x, 2, return_indices=True),
    "max_pool1d of one": lambda x: pullback.nn.functional.max_pool1d(x[0], 2, return_indices=True),
    "max_pool3d": lambda x: pullback.nn.functional.max_pool3d(x[None, None], 2, 1, 1, return_indices=True),
    "adaptive_max_pool1d": lambda x: pullback.nn.functional.adaptive_max_pool1d(x, 2, return_indices=True),
    "adaptive_max_pool2d of one": lambda x: pullback.nn.functional.adaptive_max_pool2d(x, 2, return_indices=True),
    "fractional_max_pool2d": lambda x: pullback.nn.functional.fractional_max_pool2d(
        x[None], 2, 2, return_indices=True, _random_samples=pullback.full((1, 1, 2), 0.3, dtype=pullback.float64)
    ),
}


@pytest.mark.parametrize("name", SELECTED)
def test_indices_may_be_written_over_before_backward(name):
    def gradient(spoil):
        x = pullback.from_numpy(np.random.default_rng(3).random((1, 4, 6))).requires_grad_()
        values, indices = SELECTED[name](x)
        if spoil:
            indices.zero_()
        assert indices._base is None
        return grad((values * values).sum(), x)[0].tolist()

    assert gradient(True) == gradient(False)


def test_complex_logcumsumexp_of_infinities_takes_the_phase_of_their_sum():
    infinity = complex(np.inf, 0.5)
    x = pullback.tensor([1 + 1j, infinity, complex(np.inf, 1), 2 + 0j])
    found = x.logcumsumexp(0).tolist()
    assert found[1] == infinity
    # exp gives inf + inf j for both, whose sum has the phase pi / 4
    assert [z.real for z in found[2:]] == [np.inf] * 2
    assert [z.imag for z in found[2:]] == pytest.approx([np.pi / 4] * 2)


def test_complex_logcumsumexp_of_nothing_has_no_phase():
    x = pullback.tensor([complex(-np.inf, np.inf), complex(-np.inf, 1), 2 + 1j])
    assert x.logcumsumexp(0).tolist() == [-np.inf, -np.inf, 2 + 1j]


def test_gradient_takes_as_many_spacings_as_dims():
    with pytest.raises(RuntimeError, match="expected spacing"):
        pullback.gradient(pullback.zeros(3, 3), spacing=[pullback.arange(3.0)])


@pytest.mark.parametrize(("name", "position"), [("prepend", 4), ("append", 5)])
def test_what_diff_joins_is_named_by_its_position(name, position):
    with pytest.raises(TypeError, match=f"argument '{name}' .position {position}. must be Tensor"):
        pullback.diff(pullback.ones(3), **{name: [1.0]})
