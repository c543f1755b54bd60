"""The cost of a call: bytes by line, by operation or by scope, and memory over time.

Times are those of recorded operations, which take several times as long as alone, so they are measured only on request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..compile.costs import Work
from ..compile.report import Report, clipped, runs
from .numbers import duration, size
from .sheets import Sheet
from .sources import Place, place_of
from .trace import Call, Step

RECORDED = "while recorded, which takes longer than alone"
"""What is said of times."""


class CostRow(NamedTuple):
    """The total cost of several steps; times are None if they were not measured."""

    key: str
    steps: int
    forward: float | None
    backward: float | None
    bytes: int


KEYS: dict[str, Callable[[Step], str]] = {
    "line": lambda step: "no line" if step.place is None else step.place.where,
    "op": lambda step: step.op or "leaf",
    "scope": lambda step: "the program" if step.scope is None else str(step.scope),
}


class Cost:
    """Time and bytes of a call. `rows` has one row for each operation; `by` aggregates them."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.live_bytes = [step.live_bytes for step in (*call.forward, *call.steps)]
        self.kept_bytes = call.kept_bytes
        self.peak_bytes = call.peak_bytes
        self.forward = call.seconds("forward")
        self.backward = call.seconds("backward")

    def by(self, what: str) -> list[CostRow]:
        """The cost by 'line', 'op' or 'scope', the most expensive first.

        Raises
        ------
        ValueError
            If `what` is anything else.
        """
        if what not in KEYS:
            raise ValueError(f"cost().by({what!r}): costs are added up by 'line', 'op' or 'scope'")
        groups: dict[str, list[Step]] = {}
        for step in (*self.call.forward, *self.call.steps):
            groups.setdefault(KEYS[what](step), []).append(step)
        rows = [_row(key, steps) for key, steps in groups.items()]
        return sorted(rows, key=lambda row: (-((row.forward or 0) + (row.backward or 0)), -row.bytes))

    def __str__(self) -> str:
        times = [f"{name} {duration(t)}" for name, t in (("forward", self.forward), ("backward", self.backward)) if t]
        times = [f"{', '.join(times)} {RECORDED}"] if times else []
        return ", ".join([*times, f"kept {size(self.kept_bytes)}", f"peak {size(self.peak_bytes)}"])

    def table(self, what: str = "line", most: int = 20) -> str:
        """The rows of `by` as text."""
        timed = self.forward is not None or self.backward is not None
        lines = [["", "steps", *(["forward", "backward"] if timed else []), "keeps"]]
        for row in self.by(what)[:most]:
            times = ["" if each is None else duration(each) for each in (row.forward, row.backward)] if timed else []
            lines.append([row.key, str(row.steps), *times, size(row.bytes) if row.bytes else ""])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines
        )

    def __repr__(self) -> str:
        return f"{self}\n\n{self.table()}"


def _row(key: str, steps: list[Step]) -> CostRow:
    def total(phase: str) -> float | None:
        known = [step.time for step in steps if step.phase == phase and step.time is not None]
        return sum(known) if known else None

    kept = sum(tensor.bytes for step in steps if step.phase == "forward" for tensor in step.outputs)
    return CostRow(key, len(steps), total("forward"), total("backward"), kept)


# 2. Kernels of a compiled function

MOST = 60
"""The number of kernels above which only those that take longest are shown."""
COLUMNS = ("line", "source", "equations", "kernel", "limit", "ratio", "time")
EQUATIONS = 40
Timed = list[tuple[Work, float]]
"""Kernels, each with its limit."""


def kernel_sheet(report: Report) -> Sheet:
    """The kernels of one call as a table, by the lines that asked for them."""
    if not report.kernels:
        raise ValueError(f"{report.name} runs no kernel: it returns views, or what it was given")
    if report.seconds is None:
        raise ValueError(
            f"{report.name}: the report has no times of kernels: take it with report(profile=True) after a call"
        )
    longest = sorted(report.kernels, key=lambda kernel: -(kernel.seconds or 0.0))[:MOST]
    lines: dict[str, Timed] = {}
    for kernel, limit in zip(report.kernels, report.limits, strict=True):
        lines.setdefault(_where(_places(kernel)), []).append((kernel, limit))
    rows: list[list[str]] = []
    bars, over = list[float](), list[float]()
    for where, group in lines.items():
        code = _code(group)
        for kernel, limit in group:
            if not any(kernel is each for each in longest):
                continue
            took = kernel.seconds or 0.0
            over.append(took - limit)
            bars.append(took / (longest[0].seconds or 1.0))
            ratio = f"{took / max(limit, 1e-12):.1f}"
            equations = clipped(runs(kernel.equations), EQUATIONS)
            rows.append([where, code, equations, kernel.name, duration(limit), ratio, duration(took)])
            code = ""
    marked = over.index(max(over))
    count = f"{len(report.kernels)} kernel{'s' * (len(report.kernels) > 1)}"
    most, whole = max(lines, key=lambda where: _total(lines[where])), report.seconds
    said = (
        f"A call of {report.name} takes {duration(whole)} in {count}, {whole / max(report.limit, 1e-12):.1f} times their limit: "
        "the least that this machine needs for their arithmetic or their bytes. "
        f"{most}, {_code(lines[most])}, takes most: {duration(_total(lines[most]))}, {100 * _total(lines[most]) / whole:.0f}%. "
        f"Furthest above its limit is {rows[marked][3]}: {rows[marked][6]}, where {rows[marked][4]} would do."
    )
    if len(rows) < len(report.kernels):
        said += f" The {len(rows)} longest are shown."
    name = f"kernels of {report.name}"
    return Sheet(name, f"Kernels of {report.name}", duration(whole), said, COLUMNS, rows, bars, marked)


def _places(kernel: Work) -> list[Place]:
    return [place for site in kernel.sites if (place := place_of(site)) is not None]


def _total(group: Timed) -> float:
    return sum(kernel.seconds or 0.0 for kernel, _ in group)


def _code(group: Timed) -> str:
    return next((place.code for place in _places(group[0][0])), "")


def _where(places: list[Place]) -> str:
    """Lines as text, the file once: `step.py:10, 12`."""
    names = [*dict.fromkeys(place.where for place in places)]
    file = names[0].rpartition(":")[0] if names else ""
    return ", ".join([*names[:1], *[name.removeprefix(f"{file}:") for name in names[1:]]])
