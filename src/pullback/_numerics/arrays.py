"""NumPy's arrays as the numbers that formulas compute with.

A formula that NumPy and machine code share is written with operators, `abs` and the functions of `xp`: those of this
module for arrays, those of `compile.mathematics.operations` for what machine code computes with. Each function is here what
is quickest in NumPy, which makes a pass over the array for each operation.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from . import pairs

Array = np.ndarray[Any, np.dtype[Any]]

FEW = 1 << 10  # up to this size all terms of a sum are computed at once; more would exceed the cache

exp, log, sqrt, floor, rint, copysign, where = np.exp, np.log, np.sqrt, np.floor, np.rint, np.copysign, np.where
maximum, minimum = np.maximum, np.minimum


@functools.lru_cache(maxsize=64)
def _arrays(coefficients: tuple[float, ...], dtype: np.dtype[Any]) -> list[Array]:
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


def multiply_add(x: Any, factor: Any, term: Any) -> Any:
    """x * factor + term."""
    y = x * factor
    y += term
    return y


def product(a: Array, b: Array) -> tuple[Any, Any]:
    """a * b rounded, and what that lost."""
    return pairs.product(a, b, pairs.SPLITTER["d"])


def exp_times(x: Array, high: Array, low: Array) -> Any:
    """e^x times the sum of two numbers, of which the second is small."""
    power = np.exp(x)
    y, lost = product(power, high)
    lost += power * low
    lost += y
    return lost


def choose(condition: Array, first: Callable[..., Any], second: Callable[..., Any], *operands: Array) -> Any:
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
    x: Array, turned: Callable[[Array], Any], above: Callable[[Array], Any], below: Callable[[Array, Array], Any]
) -> Any:
    """A function by a formula from 0 on; below 0 by another one, of x and the former at `turned(x)`."""
    return choose(x < 0, lambda x: below(x, above(turned(x))), above, x)


def sum_of_steps(function: Callable[[Any], Any], x: Array, count: int) -> Any:
    """The sum of a function at x, x + 1, ..., so many of them; the last is the first to be added."""
    if x.size <= FEW:
        terms = iter(function(np.arange(count - 1.0, -1, -1).reshape(-1, *[1] * x.ndim) + x))
    else:
        terms = (function(x + float(k)) for k in range(count - 1, -1, -1))
    return functools.reduce(operator.add, terms)
