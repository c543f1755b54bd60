"""Times one commit of pullback against another: the same programs, each commit in a process of its own, in turns.

A worker of each commit waits, asleep, while the other one measures. Programs are those of `eager.py` and `compiled.py` in the
commit's own tree, and imports, each in a fresh process. A ratio is that of the medians: above 1, the newer commit is slower.

    scripts/bench commits BEFORE [AFTER] [--quick] [--only NAME] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

WORKER = """
import json, sys
from time import perf_counter
import numpy as np
import compiled, eager, pullback
library = compiled.of_pullback()
made = {}
def program(kind, index):
    if (kind, index) not in made:
        if kind == "eager":
            made[kind, index] = eager.CASES[index].write(pullback)
        elif kind == "compiled":
            step = compiled.CASES[index].make(library)
            made[kind, index] = eager.Program(lambda _: step())
        else:
            made[kind, index] = eager.Program(compiled.elementwise_step(pullback, compiled.ELEMENTWISE[index]))
        for _ in range(3):
            made[kind, index].step(made[kind, index].prepare())
    return made[kind, index]
def times(kind, index, seconds, rounds):
    if kind == "import":
        return [eager.import_seconds("pullback") for _ in range(rounds)]
    this = program(kind, index)
    repetitions = eager.enough({"": this}, seconds)
    return [eager.turn(this, repetitions) / repetitions for _ in range(rounds)]
names = [("import", 0, "import")] + [("eager", i, case.name) for i, case in enumerate(eager.CASES)]
names += [("compiled", i, case.name) for i, case in enumerate(compiled.CASES)]
names += [("elementwise", i, name) for i, name in enumerate(compiled.ELEMENTWISE)]
print(json.dumps(names), flush=True)
for line in sys.stdin:
    print(json.dumps(times(*json.loads(line))), flush=True)
"""


class Worker:
    """A process that measures programs of one tree when asked."""

    def __init__(self, tree: Path) -> None:
        settings = os.environ | {"PYTHONPATH": f"{tree}/src:{tree}/benchmarks", "PULLBACK_CACHE": "off"}
        command = [sys.executable, "-c", WORKER]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=settings, cwd=tree
        )
        self.names = self.answer()

    def answer(self) -> Any:
        """The next line that the process writes."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, *question: Any) -> Any:
        """What the process measures."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return self.answer()


def tree_of(commit: str, folder: str) -> Path:
    """A tree of files of a commit, in a folder."""
    tree = Path(folder, commit)
    tree.mkdir()
    archive = subprocess.run(["git", "archive", commit, "src", "benchmarks"], check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
    return tree


def compare(before: Worker, after: Worker, only: str, turns: int, seconds: float) -> list[dict[str, Any]]:
    """Measure every program that both have, in turns; print a line for each."""
    print(f"{'program (microseconds)':<48}{'before':>12}{'after':>12}{'ratio':>8}")
    shared = {name: (kind, index) for kind, index, name in before.names}
    rows = []
    for kind, index, name in after.names:
        if name not in shared or only not in f"{kind} {name}":
            continue
        found: dict[str, list[float]] = {"before": [], "after": []}
        order = [("before", before, shared[name]), ("after", after, (kind, index))]
        for _ in range(turns):
            for label, worker, (what, number) in order:
                found[label] += worker.ask(what, number, seconds, 3)[1:]
            order.reverse()
        old, new = median(found["before"]), median(found["after"])
        print(f"{kind + ': ' + name:<48}{old * 1e6:>12.2f}{new * 1e6:>12.2f}{new / old:>8.3f}", flush=True)
        rows.append({"name": name, "kind": kind, "seconds": found, "ratio": new / old})
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="commits", description="Times one commit of pullback against another.")
    parser.add_argument("before", help="the earlier commit")
    parser.add_argument("after", nargs="?", default="HEAD", help="the later commit: HEAD if it is left out")
    parser.add_argument("--quick", action="store_true", help="few short turns: to see that it works, not to quote")
    parser.add_argument("--only", metavar="NAME", default="", help="the programs whose kind and name hold NAME")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every turn to FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trees = [tree_of(commit, folder) for commit in (options.before, options.after)]
        workers = [Worker(tree) for tree in trees]
        turns, seconds = (2, 0.004) if options.quick else (9, 0.04)
        rows = compare(*workers, options.only, turns, seconds)
        for worker in workers:
            worker.process.terminate()
            worker.process.wait()
    slower = [row["name"] for row in rows if row["ratio"] > 1.05]
    print(f"\n{len(rows)} programs, slower by more than 5%: {', '.join(slower) or 'none'}")
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
