"""Products of two matrices, eager, where the processor has registers of 512 bits: a built-in function for each dtype.

It reads sizes and steps from the arrays, makes the result, and has threads do parts of it, as `products` cuts them. How
a product is cut changes no result, so that the number of threads does not, either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir

from . import matrices, native, pool, texts
from .elements import KINDS
from .memory import LONG, POINTER, SIZES, element, least
from .products import ALIGNED, BAND, PARTS, SPLIT
from .tasks import TaskEmitter, functions

SIZED = "rows columns inner a_down a_right b_down b_right c_down".split()
WORDS = [*"a b c".split(), *SIZED, "size", "multiply"]


class DenseEmitter(TaskEmitter):
    """The functions that multiply some rows of the left factor, or some columns of the right one."""

    WORDS: ClassVar = {"by_rows": WORDS, "by_columns": WORDS}

    def by_rows(self, task: Any) -> None:
        """So many rows of the result."""
        start, count = self._range(task, "rows")
        self._multiply(self.builder.mul(start, self.given["a_down"]), None, start, rows=count)

    def by_columns(self, task: Any) -> None:
        """So many columns of the result."""
        start, count = self._range(task, "columns")
        self._multiply(None, self.builder.mul(start, self.given["b_right"]), None, columns=count, along=start)

    def _range(self, task: Any, name: str) -> tuple[Any, Any]:
        start = self.builder.mul(task, self.given["size"])
        return start, least(self.builder, self.given["size"], self.builder.sub(self.given[name], start))

    def _multiply(self, a: Any, b: Any, row: Any, *, along: Any = None, **changed: Any) -> None:
        builder, given = self.builder, {**self.given, **changed}
        c = along if row is None else builder.mul(row, given["c_down"])
        places = [self._moved(name, by) for name, by in (("a", a), ("b", b), ("c", c))]
        signature = ir.FunctionType(ir.VoidType(), [POINTER] * 3 + [LONG] * len(SIZED))
        multiply = builder.inttoptr(given["multiply"], ir.PointerType(signature))
        builder.call(multiply, [*places, *[given[name] for name in SIZED]])

    def _moved(self, name: str, by: Any) -> Any:
        base = self.pointer(self.given[name])
        return base if by is None else element(self.builder, base, self.kind, by)


# The block: the function that shares parts, those of rows and of columns, the one that multiplies, the numbers' dtype and
# its number.
TEXT = """
define internal i1 @is_factor(ptr %object, i64 %own_descr) {{
  %kind = call ptr @field(ptr %object, i64 {type})
  %array = call ptr @link(ndarray)
  %is_array = icmp eq ptr %kind, %array
  br i1 %is_array, label %look, label %no
look:
  %flags = call i32 @field(ptr %object, i64 {flags})
  %aligned = and i32 %flags, {aligned}
  %is_aligned = icmp ne i32 %aligned, 0
  %descr = call i64 @field(ptr %object, i64 {descr})
  %same_descr = icmp eq i64 %descr, %own_descr
  %nd = call i32 @field(ptr %object, i64 {nd})
  %matrix = icmp eq i32 %nd, 2
  %plain = and i1 %is_aligned, %same_descr
  %all = and i1 %plain, %matrix
  br i1 %all, label %steps, label %no
steps:
  %strides = call ptr @field(ptr %object, i64 {strides})
  %down = call i64 @word(ptr %strides, i64 0)
  %right = call i64 @word(ptr %strides, i64 1)
  %either = or i64 %down, %right
  %rest = and i64 %either, {rest}
  %whole = icmp eq i64 %rest, 0
  ret i1 %whole
no:
  ret i1 false
}}

define ptr @product(ptr %self, ptr %args, i64 %count) {{
top:
  %block = call ptr @field(ptr %self, i64 {data})
  %table = alloca [{words} x i64], align 16
  %dims = alloca [2 x i64], align 16
  %two = icmp eq i64 %count, 2
  br i1 %two, label %look, label %other
look:
  %own_descr = call i64 @word(ptr %block, i64 4)
  %a = call ptr @word(ptr %args, i64 0)
  %b = call ptr @word(ptr %args, i64 1)
  %a_fits = call i1 @is_factor(ptr %a, i64 %own_descr)
  %b_fits = call i1 @is_factor(ptr %b, i64 %own_descr)
  %fit = and i1 %a_fits, %b_fits
  br i1 %fit, label %sizes, label %other
sizes:
  %a_dims = call ptr @field(ptr %a, i64 {dims})
  %b_dims = call ptr @field(ptr %b, i64 {dims})
  %rows = call i64 @word(ptr %a_dims, i64 0)
  %inner = call i64 @word(ptr %a_dims, i64 1)
  %b_rows = call i64 @word(ptr %b_dims, i64 0)
  %columns = call i64 @word(ptr %b_dims, i64 1)
  %results = mul i64 %rows, %columns
  %work = mul i64 %results, %inner
  %agree = icmp eq i64 %inner, %b_rows
  %enough = icmp uge i64 %work, {least}
  %tall = icmp uge i64 %rows, {fewest}
  %wide = icmp uge i64 %columns, {fewest}
  %both = and i1 %tall, %wide
  %good = and i1 %agree, %enough
  %worth = and i1 %both, %good
  br i1 %worth, label %make, label %other
make:
  call void @put(ptr %dims, i64 0, i64 %rows)
  call void @put(ptr %dims, i64 1, i64 %columns)
  %number_long = call i64 @word(ptr %block, i64 5)
  %number = trunc i64 %number_long to i32
  %array_type = call ptr @link(ndarray)
  %new = call ptr @link(PyArray_New)
  %c = call ptr %new(ptr %array_type, i32 2, ptr %dims, i32 %number, ptr null, ptr null, i32 0, i32 0, ptr null)
  %no_c = icmp eq ptr %c, null
  br i1 %no_c, label %failed, label %tell
tell:
  %a_data = call i64 @field(ptr %a, i64 {data})
  %b_data = call i64 @field(ptr %b, i64 {data})
  %c_data = call i64 @field(ptr %c, i64 {data})
  %a_strides = call ptr @field(ptr %a, i64 {strides})
  %b_strides = call ptr @field(ptr %b, i64 {strides})
  %a_down_bytes = call i64 @word(ptr %a_strides, i64 0)
  %a_right_bytes = call i64 @word(ptr %a_strides, i64 1)
  %b_down_bytes = call i64 @word(ptr %b_strides, i64 0)
  %b_right_bytes = call i64 @word(ptr %b_strides, i64 1)
  %a_down = ashr i64 %a_down_bytes, {shift}
  %a_right = ashr i64 %a_right_bytes, {shift}
  %b_down = ashr i64 %b_down_bytes, {shift}
  %b_right = ashr i64 %b_right_bytes, {shift}
  %multiply = call i64 @word(ptr %block, i64 3)
  call void @put(ptr %table, i64 0, i64 %a_data)
  call void @put(ptr %table, i64 1, i64 %b_data)
  call void @put(ptr %table, i64 2, i64 %c_data)
  call void @put(ptr %table, i64 3, i64 %rows)
  call void @put(ptr %table, i64 4, i64 %columns)
  call void @put(ptr %table, i64 5, i64 %inner)
  call void @put(ptr %table, i64 6, i64 %a_down)
  call void @put(ptr %table, i64 7, i64 %a_right)
  call void @put(ptr %table, i64 8, i64 %b_down)
  call void @put(ptr %table, i64 9, i64 %b_right)
  call void @put(ptr %table, i64 10, i64 %columns)
  call void @put(ptr %table, i64 12, i64 %multiply)
  %across = icmp ugt i64 %columns, %rows
  %total = select i1 %across, i64 %columns, i64 %rows
  %way = select i1 %across, i64 2, i64 1
  %function = call ptr @word(ptr %block, i64 %way)
  %save = call ptr @link(PyEval_SaveThread)
  %state = call ptr %save()
  %long = icmp uge i64 %work, {split}
  br i1 %long, label %parted, label %whole
whole:
  call void @put(ptr %table, i64 11, i64 %total)
  call void %function(ptr %table, i64 0, i64 1)
  br label %done
parted:
  %nearest = add i64 %total, {band}
  %bands = udiv i64 %nearest, {two_bands}
  %none = icmp eq i64 %bands, 0
  %some = select i1 %none, i64 1, i64 %bands
  %too_many = icmp ugt i64 %some, {most}
  %pairs = select i1 %too_many, i64 {most}, i64 %some
  %twice = mul i64 %pairs, {two_aligned}
  %before_twice = sub i64 %twice, 1
  %raised = add i64 %total, %before_twice
  %units = udiv i64 %raised, %twice
  %size = mul i64 %units, {unit}
  call void @put(ptr %table, i64 11, i64 %size)
  %before_size = sub i64 %size, 1
  %covered = add i64 %total, %before_size
  %parts = udiv i64 %covered, %size
  %share = call ptr @word(ptr %block, i64 0)
  call void %share(ptr %function, ptr %table, i64 %parts)
  br label %done
done:
  %restore = call ptr @link(PyEval_RestoreThread)
  call void %restore(ptr %state)
  ret ptr %c
other:
  %nothing = call ptr @link(None)
  %hold = call ptr @link(Py_IncRef)
  call void %hold(ptr %nothing)
  ret ptr %nothing
failed:
  ret ptr null
}}
"""
ALIGNED_FLAG = 0x0100
LEAST, FEWEST = 1 << 16, 8
"""Multiplications from which on a product is worth its way here, and the fewest rows and columns: BLAS has the others."""


@native.once
def _method(size: int) -> Any:
    words = {
        "aligned": ALIGNED_FLAG, "least": LEAST, "fewest": FEWEST, "split": SPLIT, "band": BAND, "two_bands": 2 * BAND,
        "most": PARTS // 2, "two_aligned": 2 * ALIGNED, "unit": ALIGNED, "words": len(WORDS), "rest": size - 1,
        "shift": size.bit_length() - 1,
    }  # fmt: skip
    return texts.method("product", "Multiply two matrices.", TEXT, **words)


@native.once
def product(dtype: np.dtype[Any]) -> Callable[[Any, Any], Any] | None:
    """The function that multiplies two matrices of a dtype, and gives None where BLAS is to; None if there is none."""
    if dtype.char not in "fd" or not native.wide():
        return None
    kind = KINDS[dtype]
    method = _method(SIZES[kind])
    if method is None:
        return None
    found = functions(DenseEmitter, kind).addresses
    words = [pool.address("share"), found["by_rows"], found["by_columns"], matrices.address(f"multiply_{kind}")]
    return native.builtin(method, np.array([*words, id(dtype), dtype.num], np.int64))  # type: ignore[no-any-return]
