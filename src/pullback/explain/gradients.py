"""The gradients of a network's parameters: rows of a table, folded by module, and what they say in one sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .arrays import Kept, Summary, number, statistics
from .numbers import counted, short
from .trace import Call, Leaf

FEW_ROWS = 24
"""The number of rows above which parameters are folded by module."""
BAR = 16
"""The length of the longest bar, and the number of bars' lengths for a factor of ten thousand."""
NUMBERED = re.compile(r"^(.*?\.?)(\d+)(?=\.|$)")
"""The first number in a parameter's name: `model.h.11` of `model.h.11.attn.weight`."""


class GradientRow(NamedTuple):
    """A parameter or a module: the norms of its gradient and of its values, the share of zeros, and how many leaves."""

    name: str
    norm: float
    weight: float
    zeros: float
    leaves: int = 1

    @property
    def ratio(self) -> float:
        """The gradient's norm as a part of that of the values."""
        return self.norm / self.weight if self.weight else math.nan

    def bar(self, most: float) -> str:
        """A logarithmic bar: a sixteenth is a quarter of a power of ten."""
        if not self.norm or not math.isfinite(self.norm) or not math.isfinite(most):
            return ""
        return "=" * max(1, round(BAR * (1 + math.log10(self.norm / most) / 4)))


def is_network(call: Call, least: int = 3) -> bool:
    """True for the gradient of one number by at least so many leaves, whose sizes are known."""
    one = len(call.outputs) == 1 and math.prod(call.outputs[0].tensor.shape) == 1
    return one and len(call.leaves) >= least and all(leaf.flow is not None for leaf in call.leaves)


def is_model(call: Call) -> bool:
    """True for a network whose parameters are those of modules or other objects: `model.0.weight`."""
    return is_network(call) and any("." in leaf.tensor.name for leaf in call.leaves)


def rows(leaves: Iterable[Leaf]) -> list[GradientRow]:
    """A row for each leaf."""
    return [
        GradientRow(leaf.tensor.name, leaf.flow.norm, norm_of(leaf.tensor.data), leaf.flow.zeros)
        for leaf in leaves
        if leaf.flow is not None
    ]


def folded(given: list[GradientRow], most: int = FEW_ROWS) -> list[GradientRow]:
    """At most so many rows, if modules are that few: the deepest are folded first."""
    return _grouped(given, lambda name: _stem(name, depth)) if (depth := _depth(given, most)) else given


def _depth(given: list[GradientRow], most: int) -> int:
    """The number of parts of a name that are left when there are at most so many rows; 0 if nothing is folded."""
    depths = range(max((row.name.count(".") for row in given), default=0), 0, -1)
    found = (depth for depth in depths if depth == 1 or len({_stem(row.name, depth) for row in given}) <= most)
    return 0 if len(given) <= most else next(found, 0)


def _stem(name: str, depth: int) -> str:
    return ".".join(name.split(".")[:depth])


def shown(call: Call) -> list[dict[str, object]] | None:
    """The row of each leaf for a page, with the name under which it is folded; None if the call has no such table."""
    if not is_network(call, least=2):
        return None
    given = rows(call.leaves)
    depth = _depth(given, FEW_ROWS)
    return [
        {name: number(getattr(row, name)) for name in ("norm", "weight", "zeros")}
        | {"group": _stem(row.name, depth) if depth else None}
        for row in given
    ]


def _block(name: str) -> str:
    found = NUMBERED.match(name)
    return name if found is None else found[0]


def _grouped(given: Iterable[GradientRow], key: Callable[[str], str]) -> list[GradientRow]:
    groups: dict[str, list[GradientRow]] = {}
    for row in given:
        groups.setdefault(key(row.name), []).append(row)
    return [_joined(name, group) for name, group in groups.items()]


def _joined(name: str, group: list[GradientRow]) -> GradientRow:
    if len(group) == 1:
        return group[0]
    norm, weight = (math.hypot(*(getattr(row, each) for row in group)) for each in ("norm", "weight"))
    count = sum(row.leaves for row in group)
    return GradientRow(name, norm, weight, sum(row.zeros * row.leaves for row in group) / count, count)


def sentence(call: Call) -> str:
    """What happened, in words: the loss, the largest gradient, and that of the first numbered module against the last."""
    given = rows(call.leaves)
    output = call.outputs[0].tensor
    known = output.data is not None and not isinstance(output.data, Summary)
    loss = f"The loss is {short(output.data.reshape(-1)[0])}. " if known and output.data is not None else ""
    finite = [row for row in given if math.isfinite(row.norm)]
    zero = sum(row.norm == 0 for row in finite)
    bad = len(given) - len(finite)
    counts = ((len(finite) - zero, "a gradient"), (zero, "a gradient of zeros"), (bad, "nan or inf"))
    parts = [
        f"{counted(count, 'parameter')} {'has' if count == 1 else 'have'} {what}" for count, what in counts if count
    ]
    text = f"{loss}{', '.join(parts)}"
    if not finite or bad:
        return f"{text}."
    largest = max(finite, key=lambda row: row.norm)
    return f"{text}; the largest, of norm {short(largest.norm, 3)}, is that of {largest.name}.{_compared(finite)}"


def _compared(given: list[GradientRow]) -> str:
    """The gradient of the first of the numbered modules against that of the last."""
    numbered = [(match, row) for row in given if (match := NUMBERED.match(row.name)) is not None]
    stem = numbered[0][0][1] if numbered else ""
    blocks = _grouped([row for match, row in numbered if match[1] == stem], _block)
    if len(blocks) < 2 or not blocks[-1].norm:
        return ""
    part = short(blocks[0].norm / blocks[-1].norm, 2)
    return f" The gradient of {blocks[0].name} is {part} times that of {blocks[-1].name}."


def norm_of(value: Kept | None) -> float:
    """The norm of the finite elements of an array; NaN if it is not known."""
    stats = value.stats if isinstance(value, Summary) else None if value is None else statistics(value)
    return math.nan if stats is None else stats.norm
