"""Matrix products with one indirect factor: one module for each dtype, compiled once in a process.

An element of the indirect factor is at the sum of an offset of its row and one of its column, from two tables: so the
windows of images are a factor without im2col (Dukhan, The Indirect Convolution Algorithm, 2019). The columns of the other
factor are stored in blocks as wide as a register. A tile of the result stays in registers while the code runs along the
summed axis.

`put` computes, for each image, the products of its windows, and stores them transposed. `add` adds products up over the
images of a share; it transposes its other factor first. In `lines` the lanes are neighbours along a line of the result, whose
windows are neighbours in memory: so nothing is transposed, and few output channels leave no lanes empty.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from ..mathematics.lanes import SIZES, IRValue
from . import native
from .tasks import TaskEmitter
from .writing import Array

if TYPE_CHECKING:
    from llvmlite import ir

PUT = "x image rows columns weights depth blocks out result results plane places parts".split()
LINES = "x image starts targets columns weights depth blocks out result results plane registers parts".split()
ADD = """x image rows columns given result results plane places parts together units shares blocks depth totals total
    packed room""".split()
"""The words of the tables: addresses, counts, and strides in bytes."""


CHANNELS, ALONG = 4, 4
"""Output channels and registers of the tile of `lines`."""


def tile() -> tuple[int, int]:
    """Rows and blocks of the tile in registers: AVX2 has 16 registers, AVX-512 and ARM have 32."""
    return (4, 2) if native.width() == SIZES["d"] * 4 else (8, 2)


class GatheredEmitter(TaskEmitter):
    """The functions `put`, `lines` and `add`."""

    WORDS: ClassVar = {"put": PUT, "lines": LINES, "add": ADD}

    def __init__(self, module: ir.Module, kind: str) -> None:
        super().__init__(module, kind)
        self.rows, self.blocks = tile()
        self.row = SIZES[kind] * self.lanes
        """The size of a register in bytes."""

    # A tile of the result

    def _in_blocks(self) -> Iterator[tuple[IRValue, int]]:
        """Loops over blocks, as many at a time as a tile has, then one by one; what is in a `for` over this is written twice."""
        blocks = self.given.blocks
        whole = blocks & -self.blocks
        with self.loop(0, whole, self.blocks) as q:
            yield q, self.blocks
        with self.loop(whole, blocks) as q:
            yield q, 1

    def _result(self, block: IRValue, lane: IRValue) -> IRValue:
        """The output channel of a lane of a block; lanes beyond the last channel repeat it."""
        last = self.given.results - 1
        return (lane + block * self.lanes).at_most(last)

    def _products(
        self, base: IRValue, first: IRValue, columns: IRValue, factors: list[Array], count: IRValue, sums: list[IRValue]
    ) -> None:
        """Add to a tile the products of the indirect factor's rows, from `first` on, and blocks of the other factor."""
        rows = [self.array(base + self.word(self.given.rows, first + row), "i8") for row in range(self.rows)]
        with self.loop(0, count, carried=sums) as k:
            far, along = self.word(columns, k), k * self.lanes
            ir_values = [factor.at(along).some() for factor in factors]
            for row, start in enumerate(rows):
                spread = self.array(start.at(far).value).spread()
                for place, ir_value in enumerate(ir_values, row * len(ir_values)):
                    sums[place] = spread.mad(ir_value, sums[place])

    def _store_transposed(self, rows: list[IRValue], addresses: list[IRValue], place: IRValue) -> None:
        """Transpose registers, and store for each lane a row of as many elements as there are registers.

        A perfect shuffle of all elements rotates the bits of their positions by one, so that log2(rows) of them transpose.
        """
        count, height = self.lanes, len(rows)
        pairs = [lane // 2 + lane % 2 * count for lane in range(2 * count)]
        for _ in range(height.bit_length() - 1):
            halves = zip(rows[: height // 2], rows[height // 2 :], strict=True)
            rows = [a.shuffled(b, part) for a, b in halves for part in (pairs[:count], pairs[count:])]
        size = min(height, count)
        for start in range(0, height * count, size):
            part = rows[start // count].shuffled(None, [start % count + lane for lane in range(size)])
            lane, within = divmod(start, height)
            self.array(addresses[lane] + place + within * SIZES[self.kind]).put(part)

    # put: the convolution of images

    def put(self, task: IRValue) -> None:
        """A part of the output positions of an image."""
        given = self.given
        image, part = task // given.parts, task % given.parts
        begin, end = self.part(given.places, part, given.parts)
        base, out = given.x + given.image * image, given.out + given.result * image
        size = self.bytes(given.depth * self.lanes)
        for q, count in self._in_blocks():
            factors = [self.array(given.weights + (q + n) * size) for n in range(count)]
            columns = [self._result(q + n, self.number(lane)) for n in range(count) for lane in range(self.lanes)]
            targets = [out + column * given.plane for column in columns]
            with self.loop(begin, end, self.rows) as i:
                first = i.at_most(end - self.rows)
                sums = [self.zero()] * (count * self.rows)
                self._products(base, first, given.columns, factors, given.depth, sums)
                for number in range(count):
                    addresses = targets[number * self.lanes : (number + 1) * self.lanes]
                    self._store_transposed(sums[number::count], addresses, self.bytes(first))

    # lines: the same, for lines as long as registers

    def lines(self, task: IRValue) -> None:
        """A part of the registers of an image's result."""
        given = self.given
        image, part = task // given.parts, task % given.parts
        base, out = given.x + given.image * image, given.out + given.result * image
        begin, end = self.part(given.registers // ALONG, part, given.parts)
        size = self.bytes(given.depth * CHANNELS)
        with self.loop(0, given.blocks) as q:
            channels = [(q * CHANNELS + n).at_most(given.results - 1) for n in range(CHANNELS)]
            factors, planes = given.weights + q * size, [out + channel * given.plane for channel in channels]
            with self.loop(begin, end) as i:
                places = [i * ALONG + n for n in range(ALONG)]
                starts = [self.array(base + self.word(given.starts, place), "i8") for place in places]
                sums = [self.zero()] * (CHANNELS * ALONG)
                with self.loop(0, given.depth, carried=sums) as k:
                    far, own = self.word(given.columns, k), self.array(factors + self.bytes(k * CHANNELS))
                    windows = [self.array(start.at(far).value).some() for start in starts]
                    for n in range(CHANNELS):
                        spread, row = own.at(n).spread(), slice(n * ALONG, (n + 1) * ALONG)
                        sums[row] = [
                            spread.mad(window, total) for window, total in zip(windows, sums[row], strict=True)
                        ]
                for n, place in itertools.product(range(CHANNELS), range(ALONG)):
                    self.array(planes[n] + self.word(given.targets, places[place])).put(sums[n * ALONG + place])

    # add: the gradient of the weight, for a share of the images

    def add(self, share: IRValue) -> None:
        """The images of a share."""
        given = self.given
        begin, end = self.part(given.units, share, given.shares)
        totals, packed = given.totals + given.total * share, given.packed + given.room * share
        with self.loop(begin, end) as unit:
            self._unit(unit, totals, packed)

    def _unit(self, unit: IRValue, totals: IRValue, packed: IRValue) -> None:
        """A part of the output positions of some images."""
        given = self.given
        image = unit // given.parts * given.together
        begin, end = self.part(given.places, unit % given.parts, given.parts)
        inner = (end - begin) * given.together
        size = inner * self.row
        with self.loop(0, given.together) as number:
            source = given.given + (image + number) * given.result
            self._pack(source, packed + number * given.places * self.row, begin, end, size)
        base, columns = given.x + given.image * image, given.columns + begin * SIZES["i64"]
        for q, count in self._in_blocks():
            numbers = [q + n for n in range(count)]
            factors = [self.array(packed + number * size) for number in numbers]
            starts = [totals + number * given.depth * self.row for number in numbers]
            with self.loop(0, given.depth, self.rows) as i:
                places = [self.array(start + (i + row) * self.row) for row in range(self.rows) for start in starts]
                sums = [at.some() for at in places]
                self._products(base, i, columns, factors, inner, sums)
                for at, value in zip(places, sums, strict=True):
                    at.put(value)

    def _pack(self, source: IRValue, target: IRValue, begin: IRValue, end: IRValue, size: IRValue) -> None:
        """Copy the cotangents of an image, transposed, in blocks."""
        given, height = self.given, min(self.rows, self.lanes)
        with self.loop(0, given.blocks) as q:
            to = target + q * size
            with self.loop(0, self.lanes, height) as n:
                results = [self._result(q, n + row) for row in range(height)]
                lines = [source + result * given.plane for result in results]
                targets = [to + self.row * lane + n * SIZES[self.kind] for lane in range(self.lanes)]
                with self.loop(begin, end, self.lanes) as i:
                    first = i.at_most(end - self.lanes)
                    values = [self.array(line + self.bytes(first)).some() for line in lines]
                    self._store_transposed(values, targets, (first - begin) * self.row)
