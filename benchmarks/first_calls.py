"""Times first calls of compiled functions, and calls whose arguments change, against jax.jit: rows of `compiled.py`.

Each library has a fresh process for each case, in which it has compiled one other small function, and no cache on disk. The
functions are the same in both, and must agree. What jax.jit does not compile within minutes is left out there. Then, of
functions that are called with hundreds of sizes or thousands of values, and by two threads, what is compiled and kept.
"""

from __future__ import annotations

import functools
import gc
import importlib
import random
import threading
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from processes import Process, verdict

Function = Callable[..., Any]


def of_pullback() -> SimpleNamespace:
    """Ours."""
    library = importlib.import_module("pullback")
    return SimpleNamespace(
        sin=library.sin, tanh=library.tanh, sigmoid=library.sigmoid, sum=library.sum, log=library.log,
        zeros=lambda n: library.zeros(n, dtype=library.float64),
        eye=lambda n: library.eye(n, dtype=library.float64), array=library.tensor, compiled=library.compile,
        grad=library.func.grad, scan=library.scan, wait=lambda result: result,
    )  # fmt: skip


def of_jax() -> SimpleNamespace:
    """jax.jit around everything, in double precision."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)  # jax's own form
    return SimpleNamespace(
        sin=jax.numpy.sin, tanh=jax.numpy.tanh, sigmoid=jax.nn.sigmoid, sum=jax.numpy.sum, log=jax.numpy.log,
        zeros=jax.numpy.zeros, eye=jax.numpy.eye,
        array=jax.numpy.asarray, compiled=jax.jit, grad=jax.grad, scan=jax.lax.scan, wait=jax.block_until_ready,
    )  # fmt: skip


@functools.cache
def words(module: str) -> SimpleNamespace:
    """The functions of a library."""
    return {"pullback": of_pullback, "jax": of_jax}[module]()


def numbers(*shape: int, scale: float = 1.0) -> Any:
    """Normal numbers, always the same."""
    return np.random.default_rng(len(shape)).standard_normal(shape) * scale


# The functions


def scalars(xp: Any, x: Any, w: Any) -> Any:
    """A loop of Python on a single number, of some 30 000 equations with its way back."""
    for _ in range(3400):
        x = xp.sin(x * w) + 0.5 * x
    return x


def irregular(xp: Any, x: Any, w: Any) -> Any:
    """Single numbers without a step that comes twice, of some 30 000 equations with the way back."""
    choose, known = random.Random(3), [x, w]
    for _ in range(8000):
        a, b = choose.choices(known[-40:], k=2)
        known.append(
            choose.choice((lambda a, _: xp.sin(a), lambda a, b: xp.tanh(a * b), lambda a, b: 0.5 * a + b))(a, b)
        )
    return functools.reduce(lambda total, each: total + each, known[-40:])


def kalman(xp: Any, a: Any, observed: Any) -> Any:
    """Twice the negative log-likelihood of 150 observations of a number, with a state of four."""
    mean, spread, total = xp.zeros(4), xp.eye(4), 0.0
    for y in observed:
        mean, spread = a @ mean, a @ spread @ a.T + 0.1 * xp.eye(4)
        error, cross, within = y - mean[0], spread[:, 0], spread[0, 0] + 0.5
        mean, spread = mean + cross * (error / within), spread - cross[:, None] * cross / within
        total = total + error * error / within + xp.log(within)
    return total


def cell(xp: Any, weights: Any, state: Any, x: Any) -> Any:
    """One step of an LSTM of 12 numbers."""
    h, c = state
    z = x @ weights[:8] + h @ weights[8:20] + weights[20]
    c = xp.sigmoid(z[12:24]) * c + xp.sigmoid(z[:12]) * xp.tanh(z[24:36])
    h = xp.sigmoid(z[36:]) * xp.tanh(c)
    return (h, c), h


def unrolled(xp: Any, weights: Any, xs: Any) -> Any:
    """An LSTM as a loop of Python."""
    state, total = (xp.zeros(12), xp.zeros(12)), 0.0
    for x in xs:
        state, h = cell(xp, weights, state, x)
        total = total + xp.sum(h * h)
    return total


def scanned(xp: Any, weights: Any, xs: Any) -> Any:
    """An LSTM as a scan."""
    _, outputs = xp.scan(functools.partial(cell, xp, weights), (xp.zeros(12), xp.zeros(12)), xs)
    return xp.sum(outputs * outputs)


def regression(xp: Any, w: Any, x: Any) -> Any:
    """A sum over rows, of which there are more or fewer."""
    return xp.sum(xp.tanh(x @ w) ** 2)


def decayed(xp: Any, x: Any, count: int) -> Any:
    """What an optimizer does with the number of its steps."""
    return xp.sum(x * x) / (1 - 0.9**count)


class Case(NamedTuple):
    """A function, the arguments of its calls in turn, and the highest ratio to jax.jit's first call and to its later ones."""

    name: str
    function: Function
    arguments: Callable[[], list[Sequence[Any]]]
    goals: tuple[float, float] = (1.0, 1.0)
    jax: bool = True


WEIGHTS = functools.partial(numbers, 21, 48, scale=0.3)
CASES = (
    Case("unrolled loop, 30 000 equations", scalars, lambda: [(np.array(0.7), np.array(1.1))], jax=False),
    Case("single numbers, 30 000 equations", irregular, lambda: [(np.array(0.7), np.array(1.1))], jax=False),
    Case("Kalman filter, 150 steps", kalman, lambda: [(0.9 * np.eye(4) + 0.05, numbers(150))]),
    Case("LSTM in Python, 300 steps", unrolled, lambda: [(WEIGHTS(), numbers(300, 8))], jax=False),
    Case("LSTM by scan, 200 steps", scanned, lambda: [(WEIGHTS(), numbers(200, 8))]),
    Case("60 sizes in turn", regression, lambda: [(numbers(8), numbers(size, 8)) for size in range(20, 80)]),
    Case("an int that counts", decayed, lambda: [(numbers(100), count) for count in range(1, 200)], (1.5, 1.0)),
)


def run(module: str, name: str) -> tuple[float, float, list[float]]:
    """Seconds of the first calls with all arguments together, of one later call, and the sums of gradients."""
    xp = words(module)
    xp.wait(xp.compiled(xp.grad(lambda x: xp.sum(x * x)))(xp.array(np.ones(3))))
    case = next(case for case in CASES if case.name == name)
    given = [[xp.array(a) if isinstance(a, np.ndarray) else a for a in each] for each in case.arguments()]
    gc.collect()
    start = perf_counter()
    compiled = xp.compiled(xp.grad(functools.partial(case.function, xp)))
    results = [xp.wait(compiled(*each)) for each in given]
    first = perf_counter() - start
    for _ in range(5):
        for each in given:
            xp.wait(compiled(*each))
    times = []
    for _ in range(20):
        start = perf_counter()
        for each in given:
            xp.wait(compiled(*each))
        times.append((perf_counter() - start) / len(given))
    return first, median(times), [float(np.asarray(result).sum()) for result in results]


def in_process(module: str, name: str) -> tuple[float, float, list[float]]:
    """What `run` says in a fresh process."""
    process = Process(module)
    found: tuple[float, float, list[float]] = process.call(run, module, name)
    process.end()
    return found


def rows(only: str | None, libraries: Sequence[str]) -> list[dict[str, Any]]:
    """Measure and print the cases whose names hold a text."""
    print(
        f"\n{'first calls, and each':<36}{'first ms':>10}{'jax ms':>10}{'ratio':>8} {'':7}{'each us':>10}{'jax us':>10}{'ratio':>8}"
    )
    found = []
    for case in CASES:
        if only and only not in case.name:
            continue
        mine = in_process("pullback", case.name)
        its = in_process("jax", case.name) if case.jax and "jax" in libraries else (float("nan"), float("nan"), mine[2])
        np.testing.assert_allclose(mine[2], its[2], rtol=1e-6, err_msg=case.name)
        ratios = [a / b for a, b in zip(mine[:2], its[:2], strict=True)]
        ok = [not ratio > goal for ratio, goal in zip(ratios, case.goals, strict=True)]
        print(
            f"{case.name:<36}{mine[0] * 1e3:>10.0f}{its[0] * 1e3:>10.0f}{ratios[0]:>8.2f} {verdict(ok[0]):<7}"
            f"{mine[1] * 1e6:>10.1f}{its[1] * 1e6:>10.1f}{ratios[1]:>8.2f} {verdict(ok[1])}",
            flush=True,
        )
        found.append({"name": case.name, "pullback": mine[:2], "jax": its[:2], "ok": all(ok)})
    return found


# Functions whose arguments change: what is compiled, and what is kept


class Growth(NamedTuple):
    """A function, the arguments of its calls in turn, by one thread for each list, and the most megabytes that they may leave."""

    name: str
    function: Function
    arguments: Callable[[], list[list[Sequence[Any]]]]
    most: float


def of_sizes(*sizes: int) -> list[Sequence[Any]]:
    """The arguments of `regression` for some numbers of rows."""
    return [(numbers(8), numbers(size, 8)) for size in sizes]


GROWING = (
    Growth("500 sizes", regression, lambda: [of_sizes(*range(20, 520))], 60),
    Growth("10 000 values of a counter", decayed, lambda: [[(numbers(100), n) for n in range(1, 10_001)]], 20),
    Growth("one thread at a size", regression, lambda: [of_sizes(203) * 5000], 20),
    Growth("two threads at two sizes", regression, lambda: [of_sizes(size) * 5000 for size in (203, 217)], 20),
)


def resident() -> float:
    """The memory of this process in megabytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def grown(name: str) -> dict[str, float]:
    """Records, codes compiled, megabytes, and microseconds a call at first and later, all threads together."""
    xp, native = words("pullback"), importlib.import_module("pullback.compile.machine.native")
    case = next(case for case in GROWING if case.name == name)
    given = [
        [[xp.array(a) if isinstance(a, np.ndarray) else a for a in each] for each in one] for one in case.arguments()
    ]
    compiled, code, codes = xp.compiled(xp.grad(functools.partial(case.function, xp))), native.compiled, [0]
    uncompiled = xp.grad(functools.partial(case.function, xp))

    def counted(*args: Any, **options: Any) -> Any:
        codes[0] += 1
        return code(*args, **options)

    def calls(one: list[list[Any]]) -> None:
        for each in one:
            compiled(*each)

    def turn() -> float:
        threads = [threading.Thread(target=calls, args=(one,)) for one in given]
        start = perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return (perf_counter() - start) / sum(map(len, given)) * 1e6

    xp.compiled(xp.grad(lambda x: xp.sum(x * x)))(xp.array(np.ones(3)))
    native.compiled = counted
    before = resident()
    first, later = turn(), turn()
    gc.collect()
    found = {"records": sum(count for count, _ in compiled.report().records), "codes": codes[0], "first": first}
    found |= {"memory": resident() - before, "later": min(later, turn())}
    for one in given:
        for each in (one[0], one[len(one) // 2], one[-1]):
            np.testing.assert_allclose(np.asarray(compiled(*each)), np.asarray(uncompiled(*each)), rtol=1e-9)
    return found


def growth(only: str | None) -> list[dict[str, Any]]:
    """Measure and print what grows, of the cases whose names hold a text."""
    print(f"\n{'arguments that change':<36}{'records':>10}{'codes':>10}{'MB':>8}{'first us':>12}{'later us':>12}")
    found = []
    for case in GROWING:
        if only and only not in case.name:
            continue
        process = Process("pullback")
        row: dict[str, float] = process.call(grown, case.name)
        process.end()
        ok = row["memory"] <= case.most
        print(
            f"{case.name:<36}{row['records']:>10.0f}{row['codes']:>10.0f}{row['memory']:>8.1f}{row['first']:>12.1f}"
            f"{row['later']:>12.2f} {verdict(ok)}",
            flush=True,
        )
        found.append({"name": case.name, **row, "ok": ok})
    return found
