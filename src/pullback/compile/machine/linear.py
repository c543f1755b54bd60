"""Steps that are linear in their states, element by element, as the way back through a loop is: what states are multiplied
with is found from columns alone.

The chain of operations that each step waits for is a product and a sum then, whatever is done to get the factors. Products
are taken in another order for that, which is safe while nothing is as large or as small as numbers become at most. So
`plan` says between which powers of two all that a step is given must lie, and code looks whether it does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..loops import Scan
from ..mathematics.lanes import BITS, FRACTION, Word
from ..program import Equation, Value
from . import elements
from .elements import KINDS

LENGTH, WORTH = 64, 3
"""Steps from which on factors are worth their code; and operations that a state goes through in a step."""
SIZES = {"f": (30, 20, 14, 10), "d": (200, 100, 50)}
"""What may be given: zeros and numbers up to 2^size and down to 2^-size, the first of these that is not too large."""
HIGH, LOW = {"f": 60, "d": 480}, {"f": -120, "d": -960}
"""The powers of two up to which states and factors may go, so that no product overflows; and down to which products may."""

ALIKE = {"multiply", "negative", "tanh_pullback", "sigmoid_pullback"}
"""Operations that are linear in one operand."""
SUMS = {"add", "subtract", "rsub"}


class Range(NamedTuple):
    """Powers of two between which a number lies that is not zero."""

    low: float
    high: float


class _Unknown(Exception):  # noqa: N818  # it is no error
    """A value whose size is not known, or too large or too small."""


Terms = dict[Any, Any]
"""A linear value: for each state what it is multiplied with, and for None what is added."""


class _Sizes:
    """The sizes of values in a step, of which some are given."""

    def __init__(self, kind: str, size: int) -> None:
        self.kind, self.given = kind, Range(-size, size)

    def of_constant(self, array: Any) -> Range:
        """The size of numbers."""
        powers = [math.log2(abs(x)) for x in array.reshape(-1).tolist() if x]
        if not all(map(math.isfinite, powers)):
            raise _Unknown
        return self._checked(Range(min(powers, default=0), max(powers, default=0)))

    def product(self, a: Range, b: Range) -> Range:
        """The size of a product."""
        return self._checked(Range(a.low + b.low, a.high + b.high))

    def total(self, a: Range, b: Range) -> Range:
        """The size of a sum: not less than the last bit of its terms."""
        return self._checked(Range(min(a.low, b.low) - FRACTION[self.kind] - 1, max(a.high, b.high) + 1), least=False)

    def _checked(self, found: Range, *, least: bool = True) -> Range:
        if found.high > HIGH[self.kind] or (least and found.low < LOW[self.kind]):
            raise _Unknown
        return found

    def made(self, name: str, operands: Sequence[Range]) -> Range:
        """The size of what an operation gives."""
        if name in SUMS:
            return self.total(*operands)
        if name == "negative":
            return operands[0]
        if name == "multiply":
            return self.product(*operands)
        if name == "square":
            return self.product(operands[0], operands[0])
        if name in ("tanh_pullback", "sigmoid_pullback"):
            given, y = operands
            part = self.product(given, y)
            if name == "tanh_pullback":
                return self.total(given, self.product(part, y))
            return self.product(self.total(given, part), y)
        raise _Unknown


class Plan(NamedTuple):
    """Which values are linear in the states, and which states are multiplied with something; what else has to be looked
    at, and 2^size, which it must not exceed.
    """

    linear: frozenset[Value]
    multiplied: tuple[Value, ...]
    looked_at: tuple[Value, ...]
    size: int
    kind: str


def plan(loop: Scan, invariant: Iterable[Value]) -> Plan | None:
    """How a loop is computed by factors; None where it is not linear, or not worth it."""
    body, states = loop.body, loop.body.inputs[: loop.carries]
    shapes = {(value.shape, value.dtype) for value in states}
    kind = KINDS.get(states[0].dtype, "") if states else ""
    if len(shapes) != 1 or kind not in SIZES or loop.length < LENGTH:
        return None
    linear = _linear(loop)
    if linear is None or not linear.intersection(body.outputs[: loop.carries]):
        return None
    for size in SIZES[kind]:
        try:
            looked_at = _looked_at(loop, linear, {*invariant}, _Sizes(kind, size))
        except _Unknown:
            continue
        return Plan(linear, _multiplied(loop), looked_at, size, kind)
    return None


def _multiplied(loop: Scan) -> tuple[Value, ...]:
    """The states but for those that are sums, to which something is added and that is all."""
    body, ends = loop.body, loop.body.outputs[: loop.carries]
    used = {value for equation in body.equations for value in equation.inputs}
    sums = {e.outputs[0] for e in body.equations if e.name == "add"}.intersection(ends) - used
    parts = {x for e in body.equations if e.outputs[0] not in sums for x in e.inputs}
    return tuple(state for state in body.inputs[: loop.carries] if state in parts)


def _linear(loop: Scan) -> frozenset[Value] | None:
    """The values that are linear in the states, if what depends on states is; None also where chains are short."""
    body, states = loop.body, loop.body.inputs[: loop.carries]
    like, depths = (states[0].shape, states[0].dtype), dict.fromkeys(states, 0)
    for equation in body.equations:
        own = [value for value in equation.inputs if value in depths]
        if not own:
            continue
        out = equation.outputs[0]
        alike = (
            equation.name in ALIKE and len(own) == 1 and (equation.name == "multiply" or equation.inputs[0] is own[0])
        )
        fits = all((value.shape, value.dtype) == like for value in (*own, out))
        if not fits or not (alike or equation.name in SUMS):
            return None
        depths[out] = 1 + max(depths[value] for value in own)
    if any(value not in depths for value in body.outputs[: loop.carries]):
        return None
    return frozenset(depths) if max(depths[value] for value in body.outputs[: loop.carries]) >= WORTH else None


def _looked_at(loop: Scan, linear: frozenset[Value], invariant: set[Value], sizes: _Sizes) -> tuple[Value, ...]:
    """The values whose size must be known; _Unknown where that does not say enough of all others."""
    body, known, needed = loop.body, dict[Value, Range](), []
    makers = body.makers()
    state = body.inputs[0]

    def size_of(value: Value) -> Range:
        if value not in known:
            maker = makers.get(value)
            if value in body.constants:
                known[value] = sizes.of_constant(body.constants[value])
            elif maker is not None and value not in invariant:
                known[value] = sizes.made(maker.name, [size_of(x) for x in maker.inputs])
            elif value.dtype == state.dtype and value.shape in ((), state.shape):
                needed.append(value)
                known[value] = sizes.given
            else:
                raise _Unknown
        return known[value]

    one, factors = Range(0, 0), dict[Value, dict[Any, Range]]()
    for value in body.inputs[: loop.carries]:
        factors[value] = {value: one}
    for equation in body.equations:
        if equation.outputs[0] in linear:
            factors[equation.outputs[0]] = _combined(
                equation,
                [factors.get(x) or {None: size_of(x)} for x in equation.inputs],
                lambda parts, name=equation.name: sizes.made(name, parts),
            )
    return tuple(needed)


def _combined(equation: Equation, operands: list[Terms], made: Any) -> Terms:
    """The terms of what an operation gives, from those of its operands; `made` computes it from one term of each."""
    if equation.name not in SUMS:
        others = [next(iter(terms.values())) if [*terms] == [None] else None for terms in operands]
        place = next((i for i, other in enumerate(others) if other is None), 0)
        return {
            key: made([term if i == place else other for i, other in enumerate(others)])
            for key, term in operands[place].items()
        }
    left, right = operands
    found: Terms = {}
    for key in dict.fromkeys((*left, *right)):
        if key in left and key in right:
            found[key] = made([left[key], right[key]])
        else:
            alone = left.get(key, right.get(key))
            opposite = (equation.name == "subtract" and key in right) or (equation.name == "rsub" and key in left)
            found[key] = -alone if opposite and isinstance(alone, Word) else alone
    return found


def terms_of(equation: Equation, operands: list[Terms]) -> Terms:
    """The terms of what an operation gives, as words."""
    out = equation.outputs[0]

    def made(words: list[Word]) -> Word:
        return elements.apply(equation.name, words, (out.dtype,) * len(words), out.dtype, equation.params)

    return _combined(equation, operands, made)


def together(terms: Terms, states: dict[Value, Word]) -> Word:
    """The sum of terms: states in one operation each, behind all that is known before."""
    total: Word | None = terms.get(None)
    for value, factor in terms.items():
        if value is not None:
            total = states[value] * factor if total is None else states[value].mad(factor, total)
    assert total is not None
    return total


class Watch:
    """The largest and the smallest of the sizes that were seen, but for zeros, as bits: they have the same order."""

    def __init__(self, high: Word, low: Word) -> None:
        self.high, self.low = high, low

    def seen(self, x: Word) -> Watch:
        """With a number more."""
        size = _bits(x)
        before = size - 1  # of a zero, the largest of all
        return Watch(_larger(self.high, size), (before < self.low).select(before, self.low))

    def within(self, power: int, kind: str) -> Word:
        """Whether all lie between 2^-power and 2^power."""
        high, low = (self.high.desk.number(kind, 2.0**p).bits().to(self.high.kind) for p in (power, -power))
        return (self.high <= high) & (self.low >= low - 1)


def _bits(x: Word) -> Word:
    return abs(x).bits().to("u" + BITS[x.kind][1:])


def _larger(a: Word, b: Word) -> Word:
    return (a < b).select(b, a)


def larger(high: Word, x: Word) -> Word:
    """The larger size, as bits; NaN is larger than all."""
    return _larger(high, _bits(x))
