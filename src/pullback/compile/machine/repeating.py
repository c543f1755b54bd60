"""Loops whose step is machine code: the step's code is called again and again by a few lines of machine code."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..loops import SCAN, Scan
from ..passes import simplify
from ..program import Array, DepartedError, Equation, Program
from . import native
from .executable import Executable, _Run
from .fusion import kind

DRIVER = """
define i32 @drive(ptr %run, ptr %table, i64 %count, ptr %moves, i64 %moving, ptr %swaps, i64 %swapping) {
top:
  br label %step
step:
  %t = phi i64 [ 0, %top ], [ %t_next, %swapped ]
  %more = icmp ult i64 %t, %count
  br i1 %more, label %call, label %done
call:
  %status = call i32 %run(ptr %table)
  %well = icmp eq i32 %status, 0
  br i1 %well, label %move, label %failed
move:
  %m = phi i64 [ 0, %call ], [ %m_next, %moved ]
  %m_more = icmp ult i64 %m, %moving
  br i1 %m_more, label %moved, label %swap
moved:
  %m_twice = shl i64 %m, 1
  %m_at = getelementptr i64, ptr %moves, i64 %m_twice
  %m_slot = load i64, ptr %m_at
  %m_step_at = getelementptr i64, ptr %m_at, i64 1
  %m_step = load i64, ptr %m_step_at
  %m_cell = getelementptr i64, ptr %table, i64 %m_slot
  %m_old = load i64, ptr %m_cell
  %m_new = add i64 %m_old, %m_step
  store i64 %m_new, ptr %m_cell
  %m_next = add i64 %m, 1
  br label %move
swap:
  %s = phi i64 [ 0, %move ], [ %s_next, %exchanged ]
  %s_more = icmp ult i64 %s, %swapping
  br i1 %s_more, label %exchanged, label %swapped
exchanged:
  %s_twice = shl i64 %s, 1
  %s_at = getelementptr i64, ptr %swaps, i64 %s_twice
  %a_slot = load i64, ptr %s_at
  %b_at = getelementptr i64, ptr %s_at, i64 1
  %b_slot = load i64, ptr %b_at
  %a_cell = getelementptr i64, ptr %table, i64 %a_slot
  %b_cell = getelementptr i64, ptr %table, i64 %b_slot
  %a = load i64, ptr %a_cell
  %b = load i64, ptr %b_cell
  store i64 %b, ptr %a_cell
  store i64 %a, ptr %b_cell
  %s_next = add i64 %s, 1
  br label %swap
swapped:
  %t_next = add i64 %t, 1
  br label %step
failed:
  ret i32 %status
done:
  ret i32 0
}
"""


@functools.cache
def driver() -> Any:
    """The function that repeats a step, and the code that holds it."""
    code = native.Code(native.kept(DRIVER), [])
    words = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64] + [ctypes.c_void_p, ctypes.c_int64] * 2
    return ctypes.CFUNCTYPE(ctypes.c_int, *words)(code.address("drive")), code


def drive(entry: int, table: Array, count: int, moves: list[tuple[int, int]], swaps: list[tuple[int, int]]) -> int:
    """Run a step so often; after each, addresses in its table move by bytes, and pairs of them are exchanged."""
    words = [np.array(pairs or [(0, 0)], np.int64) for pairs in (moves, swaps)]
    found: int = driver()[0](
        entry, table.ctypes.data, count, words[0].ctypes.data, len(moves), words[1].ctypes.data, len(swaps)
    )
    return found


class Repeated:
    """A scan that is ready to run: what stands in the place of its primitive."""

    name = SCAN.name
    kind = SCAN.kind

    def __init__(self, loop: Scan) -> None:
        self.loop = loop
        self.step = Executable(with_loops(simplify(loop.body)), None)
        entry = self.step._native.address("run") if not self.step._assembly.opaque else None
        self.forward: Callable[..., Any] = self._called if entry is None else functools.partial(self._driven, entry)

    def _prepared(self, arrays: tuple[Array, ...]) -> tuple[list[Array], list[Array], list[Array], list[Array]]:
        """The carries, the columns and the shared inputs, all contiguous, and room for what each step gives."""
        loop = self.loop
        given = [np.asarray(array, order="C") for array in arrays]
        carries = [np.array(carry) for carry in given[: loop.carries]]
        kept = [np.empty((loop.length, *v.shape), v.dtype) for v in loop.body.outputs[loop.carries :]]
        return carries, given[loop.carries : loop.carries + loop.columns], given[loop.carries + loop.columns :], kept

    def _called(self, *arrays: Array, loop: Scan) -> tuple[Array, ...]:
        """Step by step, for a step that is not machine code alone."""
        carries, columns, shared, kept = self._prepared(arrays)
        for number in reversed(range(loop.length)) if loop.reverse else range(loop.length):
            results = self.step(*carries, *[column[number, ...] for column in columns], *shared)
            carries = results[: loop.carries]
            for stack, result in zip(kept, results[loop.carries :], strict=True):
                stack[number] = result
        return (*carries, *kept)

    def _driven(self, entry: int, *arrays: Array, loop: Scan) -> tuple[Array, ...]:
        """All steps by one call of machine code."""
        carries, columns, shared, kept = self._prepared(arrays)
        first = loop.length - 1 if loop.reverse else 0
        sign = -1 if loop.reverse else 1
        run = _Run(self.step, [*carries, *[column[first, ...] for column in columns], *shared])
        inputs, outputs = len(self.step.program.inputs), list(range(loop.carries, len(loop.body.outputs)))
        moves = [(loop.carries + i, sign * (column.nbytes // loop.length)) for i, column in enumerate(columns)]
        moves += [(inputs + i, sign * (stack.nbytes // loop.length)) for i, stack in zip(outputs, kept, strict=True)]
        for i, stack in zip(outputs, kept, strict=True):
            run.table[inputs + i] = stack[first, ...].ctypes.data
        others = [np.empty_like(carry) for carry in carries]
        for i, other in enumerate(others):
            run.table[inputs + i] = other.ctypes.data
        swaps = [(i, inputs + i) for i in range(loop.carries)]
        status = drive(entry, run.table, loop.length, moves, swaps)
        self.step._arenas.append(run.arena)
        if status:
            raise DepartedError("a step of a loop found a value that it cannot go on with")
        return (*(carries if loop.length % 2 == 0 else others), *kept)


def with_loops(program: Program) -> Program:
    """The program with scans whose steps are machine code."""
    return program.with_(equations=tuple(map(_with_loop, program.equations)))


def _with_loop(equation: Equation) -> Equation:
    if equation.primitive is not SCAN or not equation.params["loop"].length or kind(equation) == "steps":
        return equation
    ready: Any = Repeated(equation.params["loop"])
    return Equation(ready, equation.inputs, equation.params, equation.outputs, equation.site)
