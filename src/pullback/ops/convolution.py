"""Convolution and its two transposes, computed by im2col and matrix products.

A convolution is bilinear, so three primitives form a closed family: `convolve` of an image and a weight;
`convolve_transpose` of an output and a weight, which gives an image; and `convolve_weight` of an image and an output,
which gives a weight. The derivatives of each are the other two. Arrays are (batch, channels, *lengths), weights
(results, channels / groups, *kernel).

All three copy the windows of an image to the rows of a matrix (im2col), one row per output position, and compute the
sums by a matrix product. They process a block of several images at a time, or some lines of one large image, so that
the rows stay in the cache. Blocks are shared among threads; each product runs in one thread.

In torch the cotangents of some linear operations require grad because the inputs of the operation do, although their
values do not depend on them. `attached` reproduces this: it returns a value unchanged, recorded as if it depended on
another.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from .._core import machine
from .._core.primitives import SINGLES, elementwise, general, linear, multilinear
from .._numerics import blocks
from .resampling import Taps

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import TypeAlias

    from .._core.typing import Array, NumpyType, Operations, Shaped, Tensor
    from ..compile.machine.convolution import ConvolutionPlan
    from ..compile.machine.depthwise import DepthwisePlan

    Plan: TypeAlias = ConvolutionPlan | DepthwisePlan

Sizes = tuple[int, ...]

FEW = 6
"""Below this number of channels, windows are stored as columns instead of rows."""
WORTH = 1 << 18
"""Above this number of multiplications, compiled code pays off."""
SHARES = 8
"""The largest number of partial sums, each computed by one thread and added at the end."""
LAID, TABLE = 1 << 22, 1 << 17
"""The approximate size in bytes of the columns that compiled code adds to images at a time; the most elements of a channel's."""
NARROWEST, ADDITION = 8, 16
"""The multiplications that a window's element is worth in compiled code: for how many results at least; to add it to an image."""


class Window(NamedTuple):
    """How a window moves over an image: stride, padding, dilation and groups."""

    stride: Sizes
    padding: Sizes
    dilation: Sizes
    groups: int = 1

    def lengths(self, size: Sizes, kernel: Sizes) -> Sizes:
        """The number of window positions along each axis."""
        axes = zip(size, kernel, self.stride, self.padding, self.dilation, strict=True)
        return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in axes)


def _around(size: Sizes, padding: Sizes) -> Sizes:
    return tuple(n + 2 * p for n, p in zip(size, padding, strict=True))


def _inside(size: Sizes, padding: Sizes) -> tuple[slice, ...]:
    return (slice(None), slice(None), *(slice(p, p + n) for n, p in zip(size, padding, strict=True)))


def _cut(length: int, count: int) -> list[slice]:
    """Slices that divide a range of a length into at most `count` parts of nearly equal size."""
    count = max(1, min(length, count))
    return [slice(length * i // count, length * (i + 1) // count) for i in range(count)]


class _View(NamedTuple):
    """A strided view of an array's memory: a shape, and the step of each axis in elements."""

    shape: Sizes
    steps: Sizes

    def of(self, memory: Array) -> Array:
        """The view of an array."""
        strides = [step * memory.itemsize for step in self.steps]
        return np.ndarray(self.shape, memory.dtype, memory if memory.size else None, 0, strides)


class _Block(NamedTuple):
    """A block of work: some lines of the outputs of some images, and where their windows are in the images."""

    places: tuple[slice, ...]  # in the outputs, by groups
    source: tuple[slice, ...]  # the region of the images that the windows cover
    inside: tuple[slice, ...]  # where this region is in a padded image
    elements: int
    image: _View
    windows: _View
    products: Sizes  # the shape of the products, before those of wrapped windows are dropped


class _WindowRows:
    """The im2col layout: the windows of images as rows of matrices, (groups, positions, depth), one block at a time.

    In memory channels come last, (groups, batch, *lengths, *kernel, channels), so that the elements of a line of a
    window are adjacent, as in a channels-last image. With fewer than `FEW` channels they come first, (groups, channels,
    *kernel, batch, *lengths), so that the positions along a line are adjacent; the matrices are then transposed views.
    With stride 1, the positions of all lines are one contiguous run of memory, which includes windows that wrap around
    the edge from one line to the next: copying these too and dropping their results is faster than copying line by
    line. Sums over positions must exclude them, because zero times infinity is NaN.

    The rows of a block have about as many bytes as the cache, or as the weight, which every product reads.
    """

    def __init__(
        self, x: Sizes, weight: Sizes, lengths: Sizes, window: Window, itemsize: int, runs: bool, cut: bool
    ) -> None:
        self.window, self.lengths, self.kernel = window, lengths, weight[2:]
        self.groups, self.results, self.channels = window.groups, weight[0] // window.groups, weight[1]
        self.batch, self.size, self.around = x[0], x[2:], _around(x[2:], window.padding)
        self.depth = math.prod(weight[1:])
        self.last = self.channels >= FEW
        runs = runs and not self.last and len(lengths) > 1 and all(s == 1 for s in window.stride)
        self.runs = runs and math.prod(self.around[1:]) <= 2 * math.prod(lengths[1:])
        self.wide = self.around[1:] if self.runs else lengths[1:]
        size = self.groups * self.depth * lengths[0] * math.prod(self.wide) * itemsize  # bytes of the rows of one image
        block = max(blocks.BLOCK // (1 if self.last else 2), math.prod(weight) * itemsize)
        # The number of blocks is even, because machines have an even number of cores.
        self.cuts = _cut(self.batch, 2 * round(self.batch * size / block / 2))
        every = slice(0, lengths[0])
        self.whole = {count: self._block(count, every) for count in {each.stop - each.start for each in self.cuts}}
        lines = _cut(lengths[0], 2 * math.ceil(size / block / 2)) if cut and size > block else []
        self.parts = [self._block(1, each) for each in lines]
        self.count = self.batch * len(lines) or len(self.cuts)

    def task(self, number: int) -> tuple[slice, _Block]:
        """The images and the block of a task: all lines of several images, or some lines of one."""
        if self.parts and self.batch:
            image, part = divmod(number, len(self.parts))
            return slice(image, image + 1), self.parts[part]
        images = self.cuts[number]
        return images, self.whole[images.stop - images.start]

    def _block(self, count: int, lines: slice) -> _Block:
        """The block for a number of images and a range of output lines."""
        channels, every, length = self.groups * self.channels, slice(None), lines.stop - lines.start
        move, dilation = self.window.stride[0], self.window.dilation[0]
        extent = self.around[0]
        if length < self.lengths[0]:
            extent = (length - 1) * move + dilation * (self.kernel[0] - 1) + 1
        first = lines.start * move - self.window.padding[0]
        start = max(first, 0)
        stop = max(start, min(first + extent, self.size[0]))
        size = (extent, *self.around[1:])
        inside = (every, every, slice(start - first, stop - first), *_inside(self.size, self.window.padding)[3:])
        form = (count, *size, channels) if self.last else (count, channels, *size)
        steps = [math.prod(form[i + 1 :]) for i in range(len(form))]
        order = (steps[0], steps[-1], *steps[1:-1]) if self.last else tuple(steps)
        windows, beyond = self._windows(count, length, order)
        places = count, length, *self.wide
        return _Block(
            (every, every, every, lines), (every, every, slice(start, stop)), inside, math.prod(form) + beyond,
            _View((count, channels, *size), order), windows,
            (self.groups, *places, self.results) if self.last else (self.groups, self.results, *places),
        )  # fmt: skip

    def _windows(self, count: int, lines: int, steps: Sizes) -> tuple[_View, int]:
        """The windows of padded images, in memory order, and the number of elements the last run reads beyond them."""
        first, channel, *along = steps
        moves = [s * step for s, step in zip(self.window.stride, along, strict=True)]
        taps = [d * step for d, step in zip(self.window.dilation, along, strict=True)]
        places, beyond = [count, lines, *self.lengths[1:]], 0
        if self.runs:
            places, moves = [count, lines * math.prod(self.wide)], [1]
            beyond = sum(tap * (k - 1) for tap, k in zip(taps[1:], self.kernel[1:], strict=True))
        if self.last:
            shape, steps = (*places, *self.kernel, self.channels), (first, *moves, *taps, channel)
        else:
            shape, steps = (self.channels, *self.kernel, *places), (channel, *taps, first, *moves)
        return _View((self.groups, *shape), (channel * self.channels, *steps)), beyond

    def matrices(self, memory: Array) -> Array:
        """The buffer of windows reshaped to matrices, (groups, positions, depth)."""
        if self.last:
            return memory.reshape(self.groups, math.prod(memory.shape[1 : -1 - len(self.kernel)]), self.depth)
        places = math.prod(memory.shape[2 + len(self.kernel) :])
        return memory.reshape(self.groups, self.depth, places).swapaxes(1, 2)

    def of(self, x: Array, block: _Block) -> Array:
        """The rows of the windows of a block of images."""
        memory = np.zeros(block.elements, x.dtype)
        block.image.of(memory)[block.inside] = x[block.source]
        return self.matrices(np.ascontiguousarray(block.windows.of(memory)))

    def weights(self, weight: Array) -> Array:
        """A weight as matrices, (groups, depth, results)."""
        parts = weight.reshape(self.groups, self.results, self.channels, math.prod(self.kernel))
        parts = parts.swapaxes(2, 3) if self.last else parts
        return parts.reshape(self.groups, self.results, self.depth).swapaxes(1, 2)

    def weight(self, matrices: Array) -> Array:
        """The inverse of `weights`."""
        kernel = math.prod(self.kernel)
        order = (kernel, self.channels) if self.last else (self.channels, kernel)
        parts = matrices.swapaxes(1, 2).reshape(self.groups, self.results, *order)
        parts = parts.swapaxes(2, 3) if self.last else parts
        return parts.reshape(self.groups * self.results, self.channels, *self.kernel)

    def grouped(self, y: Array) -> Array:
        """Outputs, (batch, channels, *lengths), as (batch, groups, results, *lengths)."""
        return y.reshape(len(y), self.groups, self.results, *y.shape[2:])

    def products(self, y: Array, block: _Block) -> Array:
        """A block of grouped outputs as matrices, (groups, positions, results)."""
        part = y[block.places]
        places = range(3, part.ndim)
        shape = self.groups, math.prod(part.shape[3:]) * len(part), self.results
        if self.last:
            return part.transpose(1, 0, *places, 2).reshape(shape)
        return part.transpose(1, 2, 0, *places).reshape(shape[0], shape[2], shape[1]).swapaxes(1, 2)

    def put(self, y: Array, block: _Block, rows: Array, weights: Array) -> None:
        """Write the products of a block to grouped outputs, without those of windows that wrap around."""
        if self.last:
            found = machine.dot(rows, weights).reshape(block.products)
            y[block.places] = found.transpose(1, 0, found.ndim - 1, *range(2, found.ndim - 1))
            return
        found = machine.dot(weights.swapaxes(1, 2), rows.swapaxes(1, 2)).reshape(block.products)
        inside: tuple[slice | EllipsisType, ...] = (..., *(slice(n) for n in self.lengths[1:]))
        found = found[inside]
        y[block.places] = found.transpose(2, 0, 1, *range(3, found.ndim))


_rows = functools.lru_cache(maxsize=256)(_WindowRows)


def _shared(work: Callable[[int], None], count: int) -> None:
    """Call a function that computes matrix products with each number below a count, in several threads."""

    def part(start: int, stop: int) -> None:
        for number in range(start, stop):
            work(number)

    blocks.pieces(part, count, blocks.BLOCK, products=True)


def by_machine_code(x: Shaped, kernel: Sizes, lengths: Sizes, results: int, window: Window) -> Plan | None:
    """The compiled implementation of a convolution of x; None if there is none, or NumPy is as fast."""
    return _code(x.shape, (results, x.shape[1] // window.groups, *kernel), lengths, window, x.dtype)


def _code(x: Sizes, weight: Sizes, lengths: Sizes, window: Window, dtype: NumpyType) -> Plan | None:
    work = x[0] * math.prod(lengths) * math.prod(weight)
    if work < WORTH or not machine.usable():
        return None
    return machine.module("convolution" if window.groups == 1 else "depthwise").plan(x, weight, window, dtype)


def _convolution_forward(x: Array, weight: Array, *, window: Window) -> Array:
    lengths = window.lengths(x.shape[2:], weight.shape[2:])
    if (plan := by_machine_code(x, weight.shape[2:], lengths, len(weight), window)) is not None:
        return plan.convolved(x, weight)
    rows = _rows(x.shape, weight.shape, lengths, window, x.itemsize, runs=True, cut=True)
    matrices, out = rows.weights(weight), np.empty((len(x), len(weight), *lengths), x.dtype)
    grouped = rows.grouped(out)

    def work(number: int) -> None:
        images, block = rows.task(number)
        rows.put(grouped[images], block, rows.of(x[images], block), matrices)

    _shared(work, rows.count)
    return out


def _opposite(y: Array, weight: Array, size: Sizes, window: Window) -> Window | None:
    """The window with which a convolution of y equals this transpose; None if there is none, or it is not faster.

    With stride 1, the transpose is the convolution with the flipped weight and the complementary padding. Then rows of
    y are copied; otherwise columns are added to the image, which takes twice as long per element. Compiled code multiplies
    as many windows as the image has elements, or as many columns as y has, which it adds to the image.
    """
    kernel, results = weight.shape[2:], window.groups * weight.shape[1]
    reach = tuple(d * (k - 1) for d, k in zip(window.dilation, kernel, strict=True))
    padding = tuple(r - p for r, p in zip(reach, window.padding, strict=True))
    opposite = window._replace(padding=padding)
    fits = all(s == 1 for s in window.stride) and min(padding, default=-1) >= 0
    if not fits or math.prod(kernel) == 1 or opposite.lengths(y.shape[2:], kernel) != size:
        return None
    if window.groups == 1 and _is_laid(y, weight):
        multiplied = math.prod(size) * len(weight) * max(results, NARROWEST)
        if multiplied > math.prod(y.shape[2:]) * results * (len(weight) + ADDITION):
            return None
    quicker = len(weight) <= 2 * results or by_machine_code(y, kernel, size, results, opposite) is not None
    return opposite if quicker else None


def _is_laid(y: Array, weight: Array) -> bool:
    """True if the transpose adds columns to images by compiled code."""
    places = math.prod(y.shape[2:])
    worth = len(y) * places * weight.size >= WORTH and places * math.prod(weight.shape[2:]) <= TABLE
    return worth and y.dtype.char in "fd" and y.dtype == weight.dtype and machine.usable()


def _turned(weight: Array, groups: int) -> Array:
    """A weight flipped along its kernel axes, with channels and results exchanged."""
    kernel = weight.shape[2:]
    matrix = weight.reshape(groups, len(weight) // groups, *weight.shape[1:]).swapaxes(1, 2)
    backwards: tuple[slice | EllipsisType, ...] = (..., *[slice(None, None, -1)] * len(kernel))
    return matrix[backwards].reshape(groups * weight.shape[1], len(weight) // groups, *kernel)


def _transpose_forward(y: Array, weight: Array, *, size: Sizes, window: Window) -> Array:
    if (opposite := _opposite(y, weight, size, window)) is not None:
        return _convolution_forward(y, _turned(weight, window.groups), window=opposite)
    shape = (len(y), weight.shape[1] * window.groups, *size)
    code = None if window.groups == 1 else _code(shape, weight.shape, y.shape[2:], window, y.dtype)
    plan = cast("DepthwisePlan | None", code)
    if plan is not None and plan.lengths == y.shape[2:]:
        return plan.transposed(y, weight)
    if _is_laid(y, weight):
        return _products_laid(y, weight, shape, window)
    rows = _rows(shape, weight.shape, y.shape[2:], window, y.itemsize, runs=False, cut=False)
    matrices, grouped = rows.weights(weight).swapaxes(1, 2), rows.grouped(y)
    out = np.empty(shape, y.dtype)
    before = (slice(None),) * (2 + len(size) if rows.last else 2)

    def work(number: int) -> None:
        images, block = rows.task(number)
        memory = np.zeros(block.elements, y.dtype)
        windows = block.windows.of(memory)
        columns = np.empty(windows.shape, y.dtype)
        np.matmul(rows.products(grouped[images], block), matrices, out=rows.matrices(columns))
        _overlaid(windows, columns, before, rows.kernel)
        out[images] = block.image.of(memory)[block.inside]

    _shared(work, rows.count)
    return out


def _products_laid(y: Array, weight: Array, shape: Sizes, window: Window) -> Array:
    """The transpose of a convolution as products of whole images, which compiled code adds up."""
    kernel, lengths, channels = weight.shape[2:], y.shape[2:], len(weight) // window.groups
    matrices = weight.reshape(1, window.groups, channels, weight.size // len(weight)).swapaxes(2, 3)
    factors = y.reshape(len(y), window.groups, channels, math.prod(lengths))
    parts, form = [], (-1, shape[1], math.prod((*kernel, *lengths)))
    for images in _cut(len(y), len(y) * math.prod(form[1:]) * y.itemsize // LAID):
        columns = machine.multiplied(matrices, factors[images])
        parts.append(_laid(columns.reshape(form), shape[2:], kernel, lengths, window))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _overlaid(windows: Array, columns: Array, before: tuple[slice, ...], kernel: Sizes) -> None:
    """Add columns to an image at their window positions (col2im), one kernel element after another."""
    for place in itertools.product(*map(range, kernel)):
        at: tuple[slice | int, ...] = (*before, *place)
        piece = windows[at]
        piece += columns[at]


def _weight_forward(x: Array, y: Array, *, kernel: Sizes, window: Window) -> Array:
    plan = by_machine_code(x, kernel, y.shape[2:], y.shape[1], window)
    if plan is not None and plan.lengths == y.shape[2:]:
        return plan.weights(x, y)
    shape = (y.shape[1], x.shape[1] // window.groups, *kernel)
    rows = _rows(x.shape, shape, y.shape[2:], window, y.itemsize, runs=False, cut=True)
    grouped, shares = rows.grouped(y), _cut(rows.count, SHARES)
    totals = [np.zeros((rows.groups, rows.depth, rows.results), y.dtype) for _ in shares]

    def work(share: int) -> None:
        for number in range(shares[share].start, shares[share].stop):
            images, block = rows.task(number)
            given = rows.products(grouped[images], block)
            totals[share] += machine.dot(rows.of(x[images], block).swapaxes(1, 2), given)

    _shared(work, len(shares))
    return np.ascontiguousarray(rows.weight(functools.reduce(np.add, totals)))


def _windows(image: Array, kernel: Sizes, lengths: Sizes, window: Window) -> Array:
    """The windows of padded images as a view, (batch, channels, *kernel, *lengths)."""
    steps = image.strides[2:]
    taps = (d * step for d, step in zip(window.dilation, steps, strict=True))
    moves = (s * step for s, step in zip(window.stride, steps, strict=True))
    strides = (*image.strides[:2], *taps, *moves)
    return np.ndarray((*image.shape[:2], *kernel, *lengths), image.dtype, image if image.size else None, 0, strides)


def _columns_forward(x: Array, *, kernel: Sizes, window: Window) -> Array:
    lengths = window.lengths(x.shape[2:], kernel)
    image = np.zeros((*x.shape[:2], *_around(x.shape[2:], window.padding)), x.dtype)
    image[_inside(x.shape[2:], window.padding)] = x
    shape = (len(x), x.shape[1] * math.prod(kernel), math.prod(lengths))
    return np.ascontiguousarray(_windows(image, kernel, lengths, window)).reshape(shape)


def _overlay_forward(g: Array, *, size: Sizes, kernel: Sizes, window: Window) -> Array:
    lengths, count = window.lengths(size, kernel), math.prod(kernel)
    columns = g.reshape(len(g), g.shape[1] // count, count * math.prod(lengths))
    return _laid(columns, size, kernel, lengths, window)


def _laid(columns: Array, size: Sizes, kernel: Sizes, lengths: Sizes, window: Window) -> Array:
    """Columns, (batch, channels, elements of windows), added up to images."""
    if columns.shape[2] <= TABLE and machine.repays(columns):
        taps = _overlay(size, kernel, lengths, window)
        return machine.module("resampling").resampled(columns, 2, taps).reshape(*columns.shape[:2], *size)
    image = np.zeros((*columns.shape[:2], *_around(size, window.padding)), columns.dtype)
    windows = _windows(image, kernel, lengths, window)
    _overlaid(windows, columns.reshape(windows.shape), (slice(None),) * 2, kernel)
    return np.ascontiguousarray(image[_inside(size, window.padding)])


@functools.lru_cache(maxsize=16)
def _overlay(size: Sizes, kernel: Sizes, lengths: Sizes, window: Window) -> Taps:
    """The matrix that adds a channel's columns to its image."""
    around = np.full(_around(size, window.padding), -1)
    around[_inside(size, window.padding)[2:]] = np.arange(math.prod(size)).reshape(size)
    places = _windows(around[None, None], kernel, lengths, window).reshape(-1)
    inside = np.flatnonzero(places >= 0)
    return Taps(places[inside], inside, None, math.prod(size), places.size)


def _fitted(xp: Operations, y: Tensor, lengths: Sizes) -> Tensor:
    """The convolution restricted to the positions that its transpose had: output padding may add some."""
    if y.shape[2:] == lengths:
        return y
    return xp.getitem(y, index=(..., *(slice(n) for n in lengths)))


def _image(xp: Operations, g: Tensor, weight: Tensor, x_shape: Sizes, *, window: Window) -> Tensor:
    return xp.convolve_transpose(g, weight, size=x_shape[2:], window=window)


def _weight(xp: Operations, g: Tensor, x: Tensor, weight_shape: Sizes, *, window: Window) -> Tensor:
    return xp.convolve_weight(x, g, kernel=weight_shape[2:], window=window)


def _transpose_result(
    xp: Operations, g: Tensor, weight: Tensor, product_shape: Sizes, *, size: Sizes, window: Window
) -> Tensor:
    return _fitted(xp, xp.convolve(g, weight, window=window), product_shape[2:])


def _transpose_weight(
    xp: Operations, g: Tensor, product: Tensor, weight_shape: Sizes, *, size: Sizes, window: Window
) -> Tensor:
    return xp.convolve_weight(g, product, kernel=weight_shape[2:], window=window)


def _weight_image(
    xp: Operations, g: Tensor, product: Tensor, x_shape: Sizes, *, kernel: Sizes, window: Window
) -> Tensor:
    return xp.convolve_transpose(product, g, size=x_shape[2:], window=window)


def _weight_result(
    xp: Operations, g: Tensor, x: Tensor, product_shape: Sizes, *, kernel: Sizes, window: Window
) -> Tensor:
    return _fitted(xp, xp.convolve(x, g, window=window), product_shape[2:])


def _bias_itself(xp: Operations, x: Tensor, bias: Tensor) -> Tensor:
    return x + xp.reshape(bias, shape=(bias.size, *[1] * (x.ndim - 2)))


def _bias(xp: Operations, g: Tensor, bias: Tensor) -> Tensor:
    return xp.attached(xp.sum(g, axis=(0, *range(2, g.ndim)), keepdims=False), bias)


# fmt: off
#                         name             pullback per operand
convolve           = multilinear("convolve", _image, _weight, inputs=("x", "weight"),
                                    forward=_convolution_forward, title="ConvolutionBackward0", **SINGLES)
convolve_transpose = multilinear("convolve_transpose", _transpose_result, _transpose_weight, inputs=("product", "weight"),
                                    forward=_transpose_forward,  title="ConvolutionBackward0", **SINGLES)
convolve_weight    = multilinear("convolve_weight", _weight_image, _weight_result, inputs=("x", "product"),
                                    forward=_weight_forward, **SINGLES)
biased                = general("biased", lambda xp, g: g, _bias, inputs=("x", "bias"), complex="holomorphic",
                                definition=_bias_itself,         title="ConvolutionBackward0")
attached              = elementwise("attached", lambda xp, g: g, lambda xp, g: xp.zeros_like(g), inputs=("value", "x"),
                                    definition=lambda xp, value, x: value, title="ConvolutionBackward0", view=True)
window_columns        = linear("window_columns",
                               lambda xp, g, x_shape, *, kernel, window:
                                   xp.window_overlay(g, size=x_shape[2:], kernel=kernel, window=window),
                               forward=_columns_forward,         title="Im2ColBackward0")
window_overlay        = linear("window_overlay",
                               lambda xp, g, *, size, kernel, window: xp.window_columns(g, kernel=kernel, window=window),
                               forward=_overlay_forward,         title="Col2ImBackward0", cost=1)
# fmt: on
