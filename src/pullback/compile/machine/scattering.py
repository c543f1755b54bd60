"""Rows added at indices in order, as in the gradient of an embedding: the code within compiled programs."""

from __future__ import annotations

import math
from typing import Any

from ..mathematics.lanes import Desk, Target
from ..program import Equation
from .elements import KINDS
from .memory import LONG, SIZES, count_up, element, fill_with_zeros, first_lanes, load, load_lanes, long, store_lanes


class ScatterEmitter:
    """Writes `scatter_rows`: zeros, to which one row after another is added.

    A guard has checked that the indices are in range.
    """

    def __init__(self, builder: Any, equation: Equation, target: Target, width: int) -> None:
        self.builder, self.target = builder, target
        self.rows, self.indices = equation.inputs
        self.out = equation.output
        self.kind = KINDS[self.out.dtype]
        self.lanes = max(2, width // SIZES[self.kind])

    def emit(self, rows: Any, indices: Any, out: Any) -> None:
        """Write the code, given the addresses of the operands and the result."""
        count, columns = self.out.shape
        fill_with_zeros(self.builder, out, self.out.nbytes)

        def row(number: Any) -> None:
            place = self._place(indices, number, count)
            source = element(self.builder, rows, self.kind, self.builder.mul(number, long(columns)))
            target = element(self.builder, out, self.kind, self.builder.mul(place, long(columns)))
            self._add(source, target, columns)

        count_up(self.builder, long(0), long(math.prod(self.indices.shape)), row)

    def _place(self, indices: Any, number: Any, count: int) -> Any:
        """An index; negative ones count from the end."""
        builder, kind = self.builder, KINDS[self.indices.dtype]
        word = load(Desk(builder, self.target, None), kind, element(builder, indices, kind, number)).value
        if SIZES[kind] < SIZES["i64"]:
            word = builder.sext(word, LONG) if kind[0] == "i" else builder.zext(word, LONG)
        negative = builder.icmp_signed("<", word, long(0))
        return builder.select(negative, builder.add(word, long(count)), word)

    def _add(self, source: Any, target: Any, columns: int) -> None:
        """Add a row to another, register by register."""
        builder, lanes = self.builder, self.lanes
        desk = Desk(builder, self.target, lanes)

        def some(place: Any, mask: Any) -> None:
            at = element(builder, target, self.kind, place)
            one = load_lanes(desk, self.kind, element(builder, source, self.kind, place), 1, mask)
            store_lanes(load_lanes(desk, self.kind, at, 1, mask) + one, at, 1, mask)

        whole = columns // lanes
        count_up(builder, long(0), long(whole), lambda number: some(builder.mul(number, long(lanes)), None))
        if columns % lanes:
            some(long(whole * lanes), first_lanes(builder, long(columns % lanes), lanes))
