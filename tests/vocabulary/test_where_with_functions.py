"""where with functions for its sides: each is computed only where it is selected."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pullback
from pullback import func
from pullback.testing import gradcheck, gradgradcheck

# Functions whose gradient is NaN behind a mask: (condition, side, other side, points), from reports about torch.
TRAPS = {
    "root": (lambda x: x > 0, pullback.sqrt, lambda x: 0 * x, [0.0, 4.0]),
    "entropy": (lambda x: x > 0, lambda x: x * x.log(), lambda x: 0 * x, [0.0, 0.5]),
    "sinc": (lambda x: x != 0, lambda x: x.sin() / x, lambda x: 1 + 0 * x, [0.0, 1.0]),
    "softplus": (lambda x: x < 80, lambda x: x.exp().log1p(), lambda x: x, [1.0, 800.0]),
    "elu": (lambda x: x <= 0, pullback.exp, lambda x: 1 + x, [-1.0, 1000.0]),
    "quotient": (lambda x: x.abs() > 1e-3, lambda x: 1 / x, lambda x: 0 * x, [0.0, 2.0]),
    "arccosine": (lambda x: x.abs() < 1, pullback.acos, lambda x: 0 * x, [1.0, 0.5]),
}


@pytest.mark.parametrize("name", TRAPS)
def test_the_gradient_is_finite_where_torchs_is_not(name):
    condition, f, g, points = TRAPS[name]
    x = pullback.tensor(points, dtype=pullback.float64, requires_grad=True)
    plain = pullback.where(condition(x), f(x), g(x))
    plain.sum().backward()
    assert not np.isfinite(x.grad.numpy()).all()
    x.grad = None
    y = pullback.where(condition(x), f, g, x)
    y.sum().backward()
    assert np.array_equal(y.tolist(), plain.tolist())
    for point, slope in zip(points, x.grad.tolist(), strict=True):
        t = pullback.tensor(point, dtype=pullback.float64, requires_grad=True)
        side = f if condition(t) else g
        side(t).backward()
        assert slope == pytest.approx(t.grad.item(), rel=1e-12)


def test_a_side_sees_its_own_elements_only():
    x = pullback.arange(6.0).reshape(2, 3)
    seen = []

    def spy(values):
        seen.append(values.tolist())
        return values

    y = pullback.where(x % 2 == 0, spy, lambda t: -spy(t), x)
    assert seen == [[0, 2, 4], [1, 3, 5]]
    assert y.tolist() == [[0, -1, 2], [-3, 4, -5]]


def test_a_side_that_is_selected_nowhere_is_not_called():
    x = pullback.ones(3)

    def never(values):
        raise AssertionError

    assert pullback.where(x > 0, lambda t: t, never, x).tolist() == [1, 1, 1]
    assert pullback.where(x < 0, never, 7, x).tolist() == [7, 7, 7]
    assert pullback.where(x < 0, never, 7, x).dtype == pullback.float32


@given(
    st.lists(st.floats(-2, 2), min_size=0, max_size=6), st.sampled_from([(), (1,), (2, 1)]), st.sampled_from([0, 1, 2])
)
def test_it_agrees_with_where(values, extra, kind):
    x = pullback.tensor(values, dtype=pullback.float64)
    other = pullback.full((*extra, len(values)), 0.5, dtype=pullback.float64)
    sides = [(pullback.mul, pullback.sub), (pullback.mul, other), (2.0, pullback.add)][kind]
    plain = [side(x, other) if callable(side) else side for side in sides]
    result = pullback.where(x > 0, *sides, x, other)
    expected = pullback.where((x > 0).expand(other.shape), *plain)
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    assert result.tolist() == expected.tolist()


def test_constants_arrays_and_numbers_are_operands_too():
    x = pullback.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = pullback.where(np.array([True, False, True]), lambda a, b, c: a * b + c, 0, x, np.full(3, 2.0, np.float32), 1)
    assert y.tolist() == [3, 0, 7]
    y.sum().backward()
    assert x.grad.tolist() == [2, 0, 2]


def test_derivatives_of_first_and_second_order():
    x = pullback.tensor([[0.5, -1.5], [2.0, 0.25]], dtype=pullback.float64, requires_grad=True)
    scale = pullback.tensor([2.0, 3.0], dtype=pullback.float64, requires_grad=True)

    def program(x, scale):
        return pullback.where(x > 0, lambda a, b: (a * b).sqrt(), lambda a, b: a * a / b, x, scale)

    assert gradcheck(program, (x, scale))
    assert gradgradcheck(program, (x, scale))


def root(x):
    return pullback.where(x > 0, pullback.sqrt, lambda t: 3 * t, x)


def test_it_works_inside_transforms():
    x = pullback.tensor([0.0, 4.0], dtype=pullback.float64)
    assert func.grad(lambda t: root(t).sum())(x).tolist() == [3, 0.25]
    assert func.jvp(root, (x,), (pullback.ones_like(x),))[1].tolist() == [3, 0.25]
    assert func.jacrev(root)(x).tolist() == [[3, 0], [0, 0.25]]
    assert func.hessian(lambda t: root(t).sum())(x).tolist() == [[0, 0], [0, -1 / 32]]


@pytest.mark.parametrize("rows", [[[0.0, 4.0], [1.0, 0.0]], [[0.0, 0.0], [4.0, 16.0]]])
def test_examples_of_a_batch_may_select_differently(rows):
    x = pullback.tensor(rows, dtype=pullback.float64)
    assert func.vmap(root)(x).tolist() == [root(row).tolist() for row in x]
    slopes = func.grad(lambda t: root(t).sum())
    assert func.vmap(slopes)(x).tolist() == [slopes(row).tolist() for row in x]


def test_a_condition_that_all_examples_share_selects():
    x = pullback.tensor([[1.0, -4.0], [4.0, -1.0]])
    mask = pullback.tensor([True, False])
    assert func.vmap(lambda t: pullback.where(mask, pullback.sqrt, 0.0, t))(x).tolist() == [[1, 0], [2, 0]]


X = pullback.ones(3)


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (TypeError, "needs the tensors that they take", lambda: pullback.where(X > 0, lambda: 1, 0)),
        (TypeError, "operands are for functions", lambda: pullback.where(X > 0, X, 0, X)),
        (TypeError, "must be Tensor, not bool", lambda: pullback.where(True, pullback.sqrt, 0, X)),
        (RuntimeError, "to be a boolean tensor", lambda: pullback.where(X, pullback.sqrt, 0, X)),
        (RuntimeError, "was given 3 elements and returned shape (2,)", lambda: pullback.where(X > 0, _short, 0, X)),
        (RuntimeError, "must match", lambda: pullback.where(X > 0, pullback.sqrt, 0, pullback.ones(2))),
        (TypeError, "unsupported operand of type str", lambda: pullback.where(X > 0, lambda t: "x", 0, X)),
    ],
)
def test_bad_calls(error, words, call):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def _short(values):
    return values[:-1]
