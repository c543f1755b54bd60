"""Keys of dicts and elements of sets from a file: plain values alone, and none that make a table slow.

Whoever writes a file chooses its keys. A tuple of tuples may take for ever to hash, and many numbers may have one hash,
so that each is compared with all before it. So a key has few parts, and the time for keys is bounded.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any, TypeVar

import numpy as np

from .._core import dtypes
from .._core.placement import device
from .._core.shapes import Size
from .._tensor.tensor import Tensor
from .errors import FileError

Table = TypeVar("Table", bound=Sized)

MOST_PARTS = 64
"""How many parts a key may have that is a tuple or a frozenset, those of its parts included."""
MOST_BITS = 1024
"""How large an integer may be that is a key."""

_FEW = 1000  # keys of a table that are added without looking at the clock
_AT_ONCE = 256
_SLOWEST, _SLACK = 20e-6, 0.05  # seconds for each key (it takes 0.1 to 1 microsecond), and for all besides
_clock = getattr(time, "thread_time", time.process_time)

_GROUPS = {tuple, frozenset, Size}
_PLAIN = {str, bytes, float, complex, bool, type(None), dtypes.dtype, device, Tensor}
_WRITES: dict[type, Callable[[Any, Any], object]] = {
    dict: dict.update,
    OrderedDict: OrderedDict.update,
    Counter: dict.update,  # its own adds up
    set: set.update,
}


class Keys:
    """Adds keys to the dicts and sets of one file; `objects` are keys only where the program trusts their classes."""

    def __init__(self, *, objects: bool = False) -> None:
        self.objects = objects
        self.seconds = 0.0
        self.count = 0

    def pairs(self, table: Table, pairs: Sequence[tuple[object, object]]) -> Table:
        """The dict, with these pairs of keys and values added."""
        self._check(key for key, _ in pairs)
        return self._add(table, pairs)

    def elements(self, table: Table, values: Sequence[object]) -> Table:
        """The set, with these elements added."""
        self._check(values)
        return self._add(table, values)

    def allowed(self, kind: type) -> bool:
        """Whether a value of this type, no tuple and no frozenset, may be a key."""
        return self.objects or kind in _PLAIN or (issubclass(kind, np.generic) and kind is not np.void)

    def _check(self, keys: Iterable[object]) -> None:
        for key in keys:
            if type(key) is not str:
                self._check_parts(key)

    def _check_parts(self, key: object) -> None:
        left = MOST_PARTS
        parts: list[Any] = [key]
        while parts:
            part = parts.pop()
            kind = type(part)
            if kind in _GROUPS:
                left -= len(part)
                if left < 0:
                    raise FileError(f"has a key of more than {MOST_PARTS} parts")
                parts.extend(part)
            elif kind is int:
                if part.bit_length() > MOST_BITS:
                    raise FileError(f"has a key that is a number of {part.bit_length()} bits, of {MOST_BITS} allowed")
            elif not self.allowed(kind):
                raise FileError(f"has a {kind.__name__} as a key")

    def _add(self, table: Table, items: Sequence[object]) -> Table:
        write = _WRITES[type(table)]
        if len(table) + len(items) < _FEW:
            write(table, items)
            return table
        for start in range(0, len(items), _AT_ONCE):
            some = items[start : start + _AT_ONCE]
            began = _clock()
            write(table, some)
            self.seconds += _clock() - began
            self.count += len(some)
            if self.seconds > _SLACK + _SLOWEST * self.count:
                raise FileError(f"has keys that collide: adding {self.count} of them took {self.seconds:.2f} seconds")
        return table
