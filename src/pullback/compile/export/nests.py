"""Loop nests as C: what `machine.loops` writes with LLVM, in loops that compilers turn into vector code.

The innermost loop of a phase is taken apart where it computes several costly functions or reduces along itself: each costly
node gets a loop of its own, which stores a row, and so does what is reduced.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..machine import elements, reducing
from ..machine.elements import COSTLY, KINDS
from ..machine.indices import Affine
from ..machine.nests import Layout, Root, ScalarNode
from ..machine.ranges import accumulated, lanes, partial
from ..machine.walking import NestWalk, gathered, is_exact
from ..mathematics.arithmetic import cast
from ..mathematics.lanes import IRValue
from ..program import Value
from . import sums
from .code import CodeBlock, Expression
from .functions import MathFunctions
from .sums import Lanes, read, stored
from .words import STORED, CContext

WIDTH = 64
"""Bytes of the registers that the order of sums is that of."""
ROW = 256
"""The elements of an innermost loop that are computed one function after another."""


@dataclass(slots=True, eq=False)
class LoopScope:
    """A loop that is open: its block, its index, and the nodes that are computed there."""

    block: CodeBlock
    index: str
    known: dict[int, IRValue] = field(default_factory=dict)


class OpenSum(NamedTuple):
    """An open reduction: what it carries, as the name of an array of lanes or as variables."""

    root: Root
    kind: str
    names: tuple[str, ...]
    lanes: Lanes | None


class NestWriter(NestWalk[LoopScope, OpenSum]):
    """Writes the code of one loop nest. `address` gives the text of the pointer to a value or to partial results."""

    def __init__(
        self,
        functions: MathFunctions,
        block: CodeBlock,
        layout: Layout,
        address: Callable[[Any], str],
        late: Collection[Value] = (),
    ) -> None:
        super().__init__(layout, LoopScope(block, ""))
        self.functions, self.address, self.late = functions, address, late
        self.rows: dict[Value, str] = {}
        self.kept: dict[int, tuple[str, str]] = {}
        self.written: set[str] = set()
        self.lanes = lanes(layout, WIDTH)
        self._names = 0

    def emit(self) -> None:
        """Write the code."""
        for value in self.layout.scratch:
            self.rows[value] = self._array("row", KINDS[value.dtype], value.size)
        for root in self.layout.roots:
            if partial(root, self.layout, 1):
                self._clear(root)
        self._outer(0)

    # Names and values

    def _fresh(self, name: str) -> str:
        self._names += 1
        return f"{name}{self._names}"

    def _array(self, name: str, kind: str, size: int) -> str:
        """An array on the stack, declared at the top."""
        full = self._fresh(name)
        self.scopes[0].block.statements.insert(0, (f"{STORED[kind]} {full}[{size}];",))
        self.written.add(full)
        return full

    def _words(self, level: int = -1) -> CContext:
        return CContext(self.scopes[level].block, self.functions, self.functions.target)

    # Loops

    def _loop(self, position: int, inside: Callable[[], None]) -> None:
        index, size = f"i{position}", self.layout.domain[position]
        self._open(f"for (int {index} = 0; {index} < {size}; ++{index})", index, inside)

    def _open(self, head: str, index: str, inside: Callable[[], None], into: CodeBlock | None = None) -> None:
        """A loop, appended after what is computed before it."""
        block = CodeBlock((head,))
        self._inside(LoopScope(block, index), inside)
        (into or self.scopes[-1].block).statements.append(block)

    def _inside(self, scope: LoopScope, inside: Callable[[], None]) -> None:
        self.scopes.append(scope)
        inside()
        self.scopes.pop()

    def _further(self, position: int, roots: list[Root]) -> None:
        """The loop over an inner axis; the innermost one may be taken apart."""
        if position == len(self.layout.domain) - 1 and self._apart(roots):
            self._parted(roots)
        else:
            super()._further(position, roots)

    # The innermost loop in parts

    def _apart(self, roots: list[Root]) -> bool:
        """Whether the innermost loop is taken apart."""
        costly = self._costly(roots)
        branches = any(self.functions.beyond(*known) for node in costly if (known := function_of(node)))
        return self.layout.domain[-1] >= 4 and (len(costly) > 1 or branches or any(s.lanes for s in self.active))

    def _costly(self, roots: list[Root], level: int = -1) -> list[ScalarNode]:
        """The costly nodes that loops from a level on compute, the innermost if none is said, each after those that it needs."""
        level = len(self.layout.domain) if level < 0 else level
        found: dict[int, ScalarNode] = {}
        stack = [(root.node.operands[0] if root.how else root.node, False) for root in reversed(roots) if root.node]
        seen: set[int] = set()
        while stack:
            node, done = stack.pop()
            if done:
                if node.kind == "apply" and node.cost >= COSTLY:
                    found[id(node)] = node
                continue
            if id(node) in seen or self._level(node) < level:
                continue
            seen.add(id(node))
            stack.append((node, True))
            stack += [(operand, False) for operand in node.operands]
        return [*found.values()]

    def _parted(self, roots: list[Root]) -> None:
        size = self.layout.domain[-1]
        if size <= ROW:
            self._parts(roots, self.scopes[-1].block, "0", str(size), size)
        else:
            block = CodeBlock((f"for (int start = 0; start < {size}; start += {ROW})",))
            rest = f"start + {ROW} < {size} ? start + {ROW} : {size}" if size % ROW else f"start + {ROW}"
            block.say(f"const int end = {rest};")
            self._parts(roots, block, "start", "end", ROW)
            self.scopes[-1].block.statements.append(block)
        self.kept = {}

    def _parts(self, roots: list[Root], into: CodeBlock, start: str, end: str, size: int) -> None:
        """A loop for each costly node, one for the roots, and the sums of rows."""
        index = f"i{len(self.layout.domain) - 1}"
        head = f"for (int {index} = {start}; {index} < {end}; ++{index})"
        shift = "" if start == "0" else f" - {start}"
        loop = functools.partial(self._open, head, index)
        self.kept = {}
        for node in self._costly(roots):
            row = self._array("row", KINDS[node.dtype], size)
            self._kept_in_row(node, f"{row}[{index}{shift}]", loop, into)
            self.kept[id(node)] = row, f"{row}[{index}{shift}]"
        summed: list[tuple[OpenSum, str]] = []

        def element(found: OpenSum) -> str:
            """The element of a new row, for what is reduced."""
            row = self._array("row", found.kind, size)
            summed.append((found, row))
            return f"{row}[{index}{shift}]"

        loop(lambda: self._actions(roots, element), into)
        for found, row in summed:
            assert found.lanes is not None
            count = end if start == "0" else f"{end} - {start}"
            into.say(f"{sums.along(self.functions, found.lanes)}({found.names[0]}, {row}, {count});")

    def _kept_in_row(self, node: ScalarNode, element: str, loop: Callable[..., None], into: CodeBlock) -> None:
        """A loop that computes a costly node; the short form of its function, if all operands are moderate."""
        known = function_of(node)
        far = self.functions.beyond(*known) if known else None

        def store(*, near: bool = False) -> None:
            words = self._words()
            if known and near:
                value = words.called(known[1], self.functions.named(*known, near=True), *self._operands(node, words))
            else:
                value = self._at(node, words)
            words.block.say(f"{element} = ", *stored(value), ";")

        def ask() -> None:
            words = self._words()
            words.block.say("far |= ", words.called("b1", str(far), *self._operands(node, words)).value, ";")

        if far is None:
            loop(store, into)
            return
        block = CodeBlock()
        block.say("int far = 0;")
        loop(ask, block)
        loop(store, block.inner("if (far)"))
        loop(functools.partial(store, near=True), block.inner("else"))
        into.statements.append(block)

    def _operands(self, node: ScalarNode, words: CContext) -> list[IRValue]:
        """The operands of a node, as its function takes them."""
        name, dtypes, _ = node.data
        values = [self._at(operand, words) for operand in node.operands]
        kinds = [elements.kind_of_operands(name, dtypes, node.dtype, place) for place in range(len(values))]
        return [cast(value, kind) for value, kind in zip(values, kinds, strict=True)]

    # Reductions

    def _begun(self, root: Root) -> OpenSum:
        """Declare what a reduction carries."""
        layout, kind, block = self.layout, accumulated(root, self.layout), self.scopes[-1].block
        exact = is_exact(root, layout)
        last = len(layout.domain) - 1
        if not root.outer and layout.vector == last and last in root.reduced and layout.domain[last] >= 4:
            together = Lanes(root.how, kind, self.lanes, exact)
            found = OpenSum(root, kind, (self._fresh("lanes"),), together)
            sums.begun(self.functions, together, block, found.names[0])
        else:
            words = self._words()
            started = reducing.Accumulator.begun(words, root.how, kind, exact=exact)
            names = tuple([self._fresh("sum") for _ in started.carried])
            for name, value in zip(names, started.carried, strict=True):
                block.say(f"{STORED[kind]} {name} = ", *stored(value), ";")
            found = OpenSum(root, kind, names, None)
        self.written.update(found.names)
        return found

    def _carried(self, found: OpenSum, words: CContext) -> reducing.Accumulator:
        values = [read(words, found.kind, name, name) for name in found.names]
        return reducing.Accumulator(found.root.how, found.kind, len(values) > 1, None, values)

    def _finish(self, begun: Sequence[OpenSum]) -> None:
        """Store the results of reductions."""
        for found in begun:
            self.active.remove(found)
            words = self._words()
            if found.lanes:
                across = sums.across(self.functions, found.lanes)
                value = read(words, found.kind, f"{across}({found.names[0]})", found.names[0])
            else:
                value = self._carried(found, words).result(words)
            self._reduced(found.root, value)

    def _reduced(self, root: Root, value: IRValue) -> None:
        """Store the result of a reduction after its loops, or combine it with the stored one."""
        if partial(root, self.layout, 1):
            base = self.address(root)
            before = read(self._words(), value.kind, f"{base}[{self._offset(root.at)}]", base)
            self._write(reducing.combine(root.how, before, value), base, root.at)
            return
        value = cast(value, KINDS[root.value.dtype])
        if root.consumed:
            self.scopes[-1].known[id(root.node)] = value
        if root.stored:
            self._write(value, self._base(root.value), root.at)

    def _clear(self, root: Root) -> None:
        """Initialize partial results with the neutral element."""
        base, kind = self.address(root), accumulated(root, self.layout)
        self.written.add(base)
        block = self.scopes[0].block.inner(f"for (int i = 0; i < {root.value.size}; ++i)")
        neutral = CContext(block, self.functions, self.functions.target).number(kind, reducing.identity(root.how, kind))
        block.say(f"{base}[i] = ", *stored(neutral), ";")

    def _actions(self, roots: list[Root], row: Callable[[OpenSum], str] | None = None) -> None:
        """Store and accumulate; stores that may overwrite memory that the body reads come last."""
        found = []
        for root in roots:
            assert root.node is not None
            words = self._words()
            value = self._at(root.node.operands[0] if root.how else root.node, words)
            accumulating = next((each for each in self.active if each.root is root), None)
            if not root.how and root.value in self.late:
                found.append((root, value))
            elif not root.how:
                self._write(value, self._base(root.value), root.at)
            elif accumulating is None:
                single = reducing.Accumulator.begun(words, root.how, accumulated(root, self.layout), exact=False)
                single.add(words, value, None)
                self._reduced(root, single.result(words))
            elif accumulating.lanes and row:
                element = row(accumulating)
                words.block.say(f"{element} = ", *stored(cast(value, accumulating.kind)), ";")
            else:
                self._add(accumulating, value, words)
        for root, value in found:
            self._write(value, self._base(root.value), root.at)

    def _add(self, found: OpenSum, value: IRValue, words: CContext) -> None:
        accumulator = self._carried(found, words)
        accumulator.add(words, value, None)
        made = [words.block.define(Expression(v.kind, (v.value,))) for v in accumulator.carried]
        for name, each in zip(found.names, made, strict=True):
            cast = f"({STORED[found.kind]})" if found.kind[0] == "i" or found.kind == "b1" else ""
            words.block.say(f"{name} = {cast}", each, ";")

    # Nodes

    def _operands_of(self, node: ScalarNode) -> Sequence[ScalarNode]:
        """The nodes from which a node is computed; none if it is kept in a row."""
        return () if self._row_of(node) else node.operands

    def _row_of(self, node: ScalarNode) -> tuple[str, str] | None:
        """The row that a node is kept in, and the element for the indices that are open."""
        return self.kept.get(id(node))

    def _at(self, node: ScalarNode, words: CContext) -> IRValue:
        """The value of a node, computed in the node's scope."""
        self._evaluate(node)
        return self._found(node, words)

    def _found(self, node: ScalarNode, words: CContext) -> IRValue:
        """The value of a node that is computed."""
        if node.kind == "number":
            return words.number(KINDS[node.dtype], node.data.item())
        known = self._known(node)[id(node)]
        return IRValue(words, known.kind, known.value)

    def _compute(self, node: ScalarNode, level: int) -> IRValue:
        kind, words = KINDS[node.dtype], self._words(level)
        if (kept := self._row_of(node)) is not None:
            return read(words, kind, kept[1], kept[0])
        if node.kind == "load":
            value, place = node.data
            base = self._base(value)
            return read(words, kind, f"{base}[{self._offset(place)}]", base)
        if node.kind == "gather":
            value, rest, step, size = node.data
            at = gathered(self._found(node.operands[0], words), size, step)
            base = self._base(value)
            place = f"{base}[{self._offset(rest)} + (int64_t)"
            cast_to = f"({'u' + STORED[kind]})" if kind[0] == "i" else ""
            return words.value(kind, cast_to + place, at.value, "]", reads=base)
        name, dtypes, params = node.data
        operands = [self._found(operand, words) for operand in node.operands]
        return elements.apply(name, operands, dtypes, node.dtype, dict(params))

    # Memory

    def _base(self, value: Value) -> str:
        """The text of the pointer to a value."""
        return self.rows.get(value) or self.address(value)

    def _offset(self, place: Affine) -> str:
        offset, terms = place
        numbers = [(self.scopes[axis + 1].index, step) for axis, step in terms]
        offset += sum(step * int(index) for index, step in numbers if index.isdigit())
        parts = [index if step == 1 else f"{step} * {index}" for index, step in numbers if not index.isdigit()]
        text = " + ".join([*parts, *([str(offset)] if offset or not parts else [])])
        return text.replace("+ -", "- ")

    def _write(self, value: IRValue, base: str, place: Affine) -> None:
        self.written.add(base)
        self.scopes[-1].block.say(f"{base}[{self._offset(place)}] = ", *stored(value), ";")


def function_of(node: ScalarNode) -> tuple[str, str, int] | None:
    """The mathematical function that a node is: its name, its kind and how many operands it has."""
    function = elements.ELEMENTS[node.data[0]].function if node.kind == "apply" else None
    if not isinstance(function, functools.partial) or function.func is not elements.call:
        return None
    return function.args[0], KINDS[node.dtype], len(node.operands)
