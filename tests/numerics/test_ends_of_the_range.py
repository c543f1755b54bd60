"""Values, slopes and second derivatives where a step on the way would be out of range, beside their formulas."""

import numpy as np
import pytest

import pullback
from pullback.nn import functional


def twice(function, *arrays, dtype):
    """The gradient of the sum of a function, and the gradient of the sum of the first part of that."""
    leaves = [pullback.tensor(x, dtype=dtype, requires_grad=True) for x in arrays]
    first = pullback.autograd.grad(function(*leaves).sum(), leaves, create_graph=True)
    (second,) = pullback.autograd.grad(first[0].sum(), leaves[:1], retain_graph=True)
    return [x.detach().numpy() for x in first], second.numpy()


def test_softsign_of_large_numbers():
    x = np.array([1e9, -1e12, 3e12])
    (slope,), bend = twice(functional.softsign, x, dtype=pullback.float32)
    np.testing.assert_allclose(slope, (1 + np.abs(x)) ** -2.0, rtol=1e-6)
    np.testing.assert_allclose(bend, -2 * np.sign(x) * (1 + np.abs(x)) ** -3.0, rtol=1e-6)


def test_a_quotient_near_the_largest_number():
    a, b = (pullback.tensor(number, requires_grad=True) for number in (3e38, 3.0))
    (a / b).backward(pullback.tensor(4.0))
    np.testing.assert_allclose(b.grad.item(), -4 * 3e38 / 9, rtol=1e-6)


def test_the_slope_of_fmod_is_the_whole_quotient():
    a = np.array([2.1, -2.1, 700.0, 7.0], np.float32)
    b = np.array([-0.7, 0.7, 0.07, 2.0], np.float32)
    divisor = pullback.from_numpy(b).requires_grad_()
    pullback.fmod(pullback.from_numpy(a), divisor).sum().backward()
    right = -np.trunc(a.astype(np.float64) / b.astype(np.float64))
    assert divisor.grad.tolist() == right.tolist()


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e-170, 1.0, 1e160, 1e300])
@pytest.mark.parametrize("function", [lambda x: x.norm(dim=-1), lambda x: x.std(-1)], ids=["norm", "std"])
def test_compiled_norms_of_doubles(function, size):
    rows = np.array([[3.0, 4.0, -12.0, 84.0], [1.0, 2.0, 2.0, -4.0]])
    right = function(pullback.from_numpy(rows)).numpy() * size
    found = pullback.compile(function)(pullback.from_numpy(rows * size)).numpy()
    np.testing.assert_allclose(found, right, rtol=1e-2 if size < 1e-308 else 1e-13)


def test_pools_of_powers():
    x = pullback.tensor([[3e30, 4e30, 3e-30, 4e-30]], requires_grad=True)
    y = functional.lp_pool1d(x, 2, 2)
    y.sum().backward()
    np.testing.assert_allclose(y.detach(), [[5e30, 5e-30]], rtol=1e-6)
    np.testing.assert_allclose(x.grad, [[0.6, 0.8, 0.6, 0.8]], rtol=1e-6)


def test_the_cosine_embedding_loss_bends_at_zero():
    other = pullback.tensor([[1.0, 2.0]], dtype=pullback.float64)
    (slope,), bend = twice(
        lambda x: functional.cosine_embedding_loss(x, other, pullback.ones(1)), [[0.0, 0.0]], dtype=pullback.float64
    )
    np.testing.assert_allclose(slope, -np.array([[1.0, 2.0]]) / np.sqrt(5e-12), rtol=1e-9)
    np.testing.assert_array_equal(bend, np.zeros((1, 2)))


def test_the_distribution_of_t_for_a_number_of_degrees():
    t = pullback.tensor([0.0, 1.0], dtype=pullback.float64, requires_grad=True)
    value = pullback.array_api.special.stdtr(3.0, t)
    value.sum().backward()
    np.testing.assert_allclose(value.detach(), [0.5, 0.8044988905221148], rtol=1e-12)
    density = 6 * np.sqrt(3) / np.pi / (3 + t.detach().numpy() ** 2) ** 2
    np.testing.assert_allclose(t.grad, density, rtol=1e-12)
