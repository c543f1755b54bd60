"""Rows of a matrix brought to a mean of zero and a variance of one, or to weights that sum to one, eager.

NumPy goes over an array once for each sum and each product. Here a row is read from memory once, and is in the cache
while the code goes along it again. Sums have several registers of lanes, so that few numbers are added one after
another.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..mathematics.exponentials import exp
from ..mathematics.lanes import TYPES, Desk, Word
from .elements import KINDS
from .memory import (
    count_up,
    element,
    first_lanes,
    load,
    load_lanes,
    load_spread,
    long,
    splat,
    store,
    store_lanes,
)
from .reducing import across, combine, identity
from .tasks import Call, TaskEmitter

TASK, SEVERAL = 1 << 14, 4
"""Elements, about, of what a thread does at a time, and tasks from which on threads take part."""
TOGETHER = 4
"""Registers for a sum."""
PLAIN = 2.0**-4, 2.0**17
"""Sums of exponentials that need no shift by the maximum: the logarithms of larger ones have too few digits."""
MATRIX = "rows size tasks".split()
"""The words that all functions are told first."""
SHARED = "each of weight_each weight_of".split()
"""Where rows share numbers: so many rows in turn have one, there are so many, and then they come again. The same of weights."""


class RowEmitter(TaskEmitter):
    """The functions, each of some rows. Arrays have a row for each, an element for each, or one row for all."""

    UNITS = "rows"
    WORDS: ClassVar = {
        "moments": [*MATRIX, *"x mean variance".split()],
        "standardize": [*MATRIX, *"x mean scale out".split()],
        "affine": [*MATRIX, *"x mean scale weight bias out".split()],
        "standardize_pullback": [*MATRIX, *"x mean scale given out".split()],
        "affine_pullback": [*MATRIX, *"x mean scale given weight out to_weight to_bias".split()],
        "scaled": [*MATRIX, *SHARED, *"x mean scale weight bias out".split()],
        "shares": [*MATRIX, *SHARED, *"x mean given sums products".split()],
        "mixed": [*MATRIX, *SHARED, *"x mean scale given weight slope shift out".split()],
        "powers": [*MATRIX, *"x sums out".split()],
        "softmax": [*MATRIX, *"x out".split()],
        "exponents": [*MATRIX, *"x shift sums".split()],
        "weighted_softmax": [*MATRIX, *"x slopes sums out".split()],
        "shifted_powers": [*MATRIX, *"x shift slopes out".split()],
        "slopes": [*MATRIX, *"given powers sums out".split()],
        "softmax_pullback": [*MATRIX, *"given powers out".split()],
    }

    def __init__(self, module: Any, kind: str) -> None:
        super().__init__(module, kind)
        self.desk, self.scalar = (Desk(None, self.target, count) for count in (self.lanes, None))

    # 1. Along rows

    def unit(self, name: str, unit: Any) -> None:
        """Write what a function does with one row."""
        self.desk.builder = self.scalar.builder = self.builder
        super().unit(name, unit)

    def _place(self, name: str, row: Any, at: Any) -> Any:
        """The address of an element of a row."""
        place = self.sum(at, (row, self.given["size"]))
        return element(self.builder, self.pointer(self.given[name]), self.kind, place)

    def _some(self, name: str, row: Any, at: Any, mask: Any) -> Word:
        """Some elements of a row, zeros where the mask is off."""
        return load_lanes(self.desk, self.kind, self._place(name, row, at), 1, mask)

    def _put(self, word: Word, name: str, row: Any, at: Any, mask: Any) -> None:
        """Write some elements of a row."""
        store_lanes(word, self._place(name, row, at), 1, mask)

    def _of_row(self, name: str, row: Any) -> Word:
        """The one element for a row, in all lanes."""
        return load_spread(self.desk, self.kind, self._one(name, row))

    def _one(self, name: str, row: Any) -> Any:
        return element(self.builder, self.pointer(self.given[name]), self.kind, row)

    def _spread(self, word: Word) -> Word:
        return Word(self.desk, self.kind, splat(self.builder, word.value, self.lanes))

    def _size(self) -> Word:
        """The number of elements of a row, as a real."""
        return Word(self.scalar, self.kind, self.builder.sitofp(self.given["size"], TYPES[self.kind]))

    def _along(self, inside: Callable[[Any, Any, int], None], carried: list[Any] | None = None) -> None:
        """Go along a row: several vectors in one turn, then one by one with a mask; each is told its number in the turn."""
        builder, size, width = self.builder, self.given["size"], self.lanes
        whole = builder.and_(size, long(-TOGETHER * width))

        def several(at: Any) -> None:
            for number in range(TOGETHER):
                inside(builder.add(at, long(number * width)), None, number)

        def rest(at: Any) -> None:
            inside(at, first_lanes(builder, builder.sub(size, at), width), 0)

        count_up(builder, long(0), whole, several, step=TOGETHER * width, carried=carried)
        count_up(builder, whole, size, rest, step=width, carried=carried)

    def _totals(self, terms: Callable[[Any, Any], tuple[Word, ...]], count: int, how: str = "sum") -> list[Word]:
        """The sums, or the maxima, of so many terms over a row."""
        neutral = self.desk.number(self.kind, identity(how, self.kind))
        carried = [neutral.value] * (TOGETHER * count)

        def inside(at: Any, mask: Any, number: int) -> None:
            for place, term in enumerate(terms(at, mask), number * count):
                known = term if mask is None else Word(self.desk, "b1", mask).select(term, neutral)
                carried[place] = combine(how, Word(self.desk, self.kind, carried[place]), known).value

        self._along(inside, carried)
        found = [Word(self.desk, self.kind, value) for value in carried]
        return [
            across(how, functools.reduce(partial(combine, how), found[i::count]), self.scalar) for i in range(count)
        ]

    # 2. A mean of zero and a variance of one

    def moments(self, row: Any) -> None:
        """The means of rows, and their variances."""
        (total,) = self._totals(lambda at, mask: (self._some("x", row, at, mask),), 1)
        mean = total / self._size()
        spread = self._spread(mean)

        def squares(at: Any, mask: Any) -> tuple[Word]:
            centred = self._some("x", row, at, mask) - spread
            return (centred * centred,)

        (squared,) = self._totals(squares, 1)
        store(mean, self._one("mean", row))
        store(squared / self._size(), self._one("variance", row))

    def _normal(self, row: Any) -> Callable[[Any, Any], Word]:
        """What gives some elements of a row, less its mean, times its scale."""
        mean, scale = self._of_row("mean", row), self._of_row("scale", row)
        return lambda at, mask: (self._some("x", row, at, mask) - mean) * scale

    def standardize(self, row: Any) -> None:
        """Rows less their means, times their scales."""
        normal = self._normal(row)
        self._along(lambda at, mask, _: self._put(normal(at, mask), "out", row, at, mask))

    def affine(self, row: Any) -> None:
        """The same times weights, plus biases."""
        normal, first = self._normal(row), long(0)

        def inside(at: Any, mask: Any, _: int) -> None:
            weight, bias = (self._some(name, first, at, mask) for name in ("weight", "bias"))
            self._put(normal(at, mask).mad(weight, bias), "out", row, at, mask)

        self._along(inside)

    def standardize_pullback(self, row: Any) -> None:
        """The cotangents of x."""
        self._pull(row, lambda at, mask, normal: self._some("given", row, at, mask))

    def affine_pullback(self, row: Any) -> None:
        """The same, and those of weights and biases, which each task adds to a row of its own."""

        def given(at: Any, mask: Any, normal: Word) -> Word:
            part = self._some("given", row, at, mask)
            for name, term in (("to_weight", part * normal), ("to_bias", part)):
                self._put(self._some(name, self.task, at, mask) + term, name, self.task, at, mask)
            return part * self._some("weight", long(0), at, mask)

        self._pull(row, given)

    def _pull(self, row: Any, given: Callable[[Any, Any, Word], Word]) -> None:
        """Write (t - mean(t) - normal * mean(t * normal)) * scale, where t is what a function gives."""
        normal, scale = self._normal(row), self._of_row("scale", row)

        def terms(at: Any, mask: Any) -> tuple[Word, Word]:
            own = normal(at, mask)
            part = given(at, mask, own)
            self._put(part, "out", row, at, mask)
            return part, part * own

        mean, slope = (self._spread(total / self._size()) for total in self._totals(terms, 2))

        def write(at: Any, mask: Any, _: int) -> None:
            part = self._some("out", row, at, mask) - mean
            self._put((-slope).mad(normal(at, mask), part) * scale, "out", row, at, mask)

        self._along(write)

    # 3. The same where rows share their means and scales, and a weight is for a row, not for an element

    def _shared(self, name: str, row: Any, who: str = "") -> Word:
        """The number that a row shares with others, in all lanes; of weights, by their own order."""
        each, of = self.given[f"{who}each"], self.given[f"{who}of"]
        return self._of_row(name, self.builder.urem(self.builder.udiv(row, each), of))

    def _centred(self, row: Any) -> Callable[[Any, Any], Word]:
        """What gives some elements of a row, less its mean."""
        mean = self._shared("mean", row)
        return lambda at, mask: self._some("x", row, at, mask) - mean

    def _gain(self, row: Any) -> Word:
        return self._shared("scale", row) * self._shared("weight", row, "weight_")

    def scaled(self, row: Any) -> None:
        """Rows less their means, times their scales and weights, plus biases."""
        centred, gain, bias = self._centred(row), self._gain(row), self._shared("bias", row, "weight_")
        self._along(lambda at, mask, _: self._put(centred(at, mask).mad(gain, bias), "out", row, at, mask))

    def shares(self, row: Any) -> None:
        """The sums of what is given along rows, and of its products with rows less their means."""
        centred = self._centred(row)

        def terms(at: Any, mask: Any) -> tuple[Word, Word]:
            given = self._some("given", row, at, mask)
            return given, given * centred(at, mask)

        for name, total in zip(("sums", "products"), self._totals(terms, 2), strict=True):
            store(total, self._one(name, row))

    def mixed(self, row: Any) -> None:
        """What is given times scales and weights, plus rows less their means times slopes, plus shifts."""
        centred, gain = self._centred(row), self._gain(row)
        slope, shift = self._shared("slope", row), self._shared("shift", row)

        def inside(at: Any, mask: Any, _: int) -> None:
            given = self._some("given", row, at, mask)
            self._put(given.mad(gain, centred(at, mask).mad(slope, shift)), "out", row, at, mask)

        self._along(inside)

    # 4. Weights that sum to one

    def powers(self, row: Any) -> None:
        """Exponentials of rows less their maxima, and their sums."""
        store(self._powers(row), self._one("sums", row))

    def softmax(self, row: Any) -> None:
        """Exponentials of rows over their sums."""
        factor = self._spread(1 / self._powers(row))
        self._along(lambda at, mask, _: self._put(self._some("out", row, at, mask) * factor, "out", row, at, mask))

    def exponents(self, row: Any) -> None:
        """Sums of exponentials of rows less numbers: 0 where these sums are near one, else maxima if they are finite."""
        (plain,) = self._totals(lambda at, mask: (exp(self._some("x", row, at, mask)),), 1)
        store(self.scalar.number(self.kind, 0), self._one("shift", row))
        store(plain, self._one("sums", row))
        with self.builder.if_then(self._far(plain), likely=False):
            highest = self._highest(row)
            shift = (abs(highest) < math.inf).select(highest, 0)
            spread = self._spread(shift)
            (total,) = self._totals(lambda at, mask: (exp(self._some("x", row, at, mask) - spread),), 1)
            store(shift, self._one("shift", row))
            store(total, self._one("sums", row))

    def weighted_softmax(self, row: Any) -> None:
        """Exponentials of rows over their sums, which are kept, times a number for each row."""

        def plain(at: Any, mask: Any) -> tuple[Word]:
            power = exp(self._some("x", row, at, mask))
            self._put(power, "out", row, at, mask)
            return (power,)

        (total,) = self._totals(plain, 1)
        store(total, self._one("sums", row))
        with self.builder.if_then(self._far(total), likely=False):
            store(self._powers(row), self._one("sums", row))
        slope, total = (load(self.scalar, self.kind, self._one(name, row)) for name in ("slopes", "sums"))
        factor = self._spread(slope / total)
        self._along(lambda at, mask, _: self._put(self._some("out", row, at, mask) * factor, "out", row, at, mask))

    def _far(self, total: Word) -> Any:
        """Whether a sum of exponentials is so far from one that it needs a shift, or is no number."""
        low, high = PLAIN
        return (~((total >= low) & (total <= high))).value

    def shifted_powers(self, row: Any) -> None:
        """The exponentials of rows less a number for each, times another."""
        shift, slope = self._of_row("shift", row), self._of_row("slopes", row)

        def inside(at: Any, mask: Any, _: int) -> None:
            self._put(exp(self._some("x", row, at, mask) - shift) * slope, "out", row, at, mask)

        self._along(inside)

    def _highest(self, row: Any) -> Word:
        return self._totals(lambda at, mask: (self._some("x", row, at, mask),), 1, "maximum")[0]

    def _powers(self, row: Any) -> Word:
        shift = self._spread(self._highest(row))

        def terms(at: Any, mask: Any) -> tuple[Word]:
            power = exp(self._some("x", row, at, mask) - shift)
            self._put(power, "out", row, at, mask)
            return (power,)

        return self._totals(terms, 1)[0]

    def slopes(self, row: Any) -> None:
        """What is given less its mean by weights, times their exponentials."""
        self._slopes(row, lambda total: total / load(self.scalar, self.kind, self._one("sums", row)))

    def softmax_pullback(self, row: Any) -> None:
        """The same, where sums are one."""
        self._slopes(row, lambda total: total)

    def _slopes(self, row: Any, over: Callable[[Word], Word]) -> None:
        def both(at: Any, mask: Any) -> tuple[Word, Word]:
            return self._some("given", row, at, mask), self._some("powers", row, at, mask)

        (total,) = self._totals(lambda at, mask: (operator.mul(*both(at, mask)),), 1)
        mean = self._spread(over(total))

        def write(at: Any, mask: Any, _: int) -> None:
            given, power = both(at, mask)
            self._put((given - mean) * power, "out", row, at, mask)

        self._along(write)


class Rows:
    """Rows of one size and dtype."""

    def __init__(self, rows: int, size: int, dtype: np.dtype[Any]) -> None:
        self.rows, self.size, self.kind = rows, size, KINDS[dtype]
        self.tasks = max(1, min(rows, rows * size // TASK))
        self._calls: dict[str, Call] = {}

    def __call__(self, name: str, **arrays: Any) -> None:
        """Compute a function of contiguous arrays."""
        if (call := self._calls.get(name)) is None:
            words = {"rows": self.rows, "size": self.size, "tasks": self.tasks}
            call = self._calls[name] = Call(RowEmitter, self.kind, name, **words)
        call(self.tasks, shared=self.tasks >= SEVERAL, **arrays)


@functools.lru_cache(maxsize=256)
def plan(rows: int, size: int, dtype: np.dtype[Any]) -> Rows | None:
    """How rows are worked on; None for dtypes that are not the machine's."""
    return Rows(rows, size, dtype) if dtype in (np.float32, np.float64) else None
