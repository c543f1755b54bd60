"""What is taken and added along an axis: every axis, few and many indices, repeated, counted from the end or out of range."""

import numpy as np
import pytest

import pullback
from pullback._core import xp

SHAPES = [((3, 4, 5), 2), ((5, 7, 9), 11), ((40, 6, 12), 17), ((6, 40, 3), 1), ((2, 3, 50), 64), ((17, 30, 12), 25)]
DTYPES = [np.float32, np.float64, np.int64, np.bool_]


def drawn(rng, shape, count, axis, kind):
    """Indices along an axis, of which some or all others have the same, and fewer or as many others as there are."""
    size = (*shape[:axis], count, *shape[axis + 1 :])
    if kind == "repeated":
        once = rng.integers(0, shape[axis], [1 if i == (axis + 1) % 3 else n for i, n in enumerate(size)])
        return np.broadcast_to(once, size)
    if kind == "fewer":
        size = tuple(n if i == axis else max(1, n - 1) for i, n in enumerate(size))
    places = rng.integers(0, shape[axis], size)
    return places.transpose(2, 1, 0).copy().transpose(2, 1, 0) if kind == "transposed" else places


def each(indices, axis):
    """The place of each index, and the place that it stands for."""
    for place in np.ndindex(indices.shape):
        yield place, (*place[:axis], indices[place], *place[axis + 1 :])


@pytest.mark.parametrize("kind", ["repeated", "fewer", "any", "transposed"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("shape", "count"), SHAPES)
def test_gather_and_its_gradient(shape, count, axis, kind):
    rng = np.random.default_rng(0)
    indices = drawn(rng, shape, count, axis, kind)
    for dtype in DTYPES:
        for turned in (False, True):
            x = (rng.normal(size=shape) * 9).astype(dtype)
            x = x.transpose(1, 2, 0).copy().transpose(2, 0, 1) if turned else x
            tensor = pullback.tensor(x) if not turned else pullback.from_numpy(x)
            wanted = np.empty(indices.shape, dtype)
            for place, source in each(indices, axis):
                wanted[place] = x[source]
            if dtype in (np.float32, np.float64):
                tensor.requires_grad_()
            found = tensor.gather(
                axis, pullback.from_numpy(np.array(indices)) if kind != "repeated" else pullback.tensor(indices)
            )
            assert found.is_contiguous()
            assert np.array_equal(found.detach().numpy(), wanted)
            if tensor.requires_grad:
                g = rng.normal(size=indices.shape).astype(dtype)
                found.backward(pullback.tensor(g))
                total = np.zeros(shape)
                for place, source in each(indices, axis):
                    total[source] += g[place]
                np.testing.assert_allclose(tensor.grad.numpy(), total, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["repeated", "fewer", "any", "transposed"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("shape", "count"), SHAPES)
def test_rows_of_places_taken_and_added(shape, count, axis, kind):
    """The functions themselves, with indices that repeat without memory of their own, and for every kind of sum."""
    rng = np.random.default_rng(1)
    indices = drawn(rng, shape, count, axis, kind)
    for dtype in (np.float32, np.float64):
        x, g = rng.normal(size=shape).astype(dtype), rng.normal(size=indices.shape).astype(dtype)
        taken, put = xp.take_along_axis(x, indices, axis=axis), xp.put_along_axis(g, indices, axis=axis, shape=shape)
        highest, wanted = x.copy(), x.copy()
        xp.combine_along(np.maximum, highest, indices, g, axis=axis)
        total = np.zeros(shape)
        for place, source in each(indices, axis):
            assert taken[place] == x[source]
            total[source] = g[place] if count == 1 else total[source] + g[place]
            wanted[source] = max(wanted[source], g[place])
        np.testing.assert_allclose(put, total, rtol=1e-4, atol=1e-5)
        assert np.array_equal(highest, wanted)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_indices_from_the_end_and_out_of_range(axis):
    shape = (13, 12, 20)
    x, indices = np.random.default_rng(2).normal(size=shape), np.zeros(shape, np.int64)
    indices[-1, -1, -1] = -1
    assert np.array_equal(xp.take_along_axis(x, indices, axis=axis), np.take_along_axis(x, indices, axis))
    for wrong in (shape[axis], -shape[axis] - 1):
        indices[0, 0, 0] = wrong
        with pytest.raises(IndexError):
            xp.take_along_axis(x, indices, axis=axis)
        with pytest.raises((IndexError, RuntimeError)):
            pullback.tensor(x).gather(axis, pullback.tensor(indices))
