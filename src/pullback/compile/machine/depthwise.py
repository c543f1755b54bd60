"""Depthwise convolutions outside of compile: one plane (channel of an image) after another.

With im2col such a convolution is many small matrix products, and copying the windows takes most of the time. Here a plane is
copied into a zero-padded frame that stays in the cache, and the windows are read from the frame, one window in each lane.
With stride s along the last axis, elements s apart are stored side by side in the frame, so that the lanes of a load are
always adjacent.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...ops.convolution import Sizes, Window
from ..mathematics.lanes import Desk, Word
from .convolution import SHARED, offsets
from .elements import KINDS
from .indices import strides
from .memory import (
    copy_bytes,
    element,
    fill_with_zeros,
    first_lanes,
    load,
    load_lanes,
    load_spread,
    long,
    store,
    store_lanes,
)
from .tasks import Call, TaskEmitter, lanes

LARGEST = 1 << 22
"""The largest frame in bytes."""
TASK = 1 << 17
"""The approximate number of multiplications in a task."""
LINES = 4
"""The number of lines of results that are computed together."""
PLANES = """planes tasks channels several x image_lines line whole into along frames frame
    starts lines width taps count""".split()
"""The words of every table: the layout of planes in frames, the offsets of windows in a frame, and of a window's elements."""


class DepthwiseEmitter(TaskEmitter):
    """The functions `put`, `spread` and `add`."""

    WORDS: ClassVar = {
        "put": [*PLANES, "weights", "out"],
        "spread": [*PLANES, "weights", "given"],
        "add": [*PLANES, "batch", "given", "totals"],
    }

    # A plane and its frame

    def _frame(self, task: Any) -> Any:
        """The address of the frame of a task."""
        return self.sum(self.given["frames"], (self.given["frame"], task))

    def _exchange(self, plane: Any, frame: Any, *, inward: bool) -> None:
        """Copy between a plane and its frame: the first `whole` lines with memcpy, the others element by element."""
        builder, given, desk = self.builder, self.given, Desk(self.builder, self.target, None)
        lines = self.sum(given["x"], (self.bytes(builder.mul(given["image_lines"], given["line"])), plane))

        def ends(number: Any) -> tuple[Any, Any]:
            place = builder.add(frame, self.word(self.pointer(given["into"]), number))
            return self.sum(lines, (number, self.bytes(given["line"]))), place

        def along(place: Any, i: Any) -> Any:
            return self.pointer(builder.add(place, self.word(self.pointer(given["along"]), i)))

        def line(number: Any) -> None:
            inside, place = ends(number)
            source, target = self.pointer(inside), along(place, long(0))
            source, target = (source, target) if inward else (target, source)
            copy_bytes(builder, target, source, self.bytes(given["line"]))

        def elements(number: Any) -> None:
            inside, place = ends(number)

            def each(i: Any) -> None:
                source, target = element(builder, self.pointer(inside), self.kind, i), along(place, i)
                source, target = (source, target) if inward else (target, source)
                store(load(desk, self.kind, source), target)

            self.loop(long(0), given["line"], each)

        self.loop(long(0), given["whole"], line)
        self.loop(given["whole"], given["image_lines"], elements)

    # Windows

    def _tap(self, number: Any) -> Any:
        return self.word(self.pointer(self.given["taps"]), number)

    def _start(self, frame: Any, line: Any) -> Any:
        """The address of the first window of a line."""
        return self.builder.add(frame, self.word(self.pointer(self.given["starts"]), line))

    def _along(self, inside: Callable[[Any, Any], None], carried: list[Any] | None = None) -> None:
        """Loop over the windows of a line, one register at a time; the last one is masked."""
        builder, width = self.builder, self.given["width"]
        whole = builder.and_(width, long(-self.lanes))
        self.loop(long(0), whole, lambda i: inside(i, None), self.lanes, carried)
        mask = first_lanes(builder, builder.sub(width, whole), self.lanes)
        self.loop(whole, width, lambda i: inside(i, mask), self.lanes, carried)

    def _lines(self, inside: Callable[[Any, int], None], carried: list[Any] | None = None) -> None:
        """Loop over lines, LINES at a time, then one by one."""
        lines = self.given["lines"]
        whole = self.builder.and_(lines, long(-LINES))
        self.loop(long(0), whole, lambda line: inside(line, LINES), LINES, carried)
        self.loop(whole, lines, lambda line: inside(line, 1), 1, carried)

    def _each(self, plane: Any, inside: Callable[[Any, Any], None]) -> None:
        """Loop over the output planes of an input plane; `inside` gets their numbers in the batch and in the weight."""
        given, builder = self.given, self.builder
        channel = builder.urem(plane, given["channels"])

        def result(j: Any) -> None:
            inside(self.sum(j, (plane, given["several"])), self.sum(j, (channel, given["several"])))

        self.loop(long(0), given["several"], result)

    def _loaded(self, base: Any, place: Any, mask: Any) -> Word:
        """A register of elements from an address on."""
        desk = Desk(self.builder, self.target, self.lanes)
        return load_lanes(desk, self.kind, element(self.builder, self.pointer(base), self.kind, place), 1, mask)

    def _result(self, word: str, number: Any, line: Any) -> Any:
        """The address of a line of results."""
        given = self.given
        return self.sum(given[word], (self.bytes(given["width"]), self.sum(line, (number, given["lines"]))))

    def _weights(self, channel: Any) -> Any:
        return self.pointer(self.sum(self.given["weights"], (self.bytes(self.given["count"]), channel)))

    # put: the convolution

    def put(self, task: Any) -> None:
        """The output planes of some input planes."""
        frame = self._frame(task)
        begin, end = self.part(self.given["planes"], task, self.given["tasks"])

        def plane(number: Any) -> None:
            self._exchange(number, frame, inward=True)
            self._each(number, lambda result, channel: self._put(frame, result, self._weights(channel)))

        self.loop(begin, end, plane)

    def _put(self, frame: Any, result: Any, weights: Any) -> None:
        builder = self.builder
        desk = Desk(builder, self.target, self.lanes)

        def lines(first: Any, count: int) -> None:
            numbers = [builder.add(first, long(n)) for n in range(count)]
            starts = [self._start(frame, number) for number in numbers]
            targets = [self._result("out", result, number) for number in numbers]

            def windows(i: Any, mask: Any) -> None:
                sums = [desk.number(self.kind, 0).value] * count

                def tap(t: Any) -> None:
                    weight = load_spread(desk, self.kind, element(builder, weights, self.kind, t))
                    at = self._tap(t)
                    for n, start in enumerate(starts):
                        value = self._loaded(builder.add(start, at), i, mask)
                        sums[n] = value.mad(weight, Word(desk, self.kind, sums[n])).value

                self.loop(long(0), self.given["count"], tap, carried=sums)
                for target, total in zip(targets, sums, strict=True):
                    place = element(builder, self.pointer(target), self.kind, i)
                    store_lanes(Word(desk, self.kind, total), place, 1, mask)

            self._along(windows)

        self._lines(lines)

    # spread: the gradient of the images

    def spread(self, task: Any) -> None:
        """Some planes of the gradient: cotangents added up over the windows that an element is in."""
        given, frame = self.given, self._frame(task)
        begin, end = self.part(given["planes"], task, given["tasks"])

        def plane(number: Any) -> None:
            fill_with_zeros(self.builder, self.pointer(frame), given["frame"])
            self._each(number, lambda result, channel: self._spread(frame, result, self._weights(channel)))
            self._exchange(number, frame, inward=False)

        self.loop(begin, end, plane)

    def _spread(self, frame: Any, result: Any, weights: Any) -> None:
        builder, given = self.builder, self.given
        desk = Desk(builder, self.target, self.lanes)

        def tap(t: Any) -> None:
            weight = load_spread(desk, self.kind, element(builder, weights, self.kind, t))
            at = self._tap(t)

            def line(number: Any) -> None:
                source, target = self._result("given", result, number), builder.add(self._start(frame, number), at)

                def windows(i: Any, mask: Any) -> None:
                    total = self._loaded(source, i, mask).mad(weight, self._loaded(target, i, mask))
                    store_lanes(total, element(builder, self.pointer(target), self.kind, i), 1, mask)

                self._along(windows)

            self.loop(long(0), given["lines"], line)

        self.loop(long(0), given["count"], tap)

    # add: the gradient of the weights

    def add(self, task: Any) -> None:
        """The gradients of the weights of some channels, in as many sums as there are lanes."""
        given, frame = self.given, self._frame(task)
        begin, end = self.part(given["channels"], task, given["tasks"])

        def channel(number: Any) -> None:
            def image(n: Any) -> None:
                plane = self.sum(number, (n, given["channels"]))
                self._exchange(plane, frame, inward=True)
                self._each(plane, lambda result, weight: self._add(frame, result, weight))

            self.loop(long(0), given["batch"], image)

        self.loop(begin, end, channel)

    def _add(self, frame: Any, result: Any, weight: Any) -> None:
        builder, given = self.builder, self.given
        desk = Desk(builder, self.target, self.lanes)

        def tap(t: Any) -> None:
            at = self._tap(t)
            row = self.bytes(long(self.lanes))
            total = self.pointer(self.sum(given["totals"], (row, self.sum(t, (weight, given["count"])))))
            sums = [load_lanes(desk, self.kind, total, 1, None).value]

            def lines(first: Any, count: int) -> None:
                numbers = [builder.add(first, long(n)) for n in range(count)]
                ends = [(self._result("given", result, n), builder.add(self._start(frame, n), at)) for n in numbers]

                def windows(i: Any, mask: Any) -> None:
                    products = [self._loaded(a, i, mask) * self._loaded(b, i, mask) for a, b in ends]
                    while len(products) > 1:
                        products = [a + b for a, b in zip(products[::2], products[1::2], strict=True)]
                    sums[0] = (Word(desk, self.kind, sums[0]) + products[0]).value

                self._along(windows, sums)

            self._lines(lines, sums)
            store_lanes(Word(desk, self.kind, sums[0]), total, 1, None)

        self.loop(long(0), given["count"], tap)


class Plan:
    """A depthwise convolution of one shape: the layout of frames and the offsets of windows."""

    def __init__(self, x: Sizes, weight: Sizes, window: Window, dtype: np.dtype[Any]) -> None:
        self.x, self.weight, self.dtype, self.kind = x, weight, dtype, KINDS[dtype]
        self.lengths = window.lengths(x[2:], weight[2:])
        self.work = x[0] * weight[0] * math.prod(self.lengths) * math.prod(weight[2:])
        *outer, last = (n + 2 * p for n, p in zip(x[2:], window.padding, strict=True))
        apart, itemsize = window.stride[-1], dtype.itemsize
        form = (*outer, apart, -(-last // apart))
        steps = strides(form)
        self.frame = math.prod(form) * itemsize

        def along(places: Any) -> Any:
            """The offsets of a line's elements in the frame."""
            return places % apart * steps[-2] + places // apart

        before = sum(p * step for p, step in zip(window.padding[:-1], steps, strict=False))
        moves = [s * step for s, step in zip(window.stride[:-1], steps, strict=False)]
        reach = [d * step for d, step in zip(window.dilation[:-1], steps, strict=False)]
        into = offsets(x[2:-1], list(steps[: len(outer)]), dtype) + before * itemsize
        inner = along(np.arange(weight[-1]) * window.dilation[-1]) * itemsize
        self.words = {
            "planes": x[0] * x[1], "channels": x[1], "several": weight[0] // x[1], "image_lines": len(into),
            "line": x[-1], "whole": len(into) if apart == 1 else 0, "into": into,
            "along": along(np.arange(x[-1]) + window.padding[-1]) * itemsize, "frame": self.frame,
            "starts": offsets(self.lengths[:-1], moves, dtype), "lines": math.prod(self.lengths[:-1]),
            "width": self.lengths[-1], "count": math.prod(weight[2:]),
            "taps": np.add.outer(offsets(weight[2:-1], reach, dtype), inner).reshape(-1),
        }  # fmt: skip
        self._calls: dict[str, Call] = {}

    def _call(self, name: str, most: int, **words: Any) -> None:
        tasks = max(1, min(most, self.work // TASK))
        call = self._calls.get(name)
        if call is None:
            call = self._calls[name] = Call(DepthwiseEmitter, self.kind, name, tasks=tasks, **self.words)
        frames = np.zeros(tasks * self.frame, np.uint8)
        call(tasks, shared=self.work >= SHARED, frames=frames, **words)

    def convolved(self, x: Any, weight: Any) -> Any:
        """The convolution, (batch, output channels, *lengths)."""
        out = np.empty((len(x), len(weight), *self.lengths), self.dtype)
        x, weight = map(np.ascontiguousarray, (x, weight))
        self._call("put", self.words["planes"], x=x, weights=weight, out=out)
        return out

    def transposed(self, given: Any, weight: Any) -> Any:
        """The transpose of the convolution: the gradient of the images."""
        out = np.empty(self.x, self.dtype)
        given, weight = map(np.ascontiguousarray, (given, weight))
        self._call("spread", self.words["planes"], x=out, weights=weight, given=given)
        return out

    def weights(self, x: Any, given: Any) -> Any:
        """The gradient of the weight."""
        totals = np.zeros((*self.weight, lanes(self.kind)), self.dtype)
        x, given = map(np.ascontiguousarray, (x, given))
        self._call("add", self.words["channels"], batch=len(x), x=x, given=given, totals=totals)
        return totals.sum(-1)


@functools.lru_cache(maxsize=64)
def plan(x: Sizes, weight: Sizes, window: Window, dtype: np.dtype[Any]) -> Plan | None:
    """The plan of a depthwise convolution by machine code; None if the case is not supported."""
    if weight[1] > 1 or dtype not in (np.float32, np.float64) or 0 in x or min(window.padding) < 0:
        return None
    found = Plan(x, weight, window, dtype)
    return found if found.frame <= LARGEST else None
