"""Functions of machine code that do a range of tasks, told by a table of words: single operations on arrays of any shape.

Their code is made once for a kind of numbers and kept on the disk. What differs between shapes is in the table:
addresses, steps in bytes, and offsets that Python has found out.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable
from typing import Any, ClassVar

from ..mathematics.lanes import Target
from . import native, pool
from .memory import POINTER, SIZES, begun, count_up, least, long, part, word_of


class TaskEmitter:
    """Writes functions of a table of words, and of the first task and the one after the last."""

    WORDS: ClassVar[dict[str, list[str]]] = {}
    """The words that each function is told; the method of its name writes one task."""

    def __init__(self, module: Any, kind: str) -> None:
        self.module, self.kind, self.target, self.lanes = module, kind, Target.host(), lanes(kind)
        self.builder: Any = None
        self.given: dict[str, Any] = {}

    def emit(self) -> None:
        """Write all functions."""
        for name, words in self.WORDS.items():
            self.builder, told = begun(self.module, name, ["table"], ["begin", "end"])
            self.given = {word: self.word(told["table"], long(place)) for place, word in enumerate(words)}
            self.loop(told["begin"], told["end"], getattr(self, name))
            self.builder.ret_void()

    def loop(
        self, begin: Any, end: Any, inside: Callable[[Any], None], step: int = 1, carried: list[Any] | None = None
    ) -> None:
        """A loop over whole numbers, which may carry values."""
        count_up(self.builder, begin, end, inside, step=step, carried=carried)

    def least(self, a: Any, b: Any) -> Any:
        """The smaller of two numbers."""
        return least(self.builder, a, b)

    def sum(self, first: Any, *products: tuple[Any, Any]) -> Any:
        """A number plus products of two."""
        for a, b in products:
            first = self.builder.add(first, self.builder.mul(a, b))
        return first

    def bytes(self, count: Any) -> Any:
        """How many bytes so many elements have."""
        return self.builder.mul(count, long(SIZES[self.kind]))

    def pointer(self, word: Any) -> Any:
        """An address that is known as a number."""
        return self.builder.inttoptr(word, POINTER)

    def word(self, table: Any, place: Any) -> Any:
        """A word of a table."""
        return word_of(self.builder, table, place)

    def part(self, total: Any, number: Any, count: Any) -> tuple[Any, Any]:
        """Where one of so many parts begins and ends."""
        return part(self.builder, total, number, count)


class Functions:
    """The functions of an emitter for a kind of numbers: what they are told, and where they are."""

    def __init__(self, emitter: type[TaskEmitter], kind: str) -> None:
        self.code, self.words = native.made(emitter, kind), emitter.WORDS
        self.addresses = {name: self.code.address(name) for name in self.words}
        of = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self.alone = {name: of(address) for name, address in self.addresses.items()}
        self.share = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(pool.address("share"))


@native.once
def functions(emitter: Any, kind: str) -> Functions:
    """The functions of an emitter for a kind of numbers, made once."""
    return Functions(emitter, kind)


class Call:
    """A function that is told some words once, and the others at each call; of contiguous arrays it is told where they lie."""

    def __init__(self, emitter: Any, kind: str, name: str, **words: Any) -> None:
        self.functions, self.name = functions(emitter, kind), name
        self.places = {word: place for place, word in enumerate(self.functions.words[name])}
        self.table, self.held = array("q", bytes(8 * len(self.places))), words
        self._tell(self.table, words)

    def _tell(self, table: array[int], words: dict[str, Any]) -> None:
        for word, value in words.items():
            if type(value) is not int:
                assert value.flags.c_contiguous, (self.name, word)
                value = native.data(value)  # noqa: PLW2901
            table[self.places[word]] = value

    def __call__(self, tasks: int, /, *, shared: bool, **words: Any) -> None:
        """Do all tasks, with threads or without."""
        table = self.table[:]
        self._tell(table, words)
        address, functions = table.buffer_info()[0], self.functions
        if shared and tasks > 1:
            functions.share(functions.addresses[self.name], address, tasks)
        else:
            functions.alone[self.name](address, 0, tasks)


def lanes(kind: str) -> int:
    """Numbers in a register."""
    return native.width() // SIZES[kind]
