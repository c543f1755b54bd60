"""Loops: the LLVM code of a loop nest.

Each loop is a scope. A node is computed in the innermost scope of its axes, so that loop invariants are computed before the
loop. One axis is vectorized; the lanes beyond its end are masked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from llvmlite import ir

from ..mathematics.arithmetic import cast
from ..mathematics.lanes import Context, IRValue
from ..program import Value
from . import elements, memory, native, reducing
from .contexts import EmitContext
from .elements import KINDS
from .indices import Affine
from .linking import address_at
from .llvm import LONG, host, long
from .nests import Layout, Root, ScalarNode
from .ranges import accumulated, first_reduced, lanes, partial
from .reducing import Accumulator
from .walking import NestWalk, gathered, is_exact
from .writing import Writer

TOGETHER = 4
"""The number of registers up to which the masked remainder is part of the same loop, where masks cost nothing."""
BRIEF = 8
"""The number of registers up to which mathematical functions are called instead of inlined."""


@dataclass(slots=True, eq=False)
class OpenLoop:
    """An open loop: the builder for code before its inner loops, and the nodes computed there."""

    builder: ir.IRBuilder
    index: ir.Value | None
    known: dict[Hashable, Any] = field(default_factory=dict)


OpenReduction: TypeAlias = tuple[Root, Accumulator]
"""A reduction with what it carries."""
Place = Callable[[Hashable], tuple[int, int]]
"""The address of a value or of partial results: the slot of the table, and an offset in bytes."""


class Emitter(NestWalk[OpenLoop, OpenReduction]):
    """Writes the code of one loop nest.

    Values that are `late` are stored when everything has been read. The function around it has the table of addresses as
    its first argument. If the outermost loop is cut into several chunks, or the code is for any length, further arguments
    say where that loop begins and ends, and the number of the chunk.
    """

    def __init__(
        self,
        builder: ir.IRBuilder,
        layout: Layout,
        place: Place,
        late: Collection[Value],
        *,
        count: int = 1,
        any_length: bool = False,
    ) -> None:
        self.function = builder.function
        self.top = OpenLoop(builder, None)
        super().__init__(layout, self.top)
        self.place, self.target = place, host()
        self.lanes = lanes(layout, native.width())
        self.count, self.any_length, self.late = count, any_length, late
        self.often = any_length or math.prod(layout.domain) > BRIEF * self.lanes
        self.mask: ir.Value | None = None

    def emit(self) -> None:
        """Write the code."""
        for value in self.layout.scratch:
            self.top.known[value] = Writer(self.top.builder).stack(value.nbytes, "i8", 64).value
        for root in self._partial_roots():
            self._clear(root)
        self._outer(0)

    # Loops

    def _bounds(self, position: int) -> tuple[ir.Value, ir.Value, int | None]:
        """The bounds of a loop, and its length if that is constant."""
        size = self.layout.domain[position]
        if position == 0 and (self.count > 1 or self.any_length):
            return self.function.args[1], self.function.args[2], None
        return long(0), long(size), size

    def _loop(self, position: int, inside: Callable[[], None]) -> None:
        begin, end, size = self._bounds(position)
        if position != self.layout.vector:
            self._run(begin, end, 1, inside)
            return
        lanes = self.lanes
        if size is not None:
            whole = size // lanes * lanes
            middle, rest = long(whole), size > whole
            if rest and whole <= TOGETHER * lanes and self.target.masks:
                middle = begin
            elif whole:
                self._run(begin, middle, lanes, inside)
        else:
            builder = self.scopes[-1].builder
            middle = builder.add(begin, builder.and_(builder.sub(end, begin), long(-lanes)))
            self._run(begin, middle, lanes, inside)
            rest = self.any_length or bool(self.layout.domain[position] % lanes)
        if rest:
            self._run(middle, end, lanes, inside, masked=True)

    def _run(
        self, begin: ir.Value, end: ir.Value, step: int, inside: Callable[[], None], *, masked: bool = False
    ) -> None:
        """A loop around the code that `inside` writes; no loop for one iteration."""
        if isinstance(begin, ir.Constant) and isinstance(end, ir.Constant) and begin.constant + step >= end.constant:
            self._once(begin, end.constant - begin.constant, inside, masked=masked)
            return
        outer = self.scopes[-1].builder
        before = outer.block
        head, body, after = (self.function.append_basic_block() for _ in range(3))
        outer.branch(head)
        builder = ir.IRBuilder(head)
        index = builder.phi(LONG)
        index.add_incoming(begin, before)
        carried = []
        for _, accumulator in self.active:
            phis = [builder.phi(ir_value.value.type) for ir_value in accumulator.carried]
            for phi, ir_value in zip(phis, accumulator.carried, strict=True):
                phi.add_incoming(ir_value.value, before)
            accumulator.carried = [
                ir_value.with_value(phi) for ir_value, phi in zip(accumulator.carried, phis, strict=True)
            ]
            carried.append((accumulator, accumulator.carried))
        builder.cbranch(builder.icmp_signed("<", index, end), body, after)
        builder = ir.IRBuilder(body)
        outer.position_before(before.terminator)
        self.scopes.append(OpenLoop(builder, index))
        old = self.mask
        if masked:
            self.mask = memory.first_lanes(builder, builder.sub(end, index), self.lanes)
        inside()
        self.mask = old
        last = self.scopes.pop().builder
        index.add_incoming(last.add(index, long(step)), last.block)
        for accumulator, ir_values in carried:
            for phi, ir_value in zip(ir_values, accumulator.carried, strict=True):
                phi.value.add_incoming(ir_value.value, last.block)
            accumulator.carried = ir_values
        last.branch(head)
        outer.position_at_end(after)

    def _once(self, index: ir.Value, count: int, inside: Callable[[], None], *, masked: bool) -> None:
        self.scopes.append(OpenLoop(self.scopes[-1].builder, index))
        old = self.mask
        if masked:
            bits = [int(lane < count) for lane in range(self.lanes)]
            self.mask = ir.Constant(ir.VectorType(ir.IntType(1), self.lanes), bits)
        inside()
        self.mask = old
        self.scopes.pop()

    # The body of the loops

    def _begun(self, root: Root) -> OpenReduction:
        """The accumulator of a reduction whose outermost loop is next."""
        position = first_reduced(root, self.layout)
        lanes = self.lanes if self._in_lanes(position) or self.layout.vector >= position else None
        if root.outer and self.layout.vector >= self.layout.outer:
            lanes = None
        ctx = EmitContext(self.scopes[-1].builder, self.target, lanes)
        return root, Accumulator.begun(ctx, root.how, self._kind(root), exact=is_exact(root, self.layout))

    def _in_lanes(self, position: int) -> bool:
        """Whether the vectorized loop is open."""
        return 0 <= self.layout.vector < position

    def _kind(self, root: Root) -> str:
        return accumulated(root, self.layout)

    def _finish(self, begun: Sequence[OpenReduction]) -> None:
        """Store the accumulated results."""
        for root, accumulator in begun:
            self.active.remove((root, accumulator))
            scope = self.scopes[-1]
            ctx = EmitContext(scope.builder, self.target, accumulator.lanes)
            self._reduced(root, accumulator.result(ctx))

    def _reduced(self, root: Root, ir_value: IRValue) -> None:
        """Store the result of a reduction after its loops, or combine it with the stored one."""
        scope, layout = self.scopes[-1], self.layout
        if ir_value.ctx.lanes is not None and layout.vector in root.reduced:
            ir_value = reducing.across(root.how, ir_value, EmitContext(scope.builder, self.target, None))
        if partial(root, layout, self.count):
            base = self._partial_base(root)
            before = self._read(base, ir_value.kind, root.at, ir_value.ctx)
            self._write(reducing.combine(root.how, before, ir_value), base, root.at)
            return
        ir_value = cast(ir_value, KINDS[root.value.dtype])
        if root.consumed:
            scope.known[id(root.node)] = ir_value
        if root.stored:
            self._write(ir_value, self._base(root.value), root.at)

    def _actions(self, roots: list[Root]) -> None:
        """Store and accumulate; stores that may overwrite memory that the body reads come last."""
        found = []
        for root in roots:
            assert root.node is not None
            lanes = self.lanes if self._in_lanes(len(self.scopes) - 1) else None
            ctx = EmitContext(self.scopes[-1].builder, self.target, lanes)
            if not root.how:
                ir_value = self.ir_value(root.node, ctx)
                if root.value in self.late:
                    found.append((root, ir_value))
                else:
                    self._write(ir_value, self._base(root.value), root.at)
                continue
            ir_value = self.ir_value(root.node.operands[0], ctx)
            accumulator = next((a for r, a in self.active if r is root), None)
            if accumulator is not None:
                accumulator.add(ctx, ir_value, self.mask if lanes else None)
            else:
                single = Accumulator.begun(ctx, root.how, self._kind(root), exact=False)
                single.add(ctx, ir_value, self.mask if lanes else None)
                self._reduced(root, single.result(ctx))
        for root, ir_value in found:
            self._write(ir_value, self._base(root.value), root.at)

    # Nodes

    def ir_value(self, node: ScalarNode, ctx: EmitContext) -> IRValue:
        """The IR value of a node in a context, computed in the node's scope."""
        self._evaluate(node)
        return self._at(node, ctx)

    def _at(self, node: ScalarNode, ctx: EmitContext) -> IRValue:
        """The IR value of a computed node, spread to the lanes of a context."""
        if node.kind == "number":
            return ctx.number(KINDS[node.dtype], node.data.item())
        scope = self.scopes[self._level(node)]
        ir_value = scope.known[id(node)]
        if ir_value.ctx.lanes != ctx.lanes:
            known = scope.known.get((id(node), ctx.lanes))
            if known is None:
                known = scope.known[id(node), ctx.lanes] = memory.splat(scope.builder, ir_value.value, ctx.lanes or 1)
            return IRValue(ctx, ir_value.kind, known)
        return IRValue(ctx, ir_value.kind, ir_value.value)

    def _compute(self, node: ScalarNode, level: int) -> IRValue:
        lanes = self.lanes if self.layout.vector in node.axes else None
        ctx = EmitContext(self.scopes[level].builder, self.target, lanes, often=self.often)
        if node.kind == "load":
            value, place = node.data
            return self._read(self._base(value), KINDS[node.dtype], place, ctx)
        if node.kind == "gather":
            return self._gather(node, ctx)
        name, dtypes, params = node.data
        ir_values = [self._at(operand, ctx) for operand in node.operands]
        return elements.apply(name, ir_values, dtypes, node.dtype, dict(params))

    def _gather(self, node: ScalarNode, ctx: EmitContext) -> IRValue:
        """A load at a computed index."""
        value, rest, step, size = node.data
        (chosen,) = node.operands
        lanes = self.lanes if self.layout.vector in chosen.axes else None
        at = gathered(self._at(chosen, EmitContext(ctx.builder, self.target, lanes)), size, step)
        offset, along, _ = self._offset(rest)
        kind, base, builder = KINDS[node.dtype], self._base(value), ctx.builder
        if ctx.lanes is None or at.ctx.lanes is None:
            address = memory.element(builder, base, kind, builder.add(offset, at.value))
            return (
                memory.load(ctx, kind, address)
                if ctx.lanes is None
                else memory.load_lanes(ctx, kind, address, along, self.mask)
            )
        steps = ir.Constant(ir.VectorType(LONG, ctx.lanes), [along * lane for lane in range(ctx.lanes)])
        places = builder.add(builder.add(at.value, memory.splat(builder, offset, ctx.lanes)), steps)
        return memory.load_places(ctx, kind, base, places, self.mask)

    # Memory

    def _base(self, value: Value) -> ir.Value:
        """The address of a value."""
        known = self.top.known.get(value)
        return self._address(value, self.place(value)) if known is None else known

    def _address(self, key: Hashable, where: tuple[int, int]) -> ir.Value:
        known = self.top.known.get(key)
        if known is None:
            known = self.top.known[key] = address_at(self.top.builder, *where)
        return known

    def _partial_roots(self) -> list[Root]:
        return [root for root in self.layout.roots if partial(root, self.layout, self.count)]

    def _partial_base(self, root: Root) -> ir.Value:
        known = self.top.known.get(id(root))
        if known is None:
            base = self._address((id(root), "all"), self.place(root))
            chunk = self.function.args[3] if self.count > 1 else long(0)
            offset = self.top.builder.mul(chunk, long(root.value.size))
            known = self.top.known[id(root)] = memory.element(self.top.builder, base, self._kind(root), offset)
        return known

    def _clear(self, root: Root) -> None:
        """Initialize the partial results of a chunk with the neutral element."""
        base, kind = self._partial_base(root), self._kind(root)

        def inside() -> None:
            scope = self.scopes[-1]
            ctx = EmitContext(scope.builder, self.target, None)
            memory.store(
                ctx.number(kind, reducing.identity(root.how, kind)),
                memory.element(scope.builder, base, kind, scope.index),
            )

        active, self.active = self.active, []
        self._run(long(0), long(root.value.size), 1, inside)
        self.active = active

    def _offset(self, place: Affine) -> tuple[ir.Value, int, OpenLoop]:
        """The address of an access without its lanes, the stride between lanes, and the scope in which it is known."""
        offset, terms = place
        found, scope = long(offset), self.top
        key: tuple[int, ...] = (offset,)
        step = 0
        for axis, coefficient in terms:
            if axis == self.layout.vector:
                step = coefficient
            scope = self.scopes[axis + 1]
            key = (*key, axis, coefficient)
            known = scope.known.get(key)
            if known is None:
                index = scope.index if coefficient == 1 else scope.builder.mul(scope.index, long(coefficient))
                known = scope.known[key] = scope.builder.add(found, index)
            found = known
        return found, step, scope

    def _read(self, base: ir.Value, kind: str, place: Affine, ctx: Context) -> IRValue:
        offset, step, _ = self._offset(place)
        address = memory.element(ctx.builder, base, kind, offset)
        if ctx.lanes is None:
            return memory.load(ctx, kind, address)
        if step == 0:
            return memory.load_spread(ctx, kind, address)
        return memory.load_lanes(ctx, kind, address, step, self.mask)

    def _write(self, ir_value: IRValue, base: ir.Value, place: Affine) -> None:
        builder = self.scopes[-1].builder
        offset, step, _ = self._offset(place)
        address = memory.element(builder, base, ir_value.kind, offset)
        if ir_value.ctx.lanes is None:
            memory.store(ir_value, address)
        else:
            memory.store_lanes(ir_value, address, step, self.mask)
