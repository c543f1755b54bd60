"""Rows and elements added at places by machine code: what `np.add.at` gives, to the bit."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback import _machine, ops

CASES = {
    "rows": ((50, 70), lambda rng: (rng.integers(-50, 50, 300),)),
    "short rows": ((50, 3), lambda rng: (rng.integers(0, 50, (900, 4)), slice(None))),
    "blocks": ((9, 4, 31), lambda rng: (rng.integers(0, 9, 60), slice(None), slice(None))),
    "elements": ((40, 41), lambda rng: (rng.integers(0, 40, 5000), rng.integers(-41, 41, 5000))),
    "columns": ((60, 30), lambda rng: (slice(None), rng.integers(0, 30, 200))),
    "vector": ((100,), lambda rng: (rng.integers(0, 100, 6000),)),
}


@pytest.fixture(autouse=True)
def begun(monkeypatch):
    """As if many arrays had been met."""
    monkeypatch.setattr(_machine, "met", [_machine.ENOUGH])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
def test_what_comes_to_one_place_is_added_in_order(case, dtype):
    shape, indices = CASES[case]
    rng = np.random.default_rng(0)
    index = indices(rng)
    start = rng.standard_normal(shape).astype(dtype)
    values = rng.standard_normal(start[index].shape).astype(dtype)
    places = [pullback.tensor(at) if isinstance(at, np.ndarray) else at for at in index]
    expected = np.zeros(shape, dtype)
    np.add.at(expected, index, values)
    leaf = pullback.tensor(start, requires_grad=True)
    leaf[tuple(places)].backward(pullback.tensor(values))
    np.testing.assert_array_equal(leaf.grad.numpy(), expected)


def test_the_gradient_of_an_embedding_and_sums_along_an_axis():
    rng = np.random.default_rng(0)
    g, indices = rng.standard_normal((30, 100, 64)).astype("f"), rng.integers(-200, 200, (30, 100))
    expected = np.zeros((200, 64), "f")
    np.add.at(expected, indices, g)
    np.testing.assert_array_equal(ops.scatter_rows(g, indices, rows=200), expected)
    for place in (200, -201):
        with pytest.raises(IndexError, match="out of bounds"):
            ops.scatter_rows(g, np.full((30, 100), place), rows=200)
    x, source = pullback.zeros(200, 64), pullback.tensor(g[0])
    at = pullback.tensor(indices[0] % 200)
    added = np.zeros((200, 64), "f")
    np.add.at(added, indices[0] % 200, g[0])
    np.testing.assert_array_equal(x.index_add(0, at, source).numpy(), added)
    np.testing.assert_array_equal(x.scatter_add(0, at[:, None].expand(-1, 64), source).numpy(), added)
