"""Exported C beside machine code: the same programs, one thread, without Python around either.

Each program is recorded once, written by `export`, compiled by gcc, and run: its results and what it writes are compared with
those of machine code, which is called in turns with it by the same loop of C. Training steps are those of models.py, with Adam.

    scripts/bench export [--only NAME] [--quick] [--page FILE]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
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
from pullback.compile.export.bound import Bound, Slot, bound, together
from pullback.compile.export.exporting import writer
from pullback.compile.export.files import WrittenFunction, header, source
from pullback.compile.export.surroundings import FLAGS, distance
from pullback.compile.export.unit import Options, Unit
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
        model,
        lambda m, x, t: nn.functional.cross_entropy(m(x), t),
        pullback.optim.Adam,
        pullback.randn(32, 16),
        labels,
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

    def f(x: Any) -> Any:
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

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
    """A function of C: the bytes of its code and of its memory, gcc's seconds, and how many pointers it is given."""

    library: Any
    text: int
    work: int
    state: int
    seconds: float
    pointers: int


def built(folder: Path, program: Bound, *, level: str = "-O3", **options: Any) -> Built:
    """A program through gcc, with zeros for the values of the state."""
    slots = [replace(each, array=np.zeros_like(each.array)) if each.state else each for each in program.inputs]
    blank = replace(program, inputs=slots)
    unit = Unit("f", Options(**options), together("f", [blank]))
    function = WrittenFunction(unit, blank, writer(unit, blank))
    (folder / "f.h").write_text(header("f", [function], static=False))
    (folder / "f.c").write_text(source("f", unit, [function], static=False))
    count = len(program.arguments) + len(program.outputs) + bool(program.state) + bool(function.rooms)
    given = ", ".join(f"(void *)a[{number}]" for number in range(count))
    (folder / "loop.c").write_text(LOOP.format(declared='#include "f.h"', call=f"f({given})"))
    flags = [*FLAGS.split(), level, "-march=native", "-fPIC"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(["gcc", *flags, "-c", "f.c"], cwd=folder, check=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
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
        self.given = [aligned(slot.array) for slot in program.arguments]
        self.results = [aligned(np.zeros(max(slot.value.size, 1), slot.value.dtype)) for slot in program.outputs]
        state = aligned(np.zeros(made.state + 64 * len(program.state), np.uint8))
        self.state, place = [], 0
        for slot in program.state:
            width, size = slot.value.dtype.itemsize, max(slot.value.size, 1)
            place = -(-place // width) * width
            self.state.append(state[place : place + size * width].view(slot.value.dtype))
            place += size * width
        every = [
            *self.given,
            *self.results,
            *[state] * bool(program.state),
            aligned(np.zeros(made.work + 64, np.uint8)),
        ]
        self.held = every[: made.pointers]
        self.pointers = (ctypes.c_void_p * made.pointers)(*[each.ctypes.data for each in self.held])
        self.begin()

    def begin(self) -> None:
        """Everything as it was recorded."""
        slots, arrays = [*self.program.arguments, *self.program.state], [*self.given, *self.state]
        for slot, array in zip(slots, arrays, strict=True):
            array.reshape(-1)[: slot.value.size] = np.asarray(slot.array).reshape(-1)

    def found(self) -> Iterator[tuple[Slot, Any]]:
        """Each result, and each slot that is written, with what it holds."""
        written = [
            *zip(self.program.arguments, self.given, strict=True),
            *zip(self.program.state, self.state, strict=True),
        ]
        pairs = [*zip(self.program.outputs, self.results, strict=True), *[pair for pair in written if pair[0].written]]
        for slot, array in pairs:
            yield slot, array.reshape(-1)[: slot.value.size].reshape(slot.value.shape)


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
    """What is told of a program: seconds, distances in units in the last place, bytes."""

    name: str
    equations: int
    ours: float
    machine: float
    python: bool
    same: str
    units: float
    fused: float
    numpy: float
    text: int
    work: int
    state: int
    gcc: float


def measured(name: str, turns: int) -> Row:
    """One program."""
    function, args = PROGRAMS[name]()
    compiled = function if hasattr(function, "export") else pullback.compile(function)
    program = bound(compiled, "f", args, {})
    together("f", [program])  # names the state
    with tempfile.TemporaryDirectory() as place:
        root, gaps, pairs = Path(place), [], []
        timed, expected, python = machine(root, program)
        for options in ({"fma": True, "level": "-O0"}, {}):
            folder = root / f"fused-{len(options)}"
            folder.mkdir()
            made = built(folder, program, **options)
            arrays = Arrays(program, made)
            status = made.library.f(*map(ctypes.c_void_p, arrays.pointers))
            assert status == 0, f"{name}: check {status} failed"
            gaps.append([gap(found, other) for (_, found), other in zip(arrays.found(), expected, strict=True)])
        ours = caller(made.library, arrays.pointers)
        for _ in range(turns):
            arrays.begin()
            pairs.append((ours(), timed()))
    others, slots = program.rounded_otherwise(), [slot for slot, _ in arrays.found()]
    numpy = [distance(array, others[slot.name][:1]) for slot, array in zip(slots, expected, strict=True)]
    times = [median(each) for each in zip(*pairs, strict=True)]
    fused, plain = (max(each, default=0.0) for each in gaps)
    same = f"{sum(not each for each in gaps[1])} of {len(slots)}"
    sizes = made.text, made.work, made.state, made.seconds
    return Row(
        name, len(program.program.equations), *times, python, same, plain, fused, max(numpy, default=0.0), *sizes
    )


def gap(found: Any, expected: Any) -> float:
    """How far arrays are apart, in units in the last place of the largest element; infinity for whole numbers."""
    if found.tobytes() == np.ascontiguousarray(expected).tobytes():
        return 0.0
    if expected.dtype.kind != "f" or not np.array_equal(np.isfinite(found), np.isfinite(expected)):
        return 0.0 if np.array_equal(found, expected) else math.inf
    return distance(expected, [found])


HEAD = (
    "| program | equations | C, µs | machine code, µs | ratio | same arrays | units apart | fused | NumPy | code, KB | work, KB "
    "| state, KB | gcc, s |\n|---|" + "---:|" * 12
)
PAGE = """# Exported programs

`scripts/bench export --page FILE` wrote this page on {day}: {processor}, {gcc}, NumPy {numpy}, Python {python}. Each of {count} programs
is recorded once and [exported](../how-to/export.md) with default options, and the C file compiled with
`{flags} -march=native`. A loop in C
calls it in turns with the machine code of `pullback.compile`, both on one thread, without Python around either; a row has medians
of {turns} turns, of the processor's time. Steps are those of training the [models](models.md) with Adam; the other programs are those of
[the tests](../../tests/compile/test_export.py) and of [benchmarks/export.py](../../benchmarks/export.py).

- same arrays: how many results, and tensors that are written, have the bits of machine code;
- units apart: the largest distance of the others, in units in the last place of the largest element of each;
- fused: the same with `fma=True`: where it is 0, fused multiply-adds are the whole difference; else exponentials in another form or
  sums in another order;
- NumPy: how far the program by NumPy's calls is from machine code;
- code: instructions and constants, without the values of the state at the export.

{summary}

{table}

`*`: a step of machine code runs in Python, so C has an advantage, and the row is not in the mean.

## Where the time goes

Rows above 2 are matrix products, for the most part: three quarters of the time of *gpt forward*. Machine code has fused multiply-adds
in the widest registers of the processor; C multiplies and adds one after the other, so that each compiler gives the same bits, and
gcc takes registers of 32 bytes. With `fma=True`, the ratio of *gpt forward* is 1.7, that of *graph network* 1.8. Of weights that a layer
has turned, `x @ weight.T`, rows are copied first, element after element, which is a quarter of *gpt forward*. `products="cblas"` leaves
large products to a library. *step: convnet* has its convolutions as products with the windows of each image, which BLAS multiplies
in machine code.

*algebra* is apart from LAPACK by a determinant, whose elimination takes its steps in another order. Beside exact numbers, of 200 such
matrices, the error of the determinant is 1.04 units in the last place in the median, of LAPACK's 1.02; of the eigenvalues 0.7 and 1.4.
"""


def line(row: Row) -> str:
    """A row of the table."""
    python = " *" * row.python
    return (
        f"| {row.name} | {row.equations} | {1e6 * row.ours:.3g} | {1e6 * row.machine:.3g}{python} | {row.ours / row.machine:.2f} | "
        f"{row.same} | {row.units:.2g} | {row.fused:.2g} | {row.numpy:.2g} | {row.text / 1000:.1f} | {row.work / 1000:.1f} | "
        f"{row.state / 1000:.1f} | {row.gcc:.1f} |"
    )


def summary(rows: list[Row]) -> str:
    """What the table says together."""
    ratios = [row.ours / row.machine for row in rows if not row.python]
    same, within = sum(not row.units for row in rows), sum(row.units <= 2 * row.numpy + 1 for row in rows)
    return (
        f"The geometric mean of the time over that of machine code is {geometric_mean(ratios):.2f}, the median {median(ratios):.2f}, of "
        f"{len(ratios)} programs. {same} have the same bits throughout, {sum(not row.fused for row in rows)} with `fma=True`; {within} "
        "are within a unit and twice the distance of NumPy."
    )


def page(rows: list[Row], turns: int) -> str:
    """The table as a page of the site."""
    cores, named = models.processor()
    gcc = subprocess.run(["gcc", "-dumpfullversion"], check=True, capture_output=True, text=True).stdout.strip()
    return PAGE.format(
        day=time.strftime("%Y-%m-%d"), processor=f"{cores} cores of {named}", gcc=f"gcc {gcc}", numpy=np.__version__,
        python=sys.version.split()[0], count=len(rows), flags=FLAGS, turns=turns, summary=summary(rows),
        table="\n".join([HEAD, *map(line, rows)]),
    )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", help="programs whose names have this in them")
    parser.add_argument("--quick", action="store_true", help="one turn of each: to see that it works, not to quote")
    parser.add_argument("--json", help="keep the rows in this file; what is there is not measured again")
    parser.add_argument("--page", help="write the table as a page of the site")
    options = parser.parse_args()
    pullback.set_num_threads(1)
    kept = Path(options.json) if options.json else None
    known = json.loads(kept.read_text("utf-8")) if kept and kept.exists() else {}
    turns, rows = 1 if options.quick else TURNS, []
    print(HEAD)
    for name in PROGRAMS:
        if options.only is None or options.only in name:
            known[name] = known.get(name) or measured(name, turns)
            rows.append(Row(*known[name]))
            print(line(rows[-1]), flush=True)
            if kept:
                kept.write_text(json.dumps(known), "utf-8")
    print(f"\n{summary(rows)}")
    if options.page:
        Path(options.page).write_text(page(rows, turns), encoding="utf-8")


if __name__ == "__main__":
    main()
