"""Remainders, exact for all operands, and the quotients that belong to them.

Where |a / b| is moderate the quotient is a whole number that a real holds, and a - q b is exact in straight-line code.
For all operands there is a function with a loop, long division of the significands, which is called for each element:
the one place where loops over an operation do not become vector code.
"""

from __future__ import annotations

import math

from .exponentials import scaled
from .lanes import BIAS, FRACTION, IRValue
from .pairs import product

# Below this quotient, and for doubles of a size between the other two, the short form is exact.
QUOTIENT = {"f": 2.0**28, "d": 2.0**52}
SMALL, HUGE = 2.0**-900, 2.0**900
STEP = 10  # bits of the quotient at once: a remainder below 2^53, shifted by so many, is an i64


def is_moderate(a: IRValue, b: IRValue) -> IRValue:
    """Whether the short form is exact."""
    kind = a.kind
    a, b = abs(a.to("d")), abs(b.to("d"))
    close = a < b * QUOTIENT[kind]
    if kind == "f":
        return close & (b < math.inf)
    return close & (b > SMALL) & (b < HUGE) & (a < HUGE)


def _near(a: IRValue, b: IRValue, *, short: bool) -> IRValue:
    """The remainder of doubles where it is easy; `short`: they come from floats, and products are exact.

    The quotient may have been rounded up to a whole number, and then is one too large.
    """
    quotient = (a / b).trunc()
    if short:
        rest = a - quotient * b
    else:
        multiple, error = product(quotient, b)
        rest = (a - multiple) - error
    over = (rest != 0) & ((rest < 0) ^ (a < 0))
    return over.select(rest + b.copysign(a), rest).copysign(a)


def fmod(a: IRValue, b: IRValue, *, near: bool = False) -> IRValue:
    """The remainder of a division towards 0, as C has it; NaN for b = 0 and infinite a."""
    kind = a.kind
    a, b = a.to("d"), b.to("d")
    if near:
        return _near(a, b, short=kind == "f").to(kind)
    return a.ctx.apart("fmod", _long_division, a, b).to(kind)


def _floored(a: IRValue, b: IRValue, *, near: bool) -> tuple[IRValue, IRValue, IRValue]:
    """The remainder towards 0, that towards -inf, and where they differ."""
    rest = fmod(a, b, near=near)
    differs = (rest != 0) & ((b < 0) ^ (rest < 0))
    return rest, differs.select(rest + b, (rest == 0).select(_zero_like(b), rest)), differs


def _zero_like(sign: IRValue) -> IRValue:
    return sign.like(0).copysign(sign)


def remainder(a: IRValue, b: IRValue, *, near: bool = False) -> IRValue:
    """The remainder of a division towards -inf, with the sign of b."""
    return _floored(a, b, near=near)[1]


def floor_divide(a: IRValue, b: IRValue, *, near: bool = False) -> IRValue:
    """The quotient that belongs to `remainder`."""
    rest, _, differs = _floored(a, b, near=near)
    plain, quotient = a / b, (a - rest) / b
    quotient = differs.select(quotient - 1, quotient)
    below = quotient.floor()
    whole = (quotient - below > 0.5).select(below + 1, below)
    return (b == 0).select(plain, (quotient == 0).select(_zero_like(plain), whole))


def _long_division(a: IRValue, b: IRValue) -> IRValue:
    """The remainder of any two doubles."""
    (left, left_power), (right, right_power) = _whole(abs(a)), _whole(abs(b))
    gap = left_power - right_power
    # Long division divides by at least 1, and does nothing when a is smaller; what it gives then is not used.
    divisor = (right == 0).select(1, right)
    start = (gap < 0).select(left, left % divisor)

    def step(rest: IRValue, gap: IRValue) -> tuple[IRValue, IRValue]:
        bits = gap.at_most(STEP)
        return (rest << bits) % divisor, gap - bits

    rest, _ = a.ctx.repeated([start, gap], lambda rest, gap: gap > 0, step)
    whole = scaled(rest.to("d"), (right_power.to("d"), right_power))
    result = (abs(a) < abs(b)).select(abs(a), whole).copysign(a)
    valid = (abs(a) < math.inf) & (abs(b) > 0)
    return valid.select(result, math.nan)


def _whole(x: IRValue) -> tuple[IRValue, IRValue]:
    """A number from 0 on as significand * 2^power, both integers, the power that of a subnormal number at least."""
    bits = x.bits()
    field = bits >> FRACTION["d"]
    fraction = bits & ((1 << FRACTION["d"]) - 1)
    normal = field > 0
    significand = normal.select(fraction | (1 << FRACTION["d"]), fraction)
    return significand, normal.select(field, 1) - (BIAS["d"] + FRACTION["d"])
