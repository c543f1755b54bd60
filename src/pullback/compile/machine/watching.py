"""Watching: a built-in function of Python that says whether holders of a state still hold what they held, by looking at memory.

A record holds as long as some dozens of dictionaries, lists, closures and functions are what they were. Python asks each
in some tenths to several microseconds, this function all of them in one. It compares addresses alone: of objects that the
holders keep alive, so that none is another one's by chance.
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

WORD, OTHER, ENTRY, ENTRIES, ITEMS = range(5)
"""Kinds of rows. A row is four words: its kind, an object, where in it or what of it, and what is expected there."""

RENEWALS = 8
"""How often other objects that mean the same are watched instead: a function that makes new ones at each call is asked."""


def _write(module: LinkedModule, places: dict[str, int]) -> None:
    """Write the function, which returns True if all rows are as expected."""
    body = FunctionBody(module, "unchanged", 3, public=True)
    own = body.parameters[0]
    rows, words = body.field(own, "data"), body.word(body.field(own, "dims"))

    def check(condition: IRValue) -> None:
        """Return False where a condition does not hold."""
        body.result_object_if(~condition, "False")

    with body.loop(0, words >> 2) as number:
        row = rows + number * 32
        kind, thing, where, expected = (body.word(row, place) for place in range(4))
        with body.when(kind == WORD):
            check(body.word(thing + where) == expected)
        with body.when(kind == OTHER):
            check(body.word(thing + where) != expected)
        with body.when(kind == ENTRY):
            check(body.call("PyDict_GetItem", thing, where) == expected)
        with body.when(kind == ENTRIES):
            _entries(body, thing, where, expected, check)
        with body.when(kind == ITEMS):
            check(body.word(thing + places["list_size"]) == expected)
            items = body.word(thing + places["list_items"])
            with body.loop(0, expected) as place:
                check(body.word(items, place) == body.word(where, place))
    body.result_object("True")


def _entries(
    body: FunctionBody, thing: IRValue, where: IRValue, expected: IRValue, check: Callable[[IRValue], None]
) -> None:
    """Compare a dictionary with pairs of keys and values; a type with the lowest bit set stands for all its objects."""
    position, key, value, place = (body.variable(0) for _ in range(4))
    with body.forever() as leave:
        leave(body.call("PyDict_Next", thing, position, key, value, of="i32") == 0)
        check(body.word(place) < expected)
        pair = where + body.word(place) * 16
        check(body.word(pair) == body.word(key))
        wanted, found = body.word(pair, 1), body.word(value)
        with body.when(wanted != found):
            check(wanted == body.field(found, "type") | 1)
        body.put(place, 0, body.word(place) + 1)
    check(body.word(place) == expected)


@native.once
def _method() -> Any:
    """The function for all records, compiled once in a process; None where Python's objects are not understood."""
    parts = cpython.list_places()
    if parts is None or not cpython.LOCKED:
        return None  # without a lock of the interpreter, a container might change while it is looked at
    return callables.method("unchanged", "Whether all is what it was.", partial(_write, places=parts))


# Rows


class Table:
    """Rows as words, and the built-in function that says whether all is as they expect; what they name is kept alive."""

    def __init__(self, rows: Iterable[Row], method: Any) -> None:
        self._kept: list[Any] = []
        self._words = self._looked_at(rows)
        self.unchanged: Callable[[], bool] = cpython.builtin(method, self._words)

    def _looked_at(self, rows: Iterable[Row]) -> Any:
        return np.array([word for row in rows for word in self._row(row)], np.int64)

    def _row(self, row: Row) -> tuple[int, int, int, int]:
        held, expected = id(row.held), row.expected
        self._kept.append(row if row.kept else row._replace(held=None))
        if row.kind in ("attribute", "other"):
            place = cpython.attribute_place(row.held, row.where)
            assert place is not None
            nothing = expected is None and not cpython.word_at(held + place).value
            return WORD if row.kind == "attribute" else OTHER, held, place, 0 if nothing else id(expected)
        if row.kind == "word":
            return WORD, held, row.where, expected
        if row.kind == "entry":
            return ENTRY, held, id(row.where), 0 if expected is MISSING else id(expected)
        if row.kind == "items" and type(row.held) is set:
            return WORD, held, cpython.set_size_place() or 0, 0
        if row.kind == "items":
            return ITEMS, held, self._array(list(map(id, expected))), len(expected)
        any_float = id(float) | 1  # odd, as no address of an object is
        pairs = [(id(key), any_float if key in row.where else id(value)) for key, value in expected.items()]
        return ENTRIES, held, self._array([word for pair in pairs for word in pair]), len(pairs)

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
        self._words[:] = self._looked_at(_rows(self._holders))
        return True


def _rows(holders: Sequence[Holder]) -> list[Row]:
    return [row for holder in holders for row in holder.rows() or ()]


def _watchable(row: Row) -> bool:
    """Whether the built-in function can look at what a row is about."""
    held, expected = row.held, row.expected
    if row.kind in ("attribute", "other"):
        place = cpython.attribute_place(held, row.where)
        if row.kind == "other":
            return place is not None
        found = None if place is None else cpython.word_at(id(held) + place).value
        return found == id(expected) or (found == 0 and expected is None)
    if row.kind == "word":
        return True
    if row.kind == "entry":
        return type(held) is dict and type(row.where) is str
    if row.kind == "items":
        return type(held) is list or (type(held) is set and not expected and cpython.set_size_place() is not None)
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


def look(rows: Sequence[Row]) -> Table | None:
    """What says whether all is as rows expect, as it is now; None where machine code cannot look there."""
    method = _method()
    if method is None or not all(map(_watchable, rows)):
        return None
    found = Table(rows, method)
    return found if found.unchanged() else None
