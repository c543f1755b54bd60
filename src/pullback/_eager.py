"""The short way: elementwise operations on plain tensors, recorded without dispatch.

This is the one place that may look like C. Each function here does exactly what `Tape.process` would do for the same
operation, or hands over to the general function it stands in front of. `tests/test_eager.py` holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._core import Primitive
from ._memory import Cell, cell_of, protect, written
from ._modes import NO_GRAD, RECORD, mode, quiet
from ._node import make, new, node_class
from ._views import check_writable

FLOAT, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
ndarray = np.ndarray
asarray = np.asarray
array_of = np.array


def unary(
    cls: type[Any], primitive: Primitive, general: Callable[..., Any], metadata: str | None = None
) -> Callable[..., Any]:
    """The short way for a function of one plain tensor of class `cls`, and of a Python number if it has metadata."""
    forward = primitive.forward
    kind = node_class(primitive, primitive.node_name({}))
    saves_input, saves_output = "x" in primitive.saved, "y" in primitive.saved

    def method(x: Any, number: Any = 0) -> Any:
        if type(x) is not cls or (metadata is not None and type(number) is not int and type(number) is not float):
            return general(x) if metadata is None else general(x, number)
        array = x._array
        dtype = array.dtype
        edge = x._node
        current = mode.get()
        if (
            (dtype is not FLOAT and dtype is not DOUBLE)
            or (edge is None and x._cut is not None)
            or (current is not RECORD and (current is not NO_GRAD or edge is not None))
        ):
            return general(x) if metadata is None else general(x, number)
        params = None if metadata is None else {metadata: number}
        result = quiet.run(forward, array) if params is None else quiet.run(forward, array, **params)
        tensor = new(cls)
        tensor._array = result if type(result) is ndarray else asarray(result)
        tensor._node = tensor._cell = None
        if edge is not None:
            saved: tuple[Cell, ...] = ()
            if saves_input:
                saved = (x._cell or cell_of(x),)
            elif saves_output:
                saved = (cell_of(tensor),)
            tensor._node = make(kind, (edge,), saved, params, result.shape)
        return tensor

    return _named(method, general)


def reduction(cls: type[Any], primitive: Primitive, general: Callable[..., Any]) -> Callable[..., Any]:
    """The short way for a sum or mean over everything."""
    forward = primitive.forward
    kind = node_class(primitive, primitive.node_name({"given": False}))

    def method(x: Any, *args: Any, **options: Any) -> Any:
        if type(x) is not cls or args or options or mode.get() is not RECORD:
            return general(x, *args, **options)
        array = x._array
        dtype = array.dtype
        edge = x._node
        if edge is None or (dtype is not FLOAT and dtype is not DOUBLE):
            return general(x)
        params = {"axis": tuple(range(len(array.shape))), "keepdims": False, "given": False}
        result = asarray(quiet.run(forward, array, **params))
        tensor = new(cls)
        tensor._array = result
        tensor._cell = None
        tensor._node = make(kind, (edge,), (), params, ())
        return tensor

    return _named(method, general)


def binary(
    cls: type[Any], primitive: Primitive, general: Callable[[Any, Any], Any], ndim: int | None = None
) -> Callable[[Any, Any], Any]:
    """The short way for two plain tensors of one dtype, or one and a number; with `ndim`, of so many axes each."""
    forward = primitive.forward
    kind = node_class(primitive, primitive.node_name({}))
    a_for_a, b_for_a, y_for_a = (primitive.needed(name, (0, None)) for name in ("a", "b", "y"))
    a_for_b, b_for_b, y_for_b = (primitive.needed(name, (None, 0)) for name in ("a", "b", "y"))
    saves, saves_output = bool(primitive.saved), "y" in primitive.saved

    def method(a: Any, b: Any) -> Any:
        if type(a) is not cls or ((dtype := a._array.dtype) is not FLOAT and dtype is not DOUBLE):
            return general(a, b)
        x, first = a._array, a._node
        if type(b) is cls:
            y, second = b._array, b._node
        elif type(b) is float or type(b) is int:
            y, second = quiet.run(array_of, b, dtype), None
        else:
            return general(a, b)
        current = mode.get()
        has_a, has_b = first is not None, second is not None
        tracked = has_a or has_b
        if (
            y.dtype is not dtype
            or (current is not RECORD and (tracked or current is not NO_GRAD))
            or (not tracked and (a._cut is not None or (type(b) is cls and b._cut is not None)))
            or (ndim is not None and not (x.ndim == y.ndim == ndim))
        ):
            return general(a, b)
        try:
            result = quiet.run(forward, x, y)
        except ValueError:  # shapes that do not broadcast: the general way says so properly
            return general(a, b)
        tensor = new(cls)
        tensor._array = result if type(result) is ndarray else asarray(result)
        tensor._node = tensor._cell = None
        if tracked:
            saved: tuple[Any, ...] = ()
            if saves:
                kept_a = (a._cell or cell_of(a)) if (a_for_a and has_a) or (a_for_b and has_b) else None
                needs_b = (b_for_a and has_a) or (b_for_b and has_b)
                kept_b = None if not needs_b else (b._cell or cell_of(b)) if type(b) is cls else Cell(y)
                saved = (kept_a, kept_b)
                if saves_output:
                    saved = (cell_of(tensor) if (y_for_a and has_a) or (y_for_b and has_b) else None, kept_b)
            tensor._node = make(kind, (first, second), saved, None, result.shape)
        return tensor

    return _named(method, general)


def in_place(cls: type[Any], primitive: Primitive, general: Callable[..., Any]) -> Callable[..., Any]:
    """The short way for an in-place operation that is not recorded: computed straight into the memory."""
    forward = primitive.forward
    operation = f"{general.__name__}"

    def method(a: Any, b: Any, **options: Any) -> Any:
        if mode.get() is not NO_GRAD or type(a) is not cls or type(b) is not cls or options:
            return general(a, b, **options)
        x = a._array
        y = b._array
        dtype = x.dtype
        if y.dtype is not dtype or y.shape != x.shape or (dtype is not FLOAT and dtype is not DOUBLE):
            return general(a, b)
        check_writable(a, operation)
        protect(a)
        quiet.run(forward, x, y, x)
        written(a)
        return a

    return _named(method, general)


def _named(method: Callable[..., Any], general: Callable[..., Any]) -> Callable[..., Any]:
    method.__name__ = method.__qualname__ = general.__name__
    method.__doc__ = general.__doc__
    return method
