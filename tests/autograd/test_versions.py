"""Writes that pullback could not see, told by `increment_version`: no wrong gradient comes of them."""

import pytest

import pullback
from pullback.autograd.graph import increment_version

USES = {
    "mul": lambda w, x: w * x,
    "div": lambda w, x: w / x,
    "pow": lambda w, x: w**x,
    "matmul": lambda w, x: w @ x,
    "linear": pullback.nn.functional.linear,
    "conv1d": lambda w, x: pullback.nn.functional.conv1d(w[None], x[:, :, None]),
    "einsum": lambda w, x: pullback.einsum("ij,jk", w, x),
    "atan2": pullback.atan2,
    "views": lambda w, x: w[:2] * x.t()[:2],
    "logaddexp": pullback.logaddexp,
    "softmax": lambda w, x: (w * x).softmax(1) * x,
}


@pytest.mark.parametrize("name", USES)
def test_a_pass_that_needs_what_was_written_raises(name):
    x, w = pullback.ones(3, 3), pullback.full((3, 3), 2.0, requires_grad=True)
    y = USES[name](w, x).sum()
    x.numpy()[...] = 0
    increment_version(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    assert w.grad is None


def test_a_pass_that_does_not_need_it_goes_on():
    x, w = pullback.ones(3), pullback.ones(3, requires_grad=True)
    y = (w + x).sum() + (w * x.clone()).sum()
    x.numpy()[...] = 0
    increment_version(x)
    y.backward()
    assert w.grad.tolist() == [2, 2, 2]


def test_later_uses_have_the_new_values():
    x = pullback.ones(2, requires_grad=True)
    _ = x * x
    with pullback.no_grad():
        x.numpy()[...] = 5
    increment_version(x)
    (x * x).sum().backward()
    assert x.grad.tolist() == [10, 10]
