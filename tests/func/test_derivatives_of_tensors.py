"""Derivatives of tensors that exist: whole Jacobians and Hessians against one row at a time, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pullback
from pullback.autograd import grad

from ..ops.test_rules import PRIMITIVES, arguments, each_sample, leaves, pieces, tracked


def leaf(*shape, seed=0):
    return pullback.from_numpy(np.random.default_rng(seed).uniform(0.3, 1.5, shape)).requires_grad_()


def rows(y, x):
    """The Jacobian, one unit vector after another."""
    found = np.zeros((y.numel(), *x.shape), x.dtype.numpy)
    for i in range(y.numel()):
        unit = np.zeros(y.numel(), y.dtype.numpy)
        unit[i] = 1
        (g,) = grad(y, x, unit.reshape(tuple(y.shape)), retain_graph=True, materialize_grads=True)
        found[i] = g.numpy()
    return found.reshape(*y.shape, *x.shape)


def close(mine, theirs):
    np.testing.assert_allclose(mine.detach().numpy(), theirs, rtol=1e-11, atol=1e-11)


@each_sample
def test_all_rows_at_once_are_the_rows_one_by_one(name, makers, params):
    """Through every primitive, whether the batch of cotangents stays diagonal in it or not."""
    args = tracked(arguments(makers))
    y = pieces(PRIMITIVES[name](*args, **params))[0]
    if y.is_complex() or any(x.is_complex() for x in leaves(args)):
        return  # a complex Jacobian is two real ones
    if max(y.numel(), *(x.numel() for x in leaves(args))) > 1000:
        return  # a sample for threads
    y = (y * 1.5).reshape(-1)
    found = pullback.jacobian(y, leaves(args), allow_unused=True)
    for mine, x in zip(found, leaves(args), strict=True):
        close(mine, rows(y, x))


def functions():
    """Vector and matrix functions of a vector of 4, some of which keep a batch of cotangents diagonal."""
    return {
        "elementwise": lambda x: x.exp() * x,
        "a product": lambda x: leaf(3, 4, seed=1).detach() @ x,
        "a product from the left": lambda x: x @ leaf(4, 3, seed=1).detach(),
        "sums": lambda x: (x * x.sum()).cumsum(0),
        "a matrix": lambda x: x[:, None] * x.sin(),
        "a matrix product": lambda x: (x[:, None] * x) @ leaf(4, 2, seed=2).detach(),
        "softmax": lambda x: (x * 2).softmax(0),
        "a number": lambda x: x.prod(),
        "one element": lambda x: x.prod().reshape(1),
        "a permutation": lambda x: (x[:, None] * x).t().reshape(2, 8),
        "reading": lambda x: x[[0, 2, 2]],
        "writing": written,
        "joining": lambda x: pullback.cat([x, x.flip(0) * x]),
        "expanding": lambda x: x.expand(3, 4) * leaf(3, 1, seed=3).detach(),
        "a row of a batch": lambda x: (leaf(5, 4, seed=4).detach() * x).sum(1).tanh(),
        "an average": lambda x: (leaf(5, 4, seed=4).detach() * x).mean(0),
        "a maximum": lambda x: (leaf(5, 4, seed=4).detach() * x).max(1).values,
    }


def written(x):
    y = x * 1
    y[1:] = y[:-1] * x[1:]
    return y


@pytest.mark.parametrize("name", functions())
@pytest.mark.parametrize("options", [{}, {"mode": "forward"}, {"mode": "reverse"}, {"chunk_size": 2}, {"memory": 1}])
def test_jacobians(name, options):
    x = leaf(4)
    y = functions()[name](x)
    close(pullback.jacobian(y, x, **options), rows(y, x))


@pytest.mark.parametrize("name", functions())
def test_jacobians_that_are_recorded(name):
    x = leaf(4)
    y = functions()[name](x)
    recorded = pullback.jacobian(y, x, create_graph=True)
    close(recorded, rows(y, x))
    if recorded.requires_grad:
        (second,) = grad(recorded.sum(), x, retain_graph=True, materialize_grads=True)
        (first,) = grad(y.sum(), x, create_graph=True)
        if first.requires_grad:
            close(second, grad(first.sum(), x, materialize_grads=True)[0].numpy())


@pytest.mark.parametrize("name", functions())
def test_hessians(name):
    x = leaf(4)
    loss = (functions()[name](x) ** 2).sum()
    (g,) = grad(loss, x, create_graph=True)
    close(pullback.hessian(loss, x), rows(g, x))


def test_hessians_of_several_tensors():
    a, b = leaf(2), leaf(3, seed=1)
    loss = (a.sum() * b.exp()).sum() + a[0]
    found = pullback.hessian(loss, (a, b))
    (ga, gb) = grad(loss, (a, b), create_graph=True)
    for g, row in zip((ga, gb), found, strict=True):
        for x, block in zip((a, b), row, strict=True):
            close(block, rows(g, x))


def test_the_plan_says_what_was_done():
    x = leaf(2)
    y = x.sum() * leaf(9, seed=1).detach()
    assert pullback.jacobian(y, x, plan=True)[1] == ("forward", 2, 2)
    assert pullback.jacobian(y, x, mode="reverse", chunk_size=4, plan=True)[1] == ("reverse", 9, 4)
    assert pullback.jacobian(y[:3], x, plan=True)[1] == ("reverse", 3, 3)
    assert pullback.jacobian(y, x, memory=8, plan=True)[1] == ("forward", 2, 1)


def losses_of(x, w, b, targets):
    return pullback.nn.functional.cross_entropy((x @ w + b).tanh() @ w.t() @ w, targets, reduction="none")


@given(st.integers(1, 5), st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_the_gradients_of_each_example(count, seed):
    w, b, x = leaf(3, 4, seed=seed), leaf(4, seed=seed + 1), leaf(count, 3, seed=seed + 2).detach()
    targets = pullback.arange(count) % 4
    losses = losses_of(x, w, b, targets)
    found = pullback.grad(losses, {"w": w, "b": b}, batched=True)
    assert list(found) == ["w", "b"]
    for i in range(count):
        for name, parameter in (("w", w), ("b", b)):
            (g,) = grad(losses[i], parameter, retain_graph=True)
            close(found[name][i], g.numpy())


def test_examples_that_mix_are_still_right():
    """A batch norm: each loss depends on every example."""
    x, w = leaf(4, 3), leaf(3, seed=1)
    normal = (x * w - (x * w).mean(0)) / (x * w).std(0)
    losses = (normal**3).sum(1)
    close(pullback.grad(losses, [w], batched=True)[0], rows(losses, w))


def test_a_batch_of_cotangents():
    x = leaf(3)
    y = x * x.sum()
    batch = np.random.default_rng(0).normal(size=(5, 3))
    (together,) = grad(y, x, pullback.from_numpy(batch), is_grads_batched=True, retain_graph=True)
    close(together, batch @ rows(y, x))
    a, b = x * 2, x.sum()
    both = grad((a, b), x, (pullback.from_numpy(batch), pullback.ones(5, dtype=float)), is_grads_batched=True)[0]
    close(both, batch * 2 + 1)


def test_a_batch_of_cotangents_that_is_recorded():
    x = leaf(3)
    (g,) = grad((x**3), x, pullback.eye(3, dtype=pullback.float64), is_grads_batched=True, create_graph=True)
    close(grad(g.sum(), x)[0], 6 * x.detach().numpy())


def test_hooks_see_whole_cotangents_and_nothing_accumulates():
    x = leaf(3)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(tuple(g.shape)))
    pullback.jacobian(y * y, x)
    assert seen == [(3,)]
    assert x.grad is None


def test_value_gradient_and_hessian_together():
    a, b = leaf(2).detach(), leaf(3, seed=1).detach()

    def f(tree, scale):
        return (tree["a"].sum() * tree["b"][0].exp()).sum() * scale

    value, gradient, second = pullback.value_grad_hessian(f, {"a": a, "b": [b]}, pullback.tensor(2.0))
    assert value.item() == f({"a": a, "b": [b]}, 2.0).item()
    a, b = a.requires_grad_(), b.requires_grad_()
    loss = f({"a": a, "b": [b]}, 2.0)
    ga, gb = grad(loss, (a, b), create_graph=True)
    close(gradient[0]["a"], ga.detach().numpy())
    close(gradient[0]["b"][0], gb.detach().numpy())
    close(second[0]["a"][0]["b"][0], rows(ga, b))
    close(second[0]["b"][0][0]["a"], rows(gb, a))
    assert not (value.requires_grad or second[0]["a"][0]["a"].requires_grad)


REFUSED = {
    "an input that is not used": (lambda x: pullback.jacobian(x * 2, leaf(2)), RuntimeError, "not have been used"),
    "an input that is not tracked": (lambda x: pullback.jacobian(x * 2, pullback.ones(2)), RuntimeError, "input 0"),
    "an output that is not tracked": (lambda x: pullback.jacobian(pullback.ones(2), x), RuntimeError, "require grad"),
    "an output that was cut off": (lambda x: pullback.jacobian(x.detach() * 2, x), RuntimeError, "detach"),
    "no tensor": (lambda x: pullback.jacobian([1.0], x), TypeError, "list"),
    "an unknown mode": (lambda x: pullback.jacobian(x * 2, x, mode="backward"), ValueError, "mode"),
    "no rows at once": (lambda x: pullback.jacobian(x * 2, x, chunk_size=0), ValueError, "chunk_size"),
    "a hessian of a vector": (lambda x: pullback.hessian(x * 2, x), RuntimeError, "one element"),
    "a hessian by what is not used": (lambda x: pullback.hessian(x.sum(), leaf(2)), RuntimeError, "not have been used"),
    "several outputs in a batch": (lambda x: pullback.grad([x.sum()], x, batched=True), TypeError, "one tensor"),
    "cotangents and a batch": (lambda x: pullback.grad(x * 2, x, x, batched=True), TypeError, "grad_outputs"),
    "a function to a string": (lambda x: pullback.value_grad_hessian(lambda x: "a", x), RuntimeError, "str"),
    "a function to None": (lambda x: pullback.value_grad_hessian(lambda x: None, x), RuntimeError, "NoneType"),
    "a parameter that is a number": (lambda x: pullback.value_grad_hessian(lambda p: p, {"a": 1.0}), TypeError, "'a'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        call(leaf(3))


def test_unused_inputs_may_be_allowed():
    x, z = leaf(3), leaf(2)
    close(pullback.jacobian(x * 2, z, allow_unused=True), np.zeros((3, 2)))
    close(pullback.hessian((x * 2).sum(), (x, z), allow_unused=True)[0][1], np.zeros((3, 2)))
