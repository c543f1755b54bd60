"""Elements a few places apart: loaded and stored by registers of adjacent ones, of which none is behind the last."""

import ctypes
import mmap
import sys

import numpy as np
import pytest

import pullback
from pullback.compile.machine import memory

STEPS = range(2, memory.NEAR + 2)
"""The last one is too far for registers of adjacent elements."""
LENGTHS = (1, 2, 3, 7, 8, 9, 14, 15, 16, 17, 31, 33, 64, 100)
DTYPES = (np.float32, np.float64, np.int32, np.int64, np.int16, np.uint8, np.bool_)


def numbers(count, dtype):
    return (np.arange(count) * 7 % 11 - 5).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", STEPS)
def test_loads(step, dtype):
    function = pullback.compile(lambda x: x[:, ::step] ^ True if dtype is np.bool_ else x[:, ::step] + 1, fullgraph=True)
    for length in LENGTHS:
        x = numbers(3 * (step * (length - 1) + 1), dtype).reshape(3, -1)
        expected = x[:, ::step] ^ True if dtype is np.bool_ else x[:, ::step] + x.dtype.type(1)
        np.testing.assert_array_equal(function(pullback.from_numpy(x)).numpy(), expected, strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", STEPS)
def test_stores(step, dtype):
    def function(*parts):
        return pullback.stack([part ^ True if dtype is np.bool_ else part * 2 for part in parts], -1)

    compiled = pullback.compile(function, fullgraph=True)
    for length in LENGTHS:
        parts = [pullback.from_numpy(numbers(2 * length, dtype).reshape(2, -1)[:, ::-1].copy()) for _ in range(step)]
        np.testing.assert_array_equal(compiled(*parts).numpy(), function(*parts).numpy(), strict=True)


@pytest.mark.parametrize("strange", [np.nan, np.inf, -0.0])
def test_strange_numbers_between_do_not_matter(strange):
    function = pullback.compile(lambda x: x[:, ::2].sum(1), fullgraph=True)
    for length in LENGTHS:
        x = np.full((2, 2 * length - 1), strange)
        x[:, ::2] = np.arange(length)
        np.testing.assert_array_equal(function(pullback.from_numpy(x)).numpy(), x[:, ::2].sum(1))


@pytest.mark.skipif(sys.platform != "linux", reason="protects a page")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", STEPS)
def test_nothing_behind_the_last_is_read(step, dtype):
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(start + page), page, 0) == 0
    function = pullback.compile(lambda x: x[::step] * 2, fullgraph=True)
    for length in LENGTHS:
        size = step * (length - 1) + 1
        x = np.frombuffer(memory, dtype, size, page - size * np.dtype(dtype).itemsize)
        x[:] = numbers(size, dtype)
        np.testing.assert_array_equal(function(pullback.from_numpy(x)).numpy(), x[::step] * 2)
