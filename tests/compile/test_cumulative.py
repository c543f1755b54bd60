"""Cumulative products and sums in programs: loops over their axis, which products with vectors are parts of."""

import itertools

import numpy as np
import pytest
from tests.covering import pairwise

import pullback
from pullback.compile.passes import simplify
from pullback.program import record

SHAPES = [(5, 40), (40, 5), (3, 4, 20), (20, 1, 3), (1, 30), (300, 200), (17,), (4, 4), (0, 20), (20, 0)]
CASES = [(shape, axis) for shape in SHAPES for axis in range(-len(shape), len(shape), 1) if axis >= 0 or axis == -1]


def numbers(shape, seed=0, dtype=np.float64):
    return pullback.from_numpy(np.random.default_rng(seed).uniform(-1.2, 1.2, shape).astype(dtype))


def agree(function, *tensors, rtol=1e-12):
    """A function compiled gives what it gives, at these numbers and others."""
    compiled = pullback.compile(function, fullgraph=True)
    for factor in (1, 0.7):
        given = [tensor * factor for tensor in tensors]
        expected, found = (np.asarray(f(*given).numpy()) for f in (function, compiled))
        np.testing.assert_allclose(
            found, expected, rtol=rtol, atol=rtol * np.abs(expected[np.isfinite(expected)]).max(initial=1)
        )
    return compiled


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "logcumsumexp"])
@pytest.mark.parametrize(("shape", "axis"), CASES)
def test_results_and_gradients(name, shape, axis):
    def f(x):
        found = getattr(x * 1.5, name)(axis)
        return (found[0] if isinstance(found, tuple) else found) + 1

    x = numbers(shape)
    agree(f, x)
    agree(pullback.func.grad(lambda x: f(x).square().sum()), x, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.complex64])
def test_other_dtypes(dtype):
    x = pullback.from_numpy(np.random.default_rng(0).integers(1, 3, (6, 30)).astype(dtype))
    for axis in (0, 1):
        compiled = pullback.compile(lambda x, axis=axis: (x.cumsum(axis), x.cumprod(axis)))
        for found, expected in zip(compiled(x), (x.cumsum(axis), x.cumprod(axis)), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-3)


@pytest.mark.parametrize(("name", "start"), [("cumsum", 0), ("cumprod", 1)])
def test_numbers_without_a_value_stay_where_they_are(name, start):
    x = np.ones((6, 30))
    x[2, ::3], x[3, ::4], x[4, ::5] = np.inf, np.nan, -np.inf
    x[1, ::2] = 0
    with np.errstate(invalid="ignore"):
        agree(lambda x: getattr(x, name)(0), pullback.from_numpy(x))


def powers(t, count, left):
    """The columns 1, t, t**2 and so on, with the ones in the first place or in the last."""
    one = pullback.ones(t.numel(), 1, dtype=t.dtype)
    more = t[:, None].expand(t.numel(), count).cumprod(1)
    return pullback.cat((one, more) if left else (more, one), 1)


@pytest.mark.parametrize(("points", "count", "left"), [*itertools.product([1, 5, 100, 700], [1, 2, 30], [True, False])])
def test_polynomials(points, count, left):
    t, x, g = numbers(points), numbers(count + 1, 1), numbers(points, 2)
    agree(lambda t, x: powers(t, count, left) @ x, t, x)
    agree(lambda t, g: g @ powers(t, count, left), t, g)
    objective = lambda x, t: ((t.sign() - powers(t, count, left) @ x) ** 2).sum()
    agree(pullback.func.grad(objective), x, t, rtol=1e-10)
    agree(pullback.func.grad(objective, argnums=1), x, t, rtol=1e-9)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_products_of_other_cumulative_matrices(name):
    x, v, g = numbers((50, 20)), numbers(20, 1), numbers(50, 2)
    rows = lambda x: getattr(x, name)(1)
    columns = lambda x: getattr(x, name)(0)
    for f in (rows, columns):
        agree(lambda x, v, f=f: f(x) @ v, x, v)
        agree(lambda x, g, f=f: g @ f(x), x, g)
        agree(lambda x, g, v, f=f: pullback.cat([g @ f(x), f(x) @ v, f(x).sum(0)]), x, g, v)
        agree(lambda x, v, f=f: f(x * 2) @ v.reshape(20, 1), x, v)
    agree(lambda x, v: pullback.cat([x, rows(x)], 1) @ pullback.cat([v, v]), x, v)
    agree(lambda x, g: pullback.cat([rows(x), x, rows(x * 2)], 1).T @ g, x, g)


def test_the_matrix_of_a_polynomial_is_not_kept():
    t, x = numbers(1000), numbers(101, 1)
    compiled = agree(lambda t, x: (powers(t, 100, left=True) @ x).square().sum(), t, x)
    assert "cumprod" not in compiled.ir and "float64[1000, 100]" not in compiled.ir


def test_inside_a_loop():
    x = numbers((20, 30))

    def f(x):
        return pullback.scan(lambda c, _: ((c.cumsum(0) / 20).tanh(), c[0].sum()), x, None, length=4)[1]

    agree(f, x)
    agree(pullback.func.grad(lambda x: f(x).sum()), x, rtol=1e-10)


STRANGE = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 1.0, 2.0, -3.0]


@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("shape", [(40,), (9, 5), (5, 9), (2, 3, 17)])
def test_places_of_extremes_with_ties_infinities_and_nan(name, shape):
    for seed in range(20):
        x = pullback.from_numpy(np.random.default_rng(seed).choice(STRANGE[seed % 2 :], shape))
        for axis in range(-1, len(shape)):
            expected = getattr(x, name)(axis)
            for found, known in zip(
                pullback.compile(lambda x, a=axis: getattr(x, name)(a), fullgraph=True)(x), expected, strict=True
            ):
                np.testing.assert_array_equal(found.numpy(), known.numpy())
                assert found.dtype == known.dtype


@pytest.mark.parametrize("number", [0.1, 1 / 3])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_single_precision_is_carried_in_doubles(name, number):
    """As it is without compile: errors do not add up, and numbers in between may be smaller than single precision has them."""
    x = pullback.full((3000, 3), number)
    x[::3] = 1e-25
    x[1::3] = 1e25
    for f in (
        lambda x: getattr(x, name)(0),
        lambda x: getattr(x[:, 0], name)(0),
        lambda x: getattr(x[3:5].T[:, :1].expand(3, 1000), name)(1),
        lambda x: getattr(pullback.cat([x[:1], x[2:3].expand(500, 3)]), name)(0),
    ):
        np.testing.assert_array_equal(pullback.compile(f, fullgraph=True)(x).numpy(), f(x).numpy())


@pytest.mark.parametrize("step", [lambda c, r: (r, c * r), lambda c, r: (c * r, r), lambda c, r: (c + 1, c + r)])
def test_products_with_what_loops_keep_that_is_not_what_they_carry(step):
    x, v, w = numbers((20, 5)), numbers(20, 1), numbers(5, 2)
    for product in (lambda m: m.T @ v, lambda m: v @ m, lambda m: m @ w, lambda m: w @ m.T):
        agree(lambda x, product=product: product(pullback.scan(step, x[0], x)[1]), x)


def concatenated(first, t, count):
    return pullback.cat([first[:, None], t[:, None].expand(-1, count - 1)], 1)


def written(first, t, count):
    found = first[:, None].expand(-1, count).clone()
    found[:, 1:] = t[:, None]
    return found


def written_elsewhere(first, t, count):
    found = first[:, None].expand(-1, count).clone()
    found[:, 2:] = t[:, None]
    return found


def written_along_the_other_axis(first, t, count):
    found = first[:, None].expand(-1, count).clone()
    found[..., 1:, :] = t[1:, None]
    return found


ENDS = {
    "product": lambda m, x, r: m @ x,
    "product from the left": lambda m, x, r: r @ m,
    "scaled columns": lambda m, x, r: (m * x).sum(1),
    "scaled rows": lambda m, x, r: (r[:, None] * m).sum(0, keepdim=True),
    "scaled by both": lambda m, x, r: (m * (r[:, None] * x)).sum(1),
    "itself": lambda m, x, r: m + 1,
}


STARTS = [concatenated, written, written_elsewhere, written_along_the_other_axis]
LENGTHS = [(5, 7), (1, 4), (33, 20), (3, 3), (6, 2), (4, 1)]


@pytest.mark.parametrize(("name", "start", "end", "shape"), pairwise(["cumprod", "cumsum"], STARTS, [*ENDS], LENGTHS))
def test_one_number_after_a_first_one(name, start, end, shape):
    def f(first, t, x, r):
        return ENDS[end](getattr(start(first, t, shape[1]), name)(1), x, r)

    def turned(first, t, x, r):
        return ENDS[end](getattr(start(first, t, shape[1]).T.clone(), name)(0).T, x, r)

    given = [numbers(shape[:1], 1), numbers(shape[:1]), numbers(shape[1:], 2), numbers(shape[:1], 3)]
    for function in (f, turned):
        agree(function, *given)
        agree(pullback.func.grad(lambda *a, f=function: f(*a).square().sum(), argnums=1), *given, rtol=1e-9)
        agree(pullback.func.grad(lambda *a, f=function: f(*a).square().sum(), argnums=2), *given, rtol=1e-9)


def test_polynomials_are_summed_as_their_powers_are_made():
    t, x = numbers((300,)), numbers((20,), 1)

    def f(x):
        return (concatenated(pullback.ones_like(t), t, 20).cumprod(1) * x).sum(1).square().sum()

    for function in (f, pullback.func.grad(f)):
        program = simplify(record(function, x).program)
        assert max(value.size for e in program.equations for value in e.outputs) == 300
