"""How arrays lie in memory: whether they overlap, and in which order of axes their elements follow one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops
from .._tape.memory import bounds

Array = np.ndarray[Any, np.dtype[Any]]


def overlaps(array: Array) -> bool:
    """Whether elements of an array may lie in one place, as those of an expanded one, or of windows that overlap, do."""
    if array.flags.c_contiguous or not array.size:
        return False
    reach = array.itemsize
    for step, length in sorted((abs(step), length) for length, step in zip(array.shape, array.strides, strict=True)):
        if length > 1:
            if step < reach:
                return True
            reach += step * (length - 1)
    return False


def clash(written: Sequence[Array], arrays: Sequence[Array]) -> bool:
    """Whether one of the arrays that are written lies, in part, where another one does."""
    if not written or all(array.base is None for array in arrays):
        return False
    targets = set(map(id, written))
    spans = sorted((*bounds(array), id(array) in targets) for array in arrays if array.size)
    end, end_of_written = 0, 0
    for low, high, is_written in spans:
        if low < (end if is_written else end_of_written):
            return True
        end = max(end, high)
        end_of_written = max(end_of_written, high) if is_written else end_of_written
    return False


def order(array: Array) -> tuple[int, ...] | None:
    """The axes in the order in which elements lie in memory, if it is another one than theirs; axes of length 1 stay."""
    if array.ndim < 2 or array.flags.c_contiguous:
        return None
    strides, shape = array.strides, array.shape
    places = [axis for axis in range(array.ndim) if shape[axis] > 1]
    moved = sorted(places, key=lambda axis: -abs(strides[axis]))
    if moved == places:
        return None
    axes = list(range(array.ndim))
    for place, axis in zip(places, moved, strict=True):
        axes[place] = axis
    return tuple(axes)


def inverse(axes: Sequence[int]) -> tuple[int, ...]:
    """The order of axes that takes back another one."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def laid_out(value: Any, array: Array) -> Any:
    """A copy of a value, whose axes lie in memory as those of an array do."""
    axes = order(array)
    if axes is None:
        return ops.clone(value, order="C")
    return ops.permute_dims(ops.clone(ops.permute_dims(value, axes=axes), order="C"), axes=inverse(axes))


def dense(array: Array) -> bool:
    """Whether the elements of an array fill the memory in which it lies, each in a place of its own, and none runs backwards."""
    low, high = bounds(array)
    forward = all(step > 0 for step, size in zip(array.strides, array.shape, strict=True) if size > 1)
    return forward and high - low == array.size * array.itemsize


def apart(array: Array) -> Array:
    """A copy, laid out as the array is: a function may ask for that."""
    if array.flags.forc or not array.size or overlaps(array):
        return array.copy(order="K")
    low, high = bounds(array)
    room = np.empty(high - low, np.uint8)
    copy: Array = np.ndarray(array.shape, array.dtype, room, int(array.ctypes.data) - low, array.strides)
    copy[...] = array
    return copy
