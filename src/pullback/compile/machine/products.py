"""Products of matrices: by code of ours, or, larger ones where registers are narrow, by the BLAS that NumPy has.

`forms` says how a product is cut, and by what it is computed.
"""

from __future__ import annotations

import math

from llvmlite import ir

from ..._numerics import blas
from ..mathematics.lanes import IRValue
from .forms import Form
from .fusion import leading
from .indices import strides
from .linking import linked
from .llvm import LONG, POINTER, TYPES
from .writing import Array, Writer


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
