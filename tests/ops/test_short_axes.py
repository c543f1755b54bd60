"""Sums, and logarithms of sums of exponentials, over one axis: every axis, short and long, in every layout."""

import numpy as np
import pytest

import pullback
from pullback._core import xp

SHAPES = [
    (3, 2, 4),  # few elements
    (7, xp.NARROW, 9),
    (xp.NARROW, 9, xp.NARROW + 1),
    (40, xp.NARROW + 1, 5),
    (5, 300, 8),
    (3, xp.SMALL // 4 + 1, 4),  # more rows than BLAS takes in one thread, and a rest
    (2, xp.SMALL // 4, 4),
    (2, xp.BLOCK, 5),  # as many columns as BLAS adds up
    (2, xp.BLOCK + 1, 5),
    (xp.BLOCK + 1, 2, 3),
    (30, 8, 8),
    (300, 8, 16),
]
LAYOUTS = {
    "in order": lambda a: a,
    "transposed": lambda a: a.transpose(2, 1, 0).copy().transpose(2, 1, 0),
    "turned": lambda a: a.transpose(1, 2, 0).copy().transpose(2, 0, 1),
    "strided": lambda a: np.repeat(a, 2, -1)[..., ::2],
    "backwards": lambda a: a[::-1, :, ::-1].copy()[::-1, :, ::-1],
}


def given(shape, layout, dtype):
    """A tensor, and its elements in double precision."""
    rng = np.random.default_rng(5)
    array = rng.normal(size=shape)
    if dtype in (pullback.complex64, pullback.complex128):
        array = array + 1j * rng.uniform(-1, 1, size=shape)
    tensor = pullback.tensor(array, dtype=dtype).numpy()
    return pullback.from_numpy(LAYOUTS[layout](tensor)), tensor.astype(
        np.complex128 if tensor.dtype.kind == "c" else np.float64
    )


def near(dtype):
    """The tolerances of a dtype."""
    return {pullback.float16: {"rtol": 2e-3, "atol": 2e-3}, pullback.float64: {"rtol": 1e-12, "atol": 1e-12}}.get(
        dtype, {"rtol": 2e-5, "atol": 2e-5}
    )


@pytest.mark.parametrize("dtype", [pullback.float16, pullback.float32, pullback.float64, pullback.complex64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_axis(shape, layout, dtype):
    x, exact = given(shape, layout, dtype)
    for axis in range(3):
        for keep in (False, True):
            sums = x.sum(axis, keep)
            logs = pullback.logsumexp(x, axis, keep)
            for found, wanted in (
                (sums, exact.sum(axis, keepdims=keep)),
                (logs, np.log(np.exp(exact).sum(axis, keepdims=keep))),
            ):
                assert found.dtype == dtype
                assert found.is_contiguous()
                assert found.shape == wanted.shape
                np.testing.assert_allclose(found.numpy(), wanted, **near(dtype))


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 2)])
def test_nothing_to_add(shape):
    for dtype in (pullback.float32, pullback.float64):
        x = pullback.zeros(shape, dtype=dtype)
        for axis in range(3):
            for keep in (False, True):
                assert np.array_equal(x.sum(axis, keep).numpy(), np.zeros(shape).sum(axis, keepdims=keep))
                if shape[axis] == 0:
                    assert (pullback.logsumexp(x, axis, keep).numpy() == -np.inf).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_results_lie_in_memory_of_their_own(shape):
    """A write to a result leaves its operand, and other results, as they were."""
    x, exact = given(shape, "in order", pullback.float32)
    for axis in range(3):
        for function in (pullback.sum, pullback.logsumexp):
            first, second = function(x, axis), function(x, axis)
            kept = second.numpy().copy()
            first.zero_()
            assert np.array_equal(x.numpy(), exact)
            assert np.array_equal(second.numpy(), kept)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_numbers_that_are_not_finite(axis, shape):
    """Where all are -inf the result is -inf; an inf gives inf, and a NaN NaN; large numbers do not overflow."""
    x = np.random.default_rng(1).normal(size=shape)
    lines = np.moveaxis(x, axis, -1)
    lines[0, 0], lines[0, 1, 0], lines[1, 0, 0], lines[1, 1] = -np.inf, np.inf, np.nan, 1e30
    lines[-1, -1, 0] = -np.inf
    for dtype in (np.float32, np.float64):
        found = pullback.logsumexp(pullback.tensor(x.astype(dtype)), axis).numpy()
        with np.errstate(invalid="ignore"):
            wanted = np.logaddexp.reduce(x, axis)
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5)
        assert (found[0, 0], found[0, 1]) == (-np.inf, np.inf)
        assert np.isnan(found[1, 0])


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", SHAPES[:3])
def test_the_gradient_is_the_softmax(shape, axis):
    x, exact = given(shape, "in order", pullback.float64)
    x.requires_grad_()
    weights = np.random.default_rng(2).normal(size=np.delete(shape, axis))
    pullback.logsumexp(x, axis).backward(pullback.tensor(weights))
    powers = np.exp(exact)
    wanted = np.expand_dims(weights, axis) * powers / powers.sum(axis, keepdims=True)
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1e-12)
