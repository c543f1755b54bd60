"""Times the programs of the pages for scientists beside jax.jit: a first call, compilation included, and the calls after it.

    scripts/bench science [NAME ...]

Each program is written once on a namespace, NumPy's functions on tensors or jax.numpy, and differentiated and compiled by either
library, in this process, with double precision; values and gradients must agree.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import pullback

TURNS, SECONDS = 5, 0.15
Program = Callable[[Any, Any, Any, Any], Any]
PROGRAMS: dict[str, tuple[Program, Any]] = {}
_draw = np.random.default_rng(0)


def program(*given: Any) -> Callable[[Program], Program]:
    """A program under its name, with its argument."""

    def named(function: Program) -> Program:
        PROGRAMS[function.__name__] = function, np.array(given[0], float)
        return function

    return named


@program([0.1, 0.02, 0.3])
def ode(xp: Any, linalg: Any, scan: Any, p: Any) -> Any:
    """Lotka and Volterra's equation by 200 steps of the classical method of order 4."""

    def rate(y: Any) -> Any:
        return xp.stack([y[0] * (p[0] - p[1] * y[1]), y[1] * (p[1] * y[0] - p[2])])

    def step(y: Any, _: Any) -> Any:
        a = rate(y)
        b = rate(y + 0.05 * a)
        c = rate(y + 0.05 * b)
        y = y + 0.1 / 6 * (a + 2 * b + 2 * c + rate(y + 0.1 * c))
        return y, y

    return (scan(step, xp.stack([10 + 0 * p[0], 5 + 0 * p[0]]), 200) ** 2).mean()


TIMES = np.linspace(0, 10, 40)
SEEN = np.sin(TIMES) + 0.2 * _draw.normal(size=40)


@program([0.2, 0.6, -1.5])
def gaussian_process(xp: Any, linalg: Any, scan: Any, logs: Any) -> Any:
    """Minus the logarithm of the marginal likelihood of 40 measurements."""
    size, length, error = xp.exp(logs)[0], xp.exp(logs)[1], xp.exp(logs)[2]
    kernel = size**2 * xp.exp(-0.5 * ((TIMES[:, None] - TIMES) / length) ** 2) + error**2 * np.eye(40)
    factor = linalg.cholesky(kernel)
    return 0.5 * SEEN @ linalg.solve(kernel, SEEN) + xp.log(xp.diagonal(factor)).sum()


MOVE, PUSH, SEE = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([0.5, 1.0]), np.array([1.0, 0.0])
MEASURED = np.cumsum(_draw.normal(size=200))


@program([0.0, 0.0])
def kalman_filter(xp: Any, linalg: Any, scan: Any, logs: Any) -> Any:
    """Minus the log likelihood of 200 measurements of a place that drifts."""
    drive, error = xp.exp(logs)[0], xp.exp(logs)[1]

    def step(state: Any, z: Any) -> Any:
        mean, covariance = state
        mean = MOVE @ mean
        covariance = MOVE @ covariance @ MOVE.T + drive**2 * np.outer(PUSH, PUSH)
        surprise, variance = z - mean[0], covariance[0, 0] + error**2
        gain = covariance @ SEE / variance
        mean, covariance = mean + gain * surprise, covariance - xp.outer(gain, SEE @ covariance)
        return (mean, covariance), 0.5 * (surprise**2 / variance + xp.log(variance))

    start = 0 * xp.stack([drive, drive]), 10 * np.eye(2) + 0 * drive
    return scan(step, start, MEASURED).sum()


SQUARE = _draw.normal(size=(60, 60)) + 60 * np.eye(60)


@program(_draw.normal(size=60))
def linear_system(xp: Any, linalg: Any, scan: Any, d: Any) -> Any:
    """A system of 60 equations whose diagonal is the parameter."""
    return (linalg.solve(SQUARE + xp.diag(d), np.ones(60)) ** 2).sum()


KNOTS = np.linspace(0, 1, 30)
POINTS = _draw.uniform(0, 1, 1000)


@program(_draw.normal(size=30))
def interpolation(xp: Any, linalg: Any, scan: Any, heights: Any) -> Any:
    """A line through 30 points at 1000 places."""
    return (xp.interp(POINTS, KNOTS, heights) ** 2).sum()


@program([0.7, 1.3])
def fixed_point(xp: Any, linalg: Any, scan: Any, p: Any) -> Any:
    """A fixed point by 100 steps, which are differentiated."""
    return (scan(lambda y, _: (xp.cos(p * y), y), 0 * p + 0.5, 100)[-1] ** 2).sum()


@program(_draw.normal(size=3))
def fit(xp: Any, linalg: Any, scan: Any, p: Any) -> Any:
    """The squared misfit of a decaying oscillation."""
    return ((p[0] * xp.exp(-xp.abs(p[1]) * TIMES) * xp.cos(p[2] * TIMES) - SEEN) ** 2).sum()


def ours(function: Program) -> Callable[[Any], Any]:
    """Value and gradient by pullback."""

    def scan(step: Any, start: Any, over: Any) -> Any:
        length = over if isinstance(over, int) else None
        xs = None if length else pullback.tensor(over)
        return pullback.scan(step, start, xs, length=length)[1]

    def whole(p: Any) -> Any:
        return function(np, np.linalg, scan, p)

    made = pullback.compile(pullback.func.grad_and_value(whole))

    def call(p: Any) -> Any:
        slope, value = made(p)
        return value.numpy(), slope.numpy()

    return lambda p: call(pullback.tensor(p))


def theirs(function: Program) -> Callable[[Any], Any]:
    """Value and gradient by JAX."""
    import jax  # noqa: PLC0415  # its import is no part of pullback's times

    jax.config.update("jax_enable_x64", True)

    def scan(step: Any, start: Any, over: Any) -> Any:
        length = over if isinstance(over, int) else None
        return jax.lax.scan(step, start, None if length else over, length=length)[1]

    made = jax.jit(jax.value_and_grad(lambda p: function(jax.numpy, jax.numpy.linalg, scan, p)))
    return lambda p: jax.block_until_ready(made(p))


def timed(call: Callable[[Any], Any], given: Any) -> float:
    """The seconds of a call."""
    count, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < SECONDS:
        call(given)
        count += 1
    return spent / count


def main(names: list[str]) -> None:
    """Print a row for each program."""
    print(f"{'program':<18}{'first, ms':>10}{'of jax':>8}{'call, us':>10}{'of jax':>8}")
    for name in names or PROGRAMS:
        function, given = PROGRAMS[name]
        firsts, calls, found = [], [ours(function), theirs(function)], []
        for call in calls:
            start = time.perf_counter()
            found.append(call(given))
            firsts.append(time.perf_counter() - start)
        for mine, other in zip(*found, strict=True):
            np.testing.assert_allclose(mine, np.asarray(other), rtol=1e-8, atol=1e-8)
        turns = [[timed(call, given) for call in calls] for _ in range(TURNS)]
        us, jax = (median(turn[k] for turn in turns) for k in (0, 1))
        print(
            f"{name:<18}{firsts[0] * 1e3:10.0f}{firsts[0] / firsts[1]:8.2f}{us * 1e6:10.1f}{us / jax:8.2f}", flush=True
        )


if __name__ == "__main__":
    main(sys.argv[1:])
