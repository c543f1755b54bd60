"""A backward walk over a graph that changes nothing: no hook runs, nothing is freed, no `.grad` is written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..observe import AccumulateGrad, Node, freed, replay
from .arrays import Array, Limits
from .rules import COMPLEX, REDACTED, Jacobian, too_large

MOST_RULES = 20_000
"""The number of rule calls up to which a Jacobian is computed row by row."""


class Watch:
    """An observer of a walk, notified of the cotangent at each node, then of the rule's results."""

    def arrived(self, node: Node, g: Any) -> None:
        """Called when a cotangent, or one for each output, has arrived at a node."""

    def sent(self, node: Node, edges: Sequence[Node | None], results: Sequence[Any]) -> None:
        """Called when the rule has run, with the cotangents for the inputs that have an edge."""


def check(order: Iterable[Node]) -> None:
    """Refuse a graph that an earlier pass has freed, with that pass's error message."""
    for node in order:
        if (error := freed(node)) is not None:
            raise error


def walk(
    tape: Any, order: Sequence[Node], roots: Sequence[tuple[Node, Array]], needed: set[Node] | None, watch: Watch
) -> dict[Node, Any]:
    """Run the nodes in order; returns the cotangents that arrive at the leaves."""
    return replay(tape, order, roots, needed, watch.arrived, watch.sent)


class Ends(Watch):
    """An observer that stores what arrives at some nodes."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes = set(nodes)
        self.found: dict[Node, Any] = {}

    def arrived(self, node: Node, g: Any) -> None:
        """See `Watch`."""
        if node in self.nodes:
            self.found[node] = g


def jacobians(
    tape: Any,
    order: Sequence[Node],
    roots: Sequence[tuple[Node, Array]],
    needed: set[Node] | None,
    targets: Sequence[Node],
    limits: Limits,
) -> tuple[dict[Node, list[Jacobian | None]], str | None]:
    """For each target the Jacobians of the outputs, computed row by row; and the reason why some are missing."""
    found: dict[Node, list[Jacobian | None]] = {target: [None] * len(roots) for target in targets}
    reason = refused(order, roots, limits)
    if reason is not None:
        return found, reason
    for place, (root, v) in enumerate(roots):
        small = [t for t in targets if v.size * math.prod(t.shape) <= limits.jacobian]
        if len(small) < len(targets):
            reason = too_large(limits)
        if not small:
            continue
        if v.size * len(order) > MOST_RULES:
            reason = f"its {v.size} rows take {v.size} passes over {len(order)} nodes; call jacobian(x) to compute it"
            continue
        data = [np.zeros((v.size, math.prod(t.shape)), v.dtype) for t in small]
        for index in range(v.size):
            for matrix, g in zip(data, unit_row(tape, order, (root, v), index, needed, small), strict=True):
                if g is not None:
                    matrix[index] = g.reshape(-1)
        for target, matrix in zip(small, data, strict=True):
            found[target][place] = Jacobian("dense", matrix.shape[0], matrix.shape[1], matrix.reshape(-1))
    return found, reason


def refused(order: Sequence[Node], roots: Sequence[tuple[Node, Array]], limits: Limits) -> str | None:
    """The reason why a graph must not be walked more often than the program does; None if it may be."""
    if limits.redact:
        return REDACTED
    if any(node.foreign or node.hooks is not None for node in order):
        return "a rule or hook on the path is the program's own, and explain does not call it a second time"
    arrays = [v for _, v in roots] + [node.array for node in order if isinstance(node, AccumulateGrad)]
    if any(array.dtype.kind == "c" for array in arrays):
        return COMPLEX
    return None


def unit_row(
    tape: Any,
    order: Sequence[Node],
    root: tuple[Node, Array],
    index: int,
    needed: set[Node] | None,
    targets: Sequence[Node],
) -> list[Any]:
    """The pullback of one unit vector at each target; None where nothing arrives."""
    node, v = root
    unit = np.zeros(v.shape, v.dtype)
    unit.flat[index] = 1
    ends = Ends(targets)
    walk(tape, order, [(node, unit)], needed, ends)
    return [ends.found.get(target) for target in targets]
