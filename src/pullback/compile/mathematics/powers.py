"""Powers and roots.

x^y is 2^(y log2(x)). The exponent can be as large as 1074, and its error is the result's relative error, so that for
doubles the logarithm is a sum of two numbers, 2 artanh(s) with s and s^3 in two parts; floats are computed in double.
"""

from __future__ import annotations

import math

from ..._numerics.pairs import ordered_total, total
from . import coefficients
from .exponentials import scaled
from .lanes import IRValue, power_of_two
from .logarithms import split, split_normal
from .pairs import product

FAR = 2.0**65  # an exponent of this size gives 0, 1 or inf
LARGEST = 1100.0  # 2^LARGEST is inf, 2^-LARGEST 0
HUGE, SMALL = 2.0**500, 2.0**-500  # beyond these squares are scaled


def _log_two_pair(x: IRValue) -> tuple[IRValue, IRValue]:
    """log2 of a positive finite double, as a sum of two, to 2^-64: k + log2(c) + 2 artanh(s) / log(2).

    The numbers c, one of three, keep s = (m - c) / (m + c) so small that its fifth power needs no second part.
    """
    part, k = split(x)
    under, over = part < 0.893, part > 1.118
    centre = under.select(51 / 64, over.select(1.25, 1, "d"))
    above, (below, lost) = part - centre, total(part, centre)
    s = above / below
    whole, rest = product(s, below)
    t = (((above - whole) - rest) - s * lost) / below
    z, z_low = product(s, s)
    z_low = (2 * s).mad(t, z_low)
    cube, cube_low = product(s, z)
    cube_low = s.mad(z_low, t.mad(z, cube_low))
    third, third_low = product(cube, x.like(coefficients.TWO_THIRDS["d"][0]))
    third_low = cube.mad(coefficients.TWO_THIRDS["d"][1], cube_low.mad(coefficients.TWO_THIRDS["d"][0], third_low))
    high, low = ordered_total(2 * s, third)
    low += (cube * z).mad(z.polynomial(coefficients.ARTANH_TAIL["d"]), t.mad(2, third_low))
    per_log, per_log_low = coefficients.LOG_TWO_OF_E["d"]
    near, rest = product(high, x.like(per_log))
    rest = high.mad(per_log_low, low.mad(per_log, rest))
    of_centre, of_centre_low = (
        under.select(below, over.select(above, 0, "d"))
        for below, above in zip(coefficients.LOG_TWO_BELOW["d"], coefficients.LOG_TWO_ABOVE["d"], strict=True)
    )
    high, lost = ordered_total(of_centre, near)
    rest += lost + of_centre_low
    high, lost = ordered_total(k.whole(), high)
    return ordered_total(high, lost + rest)


def _power_double(x: IRValue, y: IRValue) -> IRValue:
    """x^y for positive finite x."""
    high, low = _log_two_pair(x)
    exponent, rest = product(high, y)
    rest = (abs(exponent) < LARGEST).select(y.mad(low, rest), 0)
    exponent = exponent.at_most(LARGEST).at_least(-LARGEST)
    whole, n = exponent.nearest()
    r = (exponent - whole) + rest
    return scaled(r.mad(r.polynomial(coefficients.EXP_TWO["d"]), 1), (whole, n))


def _power_single(x: IRValue, y: IRValue) -> IRValue:
    """The same for doubles that come from floats, to the accuracy of these."""
    part, k = split_normal(x)
    f = part - 1
    s = f / (part + 1)
    z = s * s
    near = 2 * s + s * z * z.polynomial(coefficients.ARTANH_SHORT["d"])
    exponent = (near.mad(coefficients.LOG_TWO_OF_E["d"][0], k.whole()) * y).at_most(LARGEST).at_least(-LARGEST)
    whole, n = exponent.nearest()
    r = exponent - whole
    return scaled(r.mad(r.polynomial(coefficients.EXP_TWO_SHORT["d"]), 1), (whole, n))


def power(x: IRValue, y: IRValue) -> IRValue:
    """x^y, with C99's answers for zeros, infinities and NaN."""
    size = abs(x)
    bounded = y.at_most(FAR).at_least(-FAR)
    double = x.kind == "d"
    result = _power_double(size, bounded) if double else _power_single(size.to("d"), bounded.to("d")).to("f")
    at_end = (size == 0) | (size == math.inf)
    grows = (y > 0) ^ (size == 0)
    result = at_end.select(grows.select(math.inf, 0, x.kind), result)
    whole = y.trunc() == y
    half = y * 0.5
    odd = whole & (half.trunc() != half)
    negative = x.bits() < 0
    result = (negative & odd).select(-result, result)
    undefined = x.isnan() | y.isnan() | ((x < 0) & (size != math.inf) & ~whole)
    result = undefined.select(math.nan, result)
    return ((y == 0) | (x == 1)).select(1, result)


def cbrt(x: IRValue) -> IRValue:
    """The cube root: 2^q cbrt(m), from a polynomial improved once by E. Halley's formula."""
    if x.kind == "f":
        return cbrt(x.to("d")).to("f")
    size = abs(x)
    part, k = split(size)
    whole = k.whole()
    thirds, q = whole.nearest(1 / 3)
    left = whole - 3 * thirds
    root = part.polynomial(coefficients.CBRT["d"])
    root *= (left > 0).select(2 ** (1 / 3), (left < 0).select(0.5 ** (1 / 3), 1, "d"))
    part *= (left > 0).select(2, (left < 0).select(0.5, 1, "d"))
    cube = root * root * root
    root -= root * ((cube - part) / (2 * cube + part))
    root = (root * power_of_two(q, "d")).copysign(x)
    return ((size > 0) & (size < math.inf)).select(root, x)


def hypot(x: IRValue, y: IRValue) -> IRValue:
    """sqrt(x^2 + y^2), inf where either is; squares neither overflow nor vanish."""
    if x.kind == "f":
        return hypot(x.to("d"), y.to("d")).to("f")
    a, b = abs(x), abs(y)
    larger = (a > b).select(a, b)
    scale = (larger > HUGE).select(2.0**-600, (larger < SMALL).select(2.0**600, 1, "d"))
    back = (larger > HUGE).select(2.0**600, (larger < SMALL).select(2.0**-600, 1, "d"))
    a, b = a * scale, b * scale
    length = a.mad(a, b * b).sqrt() * back
    return ((abs(x) == math.inf) | (abs(y) == math.inf)).select(math.inf, length)
