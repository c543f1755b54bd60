"""Likeness: which nests and products differ only in addresses, so that they share their code.

An address is that of a value's memory, or of the first of its elements that a step accesses: so steps that read one row each
of the same array are alike.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Any, NamedTuple

from ... import ops
from ..program import Value
from .forms import form
from .fusion import MatrixProduct
from .nests import MEMORY, Layout, Root, ScalarNode
from .ranges import partial

EXTREMES = {"maximum", "minimum"}
"""Operations whose operands may be exchanged where code is compared, besides those that commute to the bit."""


class Likeness(NamedTuple):
    """The key under which steps share code, None for one that is unlike any; values, and where in each an address is, in bytes."""

    key: Any
    values: Sequence[Value] = ()
    starts: Sequence[int] = ()


def factors(step: MatrixProduct) -> list[Value]:
    """What a product reads and what it gives, in the order of its form."""
    values = [step.left.value, step.right.value, step.equation.output]
    return [*values[1::-1], values[2]] if form(step).turned else values


def of_product(step: MatrixProduct) -> Likeness:
    """The likeness of a product; those that threads share have none."""
    how = form(step)
    return Likeness(None) if how.shared else Likeness(how.from_start, factors(step), how.starts)


def is_single(layout: Layout) -> bool:
    """Whether a nest is a single loop, whose code is for any length."""
    return (
        len(layout.domain) == 1
        and layout.phases == 1
        and not layout.vector
        and not any(root.how for root in layout.roots)
    )


def of_nest(layout: Layout, count: int, late: Collection[Value]) -> Likeness:
    """The likeness of a nest that is cut into so many chunks."""
    single = is_single(layout)
    apart = count > 1 or any(partial(root, layout, count) for root in layout.roots)
    return Likeness(None) if not layout.domain or (apart and not single) else _Comparison(layout).likeness(late, single)


class _Comparison:
    """What a nest is compared by.

    Nodes are numbered in the order of a walk from the roots; operands of commutative operations are sorted.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.values: dict[Value, int] = {}
        self.numbers: dict[int, int] = {}
        self.parts: list[Hashable] = []
        self.own = {value: ~number for number, value in enumerate(layout.scratch)}
        self.starts = self._starts()
        self.looks: dict[int, int] = {}
        for node in sorted(
            layout.nodes, key=lambda node: bool(node.operands)
        ):  # loads of buffers come last in a layout
            data = (self._place(node), node.data[0].shape == ()) if node.kind in MEMORY else _said(node)
            sides = tuple([self.looks[id(side)] for side in self._sides(node)])
            self.looks[id(node)] = hash((node.kind, node.dtype, data, sides))

    def _starts(self) -> dict[Value, int]:
        """The first element of each value that is accessed."""
        found: dict[Value, int] = {}
        places = [node.data[:2] for node in self.layout.nodes if node.kind in MEMORY]
        for value, (offset, _) in [*places, *[(root.value, root.at) for root in self.layout.roots]]:
            found[value] = min(offset, found.get(value, offset))
        return found | dict.fromkeys(self.own, 0)

    def _place(self, node: ScalarNode) -> Hashable:
        """Where a node reads memory, from the first element that is accessed."""
        value, (offset, terms), *rest = node.data
        return offset - self.starts[value], terms, *rest

    def likeness(self, late: Collection[Value], single: bool) -> Likeness:
        """The likeness of the nest, a single loop or not; values that are `late` are stored last."""
        layout, parts = self.layout, self.parts
        parts += [value.nbytes for value in self.own]
        parts += [] if single else [(*layout.domain, layout.outer, layout.vector, layout.phases)]
        for root in sorted(layout.roots, key=self._order):
            assert root.node is not None
            place = self._number(root.node)
            stored = self._named(root.value) if root.stored else None
            at = root.at[0] - self.starts[root.value], root.at[1]
            reduced = root.how, tuple(sorted(root.reduced)), root.outer, root.phase, root.consumed
            parts.append((stored, place, at, root.value.dtype, root.value in late, reduced))
        starts = [self.starts[value] * value.dtype.itemsize for value in self.values]
        return Likeness(tuple(parts), list(self.values), starts)

    def _order(self, root: Root) -> Any:
        return self.looks[id(root.node)], root.at

    def _named(self, value: Value) -> int:
        return self.own[value] if value in self.own else self.values.setdefault(value, len(self.values))

    def _number(self, root: ScalarNode) -> int:
        """The number of a node, after those of its operands."""
        waiting, numbers = [root], self.numbers
        while waiting:
            node = waiting[-1]
            sides = self._sides(node)
            missing = [side for side in reversed(sides) if id(side) not in numbers]
            if id(node) in numbers or not missing:
                waiting.pop()
            if missing:
                waiting.extend(missing)
            elif id(node) not in numbers:
                data = (self._named(node.data[0]), self._place(node)) if node.kind in MEMORY else _said(node)
                numbers[id(node)] = len(numbers)
                self.parts.append((node.kind, node.dtype, data, tuple([numbers[id(side)] for side in sides])))
        return numbers[id(root)]

    def _sides(self, node: ScalarNode) -> list[ScalarNode]:
        """The operands of a node; sorted by what they are if the operation is commutative."""
        if node.kind == "apply" and (node.data[0] in EXTREMES or getattr(ops, node.data[0]).commutes):
            return sorted(node.operands, key=lambda operand: self.looks[id(operand)])
        return list(node.operands)


def _said(node: ScalarNode) -> Hashable:
    """What a node does, for comparison; memory is compared elsewhere."""
    if node.kind == "apply":
        name, dtypes, params = node.data
        return name, dtypes, repr(params) if params else ""
    data: Hashable = node.data.tobytes() if node.kind == "number" else node.data
    return data
