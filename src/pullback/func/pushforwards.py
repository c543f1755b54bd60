"""Pushforwards: the tangent of an operation's result, derived from the operation's kind and its backward rule.

A backward rule is the transpose of the operation's derivative. The derivative of an elementwise operation is its own
transpose; a linear operation is its own derivative; that of a multilinear one is a sum over its operands; the
derivative of a scalar result is its pullback of 1. Any other rule is linear in its cotangent, and is transposed by
pulling the tangents back through the rule itself. If all values are plain arrays, rules run on arrays directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import ops
from .._core import xp as _xp
from .._core.bfloat import dtype_of as dtype_of_array
from .._core.halves import char_of, pulled_in_bfloat
from .._core.modes import mode, quiet, restoring
from .._core.primitives import Carrier, Primitive
from .._core.shapes import sum_to
from .._tape.memory import Cell, cell_with
from .._tape.node import node_class
from .._tape.recording import sources
from .._tape.zeros import with_strong_zeros
from .levels import Level, tensor_of

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType
    from .._core.primitives import Function
    from .._core.typing import Namespace, Params, Result, Value


ndarray = np.ndarray


class _Edge(NamedTuple):
    """The attributes that a backward rule reads from an edge."""

    shape: tuple[int, ...]


ARRAYS = {ndarray, type(None)}


def pushforward(
    primitive: Primitive, primals: Sequence[Value], tangents: Sequence[Value | None], y: Result, params: Params
) -> Result | tuple[Value | None, ...] | None:
    """The tangent of the result, or a tuple; None represents a zero tangent, of inputs as of results."""
    if primitive.push is not None:
        with np.errstate(all="ignore"):
            pushed = primitive.push(ops, primals, tangents, y, **params)
        if pushed is not NotImplemented:
            return pushed
    push = PUSHFORWARDS.get(primitive.kind)
    if push is _elementwise and primitive.complex == "as written" and "c" in _kinds(*primals, *_pieces(y)):
        push = _transposed  # the rule conjugates, so it is not its own transpose
    elif push is None:
        push = _by_rule(primitive, tangents, y)
    if (
        push in RAW
        and not mode.get().strong_zeros
        and type(y) is ndarray
        and {*map(type, primals), *map(type, tangents)} <= ARRAYS
    ):
        return quiet.copy().run(push, _xp, primitive, primals, tangents, y, params)
    with np.errstate(all="ignore"):
        return push(ops, primitive, primals, tangents, y, params)


def dtype_of(value: Value) -> NumpyType:
    """The dtype of a carrier or an array."""
    return value._dtype if isinstance(value, Carrier) else dtype_of_array(value)


def _kinds(*values: Value) -> set[str]:
    """The kinds of the dtypes of values."""
    return {dtype_of(value).kind for value in values}


def _pieces(y: Result) -> tuple[Value, ...]:
    """The outputs of an operation."""
    return y if isinstance(y, tuple) else (y,)


def _elementwise(
    xp: Namespace,
    primitive: Primitive,
    primals: Sequence[Value],
    tangents: Sequence[Value | None],
    y: Value,
    params: Params,
) -> Value | None:
    saved = _saved(primitive, primals, y)
    total: Value | None = None
    for place, tangent in enumerate(tangents):
        if tangent is not None:
            edges = tuple([_Edge(x.shape) if i == place else None for i, x in enumerate(primals)])
            results = _pulled(xp, primitive, edges, params, tangent, saved)
            if mode.get().strong_zeros:
                pull = partial(_pulled, xp, primitive, edges, params)
                results = with_strong_zeros(xp, primitive, tangent, results, params, saved, pull)
            part = results[place]
            total = part if total is None else total if part is None else total + part
    if total is None or total.shape == y.shape:
        return total
    return xp.broadcast_to(total, shape=tuple(y.shape))


def _pulled(
    xp: Namespace, primitive: Primitive, edges: Sequence[_Edge | None], params: Params, g: Value, saved: Sequence[Cell]
) -> Sequence[Value | None]:
    """The results of rules, which those with bfloat16 compute in float32."""
    if char_of(g) == "E":
        return pulled_in_bfloat(primitive, xp, g, edges, saved, params)
    return primitive.pull(xp, g, edges, saved, params)


def _applied(xp: Namespace, primitive: Primitive, args: Sequence[Value], params: Params) -> Value:
    return primitive.forward(*args, **params) if xp is _xp else primitive(*args, **params)


def _linear(
    xp: Namespace,
    primitive: Primitive,
    primals: Sequence[Value],
    tangents: Sequence[Value | None],
    y: Value,
    params: Params,
) -> Value | None:
    return None if tangents[0] is None else _applied(xp, primitive, (tangents[0], *primals[1:]), params)


def _jointly(
    xp: Namespace,
    primitive: Primitive,
    primals: Sequence[Value],
    tangents: Sequence[Value | None],
    y: Value,
    params: Params,
) -> Value:
    filled = [
        tangent if tangent is not None else xp.zeros_like(x) if dtype_of(x).kind in "fc" else x
        for x, tangent in zip(primals, tangents, strict=True)
    ]
    return _applied(xp, primitive, filled, params)


def _product(
    xp: Namespace, primitive: Primitive, place: int, params: Params, tangent: Value, factors: Sequence[Cell]
) -> tuple[Value]:
    values = [factor.array for factor in factors]
    return (_applied(xp, primitive, (*values[:place], tangent, *values[place:]), params),)


def _multilinear(
    xp: Namespace,
    primitive: Primitive,
    primals: Sequence[Value],
    tangents: Sequence[Value | None],
    y: Value,
    params: Params,
) -> Value | None:
    total: Value | None = None
    for place, tangent in enumerate(tangents):
        if tangent is not None:
            part: Value | None = _applied(xp, primitive, (*primals[:place], tangent, *primals[place + 1 :]), params)
            if mode.get().strong_zeros:
                factors = tuple(map(cell_with, (*primals[:place], *primals[place + 1 :])))
                product = partial(_product, xp, primitive, place, params)
                (part,) = with_strong_zeros(xp, primitive, tangent, (part,), params, factors, product)
            total = part if total is None else total + part
    return total


# Other rules

SYMMETRIC = {"softmax": 0, "softmax_pullback": 0, "cross_entropy_pullback": 1}
"""Operations that are not elementwise and yet their own transpose, with the index of the relevant input."""


def _by_rule(primitive: Primitive, tangents: Sequence[Value | None], y: Result) -> Function:
    """The pushforward of an operation that follows from its rules rather than its kind."""
    moved = {place: tangent for place, tangent in enumerate(tangents) if tangent is not None}
    if isinstance(y, tuple) or _kinds(y, *moved.values()) != {"f"}:
        return _transposed
    if [*moved] == [SYMMETRIC.get(primitive.name)]:
        return _elementwise
    return _transposed if y.shape or mode.get().strong_zeros else _of_number


def _of_number(
    xp: Namespace,
    primitive: Primitive,
    primals: Sequence[Value],
    tangents: Sequence[Value | None],
    y: Value,
    params: Params,
) -> Value | None:
    """The derivative of a scalar result: the pullback of 1, times the tangents, summed."""
    edges = _edges(primals, tangents)
    pulled = _pulled(xp, primitive, edges, params, np.ones((), dtype_of(y)), _saved(primitive, primals, y))
    total: Value | None = None
    for slopes, edge, tangent in zip(pulled, edges, tangents, strict=False):
        if edge is not None and slopes is not None:
            every = tuple(range(len(edge.shape)))
            part = xp.sum(sum_to(xp, slopes, edge.shape) * tangent, axis=every, keepdims=False)
            total = part if total is None else total + part
    if total is None or (made := dtype_of(total)) == (wanted := dtype_of(y)):
        return total
    return xp.astype(total, dtype=wanted, source=made)  # of bfloat16, whose rules compute in float32


@restoring
def _transposed(
    xp: Namespace,
    primitive: Primitive,
    primals: Sequence[Value],
    tangents: Sequence[Value | None],
    y: Result,
    params: Params,
) -> tuple[Value | None, ...] | Value | None:
    several, pieces = isinstance(y, tuple), _pieces(y)
    edges = _edges(primals, tangents)
    saved = _saved(primitive, primals, y)
    conjugated = "c" in _kinds(*pieces)
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


def _edges(primals: Sequence[Value], tangents: Sequence[Value | None]) -> tuple[_Edge | None, ...]:
    """An edge for each input that has a tangent."""
    return tuple([None if t is None else _Edge(tuple(x.shape)) for x, t in zip(primals, tangents, strict=True)])


def _saved(primitive: Primitive, primals: Sequence[Value], y: Result) -> tuple[Cell, ...]:
    """Cells for the saved values that a primitive's rules name."""
    pieces = iter(_pieces(y))
    return tuple([cell_with(next(pieces) if i is None else primals[i]) for i in sources(primitive, len(primals))])


PUSHFORWARDS: dict[str, Function] = {
    "elementwise": _elementwise,
    "linear": _linear,
    "jointly linear": _jointly,
    "multilinear": _multilinear,
}
"""Pushforwards by kind of operation; kinds left out are derived from the backward rules."""

RAW = {_elementwise, _linear, _jointly, _multilinear, _of_number}
"""The pushforwards that need only their arguments, and no saved values."""
