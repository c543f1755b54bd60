"""Times pullback against torch: the same programs, each library in a process of its own, in turns.

A case is written once, in words both libraries know, and run by both on the same float32 numbers. They must agree
before they are timed. Then come rounds: in each, both take their turn, the first one alternating, so that a machine
that slows down or a neighbour that wakes up hits both alike. A ratio is that of the medians over the rounds. Threads
are each library's default, and the garbage collector runs as it does for users.

    scripts/bench [--quick] [--check] [--json FILE]
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from processes import FULL, QUICK, Effort, Process, Program, enough, in_turns, must_agree, verdict

import pullback

SMALL, LARGE = 0.6, 1.0  # goals: at most this part of torch's time
WARM = 0.25  # seconds that our program runs before it is timed: operations that recur are compiled meanwhile
IMPORT_GOAL = 0.025  # seconds more than NumPy's own import
WHEEL_GOAL = 300_000  # bytes


class Case(NamedTuple):
    """A program to be written in both libraries, and the ratio of their times that is wanted."""

    name: str
    goal: float
    write: Callable[[Any], Program]


def chain(library: Any, size: int, *, backward: bool) -> Program:
    """One hundred products, each of the last and the same w."""
    w = library.tensor(np.linspace(0.99, 1.01, size, dtype=np.float32), requires_grad=True)
    start = library.tensor(np.ones(size, np.float32))

    def forward() -> Any:
        z = start
        for _ in range(100):
            z = z * w
        return z

    def value_and_gradient() -> Sequence[Any]:
        w.grad = None
        z = forward()
        z.sum().backward()
        return z, w.grad

    return Program((lambda _: value_and_gradient()) if backward else (lambda _: (forward(),)))


def mixture(library: Any) -> Program:
    """Nine operations of different kinds on ten numbers, and the gradients of both inputs."""
    x = library.tensor(np.linspace(0.5, 2, 10, dtype=np.float32), requires_grad=True)
    w = library.tensor(np.linspace(1.5, -1, 10, dtype=np.float32), requires_grad=True)

    def step(_: None) -> Sequence[Any]:
        x.grad = w.grad = None
        value = (((x * w).sin() + x.log() / w.exp()).tanh() ** 3).mean()
        value.backward()
        return value, x.grad, w.grad

    return Program(step)


def perceptron(library: Any, batch: int, *widths: int) -> Program:
    """A training step: forward, cross-entropy, backward, descent, gradients reset."""
    random = np.random.default_rng(0)
    inputs = library.tensor(random.standard_normal((batch, widths[0]), dtype=np.float32))
    classes = library.tensor(random.integers(0, widths[-1], batch))
    layers = []
    for wide, narrow in pairwise(widths):
        weight = random.standard_normal((wide, narrow), dtype=np.float32) * np.float32((2 / wide) ** 0.5)
        bias = np.zeros(narrow, np.float32)
        layers.append((library.tensor(weight, requires_grad=True), library.tensor(bias, requires_grad=True)))
    *hidden_layers, (last_weight, last_bias) = layers
    parameters = [parameter for layer in layers for parameter in layer]

    def step(_: None) -> Sequence[Any]:
        hidden = inputs
        for weight, bias in hidden_layers:
            hidden = (hidden @ weight + bias).relu()
        loss = library.nn.functional.cross_entropy(hidden @ last_weight + last_bias, classes)
        loss.backward()
        with library.no_grad():
            for parameter in parameters:
                parameter.sub_(0.01 * parameter.grad)
                parameter.grad = None
        return loss, *parameters

    return Program(step)


def smallest_new(library: Any) -> Program:
    """The first backward call of a graph of one product; graph and leaf are made outside the timed part."""

    def prepare() -> tuple[Any, Any]:
        x = library.tensor(3.0, requires_grad=True)
        return x, x * x

    def step(pair: tuple[Any, Any]) -> Sequence[Any]:
        x, y = pair
        y.backward()
        return (x.grad,)

    return Program(step, prepare)


def smallest_again(library: Any) -> Program:
    """A backward call that keeps the graph of one product and adds to the gradient that is there."""
    x = library.tensor(3.0, requires_grad=True)
    y = x * x

    def step(_: None) -> Sequence[Any]:
        y.backward(retain_graph=True)
        return (x.grad,)

    return Program(step)


CASES = (
    Case("100 mul, 1 element, forward", SMALL, partial(chain, size=1, backward=False)),
    Case("100 mul, 1 element, and backward", SMALL, partial(chain, size=1, backward=True)),
    Case("100 mul, 100 elements, forward", SMALL, partial(chain, size=100, backward=False)),
    Case("100 mul, 100 elements, and backward", SMALL, partial(chain, size=100, backward=True)),
    Case("100 mul, 10 000 elements, forward", LARGE, partial(chain, size=10_000, backward=False)),
    Case("100 mul, 10 000 elements, and backward", LARGE, partial(chain, size=10_000, backward=True)),
    Case("nine operations on 10 numbers, and backward", SMALL, mixture),
    Case("MLP step, 16 x 32-32-10", SMALL, lambda library: perceptron(library, 16, 32, 32, 10)),
    Case("MLP step, 128 x 784-512-512-10", LARGE, lambda library: perceptron(library, 128, 784, 512, 512, 10)),
    Case("smallest backward, new graph", SMALL, smallest_new),
    Case("smallest backward, retain_graph", SMALL, smallest_again),
)


def write(library: Any, name: str) -> dict[str, Program]:
    """A case in one library."""
    return {name: next(case for case in CASES if case.name == name).write(library)}


def rounds(
    name: str, processes: dict[str, Process], effort: Effort, write: Callable[..., Any], *arguments: Any
) -> dict[str, list[float]]:
    """Seconds per step of each library in each round, for the one program that `write` makes."""
    programs = {}
    for library, process in processes.items():
        (programs[library],) = process.programs(write, *arguments).values()
    must_agree(name, programs)
    repetitions, spent = enough({name: programs["pullback"]}, WARM / 16), 0.0
    while spent < WARM:
        spent += programs["pullback"].turn(repetitions)
    return in_turns(programs, effort)


def compare(processes: dict[str, Process], effort: Effort) -> list[dict[str, Any]]:
    """Measure every case and print the table, line by line."""
    print(f"\n{'case':<45}{'pullback us':>13}{'torch us':>13}{'ratio':>8}{'goal':>7}")
    rows = []
    for case in CASES:
        times = rounds(case.name, processes, effort, write, case.name)
        ours, theirs = median(times["pullback"]), median(times["torch"])
        ratio = ours / theirs
        ok = ratio <= case.goal
        line = f"{case.name:<45}{ours * 1e6:>13.2f}{theirs * 1e6:>13.2f}{ratio:>8.2f}{case.goal:>7.1f}  {verdict(ok)}"
        print(line, flush=True)
        rows.append({"name": case.name, "seconds": times, "ratio": ratio, "goal": case.goal, "ok": ok})
    return rows


def import_seconds(module: str) -> float:
    """Seconds that the import takes in a process of its own."""
    program = f"from time import perf_counter as now; start = now(); import {module}; print(now() - start)"
    return float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)


def import_row(processes: int = 9) -> dict[str, Any]:
    """Compare the best import of pullback with the best import of NumPy."""
    pairs = [(import_seconds("numpy"), import_seconds("pullback")) for _ in range(processes)]
    plain, ours = map(min, zip(*pairs, strict=True))
    ok = ours - plain <= IMPORT_GOAL
    print(
        f"\nimport, best of {processes} processes: numpy {plain * 1e3:.1f} ms, pullback {ours * 1e3:.1f} ms, "
        f"that is {(ours - plain) * 1e3:+.1f} ms, goal {IMPORT_GOAL * 1e3:+.0f} ms: {verdict(ok)}"
    )
    return {"name": "import", "numpy": plain, "pullback": ours, "goal": IMPORT_GOAL, "ok": ok}


def wheel_rows() -> list[dict[str, Any]]:
    """Weigh the newest wheel in dist/, if there is one."""
    dist = Path(__file__).resolve().parent.parent / "dist"
    wheels = sorted(dist.glob("pullback-*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    if not wheels:
        print("wheel: none in dist/ (scripts/check builds and weighs one)")
        return []
    size = wheels[-1].stat().st_size
    ok = size <= WHEEL_GOAL
    print(f"wheel: {wheels[-1].name}: {size / 1000:.1f} kB, goal {WHEEL_GOAL / 1000:.0f} kB: {verdict(ok)}")
    return [{"name": "wheel", "file": wheels[-1].name, "bytes": size, "goal": WHEEL_GOAL, "ok": ok}]


def blas_threads() -> int | None:
    """What the OpenBLAS inside NumPy's wheel says; None for another BLAS, as in Apple's wheels and in distributions."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for file in folder.glob("*openblas*"):
            library = ctypes.CDLL(str(file))
            for name in ("scipy_openblas_get_num_threads64_", "openblas_get_num_threads64_"):
                if hasattr(library, name):
                    return int(getattr(library, name)())
    return None


def surroundings(torch: Any) -> dict[str, Any]:
    """Versions and threads, printed: what the figures depend on."""
    versions = {
        "pullback": pullback.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    threads = {"torch": torch.get_num_threads(), "numpy": blas_threads(), "cores": os.cpu_count()}
    print(", ".join(f"{name} {version}" for name, version in versions.items()), f"on {platform.platform()}")
    blas = threads["numpy"] or "unknown"
    print(f"threads: torch {threads['torch']}, NumPy's BLAS {blas}; {threads['cores']} cores")
    return {"versions": versions, "threads": threads, "platform": platform.platform()}


def main() -> None:
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(prog="eager", description="Times pullback against torch, in turns.")
    parser.add_argument("--quick", action="store_true", help="few short rounds: to see that it works, not to quote")
    parser.add_argument("--check", action="store_true", help="exit with status 1 if a goal is missed")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every round to FILE")
    options = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        sys.exit("eager: torch is not installed here: run scripts/bench, which makes an environment with torch 2.13.0")
    torch = importlib.import_module("torch")

    report = surroundings(torch)
    rows = compare({name: Process(name) for name in ("pullback", "torch")}, QUICK if options.quick else FULL)
    rows += [import_row(), *wheel_rows()]
    missed = [row["name"] for row in rows if not row["ok"]]
    print(
        f"\n{len(rows) - len(missed)} of {len(rows)} goals reached" + "".join(f"\n  missed: {name}" for name in missed)
    )
    if options.json:
        options.json.write_text(json.dumps(report | {"quick": options.quick, "rows": rows}, indent=2) + "\n")
    if options.check and missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
