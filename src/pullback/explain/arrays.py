"""Arrays as an explanation stores them: in full if small, else as both ends and statistics; and conspicuous values."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .. import Tensor
from ..observe import fault, value as inside
from .numbers import short

Array = np.ndarray[Any, np.dtype[Any]]
ENDS = 4
"""The number of elements stored of either end of an array that is not stored in full."""


FEW = 32
"""The number of elements, or examples, below which nothing is said of an activation."""
SLOPE = 1e-3
"""The derivative below which an activation counts as flat."""


class Limits(NamedTuple):
    """Limits on what an explanation stores: the options of every entry point.

    >>> import pullback
    >>> pullback.explain.Limits(values=8).values
    8
    """

    values: int = 64
    jacobian: int = 1024
    max_nodes: int = 20_000
    lines: bool = True
    timing: bool = False
    redact: bool = False


class Stats(NamedTuple):
    """Statistics of an array: the first four of its finite elements, the others of all elements."""

    min: float | None
    max: float | None
    mean: float | None
    norm: float
    zeros: int
    nans: int
    infs: int


class Cells(NamedTuple):
    """A picture of an array: a cell for each element, or for each block of a larger array, of which it is the largest.

    Columns run along the last axis. Each letter of `data` is a cell, row by row: a digit of base 36, of which 17 is zero, 0
    and 34 are `-most` and `most`, and 35 is NaN or infinite.
    """

    rows: int
    cols: int
    most: float
    data: str


DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
LEVELS = 17
"""The number of shades of either sign."""
MOST_CELLS = 24
"""The number of rows, and of columns, above which cells are blocks of elements."""


def numeric(array: Array) -> Array:
    """An array of numbers as NumPy knows them: bfloat16, which it takes for raw bytes, as float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def cells(array: Array) -> Cells | None:
    """The picture of an array of real numbers that has elements; None for others."""
    array = numeric(array)
    if array.dtype.kind not in "fiu" or not array.size:
        return None
    grid = array.reshape(-1, array.shape[-1] if array.ndim else 1).astype(np.float64)
    bad = ~np.isfinite(grid)
    grid[bad] = 0
    starts = [np.unique(np.linspace(0, size, min(size, MOST_CELLS), endpoint=False).astype(int)) for size in grid.shape]
    high, low, wrong = grid, grid, bad
    for axis, start in enumerate(starts):
        high = np.maximum.reduceat(high, start, axis=axis)
        low = np.minimum.reduceat(low, start, axis=axis)
        wrong = np.logical_or.reduceat(wrong, start, axis=axis)
    found = np.where(high >= -low, high, low)
    most = float(np.abs(found).max())
    levels = LEVELS + np.rint(found / most * LEVELS if most else found).astype(int)
    levels[wrong] = 2 * LEVELS + 1
    rows, cols = found.shape
    return Cells(rows, cols, most, "".join(DIGITS[each] for each in levels.reshape(-1)))


class Summary:
    """A shortened array: its shape and dtype, its first and last elements, and statistics.

    `head`, `tail` and `stats` are None if values are left out on purpose (`redact=True`), and `cells`, a picture of it,
    also if there are many arrays.

    >>> import numpy as np
    >>> from pullback.explain import Summary
    >>> Summary(np.arange(1000.0)).stats.mean
    499.5
    """

    __slots__ = ("shape", "dtype", "head", "tail", "stats", "cells")

    def __init__(self, array: Array, *, redact: bool = False, pictured: bool = False) -> None:
        self.shape = array.shape
        self.dtype = array.dtype
        self.head: Array | None = None
        self.tail: Array | None = None
        self.stats: Stats | None = None
        self.cells: Cells | None = None
        if not redact:
            self.cells = cells(array) if pictured else None
            flat = array.reshape(-1)
            self.head, self.tail = flat[:ENDS].copy(), flat[-ENDS:].copy()
            self.stats = statistics(array)

    @property
    def size(self) -> int:
        """The number of elements of the array."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return f"<{described(self)}, not kept whole: raise values= to {self.size} to have it>"


Kept = Array | Summary


def kept(array: object, limits: Limits, *, pictured: bool = False) -> Kept:
    """The stored form of an array: a copy, or a summary."""
    array = np.asarray(array)
    if limits.redact or array.size > limits.values:
        return Summary(array, redact=limits.redact, pictured=pictured)
    whole: Array = array.copy()
    return whole


def statistics(array: Array) -> Stats:
    """The statistics of an array of any dtype; complex numbers count by their magnitude."""
    values = np.abs(array) if array.dtype.kind == "c" else array

    def compute() -> Stats:
        exact = values.astype(np.float64, copy=False).reshape(-1)
        zeros = int(array.size - np.count_nonzero(array))
        norm = float(np.sqrt(np.dot(exact, exact)))
        finite, nans = exact, 0
        if not math.isfinite(norm):
            finite, nans = exact[np.isfinite(exact)], int(np.count_nonzero(np.isnan(exact)))
            norm = float(np.sqrt(np.dot(finite, finite)))
        low = high = mean = None
        if finite.size:
            low, high, mean = float(finite.min()), float(finite.max()), float(finite.sum()) / finite.size
        return Stats(low, high, mean, norm, zeros, nans, int(array.size - finite.size - nans))

    with np.errstate(all="ignore"):
        return compute()


class Marks(NamedTuple):
    """Conspicuous properties of a value: NaN or inf and the index of the first; whether all elements are zero."""

    bad: str | None = None
    element: tuple[int, ...] | None = None
    zero: bool = False


FINE = Marks()


def marks(array: object) -> Marks:
    """The conspicuous properties of a value; NaN takes precedence over inf."""
    array = numeric(np.asarray(array))
    if array.dtype.kind not in "fc" or not array.size:
        return FINE
    found = fault(array)
    return Marks(*found) if found is not None else FINE if array.any() else Marks(zero=True)


def marks_of(value: Kept | None) -> Marks:
    """The conspicuous properties of a value as it is stored; of a shortened one, the index is unknown."""
    if isinstance(value, Summary):
        stats = value.stats
        if stats is None:
            return FINE
        return Marks("nan" if stats.nans else "inf" if stats.infs else None, None, stats.zeros == value.size)
    return FINE if value is None else marks(value)


def stats_of(value: Kept) -> Stats | None:
    """The statistics of a value as it is stored; None where they are left out."""
    return value.stats if isinstance(value, Summary) else statistics(value)


def ranged(value: Kept | None) -> str:
    """The smallest and the largest of the finite elements as text, or the only one; empty if they are unknown."""
    stats = None if value is None else stats_of(value)
    if stats is None or stats.min is None or stats.max is None:
        return ""
    more = f", {stats.nans + stats.infs} nan or inf" if stats.nans + stats.infs else ""
    return f"{short(stats.min)}{f' to {short(stats.max)}' if stats.min < stats.max else ''}{more}"


class Flat(NamedTuple):
    """What lies where an activation has no slope: how many of its units, elements or rows, of how many."""

    number: int
    of: int
    what: str


def flat(op: str | None, array: Array) -> Flat | None:
    """What lies where an activation is flat, in its result; None for other operations, and for few elements.

    A unit of relu, a channel or the last axis, counts if it is zero for every example; an element of a sigmoid or tanh
    if its derivative is below a thousandth, and a row of a softmax if one element has nearly all.
    """
    array = numeric(array)
    if array.dtype.kind != "f" or array.size < FEW or not array.ndim:
        return None
    if op in {"relu", "relu6"}:
        units = np.moveaxis(array, 1 if array.ndim > 3 else -1, 0).reshape(array.shape[1 if array.ndim > 3 else -1], -1)
        return Flat(int((~units.any(1)).sum()), len(units), "units") if units.shape[1] >= FEW else None
    if op == "softmax":
        rows = array.reshape(-1, array.shape[-1])
        return Flat(int((rows.max(1) > 1 - SLOPE).sum()), len(rows), "rows") if rows.shape[1] > 1 else None
    if op in {"sigmoid", "tanh"}:
        slope = array * (1 - array) if op == "sigmoid" else 1 - array * array
        return Flat(int((slope < SLOPE).sum()), array.size, "elements")
    return None


def plain(value: object) -> Array | None:
    """The array of a tensor that has one, an array itself, or None for anything else."""
    while isinstance(value, Tensor):
        value = inside(value)
    return value if isinstance(value, np.ndarray) else None


def described(value: Kept) -> str:
    """A short description of dtype and shape: `float32 64x32`, `float32 scalar`."""
    return f"{value.dtype} {'x'.join(map(str, value.shape)) or 'scalar'}"


# Numbers in JSON, which has no NaN or inf: they are written as strings.

NONFINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


def number(value: Any) -> Any:
    """An element as a JSON value: the shortest decimal that its dtype parses back to the same number."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (complex, np.complexfloating)):
        return [number(value.real), number(value.imag)]
    exact = float(value)
    if math.isnan(exact):
        return "NaN"
    if exact in NONFINITE:
        return NONFINITE[exact]
    return float(str(value)) if isinstance(value, np.floating) else exact


def numbers(array: Array) -> list[object]:
    """The elements of an array as JSON values, last axis fastest."""
    return list(map(number, array.reshape(-1)))


def _rounded(value: Any) -> Any:
    """A statistic with as many digits as say something of float32 numbers."""
    return float(f"{value:.8g}") if isinstance(value, float) else value


def as_json(value: Kept) -> dict[str, object]:
    """A stored array in the form of the trace file."""
    document: dict[str, Any] = {"shape": list(map(int, value.shape)), "dtype": str(value.dtype)}
    if not isinstance(value, Summary):
        document["data"] = numbers(value)
    elif value.stats is not None:
        assert value.head is not None
        assert value.tail is not None
        stats = {name: each if each is None else number(_rounded(each)) for name, each in value.stats._asdict().items()}
        document |= {"head": numbers(value.head), "tail": numbers(value.tail), "stats": stats}
        if value.cells is not None:
            document["cells"] = value.cells._asdict()
    return document


def maybe_json(value: Kept | None) -> dict[str, object] | None:
    """The same for a value that may be None."""
    return None if value is None else as_json(value)
