"""`compile(f).on("jax").exported(...)`: what jax.export makes of a program, called by jax alone."""

import numpy as np
import pytest

import pullback
from pullback import nn, optim
from pullback.compile import LoweringError

jax = pytest.importorskip("jax", reason="jax: not installed")
export = pytest.importorskip("jax.export")


def trained():
    """A compiled step of training, and its arguments."""
    pullback.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = optim.Adam(model.parameters(), lr=0.02)

    def step(x, labels):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        return {"loss": loss.detach(), "count": 1}

    x = pullback.tensor(np.random.default_rng(0).standard_normal((9, 2)).astype(np.float32))
    labels = pullback.arange(9) % 3
    step(x, labels)
    return model, pullback.compile(step), (x, labels)


def given(args):
    with jax.enable_x64(True):
        return [jax.numpy.asarray(arg.numpy()) for arg in args]


def test_a_training_step_has_its_state_as_argument_and_result():
    model, step, args = trained()
    arrays = given(args)
    before = [p.detach().clone() for p in model.parameters()]
    made, state = step.on("jax").exported(*arrays)
    for p, old in zip(model.parameters(), before, strict=True):
        np.testing.assert_array_equal(p.detach().numpy(), old.numpy())
    if pytest.importorskip("flatbuffers", reason="flatbuffers: not installed"):
        made = export.deserialize(made.serialize())
    with jax.enable_x64(True):
        for _ in range(30):
            result, state, passed = made.call(state, *arrays)
            assert bool(passed)
            assert result["count"] == 1
            np.testing.assert_allclose(float(result["loss"]), step(*args)["loss"].item(), rtol=2e-5)
        np.testing.assert_allclose(np.asarray(state["weight"]), model[0].weight.detach().numpy(), rtol=1e-4, atol=1e-6)
        _, after, passed = made.call(state, arrays[0], arrays[1] + 1)
    assert not bool(passed)
    for name, array in state.items():
        np.testing.assert_array_equal(np.asarray(array), np.asarray(after[name]))


def test_arguments_that_are_written_come_back():
    def decay(x, by):
        x *= by
        return x.sum(), x

    x = pullback.tensor([2.0, 4.0])
    (array,) = given([x])
    made, state = pullback.compile(decay).on("jax").exported(array, 0.5)
    with jax.enable_x64(True):
        ((total, _), (after, _)), _, passed = made.call(state, array, 0.25)
    assert float(total) == 1.5
    assert bool(passed)
    np.testing.assert_array_equal(np.asarray(after), [0.5, 1.0])
    np.testing.assert_array_equal(np.asarray(array), [2.0, 4.0])


def test_what_jax_does_not_export_is_refused():
    with pytest.raises(TypeError, match=r"use \.on\('jax'\)"):
        pullback.compile(lambda x: x * 2).on(np).exported(np.ones(3))
    with pytest.raises(LoweringError, match="draws random numbers"):
        pullback.compile(lambda x: x * pullback.rand(2)).on("jax").exported(jax.numpy.ones(2))
