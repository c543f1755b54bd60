"""`where` of functions: each is evaluated only where it is selected, so that it cannot make the other's gradient NaN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.package import package
from .._core.primitives import Carrier
from .._core.shapes import broadcast_shapes
from .._core.values import every, require_operand
from .._tape.shortcuts import is_primitive
from . import arithmetic, indexing, reductions, shapes, slicing
from .promotion import together

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._core.typing import Array, Tensor, TensorLike

    Side: TypeAlias = TensorLike | Callable[..., Tensor] | None

SIDES = ("input", "other")


@is_primitive(ops.where, masked=True)
def where(
    condition: Tensor,
    input: TensorLike | Callable[..., Tensor] | None = None,
    other: TensorLike | Callable[..., Tensor] | None = None,
    *operands: TensorLike,
) -> Tensor | tuple[Tensor, ...]:
    """input where the condition is True, other elsewhere; the gradient goes to the selected side.

    With the condition alone, the indices where it is nonzero, as `nonzero(as_tuple=True)`.

    A side that is not selected has the gradient 0, and 0 times inf is NaN: `where(x > 0, x.sqrt(), 0)` has a NaN
    gradient at 0. `where(condition, f, g, *operands)`, with a function for one or both sides, calls each with the
    elements of the broadcast operands at which it is selected, as 1-d tensors: so f is never computed where
    it is not selected, and a side that is selected nowhere is not called. The functions are elementwise, and
    return the same number of elements or a single one. Under `vmap` with a condition that differs between examples, they get
    all elements, where those not selected are replaced by a selected one (by 1, if there is none).

    Parameters
    ----------
    condition
        A bool tensor.

    Raises
    ------
    RuntimeError
        If the condition is not of dtype bool (or uint8, which warns), or a function does not return one element for each that it was given.
    TypeError
        If the condition is not a tensor, or a side is a function and there are no operands, or the other way round.

    >>> import pullback
    >>> x = pullback.tensor([0.0, 4.0], requires_grad=True)
    >>> pullback.where(x > 0, pullback.sqrt, lambda t: 0 * t, x).sum().backward()
    >>> x.grad
    tensor([0.0000, 0.2500])
    """
    if input is None and other is None:
        require_operand("where", "condition", condition)
        return slicing.nonzero(condition, as_tuple=True)
    if callable(input) or callable(other):
        require_operand("where", "condition", condition)
        return _evaluated(arithmetic.as_condition(condition), (input, other), operands)
    if operands:
        raise TypeError(
            f"where() takes 3 positional arguments but {3 + len(operands)} were given: operands are for functions, as in "
            "where(condition, f, g, x)"
        )
    return arithmetic.where(condition, input, other)


def _evaluated(condition: Tensor | Array, sides: Sequence[Side], operands: Sequence[TensorLike]) -> Tensor:
    """`where(condition, *sides)` where a side may be a function of the selected elements of some operands."""
    carriers = [value for value in (condition, *operands, *sides) if isinstance(value, Carrier)]
    if not any(isinstance(operand, (Carrier, np.ndarray)) for operand in operands):
        raise TypeError(
            "where() with functions needs the tensors that they take, so that it can select from them: "
            f"{package}.where(condition, f, g, x) calls f(elements of x) and g(the other elements of x)"
        )
    if not carriers:
        raise TypeError(f"where(): none of the condition, the sides and the operands is a Tensor: use {package}.tensor")
    wrap = carriers[0].interpreter.wrap
    given: list[Side] = [
        wrap(value, None) if isinstance(value, np.ndarray) else value for value in (condition, *sides, *operands)
    ]
    shape = broadcast_shapes(*(tuple(value.shape) for value in given if isinstance(value, Carrier)))
    mask, input, other, *rest = (
        shapes.reshape(shapes.broadcast_to(value, shape), (-1,)) if isinstance(value, Carrier) else value
        for value in given
    )
    if _disagrees(condition):
        return shapes.reshape(_replaced(mask, (input, other), rest), shape)
    return shapes.reshape(_selected(mask, (input, other), rest, wrap), shape)


def _disagrees(condition: Any) -> bool:
    """True if a condition belongs to a batch whose examples may select different elements."""
    while isinstance(condition, Carrier):
        if getattr(condition, "batched", False):
            return True
        condition = condition._array
    return False


def _selected(mask: Any, sides: Sequence[Side], operands: Sequence[Side], wrap: Any) -> Tensor:
    """Each side's values where it is selected, merged in order; a side that is never selected is not called."""
    chosen = every(mask)
    order = [np.flatnonzero(chosen), np.flatnonzero(~chosen)]
    like = next(operand for operand in operands if isinstance(operand, Carrier))
    found = [
        _values(name, side, [_at(operand, places) for operand in operands], places)
        if len(places) or not callable(side)
        else _at(like, places)
        for name, side, places in zip(SIDES, sides, order, strict=True)
    ]
    merged: Sequence[Tensor | Array] = together(*found)
    pieces = [
        shapes.broadcast_to(values if isinstance(values, Carrier) else wrap(values, None), (len(places),))
        for values, places in zip(merged, order, strict=True)
    ]
    return indexing.getitem(shapes.cat(pieces, 0), np.argsort(np.concatenate(order)))


def _at(operand: Side, places: Array) -> Any:
    return indexing.getitem(operand, places) if isinstance(operand, Carrier) else operand


def _values(name: str, side: Side, operands: Sequence[Side], places: Array) -> Any:
    """The values of a side at some positions: its function's result for the operands there, or its own elements."""
    values = side(*operands) if callable(side) else _at(side, places)
    have = np.shape(values) if not isinstance(values, Carrier) else tuple(values.shape)
    if have not in ((), (len(places),)):
        raise RuntimeError(
            f"where(): the function {name!r} was given {len(places)} elements and returned shape {have}: it works element by "
            "element, and returns as many, or a single one for all"
        )
    return values


def _replaced(mask: Any, sides: Sequence[Side], operands: Sequence[Side]) -> Tensor:
    """Both sides computed on all elements, where those not selected are replaced by a selected one, or by 1."""
    places = np.arange(mask.shape[0])
    results: list[Any] = []
    for name, side, own in zip(SIDES, sides, (mask, ~mask), strict=True):
        if callable(side):
            safe = [_safe(own, operand) if isinstance(operand, Carrier) else operand for operand in operands]
            results.append(_values(name, side, safe, places))
        else:
            results.append(side)
    return arithmetic.where(mask, *results)


def _safe(own: Tensor, operand: Tensor) -> Tensor:
    """An operand whose elements that are not selected are replaced by the first selected one."""
    values = operand.detach()
    ranks = np.arange(own.shape[0], 0, -1)
    is_first = own & (reductions.amax(own * ranks, 0) == ranks)
    one = arithmetic.where(reductions.any(own), reductions.sum(arithmetic.where(is_first, values, 0)), 1)
    return arithmetic.where(own, operand, one.to(operand.dtype))
