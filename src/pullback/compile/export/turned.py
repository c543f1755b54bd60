"""Loop nests whose vectorized axis is not the innermost: its loop is the only one inside, and those in it are written out.

An element of that axis then takes code without loops, of which compilers make vector code. What is added up along it is stored
in rows, as in other nests.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..machine import reducing
from ..machine.elements import KINDS
from ..machine.nests import Layout, Root, ScalarNode
from ..machine.ranges import accumulated, partial
from ..machine.walking import is_exact
from ..mathematics.arithmetic import cast
from ..mathematics.lanes import IRValue
from . import sums
from .code import CodeBlock
from .functions import MathFunctions
from .nests import LoopScope, NestWriter, OpenSum, function_of
from .sums import Lanes, read, stored

MOST, LEAST = 16, 8
"""The most iterations that are written out, and the fewest of the vectorized axis for which that pays."""
NODES = 800
"""Nodes that a loop may have when all is written out."""
ROOM = 1 << 11
"""Numbers that rows may hold which are computed before, on the stack."""
ROW = 64
"""The elements of the axis that are computed before what they give is added up."""


def turns(layout: Layout, functions: MathFunctions) -> bool:
    """Whether the loops inside the vectorized one are written out: few iterations, and what has branches can be computed before."""
    axis = layout.vector
    if not 0 <= axis < len(layout.domain) - 1 or layout.domain[axis] < LEAST:
        return False
    inside = math.prod(layout.domain[axis + 1 :])
    inner = [node for node in layout.nodes if max(node.axes, default=-1) >= axis and branches(node, functions)]
    fits = len(layout.nodes) * inside <= NODES and len(inner) * inside * min(layout.domain[axis], ROW) <= ROOM
    return inside <= MOST and fits and all(_before(node, layout) for node in inner)


def branches(node: ScalarNode, functions: MathFunctions) -> bool:
    """Whether the function of a node asks whether a number is far."""
    known = function_of(node)
    return known is not None and functions.beyond(*known) is not None


def _before(node: ScalarNode, layout: Layout) -> bool:
    """Whether a node changes along the vectorized axis, and needs nothing that the nest itself makes."""
    made = {root.value for root in layout.roots}
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.kind == "reduce" or (one.kind in {"load", "gather"} and one.data[0] in made):
            return False
        waiting += one.operands
    return layout.vector in node.axes


class RowSum(NamedTuple):
    """Elements of a row that are added up to lanes, and the element of memory that partial results are added to, if any."""

    row: str
    lanes: Lanes
    name: str
    target: tuple[str, str] | None


class TurnedNestWriter(NestWriter):
    """Writes a nest whose vectorized loop is innermost."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.summed: dict[Any, RowSum] = {}
        self.written_out: dict[tuple[str, ...], dict[int, IRValue]] = {}
        self.before: dict[tuple[int, tuple[str, ...]], tuple[str, str]] = {}
        self.here = self.layout.roots

    @property
    def axis(self) -> int:
        """The vectorized axis."""
        return self.layout.vector

    # Loops

    def _loop(self, position: int, inside: Callable[[], None]) -> None:
        if position < self.axis:
            super()._loop(position, inside)
        elif position == self.axis:
            self._rows(inside)
        else:
            block = self.scopes[-1].block
            for index in map(str, range(self.layout.domain[position])):
                scope = LoopScope(block, index)
                place = *[each.index for each in self.scopes[self.axis + 2 :]], index
                scope.known = self.written_out.setdefault(place, scope.known)
                self._inside(scope, inside)

    def _further(self, position: int, roots: list[Root]) -> None:
        self.here = roots
        self._loop(position, lambda: self._inner(position + 1, roots))

    def _place(self, node: ScalarNode) -> tuple[str, ...]:
        """The indices written out that a node is of."""
        scopes = self.scopes[self.axis + 2 :]
        return tuple([s.index for axis, s in enumerate(scopes, self.axis + 1) if axis in node.axes])

    def _row_of(self, node: ScalarNode) -> tuple[str, str] | None:
        return self.before.get((id(node), self._place(node)))

    def _branching(self, head: str, element: str, into: CodeBlock) -> None:
        """Compute what has branches into rows, one for each of the indices written out."""
        inner = range(self.axis + 1, len(self.layout.domain))
        self.before = {}
        for node in self._costly(self.here, self.axis + 1):
            if not branches(node, self.functions):
                continue
            sizes = [self.layout.domain[axis] if axis in node.axes else 1 for axis in inner]
            for place in itertools.product(*[map(str, range(size)) for size in sizes]):
                row = self._array("row", KINDS[node.dtype], min(self.layout.domain[self.axis], ROW))
                self._kept_in_row(node, row + element, functools.partial(self._at_place, head, place), into)
                key = tuple([index for axis, index in zip(inner, place, strict=True) if axis in node.axes])
                self.before[id(node), key] = row, row + element

    def _at_place(self, head: str, place: tuple[str, ...], inside: Callable[[], None], into: CodeBlock) -> None:
        """A loop along the vectorized axis for some of the indices written out."""

        def within(rest: tuple[str, ...]) -> None:
            if not rest:
                inside()
                return
            self._inside(LoopScope(self.scopes[-1].block, rest[0]), lambda: within(rest[1:]))

        self._open(head, f"i{self.axis}", lambda: within(place), into)

    def _rows(self, inside: Callable[[], None]) -> None:
        """The vectorized loop, in pieces, after each of which rows are added up."""
        size, index, outer = self.layout.domain[self.axis], f"i{self.axis}", self.scopes[-1].block
        self.summed, self.written_out = {}, {}
        whole = size <= ROW
        start, end = ("0", str(size)) if whole else ("start", "end")
        head = f"for (int {index} = {start}; {index} < {end}; ++{index})"
        body, before = CodeBlock((head,)), CodeBlock()
        self._branching(head, f"[{index}{'' if whole else ' - start'}]", before)
        self._inside(LoopScope(body, index), inside)
        for row in self.summed.values():
            if row.target:
                sums.begun(self.functions, row.lanes, outer, row.name)
        piece = CodeBlock() if whole else CodeBlock((f"for (int start = 0; start < {size}; start += {ROW})",))
        if not whole:
            rest = f"start + {ROW} < {size} ? start + {ROW} : {size}" if size % ROW else f"start + {ROW}"
            piece.say(f"const int end = {rest};")
        piece.statements += [*before.statements, body]
        for row in self.summed.values():
            count = end if whole else f"{end} - {start}"
            piece.say(f"{sums.along(self.functions, row.lanes)}({row.name}, {row.row}, {count});")
        outer.statements.append(piece)
        for row in self.summed.values():
            if row.target:
                self._add_to_memory(row, *row.target)

    def _add_to_memory(self, row: RowSum, base: str, offset: str) -> None:
        words = self._words()
        before = read(words, row.lanes.kind, f"{base}[{offset}]", base)
        found = read(words, row.lanes.kind, f"{sums.across(self.functions, row.lanes)}({row.name})", row.name)
        words.block.say(f"{base}[{offset}] = ", *stored(reducing.combine(row.lanes.how, before, found)), ";")

    # Reductions

    def _lanes_of(self, root: Root) -> Lanes:
        kind = accumulated(root, self.layout)
        return Lanes(root.how, kind, self.lanes, is_exact(root, self.layout))

    def _begun(self, root: Root) -> OpenSum:
        if self.axis not in root.reduced or len(self.scopes) > self.axis + 1:
            return super()._begun(root)
        lanes, name = self._lanes_of(root), self._fresh("lanes")
        sums.begun(self.functions, lanes, self.scopes[-1].block, name)
        self.written.add(name)
        return OpenSum(root, lanes.kind, (name,), lanes)

    def _actions(self, roots: list[Root], row: Callable[[OpenSum], str] | None = None) -> None:
        super()._actions(roots, self._row_of_sum)

    def _row_of_sum(self, found: OpenSum) -> str:
        """The element of the row of a sum; of each iteration that is written out it has one."""
        place = tuple([scope.index for scope in self.scopes[self.axis + 2 :]])
        assert found.lanes is not None
        return self._element((found.names[0], place), found.lanes, found.names[0], None)

    def _element(self, key: Any, lanes: Lanes, name: str, target: tuple[str, str] | None) -> str:
        size = self.layout.domain[self.axis]
        known = self.summed.get(key)
        if known is None:
            row = self._array("row", lanes.kind, min(size, ROW))
            self.written.add(name)
            known = self.summed[key] = RowSum(row, lanes, name, target)
        return f"{known.row}[i{self.axis}{' - start' * (size > ROW)}]"

    def _reduced(self, root: Root, value: IRValue) -> None:
        inside = len(self.scopes) > self.axis + 1
        if not (inside and self.axis in root.reduced and partial(root, self.layout, 1)):
            super()._reduced(root, value)
            return
        target = self.address(root), self._offset(root.at)
        key = id(root), target
        lanes = self._lanes_of(root)
        name = self.summed[key].name if key in self.summed else self._fresh("lanes")
        element = self._element(key, lanes, name, target)
        self._words().block.say(f"{element} = ", *stored(cast(value, lanes.kind)), ";")
