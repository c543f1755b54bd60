"""Streams: an elementwise program as one loop over arrays of any length, which threads share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir

from ..mathematics.lanes import Desk, Target, Word, declared
from ..program import Equation, Program
from . import elements, native
from .elements import KINDS
from .linking import Module
from .memory import BYTE, LONG, POINTER, begun, count_up, element, load_lanes, load_spread, long, store_lanes, word_of

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


class StreamWriter:
    """Writes the loop of an elementwise program: a function of the table and of a range of parts.

    Stores are aligned, except for the first and the last register of an array, which overlap their neighbours.
    """

    def __init__(self, program: Program) -> None:
        self.program, self.out = program, program.outputs[0].dtype
        self.operands = [(value.dtype, bool(value.shape)) for value in program.inputs]
        cost = max(elements.ELEMENTS[equation.name].cost for equation in program.equations if equation.name != SPREAD)
        width = elements.ALTERNATING * native.width() if cost >= elements.COSTLY else min(native.width(), COOL)
        sizes = [value.dtype.itemsize for equation in program.equations for value in equation.outputs]
        self.lanes = width // max(4, *sizes, *[dtype.itemsize for dtype, _ in self.operands])
        self.module = Module()
        self.builder: Any = None
        self.given: dict[str, Any] = {}

    def write(self) -> str:
        """The text of the module."""
        self._begin("vectors")
        bases = [self.builder.inttoptr(self._word(place), POINTER) for place in range(2, len(self.operands) + 3)]
        fixed = [
            self._spread(dtype, base) for (dtype, axes), base in zip(self.operands, bases[1:], strict=True) if not axes
        ]
        count_up(
            self.builder,
            self.given["begin"],
            self.given["end"],
            lambda at: self._vector(at, bases, iter(fixed)),
            step=self.lanes,
        )
        self.builder.ret_void()
        self.builder.function.linkage = "internal"
        self._parts(self.builder.function)
        return self.module.finished()

    def _begin(self, name: str) -> None:
        self.builder, self.given = begun(self.module, name, ["table"], ["begin", "end"])

    def _parts(self, vectors: Any) -> None:
        """Write the function of a range of parts, which calls the loop for its range of elements."""
        self._begin("some")
        builder = self.builder
        table, begin, end = self.given.values()
        size, parts, address = [self._word(place) for place in range(3)]
        first, last = builder.icmp_signed("==", begin, long(0)), builder.icmp_signed("==", end, parts)
        bytes_missing = builder.and_(builder.neg(address), long(self.lanes * self.out.itemsize - 1))
        head = builder.lshr(bytes_missing, long(self.out.itemsize.bit_length() - 1))
        final = builder.sub(size, long(self.lanes))
        start, stop = (builder.add(head, builder.mul(part, long(PART))) for part in (begin, end))
        builder.call(vectors, [table, long(0), builder.zext(first, LONG)])
        builder.call(vectors, [table, start, builder.select(last, final, stop)])
        builder.call(vectors, [table, final, builder.select(last, size, final)])
        builder.ret_void()

    def _word(self, place: int) -> Any:
        return word_of(self.builder, self.given["table"], long(place))

    def _spread(self, dtype: np.dtype[Any], address: Any) -> Any:
        """A scalar operand in all lanes."""
        return load_spread(Desk(self.builder, Target.host(), self.lanes), KINDS[dtype], address).value

    def _vector(self, at: Any, bases: list[Any], fixed: Iterator[Any]) -> None:
        """Write the code for the register at an index."""
        builder = self.builder
        desk = Desk(builder, Target.host(), self.lanes, branching=True)
        words = {
            value: desk.number(KINDS[value.dtype], array.item()) for value, array in self.program.constants.items()
        }
        for value, (dtype, axes), base in zip(self.program.inputs, self.operands, bases[1:], strict=True):
            kind, address = KINDS[dtype], element(builder, base, KINDS[dtype], at)
            for line in range(0, self.lanes * dtype.itemsize if axes else 0, LINE):
                self._ask(builder.gep(address, [long(AHEAD + line)], source_etype=BYTE))
            words[value] = load_lanes(desk, kind, address, 1, None) if axes else Word(desk, kind, next(fixed))
        for equation in self.program.equations:
            given = [words[value] for value in equation.inputs]
            words[equation.output] = given[0] if equation.name == SPREAD else _applied(equation, given)
        word = words[self.program.outputs[0]]
        store_lanes(word, element(builder, bases[0], word.kind, at), 1, None)

    def _ask(self, address: Any) -> None:
        number = ir.IntType(32)
        of = ir.FunctionType(ir.VoidType(), [POINTER, number, number, number])
        prefetch = declared(self.module, "llvm.prefetch.p0", of)
        self.builder.call(prefetch, [address, number(0), number(3), number(1)])


def _applied(equation: Equation, words: list[Word]) -> Word:
    dtypes = tuple([value.dtype for value in equation.inputs])
    return elements.apply(equation.name, words, dtypes, equation.output.dtype, equation.params)
