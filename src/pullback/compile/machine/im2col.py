"""Convolutions in compiled programs as matrix products by im2col, and max pooling as a reduction.

The windows of all images become the columns of a matrix. They are a strided view of the padded images, which a loop nest
copies. The gradients of images and of weights are products with such columns, too. Where windows are single elements, or the
transpose has one place, images are the matrices as they lie, of any size. Columns are for small convolutions, which are
fused with the operations around them. Convolutions for which there is a kernel (see `convolution`) stay operations, as do
grouped ones, those whose columns would take too much memory, gradients of images for strides above one, and max pooling with
padding.
"""

from __future__ import annotations

import itertools
import math
from operator import gt

import numpy as np

from ...ops.convolution import Window, by_machine_code
from ..passes.building import Builder
from ..passes.rules import Rules
from ..program import Equation, Value
from .indices import strides

windowed = Rules()
LARGEST, MOST_TAPS = 1 << 26, 9
"""The largest matrix of columns in bytes, and the largest window, in elements, of the gradient of max pooling."""


@windowed("convolve")
def _convolve(build: Builder, e: Equation) -> Value | None:
    x, weight = e.inputs
    if _is_of_places(e, weight.shape[2:]):
        return build.reshape(build.matmul(_rows(build, weight), _places(build, x)), shape=e.output.shape)
    columns = _columns(build, x, weight.shape[2:], e.output.shape[2:], weight.shape[0], e.params["window"])
    if columns is None:
        return None
    return _images(build, build.matmul(_rows(build, weight), columns), e.output.shape)


@windowed("convolve_transpose")
def _convolve_transpose(build: Builder, e: Equation) -> Value | None:
    """The gradient of images: a convolution with the flipped weight and the opposite padding, for stride one."""
    y, weight = e.inputs
    kernel, window = weight.shape[2:], e.params["window"]
    if _is_of_places(e, kernel):
        matrix = build.matrix_transpose(_rows(build, weight))
        return build.reshape(build.matmul(matrix, _places(build, y)), shape=e.output.shape)
    if math.prod(y.shape[2:]) == 1 and e.params["size"] == kernel and _is_plain(e):
        return build.reshape(build.matmul(_rows(build, y), _rows(build, weight)), shape=e.output.shape)
    reach = [d * (k - 1) for d, k in zip(window.dilation, kernel, strict=True)]
    opposite = window._replace(padding=tuple([r - p for r, p in zip(reach, window.padding, strict=True)]))
    if max(window.stride) > 1 or min(opposite.padding) < 0 or opposite.lengths(y.shape[2:], kernel) != e.params["size"]:
        return None
    columns = _columns(build, y, kernel, e.params["size"], weight.shape[1], opposite)
    if columns is None:
        return None
    spatial = tuple(range(2, len(weight.shape)))
    turned = build.permute_dims(build.flip(weight, axis=spatial), axes=(1, 0, *spatial))
    return _images(build, build.matmul(_rows(build, turned), columns), e.output.shape)


@windowed("convolve_weight")
def _convolve_weight(build: Builder, e: Equation) -> Value | None:
    x, y = e.inputs
    if _is_of_places(e, e.params["kernel"]):
        products = build.matmul(_places(build, y), build.matrix_transpose(_places(build, x)))
        return build.reshape(build.sum(products, axis=(0,), keepdims=False), shape=e.output.shape)
    columns = _columns(build, x, e.params["kernel"], y.shape[2:], y.shape[1], e.params["window"])
    if columns is None:
        return None
    given = _rows(build, build.permute_dims(y, axes=(1, 0, *range(2, len(y.shape)))))
    product = build.matmul(given, build.permute_dims(columns, axes=(1, 0)))
    return build.reshape(product, shape=e.output.shape)


def _is_of_places(e: Equation, kernel: tuple[int, ...]) -> bool:
    """Whether a convolution is a product at each place: its windows are elements, and all of them."""
    window = e.params["window"]
    return math.prod(kernel) == 1 and max(window.stride, default=1) == 1 and _is_plain(e)


def _is_plain(e: Equation) -> bool:
    """Whether there is neither padding nor a group, and numbers that machine code multiplies."""
    window = e.params["window"]
    numbers = all(value.size and value.dtype in (np.float32, np.float64) for value in e.inputs)
    return numbers and window.groups == 1 and not any(window.padding)


def _places(build: Builder, x: Value) -> Value:
    """Images as a batch of matrices with a column for each place."""
    return build.reshape(x, shape=(*x.shape[:2], math.prod(x.shape[2:])))


def _rows(build: Builder, x: Value) -> Value:
    """A value as a matrix with a row for each index of its first axis."""
    return build.reshape(x, shape=(x.shape[0], math.prod(x.shape[1:])))


def _columns(
    build: Builder, x: Value, kernel: tuple[int, ...], lengths: tuple[int, ...], results: int, window: Window
) -> Value | None:
    """The windows of images, (channels * kernel, batch * positions); None where im2col does not pay off."""
    batch, channels, *size = x.shape
    shape = channels * math.prod(kernel), batch * math.prod(lengths)
    if (
        window.groups > 1
        or x.dtype not in (np.float32, np.float64)
        or not 0 < math.prod(shape) * x.dtype.itemsize <= LARGEST
        or by_machine_code(x, kernel, lengths, results, window) is not None
    ):
        return None
    if any(window.padding):
        around = [n + 2 * p for n, p in zip(size, window.padding, strict=True)]
        inside = [slice(p, p + n) for n, p in zip(size, window.padding, strict=True)]
        x = build.scatter_slice(x, shape=(batch, channels, *around), index=(slice(None), slice(None), *inside))
    (images, planes), taps, moves = _steps(x, window)
    view = build.as_strided(
        x, size=(channels, *kernel, batch, *lengths), stride=(planes, *taps, images, *moves), offset=0
    )
    return build.reshape(view, shape=shape)


def _steps(x: Value, window: Window) -> tuple[list[int], list[int], list[int]]:
    """The strides, in elements, of images and channels, of elements of a window, and of windows."""
    images, planes, *steps = strides(x.shape)
    taps = [d * step for d, step in zip(window.dilation, steps, strict=True)]
    return [images, planes], taps, [s * step for s, step in zip(window.stride, steps, strict=True)]


def _images(build: Builder, product: Value, shape: tuple[int, ...]) -> Value:
    """The product, which has a row for each channel, as images of a shape."""
    batch, channels, *lengths = shape
    apart = build.reshape(product, shape=(channels, batch, *lengths))
    return build.permute_dims(apart, axes=(1, 0, *range(2, len(shape))))


@windowed("max_pool")
def _max_pool(build: Builder, e: Equation) -> Value | None:
    (x,) = e.inputs
    kernel, window = e.params["kernel"], e.params["window"]
    inside = window.lengths(x.shape[2:], kernel)
    if any(window.padding) or not e.output.size or x.dtype.kind != "f" or any(map(gt, e.output.shape[2:], inside)):
        return None
    outer, taps, moves = _steps(x, window)
    view = build.as_strided(x, size=(*e.output.shape, *kernel), stride=(*outer, *moves, *taps), offset=0)
    axes = len(e.output.shape)
    return build.amax(view, axis=tuple(range(axes, axes + len(kernel))), keepdims=False)


@windowed("window_mean")
def _window_mean(build: Builder, e: Equation) -> Value | None:
    """Means of windows that are all inside."""
    (x,), kernel, window = e.inputs, e.params["kernel"], e.params["window"]
    lengths, inside = e.output.shape[2:], window.lengths(x.shape[2:], kernel)
    if any(window.padding) or max(window.dilation) > 1 or not e.output.size or any(map(gt, lengths, inside)):
        return None
    if x.dtype.kind != "f":
        return None
    outer, taps, moves = _steps(x, window)
    view = build.as_strided(x, size=(*e.output.shape, *kernel), stride=(*outer, *moves, *taps), offset=0)
    axes = tuple(range(len(e.output.shape), len(view.shape)))
    total = build.op("sum", view, axis=axes, keepdims=False)
    return build.divide(total, e.params["divisor"] or math.prod(kernel))


@windowed("window_spread")
def _window_spread(build: Builder, e: Equation) -> Value | None:
    """The transpose of means of windows that lie side by side."""
    (g,), kernel = e.inputs, e.params["kernel"]
    lengths = g.shape[2:]
    if not _tiled(kernel, e.params["window"], e.params["size"], lengths) or not g.size or g.dtype.kind != "f":
        return None
    pairs = [*zip(lengths, kernel, strict=True)]
    part = build.divide(g, e.params["divisor"] or math.prod(kernel))
    apart = build.reshape(part, shape=(*g.shape[:2], *[size for length, _ in pairs for size in (length, 1)]))
    wide = build.broadcast_to(apart, shape=(*g.shape[:2], *[size for pair in pairs for size in pair]))
    return build.reshape(wide, shape=e.output.shape)


def _tiled(kernel: tuple[int, ...], window: Window, size: tuple[int, ...], lengths: tuple[int, ...]) -> bool:
    """Whether windows lie side by side, and cover images of a size."""
    beside = window.stride == kernel and not any(window.padding) and max(window.dilation) == 1
    return beside and tuple(size) == tuple([n * k for n, k in zip(lengths, kernel, strict=True)])


@windowed("max_spread")
def _max_spread(build: Builder, e: Equation) -> Value | None:
    """The gradient of max pooling for windows that do not overlap: the first of equal maxima gets it, or the last NaN."""
    given, x, highest = e.inputs
    kernel, window = e.params["kernel"], e.params["window"]
    count, lengths = math.prod(kernel), highest.shape[2:]
    if not _tiled(kernel, window, x.shape[2:], lengths) or count > MOST_TAPS:
        return None
    if given.dtype != x.dtype or x.dtype.kind != "f" or not x.size:
        return None
    parts = [build.getitem(x, index=(..., *[slice(i, None, k) for i, k in zip(place, kernel, strict=True)]))
             for place in itertools.product(*map(range, kernel))]  # fmt: skip
    met = [build.equal(part, highest) for part in parts]
    lost = [build.not_equal(part, part) for part in parts]
    firsts = _first_of_all(build, met)
    lasts = _first_of_all(build, lost[::-1])[::-1]
    taken = [build.where(build.logical_or(first, last), given, 0.0) for first, last in zip(firsts, lasts, strict=True)]
    stacked = build.stack(*taken, axis=2)
    apart = build.reshape(stacked, shape=(*highest.shape[:2], *kernel, *lengths))
    spatial = [axis for i in range(len(kernel)) for axis in (2 + len(kernel) + i, 2 + i)]
    return build.reshape(build.permute_dims(apart, axes=(0, 1, *spatial)), shape=x.shape)


def _first_of_all(build: Builder, masks: list[Value]) -> list[Value]:
    """Each mask, and none of the masks before it."""
    found, seen = masks[:1], masks[0]
    for mask in masks[1:]:
        found.append(build.logical_and(mask, build.logical_not(seen)))
        seen = build.logical_or(seen, mask)
    return found
