"""The way in: a built-in function of Python that is machine code.

It takes arrays as a C function of Python does, looks at each whether it is what was compiled for, makes the results, and
runs the code with a table of addresses. A call costs a fifth of a microsecond, one by ctypes two. There is one such
function for all programs; what differs is in a block of words, which is the memory of the array that is its `self`.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

import numpy as np

from . import native

# The words of the block; a row of `arrays` is six words: axes, lengths, dtype, its number, bytes, flags it must have.
WORDS = """inputs outputs run arena heavy cell slots constants constant_table arrays writes write_table""".split()

LINKS = """PyList_New PyList_SetItem Py_DecRef Py_IncRef PyErr_NoMemory PyMem_RawMalloc PyMem_RawFree PyEval_SaveThread
    PyEval_RestoreThread PyLong_FromLong PyArray_New ndarray None""".split()

FITS = """
define internal i1 @fits(ptr %object, ptr %row) {{
  %kind = call i64 @field(ptr %object, i64 {type})
  %array = call ptr @link(i64 {ndarray})
  %wanted = ptrtoint ptr %array to i64
  %is_array = icmp eq i64 %kind, %wanted
  br i1 %is_array, label %look, label %no
look:
  %flags_at = getelementptr i8, ptr %object, i64 {flags}
  %flags = load i32, ptr %flags_at
  %asked_long = call i64 @word(ptr %row, i64 5)
  %asked = trunc i64 %asked_long to i32
  %needed = and i32 %flags, %asked
  %plain = icmp eq i32 %needed, %asked
  %descr = call i64 @field(ptr %object, i64 {descr})
  %own_descr = call i64 @word(ptr %row, i64 2)
  %same_descr = icmp eq i64 %descr, %own_descr
  %nd_at = getelementptr i8, ptr %object, i64 {nd}
  %nd_short = load i32, ptr %nd_at
  %nd = zext i32 %nd_short to i64
  %own_nd = call i64 @word(ptr %row, i64 0)
  %same_nd = icmp eq i64 %nd, %own_nd
  %first = and i1 %plain, %same_descr
  %all = and i1 %first, %same_nd
  br i1 %all, label %sizes, label %no
sizes:
  %dims_word = call i64 @field(ptr %object, i64 {dims})
  %dims = inttoptr i64 %dims_word to ptr
  %own_word = call i64 @word(ptr %row, i64 1)
  %own = inttoptr i64 %own_word to ptr
  br label %next
next:
  %i = phi i64 [ 0, %sizes ], [ %after, %compare ]
  %more = icmp ult i64 %i, %nd
  br i1 %more, label %compare, label %yes
compare:
  %a = call i64 @word(ptr %dims, i64 %i)
  %b = call i64 @word(ptr %own, i64 %i)
  %after = add i64 %i, 1
  %equal = icmp eq i64 %a, %b
  br i1 %equal, label %next, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}
"""
"""Whether an object is an array as a row of six words has it."""

TEXT = """
@links = global [{count} x ptr] zeroinitializer

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
  %row_place = mul i64 %number, 6
  %size_place = add i64 %row_place, 4
  %size = call i64 @word(ptr %rows, i64 %size_place)
  %end = add i64 %start, %size
  br label %inner
inner:
  %j = phi i64 [ 0, %begin ], [ %j_next, %apart_or_same ]
  %j_more = icmp ult i64 %j, %count
  br i1 %j_more, label %compare, label %outer_end
compare:
  %other = call i64 @word(ptr %table, i64 %j)
  %j_row = mul i64 %j, 6
  %j_size_place = add i64 %j_row, 4
  %other_size = call i64 @word(ptr %rows, i64 %j_size_place)
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

define ptr @entry(ptr %self, ptr %args, i64 %count) {{
top:
  %block_word = call i64 @field(ptr %self, i64 {data})
  %block = inttoptr i64 %block_word to ptr
  %inputs = call i64 @word(ptr %block, i64 0)
  %outputs = call i64 @word(ptr %block, i64 1)
  %slots = call i64 @word(ptr %block, i64 6)
  %rows_word = call i64 @word(ptr %block, i64 9)
  %rows = inttoptr i64 %rows_word to ptr
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
  %arg_at = getelementptr ptr, ptr %args, i64 %i
  %arg = load ptr, ptr %arg_at
  %i_row = mul i64 %i, 6
  %row = getelementptr i64, ptr %rows, i64 %i_row
  %fitting = call i1 @fits(ptr %arg, ptr %row)
  br i1 %fitting, label %taken, label %departed
taken:
  %address = call i64 @field(ptr %arg, i64 {data})
  %slot = getelementptr i64, ptr %table, i64 %i
  store i64 %address, ptr %slot
  %i_next = add i64 %i, 1
  br label %input
check:
  %written = call i64 @word(ptr %block, i64 10)
  %writes_word = call i64 @word(ptr %block, i64 11)
  %writes = inttoptr i64 %writes_word to ptr
  %free = call i1 @apart(ptr %table, ptr %rows, i64 %inputs, ptr %writes, i64 %written)
  br i1 %free, label %results, label %departed
results:
  %new_list = call ptr @link(i64 {PyList_New})
  %list = call ptr %new_list(i64 %outputs)
  %no_list = icmp eq ptr %list, null
  br i1 %no_list, label %failed, label %output
output:
  %o = phi i64 [ 0, %results ], [ %o_next, %made ]
  %o_more = icmp ult i64 %o, %outputs
  br i1 %o_more, label %make, label %arena
make:
  %o_place = add i64 %inputs, %o
  %o_row_place = mul i64 %o_place, 6
  %o_row = getelementptr i64, ptr %rows, i64 %o_row_place
  %o_nd_long = call i64 @word(ptr %o_row, i64 0)
  %o_nd = trunc i64 %o_nd_long to i32
  %o_dims = call i64 @word(ptr %o_row, i64 1)
  %o_dims_at = inttoptr i64 %o_dims to ptr
  %o_kind_long = call i64 @word(ptr %o_row, i64 3)
  %o_kind = trunc i64 %o_kind_long to i32
  %array_type = call ptr @link(i64 {ndarray})
  %new_array = call ptr @link(i64 {PyArray_New})
  %array = call ptr %new_array(ptr %array_type, i32 %o_nd, ptr %o_dims_at, i32 %o_kind, ptr null, ptr null, i32 0, i32 0, ptr null)
  %no_array = icmp eq ptr %array, null
  br i1 %no_array, label %given_up, label %made
made:
  %set = call ptr @link(i64 {PyList_SetItem})
  call i32 %set(ptr %list, i64 %o, ptr %array)
  %o_address = call i64 @field(ptr %array, i64 {data})
  %o_slot = getelementptr i64, ptr %table, i64 %o_place
  store i64 %o_address, ptr %o_slot
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
  %malloc = call ptr @link(i64 {PyMem_RawMalloc})
  %fresh = call ptr %malloc(i64 %bytes)
  %fresh_word = ptrtoint ptr %fresh to i64
  %no_memory = icmp eq ptr %fresh, null
  br i1 %no_memory, label %exhausted, label %lent
lent:
  %memory = phi i64 [ %kept, %borrow ], [ %fresh_word, %allocate ]
  %up = add i64 %memory, 63
  %aligned = and i64 %up, -64
  %arena_slot = getelementptr i64, ptr %table, i64 %arena_place
  store i64 %aligned, ptr %arena_slot
  br label %ready
ready:
  %borrowed = phi i64 [ 0, %arena ], [ %memory, %lent ]
  %constants = call i64 @word(ptr %block, i64 7)
  %source_word = call i64 @word(ptr %block, i64 8)
  %source = inttoptr i64 %source_word to ptr
  %constants_place = add i64 %arena_place, 1
  %constants_slot = getelementptr i64, ptr %table, i64 %constants_place
  br label %constant
constant:
  %c = phi i64 [ 0, %ready ], [ %c_next, %copy ]
  %c_more = icmp ult i64 %c, %constants
  br i1 %c_more, label %copy, label %go
copy:
  %c_address = call i64 @word(ptr %source, i64 %c)
  %c_slot = getelementptr i64, ptr %constants_slot, i64 %c
  store i64 %c_address, ptr %c_slot
  %c_next = add i64 %c, 1
  br label %constant
go:
  %run_word = call i64 @word(ptr %block, i64 2)
  %run = inttoptr i64 %run_word to ptr
  %heavy = call i64 @word(ptr %block, i64 4)
  %is_heavy = icmp ne i64 %heavy, 0
  br i1 %is_heavy, label %long, label %short
long:
  %save = call ptr @link(i64 {PyEval_SaveThread})
  %state = call ptr %save()
  %long_status = call i32 %run(ptr %table)
  %restore = call ptr @link(i64 {PyEval_RestoreThread})
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
  %raw_free = call ptr @link(i64 {PyMem_RawFree})
  call void %raw_free(ptr %old_at)
  br label %decide
decide:
  %well = icmp eq i32 %status, 0
  br i1 %well, label %done, label %refused
done:
  ret ptr %list
refused:
  %decref = call ptr @link(i64 {Py_DecRef})
  call void %decref(ptr %list)
  %long_of = call ptr @link(i64 {PyLong_FromLong})
  %status_long = sext i32 %status to i64
  %number = call ptr %long_of(i64 %status_long)
  ret ptr %number
departed:
  %none = call ptr @link(i64 {None})
  %incref = call ptr @link(i64 {Py_IncRef})
  call void %incref(ptr %none)
  ret ptr %none
exhausted:
  %complain = call ptr @link(i64 {PyErr_NoMemory})
  call ptr %complain()
  br label %given_up
given_up:
  %drop = call ptr @link(i64 {Py_DecRef})
  call void %drop(ptr %list)
  ret ptr null
failed:
  ret ptr null
}}
"""


READS = re.compile(r"(%\w+) = call (?:ptr|i64) @(link|word|field)\((?:ptr (%\w+), )?i64 (%?\w+)\)")


def expanded(text: str) -> str:
    """The text with its reads written out: `link` of the table of addresses, `word` and `field` of memory by words and bytes."""

    def written(found: re.Match[str]) -> str:
        name, how, base, place = found.groups()
        of, unit = ("ptr", "ptr") if how == "link" else ("i64", "i64" if how == "word" else "i8")
        at = f"{name}_at_"
        return f"{at} = getelementptr {unit}, ptr {base or '@links'}, i64 {place}\n  {name} = load {of}, ptr {at}"

    return READS.sub(written, text)


CONTIGUOUS, WRITABLE = 0x0101, 0x0400
"""NumPy's flags: contiguous and aligned, and writable."""


@native.once
def _entry() -> tuple[Any, Any] | None:
    """The function for all programs, compiled once in a process; None where Python's objects are not understood."""
    fields = native.offsets()
    if fields is None or native.POINTER_SIZE != 8:
        return None
    numbers = {name: place for place, name in enumerate(LINKS)}
    text = expanded((FITS + TEXT).format(count=len(LINKS), **numbers, **fields))
    try:
        links = [native.address(name) for name in LINKS]
    except AttributeError:
        return None
    code = native.Code(native.kept(text), links)
    return code, native.method(b"run", code.address("entry"), b"Run a compiled program.")


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
    found = _entry()
    return None if found is None else native.builtin(found[1], block.words)
