"""Lists the kernels of the compiled training steps of `models.py` that take longer than their limit, with what all of them cost.

Each model is compiled and profiled in a process of its own with one thread. A kernel is listed if it takes more than `--above` times
its limit (1.5) and more than `--share` of its step (0.02): with the microseconds it takes, those above the limit, and the line.

    scripts/bench kernels [--only NAME] [--above RATIO] [--share SHARE] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from gradbench import THREADS
from models import MODELS, step_of
from processes import Process

from pullback.compile.report import runs, tail

WARM = 3


def profiled(name: str) -> list[dict[str, Any]]:
    """The kernels of a model's step."""
    step = step_of("pullback compiled", name)
    for _ in range(WARM):
        step()
    report = step.report(profile=True)  # type: ignore[attr-defined]
    return [
        {
            "kernel": each.name, "seconds": each.seconds or 0.0, "limit": limit, "flops": each.flops, "moved": each.moved,
            "lines": list(each.lines), "equations": list(each.equations),
        }
        for each, limit in zip(report.kernels, report.limits, strict=True)
    ]  # fmt: skip


def far(kernels: list[dict[str, Any]], above: float, share: float) -> list[dict[str, Any]]:
    """The kernels far above their limits that matter, the slowest first."""
    whole = sum(each["seconds"] for each in kernels)
    chosen = [each for each in kernels if each["seconds"] > max(above * each["limit"], share * whole)]
    return sorted(chosen, key=lambda each: each["limit"] - each["seconds"])


def line(each: dict[str, Any], whole: float) -> str:
    """A kernel's row."""
    took, limit = each["seconds"] * 1e6, each["limit"] * 1e6
    ratio = f"{took / limit:7.1f}" if limit else "      -"
    place = tail("".join(each["lines"][:1]), 24)
    return f"    {each['kernel']:10} {took:8.1f} {took - limit:8.1f} {ratio} {each['seconds'] / whole:6.0%}  {place:24} {runs(each['equations'])[:110]}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Kernels of compiled training steps that are far above their limits.")
    parser.add_argument("--only")
    parser.add_argument("--above", type=float, default=1.5)
    parser.add_argument("--share", type=float, default=0.02)
    parser.add_argument("--json", metavar="FILE", type=Path)
    options = parser.parse_args()
    found: dict[str, list[dict[str, Any]]] = {}
    print(f"    {'kernel':10} {'us':>8} {'above':>8} {'times':>7} {'of all':>6}")
    for name in [options.only] if options.only else MODELS:
        process = Process("pullback", {**dict.fromkeys(THREADS, "1"), "THREADS": "1"})
        found[name] = kernels = process.call(profiled, name)
        process.end()
        whole, limit = (sum(each[key] for each in kernels) for key in ("seconds", "limit"))
        print(
            f"{name}: {whole * 1e6:.0f} us, {whole / limit:.2f} times the limits of its {len(kernels)} kernels",
            flush=True,
        )
        for each in far(kernels, options.above, options.share):
            print(line(each, whole), flush=True)
        if options.json:
            options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
