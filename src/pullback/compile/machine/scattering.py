"""Rows added at indices in order, as in the gradient of an embedding: the code within compiled programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..mathematics.lanes import SIZES, IRValue
from ..program import Equation
from . import native
from .elements import KINDS
from .writing import Writer

if TYPE_CHECKING:
    from llvmlite import ir


class ScatterEmitter(Writer):
    """Writes `scatter_rows`: zeros, to which one row after another is added.

    A guard has checked that the indices are in range.
    """

    def __init__(self, builder: ir.IRBuilder, equation: Equation) -> None:
        kind = KINDS[equation.output.dtype]
        columns = equation.output.shape[1]
        super().__init__(builder, kind, 1 if columns == 1 else max(2, native.width() // SIZES[kind]))
        self.equation = equation

    def emit(self, rows: ir.Value, indices: ir.Value, out: ir.Value) -> None:
        """Write the code, given the addresses of the operands and the result."""
        chosen = self.equation.inputs[1]
        count, columns = self.equation.output.shape
        self.clear(self.array(out), self.equation.output.nbytes)
        with self.loop(0, math.prod(chosen.shape)) as number:
            place = self.array(indices, KINDS[chosen.dtype]).at(number).one().to("i64")
            place = (place < 0).select(place + count, place)  # negative ones count from the end
            source, target = self.array(rows).at(number * columns), self.array(out).at(place * columns)
            for at, mask in self._along(columns):
                target.at(at).put(target.at(at).some(mask) + source.at(at).some(mask), mask)

    def _along(self, columns: int) -> Iterator[tuple[IRValue, IRValue | None]]:
        """Each register of a row; the last one with a mask, if it is not whole."""
        whole = columns // self.lanes * self.lanes
        with self.loop(0, whole, self.lanes) as at:
            yield at, None
        if whole < columns:
            yield self.number(whole), self.first(self.number(columns - whole))
