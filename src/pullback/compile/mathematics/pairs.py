"""Sums and products with their rounding errors, and numbers held as the sum of two.

T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18 (1971), pages
224-242; the sum of two numbers in any order is D. E. Knuth's, "The art of computer programming", volume 2.
"""

from __future__ import annotations

from .lanes import FRACTION, IRValue


def total(a: IRValue, b: IRValue) -> tuple[IRValue, IRValue]:
    """a + b rounded, and what that lost."""
    high = a + b
    of_b = high - a
    return high, (a - (high - of_b)) + (b - of_b)


def ordered_total(a: IRValue, b: IRValue) -> tuple[IRValue, IRValue]:
    """The same where |a| is at least |b|, or a is 0."""
    high = a + b
    return high, b - (high - a)


def product(a: IRValue, b: IRValue) -> tuple[IRValue, IRValue]:
    """a * b rounded, and what that lost: exact unless it is subnormal, or (without fma) an operand enormous."""
    high = a * b
    if a.ctx.target.fma:
        return high, a.mad(b, -high)
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(x: IRValue) -> tuple[IRValue, IRValue]:
    """A number as a sum of two with half as many bits."""
    shifted = x * (2.0 ** ((FRACTION[x.kind] + 2) // 2) + 1)
    high = shifted - (shifted - x)
    return high, x - high
