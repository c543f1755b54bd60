"""Single elementwise operations on large arrays: threads run machine code over them, whatever lengths, places and dtypes."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback import ops
from pullback._core import machine
from pullback._core.machine import FEW, LARGE
from pullback.compile import keys
from pullback.compile.machine import large, streaming
from pullback.compile.scalars import MOST_SLOPES

PART, ODD = streaming.PART, 13


def computed(primitive, *arrays, **params):
    """What machine code gives, or NumPy where there is none."""
    found = machine.way(primitive)(*arrays, **params)
    return primitive.forward(*arrays, **params) if found is None else found


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Code is made when an operation is met for the first time."""
    monkeypatch.setattr(machine, "ENOUGH", 0)
    monkeypatch.setattr(machine, "PORTION", 0)


def has_code(primitive, *arrays, **params):
    key = (
        primitive,
        None,
        keys.of_entry(params, large._unknown),
        *[(array.dtype, array.ndim == 0) for array in arrays],
    )
    return large._functions.get(key) is not None


def assert_exact(primitive, *arrays, **params):
    found, expected = computed(primitive, *arrays, **params), primitive.forward(*arrays, **params)
    assert has_code(primitive, *arrays, **params)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(found, expected)
    assert found.flags.owndata
    assert found.flags.writeable


@pytest.fixture
def rng():
    return np.random.default_rng(2)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i8", "?"])
@pytest.mark.parametrize("size", [PART, PART + 1, 2 * PART - 1, 3 * PART + ODD, 5 * PART - 64])
def test_every_element_is_computed_once_wherever_memory_begins(size, dtype, rng):
    """Vectors lie where they do not cross lines of the cache; the first and the last where the array begins and ends."""
    room = rng.integers(-100, 100, size + 64).astype(dtype)
    for start in (0, 1, ODD):
        x = room[start : start + size]
        assert_exact(ops.logical_not, x)
        if dtype != "?":
            assert_exact(ops.negative, x)
            assert_exact(ops.add, x, x[::-1].copy())


def test_results_of_another_dtype_and_operands_without_axes(rng):
    x, y = (rng.standard_normal((3, PART)).astype(np.float32) for _ in range(2))
    assert_exact(ops.greater, x, y)
    assert_exact(ops.where, x > 0, x, y)
    assert_exact(ops.where, x > 0, x, np.array(0, np.float32))
    assert_exact(ops.multiply, x, np.array(0.3, np.float32))
    assert_exact(ops.subtract, np.array(0.3), x.astype(np.float64))
    assert_exact(ops.clip, x, lower=-0.5, upper=0.5)


def test_other_threads_take_parts(rng):
    x = rng.standard_normal(7 * PART + ODD).astype(np.float32)
    before = pullback.get_num_threads()
    try:
        results = []
        for count in (1, 2, 5):
            pullback.set_num_threads(count)
            results.append(computed(ops.exp, x))
        for result in results:
            np.testing.assert_array_equal(result, results[0])
    finally:
        pullback.set_num_threads(before)
    np.testing.assert_allclose(results[0], np.exp(x.astype(np.float64)), rtol=3e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", "exp log tanh sigmoid sin cos".split())
def test_functions_where_they_are_special(name, dtype, rng):
    """Far arguments among near ones, NaN, infinities, zeros and subnormal numbers, in every lane."""
    primitive = getattr(ops, name)
    x = rng.uniform(-30, 30, PART + ODD).astype(dtype)
    special = np.array(
        [0, -0.0, np.nan, np.inf, -np.inf, 1e-310, 1e-40, -1e-40, 1e10, -1e10, 3e38, 88.8, -103.5], dtype
    )
    x[: 40 * special.size] = np.tile(special, 40)
    with np.errstate(all="ignore"):
        found, expected = computed(primitive, x), primitive.forward(x.astype(np.longdouble)).astype(dtype)
    info = np.finfo(dtype)
    np.testing.assert_allclose(found, expected, rtol=4 * info.eps, atol=4 * info.smallest_subnormal)
    np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(expected[~np.isnan(found)]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", "erf erfc lgamma digamma gelu".split())
def test_costly_functions_of_few_elements(name, dtype, rng):
    """From `FEW` elements on they are machine code: of every length, wherever the array begins."""
    primitive = getattr(ops, name)
    room = rng.uniform(0.1, 12, 3 * FEW).astype(dtype)
    expected = primitive.forward(room)
    for size in range(FEW, 2 * FEW + 1):
        for start in (0, 1, ODD):
            x = room[start : start + size]
            found = machine.way(primitive)(x)
            tolerance = 16 * np.finfo(dtype).eps
            np.testing.assert_allclose(found, expected[start : start + size], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n", [1, 2, 3, 8, MOST_SLOPES])
def test_derivatives_of_digamma(n, rng):
    x = np.concatenate([rng.uniform(0, 30, 200), rng.uniform(-20, 0, 200), [0, -0.0, -3, np.inf, np.nan, 1e-3, 1e8]])
    with np.errstate(all="ignore"):
        found, expected = computed(ops.polygamma, x, n=n), ops.polygamma.forward(x, n=n)
    assert has_code(ops.polygamma, x, n=n)
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    y = x.astype(np.float32)
    with np.errstate(all="ignore"):
        single, expected = computed(ops.polygamma, y, n=n), ops.polygamma.forward(y, n=n)
    np.testing.assert_allclose(single, expected, rtol=1e-6)


def test_what_code_is_not_made_for_goes_to_numpy(rng):
    x, row = rng.standard_normal((4, PART)), rng.standard_normal(PART)
    for arrays in [(x, x), (x, row), (x.T, x.T), (x[:, ::2], x[:, ::2]), (row[:100], row[:100])]:
        np.testing.assert_array_equal(computed(ops.add, *arrays), arrays[0] + arrays[1])
    with pytest.raises(ValueError, match="broadcast"):
        computed(ops.add, x, x[:3])
    half = x.astype(np.float16)
    np.testing.assert_array_equal(computed(ops.add, half, half), half + half)
    assert not has_code(ops.add, half, half)


def test_metadata_that_nobody_can_look_up_goes_to_numpy(rng):
    x = rng.standard_normal(PART).astype(np.float32)
    found = computed(ops.power, x, exponent=np.array([2], np.float32))
    np.testing.assert_array_equal(found, x * x)


def test_reductions_without_gradients_are_found_not_to_be_elementwise_once(rng, monkeypatch):
    x = pullback.from_numpy(rng.standard_normal((70, 80)))
    wanted = x.numpy().argmax(1)
    np.testing.assert_array_equal(x.max(1).indices.numpy(), wanted)
    monkeypatch.setattr(large, "_recorded", None)
    np.testing.assert_array_equal(x.max(1).indices.numpy(), wanted)


def test_eager_operations_and_gradients_use_it(rng):
    x = rng.uniform(-2, 2, LARGE + ODD).astype(np.float32)
    for _ in range(3):
        t = pullback.tensor(x, requires_grad=True)
        y = t.tanh()
        y.sum().backward()
    assert has_code(ops.tanh, x)
    np.testing.assert_allclose(y.detach().numpy(), np.tanh(x), rtol=3e-7)
    np.testing.assert_allclose(t.grad.numpy(), 1 - np.tanh(x.astype(np.float64)) ** 2, rtol=1e-5, atol=1e-6)
    with np.errstate(all="raise"):
        assert np.isnan((-pullback.tensor(abs(x) + 1)).log().numpy()).all()
