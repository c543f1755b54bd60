"""Running sums along the last axis, outside of compile: each row in one pass, added up in a register in double precision.

`numpy.add.accumulate` reads each sum back from memory before it adds the next number, and needs copies in double precision.
The order of the additions is the same, and so are the bits.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..mathematics.lanes import IRValue
from . import native
from .elements import KINDS
from .tasks import BoundKernel, TaskEmitter

if TYPE_CHECKING:
    from ..._core.typing import Array as NumpyArray
    from .tasks import Word

TASK = 1 << 14
"""The number of elements in a task: threads share rows."""


class ScanEmitter(TaskEmitter):
    """The function `sums`."""

    WORDS: ClassVar = {"sums": "x over along size rows tasks out".split()}
    UNITS: ClassVar = {"sums": "rows"}

    def sums(self, row: IRValue) -> None:
        """The sums of the first numbers of a row, of one, two and so on to all."""
        given = self.given
        x, out = self.array(given.x).at(row * given.over), self.array(given.out).at(row * given.size)
        carried = [self.scalar.number("d", -0.0)]  # which added to any number is that number, also to -0.0
        with self.loop(0, given.size, carried=carried) as place:
            total = carried[0] + x.at(place * given.along).one().to("d")
            out.at(place).put(total.to(self.kind))
            carried[:] = [total]


@functools.cache
def _call(kind: str) -> BoundKernel:
    return BoundKernel(ScanEmitter, kind, "sums")


def running_sums(x: NumpyArray) -> NumpyArray:
    """The running sums along the last axis of an array of float32 or float64, whose steps are whole elements."""
    out = np.empty(x.shape, x.dtype)
    rows = x.reshape(-1, x.shape[-1])
    tasks = max(1, min(len(rows), x.size // TASK))
    over, along = (step // x.itemsize for step in rows.strides)
    words: dict[str, Word] = {"x": native.data(rows), "over": over, "along": along, "size": rows.shape[1], "out": out}
    _call(KINDS[x.dtype])(tasks, shared=tasks > 1, rows=len(rows), tasks=tasks, **words)
    return out
