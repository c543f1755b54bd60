"""Full collections of Python's cyclic collector that a growing graph does not need.

An operation leaves a node and the tuple of its edges. CPython looks through all objects again whenever a quarter as many
have been added, so that it looks at the objects of a graph of a million operations some five times as often as at those of
a thousand. Here a full collection is left out while a long graph is being recorded, until the process has `GROWTH` times as
many blocks of memory as at the last one: the cost stays proportional to the number of operations, and reference cycles that
the program has dropped are still found.
"""

from __future__ import annotations

import gc
import sys

from .node import Node

GROWTH = 4
"""By which factor the blocks of memory grow from one full collection to the next while a long graph is recorded."""
LENGTH = 4_000
"""How many operations, each with the result of the one before, make a graph a long one."""

FEW = 10_000
"""Fewer frozen objects than this are Python's own: 3.12 keeps immortal objects with those that `gc.freeze` moves."""


class Collections:
    """A callback of the collector (one of `gc.callbacks`), called before and after each collection."""

    def __init__(self) -> None:
        self.blocks = sys.getallocatedblocks()
        self.aside = False

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        """Before a full collection that can be left out, move all objects to where it does not look; after it, move them back.

        Both moves take constant time, however many objects there are.
        """
        if info["generation"] < 2:
            return
        if self.aside:
            gc.unfreeze()
            self.aside = False
        elif phase == "start":
            blocks = sys.getallocatedblocks()
            if blocks < GROWTH * self.blocks and automatic() and gc.get_freeze_count() < FEW and graph_grows():
                self.aside = True
                gc.freeze()
            else:
                self.blocks = blocks


def automatic() -> bool:
    """True if the collector runs because enough objects were made, and not because the program calls `gc.collect`."""
    counts, thresholds = gc.get_count(), gc.get_threshold()
    return counts[0] > thresholds[0] and counts[2] > thresholds[2]


def graph_grows() -> bool:
    """True if a node is among the youngest objects to which a path of `LENGTH` operations leads."""
    node = next((young for young in reversed(gc.get_objects(generation=0)) if issubclass(type(young), Node)), None)
    for _ in range(LENGTH):
        latest = None
        for edge in getattr(node, "edges", ()):
            if edge is not None and (latest is None or edge.seq > latest.seq):
                latest = edge
        if latest is None:
            return False
        node = latest
    return True


def spare_long_graphs() -> None:
    """Leave such collections out; Pythons whose collector has no counts of generations never meet the conditions."""
    if hasattr(gc, "freeze"):
        gc.callbacks.append(Collections())
