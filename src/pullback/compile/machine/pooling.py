"""Max pooling outside of compile: maxima of windows and their indices, read from images through a table of indices.

One element of several windows is taken at a time. In the table an element in the padding is replaced by the nearest one of its
window inside the image, so that padding needs neither memory nor tests: a repeated element changes neither the maximum nor
which element is the first or the last.
"""

from __future__ import annotations

import functools
import math
from typing import Any, ClassVar

import numpy as np
from llvmlite import ir

from ...ops.convolution import Sizes, Window
from ...ops.pooling import elements_along, places_of
from ..mathematics.arithmetic import maximum
from ..mathematics.lanes import Desk, Word
from .elements import KINDS
from .memory import LONG, count_up, element, fill_with_zeros, load, load_lanes, long, store, store_lanes
from .tasks import Call, TaskEmitter, lanes

MOST = 1 << 18
"""The largest table; it should stay in the cache for all images."""
TASK, SEVERAL = 1 << 13, 8
"""The approximate number of elements in a task, and the number of tasks above which threads share them."""
PLANES = "x plane taps offsets places units tasks".split()
"""The first words of every table; a unit is a plane, or several small ones."""


class PoolEmitter(TaskEmitter):
    """The functions `highest`, `find` and `spread`."""

    UNITS = "units"
    WORDS: ClassVar = {
        "highest": [*PLANES, "out"],
        "find": [*PLANES, "y", "out"],
        "spread": [*PLANES, "y", "given", "chosen", "out"],
    }

    def find(self, unit: Any) -> None:
        """The index of the first of the largest elements of each window, or of the last NaN."""
        self._find(unit, self._line(self.given["out"], unit, "i32"))

    def _line(self, base: Any, number: Any, kind: str) -> Any:
        """The address of a unit's part of an array with one element for each window."""
        return element(self.builder, self.pointer(base), kind, self.builder.mul(number, self.given["places"]))

    def _windows(self, inside: Any) -> None:
        """Loop over windows, one register at a time; the last register may overlap the one before."""
        last = self.builder.sub(self.given["places"], long(self.lanes))
        self.loop(long(0), self.given["places"], lambda i: inside(self.least(i, last)), self.lanes)

    def _element(self, unit: Any, tap: Any, first: Any) -> tuple[Word, Any]:
        """One element of each window of a register, and the address of their indices.

        They are loaded one by one: gather instructions take four times as long on processors with the mitigation of
        CVE-2022-40982 (Downfall).
        """
        builder, given = self.builder, self.given
        desk, scalar = Desk(builder, self.target, self.lanes), Desk(builder, self.target, None)
        at = builder.add(builder.mul(tap, given["places"]), first)
        places = element(builder, self.pointer(given["offsets"]), "i32", at)
        plane = self.pointer(self.sum(given["x"], (given["plane"], unit)))
        found = ir.Constant(desk.type(self.kind), ir.Undefined)
        for lane in range(self.lanes):
            place = load(scalar, "i32", element(builder, places, "i32", long(lane)))
            one = load(scalar, self.kind, element(builder, plane, self.kind, builder.sext(place.value, LONG)))
            found = builder.insert_element(found, one.value, ir.IntType(32)(lane))
        return Word(desk, self.kind, found), places

    def highest(self, unit: Any) -> None:
        """The largest element of each window."""
        target = self._line(self.given["out"], unit, self.kind)

        def windows(first: Any) -> None:
            found, _ = self._element(unit, long(0), first)
            carried = [found.value]

            def inside(tap: Any) -> None:
                value, _ = self._element(unit, tap, first)
                carried[0] = maximum(Word(value.desk, self.kind, carried[0]), value).value

            count_up(self.builder, long(1), self.given["taps"], inside, carried=carried)
            store_lanes(
                Word(found.desk, self.kind, carried[0]), element(self.builder, target, self.kind, first), 1, None
            )

        self._windows(windows)

    def _find(self, unit: Any, target: Any) -> None:
        maxima = self._line(self.given["y"], unit, self.kind)

        def windows(first: Any) -> None:
            desk = Desk(self.builder, self.target, self.lanes)
            most = load_lanes(desk, self.kind, element(self.builder, maxima, self.kind, first), 1, None)
            carried = [desk.number("i32", 0).value, desk.number("b1", 0).value]

            def inside(tap: Any) -> None:
                value, at = self._element(unit, tap, first)
                places = load_lanes(desk, "i32", at, 1, None)
                chosen, met = Word(desk, "i32", carried[0]), Word(desk, "b1", carried[1])
                same = value == most
                taken = (same & ~met) | (value != value)  # noqa: PLR0124, NaN
                carried[:] = [taken.select(places, chosen).value, (met | same).value]

            count_up(self.builder, long(0), self.given["taps"], inside, carried=carried)
            store_lanes(Word(desk, "i32", carried[0]), element(self.builder, target, "i32", first), 1, None)

        self._windows(windows)

    def spread(self, unit: Any) -> None:
        """Write what is given for each window to the place of its largest element, added up where windows overlap."""
        builder, given = self.builder, self.given
        chosen, values = self._line(given["chosen"], self.task, "i32"), self._line(given["given"], unit, self.kind)
        out = self.pointer(self.sum(given["out"], (given["plane"], unit)))
        fill_with_zeros(builder, out, given["plane"])
        self._find(unit, chosen)
        desk = Desk(builder, self.target, None)

        def window(i: Any) -> None:
            place = load(desk, "i32", element(builder, chosen, "i32", i)).value
            at = element(builder, out, self.kind, builder.sext(place, LONG))
            store(load(desk, self.kind, at) + load(desk, self.kind, element(builder, values, self.kind, i)), at)

        self.loop(long(0), given["places"], window)


class Plan:
    """Max pooling of images of one shape."""

    def __init__(self, shape: Sizes, along: list[Any], dtype: np.dtype[Any]) -> None:
        self.dtype, self.size, self.lengths = dtype, math.prod(shape[2:]), tuple(each.shape[1] for each in along)
        planes, places, lane = math.prod(shape[:2]), math.prod(self.lengths), lanes(KINDS[dtype])
        # Small images are grouped to units, so that all lanes are used.
        divisors = [m for m in range(1, 4 * lane + 1) if planes % m == 0 and m * places >= lane]
        full = [m for m in divisors if m * places >= 4 * lane]
        self.together = min(full, default=max(divisors, default=0))
        found = places_of(along, shape[2:])
        several = found[:, None, :] + np.arange(self.together)[:, None] * self.size
        self.taps, self.offsets = len(found), np.ascontiguousarray(several.reshape(len(found), -1), np.int32)
        self.units = planes // max(self.together, 1)
        self._calls: dict[str, Call] = {}
        self.tasks = max(1, min(self.units, self.units * self.offsets.size // TASK))

    def _call(self, name: str, **words: Any) -> None:
        if (call := self._calls.get(name)) is None:
            call = self._calls[name] = Call(
                PoolEmitter, KINDS[self.dtype], name, plane=self.together * self.size * self.dtype.itemsize,
                taps=self.taps, offsets=self.offsets, places=self.offsets.shape[1], units=self.units, tasks=self.tasks,
            )  # fmt: skip
        call(self.tasks, shared=self.tasks >= SEVERAL, **words)

    def highest(self, x: Any) -> Any:
        """The largest element of each window."""
        out = np.empty((*x.shape[:2], *self.lengths), self.dtype)
        self._call("highest", x=np.ascontiguousarray(x), out=out)
        return out

    def places(self, x: Any, y: Any) -> Any:
        """The index of each maximum in its flattened image."""
        out = np.empty(y.shape, np.int32)
        self._call("find", x=np.ascontiguousarray(x), y=np.ascontiguousarray(y), out=out)
        return np.remainder(out, self.size, dtype=np.int64)

    def spread(self, given: Any, x: Any, y: Any) -> Any:
        """The gradient of the images: cotangents added at the indices of the maxima."""
        out, chosen = np.empty(x.shape, self.dtype), np.empty((self.tasks, self.offsets.shape[1]), np.int32)
        given, x, y = map(np.ascontiguousarray, (given, x, y))
        self._call("spread", x=x, y=y, given=given, chosen=chosen, out=out)
        return out


@functools.lru_cache(maxsize=64)
def plan(shape: Sizes, lengths: Sizes, kernel: Sizes, window: Window, dtype: np.dtype[Any]) -> Plan | None:
    """The plan of a max pooling by machine code; None if the case is not supported."""
    if dtype not in (np.float32, np.float64) or math.prod(lengths) * math.prod(kernel) > MOST:
        return None
    along = elements_along(shape[2:], lengths, kernel, window)
    if along is None:
        return None
    found = Plan(shape, along, dtype)
    return found if found.together else None
