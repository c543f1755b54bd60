"""Exported C beside machine code: the same programs, one thread, without Python around either.

Each program is recorded once, written by `export`, compiled by gcc, and run: its results and what it writes are compared with
those of machine code, which is called in turns with it by the same loop of C. Training steps are those of models.py, with Adam.

    scripts/bench export [--only NAME] [--quick] [--page FILE]
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, NamedTuple

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

import casadi_code
import models
import numpy as np
from casadi_code import LOOP

import pullback
from pullback import nn
from pullback.compile.export.bound import Bound, bound
from pullback.compile.export.exporting import writer
from pullback.compile.export.files import WrittenFunction, header, source
from pullback.compile.export.surroundings import FLAGS, distance
from pullback.compile.export.unit import Options, Unit
from pullback.compile.export.bound import together
from pullback.compile.machine import executable
from pullback.compile.machinery import Machinery

sys.path.append(str(Path(__file__).parents[1]))
from tests.compile import test_export

TURNS, SECONDS = 9, 0.02
Case = Callable[[], tuple[Any, Any]]
TRAINED = """mlp_small logistic_regression convnet lstm gru gpt graph_network skip_gram physics_informed sines mixture_density
    neural_differential_equation gaussian_mixture gaussian_process flow contrastive random_field deep_q policy_gradient""".split()
SMALL = """mlp_adam convnet_sgd transformer_block pendulum_by_scan kalman_by_scan ode_jacobian hessian ordering indexing branches
    algebra integers normalized""".split()


def trained(name: str) -> Case:
    """A step of a model, after the first ones, which make the optimizer's state."""

    def case() -> tuple[Any, Any]:
        step = models.step_of("pullback compiled", name)
        step()
        return step, ()

    return case


def gpt_forward() -> tuple[Any, Any]:
    """A layer of a transformer of 64 channels and 4 heads on 32 tokens, as it is evaluated."""
    pullback.manual_seed(0)
    layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, activation="gelu", batch_first=True)
    return (lambda x: layer(x).detach()), (pullback.randn(1, 32, 64),)


def dropout() -> tuple[Any, Any]:
    """A step of training with random numbers."""
    pullback.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 4))
    labels = pullback.arange(32) % 4
    return test_export.training(
        model, lambda m, x, t: nn.functional.cross_entropy(m(x), t), lambda p: pullback.optim.Adam(p), pullback.randn(32, 16), labels
    )


def monte_carlo() -> tuple[Any, Any]:
    """The price of an option by 1 000 random paths, and its derivatives."""

    def price(start: Any, spread: Any) -> Any:
        ends = start * (spread * pullback.randn(1000, dtype=pullback.float64) - spread**2 / 2).exp()
        return (ends - 1).clamp(min=0).mean()

    both = pullback.func.grad_and_value(price, argnums=(0, 1))
    return both, (pullback.tensor(1.0, dtype=pullback.float64), pullback.tensor(0.2, dtype=pullback.float64))


def bratu() -> tuple[Any, Any]:
    """The sparse Jacobian of u'' + exp(u) = 0 on a square of 20 by 20 points."""

    def residual(u: Any) -> Any:
        padded = nn.functional.pad(u.reshape(20, 20), (1, 1, 1, 1))
        around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
        return ((around - 4 * u.reshape(20, 20)) * 441 + u.reshape(20, 20).exp()).flatten()

    return (lambda u: pullback.sparse_jacobian(residual, u)), (pullback.linspace(0, 1, 400, dtype=pullback.float64),)


def rosenbrock() -> tuple[Any, Any]:
    """The sparse Hessian of Rosenbrock's function of 200 numbers."""
    f = lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    return (lambda x: pullback.sparse_hessian(f, x)), (pullback.linspace(0, 1, 200, dtype=pullback.float64),)


PROGRAMS: dict[str, Case] = {
    **{name.replace("_", " "): getattr(test_export, name) for name in SMALL},
    **{f.__name__.replace("_", " "): f for f in (gpt_forward, dropout, monte_carlo, bratu, rosenbrock)},
    "nine operations": lambda: casadi_code.nine()[:2],
    "orbit and Jacobian": lambda: casadi_code.orbit()[:2],
    "cart and pole": lambda: casadi_code.control()[:2],
    **{f"step: {name.replace('_', ' ')}": trained(name) for name in TRAINED},
}


class Built(NamedTuple):
    """A function of C: its size, its memory, the bytes of its text, and gcc's seconds."""

    library: Any
    text: int
    work: int
    state: int
    seconds: float
    arguments: int


def built(folder: Path, program: Bound, *, level: str = "-O3", **options: Any) -> Built:
    """A program through gcc."""
    unit = Unit("f", Options(**options), together("f", [program]))
    function = WrittenFunction(unit, program, writer(unit, program))
    (folder / "f.h").write_text(header("f", [function], static=False))
    (folder / "f.c").write_text(source("f", unit, [function], static=False))
    count = len(program.arguments) + len(program.outputs) + bool(program.state) + bool(function.rooms)
    given = ", ".join(f"(void *)a[{number}]" for number in range(count))
    (folder / "loop.c").write_text(LOOP.format(declared='#include "f.h"', call=f"f({given})"))
    flags = [*FLAGS.split(), level, "-march=native", "-fPIC"]
    began = time.perf_counter()
    subprocess.run(["gcc", *flags, "-c", "f.c"], cwd=folder, check=True)
    seconds = time.perf_counter() - began
    subprocess.run(["gcc", *flags, "-shared", "loop.c", "f.o", "-o", "f.so", "-lm"], cwd=folder, check=True)
    told = subprocess.run(["size", "f.o"], cwd=folder, check=True, capture_output=True, text=True).stdout
    text = sum(map(int, told.splitlines()[1].split()[:2]))
    state = sum(slot.value.nbytes for slot in program.state)
    return Built(ctypes.CDLL(str(folder / "f.so")), text, function.work, state, seconds, count)


def aligned(array: Any) -> Any:
    """A copy that begins where a line of the cache does, as compilers place static arrays."""
    array = np.asarray(array)
    room = np.zeros(array.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    found = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


class Arrays:
    """The memory of a call: arguments, results, state and work."""

    def __init__(self, program: Bound, made: Built) -> None:
        self.program = program
        self.state = aligned(np.zeros(made.state + 64 * len(program.state), np.uint8))
        self.results = [aligned(np.zeros(max(slot.value.size, 1), slot.value.dtype)) for slot in program.outputs]
        self.work = aligned(np.zeros(made.work + 64, np.uint8))
        made.library.f.restype = ctypes.c_int
        self.begin(made)
        every = [*self.given, *self.results, *[self.state] * bool(program.state), self.work][: made.arguments]
        self.pointers = (ctypes.c_void_p * len(every))(*[each.ctypes.data for each in every])

    def begin(self, made: Built) -> None:
        """Everything as it was recorded."""
        given = [aligned(slot.array) for slot in self.program.arguments]
        if not hasattr(self, "given"):
            self.given = given
        for old, new in zip(self.given, given, strict=True):
            old[...] = new
        if self.program.state:
            made.library.f_init(ctypes.c_void_p(self.state.ctypes.data))

    def found(self) -> Iterator[tuple[Any, Any]]:
        """Each result, and each slot that is written, with what it holds."""
        for slot, array in zip(self.program.outputs, self.results, strict=True):
            yield slot, array[: slot.value.size].reshape(slot.value.shape)
        place = 0
        held = {}
        for slot in self.program.state:
            width = slot.value.dtype.itemsize
            place = -(-place // width) * width
            held[slot.name] = self.state[place : place + slot.value.nbytes].view(slot.value.dtype).reshape(slot.value.shape)
            place += max(slot.value.size, 1) * width
        for number, slot in enumerate(self.program.arguments):
            if slot.written:
                yield slot, self.given[number]
        for slot in self.program.state:
            if slot.written:
                yield slot, held[slot.name]


def caller(library: Any, pointers: Any) -> Callable[[], float]:
    """The seconds of a call, by the loop of C."""
    timed = library.timed
    timed.restype, timed.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_int]
    address = ctypes.addressof(pointers)

    def seconds() -> float:
        return float(timed(address, max(1, int(SECONDS / max(timed(address, 1), 1e-8)))))

    return seconds


def machine(folder: Path, program: Bound) -> tuple[Callable[[], float], list[Any], bool]:
    """Calls of machine code, timed; what the first gives; whether Python is between, since a step of it has no code."""
    code = Machinery(program.program).executable
    arrays = [aligned(slot.array) for slot in program.inputs]
    outputs = code(*arrays)
    made = [*outputs, *[arrays[place] for place in _written(program)]]
    made = [np.array(each) for each in made]
    if len(code._assembly.stages) > 1:
        def seconds() -> float:
            began, count = time.process_time(), 0
            while time.process_time() - began < SECONDS:
                code(*arrays)
                count += 1
            return (time.process_time() - began) / count

        return seconds, made, True
    run = executable._Run(code, arrays)
    address = code._native.address(code._assembly.stages[0].name)
    text = LOOP.format(declared="", call="((int (*)(void *))a[0])((void *)a[1])")
    (folder / "machine.c").write_text(text)
    subprocess.run("gcc -O2 -shared -fPIC machine.c -o machine.so".split(), cwd=folder, check=True)
    pointers = (ctypes.c_void_p * 2)(address, run.address)
    timed = caller(ctypes.CDLL(str(folder / "machine.so")), pointers)
    timed.held = run, code, pointers  # type: ignore[attr-defined]
    return timed, made, False


def _written(program: Bound) -> list[int]:
    """The inputs that are written: arguments, then state, as `Arrays.found` has them."""
    written = [number for number, slot in enumerate(program.inputs) if slot.written]
    return sorted(written, key=lambda number: program.inputs[number].state)


class Row(NamedTuple):
    """What is told of a program."""

    name: str
    equations: int
    ours: float
    machine: float
    python: bool
    units: float
    fused: float
    numpy: float
    same: str
    built: Built


def measured(name: str, turns: int) -> Row:
    """One program."""
    function, args = PROGRAMS[name]()
    compiled = function if hasattr(function, "export") else pullback.compile(function)
    program = bound(compiled, "f", args, {})
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        gaps: dict[str, list[float]] = {}
        timed, expected, python = machine(root, program)
        for title, options in {"fused": {"fma": True, "level": "-O1"}, "plain": {}}.items():
            (root / title).mkdir()
            made = built(root / title, program, **options)
            arrays = Arrays(program, made)
            status = made.library.f(*map(ctypes.c_void_p, arrays.pointers))
            assert status == 0, f"{name}: check {status} failed"
            gaps[title] = [gap(found, other) for (_, found), other in zip(arrays.found(), expected, strict=True)]
        others = program.rounded_otherwise()
        slots = [slot for slot, _ in arrays.found()]
        numpy = [distance(array, others[slot.name][:1]) for slot, array in zip(slots, expected, strict=True)]
        ours = caller(made.library, arrays.pointers)
        pairs = []
        for _ in range(turns):
            arrays.begin(made)
            pairs.append((ours(), timed()))
    same = f"{sum(not each for each in gaps['plain'])} of {len(slots)}"
    times = [median(each) for each in zip(*pairs, strict=True)]
    return Row(
        name, len(program.program.equations), times[0], times[1], python,
        max(gaps["plain"], default=0), max(gaps["fused"], default=0), max(numpy, default=0), same, made,
    )  # fmt: skip


def gap(found: Any, expected: Any) -> float:
    """How far arrays are apart, in units in the last place of the largest element; infinity for whole numbers."""
    if found.tobytes() == np.ascontiguousarray(expected).tobytes():
        return 0.0
    if expected.dtype.kind != "f" or not np.array_equal(np.isfinite(found), np.isfinite(expected)):
        return 0.0 if np.array_equal(found, expected) else math.inf
    return distance(expected, [found])


def why(row: Row) -> str:
    """Why results have other bits."""
    if not row.units:
        return "same bits"
    return f"{row.units:.2g}; fused {row.fused:.2g}; NumPy {row.numpy:.2g}"


HEAD = "| program | equations | C, µs | machine code, µs | ratio | same arrays | units in the last place | code, KB | work, KB | state, KB | gcc, s |"


def line(row: Row) -> str:
    """A row of the table."""
    made, python = row.built, " *" * row.python
    return (
        f"| {row.name} | {row.equations} | {1e6 * row.ours:.3g} | {1e6 * row.machine:.3g}{python} | {row.ours / row.machine:.2f} | "
        f"{row.same} | {why(row)} | {made.text / 1000:.1f} | {made.work / 1000:.1f} | {made.state / 1000:.1f} | {made.seconds:.1f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", help="programs whose names have this in them")
    parser.add_argument("--quick", action="store_true", help="one turn of each: to see that it works, not to quote")
    parser.add_argument("--page", help="write the table as a page of the site")
    options = parser.parse_args()
    pullback.set_num_threads(1)
    rows = []
    print(HEAD, "|---" * HEAD.count(" | ") + "|---|", sep="\n")
    for name in PROGRAMS:
        if options.only is None or options.only in name:
            try:
                rows.append(measured(name, 1 if options.quick else TURNS))
                print(line(rows[-1]), flush=True)
            except Exception as error:
                print(f"| {name} | {type(error).__name__}: {error} |", flush=True)
    ratios = [row.ours / row.machine for row in rows if not row.python]
    print(f"\n{len(rows)} programs; geometric mean {geometric_mean(ratios):.2f}, median {median(ratios):.2f} of {len(ratios)}")


if __name__ == "__main__":
    main()
