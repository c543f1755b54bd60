"""Copies of large arrays outside of compile: flips, triangles of matrices, and images with zeros around them.

NumPy copies in one thread, needs a mask for a triangle, and reverses element by element. This code uses threads, writes each
byte once, and reverses a register at a time: a third of NumPy's time.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..mathematics.lanes import IRValue
from . import native
from .tasks import BoundKernel, TaskEmitter
from .writing import Array

if TYPE_CHECKING:
    from types import EllipsisType

    from ..._core.typing import Array as NumpyArray, Threshold

SHORTEST: Threshold = 1 << 6
"""The shortest row in bytes: NumPy is as fast for shorter ones."""
TASK: Threshold = 1 << 16
SEVERAL: Threshold = 4
"""The approximate size of a task in bytes, and the number of tasks above which threads share them."""
KINDS = {4: "i32", 8: "i64"}
"""The kind as which elements of a size are reversed."""
LINES = "rows pieces tasks size x x_down out out_down".split()
"""The words of both tables: rows, pieces of a row, tasks, the length of a row, addresses, and strides in bytes."""


class MoveEmitter(TaskEmitter):
    """The functions `frame`, `mirror` and `surround`."""

    WORDS: ClassVar = {
        "frame": [*LINES, *"left left_step end end_step height".split()],
        "mirror": LINES,
        "surround": "images tasks height size down head whole x out".split(),
    }

    def frame(self, task: IRValue) -> None:
        """Copy a part of each row, and write zeros before and after it.

        The bounds of the part move by a step from row to row, and start again after `height` rows.
        """
        given = self.given
        with self._lines(task) as (row, begin, end):
            number = row % given.height
            first = (given.left + number * given.left_step).at_least(begin).at_most(end)
            last = (given.end + number * given.end_step).at_least(begin).at_most(end)
            out, x = self._line("out", row, "i8"), self._line("x", row, "i8")
            for start, stop in ((begin, first), (last, end)):
                self.clear(out.at(start), stop - start)
            self.copy(out.at(first), x.at(first), last - first)

    def _line(self, name: str, row: IRValue, kind: str = "") -> Array:
        return self.array(getattr(self.given, name) + row * getattr(self.given, f"{name}_down"), kind)

    def mirror(self, task: IRValue) -> None:
        """Copy rows in reverse; x is the address of the last element of a row."""
        lanes = self.lanes
        with self._lines(task) as (row, begin, end):
            out, x = self._line("out", row), self._line("x", row)
            whole = begin + (end - begin & -lanes)
            with self.loop(begin, whole, lanes) as at:
                found = x.at(-(at + (lanes - 1))).some()
                out.at(at).put(found.shuffled(None, range(lanes)[::-1]))
            with self.loop(whole, end) as at:
                out.at(at).put(x.at(-at).one())

    def surround(self, task: IRValue) -> None:
        """Copy images, with zeros around them: `head` bytes before the first row and after the last."""
        given = self.given
        last = (given.height - 1) * given.down
        with self.loop(*self.part(given.images, task, given.tasks)) as number:
            out = self.array(given.out + number * given.whole, "i8")
            x, inside = self.array(given.x + number * given.height * given.size, "i8"), out.at(given.head)
            self.clear(out, given.head)
            with self.loop(0, given.height) as row:
                self.copy(inside.at(row * given.down), x.at(row * given.size), given.size)
            with self.loop(0, given.height - 1) as row:
                self.clear(inside.at(row * given.down + given.size), given.down - given.size)
            self.clear(inside.at(last + given.size), given.head)

    @contextlib.contextmanager
    def _lines(self, task: IRValue) -> Iterator[tuple[IRValue, IRValue, IRValue]]:
        """A loop over the pieces of rows of a task: the row and the bounds of the piece."""
        given = self.given
        with self.loop(*self.part(given.rows * given.pieces, task, given.tasks)) as number:
            yield number // given.pieces, *self.part(given.size, number % given.pieces, given.pieces)


@native.once
def _call(name: str, kind: str) -> BoundKernel:
    return BoundKernel(MoveEmitter, kind, name)


def _move(name: str, rows: int, size: int, *, itemsize: int = 1, **words: int) -> None:
    """Run a function on rows of `size` elements, in threads."""
    tasks = max(1, rows * size * itemsize // TASK)
    pieces = max(1, min(tasks // rows, size))
    tasks = min(tasks, rows * pieces)
    call = _call(name, KINDS.get(itemsize, "i32"))
    call(tasks, shared=tasks >= SEVERAL, rows=rows, pieces=pieces, tasks=tasks, size=size, **words)


def _frame(out: int, out_down: int, size: int, rows: tuple[int, int, int], left: int, end: int, **words: int) -> None:
    """Copy bytes `left` to `end` of each row, and write zeros elsewhere."""
    count, x, x_down = rows
    told = {"left_step": 0, "end_step": 0, "height": count, **words}
    _move("frame", count, size, x=x, x_down=x_down, out=out, out_down=out_down, left=left, end=end, **told)


def _steps(x: NumpyArray) -> list[tuple[int, int]]:
    """Lengths and strides in bytes of the axes of an array, adjacent ones merged where possible."""
    found: list[tuple[int, int]] = []
    for length, step in zip(x.shape, x.strides, strict=True):
        if length == 1:
            continue
        if found and found[-1][1] == length * step:
            found[-1] = (found[-1][0] * length, step)
        else:
            found.append((length, step))
    return found


def _rows(x: NumpyArray, count: int) -> tuple[int, int, int] | None:
    """An array as `count` rows without gaps: their number, the address of the first, the stride; None if it has other gaps."""
    if not count or x.size * x.itemsize < count * SHORTEST:
        return None
    at = native.data(x)
    if x.flags.c_contiguous:
        return count, at, x.size * x.itemsize // count
    steps = _steps(x)
    fits = len(steps) == 2 and steps[0][0] == count and steps[1][1] == x.itemsize
    return (count, at, steps[0][1]) if fits else None


def copied(x: NumpyArray) -> NumpyArray | None:
    """A contiguous copy of an array; None if it is not regular rows or reversed rows."""
    steps, item = _steps(x), x.itemsize
    if not 0 < len(steps) < 3 or steps[-1][0] * item < SHORTEST:
        return None
    (count, down), (size, step) = steps if len(steps) == 2 else [(1, 0), *steps]
    out = np.empty(x.shape, x.dtype)
    target = native.data(out)
    if step == item:
        _frame(target, size * item, size * item, (count, native.data(x), down), 0, size * item)
    elif step == -item and item in KINDS:
        words = {"x": native.data(x), "x_down": down, "out": target, "out_down": size * item}
        _move("mirror", count, size, itemsize=item, **words)
    else:
        return None
    return out


def triangle(x: NumpyArray, k: int, *, lower: bool) -> NumpyArray | None:
    """The lower or upper triangles of C-contiguous matrices, from diagonal k on; None for others."""
    height, width = x.shape[-2:]
    rows = _rows(x, x.size // width) if x.flags.c_contiguous else None
    if rows is None:
        return None
    out, item = np.empty(x.shape, x.dtype), x.itemsize
    size = width * item
    k = max(-height, min(k, width))
    left, end = (0, (k + 1) * item) if lower else (k * item, size)
    steps = {"left_step": 0 if lower else item, "end_step": item if lower else 0, "height": height}
    _frame(native.data(out), size, size, rows, left, end, **steps)
    return out


def padded(x: NumpyArray, padding: tuple[int, ...]) -> NumpyArray:
    """Images with so many zeros around them, C-contiguous; the last axes of x are those that are padded."""
    before = x.ndim - len(padding)
    size = [n + 2 * p for n, p in zip(x.shape[before:], padding, strict=True)]
    if x.nbytes < 2 * TASK or len(size) != 2 or not x.flags.c_contiguous:
        out = np.zeros((*x.shape[:before], *size), x.dtype)
        inside: list[slice | EllipsisType] = [slice(p, p + n) for p, n in zip(padding, x.shape[before:], strict=True)]
        out[(..., *inside)] = x
        return out
    out, down = np.empty((*x.shape[:before], *size), x.dtype), size[1] * x.itemsize
    images, tasks = math.prod(x.shape[:before]), x.nbytes // TASK
    _call("surround", "i32")(
        tasks, shared=tasks >= SEVERAL, images=images, tasks=tasks, height=x.shape[-2], size=x.shape[-1] * x.itemsize,
        down=down, head=padding[0] * down + padding[1] * x.itemsize, whole=size[0] * down, x=x, out=out,
    )  # fmt: skip
    return out
