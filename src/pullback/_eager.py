"""The short way: elementwise operations on plain tensors, recorded without dispatch.

This is the one place that may look like C. Each function here does exactly what `Tape.process` would do for the same
operation, or hands over to the general function it stands in front of. `tests/test_eager.py` holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._core import Primitive
from ._memory import Cell
from ._modes import RECORD, mode, quiet
from ._node import make, new, node_class

FLOAT, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
ndarray = np.ndarray
asarray = np.asarray
array_of = np.array


def unary(cls: type[Any], primitive: Primitive, general: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The short way for a function of one plain tensor of class `cls`."""
    forward = primitive.forward
    kind = node_class(primitive, primitive.node_name({}))
    saves_input, saves_output = "x" in primitive.saved, "y" in primitive.saved

    def method(x: Any) -> Any:
        if type(x) is not cls:
            return general(x)
        array = x._array
        dtype = array.dtype
        if (dtype is not FLOAT and dtype is not DOUBLE) or mode.get() is not RECORD:
            return general(x)
        edge = x._node
        if edge is None and x._cut is not None:
            return general(x)
        result = quiet.run(forward, array)
        if type(result) is not ndarray:
            result = asarray(result)
        tensor = new(cls)
        tensor._array = result
        tensor._cell = None
        if edge is None:
            tensor._node = None
            return tensor
        saved: tuple[Cell, ...] = ()
        if saves_input:
            cell = x._cell
            if cell is None:
                cell = x._cell = Cell(array)
            saved = (cell,)
        elif saves_output:
            cell = tensor._cell = Cell(result)
            saved = (cell,)
        tensor._node = make(kind, (edge,), saved, None, result.shape)
        return tensor

    return _named(method, general)


def binary(cls: type[Any], primitive: Primitive, general: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The short way for two plain tensors of class `cls` and of one dtype, or one and a Python number."""
    forward = primitive.forward
    kind = node_class(primitive, primitive.node_name({}))
    a_for_a, b_for_a = (primitive.needed(name, (0, None)) for name in ("a", "b"))
    a_for_b, b_for_b = (primitive.needed(name, (None, 0)) for name in ("a", "b"))
    y_for_a, y_for_b = primitive.needed("y", (0, None)), primitive.needed("y", (None, 0))
    saves, saves_output = bool(primitive.saved), "y" in primitive.saved

    def method(a: Any, b: Any) -> Any:
        if type(a) is not cls:
            return general(a, b)
        x = a._array
        dtype = x.dtype
        if (dtype is not FLOAT and dtype is not DOUBLE) or mode.get() is not RECORD:
            return general(a, b)
        first = a._node
        if type(b) is cls:
            y = b._array
            second = b._node
            if y.dtype is not dtype:
                return general(a, b)
        elif type(b) is float or type(b) is int:
            y = array_of(b, dtype)
            second = b = None
        else:
            return general(a, b)
        if first is None and second is None and (a._cut is not None or (b is not None and b._cut is not None)):
            return general(a, y if b is None else b)
        try:
            result = quiet.run(forward, x, y)
        except ValueError:
            return general(a, b)
        if type(result) is not ndarray:
            result = asarray(result)
        tensor = new(cls)
        tensor._array = result
        tensor._cell = None
        if first is None and second is None:
            tensor._node = None
            return tensor
        saved: tuple[Any, ...] = ()
        if saves:
            kept_a = kept_b = None
            if (a_for_a and first is not None) or (a_for_b and second is not None):
                kept_a = a._cell
                if kept_a is None:
                    kept_a = a._cell = Cell(x)
            if (b_for_a and first is not None) or (b_for_b and second is not None):
                kept_b = Cell(y) if b is None else b._cell
                if kept_b is None:
                    kept_b = b._cell = Cell(y)
            saved = (kept_a, kept_b)
            if saves_output:
                if (y_for_a and first is not None) or (y_for_b and second is not None):
                    tensor._cell = Cell(result)
                saved = (tensor._cell, kept_b)
        tensor._node = make(kind, (first, second), saved, None, result.shape)
        return tensor

    return _named(method, general)


def _named(method: Callable[..., Any], general: Callable[..., Any]) -> Callable[..., Any]:
    method.__name__ = method.__qualname__ = general.__name__
    method.__doc__ = general.__doc__
    return method
