"""Copies of large arrays by machine code: what NumPy writes, to the bit, in memory of their own."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback._core import machine
from pullback.compile.machine import moving

DTYPES = ["f", "d", "e", "F", "D", "q", "b", "?"]
SHAPES = [(70_003,), (37, 2003), (3, 41, 501), (1000, 40), (5, 1, 7001)]


@pytest.fixture(autouse=True)
def begun(monkeypatch):
    """As if many arrays had been met, and all were large."""
    monkeypatch.setattr(machine.budget, "elements", machine.ENOUGH)
    monkeypatch.setattr(machine, "MOVED", 1)


def drawn(dtype, shape):
    return (100 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)


def agree(found, wanted):
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_flip_roll_cat_and_stack(dtype, shape):
    x, y = drawn(dtype, shape), drawn(dtype, shape)[..., ::-1].copy()
    a, b = pullback.from_numpy(x), pullback.from_numpy(y)
    for axis in range(x.ndim):
        part = (slice(None),) * axis + (slice(1, -2),)
        agree(a.flip(axis).numpy(), np.flip(x, axis))
        agree(a.roll(5, axis).numpy(), np.roll(x, 5, axis))
        agree(pullback.cat([a, b], axis).numpy(), np.concatenate([x, y], axis))
        agree(pullback.cat([a, b[part], a], axis).numpy(), np.concatenate([x, y[part], x], axis))
        agree(pullback.stack([a, b, a], axis).numpy(), np.stack([x, y, x], axis))
    agree(a.flip(tuple(range(x.ndim))).numpy(), np.flip(x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_triangles(dtype):
    for shape in ((41, 501), (501, 41), (3, 2, 70, 80), (1, 9000)):
        x = drawn(dtype, shape)
        for k in (-9001, -501, -40, -1, 0, 1, 39, 40, 500, 9001):
            agree(pullback.from_numpy(x).tril(k).numpy(), np.tril(x, k))
            agree(pullback.from_numpy(x).triu(k).numpy(), np.triu(x, k))
    x = drawn(dtype, (64, 100, 30)).swapaxes(0, 2)  # lies in another order
    agree(pullback.from_numpy(x).tril().numpy(), np.tril(x))


INDICES = [
    (slice(3, -2),),
    (slice(None), slice(2, 9)),
    (slice(None), -1),
    (7,),
    (slice(None), slice(-4, None)),
    (slice(4, 4),),
    (slice(1, None, 2),),
    (slice(1, 9), slice(1, 9)),
    (slice(None), None, slice(1, 9)),
    (Ellipsis, slice(1, 9)),
    (slice(2, 7), Ellipsis),
    (Ellipsis, 3),
]


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("shape", [(37, 2003), (12, 11, 501)])
def test_gradients_of_slices(shape, index):
    x = pullback.zeros(shape, dtype=pullback.float64, requires_grad=True)
    y = x[index]
    g = np.random.default_rng(1).standard_normal(tuple(y.shape))
    for cotangent in (g, np.asfortranarray(g)):
        wanted = np.zeros(shape)
        wanted[index] = cotangent
        (found,) = pullback.autograd.grad(y, x, pullback.from_numpy(cotangent), retain_graph=True)
        agree(found.numpy(), wanted)
    (found,) = pullback.autograd.grad(y.sum(), x)
    wanted[...] = 0
    wanted[index] = 1
    agree(found.numpy(), wanted)


def test_results_are_nobody_elses_memory():
    x = pullback.from_numpy(drawn("f", (300, 4000)))
    for moved in (x.flip(1), x.roll(1, 1), pullback.cat([x]), pullback.stack([x]), x.tril(5000), x.triu(-5000)):
        assert not np.shares_memory(moved.numpy(), x.numpy())
        kept = moved.numpy().copy()
        x.add_(1)
        agree(moved.numpy(), kept)
        x.sub_(1)


def test_results_do_not_depend_on_the_number_of_threads():
    x = pullback.from_numpy(drawn("d", (700, 701)))
    before = pullback.get_num_threads()
    found = []
    try:
        for number in (1, 2, 5):
            pullback.set_num_threads(number)
            found.append([y.numpy().tobytes() for y in (x.flip(1), x.tril(), pullback.cat([x, x], 1))])
    finally:
        pullback.set_num_threads(before)
    assert found[0] == found[1] == found[2]


def test_arrays_of_several_dtypes_are_joined_by_numpy():
    x, y = drawn("f", (90_000,)), drawn("d", (90_000,))
    agree(pullback.cat([pullback.from_numpy(x), pullback.from_numpy(y)]).numpy(), np.concatenate([x, y]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "padding"),
    [
        ((8, 4, 32, 40), (1, 1)),
        ((8, 4, 32, 40), (3, 0)),
        ((8, 4, 32, 40), (0, 5)),
        ((1, 1, 150, 300), (2, 1)),
        ((700, 1, 1, 60), (1, 2)),
        ((2, 3, 8, 8), (1, 1)),
        ((4, 16, 700), (3,)),
        ((4, 4, 16, 16, 16), (1, 0, 2)),
    ],
)
def test_zeros_around_images(shape, padding, dtype):
    x = drawn(dtype, shape)
    expected = np.pad(x, [(0, 0)] * (x.ndim - len(padding)) + [(p, p) for p in padding])
    for given in (x, np.array(x.swapaxes(0, -1), order="C").swapaxes(0, -1)):
        junk = np.full(expected.shape, np.nan, dtype)
        del junk  # its memory may be used again
        out = moving.padded(given, padding)
        assert out.flags.c_contiguous
        np.testing.assert_array_equal(out, expected)
