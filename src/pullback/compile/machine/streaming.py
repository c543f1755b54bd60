"""Streams: an elementwise program as one loop over arrays of any length, which threads share."""

from __future__ import annotations

from types import SimpleNamespace

from llvmlite import ir

from ..mathematics.lanes import SIZES, IRValue
from ..program import Equation, Program
from . import elements, native
from .elements import KINDS
from .linking import LinkedModule
from .llvm import POINTER, declared
from .writing import Array, Writer

PART = 1 << 14
"""The number of elements in a part."""
COOL = 32
"""The register size in bytes for loops without costly operations.

Processors lower their clock for 512-bit registers; loops bound by memory or division do not gain from them.
"""
AHEAD, LINE = 1 << 11, 64
"""The prefetch distance and the cache line, in bytes."""
SPREAD = "broadcast_to"
"""The broadcast of a scalar, which needs no code."""


def streams(program: Program) -> bool:
    """Whether a program is elementwise with one output, and all its operations have code."""
    found = any(program.outputs[0] in equation.outputs for equation in program.equations if equation.name != SPREAD)
    if not found or program.guards:
        return False
    return all(map(_lowers, program.equations)) and not any(array.shape for array in program.constants.values())


def _lowers(equation: Equation) -> bool:
    if equation.name == SPREAD:
        return not equation.inputs[0].shape
    dtypes = tuple([value.dtype for value in equation.inputs])
    return elements.lowers(equation.name, dtypes, equation.output.dtype, equation.params)


class StreamWriter(Writer):
    """Writes the loop of an elementwise program: a function of the table and of a range of parts.

    Stores are aligned, except for the first and the last register of an array, which overlap their neighbors.
    """

    def __init__(self, program: Program) -> None:
        self.program, self.out = program, program.outputs[0].dtype
        self.operands = [(KINDS[value.dtype], bool(value.shape)) for value in program.inputs]
        cost = max(elements.ELEMENTS[equation.name].cost for equation in program.equations if equation.name != SPREAD)
        width = elements.ALTERNATING * native.width() if cost >= elements.COSTLY else min(native.width(), COOL)
        sizes = [value.dtype.itemsize for equation in program.equations for value in equation.outputs]
        lanes = width // max(4, *sizes, *[SIZES[kind] for kind, _ in self.operands])
        super().__init__(None, KINDS[self.out], lanes)
        self.ctx.branching = True
        self.module = LinkedModule()

    def write(self) -> str:
        """The text of the module."""
        own = self._begun("vectors", internal=True)
        addresses = [own.table.at(place).one() for place in range(2, len(self.operands) + 3)]
        bases = [
            self.array(x, kind)
            for x, kind in zip(addresses, (self.kind, *[kind for kind, _ in self.operands]), strict=True)
        ]
        fixed = [None if axes else base.spread() for (_, axes), base in zip(self.operands, bases[1:], strict=True)]
        with self.loop(own.begin, own.end, self.lanes) as at:
            self._vector(at, bases, fixed)
        self._parts(self.end())
        return self.module.finished()

    def _begun(self, name: str, *, internal: bool = False) -> SimpleNamespace:
        return self.begin(self.module, name, ["table"], ["begin", "end"], "i64", internal=internal)

    def _parts(self, vectors: ir.Function) -> None:
        """Write the function of a range of parts, which calls the loop for its range of elements."""
        own = self._begun("some")
        size, parts, address = (own.table.at(place).one() for place in range(3))
        first, last = own.begin == 0, own.end == parts
        missing = -address & self.lanes * self.out.itemsize - 1
        head, final = missing >> (self.out.itemsize.bit_length() - 1), size - self.lanes
        start, stop = (head + part * PART for part in (own.begin, own.end))
        self.call(vectors, own.table, 0, first.to("i64"))
        self.call(vectors, own.table, start, last.select(final, stop))
        self.call(vectors, own.table, final, last.select(size, final))
        self.end()

    def _vector(self, at: IRValue, bases: list[Array], fixed: list[IRValue | None]) -> None:
        """Write the code for the register at an index."""
        ir_values = {
            value: self.ctx.number(KINDS[value.dtype], array.item()) for value, array in self.program.constants.items()
        }
        for value, base, known in zip(self.program.inputs, bases[1:], fixed, strict=True):
            if known is None:
                for line in range(0, self.lanes * value.dtype.itemsize, LINE):
                    self._ask(self.array(base.at(at).value, "i8").at(AHEAD + line))
            ir_values[value] = base.at(at).some() if known is None else known
        for equation in self.program.equations:
            given = [ir_values[value] for value in equation.inputs]
            ir_values[equation.output] = given[0] if equation.name == SPREAD else applied(equation, given)
        bases[0].at(at).put(ir_values[self.program.outputs[0]])

    def _ask(self, address: Array) -> None:
        number = ir.IntType(32)
        of = ir.FunctionType(ir.VoidType(), [POINTER, number, number, number])
        prefetch = declared(self.module, "llvm.prefetch.p0", of)
        self.builder.call(prefetch, [address.value, number(0), number(3), number(1)])


def applied(equation: Equation, ir_values: list[IRValue]) -> IRValue:
    """The result of an equation for IR values."""
    dtypes = tuple([value.dtype for value in equation.inputs])
    return elements.apply(equation.name, ir_values, dtypes, equation.output.dtype, equation.params)
