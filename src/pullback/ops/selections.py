"""Selections: the indices of the elements that an ordering selects; the values are gathered from there.

An index has no derivative; `take_along_axis` at the index has the right one. NaN counts as the largest number. The
median over everything is a primitive of its own, because tied elements share its gradient.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._core import xp as _xp
from .._core.primitives import general, zero
from .reductions import _extreme

if TYPE_CHECKING:
    from .._core.typing import Array


def _argsort(x: Array, *, axis: int, descending: bool) -> Array:
    """The indices that sort x, stable for equal elements."""
    if not descending:
        return x.argsort(axis, kind="stable")
    places = _xp.flip(x, axis=axis).argsort(axis, kind="stable")
    return x.shape[axis] - 1 - _xp.flip(places, axis=axis)


def _arglast(x: Array, *, axis: int, largest: bool) -> Array:
    """The index of the extreme element up to each position; of equal ones, the last."""
    running = (np.maximum if largest else np.minimum).accumulate(x, axis)
    found = np.where((x == running) | np.isnan(x), _count_along(x, axis), 0)
    return _xp.in_order(np.maximum.accumulate(found, axis))


def _count_along(x: Array, axis: int) -> Array:
    return np.arange(x.shape[axis]).reshape([-1 if i == axis else 1 for i in range(x.ndim)])


def _argtop(x: Array, *, axis: int, k: int, largest: bool) -> Array:
    """The indices of the k largest or smallest elements, in order; a few of many are partitioned before sorting."""
    size = x.shape[axis]
    if k * 4 > size:
        return _xp.in_order(_leading(_argsort(x, axis=axis, descending=largest), axis, k))
    places = np.flip(np.argpartition(x, size - k - 1, axis), axis) if largest else np.argpartition(x, k, axis)
    places = _leading(places, axis, k)
    order = _argsort(np.take_along_axis(x, places, axis), axis=axis, descending=largest)
    return np.take_along_axis(places, order, axis)


def _leading(x: Array, axis: int, k: int) -> Array:
    return x[(*(slice(None),) * axis, slice(0, k))]


def _argkth(x: Array, *, axis: int, k: int) -> Array:
    """The index of the k-th smallest element, k from 0, on an axis of length 1."""
    return np.take(np.argpartition(x, k, axis), [k], axis)


def _argmedian(x: Array, *, axis: int, skip: bool) -> Array:
    """The index of the lower median, on an axis of length 1; of the first NaN, if any, unless NaNs are skipped."""
    absent = np.isnan(x)
    if not absent.any():
        return _argkth(x, axis=axis, k=(x.shape[axis] - 1) // 2)
    valid = x.shape[axis] - np.sum(absent, axis, keepdims=True)
    kth = np.maximum(valid - 1, 0) // 2
    if not skip:
        kth = np.where(valid < x.shape[axis], valid, kth)
    return np.take_along_axis(np.argsort(x, axis, kind="stable"), kth, axis)


def _argmode(x: Array, *, axis: int) -> Array:
    """The last index of the most frequent element, the smallest of several, on an axis of length 1."""
    places = np.argsort(x, axis, kind="stable")
    ordered = np.take_along_axis(x, places, axis)
    counted = np.broadcast_to(_count_along(x, axis), x.shape)
    begins = counted.copy()
    before = (slice(None),) * axis
    same = ordered[(*before, slice(1, None))] == ordered[(*before, slice(0, -1))]
    begins[(*before, slice(1, None))][same] = 0
    length = counted - np.maximum.accumulate(begins, axis)
    return np.take_along_axis(places, np.argmax(length, axis, keepdims=True), axis)


def _median_forward(x: Array, *, axis: tuple[int, ...], keepdims: bool, skip: bool) -> Array:
    """The lower median over the last axes; NaN if there are no elements."""
    rest = x.shape[: x.ndim - len(axis)]
    flat = x.reshape(*rest, math.prod(x.shape[len(rest) :]))
    if not flat.shape[-1]:
        return np.full(rest, np.nan, x.dtype)
    return np.take_along_axis(flat, _argmedian(flat, axis=-1, skip=skip), -1).reshape(rest)


def _searchsorted(ordered: Array, values: Array, *, right: bool) -> Array:
    """The indices at which values would be inserted into sorted ones: before equal elements, or after them."""
    if ordered.ndim == 1:
        return np.searchsorted(ordered, values, "right" if right else "left")
    low, high = np.zeros(values.shape, np.int64), np.full(values.shape, ordered.shape[-1])
    while np.any(low < high):  # a binary search of all rows at once
        middle = (low + high) // 2
        found = np.take_along_axis(ordered, np.minimum(middle, ordered.shape[-1] - 1), -1)
        further = (low < high) & ~(found > values if right else found >= values)
        low, high = np.where(further, middle + 1, low), np.where(further, high, middle)
    return low


def _unique(x: Array, *, axis: int | None) -> tuple[Array | None, ...]:
    """The sorted distinct elements or slices, the index of each input among them, and their counts."""
    found, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, axis=axis, equal_nan=False)
    return found, _xp.long(inverse).reshape(x.shape if axis is None else -1), _xp.long(counts)


def _unique_consecutive(x: Array, *, axis: int | None) -> tuple[Array | None, ...]:
    """As `_unique`, but merging only equal elements or slices that are adjacent."""
    rows = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    starts = np.ones(len(rows), bool)
    starts[1:] = np.any(rows[1:] != rows[:-1], axis=tuple(range(1, rows.ndim)))
    inverse = np.cumsum(starts) - 1
    kept = rows[starts]
    found = kept if axis is None else np.moveaxis(kept, 0, axis)
    counts = np.diff(np.append(np.flatnonzero(starts), len(rows)))
    return found, _xp.long(inverse).reshape(x.shape if axis is None else -1), _xp.long(counts)


# fmt: off
argsort            = zero("argsort",            forward=_xp.longs(_argsort))
arglast            = zero("arglast",            forward=_xp.longs(_arglast))
argtop             = zero("argtop",             forward=_xp.longs(_argtop))
argkth             = zero("argkth",             forward=_xp.longs(_argkth))
argmedian          = zero("argmedian",          forward=_xp.longs(_argmedian))
argmode            = zero("argmode",            forward=_xp.longs(_argmode))
searchsorted       = zero("searchsorted",       forward=_xp.longs(_searchsorted),       inputs=("ordered", "values"))
unique             = zero("unique",             forward=_unique)
unique_consecutive = zero("unique_consecutive", forward=_unique_consecutive)
median             = general("median", _extreme, forward=_median_forward)
# fmt: on
