"""What is computed does not depend on how arrays lie in memory."""

import numpy as np
import pytest

import pullback
from pullback.nn import functional


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
