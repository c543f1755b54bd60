"""Products of small matrices: one function for each dtype, compiled once in a process.

A tile of the result, one register wide, stays in registers while the code runs along the summed axis. A right factor whose
rows are not contiguous is packed first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..mathematics.lanes import IRValue
from . import native
from .forms import PACKED
from .matrices import FACTORS, SIZED
from .tasks import lanes
from .writing import Writer

if TYPE_CHECKING:
    from llvmlite import ir

    from .writing import Array as Address

ROWS = (8, 2, 1)


class SmallEmitter(Writer):
    """The function `small_f` or `small_d`: c = a @ b, given sizes and strides."""

    def __init__(self, module: ir.Module, kind: str) -> None:
        super().__init__(None, kind, lanes(kind))
        self.given = self.begin(module, f"small_{kind}", FACTORS, SIZED)

    def emit(self) -> None:
        """Write the function."""
        given, packed = self.given, self.stack(PACKED, align=64)
        scattered = (given.b_right != 1) & (given.columns > 1)
        with self.when(scattered), self.loop(0, given.inner) as k:
            for j, mask in self.registers(0, given.columns):
                source = given.b.at(k * given.b_down + j * given.b_right)
                packed.at(k * given.columns + j).put(source.apart(given.b_right, mask), mask)
        b, down = scattered.select(packed, given.b), scattered.select(given.columns, given.b_down)
        for j, mask in self.registers(0, given.columns):
            begin = self.number(0)
            for count in ROWS:
                end = given.rows - (given.rows - begin) % count
                with self.loop(begin, end, count) as i:
                    self._block(b.at(j), down, [i + row for row in range(count)], j, mask)
                begin = end
        self.end()

    def _block(self, b: Address, down: IRValue, rows: list[IRValue], j: IRValue, mask: IRValue | None) -> None:
        """Compute one register of columns for some rows."""
        given, sums = self.given, [self.zero() for _ in rows]
        with self.loop(0, given.inner, carried=sums) as k:
            factor = b.at(k * down).some(mask)
            for place, row in enumerate(rows):
                spread = given.a.at(row * given.a_down + k * given.a_right).spread()
                sums[place] = spread.mad(factor, sums[place])
        for row, total in zip(rows, sums, strict=True):
            given.c.at(row * given.c_down + j).put(total, mask)


def address(name: str) -> int:
    """The address of `small_f` or `small_d`."""
    return native.made(SmallEmitter, name[-1]).address(name)
