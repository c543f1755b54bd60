"""The examples' trainings in pullback and in torch: the same loss curves."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
beside_torch = importlib.import_module("beside_torch")


@pytest.mark.parametrize("name", ["digits", "characters", "adding", "poisson", "pole"])
def test_losses_are_those_of_torch(name: str) -> None:
    if name == "digits":
        pytest.importorskip("sklearn", reason="the digits come with scikit-learn")
    ours, theirs = beside_torch.losses(importlib.import_module(name).TASK, steps=8)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    assert len(set(ours)) == 8  # something was learned


def test_the_process_takes_the_steps_of_torch() -> None:
    pytest.importorskip("scipy.optimize", reason="the process is fitted with SciPy")
    example = importlib.import_module("gaussian_process")
    pullback = importlib.import_module("pullback")
    points, values = map(pullback.tensor, example.data(example.COUNT, 0))
    fun, x0, unflatten = pullback.flatten_problem(
        lambda params: example.surprise(pullback, params, points, values), example.START
    )
    _, ours = example.fit(fun, x0, 8)
    np.testing.assert_allclose(ours, example.beside_torch(x0, unflatten, 8), rtol=1e-8)
