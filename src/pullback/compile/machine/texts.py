"""Functions that are written as LLVM's text: how they read and write memory, and call Python's C functions.

What they do there stands in the text as if it were calls, and is written out in their place. With an address and a place,
`word` reads a word of a table, `put` writes one, and `field` reads what lies so many bytes behind; `link` reads the address
of what it names, a function of Python or NumPy or an object, from the table that is filled when the code is loaded.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

from . import native

LINK = re.compile(r"(%\w+) = call ptr @link\((\w+)\)")
READ = re.compile(r"(%\w+) = call (\w+) @(word|field)\(ptr (%\w+), i64 (%?\w+)\)")
PUT = re.compile(r"call void @put\(ptr (%\w+), i64 (%?\w+), (\w+ %?\w+)\)")
UNITS = {"word": "i64", "field": "i8"}

FITS = """
define internal i1 @fits(ptr %object, ptr %row) {{
  %kind = call ptr @field(ptr %object, i64 {type})
  %array = call ptr @link(ndarray)
  %is_array = icmp eq ptr %kind, %array
  br i1 %is_array, label %look, label %no
look:
  %flags = call i32 @field(ptr %object, i64 {flags})
  %asked_long = call i64 @word(ptr %row, i64 5)
  %asked = trunc i64 %asked_long to i32
  %needed = and i32 %flags, %asked
  %plain = icmp eq i32 %needed, %asked
  %descr = call i64 @field(ptr %object, i64 {descr})
  %own_descr = call i64 @word(ptr %row, i64 2)
  %same_descr = icmp eq i64 %descr, %own_descr
  %nd_short = call i32 @field(ptr %object, i64 {nd})
  %nd = zext i32 %nd_short to i64
  %own_nd = call i64 @word(ptr %row, i64 0)
  %same_nd = icmp eq i64 %nd, %own_nd
  %first = and i1 %plain, %same_descr
  %all = and i1 %first, %same_nd
  br i1 %all, label %sizes, label %no
sizes:
  %dims = call ptr @field(ptr %object, i64 {dims})
  %own = call ptr @word(ptr %row, i64 1)
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
"""Whether an object is an array as a row has it: six words, axes, lengths, dtype, its number, bytes, flags it must have."""
CONTIGUOUS, WRITABLE = 0x0101, 0x0400
"""NumPy's flags: contiguous and aligned, and writable."""


def _written_out(text: str) -> tuple[str, list[str]]:
    """The text as LLVM takes it, and the names in its table of addresses."""
    names = list(dict.fromkeys(name for _, name in LINK.findall(text)))
    puts = itertools.count()

    def link(found: re.Match[str]) -> str:
        result, name = found.groups()
        at = f"getelementptr ptr, ptr @links, i64 {names.index(name)}"
        return f"{result}_at_ = {at}\n  {result} = load ptr, ptr {result}_at_"

    def read(found: re.Match[str]) -> str:
        result, of, how, base, place = found.groups()
        at = f"getelementptr {UNITS[how]}, ptr {base}, i64 {place}"
        return f"{result}_at_ = {at}\n  {result} = load {of}, ptr {result}_at_"

    def put(found: re.Match[str]) -> str:
        (base, place, value), at = found.groups(), f"%put_{next(puts)}"
        return f"{at} = getelementptr i64, ptr {base}, i64 {place}\n  store {value}, ptr {at}"

    table = f"@links = global [{len(names)} x ptr] zeroinitializer\n"
    return table + PUT.sub(put, READ.sub(read, LINK.sub(link, text))), names


def code(text: str, links: Mapping[str, int], **words: Any) -> native.Code:
    """The code of a text, in which words stand in braces; `links` has the addresses that are not Python's or NumPy's."""
    text, names = _written_out(text.format(**words))
    addresses = [links[name] if name in links else native.address(name) for name in names]
    return native.Code(native.kept(text), addresses)


def method(name: str, doc: str, text: str, **words: int) -> Any:
    """What Python wants to know of a function of its objects; None where these are not understood.

    The words of the text are also the offsets of an array's fields.
    """
    fields = native.offsets()
    if fields is None or native.POINTER_SIZE != 8:
        return None
    try:
        made = code(text, {}, **fields, **words)
    except AttributeError:  # a function that this Python does not have
        return None
    return native.method(made, name, doc)
