"""autograd.scipy.signal: convolution along some axes, a dot product along others, and outer along the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .boxes import arrayed

if TYPE_CHECKING:
    from ..._core.typing import Array


Pairs: TypeAlias = Sequence[Sequence[int]]
"""Axes of two arrays: as many of the one as of the other."""

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def convolve(
    A: Array, B: Array, axes: Pairs | None = None, dot_axes: Pairs | None = ((), ()), mode: str = "full"
) -> Array:
    """The convolution of A and B along pairs of axes; all of them if left out.

    `dot_axes` are pairs of axes that are summed over. The result has the other axes of A, those of B, and then the
    convolved ones, as long as `mode` says: 'full', 'valid' (where the smaller lies within the larger), or 'same' (as A).

    Raises
    ------
    ValueError
        If there is no such mode, or neither array lies within the other along all axes with 'valid'.

    >>> from pullback.compat.autograd import grad, numpy as np
    >>> convolve(np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0]))
    array([ 1., 12., 23., 30.])
    >>> grad(lambda b: convolve(np.array([1.0, 2.0]), b)[1])(np.array([1.0, 10.0]))
    array([2., 1.])
    """
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"convolve: mode is 'full', 'valid' or 'same', and not {mode!r}")
    A, B = map(arrayed, (A, B))
    moved = (tuple(range(A.ndim)), tuple(range(B.ndim))) if axes is None else tuple(map(tuple, axes))
    dotted = ((), ()) if dot_axes is None else tuple(map(tuple, dot_axes))
    if len(moved[0]) != len(moved[1]):
        raise ValueError(f"convolve: axes must be pairs, and A has {moved[0]}, B {moved[1]}")
    sizes = [(A.shape[a], B.shape[b]) for a, b in zip(*moved, strict=True)]
    if mode == "valid" and any(a < b for a, b in sizes):
        if any(a > b for a, b in sizes):
            raise ValueError(
                "One array must be larger than the other along all convolved dimensions: A has "
                f"{[a for a, _ in sizes]} there, and B {[b for _, b in sizes]}"
            )
        return _exchanged(convolve(B, A, moved[::-1], dotted[::-1], mode), A, B, moved, dotted)
    for axis, (length, size) in zip(moved[0], sizes, strict=True):
        A = _windows(A, axis, length, size, mode)
    return _contracted(A, B[_reversed(B.ndim, moved[1])], moved, dotted)


def _reversed(ndim: int, axes: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(None, None, -1) if axis in axes else slice(None) for axis in range(ndim))


def _windows(array: Array, axis: int, length: int, size: int, mode: str) -> Array:
    """An array with an axis split into windows: the axis counts them, and a new last axis has their elements."""
    before = {"full": size - 1, "valid": 0, "same": size // 2}[mode]
    count = {"full": length + size - 1, "valid": length - size + 1, "same": length}[mode]
    after = count + size - 1 - length - before
    widths = [(0, 0)] * array.ndim
    widths[axis] = (before, max(after, 0))
    places = np.arange(count)[:, None] + np.arange(size)
    taken = np.take(np.pad(array, widths), places, axis=axis)
    return np.moveaxis(taken, axis + 1, -1)


def _contracted(windows: Array, B: Array, moved: Pairs, dotted: Pairs) -> Array:
    """The sum over the window elements and over the dotted axes."""
    rank = windows.ndim - len(moved[0])
    left, right = list(LETTERS[:rank]), list(LETTERS[rank : rank + B.ndim])
    for a, b in zip(*dotted, strict=True):
        right[b] = left[a]
    inside = [right[b] for b in moved[1]]
    outer = [letter for axis, letter in enumerate(left) if axis not in moved[0] and axis not in dotted[0]]
    other = [letter for axis, letter in enumerate(right) if axis not in moved[1] and axis not in dotted[1]]
    result = [*outer, *other, *(left[axis] for axis in moved[0])]
    return np.einsum(f"{''.join(left + inside)},{''.join(right)}->{''.join(result)}", windows, B)


def _exchanged(result: Array, A: Array, B: Array, moved: Pairs, dotted: Pairs) -> Array:
    """A result computed with A and B exchanged, with the axes of A moved before those of B."""
    first = B.ndim - len(moved[1]) - len(dotted[1])
    second = A.ndim - len(moved[0]) - len(dotted[0])
    order = [*range(first, first + second), *range(first), *range(first + second, result.ndim)]
    return np.transpose(result, order)
