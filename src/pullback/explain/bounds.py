"""What gradients, updates and losses must not be, and what helps: the bounds of explain's findings, of a call and of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .numbers import short

TINY, HUGE, VANISHED = 1e-8, 1e6, 1e-7
"""Gradients are reported, by their root mean square, if none exceeds the first number, if one exceeds the second, or if that
of a weight is this part of the largest. Vectors do not count: a bias before a normalization has only rounding errors.
"""
FLAT = {"units": 0.5, "elements": 0.9, "rows": 0.9}
"""The share of an activation that may lie where it is flat."""
DIVERGED = 10
"""The factor by which a loss, and its gradient, exceed those of the first step when training has diverged."""
LARGE_UPDATE = 0.5
"""The share of its norm by which a weight must not change in one step, several times in a row, nor most of the weights once."""
SEVERAL = 4
"""The number of weights of which most must not change by so much in a single step: of fewer, all may start near zero."""
PATIENCE = 3
"""The number of recorded steps in a row for which an update must be large, or a gradient zero."""
ENOUGH = 20
"""The number of losses before the first comparison, of steps for which a spike is one and the same, and of recorded steps after
which a member of a ModuleList should have had a gradient.
"""
FIXES = {
    "huge": "clip the gradient's norm, or scale the weights that are applied again and again",
    "tiny": "use residual connections, normalization or an activation with a larger slope",
    "dead": "lower the learning rate or the bias before it, or use leaky_relu",
    "saturated": "scale its input down: initialize smaller, or normalize",
    "zero": "look for dead units before it, with pullback explain",
    "update": "lower the learning rate",
    "diverged": "lower the learning rate, or look at the batch of this call",
    "spike": "look at the batch of this step, clip the gradient's norm, or lower the learning rate",
    "nan": "pullback explain shows the operation in which it begins",
    "inf": "pullback explain shows the operation in which it begins",
}
"""What helps, by the kind of a finding."""
LOOKED_FOR = (
    f"a loss or a gradient of nan or inf; a loss far above the median of those before it, from {ENOUGH} losses on; gradients "
    "that explode, vanish, stay zero or never arrive; updates by more than "
    f"{LARGE_UPDATE} of a weight's norm, {PATIENCE} recorded steps in a row or of most weights at once"
)
"""What is looked for in a run: what `nothing was found` means."""


class Extreme(NamedTuple):
    """A gradient of a size that cannot train: the kind, the number of the parameter, and why."""

    kind: str
    number: int
    why: str


def sizes(names: Sequence[str], shapes: Sequence[Sequence[int]], norms: Sequence[float | None]) -> list[Extreme]:
    """The gradients that explode, the largest first, and those that vanish, the smallest first; NaN is neither."""
    pairs = enumerate(zip(norms, shapes, strict=True))
    known = sorted(
        (norm / math.sqrt(math.prod(shape)), i) for i, (norm, shape) in pairs if norm is not None and norm > 0
    )
    weights = [(size, i) for size, i in known if len(shapes[i]) > 1]
    most, largest = weights[-1] if weights else (0.0, 0)
    why = "the gradient of {} {}: it is {}"
    return [
        *(Extreme("huge", i, why.format(names[i], "explodes", short(size))) for size, i in known[::-1] if size > HUGE),
        *(
            Extreme("tiny", i, why.format(names[i], "vanishes", f"{short(size / most, 2)} of that of {names[largest]}"))
            for size, i in weights
            if size <= VANISHED * most
        ),
    ]
