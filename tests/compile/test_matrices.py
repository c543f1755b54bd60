"""Products of matrices by machine code for wide registers, beside NumPy's in double precision."""

import ctypes

import numpy as np
import pytest

pytest.importorskip("llvmlite")
import pullback
from pullback.compile.machine import dense, matrices, native

pytestmark = pytest.mark.skipif(not native.multiplies(), reason="this processor has narrow registers")

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 47, 48, 49, 64, 97, 130, 256, 257, 300)


def product(a, b, out):
    """out = a @ b by the function of their dtype."""
    of = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 8)
    steps = [step // a.itemsize for step in (*a.strides, *b.strides, out.strides[0])]
    places = [x.ctypes.data for x in (a, b, out)]
    of(matrices.address(f"multiply_{a.dtype.char}"))(*places, len(a), b.shape[1], len(b), *steps)


def laid_out(random, shape, dtype):
    """A matrix by rows, by columns, or with gaps along both axes."""
    rows, columns = shape
    how = random.integers(3)
    if how == 0:
        return random.standard_normal((rows, columns)).astype(dtype)
    if how == 1:
        return random.standard_normal((columns, rows)).astype(dtype).T
    return random.standard_normal((2 * rows, 3 * columns)).astype(dtype)[::2, ::3]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(4))
def test_products_of_all_layouts_are_right_and_nothing_else_is_written(dtype, seed):
    random = np.random.default_rng(seed)
    for _ in range(150):
        rows, columns, inner = (int(n) for n in random.choice(SIZES, 3))
        inner = 0 if random.random() < 0.03 else inner
        a, b = laid_out(random, (rows, inner), dtype), laid_out(random, (inner, columns), dtype)
        room = np.full((rows + 1, columns + 5), 7, dtype)
        product(a, b, room[:rows, :columns])
        bound = np.finfo(dtype).eps * (inner + 1) * (np.abs(a).astype(float) @ np.abs(b).astype(float))
        error = np.abs(room[:rows, :columns] - a.astype(float) @ b.astype(float))
        assert (error <= bound).all(), (rows, columns, inner, a.strides, b.strides)
        assert (room[rows:] == 7).all()
        assert (room[:, columns:] == 7).all()


@pytest.mark.parametrize("place", [0, 5, 15])
def test_nan_and_inf_reach_their_row_and_column_and_no_other(place):
    a, b = np.ones((12, 20), np.float32), np.ones((20, 16), np.float32)
    a[place % 12, 3], b[7, place] = np.nan, np.inf
    out = np.empty((12, 16), np.float32)
    product(a, b, out)
    np.testing.assert_array_equal(out, a @ b)


def test_a_last_column_reads_nothing_behind_the_factor():
    """The other numbers of the page behind are NaN: what is read of them must not show."""
    for columns in (1, 15, 17, 33):
        whole = np.full(20 * columns + 64, np.nan, np.float32)
        b = whole[: 20 * columns].reshape(20, columns)
        b[:] = 1
        for factor in (b, np.ascontiguousarray(b.T).T):
            out = np.empty((9, columns), np.float32)
            product(np.ones((9, 20), np.float32), factor, out)
            np.testing.assert_array_equal(out, 20)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "sizes", [(8, 16, 8), (1, 50, 50), (50, 50, 1), (8, 32, 128), (3, 300, 9), (32, 32, 32), (33, 32, 32)], ids=str
)
def test_small_products_have_the_same_bits_beside_a_large_one(sizes, dtype):
    """Code for large products does small ones as well, if a program has it; each layout of both factors."""
    rows, inner, columns = sizes
    random = np.random.default_rng(rows)
    a, b = random.standard_normal((rows, inner)), random.standard_normal((inner, columns))
    a[0, 0], b[-1, -1] = np.inf, np.nan
    large = pullback.tensor(random.standard_normal((80, 80)), dtype=pullback.from_numpy(np.zeros(0, dtype)).dtype)
    given = [pullback.tensor(np.ascontiguousarray(x.astype(dtype))) for x in (a, a.T, b, b.T)]

    def products(a, turned_a, b, turned_b):
        return [left @ right for left in (a, turned_a.T) for right in (b, turned_b.T)]

    alone = pullback.compile(products)(*given)
    beside, _ = pullback.compile(lambda large, *given: (products(*given), large @ large))(large, *given)
    with np.errstate(invalid="ignore"):
        exact = a @ b
    for one, other in zip(alone, beside, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy(), strict=True)
        np.testing.assert_allclose(one.numpy(), exact, rtol=1e-3 if dtype == np.float32 else 1e-10, atol=1e-4)


@pytest.mark.parametrize("dtype", [pullback.float32, pullback.float64])
def test_products_of_views_by_blas(dtype, monkeypatch):
    """As on other processors: it reads rows or columns that lie together, and of others a copy."""
    for kind in (np.float32, np.float64):  # of this process; made once
        assert dense.product(np.dtype(kind)) and dense.batched(np.dtype(kind))
    monkeypatch.setattr("pullback.compile.machine.native.multiplies", lambda: False)
    x = pullback.from_numpy(np.random.default_rng(0).standard_normal((600, 1800))).to(dtype)
    programs = [
        lambda x: x[:, :2] @ x[:2, ::3],
        lambda x: x[:2, ::3] @ x[:, :50],
        lambda x: (x + 1)[:3, ::3] @ (x + 2)[:, :600],
        lambda x: x[:40, ::3] @ x[:40, ::3].mT,
        lambda x: x[:, 7] @ x[:, ::2],
        lambda x: x[::2, :60] @ x[:60, 5],
    ]
    for program in programs:
        found, wanted = pullback.compile(program, fullgraph=True)(x), program(x)
        np.testing.assert_allclose(
            found.numpy(), wanted.numpy(), rtol=1e-6, atol=2e-4 if dtype is pullback.float32 else 1e-11
        )
