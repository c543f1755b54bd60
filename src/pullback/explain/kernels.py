"""Kernels: the lines of a compiled function, with the kernels that run them and how long each takes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ..compile.report import Report, clipped, duration, runs
from .sheets import Sheet
from .sources import Place, place_of

if TYPE_CHECKING:
    from ..compile.costs import Work

MOST = 60
"""The number of kernels above which only those that take longest are shown."""
COLUMNS = ("line", "source", "equations", "kernel", "limit", "ratio", "time")
EQUATIONS = 40


def kernel_sheet(report: Report) -> Sheet:
    """The kernels of one call as a table, by the lines that asked for them."""
    if report.seconds is None:
        raise ValueError(
            f"{report.name}: the report has no times of kernels: take it with report(profile=True) after a call"
        )
    lines: dict[str, list[tuple[Work, float]]] = defaultdict(list)
    places: dict[str, Place] = {}
    for kernel, limit in zip(report.kernels, report.limits, strict=True):
        found = [place for site in kernel.sites if (place := place_of(site)) is not None]
        where = _where(found)
        lines[where].append((kernel, limit))
        places |= {where: found[0]} if found else {}
    shown = sorted(report.kernels, key=lambda kernel: -_took(kernel))[:MOST]
    longest = _took(shown[0]) if shown else 0.0
    least = 0.0 if len(shown) == len(report.kernels) else _took(shown[-1])
    rows: list[list[str]] = []
    bars, over = list[float](), list[float]()
    for where, group in lines.items():
        code = places[where].code if where in places else ""
        for kernel, limit in group:
            if _took(kernel) < least or len(rows) == MOST:
                continue
            over.append(_took(kernel) - limit)
            bars.append(_took(kernel) / longest)
            rows.append([
                where, code, clipped(runs(kernel.equations), EQUATIONS), kernel.name, duration(limit),
                f"{_took(kernel) / max(limit, 1e-12):.1f}", duration(_took(kernel)),
            ])  # fmt: skip
            code = ""
    said = _said(report, {where: sum(_took(kernel) for kernel, _ in group) for where, group in lines.items()}, places)
    marked = over.index(max(over)) if over else None
    if marked is not None:
        said += f" Furthest above its limit is {rows[marked][3]}: {rows[marked][6]}, where {rows[marked][4]} would do."
    if len(rows) < len(report.kernels):
        said += f" The {len(rows)} longest are shown."
    name = f"kernels of {report.name}"
    return Sheet(name, f"Kernels of {report.name}", duration(report.seconds), said, COLUMNS, rows, bars, marked)


def _took(kernel: Work) -> float:
    return kernel.seconds or 0.0


def _where(places: list[Place]) -> str:
    """Lines as text, the file once: `step.py:10, 12`."""
    texts: list[str] = []
    for name in dict.fromkeys(place.where for place in places):
        same = bool(texts) and name.rpartition(":")[0] == texts[0].rpartition(":")[0]
        texts.append(name.rpartition(":")[2] if same else name)
    return ", ".join(texts)


def _said(report: Report, totals: dict[str, float], places: dict[str, Place]) -> str:
    whole, limit = report.seconds or 0.0, report.limit
    count = len(report.kernels)
    text = (
        f"A call of {report.name} takes {duration(whole)} in {count} kernel{'' if count == 1 else 's'}, "
        f"{whole / max(limit, 1e-12):.1f} times their limit: the least that this machine needs for their arithmetic or their bytes."
    )
    if len(totals) > 1:
        where = max(totals, key=lambda each: totals[each])
        code = f", {places[where].code}," if where in places else ""
        text += f" {where}{code} takes most: {duration(totals[where])}, {100 * totals[where] / whole:.0f}%."
    return text
