"""Strong zeros: a zero cotangent gives zero, also where the derivative that it is multiplied with is infinite or NaN.

A derivative rule is linear in the cotangent, so a term whose cotangent is zero contributes nothing. In floating-point
numbers it contributes NaN where its factor is not finite: 0 · inf. Here such terms are taken out of the result of a rule.
Which cotangents an element comes from follows from the kind of operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.primitives import Carrier, Primitive
from .._core.shapes import broadcasts_to
from .memory import cell_with

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType
    from .._core.primitives import Function
    from .._core.typing import Namespace, Saved, Value


def with_strong_zeros(
    xp: Namespace,
    primitive: Primitive,
    g: Value | list[Value | None],
    results: Sequence[Value | None],
    params: object,
    saved: Sequence[Saved | None],
    pull: Function,
) -> Sequence[Value | None]:
    """The results of a rule without the terms whose cotangent is zero; `pull(g, saved)` gives the results."""
    if all(r is None or _finite(r) for r in results):
        return results
    if primitive.kind == "multilinear" and not isinstance(g, list):
        return _of_products(xp, g, results, saved, pull)
    return [None if r is None else _without(xp, _idle(xp, primitive, g, r, params), r) for r in results]


def _finite(value: Any) -> bool:
    """True if all elements are known to be finite; those of a program that is recorded are not known."""
    array = value._elements() if isinstance(value, Carrier) else value
    return isinstance(array, (np.ndarray, np.generic)) and bool(np.isfinite(array).all())


def _without(xp: Namespace, idle: Value, value: Value) -> Value:
    """A value with zeros where it comes from idle cotangents and is not finite; elsewhere it keeps its own derivative."""
    return xp.where(xp.logical_and(idle, xp.logical_not(xp.isfinite(value))), xp.zeros_like(value), value)


def _idle(xp: Namespace, primitive: Primitive, g: Value | list[Value | None], result: Value, params: object) -> Value:
    """Where all cotangents are zero that an element of a result comes from."""
    zero, *others = [xp.equal(piece, 0) for piece in (g if isinstance(g, list) else [g]) if piece is not None]
    if others:
        for other in others:
            zero = xp.logical_and(_whole(xp, zero), _whole(xp, other))
    elif primitive.kind != "elementwise":
        axes = params.get("axis") if isinstance(params, dict) else None
        gone = () if axes is None else tuple(axis % result.ndim for axis in np.atleast_1d(axes).tolist())
        if gone and zero.ndim == result.ndim:
            zero = xp.all(zero, axis=gone, keepdims=True)
        elif gone and zero.ndim == result.ndim - len(gone):
            zero = xp.reshape(zero, shape=tuple(1 if i in gone else n for i, n in enumerate(result.shape)))
        else:
            zero = _whole(xp, zero)
    return zero if broadcasts_to(tuple(zero.shape), tuple(result.shape)) else _whole(xp, zero)


def _whole(xp: Namespace, zero: Value) -> Value:
    return xp.all(zero, axis=tuple(range(zero.ndim)), keepdims=False)


def _of_products(
    xp: Namespace, g: Value, results: Sequence[Value | None], saved: Sequence[Any], pull: Function
) -> list[Value | None]:
    """Sums of products without the products of zero and what is not finite, which are counted to find them.

    A sum of which another term is not finite stays what it is.
    """

    def counted(value: Value, like: NumpyType) -> Value:
        return xp.astype(value, dtype=like, source=np.dtype(bool))

    def each(change: Callable[[Value], Value]) -> list[Saved | None]:
        empty = [cell is None or cell.array is None for cell in saved]
        return [cell if gone else cell_with(change(cell.array)) for cell, gone in zip(saved, empty, strict=True)]

    kind = _dtype(g)
    moving = counted(xp.not_equal(g, 0), kind)
    every = pull(moving, each(lambda value: counted(xp.equal(xp.zeros_like(value), 0), _dtype(value))))
    sound = pull(moving, each(lambda value: counted(xp.isfinite(value), _dtype(value))))
    clean = pull(g, each(lambda value: xp.where(xp.isfinite(value), value, xp.zeros_like(value))))
    return [
        None if r is None else xp.where(xp.equal(total, part), better, r)
        for r, total, part, better in zip(results, every, sound, clean, strict=True)
    ]


def _dtype(value: Value) -> NumpyType:
    return value._dtype if isinstance(value, Carrier) else value.dtype
