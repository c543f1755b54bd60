"""Times operations of pullback against torch's, forward plus backward, at three sizes.

Each operation is written once in words both libraries know, and measured as in `eager.py`: each library in a process of its
own, in turns, after both have agreed. Small sizes are Python's time per call, large ones NumPy's loops, of one thread, against
torch's, of all: the ratios say where compiled kernels would help most.

    python benchmarks/ops.py [--quick] [--ops REGEX] [--json FILE]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, NamedTuple

import numpy as np
from eager import rounds
from processes import Effort, Process, Program

SIZES = (100, 10_000, 1_000_000)
SMALL, FUSED = 0.7, 1.5  # goals: for 100 elements; for the layers
FULL = Effort(rounds=5, seconds=0.01)
QUICK = Effort(rounds=3, seconds=0.002)

Function = Callable[..., Any]


class Operation(NamedTuple):
    """A function of a library and of tensors, and the shapes of these for about so many elements."""

    function: Function
    shapes: Callable[[int], Sequence[tuple[int, ...]]]
    positive: bool = False


def vector(size: int) -> Sequence[tuple[int, ...]]:
    """One vector."""
    return [(size,)]


def vectors(size: int) -> Sequence[tuple[int, ...]]:
    """Two vectors."""
    return [(size,), (size,)]


def rows(size: int) -> Sequence[tuple[int, ...]]:
    """A matrix of at least ten columns."""
    wide = max(10, round(size**0.5))
    return [(size // wide, wide)]


def square(size: int) -> Sequence[tuple[int, ...]]:
    """Two square matrices."""
    wide = round(size**0.5)
    return [(wide, wide), (wide, wide)]


def method(name: str, *args: Any, **options: Any) -> Function:
    """A method of a tensor."""
    return lambda library, x, *others: getattr(x, name)(*others, *args, **options)


def top(name: str, *args: Any, **options: Any) -> Function:
    """A function of the library."""
    return lambda library, *xs: getattr(library, name)(*xs, *args, **options)


def functional(name: str, *args: Any, **options: Any) -> Function:
    """A function of nn.functional."""
    return lambda library, *xs: getattr(library.nn.functional, name)(*xs, *args, **options)


POSITIVE = ("log", "sqrt", "rsqrt", "log2", "log10", "log1p", "lgamma", "digamma")
UNARY = (
    *("abs", "acos", "asin", "atan", "acosh", "asinh", "atanh", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2"),
    *(
        "expm1",
        "floor",
        "frac",
        "neg",
        "reciprocal",
        "relu",
        "round",
        "sigmoid",
        "sign",
        "sin",
        "sinc",
        "sinh",
        "square",
    ),
    *("tan", "tanh", "trunc", *POSITIVE),
)
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum", "atan2", "fmax", "fmin", "hypot", "logaddexp", "remainder")
ACTIVATIONS = (
    *("elu", "gelu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "logsigmoid", "mish", "selu", "silu"),
    *("softplus", "softsign", "tanhshrink"),
)

OPERATIONS: dict[str, Operation] = {
    **{name: Operation(method(name), vector, name in POSITIVE) for name in UNARY},
    **{name: Operation(top(name), vectors, name in ("hypot", "atan2")) for name in BINARY},
    **{name: Operation(functional(name), vector) for name in ACTIVATIONS},
    "x ** 3": Operation(lambda _, x: x**3, vector),
    "x ** y": Operation(lambda _, x, y: x**y, vectors, positive=True),
    "where": Operation(lambda t, x, y: t.where(x > 0, x, y), vectors),
    "clamp": Operation(method("clamp", -0.5, 0.5), vector),
    "lerp": Operation(lambda t, x, y: t.lerp(x, y, 0.3), vectors),
    "sum": Operation(method("sum"), vector),
    "sum, rows": Operation(method("sum", 1), rows),
    "sum, columns": Operation(method("sum", 0), rows),
    "mean": Operation(method("mean"), vector),
    "prod": Operation(method("prod"), vector, positive=True),
    "var": Operation(method("var"), vector),
    "std, rows": Operation(method("std", 1), rows),
    "amax, rows": Operation(method("amax", 1), rows),
    "max, rows": Operation(lambda _, x: x.max(1)[0], rows),
    "norm": Operation(method("norm"), vector),
    "logsumexp, rows": Operation(method("logsumexp", 1), rows),
    "cumsum": Operation(method("cumsum", 0), vector),
    "sort": Operation(lambda _, x: x.sort()[0], vector),
    "reshape": Operation(lambda _, x: x.reshape(2, -1), vector),
    "transpose": Operation(lambda _, x: x.transpose(0, 1), rows),
    "slice": Operation(lambda _, x: x[1:-1], vector),
    "cat": Operation(lambda t, x, y: t.cat([x, y]), vectors),
    "stack": Operation(lambda t, x, y: t.stack([x, y]), vectors),
    "flip": Operation(method("flip", 0), vector),
    "roll": Operation(method("roll", 1), vector),
    "repeat": Operation(method("repeat", 2), vector),
    "tril": Operation(method("tril"), rows),
    "x @ y": Operation(lambda _, x, y: x @ y, square),
    "einsum": Operation(lambda t, x, y: t.einsum("ij,kj->ik", x, y), square),
    "outer": Operation(top("outer"), lambda size: [(round(size**0.5),), (round(size**0.5),)]),
    "dot": Operation(top("dot"), vectors),
    "mse_loss": Operation(functional("mse_loss"), vectors),
    "l1_loss": Operation(functional("l1_loss"), vectors),
}


def image(library: Any, size: int, seed: int) -> Any:
    """A batch of 8 images of 3 channels and about so many elements."""
    side = max(4, round((size / 24) ** 0.5))
    values = np.random.default_rng(seed).standard_normal((8, 3, side, side), dtype=np.float32)
    return library.tensor(values, requires_grad=True)


def table(library: Any, size: int, seed: int, wide: int = 64) -> Any:
    """A matrix of 64 columns and about so many elements."""
    values = np.random.default_rng(seed).standard_normal((max(2, size // wide), wide), dtype=np.float32)
    return library.tensor(values, requires_grad=True)


def layer(name: str, library: Any, size: int) -> tuple[Function, list[Any]]:
    """One of the layers whose goal is a ratio at every size, and what it is differentiated by."""
    f = library.nn.functional
    if name in ("conv2d", "max_pool2d", "avg_pool2d", "batch_norm"):
        x, w = image(library, size, 0), library.tensor(np.full((8, 3, 3, 3), 0.1, np.float32), requires_grad=True)
        calls = {
            "conv2d": (lambda x, w: f.conv2d(x, w, padding=1), [x, w]),
            "max_pool2d": (lambda x: f.max_pool2d(x, 2), [x]),
            "avg_pool2d": (lambda x: f.avg_pool2d(x, 2), [x]),
            "batch_norm": (lambda x: f.batch_norm(x, None, None, training=True), [x]),
        }
        return calls[name]
    x = table(library, size, 0)
    if name == "attention":
        q, k, v = (table(library, size, seed, 32).reshape(1, 1, -1, 32).detach().requires_grad_() for seed in range(3))
        return f.scaled_dot_product_attention, [q[:, :, :512], k[:, :, :512], v[:, :, :512]]
    classes = library.tensor(np.arange(x.shape[0]) % 64)
    calls = {
        "softmax": (lambda x: f.softmax(x, dim=1), [x]),
        "layer_norm": (lambda x: f.layer_norm(x, (64,)), [x]),
        "cross_entropy": (lambda x: f.cross_entropy(x, classes), [x]),
    }
    return calls[name]


LAYERS = ("conv2d", "max_pool2d", "avg_pool2d", "batch_norm", "softmax", "layer_norm", "cross_entropy", "attention")


def program(library: Any, function: Function, inputs: Sequence[Any]) -> Program:
    """Forward, and the gradients of all inputs."""
    result = function(*inputs)
    cotangent = library.ones_like(result.detach())

    def step(_: None) -> Sequence[Any]:
        value = function(*inputs)
        return value, *library.autograd.grad(value, inputs, cotangent)

    return Program(step)


def write(library: Any, name: str, size: int) -> dict[str, Program]:
    """An operation, or a layer, at a size, in one library."""
    if name in LAYERS:
        return {name: program(library, *layer(name, library, size))}
    operation, random, inputs = OPERATIONS[name], np.random.default_rng(0), []
    for shape in operation.shapes(size):
        values = random.uniform(0.1, 0.9, shape)  # apart from 0, where float32 slopes such as sinc's have no digits
        if not operation.positive:
            values *= random.choice([-1.0, 1.0], shape)
        values = values.astype(np.float32)
        inputs.append(library.tensor(values, requires_grad=True))
    return {name: program(library, partial(operation.function, library), inputs)}


def cases(pattern: str) -> list[tuple[str, int]]:
    """The operations and layers whose names match, at every size."""
    found = [(name, size) for name in (*OPERATIONS, *LAYERS) for size in SIZES]
    return [(name, size) for name, size in found if re.search(pattern, f"{name} at {size}")]


def main() -> None:
    """Measure, print a line per operation, and sum up."""
    parser = argparse.ArgumentParser(prog="ops", description="Times operations of pullback against torch's.")
    parser.add_argument("--quick", action="store_true", help="few short rounds: to see that it works, not to quote")
    parser.add_argument("--ops", metavar="REGEX", default="", help="only the operations whose names match")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the ratios to FILE")
    options = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        sys.exit("ops: torch is not installed here: scripts/environment torch makes an environment with torch 2.13.0")
    processes = {name: Process(name) for name in ("pullback", "torch")}
    effort = QUICK if options.quick else FULL
    ratios: dict[str, dict[int, float]] = {}
    print(f"{'forward and backward, ratio to torch':<40}" + "".join(f"{size:>12,}" for size in SIZES))
    for name, size in cases(options.ops):
        try:
            times = rounds(f"{name} at {size}", processes, effort, write, name, size)
        except AssertionError as error:
            print(f"{name} at {size}: not timed, the results differ: {str(error).splitlines()[1]}")
            continue
        ratios.setdefault(name, {})[size] = median(times["pullback"]) / median(times["torch"])
        if len(ratios[name]) == len(SIZES):
            print(f"{name:<40}" + "".join(f"{ratios[name][each]:>12.2f}" for each in SIZES), flush=True)
    small = [ratio[SIZES[0]] for name, ratio in ratios.items() if name not in LAYERS and SIZES[0] in ratio]
    if small:
        reached = sum(ratio <= SMALL for ratio in small)
        print(
            f"\nat {SIZES[0]} elements: geometric mean {geometric_mean(small):.2f}, {reached} of {len(small)} at most {SMALL}"
        )
    for name in filter(ratios.__contains__, LAYERS):
        worst = max(ratios[name].values())
        print(f"{name}: at worst {worst:.2f}, goal {FUSED}: {'ok' if worst <= FUSED else 'misses'}")
    if options.json:
        options.json.write_text(json.dumps(ratios, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
