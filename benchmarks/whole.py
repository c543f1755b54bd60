"""Runs all benchmarks beside torch and JAX once, one after another, each in processes of its own, and puts them on one page.

Few short rounds each, so that the whole takes less than fifteen minutes on two cores: one look at everything on one machine on
one day. Each benchmark by itself has more rounds.

    scripts/bench whole [--page FILE]
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from models import processor

HERE = Path(__file__).resolve().parent
PARTS = {
    "eager": ["--quick"],
    "ops": ["--quick"],
    "scaling": ["--quick"],
    "threads": ["--quick"],
    "derivatives": ["--quick"],
    "compiled": ["--quick"],
    "training": ["--quick"],
    "models": ["--quick", "--without-compile"],
}
PAGE = """# All benchmarks in one run

`scripts/bench whole --page FILE` wrote this page on {day}, in {minutes:.0f} minutes: {cores} cores of {processor}, torch {torch},
jax {jax}, NumPy {numpy}, Python {python}. Few short rounds each: [RESULTS](RESULTS.md) has longer runs, and says what they mean.
"""


def output(name: str, options: list[str]) -> str:
    """What a benchmark prints, which is shown meanwhile."""
    command = [sys.executable, "-W", "ignore", str(HERE / f"{name}.py"), *options]
    told = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            told.append(line)
    return "".join(told).strip()


def main() -> None:
    """Run them all."""
    parser = argparse.ArgumentParser(prog="whole", description="All benchmarks once, in less than fifteen minutes.")
    parser.add_argument("--page", metavar="FILE", type=Path, help="write what they print as a page")
    options = parser.parse_args()
    began, sections = time.perf_counter(), []
    for name, given in PARTS.items():
        start = time.perf_counter()
        print(f"\n== {name}", flush=True)
        text = output(name, given)
        spent = time.perf_counter() - start
        sections.append(f"\n## `scripts/bench {name}`: {spent:.0f} s\n\n```text\n{text}\n```\n")
    minutes = (time.perf_counter() - began) / 60
    print(f"\nwhole: {minutes:.1f} minutes")
    if options.page:
        cores, model = processor()
        head = PAGE.format(
            day=time.strftime("%Y-%m-%d"), minutes=minutes, cores=cores, processor=model, numpy=np.__version__,
            torch=importlib.import_module("torch").__version__, jax=importlib.import_module("jax").__version__,
            python=sys.version.split()[0],
        )  # fmt: skip
        options.page.write_text(head + "".join(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
