"""Normalisations and softmax of the rows of a matrix, and their derivatives, outside of compile.

NumPy passes over the whole array once for each sum and each product. Here a row is read from memory once and stays in the
cache for the passes that follow. Sums have several registers as accumulators, so that few numbers are added sequentially.
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
"""The approximate number of elements in a task, and the number of tasks above which threads share them."""
TOGETHER = 4
"""The number of accumulators of a sum, in registers."""
PLAIN = 2.0**-4, 2.0**17
"""The range of sums of exponentials that need no shift by the maximum; logarithms of larger ones would lose digits."""
MATRIX = "rows size tasks".split()
"""The first words of every table."""
SHARED = "each of weight_each weight_of".split()
"""Statistics shared by rows: `each` consecutive rows share one, there are `of` of them, and they repeat; the same of weights."""


class RowEmitter(TaskEmitter):
    """Functions of rows. Their arrays have a row for each row, an element for each row, or one row for all."""

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
        """The address of element `at` of a row."""
        place = self.sum(at, (row, self.given["size"]))
        return element(self.builder, self.pointer(self.given[name]), self.kind, place)

    def _some(self, name: str, row: Any, at: Any, mask: Any) -> Word:
        """Load a register of a row; zeros where the mask is off."""
        return load_lanes(self.desk, self.kind, self._place(name, row, at), 1, mask)

    def _put(self, word: Word, name: str, row: Any, at: Any, mask: Any) -> None:
        """Store a register of a row."""
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
        """Loop over a row, TOGETHER registers in one iteration, then one by one with a mask; `inside` gets the register's number."""
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
        """The sums, or the maxima, over a row of `count` terms for each element."""
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

    # 2. Layer normalisation

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
        """A function that loads a register of a row, centred and scaled."""
        mean, scale = self._of_row("mean", row), self._of_row("scale", row)
        return lambda at, mask: (self._some("x", row, at, mask) - mean) * scale

    def standardize(self, row: Any) -> None:
        """Normalised rows: (x - mean) * scale."""
        normal = self._normal(row)
        self._along(lambda at, mask, _: self._put(normal(at, mask), "out", row, at, mask))

    def affine(self, row: Any) -> None:
        """Normalised rows times weights plus biases."""
        normal, first = self._normal(row), long(0)

        def inside(at: Any, mask: Any, _: int) -> None:
            weight, bias = (self._some(name, first, at, mask) for name in ("weight", "bias"))
            self._put(normal(at, mask).mad(weight, bias), "out", row, at, mask)

        self._along(inside)

    def standardize_pullback(self, row: Any) -> None:
        """The gradient of x."""
        self._pull(row, lambda at, mask, normal: self._some("given", row, at, mask))

    def affine_pullback(self, row: Any) -> None:
        """The gradients of x, weights and biases; each task adds the latter two up in a row of its own."""

        def given(at: Any, mask: Any, normal: Word) -> Word:
            part = self._some("given", row, at, mask)
            for name, term in (("to_weight", part * normal), ("to_bias", part)):
                self._put(self._some(name, self.task, at, mask) + term, name, self.task, at, mask)
            return part * self._some("weight", long(0), at, mask)

        self._pull(row, given)

    def _pull(self, row: Any, given: Callable[[Any, Any, Word], Word]) -> None:
        """Write (t - mean(t) - normal * mean(t * normal)) * scale, where t is what `given` loads."""
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

    # 3. Batch and group normalisation: rows share means and scales, and each row has one weight

    def _shared(self, name: str, row: Any, who: str = "") -> Word:
        """The statistic of a row, or its weight with `who`, in all lanes."""
        each, of = self.given[f"{who}each"], self.given[f"{who}of"]
        return self._of_row(name, self.builder.urem(self.builder.udiv(row, each), of))

    def _centred(self, row: Any) -> Callable[[Any, Any], Word]:
        """A function that loads a register of a row, centred."""
        mean = self._shared("mean", row)
        return lambda at, mask: self._some("x", row, at, mask) - mean

    def _gain(self, row: Any) -> Word:
        return self._shared("scale", row) * self._shared("weight", row, "weight_")

    def scaled(self, row: Any) -> None:
        """(x - mean) * scale * weight + bias."""
        centred, gain, bias = self._centred(row), self._gain(row), self._shared("bias", row, "weight_")
        self._along(lambda at, mask, _: self._put(centred(at, mask).mad(gain, bias), "out", row, at, mask))

    def shares(self, row: Any) -> None:
        """The sums along rows of the cotangent, and of its products with centred rows."""
        centred = self._centred(row)

        def terms(at: Any, mask: Any) -> tuple[Word, Word]:
            given = self._some("given", row, at, mask)
            return given, given * centred(at, mask)

        for name, total in zip(("sums", "products"), self._totals(terms, 2), strict=True):
            store(total, self._one(name, row))

    def mixed(self, row: Any) -> None:
        """given * scale * weight + (x - mean) * slope + shift: the gradient of x."""
        centred, gain = self._centred(row), self._gain(row)
        slope, shift = self._shared("slope", row), self._shared("shift", row)

        def inside(at: Any, mask: Any, _: int) -> None:
            given = self._some("given", row, at, mask)
            self._put(given.mad(gain, centred(at, mask).mad(slope, shift)), "out", row, at, mask)

        self._along(inside)

    # 4. Softmax

    def powers(self, row: Any) -> None:
        """exp(x - max), and its sums along rows."""
        store(self._powers(row), self._one("sums", row))

    def softmax(self, row: Any) -> None:
        """Softmax of rows."""
        factor = self._spread(1 / self._powers(row))
        self._along(lambda at, mask, _: self._put(self._some("out", row, at, mask) * factor, "out", row, at, mask))

    def exponents(self, row: Any) -> None:
        """Sums of exp(x - shift) along rows; the shift is 0 if that keeps digits, else the maximum if it is finite."""
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
        """Softmax of rows times a number for each row; the sums of exponentials are stored, too."""

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
        """Whether a sum of exponentials needs a shift, or is NaN."""
        low, high = PLAIN
        return (~((total >= low) & (total <= high))).value

    def shifted_powers(self, row: Any) -> None:
        """exp(x - shift) * slope, with a shift and a slope for each row."""
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
        """The gradient of softmax from unnormalised exponentials and their sums."""
        self._slopes(row, lambda total: total / load(self.scalar, self.kind, self._one("sums", row)))

    def softmax_pullback(self, row: Any) -> None:
        """The gradient of softmax from its result."""
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
    """The functions for matrices of one shape and dtype."""

    def __init__(self, rows: int, size: int, dtype: np.dtype[Any]) -> None:
        self.rows, self.size, self.kind = rows, size, KINDS[dtype]
        self.tasks = max(1, min(rows, rows * size // TASK))
        self._calls: dict[str, Call] = {}

    def __call__(self, name: str, **arrays: Any) -> None:
        """Call a function with C-contiguous arrays."""
        if (call := self._calls.get(name)) is None:
            words = {"rows": self.rows, "size": self.size, "tasks": self.tasks}
            call = self._calls[name] = Call(RowEmitter, self.kind, name, **words)
        call(self.tasks, shared=self.tasks >= SEVERAL, **arrays)


@functools.lru_cache(maxsize=256)
def plan(rows: int, size: int, dtype: np.dtype[Any]) -> Rows | None:
    """The functions for matrices of a shape and dtype; None for unsupported dtypes."""
    return Rows(rows, size, dtype) if dtype in (np.float32, np.float64) else None
