"""Watching: a built-in function of Python that says whether a record holds for a call, by looking at memory.

A record holds as long as some dozens of dictionaries, lists, closures and functions are what they were, and for arguments
of a kind. Python asks each in some tenths to several microseconds, this function all of them in one. It compares addresses
alone: of objects that are kept alive, so that none is another one's by chance. It is called with the arguments of the call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import cpython
from ..holders import MISSING, Holder, Library, Row
from ..mathematics.lanes import IRValue
from . import callables, native
from .callables import FunctionBody
from .linking import LinkedModule

KINDS = "word other entry entries items context count argument part asked apart outside".split()
"""Kinds of rows. A row is four words: its kind, an object, where in it or what of it, and what is expected there.

From "argument" on, the object is the number of an argument.
"""
CALLS = frozenset(KINDS[5:])
"""Kinds of rows about calls."""
RENEWALS = 8
"""How often other objects that mean the same are watched instead: a function that makes new ones at each call is asked."""


class _Body(FunctionBody):
    """The function, which returns True if all rows are as expected: for each kind of rows what looks at one."""

    def __init__(self, module: LinkedModule, places: dict[str, int]) -> None:
        super().__init__(module, "unchanged", 3, public=True)
        self._places = places
        own, self._arguments, self._count = self.parameters
        rows, words = self.field(own, "data"), self.word(self.field(own, "dims"))
        with self.loop(0, words >> 2) as number:
            kind, *row = (self.word(rows + number * 32, place) for place in range(4))
            for name in self.cases(kind, KINDS):
                self._look(name, *row)
        self.result_object("True")

    def _check(self, condition: IRValue) -> None:
        """Return False where a condition does not hold."""
        self.result_object_if(~condition, "False")

    def _look(self, kind: str, thing: IRValue, where: IRValue, expected: IRValue) -> None:
        if kind == "word":
            self._check(self.word(thing + where) == expected)
        elif kind == "other":
            self._check(self.word(thing + where) != expected)
        elif kind == "entry":
            self._check(self.call("PyDict_GetItem", thing, where) == expected)
        elif kind == "entries":
            self._entries(thing, where, expected)
        elif kind == "items":
            self._check(self.word(thing + self._places["list_size"]) == expected)
            items = self.word(thing + self._places["list_items"])
            with self.loop(0, expected) as place:
                self._check(self.word(items, place) == self.word(where, place))
        elif kind == "context":
            found = self.variable(0)
            self.call("PyContextVar_Get", thing, 0, found, of="i32")
            self.call("Py_DecRef", self.word(found))
            self._check(self.word(found) == expected)
        elif kind == "count":
            self._check(self._count == expected)
        else:
            self._argument(kind, self.word(self._arguments, thing), where, expected)

    def _argument(self, kind: str, given: IRValue, where: IRValue, expected: IRValue) -> None:
        """Look at an argument, a slot or another attribute of it, or which objects it is none of."""
        if kind == "argument":
            self._check(given == expected)
        elif kind == "part":
            self._check(self.word(given + where) == expected)
        elif kind == "asked":
            found = self.call("PyObject_GetAttr", given, where)
            self.result_if(found == 0)
            self.call("Py_DecRef", found)
            self._check(found == expected)
        elif kind == "apart":
            with self.loop(0, where) as other:
                self._check(self.word(self._arguments, self.word(expected, other)) != given)
        elif kind == "outside":
            number = self.call("PyLong_FromLong", given)
            self.result_if(number == 0)
            inside = self.call("PySet_Contains", where, number, of="i32")
            self.call("Py_DecRef", number)
            self._check(inside == 0)

    def _entries(self, thing: IRValue, where: IRValue, expected: IRValue) -> None:
        """Compare a dictionary with pairs of keys and values; a type with the lowest bit set stands for all its objects."""
        position, key, value, place = (self.variable(0) for _ in range(4))
        with self.forever() as leave:
            leave(self.call("PyDict_Next", thing, position, key, value, of="i32") == 0)
            self._check(self.word(place) < expected)
            pair = where + self.word(place) * 16
            self._check(self.word(pair) == self.word(key))
            wanted, found = self.word(pair, 1), self.word(value)
            with self.when(wanted != found):
                self._check(wanted == self.field(found, "type") | 1)
            self.put(place, 0, self.word(place) + 1)
        self._check(self.word(place) == expected)


@native.once
def _method() -> Any:
    """The function for all records, compiled once in a process; None where Python's objects are not understood."""
    parts = cpython.list_places()
    if parts is None or not cpython.LOCKED:
        return None  # without a lock of the interpreter, a container might change while it is looked at
    return callables.method("unchanged", "Whether all is what it was.", partial(_Body, places=parts))


# Rows


class Table:
    """Rows as words, and the built-in function that says whether all is as they expect; what they name is kept alive."""

    def __init__(self, rows: Iterable[Row], method: Any) -> None:
        self._kept: list[Any] = []
        self.stand(method, self._looked_at(rows))

    def stand(self, method: Any, words: Any) -> None:
        """Have the words at some place."""
        self.words = words
        self.unchanged: Callable[..., bool] = cpython.builtin(method, words)

    def _looked_at(self, rows: Iterable[Row]) -> Any:
        found = [self._of_call(row) if row.kind in CALLS else self._row(row) for row in rows]
        return np.array([(KINDS.index(kind), *words) for kind, *words in found], np.int64).reshape(-1)

    def _row(self, row: Row) -> tuple[str, int, int, int]:
        held, expected = id(row.held), row.expected
        self._kept.append(row if row.kept else row._replace(held=None))
        if row.kind in ("attribute", "other"):
            place = cpython.attribute_place(row.held, row.where)
            assert place is not None
            nothing = expected is None and not cpython.word_at(held + place).value
            return "word" if row.kind == "attribute" else "other", held, place, 0 if nothing else id(expected)
        if row.kind == "word":
            return "word", held, row.where, expected
        if row.kind == "entry":
            return "entry", held, id(row.where), 0 if expected is MISSING else id(expected)
        if not expected and (place := _size_place(row.held)) is not None:
            return "word", held, place, 0
        if row.kind == "items":
            return "items", held, self._array(list(map(id, expected))), len(expected)
        any_float = id(float) | 1  # odd, as no address of an object is
        pairs = [(id(key), any_float if key in row.where else id(value)) for key, value in expected.items()]
        return "entries", held, self._array([word for pair in pairs for word in pair]), len(pairs)

    def _of_call(self, row: Row) -> tuple[str, int, int, int]:
        """A row about the arguments of a call, or about what is around it."""
        kind, held, where, expected, kept = row
        self._kept.append(row if kept else row._replace(held=None))
        if kind in ("context", "count"):
            return kind, id(held), 0, expected if kind == "count" else id(expected)
        if kind == "argument":
            return kind, where, 0, id(held)
        if kind == "apart":
            return kind, where, len(expected), self._array([*expected])
        if kind == "outside":
            return kind, where, id(held), 0
        number, name = where
        return kind, number, id(name) if kind == "asked" else cpython.attribute_place(held, name) or 0, id(expected)

    def _array(self, words: list[int]) -> int:
        held = np.array(words, np.int64)
        self._kept.append(held)
        return int(held.ctypes.data)


class Watch(Table):
    """Holders of a state, and the built-in function that says whether they hold what they held."""

    def __init__(self, holders: Sequence[Holder], method: Any, renew: Callable[[], bool]) -> None:
        self._holders, self._renew, self._renewals = holders, renew, 0
        super().__init__(_rows(holders), method)

    def renewed(self) -> bool:
        """Whether what is there now means the same; if so, it is what is watched.

        Another thread may be looking here: what was watched before stays alive, which is no more than some numbers,
        strings and tuples.
        """
        if self._renewals >= RENEWALS:
            return all(holder.same() for holder in self._holders)
        self._kept.append([holder.before for holder in self._holders])
        changed = [holder for holder in self._holders if not holder.untouched(holder.entries())]
        if not self._renew():
            return False
        self._renewals += any(type(holder) is not Library for holder in changed)  # which only import their methods
        self.words[:] = self._looked_at(_rows(self._holders))
        return True


def _rows(holders: Sequence[Holder]) -> list[Row]:
    return [row for holder in holders for row in holder.rows() or ()]


def _size_place(held: object) -> int | None:
    """Where a set or a dictionary has its length."""
    kinds = [kind for kind in (set, dict) if isinstance(held, kind)]
    return cpython.size_place(kinds[0]) if kinds else None


def _watchable(row: Row) -> bool:
    """Whether the built-in function can look at what a row is about."""
    held, expected = row.held, row.expected
    if row.kind in ("attribute", "other"):
        place = cpython.attribute_place(held, row.where)
        if row.kind == "other":
            return place is not None
        found = None if place is None else cpython.word_at(id(held) + place).value
        return found == id(expected) or (found == 0 and expected is None)
    if row.kind == "part":
        return cpython.attribute_place(held, row.where[1]) is not None
    if row.kind == "word" or row.kind in CALLS:
        return True
    if row.kind == "entry":
        return type(held) is dict and type(row.where) is str
    if row.kind == "items":
        return type(held) is list or (type(held) is set and not expected and _size_place(held) is not None)
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


def look(rows: Sequence[Row], arguments: Sequence[object]) -> Table | None:
    """What says whether all is as rows expect, as it is at a call now; None where machine code cannot look there."""
    method = _method()
    if method is None or not all(map(_watchable, rows)):
        return None
    found = Table(rows, method)
    return found if found.unchanged(*arguments) else None


def together(tables: Sequence[Table]) -> Callable[..., bool]:
    """The built-in function that says whether all is as some tables expect, which have parts of its words from now on."""
    method = _method()
    words = np.concatenate([table.words for table in tables])
    for table, end in zip(tables, np.cumsum([len(table.words) for table in tables]), strict=True):
        table.stand(method, words[end - len(table.words) : end])
    return cpython.builtin(method, words)
