"""Rows and elements added at places by machine code: what `np.add.at` gives, to the bit."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback import ops
from pullback._core import machine

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
    monkeypatch.setattr(machine.budget, "elements", machine.ENOUGH)


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


def sums_at_places(x, v, z, u, i, j):
    wide = j[:, None].expand(-1, 6)
    added = pullback.zeros(20, 6, dtype=x.dtype).index_add(0, j, x[i] * v)
    spread = x.scatter_add(0, wide, added[i])
    taken = spread.gather(0, wide)
    line = z.scatter_add(0, j, u) + z.gather(0, j[:20])
    total = (taken**2).sum() + (line**3).sum() + (z.gather(0, j) * u).sum()
    return added, spread, taken, line, *pullback.autograd.grad(total, (x, v, z, u))


def test_compiled_sums_of_rows_at_places():
    rng = np.random.default_rng(0)
    given = [pullback.tensor(rng.standard_normal(shape), requires_grad=True) for shape in ((20, 6), (50, 6), 20, 50)]
    i, j = (pullback.tensor(rng.integers(low, 20, 50)) for low in (-20, 0))
    compiled = pullback.compile(lambda i, j: sums_at_places(*given, i, j), fullgraph=True)
    for _ in range(3):
        for one, other in zip(compiled(i, j), sums_at_places(*given, i, j), strict=True):
            np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-11, atol=1e-12)
    with pytest.raises(IndexError, match="index -21 is out of bounds for dimension 0 with size 20"):
        compiled(pullback.full((50,), -21), j)
    with pytest.raises(RuntimeError, match="index 20 is out of bounds for dimension 0 with size 20"):
        compiled(i, pullback.full((50,), 20))
