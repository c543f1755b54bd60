"""exp and its relatives.

x is n log(2) + r with |r| at most log(2) / 2, n log(2) subtracted in two parts so that nothing is lost, and exp(x) is
2^n times a polynomial in r. The power is applied in two halves, each a normal number, so that results may be subnormal
or overflow with one rounding.
"""

from __future__ import annotations

import math

from ..._numerics.pairs import ordered_total
from .coefficients import EXP, EXP_MINUS_ONE, EXP_TWO, LN, LOG_TWO_OF_E, SINH, TANH
from .lanes import IRValue, power_of_two

# Below the first exp is 0, above the second inf; the same for 2^x.
RANGE = {"f": (-104.0, 89.0), "d": (-746.0, 710.0)}
LEAST_NORMAL = {"f": -87.0, "d": -708.0}  # above it exp is a normal number
RANGE_OF_TWO = {"f": (-151.0, 129.0), "d": (-1076.0, 1025.0)}
RANGE_OF_HALF = {"f": (-104.0, 90.0), "d": (-746.0, 712.0)}
SATURATED = {"f": (17.5, 10.0), "d": (38.0, 20.0)}  # from here on 1 - exp(-x), and tanh, are 1
POLYNOMIAL_TANH = 0.55
NO_MORE = {"f": 64, "d": 128}  # 1 - 2^-n is 1 here


Power = tuple[IRValue, IRValue]
"""A small whole number, as a real and as an integer."""


def _reduced(x: IRValue) -> tuple[IRValue, Power]:
    """r and n."""
    whole, n = x.nearest(LOG_TWO_OF_E[x.kind][0])
    high, low = LN[x.kind]
    return whole.mad(-low, whole.mad(-high, x)), (whole, n)


def _exp_near(r: IRValue) -> IRValue:
    return (r * r).mad(r.polynomial(EXP[r.kind]), r) + 1


def scaled(x: IRValue, power: Power) -> IRValue:
    """x * 2^n, rounded once, for any n that a result can need."""
    whole, n = power
    if x.scales:
        return x.scaled_by(whole)
    half = n >> 1
    return x * power_of_two(half, x.kind) * power_of_two(n - half, x.kind)


def exp(x: IRValue) -> IRValue:
    """e^x.

    Where it is 0 it is not computed: a product that underflows takes processors a hundred times as long as others, and
    softmax with a mask has many.
    """
    low, high = RANGE[x.kind]
    there = ~(x < low)
    r, n = _reduced(there.select(x, 0).at_most(high))
    return there.select(scaled(_exp_near(r), n), 0)


def exp_of_moderate(x: IRValue) -> IRValue:
    """e^x where it is a normal number, and NaN of NaN."""
    r, power = _reduced(x)
    return scaled(_exp_near(r), power) if x.scales else _exp_near(r) * power_of_two(power[1], x.kind)


def exp_of_share(x: IRValue) -> IRValue:
    """e^x for x up to 1: 0 where it is no normal number, and NaN of NaN."""
    there = ~(x < LEAST_NORMAL[x.kind])
    return there.select(exp_of_moderate(there.select(x, 0)), 0)


def exp_pair(x: IRValue) -> tuple[IRValue, IRValue, Power]:
    """a, b and n such that e^x is (a + b) 2^n."""
    low, high = RANGE[x.kind]
    r, n = _reduced(x.at_least(low).at_most(high))
    more = (r * r).mad(r.polynomial(EXP[r.kind]), r)
    return *ordered_total(r.like(1), more), n


def half_exp(x: IRValue) -> IRValue:
    """e^x / 2, finite a little longer than e^x."""
    low, high = RANGE_OF_HALF[x.kind]
    r, n = _reduced(x.at_least(low).at_most(high))
    return scaled(_exp_near(r), (n[0] - 1, n[1] - 1))


def exp_two(x: IRValue) -> IRValue:
    """2^x."""
    low, high = RANGE_OF_TWO[x.kind]
    gone = x < low
    x = gone.select(0, x).at_most(high)
    whole, n = x.nearest()
    r = x - whole
    return gone.select(0, scaled(r.mad(r.polynomial(EXP_TWO[x.kind]), 1), (whole, n)))


def exp_minus_one(x: IRValue) -> IRValue:
    """e^x - 1, as 2^n (exp(r) - 1 + (1 - 2^-n))."""
    r, n = _reduced(x.at_least(-SATURATED[x.kind][0]).at_most(RANGE[x.kind][1]))
    near = (r * r).mad(r.polynomial(EXP_MINUS_ONE[x.kind]), r)
    rest = 1 - power_of_two(-n[1].at_most(NO_MORE[x.kind]), x.kind)
    return scaled(near + rest, n).copysign(x)


def sigmoid(x: IRValue) -> IRValue:
    """1 / (1 + e^-x), from e^-|x|, which is never too large."""
    small = exp(-abs(x))
    below, error = ordered_total(x.like(1), small)
    quotient = (x >= 0).select(1, small) / below
    return quotient.mad(-error, quotient)


def tanh(x: IRValue) -> IRValue:
    """The hyperbolic tangent: a polynomial up to where it is 1/2, else 1 - 2 / (e^2|x| + 1).

    The exponential is one of |x|, in powers of 2r, and log(2) has one part: where n is large its error makes no difference.
    """
    size, z = abs(x), x * x
    near = (x * z).mad(z.polynomial(TANH[x.kind]), x)
    bounded = size.at_most(SATURATED[x.kind][1])
    whole, n = bounded.nearest(2 * LOG_TWO_OF_E[x.kind][0])
    r = whole.mad(-math.log(2) / 2, bounded)
    power = scaled(r.polynomial([c * 2.0**k for k, c in enumerate((1, 1, *EXP[x.kind]))]), (whole, n))
    return (size >= POLYNOMIAL_TANH).select(1 - 2 / (power + 1), near).copysign(x)


def sinh(x: IRValue) -> IRValue:
    """The hyperbolic sine of doubles: a polynomial near 0, else (e^|x| - e^-|x|) / 2."""
    size, z = abs(x), x * x
    near = (x * z).mad(z.polynomial(SINH[x.kind]), x)
    half = half_exp(size)
    return (size < 1).select(near, (half - 0.25 / half).copysign(x))


def cosh(x: IRValue) -> IRValue:
    """The hyperbolic cosine."""
    half = half_exp(abs(x))
    return half + 0.25 / half
