"""Rows as machine code, which large arrays of them are left to: results are those of few rows, and of mathematics."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback._core import machine

F = pullback.nn.functional
SIZES = [16, 17, 64, 100, 777]


def drawn(dtype, *shape, seed=0):
    return pullback.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(dtype)).requires_grad_()


def weighed(x, size):
    dtype = x.detach().numpy().dtype
    return F.layer_norm(x, (size,), drawn(dtype, size, seed=3), drawn(dtype, size, seed=4))


LAYERS = {
    "softmax": lambda x, size: F.softmax(x * 3, -1),
    "layer_norm": lambda x, size: F.layer_norm(x, (size,)),
    "layer_norm with a weight": weighed,
    "layer_norm of a large mean": lambda x, size: F.layer_norm(x + 100, (size,)),
    "attention": lambda x, size: F.scaled_dot_product_attention(x, x * 2, x + 1, is_causal=True),
}


def value_and_gradient(layer, x, size):
    y = layer(x, size)
    g = drawn(y.detach().numpy().dtype, *y.shape, seed=5).detach()
    return [y.detach().numpy(), pullback.autograd.grad(y, x, g)[0].numpy()]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", [name for name in LAYERS if name != "attention"])
def test_rows_of_many_are_as_of_few(name, size, dtype):
    count = 3 * machine.WORTH // size + 1
    x = drawn(dtype, count, size)
    assert machine.rows(x.detach().numpy(), size) is not None
    found = value_and_gradient(LAYERS[name], x, size)
    slack = 200 if "mean" in name else 20
    y, g = drawn(dtype, count, size, seed=5), []
    for start in range(0, count, 2):
        few = x.detach()[start : start + 2].requires_grad_()
        assert machine.rows(few.detach().numpy(), size) is None
        value = LAYERS[name](few, size)
        part = value.detach().numpy(), pullback.autograd.grad(value, few, y.detach()[start : start + 2])[0].numpy()
        g.append(part)
    for whole, parts in zip(found, zip(*g, strict=True), strict=True):
        expected = np.concatenate(parts)
        np.testing.assert_allclose(
            whole, expected, rtol=0, atol=slack * np.finfo(dtype).eps * max(1, abs(expected).max())
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weights_and_biases_have_the_sums_over_all_rows(dtype):
    x, given = (drawn(dtype, 5, 200, 60, seed=seed).detach() for seed in (0, 1))
    weight, bias = (drawn(dtype, 60, seed=seed) for seed in (2, 3))
    result = F.layer_norm(x.requires_grad_(), (60,), weight, bias)
    _, to_weight, to_bias = pullback.autograd.grad(result, [x, weight, bias], given)
    wide, g = x.detach().numpy().astype(np.float64), given.numpy().astype(np.float64)
    normal = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    slack = 1000 * np.finfo(dtype).eps
    np.testing.assert_allclose(to_weight.numpy(), (g * normal).sum((0, 1)), rtol=0, atol=slack)
    np.testing.assert_allclose(to_bias.numpy(), g.sum((0, 1)), rtol=0, atol=slack)
    np.testing.assert_allclose(
        result.detach().numpy(), normal * weight.detach().numpy() + bias.detach().numpy(), atol=slack
    )


def channels(x):
    size = x.shape[1]
    mean, var = pullback.zeros(size, dtype=x.dtype), pullback.ones(size, dtype=x.dtype)
    weight, bias = (drawn(str(x.dtype)[9:], size, seed=seed) for seed in (3, 4))
    return F.batch_norm(x, mean, var, weight, bias, training=True), [x, weight, bias], [mean, var]


def groups(x):
    weight, bias = (drawn(str(x.dtype)[9:], x.shape[1], seed=seed) for seed in (3, 4))
    return F.group_norm(x, 2, weight, bias), [x, weight, bias], []


SHARED = {
    "batch_norm": channels,
    "batch_norm alone": lambda x: (F.batch_norm(x, None, None, training=True), [x], []),
    "batch_norm of a large mean": lambda x: channels(x + 1000),
    "group_norm": groups,
    "instance_norm": lambda x: (F.instance_norm(x), [x], []),
    "layer_norm of images": lambda x: (F.layer_norm(x, x.shape[1:]), [x], []),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(8, 4, 24, 25), (3, 6, 1000), (2, 2, 150, 200)], ids=str)
@pytest.mark.parametrize("name", SHARED)
def test_rows_that_share_statistics_are_as_without_machine_code(name, shape, dtype, monkeypatch):
    monkeypatch.setattr(machine.budget, "elements", machine.ENOUGH)
    x = drawn(dtype, *shape)

    def everything():
        y, inputs, statistics = SHARED[name](x)
        g = drawn(dtype, *y.shape, seed=5).detach()
        found = pullback.autograd.grad(y, inputs, g * (1 + y.detach()))
        return [value.detach().numpy() for value in (y, *found, *statistics)]

    assert machine.rows(x.detach().numpy(), shape[-1]) is not None
    found = everything()
    monkeypatch.setattr(machine, "installed", lambda: False)
    slack = (20000 if "mean" in name else 100) * np.finfo(dtype).eps
    for one, other in zip(found, everything(), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=slack * max(1, abs(other).max()))


@pytest.mark.parametrize("mean", [0, 1000, 100000])
def test_many_short_rows_are_summed_with_care(mean, monkeypatch):
    monkeypatch.setattr(machine.budget, "elements", machine.ENOUGH)
    x = np.random.default_rng(0).standard_normal((20000, 2, 16)).astype(np.float32) + np.float32(mean)
    exact = x.astype(np.float64)
    variance = exact.var((0, 2), keepdims=True)
    y = F.batch_norm(pullback.tensor(x), None, None, training=True, eps=1e-30)
    slack = 4 * np.finfo(np.float32).eps * max(1, mean)
    np.testing.assert_allclose(
        y, (exact - exact.mean((0, 2), keepdims=True)) / np.sqrt(variance), rtol=1e-4, atol=slack
    )


def test_an_infinite_element_has_an_infinite_running_mean(monkeypatch):
    monkeypatch.setattr(machine.budget, "elements", machine.ENOUGH)
    x = np.ones((200, 3, 64))
    x[3, 1, 5] = np.inf
    mean, var = pullback.zeros(3, dtype=pullback.float64), pullback.ones(3, dtype=pullback.float64)
    F.batch_norm(pullback.tensor(x), mean, var, training=True, momentum=0.5)
    np.testing.assert_array_equal(mean, [0.5, np.inf, 0.5])
    np.testing.assert_array_equal(var, [0.5, np.nan, 0.5])


def test_scores_that_are_no_numbers():
    x = np.random.default_rng(0).standard_normal((300, 40))
    x[3] += 800
    x[5] -= 900
    x[7, :39] = -np.inf
    x[9, 0] = np.nan
    x[11, 0] = np.inf
    x[13] = -np.inf
    found = F.softmax(pullback.from_numpy(x), 1).numpy()
    few = np.concatenate([F.softmax(pullback.from_numpy(x[i : i + 1]), 1).numpy() for i in range(300)])
    np.testing.assert_allclose(found, few, rtol=1e-14, atol=0)
    assert np.isnan(found[[9, 11, 13]]).all() and np.isfinite(found[[3, 5, 7]]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_attention_is_that_of_each_head(dtype):
    x = drawn(dtype, 6, 70, 8)
    found = value_and_gradient(LAYERS["attention"], x, 8)
    g = drawn(dtype, 6, 70, 8, seed=5).detach()
    for head in range(6):
        own = x.detach()[head].double().requires_grad_()
        scores = (own @ (2 * own).T / 8**0.5).masked_fill(pullback.ones(70, 70).triu(1) > 0, -np.inf)
        powers = (scores - scores.detach().amax(1, True)).exp()
        result = powers / powers.sum(1, True) @ (own + 1)
        expected = [result.detach().numpy(), pullback.autograd.grad(result, own, g[head].double())[0].numpy()]
        for whole, alone in zip(found, expected, strict=True):
            slack = 50 * np.finfo(dtype).eps * abs(alone).max()
            np.testing.assert_allclose(whole[head], alone, rtol=0, atol=slack)


def test_rows_that_do_not_lie_together_are_left_to_numpy():
    x = drawn("float64", 200, 200).detach()
    turned = x.T.requires_grad_()
    straight = x.T.contiguous().requires_grad_()
    for name in ("softmax", "layer_norm"):
        for one, other in zip(
            value_and_gradient(LAYERS[name], turned, 200), value_and_gradient(LAYERS[name], straight, 200), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_machine_code_begins_when_many_rows_have_been_met(monkeypatch):
    monkeypatch.setattr(machine.budget, "elements", 0)
    x = np.zeros((100, 1 << 10))
    calls = 0
    while machine.rows(x, 1 << 10) is None:
        calls += 1
    assert calls == -(-machine.ENOUGH // x.size)
    assert machine.rows(x[:, ::2], 1 << 9) is None
    assert machine.rows(x.astype(np.int64), 1 << 10) is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("classes", [16, 33, 64, 1000])
def test_losses_of_many_rows_are_those_without_machine_code(classes, reduction, dtype, monkeypatch):
    """Rows of scores near zero, which need no shift, and far from it."""
    monkeypatch.setattr(machine.budget, "elements", machine.ENOUGH)
    x = np.random.default_rng(0).standard_normal(((1 << 18) // classes, classes)).astype(dtype)
    x[::7] += 300
    x[1::7] -= 300
    x[2::7] *= 20
    own = pullback.from_numpy(np.arange(len(x)) * 5 % classes)

    def both():
        t = pullback.from_numpy(x).requires_grad_()
        y = F.cross_entropy(t, own, reduction=reduction)
        return y.detach().numpy(), pullback.autograd.grad(y, t, pullback.ones_like(y) * 3)[0].numpy()

    assert machine.rows(x, classes) is not None
    found = both()
    monkeypatch.setattr(machine, "installed", lambda: False)
    for one, other in zip(found, both(), strict=True):
        np.testing.assert_allclose(one, other, rtol=100 * np.finfo(dtype).eps, atol=400 * np.finfo(dtype).eps)


def test_losses_of_scores_that_are_no_numbers(monkeypatch):
    monkeypatch.setattr(machine.budget, "elements", machine.ENOUGH)
    x = np.zeros((4096, 40))
    x[3, :39], x[5, 1], x[7, 0], x[9] = -np.inf, np.nan, np.inf, -np.inf
    t = pullback.from_numpy(x).requires_grad_()
    losses = F.cross_entropy(t, pullback.full((4096,), 39), reduction="none")
    (gradient,) = pullback.autograd.grad(losses, t, pullback.ones(4096, dtype=pullback.float64))
    value, slopes = losses.detach().numpy(), gradient.numpy()
    np.testing.assert_allclose(np.delete(value, [3, 5, 7, 9]), np.log(40), rtol=1e-14)
    assert value[3] == 0 and not slopes[3].any()
    assert np.isnan(value[[5, 7, 9]]).all() and np.isnan(slopes[[5, 7, 9]]).all()
    assert np.isfinite(np.delete(slopes, [5, 7, 9], 0)).all()


@pytest.mark.parametrize("size", [4096, 5000, 70_000])
def test_one_row_without_other_axes(size):
    """Its statistics are arrays without axes, which machine code writes to."""
    x = pullback.tensor(np.random.default_rng(0).standard_normal(size), requires_grad=True)
    found = pullback.nn.functional.layer_norm(x, (size,))
    array = x.detach().numpy()
    expected = (array - array.mean()) / np.sqrt(array.var() + 1e-5)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-10, atol=1e-12)
    found.pow(2).sum().backward()
    assert float(x.grad.abs().max()) < 1e-3
