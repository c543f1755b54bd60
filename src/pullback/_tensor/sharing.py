"""Memory shared between processes: `share_memory_`, and the transfer of such tensors to new processes.

The memory is that of `multiprocessing`: a forked process inherits it, a spawned one gets its handle. In all other
cases, in files and queues, a tensor is pickled by value.
"""

from __future__ import annotations

import ctypes
from multiprocessing import context, reduction, sharedctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from .._tape.memory import bounds
from .._tape.views import exchange
from .tensor import Tensor, rebuild

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType
    from .._core.shapes import Shape


Array = np.ndarray[Any, np.dtype[Any]]


def _memory_of(array: object) -> ctypes.Array[ctypes.c_char] | None:
    """The shared memory that an array is in; None if it is not in shared memory."""
    while isinstance(array, np.ndarray | memoryview):
        array = array.obj if isinstance(array, memoryview) else array.base
    return array if isinstance(array, ctypes.Array) and hasattr(array, "_wrapper") else None


def share_memory_(self: Tensor) -> Tensor:
    """Move the elements, in place, to memory shared with the processes that are started with this tensor.

    Views of the tensor move with it. A write by one process is seen by the others; they receive the tensor as an
    argument when `multiprocessing` starts them, with any start method.

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


def _move(tensor: Tensor, memory: Any, first: int) -> None:
    """Move a tensor to the shared memory that replaces the memory block starting at address `first`."""
    array: Array = tensor._array
    if _memory_of(array) is None:
        offset = array.__array_interface__["data"][0] - first
        moved: Array = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
        moved[...] = array
        exchange(tensor, moved)


def is_shared(self: Tensor) -> bool:
    """True if the elements are in memory created by `share_memory_`.

    >>> import pullback
    >>> pullback.ones(2).is_shared(), pullback.ones(2).share_memory_().is_shared()
    (False, True)
    """
    return _memory_of(self._concrete("is_shared")) is not None


def _placed(raw: Any, offset: int, shape: Shape, strides: Shape, dtype: NumpyType, *rest: Any) -> Tensor:
    """A tensor in shared memory, rebuilt in a spawned process."""
    return rebuild(np.ndarray(shape, dtype, raw, offset, strides), *rest)


def _reduced(tensor: Tensor) -> Any:
    """A tensor's pickled form: its location in shared memory if a process is being spawned, else its values."""
    function, (array, *rest), attributes = tensor.__reduce__()
    memory = _memory_of(array)
    if memory is None or context.get_spawning_popen() is None:
        return function, (array, *rest), attributes
    offset = array.__array_interface__["data"][0] - ctypes.addressof(memory)
    return _placed, (memory, offset, array.shape, array.strides, array.dtype, *rest), attributes


reduction.ForkingPickler.register(Tensor, _reduced)
