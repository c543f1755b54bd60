"""Shows what `checkpoint_loop` stores and how often it runs steps again, against the schedule's theory.

A loop of N steps on a state of M numbers is taken forward and back; steps are counted, and the peak of memory is that of
tracemalloc, in states: 8 M bytes each. The theory says `slots` stored states, the graph of one step and its cotangents,
and `least_runs(N, slots)` runs (Griewank and Walther 2000). The gradient is checked against the plain loop's.

    python benchmarks/loops.py [--steps 10000] [--size 10000] [--check]
"""

from __future__ import annotations

import argparse
import sys
import tracemalloc
from time import perf_counter
from typing import Any

import numpy as np

import pullback
from pullback.autograd.revolve import least_runs

SLOTS = (3, 10, 100)
BESIDES = 10  # states: a step's graph, its cotangents, the gradients, and the small objects that Python holds back


class Step:
    """One step, which counts how often it is taken."""

    def __init__(self) -> None:
        self.weight = pullback.tensor(0.9999, dtype=pullback.float64, requires_grad=True)
        self.taken = 0

    def __call__(self, x: Any) -> Any:
        """The next state."""
        self.taken += 1
        return (x * self.weight).sin()


def gradients(step: Step, x: Any, y: Any) -> list[Any]:
    """Of the sum of the result, with respect to the first state and the weight."""
    return [g.numpy() for g in pullback.autograd.grad(y.sum(), [x, step.weight])]


def measure(n: int, size: int, slots: int) -> bool:
    """Print one line, and return whether it is as the theory says."""
    step, x = Step(), pullback.tensor(np.linspace(0, 1, size), requires_grad=True)
    gradients(step, x, pullback.checkpoint_loop(step, x, 2, slots=2))  # imports what is needed
    step.taken = 0
    tracemalloc.start()
    start = perf_counter()
    found = gradients(step, x, pullback.checkpoint_loop(step, x, n, slots=slots))
    seconds = perf_counter() - start
    peak = tracemalloc.get_traced_memory()[1] / (8 * size)
    tracemalloc.stop()
    again, least = step.taken - n, least_runs(n, slots)
    y = x
    for _ in range(n):
        y = step(y)
    same = all(map(np.array_equal, found, gradients(step, x, y)))
    print(
        f"{n} steps, {slots} slots: {again} runs again (theory {least}), peak {peak:.1f} states, "
        f"{1e6 * seconds / (n + again):.0f} us per run, gradients {'equal' if same else 'DIFFERENT'}"
    )
    return same and again == least and peak <= slots + BESIDES


def main() -> int:
    """Measure all; with --check fail if anything is not as the theory says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    good = [measure(options.steps, options.size, slots) for slots in SLOTS]
    return int(options.check and not all(good))


if __name__ == "__main__":
    sys.exit(main())
