"""Times compiled gradient steps of pullback against jax.jit and torch.compile: the same programs, in turns.

A program is written once, in words that all three libraries know, and all run it on the same numbers. They must agree
before they are timed; then they take turns, each library in a process of its own, as in `eager.py`. The first call counts apart: making the function, and
everything up to its first result, without a cache on disk. Beside each program stand its floating-point operations and
bytes, and the time that this machine needs for those at least.

    scripts/bench compiled [--quick] [--only NAME] [--check] [--json FILE]
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib
import importlib.util
import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from types import SimpleNamespace
from typing import Any, NamedTuple

os.environ["PULLBACK_CACHE"] = "off"  # a first call is one

import itertools

import first_calls
import numpy as np
from processes import FULL, QUICK, Effort, Process, Program, Runs, in_turns, verdict

import pullback
from pullback._numerics.blocks import pieces
from pullback.compile.report import amount, duration

Arrays = Sequence[np.ndarray[Any, Any]]
Function = Callable[..., Any]


# The programs: functions of a namespace and of arrays, to a number


def nine(xp: Any, x: Any, w: Any) -> Any:
    """Nine operations of different kinds."""
    return xp.mean(xp.tanh(xp.sin(x * w) + xp.log(x) / xp.exp(w)) ** 3)


def gated(xp: Any, x: Any, w: Any) -> Any:
    """A sum of elementwise functions: one pass over memory, if all goes well."""
    return xp.sum(xp.tanh(x * w) + xp.exp(-x * x) * xp.sigmoid(w))


def scalars(xp: Any, x: Any, w: Any) -> Any:
    """Two hundred operations on single numbers."""
    for _ in range(50):
        x = xp.sin(x * w) + 0.5 * x
    return x


def mixture(xp: Any, means: Any, scales: Any, weights: Any, points: Any) -> Any:
    """The logarithm of the likelihood of points under a mixture of normal distributions with diagonal covariances."""
    inverse = xp.exp(-scales)
    distances = (points[:, None, :] - means[None]) * inverse[None]
    logs = -0.5 * xp.sum(distances * distances, -1) - xp.sum(scales, -1)[None]
    return xp.sum(xp.logsumexp(logs + xp.log_softmax(weights, -1)[None], -1))


def dense(xp: Any, x: Any, a: Any) -> Any:
    """A number from a vector, every two entries of which are related."""
    return xp.sum(xp.tanh(a @ x) * xp.sin(x)) + 0.5 * xp.sum(x * x) ** 2


def perceptron(xp: Any, parameters: Sequence[Any], x: Any, onehot: Any) -> Any:
    """The cross-entropy of a network with rectifiers."""
    *hidden, (weight, bias) = [parameters[i : i + 2] for i in range(0, len(parameters), 2)]
    for w, b in hidden:
        x = xp.relu(x @ w + b)
    return -xp.sum(onehot * xp.log_softmax(x @ weight + bias, -1)) / x.shape[0]


def normalized(xp: Any, x: Any, scale: Any, shift: Any) -> Any:
    """The last axis to mean 0 and variance 1, scaled and shifted."""
    centred = x - xp.mean_of(x, -1)
    return centred / xp.sqrt(xp.mean_of(centred * centred, -1) + 1e-5) * scale + shift


def transformer(xp: Any, parameters: Sequence[Any], x: Any, target: Any) -> Any:
    """A block of attention and a block of a network with GELU, each after a layer norm, and a squared error."""
    s1, b1, wq, wk, wv, wo, s2, b2, w1, c1, w2, c2 = parameters
    batch, length, width = x.shape
    heads, each = 4, width // 4
    h = normalized(xp, x, s1, b1)
    q, k, v = (xp.swap((h @ w).reshape(batch, length, heads, each)) for w in (wq, wk, wv))
    shares = xp.softmax(q @ xp.turn(k) / each**0.5, -1)
    x = x + xp.swap(shares @ v).reshape(batch, length, width) @ wo
    h = normalized(xp, x, s2, b2)
    u = h @ w1 + c1
    x = x + (0.5 * u * (1 + xp.erf(u * 0.7071067811865476))) @ w2 + c2
    return xp.sum((x - target) ** 2) / x.shape[0]


# The libraries: a namespace each, and how a step is made of a function


class Library(NamedTuple):
    """Words, and the makers of the steps that are timed: each takes a function and arrays, and gives `step()`."""

    gradients: Callable[[Function, Arrays], Function]
    training: Callable[[Function, Arrays, Arrays], Function]
    hessian: Callable[[Function, Arrays], Function]
    loop: Callable[[Arrays], Function]


def of_pullback() -> Library:
    """Ours."""
    xp = SimpleNamespace(
        sum=pullback.sum, mean=pullback.mean, tanh=pullback.tanh, sin=pullback.sin, log=pullback.log, exp=pullback.exp,
        sigmoid=pullback.sigmoid, sqrt=pullback.sqrt, relu=pullback.relu, erf=pullback.erf, softmax=pullback.softmax,
        log_softmax=pullback.log_softmax, logsumexp=pullback.logsumexp,
        mean_of=lambda x, axis: pullback.mean(x, axis, keepdim=True),
        swap=lambda x: x.transpose(1, 2), turn=lambda x: x.transpose(-1, -2),
    )  # fmt: skip

    def gradients(function: Function, arrays: Arrays) -> Function:
        tensors = [pullback.tensor(a, requires_grad=True) for a in arrays]

        @pullback.compile
        def step(*given: Any) -> Any:
            value = function(xp, *given)
            return value.detach(), *pullback.autograd.grad(value, given)

        return reporting(lambda: step(*tensors), step)

    def training(function: Function, parameters: Arrays, data: Arrays) -> Function:
        tensors = [pullback.tensor(a, requires_grad=True) for a in parameters]
        fixed = [pullback.tensor(a) for a in data]
        optimizer = pullback.optim.Adam(tensors, lr=1e-3)

        @pullback.compile
        def step(*given: Any) -> Any:
            optimizer.zero_grad()
            loss = function(xp, tensors, *given)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return reporting(lambda: (step(*fixed), *tensors), step)

    def hessian(function: Function, arrays: Arrays) -> Function:
        x, a = map(pullback.tensor, arrays)
        step = pullback.compile(lambda x, a: pullback.func.hessian(lambda t: function(xp, t, a))(x))
        return reporting(lambda: (step(x, a),), step)

    def loop(arrays: Arrays) -> Function:
        x, k = (pullback.tensor(a, requires_grad=True) for a in arrays)

        @pullback.compile
        def step(x: Any, k: Any) -> Any:
            last, _ = pullback.scan(lambda y, _: (oscillator(pullback, y, k), None), x, length=1000)
            value = pullback.sum(last * last)
            return value.detach(), *pullback.autograd.grad(value, (x, k))

        return reporting(lambda: step(x, k), step)

    return Library(gradients, training, hessian, loop)


def reporting(run: Any, compiled: Any) -> Function:
    """A step that can tell what it does, by the report of what it calls."""
    run.report = compiled.report
    return run  # type: ignore[no-any-return]


def oscillator(xp: Any, y: Any, k: Any) -> Any:
    """One step of a damped oscillator of three coupled numbers."""
    return y + 0.01 * (xp.sin(k * y) - 0.1 * y * y * y)


def of_jax() -> Library:
    """jax.jit around everything."""
    jax = importlib.import_module("jax")
    jnp = jax.numpy
    xp = SimpleNamespace(
        sum=jnp.sum, mean=jnp.mean, tanh=jnp.tanh, sin=jnp.sin, log=jnp.log, exp=jnp.exp, sqrt=jnp.sqrt,
        sigmoid=jax.nn.sigmoid, relu=jax.nn.relu, erf=jax.scipy.special.erf, softmax=jax.nn.softmax,
        log_softmax=jax.nn.log_softmax, logsumexp=jax.scipy.special.logsumexp,
        mean_of=lambda x, axis: jnp.mean(x, axis, keepdims=True),
        swap=lambda x: jnp.swapaxes(x, 1, 2), turn=lambda x: jnp.swapaxes(x, -1, -2),
    )  # fmt: skip
    wait = jax.block_until_ready

    def gradients(function: Function, arrays: Arrays) -> Function:
        given = list(map(jnp.asarray, arrays))
        step = jax.jit(jax.value_and_grad(functools.partial(function, xp), argnums=tuple(range(len(given)))))

        def run() -> Any:
            value, grads = wait(step(*given))
            return value, *grads

        return run

    def training(function: Function, parameters: Arrays, data: Arrays) -> Function:
        state = [[jnp.asarray(p) for p in parameters], *([jnp.zeros_like(p) for p in parameters] for _ in "mv")]
        fixed = list(map(jnp.asarray, data))

        @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
        def step(p: Any, m: Any, v: Any, t: Any, *given: Any) -> Any:
            loss, grads = jax.value_and_grad(lambda p: function(xp, p, *given))(p)
            m = [0.9 * a + 0.1 * g for a, g in zip(m, grads, strict=True)]
            v = [0.999 * a + 0.001 * g * g for a, g in zip(v, grads, strict=True)]
            rate, root = 1e-3 / (1 - 0.9**t), jnp.sqrt(1 - 0.999**t)
            p = [a - rate * b / (jnp.sqrt(c) / root + 1e-8) for a, b, c in zip(p, m, v, strict=True)]
            return loss, p, m, v

        count = 0

        def run() -> Any:
            nonlocal count
            count += 1
            loss, *state[:] = wait(step(*state, float(count), *fixed))
            return loss, *state[0]

        return run

    def hessian(function: Function, arrays: Arrays) -> Function:
        x, a = map(jnp.asarray, arrays)
        step = jax.jit(lambda x, a: jax.hessian(lambda t: function(xp, t, a))(x))
        return lambda: (wait(step(x, a)),)

    def loop(arrays: Arrays) -> Function:
        x, k = map(jnp.asarray, arrays)

        def value(x: Any, k: Any) -> Any:
            last, _ = jax.lax.scan(lambda y, _: (oscillator(jnp, y, k), None), x, None, length=1000)
            return jnp.sum(last * last)

        step = jax.jit(jax.value_and_grad(value, argnums=(0, 1)))

        def run() -> Any:
            found, grads = wait(step(x, k))
            return found, *grads

        return run

    return Library(gradients, training, hessian, loop)


def of_torch() -> Library:
    """torch.compile around what it takes: the function, whose gradients it compiles too, and torch's fused Adam."""
    torch = importlib.import_module("torch")
    xp = SimpleNamespace(
        sum=torch.sum, mean=torch.mean, tanh=torch.tanh, sin=torch.sin, log=torch.log, exp=torch.exp, sqrt=torch.sqrt,
        sigmoid=torch.sigmoid, relu=torch.relu, erf=torch.erf, softmax=torch.softmax, log_softmax=torch.log_softmax,
        logsumexp=torch.logsumexp, mean_of=lambda x, axis: torch.mean(x, axis, keepdim=True),
        swap=lambda x: x.transpose(1, 2), turn=lambda x: x.transpose(-1, -2),
    )  # fmt: skip

    def gradients(function: Function, arrays: Arrays) -> Function:
        tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
        compiled = torch.compile(functools.partial(function, xp))

        def run() -> Any:
            value = compiled(*tensors)
            return value.detach(), *torch.autograd.grad(value, tensors)

        return run

    def training(function: Function, parameters: Arrays, data: Arrays) -> Function:
        tensors = [torch.tensor(a, requires_grad=True) for a in parameters]
        fixed = list(map(torch.tensor, data))
        optimizer = torch.optim.Adam(tensors, lr=1e-3, fused=True)
        compiled = torch.compile(functools.partial(function, xp))

        def run() -> Any:
            optimizer.zero_grad()
            loss = compiled(tensors, *fixed)
            loss.backward()
            optimizer.step()
            return loss.detach(), *tensors

        return run

    def hessian(function: Function, arrays: Arrays) -> Function:
        x, a = map(torch.tensor, arrays)
        return lambda: (torch.func.hessian(lambda t: function(xp, t, a))(x),)  # torch.compile refuses it

    def loop(arrays: Arrays) -> Function:
        raise NotImplementedError("torch.compile unrolls the thousand steps, for minutes")

    return Library(gradients, training, hessian, loop)


# The cases


class Case(NamedTuple):
    """A program, the kind of step that is made of it, its arrays, the ratio wanted, and of whose time."""

    name: str
    goal: float
    peers: tuple[str, ...]
    make: Callable[[Library], Function]
    copies: float = float("inf")


@functools.cache
def normal(*shape: int, scale: float = 1.0) -> np.ndarray[Any, Any]:
    """Single-precision normal numbers, drawn once: a first call is timed without them. All libraries copy them."""
    return (np.random.default_rng(0).standard_normal(shape) * scale).astype(np.float32)


@functools.cache
def even(low: float, high: float, *shape: int) -> np.ndarray[Any, Any]:
    """Single-precision numbers from low to high, written once."""
    return np.linspace(low, high, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def network(batch: int, *widths: int) -> tuple[Arrays, Arrays]:
    """Parameters and data of a perceptron."""
    parameters: list[Any] = []
    for wide, narrow in itertools.pairwise(widths):
        parameters += [normal(wide, narrow, scale=(2 / wide) ** 0.5), np.zeros(narrow, np.float32)]
    classes = np.random.default_rng(1).integers(0, widths[-1], batch)
    return parameters, (normal(batch, widths[0]), np.eye(widths[-1], dtype=np.float32)[classes])


def block(width: int) -> tuple[Arrays, Arrays]:
    """Parameters and data of a transformer's block."""
    ones, zeros = np.ones(width, np.float32), np.zeros(width, np.float32)
    square = [normal(width, width, scale=width**-0.5) for _ in range(4)]
    wide = normal(width, 4 * width, scale=width**-0.5), np.zeros(4 * width, np.float32)
    back = normal(4 * width, width, scale=(4 * width) ** -0.5), zeros.copy()
    return [ones, zeros, *square, ones.copy(), zeros.copy(), *wide, *back], (normal(8, 64, width), normal(8, 64, width))


JAX, BOTH = ("jax",), ("jax", "torch")
CASES = (
    Case("nine operations on 10 numbers", 0.4, JAX, lambda of: of.gradients(nine, [even(0.5, 2, 10), even(1.5, -1, 10)])),
    Case("gated sum, 1 000 000", 0.4, JAX, lambda of: of.gradients(gated, [normal(10**6), even(-2, 2, 10**6)]), 1.3),
    Case("200 scalar operations", 0.3, JAX, lambda of: of.gradients(scalars, [even(0.7, 0.7), even(1.1, 1.1)])),
    Case("scan of 1 000 steps", 0.3, JAX, lambda of: of.loop([even(0.5, 1.5, 3), even(1, 2, 3)])),
    Case("MLP 16 x 32-32-10, Adam", 0.5, BOTH, lambda of: of.training(perceptron, *network(16, 32, 32, 10))),
    Case("MLP 128 x 784-512-512-10, Adam", 0.9, BOTH, lambda of: of.training(perceptron, *network(128, 784, 512, 512, 10))),
    Case(
        "Gaussian mixture 25 x 1000 x 10", 0.6, JAX,
        lambda of: of.gradients(mixture, [normal(25, 10), normal(25, 10, scale=0.1), normal(25), normal(1000, 10)]),
    ),
    Case("attention block 8 x 64 x 128, Adam", 0.8, BOTH, lambda of: of.training(transformer, *block(128))),
    Case("Hessian of a dense function, 50", 1.0, JAX, lambda of: of.hessian(dense, [normal(50), normal(50, 50, scale=0.1)])),
)  # fmt: skip
FIRST_CALL = 0.25  # of jax.jit's


MAKERS = {"pullback": of_pullback, "jax": of_jax, "torch": of_torch}
library = functools.cache(lambda name: MAKERS[name]())
_steps: dict[str, Function] = {}
"""The compiled step of the case that is measured, in the process of its library."""


def case_of(name: str) -> Case:
    """The case of a name."""
    return next(case for case in CASES if case.name == name)


def write(module: Any, name: str) -> dict[str, Program]:
    """The step of a case in one library."""
    _steps["step"] = step = case_of(name).make(library(module.__name__))
    return {"step": Program(lambda _: step())}


def begun(module: str, name: str) -> float:
    """Seconds from a function to its first result, in a process that has compiled one other small function.

    Garbage is collected before: a library's objects are so many that a collection takes a tenth of a second.
    """
    words = library(module)
    words.gradients(lambda xp, x: xp.sum(x * x), [even(1, 2, 10)])()
    case = case_of(name)
    case.make(Library(*[lambda *_: int] * 4))  # draws the numbers
    gc.collect()
    start = perf_counter()
    case.make(words)()
    return perf_counter() - start


def first_call(module: str, name: str) -> float:
    """What `begun` says in a fresh process."""
    process = Process(module)
    seconds = process.call(begun, module, name)
    process.end()
    return float(seconds)


def limit() -> tuple[float, float, float]:
    """The operations and bytes of the step, and the seconds that they take here at least."""
    report = _steps["step"].report()  # type: ignore[attr-defined]
    return report.flops, report.moved, report.limit


def copy_of(_: Any, moved: int) -> dict[str, Program]:
    """A copy that reads and writes so many bytes together; threads share it."""
    source, target = (np.ones(moved // 2, np.uint8) for _ in range(2))

    def part(start: int, stop: int) -> None:
        np.copyto(target[start:stop], source[start:stop])

    return {"copy": Program(lambda _: (pieces(part, moved // 2, 1),))}


def measured(case: Case, processes: dict[str, Process], effort: Effort) -> dict[str, Any]:
    """One line of the table."""
    chosen = {name: process for name, process in processes.items() if name == "pullback" or name in case.peers}
    programs: dict[str, Runs] = {name: process.programs(write, case.name)["step"] for name, process in chosen.items()}
    for _ in range(3):
        results = {name: program.results() for name, program in programs.items()}
        for name, found in results.items():
            for mine, its in zip(results["pullback"], found, strict=True):
                np.testing.assert_allclose(mine, its, rtol=2e-3, atol=2e-4, err_msg=f"{case.name}: {name}")
    flops, moved, least = processes["pullback"].call(limit)
    if case.copies < float("inf"):
        programs |= processes["pullback"].programs(copy_of, moved, keep=True)
    times = in_turns(programs, effort)
    seconds = {name: median(found) for name, found in times.items()}
    best = min(seconds[name] for name in case.peers if name in seconds)
    first = {
        name: median(first_call(name, case.name) for _ in range(1 if effort is QUICK else 3))
        for name in ("pullback", "jax")
    }
    ratio, start = seconds["pullback"] / best, first["pullback"] / first["jax"]
    told = "".join(f"{seconds.get(name, float('nan')) * 1e6:>12.1f}" for name in ("pullback", "jax", "torch"))
    print(
        f"{case.name:<36}{told}{ratio:>8.2f}{case.goal:>6.1f} {verdict(ratio <= case.goal):<7}"
        f"{first['pullback'] * 1e3:>9.0f}{first['jax'] * 1e3:>8.0f}{start:>7.2f} {verdict(start <= FIRST_CALL)}",
        flush=True,
    )
    took = seconds["pullback"]
    told = f"{amount(flops, 'flop')}, {amount(moved, 'B')} moved: at least {duration(least)} here, "
    print(f"    {told}of which it takes {took / least:.1f} times", flush=True)
    ok = ratio <= case.goal and start <= FIRST_CALL
    if "copy" in seconds:
        near = took / seconds["copy"]
        ok = ok and near <= case.copies
        told = f"a copy of as many bytes takes {duration(seconds['copy'])}, it {near:.2f} times that"
        print(f"    {told} ({case.copies} {verdict(near <= case.copies)})", flush=True)
    return {"name": case.name, "seconds": times, "first": first, "ratio": ratio, "goal": case.goal, "ok": ok}


# Elementwise operations, eager: with llvmlite, large arrays go through compiled kernels

ELEMENTWISE = (
    "add sub mul div neg abs exp log sqrt rsqrt sin cos tanh sigmoid relu square reciprocal maximum where pow"
).split()


def write_elementwise(library: Any, name: str) -> dict[str, Program]:
    """One operation on a million numbers."""
    a, b = library.tensor(even(0.1, 3, 10**6)), library.tensor(even(1, 2, 10**6))
    condition = a > b
    if name == "where":
        return {name: Program(lambda _: (library.where(condition, a, b),))}
    function = getattr(library, name)
    two = name in ("add", "sub", "mul", "div", "maximum", "pow")
    return {name: Program((lambda _: (function(a, b),)) if two else (lambda _: (function(a),)))}


def elementwise(processes: dict[str, Process], effort: Effort) -> list[dict[str, Any]]:
    """The twenty commonest operations, eager, against torch."""
    print(f"\n{'eager, 1 000 000 numbers':<36}{'pullback':>12}{'torch us':>12}{'ratio':>8}{'goal':>6}")
    rows = []
    for name in ELEMENTWISE:
        both = {each: processes[each].programs(write_elementwise, name)[name] for each in ("pullback", "torch")}
        times = in_turns(both, effort)
        ours, theirs = median(times["pullback"]), median(times["torch"])
        print(
            f"{name:<36}{ours * 1e6:>12.1f}{theirs * 1e6:>12.1f}{ours / theirs:>8.2f}{1.0:>6.1f} {verdict(ours <= theirs)}"
        )
        rows.append({"name": name, "seconds": times, "ratio": ours / theirs, "goal": 1.0, "ok": ours <= theirs})
    return rows


def main() -> None:
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(
        prog="compiled", description="Times compiled steps against jax.jit and torch.compile."
    )
    parser.add_argument("--quick", action="store_true", help="few short rounds: to see that it works, not to quote")
    parser.add_argument("--only", metavar="NAME", help="the cases whose name holds NAME; 'eager' for those")
    parser.add_argument(
        "--without-torch", action="store_true", help="leave torch.compile out, which takes a minute to start"
    )
    parser.add_argument("--check", action="store_true", help="exit with status 1 if a goal is missed")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every round to FILE")
    options = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)
    wanted = [name for name in MAKERS if name != "torch" or not options.without_torch]
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    processes, effort = (
        {name: Process(name) for name in wanted if name not in missing},
        QUICK if options.quick else FULL,
    )
    if missing:
        print(f"not installed, and left out: {', '.join(missing)}")
    print(
        f"{'case (microseconds)':<36}{'pullback':>12}{'jax':>12}{'torch':>12}{'ratio':>8}{'goal':>6} {'':7}{'first ms':>9}{'jax ms':>8}{'ratio':>7}"
    )
    chosen = [case for case in CASES if not options.only or options.only in case.name]
    rows = [measured(case, processes, effort) for case in chosen]
    if "torch" in processes and (not options.only or options.only == "eager"):
        rows += elementwise(processes, effort)
    rows += first_calls.rows(options.only, [*processes]) + first_calls.growth(options.only)
    missed = [row["name"] for row in rows if not row["ok"]]
    print(f"\n{len(rows) - len(missed)} of {len(rows)} reached" + "".join(f"\n  missed: {name}" for name in missed))
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    if options.check and missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
