"""Bitwise functions of integers, and functions that return bools."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .. import ops
from .._core import dtypes, errors
from .._core.primitives import Carrier, Function, Primitive
from .._core.sites import named
from .._core.values import require_operand, require_tensor
from .arithmetic import elementwise, of_integers, pair, refuse_unordered, require_numbers
from .promotion import broadcast, category, together

if TYPE_CHECKING:
    from .._core.typing import Tensor, TensorLike


@of_integers(ops.gcd)
def gcd(input: Tensor, other: TensorLike) -> Tensor:
    """The greatest common divisor of integers.

    >>> import pullback
    >>> pullback.gcd(pullback.tensor([12, 7]), pullback.tensor([18, 3]))
    tensor([6, 1])
    """


@of_integers(ops.lcm)
def lcm(input: Tensor, other: TensorLike) -> Tensor:
    """The least common multiple of integers.

    >>> import pullback
    >>> pullback.lcm(pullback.tensor([4, 6]), pullback.tensor([6, 8]))
    tensor([12, 24])
    """


def _of_reals(primitive: Primitive) -> Callable[[Function], Function]:
    def made(like: Function) -> Function:
        def function(input: Tensor) -> Tensor:
            refuse_unordered(like.__name__, category(input)[0])
            return primitive(input)

        return named(like.__name__, function, like.__doc__ or "")

    return made


@_of_reals(ops.signbit)
def signbit(input: Tensor) -> Tensor:
    """Where the sign bit is set: negative numbers and -0.

    >>> import pullback
    >>> pullback.signbit(pullback.tensor([-1.0, -0.0, 0.0]))
    tensor([ True,  True, False])
    """


@_of_reals(ops.isposinf)
def isposinf(input: Tensor) -> Tensor:
    """Where the input is inf.

    >>> import pullback
    >>> pullback.isposinf(pullback.tensor([-pullback.inf, 0.0, pullback.inf]))
    tensor([False, False,  True])
    """


@_of_reals(ops.isneginf)
def isneginf(input: Tensor) -> Tensor:
    """Where the input is -inf.

    >>> import pullback
    >>> pullback.isneginf(pullback.tensor([-pullback.inf, 0.0, pullback.inf]))
    tensor([ True, False, False])
    """


def is_signed(input: Tensor) -> bool:
    """True if the dtype has negative numbers.

    >>> import pullback
    >>> pullback.is_signed(pullback.tensor([1])), pullback.is_signed(pullback.tensor([True]))
    (True, False)
    """
    return bool(input.dtype.is_signed)


def is_nonzero(input: Tensor) -> bool:
    """True if the only element is not zero.

    >>> import pullback
    >>> pullback.is_nonzero(pullback.tensor([0.0])), pullback.is_nonzero(pullback.tensor([0.5]))
    (False, True)
    """
    if input.numel() != 1:
        raise RuntimeError(
            f"Boolean value of Tensor with {'no values' if not input.numel() else 'more than one value'} is ambiguous: "
            f"this one has shape {tuple(input.shape)}"
        )
    return bool(input.item())


def isreal(input: Tensor) -> Tensor:
    """True where the imaginary part is 0: everywhere in a real tensor.

    >>> import pullback
    >>> pullback.isreal(pullback.tensor([1 + 0j, 2j]))
    tensor([ True, False])
    """
    return ops.equal(ops.imag(input), np.zeros((), input._dtype).real)


def isclose(
    input: Tensor, other: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
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


def isin(
    elements: TensorLike, test_elements: TensorLike, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """True where the elements are among the test elements, or with `invert` are not; one of the two may be a number.

    Parameters
    ----------
    elements
        What is looked for.
    test_elements
        Among which.
    assume_unique
        Accepted, and changes nothing.
    invert
        True where it is not among them.

    >>> import pullback
    >>> pullback.isin(pullback.tensor([1, 2, 3]), pullback.tensor([2, 5]))
    tensor([False,  True, False])
    """
    if not isinstance(elements, Carrier) and not isinstance(test_elements, Carrier):
        raise errors.no_tensor("isin", "elements", 1, elements)
    return ops.isin(*together(elements, test_elements), assume_unique=assume_unique, invert=invert)


def equal(input: Tensor, other: Tensor) -> bool:
    """True if two tensors have the same shape and elements.

    >>> import pullback
    >>> pullback.equal(pullback.tensor([1, 2]), pullback.tensor([1, 2]))
    True
    >>> pullback.equal(pullback.tensor([1, 2]), pullback.tensor([1, 2, 3]))
    False
    """
    require_tensor("equal", "other", other, 2)
    return tuple(input.shape) == tuple(other.shape) and bool((input == other).all())


def allclose(input: Tensor, other: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """True if two tensors agree within atol + rtol * abs(other), everywhere.

    >>> import pullback
    >>> pullback.allclose(pullback.tensor([1.0]), pullback.tensor([1.000001]))
    True
    >>> pullback.allclose(pullback.tensor([1.0]), pullback.tensor([1.1]))
    False
    """
    require_tensor("allclose", "other", other, 2)
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@elementwise(ops.isnan, keeps_integers=True)
def isnan(input: Tensor) -> Tensor:
    """Where the input is NaN.

    >>> import pullback
    >>> pullback.isnan(pullback.tensor([1.0, pullback.nan]))
    tensor([False,  True])
    """


@elementwise(ops.isinf, keeps_integers=True)
def isinf(input: Tensor) -> Tensor:
    """Where the input is inf or -inf.

    >>> import pullback
    >>> pullback.isinf(pullback.tensor([1.0, -pullback.inf, pullback.nan]))
    tensor([False,  True, False])
    """


@elementwise(ops.isfinite, keeps_integers=True)
def isfinite(input: Tensor) -> Tensor:
    """Where the input is neither NaN nor infinite.

    >>> import pullback
    >>> pullback.isfinite(pullback.tensor([1.0, pullback.inf, pullback.nan]))
    tensor([ True, False, False])
    """


@elementwise(ops.logical_not, keeps_integers=True)
def logical_not(input: Tensor) -> Tensor:
    """Where the input is zero.

    >>> import pullback
    >>> pullback.logical_not(pullback.tensor([True, False]))
    tensor([False,  True])
    """


@pair(ops.logical_and)
def logical_and(input: Tensor, other: TensorLike) -> Tensor:
    """Where both inputs are nonzero.

    >>> import pullback
    >>> pullback.logical_and(pullback.tensor([True, True]), pullback.tensor([True, False]))
    tensor([ True, False])
    """


@pair(ops.logical_or)
def logical_or(input: Tensor, other: TensorLike) -> Tensor:
    """Where an input is nonzero.

    >>> import pullback
    >>> pullback.logical_or(pullback.tensor([True, False]), pullback.tensor([False, False]))
    tensor([ True, False])
    """


@pair(ops.logical_xor)
def logical_xor(input: Tensor, other: TensorLike) -> Tensor:
    """Where exactly one input is nonzero.

    >>> import pullback
    >>> pullback.logical_xor(pullback.tensor([True, True]), pullback.tensor([True, False]))
    tensor([False,  True])
    """
