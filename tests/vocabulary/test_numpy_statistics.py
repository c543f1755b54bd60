"""NumPy's reductions, scans and statistics on tensors: the values NumPy has, the gradients finite differences have."""

# ruff: noqa: PLW0108  # the number of a lambda's parameters says how many arrays a call takes

import numpy as np
import pytest

import pullback
from pullback._numpy.statistics import STATISTICS

from ..differences import listed, slope

A = np.array([[0.3, -0.7, 1.9, 0.4], [-1.2, 0.8, 2.3, -0.1], [0.6, 1.1, -0.9, 1.5]])
B = np.array([[0.9, 1.4, -0.6, 0.2], [0.5, -2.1, 1.1, 0.7], [0.4, 0.1, 1.7, -0.3]])
HOLES = np.where([[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]], np.nan, A)
WEIGHTS = np.abs(B) + 0.5
COORDINATES = np.array([0.0, 0.4, 1.1, 1.3])

CALLS = {
    "prod": [lambda a: np.prod(a), lambda a: np.prod(a, axis=1), lambda a: np.prod(a, axis=(0, 1), keepdims=True)],
    "cumprod": [lambda a: np.cumprod(a), lambda a: np.cumprod(a, axis=0)],
    "nansum": [lambda a: np.nansum(a), lambda a: np.nansum(a, axis=0, keepdims=True)],
    "nanmean": [lambda a: np.nanmean(a), lambda a: np.nanmean(a, axis=(0, 1))],
    "nanprod": [lambda a: np.nanprod(a, axis=1)],
    "nancumsum": [lambda a: np.nancumsum(a), lambda a: np.nancumsum(a, axis=1)],
    "nancumprod": [lambda a: np.nancumprod(a, axis=0)],
    "nanmax": [lambda a: np.nanmax(a), lambda a: np.nanmax(a, axis=1)],
    "nanmin": [lambda a: np.nanmin(a, axis=0, keepdims=True)],
    "nanvar": [lambda a: np.nanvar(a), lambda a: np.nanvar(a, axis=1, ddof=1)],
    "nanstd": [lambda a: np.nanstd(a, axis=0)],
    "nanmedian": [lambda a: np.nanmedian(a), lambda a: np.nanmedian(a, axis=1)],
    "nanquantile": [lambda a: np.nanquantile(a, [0.1, 0.7], axis=0)],
    "nanpercentile": [lambda a: np.nanpercentile(a, 35)],
    "quantile": [
        lambda a: np.quantile(a, 0.3),
        lambda a: np.quantile(a, [[0.1, 0.9]], axis=1),
        lambda a: np.quantile(a, [0.2, 0.5], axis=(0, 1), keepdims=True),
        *(lambda a, method=method: np.quantile(a, 0.3, axis=1, method=method)
          for method in ("lower", "higher", "midpoint", "nearest")),
    ],
    "percentile": [lambda a: np.percentile(a, [10, 75], axis=0)],
    "median": [lambda a: np.median(a), lambda a: np.median(a, axis=0), lambda a: np.median(a, axis=1, keepdims=True)],
    "average": [
        lambda a: np.average(a),
        lambda a: np.average(a, axis=1),
        lambda a, w: np.average(a, axis=0, weights=np.abs(w)),
        lambda a: np.average(a, axis=1, weights=COORDINATES),
        lambda a, w: list(np.average(a, weights=w, returned=True)),
    ],
    "ptp": [lambda a: np.ptp(a), lambda a: np.ptp(a, axis=1)],
    "diff": [
        lambda a: np.diff(a),
        lambda a: np.diff(a, n=2, axis=0),
        lambda a, b: np.diff(a, prepend=0.5, append=b),
    ],
    "gradient": [
        lambda a: np.gradient(a),
        lambda a: np.gradient(a, 0.5, edge_order=2),
        lambda a: np.gradient(a, COORDINATES, axis=1),
        lambda a: np.gradient(a, 0.3, COORDINATES, edge_order=2),
    ],
    "trapezoid": [
        lambda a: INTEGRAL(a),
        lambda a: INTEGRAL(a, dx=0.3, axis=0),
        lambda a: INTEGRAL(a, COORDINATES),
        lambda a, b: INTEGRAL(a, b, axis=0),
    ],
    "cumulative_sum": [
        lambda a: np.cumulative_sum(a, axis=0),
        lambda a: np.cumulative_sum(a, axis=1, include_initial=True),
    ],
    "cumulative_prod": [lambda a: np.cumulative_prod(a, axis=-1, include_initial=True)],
    "cov": [
        lambda a: np.cov(a),
        lambda a, b: np.cov(a, b, bias=True),
        lambda a: np.cov(a, rowvar=False, ddof=0),
        lambda a: np.cov(a, fweights=np.array([1, 2, 1, 3]), aweights=COORDINATES + 1),
    ],
    "corrcoef": [lambda a: np.corrcoef(a)[0, 1], lambda a, b: np.corrcoef(a, b, rowvar=False)[0]],
    "sort": [lambda a: np.sort(a), lambda a: np.sort(a, axis=0), lambda a: np.sort(a, axis=None)],
    "interp": [
        lambda a: np.interp(a, COORDINATES - 0.95, [0.3, 0.1, 0.8, -0.5]),
        lambda a: np.interp(a, COORDINATES - 0.95, [0.3, 0.1, 0.8, -0.5], left=-1, right=2),
        lambda a: np.interp([-2.0, 0.1, 0.5, 1.25, 3.0], COORDINATES, a[0]),
        lambda a: np.interp([0.35, 0.9], np.cumsum(np.square(a[0])), COORDINATES),
    ],
}  # fmt: skip
INTEGRAL = getattr(np, "trapezoid", None) or np.trapz  # noqa: NPY201  # its name in NumPy 2, or in NumPy 1
EITHER = {"trapz": "trapezoid", "cumproduct": "cumprod", "msort": "sort"}
CASES = [
    (name, i) for name, calls in CALLS.items() for i in range(len(calls)) if name in vars(np) or name == "trapezoid"
]


def test_every_function_is_tried():
    assert sorted({*STATISTICS, "prod"} - EITHER.keys()) == sorted(CALLS)


@pytest.mark.parametrize(("name", "case"), CASES)
def test_values_and_gradients(name, case):
    function = CALLS[name][case]
    arrays = [HOLES if "nan" in name else A, B][: function.__code__.co_argcount - len(function.__defaults__ or ())]
    tensors = [pullback.tensor(array, requires_grad=True) for array in arrays]
    expected, results = listed(function(*arrays)), listed(function(*tensors))
    weights = [np.cos(np.arange(np.size(y)) + 1).reshape(np.shape(y)) for y in expected]
    for want, got in zip(expected, results, strict=True):
        assert (tuple(got.shape), got.detach().numpy().dtype) == (np.shape(want), np.asarray(want).dtype)
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-12, atol=1e-14)
    pullback.autograd.backward(results, [pullback.tensor(np.asarray(w)) for w in weights])
    for place, tensor in enumerate(tensors):
        expected = np.where(np.isnan(arrays[place]), 0, slope(function, arrays, weights, place))
        np.testing.assert_allclose(tensor.grad.numpy(), expected, atol=1e-7, rtol=1e-6)


def test_nothing_but_nan():
    x = pullback.tensor([[np.nan, np.nan], [1.0, np.nan]])
    for function in (np.nanmax, np.nanmin, np.nanmean, np.nanmedian):
        assert function(x, axis=1).tolist()[1] == 1
        assert np.isnan(function(x, axis=1).tolist()[0])


def test_products_by_reduction():
    x = pullback.tensor(A, requires_grad=True)
    np.testing.assert_allclose(np.multiply.reduce(x).detach().numpy(), np.multiply.reduce(A))


def test_what_is_not_computed_is_refused_by_name():
    with pytest.raises(TypeError, match="'hazen'"):
        np.quantile(pullback.tensor(A, requires_grad=True), 0.5, method="hazen")
    with pytest.raises(TypeError, match=r"numpy\.nansum .*initial="):
        np.nansum(pullback.tensor(A, requires_grad=True), initial=2)


def test_places_have_no_gradient():
    x = pullback.tensor(HOLES, requires_grad=True)
    assert np.nanargmax(x) == np.nanargmax(HOLES)
    assert np.nanargmin(x, axis=1).tolist() == np.nanargmin(HOLES, axis=1).tolist()
    assert np.argpartition(x, 1).tolist() == np.argpartition(HOLES, 1).tolist()
    assert np.lexsort(x).tolist() == np.lexsort(HOLES).tolist()
    assert np.digitize(x, [0.0, 1.0]).tolist() == np.digitize(HOLES, [0.0, 1.0]).tolist()


SECONDARY = {
    "polyfit": lambda t: np.polyfit(COORDINATES, A[0], 1, w=t),
    "cov": lambda t: np.cov(A, aweights=t),
    "gradient": lambda t: np.gradient(A[0], np.cumsum(t)),
    "gradient by a number": lambda t: np.gradient(A[0], t[0]),
    "var": lambda t: np.var(A[0], mean=np.sum(t, keepdims=True)),
    "std": lambda t: np.std(A[0], mean=np.sum(t, keepdims=True)),
}


@pytest.mark.parametrize("function", SECONDARY.values(), ids=SECONDARY)
def test_a_secondary_argument_alone_may_be_tracked(function):
    values, h = WEIGHTS[0], 1e-6
    if function in (SECONDARY["var"], SECONDARY["std"]) and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("NumPy 1 has no mean=")
    t = pullback.tensor(values, requires_grad=True)
    found = function(t)
    factors = np.cos(np.arange(found.numel())).reshape(found.shape)
    (found * pullback.tensor(factors)).sum().backward()
    steps = [np.sum((function(values + h * e) - function(values - h * e)) * factors) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(t.grad, steps, rtol=1e-6, atol=1e-8)


def test_objects_and_texts_beside_tensors_remain_arrays():
    t = pullback.tensor([1.0, 2.0], requires_grad=True)
    numbers, nothing = np.broadcast_arrays(t, None)
    assert numbers.requires_grad
    assert nothing.tolist() == [None, None]
    grid, names = np.meshgrid(t, ["a", "b", "c"])
    assert grid.shape == names.shape == (3, 2)
    assert np.atleast_1d(t, None)[1].dtype == object


@pytest.mark.parametrize("dtype", [None, np.float32])
def test_a_covariance_is_computed_in_the_dtype_that_is_asked_for(dtype):
    x = np.random.default_rng(0).standard_normal((3, 5))
    found = np.cov(pullback.from_numpy(x), dtype=dtype)
    wanted = np.cov(x, dtype=dtype)
    assert found.numpy().dtype == wanted.dtype
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6 if dtype else 1e-12)
