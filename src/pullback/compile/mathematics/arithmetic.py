"""What IEEE 754 and integers define, bit for bit as NumPy has it: on integers and bools too, where that has a meaning."""

from __future__ import annotations

import math

from .lanes import ORDERED, REALS, WIDTH, Word


def add(a: Word, b: Word) -> Word:
    """a + b; of bools, or."""
    return a | b if a.kind == "b1" else a + b


def subtract(a: Word, b: Word) -> Word:
    """a - b."""
    return a - b


def multiply(a: Word, b: Word) -> Word:
    """a * b; of bools, and."""
    return a & b if a.kind == "b1" else a * b


def divide(a: Word, b: Word) -> Word:
    """a / b, of integers in double."""
    return a / b if a.kind in REALS else a.to("d") / b.to("d")


def negative(x: Word) -> Word:
    """-x."""
    return -x


def positive(x: Word) -> Word:
    """x."""
    return x


def absolute(x: Word) -> Word:
    """|x|."""
    if x.kind in REALS:
        return abs(x)
    return (x < 0).select(-x, x) if x.kind in ORDERED else x


def sign(x: Word) -> Word:
    """-1, 0 or 1; NaN of NaN."""
    if x.kind in REALS:
        return (x > 0).select(1, (x < 0).select(-1, (x == 0).select(0, x)))
    below = -1 if x.kind in ORDERED else 0
    return (x > 0).select(1, (x < 0).select(below, 0, x.kind))


def square(x: Word) -> Word:
    """x * x."""
    return multiply(x, x)


def reciprocal(x: Word) -> Word:
    """1 / x."""
    return 1 / x


def sqrt(x: Word) -> Word:
    """The square root."""
    return x.sqrt()


def rsqrt(x: Word) -> Word:
    """1 / sqrt(x)."""
    return 1 / x.sqrt()


# Of two zeros, or of equal numbers, maximum and minimum give the second, as NumPy does on x86.


def maximum(a: Word, b: Word) -> Word:
    """The larger; NaN where one is."""
    larger = a > b
    return (larger | a.isnan()).select(a, b) if a.kind in REALS else larger.select(a, b)


def minimum(a: Word, b: Word) -> Word:
    """The smaller; NaN where one is."""
    smaller = a < b
    return (smaller | a.isnan()).select(a, b) if a.kind in REALS else smaller.select(a, b)


def fmax(a: Word, b: Word) -> Word:
    """The larger; the other one of a NaN."""
    larger = a > b
    return (larger | b.isnan()).select(a, b) if a.kind in REALS else larger.select(a, b)


def fmin(a: Word, b: Word) -> Word:
    """The smaller; the other one of a NaN."""
    smaller = a < b
    return (smaller | b.isnan()).select(a, b) if a.kind in REALS else smaller.select(a, b)


def floor(x: Word) -> Word:
    """The next whole number below."""
    return x.floor() if x.kind in REALS else x


def ceil(x: Word) -> Word:
    """The next whole number above."""
    return x.ceil() if x.kind in REALS else x


def trunc(x: Word) -> Word:
    """The next whole number towards 0."""
    return x.trunc() if x.kind in REALS else x


def rint(x: Word) -> Word:
    """The nearest whole number, the even one of two."""
    return x.rint() if x.kind in REALS else x


def copysign(x: Word, y: Word) -> Word:
    """|x| with the sign of y."""
    return x.copysign(y)


def isnan(x: Word) -> Word:
    """Whether x is NaN."""
    return x.isnan() if x.kind in REALS else x.desk.number("b1", 0)


def isinf(x: Word) -> Word:
    """Whether x is inf or -inf."""
    return abs(x) == math.inf if x.kind in REALS else x.desk.number("b1", 0)


def isfinite(x: Word) -> Word:
    """Whether x is neither NaN nor infinite."""
    return abs(x) < math.inf if x.kind in REALS else x.desk.number("b1", 1)


def signbit(x: Word) -> Word:
    """Whether the sign is -."""
    return (x.bits() if x.kind in REALS else x) < 0


def greater(a: Word, b: Word) -> Word:
    """a > b."""
    return a > b


def greater_equal(a: Word, b: Word) -> Word:
    """a >= b."""
    return a >= b


def less(a: Word, b: Word) -> Word:
    """a < b."""
    return a < b


def less_equal(a: Word, b: Word) -> Word:
    """a <= b."""
    return a <= b


def equal(a: Word, b: Word) -> Word:
    """a == b."""
    return a == b


def not_equal(a: Word, b: Word) -> Word:
    """a != b."""
    return a != b


def truth(x: Word) -> Word:
    """Whether x is not 0; NaN is not."""
    return x if x.kind == "b1" else not_equal(x, x.like(0))


def logical_and(a: Word, b: Word) -> Word:
    """Whether both are not 0."""
    return truth(a) & truth(b)


def logical_or(a: Word, b: Word) -> Word:
    """Whether one is not 0."""
    return truth(a) | truth(b)


def logical_xor(a: Word, b: Word) -> Word:
    """Whether one and not the other is not 0."""
    return truth(a) ^ truth(b)


def logical_not(x: Word) -> Word:
    """Whether x is 0."""
    return ~truth(x)


def bitwise_and(a: Word, b: Word) -> Word:
    """The bits of both."""
    return a & b


def bitwise_or(a: Word, b: Word) -> Word:
    """The bits of either."""
    return a | b


def bitwise_xor(a: Word, b: Word) -> Word:
    """The bits of one and not the other."""
    return a ^ b


def invert(x: Word) -> Word:
    """The bits that are not in x."""
    return ~x


def _fits(a: Word, count: Word) -> Word:
    """Whether a shift by so much leaves anything: as unsigned, so that negative counts are too large."""
    return (count >= 0) & (count < WIDTH[a.kind])


def left_shift(a: Word, count: Word) -> Word:
    """a << count, 0 for counts beyond the width, as for negative ones."""
    fits = _fits(a, count)
    return fits.select(a << fits.select(count, 0), 0)


def right_shift(a: Word, count: Word) -> Word:
    """a >> count; for counts beyond the width, as for negative ones, nothing but copies of the sign."""
    return a >> _fits(a, count).select(count, WIDTH[a.kind] - 1) if a.kind in ORDERED else _unsigned_right(a, count)


def _unsigned_right(a: Word, count: Word) -> Word:
    fits = _fits(a, count)
    return fits.select(a >> fits.select(count, 0), 0)


def where(condition: Word, a: Word, b: Word) -> Word:
    """a where the condition is not 0, b elsewhere."""
    return truth(condition).select(a, b)


def cast(x: Word, kind: str) -> Word:
    """x as another dtype, as C and NumPy convert: reals towards 0, integers modulo the width, bools whether not 0.

    Reals that do not fit, and NaN, become what x86's instructions make of them in NumPy: the least integer of 32 bits
    for those of fewer, whose low bits are kept, and of 64 bits for i64 and u32; for u64 from 2^63 on, that of the rest.
    """
    if kind == "b1":
        return truth(x)
    if x.kind not in REALS or kind in REALS:
        return x.to(kind)
    if kind == "u64":
        above = x >= 2.0**63
        return cast(above.select(x - 2.0**63, x), "i64").to(kind) ^ above.select(1 << 63, 0, kind)
    wide = "i64" if kind in {"i64", "u32"} else "i32"
    bound = 2.0 ** (WIDTH[wide] - 1)
    low = x > -bound - 1 if (x.kind, wide) == ("d", "i32") else x >= -bound
    fits = low & (x < bound)
    return fits.select(fits.select(x, 0).to(wide), -(2 ** (WIDTH[wide] - 1))).to(kind)
