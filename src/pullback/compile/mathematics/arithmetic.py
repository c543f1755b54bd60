"""Casts between dtypes and extremes of two numbers, bit for bit as NumPy has them."""

from __future__ import annotations

from .lanes import REALS, WIDTH, IRValue


def truth(x: IRValue) -> IRValue:
    """Whether x is not 0; NaN is not."""
    return x if x.kind == "b1" else x != 0


def plus(a: IRValue, b: IRValue) -> IRValue:
    """The sum; of bools, or."""
    return a | b if a.kind == "b1" else a + b


def times(a: IRValue, b: IRValue) -> IRValue:
    """The product; of bools, and."""
    return a & b if a.kind == "b1" else a * b


# Of two zeros, or of equal numbers, maximum and minimum give the second, as NumPy does on x86.


def maximum(a: IRValue, b: IRValue) -> IRValue:
    """The larger of two numbers; NaN if one is NaN; of bools, or."""
    if a.kind == "b1":
        return a | b
    if a.kind in REALS and a.ctx.is_number(b):
        return (a <= b).select(b, a)
    larger = (a > b).select(a, b)  # one instruction, which waits for b alone
    return a.isnan().select(a, larger) if a.kind in REALS else larger


def minimum(a: IRValue, b: IRValue) -> IRValue:
    """The smaller of two numbers; NaN if one is NaN; of bools, and."""
    if a.kind == "b1":
        return a & b
    if a.kind in REALS and a.ctx.is_number(b):
        return (a >= b).select(b, a)
    smaller = (a < b).select(a, b)  # one instruction, which waits for b alone
    return a.isnan().select(a, smaller) if a.kind in REALS else smaller


def cast(x: IRValue, kind: str) -> IRValue:
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
