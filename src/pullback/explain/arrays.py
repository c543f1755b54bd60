"""Arrays as an explanation keeps them: whole when small, else their ends and statistics; and what is wrong with them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._core.modes import quiet
from .._core.primitives import Carrier

Array = np.ndarray[Any, np.dtype[Any]]
ENDS = 4
"""How many elements are kept of either end of an array that is not kept whole."""


class Limits(NamedTuple):
    """How much an explanation keeps: the options of every way in."""

    values: int = 64
    jacobian: int = 1024
    max_nodes: int = 20_000
    lines: bool = True
    timing: bool = True
    redact: bool = False


class Stats(NamedTuple):
    """Numbers about an array: of its finite elements the first four, of all of them the others."""

    min: float | None
    max: float | None
    mean: float | None
    norm: float
    zeros: int
    nans: int
    infs: int


class Summary:
    """An array that is not kept whole: its shape and dtype, its first and last elements, and statistics.

    `head`, `tail` and `stats` are None where values are left out on purpose (`redact=True`).
    """

    __slots__ = ("shape", "dtype", "head", "tail", "stats")

    def __init__(self, array: Array, *, redact: bool = False) -> None:
        self.shape = array.shape
        self.dtype = array.dtype
        self.head: Array | None = None
        self.tail: Array | None = None
        self.stats: Stats | None = None
        if not redact:
            flat = array.reshape(-1)
            self.head, self.tail = flat[:ENDS].copy(), flat[-ENDS:].copy()
            self.stats = statistics(array)

    @property
    def size(self) -> int:
        """How many elements the array has."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return f"<{described(self)}, not kept whole: raise values= to {self.size} to have it>"


Kept = Array | Summary


def kept(array: Any, limits: Limits) -> Kept:
    """What is kept of an array: a copy of its own, or a summary."""
    array = np.asarray(array)
    if limits.redact or array.size > limits.values:
        return Summary(array, redact=limits.redact)
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

    return quiet.run(compute)


class Marks(NamedTuple):
    """What is remarkable about a value: NaN or inf and the index of the first; whether all of it is zero."""

    bad: str | None = None
    element: tuple[int, ...] | None = None
    zero: bool = False


FINE = Marks()


def marks(array: Any) -> Marks:
    """What is remarkable about a value; NaN goes before inf."""
    array = np.asarray(array)
    if array.dtype.kind not in "fc" or not array.size:
        return FINE
    if array.size == 1:
        number = array.item()
        if number == number and abs(number) != math.inf:  # noqa: PLR0124  # NaN is what is not itself
            return FINE if number else Marks(zero=True)
    elif np.isfinite(array).all():
        return FINE if array.any() else Marks(zero=True)
    wrong = np.isnan(array)
    bad = "nan" if wrong.any() else "inf"
    if bad == "inf":
        wrong = np.isinf(array)
    first = np.unravel_index(int(wrong.argmax()), array.shape)
    return Marks(bad, tuple(map(int, first)))


def plain(value: Any) -> Array | None:
    """The array in a tensor that holds one, an array itself, or None for anything else."""
    while isinstance(value, Carrier):
        value = value._array
    return value if isinstance(value, np.ndarray) else None


def described(value: Kept) -> str:
    """A dtype and a shape in a few characters: `float32 64x32`, `float32 scalar`."""
    return f"{value.dtype} {'x'.join(map(str, value.shape)) or 'scalar'}"


# Numbers as JSON has them. JSON has no NaN: it travels as a word.

WORDS = {math.inf: "Infinity", -math.inf: "-Infinity"}


def number(value: Any) -> Any:
    """One element as JSON has it: the shortest decimal that its own dtype reads back as the same number."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (complex, np.complexfloating)):
        return [number(value.real), number(value.imag)]
    exact = float(value)
    if exact != exact:  # noqa: PLR0124  # NaN is what is not itself
        return "NaN"
    if exact in WORDS:
        return WORDS[exact]
    return float(str(value)) if isinstance(value, np.floating) else exact


def numbers(array: Array) -> list[Any]:
    """The elements of an array as JSON has them, the last axis fastest."""
    return list(map(number, array.reshape(-1)))


def as_json(value: Kept) -> dict[str, Any]:
    """A kept array as the trace file has it."""
    document: dict[str, Any] = {"shape": list(map(int, value.shape)), "dtype": str(value.dtype)}
    if not isinstance(value, Summary):
        document["data"] = numbers(value)
    elif value.stats is not None:
        assert value.head is not None
        assert value.tail is not None
        stats = {name: None if each is None else number(each) for name, each in value.stats._asdict().items()}
        document |= {"head": numbers(value.head), "tail": numbers(value.tail), "stats": stats}
    return document


def maybe_json(value: Kept | None) -> dict[str, Any] | None:
    """The same, of what may be missing."""
    return None if value is None else as_json(value)
