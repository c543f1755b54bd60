"""What is computed does not depend on how arrays lie in memory."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback
from pullback._core import xp
from pullback.nn import functional

THOROUGH = ["--all"] if "PULLBACK_LAYOUTS" in os.environ else ["--draws", "1"]


@pytest.mark.parametrize("what", ["samples", "operations"])
def test_every_operation_in_every_layout(what: str) -> None:
    """In a process of its own, whose thresholds are lowered, and where machine code is made for all that is met."""
    command = [sys.executable, "-m", "tests.layouts", what, *THOROUGH]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 wrong" in done.stdout


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("size", [3, 50, 70, 200, 400])
def test_cross_entropy_of_columns(size: int, reduction: str) -> None:
    scores = np.random.default_rng(0).normal(size=(size, size))
    target = np.arange(size)[::-1].copy()
    x = pullback.tensor(scores, requires_grad=True)
    functional.cross_entropy(x.t(), pullback.tensor(target), reduction=reduction).sum().backward()
    shares = np.exp(scores.T) / np.exp(scores.T).sum(1, keepdims=True)
    wanted = (shares - np.eye(size)[target]) / (size if reduction == "mean" else 1)
    np.testing.assert_allclose(x.grad.numpy().T, wanted, rtol=1e-10, atol=1e-14)


def test_a_view_of_another_shape_shares_memory_or_is_refused() -> None:
    x = np.arange(24.0).reshape(4, 6)
    for array, shape in [
        (x, (-1,)),
        (x[1:3], (12,)),
        (x[:, ::2][0], (3, 1)),
        (x[::2, ::2], (2, 3, 1)),
        (x[:0].T, (-1,)),
    ]:
        view = xp.reshaped_view(array, *shape)
        assert array.size == 0 or np.shares_memory(view, array)
        np.testing.assert_array_equal(view, array.reshape(shape))
    for array in (x.T, x[:, :5], x[::-1].T, np.broadcast_to(x[0], (3, 6))):
        with pytest.raises(ValueError, match="no view of shape"):
            xp.reshaped_view(array, -1)


FILLED = {
    **{f"{name}_like": getattr(pullback, f"{name}_like") for name in ("zeros", "ones", "empty", "rand", "randn")},
    "full_like": lambda x, **options: pullback.full_like(x, 7, **options),
}


@pytest.mark.parametrize("name", FILLED)
def test_a_tensor_like_another_has_its_order_of_axes(name: str) -> None:
    """torch's `preserve_format`: dense, in the order of the strides; C-contiguous where it is asked for, or nothing is dense."""
    make, values = FILLED[name], pullback.zeros(2, 3, 4)
    turned = values.permute(2, 0, 1)
    assert make(turned).stride() == turned.stride() == (1, 12, 4)
    assert make(turned[::2]).stride() == (1, 6, 2)
    assert make(values[:, ::2]).stride() == (8, 4, 1)
    assert make(turned, dtype=pullback.float64).stride() == (1, 12, 4)
    assert make(turned, memory_format=pullback.contiguous_format).stride() == (6, 3, 1)
    assert make(pullback.zeros(3, 1).expand(3, 2)).stride() == (2, 1)
    leaf = make(turned, requires_grad=True)
    assert leaf.requires_grad
    assert leaf.is_leaf
    leaf.backward(pullback.ones(4, 2, 3))
    assert leaf.grad.stride() == (1, 12, 4)


@pytest.mark.parametrize(("name", "value"), [("zeros_like", 0), ("ones_like", 1), ("full_like", 7)])
def test_a_tensor_like_another_has_its_values_in_every_layout(name: str, value: int) -> None:
    x = pullback.arange(24.0).reshape(2, 3, 4)
    for like in (x, x.permute(2, 0, 1), x.mT[::2], x[..., 1:3], x[0].t(), x.bfloat16().mT):
        made = FILLED[name](like)
        assert made.shape == like.shape
        assert made.dtype == like.dtype
        assert (made == value).all()
