"""Lowerings of convolutions and pooling, and of weighted sums along an axis.

Windows are taken from an image by a table of places, one for each element of a window, which the host makes; their
transpose adds them up by the same table. Libraries that have convolutions use their own.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from ...ops.pooling import lowest, places_of
from .lowerings import LOWERINGS, lowering, missing
from .moving import summed, taken

if TYPE_CHECKING:
    from ..._core.typing import Array, NumpyType
    from ...ops.convolution import Window
    from ...ops.resampling import Taps
    from ..program import Equation
    from .libraries import Engine
    from .lowerings import Foreign


@functools.lru_cache(maxsize=256)
def numbers(size: tuple[int, ...], lengths: tuple[int, ...], kernel: tuple[int, ...], window: Window) -> Array:
    """The numbers, from 1 on, of the elements of an image that windows cover, (kernel, windows); 0 stands for padding."""
    around, along = [], []
    axes = zip(size, lengths, kernel, window.stride, window.padding, window.dilation, strict=True)
    for n, length, k, stride, padding, dilation in axes:
        around.append((padding, max(0, (length - 1) * stride + dilation * (k - 1) + 1 - n - padding)))
        along.append(np.arange(length) * stride + np.arange(k)[:, None] * dilation)
    image = np.pad(np.arange(1, math.prod(size) + 1).reshape(size), around)
    return image.reshape(-1)[places_of(along, image.shape)]


def cut(w: Engine, x: Foreign, table: Array) -> Foreign:
    """The windows of images, (batch, channels, kernel, windows)."""
    flat = w.xp.reshape(x, (*x.shape[:2], math.prod(x.shape[2:])))
    return taken(w, flat, table, 2)


def overlaid(w: Engine, g: Foreign, table: Array, size: tuple[int, ...]) -> Foreign:
    """Images from windows, which are added where they overlap."""
    found = summed(w, w.xp.reshape(g, (*g.shape[:2], math.prod(g.shape[2:]))), table, math.prod(size))
    return w.xp.reshape(found, (*g.shape[:2], *size))


def _grouped(w: Engine, x: Foreign, groups: int, *rest: int) -> Foreign:
    """A batch with an axis for groups, and the others given."""
    return w.xp.reshape(x, (x.shape[0], groups, *rest))


@lowering("convolve")
def _convolve(w: Engine, e: Equation, x: Foreign, weight: Foreign, *, window: Window) -> Foreign:
    groups, kernel, lengths = window.groups, weight.shape[2:], e.output.shape[2:]
    columns = cut(w, x, numbers(x.shape[2:], lengths, kernel, window))
    columns = _grouped(w, columns, groups, math.prod(weight.shape[1:]), math.prod(lengths))
    matrices = w.xp.reshape(weight, (1, groups, weight.shape[0] // groups, math.prod(weight.shape[1:])))
    return w.xp.reshape(w.xp.matmul(matrices, columns), e.output.shape)


@lowering("convolve_transpose")
def _convolve_transpose(
    w: Engine, e: Equation, y: Foreign, weight: Foreign, *, size: tuple[int, ...], window: Window
) -> Foreign:
    groups, kernel, lengths = window.groups, weight.shape[2:], y.shape[2:]
    matrices = w.xp.reshape(weight, (1, groups, weight.shape[0] // groups, math.prod(weight.shape[1:])))
    given = _grouped(w, y, groups, y.shape[1] // groups, math.prod(lengths))
    columns = w.xp.matmul(w.xp.matrix_transpose(matrices), given)
    columns = w.xp.reshape(columns, (y.shape[0], e.output.shape[1], math.prod(kernel), math.prod(lengths)))
    return overlaid(w, columns, numbers(tuple(size), lengths, kernel, window), size)


@lowering("convolve_weight")
def _convolve_weight(
    w: Engine, e: Equation, x: Foreign, y: Foreign, *, kernel: tuple[int, ...], window: Window
) -> Foreign:
    groups, lengths = window.groups, y.shape[2:]
    columns = cut(w, x, numbers(x.shape[2:], lengths, tuple(kernel), window))
    columns = _grouped(w, columns, groups, math.prod(e.output.shape[1:]), math.prod(lengths))
    given = _grouped(w, y, groups, y.shape[1] // groups, math.prod(lengths))
    found = w.xp.sum(w.xp.matmul(given, w.xp.matrix_transpose(columns)), axis=0)
    return w.xp.reshape(found, e.output.shape)


def _columns(w: Engine, e: Equation, x: Foreign, *, kernel: tuple[int, ...], window: Window) -> Foreign:
    lengths = window.lengths(x.shape[2:], kernel)
    return w.xp.reshape(cut(w, x, numbers(x.shape[2:], lengths, tuple(kernel), window)), e.output.shape)


def _overlay(
    w: Engine, e: Equation, g: Foreign, *, size: tuple[int, ...], kernel: tuple[int, ...], window: Window
) -> Foreign:
    lengths = window.lengths(size, kernel)
    form = (g.shape[0], e.output.shape[1], math.prod(kernel), math.prod(lengths))
    return overlaid(w, w.xp.reshape(g, form), numbers(tuple(size), lengths, tuple(kernel), window), size)


def _counts(
    size: tuple[int, ...],
    lengths: tuple[int, ...],
    kernel: tuple[int, ...],
    window: Window,
    inside: bool,
    divisor: float | None,
    dtype: NumpyType,
) -> Array:
    """What the sum of each window is divided by: its number of elements, where padding counts unless `inside`."""
    if divisor is not None:
        return np.asarray(divisor, dtype)
    counts = []
    for n, length, k, stride, padding in zip(size, lengths, kernel, window.stride, window.padding, strict=True):
        start = np.arange(length) * stride - padding
        stop = np.minimum(start + k, n if inside else n + padding)
        counts.append(stop - (np.maximum(start, 0) if inside else start))
    return np.asarray(functools.reduce(np.multiply.outer, counts), dtype)


@lowering("window_mean")
def _mean(
    w: Engine,
    e: Equation,
    x: Foreign,
    *,
    kernel: tuple[int, ...],
    window: Window,
    lengths: tuple[int, ...],
    divisor: float | None,
    inside: bool,
) -> Foreign:
    size = x.shape[2:]
    total = w.xp.sum(cut(w, x, numbers(size, tuple(lengths), tuple(kernel), window)), axis=2)
    count = w.constant(_counts(size, lengths, kernel, window, inside, divisor, w.part(e.output.dtype)))
    return w.xp.reshape(total, e.output.shape) / count


@lowering("window_spread")
def _spread(
    w: Engine,
    e: Equation,
    g: Foreign,
    *,
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    window: Window,
    divisor: float | None,
    inside: bool,
) -> Foreign:
    lengths = g.shape[2:]
    g = g / w.constant(_counts(size, lengths, kernel, window, inside, divisor, w.part(e.output.dtype)))
    flat = w.xp.reshape(g, (*g.shape[:2], 1, math.prod(lengths)))
    flat = w.xp.broadcast_to(flat, (*g.shape[:2], math.prod(kernel), math.prod(lengths)))
    return overlaid(w, flat, numbers(tuple(size), lengths, tuple(kernel), window), size)


def _filled(w: Engine, x: Foreign, table: Array) -> Foreign:
    """The windows, with the lowest number in the place of padding."""
    bound = lowest(w.kind(x))
    found = cut(w, x, table)
    return found if table.all() else w.xp.where(w.constant(table > 0), found, bound)


@lowering("max_pool")
def _max_pool(
    w: Engine, e: Equation, x: Foreign, *, kernel: tuple[int, ...], window: Window, lengths: tuple[int, ...]
) -> Foreign:
    table = numbers(x.shape[2:], tuple(lengths), tuple(kernel), window)
    return w.xp.reshape(w.xp.max(_filled(w, x, table), axis=2), e.output.shape)


def _chosen(w: Engine, x: Foreign, highest: Foreign, table: Array) -> Foreign:
    """The place in each window of its maximum, (batch, channels, windows): the first of equal ones, the last NaN."""
    xp, windows = w.xp, _filled(w, x, table)
    top = xp.reshape(highest, (*x.shape[:2], 1, table.shape[1]))
    count = w.constant(np.arange(len(table))[:, None])
    first = xp.min(xp.where(windows == top, count, len(table)), axis=2)
    lost = xp.max(xp.where(missing(windows), count, 0), axis=2)
    return xp.where(first == len(table), lost, first)


@lowering("max_places")
def _max_places(
    w: Engine, e: Equation, x: Foreign, highest: Foreign, *, kernel: tuple[int, ...], window: Window
) -> Foreign:
    table = numbers(x.shape[2:], highest.shape[2:], tuple(kernel), window)
    found = _chosen(w, x, highest, table) * table.shape[1] + w.constant(np.arange(table.shape[1]))
    flat = w.xp.take(w.constant(np.ascontiguousarray(table).reshape(-1) - 1), w.xp.reshape(found, (-1,)), axis=0)
    return w.xp.reshape(flat, e.output.shape)


@lowering("max_spread")
def _max_spread(
    w: Engine, e: Equation, given: Foreign, x: Foreign, highest: Foreign, *, kernel: tuple[int, ...], window: Window
) -> Foreign:
    table = numbers(x.shape[2:], highest.shape[2:], tuple(kernel), window)
    chosen = _chosen(w, x, highest, table)[:, :, None, :]
    given = w.xp.reshape(given, (*x.shape[:2], 1, table.shape[1]))
    mine = w.constant(np.arange(len(table))[:, None]) == chosen
    return overlaid(w, w.xp.where(mine, given, w.xp.zeros_like(given)), table, x.shape[2:])


@lowering("resample")
def _resample(w: Engine, e: Equation, x: Foreign, *, axis: int, taps: Taps) -> Foreign:
    if e.output.dtype.kind not in "fc":
        raise w.refusal("of whole numbers")
    total = w.xp.zeros(e.output.shape, dtype=x.dtype)
    for rows, columns, weights in taps.layers:
        full, scale = np.zeros(taps.length, np.int64), np.ones(taps.length, w.part(e.output.dtype))
        chosen = slice(None) if rows is None else rows
        full[chosen] = columns + 1
        if weights is not None:
            scale[chosen] = weights
        total = total + taken(w, x, full, axis) * w.constant(scale.reshape(-1, *[1] * (len(x.shape) - axis - 1)))
    return total


LOWERINGS |= {
    "window_columns": _columns,
    "window_overlay": _overlay,
    "biased": lambda w, e, x, bias: x + w.xp.reshape(bias, (-1, *[1] * (len(x.shape) - 2))),
}
