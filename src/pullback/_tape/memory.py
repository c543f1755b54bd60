"""Memory that several tensors share: versions, aliases, and values the graph has kept.

A value saved for backward is protected. What a node keeps is a `Cell`, not an array; when memory is about to be
written, each tensor that lies in it lets its cell go, and a cell that survives is held by a graph and is given a copy
of its own. So a write costs a copy only when a graph needs the old value, and nothing otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary, ref

import numpy as np

from .._core import forks
from .._core.errors import INFERENCE_SAVED
from .._core.modes import mode

if TYPE_CHECKING:
    from .._core.typing import Array, Tensor, Value
    from .._tensor.attributes import Attributes


# glibc gives the top of its heap back to the system whenever 128 kB of it are free, so that a graph of middle-sized
# arrays is paged in anew at every step: 21 us for a product of 10 000 numbers instead of 4. Freeing one large block
# raises that limit, as any program that frees a large array does; the block itself is never touched.
np.empty(1 << 24, np.uint8)


class Cell:
    """A value kept for the backward pass."""

    __slots__ = ("array", "__weakref__")

    array: Any


def cell_with(array: Any) -> Cell:
    """A cell with a value. (An `__init__` would double what it takes to make one.)"""
    cell = Cell()
    cell.array = array
    return cell


class Storage:
    """A block of memory that more than one tensor, or NumPy code, can see.

    It knows the tensors that lie in it and the cells that hold values lying in it, both weakly: a graph may keep the
    value of a view whose tensor is long gone.
    """

    __slots__ = ("version", "members", "cells", "_limit", "__weakref__")

    def __init__(self, shared: Storage | None = None) -> None:
        self.version = 0
        self.members: list[ref[Any]] = [] if shared is None else shared.members
        self.cells: list[ref[Cell]] = [] if shared is None else shared.cells
        self._limit = 16

    def join(self, tensor: Attributes) -> None:
        """Make a tensor a member. One that has no cell, as most new ones, needs no turn: the list takes it in one step.

        The tensor learns of it last: if that is interrupted, it is what it was. A cell that another thread has made meanwhile
        is made known then.
        """
        members, cell = self.members, tensor._cell
        if cell is None:
            members.append(ref(tensor))
        else:
            with _turn:
                members.append(ref(tensor))
                self.cells.append(ref(cell))
        tensor._storage = self
        if (now := tensor._cell) is not cell and now is not None:
            self.hold(now)
        if len(members) >= self._limit:
            self._forget()

    def hold(self, cell: Cell) -> None:
        """Know of a cell that holds a value lying here."""
        with _turn:
            self.cells.append(ref(cell))
            if len(self.cells) >= self._limit:
                self._forget()

    def _forget(self) -> None:
        """Drop the entries of what is gone, not those that arrive meanwhile; called now and then, whenever there are many."""
        with _turn:
            for entries in (self.members, self.cells):
                known = len(entries)
                entries[:known] = [entry for entry in entries[:known] if entry() is not None]
            self._limit = 2 * max(len(self.members), len(self.cells)) + 128

    def tensors(self) -> list[Tensor]:
        """The members that are alive."""
        return [tensor for entry in list(self.members) if (tensor := entry()) is not None]


_turn = forks.lock()


def storage_of(tensor: Attributes) -> Storage:
    """The storage of a tensor, made when first asked for."""
    storage: Storage | None = tensor._storage
    if storage is None:
        with _turn:
            storage = tensor._storage
            if storage is None:
                storage = Storage()
                storage.version = tensor._writes
                storage.join(tensor)
    return storage


def _cell_of(tensor: Attributes) -> Cell:
    """The cell of a tensor's value, for one that has had none: where several threads ask, they get the same."""
    if tensor._inference:
        raise RuntimeError(INFERENCE_SAVED)
    cell = Cell()
    cell.array = tensor._array
    if tensor._cell is None:  # no call is made before the next line: the interpreter's lock stays here
        tensor._cell = cell
    kept: Cell = tensor._cell
    if tensor._storage is not None:
        tensor._storage.hold(kept)
    return kept


def _in_turn(tensor: Attributes) -> Cell:
    with _turn:
        return _cell_of(tensor)


cell_of = _cell_of if getattr(sys, "_is_gil_enabled", lambda: True)() else _in_turn  # once there, that lock stays


def owner(array: Any) -> Any:
    """What owns the memory an array lies in; `as_strided` puts an object that is not an array in between."""
    if (block := getattr(array, "_memory", None)) is not None:  # of a value that is recorded
        return block
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return array


def share(operands: Sequence[Any], result: Tensor) -> None:
    """Make a result a member of the storage of the operand in whose memory it lies, if there is one.

    An operation may move no elements, and return memory that its operand has: writes of each are then writes of the other.
    """
    array = result._array
    arrays = [getattr(operand, "_array", None) for operand in operands]
    if array.base is None and id(array) not in map(id, arrays):
        return
    whole = owner(array)
    for operand, given in zip(operands, arrays, strict=True):
        if given is not None and owner(given) is whole:
            (operand._storage or storage_of(operand)).join(result)
            return


def bounds(array: Array) -> tuple[int, int]:
    """The addresses of the first byte of an array and of that after the last."""
    start = array.__array_interface__["data"][0]
    if not array.size:
        return start, start
    ends = [(size - 1) * step for size, step in zip(array.shape, array.strides, strict=True)]
    return start + sum(min(end, 0) for end in ends), start + sum(max(end, 0) for end in ends) + array.itemsize


_aliased: WeakValueDictionary[int, Storage] = WeakValueDictionary()
_entries: dict[int, object] = vars(_aliased)["data"]  # to ask whether there are any, without a call


def aliased(tensor: Tensor) -> Value:
    """The array of a tensor, an alias to compute with: what graphs keep of the array is protected all the same."""
    array = tensor._array
    if isinstance(array, np.ndarray):
        key, storage = id(owner(array)), tensor._storage or storage_of(tensor)
        if _aliased.get(key) is not storage:
            _aliased[key] = storage
    return array


def keep_array(array: Any) -> Cell:
    """A cell with an array that came without a tensor; if a tensor has that memory, its storage knows of the cell."""
    cell = cell_with(array)
    if _entries and isinstance(array, np.ndarray) and (storage := _aliased.get(id(owner(array)))) is not None:
        storage.hold(cell)
    return cell


def protect(tensor: Tensor, instead: object = None) -> None:
    """Give every graph that kept a value lying in this tensor's memory a copy of its own, or something else instead.

    No cell is forgotten before all have their copies: after a copy that failed, the next attempt finds every one of them.
    """
    storage = tensor._storage
    if storage is None:
        if tensor._cell is not None:
            kept = ref(tensor._cell)
            try:
                tensor._cell = None
                _copy_survivors((kept,), instead)
            except BaseException:
                tensor._cell = kept()
                raise
        return
    if not storage.cells:
        return
    with _turn:
        for member in storage.tensors():
            member._cell = None  # those that a graph holds are among the storage's
        _copy_survivors(storage.cells, instead)
        storage.cells.clear()


def _copy_survivors(cells: Iterable[ref[Cell]], instead: object) -> None:
    """Tensors have let go of these cells: what is left is held by graphs."""
    for entry in cells:
        cell = entry()
        if cell is None:
            continue
        if instead is not None:
            cell.array = instead
        elif isinstance(cell.array, np.ndarray):
            cell.array = cell.array.copy()
            if (note := mode.get().copied) is not None:
                note(cell)
        elif getattr(cell.array, "_memory", None) is not None:
            cell.array = cell.array.snapshot()


def followed(tensor: Attributes) -> bool:
    """Whether views get another history from a write to a tensor that leaves no record.

    After a write torch asks the base for the history of each view, whether the write has left a record or not: views that were
    made before the base was tracked get one, and those of a base that was detached in place lose theirs.
    """
    base: Attributes = tensor if tensor._base is None else tensor._base
    if base._storage is None:
        return False
    if base._node is None:
        return base._cut is not None
    for entry in list(base._storage.members):  # any(...) takes three times as long
        if (member := entry()) is not None and member._base is base and member._node is None:
            return True
    return False


def version(tensor: Attributes) -> int:
    """How often the tensor's memory has been written; a storage, once there is one, counts for all its members."""
    return tensor._writes if tensor._storage is None else tensor._storage.version


def written(tensor: Attributes, times: int = 1) -> None:
    """Count a write, or several; a number below 0 takes back what was counted."""
    if tensor._storage is None:
        tensor._writes += times
    else:
        tensor._storage.version += times
