"""Resampling along an axis: each output element is a weighted sum of a few input elements.

Interpolation, reflection padding and adaptive means are such linear maps, one for each axis; so are their transposes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._core import machine, xp as _xp
from .._core.lazy import computed
from .._core.primitives import linear

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._core.typing import Array

    Layer: TypeAlias = tuple[Array | None, Array, Array | None]


class Taps:
    """A sparse matrix in coordinate form: the weights with which elements of an axis add up to each output element.

    The matrix has `length` rows and `size` columns, and in the place (rows[i], columns[i]) the weight i, or 1.
    """

    def __init__(self, rows: Array, columns: Array, weights: Array | None, length: int, size: int) -> None:
        self.rows, self.columns, self.weights = rows, columns, weights
        self.length, self.size = length, size

    @computed
    def transposed(self) -> Taps:
        """The transpose."""
        taps = Taps(self.columns, self.rows, self.weights, self.size, self.length)
        vars(taps)["transposed"] = self
        return taps

    @computed
    def fixed_point(self) -> tuple[Taps, int]:
        """The matrix as integers, scaled by a power of 2 such that the largest weight fills 15 bits, and the power."""
        assert self.weights is not None
        places, which = np.unique(self.rows * self.size + self.columns, return_inverse=True)
        weights = np.bincount(which, self.weights)
        power = 0
        while power < 22 and int(0.5 + weights.max(initial=0) * (1 << power + 1)) < 1 << 15:
            power += 1
        whole = np.trunc(weights * (1 << power) + np.copysign(0.5, weights)).astype(np.int32)
        return Taps(places // self.size, places % self.size, whole, self.length, self.size), power

    @computed
    def by_rows(self) -> tuple[Array, Array, Array | None]:
        """The matrix row by row: where the entries of each row begin, and those of one after the last; columns; weights."""
        order = np.argsort(self.rows, kind="stable")
        begins = np.searchsorted(self.rows[order], np.arange(self.length + 1)).astype(np.int64)
        return begins, self.columns[order].astype(np.int64), None if self.weights is None else self.weights[order]

    @computed
    def is_full(self) -> bool:
        """True if every row has an entry."""
        return bool(np.diff(self.by_rows[0]).all())

    @computed
    def is_choice(self) -> bool:
        """True if every row is that of one element, unweighted: NumPy's `take` needs no more than one pass."""
        return self.weights is None and len(self.rows) == self.length and self.is_full

    @computed
    def layers(self) -> Sequence[Layer]:
        """The matrix as a sum of layers with at most one entry in each row: rows (None for all), columns, weights."""
        begins, columns, weights = self.by_rows
        counts = np.diff(begins)
        layers: list[Layer] = []
        for number in range(int(counts.max(initial=0))):
            rows = np.flatnonzero(counts > number)
            chosen = begins[rows] + number
            weight = None if weights is None else weights[chosen]
            layers.append((None if len(rows) == self.length else rows, _xp.indexing(columns[chosen]), weight))
        return layers


def _along_forward(x: Array, *, axis: int, taps: Taps) -> Array:
    if x.dtype == np.uint8 and taps.weights is not None:
        whole, power = taps.fixed_point  # as in Pillow, and so in torch
        total = _along_forward(x.astype(np.int32), axis=axis, taps=whole)
        return ((total + (1 << power >> 1)) >> power).clip(0, 255).astype(np.uint8)
    if not taps.is_choice and machine.repays(x):
        return machine.module("resampling").resampled(x, axis, taps)
    before: tuple[slice, ...] = (slice(None),) * axis
    column = (-1, *[1] * (x.ndim - axis - 1))
    out = None
    for rows, columns, weights in taps.layers:
        part = x.take(columns, axis)
        if weights is not None:
            part *= weights.astype(part.real.dtype).reshape(column)
        if out is None and rows is None:
            out = part
            continue
        if out is None:
            out = np.zeros((*x.shape[:axis], taps.length, *x.shape[axis + 1 :]), x.dtype)
        if rows is None:
            out += part
        else:
            places: tuple[slice | Array, ...] = (*before, rows)
            out[places] += part
    return np.zeros((*x.shape[:axis], taps.length, *x.shape[axis + 1 :]), x.dtype) if out is None else out


# fmt: off
#              name       pullback
resample = linear("resample",   lambda xp, g, x, *, axis, taps: xp.attached(xp.resample(g, axis=axis, taps=taps.transposed), x),
               forward=_along_forward, cost=4)
# fmt: on
