"""Watching: a built-in function of Python that says whether holders of a state still hold what they held, by looking at memory.

A record holds as long as some dozens of dictionaries, lists, closures and functions are what they were. Python asks each
in some tenths to several microseconds, this function all of them in one. It compares addresses alone: of objects that the
holders keep alive, so that none is another one's by chance.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import sysconfig
import types
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..holders import MISSING, Holder, Row
from . import native, texts

WORD, ENTRY, ENTRIES, ITEMS = range(4)
"""Kinds of rows. A row is four words: its kind, an object, where in it or what of it, and what is expected there."""

RENEWALS = 8
"""How often other objects that mean the same are watched instead: a function that makes new ones at each call is asked."""

TEXT = """
define ptr @unchanged(ptr %self, ptr %args, i64 %given) {{
top:
  %pos = alloca i64
  %key = alloca ptr
  %value = alloca ptr
  %block = call ptr @field(ptr %self, i64 {data})
  %dims = call ptr @field(ptr %self, i64 {dims})
  %words = call i64 @word(ptr %dims, i64 0)
  %end = getelementptr i64, ptr %block, i64 %words
  br label %row
row:
  %at = phi ptr [ %block, %top ], [ %following, %well ]
  %more = icmp ult ptr %at, %end
  br i1 %more, label %look, label %yes
look:
  %kind = call i64 @word(ptr %at, i64 0)
  %object = call ptr @word(ptr %at, i64 1)
  %where = call i64 @word(ptr %at, i64 2)
  %place = inttoptr i64 %where to ptr
  %expected = call i64 @word(ptr %at, i64 3)
  switch i64 %kind, label %word [ i64 1, label %entry  i64 2, label %entries  i64 3, label %items ]
word:
  %found_word = call i64 @field(ptr %object, i64 %where)
  br label %compare
entry:
  %get = call ptr @link(PyDict_GetItem)
  %got = call ptr %get(ptr %object, ptr %place)
  %got_word = ptrtoint ptr %got to i64
  br label %compare
compare:
  %found = phi i64 [ %found_word, %word ], [ %got_word, %entry ]
  %right = icmp eq i64 %found, %expected
  br i1 %right, label %well, label %no
entries:
  store i64 0, ptr %pos
  %next = call ptr @link(PyDict_Next)
  br label %pair
pair:
  %i = phi i64 [ 0, %entries ], [ %i_next, %same_value ]
  %any = call i32 %next(ptr %object, ptr %pos, ptr %key, ptr %value)
  %some = icmp ne i32 %any, 0
  br i1 %some, label %both, label %ended
both:
  %short = icmp ult i64 %i, %expected
  br i1 %short, label %keys, label %no
keys:
  %i_key = mul i64 %i, 2
  %own_key = call i64 @word(ptr %place, i64 %i_key)
  %its_key = call i64 @word(ptr %key, i64 0)
  %same_key = icmp eq i64 %own_key, %its_key
  br i1 %same_key, label %values, label %no
values:
  %i_value = add i64 %i_key, 1
  %own_value = call i64 @word(ptr %place, i64 %i_value)
  %its_value = call i64 @word(ptr %value, i64 0)
  %equal = icmp eq i64 %own_value, %its_value
  br i1 %equal, label %same_value, label %loose
loose:
  %its = inttoptr i64 %its_value to ptr
  %its_type = call i64 @field(ptr %its, i64 {type})
  %marked = or i64 %its_type, 1
  %as_type = icmp eq i64 %own_value, %marked
  br i1 %as_type, label %same_value, label %no
same_value:
  %i_next = add i64 %i, 1
  br label %pair
ended:
  %all_there = icmp eq i64 %i, %expected
  br i1 %all_there, label %well, label %no
items:
  %size = call i64 @field(ptr %object, i64 {list_size})
  %as_many = icmp eq i64 %size, %expected
  %held = call ptr @field(ptr %object, i64 {list_items})
  br i1 %as_many, label %item, label %no
item:
  %j = phi i64 [ 0, %items ], [ %j_next, %same_item ]
  %j_more = icmp ult i64 %j, %expected
  br i1 %j_more, label %both_items, label %well
both_items:
  %own_item = call i64 @word(ptr %place, i64 %j)
  %its_item = call i64 @word(ptr %held, i64 %j)
  %j_next = add i64 %j, 1
  %alike = icmp eq i64 %own_item, %its_item
  br i1 %alike, label %same_item, label %no
same_item:
  br label %item
well:
  %following = getelementptr i64, ptr %at, i64 4
  br label %row
yes:
  %true = call ptr @link(True)
  br label %answer
no:
  %false = call ptr @link(False)
  br label %answer
answer:
  %result = phi ptr [ %true, %yes ], [ %false, %no ]
  %incref = call ptr @link(Py_IncRef)
  call void %incref(ptr %result)
  ret ptr %result
}}
"""


@native.once
def _method() -> Any:
    """The function for all records, compiled once in a process; None where Python's objects are not understood."""
    parts = _list()
    if parts is None or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None  # without a lock of the interpreter, a container might change while it is looked at
    return texts.method("unchanged", "Whether all is what it was.", TEXT, **parts)


@functools.cache
def _list() -> dict[str, int] | None:
    """Where a list has its length and the address of its items; None where they are not found."""
    probe = [object(), object(), object()]
    head = object.__basicsize__
    size = ctypes.c_ssize_t.from_address(id(probe) + head).value
    at = ctypes.c_void_p.from_address(id(probe) + head + native.POINTER_SIZE).value
    if (
        sys.implementation.name != "cpython"
        or list.__basicsize__ < head + 2 * native.POINTER_SIZE
        or size != 3
        or not at
    ):
        return None
    items = (ctypes.c_void_p * 3).from_address(at)
    right = list(items) == [id(item) for item in probe]
    return {"list_size": head, "list_items": head + native.POINTER_SIZE} if right else None


# Where the attributes of some objects lie

MANAGED = 4
"""Words before an object in which Python may keep its dictionary."""


def _place(held: Any, attribute: str) -> int | None:
    """Where an object has the address of an attribute, in bytes from its own; None where that is not known."""
    fields = native.offsets()
    if fields is None:
        return None
    kind: Any = type(held)
    if attribute == "__class__":
        return None if any("__class__" in vars(cls) for cls in kind.__mro__[:-1]) else fields["type"]
    if attribute == "__bases__":
        return _probed(type, attribute)
    if kind in (types.FunctionType, types.CellType):
        return _probed(kind, attribute)
    if attribute == "__dict__" and kind.__dictoffset__ > 0:
        return int(kind.__dictoffset__)
    if attribute == "__dict__" and kind.__flags__ & (1 << 4):  # Py_TPFLAGS_MANAGED_DICT
        before = (ctypes.c_void_p * MANAGED).from_address(id(held) - MANAGED * native.POINTER_SIZE)
        return _only(list(before), id(held.__dict__), -MANAGED)
    return None


@functools.cache
def _probed(kind: type, attribute: str) -> int | None:
    """Where functions, closures or classes have an attribute, from one that has something of its own there."""
    if kind is type:
        probe: Any = type("Probe", (), {})
        return _only(_words(probe, kind), id(getattr(probe, attribute)), 0)
    marks = {"__code__": compile("0", "probe", "eval"), "__defaults__": (object(),), "__kwdefaults__": {"k": 0}}
    mark: Any = marks.get(attribute, {"mark": 0})
    probe = types.CellType() if kind is types.CellType else types.FunctionType((lambda: None).__code__, {})
    setattr(probe, attribute, mark)
    return _only(_words(probe, kind), id(mark), 0)


def _words(probe: Any, kind: type) -> list[int | None]:
    """The words that an object of a kind is made of."""
    return list((ctypes.c_void_p * (kind.__basicsize__ // native.POINTER_SIZE)).from_address(id(probe)))


def _only(words: list[int | None], word: int, first: int) -> int | None:
    """The place in bytes of the one word that is this one."""
    return None if words.count(word) != 1 else (words.index(word) + first) * native.POINTER_SIZE


# Rows


class Watch:
    """Holders of a state, and the built-in function that says whether they hold what they held."""

    def __init__(self, holders: Sequence[Holder], method: Any, renew: Callable[[], bool]) -> None:
        self._holders, self._renew, self._renewals = holders, renew, 0
        self._kept: list[Any] = []
        self._words = self._looked_at()
        self.unchanged: Callable[[], bool] = native.builtin(method, self._words)

    def renewed(self) -> bool:
        """Whether what is there now means the same; if so, it is what is watched.

        Another thread may be looking here: what was watched before stays alive, which is no more than some numbers,
        strings and tuples.
        """
        if self._renewals >= RENEWALS:
            return all(holder.same() for holder in self._holders)
        self._kept.append([holder.before for holder in self._holders])
        if not self._renew():
            return False
        self._renewals += 1
        self._words[:] = self._looked_at()
        return True

    def _looked_at(self) -> Any:
        return np.array(
            [word for holder in self._holders for row in holder.rows() or () for word in self._row(row)], np.int64
        )

    def _row(self, row: Row) -> tuple[int, int, int, int]:
        held, expected = id(row.held), row.expected
        self._kept.append(row)
        if row.kind == "attribute":
            place = _place(row.held, row.where)
            assert place is not None
            nothing = expected is None and not ctypes.c_void_p.from_address(held + place).value
            return WORD, held, place, 0 if nothing else id(expected)
        if row.kind == "entry":
            return ENTRY, held, id(row.where), 0 if expected is MISSING else id(expected)
        if row.kind == "items":
            return ITEMS, held, self._array(list(map(id, expected))), len(expected)
        any_float = id(float) | 1  # odd, as no address of an object is
        pairs = [(id(key), any_float if key in row.where else id(value)) for key, value in expected.items()]
        return ENTRIES, held, self._array([word for pair in pairs for word in pair]), len(pairs)

    def _array(self, words: list[int]) -> int:
        held = np.array(words, np.int64)
        self._kept.append(held)
        return int(held.ctypes.data)


def _watchable(row: Row) -> bool:
    """Whether the built-in function can look at what a row is about."""
    held, expected = row.held, row.expected
    if row.kind == "attribute":
        place = _place(held, row.where)
        found = None if place is None else ctypes.c_void_p.from_address(id(held) + place).value
        return place is not None and found in (id(expected), None if expected is None else id(expected))
    if row.kind == "entry":
        return type(held) is dict and type(row.where) is str
    if row.kind == "items":
        return type(held) is list
    empty = not expected and isinstance(held, dict) and type(held).__len__ is dict.__len__
    return (
        type(held) in (dict, defaultdict) or empty
    )  # in the order of the dictionary, unless a class has one of its own


def watch(holders: Sequence[Holder], renew: Callable[[], bool]) -> tuple[Watch | None, list[Holder]]:
    """The holders that are watched together, and those that are left for Python; `renew` is that of their state."""
    method = _method()
    watched: list[Holder] = []
    left: list[Holder] = []
    for holder in holders:
        rows = holder.rows()
        seen = method is not None and rows is not None and all(map(_watchable, rows))
        (watched if seen else left).append(holder)
    return (Watch(watched, method, renew) if watched else None), left
