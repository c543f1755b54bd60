"""Convolutions and poolings as machine code: results and gradients are those of eager."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback

F = pullback.nn.functional
NATIVE = {
    "padding": {"size": (2, 3, 7, 6), "weight": (4, 3, 3, 3), "padding": 1},
    "no padding": {"size": (2, 3, 7, 6), "weight": (4, 3, 3, 2)},
    "one element": {"size": (3, 5, 4, 4), "weight": (2, 5, 1, 1)},
    "one element of many images": {"size": (16, 16, 16, 16), "weight": (32, 16, 1, 1)},
    "dilation": {"size": (2, 2, 9, 9), "weight": (3, 2, 3, 3), "dilation": 2, "padding": 2},
    "one axis": {"size": (2, 3, 11), "weight": (4, 3, 5), "padding": 2},
    "three axes": {"size": (1, 2, 4, 5, 3), "weight": (3, 2, 2, 3, 3), "padding": (0, 1, 1)},
    "one image": {"size": (1, 1, 5, 5), "weight": (1, 1, 3, 3), "padding": 1},
}
PARTLY = {
    "stride": {"size": (2, 3, 8, 7), "weight": (4, 3, 3, 3), "stride": 2, "padding": 1},
    "groups": {"size": (2, 4, 5, 5), "weight": (6, 2, 3, 3), "groups": 2, "padding": 1},
    "much padding": {"size": (2, 3, 4, 4), "weight": (4, 3, 2, 2), "padding": 3},
}


def tensor(rng, shape, dtype):
    return pullback.tensor(rng.standard_normal(shape).astype(dtype))


def same(found, expected, dtype):
    """Within what sums of some hundred products may differ by when they are made in another order."""
    slack = 1e-5 if dtype == "float32" else 1e-13
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        right = b.detach().numpy()
        np.testing.assert_allclose(a.detach().numpy(), right, rtol=0, atol=slack * abs(right).max())


def operations(compiled):
    return {name for kernel in compiled._newest().machinery.executable.kernels for name in kernel.equations}


def convolving(dtype, size, weight, **options):
    """A convolution with all its derivatives, and their derivatives, and the numbers for it."""
    rng = np.random.default_rng(0)
    convolve = (F.conv1d, F.conv2d, F.conv3d)[len(size) - 3]

    def run(x, w, b):
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        y = convolve(pullback.tanh(x), w, b, **options)
        first = pullback.autograd.grad((y * y).sum(), (x, w), create_graph=True)
        return (y.detach(), *first, *pullback.autograd.grad(sum((g * g).sum() for g in first), (x, w)))

    return run, [tensor(rng, shape, dtype) for shape in (size, weight, weight[:1])]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*NATIVE, *PARTLY])
def test_convolutions(name, dtype):
    run, arrays = convolving(dtype, **(NATIVE | PARTLY)[name])
    compiled = pullback.compile(run, fullgraph=True)
    expected = run(*arrays)
    for _ in range(2):
        same(compiled(*arrays), expected, dtype)
    assert (name in PARTLY) == any(word.startswith("convolve") for word in operations(compiled))


@pytest.mark.parametrize("stride", [1, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_transposes_of_one_place_are_products(dtype, stride):
    rng = np.random.default_rng(0)

    def run(y, w):
        y, w = y.detach().requires_grad_(), w.detach().requires_grad_()
        image = F.conv_transpose2d(y, w, stride=stride)
        return (image.detach(), *pullback.autograd.grad((image * image).sum(), (y, w)))

    arrays = [tensor(rng, shape, dtype) for shape in ((32, 16, 1, 1), (16, 12, 7, 5))]
    compiled = pullback.compile(run, fullgraph=True)
    expected = run(*arrays)
    for _ in range(2):
        same(compiled(*arrays), expected, dtype)
    assert not any(word.startswith("convolve") for word in operations(compiled))


def pooling(x, *, gradient=True, **options):
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[x.ndim - 3]

    def run(x, given):
        x = x.detach().requires_grad_()
        y = pool(x, **options)
        return (y.detach(), *(pullback.autograd.grad(y, x, given) if gradient else ()))

    y = pool(x, **options)
    given = pullback.arange(1.0, y.numel() + 1, dtype=x.dtype).reshape(y.shape)
    compiled = pullback.compile(run, fullgraph=True)
    expected = run(x, given)
    for _ in range(2):
        for a, b in zip(compiled(x, given), expected, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
    return operations(compiled)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(2, 3, 8), (2, 3, 6, 4), (1, 2, 4, 4, 6)], ids=str)
def test_poolings_side_by_side(shape, dtype):
    """Maxima that occur twice, and NaN: the first of equals, the last of NaNs."""
    rng = np.random.default_rng(0)
    x = rng.integers(-2, 3, shape).astype(dtype)
    x[rng.random(shape) < 0.1] = np.nan
    x[rng.random(shape) < 0.1] = -np.inf
    assert not {"max_pool", "max_spread"} & pooling(pullback.tensor(x), kernel_size=2)


@pytest.mark.parametrize(
    "options",
    [{"kernel_size": 3, "stride": 1}, {"kernel_size": 2, "stride": 3}, {"kernel_size": 3, "stride": 2, "padding": 1},
     {"kernel_size": 2, "dilation": 2}, {"kernel_size": 4}, {"kernel_size": 2, "ceil_mode": True}],
    ids=str,
)  # fmt: skip
def test_other_poolings(options):
    x = np.random.default_rng(0).integers(-2, 3, (2, 3, 9, 8)).astype("float32")
    pooling(pullback.tensor(x), **options)


def averaging(pool, x, **options):
    """The mean of windows and its gradient, compiled, near those of eager; which operations the code has."""

    def run(x):
        x = x.detach().requires_grad_()
        y = pool(x, **options)
        return y.detach(), *pullback.autograd.grad((y * y).sum(), x)

    compiled = pullback.compile(run, fullgraph=True)
    for strange in (None, np.nan, -np.inf):
        if strange is not None:
            x.view(-1)[5] = strange
        for mine, its in zip(compiled(x), run(x), strict=True):
            np.testing.assert_allclose(mine, its, rtol=2e-6, atol=1e-6)
    return operations(compiled)


WINDOWED = {"window_mean", "window_spread"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(2, 3, 8), (2, 3, 6, 4), (1, 2, 4, 4, 6)], ids=str)
def test_means_side_by_side(shape, dtype):
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    pool = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[len(shape) - 3]
    assert not WINDOWED & averaging(pool, pullback.tensor(x), kernel_size=2)
    whole = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[len(shape) - 3]
    assert not WINDOWED & averaging(whole, pullback.tensor(x), output_size=1)


@pytest.mark.parametrize(
    ("options", "gone"),
    [({"kernel_size": 3, "stride": 1}, ["window_mean"]), ({"kernel_size": 2, "stride": 3}, ["window_mean"]),
     ({"kernel_size": (2, 4), "divisor_override": 5}, sorted(WINDOWED)),
     ({"kernel_size": 2, "ceil_mode": True}, sorted(WINDOWED))],
    ids=str,
)  # fmt: skip
def test_other_means(options, gone):
    x = pullback.tensor(np.random.default_rng(0).normal(size=(2, 3, 10, 8)).astype("float32"))
    assert not averaging(F.avg_pool2d, x, **options) & {*gone}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("stride", "padding"), [(1, 1), (2, 0), (2, 1), (2, 2), (3, 1), ((2, 1), 1), ((1, 2), 0)])
def test_planes_of_each_width(stride, padding, dtype):
    """Depthwise convolutions, of widths on both sides of one and two registers, by kernels and by NumPy."""
    rng = np.random.default_rng(0)
    for width in (3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67):
        x, w = (tensor(rng, shape, dtype) for shape in ((2, 4, 5, width), (8, 1, 3, 3)))
        found = []
        for mode in ("always", "never"):
            pullback.set_machine_code(mode)
            x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
            y = F.conv2d(x, w, stride=stride, padding=padding, groups=4)
            found.append((y, *pullback.autograd.grad((y * y).sum(), (x, w))))
        pullback.set_machine_code("auto")
        same(*found, dtype)
