"""Reductions of large arrays over adjacent axes outside of compile: sums, products, extremes.

NumPy uses one thread and a pass for each step. Here an array is seen as (outer, size, inner) and reduced over `size`; threads
reduce parts, whose number depends on the shape only, and NumPy combines the results of parts. Floats are summed in double
precision; doubles are summed in short blocks, and the blocks with compensation. Products keep significand and exponent apart,
so that no intermediate result overflows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..mathematics.lanes import BIAS, FRACTION, SIZES, TINY, IRValue
from . import native
from .elements import KINDS
from .reducing import Accumulator, across, combine, identity, kind_of
from .tasks import BoundKernels, TaskEmitter
from .writing import Array

if TYPE_CHECKING:
    from ..._core.typing import Array as NumpyArray, NumpyType, Threshold

TASK: Threshold = 1 << 15
"""The approximate number of elements in a task."""
TOGETHER, TURNS = 4, 8
"""The number of accumulators, in registers, and the iterations in a block of a sum."""
STRIP, STACKED = 1 << 10, 8
"""The number of adjacent results that are computed together, and of rows that are combined in registers."""
SEVERAL: Threshold = 16
MOST = 1 << 9
"""The number of parts aimed at where rows are combined, and the largest number of parts of a row."""
SUBNORMAL = 54
"""The power of two that makes any subnormal double normal."""
EXPONENT = 2047
"""The mask of a double's exponent."""
NEAR, FAR = 1000, 1 << 13
"""Bounds of exponents: of normal doubles, and of exponents that no double can correct."""
SUMS, COMBINED = ("total", "squares", "spread", "inner"), {"largest": np.maximum, "smallest": np.minimum}
"""The reductions computed in double precision, and the functions that combine parts of the others."""
HOW = {"largest": "maximum", "smallest": "minimum", "product": "prod", "product_pullback": "prod"}
"""How the reductions that are no sums combine terms."""
PRODUCTS = ("inner", "product", "product_pullback")
"""The reductions that exist for the last axes only."""
FORM = "outer size inner parts strips units tasks".split()
"""The first words of every table."""

Term = Callable[[IRValue, IRValue, IRValue | None], IRValue]
"""A function that loads the terms of a register, given the result, the place in x, and a mask or None."""


class _Emitter(TaskEmitter):
    """Reductions of units; a unit is a part of `size` for some results."""

    WORDS: ClassVar = {
        "total": [*FORM, "x", "out"],
        "squares": [*FORM, "x", "out"],
        "spread": [*FORM, "x", "centre", "out"],
        "largest": [*FORM, "x", "out"],
        "smallest": [*FORM, "x", "out"],
        "inner": [*FORM, "x", "y", "out"],
        "product": [*FORM, "x", "out", "powers"],
        "product_pullback": [*FORM, "x", "first", "second", "given", "out"],
    }
    UNITS: ClassVar = dict.fromkeys(WORDS, "units")

    def unit(self, name: str, unit: IRValue) -> None:
        """Write what a function does with one unit; `own` is the kind in which results are computed."""
        dtype = np.dtype(np.float32 if self.kind == "f" else np.float64)
        self.how = HOW.get(name, "sum")
        self.own = kind_of(self.how, dtype, dtype)
        self.lanes = self.ctx.lanes = native.width() // SIZES[self.own]
        super().unit(name, unit)

    def total(self, unit: IRValue) -> None:
        """Sums, or the largest or smallest elements."""
        self._unit(unit, lambda result, at, mask: self._load("x", at, mask))

    largest = smallest = total

    def squares(self, unit: IRValue) -> None:
        """Sums of squares."""
        self._unit(unit, lambda result, at, mask: _square(self._load("x", at, mask)))

    def spread(self, unit: IRValue) -> None:
        """Sums of the squared distances to a center."""
        self._unit(unit, lambda result, at, mask: _square(self._load("x", at, mask) - self._centre(result, mask)))

    def _unit(self, unit: IRValue, term: Term) -> None:
        raise NotImplementedError

    def _centre(self, result: IRValue, mask: IRValue | None) -> IRValue:
        raise NotImplementedError

    def _load(self, name: str, place: IRValue, mask: IRValue | None) -> IRValue:
        """A register of an array, in the kind in which results are computed."""
        return self._place(name, place).some(mask).to(self.own)

    def _place(self, name: str, place: IRValue, kind: str = "") -> Array:
        return self.array(getattr(self.given, name), kind).at(place)

    def _begun(self) -> Accumulator:
        return Accumulator.begun(self.ctx, self.how, self.own, exact=self.how == "sum" and self.kind == "d")

    def _number(self, x: float) -> IRValue:
        return self.ctx.number(self.own, x)

    def _finish(self, ir_value: IRValue, place: IRValue, mask: IRValue | None) -> None:
        """Store results: final ones in the kind of x, partial ones in the kind in which they were computed."""
        out = self.given.out
        if self.own == self.kind:
            self.array(out).at(place).put(ir_value, mask)
            return
        with self.either(self.given.parts == 1) as (whole, part):
            with whole:
                self.array(out).at(place).put(ir_value.to(self.kind), mask)
            with part:
                self.array(out, self.own).at(place).put(ir_value, mask)


class AlongEmitter(_Emitter):
    """Reductions over the last axes: one result for each row."""

    def _centre(self, result: IRValue, mask: IRValue | None) -> IRValue:
        return self._place("centre", result).spread().to(self.own)

    def _unit(self, unit: IRValue, term: Term) -> None:
        """Reduce a part of a row: blocks of iterations with several accumulators, then register by register."""
        how, span, total = self.how, TOGETHER * self.lanes, self._begun()
        row, begin, end, whole = self._range(unit, span)
        neutral, carried = self._number(identity(how, self.own)), [*total.carried]

        def some(at: IRValue, mask: IRValue | None, own: list[IRValue]) -> None:
            for place in range(len(own)):
                one = term(row, at + place * self.lanes, mask)
                own[place] = combine(how, own[place], one if mask is None else mask.select(one, neutral))

        def take(own: list[IRValue]) -> None:
            total.carried = [*carried]
            total.add(self.ctx, functools.reduce(partial(combine, how), own), None)
            carried[:] = total.carried

        with self.loop(begin, whole, TURNS * span, carried) as at:
            own = [neutral] * TOGETHER
            with self.loop(at, (at + TURNS * span).at_most(whole), span, own) as turn:
                some(turn, None, own)
            take(own)
        own = [neutral]
        with self.loop(whole, end, self.lanes, own) as at:
            some(at, self.first(end - at), own)
        take(own)
        self._finish(across(how, total.result(self.ctx), self.scalar), unit, None)

    def _range(self, unit: IRValue, span: int) -> tuple[IRValue, IRValue, IRValue, IRValue]:
        """The row of a unit, the bounds of its part in x, and the end of its whole spans."""
        row, number = unit // self.given.parts, unit % self.given.parts
        begin, end = (at + row * self.given.size for at in self.part(self.given.size, number, self.given.parts))
        return row, begin, end, begin + (end - begin & -span)

    # Products

    def inner(self, unit: IRValue) -> None:
        """Dot products."""
        self._unit(unit, lambda result, at, mask: self._load("x", at, mask) * self._load("y", at, mask))

    def product(self, unit: IRValue) -> None:
        """Products of rows: significands from 1 to 2, and exponents."""
        lanes = self.lanes
        span = TOGETHER * lanes
        _, begin, end, whole = self._range(unit, span)
        carried = [self._number(1), self.ctx.number("i64", 0)]
        with self.loop(begin, whole, TURNS * span, carried) as first:
            with self.loop(first, (first + TURNS * span).at_most(whole), span, carried) as at:
                factors = [self._load("x", at + i * lanes, None) for i in range(TOGETHER)]
                if self.kind == "f":  # a product of four floats does not overflow a double
                    factors = [_halves("prod", factors)]
                for factor in factors:
                    self._times(carried, factor)
            carried[:] = _renewed(*carried)
        with self.loop(whole, end, lanes, carried) as at:
            mask = self.first(end - at)
            self._times(carried, mask.select(self._load("x", at, mask), 1))
        one, power = across("prod", carried[0], self.scalar), across("sum", carried[1], self.scalar)
        for name, ir_value in zip(("out", "powers"), _renewed(one, power), strict=True):
            self._place(name, unit, ir_value.kind).put(ir_value)

    def _times(self, carried: list[IRValue], factor: IRValue) -> None:
        """Multiply by the significand of a factor, and add its exponent."""
        whole, power = carried
        if self.kind == "d":
            small = abs(factor) < TINY["d"]
            factor, power = small.select(factor * 2.0**SUBNORMAL, factor), power - small.select(SUBNORMAL, 0, "i64")
        one, more = _factored(factor)
        carried[:] = [whole * one, power + more]

    def product_pullback(self, unit: IRValue) -> None:
        """The gradients of factors: the product, in two parts, divided by the factor, times the cotangent."""
        row, begin, end, _ = self._range(unit, self.lanes)
        first, second = (self._place(name, row, "d").spread() for name in ("first", "second"))
        given = self._place("given", row).spread().to("d")
        for at, mask in self.registers(begin, end):
            slope = first / self._load("x", at, mask) * second
            self._place("out", at).put((slope * given).to(self.kind), mask)


class AcrossEmitter(_Emitter):
    """Reductions over axes before the last ones: results are adjacent, and a row has one term of each."""

    WORDS: ClassVar = {name: words for name, words in _Emitter.WORDS.items() if name not in PRODUCTS}

    def _centre(self, result: IRValue, mask: IRValue | None) -> IRValue:
        return self._load("centre", result, mask)

    def _unit(self, unit: IRValue, term: Term) -> None:
        given, lanes = self.given, self.lanes
        strip, number = unit // given.parts, unit % given.parts
        outer, strip = strip // given.strips, strip % given.strips
        left = strip * STRIP
        width = (given.inner - left).at_most(STRIP)
        model = self._begun()
        stacks = [self.stack(STRIP, self.own, 64) for _ in model.carried]

        def known(at: IRValue) -> Accumulator:
            return Accumulator(self.how, self.own, model.exact, lanes, [stack.at(at).some() for stack in stacks])

        def keep(total: Accumulator, at: IRValue) -> None:
            for stack, ir_value in zip(stacks, total.carried, strict=True):
                stack.at(at).put(ir_value)

        def place(at: IRValue, line: IRValue) -> IRValue:
            return left + at + line * given.inner

        with self.loop(0, width, lanes) as at:
            keep(self._begun(), at)
        begin, end = self.part(given.size, number, given.parts)
        whole = begin + (end - begin & -STACKED)
        for first, last, count in ((begin, whole, STACKED), (whole, end, 1)):
            with self.loop(first, last, count) as row:
                for at, mask in self.registers(0, width):
                    result = place(at, outer)
                    lines = [row + i + outer * given.size for i in range(count)]
                    terms = [term(result, place(at, line), mask) for line in lines]
                    total = known(at)
                    total.add(self.ctx, _halves(self.how, terms), None)
                    keep(total, at)
        for at, mask in self.registers(0, width):
            self._finish(known(at).result(self.ctx), place(at, number + outer * given.parts), mask)


def _square(x: IRValue) -> IRValue:
    return x * x


def _halves(how: str, ir_values: list[IRValue]) -> IRValue:
    """All ir_values combined pairwise."""
    while len(ir_values) > 1:
        ir_values = [functools.reduce(partial(combine, how), ir_values[i : i + 2]) for i in range(0, len(ir_values), 2)]
    return ir_values[0]


def _renewed(one: IRValue, power: IRValue) -> list[IRValue]:
    """A significand and an exponent with the significand normalized to 1 to 2 again."""
    one, more = _factored(one)
    return [one, power + more]


def _factored(x: IRValue) -> tuple[IRValue, IRValue]:
    """The significand of a double, from 1 to 2, and its exponent; 0, inf and NaN have exponent 0."""
    bits = x.bits()
    field = bits.shifted_right(FRACTION["d"]) & EXPONENT
    whole = (field == 0) | (field == EXPONENT)
    one = (bits & ~(EXPONENT << FRACTION["d"])) | (BIAS["d"] << FRACTION["d"])
    return whole.select(x, one.real()), whole.select(0, field - BIAS["d"])


def _within(powers: NumpyArray, bound: int) -> NumpyArray:
    """Integers clipped to -bound and bound, in a third of the time of numpy.clip."""
    return np.minimum(np.maximum(powers, -bound), bound)


class Totals:
    """A reduction of arrays of one shape and dtype."""

    def __init__(
        self, name: str, form: tuple[int, int, int], results: Sequence[tuple[int, ...]], dtype: NumpyType
    ) -> None:
        self.name, self.form, self.results, self.dtype = name, form, results, dtype
        outer, size, inner = form
        about = max(1, outer * size * inner // TASK)
        strips = -(-inner // STRIP)
        if inner == 1:
            self.parts = min(max(size // TASK, 1), MOST)
        else:
            self.parts = max(1, min(about, SEVERAL // (outer * strips), size // STACKED))
        units = outer * strips * self.parts
        self.tasks = units if inner == 1 and self.parts > 1 else min(units, about)
        words = dict(zip(FORM[:-1], (*form, self.parts, strips, units), strict=True))
        self.call = BoundKernels(AlongEmitter if inner == 1 else AcrossEmitter, KINDS[dtype], self.tasks, 2, **words)

    def __call__(self, x: NumpyArray, *, keepdims: bool, **arrays: NumpyArray) -> NumpyArray:
        """The results of the reduction; products have a method of their own."""
        found = np.empty(self.results[keepdims], self.dtype)
        if self.parts == 1:
            self.call(self.name, x=x, out=found, **arrays)
            return found
        outer, _, inner = self.form
        out = np.empty((outer, self.parts, inner), np.float64 if self.name in SUMS else self.dtype)
        self.call(self.name, x=x, out=out, **arrays)
        np.copyto(found, COMBINED.get(self.name, np.add).reduce(out, 1).reshape(found.shape), casting="same_kind")
        return found

    def product(self, x: NumpyArray, *, keepdims: bool) -> NumpyArray:
        """Products of rows."""
        found = np.empty(self.results[keepdims], self.dtype)
        np.copyto(found, np.ldexp(*self._factored(x)).reshape(found.shape), casting="same_kind")
        return found

    def _factored(self, x: NumpyArray) -> tuple[NumpyArray, NumpyArray]:
        """Products of rows as significands from 1/2 to 1, or 0, inf or NaN, and exponents."""
        shape = (self.form[0], self.parts)
        out, powers = np.empty(shape), np.empty(shape, np.int64)
        self.call("product", x=x, out=out, powers=powers)
        one, power = np.frexp(np.multiply.reduce(out, 1))
        return one, _within(np.add.reduce(powers, 1) + power, FAR).astype(np.intc)

    def product_pullback(self, g: NumpyArray, x: NumpyArray) -> NumpyArray | None:
        """The gradient of a product of rows; None if a product is 0, inf or NaN."""
        one, power = self._factored(x)
        if not (np.isfinite(one) & (one != 0)).all():
            return None
        near = _within(power, NEAR)
        first, second = np.ldexp(one, near), np.ldexp(1.0, _within(power - near, NEAR))
        out = np.empty(x.shape, x.dtype)
        self.call("product_pullback", x=x, first=first, second=second, given=np.ascontiguousarray(g), out=out)
        return out


@functools.lru_cache(maxsize=256)
def plan(name: str, shape: tuple[int, ...], axis: tuple[int, ...], dtype: NumpyType) -> Totals | None:
    """The reduction of arrays of a shape over axes.

    None if the axes are not adjacent or empty, for products over other than the last axes, and for unsupported dtypes.
    """
    if dtype not in (np.float32, np.float64) or not axis or max(axis) - min(axis) >= len(axis):
        return None
    first, end = min(axis), max(axis) + 1
    form = math.prod(shape[:first]), math.prod(shape[first:end]), math.prod(shape[end:])
    if name in PRODUCTS and form[2] != 1:
        return None
    kept = tuple([1 if i in axis else size for i, size in enumerate(shape)])
    return Totals(name, form, (shape[:first] + shape[end:], kept), dtype)
