"""Repeats: stretches of a program that are the steps of a loop, one after another, and what each step takes from where.

A loop of Python is recorded step by step. Its steps have the same operations on the same shapes, so equal sequences of
equations lie one period apart. Whether they are steps is decided by their operands. Values are numbered in the order in
which they are made; an operand of a step then is, from step to step, the same number (all steps share it), a number that
grows by as many values as a step makes (it is made by this step, or by one a few steps before), or a value from before
the loop. Numbers lie in a table with a row for each step, so all steps are compared at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import keys
from ..program import LOOPS, Equation, Program, Value, effectful

Numbers = np.ndarray[Any, np.dtype[Any]]

STEPS = 4
"""The fewest steps of a loop."""
SAVED = 64
"""The fewest equations that a loop saves."""
FARTHEST = 4
"""How many steps before a value may be made that a step uses."""
WINDOW = 8
"""Equations that are compared at once to find periods."""
PERIODS = 8
"""How many periods are tried."""
OUTSIDE = -1
"""In the place of a distance: the operand is from before the loop."""


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """Steps of a loop: the equations from `start` on, in `count` steps of `period` equations.

    `operands` has a row of numbers of values for each step. `distance` says of each column how many steps before its values
    are made, or OUTSIDE. The first values that a step makes are numbered `base`, `base + made`, and so on. A step may be
    `several` steps of what was found.
    """

    start: int
    count: int
    period: int
    operands: Numbers
    distance: Numbers
    base: int
    made: int
    several: int = 1

    @property
    def stop(self) -> int:
        """The equation after the last step."""
        return self.start + self.count * self.period

    @property
    def worthwhile(self) -> bool:
        """Whether a loop saves enough."""
        return self.count >= STEPS and (self.count - 1) * self.period >= SAVED

    def part(self, start: int, stop: int) -> Repeat:
        """Some of the steps."""
        return Repeat(
            self.start + start * self.period, stop - start, self.period, self.operands[start:stop], self.distance,
            self.base + start * self.made, self.made, self.several,
        )  # fmt: skip

    def taken_together(self, several: int) -> Repeat:
        """The same with several steps in one; some are left at the end."""
        count = self.count // several
        width = self.operands.shape[1]
        place = np.repeat(np.arange(several), width)
        distance = np.tile(self.distance, several)
        distance = np.where(distance == OUTSIDE, OUTSIDE, np.maximum(0, -((place - distance) // several)))
        operands = self.operands[: count * several].reshape(count, several * width)
        return Repeat(
            self.start, count, self.period * several, operands, distance, self.base, self.made * several,
            self.several * several,
        )  # fmt: skip


class Numbering:
    """The values of a program by numbers: inputs, constants, and what equations make, in order."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values: list[Value] = [*program.inputs, *program.constants]
        number = {value: i for i, value in enumerate(self.values)}
        operands: list[int] = []
        self.first_operand, self.first_output = [0], [len(number)]
        self.makers: list[int] = [OUTSIDE] * len(number)
        for place, equation in enumerate(program.equations):
            operands += [number[value] for value in equation.inputs]
            for value in equation.outputs:
                number[value] = len(number)
            self.values += equation.outputs
            self.makers += [place] * len(equation.outputs)
            self.first_operand.append(len(operands))
            self.first_output.append(len(number))
        self.number = number
        self.operands = np.array(operands, np.int64)

    def inputs(self, place: int) -> list[int]:
        """The numbers of an equation's inputs."""
        found: list[int] = self.operands[self.first_operand[place] : self.first_operand[place + 1]].tolist()
        return found

    def maker(self, number: int) -> Equation | None:
        """The equation that makes a value."""
        place = self.makers[number]
        return None if place == OUTSIDE else self.program.equations[place]


def opened(index: Any) -> Hashable:
    """The key of an index in which numbers may count: integers, and where slices begin."""
    return tuple([_opened(entry) for entry in index]) if type(index) is tuple else _opened(index)


def _opened(entry: Any) -> Hashable:
    if type(entry) is int:
        return int
    if type(entry) is slice and type(entry.start) is type(entry.stop) is int:
        return slice, entry.stop - entry.start, keys.of_entry(entry.step)
    return keys.of_entry(entry)


def _metadata(equation: Equation) -> Hashable:
    if equation.primitive.name == "getitem":
        return opened(equation.params["index"])
    return keys.of_metadata(equation.params)


def kinds(program: Program) -> Numbers:
    """A number for each equation, which those have in common that may be the same in different steps."""
    known: dict[Hashable, int] = {}
    found = np.empty(len(program.equations), np.int64)
    for place, equation in enumerate(program.equations):
        if equation.primitive.name in LOOPS or effectful(equation):
            found[place] = -1 - place  # equal to no other
            continue
        shapes = tuple([(value.shape, value.dtype.char) for value in (*equation.inputs, *equation.outputs)])
        key = (id(equation.primitive), _metadata(equation), len(equation.inputs), shapes)
        found[place] = known.setdefault(key, len(known))
    return found


def periods(found: Numbers) -> list[int]:
    """Candidates for the number of equations in a step: how far apart equal sequences lie, the most frequent first."""
    count = len(found) - WINDOW + 1
    if count < 2 or len(set(found.tolist())) > len(found) * 3 // 4:
        return []
    sums = np.zeros(count, np.uint64)
    for i in range(WINDOW):
        sums = sums * np.uint64(1000003) + found[i : i + count].astype(np.uint64)
    order = np.argsort(sums, kind="stable")
    apart = np.diff(order)[sums[order[1:]] == sums[order[:-1]]]
    return [period for period, _ in Counter(apart.tolist()).most_common(PERIODS)]


def stretches(found: Numbers, period: int) -> Iterator[tuple[int, int]]:
    """From where to where equations are like those one period later."""
    same = np.concatenate(([0], (found[period:] == found[:-period]).astype(np.int8), [0]))
    ends = np.flatnonzero(np.diff(same))
    for start, stop in zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True):
        if stop - start >= (STEPS - 1) * period:
            yield start, stop + period


def candidates(found: Numbers) -> list[tuple[int, int, int, int]]:
    """Where loops may be: lengths, from where to where, and periods."""
    spans = [(stop - start, start, stop, each) for each in periods(found) for start, stop in stretches(found, each)]
    return [span for span in spans if span[0] - span[3] >= SAVED]


def repeats(numbering: Numbering, waiting: list[tuple[int, int, int, int]]) -> list[Repeat]:
    """The loops of a program, of candidates, which do not overlap, in their order."""
    waiting = sorted(waiting, key=lambda one: (one[0], -one[3]))
    free = np.ones(len(numbering.program.equations), np.int8)
    chosen: list[Repeat] = []
    while waiting:
        _, start, stop, period = waiting.pop()
        if (span := _longest(free, start, stop)) is None or (span[1] - span[0]) // period < STEPS:
            continue
        repeat = _steady(numbering, *span, period)
        if repeat is None:
            continue
        if repeat.worthwhile:
            chosen.append(repeat)
            free[repeat.start : repeat.stop] = 0
        for rest in ((span[0], repeat.start), (repeat.stop, span[1])):
            if rest[1] - rest[0] >= max(STEPS * period, SAVED):
                waiting.append((0, *rest, period))
    return sorted(chosen, key=lambda repeat: repeat.start)


def _longest(free: Numbers, start: int, stop: int) -> tuple[int, int] | None:
    """The longest part of a stretch that belongs to no loop yet."""
    part = free[start:stop]
    if part.all():
        return start, stop
    ends = start + np.flatnonzero(np.diff(np.concatenate(([0], part, [0]))))
    return max(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True), key=lambda one: one[1] - one[0], default=None)


class _Table:
    """The operands of a stretch: a row of numbers for each step, and the same counted from what the step makes."""

    def __init__(self, numbering: Numbering, start: int, stop: int, period: int) -> None:
        self.count = (stop - start) // period
        first, width = numbering.first_operand[start], numbering.first_operand[start + period]
        width -= first
        self.start, self.period = start, period
        self.base = numbering.first_output[start]
        self.made = numbering.first_output[start + period] - self.base
        self.operands = numbering.operands[first : first + self.count * width].reshape(self.count, width)
        self.relative = self.operands - self.begins(np.arange(self.count))[:, None]

    def begins(self, step: Any) -> Any:
        """The number of the first value that a step makes."""
        return self.base + self.made * step


def _steady(numbering: Numbering, start: int, stop: int, period: int) -> Repeat | None:
    """The longest run of steps whose operands are alike, in a stretch that has one in its middle."""
    table = _Table(numbering, start, stop, period)
    shift = _boundary(numbering, table)
    if shift and (stop - start - shift) // period >= STEPS:
        table = _Table(numbering, start + shift, stop, period)
    runs = [_run(table, middle) for middle in {table.count // 2, table.count // 3}]
    return max((run for run in runs if run is not None), key=lambda run: run.count, default=None)


def _boundary(numbering: Numbering, table: _Table) -> int:
    """Where in a period a step begins: where the fewest bytes have to be handed on."""
    middle = table.count // 2
    first = table.start + middle * table.period
    until: dict[int, int] = {}  # values of the middle step, with their last use within the next period
    low, high = table.begins(middle), table.begins(middle + 1)
    for place in range(first, min(first + 2 * table.period, len(numbering.program.equations))):
        for number in numbering.inputs(place):
            if low <= number < high:
                until[number] = place
    crossing = [0] * (table.period + 1)
    for number, last in until.items():
        made = numbering.makers[number] - first
        for boundary in {*range(made + 1, min(last - first, made + table.period) + 1)}:
            crossing[boundary % table.period] += numbering.values[number].nbytes + 1
    return min(range(table.period), key=crossing.__getitem__)


def _run(table: _Table, middle: int) -> Repeat | None:
    """The steps around one in the middle that take their operands from where it does."""
    if middle + 1 >= table.count:
        return None
    operands, relative = table.operands, table.relative
    shared = operands[middle] == operands[middle + 1]
    inside = ~shared & (relative[middle] == relative[middle + 1]) & (operands[middle] >= table.base)
    distance = np.where(inside, -(relative[middle] // max(table.made, 1)), OUTSIDE)
    if distance.max(initial=0) > FARTHEST:
        return None
    alike = np.where(inside, relative == relative[middle], ~shared | (operands == operands[middle]))
    steady = alike.all(axis=1)
    first, last = middle, middle
    while first and steady[first - 1]:
        first -= 1
    while last + 1 < table.count and steady[last + 1]:
        last += 1
    first = _earlier(table, alike, distance, first)
    outer = operands[first : last + 1][:, ~inside].max(initial=-1)
    if outer >= table.begins(first):  # something of the first steps is used by all others
        first = int(outer - table.base) // table.made + 1
    count = last - first + 1
    if count < STEPS:
        return None
    return Repeat(
        table.start + first * table.period, count, table.period, operands[first : last + 1], distance,
        int(table.begins(first)), table.made,
    )  # fmt: skip


def _earlier(table: _Table, alike: Numbers, distance: Numbers, first: int) -> int:
    """The first step, if those before the steady ones may belong to the loop: what they take from before it is a first state."""
    for start in range(max(0, first - FARTHEST), first):
        steps = np.arange(first - start)[:, None]
        before = (distance > steps) & (table.operands[start:first] < table.begins(start))
        if (alike[start:first] | before).all():
            return start
    return first
