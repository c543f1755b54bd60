"""Holders: the containers of a function's state, each with what it held when the function was recorded.

This is the one table of what is watched. A holder says what it holds now (`entries`), whether that means what it held
(`same`), how to put something there, and, as `rows`, where machine code finds it in memory (`machine.watching`).
"""

from __future__ import annotations

import operator
import struct
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np

from .. import Tensor
from .._tensor.tensor import Later
from ..observe import node as node_of, value as inside
from .cpython import UNNOTICED, can_be_gone, version, version_place, within

MISSING = object()
BITS = {float: "d", complex: "dd"}
EXACT = (type(None), bool, int, str, bytes, type(Ellipsis), type(NotImplemented))
PLAIN = (*EXACT, float, complex, range, slice)
"""Kinds of values that are nothing but what they mean; subclasses of them may have attributes."""


class Row(NamedTuple):
    """One thing to look at: an attribute, an entry of a dictionary, all of its entries, the items of a list, or a word.

    `kind` is "attribute", "other", "entry", "entries", "items" or "word"; `where` is the attribute or the key, the set of keys under
    which any float may be, or the place of the word; `expected` the object, MISSING for no entry, the entries or items, or
    the word.

    Others are about a call: "context" about a variable that has a value, "count" about the number of arguments. In the rest
    `where` is the number of an argument, which is to be what is held ("argument"), none of the addresses held ("outside"), and
    not one object with those arguments whose numbers are expected ("apart"); or this number and the name of an attribute, which
    is looked at where what is held has it ("part"), or asked for ("asked").
    """

    kind: str
    held: Any
    where: Any
    expected: Any
    kept: bool = True
    """Whether what is looked at is to be kept alive for that."""


# Meaning


class Same:
    """An object that means itself alone; it is kept alive, so that its address means nothing else."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class Passed:
    """An argument that means itself alone, and is not kept alive: once it is gone, it equals nothing but this."""

    __slots__ = ("value", "_hash")

    def __init__(self, value: object, gone: Callable[[Any], object] | None = None) -> None:
        self.value, self._hash = ref(value, gone), id(value)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Passed) and other.value() is self.value() is not None)

    def __hash__(self) -> int:
        return self._hash


def passed(value: object) -> bool:
    """Whether an argument means itself alone, and need not be kept alive for that."""
    return type(meaning(value)) is Same and can_be_gone(value)


def meaning(value: Any) -> Hashable:
    """What is equal for two values exactly if no program can tell them apart: by type and bits, or by identity."""
    kind = type(value)
    if kind in EXACT:
        return kind, value
    if kind in BITS:
        return kind, struct.pack(BITS[kind], *((value,) if kind is float else (value.real, value.imag)))
    if kind in (tuple, frozenset):
        return kind, tuple(map(meaning, value))
    if kind in (range, slice):
        return kind, *map(meaning, (value.start, value.stop, value.step))
    if is_scalar(value):
        return kind, value.dtype.str, value.tobytes()
    return Same(value)


def is_scalar(value: object) -> bool:
    """Whether a value is a number, a text or a date of NumPy, which cannot change."""
    return isinstance(value, np.generic) and not isinstance(value, np.void) and type(value).__module__ == "numpy"


def equal(old: object, new: object) -> bool:
    """Whether two values mean the same to a program."""
    return old is new or (type(old) is type(new) and bool(meaning(old) == meaning(new)))


def alike(old: object, new: object) -> bool:
    """Whether two tensors are read alike: of one shape and dtype, both without a history; or two floats."""
    if type(old) is float:
        return type(new) is float
    if not (isinstance(old, Tensor) and isinstance(new, Tensor)):
        return False
    return (
        type(old) is type(new)
        and tuple(old.shape) == tuple(new.shape)
        and old.dtype == new.dtype
        and node_of(old) is None
        and node_of(new) is None
        and inside(new).flags.c_contiguous
    )


# Holders


class Holder:
    """A container that holds values of the state, by keys: what it held, and whether it still does."""

    numbered = False
    """Whether its keys are places, which mean nothing themselves."""
    write: Callable[[Any, Any, Any], None] = staticmethod(setattr)
    remove: Callable[[Any, Any], None] = staticmethod(delattr)

    def __init__(self, held: Any) -> None:
        self.held = held
        self.moving: set[Hashable] = set()
        self.take(self.entries())

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        raise NotImplementedError

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        self.write(self.held, key, value)

    def rows(self) -> list[Row] | None:
        """What to look at in memory; None where only Python knows."""
        return None

    def restore(self) -> None:
        """Hold again what was held."""
        now = self.entries()
        for key in now.keys() - self.before.keys():
            self.remove(self.held, key)
        for key, value in self.before.items():
            if now.get(key, MISSING) is not value:
                self.put(key, value)

    def named(self) -> Iterable[tuple[str, object]]:
        """What it held under names."""
        return ((key, value) for key, value in self.before.items() if isinstance(key, str))

    def take(self, now: dict[Any, Any]) -> None:
        """Take what it holds now for what it held."""
        self.before = now

    def untouched(self, now: dict[Any, Any]) -> bool:
        """Whether it holds the very objects that it held."""
        before, same = self.before, operator.is_
        keyed = now is before or self.numbered or all(map(same, now, before))
        return keyed and len(now) == len(before) and all(map(same, now.values(), before.values()))

    def means(self, now: dict[Any, Any]) -> bool:
        """Whether what it holds now means what it held; tensors under keys that move may be others of the same kind."""
        return self.as_keyed(now) and all(map(self.stays, self.before, self.before.values(), now.values()))

    def stays(self, key: Any, old: object, new: object) -> bool:
        """Whether a value means what was held under a key: a tensor under a key that moves may be another one of the same kind."""
        return new is old or (key in self.moving and alike(old, new)) or self.equal(old, new)

    def equal(self, old: object, new: object) -> bool:
        """Whether two values mean the same there."""
        return equal(old, new)

    def as_keyed(self, now: dict[Any, Any]) -> bool:
        """Whether the keys are, in this order, what they were."""
        return len(now) == len(self.before) and all(map(equal, self.before, now))

    def same(self) -> bool:
        """Whether it holds what it held, or what means the same."""
        now = self.entries()
        return self.untouched(now) or self.means(now)


class Items(Holder):
    """A container whose entries are its items, where others have attributes."""

    write = staticmethod(operator.setitem)
    remove = staticmethod(operator.delitem)


class Mapping(Items):
    """A dictionary, or one that is read only."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return dict(self.held)

    def rows(self) -> list[Row] | None:
        """All entries, where those that move are floats."""
        if any(type(self.before[key]) is not float for key in self.moving):
            return None
        return [Row("entries", self.held, frozenset(self.moving), self.before)]

    def restore(self) -> None:
        """Hold again what was held."""
        if isinstance(self.held, dict):
            dict.clear(self.held)
            dict.update(self.held, self.before)


class Members(Holder):
    """The attributes of a class."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return {name: value for name, value in vars(self.held).items() if name not in UNNOTICED}

    def rows(self) -> list[Row] | None:
        """All entries of the dictionary that the class shows read-only."""
        (members,) = within(vars(self.held))
        entries = {name: self.before.get(name, value) for name, value in members.items()}
        known = {name: value for name, value in entries.items() if name in self.before or name in UNNOTICED}
        return [Row("entries", members, frozenset(), known)]


class Library(Members):
    """The attributes of a class of pullback, which Python numbers anew whenever one of them has been exchanged."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        self._found, entries = versioned(self.held)
        return entries

    def take(self, now: dict[Any, Any]) -> None:
        """Take what it holds now for what it held."""
        super().take(now)
        self._version = self._found

    def same(self) -> bool:
        """Whether it holds what it held, or what means the same."""
        if self._version is not None and version(self.held) == self._version:
            return True
        now = self.entries()
        if same := self.means(now):
            self.take(now)
        return same

    def equal(self, old: object, new: object) -> bool:
        """Whether two values mean the same: a method that is imported on first use, and what then replaces it, do."""
        return equal(old, new) or (type(old) is Later and old.load() is new)

    def restore(self) -> None:
        """Have the members that were there."""
        now = self.entries()
        for name, value in self.before.items():
            if name not in now or not self.equal(value, now[name]):
                self.put(name, value)
        for name in now.keys() - self.before.keys():
            self.remove(self.held, name)

    def rows(self) -> list[Row] | None:
        """The number, or all entries where Python has none left."""
        place = version_place()
        if place is None or self._version is None:
            return super().rows()
        return [Row("word", self.held, place, self._version)]


_versions: WeakKeyDictionary[type, tuple[int, dict[Any, Any]]] = WeakKeyDictionary()


def versioned(cls: type) -> tuple[int | None, dict[Any, Any]]:
    """The number by which Python knows the attributes of a class as they are, and these; None where it has no number."""
    getattr(cls, "__init__", None)  # a look-up, at which Python gives the number
    number = version(cls)
    known = _versions.get(cls)
    if known is not None and known[0] == number:
        return known
    entries = {name: value for name, value in vars(cls).items() if name not in UNNOTICED}
    if number is None or version(cls) != number:
        return None, entries
    _versions[cls] = number, entries
    return number, entries


class Attributes(Holder):
    """Some attributes of an object: its class and its dictionary, a function's code, slots."""

    def __init__(self, held: Any, *names: str) -> None:
        self._names = names
        super().__init__(held)

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        found = ((name, getattr(self.held, name, MISSING)) for name in self._names)
        return {name: value for name, value in found if value is not MISSING}

    def rows(self) -> list[Row] | None:
        """Each of them, if all are there."""
        if len(self.before) < len(self._names):
            return None
        return [Row("attribute", self.held, name, value) for name, value in self.before.items()]


class OfArgument(Attributes):
    """Some attributes of an argument, which is not kept alive: at a call that has it, it is there."""

    @property
    def held(self) -> Any:
        """The argument."""
        return self._held()

    @held.setter
    def held(self, value: Any) -> None:
        self._held = ref(value)

    def rows(self) -> list[Row] | None:
        """Each of them, if all are there."""
        rows = super().rows()
        return None if rows is None else [row._replace(kept=False) for row in rows]


class Attached(Holder):
    """Attributes that a user has given to a tensor."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return attached(self.held)


def attached(tensor: Tensor) -> dict[str, Any]:
    """The attributes that a user has given to a tensor."""
    return {name: value for name, value in vars(tensor).items() if not hasattr(type(tensor), name)}


class Asked(Holder):
    """What an object says of itself: what a cache knows, which bytes there are. It cannot be put back."""

    def __init__(self, held: Any, answer: Callable[[Any], object]) -> None:
        self._answer = answer
        super().__init__(held)

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return {"answer": self._answer(self.held)}

    def restore(self) -> None:
        """Nothing can be put back."""


class Named(Items):
    """Some names of a namespace: the globals that a function uses, those of a module."""

    def __init__(self, held: Any, names: Iterable[str]) -> None:
        self._names = tuple(names)
        super().__init__(held)

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return {name: self.held[name] for name in self._names if name in self.held}

    def rows(self) -> list[Row] | None:
        """Each name, there or not."""
        return [Row("entry", self.held, name, self.before.get(name, MISSING)) for name in self._names]


class Sequence(Holder):
    """A list, a tuple, a deque or a set."""

    numbered = True

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return dict(enumerate(self.held))

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        if isinstance(self.held, list | deque):
            self.held[key] = value

    def rows(self) -> list[Row] | None:
        """All items; nothing, where they cannot change."""
        if isinstance(self.held, tuple | frozenset):
            return []
        return [Row("items", self.held, None, tuple(self.before.values()))]

    def restore(self) -> None:
        """Hold again what was held."""
        if isinstance(self.held, list):
            self.held[:] = self.before.values()
        elif isinstance(self.held, deque | set):
            self.held.clear()
            (self.held.extend if isinstance(self.held, deque) else self.held.update)(self.before.values())


class Elements(Holder):
    """A NumPy array of objects."""

    numbered = True

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return dict(enumerate(self.held.flat))

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        self.held.flat[key] = value


class Closure(Attributes):
    """A variable of an enclosing function."""

    def __init__(self, held: Any, name: str) -> None:
        self._name = name
        super().__init__(held, "cell_contents")

    def named(self) -> Iterable[tuple[str, object]]:
        """What it held, under the variable's name."""
        return ((self._name, value) for value in self.before.values())

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        try:
            return super().entries()
        except ValueError:  # not assigned yet
            return {}


class Content(Holder):
    """The numbers of a NumPy array, which are part of the program."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return {"content": (self.held.shape, self.held.dtype.str, self.held.strides, self.held.tobytes())}

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        shape, dtype, _, data = value
        if self.held.flags.writeable:
            self.held[...] = np.frombuffer(data, dtype).reshape(shape)
