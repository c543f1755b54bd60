"""Memory that several tensors share: versions, aliases, and values the graph has kept.

A value saved for backward is protected. What a node keeps is a `Cell`, not an array; when memory is about to be
written, each tensor that lies in it lets its cell go, and a cell that survives is held by a graph and is given a copy
of its own. So a write costs a copy only when a graph needs the old value, and nothing otherwise.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np


# glibc gives the top of its heap back to the system whenever 128 kB of it are free, so that a graph of middle-sized
# arrays is paged in anew at every step: 21 us for a product of 10 000 numbers instead of 4. Freeing one large block
# raises that limit, as any program that frees a large array does; the block itself is never touched.
np.empty(1 << 24, np.uint8)


class Cell:
    """A value kept for the backward pass."""

    __slots__ = ("array", "__weakref__")

    array: Any

    def __init__(self, array: Any) -> None:
        self.array = array


class Storage:
    """A block of memory that more than one tensor, or NumPy code, can see."""

    __slots__ = ("version", "members", "_limit")

    def __init__(self, members: list[weakref.ref[Any]] | None = None) -> None:
        self.version = 0
        self.members = [] if members is None else members
        self._limit = 16

    def join(self, tensor: Any) -> None:
        """Make a tensor a member; forget members that are gone, now and then."""
        if len(self.members) >= self._limit:
            self.members[:] = [ref for ref in self.members if ref() is not None]
            self._limit = 2 * len(self.members) + 16
        tensor._storage = self
        self.members.append(weakref.ref(tensor))

    def tensors(self) -> list[Any]:
        """The members that are alive."""
        return [tensor for ref in self.members if (tensor := ref()) is not None]


def storage_of(tensor: Any) -> Storage:
    """The storage of a tensor, made when first asked for."""
    if tensor._storage is None:
        Storage().join(tensor)
    return tensor._storage  # type: ignore[no-any-return]  # tensors are duck-typed below their class


def aliases(tensor: Any) -> list[Any]:
    """Every tensor that lies in the same memory, this one included."""
    return [tensor] if tensor._storage is None else tensor._storage.tensors()


def protect(tensor: Any) -> None:
    """Give every graph that kept a value lying in this tensor's memory a copy of its own."""
    for member in aliases(tensor):
        cell = member._cell
        if cell is None:
            continue
        kept = weakref.ref(cell)
        del cell
        member._cell = Cell(member._array)
        survivor = kept()
        if survivor is not None and isinstance(survivor.array, np.ndarray):
            survivor.array = survivor.array.copy()


def version(tensor: Any) -> int:
    """How often the tensor's memory has been written."""
    return 0 if tensor._storage is None else tensor._storage.version


def written(tensor: Any) -> None:
    """Count a write."""
    storage_of(tensor).version += 1
