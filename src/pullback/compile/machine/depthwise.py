"""Depthwise convolutions outside of compile: one plane (channel of an image) after another.

With im2col such a convolution is many small matrix products, and copying the windows takes most of the time. Here a plane is
copied into a zero-padded frame that stays in the cache, and the windows are read from the frame, one window in each lane.
With stride s along the last axis, elements s apart are stored side by side in the frame, so that the lanes of a load are
always adjacent.
"""

from __future__ import annotations

import contextlib
import functools
import math
import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...ops.convolution import Sizes, Window
from ..mathematics.lanes import IRValue
from .convolution import SHARED, offsets
from .elements import KINDS
from .indices import strides
from .tasks import BoundKernel, TaskEmitter, lanes
from .writing import Array

if TYPE_CHECKING:
    from ..._core.typing import Array as NumpyArray, NumpyType, Threshold
    from .tasks import Word


LARGEST = 1 << 22
"""The largest frame in bytes."""
TASK: Threshold = 1 << 17
"""The approximate number of multiplications in a task."""
LINES = 4
"""The number of lines of results that are computed together."""
PLANES = """planes tasks channels several x image_lines line whole into apart along frames frame
    starts lines width taps count""".split()
"""The words of every table: the layout of planes in frames, the offsets of windows in a frame, and of a window's elements."""


class DepthwiseEmitter(TaskEmitter):
    """The functions `put`, `spread` and `add`."""

    UNITS: ClassVar = {"put": "planes", "spread": "planes", "add": "channels"}
    WORDS: ClassVar = {
        "put": [*PLANES, "weights", "out"],
        "spread": [*PLANES, "weights", "given"],
        "add": [*PLANES, "batch", "given", "totals"],
    }

    # A plane and its frame

    def _frame(self) -> IRValue:
        """The address of the frame of a task."""
        return self.given.frames + self.given.frame * self.task

    def _exchange(self, plane: IRValue, frame: IRValue, *, inward: bool) -> None:
        """Copy between a plane and its frame: the first `whole` lines with memcpy, others by two or by one element at a time."""
        given, line = self.given, self.bytes(self.given.line)
        lines = given.x + self.bytes(given.image_lines * given.line) * plane

        def ends(number: IRValue) -> tuple[Array, IRValue]:
            return self.array(lines + number * line), frame + self.word(given.into, number)

        def ordered(inside: Array, place: IRValue, i: IRValue | int) -> tuple[Array, Array]:
            """Target and source of an element of a line."""
            outside = self.array(place + self.word(given.along, i))
            return (outside, inside) if inward else (inside, outside)

        with self.loop(0, given.whole) as number:
            self.copy(*ordered(*ends(number), 0), line)
        with self.loop(given.whole, given.image_lines) as number:
            inside, place = ends(number)
            with self.either(given.apart == 2) as (pairs, others):
                with pairs:
                    halves = [self.array(place + self.word(given.along, i)) for i in range(2)]
                    self._halves(inside, *halves, inward=inward)
                with others, self.loop(0, given.line) as i:
                    target, source = ordered(inside.at(i), place, i)
                    target.put(source.one())

    def _halves(self, line: Array, even: Array, odd: Array, *, inward: bool) -> None:
        """Copy between a line and its even and odd elements, which lie apart."""
        count, lanes = self.given.line, self.lanes
        with self.loop(0, count + 1 >> 1, lanes) as i:
            left = count - (i << 1)
            first, second = line.at(i << 1), line.at((i << 1) + lanes)
            whole = [(first, self.first(left)), (second, self.first(left - lanes))]
            parts = [(even.at(i), self.first(left + 1 >> 1)), (odd.at(i), self.first(left >> 1))]
            if inward:
                one, other = (array.some(mask) for array, mask in whole)
                for start, (target, mask) in enumerate(parts):
                    target.put(one.shuffled(other, range(start, 2 * lanes, 2)), mask)
            else:
                one, other = (array.some(mask) for array, mask in parts)
                for start, (target, mask) in zip((0, lanes // 2), whole, strict=True):
                    turns = [place + turn * lanes for place in range(start, start + lanes // 2) for turn in range(2)]
                    target.put(one.shuffled(other, turns), mask)

    # Windows

    def _tap(self, number: IRValue) -> IRValue:
        return self.word(self.given.taps, number)

    def _start(self, frame: IRValue, line: IRValue) -> IRValue:
        """The address of the first window of a line."""
        return frame + self.word(self.given.starts, line)

    def _lines(self, carried: list[IRValue] | None = None) -> Iterator[tuple[IRValue, int]]:
        """Loops over lines, LINES at a time, then one by one, for each of which the body of a `for` is written once."""
        whole = self.given.lines & -LINES
        with self.loop(0, whole, LINES, carried) as line:
            yield line, LINES
        with self.loop(whole, self.given.lines, 1, carried) as line:
            yield line, 1

    @contextlib.contextmanager
    def _each(self, plane: IRValue) -> Iterator[tuple[IRValue, IRValue]]:
        """A loop over the output planes of an input plane: their numbers in the batch and in the weight."""
        given = self.given
        channel = plane % given.channels
        with self.loop(0, given.several) as j:
            yield j + plane * given.several, j + channel * given.several

    def _result(self, name: str, number: IRValue, line: IRValue) -> IRValue:
        """The address of a line of results."""
        given = self.given
        begin: IRValue = getattr(given, name)
        return begin + self.bytes(given.width) * (line + number * given.lines)

    def _weights(self, channel: IRValue) -> Array:
        return self.array(self.given.weights + self.bytes(self.given.count) * channel)

    def put(self, plane: IRValue) -> None:
        """The output planes of an input plane: the convolution."""
        frame = self._frame()
        self._exchange(plane, frame, inward=True)
        with self._each(plane) as (result, channel):
            weights = self._weights(channel)
            for first, count in self._lines():
                numbers = [first + n for n in range(count)]
                starts = [self._start(frame, number) for number in numbers]
                targets = [self._result("out", result, number) for number in numbers]
                for i, mask in self.registers(0, self.given.width):
                    sums = [self.zero()] * count
                    with self.loop(0, self.given.count, carried=sums) as t:
                        weight, at = weights.at(t).spread(), self._tap(t)
                        for n, start in enumerate(starts):
                            sums[n] = self.array(start + at).at(i).some(mask).mad(weight, sums[n])
                    for target, total in zip(targets, sums, strict=True):
                        self.array(target).at(i).put(total, mask)

    def spread(self, plane: IRValue) -> None:
        """A plane of the gradient of images: cotangents added up over the windows that an element is in."""
        given, frame = self.given, self._frame()
        self.clear(self.array(frame), given.frame)
        with self._each(plane) as (result, channel):
            weights = self._weights(channel)
            with self.loop(0, given.count) as t:
                weight, at = weights.at(t).spread(), self._tap(t)
                with self.loop(0, given.lines) as number:
                    source, target = self._result("given", result, number), self._start(frame, number) + at
                    for i, mask in self.registers(0, given.width):
                        place = self.array(target).at(i)
                        place.put(self.array(source).at(i).some(mask).mad(weight, place.some(mask)), mask)
        self._exchange(plane, frame, inward=False)

    def add(self, channel: IRValue) -> None:
        """The gradients of the weights of a channel, in as many sums as there are lanes."""
        given, frame = self.given, self._frame()
        with self.loop(0, given.batch) as n:
            plane = channel + n * given.channels
            self._exchange(plane, frame, inward=True)
            with self._each(plane) as (result, weight), self.loop(0, given.count) as t:
                at, totals = self._tap(t), self.bytes((t + weight * given.count) * self.lanes)
                total = self.array(given.totals + totals)
                sums = [total.some()]
                for first, count in self._lines(sums):
                    numbers = [first + k for k in range(count)]
                    ends = [(self._result("given", result, k), self._start(frame, k) + at) for k in numbers]
                    for i, mask in self.registers(0, given.width, sums):
                        products = [operator.mul(*(self.array(x).at(i).some(mask) for x in pair)) for pair in ends]
                        while len(products) > 1:
                            products = [a + b for a, b in zip(products[::2], products[1::2], strict=True)]
                        sums[0] = sums[0] + products[0]
                total.put(sums[0])


class DepthwisePlan:
    """A depthwise convolution of one shape: the layout of frames and the offsets of windows."""

    def __init__(self, x: Sizes, weight: Sizes, window: Window, dtype: NumpyType) -> None:
        self.x, self.weight, self.dtype, self.kind = x, weight, dtype, KINDS[dtype]
        self.lengths = window.lengths(x[2:], weight[2:])
        self.work = x[0] * weight[0] * math.prod(self.lengths) * math.prod(weight[2:])
        *outer, last = (n + 2 * p for n, p in zip(x[2:], window.padding, strict=True))
        apart, itemsize = window.stride[-1], dtype.itemsize
        form = (*outer, apart, -(-last // apart))
        steps = strides(form)
        self.frame = math.prod(form) * itemsize

        def along(places: NumpyArray) -> NumpyArray:
            """The offsets of a line's elements in the frame."""
            return places % apart * steps[-2] + places // apart

        before = sum(p * step for p, step in zip(window.padding[:-1], steps, strict=False))
        moves = [s * step for s, step in zip(window.stride[:-1], steps, strict=False)]
        reach = [d * step for d, step in zip(window.dilation[:-1], steps, strict=False)]
        into = offsets(x[2:-1], list(steps[: len(outer)]), dtype) + before * itemsize
        inner = along(np.arange(weight[-1]) * window.dilation[-1]) * itemsize
        self.words = {
            "planes": x[0] * x[1], "channels": x[1], "several": weight[0] // x[1], "image_lines": len(into),
            "line": x[-1], "whole": len(into) if apart == 1 else 0, "into": into, "apart": apart,
            "along": along(np.arange(max(x[-1], 2)) + window.padding[-1]) * itemsize, "frame": self.frame,
            "starts": offsets(self.lengths[:-1], moves, dtype), "lines": math.prod(self.lengths[:-1]),
            "width": self.lengths[-1], "count": math.prod(weight[2:]),
            "taps": np.add.outer(offsets(weight[2:-1], reach, dtype), inner).reshape(-1),
        }  # fmt: skip
        self.calls = functools.cache(functools.partial(BoundKernel, DepthwiseEmitter, self.kind, **self.words))

    def _call(self, name: str, most: int, **words: Word) -> None:
        tasks = max(1, min(most, self.work // TASK))
        frames = np.zeros(tasks * self.frame, np.uint8)
        self.calls(name)(tasks, shared=self.work >= SHARED, tasks=tasks, frames=frames, **words)

    def convolved(self, x: NumpyArray, weight: NumpyArray) -> NumpyArray:
        """The convolution, (batch, output channels, *lengths)."""
        out = np.empty((len(x), len(weight), *self.lengths), self.dtype)
        x, weight = map(np.ascontiguousarray, (x, weight))
        self._call("put", self.words["planes"], x=x, weights=weight, out=out)
        return out

    def transposed(self, given: NumpyArray, weight: NumpyArray) -> NumpyArray:
        """The transpose of the convolution: the gradient of the images."""
        out = np.empty(self.x, self.dtype)
        given, weight = map(np.ascontiguousarray, (given, weight))
        self._call("spread", self.words["planes"], x=out, weights=weight, given=given)
        return out

    def weights(self, x: NumpyArray, given: NumpyArray) -> NumpyArray:
        """The gradient of the weight."""
        totals = np.zeros((*self.weight, lanes(self.kind)), self.dtype)
        x, given = map(np.ascontiguousarray, (x, given))
        self._call("add", self.words["channels"], batch=len(x), x=x, given=given, totals=totals)
        return totals.sum(-1)


@functools.lru_cache(maxsize=64)
def plan(x: Sizes, weight: Sizes, window: Window, dtype: NumpyType) -> DepthwisePlan | None:
    """The plan of a depthwise convolution by machine code; None if the case is not supported."""
    if weight[1] > 1 or dtype not in (np.float32, np.float64) or 0 in x or min(window.padding) < 0:
        return None
    found = DepthwisePlan(x, weight, window, dtype)
    return found if found.frame <= LARGEST else None
