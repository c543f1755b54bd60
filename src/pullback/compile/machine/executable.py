"""Executables: programs as machine code, ready to be called."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..._core.machine import budget
from ..._core.modes import quiet
from .. import store
from ..costs import Work
from ..program import Array, DepartedError, Program, Value, run
from . import native, templates
from .assembly import HEAVY, Assembly
from .callables import CONTIGUOUS, WRITABLE
from .clocks import Clock
from .entry import Block, builtin
from .fusion import Opaque, Step
from .loading import loaded
from .lowering import lowered
from .modules import ModuleWriter
from .works import works
from .zeros import thinned


class Executable:
    """A compiled program: called with arrays, it returns the outputs and performs the program's writes."""

    def __init__(self, program: Program, code: bytes | None) -> None:
        self.program = program
        self._assembled: Assembly | None = None
        self.template: templates.Template | None = None
        self.parameters: Array = np.zeros(0, np.int64)
        self.fresh: bytes | None = None  # code that is not on disk yet
        self._native = self._compiled() if code is None else loaded(code)
        self.held = [np.ascontiguousarray(array) for array in self._assembly.constants.values()]
        self._entry: Any = None
        self.called = self._made = False
        self._functions: dict[str, Any] = {}
        self._arenas: list[Array] = []

    def _compiled(self) -> native.Code:
        """The code of a template, or its own."""
        text, plain = _text(self._assembly), self._assembly.straight
        found = templates.shared(text, plain=plain)
        if found is None:
            self.fresh = native.compiled(text, plain=plain)
            return loaded(self.fresh)
        self.template, self.parameters = found
        return self.template.code

    @property
    def _assembly(self) -> Assembly:
        """The steps and their memory: half of what a record takes. Once there is a built-in function, reports make them anew."""
        if self._assembled is None:
            self._assembled = Assembly(lowered(thinned(self.program)))
        return self._assembled

    # Calls

    def __call__(self, *arrays: Array) -> list[Array]:
        """Run the program: the outputs; its writes go to the given arrays.

        Raises
        ------
        DepartedError
            If a guard finds another value than the recorded one; nothing has been written then.
        ValueError
            If an array has another shape or dtype than the program's input.
        """
        entry, self.called = self.builtin if self.called else None, True
        if entry is not None:
            made = entry(*arrays)
            if type(made) is list:
                return made
            if made is not None:
                return self._departed(made, arrays)
        return self._run_in_steps(arrays)

    def _run_plainly(self, arrays: tuple[Array, ...]) -> list[Array]:
        made = run(self.program, arrays)
        count = len(self.program.outputs)
        kept = [np.array(value) for value in made[count:]]
        outputs = [np.array(value) for value in made[:count]]
        for (place, _), value in zip(self.program.writes, kept, strict=True):
            arrays[place][...] = value
        return outputs

    def _departed(self, status: int, arrays: tuple[Array, ...]) -> list[Array]:
        """Raise the error of a failed check: a guard's, or that of an index out of range."""
        if status <= len(self.program.guards):
            _, expected = self.program.guards[status - 1]
            raise DepartedError(
                f"a guarded value is not {expected} any more, which it was when the program was recorded", status - 1
            )
        return self._run_plainly(arrays)

    def _run_in_steps(self, arrays: tuple[Array, ...]) -> list[Array]:
        """Run step by step: programs with Python operations, and arrays that the built-in function does not accept."""
        given = self._given(arrays)
        run_of = _Run(self, given)
        outputs = run_of.run()
        for place, _ in self.program.writes:
            if given[place] is not arrays[place]:
                arrays[place][...] = given[place]
        return outputs

    def _given(self, arrays: tuple[Array, ...]) -> list[Array]:
        """The inputs as contiguous arrays; written ones are copied if they share memory with others."""
        if len(arrays) != len(self.program.inputs):
            raise ValueError(f"the program takes {len(self.program.inputs)} arrays, but got {len(arrays)}")
        given = []
        for number, (array, value) in enumerate(zip(arrays, self.program.inputs, strict=True)):
            if array.shape != value.shape or array.dtype != value.dtype:
                raise ValueError(
                    f"input {number} of the program is {value.dtype}{list(value.shape)}, but got "
                    f"{array.dtype}{list(array.shape)}"
                )
            plain = array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative
            given.append(
                np.asarray(array) if plain else np.array(array, value.dtype, order="C")
            )  # g may be a NumPy scalar
        shared = _overlapping(given)
        for place, _ in self.program.writes:
            if place in shared:
                given[place] = given[place].copy()
        return given

    # The built-in function

    @property
    def builtin(self) -> Any:
        """The built-in function that runs the program (see `entry`); None if some steps run in Python.

        It is made for the second call: many programs run once, and its code takes as long to compile as theirs.
        """
        if not self._made:
            with native.turn:  # by one thread, and in a lock that a fork waits for, unlike that of `cached_property`
                self._entry, self._made = self._builtin(), True
        return self._entry

    def _builtin(self) -> Any:
        if self._made or self._assembly.opaque:  # by another thread, meanwhile
            return self._entry
        assembly, program = self._assembly, self._assembly.program
        self._arenas.clear()
        self._block = block = Block(
            inputs=len(program.inputs),
            outputs=len(program.outputs),
            run=self._native.address("run"),
            parameters=native.data(self.parameters),
            arena=assembly.memory.arena + 64 if assembly.memory.arena else 0,
            heavy=int(assembly.cost > HEAVY),
            slots=assembly.memory.slots,
            constants=len(self.held),
            writes=len(program.writes),
        )
        written = {place for place, _ in program.writes}
        rows: list[int] = []
        for number, value in enumerate((*program.inputs, *program.outputs)):
            flags = CONTIGUOUS | (WRITABLE if number in written else 0)
            kind = np.dtype(value.dtype)
            block.kept.append(kind)
            rows += [len(value.shape), block.array(list(value.shape)), id(kind), kind.num, value.nbytes, flags]
        block.set("arrays", block.array(rows))
        block.set("constant_table", block.array([held.ctypes.data for held in self.held]))
        block.set("write_table", block.array(sorted(written)))
        made = builtin(block)
        if made is not None:
            self._assembled = None
        return made

    def function(self, name: str) -> Any:
        """A function of the code, called by ctypes, which releases the interpreter's lock."""
        found = self._functions.get(name)
        if found is None:
            result = ctypes.c_int if name.startswith("run") else None
            kind = ctypes.CFUNCTYPE(result, ctypes.c_void_p)
            found = self._functions[name] = kind(self._native.address(name))
        return found

    # Reports

    @property
    def llvm(self) -> str:
        """The code as LLVM's text."""
        return _text(self._assembly)

    @property
    def kernels(self) -> list[Work]:
        """The steps."""
        return works(self._assembly, {})

    def profile(self, *arrays: Array) -> list[Work]:
        """The steps with their seconds: of the quickest of some runs on copies of arrays, by code that reads the clock."""
        assembly = self._assembly
        clock = Clock(len(assembly.pieces))
        timed = Executable.__new__(Executable)
        code = loaded(native.compiled(_text(assembly, clock=clock)))
        timed.__dict__.update(self.__dict__, _native=code, _functions={}, _arenas=[])
        given = [array.copy() for array in self._given(arrays)]
        times = clock.least(lambda: _Run(timed, given).run())
        return works(assembly, {piece.name: each for piece, each in zip(assembly.pieces, times, strict=True)})

    @property
    def peak(self) -> int:
        """The temporary memory in bytes, without inputs and outputs."""
        return self._assembly.memory.arena


def _text(assembly: Assembly, *, clock: Clock | None = None) -> str:
    with native.turn:
        return ModuleWriter(assembly, clock=clock).write()


def _overlapping(arrays: list[Array]) -> set[int]:
    """The positions of the contiguous arrays that overlap another one in memory."""
    starts = [native.data(array) for array in arrays]
    found: set[int] = set()
    before, end = -1, 0  # of those seen, the one that ends last
    for number in sorted(range(len(arrays)), key=starts.__getitem__):
        size = arrays[number].nbytes
        if size and starts[number] < end:
            found |= {before, number}
        if starts[number] + size > end:
            before, end = number, starts[number] + size
    return found


class _Run:
    """One run, step by step: the table of addresses and the arrays that own its memory."""

    def __init__(self, executable: Executable, given: list[Array]) -> None:
        self.executable = executable
        self.assembly = executable._assembly
        program, memory = self.assembly.program, self.assembly.memory
        self.given = given
        whole = np.zeros(memory.slots + 2, np.int64)
        whole[0] = native.data(executable.parameters)
        self.table = whole[1:]
        self.address = native.data(self.table)
        self.arrays: dict[Value, Array] = dict(zip(program.inputs, given, strict=True))
        self.arrays |= program.constants
        opaque = {v for p in self.assembly.pieces if isinstance(p.step, Opaque) for v in p.step.equation.outputs}
        for value in program.outputs:
            if value not in opaque:
                self.arrays[value] = np.empty(value.shape, value.dtype)
        self.arena = executable._arenas.pop() if executable._arenas else np.empty(memory.arena + 64, np.uint8)
        self.start = -native.data(self.arena) % 64
        arena = len(program.inputs) + len(program.outputs)
        self.table[: len(given)] = [native.data(array) for array in given]
        for value in program.outputs:
            if value not in opaque:
                self.table[memory.places[value][0]] = native.data(self.arrays[value])
        self.table[arena] = native.data(self.arena) + self.start
        self.table[arena + 1 : arena + 1 + len(executable.held)] = [native.data(held) for held in executable.held]

    def run(self) -> list[Array]:
        """The outputs, after the writes."""
        executable = self.executable
        status = 0
        for stage in self.assembly.stages:
            if stage.before >= 0:
                self._forward(self.assembly.pieces[stage.before].step)
            status = int(executable.function(stage.name)(self.address))
            if status:
                break
        executable._arenas.append(self.arena)
        if status:
            return executable._departed(status, tuple(self.given))
        return [self.arrays[value] for value in self.assembly.program.outputs]

    def _forward(self, step: Step) -> None:
        """An operation that runs as its forward function."""
        assert isinstance(step, Opaque)
        equation, places = step.equation, self.assembly.memory.places
        made = quiet.run(equation.primitive.forward, *[self._array(x) for x in equation.inputs], **equation.params)
        for value, array in zip(equation.outputs, made if type(made) is tuple else (made,), strict=True):
            held = np.asarray(array, order="C")
            if not held.flags.owndata or any(held is other for other in self.given):
                held = held.copy()
            self.arrays[value] = held
            self.table[places[value][0]] = native.data(held)

    def _array(self, value: Value) -> Array:
        found = self.arrays.get(value)
        if found is None:
            slot, offset = self.assembly.memory.places[value]
            if slot < len(self.given):
                return self.given[slot]
            found = np.ndarray(value.shape, value.dtype, self.arena, self.start + offset)
        return found


def build(program: Program) -> Executable:
    """A program as machine code, which will be called more than once."""
    made = Executable(program, None)
    made.called = True
    return made


def stored(program: Program, *, of: Program) -> Executable:
    """A program as machine code, from the cache on disk if it is there; `of` identifies it."""
    key = store.digest(of, budget.usable()) if store.directory() else None  # which decides what convolutions become
    executable = Executable(program, store.get(key))
    if executable.fresh is not None:
        store.put(key, executable.fresh)
        executable.fresh = None
    return executable
