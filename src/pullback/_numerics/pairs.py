"""Sums and products with their rounding errors: of arrays, and of what machine code computes with.

T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18 (1971), pages
224-242; the sum of two numbers in any order is D. E. Knuth's, "The art of computer programming", volume 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._core.typing import Numeric

SPLITTER = {"f": 2.0**12 + 1, "d": 2.0**27 + 1}
"""A product with it leaves the upper half of the bits of a number of this kind."""


def total(a: Numeric, b: Numeric | float) -> tuple[Numeric, Numeric]:
    """a + b rounded, and what that lost."""
    high = a + b
    of_b = high - a
    return high, (a - (high - of_b)) + (b - of_b)


def ordered_total(a: Numeric | float, b: Numeric) -> tuple[Numeric, Numeric]:
    """The same where |a| is at least |b|, or a is 0."""
    high = a + b
    return high, b - (high - a)


def product(a: Numeric, b: Numeric, kind: str = "d") -> tuple[Numeric, Numeric]:
    """a * b rounded, of floats ("f") or doubles ("d"), and what that lost: exact unless it is subnormal, or an operand enormous."""
    splitter = SPLITTER[kind]
    high = a * b
    a_high, a_low = _halves(a, splitter)
    b_high, b_low = (a_high, a_low) if a is b else _halves(b, splitter)
    return high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(x: Numeric, splitter: float) -> tuple[Numeric, Numeric]:
    """A number as a sum of two with half as many bits."""
    shifted = x * splitter
    high = shifted - (shifted - x)
    return high, x - high
