"""Sequences: steps of a long program that differ only in addresses, as a table of numbers that one loop goes through.

A loop of Python, recorded, repeats a few steps thousands of times. Each kind of step is a function of a table of addresses.
A row of the sequence has the number of the function, the end of its outermost loop, and the place of each address: a slot of
the program's table and an offset. LLVM so compiles a case for each function instead of a call for each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from llvmlite import ir

from .linking import PARAMETERS, LinkedModule, address_at
from .llvm import LONG
from .writing import Array, Writer

LEAST = 24
"""The number of steps in a row from which on they are a sequence."""
SLOT_BITS = 24
"""Bits of a word that are the slot; the others are the offset."""


class StepCall(NamedTuple):
    """A step: a function of a table of addresses and of the end of its outermost loop; the place of each address."""

    function: ir.Function
    places: Sequence[tuple[int, int]]
    end: int

    @property
    def words(self) -> list[int]:
        """The places as numbers, after the end of the loop."""
        return [self.end, *[offset << SLOT_BITS | slot for slot, offset in self.places]]


def write_table(builder: ir.IRBuilder, count: int) -> Array:
    """Write a table for addresses on the stack; it has the parameters of the program's."""
    table = Writer(builder).stack(1 + count).at(1)
    builder.store(address_at(builder, PARAMETERS, 0), table.at(PARAMETERS).value, align=8)
    return table


def write_sequence(builder: ir.IRBuilder, calls: Sequence[StepCall]) -> None:
    """Write the loop over a sequence, and its table."""
    write, kinds = Writer(builder), {call.function: call for call in calls}
    numbers = {function: number for number, function in enumerate(kinds)}
    words = [word for call in calls for word in (numbers[call.function], *call.words)]
    table = write_table(builder, max(len(call.places) for call in calls))
    before, (head, body, after) = builder.block, [builder.function.append_basic_block() for _ in range(3)]
    builder.branch(head)
    builder.position_at_end(head)
    place = builder.phi(LONG)
    place.add_incoming(LONG(0), before)
    builder.cbranch((write.number(place) < len(words)).value, body, after)
    builder.position_at_end(body)
    row = write.array(_constant(builder.module, words)).at(write.number(place))
    cases = builder.switch(row.one().value, after)
    for call in kinds.values():
        block = builder.function.append_basic_block()
        cases.add_case(LONG(numbers[call.function]), block)
        builder.position_at_end(block)
        _write_case(write, row, table, call)
        place.add_incoming((write.number(place) + (2 + len(call.places))).value, block)
        builder.branch(head)
    builder.position_at_end(after)


def _write_case(write: Writer, row: Array, table: Array, call: StepCall) -> None:
    """Write a step of a kind: the addresses of a row into the table, and the call."""
    given = write.array(write.builder.function.args[0])
    for number in range(len(call.places)):
        word = row.at(2 + number).one()
        address = given.at(word & (1 << SLOT_BITS) - 1).one() + (word >> SLOT_BITS)
        table.at(number).put(address)
    write.call(call.function, table, 0, row.at(1).one(), 0)


def _constant(module: LinkedModule, words: Sequence[int]) -> ir.GlobalVariable:
    """The numbers in the module."""
    of = ir.ArrayType(LONG, len(words))
    made = ir.GlobalVariable(module, of, module.get_unique_name("sequence"))
    made.global_constant, made.linkage = True, "internal"
    made.initializer = ir.FormattedConstant(of, f"[{', '.join([f'i64 {word}' for word in words])}]")
    return made
