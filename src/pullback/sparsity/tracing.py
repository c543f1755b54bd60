"""Pullback of patterns: an interpreter that determines dependences instead of values.

A backward rule is linear in its cotangent. If it is run on a pattern instead of values, the ordinary rules on the
ordinary graph determine which outputs depend on each element; only the structure of each operation is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Tensor, observe, ops
from ..autograd import grad
from ..extend import Primitive
from ..interpreters import Boxed, Interpreter, pull
from .patterns import Array, Pattern, identity, united
from .structures import dense, probes, structure, unreached

if TYPE_CHECKING:
    from .structures import Value

LARGEST = 1 << 24  # result size times operand size up to which a rule is used
MASKED = {"masked_fill"}  # operations, elementwise in all but name, that take masks


def moves(tensor: Any) -> bool:
    """Whether a tensor is recorded by a compiled function, which has other numbers at each call."""
    return isinstance(tensor, Tensor) and (isinstance(tensor, Boxed) or isinstance(observe.value(tensor), Boxed))


class Reached(Boxed):
    """The tensor passed instead of values to the user's hooks and backward functions."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"pattern(shape={tuple(self.shape)}, entries={len(observe.value(self).members)})"


class MovingError(Exception):
    """The pattern may depend on numbers that a compiled function has others of at each call."""


class Reach(Interpreter):
    """The interpreter of cotangents that are patterns; with `local` it also uses the values of data."""

    carrier = Reached

    def __init__(self, local: bool, asked: frozenset[Primitive] = frozenset()) -> None:
        super().__init__()
        self.local = local
        self.asked = asked

    def box(self, value: Any) -> Any:
        """A pattern as a tensor of this interpreter; a constant created by a rule remains an array."""
        if isinstance(value, tuple):
            return tuple(map(self.box, value))
        if not isinstance(value, Pattern):
            return value
        return super().box(value)

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """The pattern of an operation's result; a comparison's is empty, and its values cannot be read."""
        values = [self.unbox(arg) for arg in args]
        moving = any(map(moves, values))
        values = [self.array(primitive, value) if isinstance(value, Tensor) else value for value in values]
        if not primitive.differentiable:
            return self.box(unreached(values, primitive.forward(*probes(values), **params)))
        known = structure(primitive)
        pattern = None if known is None else known(primitive, values, params, self.local)
        if pattern is None and moving:
            raise MovingError
        return self.box(self.by_rule(primitive, values, params) if pattern is None else pattern)

    def array(self, primitive: Primitive, tensor: Tensor) -> Array:
        """Data as an array; those of which a compiled function has others at each call as any numbers, unless they matter."""
        if not moves(tensor):
            held: Array = observe.value(tensor)
            return held
        dtype = tensor.dtype.numpy
        chosen = dtype.kind not in "fc" and primitive.kind != "elementwise" and primitive.name not in MASKED
        if self.local or chosen:
            raise MovingError
        return np.broadcast_to(np.ones((), dtype), tuple(tensor.shape))

    def by_rule(
        self, primitive: Primitive, values: Sequence[Value], params: dict[str, Any]
    ) -> Pattern | tuple[Pattern, ...] | Array:
        """The pattern of an operation without a known structure: its result's elements are pulled back to the operands.

        If the operation's rule leads to the operation itself, or the operation is too large, full dependence is
        assumed.
        """
        given = probes(values)
        out = primitive.forward(*given, **params)
        size = sum(value.size for value in values if isinstance(value, Pattern))
        if isinstance(out, tuple) or out.size * size > LARGEST or primitive in self.asked:
            return dense(values, out)
        parts = []
        with Reach(self.local, self.asked | {primitive}) as reach:
            g = reach.box(identity(out.shape, out.dtype))
            results = pull(primitive, ops, g, given, out, params, [isinstance(value, Pattern) for value in values])
            for value, result in zip(values, results, strict=False):
                if isinstance(value, Pattern) and reach.holds(result):
                    targets, sources = reach.unbox(result.sum_to_size(value.shape)).pairs()
                    parts.append((value, sources, targets))
        if not parts:
            return np.zeros(out.shape, out.dtype)
        return united(parts, out.shape, out.dtype)


def dependence(y: Tensor, x: Tensor, *, local: bool) -> tuple[Array, Array]:
    """The positions of the Jacobian's entries that are not zero by construction: rows and columns, sorted."""
    with Reach(local) as reach:
        root = reach.box(identity(tuple(y.shape), observe.value(y).dtype))
        (found,) = grad(y, x, root, retain_graph=True, allow_unused=True)
        pattern = None if found is None else reach.unbox(found)
    if not isinstance(pattern, Pattern):  # unused, or the rule returned constant zeros
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    rows, columns = pattern.pairs()
    order = np.lexsort((columns, rows))
    return rows[order], columns[order]
