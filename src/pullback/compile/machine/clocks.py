"""The clock of a profile: code that writes down the time after each step, and what follows from many runs of it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from llvmlite import ir

from .. import cpython
from ..program import Array
from .llvm import LONG, POINTER, long

FEWEST, MOST, SECONDS = 5, 100, 0.2
"""Runs of a profile, the first of which does not count, and the time after which there are no more."""


class Clock:
    """A table of times: one before the first step of a program and one after each, besides one that says what asking takes."""

    def __init__(self, count: int) -> None:
        self.times = np.zeros(count + 2, np.int64)
        self.function, self.returns = cpython.clock()

    def emit(self, builder: ir.IRBuilder, step: int) -> None:
        """Write code that notes the time after a step; before the first one twice."""
        for place in (0, 1) if step < 0 else (step + 2,):
            address = builder.inttoptr(long(self.times[place:].ctypes.data), POINTER)
            function = builder.inttoptr(long(self.function), ir.FunctionType(LONG, [POINTER]).as_pointer())
            found = builder.call(function, [address])
            if self.returns:
                builder.store(found, builder.bitcast(address, LONG.as_pointer()))

    def least(self, run: Callable[[], object]) -> list[float]:
        """The seconds of each step, in that of some runs which took least: so they add up to what a run takes."""
        run()
        found: list[Array] = []
        begun = time.perf_counter()
        while len(found) < FEWEST or (len(found) < MOST and time.perf_counter() - begun < SECONDS):
            run()
            found.append(np.diff(self.times))
        asking = int(np.min(found, axis=0)[0])
        steps = min(found, key=np.sum)[1:].tolist()
        return [max(each - asking, 1) * 1e-9 for each in steps]
