"""autograd.misc.flatten: nested arrays as one vector, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .boxes import Box, getval

if TYPE_CHECKING:
    from ..._core.typing import Array, Function


def flatten(value: object) -> tuple[Array, Function]:
    """The elements of nested tuples, lists and dicts (in sorted order of keys) as one vector, and the inverse function.

    >>> from pullback.compat.autograd.flattening import flatten
    >>> vector, unflatten = flatten({"b": np.ones((1, 2)), "a": 3.0})
    >>> vector
    array([3., 1., 1.])
    >>> unflatten(vector)["b"]
    array([[1., 1.]])
    """
    parts: list[Any] = []
    rebuild = _taken_apart(value, parts)
    vector = np.concatenate(parts) if parts else np.array([])
    count = sum(int(np.size(part)) for part in parts)

    def unflatten(flat: Array) -> Any:
        """The nested arrays with the elements of a vector."""
        if np.shape(flat) != (count,):
            raise ValueError(
                f"unflatten takes a vector of {count} elements, and got an array of shape {np.shape(flat)}"
            )
        return rebuild(flat)

    return vector, unflatten


def _taken_apart(value: Any, parts: list[Array]) -> Function:
    """Append the elements of a value to the parts, and return the function that restores it from all elements."""
    if isinstance(value, dict):
        entries = {key: _taken_apart(value[key], parts) for key in sorted(value)}
        return lambda flat: {key: entries[key](flat) for key in value}
    if isinstance(value, (list, tuple)):
        pieces = [_taken_apart(part, parts) for part in value]
        kind: Any = type(value)
        if hasattr(value, "_fields"):
            return lambda flat: kind(*[piece(flat) for piece in pieces])
        return lambda flat: kind(piece(flat) for piece in pieces)
    start = sum(int(np.size(part)) for part in parts)
    shape = np.shape(value)
    stop = start + int(np.prod(shape))
    parts.append(np.ravel(value))
    real = not np.iscomplexobj(getval(value))

    def leaf(flat: Array) -> Array:
        own = np.reshape(flat[start:stop], shape) if shape else flat[start]
        return np.real(own) if real and np.iscomplexobj(own if not isinstance(own, Box) else getval(own)) else own

    return leaf


def flatten_func(func: Function, example: object) -> tuple[Function, Function, Array]:
    """A function of nested arrays as one from vector to vector; its `unflatten`; and the example's vector."""
    vector, unflatten = flatten(example)
    return lambda flat, *args: flatten(func(unflatten(flat), *args))[0], unflatten, vector
