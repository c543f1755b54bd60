"""Forms of matrix products: both factors as matrices in memory, how a product is cut for threads, and what computes it.

A factor may be a view: its steps along rows and columns say whether BLAS sees it as it is, or transposed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from importlib import import_module
from typing import NamedTuple

from ..._numerics import blas
from ..mathematics.lanes import SIZES
from .elements import KINDS
from .fusion import MatrixProduct, Operand

PACKED = 1 << 13
"""The largest right factor that code for small products packs, in elements."""
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
        fits = self.right.right == 1 or self.right.rows * self.right.columns <= PACKED
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
        return f"multiply_{self.kind}" if _multiplies() else ("s" if self.kind == "f" else "d") + "gemm"


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


def _multiplies() -> bool:
    """Whether our products are as quick as BLAS on this processor, which LLVM knows."""
    return bool(import_module("pullback.compile.machine.native").multiplies())


def flops(product: MatrixProduct) -> int:
    """Multiplications and additions."""
    f = form(product)
    return 2 * f.work * math.prod(f.batch)
