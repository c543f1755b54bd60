"""Convolution, its two transposes, and the columns that it multiplies.

A convolution is bilinear, so three primitives are a closed family: `convolve` of an image and a weight, the
`convolve_transpose` of a result and a weight, which gives an image, and the `convolve_weight` of an image and a
result. Each is the derivative of each. Arrays are (batch, channels, *lengths), weights (results, channels / groups,
*kernel).

All three lay the windows of an image out as the columns of a matrix, for a few images at a time so that the columns
stay in the cache, and leave the sums to one matrix product per image. Where windows move by one, a row of columns is
one run of memory that also holds, between the lines of the image, windows that wrap around its edge: copying runs and
dropping those is cheaper than copying line by line.

In torch the cotangents of some linear operations require grad though nothing that is tracked made them, since their
inputs do. `attached` makes it so here: a value as it is, which depends on another in name only.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .._core import elementwise, general, linear, multilinear

Sizes = tuple[int, ...]

BLOCK = 1 << 18  # bytes of columns at a time


class Window(NamedTuple):
    """How a window moves over an image: all that convolutions know besides their operands."""

    stride: Sizes
    padding: Sizes
    dilation: Sizes
    groups: int = 1

    def lengths(self, size: Sizes, kernel: Sizes) -> Sizes:
        """How many places a window has along each axis."""
        axes = zip(size, kernel, self.stride, self.padding, self.dilation, strict=True)
        return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in axes)


def _around(size: Sizes, padding: Sizes) -> Sizes:
    return tuple(n + 2 * p for n, p in zip(size, padding, strict=True))


def _inside(size: Sizes, padding: Sizes) -> tuple[Any, ...]:
    return (slice(None), slice(None), *(slice(p, p + n) for n, p in zip(size, padding, strict=True)))


def _zeros(shape: Sizes, kernel: Sizes, window: Window, dtype: Any) -> Any:
    """An image of zeros, behind which there is room for the last run to end."""
    lines = [math.prod(shape[i:]) for i in range(4, len(shape) + 1)]
    tail = sum(d * (k - 1) * n for d, k, n in zip(window.dilation[1:], kernel[1:], lines, strict=True))
    count = math.prod(shape)
    return np.zeros(count + tail, dtype)[:count].reshape(shape)


def _padded(x: Any, kernel: Sizes, window: Window) -> Any:
    """x with zeros around it, contiguous."""
    out = _zeros((*x.shape[:2], *_around(x.shape[2:], window.padding)), kernel, window, x.dtype)
    out[_inside(x.shape[2:], window.padding)] = x
    return out


class _Columns:
    """The windows of a padded image, one for each place of a result, as a strided view of it.

    `windows` has the shape (channels, *kernel, batch, places). `places` is the shape of a result, or, in runs, the
    number of elements of an image that its lines begin in; `wide` is the shape of these.
    """

    def __init__(self, image: Any, kernel: Sizes, lengths: Sizes, window: Window, *, runs: bool = True) -> None:
        first, second, *steps = image.strides
        runs = runs and len(kernel) > 1 and all(s == 1 for s in window.stride)
        wide = (lengths[0], *image.shape[3:])
        self.runs = runs and math.prod(wide) <= 2 * math.prod(lengths)
        self.wide = wide if self.runs else lengths
        self.lengths = lengths
        self.count = math.prod(self.wide)
        places = (self.count,) if self.runs else lengths
        moves = [image.itemsize] if self.runs else [s * step for s, step in zip(window.stride, steps, strict=True)]
        taps = [d * step for d, step in zip(window.dilation, steps, strict=True)]
        shape = (image.shape[1], *kernel, len(image), *places)
        memory = image if image.base is None else image.base  # that behind the image too
        self.windows = np.ndarray(shape, image.dtype, memory if image.size else None, 0, (second, *taps, first, *moves))
        self.batch = len(image)
        self.before = (slice(None),) * (1 + len(kernel))
        self.depth = image.shape[1] * math.prod(kernel)
        self.groups = window.groups

    def blocks(self) -> Iterator[tuple[slice, Any, Any]]:
        """The batch in pieces whose columns fit into the cache: the places of each, its windows, and memory for them."""
        step = max(1, BLOCK // max(1, self.depth * self.count * self.windows.itemsize))
        memory = np.empty(0)
        for start in range(0, self.batch, step):
            windows = self.windows[(*self.before, slice(start, start + step))]
            if memory.shape != windows.shape:
                memory = np.empty(windows.shape, windows.dtype)
            yield slice(start * self.count, (start + step) * self.count), windows, memory

    def matrices(self, columns: Any) -> Any:
        """Columns as matrices, (groups, depth, places of a part of the batch)."""
        return columns.reshape(self.groups, self.depth // self.groups, columns.shape[len(self.before)] * self.count)

    def result(self, channels: int, dtype: Any) -> tuple[Any, Any]:
        """Memory for a result, (batch, channels, *lengths), and the same as matrices (groups, channels, places)."""
        out = np.zeros((channels, self.batch, *self.wide), dtype)
        inside: tuple[Any, ...] = (..., *(slice(n) for n in self.lengths))
        meant = out[inside].swapaxes(0, 1)
        return meant, out.reshape(self.groups, channels // self.groups, self.batch * self.count)

    def laid_out(self, y: Any) -> Any:
        """A result as matrices (groups, channels, places), with zeros where runs wrap around an edge."""
        meant, rows = self.result(y.shape[1], y.dtype)
        meant[...] = y
        return rows


def at_least_single(forward: Callable[..., Any]) -> Callable[..., Any]:
    """A function that computes with halves in single precision."""

    @functools.wraps(forward)
    def computed(*arrays: Any, **options: Any) -> Any:
        if arrays[0].dtype != np.float16:
            return forward(*arrays, **options)
        return forward(*(array.astype(np.float32) for array in arrays), **options).astype(np.float16)

    return computed


def _matrix(weight: Any, groups: int) -> Any:
    """A weight as a matrix for each group."""
    return weight.reshape(groups, weight.shape[0] // groups, math.prod(weight.shape[1:]))


@at_least_single
def _convolution_forward(x: Any, weight: Any, *, window: Window) -> Any:
    kernel = weight.shape[2:]
    columns = _Columns(_padded(x, kernel, window), kernel, window.lengths(x.shape[2:], kernel), window)
    meant, rows = columns.result(len(weight), x.dtype)
    matrix = _matrix(weight, window.groups)
    for places, windows, memory in columns.blocks():
        memory[...] = windows
        np.matmul(matrix, columns.matrices(memory), out=rows[..., places])
    return np.ascontiguousarray(meant)


def _turned(y: Any, weight: Any, size: Sizes, window: Window) -> tuple[Any, Window] | None:
    """The weight and the window with which a convolution of y is this transpose; None where it is not, or not quicker.

    Where windows move by one, it is that with the weight turned around, and with as much padding as is missing. Then
    columns are copied, those of y; the other way those of the image are added up, which takes twice as long for each.
    """
    kernel, groups = weight.shape[2:], window.groups
    reach = tuple(d * (k - 1) for d, k in zip(window.dilation, kernel, strict=True))
    padding = tuple(r - p for r, p in zip(reach, window.padding, strict=True))
    opposite = window._replace(padding=padding)
    fits = all(s == 1 for s in window.stride) and min(padding, default=-1) >= 0
    if not fits or math.prod(kernel) == 1 or len(weight) > 2 * groups * weight.shape[1]:
        return None
    if opposite.lengths(y.shape[2:], kernel) != size:
        return None
    matrix = weight.reshape(groups, len(weight) // groups, *weight.shape[1:]).swapaxes(1, 2)
    flipped = matrix[(..., *(slice(None, None, -1) for _ in kernel))]
    return flipped.reshape(groups * weight.shape[1], len(weight) // groups, *kernel), opposite


@at_least_single
def _transpose_forward(y: Any, weight: Any, *, size: Sizes, window: Window) -> Any:
    if (turned := _turned(y, weight, size, window)) is not None:
        return _convolution_forward(y, turned[0], window=turned[1])
    kernel = weight.shape[2:]
    shape = (len(y), weight.shape[1] * window.groups, *_around(size, window.padding))
    image = _zeros(shape, kernel, window, y.dtype)
    columns = _Columns(image, kernel, y.shape[2:], window)
    rows = columns.laid_out(y)
    matrix = _matrix(weight, window.groups).swapaxes(-1, -2)
    for places, windows, memory in columns.blocks():
        np.matmul(matrix, rows[..., places], out=columns.matrices(memory))
        _overlaid(windows, memory, kernel)
    return np.ascontiguousarray(image[_inside(size, window.padding)])


def _overlaid(windows: Any, columns: Any, kernel: Sizes) -> None:
    """Adds columns to an image at the places of its windows, one element of the kernel after another."""
    for place in itertools.product(*map(range, kernel)):
        piece = windows[(slice(None), *place)]
        piece += columns[(slice(None), *place)]


@at_least_single
def _weight_forward(x: Any, y: Any, *, kernel: Sizes, window: Window) -> Any:
    columns = _Columns(_padded(x, kernel, window), kernel, y.shape[2:], window)
    rows = columns.laid_out(y)
    total = np.zeros((window.groups, y.shape[1] // window.groups, columns.depth // window.groups), y.dtype)
    for places, windows, memory in columns.blocks():
        memory[...] = windows
        total += np.matmul(rows[..., places], columns.matrices(memory).swapaxes(-1, -2))
    return total.reshape(y.shape[1], x.shape[1] // window.groups, *kernel)


def _columns_forward(x: Any, *, kernel: Sizes, window: Window) -> Any:
    lengths = window.lengths(x.shape[2:], kernel)
    columns = _Columns(_padded(x, kernel, window), kernel, lengths, window, runs=False)
    windows = np.moveaxis(columns.windows, len(kernel) + 1, 0)
    return np.array(windows, order="C").reshape(len(x), columns.depth, columns.count)


def _overlay_forward(g: Any, *, size: Sizes, kernel: Sizes, window: Window) -> Any:
    shape = (len(g), g.shape[1] // math.prod(kernel), *_around(size, window.padding))
    image = _zeros(shape, kernel, window, g.dtype)
    columns = _Columns(image, kernel, window.lengths(size, kernel), window, runs=False)
    pieces = g.reshape(len(g), *columns.windows.shape[: len(kernel) + 1], *columns.lengths)
    _overlaid(columns.windows, np.moveaxis(pieces, 0, len(kernel) + 1), kernel)
    return np.ascontiguousarray(image[_inside(size, window.padding)])


def _fitted(xp: Any, y: Any, lengths: Sizes) -> Any:
    """A convolution without the places that its transpose did not have: padding of its output may add some."""
    if y.shape[2:] == lengths:
        return y
    return xp.getitem(y, index=(..., *(slice(n) for n in lengths)))


def _image(xp: Any, g: Any, weight: Any, x_shape: Sizes, *, window: Window) -> Any:
    return xp.convolve_transpose(g, weight, size=x_shape[2:], window=window)


def _weight(xp: Any, g: Any, x: Any, weight_shape: Sizes, *, window: Window) -> Any:
    return xp.convolve_weight(x, g, kernel=weight_shape[2:], window=window)


def _transpose_result(xp: Any, g: Any, weight: Any, product_shape: Sizes, *, size: Sizes, window: Window) -> Any:
    return _fitted(xp, xp.convolve(g, weight, window=window), product_shape[2:])


def _transpose_weight(xp: Any, g: Any, product: Any, weight_shape: Sizes, *, size: Sizes, window: Window) -> Any:
    return xp.convolve_weight(g, product, kernel=weight_shape[2:], window=window)


def _weight_image(xp: Any, g: Any, product: Any, x_shape: Sizes, *, kernel: Sizes, window: Window) -> Any:
    return xp.convolve_transpose(product, g, size=x_shape[2:], window=window)


def _weight_result(xp: Any, g: Any, x: Any, product_shape: Sizes, *, kernel: Sizes, window: Window) -> Any:
    return _fitted(xp, xp.convolve(x, g, window=window), product_shape[2:])


def _bias_forward(x: Any, bias: Any) -> Any:
    return x + bias.reshape(-1, *[1] * (x.ndim - 2))


def _bias(xp: Any, g: Any, bias: Any) -> Any:
    return xp.attached(xp.sum(g, axis=(0, *range(2, g.ndim)), keepdims=False), bias)


# fmt: off
#                         name             pullback per operand
convolve           = multilinear("convolve", _image, _weight, inputs=("x", "weight"),
                                    forward=_convolution_forward, title="ConvolutionBackward0")
convolve_transpose = multilinear("convolve_transpose", _transpose_result, _transpose_weight, inputs=("product", "weight"),
                                    forward=_transpose_forward,  title="ConvolutionBackward0")
convolve_weight    = multilinear("convolve_weight", _weight_image, _weight_result, inputs=("x", "product"),
                                    forward=_weight_forward)
biased                = general("biased", lambda xp, g: g, _bias, inputs=("x", "bias"), complex="holomorphic",
                                forward=_bias_forward,           title="ConvolutionBackward0")
attached              = elementwise("attached", lambda xp, g: g, lambda xp, g: xp.zeros_like(g), inputs=("value", "x"),
                                    forward=lambda value, x: value, title="ConvolutionBackward0")
window_columns        = linear("window_columns",
                               lambda xp, g, x_shape, *, kernel, window:
                                   xp.window_overlay(g, size=x_shape[2:], kernel=kernel, window=window),
                               forward=_columns_forward,         title="Im2ColBackward0")
window_overlay        = linear("window_overlay",
                               lambda xp, g, *, size, kernel, window: xp.window_columns(g, kernel=kernel, window=window),
                               forward=_overlay_forward,         title="Col2ImBackward0")
# fmt: on
