"""Times a training step on jax, lowered by `compile(f).on("jax")`, beside the same step written by hand in jax.

Each is timed in processes of its own, in turns, on a quiet machine; what is printed is the median of all rounds, and their
ratio: `scripts/bench engines [rounds]`. "program" is the jitted function alone, "call" with what a call has to look after
besides.
"""

import json
import statistics
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import pullback

SIZES = {"small": (64, 64, 128, 10), "middle": (256, 256, 512, 10), "large": (512, 784, 1024, 10)}
SIDES = ("hand", "program", "call")
SECONDS = 1.0


def data(size):
    rows, width, hidden, classes = SIZES[size]
    rng = np.random.default_rng(0)
    shapes = [(width, hidden), (hidden,), (hidden, hidden), (hidden,), (hidden, classes), (classes,)]
    parameters = [(rng.standard_normal(shape) * 0.05).astype(np.float32) for shape in shapes]
    return parameters, rng.standard_normal((rows, width)).astype(np.float32), rng.integers(0, classes, rows)


def by_hand():
    """The step as one writes it in jax."""

    def loss(p, x, y):
        a = jax.nn.relu(x @ p[0] + p[1])
        a = jax.nn.relu(a @ p[2] + p[3])
        logs = jax.nn.log_softmax(a @ p[4] + p[5])
        return -jnp.take_along_axis(logs, y[:, None], 1).mean()

    @jax.jit
    def step(p, x, y):
        value, slopes = jax.value_and_grad(loss)(p, x, y)
        return [a - 0.1 * b for a, b in zip(p, slopes, strict=True)], value

    return step


def placed():
    """The same in pullback, on jax."""

    def loss(p, x, y):
        a = (x @ p[0] + p[1]).relu()
        a = (a @ p[2] + p[3]).relu()
        return pullback.nn.functional.cross_entropy(a @ p[4] + p[5], y)

    def step(p, x, y):
        slopes, value = pullback.func.grad_and_value(loss)(p, x, y)
        return [a - 0.1 * b for a, b in zip(p, slopes, strict=True)], value

    return pullback.compile(step).on("jax")


def timed(side, size):
    """Microseconds of a step, and the loss that it arrives at."""
    with jax.enable_x64(True):
        p, x, y = jax.tree.map(jax.numpy.asarray, data(size))
        step = by_hand() if side == "hand" else placed()
        if side == "program":
            whole = step
            whole(p, x, y)
            program = whole._newest().machinery.compute

            def step(p, x, y):
                found = program(*p, x, y)
                return found[: len(p)], found[len(p)]

        for _ in range(10):
            p, value = step(p, x, y)
        jax.block_until_ready(p)
        count, start = 0, time.perf_counter()
        while time.perf_counter() < start + SECONDS:
            p, value = step(p, x, y)
            jax.block_until_ready(p)
            count += 1
        spent = (time.perf_counter() - start) / count * 1e6
        first = data(size)[0]
        for _ in range(3):
            first, value = step(jax.tree.map(jax.numpy.asarray, first), x, y)
        return spent, float(value)


def main(rounds):
    for size in SIZES:
        found = {side: [] for side in SIDES}
        for _ in range(rounds):
            for side in SIDES:
                text = subprocess.run(
                    [sys.executable, __file__, side, size], check=True, capture_output=True, text=True
                ).stdout
                found[side].append(json.loads(text))
        losses = {side: times[0][1] for side, times in found.items()}
        assert max(losses.values()) - min(losses.values()) < 1e-4, losses
        middle = {side: statistics.median(spent for spent, _ in times) for side, times in found.items()}
        print(size, *[f"{side} {middle[side]:.0f} us" for side in SIDES], end="; ")
        print(*[f"{side}/hand {middle[side] / middle['hand']:.2f}" for side in SIDES[1:]])


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(timed(*sys.argv[1:])))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
