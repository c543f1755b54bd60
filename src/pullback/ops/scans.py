"""Scans: cumulative products and cumulative log-sum-exp along an axis.

Their pullbacks run from the end: s[j] = g[j] + decay[j] s[j + 1]. This recurrence is solved by recursive doubling, in
log2(n) steps over the whole axis (Hillis and Steele, "Data parallel algorithms", 1986). It is linear in g, needs no
division and can itself be differentiated.
"""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING

import numpy as np

from .._core import xp as _xp
from .._core.primitives import SINGLES, general
from .._core.xp import RAW
from .reductions import out_of_range

if TYPE_CHECKING:
    from .._core.typing import Array, Operations, Same, Tensor


def _shift(xp: Operations, x: Tensor, step: int, axis: int) -> Tensor:
    """x shifted by `step` along an axis, filled with zeros at the end."""
    before = (slice(None),) * axis
    taken = xp.getitem(x, index=(*before, slice(step, None)))
    return xp.scatter_slice(taken, shape=tuple(x.shape), index=(*before, slice(0, x.shape[axis] - step)))


def _accumulated(xp: Operations, g: Tensor, decay: Tensor, axis: int) -> Tensor:
    """s where s[j] = g[j] + decay[j] s[j + 1]."""
    step = 1
    while step < g.shape[axis]:
        g = g + decay * _shift(xp, g, step, axis)
        decay = decay * _shift(xp, decay, step, axis)
        step *= 2
    return g


def _cumprod_forward(x: Array, *, axis: int, exclusive: bool) -> Array:
    """The cumulative product; with `exclusive`, of the elements before each one."""
    if not exclusive:
        return _xp.running(np.multiply, x, axis)
    out = np.ones(x.shape, x.dtype)
    before = (slice(None),) * axis
    out[(*before, slice(1, None))] = _xp.running(np.multiply, x[(*before, slice(0, -1))], axis)
    return out


def _cumprod(xp: Operations, g: Tensor, x: Tensor, *, axis: int, exclusive: bool) -> Tensor:
    """x[j] is a factor of y[j], y[j + 1], ...: each is the product before x[j] times a product that starts after it."""
    if exclusive:
        g = _shift(xp, g, 1, axis)
    following = _accumulated(xp, g, _shift(xp, x, 1, axis), axis)
    return xp.cumprod(x, axis=axis, exclusive=True) * following


def _before_and_behind(xp: Operations, x: Same, axis: int) -> tuple[Same, Same]:
    """The products of the elements before each one, and of those after it."""
    behind = xp.flip(xp.cumprod(xp.flip(x, axis=axis), axis=axis, exclusive=True), axis=axis)
    return xp.cumprod(x, axis=axis, exclusive=True), behind


def _others_forward(x: Array, *, axis: int) -> Array:
    """The product of all other elements: no division, so zeros are allowed."""
    before, behind = _before_and_behind(RAW, x, axis)
    made = before * behind
    if x.dtype.kind == "f":
        zeros = np.equal(x, 0)
        if out_of_range(made, np.sum(zeros, axis=axis, keepdims=True) > zeros):
            return importlib.import_module("pullback._numerics.products").others(x, axis)
    return made


def _others(xp: Operations, g: Tensor, x: Tensor, *, axis: int) -> Tensor:
    """The pullbacks of both cumulative products."""
    before, behind = _before_and_behind(xp, x, axis)
    of_behind = _cumprod(xp, xp.flip(g * before, axis=axis), xp.flip(x, axis=axis), axis=axis, exclusive=True)
    return _cumprod(xp, g * behind, x, axis=axis, exclusive=True) + xp.flip(of_behind, axis=axis)


def _logcumsumexp_forward(x: Array, *, axis: int) -> Array:
    if x.dtype.kind == "f":
        return _xp.running(np.logaddexp, x, axis)
    out = np.array(x, order="C")
    rows = np.moveaxis(out, axis, 0)
    for i in range(1, len(rows)):  # NumPy has no logaddexp of complex numbers
        last, row = rows[i - 1, ...], rows[i, ...]
        swapped = last.real > row.real
        large, small = np.where(swapped, last, row), np.where(swapped, row, last)
        less = np.where(np.isinf(small.real), -np.inf, small - large)  # of infinities, whose phases have no sum
        both = np.log(np.exp(small) + np.exp(large))
        row[...] = np.where(np.isinf(small.real) & (small.real > 0), both, large + np.log1p(np.exp(less)))
    out.imag[np.isneginf(out.real)] = 0
    return out


def _logcumsumexp(xp: Operations, g: Tensor, x: Tensor, y: Tensor, *, axis: int) -> Tensor:
    """exp(x[j] - y[i]) summed over i >= j, as exp(x[j] - y[j]) times ratios of at most 1; -inf gets zero."""
    before = (slice(None),) * axis
    here = xp.getitem(y, index=(*before, slice(0, -1)))
    there = xp.getitem(y, index=(*before, slice(1, None)))
    ratio = xp.exp(xp.where(xp.isinf(here), -math.inf, here - there))
    decay = xp.scatter_slice(ratio, shape=tuple(y.shape), index=(*before, slice(0, -1)))
    return _accumulated(xp, g, decay, axis) * xp.exp(xp.where(xp.isinf(x), -math.inf, x - y))


# fmt: off
cumprod           = general("cumprod",           _cumprod,      forward=_cumprod_forward,      complex="holomorphic", cost=1, **SINGLES)
product_of_others = general("product_of_others", _others,       forward=_others_forward,       complex="holomorphic", **SINGLES)
logcumsumexp      = general("logcumsumexp",      _logcumsumexp, forward=_logcumsumexp_forward, complex="holomorphic", cost=34, **SINGLES)
# fmt: on
