"""Less common elementwise functions, of one, two and three tensors."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import ops
from .._core import errors
from .._core.primitives import Carrier, Primitive
from .._core.sites import named
from .._core.values import require_operands
from .._tape.shortcuts import is_primitive
from .._tape.views import write
from . import arithmetic, of_tensors
from .arithmetic import elementwise, ordering, pair, require_numbers
from .promotion import binary, broadcast, cast, category, common, fractional, inexact

# One tensor


def of_angle(name: str, primitive: Primitive, text: str) -> Callable[[Any], Any]:
    """The function of one real tensor with one of torch's names; integers become floats."""

    def function(input: Any) -> Any:
        arithmetic.refuse_unordered(name, category(input)[0])
        return primitive(inexact(input))

    is_primitive(primitive)(function)
    return named(name, function, text)


acos = elementwise("acos", ops.acos, "The inverse cosine, elementwise; NaN outside [-1, 1].")
acosh = elementwise("acosh", ops.acosh, "The inverse hyperbolic cosine, elementwise; NaN below 1.")
asin = elementwise("asin", ops.asin, "The inverse sine, elementwise; NaN outside [-1, 1].")
asinh = elementwise("asinh", ops.asinh, "The inverse hyperbolic sine, elementwise.")
atan = elementwise("atan", ops.atan, "The inverse tangent, elementwise.")
atanh = elementwise("atanh", ops.atanh, "The inverse hyperbolic tangent, elementwise; NaN outside [-1, 1].")
cbrt = elementwise("cbrt", ops.cbrt, "The cube root, elementwise, of negative numbers too.")
deg2rad = of_angle("deg2rad", ops.deg2rad, "Degrees as radians.")
exp2 = elementwise("exp2", ops.exp2, "2 to the input, elementwise.")
log2 = elementwise("log2", ops.log2, "The logarithm to base 2, elementwise.")
log10 = elementwise("log10", ops.log10, "The logarithm to base 10, elementwise.")
rad2deg = of_angle("rad2deg", ops.rad2deg, "Radians as degrees.")
sinc = elementwise("sinc", ops.sinc, "sin(pi * input) / (pi * input), elementwise; 1 at 0.")


@is_primitive(ops.frac)
def frac(input: Any) -> Any:
    """The fractional part, with the input's sign."""
    if category(input)[0].kind != "f":
        raise NotImplementedError(f"frac is not implemented for {input.dtype}: it is for real floating-point tensors")
    return ops.frac(input)


def logit(input: Any, eps: float | None = None) -> Any:
    """log(input / (1 - input)), the inverse of sigmoid; `eps` clamps the input to [eps, 1 - eps]."""
    require_numbers("logit", eps=eps)
    return ops.logit(inexact(input), eps=eps)


def nan_to_num(input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    """The input with NaN replaced by 0, and inf and -inf by the largest and smallest number, without gradient.

    >>> import pullback
    >>> pullback.nan_to_num(pullback.tensor([1.0, float("nan"), float("inf")]), nan=-1.0, posinf=9.0)
    tensor([ 1., -1.,  9.])
    """
    require_numbers("nan_to_num", nan=nan, posinf=posinf, neginf=neginf)
    return ops.nan_to_num(input, nan=nan or 0.0, posinf=posinf, neginf=neginf)


def positive(input: Any) -> Any:
    """The input itself."""
    if category(input)[0].kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


class Frexp(NamedTuple):
    """What `frexp` returns."""

    mantissa: Any
    exponent: Any


def frexp(input: Any) -> Frexp:
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

atan2 = ordering("atan2", ops.atan2, "The angle of the point (other, input), from -pi to pi.", keeps_integers=False)
copysign = ordering("copysign", ops.copysign, "The size of input with the sign of other.", keeps_integers=False)
hypot = ordering("hypot", ops.hypot, "sqrt(input**2 + other**2), without overflow.")
nextafter = ordering("nextafter", ops.nextafter, "The next number after input in the direction of other.")
logaddexp = pair("logaddexp", ops.logaddexp, "log(exp(input) + exp(other)), without overflow.", keeps_integers=False)
logaddexp2 = ordering(
    "logaddexp2", ops.logaddexp2, "log2(2**input + 2**other), without overflow.", keeps_integers=False
)
fmax = ordering("fmax", ops.fmax, "The larger of two tensors, elementwise; NaN counts as missing, ties go to input.")
fmin = ordering("fmin", ops.fmin, "The smaller of two tensors, elementwise; NaN counts as missing, ties go to input.")
xlogy = of_tensors(pair("xlogy", ops.xlogy, "input * log(other); 0 where input is 0.", keeps_integers=False))


def fmod(input: Any, other: Any) -> Any:
    """The remainder of truncated division by other; it has the sign of input."""
    arithmetic.check_division("fmod", "fmod", input, other)
    return binary(ops.fmod, input, other)


@of_tensors
def float_power(input: Any, exponent: Any) -> Any:
    """input ** exponent in float64, or in complex128 if one of them is complex."""
    dtype = np.dtype(np.complex128 if common(input, exponent).kind == "c" else np.float64)
    operands = [cast(value, dtype) if isinstance(value, Carrier) else value for value in (input, exponent)]
    return arithmetic.pow(*operands)


def float_power_(self: Any, exponent: Any) -> Any:
    """In place: `float_power` of a tensor of dtype float64 or complex128, the dtype of the result."""
    result = float_power(self, exponent)
    if result._dtype != self._dtype:
        raise RuntimeError(errors.power_dtype("base", "float_power_", self, result))
    return write(self, result, "float_power_")


def ldexp(input: Any, other: Any) -> Any:
    """input * 2**other.

    >>> import pullback
    >>> pullback.ldexp(pullback.tensor([1.0, 3.0]), pullback.tensor([2, -1]))
    tensor([4.0000, 1.5000])
    """
    factor, power = fractional(input, other)
    return arithmetic.mul(factor, arithmetic.pow(2.0, power))


def heaviside(input: Any, values: Any) -> Any:
    """0 where input is negative, 1 where it is positive, and values where it is 0; it has no derivative."""
    kinds = category(input)[0], category(values)[0]
    if "c" in (kinds[0].kind, kinds[1].kind):
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if kinds[0] != kinds[1]:
        raise RuntimeError(
            f"heaviside is not yet implemented for tensors with different dtypes: these are {kinds[0]} and {kinds[1]}"
        )
    return broadcast(ops.heaviside, input, values)


def clamp_min(input: Any, min: Any) -> Any:
    """The maximum of input and min, a number or a tensor."""
    return arithmetic.clamp(input, min=min)


def clamp_max(input: Any, max: Any) -> Any:
    """The minimum of input and max, a number or a tensor."""
    return arithmetic.clamp(input, max=max)


# Three tensors


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """input + value * tensor1 * tensor2."""
    require_operands("addcmul", input=input, tensor1=tensor1, tensor2=tensor2)
    return arithmetic.add(input, tensor1 * tensor2, alpha=value)


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """input + value * tensor1 / tensor2."""
    require_operands("addcdiv", input=input, tensor1=tensor1, tensor2=tensor2)
    if common(tensor1, tensor2).kind in "biu":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported: convert tensor1 or tensor2 to float first, or use "
            "input + value * trunc(tensor1 / tensor2)"
        )
    return arithmetic.add(input, tensor1 / tensor2, alpha=value)


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """input + weight * (end - input): the input at weight 0, the end at weight 1.

    >>> import pullback
    >>> pullback.lerp(pullback.tensor([0.0, 10.0]), pullback.tensor([4.0, 20.0]), 0.25)
    tensor([ 1.0000, 12.5000])
    """
    require_operands("lerp", input=input, end=end)
    start = category(input)[0]
    for name, value in (("end", end), ("weight", weight)):
        found, strength = category(value)
        if strength != "scalar" and found != start:
            raise RuntimeError(f"expected dtype {start} for `{name}` but got dtype {found}")
    return broadcast(ops.lerp, input, end, cast(weight, start))
