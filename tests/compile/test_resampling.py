"""Sparse matrices along an axis by machine code: matrix products written out, with NumPy's order, zeros and faults."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback._core import machine
from pullback.ops.resampling import Taps

LAYOUTS = {
    "in order": lambda x: x,
    "by columns": np.asfortranarray,
    "backwards": lambda x: x[..., ::-1],
    "every second": lambda x: x.repeat(2, -1)[..., ::2],
    "axes exchanged": lambda x: np.ascontiguousarray(x.swapaxes(0, -1)).swapaxes(0, -1),
    "one row, repeated": lambda x: np.broadcast_to(x[:1], x.shape),
}
# Shapes and axes: few and many elements behind the axis, in whole registers and not; rows in fours and not; several tasks.
PLACES = [((700, 6), 1), ((701, 6), 1), ((6, 700), 0), ((50, 6, 17), 1), ((350, 6, 2), 1), ((8, 3, 6, 32), 2), ((701, 6, 1), 1),
          ((8003, 6), 1), ((6, 9001), 0), ((1023, 6), 1), ((9, 6, 76), 1)]  # fmt: skip
ROWS, COLUMNS = np.array([3, 0, 0, 3, 1, 2, 3, 0]), np.array([1, 0, 2, 3, 5, 5, 1, 0])
WEIGHTS = np.array([0.5, 2.0, -1.0, 3.0, 0.25, 1 / 3, 4.0, -0.0])
MATRICES = {
    "weights": Taps(ROWS, COLUMNS, WEIGHTS, 4, 6),
    "rows without entries": Taps(ROWS * 2, COLUMNS, WEIGHTS, 8, 6),
    "copies": Taps(ROWS, COLUMNS, None, 4, 6),
    "choices": Taps(np.array([1, 0, 3, 2]), np.array([5, 0, 5, 2]), None, 4, 6),
    "nothing": Taps(ROWS[:0], COLUMNS[:0], None, 3, 6),
    "no row": Taps(ROWS[:0], COLUMNS[:0], None, 0, 6),
}


@pytest.fixture(autouse=True)
def begun(monkeypatch):
    """As if many arrays had been met."""
    monkeypatch.setattr(machine.budget, "elements", machine.ENOUGH)


def numbers(shape, dtype):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def dense(taps, dtype="d"):
    """The matrix with all of its zeros."""
    matrix = np.zeros((taps.length, taps.size))
    np.add.at(matrix, (taps.rows, taps.columns), 1.0 if taps.weights is None else taps.weights.astype(dtype))
    return matrix


def product(matrix, x, axis):
    return np.moveaxis(np.tensordot(matrix, x.astype("d"), (1, axis)), 0, axis)


@pytest.mark.parametrize("dtype", "fd")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shape", "axis"), PLACES)
@pytest.mark.parametrize("name", MATRICES)
def test_a_matrix_times_an_array(name, shape, axis, layout, dtype):
    taps, x = MATRICES[name], LAYOUTS[layout](numbers(shape, dtype))
    found = pullback.ops.resample(x, axis=axis, taps=taps)
    assert found.dtype == dtype and found.flags.c_contiguous
    expected = product(dense(taps, dtype), x, axis)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 if dtype == "f" else 1e-13)


@pytest.mark.parametrize("dtype", "fd")
@pytest.mark.parametrize(("shape", "axis"), PLACES)
@pytest.mark.parametrize("name", ["weights", "rows without entries", "choices"])
def test_a_cotangent_times_the_transpose(name, shape, axis, dtype):
    taps, x = MATRICES[name], pullback.from_numpy(numbers(shape, dtype)).requires_grad_()
    y = pullback.ops.resample(x, axis=axis, taps=taps)
    g = numbers(tuple(y.shape), dtype)
    y.backward(pullback.from_numpy(g))
    expected = product(dense(taps, dtype).T, g, axis)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=0, atol=1e-5 if dtype == "f" else 1e-13)


@pytest.mark.parametrize("fault", [np.inf, np.nan])
@pytest.mark.parametrize(("shape", "axis"), PLACES)
def test_faults_reach_what_is_computed_from_them(shape, axis, fault):
    taps, x = MATRICES["weights"], numbers(shape, "f")
    every = (*[slice(None)] * axis, 5)
    x[every] = fault
    found = pullback.ops.resample(x, axis=axis, taps=taps)
    hit = np.moveaxis(~np.isfinite(found), axis, -1)
    np.testing.assert_array_equal(hit, np.broadcast_to((dense(taps) != 0)[:, 5], hit.shape))


@pytest.mark.parametrize(("shape", "axis"), PLACES)
@pytest.mark.parametrize("name", ["copies", "rows without entries"])
def test_signs_of_zeros_are_numpys(name, shape, axis):
    x = np.full(shape, -0.0)
    found = pullback.ops.resample(x, axis=axis, taps=MATRICES[name])
    before = pullback.get_machine_code()
    pullback.set_machine_code("never")
    expected = pullback.ops.resample(x, axis=axis, taps=MATRICES[name])
    pullback.set_machine_code(before)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("dtype", ["F", "D", "i4", "u1", "e", ">f4", ">f8"])
def test_other_dtypes(dtype):
    x = (numbers((701, 6), "d") * 9).astype(dtype)
    found = pullback.ops.resample(x, axis=1, taps=MATRICES["copies"])
    assert found.dtype == dtype
    expected = np.tensordot(x, dense(MATRICES["copies"]), (1, 1)).astype(dtype)
    np.testing.assert_allclose(
        found, expected, rtol=2e-3 if dtype == "e" else 1e-6, atol=1e-2 if dtype == "e" else 1e-5
    )
