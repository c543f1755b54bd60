"""Triangular systems by BLAS and by NumPy's functions: both against the definition, for every layout of the matrix."""

import numpy as np
import pytest

import pullback
from pullback._numerics import blas
from pullback.linalg import solve_triangular
from pullback.ops import lapack

SIZES = [1, 2, lapack.FEWEST - 1, lapack.FEWEST, 2 * lapack.BLOCK, 2 * lapack.BLOCK + 1]
LAYOUTS = {
    "in order": lambda a: a,
    "transposed": lambda a: np.array(a.swapaxes(-1, -2), order="C").swapaxes(-1, -2),
    "strided": lambda a: np.repeat(np.repeat(a, 2, -1), 3, -2)[..., ::3, ::2],
    "backwards": lambda a: np.array(a[..., ::-1, ::-1], order="C")[..., ::-1, ::-1],
    "unaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape),
}


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture(params=["BLAS", "NumPy"], autouse=True)
def way(request, monkeypatch):
    if request.param == "NumPy":
        monkeypatch.setattr(blas, "triangular", lambda dtype: None)
    elif blas.triangular(np.dtype(np.float64)) is None:
        pytest.skip("this NumPy has no BLAS that is found")


def matrices(rng, *shape, dtype=np.float64):
    """Matrices whose two triangles are those of well-conditioned systems."""
    n = shape[-1]
    return (rng.normal(size=shape) / n + np.eye(n) * rng.choice([-2.0, 1.5], n)).astype(dtype)


def expected(a, b, upper, unitriangular):
    """The definition, in double precision."""
    a = (np.triu if upper else np.tril)(a.astype(np.float64))
    if unitriangular:
        a = a - a * np.eye(a.shape[-1]) + np.eye(a.shape[-1])
    return np.linalg.inv(a) @ b.astype(np.float64)


@pytest.mark.parametrize("unitriangular", [False, True])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", SIZES)
def test_every_size_and_layout(n, layout, upper, unitriangular, rng):
    for dtype, close in ((np.float64, 1e-12), (np.float32, 1e-4)):
        for k in (1, 3, n):
            a, b = matrices(rng, n, n, dtype=dtype), rng.normal(size=(n, k)).astype(dtype)
            given = LAYOUTS[layout](b)
            x = lapack.solve_triangular(LAYOUTS[layout](a), given, upper=upper, unitriangular=unitriangular)
            assert x.dtype == dtype
            assert np.array_equal(given, b)
            np.testing.assert_allclose(x, expected(a, b, upper, unitriangular), rtol=close, atol=close)


@pytest.mark.parametrize("n", [3, lapack.FEWEST + 1])
@pytest.mark.parametrize(
    ("left", "right"), [((), (4,)), ((4,), ()), ((4,), (4,)), ((2, 1), (3,)), ((0,), (0,)), ((1, 4), (5, 1))]
)
def test_stacks_and_what_is_broadcast(n, left, right, rng):
    a, b = matrices(rng, *left, n, n), rng.normal(size=(*right, n, 2))
    for upper in (False, True):
        x = lapack.solve_triangular(a, b, upper=upper)
        assert x.shape == (*np.broadcast_shapes(left, right), n, 2)
        np.testing.assert_allclose(x, expected(a, b, upper, False), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (5, 0)])
def test_nothing_to_solve(shape):
    assert lapack.solve_triangular(np.eye(shape[0]), np.ones(shape), upper=True).shape == shape


@pytest.mark.parametrize("n", [4, 40])
def test_the_other_triangle_is_not_read_and_zeros_give_infinities(n, rng):
    a, b = matrices(rng, n, n), rng.normal(size=(n, 2))
    spoiled = np.where(np.tri(n, dtype=bool), a, np.nan)
    np.testing.assert_allclose(
        lapack.solve_triangular(spoiled, b, upper=False), expected(a, b, False, False), rtol=1e-11
    )
    spoiled[range(n), range(n)] = np.nan
    assert np.isfinite(lapack.solve_triangular(spoiled, b, upper=False, unitriangular=True)).all()
    a[n - 1, n - 1] = 0
    assert np.isinf(lapack.solve_triangular(a, b, upper=False)[n - 1]).all()


@pytest.mark.parametrize(("dtype", "close"), [(np.complex128, 1e-11), (np.complex64, 1e-4)])
def test_complex_systems(dtype, close, rng):
    a = (matrices(rng, 5, 5) + 1j * matrices(rng, 5, 5)).astype(dtype)
    b = (rng.normal(size=(5, 2)) + 1j).astype(dtype)
    for kept, upper in ((np.tril(a), False), (np.triu(a), True), (np.tril(a.T), False)):
        given = a.T if kept[-1, 0] == a[0, -1] else a
        x = lapack.solve_triangular(given, b, upper=upper)
        np.testing.assert_allclose(kept @ x, b, rtol=close)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n", [3, 20])
def test_cholesky_solve_has_the_gradient_of_a_general_matrix(n, upper, rng):
    """Differences of the definition with all elements of the factor free, as in torch where it is triangular."""
    lower = np.tril(matrices(rng, n, n))
    factor, right = lower.T.copy() if upper else lower, rng.normal(size=(n, 2))
    weights = rng.normal(size=(n, 2))

    def value(f):
        a = f.T @ f if upper else f @ f.T
        return (weights * np.linalg.solve(a, right)).sum()

    L, b = (pullback.tensor(x).requires_grad_() for x in (factor, right))
    x = pullback.cholesky_solve(b, L, upper)
    np.testing.assert_allclose((weights * x.detach().numpy()).sum(), value(factor), rtol=1e-10)
    (pullback.tensor(weights) * x).sum().backward()
    step = 1e-6
    for i, j in ((0, 0), (n - 1, 0), (0, n - 1), (n - 1, n - 1)):
        moved = np.zeros((n, n))
        moved[i, j] = step
        slope = (value(factor + moved) - value(factor - moved)) / (2 * step)
        np.testing.assert_allclose(L.grad[i, j].item(), slope, rtol=1e-5, atol=1e-7)
    a = factor.T @ factor if upper else factor @ factor.T
    np.testing.assert_allclose(b.grad.numpy(), np.linalg.solve(a, weights), rtol=1e-10)


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_solve_of_a_factor_that_is_recorded(upper, rng):
    """Whether it is triangular is asked while its numbers are not yet those of an array; machine code once read memory there."""
    lower, right = np.tril(matrices(rng, 200, 200)), pullback.tensor(rng.normal(size=(200, 2)))
    factor = pullback.tensor(lower.T.copy() if upper else lower)
    before = pullback.get_machine_code()
    pullback.set_machine_code("always")
    try:
        compiled = pullback.compile(lambda L, b: pullback.cholesky_solve(b, L * 2, upper))
        for _ in range(3):
            expected = np.linalg.solve(4 * lower @ lower.T, right.numpy())
            np.testing.assert_allclose(compiled(factor, right).numpy(), expected, rtol=1e-8)
    finally:
        pullback.set_machine_code(before)


def test_factors_with_a_zero_on_the_diagonal():
    assert pullback.cholesky_inverse(pullback.zeros(3, 0, 0)).shape == (3, 0, 0)
    L = pullback.tensor([[1.0, 0.0], [2.0, 0.0]])
    assert pullback.cholesky_solve(pullback.tensor([[1.0], [2.0]]), L).isnan().all()
    with pytest.raises(pullback.linalg.LinAlgError, match="cholesky_inverse: The diagonal element 2 is zero"):
        pullback.cholesky_inverse(L)


def test_tensors_of_numbers_in_reverse_byte_order_and_read_only(rng):
    a, b = matrices(rng, 20, 20), rng.normal(size=(20, 1))
    a.flags.writeable = False
    x = solve_triangular(pullback.tensor(a), pullback.tensor(b), upper=True)
    np.testing.assert_allclose(x.numpy(), expected(a, b, True, False), rtol=1e-11)
    swapped = a.astype(a.dtype.newbyteorder())
    np.testing.assert_allclose(lapack.solve_triangular(swapped, b, upper=True), x.numpy(), rtol=1e-11)
