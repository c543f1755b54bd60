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
from typing import Any, ClassVar

import numpy as np

from ..._core import xp as _xp
from ..mathematics.lanes import BIAS, FRACTION, TINY, TYPES, Desk, Word
from . import native
from .elements import KINDS
from .memory import SIZES, element, first_lanes, load_lanes, load_spread, long, on_stack, store, store_lanes
from .reducing import Accumulator, across, combine, identity, kind_of
from .tasks import Call, TaskEmitter

TASK = 1 << 15
"""The approximate number of elements in a task."""
TOGETHER, TURNS = 4, 8
"""The number of accumulators, in registers, and the iterations in a block of a sum."""
STRIP, STACKED = 1 << 10, 8
"""The number of adjacent results that are computed together, and of rows that are combined in registers."""
SEVERAL, MOST = 16, 1 << 9
"""The number of parts aimed at where rows are combined, and the largest number of parts of a row."""
SUBNORMAL = 54
"""The power of two that makes any subnormal double normal."""
EXPONENT = 2047
"""The mask of a double's exponent."""
NEAR, FAR = 1000, 1 << 13
"""Bounds of exponents: of normal doubles, and of exponents that no double can correct."""
SUMS, COMBINED = ("total", "squares", "spread", "inner"), {"largest": np.maximum, "smallest": np.minimum}
"""The reductions computed in double precision, and the functions that combine parts of the others."""
PRODUCTS = ("inner", "product", "product_pullback")
"""The reductions that exist for the last axes only."""
FORM = "outer size inner parts strips units tasks".split()
"""The first words of every table."""

Terms = Callable[[Any, Any], Word]
"""A function that loads the terms of a register, with a mask or None."""


class _Emitter(TaskEmitter):
    """Reductions of units; a unit is a part of `size` for some results."""

    WORDS: ClassVar = {
        "total": [*FORM, "x", "out"],
        "squares": [*FORM, "x", "out"],
        "spread": [*FORM, "x", "centre", "out"],
        "largest": [*FORM, "x", "out"],
        "smallest": [*FORM, "x", "out"],
    }

    def __init__(self, module: Any, kind: str) -> None:
        super().__init__(module, kind)
        self.own = kind  # of results
        self.desk = Desk(None, self.target, self.lanes)

    def total(self, task: Any) -> None:
        """Sums."""
        self._units(task, "sum", self._some)

    def squares(self, task: Any) -> None:
        """Sums of squares."""

        def term(result: Any, at: Any, mask: Any) -> Word:
            x = self._some(result, at, mask)
            return x * x

        self._units(task, "sum", term)

    def spread(self, task: Any) -> None:
        """Sums of the squared distances to a centre."""

        def term(result: Any, at: Any, mask: Any) -> Word:
            x = self._some(result, at, mask) - self._centre(result, mask)
            return x * x

        self._units(task, "sum", term)

    def largest(self, task: Any) -> None:
        """The largest elements."""
        self._units(task, "maximum", self._some)

    def smallest(self, task: Any) -> None:
        """The smallest elements."""
        self._units(task, "minimum", self._some)

    def _units(self, task: Any, how: str, term: Callable[[Any, Any, Any], Word]) -> None:
        """Loop over the units of a task."""
        dtype = np.dtype(np.float32 if self.kind == "f" else np.float64)
        self._lanes_of(kind_of(how, dtype, dtype))
        begin, end = self.part(self.given["units"], task, self.given["tasks"])
        self.loop(begin, end, lambda unit: self._unit(unit, how, term))

    def _lanes_of(self, kind: str) -> None:
        """Set the kind in which results are computed, and its lanes."""
        self.own, self.lanes = kind, native.width() // SIZES[kind]
        self.desk = Desk(self.builder, self.target, self.lanes)

    def _unit(self, unit: Any, how: str, term: Callable[[Any, Any, Any], Word]) -> None:
        raise NotImplementedError

    def _centre(self, result: Any, mask: Any) -> Word:
        raise NotImplementedError

    def _some(self, result: Any, at: Any, mask: Any) -> Word:
        """A register of x, in the kind in which results are computed."""
        return self._load("x", at, mask)

    def _load(self, name: str, place: Any, mask: Any) -> Word:
        return load_lanes(self.desk, self.kind, self._place(name, place), 1, mask).to(self.own)

    def _place(self, name: str, place: Any) -> Any:
        return element(self.builder, self.pointer(self.given[name]), self.kind, place)

    def _split(self, unit: Any) -> tuple[Any, Any]:
        """The results that a unit belongs to, and the number of its part."""
        parts = self.given["parts"]
        return self.builder.udiv(unit, parts), self.builder.urem(unit, parts)

    def _begun(self, how: str) -> Accumulator:
        return Accumulator.begun(self.desk, how, self.own, exact=how == "sum" and self.kind == "d")

    def _finish(self, word: Word, place: Any, write: Callable[[Word, Any], None]) -> None:
        """Store results: final ones in the kind of x, partial ones in the kind in which they were computed."""
        out = self.pointer(self.given["out"])
        if self.own == self.kind:
            write(word, element(self.builder, out, self.own, place))
            return
        single = self.builder.icmp_signed("==", self.given["parts"], long(1))
        with self.builder.if_else(single) as (whole, part):
            with whole:
                write(word.to(self.kind), element(self.builder, out, self.kind, place))
            with part:
                write(word, element(self.builder, out, self.own, place))


class AlongEmitter(_Emitter):
    """Reductions over the last axes: one result for each row."""

    WORDS: ClassVar = {
        **_Emitter.WORDS,
        "inner": [*FORM, "x", "y", "out"],
        "product": [*FORM, "x", "out", "powers"],
        "product_pullback": [*FORM, "x", "first", "second", "given", "out"],
    }

    def _centre(self, result: Any, mask: Any) -> Word:
        return load_spread(self.desk, self.kind, self._place("centre", result)).to(self.own)

    def _unit(self, unit: Any, how: str, term: Callable[[Any, Any, Any], Word]) -> None:
        row, number = self._split(unit)
        total = self._begun(how)
        self._row(row, number, how, lambda at, mask: term(row, at, mask), total)
        one = across(how, total.result(self.desk), Desk(self.builder, self.target, None))
        self._finish(one, unit, store)

    def _row(self, row: Any, number: Any, how: str, terms: Terms, total: Accumulator) -> None:
        """Reduce a part of a row: blocks of iterations with several accumulators, then register by register."""
        builder, span = self.builder, TOGETHER * self.lanes
        begin, end, whole = self._range(row, number, span)
        neutral = self.desk.number(self.own, identity(how, self.own)).value

        def some(at: Any, mask: Any, own: list[Any]) -> None:
            for place in range(len(own)):
                one = terms(builder.add(at, long(place * self.lanes)), mask)
                if mask is not None:
                    one = Word(self.desk, "b1", mask).select(one, Word(self.desk, self.own, neutral))
                own[place] = combine(how, Word(self.desk, self.own, own[place]), one).value

        def block(at: Any) -> None:
            own = [neutral] * TOGETHER
            stop = self.least(builder.add(at, long(TURNS * span)), whole)
            self.loop(at, stop, lambda at: some(at, None, own), step=span, carried=own)
            take(own)

        def take(own: list[Any]) -> None:
            total.carried = [*carried]
            total.add(self.desk, functools.reduce(partial(combine, how), [self._word(one) for one in own]), None)
            carried[:] = total.carried

        carried = [*total.carried]
        self.loop(begin, whole, block, step=TURNS * span, carried=carried)
        own = [neutral]
        self._rest(whole, end, lambda at, mask: some(at, mask, own), own)
        take(own)

    def _range(self, row: Any, number: Any, span: int) -> tuple[Any, Any, Any]:
        """The bounds of a part of a row in x, and the end of its whole spans."""
        size = self.given["size"]
        begin, end = (self.sum(at, (row, size)) for at in self.part(size, number, self.given["parts"]))
        whole = self.builder.add(begin, self.builder.and_(self.builder.sub(end, begin), long(-span)))
        return begin, end, whole

    def _rest(self, begin: Any, end: Any, inside: Callable[[Any, Any], None], carried: list[Any] | None = None) -> None:
        """Loop register by register, with masks."""

        def some(at: Any) -> None:
            inside(at, first_lanes(self.builder, self.builder.sub(end, at), self.lanes))

        self.loop(begin, end, some, step=self.lanes, carried=carried)

    def _word(self, value: Any) -> Word:
        return Word(self.desk, self.own, value)

    # Products

    def inner(self, task: Any) -> None:
        """Dot products."""
        self._units(task, "sum", lambda result, at, mask: self._some(result, at, mask) * self._load("y", at, mask))

    def product(self, task: Any) -> None:
        """Products of rows: significands from 1 to 2, and exponents."""
        self._rows(task, self._product)

    def _product(self, unit: Any, row: Any, number: Any) -> None:
        builder, span = self.builder, TOGETHER * self.lanes
        begin, end, whole = self._range(row, number, span)
        carried = [self.desk.number("d", 1).value, self.desk.number("i64", 0).value]

        def turn(at: Any) -> None:
            factors = [self._some(row, builder.add(at, long(i * self.lanes)), None) for i in range(TOGETHER)]
            if self.kind == "f":  # a product of four floats does not overflow a double
                self._times(carried, _halves("prod", factors))
            else:
                for factor in factors:
                    self._times(carried, factor)

        def block(at: Any) -> None:
            stop = self.least(builder.add(at, long(TURNS * span)), whole)
            self.loop(at, stop, turn, step=span, carried=carried)
            carried[:] = _renewed(self._word(carried[0]), Word(self.desk, "i64", carried[1]))

        def rest(at: Any, mask: Any) -> None:
            self._times(carried, Word(self.desk, "b1", mask).select(self._some(row, at, mask), 1))

        self.loop(begin, whole, block, step=TURNS * span, carried=carried)
        self._rest(whole, end, rest, carried)
        scalar = Desk(builder, self.target, None)
        one = across("prod", self._word(carried[0]), scalar)
        power = across("sum", Word(self.desk, "i64", carried[1]), scalar)
        for name, kind, value in zip(("out", "powers"), ("d", "i64"), _renewed(one, power), strict=True):
            store(Word(scalar, kind, value), element(builder, self.pointer(self.given[name]), kind, unit))

    def _times(self, carried: list[Any], factor: Word) -> None:
        """Multiply by the significand of a factor, and add its exponent."""
        power = Word(self.desk, "i64", carried[1])
        if self.kind == "d":
            small = abs(factor) < TINY["d"]
            factor, power = small.select(factor * 2.0**SUBNORMAL, factor), power - small.select(SUBNORMAL, 0, "i64")
        one, more = _factored(factor)
        carried[:] = [(self._word(carried[0]) * one).value, (power + more).value]

    def product_pullback(self, task: Any) -> None:
        """The gradients of factors: the product, in two parts, divided by the factor, times the cotangent."""
        self._rows(task, self._product_pullback)

    def _product_pullback(self, _: Any, row: Any, number: Any) -> None:
        begin, end, whole = self._range(row, number, self.lanes)
        first, second = (
            load_spread(self.desk, "d", element(self.builder, self.pointer(self.given[name]), "d", row))
            for name in ("first", "second")
        )
        given = load_spread(self.desk, self.kind, self._place("given", row)).to("d")

        def some(at: Any, mask: Any) -> None:
            slope = first / self._some(row, at, mask) * second
            store_lanes((slope * given).to(self.kind), self._place("out", at), 1, mask)

        self.loop(begin, whole, lambda at: some(at, None), step=self.lanes)
        self._rest(whole, end, some)

    def _rows(self, task: Any, inside: Callable[[Any, Any, Any], None]) -> None:
        """Loop over the units of a task in double precision; `inside` gets the unit, its row and its part."""
        self._lanes_of("d")
        begin, end = self.part(self.given["units"], task, self.given["tasks"])
        self.loop(begin, end, lambda unit: inside(unit, *self._split(unit)))


class AcrossEmitter(_Emitter):
    """Reductions over axes before the last ones: results are adjacent, and a row has one term of each."""

    def _centre(self, result: Any, mask: Any) -> Word:
        return self._load("centre", result, mask)

    def _unit(self, unit: Any, how: str, term: Callable[[Any, Any, Any], Word]) -> None:
        builder, given, lanes = self.builder, self.given, self.lanes
        strip, number = self._split(unit)
        outer, strip = builder.udiv(strip, given["strips"]), builder.urem(strip, given["strips"])
        left = builder.mul(strip, long(STRIP))
        width = self.least(builder.sub(given["inner"], left), long(STRIP))
        model = self._begun(how)
        stacks = [on_stack(builder, TYPES[self.own], STRIP, align=64) for _ in model.carried]

        def known(at: Any) -> Accumulator:
            carried = [
                load_lanes(self.desk, self.own, element(builder, s, self.own, at), 1, None).value for s in stacks
            ]
            return Accumulator(how, self.own, model.exact, lanes, carried)

        def keep(total: Accumulator, at: Any) -> None:
            for stack, value in zip(stacks, total.carried, strict=True):
                store_lanes(Word(self.desk, self.own, value), element(builder, stack, self.own, at), 1, None)

        def rows(count: int, row: Any) -> None:
            def some(at: Any, mask: Any) -> None:
                result = self.sum(builder.add(left, at), (outer, given["inner"]))
                terms = []
                for i in range(count):
                    line = self.sum(builder.add(row, long(i)), (outer, given["size"]))
                    place = self.sum(builder.add(left, at), (line, given["inner"]))
                    terms.append(term(result, place, mask))
                total = known(at)
                total.add(self.desk, _halves(how, terms), None)
                keep(total, at)

            self._columns(width, some)

        def finish(at: Any, mask: Any) -> None:
            line = self.sum(number, (outer, given["parts"]))
            place = self.sum(builder.add(left, at), (line, given["inner"]))
            self._finish(known(at).result(self.desk), place, lambda word, address: store_lanes(word, address, 1, mask))

        self.loop(long(0), width, lambda at: keep(self._begun(how), at), step=lanes)
        begin, end = self.part(given["size"], number, given["parts"])
        whole = builder.add(begin, builder.and_(builder.sub(end, begin), long(-STACKED)))
        self.loop(begin, whole, partial(rows, STACKED), step=STACKED)
        self.loop(whole, end, partial(rows, 1))
        self._columns(width, finish)

    def _columns(self, width: Any, inside: Callable[[Any, Any], None]) -> None:
        """Loop over adjacent results, register by register; the last one is masked."""
        builder, lanes = self.builder, self.lanes
        whole = builder.and_(width, long(-lanes))
        self.loop(long(0), whole, lambda at: inside(at, None), step=lanes)
        self.loop(whole, width, lambda at: inside(at, first_lanes(builder, builder.sub(width, at), lanes)), step=lanes)


def _halves(how: str, words: list[Word]) -> Word:
    """All words combined pairwise."""
    while len(words) > 1:
        words = [functools.reduce(partial(combine, how), words[i : i + 2]) for i in range(0, len(words), 2)]
    return words[0]


def _renewed(one: Word, power: Word) -> list[Any]:
    """A significand and an exponent with the significand normalised to 1 to 2 again."""
    one, more = _factored(one)
    return [one.value, (power + more).value]


def _factored(x: Word) -> tuple[Word, Word]:
    """The significand of a double, from 1 to 2, and its exponent; 0, inf and NaN have exponent 0."""
    bits = x.bits()
    field = bits.shifted_right(FRACTION["d"]) & EXPONENT
    whole = (field == 0) | (field == EXPONENT)
    one = (bits & ~(EXPONENT << FRACTION["d"])) | (BIAS["d"] << FRACTION["d"])
    return whole.select(x, one.real()), whole.select(0, field - BIAS["d"])


def _within(powers: Any, bound: int) -> Any:
    """Integers clipped to -bound and bound, in a third of the time of numpy.clip."""
    return np.minimum(np.maximum(powers, -bound), bound)


class Totals:
    """A reduction of arrays of one shape and dtype."""

    def __init__(
        self, name: str, form: tuple[int, int, int], results: Sequence[tuple[int, ...]], dtype: np.dtype[Any]
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
        self.words = dict(zip(FORM, (*form, self.parts, strips, units, self.tasks), strict=True))
        self._calls: dict[str, Call] = {}

    def _call(self, name: str, **arrays: Any) -> None:
        if (call := self._calls.get(name)) is None:
            emitter = AlongEmitter if self.form[2] == 1 else AcrossEmitter
            call = self._calls[name] = Call(emitter, KINDS[self.dtype], name, **self.words)
        call(self.tasks, shared=self.tasks > 1, **arrays)

    def __call__(self, x: Any, *, keepdims: bool, **arrays: Any) -> Any:
        """The results of the reduction; products have a method of their own."""
        found = np.empty(self.results[keepdims], self.dtype)
        if self.parts == 1:
            self._call(self.name, x=x, out=found, **arrays)
            return found
        outer, _, inner = self.form
        out = np.empty((outer, self.parts, inner), np.float64 if self.name in SUMS else self.dtype)
        self._call(self.name, x=x, out=out, **arrays)
        _xp.reshaped_view(found, outer, inner)[...] = COMBINED.get(self.name, np.add).reduce(out, 1)
        return found

    def product(self, x: Any, *, keepdims: bool) -> Any:
        """Products of rows."""
        found = np.empty(self.results[keepdims], self.dtype)
        _xp.reshaped_view(found, -1)[...] = np.ldexp(*self._factored(x))
        return found

    def _factored(self, x: Any) -> tuple[Any, Any]:
        """Products of rows as significands from 1/2 to 1, or 0, inf or NaN, and exponents."""
        shape = (self.form[0], self.parts)
        out, powers = np.empty(shape), np.empty(shape, np.int64)
        self._call("product", x=x, out=out, powers=powers)
        one, power = np.frexp(np.multiply.reduce(out, 1))
        return one, _within(np.add.reduce(powers, 1) + power, FAR).astype(np.intc)

    def product_pullback(self, g: Any, x: Any) -> Any:
        """The gradient of a product of rows; None if a product is 0, inf or NaN."""
        one, power = self._factored(x)
        if not (np.isfinite(one) & (one != 0)).all():
            return None
        near = _within(power, NEAR)
        first, second = np.ldexp(one, near), np.ldexp(1.0, _within(power - near, NEAR))
        out = np.empty(x.shape, x.dtype)
        self._call("product_pullback", x=x, first=first, second=second, given=np.ascontiguousarray(g), out=out)
        return out


@functools.lru_cache(maxsize=256)
def plan(name: str, shape: tuple[int, ...], axis: tuple[int, ...], dtype: np.dtype[Any]) -> Totals | None:
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
