"""`where` of functions: each is evaluated only where it is selected, so that the other side cannot spoil its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core.primitives import Carrier
from .._core.shapes import broadcast_shapes
from .._core.values import every
from . import arithmetic, indexing, reductions, shapes
from .promotion import together

SIDES = ("input", "other")


def evaluated(condition: Any, sides: Sequence[Any], operands: Sequence[Any]) -> Any:
    """`where(condition, *sides)` where a side may be a function of the selected elements of some operands."""
    carriers = [value for value in (condition, *operands, *sides) if isinstance(value, Carrier)]
    if not any(isinstance(operand, (Carrier, np.ndarray)) for operand in operands):
        raise TypeError(
            "where() with functions needs the tensors that they take, so that it can select from them: "
            "pullback.where(condition, f, g, x) calls f(elements of x) and g(the other elements of x)"
        )
    if not carriers:
        raise TypeError("where(): none of the condition, the sides and the operands is a Tensor: use pullback.tensor")
    wrap = carriers[0].interpreter.wrap
    given = [wrap(value, None) if isinstance(value, np.ndarray) else value for value in (condition, *sides, *operands)]
    shape = broadcast_shapes(*(tuple(value.shape) for value in given if isinstance(value, Carrier)))
    mask, input, other, *rest = (
        shapes.reshape(shapes.broadcast_to(value, shape), (-1,)) if isinstance(value, Carrier) else value
        for value in given
    )
    if _disagrees(condition):
        return shapes.reshape(_replaced(mask, (input, other), rest), shape)
    return shapes.reshape(_selected(mask, (input, other), rest, wrap), shape)


def _disagrees(condition: Any) -> bool:
    """Whether a condition is that of a batch, whose examples may select different elements."""
    while isinstance(condition, Carrier):
        if getattr(condition, "batched", False):
            return True
        condition = condition._array
    return False


def _selected(mask: Any, sides: Sequence[Any], operands: Sequence[Any], wrap: Any) -> Any:
    """Each side's values at the places that are its own, put back into their order; a side without any is not called."""
    chosen = every(mask)
    order = [np.flatnonzero(chosen), np.flatnonzero(~chosen)]
    like = next(operand for operand in operands if isinstance(operand, Carrier))
    found = [
        _values(name, side, [_at(operand, places) for operand in operands], places)
        if len(places) or not callable(side)
        else _at(like, places)
        for name, side, places in zip(SIDES, sides, order, strict=True)
    ]
    pieces = [
        shapes.broadcast_to(values if isinstance(values, Carrier) else wrap(values, None), (len(places),))
        for values, places in zip(together(*found), order, strict=True)
    ]
    return indexing.getitem(shapes.cat(pieces, 0), np.argsort(np.concatenate(order)))


def _at(operand: Any, places: Any) -> Any:
    return indexing.getitem(operand, places) if isinstance(operand, Carrier) else operand


def _values(name: str, side: Any, operands: Sequence[Any], places: Any) -> Any:
    """The values of a side at some places: what its function makes of the operands there, or its own elements."""
    values = side(*operands) if callable(side) else _at(side, places)
    have = np.shape(values) if not isinstance(values, Carrier) else tuple(values.shape)
    if have not in ((), (len(places),)):
        raise RuntimeError(
            f"where(): the function {name!r} was given {len(places)} elements and returned shape {have}: it works element by "
            "element, and returns as many, or a single one for all"
        )
    return values


def _replaced(mask: Any, sides: Sequence[Any], operands: Sequence[Any]) -> Any:
    """Each side on all elements, with a selected one in the place of those that are not; 1 if none is."""
    places = np.arange(mask.shape[0])
    results = []
    for name, side, own in zip(SIDES, sides, (mask, ~mask), strict=True):
        if callable(side):
            safe = [_safe(own, operand) if isinstance(operand, Carrier) else operand for operand in operands]
            results.append(_values(name, side, safe, places))
        else:
            results.append(side)
    return arithmetic.where(mask, *results)


def _safe(own: Any, operand: Any) -> Any:
    """An operand with the first of its selected elements in the place of those that are not."""
    values = operand.detach()
    ranks = np.arange(own.shape[0], 0, -1)
    is_first = own & (reductions.amax(own * ranks, 0) == ranks)
    one = arithmetic.where(reductions.any(own), reductions.sum(arithmetic.where(is_first, values, 0)), 1)
    return arithmetic.where(own, operand, one.to(operand.dtype))
