"""Writing code with `IRValue`s: numbers and addresses of 64 bits, arrays in memory, branches and loops."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

from llvmlite import ir

from ..mathematics.lanes import SIZES, IRValue
from . import memory
from .contexts import EmitContext
from .llvm import BYTE, LONG, POINTER, TYPES, declared, host, long

VOID = ir.VoidType()


class Array(IRValue):
    """The address of elements of a kind: one of them is read or written, or as many as there are lanes."""

    def with_value(self, value: ir.Value) -> Array:
        """Another address of such elements."""
        return Array(self.ctx, self.kind, value)

    def at(self, place: IRValue | int) -> Array:
        """The elements from one on."""
        return self.with_value(memory.element(self.ctx.builder, self.value, self.kind, _value(place)))

    def one(self) -> IRValue:
        """The first element."""
        return memory.load(EmitContext(self.ctx.builder, self.ctx.target, None), self.kind, self.value)

    def spread(self) -> IRValue:
        """The first element, in all lanes."""
        return memory.load_spread(self.ctx, self.kind, self.value)

    def some(self, mask: IRValue | None = None) -> IRValue:
        """The first elements, one for each lane; zeros where the mask is off."""
        return memory.load_lanes(self.ctx, self.kind, self.value, 1, None if mask is None else mask.value)

    def apart(self, step: IRValue, mask: IRValue | None) -> IRValue:
        """An element for each lane, so many elements apart; zeros where the mask is off."""
        builder, lanes = self.ctx.builder, self.ctx.lanes or 1
        places = builder.mul(memory.splat(builder, step.value, lanes), memory.lane_numbers(lanes))
        return memory.load_places(self.ctx, self.kind, self.value, places, None if mask is None else mask.value)

    def among(self, places: IRValue, mask: IRValue | None) -> IRValue:
        """The elements at places, one for each lane; zeros where the mask is off."""
        return memory.load_places(self.ctx, self.kind, self.value, places.value, None if mask is None else mask.value)

    def put(self, ir_value: IRValue, mask: IRValue | None = None) -> None:
        """Write one element, or one for each lane where the mask is on."""
        if ir_value.ctx.lanes is None:
            memory.store(ir_value, self.value)
        else:
            memory.store_lanes(ir_value, self.value, 1, None if mask is None else mask.value)


def _value(ir_value: IRValue | int) -> ir.Value:
    return ir_value.value if isinstance(ir_value, IRValue) else long(ir_value)


class Writer:
    """Writes code where a builder is; `kind` and `lanes` are those of the numbers that it is about."""

    def __init__(self, builder: ir.IRBuilder | None, kind: str = "i64", lanes: int = 1) -> None:
        self.kind, self.lanes = kind, lanes
        self.scalar, self.ctx = (EmitContext(builder, host(), count) for count in (None, lanes if lanes > 1 else None))
        self.builder: ir.IRBuilder = builder  # none before a function is begun

    def begin(
        self,
        module: ir.Module,
        name: str,
        arrays: Iterable[str],
        numbers: Iterable[str],
        kind: str = "",
        *,
        internal: bool = False,
    ) -> SimpleNamespace:
        """Go on in a new function without a result; its parameters by name: addresses of elements, and numbers."""
        arrays, numbers = [*arrays], [*numbers]
        signature = ir.FunctionType(VOID, [POINTER] * len(arrays) + [LONG] * len(numbers))
        function = ir.Function(module, signature, name)
        function.linkage = "internal" if internal else ""
        self.builder = self.scalar.builder = self.ctx.builder = ir.IRBuilder(function.append_basic_block())
        given: list[IRValue] = [Array(self.ctx, kind or self.kind, value) for value in function.args[: len(arrays)]]
        given += map(self.number, function.args[len(arrays) :])
        return SimpleNamespace(**dict(zip((*arrays, *numbers), given, strict=True)))

    # Words

    def number(self, value: IRValue | ir.Value | int) -> IRValue:
        """A constant or a value of LLVM as an IR value of 64 bits; IR values are returned as they are."""
        if isinstance(value, IRValue):
            return value
        return self.scalar.number("i64", value) if isinstance(value, int) else IRValue(self.scalar, "i64", value)

    def zero(self) -> IRValue:
        """Zero in all lanes."""
        return self.ctx.number(self.kind, 0)

    def array(self, address: IRValue | ir.Value, kind: str = "") -> Array:
        """The elements at an address."""
        value = self.builder.inttoptr(address.value, POINTER) if isinstance(address, IRValue) else address
        return Array(self.ctx, kind or self.kind, value)

    def word(self, address: IRValue, place: IRValue | int = 0) -> IRValue:
        """The word at a place of a table."""
        return self.array(address, "i64").at(place).one()

    def bytes(self, count: IRValue) -> IRValue:
        """The size of elements in bytes."""
        return count * SIZES[self.kind]

    def part(self, total: IRValue | int, number: IRValue, count: IRValue) -> tuple[IRValue, IRValue]:
        """The bounds of part `number` of `count` nearly equal parts of 0 to `total`."""
        following = number + 1
        return self.number(total) * number // count, self.number(total) * following // count

    def first(self, count: IRValue) -> IRValue:
        """A mask of the first lanes."""
        return IRValue(self.ctx, "b1", memory.first_lanes(self.builder, count.value, self.lanes))

    def all_lanes(self, ir_value: IRValue) -> IRValue:
        """A scalar in all lanes."""
        return IRValue(self.ctx, ir_value.kind, memory.splat(self.builder, ir_value.value, self.lanes))

    # Memory

    def stack(self, count: int, kind: str = "", align: int | None = None) -> Array:
        """Memory for some elements, until the function returns."""
        before = self.builder.block
        self.builder.position_at_start(self.builder.function.entry_basic_block)  # its end would be searched for
        made = self.builder.alloca(TYPES[kind or self.kind], size=long(count))
        made.align = align
        self.builder.position_at_end(before)
        return self.array(self.number(self.builder.ptrtoint(made, LONG)), kind)  # llvmlite gives it a type of its own

    def copy(self, target: Array, source: Array, size: IRValue | int) -> None:
        """Copy bytes."""
        signature = ir.FunctionType(VOID, [POINTER, POINTER, LONG, ir.IntType(1)])
        function = declared(self.builder.module, "llvm.memcpy.p0.p0.i64", signature)
        self.builder.call(function, [target.value, source.value, _value(size), ir.IntType(1)(0)])

    def clear(self, target: Array, size: IRValue | int) -> None:
        """Set bytes to zero."""
        signature = ir.FunctionType(VOID, [POINTER, BYTE, LONG, ir.IntType(1)])
        function = declared(self.builder.module, "llvm.memset.p0.i64", signature)
        self.builder.call(function, [target.value, BYTE(0), _value(size), ir.IntType(1)(0)])

    # Control flow

    def call(self, function: IRValue | ir.Value, *ir_values: IRValue | int, of: ir.Type = VOID) -> ir.Value:
        """Call a function, of the module or at an address; the value that it gives."""
        values = [_value(ir_value) for ir_value in ir_values]
        if isinstance(function, IRValue):
            signature = ir.FunctionType(of, [value.type for value in values])
            function = self.builder.inttoptr(function.value, ir.PointerType(signature))
        return self.builder.call(function, values)

    def when(self, condition: IRValue) -> AbstractContextManager[Any]:
        """A block that runs where a condition holds."""
        return self.builder.if_then(condition.value)

    def either(self, condition: IRValue) -> AbstractContextManager[Any]:
        """Two blocks, of which the first runs where a condition holds, and else the second."""
        return self.builder.if_else(condition.value)

    def cases(self, number: IRValue, names: Sequence[str]) -> Iterator[str]:
        """A block for each name, of which the one at the place that is a number runs."""
        end = self.builder.function.append_basic_block()
        switch = self.builder.switch(number.value, end)
        for place, name in enumerate(names):
            block = self.builder.function.append_basic_block()
            switch.add_case(LONG(place), block)
            self.builder.position_at_end(block)
            yield name
            self.builder.branch(end)
        self.builder.position_at_end(end)

    @contextlib.contextmanager
    def loop(
        self, begin: IRValue | int, end: IRValue | int, step: IRValue | int = 1, carried: list[IRValue] | None = None
    ) -> Iterator[IRValue]:
        """A loop over numbers; `carried` values are replaced in place by those of the next iteration."""
        builder, carried = self.builder, [] if carried is None else carried
        before, (head, body, after) = builder.block, [builder.function.append_basic_block() for _ in range(3)]
        builder.branch(head)
        builder.position_at_end(head)
        first = [self.number(begin), *carried]
        phis = [builder.phi(ir_value.value.type) for ir_value in first]
        for phi, ir_value in zip(phis, first, strict=True):
            phi.add_incoming(ir_value.value, before)
        index = self.number(phis[0])
        ir_values = [ir_value.with_value(phi) for ir_value, phi in zip(carried, phis[1:], strict=True)]
        builder.cbranch((index < end).value, body, after)
        builder.position_at_end(body)
        carried[:] = ir_values
        yield index
        for phi, ir_value in zip(phis, (index + step, *carried), strict=True):
            phi.add_incoming(ir_value.value, builder.block)
        carried[:] = ir_values
        builder.branch(head)
        builder.position_at_end(after)

    def registers(
        self, begin: IRValue | int, end: IRValue, carried: list[IRValue] | None = None, together: int = 1
    ) -> Iterator[tuple[IRValue, IRValue | None]]:
        """Two loops over numbers, for each of which what is in a `for` over this is written once.

        The first takes `together` whole registers at a time and has no mask; the second takes one, with a mask.
        """
        lanes, whole = self.lanes, (end - begin & -together * self.lanes) + begin
        with self.loop(begin, whole, together * lanes, carried) as place:
            yield place, None
        mask = self.first(end - whole)
        with self.loop(whole, end, lanes, carried) as place:
            yield place, mask if together == 1 else self.first(end - place)

    def end(self) -> ir.Function:
        """End a function without a result; the function."""
        self.builder.ret_void()
        return self.builder.function
