"""Times the first calls of long programs: loops of Python that are unrolled, with their gradients.

Each first call runs in a fresh process, from an empty store, after another small function was compiled there.
jax.jit is not beside them: jax 0.10.2 cannot compile the first one ("Unknown MLIR failure").

    scripts/bench long [--quick]
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from processes import Process

import pullback

GOAL, CELLS_GOAL = 3.0, 0.5  # seconds


class Case(NamedTuple):
    """A function of a namespace and arrays, the arrays' shapes, and how many seconds are wanted."""

    value: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    goal: float


def chain(xp: Any, z: Any, w: Any) -> Any:
    """A product and a sine after another."""
    for _ in range(850):
        z = xp.sin(z * w)
    return z.sum()


def rows(xp: Any, x: Any, w: Any) -> Any:
    """Exponentials of rows, added."""
    total = w.sum()
    for k in range(500):
        total = total + xp.exp(x[k] * w).sum()
    return total


def products(xp: Any, x: Any, *weights: Any) -> Any:
    """Layers of small matrices, each with its own weight."""
    for weight in weights:
        x = xp.tanh(x @ weight)
    return x.sum()


def recurrent(xp: Any, x: Any, h: Any, w: Any, u: Any) -> Any:
    """A recurrent network, step by step."""
    for k in range(340):
        h = xp.tanh(x[k] @ w + h @ u)
    return (h * h).sum()


def cells(count: int) -> Callable[..., Any]:
    """An LSTM whose cells are written by hand."""

    def value(xp: Any, x: Any, h: Any, c: Any, w: Any, u: Any) -> Any:
        size = h.shape[1]
        for k in range(count):
            gates = x[k] @ w + h @ u
            i, f, g, o = (gates[:, j * size : (j + 1) * size] for j in range(4))
            c = c / (1 + xp.exp(-f)) + xp.tanh(g) / (1 + xp.exp(-i))
            h = xp.tanh(c) / (1 + xp.exp(-o))
        return (h * h).sum()

    return value


LSTM = ((8, 10), (8, 16), (8, 16), (10, 64), (16, 64))
CASES = {
    "850 products and sines": Case(chain, ((100,), (100,)), GOAL),
    "exponentials of 500 rows": Case(rows, ((500, 20), (20,)), GOAL),
    "500 layers of 8 x 8": Case(products, ((4, 8), *[(8, 8)] * 500), GOAL),
    "340 recurrent steps": Case(recurrent, ((340, 4, 8), (4, 8), (8, 8), (8, 8)), GOAL),
    "25 LSTM cells": Case(cells(25), ((25, *LSTM[0]), *LSTM[1:]), CELLS_GOAL),
    "83 LSTM cells": Case(cells(83), ((83, *LSTM[0]), *LSTM[1:]), GOAL),
}


def numbers(shapes: Any) -> Iterator[Any]:
    """Arrays of small random numbers in single precision."""
    rng = np.random.default_rng(0)
    for shape in shapes:
        yield (rng.standard_normal(shape) * 0.3).astype(np.float32)


def first(name: str) -> tuple[float, int]:
    """Seconds of the first call of a case, and how many operations were recorded; its gradients are those outside of it."""
    call(Case(lambda xp, x: xp.sin(x).sum(), ((10,),), 0))
    return call(CASES[name])


def call(case: Case) -> tuple[float, int]:
    """The same, for the first function or another one of a process."""
    arguments = [pullback.tensor(a, requires_grad=True) for a in numbers(case.shapes)]

    def step(*given: Any) -> Any:
        return pullback.autograd.grad(case.value(pullback, *given), given)

    compiled = pullback.compile(step)
    gc.collect()
    start = perf_counter()
    found = compiled(*arguments)
    seconds = perf_counter() - start
    for ours, right in zip(found, step(*arguments), strict=True):
        np.testing.assert_allclose(ours.numpy(), right.numpy(), rtol=1e-4, atol=1e-5)
    return seconds, compiled.report().recorded


def fresh(name: str) -> tuple[float, int]:
    """The same in a fresh process."""
    process = Process("pullback", {"PULLBACK_CACHE": "off"})
    try:
        found: tuple[float, int] = process.call(first, name)
        return found
    finally:
        process.end()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="First calls of long programs.")
    parser.add_argument("--quick", action="store_true", help="one call of each")
    options = parser.parse_args()
    print(f"{'gradient, first call':30} {'recorded':>8} {'seconds':>8} {'goal':>5}")
    for name, case in CASES.items():
        turns = [fresh(name) for _ in range(1 if options.quick else 3)]
        seconds = median(each for each, _ in turns)
        verdict = "ok" if seconds <= case.goal else "misses"
        print(f"{name:30} {turns[0][1]:8} {seconds:8.2f} {case.goal:5.1f}  {verdict}", flush=True)


if __name__ == "__main__":
    main()
