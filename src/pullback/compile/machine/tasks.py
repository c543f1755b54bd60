"""Kernels of single operations: functions of a table of words and of a range of tasks, for arrays of any shape.

Their code is compiled once for each dtype and cached on disk. What depends on the shape is in the table: addresses, strides in
bytes, and offsets that Python has computed.
"""

from __future__ import annotations

import ctypes
import functools
from array import array
from typing import TYPE_CHECKING, ClassVar

from ..mathematics.lanes import SIZES, IRValue
from . import native, pool
from .writing import Writer

if TYPE_CHECKING:
    from typing import TypeAlias

    from llvmlite import ir

    from ..._core.typing import Array as NumpyArray

    Word: TypeAlias = int | NumpyArray


class Words:
    """The words of a table by their names."""

    def __init__(self, **words: IRValue) -> None:
        self.__dict__.update(words)

    def __getattr__(self, name: str) -> IRValue:
        raise AttributeError(f"the table has no word {name}")


class TaskEmitter(Writer):
    """Writes kernels: functions of a table of words and of the bounds of a range of tasks."""

    WORDS: ClassVar[dict[str, list[str]]] = {}
    """The words of each function's table; the method with its name writes one task, or one unit."""
    UNITS: ClassVar[dict[str, str]] = {}
    """The word with the number of units of a function, of which each task does an equal part; none where tasks have none."""

    task: IRValue
    given: Words

    def __init__(self, module: ir.Module, kind: str) -> None:
        super().__init__(None, kind, lanes(kind))
        self.module = module

    def emit(self) -> None:
        """Write all functions."""
        for name, words in self.WORDS.items():
            own = self.begin(self.module, name, ["table"], ["begin", "end"], "i64")
            self.given = Words(**{word: own.table.at(place).one() for place, word in enumerate(words)})
            with self.loop(own.begin, own.end) as self.task:
                self._task(name)
            self.end()

    def _task(self, name: str) -> None:
        if name not in self.UNITS:
            self.unit(name, self.task)
            return
        with self.loop(*self.part(getattr(self.given, self.UNITS[name]), self.task, self.given.tasks)) as unit:
            self.unit(name, unit)

    def unit(self, name: str, unit: IRValue) -> None:
        """Write what a function does with one unit, or with a task that has none."""
        getattr(self, name)(unit)


class Functions:
    """The loaded kernels of an emitter for a kind of numbers: their words and their addresses."""

    def __init__(self, emitter: type[TaskEmitter], kind: str) -> None:
        self.code, self.words = native.made(emitter, kind), emitter.WORDS
        self.addresses = {name: self.code.address(name) for name in self.words}
        of = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self.alone = {name: of(address) for name, address in self.addresses.items()}
        self.share = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(pool.address("share"))


@native.once
def functions(emitter: type[TaskEmitter], kind: str) -> Functions:
    """The kernels of an emitter for a kind of numbers, loaded once."""
    return Functions(emitter, kind)


class BoundKernel:
    """A kernel with some words bound, and the others given at each call; C-contiguous arrays stand for their addresses."""

    def __init__(self, emitter: type[TaskEmitter], kind: str, name: str, /, **words: Word) -> None:
        self.functions, self.name = functions(emitter, kind), name
        self.places = {word: place for place, word in enumerate(self.functions.words[name])}
        self.table, self.held = array("q", bytes(8 * len(self.places))), words
        self._tell(self.table, words)

    def number(self, word: str) -> int:
        """A number that is bound."""
        return self.table[self.places[word]]

    def _tell(self, table: array[int], words: dict[str, Word]) -> None:
        for word, value in words.items():
            if isinstance(value, int):
                table[self.places[word]] = value
                continue
            assert value.flags.c_contiguous, (self.name, word)
            table[self.places[word]] = native.data(value)

    def __call__(self, tasks: int, /, *, shared: bool, **words: Word) -> None:
        """Run all tasks, in threads if `shared`."""
        table = self.table[:]
        self._tell(table, words)
        address, functions = table.buffer_info()[0], self.functions
        if shared and tasks > 1:
            functions.share(functions.addresses[self.name], address, tasks)
        else:
            functions.alone[self.name](address, 0, tasks)


class BoundKernels:
    """The functions of an emitter, with some words bound; each is made ready when it is first called.

    Threads share the tasks where there are `several`.
    """

    def __init__(self, emitter: type[TaskEmitter], kind: str, tasks: int, several: int, **words: Word) -> None:
        self._of = functools.cache(functools.partial(BoundKernel, emitter, kind, tasks=tasks, **words))
        self.tasks, self._shared = tasks, tasks >= several

    def __call__(self, name: str, /, **words: Word) -> None:
        """Run all tasks of a function."""
        self._of(name)(self.tasks, shared=self._shared, **words)


def lanes(kind: str) -> int:
    """The number of elements in a register."""
    return native.width() // SIZES[kind]
