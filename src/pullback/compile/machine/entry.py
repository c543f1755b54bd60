"""The built-in function of Python that runs a compiled program.

It checks that each argument is an array of the shape and dtype that the program was compiled for, or a float, makes the results, and
calls the code with a table of addresses. A call takes 0.2 microseconds; one by ctypes takes 2. One function serves all
programs: its `self` is an array of words that describe the program (`Block`).
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import cpython
from ..mathematics.lanes import IRValue
from . import callables, native
from .callables import ROW, FunctionBody
from .linking import PARAMETERS, LinkedModule

if TYPE_CHECKING:
    from llvmlite import ir


WORDS = """inputs outputs run arena heavy cell slots constants constant_table arrays writes write_table parameters""".split()
"""The words of a block; `arrays` are rows of words as `callables.fits` reads them."""

FLOAT = np.dtype(float).num


def _apart(module: LinkedModule) -> ir.Function:
    """The function that says whether arrays that will be written share no memory with others."""
    body = FunctionBody(module, "apart", 5)
    table, rows, count, writes, written = body.parameters

    def memory(number: IRValue) -> tuple[IRValue, IRValue]:
        begin = body.word(table, number)
        return begin, begin + body.word(rows, number * len(ROW) + ROW.index("bytes"))

    with body.loop(0, written) as write:
        number = body.word(writes, write)
        begin, end = memory(number)
        with body.loop(0, count) as other:
            other_begin, other_end = memory(other)
            body.result_if((begin < other_end) & (other_begin < end) & (other != number))
    return body.result(1)


def _write(module: LinkedModule) -> None:
    """Write the function for all programs.

    It returns the list of results, the number of the guard that failed, or None for arguments that the program was not
    compiled for.
    """
    fits, apart, float_place = callables.fits(module), _apart(module), cpython.float_place() or 0
    body = FunctionBody(module, "run", 3, public=True)
    own, arguments, count = body.parameters
    block = body.field(own, "data")
    told = SimpleNamespace(**{name: body.word(block, place) for place, name in enumerate(WORDS)})

    def row(number: IRValue) -> IRValue:
        return told.arrays + number * (8 * len(ROW))

    body.result_object_if(count != told.inputs)
    table = body.table(told.slots + 1) + 8
    body.put(table, PARAMETERS, told.parameters)
    with body.loop(0, told.inputs) as number:
        given = body.word(arguments, number)
        with body.either(body.field(given, "type") == body.link("float")) as (plain, other):
            with plain:  # its memory is that of a number
                nd, _, _, dtype = (body.word(row(number), i) for i in range(4))
                body.result_object_if((nd != 0) | (dtype != FLOAT) | (float_place == 0))
                body.put(table, number, given + float_place)
            with other:
                body.result_object_if(body.call(fits, given, row(number)) == 0)
                body.put(table, number, body.field(given, "data"))
    body.result_object_if(body.call(apart, table, told.arrays, told.inputs, told.write_table, told.writes) == 0)
    results = body.call("PyList_New", told.outputs)
    body.result_if(results == 0)

    def give_up() -> None:
        body.call("Py_DecRef", results)
        body.result(0)

    with body.loop(0, told.outputs) as number:
        place = told.inputs + number
        nd, dims, _, dtype = (body.word(row(place), i) for i in range(4))
        array = body.new_array(nd, dims, dtype)
        with body.when(array == 0):
            give_up()
        body.call("PyList_SetItem", results, number, array, of="i32")
        body.put(table, place, body.field(array, "data"))
    status = _run(body, told, block, table, give_up)
    body.result_if(status == 0, results)
    body.call("Py_DecRef", results)
    body.result(body.call("PyLong_FromLong", status))


def _run(
    body: FunctionBody, told: SimpleNamespace, block: IRValue, table: IRValue, give_up: Callable[[], None]
) -> IRValue:
    """Run the program with a block of memory, which is kept for the next call; the number of the guard that failed, or 0."""
    after, cell = told.inputs + told.outputs, block + 8 * WORDS.index("cell")
    memory, status = body.variable(0), body.variable(0)
    with body.when(told.arena != 0):
        body.put(memory, 0, body.atomic("xchg", cell, 0))
        with body.when(body.word(memory) == 0):
            body.put(memory, 0, body.call("PyMem_RawMalloc", told.arena))
        with body.when(body.word(memory) == 0):
            body.call("PyErr_NoMemory")
            give_up()
        body.put(table, after, (body.word(memory) + 63) & -64)
    with body.loop(0, told.constants) as number:
        body.put(table, after + 1 + number, body.word(told.constant_table, number))
    with body.either(told.heavy != 0) as (heavy, light):
        with heavy, body.without_lock():
            body.put(status, 0, body.call(told.run, table, of="i32"))
        with light:
            body.put(status, 0, body.call(told.run, table, of="i32"))
    with body.when(told.arena != 0):
        spare = body.atomic("xchg", cell, body.word(memory))
        with body.when(spare != 0):
            body.call("PyMem_RawFree", spare)
    return body.word(status)


@native.once
def _method() -> Any:
    """The function for all programs, compiled once in a process; None where the layout of objects is not known."""
    return callables.method("run", "Run a compiled program.", _write)


class Block:
    """The words that describe a program to the function, and the memory they point to."""

    def __init__(self, **words: int) -> None:
        self.words = np.array([words.get(name, 0) for name in WORDS], np.int64)
        self.kept: list[Any] = []

    def array(self, numbers: list[int]) -> int:
        """The address of an array of words."""
        held = np.array(numbers or [0], np.int64)
        self.kept.append(held)
        return int(held.ctypes.data)

    def set(self, name: str, word: int) -> None:
        """Change a word."""
        self.words[WORDS.index(name)] = word

    def __del__(self) -> None:
        cell = int(self.words[WORDS.index("cell")])
        if cell:
            cpython.free(cell)


def builtin(block: Block) -> Any:
    """A built-in function of Python that runs a program; None where the layout of objects is not known."""
    method = _method()
    return None if method is None else cpython.builtin(method, block.words)
