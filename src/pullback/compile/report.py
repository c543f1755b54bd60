"""The report of a compiled function: what it does, what that must cost on this machine, and why it was recorded anew.

A limit is the least time that kernels can need: that of their flops at the rate of a large product, or of the bytes that they
read and write at the rate of the nearest cache that holds these. It is one of these kernels, not of the function: others
could do with less.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import get_num_threads
from . import store
from .rates import Machine, machine

if TYPE_CHECKING:
    from .costs import Work

WIDTH = 100
ROWS = 24
"""Kernels that are listed; those that matter most, where there are more."""


# 1. The report


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
        return sum(kernel.moved for kernel in self.kernels)

    @property
    def seconds(self) -> float | None:
        """The time of all kernels in one call, where they were profiled."""
        times = [kernel.seconds for kernel in self.kernels if kernel.seconds is not None]
        return sum(times) if times else None

    @property
    def machine(self) -> Machine:
        """What this machine can do with one thread, and no less than kernels were measured to do."""
        return self._machine(threads=False)

    def _machine(self, *, threads: bool) -> Machine:
        found = machine(self.dtype, get_num_threads() if threads else 1)
        return found.raised([kernel for kernel in self.kernels if threads or not kernel.threads])

    @property
    def limits(self) -> list[float]:
        """The least seconds that each kernel can take on this machine, by its flops and its bytes."""
        machines = {threads: self._machine(threads=threads) for threads in {kernel.threads for kernel in self.kernels}}
        found = []
        for kernel in self.kernels:
            limit = machines[kernel.threads].limit(kernel)
            found.append(limit if kernel.seconds is None else min(limit, kernel.seconds))
        return found

    @property
    def limit(self) -> float:
        """The least seconds that one call of these kernels can take on this machine."""
        return sum(self.limits)

    def save_perfetto(self, path: str | os.PathLike[str]) -> None:
        """Write the kernels of one call as a trace, which ui.perfetto.dev and Chrome's about:tracing open.

        Parameters
        ----------
        path
            The file, which is written as JSON: an event for each kernel, with its equations, lines, flops, bytes and limit.

        >>> import os, pullback, tempfile
        >>> f = pullback.compile(lambda x: x.exp().sum())
        >>> _ = f(pullback.ones(1000))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "trace.json")
        ...     f.report(profile=True).save_perfetto(path)
        ...     os.path.getsize(path) > 0
        True
        """
        if self.kernels and self.seconds is None:
            raise ValueError("save_perfetto: kernels have no times; take the report with report(profile=True)")
        text = json.dumps({"traceEvents": self._events(), "displayTimeUnit": "ns"}, indent=1)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _events(self) -> list[dict[str, Any]]:
        """The kernels as complete events of the trace format, whose times are in microseconds, after the names of process and thread."""
        on: dict[str, Any] = {"pid": 1, "tid": 1}
        names = {"process_name": f"compiled function {self.name}", "thread_name": "kernels"}
        events: list[dict[str, Any]] = [
            {"ph": "M", "name": key, "args": {"name": name}, **on} for key, name in names.items()
        ]
        now = 0.0
        for kernel, limit in zip(self.kernels, self.limits, strict=True):
            seconds = kernel.seconds or 0.0
            details = {
                "kernel": kernel.name, "lines": ", ".join(kernel.lines), "flops": kernel.flops, "bytes read": kernel.read,
                "bytes written": kernel.written, "limit in us": limit * 1e6, "threads": kernel.threads,
            }  # fmt: skip
            event = {"ph": "X", "cat": "kernel", "name": runs(kernel.equations), "ts": now * 1e6, "dur": seconds * 1e6}
            events.append({**event, "args": details, **on})
            now += seconds
        return events

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
            ("machine", f"{rates}, {self.dtype}, a thread; threads: {get_num_threads()}"),
            ("limit", f"{duration(self.limit)}, of these kernels{self._against()}"),
            ("memory", f"{amount(self.arguments, 'B')} in and out, {amount(self.peak, 'B')} beside"),
            ("cache", store.status()),
        ]
        return [f"  {name:<9}{text}" for name, text in lines]

    def _against(self) -> str:
        if self.seconds is None:
            return ""
        return f"; they took {duration(self.seconds)}, {self.seconds / max(self.limit, 1e-12):.1f} times that"

    def _table(self) -> list[str]:
        """A line for each kernel, in order; where there are many, for those with the largest limits or times."""
        limits = self.limits
        weights = [kernel.seconds or limit for kernel, limit in zip(self.kernels, limits, strict=True)]
        chosen = sorted(sorted(range(len(weights)), key=lambda number: -weights[number])[:ROWS])
        timed = ["time", "of it"] if self.seconds is not None else []
        rows = [["kernel", "flop", "read", "written", "limit", *timed, "line", "equations"]]
        rows += [self._row(self.kernels[number], limits[number]) for number in chosen]
        if len(weights) > len(chosen):
            rest = sum(weights) - sum(weights[number] for number in chosen)
            rows.append([f"{len(weights) - len(chosen)} more", "", "", "", *([""] if timed else []), duration(rest)])
        return ["", *aligned(rows)] if self.kernels else []

    def _row(self, kernel: Work, limit: float) -> list[str]:
        row = [
            kernel.name,
            amount(kernel.flops, ""),
            amount(kernel.read, "B"),
            amount(kernel.written, "B"),
            duration(limit),
        ]
        if self.seconds is not None:
            share = (kernel.seconds or 0.0) / (self.seconds or 1)
            row += [duration(kernel.seconds or 0.0), f"{100 * share:.0f}%"]
        more = f" +{len(kernel.lines) - 1}" if len(kernel.lines) > 1 else ""
        return [*row, tail("".join(kernel.lines[:1]), 24) + more, runs(kernel.equations)]

    def _history(self) -> list[str]:
        if not self.records:
            return []
        total = sum(count for count, _ in self.records)
        lines = [f"{count:>5} x  {clipped(text, WIDTH - 10)}" for count, text in self.records]
        return ["", f"recorded {total} {'time' if total == 1 else 'times'}:", *lines]


# 2. Text


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


def tail(text: str, width: int) -> str:
    """The end of a text, no longer than so many characters: that of a place in a file, which has the line."""
    return text if len(text) <= width else "..." + text[3 - width :]


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
