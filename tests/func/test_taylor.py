"""Taylor mode: every primitive along a curve beside nested forward mode, true values by mpmath, and what is refused."""

import math
from functools import partial

import mpmath
import numpy as np
import pytest

import pullback
from pullback import func

from ..ops.test_rules import each_sample, random_like
from .test_pushforwards import sample


def curve(t, start, derivatives):
    """x(t) with these derivatives at 0."""
    return sum((d * (t ** (k + 1) / math.factorial(k + 1)) for k, d in enumerate(derivatives)), start)


def slope(f, t):
    """The derivative of a function of one number."""
    return func.jvp(f, (t,), (pullback.ones_like(t),))[1]


def nested(f, order):
    """The derivative of an order of a function of one number, at 0, by `jvp` in `jvp`."""
    for _ in range(order):
        f = partial(slope, f)
    return f(pullback.tensor(0.0, dtype=pullback.float64))


@each_sample
def test_jets_are_nested_tangents(name, makers, params):
    f, primals, first = sample(name, makers, params)
    derivatives = [first, random_like(primals, 4), random_like(primals, 5)]
    series = [list(each) for each in zip(*derivatives, strict=True)]

    def along(t):
        return f(*[curve(t, x, row) for x, row in zip(primals, series, strict=True)])

    outputs, found = func.jet(f, tuple(primals), tuple(series))
    for mine, theirs in zip(outputs, f(*primals), strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())
    for order, derivative in enumerate(found, 1):
        for y, mine, theirs in zip(outputs, derivative, nested(along, order), strict=True):
            assert (mine.shape, mine.dtype) == (y.shape, y.dtype)
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-7, atol=1e-7)


def close(mine, theirs):
    """Equal but for rounding."""
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-12)


def ends(tensors):
    """Where the elements of each tensor end among those of all, but for the last."""
    return np.cumsum([tensor.numel() for tensor in tensors])[:-1]


@each_sample
def test_a_laplacian_is_the_sum_of_second_derivatives(name, makers, params):
    f, primals, _ = sample(name, makers, params)
    if not all(primal.dtype.is_floating_point for primal in primals) or any(y.is_complex() for y in f(*primals)):
        return  # refused
    if sum(primal.numel() for primal in primals) > 100:
        return  # a direction for each element
    found = func.laplacian(f, tuple(range(len(primals))))(*primals)
    rows = np.eye(sum(primal.numel() for primal in primals))
    units = [
        part.reshape(len(rows), *p.shape)
        for part, p in zip(np.split(rows, ends(primals), axis=1), primals, strict=True)
    ]
    second = func.vmap(lambda *unit: func.jet(f, tuple(primals), tuple([(u, 0 * u) for u in unit]))[1][1])
    total = [y.sum(0).numpy() for y in second(*map(pullback.from_numpy, units))]
    for mine, theirs in zip(found, total, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=1e-7, atol=1e-7)


POINTS = {"acosh": (1.3, 4.0), "acoth": (1.5, 3.0), "gammaln": (0.4, 3.7), "lgamma": (0.4, 3.7), "digamma": (0.4, 3.7)}
FUNCTIONS = {
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "asin": mpmath.asin, "acos": mpmath.acos, "atan": mpmath.atan,
    "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh, "asinh": mpmath.asinh, "acosh": mpmath.acosh,
    "atanh": mpmath.atanh, "exp": mpmath.exp, "expm1": mpmath.expm1, "exp2": lambda x: mpmath.mpf(2) ** x,
    "log": mpmath.log, "log2": lambda x: mpmath.log(x, 2), "log10": mpmath.log10, "log1p": mpmath.log1p,
    "sqrt": mpmath.sqrt, "rsqrt": lambda x: 1 / mpmath.sqrt(x), "reciprocal": lambda x: 1 / x, "square": lambda x: x * x,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)), "erf": mpmath.erf, "erfc": mpmath.erfc, "erfinv": mpmath.erfinv,
    "lgamma": mpmath.loggamma, "digamma": mpmath.digamma, "sinc": mpmath.sincpi,
    "special.i0": lambda x: mpmath.besseli(0, x), "special.i1": lambda x: mpmath.besseli(1, x),
    "special.bessel_j0": lambda x: mpmath.besselj(0, x), "special.bessel_j1": lambda x: mpmath.besselj(1, x),
    "special.airy_ai": mpmath.airyai, "special.entr": lambda x: -x * mpmath.log(x), "special.ndtr": mpmath.ncdf,
    "special.expit": lambda x: 1 / (1 + mpmath.exp(-x)), "logit": lambda x: mpmath.log(x / (1 - x)),
    "nn.functional.softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "nn.functional.silu": lambda x: x / (1 + mpmath.exp(-x)),
    "nn.functional.gelu": lambda x: x * mpmath.ncdf(x),
    "nn.functional.mish": lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))),
    "nn.functional.logsigmoid": lambda x: -mpmath.log1p(mpmath.exp(-x)),
    "nn.functional.tanhshrink": lambda x: x - mpmath.tanh(x),
    "nn.functional.softsign": lambda x: x / (1 + abs(x)),
}  # fmt: skip


def along(exact, point, t):
    """A function on the curve x + t - t**2 / 3."""
    return exact(point + t - t * t * mpmath.mpf(2 / 3) / 2)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_to_order_eight_beside_mpmath(name):
    """Along a curve, whose second derivative takes part."""
    f, exact = pullback, FUNCTIONS[name]
    for part in name.split("."):
        f = getattr(f, part)
    for point in POINTS.get(name, (0.23, 0.71)):
        x, *slopes = (pullback.tensor(each, dtype=pullback.float64) for each in (point, 1.0, -2 / 3, *[0.0] * 6))
        value, derivatives = func.jet(f, (x,), (slopes,))
        with mpmath.workdps(50):
            true = mpmath.taylor(partial(along, exact, point), 0, 8)
            scale = [max(abs(c) for c in true[: order + 1]) * math.factorial(order) for order in range(9)]
            for order, mine in enumerate([value, *derivatives]):
                error = abs(mine.item() - true[order] * math.factorial(order))
                assert error <= 1e-11 * scale[order], (point, order, mine.item())


def test_what_is_refused():
    x, zero = pullback.tensor([1.0, 2.0]), pullback.zeros(2)
    with pytest.raises(ValueError, match=r"series\[0\] has 2 derivatives, and series\[1\] 1: give equally many"):
        func.jet(pullback.add, (x, x), ([zero, zero], [zero]))
    with pytest.raises(ValueError, match=r"series\[0\] is a list of derivatives, the first first; got tensor"):
        func.jet(pullback.sin, (x,), (x,))
    with pytest.raises(ValueError, match="tuples with an element for each argument"):
        func.jet(pullback.sin, (x,), ([zero], [zero]))
    with pytest.raises(RuntimeError, match="different size"):
        func.jet(pullback.sin, (x,), ([zero[:1]],))
    with pytest.raises(RuntimeError, match="real"):
        func.laplacian(pullback.sin)(pullback.tensor([1j]))
    with pytest.raises(ValueError, match=r"Write 1\.0 for 1"):
        func.laplacian(pullback.sin)(pullback.tensor([1]))


def test_arguments_and_results_may_be_nested_and_are_written():
    """A dict, an output that does not depend on the arguments, and an argument that is written to."""
    x, y = pullback.tensor([1.0, 2.0]), pullback.tensor(3.0)

    def f(given):
        given["x"][0] = given["y"] ** 2
        return {"product": given["x"] * given["y"], "constant": pullback.ones(1)}

    tree = {"x": x, "y": y}
    unit = {"x": pullback.zeros(2), "y": pullback.tensor(1.0)}
    still = {"x": pullback.zeros(2), "y": pullback.tensor(0.0)}
    outputs, (first, second, third) = func.jet(f, (tree,), ([unit, still, still],))
    assert outputs["product"].tolist() == [27.0, 6.0]
    assert first["product"].tolist() == [27.0, 2.0]  # of y ** 3 and 2 * y
    assert second["product"].tolist() == [18.0, 0.0]
    assert third["product"].tolist() == [6.0, 0.0]
    assert first["constant"].tolist() == [0.0]
    assert x.tolist() == [9.0, 2.0]


def test_transforms_and_compiled_functions_around_jets():
    x = pullback.tensor([0.3, 0.7], dtype=pullback.float64)

    def second(x):
        return func.jet(lambda x: pullback.sin(x) * x, (x,), ([pullback.ones_like(x), pullback.zeros_like(x)],))[1][1]

    true = lambda x: 2 * pullback.cos(x) - x * pullback.sin(x)
    slope_of_true = -3 * pullback.sin(x) - x * pullback.cos(x)
    close(second(x), true(x))
    close(func.vmap(second)(x), true(x))
    close(pullback.compile(second)(x), true(x))
    close(func.grad(lambda x: second(x).sum())(x), slope_of_true)
    close(func.jvp(second, (x,), (pullback.ones_like(x),))[1], slope_of_true)
    close(func.laplacian(lambda x: second(x).sum())(x), func.hessian(lambda x: second(x).sum())(x).trace())
    tracked = x.clone().requires_grad_()
    second(tracked).sum().backward()
    close(tracked.grad, slope_of_true)
    nested = func.jet(second, (x,), ([pullback.ones_like(x), pullback.zeros_like(x)],))[1][1]
    close(nested, -4 * pullback.cos(x) + x * pullback.sin(x))


def test_custom_functions_and_operations_have_jets():
    class Exp(pullback.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(output)

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * ctx.saved_tensors[0]

    cube = pullback.extend.elementwise("cube", lambda xp, g, x: g * 3 * x**2, forward=lambda x: x**3, inputs=("x",))
    x, one, zero = pullback.tensor(0.5), pullback.tensor(1.0), pullback.tensor(0.0)
    derivatives = func.jet(lambda x: cube(Exp.apply(x)), (x,), ([one, zero, zero],))[1]
    assert [d.item() for d in derivatives] == pytest.approx([3**k * math.exp(1.5) for k in (1, 2, 3)], rel=1e-6)


def test_random_numbers_are_the_same_in_all_directions():
    pullback.manual_seed(0)
    found = func.laplacian(lambda x: (x * x * pullback.rand(1)).sum())(pullback.tensor([1.0, 2.0]))
    pullback.manual_seed(0)
    assert found.item() == pytest.approx(4 * pullback.rand(1).item())


@pytest.mark.parametrize("name", ["eigvalsh", "svdvals"])
def test_laplacians_of_rules_that_choose_by_the_direction(name):
    """The bases of equal values are chosen for each direction."""
    values = getattr(pullback.linalg, name)
    x = pullback.tensor([[2.0, 0.3, 0.1], [0.1, 4.0, 0.2], [0.5, -0.2, 7.0]], dtype=pullback.float64)
    f = lambda x: (values(x + x.T) * pullback.arange(3)).sum()
    close(func.laplacian(f)(x), func.hessian(f)(x).reshape(9, 9).trace())

    def writes(x):
        return f(x.mul_(2))

    expected = 4 * func.laplacian(f)(2 * x)
    doubled = 2 * x
    close(func.laplacian(writes)(x), expected)
    assert x.tolist() == doubled.tolist()


def test_derivatives_in_bfloat16_are_those_in_float32():
    x = pullback.tensor([0.3, 0.5])
    f = lambda x: pullback.sin(x) * x.sum()
    for transform in (func.laplacian, lambda f: func.jacrev(func.jacrev(f))):
        mine = transform(f)(x.bfloat16())
        assert mine.dtype == pullback.bfloat16
        np.testing.assert_allclose(mine.float().numpy(), transform(f)(x).numpy(), rtol=0.03, atol=0.03)


def test_directions_that_vanish_and_values_that_are_infinite():
    """Coefficients that are zero have no part in products: the second derivative of x**2 is 2 at infinity too."""
    x, one, zero = pullback.tensor([1.0, math.inf]), pullback.ones(2), pullback.zeros(2)
    assert [d.tolist() for d in func.jet(lambda x: x * x, (x,), ([one, zero, zero],))[1][1:]] == [[2, 2], [0, 0]]
    assert [d.tolist() for d in func.jet(pullback.sin, (one,), ([zero, zero],))[1]] == [[0, 0], [0, 0]]
    later = func.jet(pullback.sin, (one,), ([zero, one, zero, zero],))[1]  # of sin(1 + t**2 / 2)
    close(pullback.stack(later)[:, 0], pullback.stack([zero, pullback.cos(one), zero, -3 * pullback.sin(one)])[:, 0])


def test_sinc_near_zero_to_order_twenty():
    places = [0.0, 1e-3, 0.05, 0.3, 0.7, 0.99]
    x = pullback.tensor(places, dtype=pullback.float64)
    line = [pullback.ones_like(x), *[pullback.zeros_like(x)] * 19]
    for order, found in enumerate(func.jet(pullback.sinc, (x,), (line,))[1], 1):
        terms = [
            (-1) ** n * math.pi ** (2 * n) / math.factorial(2 * n + 1) * math.perm(2 * n, order) for n in range(60)
        ]
        right = [math.fsum(term * at ** max(2 * n - order, 0) for n, term in enumerate(terms)) for at in places]
        np.testing.assert_allclose(found.numpy(), right, rtol=1e-12, atol=1e-14 * math.pi**order, err_msg=str(order))
