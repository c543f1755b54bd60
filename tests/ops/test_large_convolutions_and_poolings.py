"""Convolutions and poolings large enough for machine code, where llvmlite is installed: what they say of themselves.

The same is asked where it is not, and of sizes on both sides of the border.
"""

import itertools
import math

import numpy as np
import pytest

import pullback
from pullback import ops
from pullback._core import machine
from pullback.ops.convolution import Window

F = pullback.nn.functional
CONVOLUTIONS = {
    "padding": {"size": (16, 5, 9, 8), "weight": (32, 5, 3, 3), "padding": (1, 1)},
    "no padding": {"size": (5, 12, 11, 12), "weight": (20, 12, 3, 2)},
    "stride": {"size": (4, 7, 21, 17), "weight": (33, 7, 3, 4), "padding": (2, 1), "stride": (2, 3)},
    "dilation": {"size": (4, 6, 17, 18), "weight": (48, 6, 3, 2), "padding": (2, 3), "dilation": (3, 2)},
    "few results": {"size": (8, 16, 20, 21), "weight": (3, 16, 3, 3), "padding": (1, 1)},
    "long lines": {
        "size": (3, 6, 13, 61),
        "weight": (18, 6, 2, 3),
        "padding": (0, 5),
        "stride": (2, 1),
        "dilation": (1, 4),
    },
    "a long line": {"size": (6, 16, 201), "weight": (33, 16, 2), "padding": (4,), "dilation": (8,)},
    "few places": {"size": (64, 16, 4, 4), "weight": (64, 16, 3, 3), "padding": (1, 1)},
    "one image": {"size": (1, 8, 40, 41), "weight": (24, 8, 5, 5), "padding": (2, 2)},
    "one axis": {"size": (6, 10, 90), "weight": (31, 10, 4), "padding": (3,), "stride": (2,)},
    "three axes": {"size": (3, 4, 8, 7, 6), "weight": (17, 4, 2, 3, 2), "padding": (1, 1, 0)},
    "a group for each channel": {"size": (4, 24, 23, 37), "weight": (24, 1, 3, 3), "padding": (1, 1), "groups": 24},
    "groups, stride": {
        "size": (5, 16, 31, 33),
        "weight": (48, 1, 3, 4),
        "padding": (0, 2),
        "stride": (2, 3),
        "groups": 16,
    },
    "groups, dilation": {"size": (8, 20, 17, 19), "weight": (20, 1, 5, 3), "dilation": (2, 3), "groups": 20},
    "groups, one axis": {"size": (3, 6, 5000), "weight": (12, 1, 4), "padding": (3,), "stride": (2,), "groups": 6},
    "groups, three axes": {
        "size": (4, 8, 9, 10, 11),
        "weight": (16, 1, 3, 2, 3),
        "padding": (1, 1, 2),
        "stride": (1, 2, 1),
        "groups": 8,
    },
    "many images": {"size": (600, 3, 20, 24), "weight": (4, 3, 2, 2), "padding": (1, 1)},
}
SLACK = {"float32": 2e-5, "float64": 1e-13}


def window(dims, stride=None, padding=None, dilation=None, groups=1):
    return Window(stride or (1,) * dims, padding or (0,) * dims, dilation or (1,) * dims, groups)


def given(name, dtype):
    """An image, a weight and the window of a case, the image with its channels last in memory."""
    options = dict(CONVOLUTIONS[name])
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(options.pop(key)).astype(dtype) for key in ("size", "weight"))
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1), w, window(x.ndim - 2, **options)


def windows(x, kernel, how, fill):
    """All windows, (batch, channels, *lengths, *kernel), with what lies outside."""
    around = [(0, 0), (0, 0), *((p, p) for p in how.padding)]
    x = np.pad(x, around, constant_values=fill)
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, how.dilation, strict=True)]
    found = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, x.ndim)))
    moves = [slice(None, None, s) for s in how.stride]
    return found[(slice(None), slice(None), *moves, *(slice(None, None, d) for d in how.dilation))]


def convolved(x, w, how):
    """A convolution, in double precision."""
    found = windows(x.astype(np.float64), w.shape[2:], how, 0)
    axes = range(-(w.ndim - 2), 0)
    pairs = zip(
        *(np.split(each, how.groups, axis) for each, axis in ((found, 1), (w.astype(np.float64), 0))), strict=True
    )
    products = [np.tensordot(part, weight, [[1, *axes], [1, *axes]]) for part, weight in pairs]
    return np.moveaxis(np.concatenate(products, -1), -1, 1)


def near(found, expected, dtype):
    assert found.dtype == dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=SLACK[dtype] * abs(expected).max())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_a_convolution_and_its_transposes(name, dtype):
    """<g, conv(x, w)> is linear in each of the three: the gradient by x times x is it, and so is that by w times w."""
    x, w, how = given(name, dtype)
    y = ops.convolve(x, w, window=how)
    near(y, convolved(x, w, how), dtype)
    rng = np.random.default_rng(1)
    g, u, v = (rng.standard_normal(shape).astype(dtype) for shape in (y.shape, x.shape, w.shape))
    image = ops.convolve_transpose(g, w, size=x.shape[2:], window=how)
    weight = ops.convolve_weight(x, g, kernel=w.shape[2:], window=how)
    assert (image.shape, weight.shape) == (x.shape, w.shape)
    assert (image.dtype, weight.dtype) == (x.dtype, w.dtype)
    for gradient, direction, change in ((image, u, convolved(u, w, how)), (weight, v, convolved(x, v, how))):
        pairs = gradient.astype(np.float64) * direction
        slack = 10 * SLACK[dtype] * math.sqrt((g * change).astype(np.float64).ravel() @ (g * change).ravel())
        assert abs(pairs.sum() - (g.astype(np.float64) * change).sum()) <= slack


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_results_do_not_depend_on_the_threads(name):
    x, w, how = given(name, "float32")
    before, found = pullback.get_num_threads(), []
    try:
        for threads in (1, 3):
            pullback.set_num_threads(threads)
            y = ops.convolve(x, w, window=how)
            image = ops.convolve_transpose(y, w, size=x.shape[2:], window=how)
            found.append([y, image, ops.convolve_weight(x, y, kernel=w.shape[2:], window=how)])
    finally:
        pullback.set_num_threads(before)
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("name", ["padding", "a group for each channel", "groups, stride"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_goes_where_its_windows_are(name, value):
    x, w, how = given(name, "float32")
    x = x.copy()
    x[3, 2, 4, 5] = value
    w[7, 0, 0, 0] = np.inf
    with np.errstate(invalid="ignore"):
        expected = convolved(x, w, how)
    found = ops.convolve(x, w, window=how)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))


def test_slopes_that_are_not_finite_stay_in_their_channel():
    x, w, how = given("a group for each channel", "float32")
    g, x = np.zeros(x.shape, "float32"), np.zeros_like(x)
    g[1, 5, -1, -1] = x[2, 7, 0, 0] = np.inf
    with np.errstate(invalid="ignore"):
        image = ops.convolve_transpose(g, w, size=x.shape[2:], window=how)
        weight = ops.convolve_weight(x, g, kernel=w.shape[2:], window=how)
    assert {(i, channel) for i, channel, *_ in np.argwhere(~np.isfinite(image))} == {(1, 5)}
    assert np.isnan(image).sum() == 0 and np.isinf(image).sum() == 4  # at a corner two by two elements are inside
    assert {channel for channel, *_ in np.argwhere(~np.isfinite(weight))} == {5, 7}


def test_second_derivatives_of_a_large_convolution():
    """Of (conv(x, w) ** 2).sum(), along u and v: derivatives by hand, from the convolutions of u and v."""
    x, w, how = given("padding", "float64")
    rng = np.random.default_rng(1)
    u, v = rng.standard_normal(x.shape), rng.standard_normal(w.shape)
    a, b = (pullback.tensor(value, requires_grad=True) for value in (x, w))
    y = F.conv2d(a, b, padding=1)
    by_image, by_weight = pullback.autograd.grad((y * y).sum(), (a, b), create_graph=True)
    along = (by_image * pullback.tensor(u)).sum() + (by_weight * pullback.tensor(v)).sum()
    first, second = pullback.autograd.grad(along, (a, b))
    # With y' = conv(u, w) + conv(x, v) it is 2 * <y', y'> + 2 * <y, y''>, y'' = 2 * conv(u, v), along u and v again.
    change = convolved(u, w, how) + convolved(x, v, how)
    expected = 2 * (change**2).sum() + 4 * (convolved(x, w, how) * convolved(u, v, how)).sum()
    np.testing.assert_allclose((first.numpy() * u).sum() + (second.numpy() * v).sum(), expected, rtol=1e-10)


TRANSPOSES = {  # the images are y, and the size is that of the result
    "stride": {"y": (6, 32, 7, 9), "weight": (32, 16, 4, 3), "size": (14, 18), "padding": (1, 1), "stride": (2, 2)},
    "one result": {
        "y": (8, 16, 14, 14),
        "weight": (16, 1, 4, 4),
        "size": (28, 28),
        "padding": (1, 1),
        "stride": (2, 2),
    },
    "a place for each image": {"y": (32, 16, 1, 1), "weight": (16, 32, 7, 7), "size": (7, 7)},
    "stride one, small": {"y": (33, 16, 3, 4), "weight": (16, 9, 4, 3), "size": (6, 6)},
    "stride one, large": {"y": (4, 16, 16, 16), "weight": (16, 16, 3, 3), "size": (16, 16), "padding": (1, 1)},
    "padding of the result": {
        "y": (5, 24, 8, 9),
        "weight": (24, 7, 3, 3),
        "size": (16, 19),
        "padding": (1, 0),
        "stride": (2, 2),
    },
    "gaps": {"y": (5, 24, 8, 9), "weight": (24, 7, 2, 2), "size": (24, 26), "stride": (3, 3)},
    "dilation": {
        "y": (5, 12, 10, 9),
        "weight": (12, 8, 3, 3),
        "size": (25, 10),
        "padding": (0, 2),
        "stride": (2, 1),
        "dilation": (3, 2),
    },
    "groups": {
        "y": (5, 24, 10, 9),
        "weight": (24, 6, 3, 3),
        "size": (20, 18),
        "padding": (1, 1),
        "stride": (2, 2),
        "groups": 3,
    },
    "one axis": {"y": (9, 16, 70), "weight": (16, 12, 5), "size": (143,), "stride": (2,)},
    "three axes": {"y": (3, 10, 4, 5, 6), "weight": (10, 8, 2, 3, 2), "size": (8, 11, 12), "stride": (2, 2, 2)},
    "many columns": {
        "y": (17, 16, 24, 24),
        "weight": (16, 16, 4, 4),
        "size": (48, 48),
        "padding": (1, 1),
        "stride": (2, 2),
    },
    "a large table": {
        "y": (1, 2, 130, 128),
        "weight": (2, 2, 3, 3),
        "size": (260, 256),
        "padding": (1, 1),
        "stride": (2, 2),
    },
    "few multiplications": {"y": (2, 3, 5, 4), "weight": (3, 4, 3, 3), "size": (11, 9), "stride": (2, 2)},
}


def laid(columns, size, kernel, how):
    """Columns, (batch, channels, *kernel, *lengths), added up to images of a size, in double precision."""
    image = np.zeros((*columns.shape[:2], *(n + 2 * p for n, p in zip(size, how.padding, strict=True))))
    for place in itertools.product(*map(range, kernel)):
        begins = [d * i for d, i in zip(how.dilation, place, strict=True)]
        steps = zip(begins, how.stride, columns.shape[2 + len(size) :], strict=True)
        image[(..., *(slice(b, b + s * n, s) for b, s, n in steps))] += columns[(slice(None), slice(None), *place)]
    return image[(..., *(slice(p, p + n) for n, p in zip(size, how.padding, strict=True)))]


def transposed(name, dtype):
    """The operands of a case, with the channels of y last in memory, and its options."""
    options = dict(TRANSPOSES[name])
    rng = np.random.default_rng(0)
    y, w = (rng.standard_normal(options.pop(key)).astype(dtype) for key in ("y", "weight"))
    size = options.pop("size")
    how = window(len(size), **options)
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(y, 1, -1)), -1, 1), w, {"size": size, "window": how}


def transposed_by_hand(y, w, size, window):
    pairs = zip(np.split(y.astype("d"), window.groups, 1), np.split(w.astype("d"), window.groups), strict=True)
    parts = [np.moveaxis(np.tensordot(a, b, (1, 0)), range(-b.ndim + 1, 0), range(1, b.ndim)) for a, b in pairs]
    return laid(np.concatenate(parts, 1), size, w.shape[2:], window)


@pytest.fixture(params=["many arrays", "no array"])
def met(request, monkeypatch):
    """As if many arrays had been met before, or none."""
    monkeypatch.setattr(machine.budget, "elements", machine.ENOUGH if request.param == "many arrays" else 0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TRANSPOSES)
@pytest.mark.usefixtures("met")
def test_a_transpose(name, dtype):
    y, w, options = transposed(name, dtype)
    near(ops.convolve_transpose(y, w, **options), transposed_by_hand(y, w, **options), dtype)


@pytest.mark.parametrize("name", TRANSPOSES)
def test_gradients_of_a_transpose(name):
    y, w, options = transposed(name, "float64")
    a, b = (pullback.tensor(each, requires_grad=True) for each in (y, w))
    found = ops.convolve_transpose(a, b, **options)
    g, u, v = (np.random.default_rng(1).standard_normal(shape) for shape in (found.shape, y.shape, w.shape))
    gradients = pullback.autograd.grad(found, (a, b), pullback.tensor(g))
    changes = transposed_by_hand(u, w, **options), transposed_by_hand(y, v, **options)
    for gradient, direction, change in zip(gradients, (u, v), changes, strict=True):
        np.testing.assert_allclose((gradient.numpy() * direction).sum(), (g * change).sum(), rtol=1e-9)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", TRANSPOSES)
@pytest.mark.usefixtures("met")
def test_what_is_not_finite_is_laid_where_its_windows_are(name, value):
    y, w, options = transposed(name, "float32")
    y[(0, 1, *[-1] * (y.ndim - 2))], w[(1, 0, *[0] * (y.ndim - 2))] = value, 0
    with np.errstate(invalid="ignore"):
        expected = transposed_by_hand(y, w, **options)
    found = ops.convolve_transpose(y, w, **options)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("size", [(7, 6), (40, 33), (400, 300)])
@pytest.mark.usefixtures("met")
def test_a_fold(size, dtype):
    how = window(2, stride=(2, 1), padding=(1, 2), dilation=(1, 2))
    lengths = how.lengths(size, (3, 2))
    columns = np.random.default_rng(0).standard_normal((2, 5, 3, 2, *lengths)).astype(dtype)
    given = pullback.tensor(columns.reshape(2, 30, -1))
    found = F.fold(given, size, (3, 2), dilation=(1, 2), padding=(1, 2), stride=(2, 1)).numpy()
    assert found.dtype == dtype
    expected = laid(columns.real, size, (3, 2), how)
    np.testing.assert_allclose(found.real, expected, atol=1e-5)
    again = F.fold(given[:1, ::2][:, :12], size, (3, 2), dilation=(1, 2), padding=(1, 2), stride=(2, 1)).numpy()
    picked = columns[:1].reshape(1, 30, *lengths)[:, ::2][:, :12].reshape(1, 2, 3, 2, *lengths)
    np.testing.assert_allclose(again.real, laid(picked.real, size, (3, 2), how), atol=1e-5)


POOLS = {
    "tiles": {"size": (4, 6, 16, 16), "kernel": (2, 2), "stride": (2, 2)},
    "small tiles": {"size": (2, 3, 4, 4), "kernel": (2, 2), "stride": (2, 2)},
    "few places": {"size": (64, 16, 4, 4), "kernel": (2, 2), "stride": (2, 2)},
    "overlap": {"size": (4, 8, 15, 14), "kernel": (3, 3), "stride": (2, 2), "padding": (1, 1)},
    "small overlap": {"size": (2, 3, 7, 5), "kernel": (3, 2), "stride": (1, 2), "padding": (1, 1)},
    "dilation": {"size": (3, 9, 17, 13), "kernel": (2, 3), "stride": (1, 2), "padding": (1, 1), "dilation": (2, 1)},
    "one axis": {"size": (9, 11, 61), "kernel": (4,), "stride": (3,), "padding": (2,)},
    "three axes": {"size": (3, 5, 8, 9, 7), "kernel": (2, 3, 2), "stride": (2, 2, 1), "padding": (0, 1, 1)},
    "gaps": {"size": (4, 6, 17, 18), "kernel": (2, 2), "stride": (3, 3)},
}


def pooled_by_hand(x, kernel, how):
    """The maxima of windows, and their places in each image: the first of equals, the last NaN."""
    numbers = np.broadcast_to(np.arange(math.prod(x.shape[2:])).reshape(x.shape[2:]), x.shape)
    shape = (*windows(x, kernel, how, 0).shape[: x.ndim], math.prod(kernel))
    values, places = (windows(a, kernel, how, fill).reshape(shape) for a, fill in ((x, 0), (numbers, -1)))
    highest, found = np.empty(shape[:-1], x.dtype), np.empty(shape[:-1], np.int64)
    for index in itertools.product(*map(range, shape[:-1])):
        best = None
        for value, place in zip(values[index], places[index], strict=True):
            if place >= 0 and (best is None or value > best[0] or np.isnan(value)):
                best = value, place
        highest[index], found[index] = best
    return highest, found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", POOLS)
def test_a_pool_and_its_gradient(name, dtype):
    options = dict(POOLS[name])
    rng = np.random.default_rng(0)
    size, kernel = options.pop("size"), options.pop("kernel")
    x = rng.integers(-3, 4, size).astype(dtype)  # many are equal
    x[rng.random(size) < 0.05] = np.nan
    x[rng.random(size) < 0.2] = -np.inf
    highest, places = pooled_by_hand(x, kernel, window(len(kernel), **options))
    t = pullback.tensor(x, requires_grad=True)
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[len(kernel) - 1]
    y, found = pool(t, kernel, **options, return_indices=True)
    np.testing.assert_array_equal(y.detach().numpy(), highest)
    np.testing.assert_array_equal(found.numpy(), places)
    g = rng.standard_normal(highest.shape).astype(dtype)
    expected = np.zeros((*size[:2], math.prod(size[2:])))
    for index in np.ndindex(*highest.shape):
        expected[(*index[:2], places[index])] += g[index]
    (gradient,) = pullback.autograd.grad(y, t, pullback.tensor(g))
    np.testing.assert_allclose(gradient.numpy(), expected.reshape(size), rtol=1e-5 if dtype == "float32" else 1e-13)


@pytest.mark.parametrize("size", [(2, 3, 4, 6), (5, 6, 16, 18)])
def test_a_mean_of_tiles(size):
    x = pullback.tensor(np.random.default_rng(0).standard_normal(size), requires_grad=True)
    y = F.avg_pool2d(x, 2)
    tiles = x.detach().numpy().reshape(*size[:2], size[2] // 2, 2, size[3] // 2, 2)
    np.testing.assert_allclose(y.detach().numpy(), tiles.mean((3, 5)), rtol=1e-14, atol=1e-15)
    g = np.random.default_rng(1).standard_normal(y.shape)
    (gradient,) = pullback.autograd.grad(y, x, pullback.tensor(g))
    np.testing.assert_array_equal(gradient.numpy(), (g / 4).repeat(2, 2).repeat(2, 3))


@pytest.mark.parametrize("length", [3, 7, 2**20, 2**40])
def test_windows_longer_than_the_image_take_no_more_memory_than_it(length):
    """The only window begins at the first element, so that its mean, its maximum and its gradient are those of all three."""
    functional = pullback.nn.functional
    x = pullback.tensor([[[1.0, 5.0, 3.0]]], requires_grad=True)
    mean = functional.avg_pool1d(x, length, ceil_mode=True)
    highest, place = functional.max_pool1d(x, length, ceil_mode=True, return_indices=True)
    assert (mean.item(), highest.item(), place.item()) == (3, 5, 1)
    (mean * 3 + highest).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [[[1, 2, 1]]], rtol=1e-6)
