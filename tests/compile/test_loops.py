"""Loops and branches in compiled functions: one equation each, with the values and gradients of the steps one by one."""

import warnings

import numpy as np
import pytest

import pullback
from pullback.compile import Compiled

DOUBLE = {"dtype": pullback.float64}
W = pullback.tensor([0.5, -1.0, 2.0], requires_grad=True, **DOUBLE)
K = pullback.tensor(0.3, requires_grad=True, **DOUBLE)


def gradients(function, *tensors):
    """A function that gives what another gives, and the gradients of the sum of that."""

    def both(*tensors):
        results = function(*tensors)
        results = results if isinstance(results, tuple) else (results,)
        total = sum(r.sum() for r in results if r.is_floating_point())
        inputs = [t for t in (*tensors, W, K) if t.requires_grad]
        grads = pullback.autograd.grad(total, inputs, allow_unused=True, materialize_grads=True)
        return [r.detach() for r in results], list(grads)

    return both


def recurrent(x, inputs):
    def step(state, each):
        y = state + 0.1 * (pullback.tanh(state * W) * pullback.exp(-K) + each)
        return y, (y * y).sum()

    return pullback.scan(step, x, inputs)


def backwards(x, inputs):
    return pullback.scan(lambda s, u: (s * 0.9 + u * K, s * u), x, inputs, reverse=True)


def nested(x, inputs):
    def step(state, each):
        inner = pullback.fori_loop(0, 3, lambda i, v: v * 0.9 + W * (i + 1) * 0.1, state)
        return inner + each, None

    return pullback.scan(step, x, inputs)[0]


def with_a_branch(x, inputs):
    def step(state, each):
        y = pullback.cond(each.sum() > 0, lambda s: pullback.sin(s * W), lambda s: s * K, (state,))
        return y, y.sum()

    return pullback.scan(step, x, inputs)


def several_carries(x, inputs):
    def step(carry, each):
        total, count, state = carry["total"], carry["count"], carry["state"]
        state = state * 0.5 + each
        return {"total": total + state.sum(), "count": count + 1, "state": state}, (state, count)

    start = {"total": pullback.tensor(0.0, **DOUBLE), "count": 0, "state": x}
    last, (states, counts) = pullback.scan(step, start, inputs)
    return last["total"], last["count"], last["state"], states, counts


def what_stays(x, inputs):
    """A carry that does not change, an output from outside, an input that is not used."""
    last, outputs = pullback.scan(lambda s, u: ((s[0], s[1] * W), (K * 2, s[0])), (x, x), inputs)
    return *last, *outputs


FUNCTIONS = [recurrent, backwards, nested, with_a_branch, several_carries, what_stays]


@pytest.mark.parametrize("fuse", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_scan(function, fuse):
    eager, compiled = gradients(function), Compiled(gradients(function), fuse=fuse)
    for seed in range(3):
        pullback.manual_seed(seed)
        x, inputs = pullback.randn(3, requires_grad=True, **DOUBLE), pullback.randn(5, 3, requires_grad=True, **DOUBLE)
        for left, right in zip(eager(x, inputs), compiled(x, inputs), strict=True):
            for a, b in zip(left, right, strict=True):
                assert a.dtype == b.dtype
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-13, atol=1e-14)
    assert compiled.records
    assert not compiled.refused


@pytest.mark.parametrize("fuse", [False, True])
def test_a_branch(fuse):
    def function(x, p):
        return pullback.cond(p > 0, lambda t: (t * W).sin(), lambda t: t * t * K, (x,))

    eager, compiled = gradients(function), Compiled(gradients(function), fuse=fuse)
    for seed, sign in enumerate([1.0, -1.0, 2.0, -3.0]):
        pullback.manual_seed(seed)
        x, p = pullback.randn(3, requires_grad=True, **DOUBLE), pullback.tensor(sign)
        for left, right in zip(eager(x, p), compiled(x, p), strict=True):
            for a, b in zip(left, right, strict=True):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-13, atol=1e-14)
    assert len(next(iter(compiled.records.values()))) == 1


def test_what_only_the_other_side_uses_gets_zeros_from_the_one_program_of_both():
    weights = [pullback.ones(2, requires_grad=True) for _ in range(2)]

    @pullback.compile
    def gradients_of(x):
        pullback.cond(x.sum() > 0, lambda x: x * weights[0], lambda x: x * weights[1], (x,)).sum().backward()

    for sign in (1.0, -2.0):
        for each in weights:
            each.grad = None
        gradients_of(pullback.tensor([sign, sign]))
        assert [each.grad.tolist() for each in weights] == [[max(sign, 0.0)] * 2, [min(sign, 0.0)] * 2]
    assert gradients_of.report().records == [(1, "a first call")]


def test_a_branch_that_is_not_taken_sends_no_nan():
    compiled = Compiled(gradients(lambda x: pullback.cond(x.sum() > 0, pullback.sqrt, lambda t: t * 0, (x,))))
    for value in (4.0, -4.0, 0.0):
        x = pullback.tensor([value], requires_grad=True, **DOUBLE)
        _, (g, *_) = compiled(x)
        assert g.tolist() == [0.25 if value > 0 else 0.0]


@pytest.mark.parametrize("fuse", [False, True])
def test_a_loop_until_something_holds(fuse):
    def function(x):
        return pullback.while_loop(lambda n, y: y.sum() < 100.0, lambda n, y: (n + 1, y * 1.5), (0, x.exp()))

    compiled = Compiled(function, fuse=fuse)
    for seed in range(4):
        pullback.manual_seed(seed)
        x = pullback.randn(4, **DOUBLE)
        (n, y), (m, z) = function(x), compiled(x)
        assert n.item() == m.item()
        np.testing.assert_allclose(y.numpy(), z.numpy(), rtol=1e-13)
    assert not compiled.refused


def test_steps_of_a_transform_that_share_a_sum_have_machine_code():
    """Of two sums in one loop nest the second is consumed by a value that was tried in vain before."""

    def loss(w, data):
        def step(c, u):
            return (c + u * w[1]) / (1 + pullback.logsumexp(c * w[0], -1)), c * u

        last, kept = pullback.scan(step, data[0] * w[0], data, reverse=True)
        return last.sum() + (kept * kept).mean()

    w, data = pullback.tensor([0.5, 0.7], **DOUBLE), pullback.linspace(-1, 2, 24, **DOUBLE).reshape(3, 8)
    for argnum in (0, 1):
        gradient = pullback.func.grad(loss, argnums=argnum)
        compiled = Compiled(gradient)
        np.testing.assert_allclose(compiled(w, data).numpy(), gradient(w, data).numpy(), rtol=1e-12)


@pytest.mark.parametrize(
    "transform", [lambda f: f, pullback.func.grad, pullback.func.hessian], ids=["f", "grad", "hessian"]
)
def test_examples_that_take_other_sides_at_later_calls(transform):
    def side(w, level):
        return pullback.cond(w.sum() > 0, lambda w: (w * w).sum() * 3, lambda w: pullback.sqrt(level - w).sum(), (w,))

    def steps(w, level):
        def step(i, w):
            return i + 1, w * w + level

        return pullback.while_loop(lambda i, w: (i < 3) & (w.sum() < 4), step, (pullback.tensor(0), w))[1].sum()

    for function in (side, steps):
        batched = pullback.func.vmap(transform(function), in_dims=(0, None))
        compiled = Compiled(batched)
        for sign, level in ((1, 9.0), (-1, 19.0), (1, 19.0), (0, 9.0), (-1, 9.0)):
            w = sign * pullback.tensor([[1.0, 0.5], [-3.0, -4.0], [2.0, -1.0]], **DOUBLE)
            above = pullback.tensor(level, **DOUBLE)
            np.testing.assert_allclose(compiled(w, above).numpy(), batched(w, above).numpy(), rtol=1e-12)


def test_a_gradient_through_such_a_loop_runs_uncompiled():
    x = pullback.tensor([1.0], requires_grad=True, **DOUBLE)
    compiled = Compiled(gradients(lambda x: pullback.while_loop(lambda y: y < 10.0, lambda y: (y * 2,), (x,))[0]))
    with pytest.warns(UserWarning, match="has no gradient in a program"):
        (_,), (g, *_) = compiled(x)
    assert g.tolist() == [16.0]


def test_so_does_one_through_such_a_loop_to_what_its_steps_read_from_outside():
    def slopes(y):
        x = y.detach().clone().requires_grad_()
        last = pullback.while_loop(lambda i, c: c.sum() < 30.0, lambda i, c: (i + 1, c * x * W[0]), (0, y * 0 + 1))[1]
        return pullback.autograd.grad((last + 0 * x).sum() + 0 * W.sum(), (x, W))

    y = pullback.tensor([4.0, 6.0], **DOUBLE)  # 2 and 3, to the power of 3
    with pytest.warns(UserWarning, match="has no gradient in a program"):
        g, w = Compiled(slopes)(y)
    np.testing.assert_allclose(g.numpy(), [6.0, 13.5])
    np.testing.assert_allclose(w.numpy(), [210.0, 0.0, 0.0])
    with pullback.no_grad():
        free = Compiled(
            lambda y: pullback.while_loop(lambda c: c.sum() < 30.0, lambda c: (c * W[0] * y,), (y * 0 + 1,))
        )
        np.testing.assert_allclose(free(y)[0].numpy(), [8.0, 27.0])
        assert free.records


def test_one_equation_for_a_thousand_steps():
    compiled = Compiled(lambda x: pullback.scan(lambda s, _: (s * 0.999, None), x, length=1000)[0])
    compiled(pullback.ones(3))
    (prepared,) = next(iter(compiled.records.values()))
    assert len(prepared.record.program.equations) < 5


def test_the_way_back_computes_again_what_is_cheap():
    def step(s, _):
        return s + 0.1 * pullback.sin(s * W) * pullback.exp(-s), None

    def function(x):
        return gradients(lambda x: pullback.scan(step, x, length=50)[0], x)(x)

    x = pullback.tensor([0.1, 0.2, 0.3], requires_grad=True, **DOUBLE)
    compiled = Compiled(function)
    for _ in range(2):
        (found,), grads = compiled(x)
        (expected,), plain = function(x)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        for mine, its in zip(grads, plain, strict=True):
            np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-15)
    (prepared,) = next(iter(compiled.records.values()))
    there, back = [e.params["loop"].body for e in prepared.machinery.program.equations if e.name == "scan_loop"]
    assert {"sin", "cos", "exp"} <= {equation.name for equation in there.equations}
    names = {equation.name for equation in back.equations}
    assert "multiply" in names
    assert not {"sin", "cos", "exp"} & names


def test_random_numbers_in_a_loop():
    def function(x):
        return pullback.scan(lambda s, _: (s + pullback.nn.functional.dropout(s, 0.5), None), x, length=4)[0]

    compiled = Compiled(function)
    x = pullback.ones(32)
    compiled(x)
    pullback.manual_seed(3)
    expected = [function(x).tolist() for _ in range(2)]
    pullback.manual_seed(3)
    assert [compiled(x).tolist() for _ in range(2)] == expected


def test_random_numbers_in_a_loop_and_its_way_back():
    def function(x):
        def step(state, each):
            return pullback.nn.functional.dropout(state * W + each, 0.5), state.sum()

        last, sums = pullback.scan(step, pullback.ones(3, **DOUBLE), x)
        (g,) = pullback.autograd.grad(last.sum() + sums.sum(), W)
        return last.detach(), sums.detach(), g

    compiled = Compiled(function)
    x = pullback.ones(4, 3, **DOUBLE)
    compiled(x)
    for seed in range(3):
        results = []
        for each in (function, compiled):
            pullback.manual_seed(seed)
            results.append(each(x))
        for a, b in zip(*results, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-13)
    assert not compiled.refused


def test_a_step_that_writes_to_what_is_outside():
    log = pullback.zeros(3)

    def function(x):
        def step(state, _):
            log.add_(state)
            return state * 2, None

        return pullback.scan(step, x, length=3)[0]

    compiled = Compiled(function)
    with pytest.warns(UserWarning, match="from inside a loop"):
        assert compiled(pullback.ones(3)).tolist() == [8.0] * 3
    assert log.tolist() == [7.0] * 3


def test_steps_of_python_beside_indices_that_are_checked():
    def function(x, index):
        return pullback.scan(lambda c, _: (c.cumsum(0) * 0.5, c.sum()), x, length=5)[0] + x[index]

    x, index = pullback.arange(4.0), pullback.tensor([3, 1, 0, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = pullback.compile(function)(x, index)
    np.testing.assert_allclose(found.numpy(), function(x, index).numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "part", [slice(1, None), slice(2, 5), slice(None, None, 2)], ids=["all but one", "some", "apart"]
)
@pytest.mark.parametrize("size", [3, 50])
def test_rows_of_a_larger_array_are_read_where_they_are(part, size):
    def function(xs):
        return pullback.scan(lambda c, x: (c * 0.5 + x, c.sin()), xs[0], xs[part])

    xs = pullback.randn(8, size, dtype=pullback.float64)
    compiled = pullback.compile(function)
    for a, b in zip(compiled(xs), function(xs), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)
    executable = compiled._newest().machinery.executable
    if executable is not None:
        assert len(executable.kernels) == (1 if part.step is None else 2)


def test_a_step_that_chooses_for_each_example_of_a_batch_is_not_kept():
    def step(carry, row):
        chosen = pullback.vmap(lambda e: pullback.cond(e > 0, lambda e: e * 2, lambda e: e * 3, (e,)))(row)
        return carry + chosen.sum(), carry

    def total(rows):
        return pullback.scan(step, rows[0, 0], rows)[0]

    rows = pullback.tensor([[1.0, -2.0], [3.0, -4.0]])
    with pytest.raises(pullback.program.CaptureError, match="a loop or a branch checks its values"):
        pullback.program.record(total, rows)
    assert total(rows) == 1 + 2 - 6 + 6 - 12
