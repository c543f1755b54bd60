"""Elementwise functions of one and several tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _refusals, ops
from .._core import Carrier, Primitive
from .._promotion import binary, broadcast, cast, category, common, inexact, together


def _refuse_bool_negation(input: Any) -> None:
    if category(input)[0].kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )


def add(input: Any, other: Any, *, alpha: float = 1) -> Any:
    """input + alpha * other, with broadcasting."""
    return binary(ops.add, input, other if alpha == 1 else mul(other, alpha))


def sub(input: Any, other: Any, *, alpha: float = 1) -> Any:
    """input - alpha * other, with broadcasting."""
    if category(input)[0].kind == "b" and category(other)[0].kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    return binary(ops.subtract, input, other if alpha == 1 else mul(other, alpha))


def rsub(input: Any, other: Any) -> Any:
    """other - input."""
    if isinstance(other, Carrier):
        return sub(other, input)
    _refuse_bool_negation(input)
    return binary(ops.rsub, input, other)


def mul(input: Any, other: Any) -> Any:
    """input * other, with broadcasting."""
    return binary(ops.multiply, input, other)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'."""
    if rounding_mode is None:
        return broadcast(ops.divide, *map(inexact, together(input, other)))
    if rounding_mode == "floor":
        return floor_divide(input, other)
    if rounding_mode != "trunc":
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    a, b = together(input, other)
    if a.dtype.is_floating_point if isinstance(a, Carrier) else a.dtype.kind == "f":
        return trunc(broadcast(ops.divide, a, b))
    dtype = common(a, b)
    return cast(trunc(broadcast(ops.divide, cast(a, np.dtype(float)), cast(b, np.dtype(float)))), dtype)


def floor_divide(input: Any, other: Any) -> Any:
    """The floor of input / other; it has no derivative."""
    _refuse_zero("floor_divide", input, other)
    return binary(ops.floor_divide, input, other)


def _refuse_zero(name: str, input: Any, other: Any) -> None:
    """Integers have no infinity: dividing them by zero is an error, as in torch."""
    if common(input, other).kind in "biu" and not np.all(other._array if isinstance(other, Carrier) else other):
        raise RuntimeError(f"ZeroDivisionError: {name} of integers by zero")


def remainder(input: Any, other: Any) -> Any:
    """What is left of input after floor division by other; the sign is that of other."""
    _refuse_zero("remainder", input, other)
    if isinstance(input, Carrier) and type(other) in (int, float) and input._dtype.kind == "f":
        return ops.modulo(input, divisor=other)
    return binary(ops.remainder, input, other)


def pow(input: Any, exponent: Any) -> Any:
    """input ** exponent, elementwise."""
    number = exponent.item() if isinstance(exponent, np.generic) else exponent
    if isinstance(input, Carrier) and isinstance(number, (bool, int, float)):
        dtype = common(input, number)
        if dtype.kind in "iu" and number < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed: convert the base to float first.")
        return ops.power(cast(input, dtype), exponent=number)
    base = input.item() if isinstance(input, np.generic) else input
    if type(base) in (int, float) and base >= 0:
        dtype = common(base, exponent)
        if dtype.kind == "f":
            return ops.exponential(cast(exponent, dtype), base=float(base))
    return binary(ops.pow, input, exponent)


def neg(input: Any) -> Any:
    """-input."""
    _refuse_bool_negation(input)
    return ops.negative(input)


def _elementwise(primitive: Primitive, text: str, *, keeps_integers: bool = False) -> Callable[[Any], Any]:
    def function(input: Any) -> Any:
        if not isinstance(input, Carrier):
            raise _refusals.no_tensor(primitive.name, "input", 1, input)
        return primitive(input if keeps_integers else inexact(input))

    function.__name__ = function.__qualname__ = primitive.name
    function.__doc__ = text
    return function


exp = _elementwise(ops.exp, "e to the input, elementwise.")
expm1 = _elementwise(ops.expm1, "exp(input) - 1, exact for small inputs.")
log = _elementwise(ops.log, "The natural logarithm, elementwise; -inf at 0, NaN below.")
log1p = _elementwise(ops.log1p, "log(1 + input), exact for small inputs.")
sqrt = _elementwise(ops.sqrt, "The square root, elementwise; its slope at 0 is inf.")
sin = _elementwise(ops.sin, "The sine, elementwise.")
cos = _elementwise(ops.cos, "The cosine, elementwise.")
tan = _elementwise(ops.tan, "The tangent, elementwise.")
sinh = _elementwise(ops.sinh, "The hyperbolic sine, elementwise.")
cosh = _elementwise(ops.cosh, "The hyperbolic cosine, elementwise.")
tanh = _elementwise(ops.tanh, "The hyperbolic tangent, elementwise.")
sigmoid = _elementwise(ops.sigmoid, "1 / (1 + exp(-input)), elementwise.")
reciprocal = _elementwise(ops.reciprocal, "1 / input, elementwise.")
abs = _elementwise(ops.abs, "The absolute value, elementwise; its slope at 0 is 0.", keeps_integers=True)
square = _elementwise(ops.square, "input * input.", keeps_integers=True)
sign = _elementwise(ops.sign, "-1, 0 or 1, elementwise; its gradient is 0.", keeps_integers=True)
floor = _elementwise(ops.floor, "The largest integer not above, elementwise; its gradient is 0.", keeps_integers=True)
ceil = _elementwise(ops.ceil, "The smallest integer not below, elementwise; its gradient is 0.", keeps_integers=True)
round = _elementwise(ops.rint, "The nearest integer, halves to even; its gradient is 0.", keeps_integers=True)
trunc = _elementwise(ops.trunc, "The integer towards zero, elementwise; its gradient is 0.", keeps_integers=True)
relu = _elementwise(ops.relu, "max(input, 0), elementwise; its slope at 0 is 0.", keeps_integers=True)
isnan = _elementwise(ops.isnan, "Where the input is NaN.", keeps_integers=True)
isinf = _elementwise(ops.isinf, "Where the input is inf or -inf.", keeps_integers=True)
isfinite = _elementwise(ops.isfinite, "Where the input is neither NaN nor infinite.", keeps_integers=True)
logical_not = _elementwise(ops.logical_not, "Where the input is zero.", keeps_integers=True)


def rsqrt(input: Any) -> Any:
    """1 / sqrt(input), elementwise; -inf slope at 0."""
    return ops.rsqrt(inexact(input))


def _pair(primitive: Primitive, text: str) -> Callable[[Any, Any], Any]:
    def function(input: Any, other: Any) -> Any:
        return binary(primitive, input, other)

    function.__name__ = function.__qualname__ = primitive.name
    function.__doc__ = text
    return function


maximum = _pair(ops.maximum, "The larger of two tensors, elementwise; NaN wins, ties share the gradient.")
minimum = _pair(ops.minimum, "The smaller of two tensors, elementwise; NaN wins, ties share the gradient.")
eq = _pair(ops.equal, "Where input == other.")
ne = _pair(ops.not_equal, "Where input != other.")
lt = _pair(ops.less, "Where input < other.")
le = _pair(ops.less_equal, "Where input <= other.")
gt = _pair(ops.greater, "Where input > other.")
ge = _pair(ops.greater_equal, "Where input >= other.")
logical_and = _pair(ops.logical_and, "Where both inputs are nonzero.")
logical_or = _pair(ops.logical_or, "Where an input is nonzero.")
logical_xor = _pair(ops.logical_xor, "Where exactly one input is nonzero.")
bitwise_and = _pair(ops.bitwise_and, "The bitwise and of integers or bools.")
bitwise_or = _pair(ops.bitwise_or, "The bitwise or of integers or bools.")
bitwise_xor = _pair(ops.bitwise_xor, "The bitwise exclusive or of integers or bools.")


def bitwise_not(input: Any) -> Any:
    """The bitwise complement of integers; the logical one of bools."""
    if input._dtype.kind == "b":
        return ops.logical_not(input)
    if input._dtype.kind in "fc":
        raise RuntimeError("bitwise_not is for integer and bool tensors: compare a float tensor first, as in ~(x > 0)")
    return ops.bitwise_xor(input, np.asarray(-1).astype(input._dtype))


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """input where the condition holds, other elsewhere; the gradient goes to the side that was chosen.

    With the condition alone, the places where it is nonzero, as `nonzero(as_tuple=True)`.
    """
    if not isinstance(condition, (Carrier, np.ndarray)):
        raise _refusals.no_tensor("where", "condition", 1, condition)
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if category(condition)[0].kind != "b":
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}: "
            "write condition != 0"
        )
    a, b = together(input, other)
    return broadcast(ops.where, condition, a, b)


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The indices of the nonzero elements: one row each, or one tensor per axis with `as_tuple`."""
    if not isinstance(input, Carrier):
        raise _refusals.no_tensor("nonzero", "input", 1, input)
    wrap = input.interpreter.wrap
    found = np.nonzero(input._array)
    return tuple(wrap(index, None) for index in found) if as_tuple else wrap(np.stack(found, axis=-1), None)


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """input limited to [min, max]; the gradient passes inside and at the bounds.

    Bounds are numbers or tensors, which broadcast and have gradients themselves.
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    numbers = (bool, int, float, type(None))
    if isinstance(min, numbers) and isinstance(max, numbers):
        dtype = common(*(value for value in (input, min, max) if value is not None))
        return ops.clip(cast(input, dtype), lower=min, upper=max)
    dtype = common(*(value for value in (input, min, max) if value is not None))
    info: Any = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    lowest, highest = (-np.inf, np.inf) if dtype.kind == "f" else (info.min, info.max)
    bounds = [cast(lowest if min is None else min, dtype), cast(highest if max is None else max, dtype)]
    return broadcast(ops.clip_by, cast(input, dtype), *bounds)
