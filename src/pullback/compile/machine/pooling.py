"""Max pooling outside of compile: maxima of windows and their indices, read from images through a table of indices.

One element of several windows is taken at a time. In the table an element in the padding is replaced by the nearest one of its
window inside the image, so that padding needs neither memory nor tests: a repeated element changes neither the maximum nor
which element is the first or the last.
"""

from __future__ import annotations

import contextlib
import functools
import math
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from llvmlite import ir

from ...ops.convolution import Sizes, Window
from ...ops.pooling import elements_along, places_of
from ..mathematics.arithmetic import maximum
from ..mathematics.lanes import IRValue
from .elements import KINDS
from .tasks import BoundKernels, TaskEmitter, lanes
from .writing import Array

if TYPE_CHECKING:
    from ..._core.typing import Array as NumpyArray, NumpyType, Threshold

MOST = 1 << 18
"""The largest table; it should stay in the cache for all images."""
TASK: Threshold = 1 << 13
SEVERAL: Threshold = 8
"""The approximate number of elements in a task, and the number of tasks above which threads share them."""
PLANES = "x plane taps offsets places units tasks".split()
"""The first words of every table; a unit is a plane, or several small ones."""


class PoolEmitter(TaskEmitter):
    """The functions `highest`, `find` and `spread`."""

    WORDS: ClassVar = {
        "highest": [*PLANES, "out"],
        "find": [*PLANES, "y", "out"],
        "spread": [*PLANES, "y", "given", "chosen", "out"],
    }
    UNITS: ClassVar = dict.fromkeys(WORDS, "units")

    def find(self, unit: IRValue) -> None:
        """The index of the first of the largest elements of each window, or of the last NaN."""
        self._find(unit, self._line("out", unit, "i32"))

    def _line(self, name: str, number: IRValue, kind: str = "") -> Array:
        """A unit's part of an array with one element for each window."""
        return self.array(getattr(self.given, name), kind).at(number * self.given.places)

    def _plane(self, name: str, unit: IRValue) -> Array:
        return self.array(getattr(self.given, name) + self.given.plane * unit)

    @contextlib.contextmanager
    def _windows(self) -> Iterator[IRValue]:
        """A loop over windows, one register at a time; the last register may overlap the one before."""
        lanes = self.lanes
        last = self.given.places - lanes
        with self.loop(0, self.given.places, lanes) as i:
            yield i.at_most(last)

    def _element(self, unit: IRValue, tap: IRValue | int, first: IRValue) -> tuple[IRValue, Array]:
        """One element of each window of a register, and their indices.

        They are loaded one by one: gather instructions take four times as long on processors with the mitigation of
        CVE-2022-40982 (Downfall).
        """
        places = self.array(self.given.offsets, "i32").at(self.number(tap) * self.given.places + first)
        plane, found = self._plane("x", unit), ir.Constant(self.ctx.type(self.kind), ir.Undefined)
        for lane in range(self.lanes):
            one = plane.at(places.at(lane).one().to("i64")).one()
            found = self.builder.insert_element(found, one.value, ir.IntType(32)(lane))
        return IRValue(self.ctx, self.kind, found), places

    def highest(self, unit: IRValue) -> None:
        """The largest element of each window."""
        target = self._line("out", unit)
        with self._windows() as first:
            most = [self._element(unit, 0, first)[0]]
            with self.loop(1, self.given.taps, carried=most) as tap:
                most[0] = maximum(most[0], self._element(unit, tap, first)[0])
            target.at(first).put(most[0])

    def _find(self, unit: IRValue, target: Array) -> None:
        maxima = self._line("y", unit)
        with self._windows() as first:
            most = maxima.at(first).some()
            carried = [self.ctx.number("i32", 0), self.ctx.number("b1", 0)]
            with self.loop(0, self.given.taps, carried=carried) as tap:
                value, places = self._element(unit, tap, first)
                index, (chosen, met) = places.some(), carried
                same = value == most
                taken = (same & ~met) | operator.ne(value, value)  # or NaN
                carried[:] = [taken.select(index, chosen), met | same]
            target.at(first).put(carried[0])

    def spread(self, unit: IRValue) -> None:
        """Write what is given for each window to the place of its largest element, added up where windows overlap."""
        chosen, values, out = (
            self._line("chosen", self.task, "i32"),
            self._line("given", unit),
            self._plane("out", unit),
        )
        self.clear(out, self.given.plane)
        self._find(unit, chosen)
        with self.loop(0, self.given.places) as i:
            at = out.at(chosen.at(i).one().to("i64"))
            at.put(at.one() + values.at(i).one())


class PoolingPlan:
    """Max pooling of images of one shape."""

    def __init__(self, shape: Sizes, along: list[NumpyArray], dtype: NumpyType) -> None:
        self.dtype, self.size, self.lengths = dtype, math.prod(shape[2:]), tuple(each.shape[1] for each in along)
        planes, places, lane = math.prod(shape[:2]), math.prod(self.lengths), lanes(KINDS[dtype])
        # Small images are grouped to units, so that all lanes are used.
        divisors = [m for m in range(1, 4 * lane + 1) if planes % m == 0 and m * places >= lane]
        full = [m for m in divisors if m * places >= 4 * lane]
        self.together = min(full, default=max(divisors, default=0))
        found = places_of(along, shape[2:])
        several = found[:, None, :] + np.arange(self.together)[:, None] * self.size
        self.offsets = np.ascontiguousarray(several.reshape(len(found), -1), np.int32)
        units = planes // max(self.together, 1)
        self.tasks = max(1, min(units, units * self.offsets.size // TASK))
        self.call = BoundKernels(
            PoolEmitter, KINDS[dtype], self.tasks, SEVERAL, plane=self.together * self.size * dtype.itemsize, taps=len(found),
            offsets=self.offsets, places=self.offsets.shape[1], units=units,
        )  # fmt: skip

    def highest(self, x: NumpyArray) -> NumpyArray:
        """The largest element of each window."""
        out = np.empty((*x.shape[:2], *self.lengths), self.dtype)
        self.call("highest", x=np.ascontiguousarray(x), out=out)
        return out

    def places(self, x: NumpyArray, y: NumpyArray) -> NumpyArray:
        """The index of each maximum in its flattened image."""
        out = np.empty(y.shape, np.int32)
        self.call("find", x=np.ascontiguousarray(x), y=np.ascontiguousarray(y), out=out)
        return np.remainder(out, self.size, dtype=np.int64)

    def spread(self, given: NumpyArray, x: NumpyArray, y: NumpyArray) -> NumpyArray:
        """The gradient of the images: cotangents added at the indices of the maxima."""
        out, chosen = np.empty(x.shape, self.dtype), np.empty((self.tasks, self.offsets.shape[1]), np.int32)
        given, x, y = map(np.ascontiguousarray, (given, x, y))
        self.call("spread", x=x, y=y, given=given, chosen=chosen, out=out)
        return out


@functools.lru_cache(maxsize=64)
def plan(shape: Sizes, lengths: Sizes, kernel: Sizes, window: Window, dtype: NumpyType) -> PoolingPlan | None:
    """The plan of a max pooling by machine code; None if the case is not supported."""
    if dtype not in (np.float32, np.float64) or math.prod(lengths) * math.prod(kernel) > MOST:
        return None
    along = elements_along(shape[2:], lengths, kernel, window)
    if along is None:
        return None
    found = PoolingPlan(shape, along, dtype)
    return found if found.together else None
