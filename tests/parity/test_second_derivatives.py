"""First and second derivatives at kinks, ties, bounds and zeros, where formulas that agree elsewhere part."""

import math

import numpy as np
import pytest

import pullback

torch = pytest.importorskip("torch", reason="torch==2.13.0 is not installed: nothing to compare pullback with")

from .compare import parity  # noqa: E402

INF = math.inf


def twice(t, function, *points, dtype="float64"):
    """A function's values, its gradients, and the gradients of these, each for weights that tell elements apart."""
    inputs = [t.tensor(point, dtype=getattr(t, dtype), requires_grad=True) for point in points]
    y = function(t, *inputs)
    gradients = t.autograd.grad(weighed(t, y), inputs, create_graph=True)
    total = sum(weighed(t, g) for g in gradients) + sum((x * 0).sum() for x in inputs)  # which may be constant
    second = t.autograd.grad(total, inputs)
    return [y.detach(), [g.detach() for g in gradients], list(second)]


def weighed(t, x):
    weights = t.arange(1.0, 1 + math.prod(x.shape), dtype=t.float64).reshape(x.shape)
    return (t.view_as_real(x).sum(-1) * weights).sum() if x.is_complex() else (x * weights).sum()


LINE = [-6.0, -3.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 6.0]
OF_ONE = {
    "abs": lambda t, x: x.abs(),
    "relu": lambda t, x: x.relu(),
    "square root of a square": lambda t, x: (x * x).sqrt(),
    "sqrt": lambda t, x: x.abs().sqrt(),
    "x**0": lambda t, x: x**0,
    "x**1": lambda t, x: x**1,
    "x**2": lambda t, x: x**2,
    "x**3": lambda t, x: x**3,
    "x**0.5": lambda t, x: x.abs() ** 0.5,
    "clamp": lambda t, x: x.clamp(-1, 1),
    "clamp, crossed": lambda t, x: x.clamp(1, -1),
    "elu": lambda t, x: t.nn.functional.elu(x),
    "elu, slope -1": lambda t, x: t.nn.functional.elu(x, -1.0),
    "celu": lambda t, x: t.nn.functional.celu(x, 2.0),
    "selu": lambda t, x: t.nn.functional.selu(x),
    "hardtanh": lambda t, x: t.nn.functional.hardtanh(x),
    "hardswish": lambda t, x: t.nn.functional.hardswish(x),
    "softshrink": lambda t, x: t.nn.functional.softshrink(x),
    "leaky_relu": lambda t, x: t.nn.functional.leaky_relu(x),
    "silu": lambda t, x: t.nn.functional.silu(x),
    "gelu": lambda t, x: t.nn.functional.gelu(x),
    "smooth_l1": lambda t, x: t.nn.functional.smooth_l1_loss(x, x.detach() * 0, reduction="none"),
    "huber": lambda t, x: t.nn.functional.huber_loss(x, x.detach() * 0, reduction="none", delta=2.0),
    "nan_to_num": lambda t, x: t.nan_to_num(x / x.abs().detach()),
}


@pytest.mark.parametrize("function", OF_ONE.values(), ids=OF_ONE)
@parity
def test_functions_of_one_number(t, function):
    return twice(t, function, LINE)


CORNERS = [-2.0, -1.0, 0.0, 1.0, 3.0]
OF_TWO = {
    "atan2": lambda t, a, b: t.atan2(a, b),
    "hypot": lambda t, a, b: t.hypot(a, b),
    "xlogy": lambda t, a, b: t.xlogy(a, b.abs()),
    "maximum": lambda t, a, b: t.maximum(a, b),
    "fmin": lambda t, a, b: t.fmin(a, b),
    "fmod": lambda t, a, b: t.fmod(a, b),
    "remainder": lambda t, a, b: t.remainder(a, b),
    "nextafter": lambda t, a, b: t.nextafter(a, b),
    "clamp": lambda t, a, b: a.clamp(b, b + 1),
    "smooth_l1": lambda t, a, b: t.nn.functional.smooth_l1_loss(a, b, reduction="none"),
    "complex abs, not at 0": lambda t, a, b: t.complex(a + 0.25, b).abs(),
    "acosh": lambda t, a, b: t.complex(a, b + 0.5).acosh(),
    "acos": lambda t, a, b: t.complex(a, b + 0.5).acos(),
    "asinh": lambda t, a, b: t.complex(a, b + 0.5).asinh(),
    "atanh": lambda t, a, b: t.complex(a, b + 0.5).atanh(),
}


@pytest.mark.parametrize("function", OF_TWO.values(), ids=OF_TWO)
@parity
def test_functions_of_two_numbers(t, function):
    return twice(t, function, [a for a in CORNERS for _ in CORNERS], CORNERS * len(CORNERS))


MATRICES = {
    "zeros": [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    "a zero": [[0.0, 2.0, 3.0], [1.0, 0.5, 0.7]],
    "two zeros": [[0.0, 2.0, 0.0], [0.0, 0.5, 0.7]],
    "ties": [[1.0, 1.0, 2.0], [2.0, 2.0, -2.0]],
    "one column": [[3.0], [4.0]],
    "one element": [[2.0]],
}
OF_MANY = {
    "prod": lambda t, x: x.prod(1),
    "prod of all": lambda t, x: x.prod(),
    "cumprod": lambda t, x: x.cumprod(1),
    "amax": lambda t, x: x.amax(1),
    "max": lambda t, x: x.max(),
    "max of a dim": lambda t, x: x.max(0).values,
    "sort": lambda t, x: x.sort(dim=1, stable=True).values,
    "logsumexp": lambda t, x: x.logsumexp(1),
    "population variance": lambda t, x: x.var(0, correction=0),
    "variance, corrected by all": lambda t, x: x.var(0, correction=x.shape[0]),
    "1-norm": lambda t, x: x.norm(1, 1),
    "0-norm": lambda t, x: t.linalg.vector_norm(x, 0, dim=1) + x.sum(),
    "inf-norm": lambda t, x: x.norm(INF, 1),
    "masked softmax": lambda t, x: x.masked_fill(x > 1, -INF).softmax(1),
    "normalize": lambda t, x: t.nn.functional.normalize(x + 0.1, 1.0),
    "quantile": lambda t, x: x.quantile(0.3, 1),
}


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
@pytest.mark.parametrize("function", OF_MANY.values(), ids=OF_MANY)
@parity
def test_functions_of_many_numbers(t, function, matrix):
    return twice(t, function, matrix)


SINGULAR = {
    "rank 1": [[1.0, 2.0], [2.0, 4.0]],
    "zeros": [[0.0, 0.0], [0.0, 0.0]],
    "rank 2": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]],
    "rank 1 of 3": [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]],
    "regular": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]],
}


def expanded(t, x):
    """The determinant of matrices by the first row."""
    if x.shape[-1] == 1:
        return x[0, 0]
    rest = [[j for j in range(x.shape[-1]) if j != i] for i in range(x.shape[-1])]
    return sum((-1) ** i * x[0, i] * expanded(t, x[1:, others]) for i, others in enumerate(rest))


@pytest.mark.parametrize("matrix", SINGULAR.values(), ids=SINGULAR)
def test_determinants_of_singular_matrices(matrix):
    def det(t, x):
        return t.linalg.det(x)

    (_, (first,), (second,)), (_, (slope,), (bend,)) = (twice(pullback, each, matrix) for each in (det, expanded))
    np.testing.assert_allclose(first, slope, atol=1e-12)
    np.testing.assert_allclose(second, bend, atol=1e-11)


@pytest.mark.parametrize("shape", [(2, 0), (0, 3), (0, 0), (3, 2, 0), (0, 3, 2)])
@pytest.mark.parametrize("order", [1, 2, INF, "nuc", "fro"])
@parity
def test_norms_of_empty_matrices(t, order, shape):
    return t.linalg.matrix_norm(t.zeros(shape), order)


@parity
def test_quantiles_beside_infinities(t):
    x = t.tensor([[INF, 1.0, 2.0], [-INF, 1.0, 2.0], [-INF, 0.0, -INF]])
    return [x.quantile(q, 1) for q in (0.0, 0.3, 0.5, 0.7, 1.0)]


def test_a_logarithm_of_a_probability_near_one():
    x = pullback.tensor([-710.0, 10.0, 40.0, 710.0, INF], dtype=pullback.float64, requires_grad=True)
    (slope,) = pullback.autograd.grad(pullback.special.log_ndtr(x).sum(), x, create_graph=True)
    (bend,) = pullback.autograd.grad(slope.sum(), x)
    np.testing.assert_allclose(
        bend[:2], [-0.99999801629022256, -10 * math.exp(-50) / math.sqrt(2 * math.pi)], rtol=1e-9
    )
    assert slope[2:].tolist() == [0.0, 0.0, 0.0] == [-b for b in bend[2:].tolist()]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_logarithm_of_a_probability_bends_in_every_dtype(dtype):
    x = pullback.tensor(
        [1.0, 4.0, 8.0, 11.0, 13.5, 36.0, 39.0, math.nan], dtype=getattr(pullback, dtype)
    ).requires_grad_()
    (slope,) = pullback.autograd.grad(pullback.special.log_ndtr(x).sum(), x, create_graph=True)
    (bend,) = pullback.autograd.grad(slope.sum(), x)
    known = pullback.tensor(x.tolist(), dtype=pullback.float64)
    density = pullback.exp(-known * known / 2 - pullback.special.log_ndtr(known)) / math.sqrt(2 * math.pi)
    limits = np.finfo(dtype)
    rtol, atol = 20 * float(limits.eps), 40 * float(limits.smallest_subnormal)
    np.testing.assert_allclose(slope.detach().double(), density, rtol=rtol, atol=atol)
    np.testing.assert_allclose(bend.double(), -density * (known + density), rtol=rtol, atol=atol)


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-4), ("float64", 1e-11)])
def test_slopes_of_sinc_near_its_top(dtype, rtol):
    """They are -pi**2 x / 3 and -pi**2 / 3 there, less pi**4 x**3 / 30 and its slope, and so on."""
    x = pullback.tensor([0.0, 1e-30, -1e-8, 1e-5, 0.01, 0.1, -0.11], dtype=getattr(pullback, dtype)).requires_grad_()
    (slope,) = pullback.autograd.grad(pullback.sinc(x).sum(), x, create_graph=True)
    (bend,) = pullback.autograd.grad(slope.sum(), x)
    even = np.arange(2, 40, 2)
    terms = np.array([(-1) ** (k // 2) * k * math.pi**k / math.factorial(k + 1) for k in even.tolist()])
    at = x.detach().double().numpy()[:, None]
    np.testing.assert_allclose(slope.detach(), (terms * at ** (even - 1)).sum(1), rtol=rtol)
    np.testing.assert_allclose(bend, (terms * (even - 1) * at ** (even - 2)).sum(1), rtol=rtol)


def test_the_gradient_by_certain_targets():
    inputs = [pullback.tensor([0.0, 1.0, 0.0, 1.0], dtype=pullback.float64, requires_grad=True) for _ in range(2)]
    losses = pullback.nn.functional.binary_cross_entropy(*inputs, reduction="none")
    (slope,) = pullback.autograd.grad(losses.sum(), inputs[1], create_graph=True)
    assert slope.tolist() == [100.0, -100.0, 100.0, -100.0]
    assert pullback.autograd.grad(slope.sum(), inputs[0])[0].tolist() == [-1.0] * 4
