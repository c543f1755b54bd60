"""log and its relatives.

x is 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), or between 3/4 and 3/2. In float the logarithm of 1 + f is a
polynomial in f; in double it is 2 artanh(s) with s = f / (2 + f), which is f - f^2 / 2 + s (f^2 / 2 + s^2 Q(s^2)).
"""

from __future__ import annotations

import math
from typing import Any

from . import coefficients
from .exponentials import exp
from .lanes import FRACTION, TINY, IRValue, power_of_two

LIFT = 54  # subnormal numbers times 2^54 are normal
LARGE = 2.0**500  # squares could overflow beyond


def split(x: IRValue, least: float = math.sqrt(0.5)) -> tuple[IRValue, IRValue]:
    """The part between `least` and twice that, and the power of two of a positive finite number, as an integer."""
    subnormal = x < TINY[x.kind]
    part, k = split_normal(subnormal.select(x * 2.0**LIFT, x), least)
    return part, k - subnormal.select(LIFT, 0, k.kind)


def split_normal(x: IRValue, least: float = math.sqrt(0.5)) -> tuple[IRValue, IRValue]:
    """The same for numbers that are not subnormal."""
    bits = x.bits()
    k = (bits - x.ctx.number(x.kind, least).bits()) >> FRACTION[x.kind]
    return (bits - (k << FRACTION[x.kind])).real(), k


def log_near(f: IRValue, k: IRValue) -> IRValue:
    """k log(2) + log(1 + f)."""
    if f.kind == "f":
        return k.mad(math.log(2), (f * f).mad(f.polynomial(coefficients.LOG["f"]), f))
    high, low = coefficients.LN[f.kind]
    square = 0.5 * f * f
    s = f / (f + 2)
    z = s * s
    tail = s.mad(z.mad(z.polynomial(coefficients.ARTANH["d"]), square), k * low)
    return k.mad(high, f - (square - tail))


def _at_ends(x: IRValue, y: IRValue) -> IRValue:
    """The logarithm y of x, but -inf of 0, NaN below and of NaN, inf of inf."""
    end = (x == 0).select(-math.inf, (x < 0).select(math.nan, x))
    return ((x > 0) & (x < math.inf)).select(y, end)


def parted(x: IRValue) -> tuple[IRValue, IRValue]:
    """m from 3/4 to 3/2 and k, a whole number as a real, whose m 2^k is x.

    m is NaN below 0; k is -inf of 0 and inf of inf, with an m of 1.
    """
    if x.scales:
        return x.parted()
    m, k = split(x, 0.75)
    return (x >= 0).select(m, math.nan), (x == 0).select(-math.inf, (x == math.inf).select(math.inf, k.whole()))


def log(x: IRValue) -> IRValue:
    """The natural logarithm."""
    m, k = parted(x)
    return log_near(m - 1, k)


def log_of_normal(x: IRValue) -> IRValue:
    """The natural logarithm of a positive normal number, and NaN of NaN."""
    m, k = split_normal(x, 0.75)
    return x.isnan().select(x, log_near(m - 1, k.whole()))


def _near(f: IRValue, slope: float, rest: Any, higher: Any, of_e: Any) -> IRValue:
    """The logarithm of 1 + f to another base b.

    Of floats it is f log_b(e), which is slope + rest, and the higher powers; slope * f is exact. Of doubles it is that of e
    times log(1 + f).
    """
    if f.kind == "f":
        high, low = rest["f"]
        return f.mad(slope, f.mad(high, f.mad(low, f * f * f.polynomial(higher["f"]))))
    high, low = of_e["d"]
    natural = log_near(f, f.like(0))
    return natural.mad(high, natural * low)


def log_two(x: IRValue) -> IRValue:
    """The logarithm to base 2, exact for powers of two."""
    part, k = split(x)
    f, whole = part - 1, k.whole()
    return _at_ends(
        x, whole + _near(f, 1, coefficients.LOG_TWO_OF_E_LESS_ONE, coefficients.LOG_TWO, coefficients.LOG_TWO_OF_E)
    )


def log_ten(x: IRValue) -> IRValue:
    """The logarithm to base 10."""
    part, k = split(x)
    f, whole = part - 1, k.whole()
    near = _near(f, 0.5, coefficients.LOG_TEN_OF_E_LESS_HALF, coefficients.LOG_TEN, coefficients.LOG_TEN_OF_E)
    high, low = coefficients.LOG_TEN_OF_TWO[x.kind]
    return _at_ends(x, whole.mad(high, whole.mad(low, near)))


def log_one_plus(x: IRValue) -> IRValue:
    """log(1 + x): the rounding error of 1 + x, scaled like it, is added to f."""
    total = x + 1
    back = total - 1
    error = (1 - (total - back)) + (x - back)
    part, k = split_normal(total)
    f = (part - 1) + error * power_of_two(-k.at_most(100), x.kind)
    return _at_ends(total, log_near(f, k.whole())).copysign(x)


def log_one_plus_small(x: IRValue) -> IRValue:
    """log(1 + x) for x from 0 to 1, and NaN."""
    total = x + 1
    error = x - (total - 1)
    part, k = split_normal(total)
    f = (part - 1) + error * power_of_two(-k, x.kind)
    return x.isnan().select(x, log_near(f, k.whole()))


def softplus(x: IRValue) -> IRValue:
    """log(1 + e^x)."""
    return x.at_least(0) + log_one_plus_small(exp(-abs(x)))


def logsigmoid(x: IRValue) -> IRValue:
    """-log(1 + e^-x)."""
    return x.at_most(0) - log_one_plus_small(exp(-abs(x)))


def logaddexp(a: IRValue, b: IRValue) -> IRValue:
    """log(e^a + e^b), to rounding errors of the larger of |a|, |b| and the result."""
    larger = (a > b).select(a, b)
    gap = -abs(a - b)
    same = (a == b).select(0, gap)  # inf - inf
    return larger + log_one_plus_small(exp(same))


def arcsinh(x: IRValue) -> IRValue:
    """The inverse of sinh, of doubles."""
    size = abs(x)
    square = size * size
    near = size + square / ((square + 1).sqrt() + 1)
    large = size > LARGE
    return (
        log_one_plus(large.select(size, near)) + large.select(coefficients.LN["d"][0] + coefficients.LN["d"][1], 0, "d")
    ).copysign(x)


def arccosh(x: IRValue) -> IRValue:
    """The inverse of cosh, of doubles; NaN below 1."""
    above = x - 1
    near = above + (above * (above + 2)).sqrt()
    large = x > LARGE
    argument = (x < 1).select(math.nan, large.select(x, near))
    return log_one_plus(argument) + large.select(coefficients.LN["d"][0] + coefficients.LN["d"][1], 0, "d")


def arctanh(x: IRValue) -> IRValue:
    """The inverse of tanh, of doubles; NaN beyond 1."""
    size = abs(x)
    return (0.5 * log_one_plus(2 * size / (1 - size))).copysign(x)
