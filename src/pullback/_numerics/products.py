"""Products of many numbers whose partial products are out of the range of the dtype, though the product need not be.

A number is a mantissa from 0.5 to 1 and a power of two; a product of two mantissas is split again. Neighbors are multiplied
in pairs, so that an axis of n elements takes log2(n) steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._core.typing import Array

    Split: TypeAlias = tuple[Array, ...]


def _times(a: Split, b: Split) -> Split:
    mantissa, power = np.frexp(a[0] * b[0])
    return mantissa, power + a[1] + b[1]


def product(x: Array, axis: int, keepdims: bool) -> Array:
    """The product of floats along an axis."""
    parts: Split = np.frexp(np.moveaxis(x, axis, 0))
    while (size := len(parts[0])) > 1:
        half, rest = size // 2, size % 2
        pairs = _times(*[tuple(each[i * half : (i + 1) * half] for each in parts) for i in (0, 1)])
        last = [each[size - rest :] for each in parts]
        parts = tuple(np.concatenate(both) for both in zip(pairs, last, strict=True))
    made = np.ldexp(parts[0][0], parts[1][0]) if len(parts[0]) else np.ones(parts[0].shape[1:], x.dtype)
    return np.expand_dims(made, axis) if keepdims else made


def others(x: Array, axis: int) -> Array:
    """For each float along an axis, the product of all others."""
    forwards: Split = np.frexp(np.moveaxis(x, axis, 0))
    backwards = tuple(each[::-1] for each in forwards)
    behind = tuple(each[::-1] for each in _before(backwards))
    return np.moveaxis(np.ldexp(*_times(_before(forwards), behind)), 0, axis)


def _before(parts: Split) -> Split:
    """The products of the elements before each one."""
    mantissa, power = np.full_like(parts[0], 0.5), np.ones_like(parts[1])  # ones
    mantissa[1:], power[1:] = (each[:-1] for each in parts)
    step = 1
    while step < len(mantissa):
        further = _times((mantissa[:-step], power[:-step]), (mantissa[step:], power[step:]))
        mantissa[step:], power[step:] = further
        step *= 2
    return mantissa, power
