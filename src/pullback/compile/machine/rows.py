"""Normalizations and softmax of the rows of a matrix, and their derivatives, outside of compile.

NumPy passes over the whole array once for each sum and each product. Here a row is read from memory once and stays in the
cache for the passes that follow. Sums have several registers as accumulators, so that few numbers are added sequentially.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..mathematics.exponentials import exp
from ..mathematics.lanes import IRValue
from ..mathematics.logarithms import log
from .elements import KINDS
from .reducing import across, combine, identity
from .tasks import BoundKernels, TaskEmitter
from .writing import Array

if TYPE_CHECKING:
    from ..._core.typing import NumpyType, Threshold

TASK: Threshold = 1 << 14
SEVERAL: Threshold = 4
"""The approximate number of elements in a task, and the number of tasks above which threads share them."""
TOGETHER = 4
"""The number of accumulators of a sum, in registers."""
PLAIN = 2.0**-4, 2.0**17
"""The range of sums of exponentials that need no shift by the maximum; logarithms of larger ones would lose digits."""
MATRIX = "rows size tasks".split()
"""The first words of every table."""
SHARED = "each of weight_each weight_of".split()
"""Statistics shared by rows: `each` consecutive rows share one, there are `of` of them, and they repeat; the same of weights."""


class Register(NamedTuple):
    """Some adjacent elements of each row of the same number: as many as a register has, or as the mask says."""

    writer: TaskEmitter
    row: IRValue
    first: IRValue
    mask: IRValue | None
    number: int

    def _array(self, name: str, row: IRValue | int | None) -> Array:
        given = self.writer.given
        place = self.first + self.writer.number(self.row if row is None else row) * given.size
        return self.writer.array(getattr(given, name)).at(place)

    def some(self, name: str, row: IRValue | int | None = None) -> IRValue:
        """The elements of an array, in this row or another."""
        return self._array(name, row).some(self.mask)

    def put(self, name: str, ir_value: IRValue, row: IRValue | int | None = None) -> IRValue:
        """Write the elements of an array; what is written."""
        self._array(name, row).put(ir_value, self.mask)
        return ir_value


class RowEmitter(TaskEmitter):
    """Functions of rows. Their arrays have a row for each row, an element for each row, or one row for all."""

    WORDS: ClassVar = {
        "moments": [*MATRIX, *"x mean variance".split()],
        "standardize": [*MATRIX, *"x mean scale out".split()],
        "affine": [*MATRIX, *"x mean scale weight bias out".split()],
        "standardize_pullback": [*MATRIX, *"x mean scale given out".split()],
        "affine_pullback": [*MATRIX, *"x mean scale given weight out to_weight to_bias".split()],
        "scaled": [*MATRIX, *SHARED, *"x mean scale weight bias out".split()],
        "shares": [*MATRIX, *SHARED, *"x mean given sums products".split()],
        "mixed": [*MATRIX, *SHARED, *"x mean scale given weight slope shift out".split()],
        "softmax": [*MATRIX, *"x out".split()],
        "exponents": [*MATRIX, *"x shift sums".split()],
        "weighted_softmax": [*MATRIX, *"x slopes sums out".split()],
        "shifted_powers": [*MATRIX, *"x shift slopes out".split()],
        "softmax_pullback": [*MATRIX, *"given shares out".split()],
        "logsumexp": [*MATRIX, *"inner x out".split()],
    }
    UNITS: ClassVar = dict.fromkeys(WORDS, "rows")

    # 1. Along rows

    def _one(self, name: str, row: IRValue) -> Array:
        """The one element for a row."""
        return self.array(getattr(self.given, name)).at(row)

    def _of_row(self, name: str, row: IRValue) -> IRValue:
        return self._one(name, row).spread()

    def _size(self) -> IRValue:
        """The number of elements of a row, as a real."""
        return self.given.size.to(self.kind)

    def _along(self, row: IRValue, carried: list[IRValue] | None = None) -> Iterator[Register]:
        """Loops over a row, TOGETHER registers in one iteration, then one by one with a mask."""
        for first, mask in self.registers(0, self.given.size, carried, TOGETHER):
            for number in range(TOGETHER if mask is None else 1):
                yield Register(self, row, first + number * self.lanes, mask, number)

    def _totals(
        self, row: IRValue, terms: Callable[[Register], tuple[IRValue, ...]], count: int = 1, how: str = "sum"
    ) -> list[IRValue]:
        """The sums, or the maxima, over a row of `count` terms for each element."""
        neutral = self.ctx.number(self.kind, identity(how, self.kind))
        carried = [neutral] * (TOGETHER * count)
        for own in self._along(row, carried):
            for place, term in enumerate(terms(own), own.number * count):
                known = term if own.mask is None else own.mask.select(term, neutral)
                carried[place] = combine(how, carried[place], known)
        return [
            across(how, functools.reduce(partial(combine, how), carried[i::count]), self.scalar) for i in range(count)
        ]

    # 2. Layer normalization

    def moments(self, row: IRValue) -> None:
        """The means of rows, and their variances."""
        (total,) = self._totals(row, lambda own: (own.some("x"),))
        mean = total / self._size()
        spread = self.all_lanes(mean)

        def squares(own: Register) -> tuple[IRValue]:
            centred = own.some("x") - spread
            return (centred * centred,)

        (squared,) = self._totals(row, squares)
        self._one("mean", row).put(mean)
        self._one("variance", row).put(squared / self._size())

    def _normal(self, row: IRValue) -> Callable[[Register], IRValue]:
        """A function that loads a register of a row, centered and scaled."""
        mean, scale = self._of_row("mean", row), self._of_row("scale", row)
        return lambda own: (own.some("x") - mean) * scale

    def standardize(self, row: IRValue) -> None:
        """Normalized rows: (x - mean) * scale."""
        normal = self._normal(row)
        for own in self._along(row):
            own.put("out", normal(own))

    def affine(self, row: IRValue) -> None:
        """Normalized rows times weights plus biases."""
        normal = self._normal(row)
        for own in self._along(row):
            weight, bias = (own.some(name, 0) for name in ("weight", "bias"))
            own.put("out", normal(own).mad(weight, bias))

    def standardize_pullback(self, row: IRValue) -> None:
        """The gradient of x."""
        self._pull(row, lambda own, normal: own.some("given"))

    def affine_pullback(self, row: IRValue) -> None:
        """The gradients of x, weights and biases; each task adds the latter two up in a row of its own."""

        def given(own: Register, normal: IRValue) -> IRValue:
            part = own.some("given")
            for name, term in (("to_weight", part * normal), ("to_bias", part)):
                own.put(name, own.some(name, self.task) + term, self.task)
            return part * own.some("weight", 0)

        self._pull(row, given)

    def _pull(self, row: IRValue, given: Callable[[Register, IRValue], IRValue]) -> None:
        """Write (t - mean(t) - normal * mean(t * normal)) * scale, where t is what `given` loads."""
        normal, scale = self._normal(row), self._of_row("scale", row)

        def terms(own: Register) -> tuple[IRValue, IRValue]:
            x = normal(own)
            part = given(own, x)
            own.put("out", part)
            return part, part * x

        mean, slope = (self.all_lanes(total / self._size()) for total in self._totals(row, terms, 2))
        for own in self._along(row):
            part = own.some("out") - mean
            own.put("out", (-slope).mad(normal(own), part) * scale)

    # 3. Batch and group normalization: rows share means and scales, and each row has one weight

    def _shared(self, name: str, row: IRValue, who: str = "") -> IRValue:
        """The statistic of a row, or its weight with `who`, in all lanes."""
        return self._of_row(name, row // getattr(self.given, f"{who}each") % getattr(self.given, f"{who}of"))

    def _centred(self, row: IRValue) -> Callable[[Register], IRValue]:
        """A function that loads a register of a row, centered."""
        mean = self._shared("mean", row)
        return lambda own: own.some("x") - mean

    def _gain(self, row: IRValue) -> IRValue:
        return self._shared("scale", row) * self._shared("weight", row, "weight_")

    def scaled(self, row: IRValue) -> None:
        """(x - mean) * scale * weight + bias."""
        centred, gain, bias = self._centred(row), self._gain(row), self._shared("bias", row, "weight_")
        for own in self._along(row):
            own.put("out", centred(own).mad(gain, bias))

    def shares(self, row: IRValue) -> None:
        """The sums along rows of the cotangent, and of its products with centered rows."""
        centred = self._centred(row)

        def terms(own: Register) -> tuple[IRValue, IRValue]:
            given = own.some("given")
            return given, given * centred(own)

        for name, total in zip(("sums", "products"), self._totals(row, terms, 2), strict=True):
            self._one(name, row).put(total)

    def mixed(self, row: IRValue) -> None:
        """given * scale * weight + (x - mean) * slope + shift: the gradient of x."""
        centred, gain = self._centred(row), self._gain(row)
        slope, shift = self._shared("slope", row), self._shared("shift", row)
        for own in self._along(row):
            given = own.some("given")
            own.put("out", given.mad(gain, centred(own).mad(slope, shift)))

    # 4. Softmax

    def softmax(self, row: IRValue) -> None:
        """Softmax of rows."""
        self._scale(row, 1 / self._powers(row))

    def _scale(self, row: IRValue, factor: IRValue) -> None:
        """Multiply a row of the result by a number."""
        spread = self.all_lanes(factor)
        for own in self._along(row):
            own.put("out", own.some("out") * spread)

    def exponents(self, row: IRValue) -> None:
        """Sums of exp(x - shift) along rows; the shift is 0 if that keeps digits, else the maximum if it is finite."""
        (plain,) = self._totals(row, lambda own: (exp(own.some("x")),))
        self._one("shift", row).put(self.scalar.number(self.kind, 0))
        self._one("sums", row).put(plain)
        with self.builder.if_then(self._far(plain), likely=False):
            highest = self._highest(row)
            shift = (abs(highest) < math.inf).select(highest, 0)
            spread = self.all_lanes(shift)
            (total,) = self._totals(row, lambda own: (exp(own.some("x") - spread),))
            self._one("shift", row).put(shift)
            self._one("sums", row).put(total)

    def weighted_softmax(self, row: IRValue) -> None:
        """Softmax of rows times a number for each row; the sums of exponentials are stored, too."""
        (total,) = self._totals(row, lambda own: (own.put("out", exp(own.some("x"))),))
        self._one("sums", row).put(total)
        with self.builder.if_then(self._far(total), likely=False):
            self._one("sums", row).put(self._powers(row))
        slope, total = (self._one(name, row).one() for name in ("slopes", "sums"))
        self._scale(row, slope / total)

    def _far(self, total: IRValue) -> Any:
        """Whether a sum of exponentials needs a shift, or is NaN."""
        low, high = PLAIN
        return (~((total >= low) & (total <= high))).value

    def shifted_powers(self, row: IRValue) -> None:
        """exp(x - shift) * slope, with a shift and a slope for each row."""
        shift, slope = self._of_row("shift", row), self._of_row("slopes", row)
        for own in self._along(row):
            own.put("out", exp(own.some("x") - shift) * slope)

    def _highest(self, row: IRValue) -> IRValue:
        return self._totals(row, lambda own: (own.some("x"),), how="maximum")[0]

    def _powers(self, row: IRValue) -> IRValue:
        shift = self.all_lanes(self._highest(row))
        return self._totals(row, lambda own: (own.put("out", exp(own.some("x") - shift)),))[0]

    def logsumexp(self, row: IRValue) -> None:
        """log(sum(exp(x))) over the columns of small matrices, of which a row here is one, with `inner` columns."""
        given = self.given
        for place, mask in self.registers(0, given.inner):
            first = self.array(given.x).at(row * given.size * given.inner + place)
            top = [self.ctx.number(self.kind, -math.inf)]
            total = [self.ctx.number(self.kind, 0)]
            with self.loop(0, given.size, 1, top) as number:
                top[0] = combine("maximum", top[0], first.at(number * given.inner).some(mask))
            shift = (abs(top[0]) < math.inf).select(top[0], 0)
            with self.loop(0, given.size, 1, total) as number:
                total[0] = total[0] + exp(first.at(number * given.inner).some(mask) - shift)
            self.array(given.out).at(row * given.inner + place).put(log(total[0]) + shift, mask)

    def softmax_pullback(self, row: IRValue) -> None:
        """The gradient of softmax from its result."""
        (total,) = self._totals(row, lambda own: (own.some("given") * own.some("shares"),))
        mean = self.all_lanes(total)
        for own in self._along(row):
            given, share = own.some("given"), own.some("shares")
            own.put("out", (given - mean) * share)


@functools.lru_cache(maxsize=256)
def plan(rows: int, size: int, dtype: NumpyType) -> BoundKernels | None:
    """The functions for matrices of a shape and dtype, which take C-contiguous arrays; None for unsupported dtypes."""
    if dtype not in (np.float32, np.float64):
        return None
    tasks = max(1, min(rows, rows * size // TASK))
    return BoundKernels(RowEmitter, KINDS[dtype], tasks, SEVERAL, rows=rows, size=size)
