"""Rows of an array added to rows of another at given indices (as in the gradient of indexing), outside of compile.

`numpy.add.at` takes one element at a time; this code takes a register of them.
"""

from __future__ import annotations

import functools
from typing import Any, ClassVar

from ..mathematics.lanes import Desk
from .elements import KINDS
from .memory import element, load, load_lanes, long, store, store_lanes
from .tasks import Call, TaskEmitter


class AccumulateEmitter(TaskEmitter):
    """The function `add`."""

    WORDS: ClassVar = {"add": "count places size x out".split()}

    def add(self, task: Any) -> None:
        """Add each row of x to the row of `out` at its index."""
        given = self.given

        def row(number: Any) -> None:
            place = self.word(self.pointer(given["places"]), number)
            source, target = (self._row(name, at) for name, at in (("x", number), ("out", place)))
            whole = self.builder.and_(given["size"], long(-self.lanes))
            self.loop(long(0), whole, lambda i: self._add(source, target, i, self.lanes), self.lanes)
            self.loop(whole, given["size"], lambda i: self._add(source, target, i, None))

        self.loop(long(0), given["count"], row)

    def _row(self, name: str, number: Any) -> Any:
        return self.pointer(self.sum(self.given[name], (self.bytes(self.given["size"]), number)))

    def _add(self, source: Any, target: Any, place: Any, lanes: int | None) -> None:
        desk = Desk(self.builder, self.target, lanes)
        a, b = (element(self.builder, base, self.kind, place) for base in (target, source))
        if lanes is None:
            store(load(desk, self.kind, a) + load(desk, self.kind, b), a)
        else:
            store_lanes(load_lanes(desk, self.kind, a, 1, None) + load_lanes(desk, self.kind, b, 1, None), a, 1, None)


@functools.cache
def _call(kind: str) -> Call:
    return Call(AccumulateEmitter, kind, "add")


def add(out: Any, places: Any, rows: Any) -> None:
    """Add rows, (count, size), to those of `out` at indices `places`, (count,): int64, in range, all arrays contiguous."""
    _call(KINDS[out.dtype])(1, shared=False, count=len(rows), places=places, size=rows.shape[1], x=rows, out=out)
