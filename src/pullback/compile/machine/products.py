"""Products of matrices: small ones by code of ours, larger ones by the BLAS that NumPy has.

A factor may be a view: its steps along rows and columns say whether BLAS sees it as it is, or transposed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from . import native, small
from .elements import KINDS
from .fusion import Operand, Product, leading
from .indices import strides
from .memory import LONG, POINTER, element, long

SMALL = 1 << 15
"""Multiplications up to which a product is code of its own."""
LINKED = ("sgemm", "dgemm", "small_f", "small_d")
"""The functions that multiply, in the order of the table of addresses of the code."""
ROW_MAJOR = 101


@dataclass(frozen=True, slots=True)
class Matrix:
    """A factor within one batch: offset and steps of rows and columns; `batch` has the steps of the batch's axes."""

    rows: int
    columns: int
    down: int
    right: int
    offset: int
    batch: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A product as matrices: the kind of its numbers, the batch, both factors; the result is contiguous."""

    kind: str
    batch: tuple[int, ...]
    left: Matrix
    right: Matrix
    turned: bool = False

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
    def blas(self) -> str:
        """The name of the BLAS function."""
        return ("s" if self.kind == "f" else "d") + "gemm"


def _matrix(operand: Operand, batch: tuple[int, ...], *, column: bool) -> Matrix:
    shape, steps = operand.shape, operand.steps
    if len(shape) == 1:
        shape, steps = ((*shape, 1), (*steps, 0)) if column else ((1, *shape), (0, *steps))
    own = [step if size > 1 else 0 for size, step in zip(shape[:-2], steps[:-2], strict=True)]
    (rows, columns), (down, right) = shape[-2:], steps[-2:]
    return Matrix(rows, columns, down, right, operand.offset, (*[0] * (len(batch) - len(own)), *own))


def form(product: Product) -> Form:
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


class ProductEmitter:
    """The code of a product, written where a builder is."""

    def __init__(self, builder: Any, product: Product, place: Any) -> None:
        self.function, self.builder = builder.function, builder
        self.form = form(product)
        factors = [product.left.value, product.right.value]
        values = [*(reversed(factors) if self.form.turned else factors), product.equation.output]
        self.bases = [self._base(place(value)) for value in values]

    def _base(self, where: tuple[int, int]) -> Any:
        slot, offset = where
        builder = self.builder
        base = builder.load(
            builder.gep(self.function.args[0], [long(slot)], source_etype=POINTER), typ=POINTER, align=8
        )
        return builder.gep(base, [long(offset)], source_etype=ir.IntType(8)) if offset else base

    def emit(self) -> None:
        """Write the code."""
        f = self.form
        size = f.left.rows * f.right.columns
        steps = [(a, b, c * size) for a, b, c in zip(f.left.batch, f.right.batch, strides(f.batch), strict=True)]
        offsets = (long(f.left.offset), long(f.right.offset), long(0))
        self._batches(list(zip(f.batch, steps, strict=True)), offsets)

    def _batches(self, axes: list[Any], offsets: tuple[Any, ...]) -> None:
        if not axes:
            addresses = [element(self.builder, b, self.form.kind, o) for b, o in zip(self.bases, offsets, strict=True)]
            (self._code if self.form.small else self._call)(*addresses)
            return
        (size, steps), *rest = axes

        def inside(index: Any) -> None:
            moved = [
                self.builder.add(offset, self.builder.mul(index, long(step))) if step else offset
                for offset, step in zip(offsets, steps, strict=True)
            ]
            self._batches(rest, tuple(moved))

        self._loop(size, inside)

    def _loop(self, size: int, inside: Callable[[Any], None]) -> None:
        before = self.builder.block
        body, after = self.function.append_basic_block(), self.function.append_basic_block()
        self.builder.branch(body)
        self.builder.position_at_end(body)
        index = self.builder.phi(LONG)
        index.add_incoming(long(0), before)
        inside(index)
        following = self.builder.add(index, long(1))
        index.add_incoming(following, self.builder.block)
        self.builder.cbranch(self.builder.icmp_signed("<", following, long(size)), body, after)
        self.builder.position_at_end(after)

    def _call(self, a: Any, b: Any, c: Any) -> None:
        f, builder = self.form, self.builder
        found = native.blas(f.blas)
        assert found is not None
        width = found[1]
        whole, number = ir.IntType(width), ir.FloatType() if f.kind == "f" else ir.DoubleType()
        left, right = (leading(m.rows, m.columns, m.down, m.right) for m in (f.left, f.right))
        assert left is not None
        assert right is not None
        enum = ir.IntType(32)
        signature = ir.FunctionType(
            ir.VoidType(),
            [enum] * 3 + [whole] * 3 + [number, POINTER, whole, POINTER, whole, number, POINTER, whole],
        )
        sizes = [whole(size) for size in (f.left.rows, f.right.columns, f.left.columns)]
        arguments = [enum(ROW_MAJOR), enum(left[0]), enum(right[0]), *sizes, number(1.0), a, whole(left[1])]
        arguments += [b, whole(right[1]), number(0.0), c, whole(f.right.columns)]
        builder.call(self._linked(f.blas, signature), arguments)

    def _code(self, a: Any, b: Any, c: Any) -> None:
        f, builder = self.form, self.builder
        sizes = [f.left.rows, f.right.columns, f.left.columns]
        steps = [f.left.down, f.left.right, f.right.down, f.right.right, f.right.columns]
        signature = ir.FunctionType(ir.VoidType(), [POINTER] * 3 + [LONG] * 8)
        builder.call(self._linked(f"small_{f.kind}", signature), [a, b, c, *map(long, sizes), *map(long, steps)])

    def _linked(self, name: str, signature: Any) -> Any:
        """A function of the module's table of addresses."""
        builder = self.builder
        place = builder.gep(builder.module.globals["links"], [long(LINKED.index(name))], source_etype=POINTER)
        return builder.load(place, typ=ir.PointerType(signature), align=8)


def flops(product: Product) -> int:
    """Multiplications and additions."""
    f = form(product)
    return 2 * f.work * math.prod(f.batch)
