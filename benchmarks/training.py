"""Times a training step of each example's model: pullback, torch, torch.compile and pullback.compile.

The models, losses, optimizers and batches are those of examples/. All four start from the same weights, and must have
the same losses for ten steps before they are timed, each library in a process of its own, in turns, as in benchmarks/eager.py. pullback
compiles the whole step, optimizer and all; torch.compile takes the model with its loss, and torch's optimizer is then
its fused one. Then, each in a process of its own: the seconds from nothing to the end of the first step.

    scripts/bench training [--quick] [--only NAME] [--without-compile] [--check] [--json FILE]
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import itertools
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from processes import FULL, QUICK, Away, Effort, Process, Program, in_turns, verdict

import pullback

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
from beside_torch import Task, same_model, step_of  # noqa: E402

START_GOAL = 0.25  # of torch's seconds to the end of the first step
BATCHES = 4  # that are gone through again and again
CHECKED = 10  # steps: enough for a compiler to give up on a function that it has compiled again and again


class Case(NamedTuple):
    """An example, and the ratios that are wanted: eager to torch eager, compiled to the better torch."""

    name: str
    example: str
    eager: float
    compiled: float


CASES = (
    Case("MLP 128 x 64-256-256-10", "perceptron", 1.0, 0.8),
    Case("convnet on digits", "digits", 1.5, 1.2),
    Case("LSTM that adds", "adding", 1.0, 0.8),
    Case("transformer of characters", "characters", 1.0, 0.8),
    Case("Poisson, second derivatives", "poisson", 1.0, 0.8),
    Case("REINFORCE, pole", "pole", 1.0, 0.8),
)


def perceptron() -> Task:
    """A network of three linear maps, on random pictures; no example has one of this size."""

    def model(library: Any) -> Any:
        nn = library.nn
        return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))

    def batch(step: int, _: Any = None) -> Sequence[np.ndarray[Any, Any]]:
        rng = np.random.default_rng(step)
        return rng.random((128, 64), np.float32), rng.integers(0, 10, 128)

    def loss(library: Any, net: Any, images: Any, labels: Any) -> Any:
        return library.nn.functional.cross_entropy(net(images), labels)

    return Task(model, loss, lambda library, parameters: library.optim.Adam(parameters, lr=1e-3), batch)


def task_of(example: str) -> Task:
    """What an example trains."""
    return perceptron() if example == "perceptron" else importlib.import_module(example).TASK


def fused(task: Task) -> Task:
    """The same with torch's fused optimizer."""

    def optimizer(library: Any, parameters: Any) -> Any:
        plain = task.optimizer(library, parameters)
        return type(plain)(plain.param_groups, fused=True)

    return task._replace(optimizer=optimizer)


def steps_of(library: Any, task: Task, compiled: bool) -> dict[str, Callable[..., Any]]:
    """The steps of one library, each of a model of its own with the same weights in all of them."""
    pullback.manual_seed(0)
    mine = task.model(pullback)

    def step(task: Task) -> Callable[..., Any]:
        return step_of(task, library, same_model(task, library, mine))

    steps = {library.__name__: step(task)}
    if compiled and library is pullback:
        steps["pullback.compile"] = pullback.compile(step(task), fullgraph=True)
    elif compiled:
        steps["torch.compile"] = step(fused(task)._replace(loss=library.compile(task.loss)))
    return steps


def batches_of(task: Task) -> list[tuple[np.ndarray[Any, Any], ...]]:
    """The batches that are gone through."""
    pullback.manual_seed(0)
    net = task.model(pullback)
    return [tuple(task.batch(number, net)) for number in range(BATCHES)]


def write(library: Any, example: str, compiled: bool) -> dict[str, Program]:
    """The steps of one library on one batch after another."""
    warnings.simplefilter("ignore", FutureWarning)
    task = task_of(example)
    batches = [tuple(map(library.tensor, batch)) for batch in batches_of(task)]

    def program(step: Callable[..., Any]) -> Program:
        turns = itertools.cycle(batches)
        return Program(lambda _: (step(*next(turns)),))

    return {name: program(step) for name, step in steps_of(library, task, compiled).items()}


def agreeing(programs: dict[str, Away]) -> dict[str, str]:
    """Train for some steps and compare the losses; those that fail are taken out and told, with what they say."""
    refused = {}
    truth = [programs["pullback"].results() for _ in range(CHECKED)]
    for name in [name for name in programs if name != "pullback"]:
        try:
            found = [programs[name].results() for _ in range(CHECKED)]
        except Exception as error:  # noqa: BLE001, what a compiler refuses has many names
            refused[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
            del programs[name]
        else:
            np.testing.assert_allclose(found, truth, rtol=1e-3, atol=1e-4, err_msg=name)
    return refused


def measured(case: Case, processes: Sequence[Process], effort: Effort, compiled: bool) -> dict[str, Any]:
    """One line of the table."""
    programs: dict[str, Away] = {}
    for process in processes:
        programs |= process.programs(write, case.example, compiled)
    refused = agreeing(programs)
    times = in_turns(programs, effort)
    seconds = {name: median(found) for name, found in times.items()}
    best = min(value for name, value in seconds.items() if name.startswith("torch"))
    eager = seconds["pullback"] / seconds["torch"]
    fast = seconds.get("pullback.compile", float("nan")) / best
    rates = "".join(f"{1 / seconds[name]:>12.1f}" if name in seconds else f"{'-':>12}" for name in COLUMNS)
    judged = f"{eager:>7.2f}{case.eager:>5.1f} {verdict(eager <= case.eager):<7}"
    if compiled:
        judged += f"{fast:>7.2f}{case.compiled:>5.1f} {verdict(fast <= case.compiled)}"
    print(f"{case.name:<30}{rates}{judged}", flush=True)
    for name, reason in refused.items():
        print(f"    {name}: {reason}")
    ok = eager <= case.eager and (not compiled or fast <= case.compiled)
    return {"name": case.name, "seconds": times, "eager": eager, "compiled": fast, "refused": refused, "ok": ok}


COLUMNS = ("pullback", "torch", "pullback.compile", "torch.compile")

# Start. The clock begins before the first import. In torch's process everything but torch has been imported before it
# does, NumPy too: the example, which is written with pullback's names around it, must not count against torch.
FIRST_STEP = """
import sys
from time import perf_counter
folder, examples, example, name, file = sys.argv[1:]
sys.path[:0] = [folder, examples]
if name == "torch":
    import numpy, training
    task = training.task_of(example)
start = perf_counter()
import numpy
library = __import__(name)
if name == "pullback":
    from beside_torch import step_of
    import training
    task = training.task_of(example)
else:
    step_of = training.step_of
with numpy.load(file) as arrays:
    batch = [library.tensor(array) for array in arrays.values()]
loss = step_of(task, library, task.model(library))(*batch).item()
print(perf_counter() - start)
"""


def first_step(case: Case, processes: int) -> dict[str, Any]:
    """Seconds from the first import to the end of the first step, the best of several processes."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "batch.npz")
        np.savez(file, *batches_of(task_of(case.example))[0])
        found: dict[str, list[float]] = {"pullback": [], "torch": []}
        for _ in range(processes):
            for name, times in found.items():
                arguments = [str(Path(__file__).resolve().parent), str(EXAMPLES), case.example, name, file]
                done = subprocess.run(
                    [sys.executable, "-c", FIRST_STEP, *arguments], check=True, capture_output=True, text=True
                )
                times.append(float(done.stdout))
    ours, theirs = min(found["pullback"]), min(found["torch"])
    ok = ours <= START_GOAL * theirs
    line = f"{case.name:<30}{ours:>12.3f}{theirs:>12.3f}{ours / theirs:>7.2f}{START_GOAL:>6.2f} {verdict(ok)}"
    print(line, flush=True)
    return {"name": f"start: {case.name}", "seconds": found, "ratio": ours / theirs, "ok": ok}


def main() -> None:
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(prog="training", description="Times training steps of the examples against torch.")
    parser.add_argument("--quick", action="store_true", help="few short rounds: to see that it works, not to quote")
    parser.add_argument("--only", metavar="NAME", default="", help="the cases whose name holds NAME")
    parser.add_argument(
        "--without-compile", action="store_true", help="leave out what is compiled: torch takes minutes"
    )
    parser.add_argument("--check", action="store_true", help="exit with status 1 if a goal is missed")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every round to FILE")
    options = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        raise SystemExit("torch is not installed: there is nothing to compare with")
    warnings.simplefilter("ignore", FutureWarning)
    cases = [case for case in CASES if options.only in case.name]
    if importlib.util.find_spec("sklearn") is None:
        print("scikit-learn is not installed: the digits are left out")
        cases = [case for case in cases if case.example != "digits"]
    heads = "".join(f"{name.replace('pullback.', 'p.').replace('torch.', 't.'):>12}" for name in COLUMNS)
    print(f"{'steps per second':<30}{heads}{'eager':>7}{'goal':>5} {'':7}{'comp.':>7}{'goal':>5}")
    effort = QUICK if options.quick else FULL
    processes = [Process(name) for name in ("pullback", "torch")]
    rows = [measured(case, processes, effort, not options.without_compile) for case in cases]
    print(f"\n{'seconds to the first step':<30}{'pullback':>12}{'torch':>12}{'ratio':>7}{'goal':>6}")
    rows += [first_step(case, 1 if options.quick else 5) for case in cases]
    missed = [row["name"] for row in rows if not row["ok"]]
    print(f"\n{len(rows) - len(missed)} of {len(rows)} reached" + "".join(f"\n  missed: {name}" for name in missed))
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    if options.check and missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
