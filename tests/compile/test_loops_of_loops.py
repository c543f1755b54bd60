"""Loops inside transforms are loops; loops that are run twice, or whose results nobody uses, are not."""

import numpy as np
import pytest

import pullback
from pullback import func
from pullback.compile.passes import PASSES, simplify
from pullback.compile.program import check, run

DOUBLE = pullback.float64


def lstm(w, xs):
    def step(state, x):
        h, c = state
        c = c * pullback.sigmoid(h @ w + x) + x
        return (pullback.tanh(c) * h.cos(), c), (h * c).sum()

    first = pullback.ones(3, dtype=DOUBLE), pullback.zeros(3, dtype=DOUBLE)
    (h, c), sums = pullback.scan(step, first, xs)
    return sums.sum() + (h * c).prod()


def counted(w, xs):
    def step(state, x):
        i, c = state
        return (i + 1, c * (w * i.to(DOUBLE)).sin().mean() + x), c.mean()

    (_, c), sums = pullback.scan(step, (pullback.tensor(1), xs[0]), xs, reverse=True)
    return (sums * sums).sum() + c.sum()


def nested(w, xs):
    def step(c, x):
        inner, kept = pullback.scan(lambda d, _: ((d @ w).tanh() + x, d.sum()), c, length=3)
        return inner, kept.sum()

    last, sums = pullback.scan(step, xs[0], xs)
    return (last * last).sum() + sums.sum()


TRANSFORMS = {
    "grad": lambda f: func.grad(f, argnums=(0, 1)),
    "jvp": lambda f: lambda w, xs: func.jvp(f, (w, xs), (w * 2, xs.cos())),
    "vmap": lambda f: lambda w, xs: func.vmap(f, in_dims=(None, 0))(w, pullback.stack([xs, xs * 0.5])),
    "vmap of grad": lambda f: lambda w, xs: func.vmap(func.grad(f))(pullback.stack([w, -w]), pullback.stack([xs, xs])),
    "grad of vmap": lambda f: func.grad(lambda w, xs: func.vmap(lambda x: f(w, x))(pullback.stack([xs, -xs])).sum()),
    "hessian": func.hessian,
    "jacfwd": func.jacfwd,
    "jacrev": lambda f: func.jacrev(f, argnums=1),
    "grad of grad": lambda f: func.grad(lambda w, xs: (func.grad(f)(w, xs) ** 2).sum(), argnums=(0, 1)),
}


def leaves(result):
    return [leaf for each in result for leaf in leaves(each)] if isinstance(result, tuple) else [result.numpy()]


def given(steps):
    pullback.manual_seed(steps)
    return pullback.randn(3, 3, dtype=DOUBLE) * 0.4, pullback.randn(steps, 3, dtype=DOUBLE)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("function", [lstm, counted, nested], ids=lambda function: function.__name__)
def test_a_program_has_as_many_equations_for_many_steps_as_for_few(function, transform):
    whole, lengths = TRANSFORMS[transform](function), []
    for steps in (2, 9):
        compiled = pullback.compile(whole)
        for _ in range(2):
            for left, right in zip(leaves(compiled(*given(steps))), leaves(whole(*given(steps))), strict=True):
                np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-12)
        (kept,) = compiled.records.values()
        lengths.append(len(kept[0].machinery.recorded.equations))
    assert lengths[0] == lengths[1]


def test_the_steps_are_taken_once_there_and_once_back():
    compiled = pullback.compile(func.grad_and_value(lstm))
    compiled(*given(9))
    assert compiled.ir.count("= scan_loop(") == 2


@pytest.mark.parametrize("name", ["loops run twice", "dead code"])
@pytest.mark.parametrize("transform", ["grad", "jvp", "hessian", "grad of grad"])
def test_the_passes_change_no_bit(name, transform):
    compiled = pullback.compile(TRANSFORMS[transform](counted))
    w, xs = given(7)
    compiled(w, xs)
    program = compiled._newest().machinery.recorded
    changed = check(PASSES[name](program))
    arrays = [w.numpy(), xs.numpy()]
    assert [a.tobytes() for a in run(program, arrays)] == [a.tobytes() for a in run(changed, arrays)]


def test_results_of_loops_that_nobody_uses_are_not_made():
    def one(xs):
        (a, _), (_, kept) = pullback.scan(
            lambda c, x: ((c[0] + x, c[1] * x.exp()), (x.sin(), c[0])), (xs[0], xs[0]), xs
        )
        return a, kept

    compiled = pullback.compile(one)
    xs = given(6)[1]
    compiled(xs)
    assert "exp" not in compiled.ir
    assert "sin" not in compiled.ir
    for left, right in zip(compiled(xs), one(xs), strict=True):
        assert left.numpy().tobytes() == right.numpy().tobytes()


@pytest.mark.parametrize("last", ["detach", "hook", "random", "condition", "no_grad", "requires_grad"])
def test_bodies_that_are_no_program_give_what_they_give(last):
    strange = {
        "detach": lambda c: c + c.detach(),
        "hook": lambda c: (c.register_hook(lambda g: g * 2), c)[1] if c.requires_grad else c,
        "random": lambda c: c + pullback.rand(3, dtype=DOUBLE, generator=None) * 0,
        "condition": lambda c: c * 2 if (c.sum() > -1e9) else c,
        "no_grad": lambda c: c + _without(c),
        "requires_grad": lambda c: c * 3 if c.requires_grad else c,
    }

    def f(w, xs):
        last_, _ = pullback.scan(lambda c, x: (strange[last](c @ w).tanh() + x, None), xs[0] @ w, xs)
        return (last_ * last_).sum()

    w, xs = given(5)
    compiled = pullback.compile(func.grad(f), lenient=True)
    for _ in range(2):
        np.testing.assert_allclose(compiled(w, xs).numpy(), func.grad(f)(w, xs).numpy(), rtol=1e-9)


def _without(c):
    with pullback.no_grad():
        return c * 2


def test_what_a_step_writes_outside_is_not_written_once():
    total = pullback.zeros(3, dtype=DOUBLE)

    def f(w, xs):
        def step(c, x):
            c = (c @ w).tanh() + x
            local = pullback.zeros(3, dtype=DOUBLE)
            local += c
            return c, local.sum()

        last, kept = pullback.scan(step, total, xs)
        return (last * kept.sum()).sum()

    w, xs = given(5)
    compiled = pullback.compile(func.grad(f))
    np.testing.assert_allclose(compiled(w, xs).numpy(), func.grad(f)(w, xs).numpy(), rtol=1e-9)


def test_a_part_of_a_part_is_a_part():
    x = pullback.arange(24.0).reshape(4, 6)
    compiled = pullback.compile(
        lambda x: (x[1:][:, 2:5][1:, 1], x[:3][-1:] * 1, x[::2][1] + 0, x[1:3][5:] + 1, x[2:][-1, :2])
    )
    for _ in range(2):
        for left, right in zip(compiled(x), compiled.function(x), strict=True):
            np.testing.assert_array_equal(left.numpy(), right.numpy())
    assert simplify(compiled._newest().machinery.recorded)
