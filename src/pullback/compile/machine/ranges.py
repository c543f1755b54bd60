"""Ranges of loop nests: how the outermost loop is cut, where reductions begin, and how many lanes are computed together.

Results depend on these, so that all code of a program has the same bits whoever writes it.
"""

from __future__ import annotations

import math

from . import reducing
from .elements import ALTERNATING, COSTLY
from .nests import Layout, Root

CHUNK = 1 << 16
"""The number of iterations in a chunk."""
ALIGNED = 64
MANY = 16
"""The number of registers in a row above which costly operations are interleaved for several registers."""
TOGETHER = 4
"""The number of registers in which long rows are reduced, costly or not: each waits for what was added to it before."""
SHORT, SHORT_IN_LANES = 8, 128
"""The number of floats that are summed in single precision, sequentially and in lanes."""


def chunks(layout: Layout) -> tuple[int, int]:
    """The number of chunks of the outermost loop, and their size; results depend on it, not on the number of threads."""
    if not layout.domain or (layout.phases > 1 and layout.outer == 0):
        return 1, layout.domain[0] if layout.domain else 1
    first, total = layout.domain[0], math.prod(layout.domain)
    count = min(total // CHUNK, first)
    for root in layout.roots:
        if 0 in root.reduced and len(layout.domain) > 1:  # each chunk adds up to a result of its own
            count = min(count, math.prod([layout.domain[axis] for axis in root.reduced]) // 64)
    if count < 2:
        return 1, first
    step = -(-first // count)
    if layout.vector == 0:
        step = -(-step // ALIGNED) * ALIGNED
    return -(-first // step), step


def partial(root: Root, layout: Layout, count: int) -> bool:
    """Whether a reduction stores partial results of chunks, which are combined afterwards."""
    if not root.how:
        return False
    rest = [p for p in root.reduced if p < first_reduced(root, layout)]
    return bool(rest) or (count > 1 and 0 in root.reduced)


def first_reduced(root: Root, layout: Layout) -> int:
    """The outermost of the innermost loops that are all reduced."""
    axes = layout.outer if root.outer else len(layout.domain)
    while axes > 0 and axes - 1 in root.reduced:
        axes -= 1
    return max(axes, layout.outer) if not root.outer and layout.outer else axes


def accumulated(root: Root, layout: Layout) -> str:
    """The kind in which a reduction accumulates: doubles for floats, unless few are added."""
    assert root.node is not None
    kind = reducing.kind_of(root.how, root.node.operands[0].dtype, root.value.dtype)
    if kind == "d" and root.value.dtype.itemsize == 4:
        count = math.prod([layout.domain[axis] for axis in root.reduced])
        if count <= (SHORT_IN_LANES if layout.vector in root.reduced else SHORT):
            return "f"
    return kind


def lanes(layout: Layout, width: int) -> int:
    """The number of lanes for the dtype that most results have, with registers of so many bytes."""
    sizes = [node.dtype.itemsize for node in layout.nodes if node.axes and node.dtype.kind != "b"]
    size = max(set(sizes), key=lambda s: (sizes.count(s), s)) if sizes else 4
    found = max(2, width // max(size, 4))
    long = layout.vector >= 0 and layout.domain[layout.vector] >= MANY * found
    costly = any(node.cost >= COSTLY and layout.vector in node.axes for node in layout.nodes)
    reduced = any(root.how and layout.vector in root.reduced for root in layout.roots)
    return found * (TOGETHER if reduced else ALTERNATING if costly else 1) if long else found
