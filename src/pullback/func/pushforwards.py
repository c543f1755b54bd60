"""How a tangent travels forwards through one operation, derived from its kind and its backward rule.

A backward rule is the transpose of the operation's derivative. An elementwise one is its own transpose; a linear
operation is its own derivative; a multilinear one is summed over its operands; and any other rule, being linear in its
cotangent, is transposed by pulling the tangents back through the rule itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import ops
from .._core import Carrier, Primitive
from .._memory import Cell
from .._node import node_class
from .._shapes import sum_to
from .levels import Level, tensor_of


class _Edge(NamedTuple):
    """All that a rule asks of an edge."""

    shape: tuple[int, ...]


def pushforward(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], y: Any, params: dict[str, Any]
) -> Any:
    """The tangent of the result, a tuple of several; None for no tangent of an input, and where there is none."""
    push = PUSHFORWARDS.get(primitive.kind, _transposed)
    if push is _elementwise and primitive.complex == "as written" and "c" in {dtype_of(x).kind for x in (*primals, y)}:
        push = _transposed  # the rule conjugates: it is not its own transpose
    return push(primitive, primals, tangents, y, params)  # type: ignore[no-untyped-call]  # all have this signature


def dtype_of(value: Any) -> np.dtype[Any]:
    """The dtype of a carrier or an array."""
    return value._dtype if isinstance(value, Carrier) else np.asarray(value).dtype


def _elementwise(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], y: Any, params: dict[str, Any]
) -> Any:
    saved = _saved(primitive, primals, y)
    total: Any = None
    for place, tangent in enumerate(tangents):
        if tangent is not None:
            edges = tuple(_Edge(x.shape) if i == place else None for i, x in enumerate(primals))
            part = primitive.pull(ops, tangent, edges, saved, params)[place]
            total = part if total is None or part is None else total + part
    if total is None or tuple(total.shape) == tuple(y.shape):
        return total
    return ops.broadcast_to(total, shape=tuple(y.shape))


def _linear(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], y: Any, params: dict[str, Any]
) -> Any:
    return None if tangents[0] is None else primitive(tangents[0], *primals[1:], **params)


def _jointly(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], y: Any, params: dict[str, Any]
) -> Any:
    filled = [
        tangent if tangent is not None else ops.zeros_like(x) if dtype_of(x).kind in "fc" else x
        for x, tangent in zip(primals, tangents, strict=True)
    ]
    return primitive(*filled, **params)


def _multilinear(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], y: Any, params: dict[str, Any]
) -> Any:
    total: Any = None
    for place, tangent in enumerate(tangents):
        if tangent is not None:
            part = primitive(*primals[:place], tangent, *primals[place + 1 :], **params)
            total = part if total is None else total + part
    return total


def _transposed(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], y: Any, params: dict[str, Any]
) -> Any:
    several = type(y) is tuple
    pieces = y if several else (y,)
    edges = tuple(None if t is None else _Edge(tuple(x.shape)) for x, t in zip(primals, tangents, strict=True))
    saved = _saved(primitive, primals, y)
    conjugated = any(dtype_of(piece).kind == "c" for piece in pieces)
    pull = node_class(primitive, primitive.node_name(params), conjugated).pull
    with Level() as level:
        zeros = [tensor_of(np.zeros(piece.shape, dtype_of(piece))) for piece in pieces]
        g = [level.variable(zero) if zero._dtype.kind in "fc" else zero for zero in zeros]
        pulled = pull(ops, g if several else g[0], edges, saved, params)
        reached = [
            (sum_to(ops, result, edge.shape), t)
            for result, edge, t in zip(pulled, edges, tangents, strict=False)
            if edge is not None and result is not None
        ]
    variables = list(filter(level.holds, g))
    answers = iter(level.pull([r for r, _ in reached], [t for _, t in reached], variables, retain_graph=False))
    pushed = tuple([next(answers) if level.holds(piece) else None for piece in g])
    return pushed if several else pushed[0]


def _saved(primitive: Primitive, primals: Sequence[Any], y: Any) -> tuple[Cell, ...]:
    """Cells of the values that the rules of a primitive name."""
    pieces = iter(y if type(y) is tuple else (y,))
    kept = primitive.kept(len(primals))
    return tuple(Cell(next(pieces) if source is None else primals[source]) for _, source in kept)


PUSHFORWARDS: dict[str, Callable[..., Any]] = {
    "elementwise": _elementwise,
    "linear": _linear,
    "jointly linear": _jointly,
    "multilinear": _multilinear,
}
