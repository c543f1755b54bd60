"""Products of small matrices: one function for each dtype, compiled once in a process.

A tile of the result, one register wide, stays in registers while the code runs along the summed axis. A right factor whose
rows are not contiguous is packed first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..mathematics.lanes import REALS, Desk, Target, Word
from . import native
from .matrices import FACTORS, SIZED
from .memory import (  # fmt: skip
    LONG,
    POINTER,
    begun,
    count_up,
    element,
    first_lanes,
    lane_numbers,
    load_lanes,
    load_places,
    load_spread,
    long,
    on_stack,
    splat,
    store_lanes,
)
from .tasks import lanes

PACKED = 1 << 13
"""The largest right factor that is packed, in elements."""
ROWS = (8, 2, 1)


class SmallEmitter:
    """The function `small_f` or `small_d`: c = a @ b, given sizes and strides."""

    def __init__(self, module: Any, kind: str) -> None:
        self.builder, self.given = begun(module, f"small_{kind}", FACTORS, SIZED)
        self.kind, self.lanes = kind, lanes(kind)
        self.desk = Desk(self.builder, Target.host(), self.lanes)

    def emit(self) -> None:
        """Write the function."""
        given, builder = self.given, self.builder
        packed = on_stack(builder, REALS[self.kind], PACKED, 64)
        scattered = builder.and_(
            builder.icmp_signed("!=", given["b_right"], long(1)), builder.icmp_signed(">", given["columns"], long(1))
        )
        before = builder.block
        copy, multiply = builder.append_basic_block(), builder.append_basic_block()
        builder.cbranch(scattered, copy, multiply)
        builder.position_at_end(copy)
        self._pack(packed)
        copied = builder.block
        builder.branch(multiply)
        builder.position_at_end(multiply)
        b, down = builder.phi(POINTER), builder.phi(LONG)
        for phi, plain, other in ((b, given["b"], packed), (down, given["b_down"], given["columns"])):
            phi.add_incoming(plain, before)
            phi.add_incoming(other, copied)
        self._across(lambda j, mask: self._columns(b, down, j, mask))
        builder.ret_void()

    def _across(self, inside: Callable[[Any, Any], None]) -> None:
        """Loop over columns, register by register; the last one is masked."""
        builder, columns = self.builder, self.given["columns"]
        whole = builder.and_(columns, long(-self.lanes))
        count_up(builder, long(0), whole, lambda j: inside(j, None), self.lanes)

        def rest(j: Any) -> None:
            inside(j, first_lanes(builder, builder.sub(columns, j), self.lanes))

        count_up(builder, whole, columns, rest, self.lanes)

    def _pack(self, packed: Any) -> None:
        """Pack the right factor, so that its rows are contiguous."""
        given, builder, desk = self.given, self.builder, self.desk

        def copy(k: Any, j: Any, mask: Any) -> None:
            steps = builder.mul(splat(builder, given["b_right"], self.lanes), lane_numbers(self.lanes))
            source = self._at(given["b"], k, given["b_down"], j, given["b_right"])
            word = load_places(desk, self.kind, source, steps, mask)
            store_lanes(word, self._at(packed, k, given["columns"], j, long(1)), 1, mask)

        count_up(builder, long(0), given["inner"], lambda k: self._across(lambda j, mask: copy(k, j, mask)))

    def _at(self, base: Any, i: Any, down: Any, j: Any, right: Any) -> Any:
        builder = self.builder
        return element(builder, base, self.kind, builder.add(builder.mul(i, down), builder.mul(j, right)))

    def _columns(self, b: Any, down: Any, j: Any, mask: Any) -> None:
        """Compute one register of columns for all rows."""
        builder, rows = self.builder, self.given["rows"]
        begin: Any = long(0)
        for count in ROWS:
            end = builder.sub(rows, builder.srem(builder.sub(rows, begin), long(count)))
            count_up(builder, begin, end, functools.partial(self._block, b, down, count, j, mask), count)
            begin = end

    def _block(self, b: Any, down: Any, rows: int, j: Any, mask: Any, i: Any) -> None:
        given, builder, kind, desk = self.given, self.builder, self.kind, self.desk
        places = [builder.add(i, long(row)) for row in range(rows)]
        sums = [desk.number(kind, 0).value for _ in range(rows)]

        def inside(k: Any) -> None:
            factor = load_lanes(desk, kind, self._at(b, k, down, j, long(1)), 1, mask)
            for row, place in enumerate(places):
                spread = load_spread(desk, kind, self._at(given["a"], place, given["a_down"], k, given["a_right"]))
                sums[row] = spread.mad(factor, Word(desk, kind, sums[row])).value

        count_up(builder, long(0), given["inner"], inside, carried=sums)
        for row, place in enumerate(places):
            store_lanes(Word(desk, kind, sums[row]), self._at(given["c"], place, given["c_down"], j, long(1)), 1, mask)


def address(name: str) -> int:
    """The address of `small_f` or `small_d`."""
    return native.made(SmallEmitter, name[-1]).address(name)
