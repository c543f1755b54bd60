"""Bitwise functions of integers, and functions that return bools."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops
from .._core import dtypes, errors
from .._core.primitives import Carrier, Primitive
from .._core.sites import named
from .._core.values import require_operand, require_tensor
from .arithmetic import of_integers, refuse_unordered, require_numbers
from .promotion import broadcast, category, together

gcd = of_integers("gcd", ops.gcd, "The greatest common divisor of integers.")
lcm = of_integers("lcm", ops.lcm, "The least common multiple of integers.")


def _of_reals(name: str, primitive: Primitive, text: str) -> Callable[[Any], Any]:
    def function(input: Any) -> Any:
        refuse_unordered(name, category(input)[0])
        return primitive(input)

    return named(name, function, text)


signbit = _of_reals("signbit", ops.signbit, "Where the sign bit is set: negative numbers and -0.")
isposinf = _of_reals("isposinf", ops.isposinf, "Where the input is inf.")
isneginf = _of_reals("isneginf", ops.isneginf, "Where the input is -inf.")


def is_signed(input: Any) -> bool:
    """True if the dtype has negative numbers."""
    return bool(input.dtype.is_signed)


def is_nonzero(input: Any) -> bool:
    """True if the only element is not zero."""
    if input.numel() != 1:
        raise RuntimeError(
            f"Boolean value of Tensor with {'no values' if not input.numel() else 'more than one value'} is ambiguous: "
            f"this one has shape {tuple(input.shape)}"
        )
    return bool(input.item())


def isreal(input: Any) -> Any:
    """True where the imaginary part is 0: everywhere in a real tensor."""
    return ops.equal(ops.imag(input), np.zeros((), input._dtype).real)


def isclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """True where abs(input - other) is at most atol + rtol * abs(other); both must have one dtype.

    >>> import pullback
    >>> pullback.isclose(pullback.tensor([1.0, 2.0]), pullback.tensor([1.0 + 1e-7, 2.1]))
    tensor([ True, False])
    """
    require_operand("isclose", "other", other, 2)
    kinds = [dtypes.from_numpy(category(value)[0]) for value in (input, other)]
    if kinds[0] is not kinds[1]:
        first, second = map(dtypes.type_name, kinds)
        raise RuntimeError(f"{first} did not match {second}: convert one of them, as with other.to(input.dtype)")
    require_numbers("isclose", rtol=rtol, atol=atol)
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")
    return broadcast(functools.partial(ops.isclose, rtol=rtol, atol=atol, equal_nan=equal_nan), input, other)


def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """True where the elements are among the test elements, or with `invert` are not; one of the two may be a number.

    >>> import pullback
    >>> pullback.isin(pullback.tensor([1, 2, 3]), pullback.tensor([2, 5]))
    tensor([False,  True, False])
    """
    if not isinstance(elements, Carrier) and not isinstance(test_elements, Carrier):
        raise errors.no_tensor("isin", "elements", 1, elements)
    return ops.isin(*together(elements, test_elements), assume_unique=assume_unique, invert=invert)


def equal(input: Any, other: Any) -> bool:
    """True if two tensors have the same shape and elements."""
    require_tensor("equal", "other", other, 2)
    return tuple(input.shape) == tuple(other.shape) and bool((input == other).all())


def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """True if two tensors agree within atol + rtol * abs(other), everywhere."""
    require_tensor("allclose", "other", other, 2)
    return bool(isclose(input, other, rtol, atol, equal_nan).all())
