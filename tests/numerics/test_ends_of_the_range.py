"""Values, slopes and second derivatives where a step on the way would be out of range, beside their formulas."""

import mpmath
import numpy as np
import pytest

import pullback
from pullback import special
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


def scaled_i0(x):
    """exp(-|x|) I0(x) has a corner at 0: by torch's convention its second derivative there is that of I0."""
    side, orders = mpmath.sign(x), [mpmath.besseli(n, x) for n in range(3)]
    return mpmath.exp(-abs(x)) * ((orders[0] + orders[2]) / 2 - 2 * side * orders[1] + side**2 * orders[0])


def scaled_i1(x):
    side, orders = mpmath.sign(x), [mpmath.besseli(n, x) for n in range(4)]
    slope, bend = (orders[0] + orders[2]) / 2, (3 * orders[1] + orders[3]) / 4
    return mpmath.exp(-abs(x)) * (bend - 2 * side * slope + side**2 * orders[1])


def scaled_k0(x):
    orders = [mpmath.besselk(n, x) for n in range(3)]
    return mpmath.exp(x) * ((3 * orders[0] + orders[2]) / 2 - 2 * orders[1])


def scaled_complement(x):
    value = mpmath.exp(x * x) * mpmath.erfc(x)
    return 2 * value + 2 * x * (2 * x * value - 2 / mpmath.sqrt(mpmath.pi))


def leg(a, b):
    return b * b / mpmath.hypot(a, b) ** 3


AROUND_ZERO = [0.0, -0.0, 1e-20, -1e-20, 1e-30, 0.3, -2.5, 13.0, 15.0, 51.0, -1e4]
TALL = [-3.0, 0.0, 3.0, 4.9, 5.1, 8.0, 20.0, 1e3, 1e5]
SHARES = [1e-20, 1e-30, 1e-3, 0.3, 0.9, 1.0]
CLAMPED = [0.0, 1.0, 1e-20, 0.05, 0.3, 0.85, 0.99]
LEGS = [(2.0**30, 100.0), (100.0, 2.0**30), (1.0, 1e-7), (-3.0, 4.0), (3e-30, -4e-30), (3e30, 4e30), (1.0, 0.0)]

# The function, its second derivative by its first argument, and points.
SECOND = {
    "i0e": (special.i0e, scaled_i0, AROUND_ZERO),
    "i1e": (special.i1e, scaled_i1, AROUND_ZERO),
    "k0e": (special.scaled_modified_bessel_k0, scaled_k0, [1e-20, 1e-30, 1e-3, 2.0, 13.0, 15.0, 51.0, 1e3]),
    "erfcx": (special.erfcx, scaled_complement, TALL),
    "logit": (pullback.logit, lambda x: (1 - x) ** -2 - x**-2 if x < 1 else mpmath.inf, SHARES),
    "clamped logit": (
        lambda x: pullback.logit(x, eps=0.1),
        lambda x: (1 - x) ** -2 - x**-2 if 0.1 < x < 0.9 else 0,
        CLAMPED,
    ),
    "hypot": (pullback.hypot, leg, LEGS),
    "hypot by the second": (lambda b, a: pullback.hypot(a, b), leg, LEGS),
    "fmod by the divisor": (lambda b, a: pullback.fmod(a, b), lambda b, a: 0, [(0.5, 1e38), (1e-30, 1e30), (0.7, 5.0)]),
    "pow": (
        pullback.pow,
        lambda a, b: b * (b - 1) * a ** (b - 2),
        [(0.5, 1e20), (0.9, 1e25), (0.5, 3.0)],
    ),
}


def along(function, others):
    return lambda x: function(x, *others)


ROUTES = {
    "reverse over reverse": lambda f, x: twice(f, x.tolist(), dtype=x.dtype)[1],
    "forward over reverse": lambda f, x: pullback.func.jvp(
        pullback.func.grad(lambda t: f(t).sum()), (x,), (pullback.ones_like(x),)
    )[1].numpy(),
    "compiled": lambda f, x: pullback.compile(
        pullback.func.grad(lambda t: pullback.func.grad(lambda s: f(s).sum())(t).sum())
    )(x).numpy(),
}


@pytest.mark.parametrize("dtype", [pullback.float32, pullback.float64], ids=str)
@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(name, route, dtype):
    function, formula, points = SECOND[name]
    rows = pullback.tensor(points, dtype=dtype).reshape(len(points), -1)
    with mpmath.workdps(60):
        right = [float(formula(*map(mpmath.mpf, row))) for row in rows.tolist()]
    first, *others = rows.unbind(1)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        right = np.array(right).astype(dtype.numpy)
        found = route(along(function, others), first)
    np.testing.assert_allclose(found, right, rtol=2e-5 if dtype == pullback.float32 else 1e-12, atol=0)


@pytest.mark.parametrize("x", [1e-160, -1e-160, 5e-324, 1e-300])
def test_the_corner_of_scaled_bessel_functions(x):
    """The second derivative on either side is 3/2; the third order has none that is infinite."""
    for route in ROUTES.values():
        assert route(special.i0e, pullback.tensor([x], dtype=pullback.float64)).tolist() == [1.5]
        assert route(special.i1e, pullback.tensor([x], dtype=pullback.float64)).tolist() == [-np.sign(x)]


@pytest.mark.parametrize("x", [709.0, 710.0, -710.0, 713.0, 713.9, 714.5])
@pytest.mark.parametrize("order", [0, 1])
def test_modified_bessel_functions_near_the_largest_number(order, x):
    function = (special.i0, special.i1)[order]
    with mpmath.workdps(30):
        near = [mpmath.besseli(abs(n), mpmath.mpf(x)).real for n in range(order - 2, order + 3)]
        right = [float(each) for each in (near[2], (near[1] + near[3]) / 2, (near[0] + 2 * near[2] + near[4]) / 4)]
    (slope,), bend = twice(function, [x], dtype=pullback.float64)
    value = function(pullback.tensor([x], dtype=pullback.float64)).numpy()
    np.testing.assert_allclose(value[0], right[0], rtol=2e-15)
    np.testing.assert_allclose([slope[0], bend[0]], right[1:], rtol=2e-13)  # of them SciPy's order 2 is a part
