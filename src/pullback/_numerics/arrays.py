"""NumPy's arrays as the numbers that formulas compute with.

A formula that NumPy and machine code share is written with operators, `abs` and the functions of `xp`: those of this
module for arrays, those of `compile.mathematics.operations` for what machine code computes with. Each function is here what
is quickest in NumPy, which makes a pass over the array for each operation.
"""

from __future__ import annotations

import functools
import operator
import sys
from typing import TYPE_CHECKING

import numpy as np

from . import pairs

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from .._core.typing import Array, Numeric, NumpyType, Threshold

    class OfNumber(Protocol):
        """A function of a number."""

        def __call__(self, x: Numeric, /) -> Numeric: ...

    class OfNumbers(Protocol):
        """A function of two numbers, of which one may stand in the code."""

        def __call__(self, x: Numeric | float, y: Numeric | float, /) -> Numeric: ...

    class Formulas(Protocol):
        """The functions that formulas have: of this module, or of `compile.mathematics.operations`."""

        exp: OfNumber
        log: OfNumber
        sqrt: OfNumber
        floor: OfNumber
        rint: OfNumber
        copysign: OfNumbers
        maximum: OfNumbers
        minimum: OfNumbers

        def where(self, condition: Numeric, a: Numeric | float, b: Numeric | float, /) -> Numeric: ...
        def polynomial(self, x: Numeric, coefficients: tuple[float, ...], /) -> Numeric: ...
        def multiply_add(self, x: Numeric, factor: Numeric, term: Numeric, /) -> Numeric: ...
        def product(self, a: Numeric, b: Numeric, /) -> tuple[Numeric, Numeric]: ...
        def exp_times(self, x: Numeric, high: Numeric, low: Numeric, /) -> Numeric: ...
        def choose(
            self, condition: Numeric, first: Callable[..., Numeric], second: Callable[..., Numeric], *operands: Numeric
        ) -> Numeric: ...
        def reflect(
            self,
            x: Numeric,
            turned: Callable[[Numeric], Numeric],
            above: Callable[[Numeric], Numeric],
            below: Callable[[Numeric, Numeric], Numeric],
            /,
        ) -> Numeric: ...
        def sum_of_steps(self, function: Callable[[Numeric], Numeric], x: Numeric, count: int, /) -> Numeric: ...


ARRAYS: Formulas = sys.modules[__name__]
"""This module as what formulas are given."""

FEW: Threshold = 1 << 10  # up to this size all terms of a sum are computed at once; more would exceed the cache

exp, log, sqrt, floor, rint, copysign, where = np.exp, np.log, np.sqrt, np.floor, np.rint, np.copysign, np.where
maximum, minimum = np.maximum, np.minimum


@functools.lru_cache(maxsize=64)
def _arrays(coefficients: tuple[float, ...], dtype: NumpyType) -> list[Array]:
    """Coefficients as 0-d arrays, which NumPy adds to small arrays in half the time of Python floats; the last first."""
    return [np.array(coefficient, dtype) for coefficient in reversed(coefficients)]


def polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    """The value of a polynomial by Horner's rule, the constant first."""
    first, second, *rest = _arrays(coefficients, x.dtype)
    y = x * first
    y += second
    for coefficient in rest:
        y *= x
        y += coefficient
    return y


def multiply_add(x: Array, factor: Array, term: Array) -> Array:
    """x * factor + term."""
    y = x * factor
    y += term
    return y


def product(a: Array, b: Array) -> tuple[Array, Array]:
    """a * b rounded, and what that lost."""
    return pairs.product(a, b)


def exp_times(x: Array, high: Array, low: Array) -> Array:
    """e^x times the sum of two numbers, of which the second is small."""
    power = np.exp(x)
    y, lost = product(power, high)
    lost += power * low
    lost += y
    return lost


def choose(condition: Array, first: Callable[..., Array], second: Callable[..., Array], *operands: Array) -> Array:
    """The one function where a condition is true, the other elsewhere, each applied to its elements alone.

    Elements by their indices take NumPy a quarter of the time of those by a mask.
    """
    count = np.count_nonzero(condition)
    if count in {0, condition.size}:
        return (first if count else second)(*operands)
    out = np.empty_like(operands[0])
    for mask, function in (condition, first), (~condition, second):
        places = mask.nonzero()
        out[places] = function(*[x[places] for x in operands])
    return out


def reflect(
    x: Array, turned: Callable[[Array], Array], above: Callable[[Array], Array], below: Callable[[Array, Array], Array]
) -> Array:
    """A function by a formula from 0 on; below 0 by another one, of x and the former at `turned(x)`."""
    return choose(x < 0, lambda x: below(x, above(turned(x))), above, x)


def sum_of_steps(function: Callable[[Array], Array], x: Array, count: int) -> Array:
    """The sum of a function at x, x + 1, ..., so many of them; the last is the first to be added."""
    if x.size <= FEW:
        terms = iter(function(np.arange(count - 1.0, -1, -1).reshape(-1, *[1] * x.ndim) + x))
    else:
        terms = (function(x + float(k)) for k in range(count - 1, -1, -1))
    return functools.reduce(operator.add, terms)
