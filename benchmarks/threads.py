"""Whether threads get into each other's way: pullback's, those of NumPy's BLAS, and those of torch in the same process.

Each line is measured in processes of its own, and compares a step with the same step where nothing is in its way:

- a step of pullback's where BLAS has a thread for each processor, over one where BLAS has one thread only;
- torch's steps and pullback's, one after another in the same process, over those in a process without the other;
- NumPy's own product after pullback has multiplied matrices, over the same before: BLAS has its threads back;
- milliseconds of processor time that a process takes in the 50 ms after a step, asleep.

    scripts/bench threads [--quick]
"""

from __future__ import annotations

import argparse
import functools
import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from models import step_of
from processes import Process

GOAL, IDLE_GOAL = 1.1, 1.0
ONE = {"OPENBLAS_NUM_THREADS": "1"}
MODELS = ("mlp_large", "gpt", "gpt_by_hand")
WARM = 100  # steps, enough for machine code to take the place of BLAS

Step = Callable[[], Any]


@functools.cache
def warmed(library: str, name: str) -> Step:
    """A model's step, of which some have been made."""
    step = step_of(library, name)
    for _ in range(WARM):
        step()
    return step


def seconds(step: Step) -> float:
    """How long a step takes."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def alone(library: str, name: str, rounds: int) -> float:
    """The median seconds of a model's step."""
    step = warmed(library, name)
    return median(seconds(step) for _ in range(rounds))


def beside(library: str, other: str, name: str, rounds: int) -> float:
    """The same where each step follows one of another library."""
    step, before, times = warmed(library, name), warmed(other, name), []
    for _ in range(rounds):
        before()
        times.append(seconds(step))
    return median(times)


def product(library: str, name: str, rounds: int) -> float:
    """NumPy's product of two matrices, after steps of a library, over the same before."""
    matrix = np.random.default_rng(0).random((800, 800), np.float32)

    def multiply() -> Any:
        return matrix @ matrix

    times = []
    for _ in range(2):
        for _ in range(5):
            multiply()
        times.append(median(seconds(multiply) for _ in range(rounds)))
        alone(library, name, rounds)
    return times[1] / times[0]


def idle(library: str, name: str, rounds: int) -> float:
    """Milliseconds of the processors in the 50 ms after a step."""
    step, spent = warmed(library, name), []
    for _ in range(rounds):
        step()
        start = time.process_time()
        time.sleep(0.05)
        spent.append(time.process_time() - start)
    return median(spent) * 1e3


def fresh(function: Callable[..., float], *arguments: Any, **environment: str) -> float:
    """What a function returns in a process of its own."""
    process = Process(arguments[0].partition(" ")[0], environment)
    try:
        return float(process.call(function, *arguments))
    finally:
        process.end()


def ratios(name: str, rounds: int, turns: int) -> dict[str, float]:
    """The ratios for a model, medians of some turns."""
    found: dict[str, list[float]] = {}
    for _ in range(turns):
        own, its = fresh(alone, "pullback", name, rounds), fresh(alone, "torch", name, rounds)
        for told, ratio in (
            ("BLAS has all threads", own / fresh(alone, "pullback", name, rounds, **ONE)),
            ("compiled, BLAS has all threads", fresh(alone, "pullback compiled", name, rounds)
             / fresh(alone, "pullback compiled", name, rounds, **ONE)),
            ("after torch's step", fresh(beside, "pullback", "torch", name, rounds) / own),
            ("torch's step after ours", fresh(beside, "torch", "pullback", name, rounds) / its),
            ("NumPy's product afterwards", fresh(product, "pullback", name, rounds)),
        ):  # fmt: skip
            found.setdefault(told, []).append(ratio)
    return {told: median(each) for told, each in found.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Threads of several libraries on the same processors.")
    parser.add_argument("--quick", action="store_true", help="few steps, of one model")
    options = parser.parse_args()
    os.environ["THREADS"] = str(os.cpu_count())
    print(f"{os.cpu_count()} processors\n{'model':16} {'a step, over the same undisturbed':34} {'ratio':>6}")
    models, rounds, turns = (MODELS[:1], 10, 1) if options.quick else (MODELS, 30, 3)
    for name in models:
        for told, ratio in ratios(name, rounds, turns).items():
            print(f"{name:16} {told:34} {ratio:6.2f}  {'ok' if ratio <= GOAL else 'misses'}", flush=True)
        for library in ("pullback", "pullback compiled", "torch"):
            spent = fresh(idle, library, name, rounds)
            verdict = "" if library == "torch" else "ok" if spent <= IDLE_GOAL else "misses"
            print(f"{name:16} {'idle, ms: ' + library:34} {spent:6.2f}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
