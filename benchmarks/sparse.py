"""Times sparse Jacobians and Hessians, compiled, against CasADi's: its virtual machine, and the C code that it writes.

The Jacobian of the Bratu problem on a square grid, and the Hessian of Rosenbrock's function in many variables. CasADi's functions
are called with buffers, which is its quickest way from Python; ours return the matrix. Both run in processes of their own with
one thread, in turns, and must give the same entries (all these matrices are symmetric, so theirs by columns are ours by rows).

    scripts/bench sparse [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from gradbench import THREADS
from processes import FULL, QUICK, Process, Program, Runs, in_turns, must_agree, verdict

COMPILER = {"compiler": "shell", "jit_options": {"flags": ["-O3", "-march=native"]}}


class Case(NamedTuple):
    """A matrix: its function, of how many unknowns, and what is asked of our time over CasADi's virtual machine's."""

    name: str
    unknowns: int
    asked: float
    by_code: bool = False
    """Whether CasADi's C is timed, too: of large functions, compiling it takes minutes."""


CASES = (Case("Bratu", 2500, 1.5, True), Case("Bratu", 10_000, 1.0), Case("Rosenbrock", 10_000, 1.0))


def point(unknowns: int) -> np.ndarray[Any, Any]:
    """Where the matrix is computed."""
    return np.linspace(0, 1, unknowns)


def bratu(torch: Any, u: Any) -> Any:
    """The residual of u'' + exp(u) = 0 on a square whose borders are 0."""
    n = round(u.numel() ** 0.5)
    grid = u.reshape(n, n)
    padded = torch.nn.functional.pad(grid, (1, 1, 1, 1))
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return ((around - 4 * grid) * (n + 1) ** 2 + grid.exp()).flatten()


def rosenbrock(x: Any) -> Any:
    """Rosenbrock's function, of pairs of neighbours."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def by_pullback(torch: Any, case: Case) -> dict[str, Program]:
    """The matrix, compiled."""
    if case.name == "Bratu":
        step = torch.compile(lambda x: torch.sparse_jacobian(partial(bratu, torch), x), fullgraph=True)
    else:
        step = torch.compile(lambda x: torch.sparse_hessian(rosenbrock, x), fullgraph=True)
    x = torch.from_numpy(point(case.unknowns))
    return {"pullback": Program(lambda _: (step(x).data,))}


def by_casadi(casadi: Any, case: Case) -> dict[str, Program]:
    """The matrix by CasADi's virtual machine and, if asked for, by its C code."""
    x = casadi.SX.sym("x", case.unknowns)
    if case.name == "Bratu":
        n = round(case.unknowns**0.5)
        grid = casadi.reshape(x, n, n)
        row, column = casadi.SX(1, n), casadi.SX(n, 1)
        around = casadi.vertcat(row, grid[:-1, :]) + casadi.vertcat(grid[1:, :], row)
        around += casadi.horzcat(column, grid[:, :-1]) + casadi.horzcat(grid[:, 1:], column)
        matrix = casadi.jacobian(casadi.vec((around - 4 * grid) * (n + 1) ** 2 + casadi.exp(grid)), x)
    else:
        matrix, _ = casadi.hessian(casadi.sum1(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), x)
    made = {"VM": casadi.Function("matrix", [x], [matrix])}
    if case.by_code:
        made["C"] = casadi.Function("matrix", [x], [matrix], {"jit": True, **COMPILER})
    return {name: buffered(function, case) for name, function in made.items()}


def buffered(function: Any, case: Case) -> Program:
    """A function of CasADi's that reads and writes the same memory at each call."""
    buffer, call = function.buffer()
    given, found = point(case.unknowns), np.zeros(function.nnz_out(0))
    buffer.set_arg(0, memoryview(given))
    buffer.set_res(0, memoryview(found))

    def step(_: None) -> tuple[Any, ...]:
        call()
        return buffer, given, found

    return Program(lambda _: (step(None)[2],))


def main() -> int:
    """Print the table; 1 if a ratio is larger than what is asked."""
    parser = argparse.ArgumentParser(description="Sparse Jacobians and Hessians: CasADi and pullback compiled.")
    parser.add_argument("--quick", action="store_true", help="few short turns: to see that it works, not to quote")
    parser.add_argument("--json", metavar="FILE", type=Path)
    options = parser.parse_args()
    processes = {name: Process(name, dict.fromkeys(THREADS, "1")) for name in ("casadi", "pullback")}
    print(
        f"{'microseconds':24} {'VM':>8} {'C':>8} {'pullback':>9} {'of VM':>6} {'asked':>6}   seconds to make: CasADi, pullback"
    )
    rows, missed = [], 0
    for case in CASES:
        programs: dict[str, Runs] = {}
        made = []
        for name, write in (("casadi", by_casadi), ("pullback", by_pullback)):
            start = time.perf_counter()
            programs.update(processes[name].programs(write, case))
            [*programs.values()][-1].results()  # the first call, which compiles ours
            made.append(time.perf_counter() - start)
        must_agree(case.name, programs)
        times = in_turns(programs, QUICK if options.quick else FULL)
        took = {name: median(found) * 1e6 for name, found in times.items()}
        # The median of the ratios of each round: a busy machine slows both.
        ratio = median(a / b for a, b in zip(times["pullback"], times["VM"], strict=True))
        missed += ratio > case.asked
        cells = " ".join(
            f"{took.get(name, float('nan')):>{width}.1f}" for name, width in (("VM", 8), ("C", 8), ("pullback", 9))
        )
        told = f"{verdict(ratio <= case.asked)}   {made[0]:.1f}, {made[1]:.2f}"
        print(f"{case.name + ' ' + str(case.unknowns):24} {cells} {ratio:>6.2f} {case.asked:>6.1f} {told}", flush=True)
        rows.append({"case": case._asdict(), "seconds": times, "ratio": ratio})
    for process in processes.values():
        process.end()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
