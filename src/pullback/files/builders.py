"""What a pickle may have built: a table of names, each with the function of ours that is called in its place.

For each argument the table says which types it may have, how many items, and of which types these may be. This is checked
before anything is built. What builders make and copy, all together, is no more than the bytes of the pickle: an honest one
writes out each value before it is copied, and a hostile one would have one value copied many times.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._core.placement import device
from .._core.shapes import Size
from .errors import FileError
from .keys import Keys

MOST_AXES = 64
"""NumPy's limit."""
MOST_LEVELS = 1000
"""How deeply containers may be nested: functions that call themselves, and Python's own, follow no deeper."""


class Marker:
    """What has a meaning in a pickle alone: no value holds it."""

    __slots__ = ()


class Takes(NamedTuple):
    """What an argument of a builder may be."""

    types: tuple[type, ...] = ()  # none: any
    most: int = sys.maxsize  # items, characters or bytes
    items: tuple[type, ...] = ()  # their types, where these are fixed
    copied: bool = False  # whether they are copied

    def problem(self, value: Any) -> str | None:
        """Why a value may not be this argument, in words; None if it may."""
        kind = np.dtype if isinstance(value, np.dtype) else type(value)
        if self.types and kind not in self.types:
            return f"a {kind.__name__}, not a {' or '.join(each.__name__ for each in self.types)}"
        if kind is int:
            return _large(value)
        if self.most < sys.maxsize and len(value) > self.most:
            return f"a {kind.__name__} of length {len(value)}, of {self.most} allowed"
        for each in value if self.items else ():
            if type(each) not in self.items:
                return f"a {kind.__name__} that holds a {type(each).__name__}"
            if type(each) is int and (problem := _large(each)):
                return f"a {kind.__name__} that holds {problem}"
        return None


def _large(value: int) -> str | None:
    return f"an integer of {value.bit_length()} bits" if value.bit_length() > 64 else None


class Builder(Marker):
    """The meaning of a function's or class's name in a pickle: the function of ours that is called, and what it takes."""

    __slots__ = ("name", "build", "takes", "least", "weight")

    def __init__(
        self, name: str, build: Callable[..., Any], *takes: Takes, least: int | None = None, weight: int = 1
    ) -> None:
        self.name = name
        self.build = build
        self.takes = takes
        self.least = len(takes) if least is None else least
        self.weight = weight  # no more than the bytes that an honest pickle has for it

    def check(self, arguments: tuple[Any, ...]) -> int:
        """Refuse arguments that are not what this takes; the number of items that will be built and copied."""
        if not self.least <= len(arguments) <= len(self.takes):
            raise FileError(f"holds an invalid {self.name}: made of {len(arguments)} arguments")
        copied = self.weight
        for place, (takes, value) in enumerate(zip(self.takes, arguments, strict=False), 1):
            if problem := takes.problem(value):
                raise FileError(f"holds an invalid {self.name}: argument {place} is {problem}")
            copied += len(value) if takes.copied else 0
        return copied


NONE = type(None)
FLAG = Takes((bool,))
COUNT = Takes((int,))
SIZES = Takes((tuple, Size), MOST_AXES, (int,))
TEXT = Takes((str,), 64)
BYTES = Takes((bytes, bytearray), copied=True)
_CHARACTERS = Takes((str,), copied=True)
_DIGITS = Takes((float, int))
_ITEMS = Takes((list, tuple, set, frozenset), copied=True)
_PAIRS = Takes((dict, list, tuple), copied=True)


def _encoded(text: str, encoding: str = "latin1") -> bytes:
    """Bytes in the form of old protocols: a string, each character of which is a byte."""
    if encoding not in {"latin1", "latin-1"}:
        raise ValueError("bytes in an encoding other than latin1")
    return text.encode("latin1")


def _bytearray(content: str | bytes = b"", encoding: str = "latin1") -> bytearray:
    return bytearray(_encoded(content, encoding) if isinstance(content, str) else content)


def _pairs(items: Any) -> list[tuple[object, object]]:
    if type(items) is dict:
        return [*items.items()]
    if not all(type(pair) in {list, tuple} and len(pair) == 2 for pair in items):
        raise ValueError("its items are not pairs")
    return [*items]


def plain(keys: Keys) -> dict[str, Builder]:
    """The builders of plain values."""

    def mapping(kind: type[dict[Any, Any]]) -> Builder:
        return Builder(kind.__name__, lambda items=(): keys.pairs(kind(), _pairs(items)), _PAIRS, least=0)

    def group(kind: Callable[[set[object]], object], name: str) -> Builder:
        return Builder(name, lambda items=(): kind(keys.elements(set(), [*items])), _ITEMS, least=0)

    text_or_bytes = Takes((str, bytes), copied=True)
    built_in = {
        "set": group(lambda elements: elements, "set"),
        "frozenset": group(frozenset, "frozenset"),
        "complex": Builder("complex", complex, _DIGITS, _DIGITS, least=1),
        "bytes": Builder("bytes", bytes),  # of old protocols, without any
        "bytearray": Builder("bytearray", _bytearray, text_or_bytes, TEXT, least=0),
    }
    return {
        **{f"{module}.{name}": each for module in ("builtins", "__builtin__") for name, each in built_in.items()},
        "collections.OrderedDict": mapping(OrderedDict),
        "collections.Counter": mapping(Counter),
        "_codecs.encode": Builder("bytes", _encoded, _CHARACTERS, TEXT),
        "torch.Size": Builder("Size", Size, SIZES),
        "torch.device": Builder("device", device, TEXT, COUNT, least=1),
    }
