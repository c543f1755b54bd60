"""Matrix products for processors with 512-bit registers: one function for each dtype, compiled once.

After Goto and van de Geijn, Anatomy of high-performance matrix multiplication (2008), for factors that fit in the L2 cache.
A panel of the right factor, up to three registers wide, is packed and stays in the L1 cache. A tile of the result stays in
registers while the code runs along the summed axis; the left factor is read in place, one element at a time. Products of
some hundred rows, columns and terms reach 0.80 to 0.84 of a core's peak; OpenBLAS, which packs both factors, 0.64 to 0.72.
With 256-bit registers neither is faster, and products are left to BLAS.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from ..mathematics.lanes import REALS, Desk, Target, Word
from . import native
from .memory import (  # fmt: skip
    begun,
    count_up,
    element,
    first_lanes,
    lane_numbers,
    least,
    load_lanes,
    load_places,
    load_spread,
    long,
    on_stack,
    part,
    splat,
    store_lanes,
)
from .tasks import lanes

VECTORS = 3
"""The largest width of a panel in registers."""
DEPTH = 256
"""The largest number of rows of a panel."""
TILES = 8, 4
"""Rows of a tile: with a panel it takes all 32 registers, or half of them."""
FEW = 8
"""The number of rows of the result up to which a panel with contiguous rows is not packed."""
FACTORS = "a", "b", "c"
SIZED = "rows", "columns", "inner", "a_down", "a_right", "b_down", "b_right", "c_down"


class MatrixEmitter:
    """The function `multiply_f` or `multiply_d`: c = a @ b, given sizes and strides."""

    def __init__(self, module: Any, kind: str) -> None:
        self.module, self.kind = module, kind
        self.lanes = lanes(kind)

    def emit(self) -> None:
        """Write the function, and the functions for panels of one, two and three registers that it calls."""
        copy = CopyEmitter(self.module, self.kind, self.lanes).emit()
        panels = [PanelEmitter(self.module, self.kind, self.lanes, n, copy).emit() for n in range(1, VECTORS + 1)]
        builder, given = begun(self.module, f"multiply_{self.kind}", FACTORS, SIZED)
        room = on_stack(builder, REALS[self.kind], DEPTH * VECTORS * self.lanes, native.width())
        vectors = quotient(builder, given["columns"], self.lanes)

        def deep(start: Any, end: Any) -> None:
            a = element(builder, given["a"], self.kind, builder.mul(start, given["a_right"]))
            b = element(builder, given["b"], self.kind, builder.mul(start, given["b_down"]))
            some = {**given, "a": a, "inner": builder.sub(end, start), "room": room, "start": start}
            shared_out(builder, vectors, VECTORS, lambda first, last: wide(some, b, first, last))

        def wide(some: dict[str, Any], b: Any, first: Any, last: Any) -> None:
            j = builder.mul(first, long(self.lanes))
            some["b"] = element(builder, b, self.kind, builder.mul(j, given["b_right"]))
            some["c"] = element(builder, given["c"], self.kind, j)
            some["columns"] = builder.sub(given["columns"], j)
            after = builder.append_basic_block()
            choice = builder.switch(builder.sub(last, first), after)
            for number, panel in enumerate(panels, 1):
                choice.add_case(long(number), builder.append_basic_block())
                builder.position_at_end(builder.function.blocks[-1])
                builder.call(panel, [some[name] for name in (*FACTORS, "room", *SIZED, "start")])
                builder.branch(after)
            builder.position_at_end(after)

        shared_out(builder, given["inner"], DEPTH, deep)
        builder.ret_void()


class CopyEmitter:
    """A function that packs a panel: it copies rows, transposes square blocks, or copies element by element.

    The panel has room for `width` columns, of which `columns` exist.
    """

    def __init__(self, module: Any, kind: str, lanes: int) -> None:
        self.kind, self.lanes = kind, lanes
        self.builder, self.given = begun(
            module, f"copy_{kind}", ("b", "room"), ("columns", "inner", "b_down", "b_right", "width")
        )
        self.builder.function.linkage = "internal"
        self.desk = Desk(self.builder, Target.host(), lanes)

    def emit(self) -> Any:
        """Write the function."""
        builder, given = self.builder, self.given
        count_up(builder, long(0), given["width"], self._columns, self.lanes)
        builder.ret_void()
        return builder.function

    def _columns(self, j: Any) -> None:
        """Pack one register of columns."""
        builder, given = self.builder, self.given
        mask = first_lanes(builder, builder.sub(given["columns"], j), self.lanes)
        contiguous, turned = (builder.icmp_signed("==", given[name], long(1)) for name in ("b_right", "b_down"))
        with builder.if_else(contiguous) as (rows, others):
            with rows:
                count_up(builder, long(0), given["inner"], lambda k: self._row(k, j, mask))
            with others:
                whole = builder.select(turned, builder.and_(given["inner"], long(-self.lanes)), long(0))
                count_up(builder, long(0), whole, lambda k: self._square(k, j), self.lanes)
                count_up(builder, whole, given["inner"], lambda k: self._numbers(k, j, mask))

    def _source(self, k: Any, j: Any) -> Any:
        builder, given = self.builder, self.given
        place = builder.add(builder.mul(k, given["b_down"]), builder.mul(j, given["b_right"]))
        return element(builder, given["b"], self.kind, place)

    def _put(self, word: Word, k: Any, j: Any) -> None:
        place = self.builder.add(self.builder.mul(k, self.given["width"]), j)
        store_lanes(word, element(self.builder, self.given["room"], self.kind, place), 1, None)

    def _row(self, k: Any, j: Any, mask: Any) -> None:
        self._put(load_lanes(self.desk, self.kind, self._source(k, j), 1, mask), k, j)

    def _numbers(self, k: Any, j: Any, mask: Any) -> None:
        steps = self.builder.mul(splat(self.builder, self.given["b_right"], self.lanes), lane_numbers(self.lanes))
        self._put(load_places(self.desk, self.kind, self._source(k, j), steps, mask), k, j)

    def _square(self, k: Any, j: Any) -> None:
        """Transpose a square block by exchanging halves across its diagonal, then quarters, and so on."""
        builder, lanes = self.builder, self.lanes
        last = builder.sub(self.given["columns"], long(1))
        rows = []
        for lane in range(lanes):  # a missing column repeats the last one
            column = least(builder, builder.add(j, long(lane)), last)
            rows.append(load_lanes(self.desk, self.kind, self._source(k, column), 1, None).value)
        half = lanes // 2
        while half:
            for i in (i for i in range(lanes) if not i & half):
                rows[i], rows[i + half] = self._exchanged(rows[i], rows[i + half], half)
            half //= 2
        for lane, row in enumerate(rows):
            self._put(Word(self.desk, self.kind, row), builder.add(k, long(lane)), j)

    def _exchanged(self, a: Any, b: Any, half: int) -> list[Any]:
        """Two rows after an exchange of blocks of `half` lanes across the diagonal."""
        lanes = range(self.lanes)
        first = [lane + self.lanes - half if lane & half else lane for lane in lanes]
        second = [lane + self.lanes if lane & half else lane + half for lane in lanes]
        of = ir.VectorType(ir.IntType(32), self.lanes)
        return [self.builder.shuffle_vector(a, b, ir.Constant(of, order)) for order in (first, second)]


class PanelEmitter:
    """A function for a panel of some registers: all rows of the result, from term `start` on."""

    def __init__(self, module: Any, kind: str, lanes: int, vectors: int, copy: Any) -> None:
        self.kind, self.lanes, self.vectors, self.copy = kind, lanes, vectors, copy
        self.builder, self.given = begun(module, f"panel_{kind}_{vectors}", (*FACTORS, "room"), (*SIZED, "start"))
        self.builder.function.linkage = "internal"
        self.desk = Desk(self.builder, Target.host(), lanes)
        self.width = vectors * lanes

    def emit(self) -> Any:
        """Write the function."""
        builder, given = self.builder, self.given
        self.mask = first_lanes(builder, builder.sub(given["columns"], long(self.width - self.lanes)), self.lanes)
        """The mask of the last register's columns."""
        panel, down = self._panel()
        tall, short = TILES

        def left(i: Any) -> Any:
            return builder.sub(given["rows"], i)

        whole = builder.sub(given["rows"], builder.urem(given["rows"], long(tall)))
        count_up(builder, long(0), whole, lambda i: self._tile(panel, down, i, tall), tall)
        count_up(builder, whole, given["rows"], lambda i: self._tile(panel, down, i, short, left(i)), short)
        builder.ret_void()
        return builder.function

    def _panel(self) -> tuple[Any, Any]:
        """The panel and its row stride: packed, unless it is contiguous or few rows of the result need it."""
        builder, given = self.builder, self.given
        contiguous = builder.icmp_signed("==", given["b_right"], long(1))
        full = builder.icmp_signed(">=", given["columns"], long(self.width))
        few = builder.icmp_signed("<=", given["rows"], long(FEW))
        packed = builder.icmp_signed("==", given["b_down"], long(self.width))
        as_it_lies = builder.and_(contiguous, builder.and_(full, builder.or_(few, packed)))
        with builder.if_then(builder.not_(as_it_lies)):
            sizes = [given[name] for name in ("columns", "inner", "b_down", "b_right")]
            builder.call(self.copy, [given["b"], given["room"], *sizes, long(self.width)])
        panel = builder.select(as_it_lies, given["b"], given["room"])
        return panel, builder.select(as_it_lies, given["b_down"], long(self.width))

    def _place(self, name: str, i: Any, j: Any) -> Any:
        """The address of an element of the left factor or the result."""
        builder, given = self.builder, self.given
        place = builder.mul(i, given[f"{name}_down"])
        return element(builder, given[name], self.kind, builder.add(place, j))

    def _masked(self, vector: int) -> Any:
        return self.mask if vector == self.vectors - 1 else None

    def _tile(self, panel: Any, down: Any, i: Any, rows: int, left: Any = None) -> None:
        """A tile of the result; missing rows repeat the last one."""
        builder, given, kind, vectors = self.builder, self.given, self.kind, self.vectors
        numbers = [long(row) for row in range(rows)]
        if left is not None:
            last = builder.sub(left, long(1))
            numbers = [least(builder, row, last) for row in numbers]
        places = [
            (self._place("c", builder.add(i, row), long(vector * self.lanes)), self._masked(vector))
            for row in numbers
            for vector in range(vectors)
        ]
        carried = [self._place("a", i, long(0)), panel, *self._begun(places)]
        steps = [builder.mul(row, given["a_down"]) for row in numbers]

        def inside(_: Any) -> None:
            at, of_panel, *sums = carried
            factors = [
                load_lanes(self.desk, kind, element(builder, of_panel, kind, long(vector * self.lanes)), 1, None)
                for vector in range(vectors)
            ]
            for row, step in enumerate(steps):
                spread = load_spread(self.desk, kind, element(builder, at, kind, step))
                part = slice(row * vectors, (row + 1) * vectors)
                totals = [Word(self.desk, kind, total) for total in sums[part]]
                pairs = zip(factors, totals, strict=True)
                sums[part] = _held(builder, [spread.mad(factor, total).value for factor, total in pairs])
            carried[:] = [element(builder, at, kind, given["a_right"]), element(builder, of_panel, kind, down), *sums]

        count_up(builder, long(0), given["inner"], inside, carried=carried)
        for number, (value, (place, mask)) in enumerate(zip(carried[2:], places, strict=True)):
            word, row = Word(self.desk, kind, value), long(number // vectors)
            with contextlib.nullcontext() if left is None else builder.if_then(builder.icmp_signed("<", row, left)):
                store_lanes(word, place, 1, mask)

    def _begun(self, places: Sequence[tuple[Any, Any]]) -> list[Any]:
        """The sums of the terms before `start`; zeros at first."""
        builder, zero = self.builder, self.desk.number(self.kind, 0).value
        before = builder.block
        with builder.if_then(builder.icmp_signed("!=", self.given["start"], long(0))):
            found = [load_lanes(self.desk, self.kind, place, 1, mask).value for place, mask in places]
            loaded = builder.block
        sums = []
        for value in found:
            sums.append(builder.phi(value.type))
            sums[-1].add_incoming(zero, before)
            sums[-1].add_incoming(value, loaded)
        return sums


def quotient(builder: Any, number: Any, by: int) -> Any:
    """A quotient of whole numbers, rounded up."""
    return builder.udiv(builder.add(number, long(by - 1)), long(by))


def shared_out(builder: Any, total: Any, most: int, inside: Callable[[Any, Any], None]) -> None:
    """A loop over nearly equal ranges of at most `most` that cover 0 to `total`; one empty range if it is 0."""
    zero = builder.icmp_signed("==", total, long(0))
    number = builder.select(zero, long(1), quotient(builder, total, most))
    count_up(builder, long(0), number, lambda i: inside(*part(builder, total, i, number)))


def _held(builder: Any, values: list[Any]) -> list[Any]:
    """Values that have to be in registers here: without this, LLVM would load all rows first and spill."""
    several = ir.LiteralStructType([value.type for value in values]) if len(values) > 1 else values[0].type
    constraints = ["=v"] * len(values) + [str(i) for i in range(len(values))] + ["~{memory}"]
    of = ir.FunctionType(several, [value.type for value in values])
    found = builder.asm(of, "", ",".join(constraints), values, True)
    return [builder.extract_value(found, i) for i in range(len(values))] if len(values) > 1 else [found]


def address(name: str) -> int:
    """The address of `multiply_f` or `multiply_d`."""
    return native.made(MatrixEmitter, name[-1]).address(name)
