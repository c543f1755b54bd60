"""Kernels of single operations: functions of a table of words and of a range of tasks, for arrays of any shape.

Their code is compiled once for each dtype and cached on disk. What depends on the shape is in the table: addresses, strides in
bytes, and offsets that Python has computed.
"""

from __future__ import annotations

import ctypes
import functools
from array import array
from collections.abc import Callable
from typing import Any, ClassVar

from ..mathematics.lanes import Target
from . import native, pool
from .memory import POINTER, SIZES, begun, count_up, least, long, part, word_of


class TaskEmitter:
    """Writes kernels: functions of a table of words and of the bounds of a range of tasks."""

    WORDS: ClassVar[dict[str, list[str]]] = {}
    """The words of each function's table; the method with its name writes one task, or one unit."""
    UNITS: ClassVar[str] = ""
    """The word with the number of units, of which each task does an equal part; none where tasks are not cut into units."""

    def __init__(self, module: Any, kind: str) -> None:
        self.module, self.kind, self.target, self.lanes = module, kind, Target.host(), lanes(kind)
        self.builder: Any = None
        self.task: Any = None
        self.given: dict[str, Any] = {}

    def emit(self) -> None:
        """Write all functions."""
        for name, words in self.WORDS.items():
            self.builder, told = begun(self.module, name, ["table"], ["begin", "end"])
            self.given = {word: self.word(told["table"], long(place)) for place, word in enumerate(words)}
            self.loop(told["begin"], told["end"], functools.partial(self._task, name))
            self.builder.ret_void()

    def _task(self, name: str, task: Any) -> None:
        self.task = task
        if not self.UNITS:
            self.unit(name, task)
            return
        begin, end = self.part(self.given[self.UNITS], task, self.given["tasks"])
        self.loop(begin, end, functools.partial(self.unit, name))

    def unit(self, name: str, unit: Any) -> None:
        """Write what a function does with one unit, or with a task that has none."""
        getattr(self, name)(unit)

    def loop(
        self, begin: Any, end: Any, inside: Callable[[Any], None], step: int = 1, carried: list[Any] | None = None
    ) -> None:
        """A loop over integers, with values carried from iteration to iteration."""
        count_up(self.builder, begin, end, inside, step=step, carried=carried)

    def least(self, a: Any, b: Any) -> Any:
        """The smaller of two numbers."""
        return least(self.builder, a, b)

    def sum(self, first: Any, *products: tuple[Any, Any]) -> Any:
        """A number plus products of pairs."""
        for a, b in products:
            first = self.builder.add(first, self.builder.mul(a, b))
        return first

    def bytes(self, count: Any) -> Any:
        """The size of elements in bytes."""
        return self.builder.mul(count, long(SIZES[self.kind]))

    def pointer(self, word: Any) -> Any:
        """A word as a pointer."""
        return self.builder.inttoptr(word, POINTER)

    def word(self, table: Any, place: Any) -> Any:
        """A word of a table."""
        return word_of(self.builder, table, place)

    def part(self, total: Any, number: Any, count: Any) -> tuple[Any, Any]:
        """The bounds of one of `count` nearly equal parts."""
        return part(self.builder, total, number, count)


class Functions:
    """The loaded kernels of an emitter for a kind of numbers: their words and their addresses."""

    def __init__(self, emitter: type[TaskEmitter], kind: str) -> None:
        self.code, self.words = native.made(emitter, kind), emitter.WORDS
        self.addresses = {name: self.code.address(name) for name in self.words}
        of = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self.alone = {name: of(address) for name, address in self.addresses.items()}
        self.share = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(pool.address("share"))


@native.once
def functions(emitter: Any, kind: str) -> Functions:
    """The kernels of an emitter for a kind of numbers, loaded once."""
    return Functions(emitter, kind)


class Call:
    """A kernel with some words bound, and the others given at each call; C-contiguous arrays stand for their addresses."""

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
        """Run all tasks, in threads if `shared`."""
        table = self.table[:]
        self._tell(table, words)
        address, functions = table.buffer_info()[0], self.functions
        if shared and tasks > 1:
            functions.share(functions.addresses[self.name], address, tasks)
        else:
            functions.alone[self.name](address, 0, tasks)


def lanes(kind: str) -> int:
    """The number of elements in a register."""
    return native.width() // SIZES[kind]
