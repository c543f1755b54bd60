"""The walk over a loop nest: which loops are opened, what begins and ends there, and where each node is computed.

Whoever writes code, for LLVM or in C, derives from it, so that all of it computes the same in the same order.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from ..mathematics.arithmetic import cast, maximum, minimum
from ..mathematics.lanes import IRValue
from . import reducing
from .nests import Layout, Root, ScalarNode
from .ranges import accumulated, first_reduced


class NodeScope(Protocol):
    """A loop that is open, with the values that are computed there."""

    known: dict[Any, Any]


OpenScope = TypeVar("OpenScope", bound=NodeScope)
OpenReduction = TypeVar("OpenReduction")


class NestWalk(ABC, Generic[OpenScope, OpenReduction]):
    """A walk over a layout: a writer opens a loop, begins and finishes reductions, and computes nodes."""

    def __init__(self, layout: Layout, top: OpenScope) -> None:
        self.layout = layout
        self.scopes = [top]
        self.active: list[OpenReduction] = []
        self.levels: dict[int, int] = {}

    @abstractmethod
    def _loop(self, position: int, inside: Callable[[], None]) -> None:
        """A loop over an axis around what `inside` writes."""

    @abstractmethod
    def _begun(self, root: Root) -> OpenReduction:
        """What a reduction carries whose outermost loop is next."""

    @abstractmethod
    def _finish(self, begun: Sequence[OpenReduction]) -> None:
        """Store the results of reductions."""

    @abstractmethod
    def _actions(self, roots: list[Root]) -> None:
        """Store and accumulate."""

    @abstractmethod
    def _compute(self, node: ScalarNode, level: int) -> IRValue:
        """The value of a node whose operands are known, in the scope with a number."""

    def _outer(self, position: int) -> None:
        """The loops over outer axes, and the phases inside."""
        layout = self.layout
        begun = self._begin(position, layout.outer, [root for root in layout.roots if root.outer])
        if position < layout.outer:
            self._loop(position, lambda: self._outer(position + 1))
        else:
            for phase in range(layout.phases):
                here = [root for root in layout.roots if root.phase == phase]
                self._actions([root for root in here if root.outer])
                if inner := [root for root in here if not root.outer]:
                    self._inner(position, inner)
        self._finish(begun)

    def _inner(self, position: int, roots: list[Root]) -> None:
        """The loops over inner axes in one phase."""
        begun = self._begin(position, len(self.layout.domain), roots)
        if position < len(self.layout.domain):
            self._further(position, roots)
        else:
            self._actions(roots)
        self._finish(begun)

    def _further(self, position: int, roots: list[Root]) -> None:
        """The loop over an inner axis, and those inside."""
        self._loop(position, lambda: self._inner(position + 1, roots))

    def _begin(self, position: int, end: int, roots: list[Root]) -> list[OpenReduction]:
        """Begin the reductions whose outermost loop this is, before a last one."""
        reduced = [root for root in roots if root.how] if position < end else []
        begun = [self._begun(root) for root in reduced if first_reduced(root, self.layout) == position]
        self.active += begun
        return begun

    def _level(self, node: ScalarNode) -> int:
        """The number of the scope in which a node is computed."""
        level = self.levels.get(id(node))
        if level is None:
            level = self.layout.outer if node.kind == "reduce" else max(node.axes, default=-1) + 1
            self.levels[id(node)] = level
        return level

    def _known(self, node: ScalarNode) -> dict[Any, Any]:
        return self.scopes[self._level(node)].known

    def _operands_of(self, node: ScalarNode) -> Sequence[ScalarNode]:
        """The nodes from which a node is computed."""
        return node.operands

    def _evaluate(self, node: ScalarNode) -> None:
        """Compute a node, and what it needs, each in its own scope."""
        waiting = [node]
        while waiting:
            one = waiting[-1]
            known = self._known(one)
            if one.kind == "number" or id(one) in known:
                waiting.pop()
                continue
            missing = [o for o in self._operands_of(one) if o.kind != "number" and id(o) not in self._known(o)]
            if missing:
                waiting.extend(missing)
                continue
            known[id(one)] = self._compute(one, self._level(one))
            waiting.pop()


def is_exact(root: Root, layout: Layout) -> bool:
    """Whether a reduction is a sum of float64 so long, in loops that carry it, that it carries what rounding leaves out."""
    assert root.node is not None
    carrying = first_reduced(root, layout)
    count = math.prod([layout.domain[axis] for axis in root.reduced if axis >= carrying])
    doubles = accumulated(root, layout) == "d" and root.value.dtype.itemsize == 8
    return root.how == "sum" and doubles and count > reducing.LONG_SUM and not _counts(root.node.operands[0])


def _counts(node: ScalarNode) -> bool:
    """Whether a node is 0 or 1 wherever it is: sums of these are rounded nowhere."""
    if node.kind == "number":
        return node.data.item() in {0, 1}
    if node.kind != "apply" or node.data[0] not in {"where", "astype"}:
        return False
    return node.operands[0].dtype.kind == "b" and all(_counts(operand) for operand in node.operands[1:])


def gathered(chosen: IRValue, size: int, step: int) -> IRValue:
    """The offset of a computed index along an axis; negative ones count from the end, and all are clamped to the axis."""
    at = cast(chosen, "i64")
    at = (at < 0).select(at + size, at)
    return minimum(maximum(at, at.like(0)), at.like(size - 1)) * step
