"""Matrix products for processors with registers of 256 or 512 bits: one function for each dtype, compiled once.

After Goto and van de Geijn, Anatomy of high-performance matrix multiplication (2008), for factors that fit in the L2 cache.
A panel of the right factor, up to three registers wide, is packed and stays in the L1 cache. A tile of the result stays in
registers while the code runs along the summed axis; the left factor is read in place, one element at a time. With 512-bit
registers products of some hundred rows, columns and terms reach 0.80 to 0.84 of a core's peak; OpenBLAS, which packs both
factors, 0.64 to 0.72. With 256-bit registers, of which there are half as many, a core reaches 0.94 to 1.4 of OpenBLAS's
speed (Zen 3); what is gained besides are threads that work in step with all others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from llvmlite import ir

from ..mathematics.lanes import IRValue
from . import native
from .tasks import lanes
from .writing import Array, Writer

VECTORS = 3
"""The largest width of a panel in registers."""
DEPTH = 256
"""The largest number of rows of a panel."""
TILES = (8, 4) if native.wide() else (4, 2)
"""Rows of a tile: with a panel it takes all registers, of which there are 32 or 16, or half of them."""
FEW = 8
"""The number of rows of the result up to which a panel with contiguous rows is not packed."""
FACTORS = "a", "b", "c"
SIZED = "rows", "columns", "inner", "a_down", "a_right", "b_down", "b_right", "c_down"


class MatrixEmitter(Writer):
    """The function `multiply_f` or `multiply_d`: c = a @ b, given sizes and strides."""

    def __init__(self, module: ir.Module, kind: str) -> None:
        super().__init__(None, kind, lanes(kind))
        self.module = module

    def emit(self) -> None:
        """Write the function, and the functions for panels of one, two and three registers that it calls."""
        copy = CopyEmitter(self.module, self.kind, self.lanes).emit()
        panels = [PanelEmitter(self.module, self.kind, self.lanes, n, copy).emit() for n in range(1, VECTORS + 1)]
        given = self.begin(self.module, f"multiply_{self.kind}", FACTORS, SIZED)
        given.room = self.stack(DEPTH * VECTORS * self.lanes, align=native.width())
        vectors = _quotient(given.columns, self.lanes)
        with self._ranges(given.inner, DEPTH) as (start, end):
            a, b = given.a.at(start * given.a_right), given.b.at(start * given.b_down)
            with self._ranges(vectors, VECTORS) as (first, last):
                j = first * self.lanes
                told = {**vars(given), "a": a, "b": b.at(j * given.b_right), "c": given.c.at(j), "start": start}
                told |= {"columns": given.columns - j, "inner": end - start}
                for number, panel in enumerate(panels, 1):
                    with self.when(last - first == number):
                        self.call(panel, *[told[name] for name in (*FACTORS, "room", *SIZED, "start")])
        self.end()

    @contextlib.contextmanager
    def _ranges(self, total: IRValue, most: int) -> Iterator[tuple[IRValue, IRValue]]:
        """A loop over nearly equal ranges of at most `most` that cover 0 to `total`; one empty range if it is 0."""
        number = (total == 0).select(1, _quotient(total, most), "i64")
        with self.loop(0, number) as i:
            yield self.part(total, i, number)


class CopyEmitter(Writer):
    """A function that packs a panel: it copies rows, transposes square blocks, or copies element by element.

    The panel has room for `width` columns, of which `columns` exist.
    """

    def __init__(self, module: ir.Module, kind: str, lanes: int) -> None:
        super().__init__(None, kind, lanes)
        sizes = ("columns", "inner", "b_down", "b_right", "width")
        self.given = self.begin(module, f"copy_{kind}", ("b", "room"), sizes, internal=True)

    def emit(self) -> ir.Function:
        """Write the function."""
        given = self.given
        with self.loop(0, given.width, self.lanes) as j:
            mask = self.first(given.columns - j)
            with self.either(given.b_right == 1) as (rows, others):
                with rows, self.loop(0, given.inner) as k:
                    self._put(self._source(k, j).some(mask), k, j)
                with others:
                    whole = (given.b_down == 1).select(given.inner & -self.lanes, 0)
                    with self.loop(0, whole, self.lanes) as k:
                        self._square(k, j)
                    with self.loop(whole, given.inner) as k:
                        self._put(self._source(k, j).apart(given.b_right, mask), k, j)
        return self.end()

    def _source(self, k: IRValue, j: IRValue) -> Array:
        given = self.given
        return given.b.at(k * given.b_down + j * given.b_right)

    def _put(self, ir_value: IRValue, k: IRValue, j: IRValue) -> None:
        self.given.room.at(k * self.given.width + j).put(ir_value)

    def _square(self, k: IRValue, j: IRValue) -> None:
        """Transpose a square block by exchanging halves across its diagonal, then quarters, and so on."""
        lanes, last = self.lanes, self.given.columns - 1  # a missing column repeats the last one
        rows = [self._source(k, (j + lane).at_most(last)).some() for lane in range(lanes)]
        half = lanes // 2
        while half:
            first = [lane + lanes - half if lane & half else lane for lane in range(lanes)]
            second = [lane + lanes if lane & half else lane + half for lane in range(lanes)]
            for i in (i for i in range(lanes) if not i & half):
                a, b = rows[i], rows[i + half]
                rows[i], rows[i + half] = a.shuffled(b, first), a.shuffled(b, second)
            half //= 2
        for lane, row in enumerate(rows):
            self._put(row, k + lane, j)


class PanelEmitter(Writer):
    """A function for a panel of some registers: all rows of the result, from term `start` on."""

    def __init__(self, module: ir.Module, kind: str, lanes: int, vectors: int, copy: ir.Function) -> None:
        super().__init__(None, kind, lanes)
        self.vectors, self.copy_panel, self.width = vectors, copy, vectors * lanes
        name, numbers = f"panel_{kind}_{vectors}", (*SIZED, "start")
        self.given = self.begin(module, name, (*FACTORS, "room"), numbers, internal=True)

    def emit(self) -> ir.Function:
        """Write the function."""
        given = self.given
        self.mask = self.first(given.columns - (self.width - self.lanes))
        """The mask of the last register's columns."""
        panel, down = self._panel()
        tall, short = TILES
        whole = given.rows - given.rows % tall
        with self.loop(0, whole, tall) as i:
            self._tile(panel, down, i, tall)
        with self.loop(whole, given.rows, short) as i:
            self._tile(panel, down, i, short, given.rows - i)
        return self.end()

    def _panel(self) -> tuple[Array, IRValue]:
        """The panel and its row stride: packed, unless it is contiguous or few rows of the result need it."""
        given = self.given
        few = (given.rows <= FEW) | (given.b_down == self.width)
        as_it_lies = (given.b_right == 1) & (given.columns >= self.width) & few
        with self.when(~as_it_lies):
            sizes = [given.columns, given.inner, given.b_down, given.b_right]
            self.call(self.copy_panel, given.b, given.room, *sizes, self.width)
        return as_it_lies.select(given.b, given.room), as_it_lies.select(given.b_down, self.width)

    def _tile(self, panel: Array, down: IRValue, i: IRValue, rows: int, left: IRValue | None = None) -> None:
        """A tile of the result; missing rows repeat the last one."""
        given, vectors = self.given, range(self.vectors)
        numbers = [self.number(row) for row in range(rows)]
        if left is not None:
            numbers = [row.at_most(left - 1) for row in numbers]
        lines = [given.c.at((i + row) * given.c_down) for row in numbers]
        places = [(line.at(vector * self.lanes), self.mask if vector == vectors[-1] else None)
                  for line in lines for vector in vectors]  # fmt: skip
        carried = [given.a.at(i * given.a_down), panel, *self._begun(places)]
        steps = [row * given.a_down for row in numbers]
        with self.loop(0, given.inner, carried=carried):
            at, of_panel, *sums = carried
            factors = [of_panel.at(vector * self.lanes).some() for vector in vectors]
            for row, step in enumerate(steps):
                spread, part = at.at(step).spread(), slice(row * len(vectors), (row + 1) * len(vectors))
                pairs = zip(factors, sums[part], strict=True)
                sums[part] = _held([spread.mad(factor, total) for factor, total in pairs])
            carried[:] = [at.at(given.a_right), of_panel.at(down), *sums]
        with self.either(given.columns >= self.width) as (whole, others):
            for block, masked in ((whole, False), (others, True)):
                with block:
                    self._store(carried[2:], places, left, masked=masked)

    def _store(
        self,
        ir_values: list[IRValue],
        places: list[tuple[Array, IRValue | None]],
        left: IRValue | None,
        *,
        masked: bool,
    ) -> None:
        """Store the tile, without the rows and columns that are missing."""
        for number, (ir_value, (place, mask)) in enumerate(zip(ir_values, places, strict=True)):
            row_there = None if left is None else self.number(number // self.vectors) < left
            with contextlib.nullcontext() if row_there is None else self.when(row_there):
                place.put(ir_value, mask if masked else None)

    def _begun(self, places: Sequence[tuple[Array, IRValue | None]]) -> list[IRValue]:
        """The sums of the terms before `start`; zeros at first."""
        builder, before = self.builder, self.builder.block
        with self.when(self.given.start != 0):
            found = [place.some(mask) for place, mask in places]
            loaded = builder.block
        sums = []
        for ir_value in found:
            phi = builder.phi(ir_value.value.type)
            phi.add_incoming(self.zero().value, before)
            phi.add_incoming(ir_value.value, loaded)
            sums.append(ir_value.with_value(phi))
        return sums


def _quotient(number: IRValue, by: int) -> IRValue:
    """A quotient of whole numbers, rounded up."""
    return (number + (by - 1)) // by


def _held(ir_values: list[IRValue]) -> list[IRValue]:
    """Words that have to be in registers here: without this, LLVM would load all rows first and spill."""
    builder, values = ir_values[0].ctx.builder, [ir_value.value for ir_value in ir_values]
    several = ir.LiteralStructType([value.type for value in values]) if len(values) > 1 else values[0].type
    constraints = ["=v"] * len(values) + [str(i) for i in range(len(values))] + ["~{memory}"]
    of = ir.FunctionType(several, [value.type for value in values])
    found = builder.asm(of, "", ",".join(constraints), values, True)
    parts = [builder.extract_value(found, i) for i in range(len(values))] if len(values) > 1 else [found]
    return [ir_value.with_value(value) for ir_value, value in zip(ir_values, parts, strict=True)]


def address(name: str) -> int:
    """The address of `multiply_f` or `multiply_d`."""
    return native.made(MatrixEmitter, name[-1]).address(name)
