"""IR values as the numbers that formulas compute with: `_numerics.arrays` says what each function is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from .exponentials import exp_of_moderate as exp, exp_pair, scaled
from .lanes import IRValue
from .logarithms import log
from .pairs import product

if TYPE_CHECKING:
    from ..._numerics.arrays import Formulas

__all__ = ["exp", "log", "product"]

floor, maximum, minimum, multiply_add = IRValue.floor, IRValue.at_least, IRValue.at_most, IRValue.mad
polynomial, rint, sqrt, where = IRValue.polynomial, IRValue.rint, IRValue.sqrt, IRValue.select

IR: Formulas = sys.modules[__name__]
"""This module as what formulas are given."""


def copysign(size: IRValue | float, sign: IRValue) -> IRValue:
    """A size with the sign of another value."""
    return sign.like(size).copysign(sign)


def exp_times(x: IRValue, high: IRValue, low: IRValue) -> IRValue:
    """e^x times the sum of two numbers, of which the second is small: rounded once where the product is subnormal."""
    power, power_low, n = exp_pair(x)
    y, lost = product(power, high)
    return scaled(y + (lost + power.mad(low, power_low * high)), n)


def choose(
    condition: IRValue, first: Callable[..., IRValue], second: Callable[..., IRValue], *operands: IRValue
) -> IRValue:
    """The one function where a condition is true, the other elsewhere: both are computed."""
    return condition.select(first(*operands), second(*operands))


def reflect(
    x: IRValue,
    turned: Callable[[IRValue], IRValue],
    above: Callable[[IRValue], IRValue],
    below: Callable[[IRValue, IRValue], IRValue],
) -> IRValue:
    """A function by a formula from 0 on; below 0 by another one, of x and the former at `turned(x)`."""
    negative = x < 0
    found = above(negative.select(turned(x), x))
    return negative.select(below(x, found), found)


def sum_of_steps(function: Callable[[IRValue], IRValue], x: IRValue, count: int) -> IRValue:
    """The sum of a function at x, x + 1, ..., so many of them; the last is the first to be added."""
    total = function(x + (count - 1))
    for k in range(count - 2, -1, -1):
        total = total + function(x + k)
    return total
