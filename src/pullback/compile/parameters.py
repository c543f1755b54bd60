"""Operations whose metadata are a number, written with an operand in its place.

An exponent or a slope that is another one at each call cannot be metadata, which rules compare. Each function here is an
operation, value and slopes alike, as a composition of others that take the number as a tensor without axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from .. import Tensor, ops, pow as power, where
from .numbers import Escaped, Number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.primitives import Primitive
    from .._core.typing import Params


def _operand(number: Number | float, x: Tensor) -> Tensor | float:
    """A number as an array or a tensor without axes beside x."""
    return number.beside(x) if isinstance(number, Number) else ops.constant(number, x.dtype)


def _clip(x: Tensor, *, lower: float | None, upper: float | None) -> Tensor:
    least, most = (-INFINITE if lower is None else lower), (INFINITE if upper is None else upper)
    return ops.clip_by(x, *(_operand(bound, x) for bound in (least, most)))


def _elu(x: Tensor, *, alpha: float, scale: float, input_scale: float) -> Tensor:
    below = ops.expm1(where(x > 0, 0.0, x) * input_scale)
    return below * (alpha * scale) + where(x > 0, x, 0.0) * scale


def _softplus(x: Tensor, *, beta: float, threshold: float) -> Tensor:
    scaled = x * beta
    return where(scaled > threshold, x, ops.log1p(ops.exp(where(scaled > threshold, 0.0, scaled))) / beta)


def _huber(x: Tensor, *, delta: float) -> Tensor:
    size = ops.abs(x)
    near = where(size < delta, size, delta)
    return near * (size - near * 0.5)


def _corrected(x: Tensor, axis: tuple[int, ...], correction: float) -> Tensor | float:
    """What the variance without a correction is multiplied with."""
    count = math.prod(x.shape[each] for each in axis)
    left = count - correction
    return _operand(count / left if left > 0 else INFINITE, x)


def _var(x: Tensor, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Tensor:
    return ops.var(x, axis=axis, correction=0, keepdims=keepdims) * _corrected(x, axis, correction)


def _std(x: Tensor, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Tensor:
    return ops.std(x, axis=axis, correction=0, keepdims=keepdims) * _corrected(x, axis, correction) ** 0.5


def _leaky_relu(x: Tensor, *, slope: float) -> Tensor:
    return ops.prelu(x, _operand(slope, x))


INFINITE = float("inf")
COMPOSED: dict[str, Callable[..., Any]] = {
    "power": lambda x, *, exponent: power(x, _operand(exponent, x)),
    "exponential": lambda x, *, base: power(_operand(base, x), x),
    "leaky_relu": _leaky_relu,
    "hardtanh": lambda x, *, lower, upper: where(x <= lower, lower, where(x >= upper, upper, x)),
    "hardshrink": lambda x, *, bound: where(ops.abs(x) <= bound, 0.0, x),
    "softshrink": lambda x, *, bound: x - where(x > bound, bound, where(x < -bound, -bound, x)),
    "threshold": lambda x, *, bound, value: where(x <= bound, value, x),
    "clip": _clip, "elu": _elu, "softplus": _softplus, "huber": _huber, "var": _var, "std": _std,
}  # fmt: skip


def stand_ins(params: Params) -> list[Number]:
    """The numbers among metadata that stand for others."""
    return [number for value in params.values() for number in _within(value)]


def _within(value: object) -> Iterator[Number]:
    """The numbers that stand for others in a value of metadata, which may be a tuple or a slice."""
    if issubclass(type(value), Number):  # which says that it is a float
        yield cast("Number", value)
    elif isinstance(value, (tuple, slice)):
        for one in value if isinstance(value, tuple) else (value.start, value.stop, value.step):
            yield from _within(one)


def composed(primitive: Primitive, args: Sequence[Any], params: Params, found: list[Number]) -> Tensor:
    """An operation whose metadata hold numbers that stand for others, with these as operands; Escaped if it has no such form."""
    function = COMPOSED.get(primitive.name)
    if function is None or not isinstance(args[0], Tensor) or args[0].dtype.numpy.kind != "f":
        raise Escaped(root for number in found for root in number.roots)
    return function(*args, **params)
