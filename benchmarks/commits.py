"""Times one commit of pullback against another: the same programs, each commit in a process of its own, in turns.

A worker of each commit waits, asleep, while the other one measures. The programs are those of `eager.py` and `compiled.py`
beside this file, and imports, each in a fresh process. A ratio is that of the medians: above 1, the newer commit is slower.

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

import compiled
import eager
from processes import Program, enough

import pullback

HERE = Path(__file__).resolve().parent

WRITERS = {"eager": eager.write, "compiled": compiled.write, "elementwise": compiled.write_elementwise}
NAMES = [
    ("import", "import"),
    *[("eager", case.name) for case in eager.CASES],
    *[("compiled", case.name) for case in compiled.CASES],
    *[("elementwise", name) for name in compiled.ELEMENTWISE],
]
"""Kind and name of every program."""
_made: dict[tuple[str, str], Program] = {}


def _times(kind: str, name: str, seconds: float, rounds: int) -> list[float]:
    """Seconds for each step of a program of this process's pullback, in each round of at least so many seconds."""
    if kind == "import":
        return [eager.import_seconds("pullback") for _ in range(rounds)]
    if (kind, name) not in _made:
        (_made[kind, name],) = WRITERS[kind](pullback, name).values()
        for _ in range(3):
            _made[kind, name].results()
    program = _made[kind, name]
    repetitions = enough({name: program}, seconds)
    return [program.turn(repetitions) / repetitions for _ in range(rounds)]


def serve() -> None:
    """Answer questions, one JSON text a line, until there are no more."""
    for line in sys.stdin:
        print(json.dumps(_times(*json.loads(line))), flush=True)


class Worker:
    """A process that measures programs of one tree when asked."""

    def __init__(self, tree: Path) -> None:
        settings = os.environ | {"PYTHONPATH": f"{tree}/src{os.pathsep}{HERE}", "PULLBACK_CACHE": "off"}
        command = [sys.executable, "-c", "import commits; commits.serve()"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=settings, cwd=tree
        )

    def ask(self, *question: Any) -> Any:
        """What the process measures."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def tree_of(commit: str, folder: str) -> Path:
    """A tree of files of a commit, in a folder."""
    tree = Path(folder, commit)
    tree.mkdir()
    archive = subprocess.run(["git", "archive", commit, "src"], check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
    return tree


def compare(before: Worker, after: Worker, only: str, turns: int, seconds: float) -> list[dict[str, Any]]:
    """Measure every program, in turns; print a line for each."""
    print(f"{'program (microseconds)':<48}{'before':>12}{'after':>12}{'ratio':>8}")
    rows = []
    for kind, name in NAMES:
        if only not in f"{kind} {name}":
            continue
        found: dict[str, list[float]] = {"before": [], "after": []}
        order = [("before", before), ("after", after)]
        for _ in range(turns):
            for label, worker in order:
                found[label] += worker.ask(kind, name, seconds, 3)[1:]
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
        rows = compare(workers[0], workers[1], options.only, turns, seconds)
        for worker in workers:
            worker.process.terminate()
            worker.process.wait()
    slower = [row["name"] for row in rows if row["ratio"] > 1.05]
    print(f"\n{len(rows)} programs, slower by more than 5%: {', '.join(slower) or 'none'}")
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
