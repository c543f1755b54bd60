"""Branches, and loops until something holds, inside transforms: one equation, one program for all values, the right numbers."""

import numpy as np
import pytest

import pullback
from pullback import func

W = pullback.tensor([0.3, 0.5, 0.7], dtype=pullback.float64)


def side(r, w):
    return pullback.cond(r.sum() > 0, lambda r: (r * w).sin(), lambda r: r.cos() * w * 2, (r,))


def shared(s):
    """A branch that examples take together."""
    return lambda r: pullback.cond(s.sum() > 0, lambda r: r * 2 * s, lambda r: r.sin() * r, (r,))


def until(r):
    test, step = lambda r, n: (n < 10) & (r.sum().abs() < 5), lambda r, n: (r * 1.5 + 0.1, n + 1)
    return pullback.while_loop(test, step, (r, pullback.tensor(0)))[0]


def counted(s):
    """A loop whose number of steps is that of all examples."""
    test, step = lambda r, n: n < s.sum().abs() * 3, lambda r, n: (r * 1.5 + 0.1 * s, n + 1)
    return lambda r: pullback.while_loop(test, step, (r, pullback.tensor(0)))[0]


def nested(s):
    """A loop of as many steps as a number outside of all examples says, in one of which each example has its own."""
    start = (s * s).sum() / 9

    def inner(x):
        return pullback.while_loop(lambda u, x: u < 1, lambda u, x: (u + 0.4, x * 0.9 + s), (start, x))[1]

    return lambda x: pullback.while_loop(
        lambda a, x: a < 4, lambda a, x: (a * 1.7 + 0.3, inner(x)), (x.abs().sum(), x)
    )[1]


def chosen(c, x):
    c = pullback.cond(c.sum() + x.sum() > 0, lambda c: c * 0.5 + x, lambda c: (c * x).cos(), (c,))
    return c, c.sum()


def scanned(xs, s):
    last, kept = pullback.scan(chosen, s, xs)
    return last.sum() + kept.mean()


PROGRAMS = {
    "grad": (func.grad(lambda r, w: side(r, w).sum(), argnums=(0, 1)), "branch"),
    "hessian": (lambda r, w: func.hessian(lambda r: (side(r, w) ** 2).sum())(r), "branch"),
    "jvp": (lambda r, w: func.jvp(side, (r, w), (w, r))[1], "branch"),
    "vjp": (lambda r, w: func.vjp(side, r, w)[1](W), "branch"),
    "forward over reverse": (lambda r, w: func.jacfwd(func.grad(lambda r: side(r, w).sum()))(r), "branch"),
    "batch": (lambda r, w: func.vmap(shared(w))(pullback.outer(W, r)), "branch"),
    "batch of gradients": (lambda r, w: func.vmap(func.grad(lambda r: shared(w)(r).sum()))(pullback.outer(W, r)), "branch"),
    "gradient of a batch": (lambda r, w: func.grad(lambda w: func.vmap(shared(w))(pullback.outer(W, r)).sum())(w), "branch"),
    "examples that differ": (lambda r, w: func.vmap(side, in_dims=(0, None))(pullback.outer(W - 0.5, r), w), None),
    "gradients of examples that differ": (
        lambda r, w: func.vmap(func.grad(lambda r: side(r, w).sum()))(pullback.outer(W - 0.5, r)), None),
    "two batches": (lambda r, w: func.vmap(lambda a: func.vmap(lambda b: side(a + b, a))(pullback.outer(r, w)))(pullback.outer(W - 0.5, r)), None),
    "scan": (lambda r, w: func.grad(lambda s: scanned(pullback.outer(W, r), s))(w), "scan_loop"),
    "batch of scans": (lambda r, w: func.vmap(lambda s: scanned(pullback.outer(W, r), s))(pullback.outer(W, w)), None),
    "tangents of a loop": (lambda r, w: func.jvp(until, (r,), (w,))[1], "repeat_loop"),
    "second tangents of a loop": (
        lambda r, w: func.jvp(lambda y: func.jvp(lambda x: until(x * x), (y,), (w,))[1], (r,), (w,))[1], "repeat_loop"),
    "batch of loops": (lambda r, w: func.vmap(counted(w))(pullback.outer(W, r)), "repeat_loop"),
    "batch of tangents": (lambda r, w: func.vmap(lambda x: func.jvp(counted(w), (x,), (x,))[1])(pullback.outer(W, r)), "repeat_loop"),
    "batch of gradients of loops in loops": (lambda r, w: func.vmap(func.grad(lambda r: nested(w)(r).sum()))(pullback.outer(W, r)), None),
    "Jacobian of a loop": (lambda r, w: func.jacfwd(until)(r), "repeat_loop"),
    "gradient of a loop": (lambda r, w: func.grad(lambda r: until(r).sum())(r), None),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_transforms(name):
    function, equation = PROGRAMS[name]
    compiled = pullback.compile(function, fullgraph=True)
    for seed in range(6):
        r, w = (pullback.tensor(x) for x in np.random.default_rng(seed).normal(size=(2, 3)))
        found, expected = (x if isinstance(x, tuple) else (x,) for x in (compiled(r, w), function(r, w)))
        for mine, its in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine.numpy(), its.numpy(), rtol=1e-10, atol=1e-12)
    if equation is not None:
        assert compiled.report().records == [(1, "a first call")]
        assert f"{equation}(" in compiled.ir


def test_examples_that_differ_are_one_program():
    compiled = pullback.compile(
        func.vmap(func.grad(lambda x: pullback.cond(x > 0, pullback.sqrt, lambda x: 0 * x, (x,))))
    )
    for places in ([4.0, 0.0, 1.0], [0.0, 4.0, 0.0], [1.0, 1.0, 0.0]):
        x = pullback.tensor(places, dtype=pullback.float64)
        np.testing.assert_array_equal(compiled(x).numpy(), [0.5 / a**0.5 if a else 0 for a in places])
    assert compiled.report().records == [(1, "a first call")]
