"""Elements a few places apart: loaded and stored by registers of adjacent ones, of which none is behind the last."""

import ctypes
import mmap
import sys

import numpy as np
import pytest

import pullback

STEPS = range(2, 6)
"""The last one is too far for registers of adjacent elements."""
LENGTHS = (1, 2, 7, 8, 9, 15, 16, 17, 33, 70)
DTYPES = (np.float32, np.float64, np.int32, np.int64, np.int16, np.bool_)


def numbers(count, dtype):
    return (np.arange(count) * 7 % 11 - 5).astype(dtype)


def changed(x):
    return ~x if x.dtype == pullback.bool else x + 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", STEPS)
def test_loads(step, dtype):
    def function(x):
        return [changed(x[:, : step * (length - 1) + 1 : step]) for length in LENGTHS]

    x = numbers(3 * step * LENGTHS[-1], dtype).reshape(3, -1)
    found = pullback.compile(function, fullgraph=True)(pullback.from_numpy(x))
    for mine, its in zip(found, function(pullback.from_numpy(x)), strict=True):
        np.testing.assert_array_equal(mine.numpy(), its.numpy(), strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", STEPS)
def test_stores(step, dtype):
    def function(x):
        return [pullback.stack([changed(x[:, n : length + n]) for n in range(step)], -1) for length in LENGTHS]

    x = numbers(2 * (step + LENGTHS[-1]), dtype).reshape(2, -1)
    found = pullback.compile(function, fullgraph=True)(pullback.from_numpy(x))
    for mine, its in zip(found, function(pullback.from_numpy(x)), strict=True):
        np.testing.assert_array_equal(mine.numpy(), its.numpy(), strict=True)


@pytest.mark.parametrize("strange", [np.nan, np.inf, -0.0])
def test_strange_numbers_between_do_not_matter(strange):
    x = np.full((2, 2 * LENGTHS[-1]), strange)
    x[:, ::2] = np.arange(LENGTHS[-1])
    found = pullback.compile(lambda x: [x[:, : 2 * length : 2].sum(1) for length in LENGTHS])(pullback.from_numpy(x))
    for length, mine in zip(LENGTHS, found, strict=True):
        np.testing.assert_array_equal(mine, x[:, : 2 * length : 2].sum(1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", STEPS)
def test_quotients_are_added_up_without_what_lies_beside_them(step, dtype):
    def function(x, y):
        return [(x / y)[:, : step * (length - 1) + 1 : step].sum(-1) for length in LENGTHS]

    x = np.random.default_rng(0).uniform(1, 2, (2, 3, step * LENGTHS[-1])).astype(dtype)
    found = pullback.compile(function, fullgraph=True)(*pullback.from_numpy(x).unbind(0))
    for length, mine in zip(LENGTHS, found, strict=True):
        expected = (x[0] / x[1])[:, : step * (length - 1) + 1 : step].sum(-1)
        np.testing.assert_allclose(mine.numpy(), expected, rtol=1e-5 if dtype is np.float32 else 1e-13)


@pytest.mark.skipif(sys.platform != "linux", reason="protects a page")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", STEPS)
def test_nothing_behind_the_last_is_read(step, dtype):
    page, lengths = mmap.PAGESIZE, LENGTHS if step == 2 else LENGTHS[3:5]
    memory = mmap.mmap(-1, 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(start + page), page, 0) == 0
    function = pullback.compile(lambda x: x[::step] * 2, fullgraph=True)
    for length in lengths:
        size = step * (length - 1) + 1
        x = np.frombuffer(memory, dtype, size, page - size * np.dtype(dtype).itemsize)
        x[:] = numbers(size, dtype)
        np.testing.assert_array_equal(function(pullback.from_numpy(x)).numpy(), x[::step] * 2)


REPEATED = {
    "interleaved": lambda x: pullback.logsumexp(x.repeat_interleave(2, 1), -1),
    "of expanded": lambda x: x[:, :, None].expand(-1, -1, 3).reshape(len(x), -1).softmax(1),
    "repeated": lambda x: x.repeat(1, 3).softmax(1),
    "used again": lambda x: pullback.cat([(y := x.repeat_interleave(2, 1).exp()), y / y.sum(1, keepdim=True)]),
    "beside others": lambda x: (y := x.exp()[:, :, None] + x[:, None, :3].sin()) / y.sum((1, 2), keepdim=True),
}


@pytest.mark.parametrize("shape", [(2, 16), (31, 63), (3, 5), (1, 33), (64, 3)])
@pytest.mark.parametrize("name", REPEATED)
def test_rows_with_repeated_elements(name, shape):
    """What is kept of a row for a later phase does not depend on the place among equal elements."""
    function, x = REPEATED[name], pullback.from_numpy(np.random.default_rng(0).normal(size=shape))
    slope = pullback.func.grad(lambda x: ((y := function(x)) * y * pullback.arange(y.numel()).reshape(y.shape)).sum())
    for one in (function, slope):
        found = pullback.compile(one, fullgraph=True)(x)
        np.testing.assert_allclose(found.numpy(), one(x).numpy(), rtol=1e-9, atol=1e-9)
