"""Shows that a graph of a million operations costs, per operation, what a graph of a thousand costs.

A chain of N operations is run forward, backward, to its second derivative, and let go of. Everything is checked: the
derivatives against a recurrence in plain numbers, and that reference counting alone, with the collector off, leaves
nothing of the graph alive. Each figure comes from a process of its own, so that its peak of memory is its own, and the
sizes take turns, so that a machine that slows down hits all alike. Nothing raises Python's recursion limit.

    python benchmarks/scaling.py [--quick] [--check] [--no-gc]
"""

from __future__ import annotations

import argparse
import gc
import math
import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import pullback

try:
    import resource
except ImportError:  # Windows does not say
    resource = None

GOAL = 1.2  # the largest time per operation over the smallest
SIZES = (1_000, 10_000, 100_000, 1_000_000)
PHASES = ("forward", "backward", "second", "release")
ROUNDS = 3
START, WEIGHT = 0.5, 1.0


class Jet(NamedTuple):
    """A number with its first and second derivative with respect to w."""

    value: float
    first: float
    second: float

    def times_weight(self) -> Jet:
        """Multiply by w, by the product rule."""
        return Jet(self.value * WEIGHT, self.value + self.first * WEIGHT, 2 * self.first + self.second * WEIGHT)

    def through(self, value: float, slope: float, bend: float) -> Jet:
        """Apply a function whose value and derivatives here are given, by the chain rule."""
        return Jet(value, slope * self.first, slope * self.second + bend * self.first**2)


def product(z: Any, w: Any) -> Any:
    """One operation."""
    return z * w


def mixture(z: Any, w: Any) -> Any:
    """Four operations; at w = 1 none of them lets the derivative die out or explode, however long the chain."""
    return -(z * w).sin().tanh()


def mixture_jet(z: Jet) -> Jet:
    """The same with derivatives."""
    z = z.times_weight()
    sine, cosine = math.sin(z.value), math.cos(z.value)
    z = z.through(sine, cosine, -sine)
    tangent = math.tanh(z.value)
    slope = 1 - tangent * tangent
    return z.through(-tangent, -slope, 2 * tangent * slope)


class Chain(NamedTuple):
    """What is repeated: in tensors, in plain numbers, and how many operations it is."""

    step: Callable[[Any, Any], Any]
    jet: Callable[[Jet], Jet]
    operations: int


CHAINS = {
    "z = z * w": Chain(product, Jet.times_weight, 1),
    "z = -(z * w).sin().tanh()": Chain(mixture, mixture_jet, 4),
}


class Figures(NamedTuple):
    """What one process found."""

    seconds: dict[str, float]  # per phase and operation
    alive: int  # objects of the graph that reference counting left, first order
    peaks: tuple[float, float] | None  # bytes per operation: first order, second order


def peak() -> int:
    """The largest memory of this process so far, in bytes; 0 where it is not known."""
    if resource is None:
        return 0
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * (1 if sys.platform == "darwin" else 1024)


def leaf() -> Any:
    """The weight that every operation takes."""
    return pullback.tensor(np.array(WEIGHT), requires_grad=True)


def run(chain: Chain, w: Any, size: int) -> Any:
    """Build the chain."""
    z, step = pullback.tensor(np.array(START)), chain.step
    for _ in range(size // chain.operations):
        z = step(z, w)
    return z


def left_alive(chain: Chain, size: int) -> int:
    """Count the objects that survive a forward and backward pass when nobody collects."""
    w = leaf()
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        run(chain, w, size).backward()
        w.grad = None
        return len(gc.get_objects()) - before
    finally:
        gc.enable()


def first_order(chain: Chain, size: int) -> tuple[dict[str, float], float]:
    """Time building a chain, pulling back through it, and letting go of one that was not pulled through."""
    w = leaf()
    z = run(chain, w, size)
    start = perf_counter()
    del z
    released = perf_counter()
    z = run(chain, w, size)
    built = perf_counter()
    z.backward()
    pulled = perf_counter()
    return {"release": released - start, "forward": built - released, "backward": pulled - built}, w.grad.item()


def second_order(chain: Chain, size: int) -> tuple[float, float]:
    """Time the gradient that is recorded and the gradient of that one."""
    w = leaf()
    z = run(chain, w, size)
    start = perf_counter()
    (first,) = pullback.autograd.grad(z, w, create_graph=True)
    (second,) = pullback.autograd.grad(first, w)
    return perf_counter() - start, second.item()


def must_equal(name: str, found: float, expected: float) -> None:
    """Refuse to time a wrong result."""
    if not math.isclose(found, expected, rel_tol=1e-9):
        raise ArithmeticError(f"the {name} derivative is {expected!r}, pullback says {found!r}")


def measure(name: str, size: int, *, collect: bool) -> Figures:
    """Everything about one chain of one size; runs in a process of its own."""
    chain = CHAINS[name]
    expected = Jet(START, 0.0, 0.0)
    for _ in range(size // chain.operations):
        expected = chain.jet(expected)

    left_alive(chain, chain.operations)  # what is only made on first use is made here
    base = peak()
    alive = left_alive(chain, size)
    if not collect:
        gc.disable()
    repetitions = max(1, 100_000 // size)
    times: dict[str, list[float]] = {phase: [] for phase in PHASES}
    for _ in range(repetitions):
        seconds, gradient = first_order(chain, size)
        must_equal("first", gradient, expected.first)
        for phase, taken in seconds.items():
            times[phase].append(taken)
    first_peak = peak()
    for _ in range(repetitions):
        taken, gradient = second_order(chain, size)
        must_equal("second", gradient, expected.second)
        times["second"].append(taken)
    peaks = ((first_peak - base) / size, (peak() - base) / size) if base else None
    return Figures({phase: median(taken) / size for phase, taken in times.items()}, alive, peaks)


def in_own_process(name: str, size: int, *, collect: bool) -> Figures:
    """Measure in a fresh process; one that recurses too deep in C dies, and is named."""
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            return pool.submit(measure, name, size, collect=collect).result()
    except BrokenProcessPool:
        sys.exit(f"scaling: {name}, {size:,} operations: the process died, of deep recursion in C or lack of memory")


def report(name: str, results: dict[int, list[Figures]]) -> list[str]:
    """Print the table of one chain and return what it misses."""
    print(f"\n{name}: us per operation, peak bytes per operation, objects left alive")
    print(f"{'operations':>12}" + "".join(f"{head:>10}" for head in (*PHASES, "peak", "peak 2nd", "alive")))
    columns: dict[str, list[float]] = {phase: [] for phase in PHASES}
    missed = []
    for size, found in results.items():
        for phase in PHASES:
            columns[phase].append(median(figures.seconds[phase] for figures in found))
        times = "".join(f"{columns[phase][-1] * 1e6:>10.2f}" for phase in PHASES)
        peaks = ["unknown"] * 2
        if all(figures.peaks for figures in found):
            peaks = [f"{median(order):.0f}" for order in zip(*(figures.peaks or () for figures in found), strict=True)]
        alive = max(figures.alive for figures in found)
        print(f"{size:>12,}{times}{peaks[0]:>10}{peaks[1]:>10}{alive:>10}")
        if alive > 0:
            missed.append(f"{name}, {size:,} operations: {alive} objects left alive")
    spreads = {phase: max(column) / min(column) for phase, column in columns.items()}
    print(f"{'spread':>12}" + "".join(f"{spread:>10.2f}" for spread in spreads.values()) + f"  goal {GOAL}")
    print(f"{'':>12}" + "".join(f"{'ok' if spread <= GOAL else 'misses':>10}" for spread in spreads.values()))
    return missed + [f"{name}, {phase}: spread {spread:.2f}" for phase, spread in spreads.items() if spread > GOAL]


def main() -> None:
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(prog="scaling", description="Times chains of a thousand to a million operations.")
    parser.add_argument("--quick", action="store_true", help="one round, to 10,000 operations: to see that it works")
    parser.add_argument("--check", action="store_true", help="exit with status 1 if a goal is missed")
    parser.add_argument("--no-gc", action="store_true", help="time with the collector off, to see what it costs")
    options = parser.parse_args()
    sizes, rounds = (SIZES[:2], 1) if options.quick else (SIZES, ROUNDS)

    print(f"pullback {pullback.__version__}, numpy {np.__version__}, python {sys.version.split()[0]}", end=", ")
    print(f"recursion limit {sys.getrecursionlimit()}, collector {'off' if options.no_gc else 'as by default'}")
    missed = []
    for name in CHAINS:
        results: dict[int, list[Figures]] = {size: [] for size in sizes}
        for _ in range(rounds):
            for size in sizes:
                results[size].append(in_own_process(name, size, collect=not options.no_gc))
        missed += report(name, results)
    print("\nall goals reached" if not missed else "\n" + "\n".join(f"missed: {line}" for line in missed))
    if options.check and missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
