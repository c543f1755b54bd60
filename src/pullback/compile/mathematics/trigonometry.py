"""sin, cos, tan and their inverses.

x is n pi / 2 + r with |r| at most pi / 4. For moderate x (NEAR) pi / 2 is subtracted n times in parts (W. J. Cody and
W. Waite, "Software manual for the elementary functions", 1980). For all x the number of quarter turns is a product with
2 / pi, of which only the digits that matter are used (M. H. Payne and R. N. Hanek, "Radian reduction for trigonometric
functions", SIGNUM Newsletter 18, 1983). Floats are integers for that; doubles are scaled by a power of two, and a row of a
table is that power times 2 / pi, less whole turns. All of it is straight-line code; that for all x costs about three times
as much.

Where numbers are few, each operation waits for the one before, and not for its turn. There sine and cosine are one
polynomial, whose coefficients are chosen before r is known, and neither a choice nor a sign comes after it.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import NamedTuple

from ..._numerics.pairs import total
from .coefficients import COS, HALF_PI, HALF_PI_PARTS, HALF_PI_STEPS, SIN, TAN, TWO_BY_PI
from .lanes import BIAS, FRACTION, IRValue, Sum, power_of_two
from .pairs import product

NEAR = {"f": 8192.0, "d": 2.0**20}  # |x| up to which the short reduction will do
STRIDE, ROWS = 4, 62  # the rows of the table for doubles are 2^STRIDE powers of two apart; how many there are
DIGITS = 1280  # bits of 2 / pi that are known


def is_moderate(x: IRValue) -> IRValue:
    """Whether the short reduction is exact enough."""
    return abs(x) <= NEAR[x.kind]


class Rest(NamedTuple):
    """What is left of an angle: r; r but for its last bits, known sooner and good enough for squares; n as an integer."""

    r: IRValue
    early: IRValue
    n: IRValue


def _reduced_near(x: IRValue) -> Rest:
    """The rest for |x| up to NEAR."""
    whole, n = x.nearest(2 / math.pi)
    if not x.ctx.target.fma:
        return _reduced_in_steps(x, whole, n)
    first, second, third = HALF_PI_PARTS[x.kind]
    early = whole.mad(
        -second, whole.mad(-first, x)
    )  # the first is exact: both terms are multiples of 2^-24, or of 2^-53
    return Rest(whole.mad(-third, early), early, n)


def _reduced_in_steps(x: IRValue, whole: IRValue, n: IRValue) -> Rest:
    """The same where all products are rounded, or exact."""
    first, second, third, rest = HALF_PI_STEPS[x.kind]
    r = x - whole * first
    if x.kind == "f":
        before = r - whole * second
        early = before - whole * third
        r = early + ((before - early) - whole * third - whole * rest)
    else:
        r, lost = total(r, whole * -second)
        early, error = total(r, whole * -third)
        r = early + (error + lost - whole * rest)
    return Rest((x == 0).select(x, r), early, n)  # -0.0 would become 0.0


def _reduced_float(x: IRValue) -> tuple[IRValue, IRValue]:
    """r in double, and n as an i64, for any float m 2^e.

    A product of integers, m times those 64 bits of 2 / pi that matter, has m 2^e 2 / pi less a multiple of 4 as its low 64
    bits: the first two count quarter turns. The next 32 bits of 2 / pi make it exact enough near multiples of pi / 2.
    """
    ctx, bits, small = x.ctx, x.bits().to("i64"), abs(x) < math.pi / 4
    m = small.select(0, (bits & 0x7FFFFF) | 0x800000)
    m = (x < 0).select(-m, m)
    e = ((bits >> FRACTION["f"]) & 255) - (BIAS["f"] + FRACTION["f"])
    last = (e + 62).at_least(0)  # of those bits
    words = [ctx.number("i64", TWO_BY_PI >> DIGITS - 64 * i & (1 << 64) - 1) for i in range(5)]  # the first is 0
    a, b, c = ((last < 64).select(words[i], (last < 128).select(words[i + 1], words[i + 2])) for i in range(3))
    shift = last & 63
    taken, following = ((y << shift) | z.shifted_right(1).shifted_right(63 - shift) for y, z in ((a, b), (b, c)))
    turns = m * taken + (m * following.shifted_right(32) >> 32)
    n = (turns + (1 << 61)) >> 62
    rest = turns - (n << 62)
    rest = (rest >> 32).whole() * 2.0**32 + (rest & 0xFFFFFFFF).whole()
    r = small.select(x.to("d"), rest * (HALF_PI["d"][0] * 2.0**-62))
    return r + (x - x).to("d"), n  # NaN of inf


@functools.cache
def _turns() -> tuple[float, ...]:
    """Rows of 2^k * 2 / pi less a multiple of 4, in four parts, for k = 0, 16, 32, ..."""
    table, one = [], 1 << DIGITS
    for row in range(ROWS):
        rest = ((TWO_BY_PI << (row << STRIDE)) + 2 * one) % (4 * one) - 2 * one
        for _ in range(4):
            table.append(rest / one)
            rest -= int(math.ldexp(table[-1], DIGITS // 2)) << DIGITS // 2
    return tuple(table)


def _reduced_double(x: IRValue) -> tuple[IRValue, IRValue]:
    """r, and n as an integer, for any double."""
    ctx = x.ctx
    power = ((x.bits() >> FRACTION["d"]) & 2047) - (BIAS["d"] + FRACTION["d"])
    row = (power >> STRIDE).at_least(0)
    scaled = x * power_of_two(-(row << STRIDE), "d")  # a whole number, but for row 0
    parts = [ctx.lookup("turns", _turns(), (row << 2) + i) for i in range(4)]
    (a, b), (c, d), (e, f) = (product(scaled, part) for part in parts[:3])
    a -= 4 * (a * 0.25).rint()
    high, rest = total(a, b)
    high, more = total(high, c)
    whole, n = high.nearest()
    high -= whole
    low, least = total(rest, more)
    for term in (d, e):
        low, error = total(low, term)
        least += error
    least += scaled.mad(parts[3], f)
    high, rest = total(high, low)
    rest += least
    upper, lower = HALF_PI["d"]
    top, error = product(high, ctx.number("d", upper))
    r = top + (rest.mad(upper, high * lower) + error)
    return (abs(x) < math.pi / 4).select(x, r), n


def reduced(x: IRValue, *, near: bool = False) -> Rest:
    """The rest in x's kind, with n as the integer of its size: all that `sine` and `cosine` of x need."""
    if near:
        return _reduced_near(x)
    r, n = _reduced_double(x) if x.kind == "d" else _reduced_float(x)
    if x.kind == "f":
        r, n = r.to("f"), n.to("i32")
    r = (x == 0).select(x, r)
    return Rest(r, r, n)


def _sine(r: IRValue, early: IRValue) -> IRValue:
    z = early * early
    return (early * z).mad(z.polynomial(SIN[r.kind]), r)


def _cosine(r: IRValue) -> IRValue:
    z = r * r
    return z.polynomial((1, -0.5, *COS[r.kind]))


def _signs(n: IRValue, kind: str) -> IRValue:
    """The sign that n quarter turns give, as bits."""
    return (n & 2) << (FRACTION[kind] + {"f": 7, "d": 10}[kind])


def _turned(rest: Rest, n: IRValue) -> IRValue:
    """The sine of r + n pi / 2."""
    r, early, _ = rest
    y = ((n & 1) == 0).select(_sine(r, early), _cosine(early))
    return (y.bits() ^ _signs(n, r.kind)).real()


def _turned_soon(rest: Rest, n: IRValue, zero: IRValue | None = None) -> IRValue:
    """The same, soon after r is known: a + b z q, where a and b are r, or 1 for a cosine.

    The first coefficient is negative, so a zero would be the sum of zeros with both signs: there, b has the other sign.
    """
    r, early, _ = rest
    odd, signs, z = (n & 1) != 0, _signs(n, r.kind), early * early
    pairs = itertools.zip_longest((-0.5, *COS[r.kind]), SIN[r.kind], fillvalue=0.0)
    q = z.polynomial([odd.select(of_cosine, of_sine, r.kind) for of_cosine, of_sine in pairs], soon=True)
    a = (odd.select(1, r).bits() ^ signs).real()
    if zero is not None:
        signs ^= zero.select(_signs(n.like(2), r.kind), 0)
    b = (odd.select(1, early).bits() ^ signs).real()
    return Sum(b * z, q, a)


def sine(x: IRValue, rest: Rest) -> IRValue:
    """The sine of x = n pi / 2 + r."""
    if x.ctx.branching:
        return _turned_soon(rest, rest.n, x == 0)
    return (x == 0).select(x, _turned(rest, rest.n))


def cosine(x: IRValue, rest: Rest) -> IRValue:
    """The cosine of x = n pi / 2 + r."""
    return (_turned_soon if x.ctx.branching else _turned)(rest, rest.n + 1)


def sin(x: IRValue, *, near: bool = False) -> IRValue:
    """The sine."""
    return sine(x, reduced(x, near=near))


def cos(x: IRValue, *, near: bool = False) -> IRValue:
    """The cosine."""
    return cosine(x, reduced(x, near=near))


def tan(x: IRValue, *, near: bool = False) -> IRValue:
    """The tangent; floats are computed in double."""
    if x.kind == "f":
        r, n = _reduced_near(x.to("d"))[::2] if near else _reduced_float(x)
    else:
        r, _, n = reduced(x, near=near)
    z = r * r
    y = (r * z).mad(z.polynomial(TAN[x.kind]), r)
    odd = (n & 1) != 0
    y = odd.select(-1, y) / odd.select(y, 1)
    return (x == 0).select(x, y.to(x.kind))
