"""Random programs of views, writes and arithmetic: the same values, versions and gradients on both libraries."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

import pullback  # noqa: E402

FUNCTIONS = [
    lambda t, a: a.sin(), lambda t, a: a.tanh(), lambda t, a: a * 0.5, lambda t, a: 1 - a, lambda t, a: a * a,
    lambda t, a: a.sigmoid(), lambda t, a: a.clone(), lambda t, a: a.abs(), lambda t, a: a.detach(), lambda t, a: a.relu(),
    lambda t, a: a.sum(), lambda t, a: t.stack([a, a]), lambda t, a: a.softmax(-1), lambda t, a: a.mean(-1),
]  # fmt: skip
PAIRS = [
    lambda t, a, b: a + b, lambda t, a, b: a * b, lambda t, a, b: a - b, lambda t, a, b: t.maximum(a, 1.0123 * b + 0.0123),
    lambda t, a, b: t.where(a > 1.0123 * b + 0.0123, a, b * 0.5), lambda t, a, b: a / (1 + b * b),
]  # fmt: skip
VIEWS = [
    lambda a: a[0], lambda a: a[-1:], lambda a: a[..., :2], lambda a: a[..., ::2], lambda a: a.transpose(0, -1), lambda a: a.view(-1),
    lambda a: a.unsqueeze(0), lambda a: a[None, ..., 0], lambda a: a.squeeze(0), lambda a: a.reshape(-1, 1), lambda a: a[:],
    lambda a: a.expand(2, *a.shape),
]  # fmt: skip
WRITES = [
    lambda a, b: a.mul_(0.5), lambda a, b: a.add_(b), lambda a, b: a.mul_(b), lambda a, b: a.tanh_(), lambda a, b: a.copy_(b),
    lambda a, b: a.zero_(), lambda a, b: a.fill_(0.25), lambda a, b: a.__setitem__(0, b), lambda a, b: a.__setitem__(..., b.sum()),
    lambda a, b: a.__setitem__([0, -1][: max((1, *a.shape[:1]))], 0.5 * b.sum()), lambda a, b: a.__setitem__(a > 0.3, 0.7), lambda a, b: a.sub_(b.mean()),
]  # fmt: skip
STEPS = {"function": FUNCTIONS, "pair": PAIRS, "view": VIEWS, "write": WRITES, "silent write": WRITES[:4]}

step = st.sampled_from(sorted(STEPS)).flatmap(
    lambda kind: st.tuples(st.just(kind), st.integers(0, len(STEPS[kind]) - 1), st.integers(0, 9), st.integers(0, 9))
)
ERRORS = (RuntimeError, IndexError, ValueError)


def take(t, kind, choice, pool, first, second):
    """One step of a program on its pool of tensors."""
    a, b = pool[first % len(pool)], pool[second % len(pool)]
    function = STEPS[kind][choice]
    if kind == "function":
        pool.append(function(t, a))
    elif kind == "pair":
        pool.append(function(t, a, b))
    elif kind == "view":
        pool.append(function(a))
    elif kind == "write":
        function(a, b)
    else:
        with t.no_grad():
            function(a, b)


def run(t, steps):
    """The pool after the steps, and the first and second derivatives of a sum of it."""
    x = t.tensor([[0.1137, -0.2291, 0.3173], [0.4219, 0.5393, -0.6761]], dtype=t.float64, requires_grad=True)
    w = t.tensor([0.7, -0.8, 0.9], dtype=t.float64, requires_grad=True)
    pool = [x * 1, w + 0, t.zeros(2, 3, dtype=t.float64)]
    for kind, choice, first, second in steps:
        take(t, kind, choice, pool, first, second)
    total = sum((y * (i + 1)).cos().sum() for i, y in enumerate(pool))
    first = t.autograd.grad(total, [x, w], create_graph=True, materialize_grads=True)
    square = sum((g * g).sum() for g in first)
    second = (
        t.autograd.grad(square, [x, w], materialize_grads=True) if square.requires_grad else (t.zeros(2, 3), t.zeros(3))
    )
    return pool, [*first, *second]


@settings(max_examples=200)
@given(st.lists(step, min_size=1, max_size=9))
def test_random_programs(steps):
    try:
        with warnings.catch_warnings(action="ignore"):
            theirs, expected = run(torch, steps)
    except ERRORS:
        assume(False)
    try:
        ours, gradients = run(pullback, steps)
    except RuntimeError as error:
        assume("more than one element of the written-to tensor" not in str(error))  # torch lets some such writes pass
        raise
    for a, b in zip(ours, theirs, strict=True):
        assert (a.requires_grad, a._version) == (b.requires_grad, b._version)
    for a, b in zip([*ours, *gradients], [*theirs, *expected], strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-10, atol=1e-12)
