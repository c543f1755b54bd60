"""What runs a program: machine code where llvmlite is installed, and NumPy calls where it is not."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..extend import warn
from .holders import Holder, Row
from .passes import simplify
from .program import Array, Program
from .source import compile_source
from .state import State

Execute = Callable[..., list[Array]]


@functools.cache
def available() -> bool:
    """Whether there is machine code; if not, it is said once."""
    found = importlib.util.find_spec("llvmlite") is not None
    if not found:
        warn("compile: llvmlite is not installed, so programs run as NumPy calls: pip install 'pullback[compile]'")
    return found


class Machinery:
    """A program made ready: simplified, and with something that runs it."""

    def __init__(self, program: Program, *, fuse: bool = True) -> None:
        self.recorded = program
        self.executable: Any = None
        with _collecting_later():
            self.program = _decided(simplify(program, fuse=fuse))
            self.execute: Execute = self.ready(fuse=fuse)

    def ready(self, *, fuse: bool) -> Execute:
        """What runs the program."""
        return self._made() if fuse and available() else _with_numpy(self.program)

    def _made(self) -> Execute:
        """Machine code; NumPy calls where that fails, which is a defect, and is told."""
        try:
            return self._with_code()
        except Exception as error:  # noqa: BLE001  # whatever it is, the program has another form
            warn(f"compile: no machine code, the program runs as NumPy calls: {type(error).__name__}: {error}")
            return _with_numpy(self.program)

    def _with_code(self) -> Execute:
        """Machine code, from the disk if it has been made before."""
        program = import_module("pullback.compile.machine.stepping").with_loops(self.program)
        executable: Execute = import_module("pullback.compile.machine.executable").stored(program, of=self.program)
        self.executable = executable
        return executable

    def watch(self, state: State) -> tuple[Any, Sequence[Holder]]:
        """What looks at a state by machine code, or None, and the holders that are left for Python."""
        if self.executable is None:
            return None, state.holders
        looker, rest = import_module("pullback.compile.machine.watching").watch(state.holders, state.renew)
        return looker, rest

    def look(self, rows: Sequence[Row], arguments: Sequence[object] = ()) -> Any:
        """A table that says by machine code whether all is as rows expect; None where only Python can."""
        if self.executable is None or not rows:
            return None
        return import_module("pullback.compile.machine.watching").look(rows, arguments)

    def together(self, tables: Sequence[Any]) -> Callable[..., bool]:
        """What says whether all is as some tables expect."""
        seen: Callable[..., bool] = import_module("pullback.compile.machine.watching").together(tables)
        return seen


@contextlib.contextmanager
def _collecting_later() -> Iterator[None]:
    """Without the garbage collector, which looks through all steps of a long program again and again: a third of the time."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _decided(program: Program) -> Program:
    """The program without guards that hold whatever it is given."""
    known = program.constants
    left = [
        (value, expected) for value, expected in program.guards if value not in known or known[value].item() != expected
    ]
    return program.changed(guards=tuple(left))


def _with_numpy(program: Program) -> Execute:
    """NumPy calls, one for each equation; what is written is written at the end."""
    compute = compile_source(program)
    count, places = len(program.outputs), [place for place, _ in program.writes]

    def execute(*arrays: Array) -> list[Array]:
        results = compute(*arrays)
        outputs: list[Array] = []
        for result in results[:count]:
            outputs.append(_own(result, (*arrays, *outputs)))
        for place, result in zip(places, [result.copy() for result in results[count:]], strict=True):
            np.copyto(arrays[place], result)
        return outputs

    return execute


def _own(result: Array, arrays: tuple[Array, ...]) -> Array:
    """A result in memory of its own, in the order of its axes."""
    shared = result.base is not None or any(result is array for array in arrays)
    return result.copy() if shared or not result.flags.c_contiguous else result
