"""Elementwise functions of one and several tensors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops
from .._core import dtypes, errors
from .._core.primitives import Carrier, Primitive
from .._core.sites import named, warn
from .._core.values import every, require_operand, require_tensor
from .._tape.shortcuts import is_primitive
from . import warn_of_numbers
from .promotion import binary, broadcast, cast, category, common, fractional, held, inexact, together


def _refuse_bool_negation(input: Any) -> None:
    if category(input)[0].kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )


def _scaled(input: Any, other: Any, alpha: Any) -> Any:
    """alpha * other; raises for an alpha of a higher kind than the operands, which would change the result's dtype."""
    if type(alpha) is int and alpha == 1:
        return other
    tensor: Any = other if isinstance(other, Carrier) else None
    if type(alpha) is float and tensor is not None and tensor._dtype.kind == "f":
        return tensor * alpha  # the operator has less overhead
    kind = common(input, other).kind
    given = category(alpha)[0].kind
    if given == "b" and kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if given in "fc" and kind in "biu":
        raise RuntimeError(
            f"For integral input tensors, argument alpha must not be a floating point number: alpha is {alpha}"
        )
    if given == "c" and kind != "c":
        raise RuntimeError(
            f"For non-complex input tensors, argument alpha must not be a complex number: alpha is {alpha}"
        )
    return mul(other, bool(alpha) if kind == "b" else alpha)


def _by_position(name: str, number: Any, rest: tuple[Any, ...]) -> tuple[Any, Any]:
    """The second operand and its factor, which may precede it by position, as torch allows with a warning."""
    if len(rest) != 1 or not isinstance(rest[0], Carrier) or not isinstance(number, (int, float, complex)):
        raise TypeError(f"{name}() takes 2 positional arguments but {2 + len(rest)} were given")
    warn_of_numbers(name, ["alpha"])
    return rest[0], number


@is_primitive(ops.add)
def add(input: Any, other: Any, *rest: Any, alpha: Any = 1) -> Any:
    """input + alpha * other, with broadcasting."""
    if rest:
        other, alpha = _by_position("add", other, rest)
    return binary(ops.add, input, _scaled(input, other, alpha))


@is_primitive(ops.subtract)
def sub(input: Any, other: Any, *rest: Any, alpha: Any = 1) -> Any:
    """input - alpha * other, with broadcasting."""
    if rest:
        other, alpha = _by_position("sub", other, rest)
    if category(input)[0].kind == "b" and category(other)[0].kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    return binary(ops.subtract, input, _scaled(input, other, alpha))


def rsub(input: Any, other: Any, *, alpha: float = 1) -> Any:
    """other - alpha * input."""
    if isinstance(other, Carrier) or alpha != 1:
        return sub(other, input, alpha=alpha)
    _refuse_bool_negation(input)
    return binary(ops.rsub, input, other)


def mul(input: Any, other: Any) -> Any:
    """input * other, with broadcasting."""
    return binary(ops.multiply, input, other)


@is_primitive(ops.divide)
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'."""
    if rounding_mode is None:
        return broadcast(ops.divide, *fractional(input, other))
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    check_division("div", f"div_{rounding_mode}", input, other)
    return binary(ops.floor_quotient if rounding_mode == "floor" else ops.trunc_quotient, input, other)


@is_primitive(ops.floor_divide)
def floor_divide(input: Any, other: Any) -> Any:
    """The floor of input / other; it has no derivative."""
    check_division("floor_divide", "div_floor", input, other)
    return binary(ops.floor_divide, input, other)


def require_numbers(function: str, **arguments: Any) -> None:
    """Refuse arguments that are neither None nor real Python numbers."""
    for name, value in arguments.items():
        if value is not None and not isinstance(value, (bool, int, float)):
            raise TypeError(f"{function}(): argument '{name}' must be float, not {type(value).__name__}")


def check_division(name: str, title: str, input: Any, other: Any) -> None:
    """Raise for operands without an integer quotient: complex numbers, and integers divided by zero."""
    dtype = common(input, other)
    refuse_unordered(title, dtype)
    if dtype.kind in "biu" and not np.all(every(other)):
        raise RuntimeError(f"ZeroDivisionError: {name} of integers by zero")


@is_primitive(ops.remainder)
def remainder(input: Any, other: Any) -> Any:
    """The remainder of floor division by other; it has the sign of other."""
    check_division("remainder", "remainder", input, other)
    if isinstance(input, Carrier) and type(other) in (int, float) and input._dtype.kind == "f":
        return ops.modulo(input, divisor=_beside(other, input._dtype))
    return binary(ops.remainder, input, other)


def _beside(number: Any, dtype: np.dtype[Any]) -> Any:
    """A number as an operand of arrays of a dtype; RuntimeError if it does not fit, as NumPy 1 would promote."""
    if dtype.kind in "iu":
        held(number, dtype)
        return number
    return float(number) if type(number) is int and number >> 31 not in (0, -1) else number


def pow(input: Any, exponent: Any) -> Any:
    """input ** exponent, elementwise."""
    number = exponent.item() if isinstance(exponent, np.generic) else exponent
    if isinstance(input, Carrier) and isinstance(number, (bool, int, float)):
        dtype = common(input, number)
        if dtype.kind == "b":
            return binary(ops.bitwise_or, input, not number)
        if dtype.kind in "iu" and number < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed: convert the base to float first.")
        return ops.power(cast(input, dtype), exponent=_beside(number, dtype))
    if category(input)[0].kind == category(exponent)[0].kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool': convert first, x.long()")
    base = input.item() if isinstance(input, np.generic) else input
    if type(base) in (int, float) and base >= 0:
        dtype = common(base, exponent)
        if dtype.kind == "f":
            return ops.exponential(cast(exponent, dtype), base=float(base))
    return binary(ops.pow, input, exponent)


@is_primitive(ops.negative)
def neg(input: Any) -> Any:
    """-input."""
    _refuse_bool_negation(input)
    return ops.negative(input)


def elementwise(name: str, primitive: Primitive, text: str, *, keeps_integers: bool = False) -> Callable[[Any], Any]:
    """The function of one tensor with one of torch's names; integers become floats unless the primitive keeps them."""

    def function(input: Any) -> Any:
        if not isinstance(input, Carrier):
            raise errors.no_tensor(name, "input", 1, input)
        return primitive(input if keeps_integers else inexact(input))

    is_primitive(primitive)(function)
    return named(name, function, text)


exp = elementwise("exp", ops.exp, "e to the input, elementwise.")
expm1 = elementwise("expm1", ops.expm1, "exp(input) - 1, exact for small inputs.")
log = elementwise("log", ops.log, "The natural logarithm, elementwise; -inf at 0, NaN below.")
log1p = elementwise("log1p", ops.log1p, "log(1 + input), exact for small inputs.")
sqrt = elementwise("sqrt", ops.sqrt, "The square root, elementwise; its slope at 0 is inf.")
sin = elementwise("sin", ops.sin, "The sine, elementwise.")
cos = elementwise("cos", ops.cos, "The cosine, elementwise.")
tan = elementwise("tan", ops.tan, "The tangent, elementwise.")
sinh = elementwise("sinh", ops.sinh, "The hyperbolic sine, elementwise.")
cosh = elementwise("cosh", ops.cosh, "The hyperbolic cosine, elementwise.")
tanh = elementwise("tanh", ops.tanh, "The hyperbolic tangent, elementwise.")
sigmoid = elementwise("sigmoid", ops.sigmoid, "1 / (1 + exp(-input)), elementwise.")
reciprocal = elementwise("reciprocal", ops.reciprocal, "1 / input, elementwise.")
abs = elementwise("abs", ops.abs, "The absolute value, elementwise; its slope at 0 is 0.", keeps_integers=True)
isnan = elementwise("isnan", ops.isnan, "Where the input is NaN.", keeps_integers=True)
isinf = elementwise("isinf", ops.isinf, "Where the input is inf or -inf.", keeps_integers=True)
isfinite = elementwise("isfinite", ops.isfinite, "Where the input is neither NaN nor infinite.", keeps_integers=True)
logical_not = elementwise("logical_not", ops.logical_not, "Where the input is zero.", keeps_integers=True)


def relu(input: Any) -> Any:
    """max(input, 0), elementwise; its slope at 0 is 0."""
    if not isinstance(input, Carrier):
        raise errors.no_tensor("relu", "input", 1, input)
    if input._dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu: convert first, x.float()")
    if input._dtype.kind == "c":
        raise NotImplementedError(
            f"clamp is not supported for complex types: relu of {input.dtype}; take x.real or x.abs()"
        )
    return ops.relu(input)


def whole(name: str, primitive: Primitive, text: str) -> Callable[[Any], Any]:
    """The function of one tensor that rounds to integers; integers are returned as they are."""

    def function(input: Any) -> Any:
        kind = category(input)[0].kind
        if kind == "c":
            raise NotImplementedError(
                f"{name} is not supported for complex inputs: apply it to the parts, .real and .imag"
            )
        return primitive(input) if kind == "f" else ops.clone(input)

    is_primitive(primitive)(function)
    return named(name, function, text)


floor = whole("floor", ops.floor, "The largest integer not above, elementwise; its gradient is 0.")
ceil = whole("ceil", ops.ceil, "The smallest integer not below, elementwise; its gradient is 0.")
trunc = whole("trunc", ops.trunc, "The integer towards zero, elementwise; its gradient is 0.")
_nearest = whole("round", ops.rint, "The nearest integer.")


@is_primitive(ops.rint)
def round(input: Any, *, decimals: int = 0) -> Any:
    """The nearest integer, halves to even, or the nearest number with `decimals` decimals; its gradient is 0.

    >>> import pullback
    >>> pullback.round(pullback.tensor([0.5, 1.25, 17.5]), decimals=1)
    tensor([ 0.5000,  1.2000, 17.5000])
    """
    require_numbers("round", decimals=decimals)
    if not decimals:
        return _nearest(input)
    if category(input)[0].kind != "f":
        raise NotImplementedError(
            f"round to {decimals} decimals is not implemented for {input.dtype}: convert to float first"
        )
    return ops.round_to(input, decimals=decimals)


@is_primitive(ops.square)
def square(input: Any) -> Any:
    """input * input."""
    return ops.square(cast(input, np.dtype(np.int64)) if category(input)[0].kind == "b" else input)


@is_primitive(ops.sign)
def sign(input: Any) -> Any:
    """-1, 0 or 1, elementwise; its gradient is 0."""
    if category(input)[0].kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers: use sgn instead"
        )
    return ops.clone(input) if input._dtype.kind == "b" else ops.sign(input)


@is_primitive(ops.rsqrt)
def rsqrt(input: Any) -> Any:
    """1 / sqrt(input), elementwise; -inf slope at 0."""
    return ops.rsqrt(inexact(input))


def pair(name: str, primitive: Primitive, text: str, *, keeps_integers: bool = True) -> Callable[[Any, Any], Any]:
    """The function of two tensors with one of torch's names; integers become floats unless the primitive keeps them."""

    def function(input: Any, other: Any) -> Any:
        if keeps_integers:
            return binary(primitive, input, other)
        return broadcast(primitive, *fractional(input, other))

    is_primitive(primitive)(function)
    return named(name, function, text)


OWN_WORDS: dict[str, tuple[type[RuntimeError], str]] = {
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), (RuntimeError, "{} not implemented for complex tensors")),
    **dict.fromkeys(("argmax", "argmin"), (RuntimeError, "{}(): does not support complex input")),
    **dict.fromkeys(("deg2rad", "rad2deg"), (RuntimeError, "{} is not supported for complex tensors")),
    **dict.fromkeys(("isneginf", "isposinf"), (RuntimeError, "{} does not support complex inputs")),
    "signbit": (NotImplementedError, "{} is not implemented for complex tensors"),
}
"""torch's error messages for complex numbers, where they differ from those of most functions."""
USUAL_WORDS = NotImplementedError, "\"{}_cpu\" not implemented for '{}'"


def refuse_unordered(name: str, dtype: np.dtype[Any]) -> None:
    """Raise for complex numbers, which have no order; the message has torch's name of the function."""
    if dtype.kind != "c":
        return
    error, words = OWN_WORDS.get(name, USUAL_WORDS)
    refusal = words.format(name, dtypes.type_name(dtype))
    raise error(f"{refusal}. Complex numbers have no order: take the parts, x.real and x.imag, or x.abs()")


def ordering(name: str, primitive: Primitive, text: str, *, keeps_integers: bool = True) -> Callable[[Any, Any], Any]:
    """The function of two real tensors with one of torch's names; `keeps_integers` as for `pair`."""

    def function(input: Any, other: Any) -> Any:
        input, other = together(input, other) if keeps_integers else fractional(input, other)
        refuse_unordered(name, input._dtype if isinstance(input, Carrier) else input.dtype)
        return broadcast(primitive, input, other)

    is_primitive(primitive)(function)
    return named(name, function, text)


maximum = ordering("maximum", ops.maximum, "The larger of two tensors, elementwise; NaN wins, ties share the gradient.")
minimum = ordering(
    "minimum", ops.minimum, "The smaller of two tensors, elementwise; NaN wins, ties share the gradient."
)
eq = pair("eq", ops.equal, "Where input == other.")
ne = pair("ne", ops.not_equal, "Where input != other.")
lt = ordering("lt", ops.less, "Where input < other.")
le = ordering("le", ops.less_equal, "Where input <= other.")
gt = ordering("gt", ops.greater, "Where input > other.")
ge = ordering("ge", ops.greater_equal, "Where input >= other.")
logical_and = pair("logical_and", ops.logical_and, "Where both inputs are nonzero.")
logical_or = pair("logical_or", ops.logical_or, "Where an input is nonzero.")
logical_xor = pair("logical_xor", ops.logical_xor, "Where exactly one input is nonzero.")


def of_integers(name: str, primitive: Primitive, text: str, *, bools: bool = False) -> Callable[[Any, Any], Any]:
    """The function of two tensors of integers, and of bools where the operation is defined for them."""

    def function(input: Any, other: Any) -> Any:
        if not isinstance(input, Carrier) and not isinstance(other, Carrier):
            raise errors.no_tensor(name, "input", 1, input)
        dtype = common(input, other)
        if dtype.kind not in ("biu" if bools else "iu"):
            raise NotImplementedError(f'"{name}" not implemented for {dtype}: it is for integers{" and bools" * bools}')
        return binary(primitive, input, other)

    return named(name, function, text)


bitwise_and = of_integers("bitwise_and", ops.bitwise_and, "The bitwise and of integers or bools.", bools=True)
bitwise_or = of_integers("bitwise_or", ops.bitwise_or, "The bitwise or of integers or bools.", bools=True)
bitwise_xor = of_integers("bitwise_xor", ops.bitwise_xor, "The bitwise exclusive or of integers or bools.", bools=True)
bitwise_left_shift = of_integers("bitwise_left_shift", ops.left_shift, "input * 2**other.")
bitwise_right_shift = of_integers("bitwise_right_shift", ops.right_shift, "The floor of input / 2**other.")


def bitwise_not(input: Any) -> Any:
    """The bitwise complement of integers; the logical one of bools."""
    if input._dtype.kind == "b":
        return ops.logical_not(input)
    if input._dtype.kind in "fc":
        raise NotImplementedError(
            f'"bitwise_not_cpu" not implemented for {input._type_name!r}: it is for integer and bool tensors, as ~(x > 0)'
        )
    return ops.bitwise_xor(input, np.asarray(-1).astype(input._dtype))


def as_condition(condition: Any) -> Any:
    """The condition of `where` as bools; uint8 is converted with torch's warning, other dtypes raise RuntimeError."""
    dtype = condition._dtype if isinstance(condition, Carrier) else condition.dtype
    if dtype == np.uint8:
        warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
            "version of PyTorch. Use a boolean condition instead: write condition != 0"
        )
        return condition != 0
    if dtype.kind != "b":
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}: "
            "write condition != 0"
        )
    return condition


@is_primitive(ops.where, masked=True)
def where(condition: Any, input: Any, other: Any) -> Any:
    """The elements of input where the condition is True, and those of other elsewhere."""
    require_operand("where", "condition", condition)
    return broadcast(ops.where, as_condition(condition), *together(input, other))


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The indices of the nonzero elements: one row each, or one tensor per axis with `as_tuple`."""
    require_tensor("nonzero", "input", input)
    wrap = input.interpreter.wrap
    if not as_tuple:
        return wrap(np.argwhere(input._concrete("nonzero")), None)
    indices = np.nonzero(np.atleast_1d(input._concrete("nonzero")))
    return tuple(wrap(np.ascontiguousarray(index), None) for index in indices)


def _range(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The lowest and the highest value of a dtype."""
    if dtype.kind in "fb":
        return (-np.inf, np.inf) if dtype.kind == "f" else (False, True)
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """input limited to [min, max]; the gradient passes inside and at the bounds.

    Bounds are numbers or tensors, which broadcast and have gradients themselves.
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    numbers = (bool, int, float, type(None))
    by_numbers = isinstance(min, numbers) and isinstance(max, numbers)
    if by_numbers and isinstance(input, Carrier) and input._dtype.kind == "f":
        return ops.clip(input, lower=min, upper=max)
    dtype = common(*[value for value in (input, min, max) if value is not None])
    if by_numbers and dtype.kind != "c":
        if dtype.kind in "iu":
            min, max = (None if bound is None else held(bound, dtype).item() for bound in (min, max))
        return ops.clip(cast(input, dtype), lower=min, upper=max)
    if dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types: complex numbers have no order")
    lowest, highest = _range(dtype)
    bounds = [cast(lowest if min is None else min, dtype), cast(highest if max is None else max, dtype)]
    return broadcast(ops.clip_by, cast(input, dtype), *bounds)
