"""Times whole derivatives against torch: Jacobians, Hessians, gradients of each example, Hessian-vector products.

Each task is written in every spelling a library offers for it; what counts is pullback's quickest against torch's. They
take turns, each library in a process of its own, as in eager.py, after they have agreed. Printed besides: what per-example gradients cost in
backward passes, and what a gradient costs in runs of its function.

    python benchmarks/derivatives.py [--quick]
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from processes import FULL, QUICK, Effort, Process, Program, in_turns, must_agree, verdict

import pullback

GOAL = 0.7  # of torch's time
FUNCTIONS, BACKWARDS = 4, 3  # what a gradient, and per-example gradients, may cost
EXAMPLES, WIDTHS = 64, (16, 32, 10)
SIZE = 50


class Problem(NamedTuple):
    """The numbers of a task, as a library's tensors."""

    lib: Any
    tensors: dict[str, Any]


def dense(lib: Any) -> Problem:
    """A point and the weights of a dense function of 50 numbers."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(SIZE, SIZE)) / SIZE**0.5
    return Problem(lib, {"x": lib.tensor(rng.normal(size=SIZE)), "w": lib.tensor(weights)})


def field(problem: Problem, x: Any) -> Any:
    """A vector function of the point."""
    return (problem.tensors["w"] @ x).tanh() * x


def energy(problem: Problem, x: Any) -> Any:
    """A scalar function of the point."""
    return ((problem.tensors["w"] @ x).tanh() ** 2).sum() + (x * x).sum().sin()


def network(lib: Any) -> Problem:
    """A perceptron of two layers, a batch of inputs, and their classes."""
    rng = np.random.default_rng(1)
    found: dict[str, Any] = {}
    for layer, (n, m) in enumerate(pairwise(WIDTHS)):
        found[f"w{layer}"] = lib.tensor(rng.normal(size=(n, m)) / n**0.5, dtype=lib.float32)
        found[f"b{layer}"] = lib.tensor(np.zeros(m), dtype=lib.float32)
    found["x"] = lib.tensor(rng.normal(size=(EXAMPLES, WIDTHS[0])), dtype=lib.float32)
    found["y"] = lib.tensor(rng.integers(0, WIDTHS[-1], EXAMPLES))
    return Problem(lib, found)


PARAMETERS = ("w0", "b0", "w1", "b1")


def loss(lib: Any, parameters: Any, x: Any, y: Any, reduction: str = "mean") -> Any:
    """The cross-entropy of the network."""
    w0, b0, w1, b1 = parameters
    return lib.nn.functional.cross_entropy((x @ w0 + b0).tanh() @ w1 + b1, y, reduction=reduction)


def tracked(problem: Problem) -> list[Any]:
    """The parameters, fresh, as leaves that require grad."""
    return [problem.tensors[name].detach().requires_grad_() for name in PARAMETERS]


def leaf(problem: Problem) -> Any:
    """The point as a leaf that requires grad."""
    return problem.tensors["x"].detach().requires_grad_()


Spelling = Callable[[Problem], Any]


def live_jacobian(p: Problem) -> Any:
    """Of a tensor that exists."""
    x = leaf(p)
    return pullback.jacobian(field(p, x), x)


def live_hessian(p: Problem) -> Any:
    """Of a tensor that exists."""
    x = leaf(p)
    return pullback.hessian(energy(p, x), x)


def live_examples(p: Problem) -> Any:
    """Of losses that exist, from one pass."""
    parameters = tracked(p)
    losses = loss(p.lib, parameters, p.tensors["x"], p.tensors["y"], "none")
    return pullback.grad(losses, parameters, batched=True)


def mapped_examples(p: Problem) -> Any:
    """vmap of grad."""
    func = p.lib.func
    each = func.grad(lambda parameters, x, y: loss(p.lib, parameters, x[None], y[None]))
    parameters = tuple(p.tensors[name] for name in PARAMETERS)
    return func.vmap(each, in_dims=(None, 0, 0))(parameters, p.tensors["x"], p.tensors["y"])


def product_by_tape(p: Problem) -> Any:
    """Two passes of the tape."""
    parameters = tracked(p)
    value = loss(p.lib, parameters, p.tensors["x"], p.tensors["y"])
    gradients = p.lib.autograd.grad(value, parameters, create_graph=True)
    return p.lib.autograd.grad(gradients, parameters, [x.detach() for x in parameters])


def product_by_modes(p: Problem) -> Any:
    """Forward over reverse."""
    parameters = tuple(p.tensors[name] for name in PARAMETERS)
    gradient = p.lib.func.grad(lambda q: loss(p.lib, q, p.tensors["x"], p.tensors["y"]))
    return p.lib.func.jvp(gradient, (parameters,), (parameters,))[1]


def functional(name: str, function: Callable[[Problem, Any], Any]) -> Spelling:
    """A derivative by autograd.functional, vectorized."""
    return lambda p: getattr(p.lib.autograd.functional, name)(lambda x: function(p, x), p.tensors["x"], vectorize=True)


def by_func(name: str, function: Callable[[Problem, Any], Any]) -> Spelling:
    """A derivative by func."""
    return lambda p: getattr(p.lib.func, name)(lambda x: function(p, x))(p.tensors["x"])


def reverse_twice(p: Problem) -> Any:
    """jacrev of jacrev."""
    return p.lib.func.jacrev(p.lib.func.jacrev(lambda x: energy(p, x)))(p.tensors["x"])


class Task(NamedTuple):
    """What is asked, and how each library spells it."""

    name: str
    make: Callable[[Any], Problem]
    both: dict[str, Spelling]
    ours: dict[str, Spelling]


TASKS = (
    Task(
        "Jacobian, 50 x 50",
        dense,
        {
            "functional.jacobian": functional("jacobian", field),
            "jacrev": by_func("jacrev", field),
            "jacfwd": by_func("jacfwd", field),
        },
        {"pullback.jacobian": live_jacobian},
    ),
    Task(
        "Hessian, n = 50",
        dense,
        {
            "functional.hessian": functional("hessian", energy),
            "func.hessian": by_func("hessian", energy),
            "jacrev twice": reverse_twice,
        },
        {"pullback.hessian": live_hessian},
    ),
    Task(
        "per-example gradients, 64 x 16-32-10",
        network,
        {"vmap of grad": mapped_examples},
        {"pullback.grad(batched=True)": live_examples},
    ),
    Task(
        "Hessian-vector product, 64 x 16-32-10",
        network,
        {"two passes": product_by_tape, "jvp of grad": product_by_modes},
        {},
    ),
)


def flat(value: Any) -> list[Any]:
    """The tensors of an answer."""
    return [leaf for part in value for leaf in flat(part)] if isinstance(value, (tuple, list)) else [value]


def write(library: Any, name: str) -> dict[str, Program]:
    """The spellings of a task in one library."""
    task = next(task for task in TASKS if task.name == name)
    problem, ours = task.make(library), library is pullback
    return {
        spelled: Program(lambda _, f=spelling: flat(f(problem)))  # type: ignore[misc]
        for spelled, spelling in (task.both | (task.ours if ours else {})).items()
    }


def times(task: Task, processes: dict[str, Process], effort: Effort) -> dict[str, float]:
    """The median time of each spelling, by library and name."""
    programs = {
        f"{library}: {name}": program
        for library, process in processes.items()
        for name, program in process.programs(write, task.name).items()
    }
    must_agree(task.name, programs)
    return {key: median(found) for key, found in in_turns(programs, effort).items()}


def costs(effort: Effort) -> None:
    """Print what gradients cost, in runs of their functions, and per-example gradients, in gradients."""
    point, net = dense(pullback), network(pullback)
    x, y = net.tensors["x"], net.tensors["y"]
    numbers = [pullback.tensor(float(i), dtype=pullback.float64) for i in range(1, 11)]

    def mixed(values: Any) -> Any:
        total = values[0]
        for value in values[1:]:
            total = (total * value).tanh() + value.exp().log() / (total + 2)
        return total

    functions: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
        "the energy of 50 numbers": (lambda v: energy(point, v[0]), [point.tensors["x"]]),
        "operations on ten numbers": (mixed, numbers),
        "the loss of the perceptron": (lambda v: loss(pullback, v, x, y), [net.tensors[name] for name in PARAMETERS]),
    }
    for name, (function, inputs) in functions.items():
        leaves = [value.detach().requires_grad_() for value in inputs]
        programs = {
            "function": Program(lambda _, f=function, v=inputs: f(v)),  # type: ignore[misc]
            "gradient": Program(lambda _, f=function, v=leaves: gradient(f, v)),  # type: ignore[misc]
        }
        found = in_turns(programs, effort)
        # both of a turn are measured in the same moment: clocks of processors change between turns, by more than half
        ratio = median([g / f for g, f in zip(found["gradient"], found["function"], strict=True)])
        print(f"gradient of {name}: {ratio:.2f} of the function (goal 4) {verdict(ratio <= FUNCTIONS)}")
    programs = {
        "one": Program(lambda _: gradient(functions["the loss of the perceptron"][0], tracked(net))),
        "each": Program(lambda _: live_examples(net)),
    }
    found = in_turns(programs, effort)
    ratio = median([each / one for each, one in zip(found["each"], found["one"], strict=True)])
    print(f"per-example gradients: {ratio:.2f} of one gradient (goal 3) {verdict(ratio <= BACKWARDS)}")


def gradient(function: Callable[[Any], Any], inputs: list[Any]) -> Any:
    """Value and gradient."""
    return pullback.autograd.grad(function(inputs), inputs)


def main() -> None:
    """Print the tasks, each with every spelling."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    effort = QUICK if parser.parse_args().quick else FULL
    if importlib.util.find_spec("torch") is None:
        sys.exit("benchmarks/derivatives.py: torch is not installed, nothing to compare with")
    warnings.simplefilter("ignore")  # torch's own, of what it uses inside
    libraries = {name: Process(name) for name in ("pullback", "torch")}
    for task in TASKS:
        found = times(task, libraries, effort)
        best = {library: min(t for key, t in found.items() if key.startswith(library)) for library in libraries}
        ratio = best["pullback"] / best["torch"]
        print(f"{task.name}: {ratio:.2f} of torch's best (goal {GOAL}) {verdict(ratio <= GOAL)}")
        for key, seconds in found.items():
            print(f"    {key:45} {seconds * 1e6:9.1f} us", flush=True)
    costs(effort)


if __name__ == "__main__":
    main()
