"""Functions that read Python's objects and call C functions, written with LLVM's builder.

All their values are words: integers of 64 bits, which are numbers or addresses. C functions of Python and NumPy, and
objects, are found by name in a table of addresses that is filled when the code is loaded (see `linking`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llvmlite import ir

from .. import cpython
from ..mathematics.lanes import IRValue
from . import native
from .linking import LinkedModule, address_of
from .llvm import LONG, TYPES
from .writing import Writer

CELL = ir.PointerType(LONG)
CONTIGUOUS, ALIGNED, WRITABLE = 0x0101, 0x0100, 0x0400
"""NumPy's flags of an array: C-contiguous and aligned, aligned, writable."""
ROW = "nd dims dtype number bytes flags".split()
"""The words that describe an array: axes, the address of its lengths, dtype, the dtype's number, bytes, required flags."""


class FunctionBody(Writer):
    """The body of a function under construction; its parameters and its result are words."""

    def __init__(self, module: LinkedModule, name: str, parameters: int, *, public: bool = False) -> None:
        self.function = ir.Function(module, ir.FunctionType(LONG, [LONG] * parameters), name)
        self.function.linkage = "" if public else "internal"
        super().__init__(ir.IRBuilder(self.function.append_basic_block()))
        self.parameters = [self.number(argument) for argument in self.function.args]

    def _cell(self, address: IRValue) -> ir.Value:
        return self.builder.inttoptr(address.value, CELL)

    # Memory

    def put(self, address: IRValue, place: IRValue | int, word: IRValue | int) -> None:
        """Write a word to a place of a table."""
        self.array(address).at(place).put(self.number(word))

    def field(self, thing: IRValue, name: str) -> IRValue:
        """A field of an array object, or the type of any object."""
        kind = "i32" if name in ("nd", "flags") else "i64"
        return self.array(thing + (native.offsets() or {})[name], kind).one().to("i64")

    def table(self, words: IRValue | int) -> IRValue:
        """The address of memory for so many words, until the function returns."""
        made = self.builder.alloca(LONG, size=self.number(words).value)
        made.align = 16
        return self.shared(made)

    def variable(self, word: IRValue | int) -> IRValue:
        """The address of a word on the stack, which gets a value here."""
        with self.builder.goto_entry_block():
            made = self.table(1)
        self.put(made, 0, word)
        return made

    def shared(self, variable: ir.Value) -> IRValue:
        """The address of a global variable."""
        return self.number(self.builder.ptrtoint(variable, LONG))

    # Words that several threads read and write; all such accesses have one order

    def seen(self, address: IRValue) -> IRValue:
        """A word that other threads may write."""
        return self.number(self.builder.load_atomic(self._cell(address), "seq_cst", 8))

    def tell(self, address: IRValue, word: IRValue | int) -> None:
        """Write a word that other threads may read."""
        self.builder.store_atomic(self.number(word).value, self._cell(address), "seq_cst", 8)

    def atomic(self, operation: str, address: IRValue, word: IRValue | int) -> IRValue:
        """Change a word by "xchg" (replace), "add" or "sub"; the result is the word before."""
        return self.number(self.builder.atomic_rmw(operation, self._cell(address), self.number(word).value, "seq_cst"))

    def exchanged(self, address: IRValue, expected: IRValue | int, word: IRValue | int) -> IRValue:
        """Replace a word if it is the expected one; whether it was."""
        before, after = self.number(expected).value, self.number(word).value
        found = self.builder.cmpxchg(self._cell(address), before, after, "seq_cst")
        return IRValue(self.scalar, "b1", self.builder.extract_value(found, 1))

    # Calls

    def link(self, name: str) -> IRValue:
        """The address of what the table has under a name."""
        return self.shared(address_of(self.builder, name, CELL))

    def call(self, function: str | IRValue | ir.Function, *words: IRValue | int, of: str = "i64") -> IRValue:
        """Call a C function by its name or its address, or a function of this module, that returns an integer."""
        if isinstance(function, str):
            function = self.link(function)
        return IRValue(self.scalar, of, super().call(function, *words, of=TYPES[of])).to("i64")

    def new_array(self, nd: IRValue | int, dims: IRValue, number: IRValue) -> IRValue:
        """A new array of a dtype's number; 0 where there is no memory."""
        return self.call("PyArray_New", self.link("ndarray"), nd, dims, number, 0, 0, 0, 0, 0)

    @contextlib.contextmanager
    def without_lock(self) -> Iterator[None]:
        """A block during which other threads of Python may run."""
        state = self.call("PyEval_SaveThread")
        yield
        self.call("PyEval_RestoreThread", state)

    # Control flow

    @contextlib.contextmanager
    def forever(self) -> Iterator[Callable[[IRValue], None]]:
        """A loop without end; its block gets a function that leaves it where a condition holds."""
        begin, end = self.function.append_basic_block(), self.function.append_basic_block()

        def leave(condition: IRValue) -> None:
            following = self.function.append_basic_block()
            self.builder.cbranch(condition.value, end, following)
            self.builder.position_at_end(following)

        self.builder.branch(begin)
        self.builder.position_at_end(begin)
        yield leave
        self.builder.branch(begin)
        self.builder.position_at_end(end)

    def result(self, word: IRValue | int = 0) -> ir.Function:
        """Return a word; the function."""
        self.builder.ret(self.number(word).value)
        return self.function

    def result_if(self, condition: IRValue, word: IRValue | int = 0) -> None:
        """Return a word where a condition holds."""
        with self.when(condition):
            self.result(word)

    def result_object(self, name: str) -> None:
        """Return an object of the table."""
        found = self.link(name)
        self.call("Py_IncRef", found)
        self.result(found)

    def result_object_if(self, condition: IRValue, name: str = "None") -> None:
        """Return an object of the table where a condition holds."""
        with self.when(condition):
            self.result_object(name)


def fits(module: LinkedModule) -> ir.Function:
    """The function of a module that says whether an object is an array as a row of words describes it."""
    body = FunctionBody(module, "fits", 2)
    thing, row = body.parameters
    nd, dims, dtype, _, _, flags = (body.word(row, place) for place in range(len(ROW)))
    body.result_if(body.field(thing, "type") != body.link("ndarray"))
    body.result_if((body.field(thing, "flags") & flags) != flags)
    body.result_if((body.field(thing, "descr") != dtype) | (body.field(thing, "nd") != nd))
    own = body.field(thing, "dims")
    with body.loop(0, nd) as axis:
        body.result_if(body.word(own, axis) != body.word(dims, axis))
    return body.result(1)


def code(
    name: str, write: Callable[[LinkedModule], object], links: Mapping[str, int], *, plain: bool = False
) -> native.Code:
    """The code that a function writes, kept on the disk under a name; `links` are addresses besides Python's and NumPy's."""

    def text() -> str:
        module = LinkedModule()
        write(module)
        return module.finished()

    made = native.Code(native.kept(f"{name} {native.offsets()}", text, plain=plain))
    made.fill([links[each] if each in links else native.address(each) for each in made.names])
    return made


def method(name: str, doc: str, write: Callable[[LinkedModule], object], details: object = "") -> Any:
    """A built-in function of Python without its `self`: the public function of that name, which gets `self`, the address
    of an array of arguments, and their number. `details` tell apart functions of one name.

    None where the layout of Python's objects is not known.
    """
    if native.offsets() is None or cpython.WORD != 8:
        return None
    try:
        made = code(f"{name} {details}", write, {})
    except AttributeError:  # a C function that this Python does not have
        return None
    return cpython.method(made, name, doc)
