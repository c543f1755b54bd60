"""Where pullback goes on and torch refuses: what torch says, and what it computes when asked in its own way."""

import copy
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402

from .compare import describe, same  # noqa: E402


def test_a_gradient_need_not_be_a_tensor():
    """torch refuses these; the answer is that of the tensor they stand for."""
    for t, gradients in (
        (torch, [torch.tensor([1.0, 10.0])]),
        (pullback, [[1.0, 10.0], (1, 10), np.array([1.0, 10.0])]),
    ):
        for gradient in gradients:
            x = t.tensor([1.0, 2.0], requires_grad=True)
            (x * x).backward(gradient)
            assert x.grad.tolist() == [2, 40]
    for gradient in ([1.0, 10.0], np.ones(2), 2.0):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        with pytest.raises(TypeError):
            (x * x).backward(gradient)
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward(2.0)
    assert x.grad.tolist() == [4, 8]


def test_axes_of_length_one_may_be_missing_or_extra():
    """torch refuses these, seed documents hold; the answer is that of the reshaped gradient."""
    for shape, given in (((1, 2), (2,)), ((2,), (1, 2)), ((2, 1), (2,)), ((1, 2, 1), (2,))):
        v = np.array([1.0, 10.0], np.float32)
        grads = []
        for t, gradient in ((torch, torch.tensor(v).reshape(shape)), (pullback, pullback.tensor(v).reshape(given))):
            x = t.tensor([1.0, 2.0], requires_grad=True)
            (x * x).reshape(shape).backward(gradient)
            grads.append(x.grad.tolist())
        assert grads[0] == grads[1]
        with pytest.raises(RuntimeError, match="Mismatch in shape"):
            torch.ones(shape, requires_grad=True).backward(torch.ones(given))


def test_a_scalar_takes_a_gradient_of_any_shape():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward(pullback.tensor([1.0, 10.0, 100.0]))
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    (y * y).sum().backward(torch.tensor(111.0))
    assert x.grad.tolist() == y.grad.tolist()


def test_negative_steps_slice():
    x = pullback.arange(6.0).requires_grad_()
    y = x[::-2]
    (y * pullback.tensor([1.0, 10.0, 100.0])).sum().backward()
    u = torch.arange(6.0).requires_grad_()
    v = u.flip(0)[::2]
    (v * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert y.tolist() == v.tolist()
    assert x.grad.tolist() == u.grad.tolist()
    with pytest.raises(ValueError, match="step must be greater than zero"):
        u[::-1]


def test_create_graph_gives_no_warning_and_torch_does():
    x = torch.ones(2, requires_grad=True)
    torch.set_warn_always(True)
    with pytest.warns(UserWarning, match="will create a reference cycle"):
        (x * x).sum().backward(create_graph=True)
    x.grad = None
    y = pullback.ones(2, requires_grad=True)
    (y * y).sum().backward(create_graph=True)
    assert y.grad.requires_grad


def test_retain_variables_is_an_old_name_of_retain_graph():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with pytest.warns(FutureWarning, match="retain_variables"):
        y.backward(retain_variables=True)
    y.backward()
    assert x.grad.tolist() == [4, 8]


FUNCTIONS = [
    lambda xp, x: xp.sin(x), lambda xp, x: xp.exp(x), lambda xp, x: xp.sqrt(x), lambda xp, x: xp.tanh(x), lambda xp, x: xp.abs(x),
    lambda xp, x: xp.add(x, 2 * x), lambda xp, x: xp.multiply(x, x), lambda xp, x: xp.maximum(x, 1.5 * x * x), lambda xp, x: xp.sum(x),
    lambda xp, x: xp.mean(x), lambda xp, x: xp.reshape(x, (4, 1)), lambda xp, x: xp.stack([x, x * x]),
    lambda xp, x: xp.concatenate([x, x * x]), lambda xp, x: xp.where(x > 1, x, x * x), lambda xp, x: xp.matmul(x, x),
    lambda xp, x: xp.transpose(x) if xp is np else x.T, lambda xp, x: xp.einsum("ij,jk->ik", x, x), lambda xp, x: xp.log(x),
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_numpy_are_differentiated(function):
    values = np.array([[0.5, 1.0], [1.5, 2.0]])
    x, y = (t.tensor(values, requires_grad=True) for t in (pullback, torch))
    ours, theirs = function(np, x), function(torch, y)
    assert isinstance(ours, pullback.Tensor)
    (ours * ours).sum().backward()
    (theirs * theirs).sum().backward()
    same(describe([ours.detach(), x.grad]), describe([theirs.detach(), y.grad]), "the answer")


@pytest.mark.parametrize(
    "function",
    [
        lambda a, x: a + x,
        lambda a, x: x + a,
        lambda a, x: a * x,
        lambda a, x: a - x,
        lambda a, x: a / x,
        lambda a, x: a @ x,
        lambda a, x: x**a,
    ],
)
def test_arrays_and_tensors_mix(function):
    values = np.array([[0.5, 1.0], [1.5, 2.0]])
    x, y = (t.tensor(values, requires_grad=True) for t in (pullback, torch))
    ours, theirs = function(values + 1, x), function(torch.tensor(values + 1), y)
    ours.sum().backward()
    theirs.sum().backward()
    same(describe([ours.detach(), x.grad]), describe([theirs.detach(), y.grad]), "the answer")


def test_an_unsupported_function_of_numpy_raises_by_name():
    with pytest.raises(TypeError, match="histogram2d"):
        np.histogram2d(pullback.tensor([1.0, 2.0], requires_grad=True), np.ones(2))


def test_grad_of_a_result_warns_once_per_place():
    y = pullback.ones(2, requires_grad=True) * 2
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("default")
        for _ in range(3):
            assert y.grad is None
        repr(y), dir(y), copy.copy(y)
    assert len(record) == 1
