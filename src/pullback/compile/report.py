"""The report of a compiled function: what it does, what that must cost on this machine, and why it was recorded anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import get_num_threads
from .._numerics.blocks import pieces
from . import store

if TYPE_CHECKING:
    from .costs import Work

WIDTH = 100
ROWS = 24
"""Kernels that are listed; those that matter most, where there are more."""

LARGE, SMALL = 1 << 26, 1 << 18
"""Bytes of arrays that lie in memory, and in a cache near the processor."""


# 1. The machine


class Machine(NamedTuple):
    """What this machine can do: bytes copied in a second, between memory and itself and within a cache, and flops."""

    memory: float
    cached: float
    flops: float

    def limit(self, flops: int, moved: int, within: int) -> float:
        """The least seconds for so many flops and bytes moved, of which `within` lie in different places."""
        return max(flops / self.flops, moved / (self.memory if within > SMALL * 4 else self.cached))


@cache
def machine(dtype: str = "float32", threads: int = 1) -> Machine:
    """This machine, measured once: the best of a few copies and products of matrices, in some tenths of a second."""
    memory, cached = (_copied(size, threads) for size in (LARGE, SMALL))
    a = np.ones((768, 768), dtype)
    b = np.empty_like(a)
    return Machine(memory, cached, 2 * 768**3 / _best(lambda: np.matmul(a, a, b), 6))


def _copied(size: int, threads: int) -> float:
    """Bytes read and written in a second by copies of an array; threads share a large one."""
    source, target = (np.ones(size, np.uint8) for _ in range(2))

    def part(start: int, stop: int) -> None:
        np.copyto(target[start:stop], source[start:stop])

    if size == LARGE and threads > 1:
        return 2 * size / _best(lambda: pieces(part, size, 1), 6)
    count = max(LARGE // size // 8, 1)

    def copies() -> None:
        for _ in range(count):
            np.copyto(target, source)

    return 2 * size * count / _best(copies, 6)


def _best(function: Callable[[], Any], times: int) -> float:
    """The least seconds that a call takes, after one that is not counted."""
    function()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


# 2. The report


@dataclass(frozen=True)
class Report:
    """What is told of a compiled function; its text is the report.

    `recorded` and `simplified` are numbers of equations, `records` pairs of how often and why it was recorded, `notes`
    whatever else should be known. `kernels` are like `costs.Work`, with their time where they were profiled.
    """

    name: str
    kernels: Sequence[Work]
    recorded: int
    simplified: int
    peak: int
    arguments: int
    records: Sequence[tuple[int, str]] = ()
    notes: Sequence[str] = ()
    dtype: str = "float32"

    @property
    def flops(self) -> int:
        """Additions and multiplications of one call."""
        return sum(kernel.flops for kernel in self.kernels)

    @property
    def moved(self) -> int:
        """Bytes read and written in one call."""
        return sum(kernel.read + kernel.written for kernel in self.kernels)

    @property
    def seconds(self) -> float | None:
        """The time of all kernels in one call, where they were profiled."""
        times = [kernel.seconds for kernel in self.kernels if kernel.seconds is not None]
        return sum(times) if times else None

    @property
    def machine(self) -> Machine:
        """What this machine can do."""
        return machine(self.dtype, get_num_threads())

    @property
    def limit(self) -> float:
        """The least seconds that one call can take on this machine, if its kernels move what they say."""
        return sum(self._limit(kernel) for kernel in self.kernels)

    def _limit(self, kernel: Work) -> float:
        return self.machine.limit(kernel.flops, kernel.read + kernel.written, self.arguments + self.peak)

    def __str__(self) -> str:
        parts = [[self.name], self._summary(), self._table(), self._history(), [f"note: {note}" for note in self.notes]]
        return "\n".join("\n".join(lines) for lines in parts if lines)

    def _summary(self) -> list[str]:
        can = self.machine
        flops_per_byte = f", {self.flops / self.moved:.2g} flops to a byte" if self.moved else ""
        rates = (
            f"copies {amount(can.memory, 'B/s')} ({amount(can.cached, 'B/s')} in cache), {amount(can.flops, 'flop/s')}"
        )
        lines = [
            (
                "program",
                f"{self.recorded} equations recorded, {self.simplified} after passes, {len(self.kernels)} kernels",
            ),
            ("work", f"{amount(self.flops, 'flop')}, {amount(self.moved, 'B')} moved{flops_per_byte}"),
            ("machine", f"{rates}, {self.dtype}, threads: {get_num_threads()}"),
            ("limit", f"{duration(self.limit)}{self._against()}"),
            ("memory", f"{amount(self.arguments, 'B')} in and out, {amount(self.peak, 'B')} beside"),
            ("cache", store.status()),
        ]
        return [f"  {name:<9}{text}" for name, text in lines]

    def _against(self) -> str:
        if self.seconds is None:
            return ""
        return f"; the kernels took {duration(self.seconds)}, {self.seconds / max(self.limit, 1e-12):.1f} times that"

    def _table(self) -> list[str]:
        """A line for each kernel, in order; where there are many, for those with the largest limits or times."""
        weights = {id(kernel): kernel.seconds or self._limit(kernel) for kernel in self.kernels}
        kept = sorted(self.kernels, key=lambda kernel: -weights[id(kernel)])[:ROWS]
        chosen = {id(kernel) for kernel in kept}
        timed = self.seconds is not None
        rows = [["kernel", "flop", "read", "written", "limit", *(["time", "of it"] if timed else []), "equations"]]
        rows += [self._row(kernel, timed) for kernel in self.kernels if id(kernel) in chosen]
        if len(self.kernels) > len(kept):
            rest = sum(weights.values()) - sum(weights[id(kernel)] for kernel in kept)
            rows.append([f"{len(self.kernels) - len(kept)} more", "", "", "", duration(rest)])
        return ["", *aligned(rows)] if self.kernels else []

    def _row(self, kernel: Work, timed: bool) -> list[str]:
        row = [kernel.name, amount(kernel.flops, ""), amount(kernel.read, "B"), amount(kernel.written, "B")]
        row.append(duration(self._limit(kernel)))
        if timed:
            share = kernel.seconds / (self.seconds or 1) if kernel.seconds is not None else 0.0
            row += [duration(kernel.seconds or 0.0), f"{100 * share:.0f}%"]
        return [*row, runs(kernel.equations)]

    def _history(self) -> list[str]:
        if not self.records:
            return []
        total = sum(count for count, _ in self.records)
        lines = [f"{count:>5} x  {clipped(text, WIDTH - 10)}" for count, text in self.records]
        return ["", f"recorded {total} {'time' if total == 1 else 'times'}:", *lines]


# 3. Text


def amount(number: float, unit: str) -> str:
    """A number with three digits and a prefix: 1.23 MB."""
    if number < 1000:
        return f"{number:.0f} {unit}".rstrip()
    for prefix in ("k", "M", "G", "T", "P"):
        number /= 1000
        if number < 999.5 or prefix == "P":
            break
    digits = max(0, 2 - int(np.log10(max(number, 1))))
    return f"{number:.{digits}f} {prefix}{unit}"


def duration(seconds: float) -> str:
    """A time with three digits: 12.3 us."""
    for unit, scale in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        number = seconds * scale
        if number < 999.5:
            digits = 0 if unit == "ns" else max(0, 2 - int(np.log10(max(number, 1))))
            return f"{number:.{digits}f} {unit}"
    return f"{seconds:.3g} s"


def runs(names: Sequence[str]) -> str:
    """Names with how often each occurs, the most frequent first."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(name if count == 1 else f"{name} x{count}" for name, count in ordered)


def clipped(text: str, width: int) -> str:
    """A text on one line that is no longer than so many characters."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: max(width - 3, 0)] + "..."


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines whose columns are aligned: the first and the last to the left, numbers to the right."""
    count = max(len(row) for row in rows)
    full = [[clipped(cell, 24) if i == 0 else cell for i, cell in enumerate(row)] for row in rows]
    widths = [max((len(row[i]) for row in full if i < len(row)), default=0) for i in range(count - 1)]
    lines = []
    for row in full:
        cells = [
            f"  {cell:<{widths[i]}}" if i == 0 else f"  {cell:>{widths[i]}}" for i, cell in enumerate(row[: count - 1])
        ]
        line = "".join(cells)
        if len(row) == count:
            line += "  " + clipped(row[-1], WIDTH - len(line) - 2)
        lines.append(line.rstrip())
    return lines
