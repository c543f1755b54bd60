"""Matrix products with one indirect factor: one module for each dtype, compiled once in a process.

An element of the indirect factor is at the sum of an offset of its row and one of its column, from two tables: so the
windows of images are a factor without im2col (Dukhan, The Indirect Convolution Algorithm, 2019). The columns of the other
factor are stored in blocks as wide as a register. A tile of the result stays in registers while the code runs along the
summed axis.

`put` computes, for each image, the products of its windows, and stores them transposed. `add` adds products up over the
images of a share; it transposes its other factor first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from llvmlite import ir

from ..mathematics.lanes import Desk, Word
from . import native
from .memory import BYTE, SIZES, count_up, element, load_lanes, load_spread, long, store_lanes
from .tasks import TaskEmitter

PUT = "x image rows columns weights depth blocks out result results plane places parts".split()
ADD = """x image rows columns given result results plane places parts together units shares blocks depth totals total
    packed room""".split()
"""The words of the tables: addresses, counts, and strides in bytes."""


def tile() -> tuple[int, int]:
    """Rows and blocks of the tile in registers: AVX2 has 16 registers, AVX-512 and ARM have 32."""
    return (4, 2) if native.width() == SIZES["d"] * 4 else (8, 2)


class GatheredEmitter(TaskEmitter):
    """The functions `put` and `add`."""

    WORDS: ClassVar = {"put": PUT, "add": ADD}

    def __init__(self, module: Any, kind: str) -> None:
        super().__init__(module, kind)
        self.rows, self.blocks = tile()

    # A tile of the result

    def _in_blocks(self, inside: Callable[[Any, int], None]) -> None:
        """Loop over blocks, as many at a time as a tile has, then one by one."""
        blocks = self.given["blocks"]
        whole = self.builder.and_(blocks, long(-self.blocks))
        self.loop(long(0), whole, lambda q: inside(q, self.blocks), self.blocks)
        self.loop(whole, blocks, lambda q: inside(q, 1))

    def _result(self, block: Any, lane: Any) -> Any:
        """The output channel of a lane of a block; lanes beyond the last channel repeat it."""
        last = self.builder.sub(self.given["results"], long(1))
        return self.least(self.sum(lane, (block, long(self.lanes))), last)

    def _products(
        self, base: Any, first: Any, columns: Any, factors: list[Any], count: Any, sums: list[list[Any]]
    ) -> None:
        """Add to a tile the products of the indirect factor's rows, from `first` on, and blocks of the other factor."""
        builder, kind = self.builder, self.kind
        desk = Desk(builder, self.target, self.lanes)
        rows = [
            self.pointer(builder.add(base, self.word(self.pointer(self.given["rows"]), builder.add(first, long(row)))))
            for row in range(self.rows)
        ]
        flat = [value for row in sums for value in row]

        def inside(k: Any) -> None:
            far = self.word(self.pointer(columns), k)
            along = builder.mul(k, long(self.lanes))
            words = [load_lanes(desk, kind, element(builder, factor, kind, along), 1, None) for factor in factors]
            for row, start in enumerate(rows):
                spread = load_spread(desk, kind, builder.gep(start, [far], source_etype=BYTE))
                for block, word in enumerate(words):
                    place = row * len(words) + block
                    flat[place] = spread.mad(word, Word(desk, kind, flat[place])).value

        count_up(builder, long(0), count, inside, carried=flat)
        for row in range(self.rows):
            sums[row] = flat[row * len(factors) : (row + 1) * len(factors)]

    def _store_transposed(self, rows: list[Any], addresses: list[Any], place: Any) -> None:
        """Transpose registers, and store for each lane a row of as many elements as there are registers.

        A perfect shuffle of all elements rotates the bits of their positions by one, so that log2(rows) of them transpose.
        """
        builder, count, height = self.builder, self.lanes, len(rows)
        pairs = [lane // 2 + lane % 2 * count for lane in range(2 * count)]
        for _ in range(height.bit_length() - 1):
            halves = zip(rows[: height // 2], rows[height // 2 :], strict=True)
            rows = [self._mixed(a, b, part) for a, b in halves for part in (pairs[:count], pairs[count:])]
        size = min(height, count)
        desk = Desk(builder, self.target, size)
        for start in range(0, height * count, size):
            part = self._mixed(rows[start // count], None, [start % count + lane for lane in range(size)])
            lane, within = divmod(start, height)
            at = self.pointer(self.sum(addresses[lane], (long(1), place), (long(within), long(SIZES[self.kind]))))
            store_lanes(Word(desk, self.kind, part), at, 1, None)

    def _mixed(self, a: Any, b: Any, places: list[int]) -> Any:
        """A shuffle of the lanes of one vector or two."""
        whole = ir.VectorType(ir.IntType(32), len(places))
        other = ir.Constant(a.type, ir.Undefined) if b is None else b
        return self.builder.shuffle_vector(a, other, ir.Constant(whole, places))

    # put: the convolution of images

    def put(self, task: Any) -> None:
        """A part of the output positions of an image."""
        builder, given = self.builder, self.given
        image, part = builder.udiv(task, given["parts"]), builder.urem(task, given["parts"])
        begin, end = self.part(given["places"], part, given["parts"])
        base, out = (self.sum(given[a], (given[b], image)) for a, b in (("x", "image"), ("out", "result")))
        size = self.bytes(builder.mul(given["depth"], long(self.lanes)))

        def block(q: Any, count: int) -> None:
            factors = [self.pointer(self.sum(given["weights"], (builder.add(q, long(n)), size))) for n in range(count)]
            columns = [
                self._result(builder.add(q, long(n)), long(lane)) for n in range(count) for lane in range(self.lanes)
            ]
            targets = [self.sum(out, (column, given["plane"])) for column in columns]

            def rows(i: Any) -> None:
                first = self.least(i, builder.sub(end, long(self.rows)))
                zero = Desk(builder, self.target, self.lanes).number(self.kind, 0).value
                sums = [[zero] * count for _ in range(self.rows)]
                self._products(base, first, given["columns"], factors, given["depth"], sums)
                for number in range(count):
                    addresses = targets[number * self.lanes : (number + 1) * self.lanes]
                    self._store_transposed([row[number] for row in sums], addresses, self.bytes(first))

            self.loop(begin, end, rows, self.rows)

        self._in_blocks(block)

    # add: the gradient of the weight, for a share of the images

    def add(self, share: Any) -> None:
        """The images of a share."""
        given = self.given
        begin, end = self.part(given["units"], share, given["shares"])
        totals, packed = (self.sum(given[a], (given[b], share)) for a, b in (("totals", "total"), ("packed", "room")))
        self.loop(begin, end, lambda unit: self._unit(unit, totals, packed))

    def _unit(self, unit: Any, totals: Any, packed: Any) -> None:
        """A part of the output positions of some images."""
        builder, given = self.builder, self.given
        image = builder.mul(builder.udiv(unit, given["parts"]), given["together"])
        begin, end = self.part(given["places"], builder.urem(unit, given["parts"]), given["parts"])
        inner = builder.mul(builder.sub(end, begin), given["together"])
        width = self.bytes(long(self.lanes))
        size = builder.mul(inner, width)

        def pack(number: Any) -> None:
            source = self.sum(given["given"], (builder.add(image, number), given["result"]))
            target = self.sum(packed, (builder.mul(number, given["places"]), width))
            self._pack(source, target, begin, end, size)

        self.loop(long(0), given["together"], pack)
        base = self.sum(given["x"], (given["image"], image))
        columns = self.sum(given["columns"], (begin, long(8)))

        def block(q: Any, count: int) -> None:
            numbers = [builder.add(q, long(n)) for n in range(count)]
            factors = [self.pointer(self.sum(packed, (number, size))) for number in numbers]
            starts = [self.sum(totals, (builder.mul(number, given["depth"]), width)) for number in numbers]
            desk = Desk(builder, self.target, self.lanes)

            def rows(i: Any) -> None:
                places = [
                    [self.pointer(self.sum(start, (builder.add(i, long(row)), width))) for start in starts]
                    for row in range(self.rows)
                ]
                sums = [[load_lanes(desk, self.kind, at, 1, None).value for at in row] for row in places]
                self._products(base, i, columns, factors, inner, sums)
                for row, values in zip(places, sums, strict=True):
                    for at, value in zip(row, values, strict=True):
                        store_lanes(Word(desk, self.kind, value), at, 1, None)

            self.loop(long(0), given["depth"], rows, self.rows)

        self._in_blocks(block)

    def _pack(self, source: Any, target: Any, begin: Any, end: Any, size: Any) -> None:
        """Copy the cotangents of an image, transposed, in blocks."""
        builder, given = self.builder, self.given
        desk, width = Desk(builder, self.target, self.lanes), self.bytes(long(self.lanes))
        height = min(self.rows, self.lanes)

        def block(q: Any) -> None:
            to = self.sum(target, (q, size))

            def tile(n: Any) -> None:
                results = [self._result(q, builder.add(n, long(row))) for row in range(height)]
                lines = [self.sum(source, (result, given["plane"])) for result in results]
                targets = [self.sum(to, (width, long(lane)), (n, long(SIZES[self.kind]))) for lane in range(self.lanes)]

                def places(i: Any) -> None:
                    first = self.least(i, builder.sub(end, long(self.lanes)))
                    rows = [self.pointer(builder.add(line, self.bytes(first))) for line in lines]
                    values = [load_lanes(desk, self.kind, row, 1, None).value for row in rows]
                    self._store_transposed(values, targets, builder.mul(builder.sub(first, begin), width))

                self.loop(begin, end, places, self.lanes)

            self.loop(long(0), long(self.lanes), tile, height)

        self.loop(long(0), given["blocks"], block)
