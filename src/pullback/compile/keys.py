"""Keys: metadata and constants compared by value, numbers by their bits.

Two equations with equal keys compute the same, so a key may miss that, and must never say so wrongly: 0.0 and -0.0, 1
and 1.0 and True differ; what is of no known kind equals itself alone.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .._core.typing import Array, Params

NAMES = {"label", "given"}
"""Metadata that only says what torch calls the operation's node."""

_NONE: tuple[object, ...] = ()
_INTS = {int}
_PLAIN = {int, bool, str, bytes, type(None), type(Ellipsis)}


def of_metadata(params: Params) -> Hashable:
    """The key of an equation's metadata."""
    if not params:
        return _NONE
    return tuple([(name, of_entry(params[name])) for name in sorted(params) if name not in NAMES])


def _itself(entry: Any) -> Hashable:
    return type(entry), id(entry)


def of_entry(entry: Any, other: Callable[[Any], Hashable] = _itself) -> Hashable:
    """The key of one entry: a number, a text, a dtype, a slice, a tuple, list or dict of such, or what `other` says."""
    kind = type(entry)
    if kind in _PLAIN:
        return (kind, entry)
    if kind is tuple and _INTS.issuperset(map(type, entry)):
        return (kind, entry)
    if isinstance(entry, tuple | list):
        return (kind, *[of_entry(each, other) for each in entry])
    if kind is float:
        return (kind, struct.pack("<d", entry))
    if kind is complex:
        return (kind, struct.pack("<dd", entry.real, entry.imag))
    if kind is slice:
        return (kind, *[of_entry(each, other) for each in (entry.start, entry.stop, entry.step)])
    if kind is dict:
        return (kind, *[(name, of_entry(each, other)) for name, each in entry.items()])
    if isinstance(entry, np.dtype):
        return (np.dtype, entry.str)
    if isinstance(entry, np.generic) or (kind is np.ndarray and entry.ndim == 0):
        return (kind, entry.dtype.str, entry.tobytes())
    return other(entry)


LARGEST = 1 << 12
"""Bytes of a constant that is compared element by element."""


def of_constant(array: Array) -> Hashable:
    """The key of a small constant; a large one equals itself alone."""
    if array.nbytes > LARGEST:
        return ("array", id(array))
    return (array.shape, array.dtype.str, array.flags.c_contiguous, array.tobytes())
