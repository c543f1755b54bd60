"""Running sums by machine code: those of doubles, added one after another and rounded at the end, to the bit."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback._core import machine

LAYOUTS = {
    "by rows": lambda x: x,
    "by columns": np.asfortranarray,
    "backwards": lambda x: x[..., ::-1],
    "rows from the last to the first": lambda x: x[::-1],
    "every second": lambda x: x.repeat(2, -1)[..., ::2],
    "a part": lambda x: np.pad(x, [(1, 2)] * x.ndim)[(slice(1, -2),) * x.ndim],
    "one row, repeated": lambda x: np.broadcast_to(x[:1], x.shape),
}
SHAPES = [(4095,), (4096,), (64, 64), (3, 5, 400), (4097, 1), (1, 5000), (40, 1000)]


@pytest.fixture(autouse=True)
def begun(monkeypatch):
    """As if many arrays had been met."""
    monkeypatch.setattr(machine.budget, "elements", machine.ENOUGH)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_of_doubles_one_after_another(shape, layout, dtype):
    values = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    values[..., 0] = -0.0
    values.flat[-3:] = np.inf, 1.0, np.nan
    x = LAYOUTS[layout](values)
    with np.errstate(invalid="ignore"):
        expected = np.add.accumulate(x.astype(np.float64), -1).astype(dtype)
    found = pullback.from_numpy(x.copy() if not x.flags.writeable else x).cumsum(-1).numpy()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_cotangent_goes_to_all_before_it(shape):
    rng = np.random.default_rng(0)
    x, g = (pullback.tensor(rng.standard_normal(shape)) for _ in range(2))
    x.requires_grad_().cumsum(-1).backward(g)
    whole = np.asarray(g)
    before = np.cumsum(whole, -1) - whole
    np.testing.assert_allclose(x.grad.numpy(), whole.sum(-1, keepdims=True) - before, atol=1e-10)


def test_steps_of_parts_of_elements_are_numpys():
    records = np.zeros(5000, [("a", "i1"), ("b", "<f4")])
    records["b"] = np.arange(5000)
    np.testing.assert_array_equal(
        np.asarray(pullback.ops.cumsum(records["b"], axis=0)), np.cumsum(np.arange(5000.0)).astype("f")
    )
