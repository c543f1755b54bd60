"""Products of two matrices, eager, by machine code: of any layout, cut for threads or not, and left to BLAS otherwise."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback._core import machine, xp as _xp
from pullback.compile.machine import dense, native

pytestmark = pytest.mark.skipif(not native.multiplies(), reason="with narrow registers products are left to BLAS")
DTYPES = [np.float32, np.float64]


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def layouts(x):
    """The same matrix, lying in memory in several ways."""
    room = np.zeros((3 * x.shape[0], 2 * x.shape[1] + 5), x.dtype)
    spread = room[::3, 1 : 1 + 2 * x.shape[1] : 2]
    spread[...] = x
    backwards = np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]
    return [x, np.asfortranarray(x), spread, backwards]


def exact(a, b):
    """The product with more digits; of doubles it takes NumPy's loops, which are slow."""
    wide = float if a.dtype == np.float32 else np.longdouble
    return a.astype(wide) @ b.astype(wide)


def assert_product(a, b):
    found, wanted = dense.product(a.dtype)(a, b), exact(a, b)
    size = np.abs(a).astype(float) @ np.abs(b).astype(float)
    assert (found.shape, found.dtype, found.flags.c_contiguous) == (wanted.shape, a.dtype, True)
    assert (np.abs(found - wanted) <= 2 * np.sqrt(a.shape[1]) * np.finfo(a.dtype).eps * size).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(8, 1024, 8), (33, 70, 50), (131, 40, 77), (9, 300, 129), (200, 8, 300)])
def test_layouts(sizes, dtype, rng):
    rows, inner, columns = sizes
    a, b = rng.standard_normal((rows, inner)).astype(dtype), rng.standard_normal((inner, columns)).astype(dtype)
    for left in layouts(a):
        for right in layouts(b):
            assert_product(left, right)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(1200, 60, 40), (40, 60, 1200), (517, 300, 515), (2100, 33, 31), (8, 65, 9000)])
def test_parts_of_threads_cover_the_result(sizes, dtype, rng):
    rows, inner, columns = sizes
    a, b = rng.standard_normal((rows, inner)).astype(dtype), rng.standard_normal((inner, columns)).astype(dtype)
    before, results = pullback.get_num_threads(), []
    try:
        for count in (1, 2, 5):
            pullback.set_num_threads(count)
            results.append(dense.product(a.dtype)(a, b))
    finally:
        pullback.set_num_threads(before)
    assert_product(a, b)
    for result in results:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_nan_and_infinities(dtype, rng):
    a, b = rng.uniform(1, 2, (40, 60)).astype(dtype), rng.uniform(1, 2, (60, 70)).astype(dtype)
    a[3, 5], a[7, 59], b[2, 69], b[11, 0] = np.nan, np.inf, -np.inf, 0
    a[9, 11] = np.inf
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.isfinite(dense.product(a.dtype)(a, b)), np.isfinite(a @ b))
        np.testing.assert_array_equal(np.isnan(dense.product(a.dtype)(a, b)), np.isnan(a @ b))


def batches(x):
    """The same batch of matrices, lying in memory in several ways."""
    turned = np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    rows_first = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, -2, 0)), 0, -2)
    backwards = np.ascontiguousarray(x[..., ::-1, ::-1])[..., ::-1, ::-1]
    return [x, turned, rows_first, backwards, np.repeat(x, 2, -1)[..., ::2]]


BATCHES = [
    ((32,), (32,)), ((3, 5), (3, 5)), ((1, 5), (3, 5)), ((3, 1), (1, 5)), ((1, 1), (3, 5)), ((2,), (2,)), ((9,), (1,)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(32, 16, 32), (33, 70, 50), (1, 140, 77), (200, 300, 3), (50, 1, 120), (64, 64, 2)])
@pytest.mark.parametrize(("left", "right"), BATCHES)
def test_batches(left, right, sizes, dtype, rng):
    rows, inner, columns = sizes
    a = rng.standard_normal((*left, rows, inner)).astype(dtype)
    b = rng.standard_normal((*right, inner, columns)).astype(dtype)
    wanted = exact(a, b)
    bound = 2 * np.sqrt(inner) * np.finfo(dtype).eps * (np.abs(a).astype(float) @ np.abs(b).astype(float))
    outs = [np.empty((*wanted.shape[:-1], 2 * columns), dtype)[..., columns:], np.empty(wanted.shape, dtype)]
    for x in batches(a):
        for y in batches(b):
            made = dense.batched(x.dtype)(x, y)
            assert (made.shape, made.dtype, made.flags.c_contiguous) == (wanted.shape, x.dtype, True)
            assert (np.abs(made - wanted) <= bound).all()
        for out in outs:
            assert dense.batched(x.dtype)(x, b, out) is out
            np.testing.assert_array_equal(out, dense.batched(x.dtype)(x, b))


def test_which_batches_are_left_to_blas(rng):
    batched = dense.batched(np.dtype(np.float32))
    a, b = rng.standard_normal((2, 12, 40, 40)).astype(np.float32)
    assert batched(a, b) is not None
    unaligned = np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(np.float32).reshape(a.shape)
    out = np.empty_like(a)
    others = [
        (a,), (a, b, out, out), (a[0], b[0]), (a, b[0]), (a[:5], b), (a, b[:, :9]), (a[None, None], b[None, None]),
        (a, b[:, :, :1]), (a[:1, :2, :2], b[:1, :2, :2]), (a[:0], b[:0]), (a[..., :0], b[:, :0]), (a, b.astype(np.float64)),
        (unaligned, b), (a, 1.0), (np.ma.array(a), b), (a, b, out[:5]), (a, b, out.swapaxes(1, 2)), (a, b, 1.0),
        (a[:, :5, :5], b[:, :5, :5]), (a, b, out.astype(np.float64)),
    ]  # fmt: skip
    for arguments in others:
        assert batched(*arguments) is None
    assert batched(np.repeat(a, 9, 0)[:, :5, :5], np.repeat(b, 9, 0)[:, :5, :5].swapaxes(1, 2)) is not None
    read_only = np.empty_like(a)
    read_only.flags.writeable = False
    assert batched(a, b, read_only) is None


def test_what_is_left_to_blas(rng):
    product = dense.product(np.dtype(np.float32))
    a, b = rng.standard_normal((90, 90)).astype(np.float32), rng.standard_normal((90, 90)).astype(np.float32)
    unaligned = np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(np.float32)
    others = [
        (a[:4], b), (a, b[:, :4]), (a[:8, :8], b[:8, :8]), (a, b.astype(np.float64)), (a.astype(np.float16), b), (a[0], b),
        (a[None], b), (a, b[:50]), (a, 1.0), (a, None), (np.ma.array(a), b), (unaligned.reshape(90, 90), b), (a,), (a, b, a),
    ]  # fmt: skip
    for arguments in others:
        assert product(*arguments) is None
    assert dense.product(np.dtype(np.float16)) is None
    assert dense.product(np.dtype(np.complex64)) is None


def test_matmul_uses_it_once_many_numbers_have_been_multiplied(monkeypatch, rng):
    asked = []
    monkeypatch.setattr(machine.budget, "products", {})
    monkeypatch.setattr(machine.budget, "multiplications", machine.PRODUCTS - 2 * 64**3)
    monkeypatch.setattr(dense, "product", lambda dtype: lambda a, b: asked.append((a.shape, b.shape)))
    a = rng.standard_normal((64, 64)).astype(np.float32)
    for count in (0, 1, 2):
        np.testing.assert_array_equal(_xp.matmul(a, a), a @ a)
        assert len(asked) == count
    _xp.matmul(a[:16, :32], a[:32])
    assert len(asked) == 2, "small factors do not even ask"


def test_gradients_of_layers(rng):
    x = pullback.tensor(rng.standard_normal((300, 64)), requires_grad=True)
    layer = pullback.nn.Linear(64, 96, dtype=pullback.float64)
    g = rng.standard_normal((300, 96))
    layer(x).backward(g)
    weight = layer.weight.detach().numpy()
    np.testing.assert_allclose(x.grad.numpy(), g @ weight, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(layer.weight.grad.numpy(), g.T @ x.detach().numpy(), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(layer.bias.grad.numpy(), g.sum(0), rtol=1e-11, atol=1e-12)
