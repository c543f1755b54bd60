"""Draws random cases from the generators of this folder, and counts comparisons and faults.

    python -m tests.generators [NAME ...] [--draws N] [--seed N] [--processes N]

A generator is a module with `FEW`, how many cases the suite draws, and `check(rng)`, which draws one case from a
`numpy.random.Generator`, returns how many comparisons it made, and raises an AssertionError that says what differs. The
case of a seed is always the same: `--draws 1 --seed N` repeats it. What was drawn is noted in build/fuzz.json, which
scripts/tested writes into docs/explanation/how-it-is-tested.md.
"""

import argparse
import collections
import concurrent.futures
import functools
import importlib
import json
import multiprocessing
import os
import pkgutil
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np

NOTES = Path(__file__).parent.parent.parent / "build" / "fuzz.json"
NAMES = sorted(
    each.name
    for each in pkgutil.iter_modules([str(Path(__file__).parent)])
    if each.name != "__main__" and not each.name.startswith("test_")
)


def case(name, seed):
    """Draw one case of a generator, and return its number of comparisons."""
    generator = importlib.import_module(f"tests.generators.{name}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return generator.check(np.random.default_rng([seed, *name.encode()]))


def tried(name, seed):
    """The number of comparisons of one case, and what was wrong with it, or None."""
    try:
        return case(name, seed), None
    except Exception:
        return 0, f"{name}, seed {seed}:\n{traceback.format_exc(limit=-4)}"


def note(name, cases, comparisons, faults):
    """Note a run in build/fuzz.json, unless a longer one without faults is there."""
    NOTES.parent.mkdir(exist_ok=True)
    notes = json.loads(NOTES.read_text(encoding="utf-8")) if NOTES.exists() else {}
    if faults or cases >= notes.get(name, {"cases": 0})["cases"]:
        notes[name] = {"cases": cases, "comparisons": comparisons, "faults": faults}
    NOTES.write_text(json.dumps(notes, indent=1), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which ones (all): {', '.join(NAMES)}")
    parser.add_argument("--draws", type=int, default=1000, help="how many cases of each (1000)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="in how many processes")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no generator is called {', '.join(sorted(unknown))}: there are {', '.join(NAMES)}")
    faults = collections.Counter()
    spawn = multiprocessing.get_context("spawn")
    by_name = importlib.import_module(
        "tests.generators.__main__"
    ).tried  # processes that are spawned have another __main__
    with concurrent.futures.ProcessPoolExecutor(options.processes, mp_context=spawn) as pool:
        for name in options.names or NAMES:
            seeds = range(options.seed, options.seed + options.draws)
            compared = 0
            for count, wrong in pool.map(functools.partial(by_name, name), seeds, chunksize=8):
                compared += count
                if wrong:
                    faults[name] += 1
                    print(wrong, flush=True)
            note(name, options.draws, compared, faults[name])
            print(f"{name}: {options.draws} cases, {compared} comparisons, {faults[name]} faults", flush=True)
    return 1 if faults.total() else 0


if __name__ == "__main__":
    sys.exit(main())
