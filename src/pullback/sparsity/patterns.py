"""Patterns: for each element of an array, the set of outputs that depend on it.

The sets are stored one after another in a single array, each sorted, as in a CSR matrix: the set of element i is
`members[starts[i]:starts[i + 1]]`. All functions here gather such rows or unite several, for all elements at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.package import package
from .coloring import indexing

if TYPE_CHECKING:
    from typing import NoReturn

    from .._core.dtypes import NumpyType

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]

LIMIT = 1 << 26  # members per pattern: half a gigabyte


class Pattern:
    """A pattern in place of a cotangent: its shape and dtype, and a set of outputs for each element."""

    __slots__ = ("starts", "members", "width", "shape", "_dtype")

    def __init__(self, starts: Array, members: Array, width: int, shape: Shape, dtype: NumpyType) -> None:
        self.starts, self.members, self.width = starts, members, width
        self.shape, self._dtype = shape, dtype

    @property
    def dtype(self) -> NumpyType:
        """The dtype of the cotangent."""
        return self._dtype

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def _concrete(self, *args: object, **options: object) -> NoReturn:
        raise RuntimeError(
            "a hook or a backward function needs the values of a gradient, but this is the pattern of one: "
            "sparse_jacobian and sparse_hessian pull patterns back first. Use operations on tensors there, without values"
        )

    item = tolist = __array__ = __bool__ = _concrete

    def like(self, shape: Shape, dtype: NumpyType | None = None) -> Pattern:
        """The same sets for an array of another shape, and perhaps another dtype, and the same size."""
        return Pattern(self.starts, self.members, self.width, shape, dtype or self.dtype)

    def pairs(self) -> tuple[Array, Array]:
        """Every pair of an output and an element that it depends on."""
        return self.members, np.repeat(np.arange(self.size, dtype=np.int64), indexing(np.diff(self.starts)))


def identity(shape: Shape, dtype: NumpyType) -> Pattern:
    """The pattern of the outputs themselves: each depends on itself."""
    count = math.prod(shape)
    numbers = np.arange(count + 1, dtype=np.int64)
    return Pattern(numbers, numbers[:-1], count, shape, dtype)


def empty(width: int, shape: Shape, dtype: NumpyType) -> Pattern:
    """The pattern of zeros."""
    return Pattern(np.zeros(math.prod(shape) + 1, np.int64), np.zeros(0, np.int64), width, shape, dtype)


def gathered(pattern: Pattern, sources: Array, dtype: NumpyType) -> Pattern:
    """The pattern whose elements are those of another at the indices `sources`; -1 means an empty set."""
    flat = sources.reshape(-1)
    starts, members = _rows(pattern, flat)
    return Pattern(starts, members, pattern.width, sources.shape, dtype)


def _rows(pattern: Pattern, numbers: Array) -> tuple[Array, Array]:
    """The sets of some elements, concatenated."""
    if not pattern.size:
        return np.zeros(numbers.size + 1, np.int64), pattern.members
    first = pattern.starts[numbers]
    counts = np.where(numbers < 0, 0, pattern.starts[numbers + 1] - first)
    starts = np.zeros(numbers.size + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    _check(int(starts[-1]))
    places = np.arange(starts[-1]) + np.repeat(first - starts[:-1], indexing(counts))
    return starts, pattern.members[places]


def united(parts: Sequence[tuple[Pattern, Array, Array]], shape: Shape, dtype: NumpyType) -> Pattern:
    """The pattern whose element `targets[k]` contains the set of element `sources[k]`, for all k of all parts.

    A part is a pattern with its sources and targets; pairs with a negative index are ignored.
    """
    keys = []
    width = parts[0][0].width
    for pattern, sources, targets in parts:
        sent = (sources >= 0) & (targets >= 0)
        starts, members = _rows(pattern, sources[sent])
        keys.append(np.repeat(targets[sent].astype(np.int64), indexing(np.diff(starts))) * width + members)
    _check(sum(map(len, keys)))
    key = np.concatenate(keys)
    key.sort(kind="stable")
    if key.size:
        key = key[np.concatenate(([True], key[1:] != key[:-1]))]
    targets, members = np.divmod(key, max(width, 1))
    starts = np.searchsorted(targets, np.arange(math.prod(shape) + 1))
    return Pattern(starts, members, width, shape, dtype)


def _check(count: int) -> None:
    if count > LIMIT:
        raise ValueError(
            f"the pattern of this program would have {count} entries somewhere, more than {LIMIT}: its derivative is not "
            f"sparse enough to gain from it. Use {package}.func.jacrev or hessian, or a part of the outputs"
        )
