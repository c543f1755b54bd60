"""Branches and loops: the values and gradients of the plain Python programs that they stand for, alone and in batches."""

import contextvars

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pullback
from pullback.func import control, grad, hessian, jacfwd, jacrev, jvp, vmap
from pullback.testing import gradcheck

DOUBLE = pullback.float64


def numbers(*values):
    return pullback.tensor(values, dtype=DOUBLE)


def close(got, want):
    np.testing.assert_allclose(got.detach().numpy(), np.asarray(want), rtol=1e-12)


# Branches


@pytest.mark.parametrize("transform", [lambda f: f, jacrev, lambda f: lambda a: jvp(f, (a,), (a,))[1]])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_side_meets_only_the_examples_that_take_it(transform, compiled):
    """A matrix that is not positive definite has no Cholesky factor."""

    def root(a):
        return pullback.cond(a[0, 0] > 0, lambda a: pullback.linalg.cholesky(a).sum(), lambda a: (a * a).sum(), (a,))

    many = vmap(transform(root))
    matrices = pullback.stack([s * pullback.eye(2, dtype=DOUBLE) for s in (-1.0, 2.0, -3.0, 5.0)])
    for batch in (matrices, -matrices, matrices):
        found = (pullback.compile(many) if compiled else many)(batch)
        for one, a in zip(found, batch, strict=True):
            close(one, transform(root)(a))


def test_only_the_side_that_is_taken_runs():
    ran = []
    x = numbers(2.0).requires_grad_()
    y = pullback.cond((x > 1).all(), lambda x: ran.append("true") or x * 3, lambda x: ran.append("false") or x, (x,))
    y.sum().backward()
    assert ran == ["true"]
    assert x.grad.tolist() == [3.0]


@pytest.mark.parametrize("predicate", [True, 1, 2.5, np.True_, np.array(True), pullback.tensor([[1]])])
def test_what_holds(predicate):
    assert pullback.cond(predicate, lambda: 1, lambda: 2).item() == 1


def test_operands_and_results_nest():
    operands = ({"a": numbers(1.0), "b": (numbers(2.0), None)}, 3.0)
    result = pullback.cond(False, lambda p, c: p, lambda p, c: {"a": p["b"][0] * c, "b": (p["a"], p["b"][1])}, operands)
    assert result["a"].tolist() == [6.0]
    assert result["b"][0].tolist() == [1.0]
    assert result["b"][1] is None


def pieces(x):
    """log above 1, a parabola between, and a constant below 0."""
    return pullback.cond(
        x > 1, pullback.log, lambda x: pullback.cond(x > 0, lambda x: x * x, lambda x: 0 * x + 7, (x,)), (x,)
    )


def pieces_in_python(x):
    return np.log(x) if x > 1 else x * x if x > 0 else 7.0


@given(st.lists(st.sampled_from([-2.0, -1.0, 0.25, 0.5, 2.0, 3.0]), min_size=1, max_size=6))
def test_each_example_of_a_batch_takes_its_own_side(values):
    x = numbers(*values)
    slopes = [1 / v if v > 1 else 2 * v if v > 0 else 0.0 for v in values]
    curves = [-1 / v**2 if v > 1 else 2.0 if v > 0 else 0.0 for v in values]
    close(vmap(pieces)(x), [pieces_in_python(v) for v in values])
    close(vmap(grad(pieces))(x), slopes)
    close(grad(lambda x: vmap(pieces)(x).sum())(x), slopes)
    close(vmap(grad(grad(pieces)))(x), curves)
    close(hessian(lambda x: vmap(pieces)(x).sum())(x), np.diag(curves))
    _value, tangent = jvp(vmap(pieces), (x,), (pullback.ones_like(x),))
    close(tangent, slopes)


def test_nested_batches_disagree_about_both_sides():
    a, b = numbers(-1.0, 0.5, 2.0), numbers(1.0, 3.0)
    table = vmap(lambda x: vmap(lambda y: pullback.cond(x * y > 1, pullback.log, pullback.negative, (x * y,)))(b))(a)
    close(table, [[np.log(x * y) if x * y > 1 else -x * y for y in (1.0, 3.0)] for x in (-1.0, 0.5, 2.0)])


def test_the_side_not_taken_puts_no_nan_into_a_gradient():
    """Where both sides are computed on all examples, 0 times the slope of the root at 0 would be NaN."""
    x = numbers(4.0, 0.0, -1.0)
    root = lambda x: pullback.cond(x > 0, pullback.sqrt, lambda x: 0 * x, (x,))
    close(vmap(grad(root))(x), [0.25, 0.0, 0.0])
    leaf = x.clone().requires_grad_()
    vmap(root)(leaf).sum().backward()
    close(leaf.grad, [0.25, 0.0, 0.0])


def test_a_batch_of_none():
    assert vmap(pieces)(pullback.zeros(0)).shape == (0,)


def test_examples_share_an_operand():
    close(
        vmap(lambda flag, x: pullback.cond(flag, lambda x: x * 2, lambda x: -x, (x,)), in_dims=(0, None))(
            pullback.tensor([True, False]), numbers(1.0, 2.0)
        ),
        [[2.0, 4.0], [-1.0, -2.0]],
    )


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: pullback.cond(x, abs, abs, (x,)), r"single-element tensor, but got one of shape \(2,\).*where"),
        (lambda x: pullback.cond("yes", abs, abs, (x,)), "Expected pred to be bool or tensor, but got 'yes'"),
        (lambda x: pullback.cond(None, abs, abs, (x,)), "Expected pred to be bool or tensor, but got None"),
        (lambda x: pullback.cond(True, abs, 3, (x,)), "Expect both branches to be callable"),
        (lambda x: pullback.cond(True, abs, abs, x), r"Expect operands to be a tuple.*operands=\(x,\)"),
        (lambda x: pullback.cond(True, abs, abs, ({"a": "b"},)), r"got a str for operands\[0\]\['a'\]"),
        (lambda x: pullback.cond(True, lambda: (1, "b"), abs), r"true_fn must return.*got a str for output\[1\]"),
        (vmap(lambda x: pullback.cond(x > 1, lambda x: x, lambda x: 1, (x,))), "float64.*vs int64"),
        (
            vmap(lambda x: pullback.cond(x > 1, lambda x: (x, x.expand(2)), lambda x: (x, x), (x,))),
            r"mismatched tensor metadata.*output\[1\]: float64 of shape \(2,\) vs float64 of shape \(\)",
        ),
        (
            vmap(lambda x: pullback.cond(x > 1, lambda x: x, lambda x: (x,), (x,))),
            r"Unmatched output spec from cond branches.*\* vs \(\*,\)",
        ),
    ],
)
def test_branches_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(numbers(1.0, 2.0))


# while


def root_of(a, steps=None):
    """The square root by Newton's iteration, until it does not move."""

    def body(x, before):
        return (x + a / x) / 2, x

    return pullback.while_loop(lambda x, before: (x - before).abs() > 1e-12 * x, body, (a, a * 0))[0]


def test_a_loop_is_differentiated_through_its_steps():
    a = numbers(2.0).sum().requires_grad_()
    root_of(a).backward()
    close(a.grad, 0.5 / np.sqrt(2.0))
    assert gradcheck(root_of, (a,))


def test_each_example_stops_by_itself():
    a = numbers(1e-3, 2.0, 1e6, 1.0)
    close(vmap(root_of)(a), np.sqrt(a.numpy()))
    np.testing.assert_allclose(vmap(grad(root_of))(a).numpy(), 0.5 / np.sqrt(a.numpy()), rtol=1e-10)
    np.testing.assert_allclose(vmap(jacfwd(root_of))(a).numpy(), 0.5 / np.sqrt(a.numpy()), rtol=1e-10)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=5))
def test_examples_that_have_ended_stay_as_they_are(limits):
    def collatz(n):
        return pullback.while_loop(lambda k, n: n > 1, lambda k, n: (k + 1, n * 3 % 17), (0, n))

    def in_python(n):
        k = 0
        while n > 1:
            k, n = k + 1, n * 3 % 17
        return k, n

    steps, last = vmap(collatz)(pullback.tensor(limits))
    assert list(zip(steps.tolist(), last.tolist(), strict=True)) == [in_python(n) for n in limits]


def test_a_body_sees_no_example_that_has_ended():
    """At 1 the body divides by zero; the example that is there has ended, and its gradient stays."""
    loop = lambda x: pullback.while_loop(lambda x: x > 1, lambda x: (x - 1 + 0 / (x - 1),), (x,))[0]
    x = numbers(1.0, 2.5, 0.5)
    close(vmap(loop)(x), [1.0, 0.5, 0.5])
    close(vmap(grad(loop))(x), [1.0, 1.0, 1.0])


def test_a_carry_that_is_one_argument():
    result = pullback.while_loop(
        lambda state: state["n"] < 3, lambda state: {"n": state["n"] + 1, "x": state["x"] * 2}, {"n": 0, "x": 1.5}
    )
    assert (result["n"].item(), result["x"].item()) == (3, 12.0)
    assert pullback.while_loop(lambda x: x < 10, lambda x: x * 2, pullback.tensor(3)).item() == 12


def test_a_list_is_carried_as_a_list():
    result = pullback.while_loop(lambda n, x: n < 2, lambda n, x: (n + 1, x), [0, pullback.ones(1)])
    assert type(result) is list


@pytest.mark.parametrize(
    ("cond_fn", "body_fn", "text"),
    [
        (lambda n, x: x, lambda n, x: (n, x), r"must return a boolean scalar tensor or a boolean but got float64 of shape \(2,\)"),
        (lambda n, x: n, lambda n, x: (n, x), "must return a boolean scalar tensor or a boolean but got int64"),
        (lambda n, x: None, lambda n, x: (n, x), "a boolean but got None"),
        (lambda n, x: True, lambda n, x: x, "body_fn should return a tuple but got"),
        (lambda n, x: True, lambda n, x: (n,), "the same number of elements as carried_inputs, got 1 vs 2"),
        (lambda n, x: True, lambda n, x: (n, (x,)), r"changed the structure of the carry, \(\*, \*\) vs \(\*, \(\*,\)\)"),
        (lambda n, x: True, lambda n, x: (n, x[:1]), r"carried_inputs\[1\]: float64 of shape \(2,\) vs float64 of shape \(1,\)"),
        (lambda n, x: True, lambda n, x: (n, x.float()), r"carried_inputs\[1\]: float64 of shape \(2,\) vs float32"),
        (lambda n, x: True, lambda n, x: (n, None), r"carried_inputs\[1\]: float64 of shape \(2,\) vs None"),
        (lambda n, x: True, lambda n, x: (n, x.mul_(2)), "might be modifying the input.*clone"),
        (3, lambda n, x: (n, x), "cond_fn and body_fn to be callable"),
    ],
)  # fmt: skip
def test_loops_refused(cond_fn, body_fn, text):
    with pytest.raises(RuntimeError, match=text):
        pullback.while_loop(cond_fn, body_fn, (0, numbers(1.0, 2.0)))


# scan


def rnn(weights, inputs, state, **options):
    def step(state, x):
        state = (weights @ state + x).tanh()
        return state, {"norm": (state * state).sum(), "state": state}

    return pullback.scan(step, state, inputs, **options)


def test_a_scan_is_a_loop_over_slices():
    weights, inputs = pullback.randn(3, 3, dtype=DOUBLE), pullback.randn(4, 3, dtype=DOUBLE)
    state = pullback.zeros(3, dtype=DOUBLE)
    last, outputs = rnn(weights, inputs, state)
    states = []
    for x in inputs:
        state = (weights @ state + x).tanh()
        states.append(state)
    close(last, states[-1])
    close(outputs["state"], pullback.stack(states))
    close(outputs["norm"], [(s * s).sum().item() for s in states])


def test_a_scan_backwards_gives_outputs_in_the_order_of_its_slices():
    weights, inputs, state = pullback.randn(3, 3), pullback.randn(4, 3), pullback.randn(3)
    last, outputs = rnn(weights, inputs, state, reverse=True)
    turned, mirrored = rnn(weights, inputs.flip(0), state)
    assert pullback.equal(last, turned)
    assert pullback.equal(outputs["state"], mirrored["state"].flip(0))


def test_the_axis_of_a_scan():
    x = pullback.arange(6.0).reshape(2, 3)
    for dim in (1, -1):
        last, sums = pullback.scan(lambda total, x: (total + x, total + x), pullback.zeros(2), x, dim=dim)
        assert sums.tolist() == x.cumsum(1).tolist()
        assert last.tolist() == x.sum(1).tolist()


def test_gradients_of_a_scan():
    weights = pullback.randn(3, 3, dtype=DOUBLE, requires_grad=True)
    inputs = pullback.randn(4, 3, dtype=DOUBLE, requires_grad=True)
    state = pullback.randn(3, dtype=DOUBLE, requires_grad=True)
    loss = lambda *args: rnn(*args)[1]["norm"]
    assert gradcheck(loss, (weights, inputs, state))
    every = (0, 1, 2)
    for backward, forward in zip(
        jacrev(loss, every)(weights, inputs, state), jacfwd(loss, every)(weights, inputs, state), strict=True
    ):
        np.testing.assert_allclose(backward.detach().numpy(), forward.detach().numpy(), atol=1e-12)


def test_a_scan_of_a_batch_is_a_batch_of_scans():
    weights, inputs, states = (pullback.randn(*shape, dtype=pullback.float64) for shape in ((3, 3), (5, 4, 3), (5, 3)))
    last, outputs = vmap(rnn, in_dims=(None, 0, 0))(weights, inputs, states)
    for i in range(5):
        alone, norms = rnn(weights, inputs[i], states[i])
        np.testing.assert_allclose(last[i].numpy(), alone.numpy(), rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(outputs["norm"][i].numpy(), norms["norm"].numpy(), rtol=1e-10, atol=1e-13)


def test_a_scan_without_slices_or_without_steps():
    last, powers = pullback.scan(lambda x, _: (x * 2, x), 1, length=5)
    assert (last.item(), powers.tolist()) == (32, [1, 2, 4, 8, 16])
    last, outputs = pullback.scan(lambda c, x: (c, (x * 2, None)), numbers(1.0), pullback.zeros(0, 3))
    assert last.tolist() == [1.0]
    assert outputs[0].shape == (0, 3)
    assert outputs[1] is None


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: pullback.scan(3, 0, x), "Combine_fn must be a callable, but got 3"),
        (lambda x: pullback.scan(lambda c, x: (c, x), 0, x, reverse=1), "Reverse must be a bool"),
        (lambda x: pullback.scan(lambda c, x: (c, x), 0, x, dim=1), r"All xs leaves.*dim is 1, and xs has shape \(2,\)"),
        (lambda x: pullback.scan(lambda c, x: (c, x), 0, x, dim="a"), "Dim must be an int"),
        (lambda x: pullback.scan(lambda c, x: (c, x), 0, x, 3), "length has 3, xs has 2"),
        (lambda x: pullback.scan(lambda c, x: (c, x), 0, {"a": x, "b": x[:1]}), r"xs\['a'\] has 2, xs\['b'\] has 1"),
        (lambda x: pullback.scan(lambda c, x: (c, x), 0), "xs holds no tensor"),
        (lambda x: pullback.scan(lambda c, x: (c, x), 0, length=-1), "length must be a number of steps"),
        (lambda x: pullback.scan(lambda c, x: (c, x), "a", x), "All init leaves must be a Tensor, but got a str for init"),
        (lambda x: pullback.scan(lambda c, x: x, 0, x), r"must return two values, \(carry, y\)"),
        (lambda x: pullback.scan(lambda c, x: (c + x, x), 0, x), "metadata of init: int64.*vs float64"),
        (lambda x: pullback.scan(lambda c, x: (c + 1, pullback.ones(c.item())), 0, x), r"between steps y: .*\(0,\) vs .*\(1,\)"),
        (lambda x: pullback.scan(lambda c, x: (c + 1, (x,) * c.item()), 0, x), "structure of its output between steps"),
        (lambda x: pullback.scan(lambda c, x: (c, x.add_(1)), 0, x), "might be modifying the input"),
    ],
)  # fmt: skip
def test_scans_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(numbers(1.0, 2.0))


# fori


@given(st.integers(-2, 4), st.integers(-2, 4))
def test_counted_loops(lower, upper):
    expected = [sum(range(lower, upper)), 2.0 ** max(upper - lower, 0)]
    for bounds in ((lower, upper), (pullback.tensor(lower), upper), (lower, pullback.tensor([upper]))):
        total, power = pullback.fori_loop(*bounds, lambda i, v: (v[0] + i, v[1] * 2), (0, 1.0))
        assert [total.item(), power.item()] == expected


def test_counted_loops_of_a_batch_have_ends_of_their_own():
    power = lambda x, n: pullback.fori_loop(0, n, lambda i, y: y * x, 1 + 0 * x)
    x, n = numbers(2.0, 3.0, 5.0), pullback.tensor([3, 0, 2])
    close(vmap(power)(x, n), [8.0, 1.0, 25.0])
    close(vmap(grad(power))(x, n), [12.0, 0.0, 10.0])


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((0, 2.5, lambda i, v: v, 0), "upper must be an int or an integer tensor of one element, but got 2.5"),
        ((None, 2, lambda i, v: v, 0), "lower must be an int"),
        ((0, pullback.ones(1), lambda i, v: v, 0), "upper must be an int"),
        ((0, 2, 3, 0), "body_fun must be callable"),
        ((0, 2, lambda i, v: v * 0.5, 0), "metadata of init_val: int64 of shape .* vs float32"),
        ((0, pullback.tensor(2), lambda i, v: v * 0.5, 0), "metadata of init_val: int64 of shape .* vs float32"),
    ],
)
def test_counted_loops_refused(args, text):
    with pytest.raises(RuntimeError, match=text):
        pullback.fori_loop(*args)


# Who runs them


def test_a_runner_sees_each_construct_as_one_call():
    class Counting(control.Runner):
        def __init__(self):
            self.seen = []

        def cond(self, predicate, first, second, operands):
            self.seen.append(("cond", len(operands)))
            return super().cond(predicate, first, second, operands)

        def while_loop(self, test, step, carry):
            self.seen.append(("while_loop", len(carry)))
            return super().while_loop(test, step, carry)

        def scan(self, step, carry, columns, count, reverse):
            self.seen.append(("scan", count))
            return super().scan(step, carry, columns, count, reverse)

    counting = Counting()

    def program(x):
        x = pullback.scan(lambda c, x: (c + x, None), 0.0, x)[0]
        x = pullback.fori_loop(0, 7, lambda i, x: x * 2, x)
        x = pullback.while_loop(lambda x: x > 100, lambda x: (x / 2,), (x,))[0]
        return pullback.cond(x > 0, lambda x: x, lambda x: -x, (x,))

    def counted():
        control.runner.set(counting)
        return program(pullback.ones(3))

    assert contextvars.copy_context().run(counted).item() == program(pullback.ones(3)).item() == 96.0
    assert counting.seen == [("scan", 3), ("scan", 7), ("while_loop", 1), ("cond", 1)]
