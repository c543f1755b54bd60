"""Products of matrices: by code of ours, or, larger ones where registers are narrow, by the BLAS that NumPy has.

A factor may be a view: its steps along rows and columns say whether BLAS sees it as it is, or transposed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from llvmlite import ir

from ..._numerics import blas
from ..mathematics.lanes import TYPES, IRValue
from . import native, small
from .elements import KINDS
from .fusion import MatrixProduct, Operand, leading
from .indices import strides
from .linking import linked
from .memory import LONG, POINTER, SIZES
from .writing import Array, Writer

SMALL = 1 << 15
"""Multiplications up to which a product is code of its own."""
TINY = 1 << 10
"""Multiplications up to which that is always so; up to `SMALL` the code for larger products does as well, if there is any."""
PART = 1 << 19
"""Multiplications of a part that is several batches."""
BAND, PARTS, ALIGNED = 256, 16, 16
"""Rows or columns of a part, for the other factor is copied by BLAS for each; the most parts of a matrix, of which there is
an even number, as of processors; and what the size of each is a multiple of."""
SPLIT = 1 << 21
"""Multiplications from which on a product has parts: they take some 40 microseconds, as long as to wake a thread."""
SHARED = 1 << 18
"""Multiplications from which on OpenBLAS would use threads of its own, which go on to wait for work when it is done and
have the processors meanwhile: from there on it is told to use none, and the threads of `pool` have parts."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A factor within one batch: offset and steps of rows and columns; `batch` has the steps of the batch's axes."""

    rows: int
    columns: int
    down: int
    right: int
    offset: int
    batch: tuple[int, ...]


class Partition(NamedTuple):
    """How a product is cut: how many parts there are, and of how many batches, rows or columns each is."""

    number: int
    size: int
    grouped: bool = False
    across: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A product as matrices: the kind of its numbers, the batch, both factors; the result is contiguous."""

    kind: str
    batch: tuple[int, ...]
    left: Matrix
    right: Matrix
    turned: bool = False

    @property
    def starts(self) -> tuple[int, int, int]:
        """Where the factors and the result begin, in bytes."""
        size = SIZES[self.kind]
        return self.left.offset * size, self.right.offset * size, 0

    @property
    def from_start(self) -> Form:
        """The form of factors that begin where their memory does."""
        return replace(self, left=replace(self.left, offset=0), right=replace(self.right, offset=0))

    @property
    def work(self) -> int:
        """Multiplications in one batch."""
        return self.left.rows * self.left.columns * self.right.columns

    @property
    def small(self) -> bool:
        """Whether it is to be code of its own."""
        fits = self.right.right == 1 or self.right.rows * self.right.columns <= small.PACKED
        return self.work <= SMALL and fits

    @property
    def shared(self) -> bool:
        """Whether it is cut in parts for threads, or for one that keeps BLAS from using its own."""
        work = self.work * math.prod(self.batch)
        if not self.function.endswith("gemm"):
            return work >= SPLIT
        return work >= SHARED and blas.control() is not None

    @property
    def sharing(self) -> str:
        """The name of the function that shares its parts with threads."""
        return "share_products" if self.function.endswith("gemm") else "share"

    @property
    def parts(self) -> Partition:
        """How it is cut; that depends on its sizes alone."""
        batches = math.prod(self.batch)
        if self.work * batches < SPLIT:
            return Partition(1, batches, grouped=True)
        if self.small or (batches > 1 and self.work < 2 * PART):
            size = -(-PART // max(self.work, 1))
            return Partition(-(-batches // size), size, grouped=True)
        rows, columns = self.left.rows, self.right.columns
        total = max(rows, columns)
        pairs = min(max(round(total / (2 * BAND)), 1), PARTS // 2)
        size = -(-total // (2 * pairs * ALIGNED)) * ALIGNED
        return Partition(batches * -(-total // size), size, across=columns > rows)

    @property
    def function(self) -> str:
        """The name of the function that multiplies: one of ours, or of BLAS where registers are narrow."""
        if self.small:
            return f"{'tiny' if self.work <= TINY else 'small'}_{self.kind}"
        return f"multiply_{self.kind}" if native.multiplies() else ("s" if self.kind == "f" else "d") + "gemm"


def _matrix(operand: Operand, batch: tuple[int, ...], *, column: bool) -> Matrix:
    shape, steps = operand.shape, operand.steps
    if len(shape) == 1:
        shape, steps = ((*shape, 1), (*steps, 0)) if column else ((1, *shape), (0, *steps))
    own = [step if size > 1 else 0 for size, step in zip(shape[:-2], steps[:-2], strict=True)]
    (rows, columns), (down, right) = shape[-2:], steps[-2:]
    return Matrix(rows, columns, down, right, operand.offset, (*[0] * (len(batch) - len(own)), *own))


def form(product: MatrixProduct) -> Form:
    """A product as matrices; one with a column is turned into one with a row."""
    left, right = product.left, product.right
    out = product.equation.output
    batch = out.shape[: len(out.shape) - (len(left.shape) > 1) - (len(right.shape) > 1)]
    a, b = _matrix(left, batch, column=False), _matrix(right, batch, column=True)
    if b.columns == 1 and a.rows > 1:
        return Form(KINDS[out.dtype], batch, _turned(b), _turned(a), turned=True)
    return Form(KINDS[out.dtype], batch, a, b)


def _turned(m: Matrix) -> Matrix:
    return Matrix(m.columns, m.rows, m.right, m.down, m.offset, m.batch)


class ProductEmitter(Writer):
    """The code of a product, written where a builder is; `bases` are the addresses of both factors and of the result."""

    def __init__(self, builder: ir.IRBuilder, form: Form, bases: list[ir.Value]) -> None:
        super().__init__(builder, form.kind)
        self.form, self.bases = form, [self.array(base) for base in bases]

    def emit(self) -> None:
        """Write the code of the whole product."""
        count = math.prod(self.form.batch)
        if count == 1:
            self._multiply([self.number(0)] * 3)
        else:
            self._batches(0, count)

    def emit_parts(self, begin: ir.Value, end: ir.Value) -> None:
        """Write the code of a range of parts: of several batches, or of some rows or columns of one."""
        parts = self.form.parts
        with self.loop(self.number(begin), self.number(end)) as number:
            if parts.grouped:
                first = number * parts.size
                self._batches(first, (first + parts.size).at_most(math.prod(self.form.batch)))
            else:
                self._part(number)

    def _batches(self, begin: IRValue | int, end: IRValue | int) -> None:
        with self.loop(begin, end) as number:
            self._multiply(self._offsets(number))

    def _part(self, number: IRValue) -> None:
        """A part that is some rows or columns of one batch."""
        form, parts = self.form, self.form.parts
        total = form.right.columns if parts.across else form.left.rows
        each = -(-total // parts.size)
        start = number % each * parts.size
        size = (start + parts.size).at_most(total) - start
        a, b, c = self._offsets(number // each)
        if parts.across:
            self._multiply([a, b + start * form.right.right, c + start], columns=size)
        else:
            self._multiply([a + start * form.left.down, b, c + start * form.right.columns], rows=size)

    def _offsets(self, number: IRValue) -> list[IRValue]:
        """Where the matrices of a batch begin, in elements."""
        form, offsets = self.form, [self.number(0)] * 3
        size = form.left.rows * form.right.columns
        for place in reversed(range(len(form.batch))):
            index, number = number % form.batch[place], number // form.batch[place]
            steps = (form.left.batch[place], form.right.batch[place], strides(form.batch)[place] * size)
            offsets = [offset + index * step for offset, step in zip(offsets, steps, strict=True)]
        return offsets

    def _multiply(self, offsets: list[IRValue], rows: IRValue | None = None, columns: IRValue | None = None) -> None:
        """Write one product of matrices; some of its rows, or of its columns."""
        f = self.form
        starts = (f.left.offset, f.right.offset, 0)
        a, b, c = (base.at(offset + start) for base, offset, start in zip(self.bases, offsets, starts, strict=True))
        write = self._blas if f.function.endswith("gemm") else self._code
        write(a, b, c, self.number(rows or f.left.rows), self.number(columns or f.right.columns))

    def _blas(self, a: Array, b: Array, c: Array, rows: IRValue, columns: IRValue) -> None:
        f = self.form
        left, right = (leading(m.rows, m.columns, m.down, m.right) for m in (f.left, f.right))
        found = blas.routine(f.function)
        assert found is not None
        assert left is not None
        assert right is not None
        whole, enum, number = f"i{found[1]}", ir.IntType(32), TYPES[f.kind]
        size = TYPES[whole]
        arguments = [
            *map(enum, (blas.Word.ROW_MAJOR, left[0], right[0])),
            rows.to(whole).value,
            columns.to(whole).value,
        ]
        arguments += [size(f.left.columns), number(1.0), a.value, size(left[1]), b.value, size(right[1])]
        arguments += [number(0.0), c.value, size(f.right.columns)]
        signature = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
        self.builder.call(linked(self.builder, f.function, signature), arguments)

    def _code(self, a: Array, b: Array, c: Array, rows: IRValue, columns: IRValue) -> None:
        f = self.form
        steps = [f.left.columns, f.left.down, f.left.right, f.right.down, f.right.right, f.right.columns]
        signature = ir.FunctionType(ir.VoidType(), [POINTER] * 3 + [LONG] * 8)
        self.call(linked(self.builder, f.function, signature), a, b, c, rows, columns, *steps)


def flops(product: MatrixProduct) -> int:
    """Multiplications and additions."""
    f = form(product)
    return 2 * f.work * math.prod(f.batch)
