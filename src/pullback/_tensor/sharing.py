"""Memory that processes share: `share_memory_`, and how tensors in it reach the processes that are started with them.

The memory is that of `multiprocessing`: a process that is forked inherits it, one that is spawned gets its handle.
Everywhere else, in files and queues, a tensor is its values.
"""

from __future__ import annotations

import ctypes
from multiprocessing import context, reduction, sharedctypes
from typing import Any

import numpy as np

from .._tape.memory import bounds
from .._tape.views import exchange
from .tensor import Tensor, rebuild

Array = np.ndarray[Any, np.dtype[Any]]


def _memory_of(array: Any) -> Any:
    """The shared memory in which an array lies; None if it lies elsewhere."""
    while isinstance(array, np.ndarray | memoryview):
        array = array.obj if isinstance(array, memoryview) else array.base
    return array if isinstance(array, ctypes.Array) and hasattr(array, "_wrapper") else None


def share_memory_(self: Any) -> Any:
    """Move the elements, in place, to memory that is shared with the processes started with this tensor.

    Views of the tensor move with it. What one process writes, the others see; they start with this tensor by
    `multiprocessing`, whatever its start method.

    >>> import pullback
    >>> pullback.ones(2).share_memory_().is_shared()
    True
    """
    if _memory_of(self._concrete("share_memory_")) is None:
        members = [self, *(() if self._storage is None else self._storage.tensors())]
        spans = [bounds(member._array) for member in members]
        first = min(low for low, _ in spans)
        memory = sharedctypes.RawArray("b", max(high for _, high in spans) - first or 1)
        for member in members:
            _move(member, memory, first)
    return self


def _move(tensor: Any, memory: Any, first: int) -> None:
    """Put a tensor where it lies in a piece of memory that stands for that from an address on."""
    array: Array = tensor._array
    if _memory_of(array) is None:
        offset = array.__array_interface__["data"][0] - first
        moved: Array = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
        moved[...] = array
        exchange(tensor, moved)


def is_shared(self: Any) -> bool:
    """Whether the elements lie in memory that `share_memory_` has made."""
    return _memory_of(self._concrete("is_shared")) is not None


def _placed(raw: Any, offset: int, shape: Any, strides: Any, dtype: Any, *rest: Any) -> Any:
    """A tensor in shared memory, in a process that has been spawned."""
    return rebuild(np.ndarray(shape, dtype, raw, offset, strides), *rest)


def _reduced(tensor: Any) -> Any:
    """What is sent of a tensor to another process: where it lies, if the process is being spawned, or its values."""
    function, (array, *rest) = tensor.__reduce__()
    memory = _memory_of(array)
    if memory is None or context.get_spawning_popen() is None:
        return function, (array, *rest)
    offset = array.__array_interface__["data"][0] - ctypes.addressof(memory)
    return _placed, (memory, offset, array.shape, array.strides, array.dtype, *rest)


reduction.ForkingPickler.register(Tensor, _reduced)
