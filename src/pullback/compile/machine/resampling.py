"""Sparse matrices along an axis of an array, outside of compile: interpolation, columns added up to images, and their transposes.

NumPy makes three passes over memory for each weight of a row. This code computes each element of the result in a register, in
NumPy's order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...ops.resampling import Taps
from ..mathematics.lanes import IRValue
from . import native
from .elements import KINDS
from .tasks import BoundKernel, TaskEmitter

if TYPE_CHECKING:
    from ..._core.typing import Array as NumpyArray

TASK = 1 << 14
"""The approximate number of products in a task."""
TOGETHER = 4
"""The number of rows of an array that are multiplied together, so that the matrix is read once for them."""


class ResampleEmitter(TaskEmitter):
    """The functions `across` and `along`."""

    WORDS: ClassVar = dict.fromkeys(
        ("across", "along"), "x size inner begins columns weights weighs first length out units tasks last".split()
    )
    UNITS: ClassVar = dict.fromkeys(WORDS, "units")

    def across(self, unit: IRValue) -> None:
        """One row of the result: a sum of rows of `inner` adjacent elements."""
        given = self.given
        x = self.array(given.x).at(unit // given.length * given.size * given.inner)
        out = self.array(given.out).at(unit * given.inner)
        for place, mask in self.registers(0, given.inner):
            carried = [self.array(given.first).spread()]
            with self.loop(*self._taps(unit % given.length), carried=carried) as tap:
                read = x.at(self.word(given.columns, tap) * given.inner + place).some(mask)
                carried[:] = [read.mad(self.array(given.weights).at(tap * given.weighs).spread(), carried[0])]
            out.at(place).put(carried[0], mask)

    def along(self, unit: IRValue) -> None:
        """Some rows of the result, each from one row of the array: each element is a sum of elements."""
        given = self.given
        rows = [(unit * TOGETHER + row).at_most(given.last) for row in range(TOGETHER)]
        sources = [self.array(given.x).at(row * given.size) for row in rows]
        targets = [self.array(given.out).at(row * given.length) for row in rows]
        with self.loop(0, given.length) as place:
            sums: list[IRValue] = [self.array(given.first).one()] * TOGETHER
            with self.loop(*self._taps(place), carried=sums) as tap:
                column, weight = self.word(given.columns, tap), self.array(given.weights).at(tap * given.weighs).one()
                sums[:] = [x.at(column).one().mad(weight, total) for x, total in zip(sources, sums, strict=True)]
            for target, total in zip(targets, sums, strict=True):
                target.at(place).put(total)

    def _taps(self, row: IRValue) -> tuple[IRValue, IRValue]:
        """The bounds of the entries of a row of the matrix."""
        return self.word(self.given.begins, row), self.word(self.given.begins, row + 1)


@native.once
def _call(name: str, kind: str) -> BoundKernel:
    return BoundKernel(ResampleEmitter, kind, name)


def resampled(x: NumpyArray, axis: int, taps: Taps) -> NumpyArray:
    """A sparse matrix times an array of float32 or float64 along an axis; the result is C-contiguous."""
    x = np.ascontiguousarray(x)
    outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    out = np.empty((*x.shape[:axis], taps.length, *x.shape[axis + 1 :]), x.dtype)
    begins, columns, weights = taps.by_rows
    factors = np.ones(1, x.dtype) if weights is None else weights.astype(x.dtype)
    first = np.full(1, -0.0 if taps.is_full else 0.0, x.dtype)  # added to -0.0, each stays itself
    units = outer * taps.length if inner > 1 else -(-outer // TOGETHER)
    tasks = max(1, min(units, len(columns) * outer * inner // TASK))
    _call("across" if inner > 1 else "along", KINDS[x.dtype])(
        tasks, shared=tasks > 1, x=x, size=taps.size, inner=inner, begins=begins, columns=columns, weights=factors,
        weighs=int(weights is not None), first=first, length=taps.length, out=out, units=units, tasks=tasks, last=outer - 1,
    )  # fmt: skip
    return out
