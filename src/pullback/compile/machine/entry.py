"""The way in: a built-in function of Python that is machine code.

It takes arrays as a C function of Python does, looks at each whether it is what was compiled for, makes the results, and
runs the code with a table of addresses. A call costs a fifth of a microsecond, one by ctypes two. There is one such
function for all programs; what differs is in a block of words, which is the memory of the array that is its `self`.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import native, texts
from .texts import FITS

# The words of the block; `arrays` are rows as FITS has them.
WORDS = """inputs outputs run arena heavy cell slots constants constant_table arrays writes write_table""".split()

TEXT = """
define internal i1 @apart(ptr %table, ptr %rows, i64 %count, ptr %writes, i64 %written) {{
top:
  br label %outer
outer:
  %w = phi i64 [ 0, %top ], [ %w_next, %outer_end ]
  %w_more = icmp ult i64 %w, %written
  br i1 %w_more, label %begin, label %yes
begin:
  %number = call i64 @word(ptr %writes, i64 %w)
  %start = call i64 @word(ptr %table, i64 %number)
  %row = getelementptr [6 x i64], ptr %rows, i64 %number
  %size = call i64 @word(ptr %row, i64 4)
  %end = add i64 %start, %size
  br label %inner
inner:
  %j = phi i64 [ 0, %begin ], [ %j_next, %apart_or_same ]
  %j_more = icmp ult i64 %j, %count
  br i1 %j_more, label %compare, label %outer_end
compare:
  %other = call i64 @word(ptr %table, i64 %j)
  %j_row = getelementptr [6 x i64], ptr %rows, i64 %j
  %other_size = call i64 @word(ptr %j_row, i64 4)
  %other_end = add i64 %other, %other_size
  %below = icmp ule i64 %end, %other
  %above = icmp ule i64 %other_end, %start
  %same = icmp eq i64 %j, %number
  %either = or i1 %below, %above
  %fine = or i1 %either, %same
  br i1 %fine, label %apart_or_same, label %no
apart_or_same:
  %j_next = add i64 %j, 1
  br label %inner
outer_end:
  %w_next = add i64 %w, 1
  br label %outer
yes:
  ret i1 true
no:
  ret i1 false
}}

define ptr @run(ptr %self, ptr %args, i64 %count) {{
top:
  %block = call ptr @field(ptr %self, i64 {data})
  %inputs = call i64 @word(ptr %block, i64 0)
  %outputs = call i64 @word(ptr %block, i64 1)
  %slots = call i64 @word(ptr %block, i64 6)
  %rows = call ptr @word(ptr %block, i64 9)
  %as_many = icmp eq i64 %inputs, %count
  br i1 %as_many, label %space, label %departed
space:
  %table = alloca ptr, i64 %slots, align 16
  br label %input
input:
  %i = phi i64 [ 0, %space ], [ %i_next, %taken ]
  %i_more = icmp ult i64 %i, %inputs
  br i1 %i_more, label %take, label %check
take:
  %arg = call ptr @word(ptr %args, i64 %i)
  %row = getelementptr [6 x i64], ptr %rows, i64 %i
  %fitting = call i1 @fits(ptr %arg, ptr %row)
  br i1 %fitting, label %taken, label %departed
taken:
  %address = call i64 @field(ptr %arg, i64 {data})
  call void @put(ptr %table, i64 %i, i64 %address)
  %i_next = add i64 %i, 1
  br label %input
check:
  %written = call i64 @word(ptr %block, i64 10)
  %writes = call ptr @word(ptr %block, i64 11)
  %free = call i1 @apart(ptr %table, ptr %rows, i64 %inputs, ptr %writes, i64 %written)
  br i1 %free, label %results, label %departed
results:
  %new_list = call ptr @link(PyList_New)
  %list = call ptr %new_list(i64 %outputs)
  %no_list = icmp eq ptr %list, null
  br i1 %no_list, label %failed, label %output
output:
  %o = phi i64 [ 0, %results ], [ %o_next, %made ]
  %o_more = icmp ult i64 %o, %outputs
  br i1 %o_more, label %make, label %arena
make:
  %o_place = add i64 %inputs, %o
  %o_row = getelementptr [6 x i64], ptr %rows, i64 %o_place
  %o_nd_long = call i64 @word(ptr %o_row, i64 0)
  %o_nd = trunc i64 %o_nd_long to i32
  %o_dims = call ptr @word(ptr %o_row, i64 1)
  %o_kind_long = call i64 @word(ptr %o_row, i64 3)
  %o_kind = trunc i64 %o_kind_long to i32
  %array_type = call ptr @link(ndarray)
  %new_array = call ptr @link(PyArray_New)
  %array = call ptr %new_array(ptr %array_type, i32 %o_nd, ptr %o_dims, i32 %o_kind, ptr null, ptr null, i32 0, i32 0, ptr null)
  %no_array = icmp eq ptr %array, null
  br i1 %no_array, label %given_up, label %made
made:
  %set = call ptr @link(PyList_SetItem)
  call i32 %set(ptr %list, i64 %o, ptr %array)
  %o_address = call i64 @field(ptr %array, i64 {data})
  call void @put(ptr %table, i64 %o_place, i64 %o_address)
  %o_next = add i64 %o, 1
  br label %output
arena:
  %bytes = call i64 @word(ptr %block, i64 3)
  %cell = getelementptr i64, ptr %block, i64 5
  %arena_place = add i64 %inputs, %outputs
  %none_needed = icmp eq i64 %bytes, 0
  br i1 %none_needed, label %ready, label %borrow
borrow:
  %kept = atomicrmw xchg ptr %cell, i64 0 acq_rel
  %is_kept = icmp ne i64 %kept, 0
  br i1 %is_kept, label %lent, label %allocate
allocate:
  %malloc = call ptr @link(PyMem_RawMalloc)
  %fresh = call ptr %malloc(i64 %bytes)
  %fresh_word = ptrtoint ptr %fresh to i64
  %no_memory = icmp eq ptr %fresh, null
  br i1 %no_memory, label %exhausted, label %lent
lent:
  %memory = phi i64 [ %kept, %borrow ], [ %fresh_word, %allocate ]
  %up = add i64 %memory, 63
  %aligned = and i64 %up, -64
  call void @put(ptr %table, i64 %arena_place, i64 %aligned)
  br label %ready
ready:
  %borrowed = phi i64 [ 0, %arena ], [ %memory, %lent ]
  %constants = call i64 @word(ptr %block, i64 7)
  %source = call ptr @word(ptr %block, i64 8)
  %constants_place = add i64 %arena_place, 1
  %constants_slot = getelementptr i64, ptr %table, i64 %constants_place
  br label %constant
constant:
  %c = phi i64 [ 0, %ready ], [ %c_next, %copy ]
  %c_more = icmp ult i64 %c, %constants
  br i1 %c_more, label %copy, label %go
copy:
  %c_address = call i64 @word(ptr %source, i64 %c)
  call void @put(ptr %constants_slot, i64 %c, i64 %c_address)
  %c_next = add i64 %c, 1
  br label %constant
go:
  %run = call ptr @word(ptr %block, i64 2)
  %heavy = call i64 @word(ptr %block, i64 4)
  %is_heavy = icmp ne i64 %heavy, 0
  br i1 %is_heavy, label %long, label %short
long:
  %save = call ptr @link(PyEval_SaveThread)
  %state = call ptr %save()
  %long_status = call i32 %run(ptr %table)
  %restore = call ptr @link(PyEval_RestoreThread)
  call void %restore(ptr %state)
  br label %back
short:
  %short_status = call i32 %run(ptr %table)
  br label %back
back:
  %status = phi i32 [ %long_status, %long ], [ %short_status, %short ]
  br i1 %none_needed, label %decide, label %return_arena
return_arena:
  %old = atomicrmw xchg ptr %cell, i64 %borrowed acq_rel
  %is_old = icmp ne i64 %old, 0
  br i1 %is_old, label %release, label %decide
release:
  %old_at = inttoptr i64 %old to ptr
  %raw_free = call ptr @link(PyMem_RawFree)
  call void %raw_free(ptr %old_at)
  br label %decide
decide:
  %well = icmp eq i32 %status, 0
  br i1 %well, label %done, label %refused
done:
  ret ptr %list
refused:
  %decref = call ptr @link(Py_DecRef)
  call void %decref(ptr %list)
  %long_of = call ptr @link(PyLong_FromLong)
  %status_long = sext i32 %status to i64
  %number = call ptr %long_of(i64 %status_long)
  ret ptr %number
departed:
  %none = call ptr @link(None)
  %incref = call ptr @link(Py_IncRef)
  call void %incref(ptr %none)
  ret ptr %none
exhausted:
  %complain = call ptr @link(PyErr_NoMemory)
  call ptr %complain()
  br label %given_up
given_up:
  %drop = call ptr @link(Py_DecRef)
  call void %drop(ptr %list)
  ret ptr null
failed:
  ret ptr null
}}
"""


@native.once
def _method() -> Any:
    """The function for all programs, compiled once in a process; None where there can be none."""
    return texts.method("run", "Run a compiled program.", FITS + TEXT)


class Block:
    """The words that tell the function about one program, and the memory they point to."""

    def __init__(self, **words: int) -> None:
        self.words = np.array([words.get(name, 0) for name in WORDS], np.int64)
        self.kept: list[Any] = []

    def array(self, numbers: list[int]) -> int:
        """The address of an array of words."""
        held = np.array(numbers or [0], np.int64)
        self.kept.append(held)
        return int(held.ctypes.data)

    def set(self, name: str, word: int) -> None:
        """Change a word."""
        self.words[WORDS.index(name)] = word

    def __del__(self) -> None:
        cell = int(self.words[WORDS.index("cell")])
        if cell:
            free = ctypes.pythonapi.PyMem_RawFree
            free.argtypes, free.restype = [ctypes.c_void_p], None
            free(cell)


def builtin(block: Block) -> Any:
    """A built-in function of Python that runs a program; None where there can be none."""
    method = _method()
    return None if method is None else native.builtin(method, block.words)
