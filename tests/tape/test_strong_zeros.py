"""strong_zeros: the gradient of what is not selected is zero, also where its derivative is infinite or NaN."""

import threading

import numpy as np
import pytest

import pullback
from pullback import func, where


def t(values):
    return pullback.tensor(values, dtype=pullback.float64)


ROWS = pullback.tensor([[True], [False]])
FIRST = pullback.tensor([True, False])
CASES = {  # the function, where, and its gradient there, by hand
    "log": (lambda x: where(x > 0, x.log(), 0.0), [0.0, 2.0], [0, 0.5]),
    "sqrt": (lambda x: where(x > 0, x.sqrt(), 0.0), [0.0, 4.0], [0, 0.25]),
    "sine over x": (lambda x: where(x != 0, x.sin() / x, 1.0), [0.0, 1.0], [0, np.cos(1) - np.sin(1)]),
    "x to the x": (lambda x: where(x > 0, x**x, 0.0), [0.0, 1.0], [0, 1]),
    "root": (lambda x: where(x > 0, x**0.5, 0.0), [0.0, 1.0], [0, 0.5]),
    "acos": (lambda x: where(x < 1, x.acos(), 0.0), [1.0, 0.0], [0, -1]),
    "scaled by 0/0": (lambda x: where(x.sum() > 5, x / (x - x).sum(), x), [0.0, 1.0], [1, 1]),
    "masked fill": (lambda x: (1 / x).masked_fill(x == 0, 0.0), [0.0, 2.0], [0, -0.25]),
    "standardized": (lambda x: where(x.std() > 0, (x - x.mean()) / x.std(), 0.0), [1.0, 1.0], [0, 0]),
    "norm": (lambda x: where((x * x).sum() > 0, (x * x).sum().sqrt(), 0.0), [0.0, 0.0], [0, 0]),
    "outer": (lambda x: where(ROWS, x.reshape(2, 1) * t([[1.0, 2.0], [np.inf, 1.0]]), 0.0), [1.0, 1.0], [3, 0]),
    "matrix product": (
        lambda x: where(ROWS, t([[1.0, 2.0], [np.nan, np.inf]]) @ x.reshape(2, 1), 0.0),
        [1.0, 1.0],
        [1, 2],
    ),
    "prod": (lambda x: where(FIRST, pullback.stack([x, x / 0]).prod(1), 0.0), [2.0, 3.0], [3, 2]),
    "logsumexp": (lambda x: where(FIRST, pullback.stack([x, -np.inf * x]).logsumexp(1), 0.0), [2.0, 2.0], [0.5, 0.5]),
    "softmax": (lambda x: where(ROWS, pullback.stack([x, x * np.inf]).softmax(1), 0.0), [2.0, 2.0], [0, 0]),
    "max and cumulated": (lambda x: where(FIRST, (x / t([1.0, 0.0])).cumsum(0), 0.0), [1.0, 1.0], [1, 0]),
}
WAYS = {
    "grad": lambda f, x: func.grad(f)(x),
    "jacrev": lambda f, x: func.jacrev(f)(x),
    "jacfwd": lambda f, x: func.jacfwd(f)(x),
    "backward": lambda f, x: pullback.autograd.grad(f(y := x.clone().requires_grad_()), y)[0],
    "create_graph": lambda f, x: pullback.autograd.grad(f(y := x.clone().requires_grad_()), y, create_graph=True)[0],
    "vmap": lambda f, x: pullback.vmap(func.grad(f))(pullback.stack([x, x]))[1],
    "compiled": lambda f, x: pullback.compile(func.grad(f))(x),
    "compiled loss": lambda f, x: pullback.autograd.grad(pullback.compile(f)(y := x.clone().requires_grad_()), y)[0],
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_gradients_are_those_of_the_selected_branch(case, way):
    function, x, expected = case
    with pullback.strong_zeros():
        found = way(lambda x: function(x).sum(), t(x))
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12)


def test_other_terms_keep_what_is_not_finite():
    with pullback.strong_zeros():
        assert func.grad(lambda x: x.sqrt())(t(0.0)) == np.inf
        found = func.grad(lambda x: (t([[1.0, np.inf], [2.0, 3.0]]) @ x).sum())(t([1.0, 1.0]))
        np.testing.assert_array_equal(found.numpy(), [3, np.inf])
        x = t([0.0, 1.0])
        assert func.grad(lambda x: (x.sqrt() * t([0.0, 1.0])).sum())(x).tolist() == [0, 0.5]


def test_outside_it_is_nan_as_in_torch_and_the_mode_belongs_to_the_pass():
    x = pullback.tensor([0.0, 4.0], requires_grad=True)
    with pullback.strong_zeros():
        loss = where(x > 0, x.sqrt(), 0.0).sum()
    loss.backward(retain_graph=True)
    assert np.isnan(x.grad[0].item())
    x.grad = None
    thread = threading.Thread(target=loss.backward, kwargs={"retain_graph": True})
    with pullback.strong_zeros():
        thread.start()
        thread.join()
        assert np.isnan(x.grad[0].item())
        x.grad = None
        loss.backward()
    assert x.grad.tolist() == [0, 0.25]


def test_second_derivatives_are_right_where_a_cotangent_happens_to_be_zero():
    with pullback.strong_zeros():
        assert func.hessian(lambda x: x.sin() ** 2 / 2)(t(0.0)) == 1  # the cotangent of sin is sin(0)
        found = func.hessian(lambda x: where(x > 0, x.log(), 0.0).sum())(t([0.0, 2.0]))
        np.testing.assert_allclose(found.numpy(), [[0, 0], [0, -0.25]])


def test_compiled_functions_do_not_keep_the_numbers_of_another_mode():
    compiled = pullback.compile(lambda x: where(x > 0, x.sqrt(), 0.0).sum())
    step = pullback.compile(func.grad(lambda x: where(x > 0, x.sqrt(), 0.0).sum()))
    for _ in range(3):
        x = pullback.tensor([0.0, 4.0], requires_grad=True)
        assert np.isnan(step(x.detach())[0].item())
        loss = compiled(x)
        with pullback.strong_zeros():
            assert step(x.detach()).tolist() == [0, 0.25]
            loss.backward()  # recorded outside, and the pass runs inside
        assert x.grad.tolist() == [0, 0.25]
        x.grad = None
        with pullback.strong_zeros():
            loss = compiled(x)
        loss.backward()
        assert np.isnan(x.grad[0].item())


def test_a_loop_of_a_program_is_refused_where_the_modes_differ():
    def function(x):
        with pullback.strong_zeros():
            total = pullback.fori_loop(0, 3, lambda i, total: where(x > 0, total + x.sqrt(), 0.0), x * 0)
        return pullback.autograd.grad(total.sum(), x)[0]

    x = pullback.tensor([0.0, 4.0], requires_grad=True)
    found = pullback.compile(function)(x)
    assert np.isnan(found[0].item())  # as without compile: the pass runs outside


def test_as_a_decorator():
    @pullback.strong_zeros
    def gradient(x):
        return func.grad(lambda x: where(x > 0, x.sqrt(), 0.0))(x)

    assert gradient(t(0.0)) == 0


def test_functions_of_users_and_several_outputs():
    class Root(pullback.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sqrt()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g / (2 * x.sqrt())

    x = pullback.tensor([0.0], requires_grad=True)
    with pullback.strong_zeros():
        where(x > 0, Root.apply(x), 0.0).sum().backward()
        assert x.grad.tolist() == [0]
        first, second = (x / 0).unbind() * 2
        where(x > 0, first * second, 0.0).sum().backward()
    assert x.grad.tolist() == [0]


def test_complex_numbers_and_views():
    x = pullback.tensor([0.0, 4.0], requires_grad=True)
    with pullback.strong_zeros():
        z = pullback.complex(x, x * 0)
        where(x > 0, z.sqrt().abs(), 0.0).sum().backward()
        assert x.grad.tolist() == [0, 0.25]
        out = pullback.zeros(2)
        out[x > 0] = x[x > 0].sqrt()
        out[:1] += where(x > 0, 1 / x, 0.0)[:1]
        (gradient,) = pullback.autograd.grad(out.sum(), x)
    assert gradient.tolist() == [0, 0.25]
