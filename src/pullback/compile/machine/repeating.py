"""Loops of the program with large steps: each step is a call of a function."""

from __future__ import annotations

from typing import Any

from ..program import Equation, Program
from .assembly import Assembly, aligned
from .memory import BYTE, LONG, POINTER, long, on_stack


class RepeatEmitter:
    """Writes a loop that calls the function of its step.

    The function gets a table of addresses. Between steps the addresses of columns advance by a row, and those of the old and
    the new state are exchanged, such that the last state is stored in the loop's result.
    """

    def __init__(self, builder: Any, equation: Equation, body: Assembly, step: Any, room: Any) -> None:
        self.builder, self.loop, self.body = builder, equation.params["loop"], body
        self.step, self.room = step, room
        self.table = on_stack(builder, POINTER, body.memory.slots)

    def emit(self, inputs: list[Any], outputs: list[Any], constants: list[Any]) -> None:
        """Write the code; the builder is left after the loop."""
        builder, loop, program = self.builder, self.loop, self.body.program
        given, carries = len(program.inputs), loop.carries
        arena = given + len(program.outputs)
        rows = [(i, inputs[i], program.inputs[i]) for i in range(carries, carries + loop.columns)]
        rows += [(given + i, outputs[i], program.outputs[i]) for i in range(carries, len(program.outputs))]
        for number in range(carries + loop.columns, given):
            self._set(number, inputs[number])
        for number, address in enumerate([self.room, *constants]):
            self._set(arena + number, address)
        before = builder.block
        old, new, other = list[Any](), list[Any](), list[Any]()
        turns = [outputs[:carries], self._seconds(program)]
        turns = turns if loop.length % 2 else turns[::-1]
        head, after = (builder.function.append_basic_block() for _ in range(2))
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(LONG)
        for phis, first in ((old, inputs), (new, turns[0]), (other, turns[1])):
            for address in first[:carries]:
                phis.append(builder.phi(POINTER))
                phis[-1].add_incoming(address, before)
        index.add_incoming(long(0), before)
        number = builder.sub(long(loop.length - 1), index) if loop.reverse else index
        for slot, base, value in rows:
            self._set(slot, self._moved(base, builder.mul(number, long(value.nbytes))))
        for place in range(carries):
            self._set(place, old[place])
            self._set(given + place, new[place])
        builder.call(self.step, [self.table])
        following = builder.add(index, long(1))
        index.add_incoming(following, builder.block)
        for phis, next_ones in ((old, new), (new, other), (other, new)):
            for phi, address in zip(phis, next_ones, strict=True):
                phi.add_incoming(address, builder.block)
        builder.cbranch(builder.icmp_signed("<", following, long(loop.length)), head, after)
        builder.position_at_end(after)

    def _seconds(self, program: Program) -> list[Any]:
        """The second buffers of the states, after the memory of the step."""
        places, start = [], aligned(self.body.memory.arena)
        for value in program.outputs[: self.loop.carries]:
            places.append(self._moved(self.room, long(start)))
            start += aligned(value.nbytes)
        return places

    def _moved(self, base: Any, by: Any) -> Any:
        return self.builder.gep(base, [by], source_etype=BYTE)

    def _set(self, slot: int, address: Any) -> None:
        place = self.builder.gep(self.table, [long(slot)], source_etype=POINTER)
        self.builder.store(address, place, align=8)
