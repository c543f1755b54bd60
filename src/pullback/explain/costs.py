"""The cost of a call: bytes by line, by operation or by scope, and memory over time.

Times are those of recorded operations, which take several times as long as alone, so they are measured only on request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .numbers import duration, size
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
