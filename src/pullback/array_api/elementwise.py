"""Functions of two operands, element by element, and those whose values differ from torch's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import ops
from .._core.primitives import Carrier, Function
from .._core.sites import named
from ..vocabulary import arithmetic, bits, complexes, functions, rounding
from ..vocabulary.promotion import cast
from .operands import array, of_tensors, together

if TYPE_CHECKING:
    from .._core.typing import Tensor, TensorLike


def of_two(function: Function) -> Function:
    """The function of the standard that applies one of the package to two operands, converted to their common dtype."""

    def made(like: Function) -> Function:
        name = like.__name__

        def joined(x1: TensorLike, x2: TensorLike, /) -> Tensor:
            if not (isinstance(x1, Carrier) and isinstance(x2, Carrier) and x1._dtype is x2._dtype):
                x1, x2 = together(name, x1, x2)
            return function(x1, x2)

        return named(name, joined, like.__doc__ or "")

    return made


@of_two(arithmetic.add)
def add(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """x1 + x2.

    >>> from pullback import array_api as xp
    >>> xp.add(xp.asarray([1.0, 2.0]), 10.0)
    tensor([11., 12.], dtype=pullback.float64)
    """


@of_two(functions.atan2)
def atan2(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The angle of the point (x2, x1), from -pi to pi.

    >>> from pullback import array_api as xp
    >>> xp.atan2(xp.asarray([1.0, -1.0]), xp.asarray([1.0, -1.0]))
    tensor([ 0.7854, -2.3562], dtype=pullback.float64)
    """


@of_two(arithmetic.bitwise_and)
def bitwise_and(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The bitwise and of integers or bools.

    >>> from pullback import array_api as xp
    >>> xp.bitwise_and(xp.asarray([6, 5]), 4)
    tensor([4, 4])
    """


@of_two(arithmetic.bitwise_left_shift)
def bitwise_left_shift(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """x1 * 2**x2, for integers.

    >>> from pullback import array_api as xp
    >>> xp.bitwise_left_shift(xp.asarray([1, 3]), 2)
    tensor([ 4, 12])
    """


@of_two(arithmetic.bitwise_or)
def bitwise_or(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The bitwise or of integers or bools.

    >>> from pullback import array_api as xp
    >>> xp.bitwise_or(xp.asarray([6, 1]), 4)
    tensor([6, 5])
    """


@of_two(arithmetic.bitwise_right_shift)
def bitwise_right_shift(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The floor of x1 / 2**x2, for integers.

    >>> from pullback import array_api as xp
    >>> xp.bitwise_right_shift(xp.asarray([4, 7]), 1)
    tensor([2, 3])
    """


@of_two(arithmetic.bitwise_xor)
def bitwise_xor(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The bitwise exclusive or of integers or bools.

    >>> from pullback import array_api as xp
    >>> xp.bitwise_xor(xp.asarray([6, 1]), 4)
    tensor([2, 5])
    """


@of_two(functions.copysign)
def copysign(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The size of x1 with the sign of x2.

    >>> from pullback import array_api as xp
    >>> xp.copysign(xp.asarray([2.0, 3.0]), xp.asarray([-1.0, 5.0]))
    tensor([-2.,  3.], dtype=pullback.float64)
    """


@of_two(arithmetic.div)
def divide(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """x1 / x2.

    >>> from pullback import array_api as xp
    >>> xp.divide(xp.asarray([1.0, 3.0]), 2.0)
    tensor([0.5000, 1.5000], dtype=pullback.float64)
    """


@of_two(arithmetic.eq)
def equal(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """True where x1 == x2.

    >>> from pullback import array_api as xp
    >>> xp.equal(xp.asarray([1, 2, 3]), 2)
    tensor([False,  True, False])
    """


@of_two(arithmetic.gt)
def greater(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """True where x1 > x2.

    >>> from pullback import array_api as xp
    >>> xp.greater(xp.asarray([1, 2, 3]), 2)
    tensor([False, False,  True])
    """


@of_two(arithmetic.ge)
def greater_equal(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """True where x1 >= x2.

    >>> from pullback import array_api as xp
    >>> xp.greater_equal(xp.asarray([1, 2, 3]), 2)
    tensor([False,  True,  True])
    """


@of_two(functions.hypot)
def hypot(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """sqrt(x1**2 + x2**2), without overflow.

    >>> from pullback import array_api as xp
    >>> xp.hypot(xp.asarray([3.0]), 4.0)
    tensor([5.], dtype=pullback.float64)
    """


@of_two(arithmetic.lt)
def less(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """True where x1 < x2.

    >>> from pullback import array_api as xp
    >>> xp.less(xp.asarray([1, 2, 3]), 2)
    tensor([ True, False, False])
    """


@of_two(arithmetic.le)
def less_equal(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """True where x1 <= x2.

    >>> from pullback import array_api as xp
    >>> xp.less_equal(xp.asarray([1, 2, 3]), 2)
    tensor([ True,  True, False])
    """


@of_two(functions.logaddexp)
def logaddexp(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """log(exp(x1) + exp(x2)), without overflow.

    >>> from pullback import array_api as xp
    >>> xp.logaddexp(xp.asarray([1000.0]), xp.asarray([1000.0]))
    tensor([1000.6931], dtype=pullback.float64)
    """


@of_two(bits.logical_and)
def logical_and(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """True where x1 and x2 are True.

    >>> from pullback import array_api as xp
    >>> xp.logical_and(xp.asarray([True, True]), xp.asarray([True, False]))
    tensor([ True, False])
    """


@of_two(bits.logical_or)
def logical_or(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """True where x1 or x2 is True.

    >>> from pullback import array_api as xp
    >>> xp.logical_or(xp.asarray([False, True]), xp.asarray([False, False]))
    tensor([False,  True])
    """


@of_two(bits.logical_xor)
def logical_xor(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """True where one of x1 and x2 is True, and not both.

    >>> from pullback import array_api as xp
    >>> xp.logical_xor(xp.asarray([False, True]), xp.asarray([True, True]))
    tensor([ True, False])
    """


@of_two(arithmetic.maximum)
def maximum(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The larger of x1 and x2; NaN if one is NaN, and equal ones share the gradient.

    >>> from pullback import array_api as xp
    >>> xp.maximum(xp.asarray([1.0, 5.0]), 3.0)
    tensor([3., 5.], dtype=pullback.float64)
    """


@of_two(arithmetic.minimum)
def minimum(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The smaller of x1 and x2; NaN if one is NaN, and equal ones share the gradient.

    >>> from pullback import array_api as xp
    >>> xp.minimum(xp.asarray([1.0, 5.0]), 3.0)
    tensor([1., 3.], dtype=pullback.float64)
    """


@of_two(arithmetic.mul)
def multiply(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """x1 * x2.

    >>> from pullback import array_api as xp
    >>> xp.multiply(xp.asarray([1.0, 2.0]), 10.0)
    tensor([10., 20.], dtype=pullback.float64)
    """


@of_two(functions.nextafter)
def nextafter(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The next number after x1 in the direction of x2.

    >>> from pullback import array_api as xp
    >>> xp.nextafter(xp.asarray([0.0]), 1.0)
    tensor([4.9407e-324], dtype=pullback.float64)
    """


@of_two(arithmetic.ne)
def not_equal(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """True where x1 != x2.

    >>> from pullback import array_api as xp
    >>> xp.not_equal(xp.asarray([1, 2, 3]), 2)
    tensor([ True, False,  True])
    """


@of_two(arithmetic.pow)
def pow(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """x1 ** x2.

    >>> from pullback import array_api as xp
    >>> xp.pow(xp.asarray([1.0, 2.0]), 3.0)
    tensor([1., 8.], dtype=pullback.float64)
    """


@of_two(arithmetic.remainder)
def remainder(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The remainder of the floor division of x1 by x2, with the sign of x2.

    >>> from pullback import array_api as xp
    >>> xp.remainder(xp.asarray([-7.0, 7.0]), 3.0)
    tensor([2., 1.], dtype=pullback.float64)
    """


@of_two(arithmetic.sub)
def subtract(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """x1 - x2.

    >>> from pullback import array_api as xp
    >>> xp.subtract(xp.asarray([1.0, 2.0]), 10.0)
    tensor([-9., -8.], dtype=pullback.float64)
    """


@of_two(arithmetic.standard_quotient)
def floor_divide(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The floor of x1 / x2; it has no derivative.

    >>> from pullback import array_api as xp
    >>> xp.floor_divide(xp.asarray([-7.0, 7.0]), 2.0)
    tensor([-4.,  3.], dtype=pullback.float64)
    """


def bitwise_invert(x: Tensor, /) -> Tensor:
    """The bitwise complement of integers, and the logical one of bools.

    >>> from pullback import array_api as xp
    >>> xp.bitwise_invert(xp.asarray([0, 5]))
    tensor([-1, -6])
    """
    return arithmetic.bitwise_not(array("bitwise_invert", x))


# Functions of complex numbers, beyond the finite and at zeros as the standard has them


def expm1(x: Tensor, /) -> Tensor:
    """exp(x) - 1, exact for small numbers.

    >>> from pullback import array_api as xp
    >>> xp.expm1(xp.asarray([0.0, 1e-10]))
    tensor([0.0000e+00, 1.0000e-10], dtype=pullback.float64)
    """
    near = functions.expm1(array("expm1", x))
    return arithmetic.where(ops.isfinite(x), near + 0, arithmetic.exp(x) - 1) if x.is_complex() else near


def tanh(x: Tensor, /) -> Tensor:
    """The hyperbolic tangent.

    >>> from pullback import array_api as xp
    >>> xp.tanh(xp.asarray([0.0, 0.5, 100.0]))
    tensor([0.0000, 0.4621, 1.0000], dtype=pullback.float64)
    """
    near = arithmetic.tanh(array("tanh", x))
    if not x.is_complex():
        return near
    limit = complexes.complex(ops.sign(x.real), functions.copysign(ops.zeros_like(x.imag), x.imag))
    return arithmetic.where(ops.isinf(x.real), limit, near)


def round(x: Tensor, /) -> Tensor:
    """The nearest integers, of complex numbers for each part; halves are rounded to the even one.

    >>> from pullback import array_api as xp
    >>> xp.round(xp.asarray([0.5, 1.25, -1.75]))
    tensor([ 0.,  1., -2.], dtype=pullback.float64)
    """
    if not array("round", x).is_complex():
        return rounding.round(x)
    return complexes.complex(rounding.round(x.real), rounding.round(x.imag))


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1, or for complex numbers x / abs(x); NaN for NaN.

    >>> from pullback import array_api as xp
    >>> xp.sign(xp.asarray([-0.5, 0.0, 3.0]))
    tensor([-1.,  0.,  1.], dtype=pullback.float64)
    """
    return of_tensors(np.sign)(array("sign", x))


def clip(x: Tensor, /, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """Elements limited to the range from min to max, in their dtype; bounds are numbers or tensors, or None.

    >>> from pullback import array_api as xp
    >>> xp.clip(xp.asarray([-1.0, 0.5, 3.0]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000], dtype=pullback.float64)
    """
    dtype = array("clip", x)._dtype
    if min is None and max is None:
        return ops.clone(x)
    return arithmetic.clamp(x, *(bound if bound is None else cast(bound, dtype) for bound in (min, max)))


def where(condition: Tensor, x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The elements of x1 where the condition is True, and those of x2 elsewhere.

    >>> from pullback import array_api as xp
    >>> xp.where(xp.asarray([True, False]), xp.asarray([1.0, 2.0]), 0)
    tensor([1., 0.], dtype=pullback.float64)
    """
    return arithmetic.where(array("where", condition), *together("where", x1, x2))
