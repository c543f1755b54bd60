"""Loops of the program with large steps: each step is a call of a function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..program import Equation, Program
from .assembly import Assembly, aligned
from .sequences import write_table
from .writing import Array, Writer

if TYPE_CHECKING:
    from llvmlite import ir

    from ..mathematics.lanes import IRValue


class RepeatEmitter(Writer):
    """Writes a loop that calls the function of its step.

    The function gets a table of addresses. Between steps the addresses of columns advance by a row, and those of the old and
    the new state are exchanged, such that the last state is stored in the loop's result.
    """

    def __init__(
        self, builder: ir.IRBuilder, equation: Equation, body: Assembly, step: ir.Function, room: ir.Value
    ) -> None:
        super().__init__(builder)
        self.repeated, self.body, self.step, self.room = equation.params["loop"], body, step, self.array(room, "i8")
        self.table = write_table(builder, body.memory.slots)

    def emit(self, inputs: list[ir.Value], outputs: list[ir.Value], constants: list[ir.Value]) -> None:
        """Write the code; the builder is left after the loop."""
        loop, program = self.repeated, self.body.program
        given, carries = len(program.inputs), loop.carries
        arena, after = given + len(program.outputs), carries + loop.columns
        inputs, outputs = ([self.array(address, "i8") for address in addresses] for addresses in (inputs, outputs))
        rows = [(i, inputs[i], program.inputs[i]) for i in range(carries, after)]
        rows += [(given + i, outputs[i], program.outputs[i]) for i in range(carries, len(program.outputs))]
        for number in range(after, given):
            self._set(number, inputs[number])
        for number, address in enumerate([self.room.value, *constants]):
            self._set(arena + number, self.array(address))
        turns = (outputs[:carries], self._seconds(program))
        first, second = turns if loop.length % 2 else turns[::-1]
        states: list[IRValue] = [*inputs[:carries], *first, *second]
        with self.loop(0, loop.length, carried=states) as index:
            row = self.number(loop.length - 1) - index if loop.reverse else index
            for slot, base, value in rows:
                self._set(slot, base.at(row * value.nbytes))
            old, new, other = (states[part * carries : (part + 1) * carries] for part in range(3))
            for place in range(carries):
                self._set(place, old[place])
                self._set(given + place, new[place])
            self.call(self.step, self.table)
            states[:] = [*new, *other, *new]

    def _seconds(self, program: Program) -> list[Array]:
        """The second buffers of the states, after the memory of the step."""
        places, start = [], aligned(self.body.memory.arena)
        for value in program.outputs[: self.repeated.carries]:
            places.append(self.room.at(start))
            start += aligned(value.nbytes)
        return places

    def _set(self, slot: int, address: IRValue) -> None:
        self.builder.store(address.value, self.table.at(slot).value, align=8)
