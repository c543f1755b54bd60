"""The recursions of connectionist temporal classification: all steps of a sequence in one loop.

A step takes few states, and NumPy a dozen calls for it. Sequences are independent, and each is a task.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ... import get_num_threads
from ...ops.alignment import IMPOSSIBLE, MOST
from ..mathematics.exponentials import exp, exp_of_share
from ..mathematics.lanes import IRValue
from ..mathematics.logarithms import log_of_normal
from .elements import KINDS
from .tasks import BoundKernel, TaskEmitter
from .writing import Array

if TYPE_CHECKING:
    from ..._core.typing import Array as NumpyArray, NumpyType, Threshold

SHARED: Threshold = 1 << 16
"""The number of states, over all steps and sequences, from which on threads share the work."""
COMMON = "count steps sequences size classes tasks out".split()


class AlignmentEmitter(TaskEmitter):
    """The functions of `ops.alignment`; `out` begins as what is added to, and an array has a row of states for each step."""

    WORDS: ClassVar = {
        "emissions": [*COMMON, "logs", "states"],
        "chances": [*COMMON, "logs", "states", "pulled", "given", "wanted"],
        "ctc": [*COMMON, "skips"],
        "ctc_back": [*COMMON, "emissions", "skips", "reached"],
        "lattice": [*COMMON, "stay", "one", "two"],
        "lattice_back": [*COMMON, "stay", "one", "two"],
    }

    def _task(self, name: str) -> None:
        """Run all steps of some sequences: of all of them one step after another, for a step waits for the one before."""
        given = self.given
        part = self.part(given.count, self.task, given.tasks)
        apart = name in {"emissions", "chances"}  # whose steps do not wait
        with self.loop(0 if apart else 1, given.steps) as number, self.loop(*part) as unit:
            step = given.steps - number if name.endswith("_back") else number
            block = unit // given.sequences
            late = unit + (block * (given.steps - 1) + step) * given.sequences
            rows = {"late": late, "early": late - given.sequences, "share": late - (block + 1) * given.sequences}
            if name == "chances":
                self._chances(late, unit, step)
            else:
                for place, mask in self.registers(0, given.size):
                    getattr(self, f"_{name}")(rows, unit, place, mask)

    def _states(self, unit: IRValue) -> Array:
        """The classes of the states of a sequence."""
        return self.array(self.given.states + 8 * self.given.size * unit, "i64")

    def _classes(self, array: str, row: IRValue) -> Array:
        """A row of an array of classes."""
        return self.array(getattr(self.given, array) + self.bytes(self.given.classes * row))

    def _emissions(self, rows: dict[str, IRValue], unit: IRValue, place: IRValue, mask: IRValue | None) -> None:
        states = self._states(unit).at(place).some(mask)
        found = self._classes("logs", rows["late"]).among(states, mask).at_least(IMPOSSIBLE)
        self._row("out", rows["late"]).at(place).put(found, mask)

    def _chances(self, row: IRValue, unit: IRValue, step: IRValue) -> None:
        """The cotangents of classes: the sums of those of their states, less their probabilities times the sequence's."""
        out, pulled = self._classes("out", row), self._row("pulled", row)
        within = self.all_lanes(step < self.array(self.given.wanted, "i64").at(unit).one())
        given = self.array(self.given.given).at(unit).spread()
        for place, mask in self.registers(0, self.given.classes):
            power = exp(self._classes("logs", row).at(place).some(mask))
            out.at(place).put(within.select(-(power * given), 0), mask)
        with self.loop(0, self.given.size) as state:
            target = out.at(self._states(unit).at(state).one())
            target.put(target.one() + pulled.at(state).one())

    def _row(self, array: str, row: IRValue) -> Array:
        """A row of an array."""
        return self.array(getattr(self.given, array) + self.bytes(self.given.size * row))

    def _before(self, place: IRValue, mask: IRValue | None) -> Iterator[tuple[int, IRValue, IRValue | None]]:
        """The states so many places before some: the distance, where they are, and a mask of those that exist."""
        yield 0, place, mask
        for distance in (1, 2):
            there = ~self.first(self.number(distance) - place)
            yield distance, place - distance, there if mask is None else there & mask

    def _behind(self, place: IRValue) -> Iterator[tuple[int, IRValue, IRValue]]:
        """The states so many places behind some."""
        for distance in range(3):
            yield distance, place + distance, self.first(self.given.size - place - distance)

    def _ctc(self, rows: dict[str, IRValue], unit: IRValue, place: IRValue, mask: IRValue | None) -> None:
        early, ways = self._row("out", rows["early"]), []
        for distance, at, there in self._before(place, mask):
            way = early.at(at).some(there)
            if distance == 2:
                way = way + self._row("skips", unit).at(place).some(mask)
            ways.append(way if there is None else there.select(way, IMPOSSIBLE, self.kind))
        larger, least = ways[0].at_least(ways[1]), ways[1].at_most(ways[0])  # in this order, NaN is in one of them
        top, middle = larger.at_least(ways[2]), ways[2].at_most(larger)
        total = log_of_normal(exp_of_share(middle - top) + exp_of_share(least - top) + 1)
        late = self._row("out", rows["late"]).at(place)
        late.put(late.some(mask) + (total + top), mask)

    def _ctc_back(self, rows: dict[str, IRValue], unit: IRValue, place: IRValue, mask: IRValue | None) -> None:
        before = self._row("reached", rows["early"]).at(place).some(mask)
        target = self._row("out", rows["early"]).at(place)
        total = target.some(mask)
        for distance, at, there in self._behind(place):
            after, emission, pulled = (
                self._row(array, rows["late"]).at(at).some(there) for array in ("reached", "emissions", "out")
            )
            way = before + self._row("skips", unit).at(at).some(there) if distance == 2 else before
            share = way - (after - emission)
            share = exp_of_share((share > MOST).select(MOST, share, self.kind))
            total = total + there.select(share * pulled, 0, self.kind)
        target.put(total, mask)

    def _lattice(self, rows: dict[str, IRValue], _: IRValue, place: IRValue, mask: IRValue | None) -> None:
        target, early = self._row("out", rows["late"]).at(place), self._row("out", rows["early"])
        total = target.some(mask)
        for distance, at, there in self._before(place, mask):
            share = self._row(("stay", "one", "two")[distance], rows["share"]).at(place).some(there)
            total = share.mad(early.at(at).some(there), total)
        target.put(total, mask)

    def _lattice_back(self, rows: dict[str, IRValue], _: IRValue, place: IRValue, mask: IRValue | None) -> None:
        target, late = self._row("out", rows["early"]).at(place), self._row("out", rows["late"])
        total = target.some(mask)
        for distance, at, there in self._behind(place):
            share = self._row(("stay", "one", "two")[distance], rows["share"]).at(at).some(there)
            total = share.mad(late.at(at).some(there), total)
        target.put(total, mask)


@functools.lru_cache(maxsize=64)
def _call(name: str, shape: tuple[int, ...], classes: int, dtype: NumpyType) -> tuple[BoundKernel, int, bool]:
    """A function for arrays of a shape, the number of its tasks, and whether threads share them."""
    *lead, steps, sequences, size = shape
    count = sequences * int(np.prod(lead, dtype=np.int64))
    shared = count * steps * size >= SHARED
    tasks = max(1, min(count, get_num_threads())) if shared else 1
    words = {"count": count, "steps": steps, "sequences": sequences, "size": size, "classes": classes, "tasks": tasks}
    return BoundKernel(AlignmentEmitter, KINDS[dtype], name, **words), tasks, shared


def run(name: str, *, out: NumpyArray, of: NumpyArray | None = None, classes: int = 0, **arrays: NumpyArray) -> None:
    """Run all steps, in place in `out`; other arrays are broadcast to its shape, or that of `of`, but for steps and classes."""
    *lead, steps, sequences, size = shape = (out if of is None else of).shape
    call, tasks, shared = _call(name, shape, classes, out.dtype)
    shapes = {
        "skips": (sequences, size), "states": (sequences, size), "given": (sequences,), "wanted": (sequences,),
        "logs": (steps, sequences, classes), **dict.fromkeys(("emissions", "reached", "pulled"), shape[-3:]),
    }  # fmt: skip
    found = {}
    for word, array in arrays.items():
        whole = (*lead, *shapes.get(word, (steps - 1, sequences, size)))
        spread = array if array.shape == whole else np.broadcast_to(array, whole)
        found[word] = np.ascontiguousarray(spread, np.int64 if word in {"states", "wanted"} else out.dtype)
    call(tasks, shared=shared, out=out, **found)
