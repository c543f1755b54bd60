"""Products of small matrices: one function for each dtype, compiled once in a process.

A few rows of the result, as wide as a register, stay in registers while the code goes along the axis that is summed
over. A right factor whose rows are not contiguous is copied first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from ..mathematics.lanes import REALS, Desk, Target, Word
from . import native
from .memory import (
    LONG,
    POINTER,
    count_up,
    element,
    lane_numbers,
    load,
    load_lanes,
    load_places,
    long,
    splat,
    store_lanes,
)

PACKED = 1 << 13
"""The most elements of a right factor that are copied."""
ROWS = (8, 2, 1)
ARGUMENTS = "a b c rows columns inner a_down a_right b_down b_right c_down".split()


class SmallEmitter:
    """The function `small_f` or `small_d`: c = a @ b, with the sizes and the steps along rows and columns."""

    def __init__(self, module: Any, kind: str) -> None:
        signature = ir.FunctionType(ir.VoidType(), [POINTER] * 3 + [LONG] * 8)
        self.function = ir.Function(module, signature, f"small_{kind}")
        self.builder = ir.IRBuilder(self.function.append_basic_block())
        self.kind, self.target = kind, Target.host()
        self.lanes = native.width() // (4 if kind == "f" else 8)
        self.given = dict(zip(ARGUMENTS, self.function.args, strict=True))

    def emit(self) -> None:
        """Write the function."""
        given, builder = self.given, self.builder
        room = builder.alloca(ir.ArrayType(REALS[self.kind], PACKED))
        room.align = 64
        packed = builder.inttoptr(builder.ptrtoint(room, LONG), POINTER)  # llvmlite gives it a type of its own
        scattered = builder.and_(
            builder.icmp_signed("!=", given["b_right"], long(1)), builder.icmp_signed(">", given["columns"], long(1))
        )
        before = builder.block
        copy, multiply = self.function.append_basic_block(), self.function.append_basic_block()
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
        """All columns, as many at a time as there are lanes."""
        builder, columns = self.builder, self.given["columns"]
        whole = builder.and_(columns, long(-self.lanes))
        count_up(builder, long(0), whole, lambda j: inside(j, None), self.lanes)

        def rest(j: Any) -> None:
            left = splat(builder, builder.sub(columns, j), self.lanes)
            inside(j, builder.icmp_signed("<", lane_numbers(self.lanes), left))

        count_up(builder, whole, columns, rest, self.lanes)

    def _pack(self, packed: Any) -> None:
        """Copy the right factor, so that its rows are contiguous."""
        given, builder, desk = self.given, self.builder, Desk(self.builder, self.target, self.lanes)

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
        """All rows of the result, in as many columns as there are lanes."""
        builder, rows = self.builder, self.given["rows"]
        begin: Any = long(0)
        for count in ROWS:
            end = builder.sub(rows, builder.srem(builder.sub(rows, begin), long(count)))
            count_up(builder, begin, end, functools.partial(self._block, b, down, count, j, mask), count)
            begin = end

    def _block(self, b: Any, down: Any, rows: int, j: Any, mask: Any, i: Any) -> None:
        given, builder, kind = self.given, self.builder, self.kind
        desk, scalar = Desk(builder, self.target, self.lanes), Desk(builder, self.target, None)
        places = [builder.add(i, long(row)) for row in range(rows)]
        sums = [desk.number(kind, 0).value for _ in range(rows)]

        def inside(k: Any) -> None:
            factor = load_lanes(desk, kind, self._at(b, k, down, j, long(1)), 1, mask)
            for row, place in enumerate(places):
                one = load(scalar, kind, self._at(given["a"], place, given["a_down"], k, given["a_right"]))
                spread = Word(desk, kind, splat(builder, one.value, self.lanes))
                sums[row] = spread.mad(factor, Word(desk, kind, sums[row])).value

        count_up(builder, long(0), given["inner"], inside, carried=sums)
        for row, place in enumerate(places):
            store_lanes(Word(desk, kind, sums[row]), self._at(given["c"], place, given["c_down"], j, long(1)), 1, mask)


@native.once
def _code(kind: str) -> native.Code:
    module = ir.Module()
    SmallEmitter(module, kind).emit()
    return native.Code(native.kept(str(module)), [])


def address(name: str) -> int:
    """The address of `small_f` or `small_d`."""
    return _code(name[-1]).address(name)
