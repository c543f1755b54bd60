"""Steps of optimizers by machine code: bit for bit those of NumPy, whatever numbers, sizes and layouts they have."""

import functools

import numpy as np
import pytest
from tests.covering import pairwise

import pullback
from pullback import optim
from pullback.optim.elementwise import Elementwise

from .test_optimizers import ELEMENTWISE

pytest.importorskip("llvmlite")
CASES = {
    **{name: (getattr(optim, name), {"lr": 0.1} if name == "SGD" else {}) for name in ELEMENTWISE},
    "momentum": (optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    "nesterov": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    "dampening": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    "amsgrad": (optim.Adam, {"amsgrad": True, "maximize": True}),
    "adamw": (optim.AdamW, {"lr": 0.01, "weight_decay": 0.3}),
    "centered": (optim.RMSprop, {"momentum": 0.9, "centered": True}),
    "adagrad": (optim.Adagrad, {"lr_decay": 0.1}),
}
SHAPES = (4095,), (64, 64), (4099,), (16383,), (128, 128), (3, 8191), (1 << 16,), (1000, 301)


@pytest.fixture
def mode():
    before = pullback.get_machine_code()
    yield pullback.set_machine_code
    pullback.set_machine_code(before)


@functools.cache
def drawn(dtype, times):
    """Random arrays of all shapes, several times."""
    draw = np.random.default_rng(0)
    return [[draw.normal(size=shape).astype(dtype) for shape in SHAPES] for _ in range(times)]


def trained(make, options, dtype, *, steps=7, layout="C"):
    """The parameters, and the state, after some steps between which the learning rate changes."""
    begun, *slopes = drawn(dtype, 1 + steps)
    parameters = [pullback.tensor(numbers) for numbers in begun]
    if layout == "transposed":
        parameters = [pullback.from_numpy(np.asfortranarray(p.numpy())) for p in parameters]
    parameters = [p.requires_grad_() for p in parameters]
    optimizer = make(parameters, **options)
    for step, gradients in enumerate(slopes):
        for p, gradient in zip(parameters, gradients, strict=True):
            p.grad = pullback.tensor(gradient)
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] *= 0.5 if step == 3 else 1
    kept = [value for p in parameters for value in optimizer.state[p].values()]
    return [np.asarray(x.detach()).copy() for x in (*parameters, *kept)]


@pytest.mark.parametrize(("name", "dtype", "layout"), pairwise([*CASES], [np.float32, np.float64], ["C", "transposed"]))
def test_steps_are_numpys_bit_for_bit(name, dtype, layout, mode):
    found = []
    for each in ("never", "always"):
        mode(each)
        found.append(trained(*CASES[name], dtype, layout=layout))
    for by_numpy, by_machine in zip(*found, strict=True):
        np.testing.assert_array_equal(by_machine, by_numpy)


def test_saved_values_are_kept(mode):
    mode("always")
    w = pullback.ones(5000, requires_grad=True)
    loss = (w * w).sum()
    w.grad = pullback.ones(5000)
    optim.SGD([w], lr=0.5).step()
    loss.backward()
    assert w.tolist() == [0.5] * 5000 and w.grad.tolist() == [3.0] * 5000


@pytest.mark.parametrize("case", ["scalar of NumPy", "gradient in the memory of the parameter"])
def test_what_is_left_to_numpy(case, mode):
    found = []
    for each in ("never", "always"):
        mode(each)
        w = pullback.tensor(np.linspace(-1, 1, 5000, dtype=np.float32), requires_grad=True)
        w.grad = w.detach() if case.startswith("gradient") else pullback.ones(5000)
        steps = optim.AdamW([w], lr=np.float64(0.1) if case.startswith("scalar") else 0.1, weight_decay=0.3)
        for _ in range(3):
            steps.step()
        found.append(w.tolist())
    assert found[0] == found[1]


FACTOR = [2.0]


class Own(Elementwise):
    """An optimizer of a user, whose formula reads what may change."""

    def __init__(self, params):
        super().__init__(params, {"lr": 1.0, "differentiable": False, "maximize": False})

    def rule(self, group, first, t):
        def update(xp, p, g):
            p -= FACTOR[0] * g

        return update, (t + 1,)


def test_formulas_of_users_are_always_asked(mode):
    mode("always")
    w = pullback.zeros(5000, requires_grad=True)
    w.grad = pullback.ones(5000)
    optimizer = Own([w])
    for factor, sum_of_all in ((2.0, -2.0), (3.0, -5.0)):
        FACTOR[0] = factor
        optimizer.step()
        assert w[0].item() == sum_of_all
