"""Pooling: means and maxima over windows, and the positions of the maxima.

Arrays are (batch, channels, *lengths). Means and maxima are taken along one axis after another, by one vectorized step
for each element of a window. Padding is not allocated: a step processes only the positions at which its window element
is inside the image. A maximum passes its cotangent to the element it came from. The positions of these elements are
computed when the pullback needs them; `gather` and `accumulate`, each the transpose of the other, move the values.
Adaptive and fractional pools use positions, too.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core import machine, xp as _xp
from .._core.primitives import SINGLES, general, linear, zero
from .._numerics import blocks
from .convolution import Sizes, Window
from .shapes import remaining_along

if TYPE_CHECKING:
    from types import EllipsisType
    from typing import TypeAlias

    from .._core.primitives import Function
    from .._core.typing import Array, NumpyType, Operations, Tensor, Threshold
    from ..compile.machine.pooling import PoolingPlan

    Place: TypeAlias = tuple[slice | EllipsisType, ...] | EllipsisType

SHORT: Threshold = 4
"""Up to this number of windows in a line, tiles are copied to one long array per window element."""

WORTH: Threshold = 1 << 12
"""Above this number of elements, compiled code pays off; smaller images use a table of all window elements."""
BYTES: Threshold = 1 << 8
"""From this number of window elements on, their index does not fit into one byte."""

Meeting = tuple[slice, slice]  # slices of the output positions, and of the input elements that one step covers there


def _meeting(size: int, length: int, offset: int, stride: int) -> Meeting:
    """For one offset in a window: the outputs t with 0 <= t * stride + offset < size, and their inputs."""
    first = max(0, -(offset // stride))
    last = max(first, min(length, (size - 1 - offset) // stride + 1))
    start = first * stride + offset
    return slice(first, last), slice(start, start + (last - first - 1) * stride + 1 if last > first else start, stride)


def _reaching(size: int, kernel: int, window: Window, i: int) -> int:
    """The number of elements of a window, from its first on, that may lie in the image; a window may be longer."""
    return min(kernel, (size - 1 + window.padding[i]) // window.dilation[i] + 1)


@functools.lru_cache(maxsize=256)
def _meetings(size: int, length: int, kernel: int, window: Window, i: int) -> list[Meeting]:
    """The output and input slices of each element of a window along one axis that may lie in the image."""
    padding, dilation, count = window.padding[i], window.dilation[i], _reaching(size, kernel, window, i)
    return [_meeting(size, length, j * dilation - padding, window.stride[i]) for j in range(count)]


def elements_along(size: Sizes, lengths: Sizes, kernel: Sizes, window: Window) -> list[Array] | None:
    """Along each axis, the index in the image of each window element, (kernel, windows).

    An index outside the image becomes the nearest one of its window inside; None if a window has none.
    """
    found = []
    for i, (n, length, k) in enumerate(zip(size, lengths, kernel, strict=True)):
        starts, step = np.arange(length) * window.stride[i] - window.padding[i], window.dilation[i]
        first, last = -(np.minimum(starts, 0) // step), np.minimum((n - 1 - starts) // step, k - 1)
        if (first > last).any():
            return None
        found.append(starts + np.clip(np.arange(k)[:, None], first, last) * step)
    return found


def places_of(along: list[Array], size: Sizes) -> Array:
    """Indices in a flattened image of the elements of all windows, (kernel, windows), both flattened."""
    found = np.zeros((1, 1), np.intp)
    for each, step in zip(along, _steps(size), strict=True):
        found = (found[:, None, :, None] + each[None, :, None, :] * step).reshape(len(found) * len(each), -1)
    return found


class _Table(NamedTuple):
    """Index tables of the elements of all windows of small images."""

    elements: Array  # indices into the flattened images, (kernel, *results)
    order: Array  # the flat index of each output
    windows: Array | None  # for each element the output whose window contains it; None unless there is exactly one
    apart: bool  # True if no two windows overlap


@functools.lru_cache(maxsize=64)
def _table(shape: Sizes, lengths: Sizes, kernel: Sizes, window: Window) -> _Table | None:
    """The table for images that have few windows, each with an element inside the image."""
    results = (*shape[:2], *lengths)
    entries, size = math.prod(results) * math.prod(kernel), math.prod(shape)
    along = elements_along(shape[2:], lengths, kernel, window) if 0 < entries < WORTH else None
    if along is None:
        return None
    starts = np.arange(math.prod(shape[:2])) * math.prod(shape[2:])
    elements = (starts[:, None] + places_of(along, shape[2:])[:, None]).reshape(-1, *results)
    order, windows = np.arange(math.prod(results)).reshape(results), None
    apart = bool(np.bincount(elements.reshape(-1)).max() == 1)
    if apart and entries == size:
        windows = np.empty(shape, np.intp)
        _xp.reshaped_view(windows, -1)[elements] = order
    return _Table(elements, order, windows, apart)


@functools.lru_cache(maxsize=256)
def _elements(size: Sizes, lengths: Sizes, kernel: Sizes, window: Window) -> list[tuple[Place, Place]]:
    """For each element of a window, in order, the index of the outputs and the index of the inputs it covers."""
    axes = zip(size, lengths, kernel, range(len(size)), strict=True)
    along = [_meetings(n, length, k, window, i) for n, length, k, i in axes]
    both = (zip(*element, strict=True) for element in itertools.product(*along))
    return [((..., *places), (..., *sources)) for places, sources in both]


def _reduced(x: Array, ufunc: np.ufunc, fill: float, kernel: Sizes, window: Window, lengths: Sizes) -> Array:
    """A ufunc's reduction over windows, along one axis after another."""
    for i, (k, length) in enumerate(zip(kernel, lengths, strict=True)):
        before = (slice(None),) * (i + 2)
        everywhere = slice(0, length)
        meetings = _meetings(x.shape[i + 2], length, k, window, i)
        full = [source for place, source in meetings if place == everywhere]
        parts = [(place, source) for place, source in meetings if place != everywhere]
        if not full:
            out = np.full((*x.shape[: i + 2], length, *x.shape[i + 3 :]), fill, x.dtype)
        elif len(full) == 1:
            out = x[(*before, full[0])].copy()
        else:
            out = ufunc(x[(*before, full[0])], x[(*before, full[1])])
        parts += [(everywhere, source) for source in full[2:]]
        for place, source in parts:
            target = out[(*before, place)]
            ufunc(target, x[(*before, source)], out=target)
        x = out
    return _xp.in_order(x)


@functools.lru_cache(maxsize=256)
def _counts(
    size: Sizes, lengths: Sizes, kernel: Sizes, window: Window, inside: bool, divisor: int | None, dtype: NumpyType
) -> Array:
    """The divisor of each window's sum: its number of elements, where padding counts unless `inside`."""
    counts = []
    for n, length, k, s, p in zip(size, lengths, kernel, window.stride, window.padding, strict=True):
        start = np.arange(length) * s - p
        end = np.minimum(start + k, n if inside else n + p)
        counts.append(end - np.maximum(start, 0) if inside else end - start)
    if divisor is None and all(len(count) and (count == count[0]).all() for count in counts):
        divisor = math.prod(int(count[0]) for count in counts)
    found = np.asarray(functools.reduce(np.multiply.outer, counts) if divisor is None else divisor, dtype)
    found.flags.writeable = False
    return found


def _mean_forward(
    x: Array, *, kernel: Sizes, window: Window, lengths: Sizes, divisor: int | None, inside: bool
) -> Array:
    table = _few(x, lengths, kernel, window)
    if table is not None and table.windows is not None:
        total = np.add.reduce(x.take(table.elements))
    else:
        total = _reduced(x, np.add, 0, kernel, window, lengths)
    count = _counts(x.shape[2:], lengths, kernel, window, inside, divisor, total.real.dtype)
    if x.dtype.kind in "iu":
        return np.trunc(total / count).astype(x.dtype)
    return np.divide(total, count, out=total)


def _spread_forward(
    g: Array, *, size: Sizes, kernel: Sizes, window: Window, divisor: int | None, inside: bool
) -> Array:
    lengths = g.shape[2:]
    g = g / _counts(size, lengths, kernel, window, inside, divisor, g.real.dtype)
    table = _table((*g.shape[:2], *size), lengths, kernel, window) if g.size < WORTH else None
    if table is not None and table.windows is not None:
        return g.take(table.windows)
    for i in reversed(range(len(size))):
        before = (slice(None),) * (i + 2)
        out = np.zeros((*g.shape[: i + 2], size[i], *g.shape[i + 3 :]), g.dtype)
        apart = window.stride[i] >= kernel[i]
        for place, source in _meetings(size[i], g.shape[i + 2], kernel[i], window, i):
            if apart:
                out[(*before, source)] = g[(*before, place)]
            else:
                out[(*before, source)] += g[(*before, place)]
        g = out
    return g


def lowest(dtype: NumpyType) -> float:
    """The identity of the maximum in a dtype: -inf, or the lowest integer."""
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _tiled(size: Sizes, kernel: Sizes, window: Window) -> bool:
    """True if windows tile the image, and lines are so short that the overhead of NumPy's loops dominates."""
    plain = window.stride == kernel and not any(window.padding) and all(d == 1 for d in window.dilation)
    covered = all(n % k == 0 for n, k in zip(size, kernel, strict=True))
    return plain and covered and 1 < size[-1] // kernel[-1] <= SHORT


def _lines(part: Array, elements: int) -> Array:
    """Contiguous memory viewed as items of several elements, each copied as a unit."""
    return _xp.reshaped_view(part, -1).view(np.dtype((np.void, elements * part.itemsize)))


def _planes(x: Array, kernel: Sizes) -> Array:
    """For each element of a window, in order, its values in all tiles."""
    part, elements = x, 1
    for k, n in zip(reversed(kernel), reversed(x.shape[2:]), strict=True):
        lines = _lines(np.ascontiguousarray(part), elements).reshape(-1, k)
        taken = np.empty((k, len(lines)), lines.dtype)
        for i in range(k):
            taken[i] = lines[:, i]
        part, elements = taken.reshape(-1).view(x.dtype), elements * (n // k)
    return part.reshape(math.prod(kernel), -1)


def _put_together(planes: Array, out: Array, kernel: Sizes) -> None:
    """The inverse of `_planes`: write its values to contiguous memory."""
    lengths = [n // k for n, k in zip(out.shape[2:], kernel, strict=True)]
    part = planes
    for i, k in enumerate(kernel):
        lines = _lines(part, math.prod(lengths[i + 1 :])).reshape(k, -1)
        last = i == len(kernel) - 1
        given = _xp.reshaped_view(_lines(out, 1), -1, k) if last else np.empty((lines.shape[1], k), lines.dtype)
        for j in range(k):
            given[:, j] = lines[j]
        part = given.reshape(-1).view(planes.dtype)


def _plan(x: Array, lengths: Sizes, kernel: Sizes, window: Window) -> PoolingPlan | None:
    """The compiled implementation of max pooling; None if there is none, or NumPy is as fast."""
    if x.size < WORTH or not machine.usable():
        return None
    return machine.module("pooling").plan(x.shape, lengths, kernel, window, x.dtype)


def _few(x: Array, lengths: Sizes, kernel: Sizes, window: Window) -> _Table | None:
    return _table(x.shape, lengths, kernel, window) if x.size < WORTH else None


def _highest_of_few(x: Array, y: Array, table: _Table) -> Array:
    """The indices of maxima in the flattened images."""
    found = x.take(table.elements)
    chosen = (found == y).argmax(0)
    flat = y.reshape(-1)
    if np.isnan(flat.dot(flat)):  # takes a fifth of the time of np.isnan(flat)
        lost = np.isnan(y)
        chosen[lost] = len(found) - 1 - np.isnan(found)[::-1].argmax(0)[lost]
    chosen *= y.size
    chosen += table.order
    return table.elements.take(chosen)


def _max_forward(x: Array, *, kernel: Sizes, window: Window, lengths: Sizes) -> Array:
    if (table := _few(x, lengths, kernel, window)) is not None:
        return np.maximum.reduce(x.take(table.elements))
    if (plan := _plan(x, lengths, kernel, window)) is not None:
        return plan.highest(x)
    if _tiled(x.shape[2:], kernel, window):
        return np.maximum.reduce(_planes(x, kernel)).reshape(*x.shape[:2], *lengths)
    return _reduced(x, np.maximum, lowest(x.dtype), kernel, window, lengths)


def _steps(size: Sizes) -> Sizes:
    """The strides, in elements, of a contiguous image."""
    return tuple(math.prod(size[i + 1 :]) for i in range(len(size)))


@_xp.longs
def _max_places_forward(x: Array, y: Array, *, kernel: Sizes, window: Window) -> Array:
    """The index in the flattened image of each window's maximum: the first of equal elements, the last NaN."""
    if (table := _few(x, y.shape[2:], kernel, window)) is not None:
        return _highest_of_few(x, y, table) % math.prod(x.shape[2:])
    if (plan := _plan(x, y.shape[2:], kernel, window)) is not None and y.dtype == x.dtype:
        return plan.places(x, y)
    size, lengths = x.shape[2:], y.shape[2:]
    elements = _elements(size, lengths, kernel, window)
    order: Array = np.zeros(y.shape, np.uint8 if len(elements) < BYTES else np.int64)
    unmet = np.ones(y.shape, np.bool_)
    for place, source in elements:  # counts the window elements before the first that equals the maximum
        unmet[place] &= x[source] != y[place]
        order += unmet
    if unmet.any():
        for number, (place, source) in enumerate(elements):
            order[place][np.isnan(x[source])] = number
    steps = _steps(size)
    first, offsets = (np.zeros((1,) * len(size), np.int64) for _ in range(2))
    for i, step in enumerate(steps):
        shape = [-1 if j == i else 1 for j in range(len(size))]
        first = first + ((np.arange(lengths[i]) * window.stride[i] - window.padding[i]) * step).reshape(shape)
        inside = np.arange(_reaching(size[i], kernel[i], window, i))
        offsets = offsets + (inside * (window.dilation[i] * step)).reshape(shape)
    return offsets.reshape(-1)[order] + first


def _max_spread_forward(given: Array, x: Array, highest: Array, *, kernel: Sizes, window: Window) -> Array:
    """Zeros like x, with each element of `given` added at the index of its maximum."""
    if (table := _few(x, highest.shape[2:], kernel, window)) is not None:
        out, places = np.zeros(x.shape, given.dtype), _highest_of_few(x, highest, table)
        if table.apart:
            out.put(places, given)
        else:
            np.add.at(_xp.reshaped_view(out, -1), places, given)
        return out
    plan = _plan(x, highest.shape[2:], kernel, window)
    if plan is not None and given.dtype == highest.dtype == x.dtype:
        return plan.spread(given, x, highest)
    axes = zip(window.stride, window.dilation, kernel, strict=True)
    apart = all(s >= d * (k - 1) + 1 for s, d, k in axes)
    if apart and (found := _spread_apart(given, x, highest, kernel, window)) is not None:
        return found
    rows = (*x.shape[:2], math.prod(highest.shape[2:]))
    places = _max_places_forward(x, highest, kernel=kernel, window=window).reshape(rows)
    out = _accumulate_forward(given.reshape(rows), places, size=math.prod(x.shape[2:]), apart=apart)
    return out.reshape(x.shape)


def _spread_apart(given: Array, x: Array, y: Array, kernel: Sizes, window: Window) -> Array | None:
    """As `_max_spread_forward`, for windows that do not overlap, without indices; None if a value is not finite."""
    size = x.shape[2:]
    tiled = _tiled(size, kernel, window)
    out = np.empty(x.shape, given.dtype) if tiled else np.zeros(x.shape, given.dtype)
    elements = _elements(size, y.shape[2:], kernel, window)
    odd = []

    def steps(left: Array, maxima: Array, parts: Iterable[tuple[Place, Array, Array]]) -> None:
        for place, values, result in parts:
            rest = left[place]
            taken = np.multiply(rest, values == maxima[place])
            np.subtract(rest, taken, out=rest)
            np.add(taken, 0.0, out=result)  # makes 0 of -0
        if left.any():
            odd.append(left)

    def part(start: int, stop: int) -> None:
        images, result, left, maxima = x[start:stop], out[start:stop], given[start:stop].copy("C"), y[start:stop]
        if not tiled:
            steps(left, maxima, ((place, images[source], result[source]) for place, source in elements))
            return
        planes = _planes(images, kernel)
        found = np.empty(planes.shape, given.dtype)
        steps(_xp.reshaped_view(left, -1), maxima.reshape(-1), zip(itertools.repeat(...), planes, found))
        _put_together(found, result, kernel)

    blocks.pieces(part, len(x), 2 * math.prod(x.shape[1:]) * x.itemsize)
    return None if odd else out


def _max_spread(xp: Operations, g: Tensor, x: Tensor, highest: Tensor, *, kernel: Sizes, window: Window) -> Tensor:
    lengths = highest.shape[2:]
    places = xp.reshape(
        xp.max_places(x, highest, kernel=kernel, window=window), shape=(*x.shape[:2], math.prod(lengths))
    )
    planes = xp.reshape(g, shape=(*x.shape[:2], math.prod(x.shape[2:])))
    return xp.reshape(xp.gather(planes, places), shape=(*x.shape[:2], *lengths))


def _max_pool(
    xp: Operations, g: Tensor, x: Tensor, y: Tensor, *, kernel: Sizes, window: Window, lengths: Sizes
) -> Tensor:
    return xp.attached(xp.max_spread(g, x, y, kernel=kernel, window=window), x)


def _flat(indices: Array, shape: tuple[int, ...], size: int) -> Array:
    """Indices within the last axis as indices into the flattened array."""
    rows = np.arange(shape[0] * shape[1]).reshape(*shape[:2], 1) * size
    return _xp.indexing(indices + rows)


def _gather_forward(x: Array, indices: Array) -> Array:
    return x.reshape(-1).take(_flat(indices, x.shape, x.shape[-1]))


def _accumulate_forward(g: Array, indices: Array, *, size: int, apart: bool) -> Array:
    flat = _flat(indices, g.shape, size).reshape(-1)
    shape = (*g.shape[:2], size)
    if apart:
        out = np.zeros(math.prod(shape), g.dtype)
        out[flat] = g.reshape(-1)
        return out.reshape(shape)
    values, total = g.reshape(-1), math.prod(shape)
    parts = [values.real, values.imag] if g.dtype.kind == "c" else [values]
    sums = [np.bincount(flat, part, total) for part in parts]
    return (sums[0] if len(sums) == 1 else sums[0] + 1j * sums[1]).astype(g.dtype, copy=False).reshape(shape)


def _put_forward(x: Array, indices: Array, *, size: int) -> Array:
    out = np.zeros((*x.shape[:2], size), x.dtype)
    _xp.reshaped_view(out, -1)[_flat(indices, x.shape, size).reshape(-1)] = x.reshape(-1)
    return out


def _largest(x: Array, spans: list[tuple[Array, Array]]) -> Array:
    """The index in the flattened image of the largest element of each region.

    A region is a product of spans, one for each axis: their starts and ends, arrays that broadcast to (batch, channels,
    length).
    """
    index, there = np.zeros((1, 1, 1, 1), np.int64), np.ones((1, 1, 1, 1), np.bool_)
    for (start, end), n, step in zip(spans, x.shape[2:], _steps(x.shape[2:]), strict=True):
        along = start[..., None] + np.arange((end - start).max(initial=0))
        inside = along < end[..., None]
        index = _crossed(index, np.minimum(along, n - 1) * step, np.add)
        there = _crossed(there, inside, np.logical_and)
    shape = (*x.shape[:2], *index.shape[2:])
    rows = (*x.shape[:2], math.prod(index.shape[2:]))
    planes = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
    values = _gather_forward(planes, np.broadcast_to(index, shape).reshape(rows))
    values = np.where(there, values.reshape(shape), lowest(x.dtype))
    best = values.argmax(-1)[..., None] if values.size else np.zeros((*shape[:-1], 1), np.int64)
    places = np.take_along_axis(np.broadcast_to(index, shape), best, -1)
    return places.reshape(*x.shape[:2], *(start.shape[-1] for start, _ in spans))


def _crossed(a: Array, b: Array, ufunc: np.ufunc) -> Array:
    """A ufunc of all pairs of elements of a and b along their last two axes, pairwise flattened."""
    pairs = ufunc(a[..., :, None, :, None], b[..., None, :, None, :])
    return pairs.reshape(*pairs.shape[:-4], pairs.shape[-4] * pairs.shape[-3], pairs.shape[-2] * pairs.shape[-1])


def adaptive_spans(size: int, length: int) -> tuple[Array, Array]:
    """The starts and ends of regions of nearly equal size that cover an axis."""
    places = np.arange(length)
    return places * size // max(length, 1), -((places + 1) * -size // max(length, 1))


def _adaptive_places_forward(x: Array, *, lengths: Sizes) -> Array:
    spans = [adaptive_spans(n, length) for n, length in zip(x.shape[2:], lengths, strict=True)]
    return _largest(x, [(start[None, None], end[None, None]) for start, end in spans])


def _fractional_places_forward(x: Array, samples: Array, *, kernel: Sizes, lengths: Sizes) -> Array:
    """Regions of one size whose starts advance by a pseudorandom pattern (Graham, Fractional Max-Pooling, 2014)."""
    spans = []
    for i, (n, k, length) in enumerate(zip(x.shape[2:], kernel, lengths, strict=True)):
        sample = samples[..., i, None]
        advance = (n - k) / (length - 1) if length > 1 else 0.0
        start = ((np.arange(length) + sample) * advance).astype(np.int64) - (sample * advance).astype(np.int64)
        start[..., -1:] = n - k
        spans.append((start, start + k))
    return _largest(x, spans)


def _mean(
    xp: Operations, g: Tensor, x: Tensor, *, kernel: Sizes, window: Window, divisor: int | None, inside: bool
) -> Tensor:
    g = xp.window_spread(g, size=x.shape[2:], kernel=kernel, window=window, divisor=divisor, inside=inside)
    return xp.attached(g, x)


def _spread(
    xp: Operations, g: Tensor, x_shape: Sizes, *, kernel: Sizes, window: Window, divisor: int | None, inside: bool
) -> Tensor:
    return xp.window_mean(g, kernel=kernel, window=window, lengths=x_shape[2:], divisor=divisor, inside=inside)


def _named(text: str) -> Function:
    """torch's name of a node, with the number of axes that are pooled."""
    return lambda **params: text.format(len(params["kernel"]))


# fmt: off
#                           name              pullback
window_mean      = linear("window_mean",      _mean,   forward=_mean_forward,   title=_named("AvgPool{}DBackward0"), **SINGLES, cost=1)
window_spread    = linear("window_spread",    _spread, forward=_spread_forward, title=_named("AvgPool{}DBackwardBackward0"), **SINGLES, cost=1)
max_pool         = general("max_pool",        _max_pool, forward=_max_forward,  title=_named("MaxPool{}DWithIndicesBackward0"))
max_spread       = linear("max_spread",       _max_spread, forward=_max_spread_forward, inputs=("given", "x", "highest"),
                          title=_named("MaxPool{}DWithIndicesBackwardBackward0"), cost=1)
gather           = linear("gather",           lambda xp, g, x, indices:
                              xp.attached(xp.accumulate(g, indices, size=x.shape[-1], apart=False), x),
                          inputs=("x", "indices"),      forward=_gather_forward)
accumulate       = linear("accumulate",       lambda xp, g, indices: xp.gather(g, indices),
                          inputs=("x", "indices"),      forward=_accumulate_forward, cost=1)
put              = linear("put",              lambda xp, g, indices: remaining_along(xp, g, xp.gather(g, indices), indices, 2),
                          inputs=("x", "indices"),      forward=_put_forward, title="MaxUnpoolBackward0")
max_places       = zero("max_places",         inputs=("x", "y"),       forward=_max_places_forward)
adaptive_places  = zero("adaptive_places",    forward=_adaptive_places_forward)
fractional_places = zero("fractional_places", inputs=("x", "samples"), forward=_fractional_places_forward)
# fmt: on
