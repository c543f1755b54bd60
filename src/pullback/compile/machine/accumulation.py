"""Rows of an array added to rows of another at given indices (as in the gradient of indexing), outside of compile.

`numpy.add.at` takes one element at a time; this code takes a register of them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ClassVar

from ..mathematics.lanes import IRValue
from .elements import KINDS
from .tasks import BoundKernel, TaskEmitter

if TYPE_CHECKING:
    from ..._core.typing import Array as NumpyArray


class AccumulateEmitter(TaskEmitter):
    """The function `add`."""

    WORDS: ClassVar = {"add": "count places size x out".split()}

    def add(self, task: IRValue) -> None:
        """Add each row of x to the row of `out` at its index."""
        given = self.given
        with self.loop(0, given.count) as number:
            place = self.word(given.places, number)
            source = self.array(given.x + self.bytes(given.size) * number)
            target = self.array(given.out + self.bytes(given.size) * place)
            whole = given.size & -self.lanes
            with self.loop(0, whole, self.lanes) as i:
                target.at(i).put(target.at(i).some() + source.at(i).some())
            with self.loop(whole, given.size) as i:
                target.at(i).put(target.at(i).one() + source.at(i).one())


@functools.cache
def _call(kind: str) -> BoundKernel:
    return BoundKernel(AccumulateEmitter, kind, "add")


def add(out: NumpyArray, places: NumpyArray, rows: NumpyArray) -> None:
    """Add rows, (count, size), to those of `out` at indices `places`, (count,): int64, in range, all arrays contiguous."""
    _call(KINDS[out.dtype])(1, shared=False, count=len(rows), places=places, size=rows.shape[1], x=rows, out=out)
