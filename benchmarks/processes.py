"""Programs of several libraries, measured in turns: each library runs in a process of its own, and waits asleep meanwhile.

In one process the threads of one library, which stay awake for a while after their work, would slow the other.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np


class Effort(NamedTuple):
    """How long to measure."""

    rounds: int
    seconds: float  # of one turn, at least


# A turn of 40 ms is longer than the time for which OpenBLAS's and OpenMP's idle threads stay awake.
FULL = Effort(rounds=15, seconds=0.04)
QUICK = Effort(rounds=3, seconds=0.004)


class Runs(Protocol):
    """What can be measured."""

    def turn(self, repetitions: int) -> float:
        """Seconds for so many steps."""

    def results(self) -> list[np.ndarray[Any, Any]]:
        """What one step gives."""


def nothing() -> None:
    """Prepare nothing: the program starts from its own tensors."""


class Program(NamedTuple):
    """A case in one library: `step` is timed, `prepare` makes its argument and is not."""

    step: Callable[[Any], Sequence[Any]]
    prepare: Callable[[], Any] = nothing

    def turn(self, repetitions: int) -> float:
        """Seconds for so many steps."""
        step, arguments = self.step, [self.prepare() for _ in range(repetitions)]
        start = perf_counter()
        for argument in arguments:
            step(argument)
        return perf_counter() - start

    def results(self) -> list[np.ndarray[Any, Any]]:
        """What one step gives, as arrays."""
        given = self.step(self.prepare())
        return [np.asarray(result.detach() if hasattr(result, "detach") else result) for result in given]


_written: dict[str, Program] = {}
"""The programs of the case that is measured; each process has its own."""


def _write(library: str, write: Callable[..., dict[str, Program]], arguments: Sequence[Any], keep: bool) -> list[str]:
    if not keep:
        _written.clear()
    made = write(importlib.import_module(library), *arguments)
    _written.update(made)
    return list(made)


def _call(name: str, method: str, arguments: Sequence[Any]) -> Any:
    return getattr(_written[name], method)(*arguments)


class Away(NamedTuple):
    """A program in another process."""

    call: Callable[..., Any]
    name: str

    def turn(self, repetitions: int) -> float:
        """Seconds for so many steps."""
        return float(self.call(_call, self.name, "turn", (repetitions,)))

    def results(self) -> list[np.ndarray[Any, Any]]:
        """What one step gives, as arrays."""
        return list(self.call(_call, self.name, "results", ()))


class Process:
    """The process of a library. What it is given to call are functions at the top of a module."""

    def __init__(self, library: str, environment: Mapping[str, str] = {}) -> None:
        self.library = library
        self.pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
        kept = dict(os.environ)
        os.environ.update(environment)  # which the process inherits when it begins
        self.pool.submit(nothing).result()
        os.environ.clear()
        os.environ.update(kept)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What the function returns there."""
        return self.pool.submit(function, *arguments).result()

    def programs(
        self, write: Callable[..., dict[str, Program]], *arguments: Any, keep: bool = False
    ) -> dict[str, Away]:
        """The programs that `write(library, *arguments)` makes there; those before are dropped, unless `keep` is true."""
        names = self.call(_write, self.library, write, arguments, keep)
        return {name: Away(self.call, name) for name in names}

    def end(self) -> None:
        """End it."""
        self.pool.shutdown()


def must_agree(name: str, programs: Mapping[str, Runs]) -> None:
    """Run every program three times and compare all results: three, because some cases carry state on."""
    for _ in range(3):
        first, *others = (program.results() for program in programs.values())
        for other in others:
            for mine, its in zip(first, other, strict=True):
                tolerance = 1e-5 * max(1, np.abs(its).max(initial=0))
                np.testing.assert_allclose(mine, its, rtol=1e-4, atol=tolerance, err_msg=name, strict=True)


def enough(programs: Mapping[str, Runs], seconds: float) -> int:
    """How many steps last so long in the faster library."""
    repetitions = 1
    while min(program.turn(repetitions) for program in programs.values()) < seconds:
        repetitions *= 2
    return repetitions


def in_turns(programs: Mapping[str, Runs], effort: Effort) -> dict[str, list[float]]:
    """Seconds per step of each program in each round."""
    repetitions = enough(programs, effort.seconds)
    times: dict[str, list[float]] = {name: [] for name in programs}
    order = list(programs)
    for _ in range(effort.rounds):
        for name in order:
            # Only the second of two turns counts: the first wakes this library's threads and fills the caches, while
            # the threads of the other library, which wait awake for more work, fall asleep.
            programs[name].turn(repetitions)
            times[name].append(programs[name].turn(repetitions) / repetitions)
        order.reverse()
    return times


def verdict(ok: bool) -> str:
    """The last column."""
    return "ok" if ok else "misses"
