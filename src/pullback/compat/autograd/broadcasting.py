"""Helpers for user-defined rules with broadcast arguments: autograd.numpy.numpy_vjps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .boxes import Box, getval

if TYPE_CHECKING:
    from ..._core.typing import Array, Dim, Function
    from .namespaces import Meta


def unbroadcast(x: Array, target_meta: Meta, broadcast_idx: int = 0) -> Array:
    """A cotangent summed to the shape of a broadcast argument, given by its `metadata`; real if the argument is.

    >>> from pullback.compat.autograd.namespaces import metadata
    >>> unbroadcast(np.ones((2, 3)), metadata(np.zeros(3)))
    array([2., 2., 2.])
    """
    shape, ndim, _, iscomplex = target_meta
    while np.ndim(x) > ndim:
        x = np.sum(x, axis=broadcast_idx)
    for axis, length in enumerate(shape):
        if length == 1 and np.shape(x)[axis] != 1:
            x = np.sum(x, axis=axis, keepdims=True)
    return np.real(x) if np.iscomplexobj(x) and not iscomplex else x


def unbroadcast_f(target: Array | Box, f: Function) -> Function:
    """A pullback whose results are summed to the shape of a broadcast argument."""
    dtype = target.dtype if isinstance(target, Box) else np.result_type(target)
    meta = np.shape(target), np.ndim(target), dtype, bool(np.iscomplexobj(getval(target)))
    return lambda g: unbroadcast(f(g), meta)


def repeat_to_match_shape(
    g: Array, shape: tuple[int, ...], dtype: object, axis: Dim, keepdims: bool
) -> tuple[Array, int]:
    """A reduced array broadcast over the reduced axes, and the number of elements in each reduction.

    >>> repeat_to_match_shape(np.array([1.0, 2.0]), (2, 3), float, 1, keepdims=False)[1]
    3
    """
    if shape == ():
        return g, 1
    axes = range(len(shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    kept = [1 if place in {one % len(shape) for one in axes} else length for place, length in enumerate(shape)]
    return np.broadcast_to(np.reshape(g, kept), shape), int(np.prod(shape) // max(int(np.prod(kept)), 1))
