"""Elementwise functions of one and several tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import dtypes, errors
from .._core.primitives import Carrier, Function, Primitive
from .._core.sites import named, warn
from .._core.values import every, require_operand
from .._tape.shortcuts import is_primitive
from . import warn_of_numbers
from .promotion import binary, broadcast, cast, category, common, fractional, held, inexact, once, together

if TYPE_CHECKING:
    from .._core.typing import Array, Number, Tensor, TensorLike


def _refuse_bool_negation(input: Tensor) -> None:
    if category(input)[0].kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )


def scaled(x: Any, factor: Number, name: str = "alpha") -> Any:
    """factor * x, in the dtype of x; raises for a factor that this dtype does not hold.

    The operands of a sum get their common dtype before one of them is scaled: a product in a narrower one would overflow.
    """
    tensor = isinstance(x, Carrier)
    dtype = x._dtype if tensor else x.dtype
    if tensor and type(factor) is float and dtype.kind == "f":
        return x * factor  # the operator has less overhead
    kind, given = dtype.kind, category(factor)[0].kind
    if given == "b" and kind != "b":
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if given in "fc" and kind in "biu":
        raise RuntimeError(
            f"For integral input tensors, argument {name} must not be a floating point number: {name} is {factor}, and "
            f"the result {dtype}. Convert a tensor to float first"
        )
    if given == "c" and kind != "c":
        raise RuntimeError(
            f"For non-complex input tensors, argument {name} must not be a complex number: {name} is {factor}"
        )
    if kind in "iu":
        held(factor, dtype)
    return mul(x, bool(factor) if kind == "b" else factor)


def with_factor(combine: Primitive, input: Tensor, other: TensorLike, alpha: Number) -> Tensor:
    """`combine` of input and alpha * other, whose dtype is that of all three together."""
    return _with_factor(*together(input, other), alpha, combine=combine)


@once
def _with_factor(input: Tensor, other: Tensor | Array, alpha: Number, *, combine: Primitive) -> Tensor:
    return broadcast(combine, input, scaled(other, alpha))


def _by_position(name: str, number: Any, rest: tuple[Any, ...]) -> tuple[Any, Any]:
    """The second operand and its factor, which may precede it by position, as torch allows with a warning."""
    if len(rest) != 1 or not isinstance(rest[0], Carrier) or not isinstance(number, (int, float, complex)):
        raise TypeError(f"{name}() takes 2 positional arguments but {2 + len(rest)} were given")
    warn_of_numbers(name, ["alpha"])
    return rest[0], number


@is_primitive(ops.add)
def add(input: Tensor, other: TensorLike, *rest: Any, alpha: Number = 1) -> Tensor:
    """input + alpha * other, with broadcasting.

    >>> import pullback
    >>> pullback.add(pullback.tensor([1.0, 2.0]), pullback.tensor([10.0]), alpha=2)
    tensor([21., 22.])
    """
    if rest:
        other, alpha = _by_position("add", other, rest)
    if type(alpha) is int and alpha == 1:
        return binary(ops.add, input, other)
    return with_factor(ops.add, input, other, alpha)


@is_primitive(ops.subtract)
def sub(input: Tensor, other: TensorLike, *rest: Any, alpha: Number = 1) -> Tensor:
    """input - alpha * other, with broadcasting.

    >>> import pullback
    >>> pullback.sub(pullback.tensor([5.0, 6.0]), pullback.tensor([1.0, 2.0]), alpha=2)
    tensor([3., 2.])
    """
    if rest:
        other, alpha = _by_position("sub", other, rest)
    if category(input)[0].kind == "b" and category(other)[0].kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    if type(alpha) is int and alpha == 1:
        return binary(ops.subtract, input, other)
    return with_factor(ops.subtract, input, other, alpha)


def rsub(input: Tensor, other: TensorLike, *, alpha: float = 1) -> Tensor:
    """other - alpha * input.

    >>> import pullback
    >>> pullback.rsub(pullback.tensor([1.0, 2.0]), 10.0)
    tensor([9., 8.])
    """
    if isinstance(other, Carrier) or alpha != 1:
        return sub(other, input, alpha=alpha)
    _refuse_bool_negation(input)
    return binary(ops.rsub, input, other)


def mul(input: Tensor, other: TensorLike) -> Tensor:
    """input * other, with broadcasting.

    >>> import pullback
    >>> pullback.mul(pullback.tensor([[1.0, 2.0], [3.0, 4.0]]), pullback.tensor([10.0, 100.0]))
    tensor([[ 10., 200.],
            [ 30., 400.]])
    """
    return binary(ops.multiply, input, other)


@is_primitive(ops.divide)
def div(input: Tensor, other: TensorLike, *, rounding_mode: str | None = None) -> Tensor:
    """input / other; integers give the default dtype; `rounding_mode` is None, 'trunc' or 'floor'.

    >>> import pullback
    >>> pullback.div(pullback.tensor([-7.0, 7.0]), 2.0)
    tensor([-3.5000,  3.5000])
    >>> pullback.div(pullback.tensor([-7, 7]), 2, rounding_mode="floor")
    tensor([-4,  3])
    """
    if rounding_mode is None:
        return broadcast(ops.divide, *fractional(input, other))
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    check_division("div", f"div_{rounding_mode}", input, other)
    return binary(ops.floor_quotient if rounding_mode == "floor" else ops.trunc_quotient, input, other)


@is_primitive(ops.floor_divide)
def floor_divide(input: Tensor, other: TensorLike) -> Tensor:
    """The floor of input / other; it has no derivative.

    >>> import pullback
    >>> pullback.floor_divide(pullback.tensor([-7.0, 7.0]), 2.0)
    tensor([-4.,  3.])
    """
    if dtypes.get_promotion() == "standard":
        return standard_quotient(input, other)
    check_division("floor_divide", "div_floor", input, other)
    return binary(ops.floor_divide, input, other)


def standard_quotient(input: Tensor, other: TensorLike) -> Tensor:
    """The floor of input / other, of infinities too: by the array API standard, where torch's is NaN or -1 for some."""
    check_division("floor_divide", "div_floor", input, other)
    quotient = binary(ops.floor_divide, input, other)
    if quotient._dtype.kind != "f":
        return quotient
    infinite = ops.logical_or(*(ops.isinf(value) for value in together(input, other)))
    return where(infinite, ops.floor(div(input, other)), quotient)


def require_numbers(function: str, **arguments: object) -> None:
    """Refuse arguments that are neither None nor real Python numbers."""
    for name, value in arguments.items():
        if value is not None and not isinstance(value, (bool, int, float)):
            raise TypeError(f"{function}(): argument '{name}' must be float, not {type(value).__name__}")


def check_division(name: str, title: str, input: TensorLike, other: TensorLike) -> None:
    """Raise for operands without an integer quotient: complex numbers, and integers divided by zero."""
    dtype = common(input, other)
    refuse_unordered(title, dtype)
    if dtype.kind in "biu" and not np.all(every(other)):
        raise RuntimeError(f"ZeroDivisionError: {name} of integers by zero")


@is_primitive(ops.remainder)
def remainder(input: TensorLike, other: TensorLike) -> Tensor:
    """The remainder of floor division by other; it has the sign of other.

    >>> import pullback
    >>> pullback.remainder(pullback.tensor([-7.0, 7.0]), 3.0)
    tensor([2., 1.])
    """
    check_division("remainder", "remainder", input, other)
    if isinstance(input, Carrier) and type(other) in (int, float) and input._dtype.char in "efd":
        return ops.modulo(input, divisor=_beside(other, input._dtype))
    return binary(ops.remainder, input, other)


def _beside(number: Any, dtype: np.dtype[Any]) -> Any:
    """A number as an operand of arrays of a dtype; RuntimeError if it does not fit, as NumPy 1 would promote."""
    if dtype.kind in "iu":
        held(number, dtype)
        return number
    return float(number) if type(number) is int and number >> 31 not in (0, -1) else number


def _plain(value: Any) -> Any:
    """A number of a subclass, as an IntEnum, as Python's own: NumPy takes it for one of a dtype."""
    return value.real if issubclass(type(value), (int, float)) and type(value) is not bool else value


def pow(input: TensorLike, exponent: TensorLike) -> Tensor:
    """input ** exponent, elementwise.

    Parameters
    ----------
    exponent
        A number or a tensor.

    >>> import pullback
    >>> pullback.pow(pullback.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    """
    number = exponent.item() if isinstance(exponent, np.generic) else _plain(exponent)
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
    if (type(base) is int or type(base) is float) and base >= 0:
        dtype = common(base, exponent)
        if dtype.kind == "f":
            return ops.exponential(cast(exponent, dtype), base=float(base))
    return binary(ops.pow, input, exponent)


@is_primitive(ops.negative)
def neg(input: Tensor) -> Tensor:
    """-input.

    >>> import pullback
    >>> pullback.neg(pullback.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
    """
    _refuse_bool_negation(input)
    return ops.negative(input)


def elementwise(primitive: Primitive, *, keeps_integers: bool = False) -> Callable[[Function], Function]:
    """The function of one tensor with one of torch's names; integers become floats unless the primitive keeps them."""

    def made(like: Function) -> Function:
        def function(input: Tensor) -> Tensor:
            if not isinstance(input, Carrier):
                raise errors.no_tensor(like.__name__, "input", 1, input)
            return primitive(input if keeps_integers else inexact(input))

        is_primitive(primitive)(function)
        return named(like.__name__, function, like.__doc__ or "")

    return made


@elementwise(ops.exp)
def exp(input: Tensor) -> Tensor:
    """e to the input, elementwise.

    >>> import pullback
    >>> pullback.exp(pullback.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """


@elementwise(ops.log)
def log(input: Tensor) -> Tensor:
    """The natural logarithm, elementwise; -inf at 0, NaN below.

    >>> import pullback
    >>> pullback.log(pullback.tensor([1.0, 0.0, -1.0]))
    tensor([0., -inf, nan])
    """


@elementwise(ops.sqrt)
def sqrt(input: Tensor) -> Tensor:
    """The square root, elementwise; its slope at 0 is inf.

    >>> import pullback
    >>> pullback.sqrt(pullback.tensor([4.0, 9.0]))
    tensor([2., 3.])
    """


@elementwise(ops.sin)
def sin(input: Tensor) -> Tensor:
    """The sine, elementwise.

    >>> import pullback
    >>> pullback.sin(pullback.tensor([0.0, 0.5236]))
    tensor([0.0000, 0.5000])
    """


@elementwise(ops.cos)
def cos(input: Tensor) -> Tensor:
    """The cosine, elementwise.

    >>> import pullback
    >>> pullback.cos(pullback.tensor([0.0, 1.0472]))
    tensor([1.0000, 0.5000])
    """


@elementwise(ops.tanh)
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent, elementwise.

    >>> import pullback
    >>> pullback.tanh(pullback.tensor([0.0, 0.5, 100.0]))
    tensor([0.0000, 0.4621, 1.0000])
    """


@elementwise(ops.sigmoid)
def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input)), elementwise.

    >>> import pullback
    >>> pullback.sigmoid(pullback.tensor([-100.0, 0.0, 100.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """


@elementwise(ops.reciprocal)
def reciprocal(input: Tensor) -> Tensor:
    """1 / input, elementwise.

    >>> import pullback
    >>> pullback.reciprocal(pullback.tensor([2.0, -4.0]))
    tensor([ 0.5000, -0.2500])
    """


@elementwise(ops.abs, keeps_integers=True)
def abs(input: Tensor) -> Tensor:
    """The absolute value, elementwise; its slope at 0 is 0.

    >>> import pullback
    >>> pullback.abs(pullback.tensor([-2.0, 0.0, 3.0]))
    tensor([2., 0., 3.])
    """


def relu(input: Tensor) -> Tensor:
    """max(input, 0), elementwise; its slope at 0 is 0.

    >>> import pullback
    >>> pullback.relu(pullback.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    if not isinstance(input, Carrier):
        raise errors.no_tensor("relu", "input", 1, input)
    if input._dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu: convert first, x.float()")
    if input._dtype.kind == "c":
        raise NotImplementedError(
            f"clamp is not supported for complex types: relu of {input.dtype}; take x.real or x.abs()"
        )
    return ops.relu(input)


@is_primitive(ops.square)
def square(input: Tensor) -> Tensor:
    """input * input.

    >>> import pullback
    >>> pullback.square(pullback.tensor([1.0, -3.0]))
    tensor([1., 9.])
    """
    return ops.square(cast(input, np.dtype(np.int64)) if category(input)[0].kind == "b" else input)


@is_primitive(ops.sign)
def sign(input: Tensor) -> Tensor:
    """-1, 0 or 1, elementwise; its gradient is 0.

    >>> import pullback
    >>> pullback.sign(pullback.tensor([-0.5, 0.0, 3.0]))
    tensor([-1.,  0.,  1.])
    """
    if category(input)[0].kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers: use sgn instead"
        )
    return ops.clone(input) if input._dtype.kind == "b" else ops.sign(input)


@is_primitive(ops.rsqrt)
def rsqrt(input: Tensor) -> Tensor:
    """1 / sqrt(input), elementwise; -inf slope at 0.

    >>> import pullback
    >>> pullback.rsqrt(pullback.tensor([1.0, 4.0, 0.25]))
    tensor([1.0000, 0.5000, 2.0000])
    """
    return ops.rsqrt(inexact(input))


def pair(primitive: Primitive, *, keeps_integers: bool = True) -> Callable[[Function], Function]:
    """The function of two tensors with one of torch's names; integers become floats unless the primitive keeps them."""

    def made(like: Function) -> Function:
        def function(input: Tensor, other: TensorLike) -> Tensor:
            if keeps_integers:
                return binary(primitive, input, other)
            return broadcast(primitive, *fractional(input, other))

        is_primitive(primitive)(function)
        return named(like.__name__, function, like.__doc__ or "")

    return made


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


def ordering(primitive: Primitive, *, keeps_integers: bool = True) -> Callable[[Function], Function]:
    """The function of two real tensors with one of torch's names; `keeps_integers` as for `pair`."""

    def made(like: Function) -> Function:
        def function(input: Tensor | Array, other: TensorLike) -> Tensor:
            input, other = together(input, other) if keeps_integers else fractional(input, other)
            refuse_unordered(like.__name__, input._dtype if isinstance(input, Carrier) else input.dtype)
            return broadcast(primitive, input, other)

        is_primitive(primitive)(function)
        return named(like.__name__, function, like.__doc__ or "")

    return made


@ordering(ops.maximum)
def maximum(input: Tensor, other: TensorLike) -> Tensor:
    """The larger of two tensors, elementwise; NaN wins, ties share the gradient.

    >>> import pullback
    >>> pullback.maximum(pullback.tensor([1.0, 5.0]), pullback.tensor([3.0, 3.0]))
    tensor([3., 5.])
    """


@ordering(ops.minimum)
def minimum(input: Tensor, other: TensorLike) -> Tensor:
    """The smaller of two tensors, elementwise; NaN wins, ties share the gradient.

    >>> import pullback
    >>> pullback.minimum(pullback.tensor([1.0, 5.0]), pullback.tensor([3.0, 3.0]))
    tensor([1., 3.])
    """


@pair(ops.equal)
def eq(input: Tensor, other: TensorLike) -> Tensor:
    """Where input == other.

    >>> import pullback
    >>> pullback.eq(pullback.tensor([1, 2, 3]), 2)
    tensor([False,  True, False])
    """


@pair(ops.not_equal)
def ne(input: Tensor, other: TensorLike) -> Tensor:
    """Where input != other.

    >>> import pullback
    >>> pullback.ne(pullback.tensor([1, 2, 3]), 2)
    tensor([ True, False,  True])
    """


@ordering(ops.less)
def lt(input: Tensor, other: TensorLike) -> Tensor:
    """Where input < other.

    >>> import pullback
    >>> pullback.lt(pullback.tensor([1, 2, 3]), 2)
    tensor([ True, False, False])
    """


@ordering(ops.less_equal)
def le(input: Tensor, other: TensorLike) -> Tensor:
    """Where input <= other.

    >>> import pullback
    >>> pullback.le(pullback.tensor([1, 2, 3]), 2)
    tensor([ True,  True, False])
    """


@ordering(ops.greater)
def gt(input: Tensor, other: TensorLike) -> Tensor:
    """Where input > other.

    >>> import pullback
    >>> pullback.gt(pullback.tensor([1, 2, 3]), 2)
    tensor([False, False,  True])
    """


@ordering(ops.greater_equal)
def ge(input: Tensor, other: TensorLike) -> Tensor:
    """Where input >= other.

    >>> import pullback
    >>> pullback.ge(pullback.tensor([1, 2, 3]), 2)
    tensor([False,  True,  True])
    """


def of_integers(primitive: Primitive, *, bools: bool = False) -> Callable[[Function], Function]:
    """The function of two tensors of integers, and of bools where the operation is defined for them."""

    def made(like: Function) -> Function:
        def function(input: TensorLike, other: TensorLike) -> Tensor:
            if not isinstance(input, Carrier) and not isinstance(other, Carrier):
                raise errors.no_tensor(like.__name__, "input", 1, input)
            dtype = common(input, other)
            if dtype.kind not in ("biu" if bools else "iu"):
                raise NotImplementedError(
                    f'"{like.__name__}" not implemented for {dtype}: it is for integers{" and bools" * bools}'
                )
            return binary(primitive, input, other)

        return named(like.__name__, function, like.__doc__ or "")

    return made


@of_integers(ops.bitwise_and, bools=True)
def bitwise_and(input: Tensor, other: TensorLike) -> Tensor:
    """The bitwise and of integers or bools.

    >>> import pullback
    >>> pullback.bitwise_and(pullback.tensor([6, 5]), 4)
    tensor([4, 4])
    """


@of_integers(ops.bitwise_or, bools=True)
def bitwise_or(input: Tensor, other: TensorLike) -> Tensor:
    """The bitwise or of integers or bools.

    >>> import pullback
    >>> pullback.bitwise_or(pullback.tensor([6, 1]), 4)
    tensor([6, 5])
    """


@of_integers(ops.bitwise_xor, bools=True)
def bitwise_xor(input: Tensor, other: TensorLike) -> Tensor:
    """The bitwise exclusive or of integers or bools.

    >>> import pullback
    >>> pullback.bitwise_xor(pullback.tensor([6, 1]), 4)
    tensor([2, 5])
    """


@of_integers(ops.left_shift)
def bitwise_left_shift(input: Tensor, other: TensorLike) -> Tensor:
    """input * 2**other.

    >>> import pullback
    >>> pullback.bitwise_left_shift(pullback.tensor([1, 3]), 2)
    tensor([ 4, 12])
    """


@of_integers(ops.right_shift)
def bitwise_right_shift(input: Tensor, other: TensorLike) -> Tensor:
    """The floor of input / 2**other.

    >>> import pullback
    >>> pullback.bitwise_right_shift(pullback.tensor([4, 7]), 2)
    tensor([1, 1])
    """


def bitwise_not(input: Tensor) -> Tensor:
    """The bitwise complement of integers; the logical one of bools.

    >>> import pullback
    >>> pullback.bitwise_not(pullback.tensor([0, 5]))
    tensor([-1, -6])
    """
    if input._dtype.kind == "b":
        return ops.logical_not(input)
    if input._dtype.kind in "fc":
        raise NotImplementedError(
            f'"bitwise_not_cpu" not implemented for {input._type_name!r}: it is for integer and bool tensors, as ~(x > 0)'
        )
    return ops.bitwise_xor(input, np.asarray(-1).astype(input._dtype))


def as_condition(condition: Tensor | Array) -> Tensor | Array:
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
def where(condition: Tensor | Array, input: TensorLike, other: TensorLike) -> Tensor:
    """The elements of input where the condition is True, and those of other elsewhere.

    >>> import pullback
    >>> pullback.where(pullback.tensor([True, False]), pullback.tensor([1.0, 2.0]), 0.0)
    tensor([1., 0.])
    """
    require_operand("where", "condition", condition)
    return broadcast(ops.where, as_condition(condition), *together(input, other))


def _range(dtype: np.dtype[Any]) -> tuple[float, float]:
    """The lowest and the highest value of a dtype."""
    if dtype.kind in "fb":
        return (-np.inf, np.inf) if dtype.kind == "f" else (False, True)
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def clamp(input: Tensor | Array, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """input limited to [min, max]; the gradient passes inside and at the bounds.

    Bounds are numbers or tensors, which broadcast and have gradients themselves.

    >>> import pullback
    >>> x = pullback.tensor([-1.0, 0.5, 3.0], requires_grad=True)
    >>> pullback.clamp(x, 0.0, 1.0).backward(pullback.ones(3))
    >>> x.grad
    tensor([0., 1., 0.])
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
