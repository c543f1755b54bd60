"""Pieces that are stored as they are read, and nests that are apart where they would hinder each other: all bits of the function.

Numbers are small whole ones, so that sums are exact in any order.
"""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback


def whole(shape, dtype="float32", seed=0):
    return pullback.from_numpy(np.random.default_rng(seed).integers(-9, 10, shape).astype(dtype))


def woven(x, *taps):
    """Multiples of an image, of which each pixel of a larger one is one: by a stack, as the gradient of a pooling."""
    count, lengths = int(np.prod(taps)), x.shape[-len(taps) :]
    parts = pullback.stack([x * (number + 1) for number in range(count)], dim=1).reshape(len(x), *taps, *lengths)
    axes = [axis for tap in range(len(taps)) for axis in (1 + len(taps) + tap, 1 + tap)]
    sizes = [length * tap for length, tap in zip(lengths, taps, strict=True)]
    return parts.permute(0, *axes).reshape(len(x), *sizes)


def summed(image):
    return (image * 2 + 1).sum(0), (image - 3).sum()


def also_read(image):
    return image, *summed(image)


def both_ways(image):
    return image.flip(0).sum(1), image.T.sum(0)


CASES = {
    "one axis": (lambda x: summed(woven(x, 2)), (3, 5)),
    "two axes": (lambda x: summed(woven(x, 2, 2)), (3, 5, 7)),
    "three axes": (lambda x: summed(woven(x, 2, 1, 3)), (2, 3, 4, 5)),
    "four apart": (lambda x: summed(woven(x, 2, 4)), (3, 4, 17)),
    "five apart": (lambda x: summed(woven(x, 2, 5)), (3, 4, 17)),
    "rows": (lambda x: summed(woven(x, 3, 1)), (3, 5, 7)),
    "one pixel": (lambda x: summed(woven(x, 2, 2)), (3, 1, 1)),
    "large": (lambda x: summed(woven(x, 2, 2)), (9, 40, 33)),
    "the image is a result": (lambda x: woven(x, 2, 2), (3, 5, 7)),
    "the image is a result, and read": (lambda x: also_read(woven(x, 2, 2)), (3, 5, 7)),
    "read in two ways": (lambda x: both_ways(woven(x, 2)), (3, 5)),
    "a factor": (lambda x: woven(x, 2, 2)[0] @ woven(x, 2, 2)[0].T, (3, 5, 7)),
    "a part": (lambda x: (woven(x, 2, 2)[:, 1:, ::3] + 1).sum(0), (3, 5, 7)),
    "joined ends": (lambda x: (pullback.cat([x, x * 3], -1).reshape(3, 2, 5).permute(0, 2, 1) + 1).sum(0), (3, 5)),
    "an argument": (lambda x: (pullback.stack([x, x.flip(-1)], -2).permute(0, 2, 1).reshape(3, 10) + 1).sum(0), (3, 5)),
}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [*[(name, "float32") for name in CASES], *[("two axes", other) for other in ("float64", "int64", "uint8", "bool")]],
)
def test_pieces_stored_as_they_are_read(name, dtype):
    f, shape = CASES[name]
    compiled = pullback.compile(f, fullgraph=True)
    for layout in (lambda x: x, lambda x: x.transpose(0, -1).contiguous().transpose(0, -1), lambda x: x.flip(0)):
        x = layout(whole(shape, dtype))
        found, expected = compiled(x), f(x)
        for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, expected)), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_what_reads_near_pieces_reads_an_image():
    def kernels(*taps):
        compiled = pullback.compile(lambda x: summed(woven(x, *taps)), fullgraph=True)
        compiled(whole((3, 4, 17)))
        return [kernel.equations for kernel in compiled._newest().machinery.executable.kernels]

    assert not any("permute_dims" in equations for equations in kernels(2, 4))
    assert any("permute_dims" in equations for equations in kernels(2, 5))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [14, 30, 32])  # from 32 on it is asked what is quicker
@pytest.mark.parametrize("groups", [1, 2])
def test_normalized_images_and_their_maxima(groups, size, dtype):
    def f(x, given):
        x = x.detach().requires_grad_()
        apart = x.reshape(4, groups, -1)
        y = (apart - apart.sum(-1, keepdim=True) / 1024).reshape(x.shape).relu()
        highest = pullback.nn.functional.max_pool2d(y, 2)
        (slope,) = pullback.autograd.grad(highest, x, given)
        return highest.detach(), y.detach().sum((0, 2, 3)), slope, (slope * 2).sum((0, 2, 3))

    x, given = whole((4, 4, size, size), dtype), whole((4, 4, size // 2, size // 2), dtype, 1)
    compiled = pullback.compile(f, fullgraph=True)
    for a, b in zip(compiled(x, given), f(x, given), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
