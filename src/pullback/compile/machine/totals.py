"""Sums, products and extremes of large arrays over neighbouring axes, eager.

NumPy goes over an array in one thread, once for each step. Here an array is (outer, size, inner), reduced over `size`;
threads share its parts, which depend on its form alone, and NumPy puts together what few parts have given. Floats are
added up in doubles. Doubles are added up in short blocks, and those without loss. Products are numbers from 1 to 2 and
powers of two apart, so that none overflows on its way.
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
"""Elements, about, of what a thread does at a time."""
TOGETHER, TURNS = 4, 8
"""Registers for a result, and turns of so many after which sums are added to what was summed before."""
STRIP, STACKED = 1 << 10, 8
"""Neighbouring results that are computed at a time, and how many rows are combined in registers for them."""
SEVERAL, MOST = 16, 1 << 9
"""Parts that there should be of a matrix whose rows are combined, and the most of a row."""
SUBNORMAL = 54
"""Factors of two that make a subnormal number normal."""
EXPONENT = 2047
"""All bits of a double's exponent, at their end."""
NEAR, FAR = 1000, 1 << 13
"""Powers of two that are normal doubles, and those that nothing brings back to these."""
SUMS, COMBINED = ("total", "squares", "spread", "inner"), {"largest": np.maximum, "smallest": np.minimum}
"""What is computed in doubles, and how parts of the other results are put together."""
PRODUCTS = ("inner", "product", "product_pullback")
"""What there is for rows alone."""
FORM = "outer size inner parts strips units tasks".split()
"""The words that all functions are told first."""

Terms = Callable[[Any, Any], Word]
"""What is combined: some elements from a place on, with a mask or None."""


class _Emitter(TaskEmitter):
    """The functions of both orders, each of some units: a part of `size` of some results."""

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
        """Sums of the squares of what lies between elements and a centre."""

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
        """All units of a task."""
        dtype = np.dtype(np.float32 if self.kind == "f" else np.float64)
        self._lanes_of(kind_of(how, dtype, dtype))
        begin, end = self.part(self.given["units"], task, self.given["tasks"])
        self.loop(begin, end, lambda unit: self._unit(unit, how, term))

    def _lanes_of(self, kind: str) -> None:
        """Results are of that kind from here on."""
        self.own, self.lanes = kind, native.width() // SIZES[kind]
        self.desk = Desk(self.builder, self.target, self.lanes)

    def _unit(self, unit: Any, how: str, term: Callable[[Any, Any, Any], Word]) -> None:
        raise NotImplementedError

    def _centre(self, result: Any, mask: Any) -> Word:
        raise NotImplementedError

    def _some(self, result: Any, at: Any, mask: Any) -> Word:
        """Some elements of x, as numbers of the kind in which results are made."""
        return self._load("x", at, mask)

    def _load(self, name: str, place: Any, mask: Any) -> Word:
        return load_lanes(self.desk, self.kind, self._place(name, place), 1, mask).to(self.own)

    def _place(self, name: str, place: Any) -> Any:
        return element(self.builder, self.pointer(self.given[name]), self.kind, place)

    def _split(self, unit: Any) -> tuple[Any, Any]:
        """What a unit belongs to, the number of its part, and where that begins and ends."""
        parts = self.given["parts"]
        return self.builder.udiv(unit, parts), self.builder.urem(unit, parts)

    def _begun(self, how: str) -> Accumulator:
        return Accumulator.begun(self.desk, how, self.own, exact=how == "sum" and self.kind == "d")

    def _finish(self, word: Word, place: Any, write: Callable[[Word, Any], None]) -> None:
        """Write results: as they are where they are parts of others, else as numbers of the kind of x."""
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
    """Where the last axes are reduced: a result is that of a row."""

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
        """Combine a part of a row: turns of some registers, blocks of turns, and the rest vector by vector."""
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
        """Where a part of a row begins and ends in x, and where whole spans end."""
        size = self.given["size"]
        begin, end = (self.sum(at, (row, size)) for at in self.part(size, number, self.given["parts"]))
        whole = self.builder.add(begin, self.builder.and_(self.builder.sub(end, begin), long(-span)))
        return begin, end, whole

    def _rest(self, begin: Any, end: Any, inside: Callable[[Any, Any], None], carried: list[Any] | None = None) -> None:
        """Vector by vector, with masks."""

        def some(at: Any) -> None:
            inside(at, first_lanes(self.builder, self.builder.sub(end, at), self.lanes))

        self.loop(begin, end, some, step=self.lanes, carried=carried)

    def _word(self, value: Any) -> Word:
        return Word(self.desk, self.own, value)

    # Products

    def inner(self, task: Any) -> None:
        """Sums of products with other elements."""
        self._units(task, "sum", lambda result, at, mask: self._some(result, at, mask) * self._load("y", at, mask))

    def product(self, task: Any) -> None:
        """Products: what is from 1 to 2, and the powers of two that it is to be multiplied by."""
        self._rows(task, self._product)

    def _product(self, unit: Any, row: Any, number: Any) -> None:
        builder, span = self.builder, TOGETHER * self.lanes
        begin, end, whole = self._range(row, number, span)
        carried = [self.desk.number("d", 1).value, self.desk.number("i64", 0).value]

        def turn(at: Any) -> None:
            factors = [self._some(row, builder.add(at, long(i * self.lanes)), None) for i in range(TOGETHER)]
            if self.kind == "f":  # four of them make no double overflow
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
        """Multiply by what is from 1 to 2 in a factor, and count the powers of two."""
        power = Word(self.desk, "i64", carried[1])
        if self.kind == "d":
            small = abs(factor) < TINY["d"]
            factor, power = small.select(factor * 2.0**SUBNORMAL, factor), power - small.select(SUBNORMAL, 0, "i64")
        one, more = _factored(factor)
        carried[:] = [(self._word(carried[0]) * one).value, (power + more).value]

    def product_pullback(self, task: Any) -> None:
        """The cotangents of factors: two numbers over them, one after another, times what is given."""
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
        """All units of a task, in doubles: each is told itself, its row, and the number of its part."""
        self._lanes_of("d")
        begin, end = self.part(self.given["units"], task, self.given["tasks"])
        self.loop(begin, end, lambda unit: inside(unit, *self._split(unit)))


class AcrossEmitter(_Emitter):
    """Where axes before the last ones are reduced: results lie side by side, and a row has a term of each."""

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
        """Go along results: whole vectors, and a rest with a mask."""
        builder, lanes = self.builder, self.lanes
        whole = builder.and_(width, long(-lanes))
        self.loop(long(0), whole, lambda at: inside(at, None), step=lanes)
        self.loop(whole, width, lambda at: inside(at, first_lanes(builder, builder.sub(width, at), lanes)), step=lanes)


def _halves(how: str, words: list[Word]) -> Word:
    """All words as one, neighbours first."""
    while len(words) > 1:
        words = [functools.reduce(partial(combine, how), words[i : i + 2]) for i in range(0, len(words), 2)]
    return words[0]


def _renewed(one: Word, power: Word) -> list[Any]:
    """The values of a number and the power of two that it stands for, with the number from 1 to 2 again."""
    one, more = _factored(one)
    return [one.value, (power + more).value]


def _factored(x: Word) -> tuple[Word, Word]:
    """A double as a number whose size is from 1 to 2 and a power of two; 0, inf and NaN as they are, and 2^0."""
    bits = x.bits()
    field = bits.shifted_right(FRACTION["d"]) & EXPONENT
    whole = (field == 0) | (field == EXPONENT)
    one = (bits & ~(EXPONENT << FRACTION["d"])) | (BIAS["d"] << FRACTION["d"])
    return whole.select(x, one.real()), whole.select(0, field - BIAS["d"])


def _within(powers: Any, bound: int) -> Any:
    """Whole numbers between two bounds: np.clip's result in a third of its time."""
    return np.minimum(np.maximum(powers, -bound), bound)


class Totals:
    """A reduction of arrays of one form and dtype."""

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
        """The results; a product's are those of `product`."""
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
        """Products of rows: what is from 1/2 to 1, or is 0 or infinite or NaN, and powers of two."""
        shape = (self.form[0], self.parts)
        out, powers = np.empty(shape), np.empty(shape, np.int64)
        self._call("product", x=x, out=out, powers=powers)
        one, power = np.frexp(np.multiply.reduce(out, 1))
        return one, _within(np.add.reduce(powers, 1) + power, FAR).astype(np.intc)

    def product_pullback(self, g: Any, x: Any) -> Any:
        """The cotangents of the factors of rows; None where one is zero, or no number."""
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
    """How arrays of a shape are reduced over axes.

    None where these are no neighbours, or no axes; for products of other than rows; for dtypes that are not the machine's.
    """
    if dtype not in (np.float32, np.float64) or not axis or max(axis) - min(axis) >= len(axis):
        return None
    first, end = min(axis), max(axis) + 1
    form = math.prod(shape[:first]), math.prod(shape[first:end]), math.prod(shape[end:])
    if name in PRODUCTS and form[2] != 1:
        return None
    kept = tuple([1 if i in axis else size for i, size in enumerate(shape)])
    return Totals(name, form, (shape[:first] + shape[end:], kept), dtype)
