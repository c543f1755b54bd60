"""Rules, run again: a backward pass on arrays that changes nothing, for observers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._core import xp as _xp
from .._core.modes import FieldBlock, quiet, restoring
from .._core.shapes import sum_to
from .node import AccumulateGrad, Node, Parts


def apply_rule(watched: Node, g: Any, edges: Sequence[Node | None]) -> list[Any]:
    """The cotangents of a node's inputs, as arrays: what its rule makes of the cotangent of its output, or a list of several.

    `edges` are the node's own, with None for inputs whose cotangent is not asked for.

    >>> import numpy, pullback
    >>> y = pullback.tensor([3.0], requires_grad=True).square()
    >>> pullback.observe.apply_rule(y.grad_fn, numpy.ones(1, "float32"), y.grad_fn.edges)
    [array([6.], dtype=float32)]
    """
    results = quiet.run(watched.pull, _xp, g, tuple(edges), watched.saved, watched.params)
    return [
        result if result is None or edge is None or edge.shape is None or result.shape == edge.shape
        else sum_to(_xp, result, edge.shape)
        for edge, result in zip(edges, results, strict=False)
    ]  # fmt: skip


class Again:
    """A pass that `replay` runs."""

    def __init__(self, nodes: Iterable[Node], needed: set[Node] | None, arrived: Any, sent: Any) -> None:
        self.nodes, self.needed, self.arrived, self.sent = nodes, needed, arrived, sent
        self.pending: dict[Node, Any] = {}
        self.ends: dict[Node, Any] = {}

    @restoring
    def walk(self) -> None:
        """Run each node on the sum of the cotangents that have reached it."""
        needed = self.needed
        with FieldBlock(grad=False, pack=None, unpack=None, compute=None, watcher=None), np.errstate(all="ignore"):
            for each in self.nodes:
                g = self.pending.pop(each, None)
                if g is None:
                    continue
                if isinstance(g, Parts):
                    g = g.filled(each.params["shapes"])
                self.arrived(each, g)
                if isinstance(each, AccumulateGrad):
                    self.ends[each] = g
                edges = tuple([edge if needed is None or edge in needed else None for edge in each.edges])
                if any(edges):
                    results = apply_rule(each, g, edges)
                    self.sent(each, edges, results)
                    self.add(edges, results)

    def add(self, edges: Sequence[Node | None], results: Sequence[Any]) -> None:
        """Add cotangents to those that wait at their nodes."""
        for edge, result in zip(edges, results, strict=False):
            if edge is not None and result is not None:
                before = self.pending.get(edge)
                self.pending[edge] = result if before is None else before + result
