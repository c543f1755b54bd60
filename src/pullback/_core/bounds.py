"""Comparisons of arrays with numbers that stand in the code, and such numbers in a dtype."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .dtypes import NumpyType
    from .typing import Array


def constant(value: Any, dtype: NumpyType) -> Array:
    """A number that stands in the code, in a dtype: an operation on a hundred numbers takes half as long with it."""
    kind = type(value)
    if (kind is int or kind is float) and (value or math.copysign(1, value) > 0):
        return _known(value, dtype)
    return np.array(value, dtype)  # -0.0 is equal to 0, and a number of a compiled function to what it is in this run


@functools.lru_cache(maxsize=256)
def _known(value: float, dtype: NumpyType) -> Array:
    array = np.array(value, dtype)
    array.flags.writeable = False
    return array


def within(x: Array, *, lower: float, upper: float) -> Array:
    """Where x lies between two numbers."""
    if lower == -upper:
        return np.abs(x) < constant(upper, x.dtype)
    return (x > constant(lower, x.dtype)) & (x < constant(upper, x.dtype))


def above(x: Array, *, bound: float) -> Array:
    """Where x is not at most a number."""
    return np.logical_not(x <= bound)


def beyond(x: Array, *, bound: float) -> Array:
    """Where x is not at most as far from 0 as a number."""
    return np.logical_not(np.abs(x) <= constant(bound, x.dtype))


def not_clipped(x: Array, *, lower: float, upper: float) -> Array:
    """Where x is neither at most the lower number nor at least the upper one."""
    return np.logical_not((x <= constant(lower, x.dtype)) | (x >= constant(upper, x.dtype)))
