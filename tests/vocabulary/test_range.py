"""Numbers near the ends of the range of a dtype, and special ones: values and gradients beside formulas."""

import math

import numpy as np
import pytest

import pullback
from pullback import func, nn
from pullback.autograd import grad

INF, NAN = math.inf, math.nan


def slopes(function, *points, dtype=pullback.float32):
    x = pullback.tensor(points, dtype=dtype, requires_grad=True)
    return grad(function(x).sum(), x)[0].numpy()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("size", [1e20, 1e-25, 1e-37])
def test_norms(size, compiled):
    """Of (3, 4) times a size whose square is out of range."""
    functions = {
        "norm": (lambda x: x.norm(), 5 * size, [0.6, 0.8]),
        "order 3": (lambda x: x.norm(3), 91 ** (1 / 3) * size, [9 / 91 ** (2 / 3), 16 / 91 ** (2 / 3)]),
        "std": (lambda x: x.std(), size / math.sqrt(2), [-math.sqrt(0.5), math.sqrt(0.5)]),
    }
    for function, value, slope in functions.values():
        chosen = pullback.compile(function) if compiled else function
        x = pullback.tensor([3 * size, 4 * size], requires_grad=True)
        y = chosen(x)
        np.testing.assert_allclose(y.item(), value, rtol=1e-5)
        np.testing.assert_allclose(grad(y, x)[0].numpy(), slope, rtol=1e-4)


@pytest.mark.parametrize("size", [1e20, 1e-25])
def test_angles(size):
    y, x = (pullback.tensor([each * size], requires_grad=True) for each in (3.0, 4.0))
    found = grad(pullback.atan2(y, x), (y, x))
    np.testing.assert_allclose([each.item() * size for each in found], [4 / 25, -3 / 25], rtol=1e-6)
    vectors = pullback.tensor([[3e20, 4e20]]), pullback.tensor([[4e20, 3e20]])
    assert nn.functional.cosine_similarity(*vectors).item() == pytest.approx(0.96)
    loss = nn.functional.cosine_embedding_loss(
        pullback.tensor([[3e20, 4e20]]), pullback.tensor([[4e20, 3e20]]), pullback.ones(1)
    )
    assert loss.item() == pytest.approx(0.04)


def test_slopes_of_inverse_hyperbolic_functions():
    for function in (pullback.acosh, pullback.asinh):
        np.testing.assert_allclose(slopes(function, 1e20, 1e30), [1e-20, 1e-30], rtol=1e-6)


@pytest.mark.parametrize(
    ("factors", "value", "others"),
    [
        ([1e30, 1e30, 1e-30, 0.0], 0.0, [0.0, 0.0, 0.0, 1e30]),
        ([1e30, 1e30, 1e-30, 1e-30], 1.0, [1e-30, 1e-30, 1e30, 1e30]),
        ([1e-30, 1e-30, 1e30, 1e30], 1.0, [1e30, 1e30, 1e-30, 1e-30]),
        ([0.0, 0.0, 1e30, 1e30], 0.0, [0.0, 0.0, 0.0, 0.0]),
        ([2.0, NAN, 0.0], NAN, [NAN, 0.0, NAN]),
    ],
)
def test_products(factors, value, others):
    x = pullback.tensor(factors, requires_grad=True)
    y = x.prod()
    np.testing.assert_allclose(y.item(), value, rtol=1e-6)
    np.testing.assert_allclose(grad(y, x)[0].numpy(), others, rtol=1e-6)


WAYS = {
    "the tape": lambda f, x: grad(f(x.requires_grad_()), x)[0],
    "grad": lambda f, x: func.grad(f)(x),
    "compiled": lambda f, x: pullback.compile(func.grad(f))(x),
    "batched": lambda f, x: func.vmap(func.grad(f))(x[None])[0],
    "forwards": lambda f, x: func.jacfwd(f)(x),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("factors", "others"),
    [
        ([1e200, 1e200, 1e-200, 1e-200], [1e-200, 1e-200, 1e200, 1e200]),
        ([1e-200, 1e200, 1e200, 1e-200], [1e200, 1e-200, 1e-200, 1e200]),
        ([1e200, 1e200, 0.0, 1e-200], [0.0, 0.0, 1e200, 0.0]),
        ([1e200, 1e200, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_products_in_double_precision(factors, others, way):
    """In every way of differentiating: a partial product is out of range, the gradient is not."""
    x = pullback.tensor(factors, dtype=pullback.float64)
    np.testing.assert_allclose(WAYS[way](lambda x: x.prod(), x).detach().numpy(), others, rtol=1e-12)


TWICE = {
    "reverse of forward": lambda f: func.jacrev(func.jacfwd(f)),
    "forward of forward": lambda f: func.jacfwd(func.jacfwd(f)),
    "forward of reverse": func.hessian,
    "reverse of reverse": lambda f: func.jacrev(func.jacrev(f)),
    "compiled": lambda f: pullback.compile(func.hessian(f)),
}
SIZES = {
    "abs": lambda z: z.abs().sum(),
    "order 1": lambda z: pullback.linalg.vector_norm(z, 1),
    "order 2": pullback.linalg.vector_norm,
    "order 3": lambda z: pullback.linalg.vector_norm(z, 3),
    "largest": lambda z: pullback.linalg.vector_norm(z, INF),
    "of a matrix": lambda z: pullback.linalg.matrix_norm(z[None], 1),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("way", TWICE)
def test_squared_sizes_of_a_complex_number(way, size):
    """Of x + iy, x ** 2 + y ** 2: second derivatives are 2 each, and at 0, where the first one is a convention, NaN."""
    hessian = TWICE[way](lambda x: SIZES[size](pullback.complex(x[:1], x[1:])) ** 2)
    right = {(3.0, 4.0): 2 * np.eye(2), (0.0, -2.0): 2 * np.eye(2), (0.0, 0.0): np.full((2, 2), NAN)}
    for point, wanted in right.items():
        found = hessian(pullback.tensor(point, dtype=pullback.float64)).numpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("way", TWICE)
def test_the_angle_of_zero(way):
    hessian = TWICE[way](lambda x: pullback.complex(x[0], x[1]).angle() ** 2)
    assert np.isnan(hessian(pullback.zeros(2, dtype=pullback.float64)).numpy()).all()


def test_log_of_a_sum_of_large_powers():
    """The slopes are a softmax, and add up to 1."""
    np.testing.assert_allclose(slopes(lambda x: x.logsumexp(0), 1e5, 1e5, 1e5, 1e5), 0.25, rtol=1e-6)
    np.testing.assert_allclose(slopes(lambda x: x.logsumexp(0), 2.0**30, 2.0**30), 0.5, rtol=1e-6)


def test_slogdet_of_a_singular_matrix():
    """The cofactors over a determinant of 0."""
    x = pullback.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    np.testing.assert_array_equal(grad(pullback.linalg.slogdet(x).logabsdet, x)[0].numpy(), [[INF, -INF], [-INF, INF]])


def test_scaled_bessel_functions_far_from_zero():
    """i0e(x) is 1 / sqrt(2 pi x) times 1 + 1 / (8 x) + ...; so is i1e, with -3 / (8 x)."""
    x = np.array([1e6, 2.0**31, 1e12])
    for function, coefficient in ((pullback.special.i0e, 1 / 8), (pullback.special.i1e, -3 / 8)):
        right = -0.5 * x**-1.5 / math.sqrt(2 * math.pi) * (1 + 3 * coefficient / x)
        np.testing.assert_allclose(slopes(function, *x, dtype=pullback.float64), right, rtol=1e-9)
    assert pullback.special.airy_ai(pullback.tensor([2.0**21, INF, -INF])).tolist() == [0.0, 0.0, 0.0]
    assert slopes(pullback.special.i1, 1e-310, dtype=pullback.float64).tolist() == [0.5]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "function", [nn.functional.relu6, nn.functional.hardtanh, nn.functional.softshrink, nn.functional.hardshrink]
)
def test_a_clipped_nan_stays_visible(function, compiled):
    chosen = pullback.compile(function) if compiled else function
    assert slopes(chosen, NAN).tolist() == [1.0]


def test_an_infinite_bound_has_its_gradient():
    bound = pullback.tensor([INF, 1.0], requires_grad=True)
    assert grad(pullback.clamp(pullback.zeros(2), min=bound).sum(), bound)[0].tolist() == [1.0, 1.0]


def test_matrices_of_no_axes_and_older_names():
    with pytest.warns(UserWarning, match="deprecated on 0-D tensors"):
        assert pullback.tensor(3.0).mT.item() == 3
    assert pullback.trapezoid(pullback.tensor([200, 100], dtype=pullback.uint8)).item() == 150
    assert pullback.nuclear_norm(pullback.tensor([[3.0, 0.0], [0.0, -4.0]])).item() == pytest.approx(7)
    shuffled = pullback.native_channel_shuffle(pullback.arange(4.0).reshape(1, 4, 1), 2)
    assert shuffled.flatten().tolist() == [0, 2, 1, 3]
