"""Reductions of large arrays by machine code: as good as mathematics, and where NumPy has NaN and infinities, the same."""

import math

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback._core import machine

FORMS = [
    ((300_007,), None),
    ((70_000,), None),
    ((3, 100_003), 1),
    ((521, 517), 1),
    ((521, 517), 0),
    ((100_003, 3), 0),
    ((2, 140_001), 0),
    ((31, 67, 133), 1),
    ((31, 67, 133), (0, 1)),
    ((31, 67, 133), (1, 2)),
    ((9, 30_011, 1), (0, 1)),
]
REDUCTIONS = "sum mean var norm amax amin".split()
BESIDE = 2  # units in the last place of the sum of sizes: NumPy's sums may be ten times as far


@pytest.fixture(autouse=True)
def begun(monkeypatch):
    """As if many arrays had been met, and all of these were large."""
    monkeypatch.setattr(machine.budget, "elements", machine.ENOUGH)
    monkeypatch.setattr(machine, "WORTH_OF", dict.fromkeys(machine.WORTH_OF, 1 << 12))


def drawn(dtype, shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def axes_of(x, axis):
    return tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)


def has_code(name, x, axis):
    return machine.totals(name, x, axes_of(x, axis)) is not None


def reduced(name, x, axis, **options):
    options = options if axis is None and name != "norm" else {"dim": axis, **options}
    return getattr(pullback.from_numpy(x), name)(**options).numpy()


def expected(name, x, axis, **options):
    """The same in more digits, and what its error is measured by."""
    wide, axes = x.astype(np.longdouble), axes_of(x, axis)
    if name == "norm":
        value = np.sqrt((wide**2).sum(axes, **options))
        return value, value
    value = getattr(wide, name.removeprefix("a"))(axis=axes, **options, **({"ddof": 1} if name == "var" else {}))
    size = abs(value)
    if name in ("sum", "mean"):
        size = getattr(abs(wide), name)(axis=axes, **options)
    elif name == "var":  # the mean is rounded
        size = size + np.finfo(x.dtype).eps * (wide**2).max(axes, **options)
    return value, size


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "axis"), FORMS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_results_of_all_forms(name, shape, axis, dtype):
    x = drawn(dtype, shape)
    assert has_code("total", x, axis)
    found = reduced(name, x, axis)
    value, size = expected(name, x, axis)
    assert (found.shape, found.dtype) == (value.shape, x.dtype)
    assert (abs(found - value) <= BESIDE * np.finfo(dtype).eps * size).all()
    if axis is not None:
        kept = reduced(name, x, axis, keepdim=True)
        assert kept.shape == expected(name, x, axis, keepdims=True)[0].shape
        np.testing.assert_array_equal(kept.reshape(found.shape), found)


@pytest.mark.parametrize("size", [4097, 70_000, 1_000_003])
def test_dot_of_singles_is_rounded_once(size):
    x, y = drawn("float32", (2, size))
    assert machine.inner(x, y) is not None
    exact = np.float32(math.fsum(x.astype(float) * y))
    assert pullback.dot(*map(pullback.from_numpy, (x, y))).item() == pytest.approx(exact, rel=2e-7)
    x[7], y[7] = np.inf, 0
    assert math.isnan(pullback.dot(*map(pullback.from_numpy, (x, y))).item())
    for other in (np.repeat(y, 2)[::2], y.astype(float), y[1:]):
        assert machine.inner(x, other) is None


@pytest.mark.parametrize(("shape", "axis"), FORMS)
def test_results_are_arrays_of_their_own(shape, axis):
    """A view would be copied before it becomes a gradient."""
    x = drawn("float32", shape)
    for name in ("total", "largest"):
        code = machine.totals(name, x, axes_of(x, axis))
        assert all(code(x, keepdims=keepdims).flags.owndata for keepdims in (False, True))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_sums_of_floats_are_rounded_once(axis):
    x = drawn("float32", (700, 1100)) * 1000 + 1
    found, exact = (
        reduced("sum", x, axis),
        np.apply_along_axis(math.fsum, axis or 0, x.reshape(-1) if axis is None else x),
    )
    np.testing.assert_array_equal(found, exact.astype(np.float32))


@pytest.mark.parametrize(("shape", "axis"), [((400_000,), None), ((4, 100_000), 1), ((100_000, 4), 0)])
def test_long_sums_of_doubles_stay_as_good_as_short_ones(shape, axis):
    """What blocks of rows and columns lose is as little as in numbers of the same sign."""
    x = np.full(shape, 0.1)
    x += np.arange(x.size).reshape(shape) % 7 * 1e-9
    found = reduced("sum", x, axis)
    exact = [math.fsum(line) for line in (x.reshape(1, -1) if axis is None else x if axis == 1 else x.T)]
    np.testing.assert_allclose(found.reshape(-1), exact, rtol=5e-16)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_numbers_that_are_none(axis, dtype):
    x = drawn(dtype, (130, 259))
    x[3, 100], x[50, 258], x[60, 7], x[129, 8] = np.nan, np.inf, -np.inf, np.inf
    x[:, 20], x[90] = np.inf, -np.inf
    for place in (x, np.where(np.isnan(x), 0, x), abs(np.where(np.isnan(x), 0, x))):
        for name in ("sum", "mean", "amax", "amin", "norm", "prod"):
            with np.errstate(all="ignore"):
                value = expected(name, place, axis)[0] if name != "prod" else place.astype(np.longdouble).prod(axis)
            found = reduced(name, place, axis)
            np.testing.assert_array_equal(np.isnan(found), np.isnan(value), err_msg=name)
            np.testing.assert_array_equal(found[np.isinf(value)], value[np.isinf(value)].astype(dtype), err_msg=name)


@pytest.mark.parametrize("place", [0, 5, 16, 40_000, 70_000, 70_006])
@pytest.mark.parametrize("name", ["amax", "amin"])
def test_extremes_wherever_they_stand(name, place):
    x = drawn("float32", 70_007)
    x[place] = 100 if name == "amax" else -100
    assert reduced(name, x, None) == x[place]
    x[place] = np.nan
    assert np.isnan(reduced(name, x, None))


@pytest.mark.parametrize(("shape", "axis"), [((200_000,), None), ((300, 300), 0), ((300, 300), 1)])
def test_sums_that_overflow_are_infinite(shape, axis):
    assert np.isposinf(reduced("sum", np.full(shape, 1e308), axis)).all()
    assert np.isneginf(reduced("sum", np.full(shape, -3e38, np.float32), axis)).all()


@pytest.mark.parametrize("number", [1e300, 1e-300, 1e20, 1e-25])
def test_norms_of_numbers_whose_squares_are_out_of_range(number):
    dtype = np.float64 if not 1e-30 < number < 1e30 else np.float32
    found = reduced("norm", np.full((300, 400), number, dtype), 1)
    np.testing.assert_allclose(found, 20 * number, rtol=1e-6)


def test_results_do_not_depend_on_threads():
    shapes = [((400_003,), None), ((700, 613), 1), ((700, 613), 0), ((5, 400, 301), 1)]
    before = pullback.get_num_threads()
    try:
        results = []
        for count in (1, 2, 5):
            pullback.set_num_threads(count)
            results.append(
                [
                    reduced(name, drawn(dtype, shape), axis).tobytes()
                    for shape, axis in shapes
                    for dtype in ("float32", "float64")
                    for name in (*REDUCTIONS, *(["prod"] if axis == len(shape) - 1 else []))
                ]
            )
    finally:
        pullback.set_num_threads(before)
    assert results[0] == results[1] == results[2]


def test_arrays_that_do_not_lie_so_are_left_to_numpy(monkeypatch):
    x = drawn("float32", (400, 300))
    cases = [(x.T, 0), (x[:, ::2], 1), (x[::-1], None), (np.broadcast_to(x[:1], x.shape), 1), (x.astype(np.float16), 1)]
    cases += [(x.astype(np.int64), 1), (x.astype(np.complex64), 1), (x.reshape(40, 10, 300), (0, 2))]
    assert not any(has_code("total", *case) for case in cases)
    given = [case for case in cases if case[0].flags.writeable]
    found = [reduced("sum", *case) for case in given]
    monkeypatch.setattr(machine, "installed", lambda: False)
    for result, case in zip(found, given, strict=True):
        np.testing.assert_array_equal(result, reduced("sum", *case))


def test_machine_code_begins_when_much_has_been_met(monkeypatch):
    monkeypatch.setattr(machine.budget, "elements", 0)
    x, calls = np.zeros(1 << 18), 0
    while not has_code("total", x, None):
        calls += 1
    assert calls == -(-machine.ENOUGH // x.size)
    monkeypatch.undo()
    assert not has_code("total", x[:100], None)


# Products


def products_of_others(x):
    """The product of all but one along the last axis, for each, in more digits; none may be zero."""
    wide = x.astype(np.longdouble)
    return wide.prod(-1, keepdims=True) / wide


def slopes(x, axis, g=None):
    t = pullback.from_numpy(x.copy()).requires_grad_()
    y = t.prod(axis) if axis is not None else t.prod()
    return y.detach().numpy(), pullback.autograd.grad(y, t, None if g is None else pullback.from_numpy(g))[0].numpy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(70_001,), (5, 15_003), (300, 299), (3, 100_007)])
def test_products_and_their_slopes(shape, dtype):
    half = np.random.default_rng(0).uniform(0.3, 3, (*shape[:-1], shape[-1] // 2))
    x = np.concatenate([half, -1 / half, np.full((*shape[:-1], shape[-1] % 2), 1.5)], -1).astype(dtype)
    np.random.default_rng(1).shuffle(x, -1)
    axis = None if len(shape) == 1 else 1
    g = drawn(dtype, shape[0]) if axis else None
    y, gradient = slopes(x, axis, g)
    slack = 10 * np.finfo(dtype).eps if dtype == "float32" else 2 * shape[-1] ** 0.5 * np.finfo(dtype).eps
    np.testing.assert_allclose(y, x.astype(np.longdouble).prod(-1), rtol=slack)
    wide = products_of_others(x) * (1 if g is None else g[:, None])
    np.testing.assert_allclose(gradient, wide.astype(dtype), rtol=slack)


@pytest.mark.parametrize(("dtype", "far"), [("float32", 1e30), ("float64", 1e250)])
def test_products_overflow_only_in_the_end(dtype, far):
    x = np.ones(8192, dtype)
    x[:3000], x[3000:6000] = far, 1 / far
    y, gradient = slopes(x, None)
    slack = 6000 * np.finfo(dtype).eps
    np.testing.assert_allclose(y, 1, rtol=slack)
    np.testing.assert_allclose(gradient, 1 / x, rtol=slack)
    x[6000:] = 0.5  # the product is 0, and so are the slopes
    y, gradient = slopes(x, None)
    assert y == 0
    assert not gradient.any()
    x[6000:] = 2
    y, gradient = slopes(x, None)
    assert np.isposinf(y)
    assert np.isposinf(gradient).all()


def test_slopes_of_products_that_vanish():
    """The slope of a small factor may be a number though the product is none."""
    x = np.ones(5000)
    x[7], x[4001] = 1e-200, 1e-180
    y, gradient = slopes(x, None)
    assert y == 0
    np.testing.assert_allclose(gradient[[7, 4001]], [1e-180, 1e-200], rtol=1e-12)
    x[7] = 2.0**-1060
    np.testing.assert_allclose(slopes(x, None)[1][[7, 4001]], [1e-180, 2.0**-1060], rtol=1e-12)


@pytest.mark.parametrize("special", [0.0, np.nan, np.inf])
def test_slopes_by_factors_that_nothing_can_be_divided_by(special):
    x = np.ones((3, 5000))
    x[1, 4000] = special
    y, gradient = slopes(x, 1, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(y, [1, special, 1])
    expected = np.repeat([[1.0], [2 * special], [3.0]], 5000, 1)
    expected[1, 4000] = 2
    np.testing.assert_array_equal(gradient, expected)


def test_products_over_other_axes():
    x = np.random.default_rng(0).uniform(0.9, 1.1, (100, 90))
    y, gradient = slopes(x, 0, np.ones(90))
    np.testing.assert_allclose(y, x.prod(0), rtol=1e-13)
    np.testing.assert_allclose(gradient, x.prod(0) / x, rtol=1e-13)


# Gradients


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", [*REDUCTIONS, "std", "logsumexp"])
def test_gradients_are_those_without_machine_code(name, axis, dtype, monkeypatch):
    x = drawn(dtype, (310, 270), seed=2)
    g = pullback.from_numpy(drawn(dtype, x.shape[1 - axis], seed=3))

    def both():
        t = pullback.from_numpy(x).requires_grad_()
        y = getattr(t, name)(dim=axis)
        return y.detach().numpy(), pullback.autograd.grad(y, t, g)[0].numpy()

    found = both()
    monkeypatch.setattr(machine, "installed", lambda: False)
    for one, other in zip(found, both(), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=50 * np.finfo(dtype).eps * max(1, abs(other).max()))


def test_logarithms_of_sums_that_are_infinite():
    x = drawn("float64", (200, 60))
    x[3] += 800
    x[5] -= 900
    x[7, :59], x[9, 0], x[11, 0], x[13] = -np.inf, np.nan, np.inf, -np.inf
    assert machine.rows(x, 60) is not None
    t = pullback.from_numpy(x).requires_grad_()
    y = t.logsumexp(1)
    (gradient,) = pullback.autograd.grad(y, t, pullback.ones(200, dtype=pullback.float64))
    with np.errstate(all="ignore"):
        value = np.logaddexp.reduce(x, 1)
        np.testing.assert_allclose(y.detach().numpy(), value, rtol=1e-14)
        np.testing.assert_allclose(gradient.numpy(), np.exp(x - value[:, None]), rtol=1e-12)
