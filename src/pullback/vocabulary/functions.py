"""Less common elementwise functions, of one, two and three tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import ops
from .._core import dtypes, errors
from .._core.primitives import Carrier, Function, Primitive
from .._core.sites import named
from .._core.values import require_operands
from .._tape.shortcuts import is_primitive
from .._tape.views import write
from . import arithmetic, of_tensors
from .arithmetic import elementwise, ordering, pair, require_numbers
from .promotion import binary, broadcast, cast, category, common, fractional, inexact, once, together

if TYPE_CHECKING:
    from .._core.typing import Number, Tensor, TensorLike

# One tensor


def of_angle(primitive: Primitive) -> Callable[[Function], Function]:
    """The function of one real tensor with one of torch's names; integers become floats."""

    def made(like: Function) -> Function:
        def function(input: Tensor) -> Tensor:
            arithmetic.refuse_unordered(like.__name__, category(input)[0])
            return primitive(inexact(input))

        is_primitive(primitive)(function)
        return named(like.__name__, function, like.__doc__ or "")

    return made


@elementwise(ops.expm1)
def expm1(input: Tensor) -> Tensor:
    """exp(input) - 1, exact for small inputs.

    >>> import pullback
    >>> pullback.expm1(pullback.tensor([0.0, 1e-10]))
    tensor([0.0000e+00, 1.0000e-10])
    """


@elementwise(ops.log1p)
def log1p(input: Tensor) -> Tensor:
    """log(1 + input), exact for small inputs.

    >>> import pullback
    >>> pullback.log1p(pullback.tensor([0.0, 1e-10]))
    tensor([0.0000e+00, 1.0000e-10])
    """


@elementwise(ops.tan)
def tan(input: Tensor) -> Tensor:
    """The tangent, elementwise.

    >>> import pullback
    >>> pullback.tan(pullback.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5574])
    """


@elementwise(ops.sinh)
def sinh(input: Tensor) -> Tensor:
    """The hyperbolic sine, elementwise.

    >>> import pullback
    >>> pullback.sinh(pullback.tensor([0.0, 1.0]))
    tensor([0.0000, 1.1752])
    """


@elementwise(ops.cosh)
def cosh(input: Tensor) -> Tensor:
    """The hyperbolic cosine, elementwise.

    >>> import pullback
    >>> pullback.cosh(pullback.tensor([0.0, 1.0]))
    tensor([1.0000, 1.5431])
    """


@elementwise(ops.acos)
def acos(input: Tensor) -> Tensor:
    """The inverse cosine, elementwise; NaN outside [-1, 1].

    >>> import pullback
    >>> pullback.acos(pullback.tensor([1.0, 0.0, 2.0]))
    tensor([0.0000, 1.5708,    nan])
    """


@elementwise(ops.acosh)
def acosh(input: Tensor) -> Tensor:
    """The inverse hyperbolic cosine, elementwise; NaN below 1.

    >>> import pullback
    >>> pullback.acosh(pullback.tensor([1.0, 2.0, 0.0]))
    tensor([0.0000, 1.3170,    nan])
    """


@elementwise(ops.asin)
def asin(input: Tensor) -> Tensor:
    """The inverse sine, elementwise; NaN outside [-1, 1].

    >>> import pullback
    >>> pullback.asin(pullback.tensor([0.0, 1.0, 2.0]))
    tensor([0.0000, 1.5708,    nan])
    """


@elementwise(ops.asinh)
def asinh(input: Tensor) -> Tensor:
    """The inverse hyperbolic sine, elementwise.

    >>> import pullback
    >>> pullback.asinh(pullback.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8814])
    """


@elementwise(ops.atan)
def atan(input: Tensor) -> Tensor:
    """The inverse tangent, elementwise.

    >>> import pullback
    >>> pullback.atan(pullback.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7854])
    """


@elementwise(ops.atanh)
def atanh(input: Tensor) -> Tensor:
    """The inverse hyperbolic tangent, elementwise; NaN outside [-1, 1].

    >>> import pullback
    >>> pullback.atanh(pullback.tensor([0.0, 0.5, 2.0]))
    tensor([0.0000, 0.5493,    nan])
    """


@elementwise(ops.cbrt)
def cbrt(input: Tensor) -> Tensor:
    """The cube root, elementwise, of negative numbers too."""


@of_angle(ops.deg2rad)
def deg2rad(input: Tensor) -> Tensor:
    """Degrees as radians.

    >>> import pullback
    >>> pullback.deg2rad(pullback.tensor([0.0, 180.0]))
    tensor([0.0000, 3.1416])
    """


@elementwise(ops.exp2)
def exp2(input: Tensor) -> Tensor:
    """2 to the input, elementwise.

    >>> import pullback
    >>> pullback.exp2(pullback.tensor([0.0, 3.0, -1.0]))
    tensor([1.0000, 8.0000, 0.5000])
    """


@elementwise(ops.log2)
def log2(input: Tensor) -> Tensor:
    """The logarithm to base 2, elementwise.

    >>> import pullback
    >>> pullback.log2(pullback.tensor([8.0, 10.0]))
    tensor([3.0000, 3.3219])
    """


@elementwise(ops.log10)
def log10(input: Tensor) -> Tensor:
    """The logarithm to base 10, elementwise.

    >>> import pullback
    >>> pullback.log10(pullback.tensor([1000.0, 20.0]))
    tensor([3.0000, 1.3010])
    """


@of_angle(ops.rad2deg)
def rad2deg(input: Tensor) -> Tensor:
    """Radians as degrees.

    >>> import pullback
    >>> pullback.rad2deg(pullback.tensor([0.0, 1.0]))
    tensor([ 0.0000, 57.2958])
    """


@elementwise(ops.sinc)
def sinc(input: Tensor) -> Tensor:
    """sin(pi * input) / (pi * input), elementwise; 1 at 0.

    >>> import pullback
    >>> pullback.sinc(pullback.tensor([0.0, 0.5]))
    tensor([1.0000, 0.6366])
    """


@is_primitive(ops.frac)
def frac(input: Tensor) -> Tensor:
    """The fractional part, with the input's sign.

    >>> import pullback
    >>> pullback.frac(pullback.tensor([1.5, -2.25]))
    tensor([ 0.5000, -0.2500])
    """
    if category(input)[0].kind != "f":
        raise NotImplementedError(f"frac is not implemented for {input.dtype}: it is for real floating-point tensors")
    return ops.frac(input)


def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """log(input / (1 - input)), the inverse of sigmoid; `eps` clamps the input to [eps, 1 - eps].

    Parameters
    ----------
    eps
        How far from 0 and 1 the input is kept; None for not.

    >>> import pullback
    >>> pullback.logit(pullback.tensor([0.5, 0.0, 1.0]), eps=0.25)
    tensor([ 0.0000, -1.0986,  1.0986])
    """
    require_numbers("logit", eps=eps)
    return ops.logit(inexact(input), eps=eps)


def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """The input with NaN replaced by 0, and inf and -inf by the largest and smallest number, without gradient.

    >>> import pullback
    >>> pullback.nan_to_num(pullback.tensor([1.0, float("nan"), float("inf")]), nan=-1.0, posinf=9.0)
    tensor([ 1., -1.,  9.])
    """
    require_numbers("nan_to_num", nan=nan, posinf=posinf, neginf=neginf)
    return ops.nan_to_num(input, nan=nan or 0.0, posinf=posinf, neginf=neginf)


def positive(input: Tensor) -> Tensor:
    """The input itself.

    >>> import pullback
    >>> +pullback.tensor([1.0, -2.0])
    tensor([ 1., -2.])
    """
    if category(input)[0].kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


class Frexp(NamedTuple):
    """What `frexp` returns."""

    mantissa: Tensor
    exponent: Tensor


def frexp(input: Tensor) -> Frexp:
    """The mantissa, from 0.5 to 1, and the exponent of 2 whose product is the input.

    >>> import pullback
    >>> pullback.frexp(pullback.tensor([6.0, -0.5]))
    Frexp(mantissa=tensor([ 0.7500, -0.5000]), exponent=tensor([3, 0], dtype=pullback.int32))
    """
    if category(input)[0].kind != "f":
        raise RuntimeError(f"torch.frexp() only supports floating-point dtypes, not {input.dtype}")
    exponent = ops.exponent(input)
    return Frexp(ops.ldexp(input, ops.negative(exponent)), exponent)


# Two tensors


@ordering(ops.atan2, keeps_integers=False)
def atan2(input: Tensor, other: TensorLike) -> Tensor:
    """The angle of the point (other, input), from -pi to pi.

    >>> import pullback
    >>> pullback.atan2(pullback.tensor([1.0, -1.0]), pullback.tensor([1.0, -1.0]))
    tensor([ 0.7854, -2.3562])
    """


@ordering(ops.copysign, keeps_integers=False)
def copysign(input: Tensor, other: TensorLike) -> Tensor:
    """The size of input with the sign of other.

    >>> import pullback
    >>> pullback.copysign(pullback.tensor([2.0, 3.0]), pullback.tensor([-1.0, 5.0]))
    tensor([-2.,  3.])
    """


@ordering(ops.hypot)
def hypot(input: Tensor, other: TensorLike) -> Tensor:
    """sqrt(input**2 + other**2), without overflow.

    >>> import pullback
    >>> pullback.hypot(pullback.tensor([3.0]), pullback.tensor([4.0]))
    tensor([5.])
    """


@ordering(ops.nextafter)
def nextafter(input: Tensor, other: TensorLike) -> Tensor:
    """The next number after input in the direction of other.

    >>> import pullback
    >>> pullback.nextafter(pullback.tensor([0.0]), pullback.tensor([1.0]))
    tensor([1.4013e-45])
    """


@pair(ops.logaddexp, keeps_integers=False)
def logaddexp(input: Tensor, other: TensorLike) -> Tensor:
    """log(exp(input) + exp(other)), without overflow.

    >>> import pullback
    >>> pullback.logaddexp(pullback.tensor([1000.0]), pullback.tensor([1000.0]))
    tensor([1000.6932])
    """


@ordering(ops.logaddexp2, keeps_integers=False)
def logaddexp2(input: Tensor, other: TensorLike) -> Tensor:
    """log2(2**input + 2**other), without overflow.

    >>> import pullback
    >>> pullback.logaddexp2(pullback.tensor([3.0]), pullback.tensor([2.0]))
    tensor([3.5850])
    """


@ordering(ops.fmax)
def fmax(input: Tensor, other: TensorLike) -> Tensor:
    """The larger of two tensors, elementwise; NaN counts as missing, ties go to input.

    >>> import pullback
    >>> pullback.fmax(pullback.tensor([1.0, pullback.nan]), pullback.tensor([2.0, 3.0]))
    tensor([2., 3.])
    """


@ordering(ops.fmin)
def fmin(input: Tensor, other: TensorLike) -> Tensor:
    """The smaller of two tensors, elementwise; NaN counts as missing, ties go to input.

    >>> import pullback
    >>> pullback.fmin(pullback.tensor([1.0, pullback.nan]), pullback.tensor([2.0, 3.0]))
    tensor([1., 3.])
    """


@of_tensors
@pair(ops.xlogy, keeps_integers=False)
def xlogy(input: Tensor, other: TensorLike) -> Tensor:
    """input * log(other); 0 where input is 0.

    >>> import pullback
    >>> pullback.xlogy(pullback.tensor([0.0, 1.0]), pullback.tensor([0.0, 2.0]))
    tensor([0.0000, 0.6931])
    """


def fmod(input: Tensor, other: TensorLike) -> Tensor:
    """The remainder of truncated division by other; it has the sign of input.

    >>> import pullback
    >>> pullback.fmod(pullback.tensor([-7.0, 7.0]), 3.0)
    tensor([-1.,  1.])
    """
    arithmetic.check_division("fmod", "fmod", input, other)
    return binary(ops.fmod, input, other)


@of_tensors
def float_power(input: Tensor, exponent: TensorLike) -> Tensor:
    """input ** exponent in float64, or in complex128 if one of them is complex.

    Parameters
    ----------
    exponent
        A number or a tensor.

    >>> import pullback
    >>> pullback.float_power(pullback.tensor([1, 2, 3]), 2)
    tensor([1., 4., 9.], dtype=pullback.float64)
    """
    dtype = np.dtype(np.complex128 if common(input, exponent).kind == "c" else np.float64)
    operands = [cast(value, dtype) if isinstance(value, Carrier) else value for value in (input, exponent)]
    return arithmetic.pow(*operands)


def float_power_(self: Tensor, exponent: TensorLike) -> Tensor:
    """In place: `float_power` of a tensor of dtype float64 or complex128, the dtype of the result.

    Parameters
    ----------
    exponent
        The exponents: a tensor, whose shape broadcasts with that of the first, or a number.

    >>> import pullback
    >>> pullback.tensor([1.0, 4.0], dtype=pullback.float64).float_power_(0.5)
    tensor([1., 2.], dtype=pullback.float64)
    """
    result = float_power(self, exponent)
    if result._dtype != self._dtype:
        raise RuntimeError(errors.power_dtype("base", "float_power_", self, result))
    return write(self, result, "float_power_")


def ldexp(input: Tensor, other: TensorLike) -> Tensor:
    """input * 2**other.

    >>> import pullback
    >>> pullback.ldexp(pullback.tensor([1.0, 3.0]), pullback.tensor([2, -1]))
    tensor([4.0000, 1.5000])
    """
    factor, power = fractional(input, other)
    return arithmetic.mul(factor, arithmetic.pow(2.0, power))


def heaviside(input: Tensor, values: TensorLike) -> Tensor:
    """0 where input is negative, 1 where it is positive, and values where it is 0; it has no derivative.

    Parameters
    ----------
    values
        The result where the input is 0.

    >>> import pullback
    >>> pullback.heaviside(pullback.tensor([-1.5, 0.0, 2.0]), pullback.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    kinds = category(input)[0], category(values)[0]
    if "c" in (kinds[0].kind, kinds[1].kind):
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if kinds[0] != kinds[1]:
        raise RuntimeError(
            f"heaviside is not yet implemented for tensors with different dtypes: these are {kinds[0]} and {kinds[1]}"
        )
    return broadcast(ops.heaviside, input, values)


def clamp_min(input: Tensor, min: TensorLike | None) -> Tensor:
    """The maximum of input and min, a number or a tensor.

    >>> import pullback
    >>> pullback.clamp_min(pullback.tensor([-1.0, 2.0]), 0.0)
    tensor([0., 2.])
    """
    return arithmetic.clamp(input, min=min)


def clamp_max(input: Tensor, max: TensorLike | None) -> Tensor:
    """The minimum of input and max, a number or a tensor.

    >>> import pullback
    >>> pullback.clamp_max(pullback.tensor([-1.0, 2.0]), 0.0)
    tensor([-1.,  0.])
    """
    return arithmetic.clamp(input, max=max)


# Three tensors


@once
def _with_value(input: Tensor, a: TensorLike, b: TensorLike, value: Number, *, inner: Primitive) -> Tensor:
    """input + inner(value * a, b), of operands in one dtype."""
    if type(value) is not int or value != 1:
        a = arithmetic.scaled(a, value, "value")
    return broadcast(ops.add, input, broadcast(inner, a, b))


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """input + value * tensor1 * tensor2.

    Parameters
    ----------
    value
        What the second term is multiplied by.

    >>> import pullback
    >>> pullback.addcmul(pullback.tensor([1.0, 1.0]), pullback.tensor([4.0, 5.0]), pullback.tensor([20.0]))
    tensor([ 81., 101.])
    """
    require_operands("addcmul", input=input, tensor1=tensor1, tensor2=tensor2)
    return _with_value(*together(input, tensor1, tensor2), value, inner=ops.multiply)


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Tensor:
    """input + value * tensor1 / tensor2.

    Parameters
    ----------
    value
        What the second term is multiplied by.

    >>> import pullback
    >>> pullback.addcdiv(pullback.tensor([1.0, 1.0]), pullback.tensor([80.0]), pullback.tensor([4.0, 2.0]))
    tensor([21., 41.])
    """
    require_operands("addcdiv", input=input, tensor1=tensor1, tensor2=tensor2)
    if common(tensor1, tensor2).kind in "biu":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported: convert tensor1 or tensor2 to float first, or use "
            "input + value * trunc(tensor1 / tensor2)"
        )
    return _with_value(*together(input, tensor1, tensor2), value, inner=ops.divide)


def lerp(input: Tensor, end: TensorLike, weight: Tensor | float) -> Tensor:
    """input + weight * (end - input): the input at weight 0, the end at weight 1.

    Parameters
    ----------
    end
        What is reached at weight 1.
    weight
        The share of `end`, a number or a tensor.

    >>> import pullback
    >>> pullback.lerp(pullback.tensor([0.0, 10.0]), pullback.tensor([4.0, 20.0]), 0.25)
    tensor([ 1.0000, 12.5000])
    """
    require_operands("lerp", input=input, end=end)
    start = category(input)[0]
    if start.kind not in "fc":
        raise NotImplementedError(f"lerp is not implemented for {start}: convert input and end to float first")
    for name, value in (("end", end), ("weight", weight)):
        found, strength = category(value)
        number = name == "weight" and strength != "dim" and dtypes.can_cast(found, start)
        if found != start and not number and strength != "scalar":
            raise RuntimeError(f"expected dtype {start} for `{name}` but got dtype {found}")
    return broadcast(ops.lerp, input, end, cast(weight, start))
