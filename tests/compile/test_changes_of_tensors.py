"""Tensors that a compiled function reads besides its arguments: each change of one is seen at the next call, also after many."""

import threading

import numpy as np
import pytest

import pullback
from pullback import nn


def state():
    """A parameter, a buffer, and a function that reads both, writes one, and leaves a gradient."""
    weight = nn.Parameter(pullback.tensor([1.0, 2.0, 3.0]))
    total = pullback.zeros(3)

    def step(x):
        loss = (weight * x + total).square().sum()
        loss.backward()
        with pullback.no_grad():
            total.add_(x)
        return loss.detach() if weight.grad is None else loss.detach() + weight.grad.sum()

    return weight, total, step


def new_data(weight, total):
    weight.data = pullback.tensor([3.0, 1.0, -1.0])


def other_length(weight, total):
    total.data = pullback.ones(1, 3)


def no_gradient(weight, total):
    weight.grad = None


def gradient(weight, total):
    weight.grad = pullback.ones(3)


def hook(weight, total):
    weight.register_hook(lambda g: g * 3)


def late_hook(weight, total):
    weight.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(2))


def frozen(weight, total):
    weight.requires_grad_(False)
    weight.requires_grad_(True)


def kept(weight, total):
    total.grad = pullback.ones(3)


def seen(weight, total):
    total.view(3, 1)[0] = 5.0


def strided(weight, total):
    total.data = pullback.zeros(6)[::2]


def saved(weight, total):
    """A graph that has saved the buffer, which is kept from writes."""
    saved.loss = (total * pullback.ones(3, requires_grad=True)).sum()


def promotion(weight, total):
    pullback.set_promotion("standard")


CHANGES = [
    new_data,
    other_length,
    no_gradient,
    gradient,
    hook,
    late_hook,
    frozen,
    kept,
    seen,
    strided,
    saved,
    promotion,
]


@pytest.fixture(autouse=True)
def promotion_as_before():
    before = pullback.get_promotion()
    yield
    pullback.set_promotion(before)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_is_seen(change):
    x, found = pullback.tensor([0.5, -1.0, 2.0]), []
    for wrap in (pullback.compile, lambda step: step):
        weight, total, step = state()
        called, results = wrap(step), []
        for number in range(12):
            if number == 7:
                change(weight, total)
            results += [
                called(x).item(),
                weight.grad.numpy().copy(),
                total.numpy().copy(),
                weight._version,
                total._version,
            ]
        found.append(results)
        pullback.set_promotion("torch")
    for left, right in zip(*found, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4)


def test_arguments_of_other_kinds_are_seen():
    scale = pullback.tensor([2.0, 3.0])
    compiled = pullback.compile(lambda x, y: x * scale + y)
    x, y = pullback.ones(2), pullback.tensor([1.0, -1.0])
    for _ in range(8):
        compiled(x, y)
    whole = pullback.arange(8.0).reshape(2, 4)
    others = [x, y, x.double(), whole[:, 1], whole[0, ::2], nn.Parameter(pullback.ones(2)), x.clone().requires_grad_()]
    for one in others:
        for other in (x, y, one):
            expected, found = one * scale + other, compiled(one, other)
            assert (found.dtype, found.requires_grad) == (expected.dtype, expected.requires_grad)
            np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy())
            with pullback.no_grad():
                assert not compiled(one, other).requires_grad


def test_another_thread_exchanges_what_is_read():
    scale = pullback.tensor([1.0, 1.0])
    compiled = pullback.compile(lambda x: x * scale)
    x, stop, wrong = pullback.ones(2), threading.Event(), []
    for _ in range(8):
        compiled(x)

    def calls():
        while not stop.is_set():
            first, second = compiled(x).numpy()
            if first != second:
                wrong.append((first, second))

    threads = [threading.Thread(target=calls) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(200):
        scale.data = pullback.tensor([float(number), float(number)])
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert compiled(x).numpy().tolist() == [199.0, 199.0]
