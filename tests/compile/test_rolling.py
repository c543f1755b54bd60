"""Re-rolling: repeated equations of unrolled loops become loops, and no bit changes.

`Loop` writes random loops as users might, and runs them step by step; the program that is recorded is compared with what
the pass makes of it, both as NumPy calls. PULLBACK_FUZZ says how many random loops there are.
"""

import os
import time
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pullback
from pullback import func
from pullback.compile import machinery
from pullback.compile.passes import PASSES, rolling, simplify
from pullback.compile.passes.dead import without_dead_code
from pullback.compile.passes.rolling import rolled
from pullback.compile.program import check, run

from .programs import assert_same, signed

COUNT = int(os.environ.get("PULLBACK_FUZZ", "60"))
DOUBLE = pullback.float64


def recorded(function, *args):
    """The program of a function, as it is recorded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machinery, "simplify", lambda program, **_: program)
        patch.setattr(machinery, "available", lambda: False)
        compiled = pullback.compile(function, fullgraph=True)
        compiled(*args)
    return without_dead_code(compiled._newest().machinery.recorded)


def loops(program):
    """How many equations and steps the loops of a program have."""
    return [(len(e.params["loop"].body.equations), e.params["loop"].length) for e in program.equations if e.name == "scan_loop"]


def assert_rolled(program, seed=0):
    """The program with loops, after it has been compared with the program."""
    made = check(rolled(program))
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(rng.standard_normal(value.shape) * 0.5).astype(value.dtype) for value in program.inputs]
    found = []
    for each in (made, program):
        pullback.manual_seed(seed)
        found.append(run(each, [array.copy() for array in arrays]))
    assert_same(*found, signs=signed(program))
    return made


def tensor(*shape):
    return pullback.randn(*shape, dtype=DOUBLE) * 0.5


class Loop:
    """A random loop: decisions drawn once, so that every run of it does the same."""

    def __init__(self, rng):
        self.size, self.steps = rng.choice([1, 3, 4]), rng.randrange(6, 28)
        self.matrices = rng.random() < 0.3
        self.plan = [(rng.choice(OPERATIONS), rng.random(), rng.random(), rng.random()) for _ in range(rng.randrange(4, 14))]
        self.states = [rng.random() for _ in range(rng.randrange(1, 4))]
        self.every = rng.choice([0, 0, 0, 3, 7])
        self.ends = rng.choice(["", "", "first", "last"])
        self.inner = rng.choice([0, 0, 0, 3])
        self.lag = rng.randrange(1, 4)
        self.result = rng.choice(["stacked", "states", "sum", "gradient", "gradient", "gradients", "some"])

    @property
    def shape(self):
        return (self.size, self.size) if self.matrices else (self.size,)

    def arguments(self):
        return tensor(*self.shape), tensor(3 * self.steps, *self.shape)

    def __call__(self, w, xs):
        if self.result == "gradient":
            return func.grad(lambda w: self.loss(w, xs))(w)
        if self.result == "gradients":
            return func.grad(self.loss, argnums=(0, 1))(w, xs)
        states, outputs = self.unrolled(w, xs)
        if self.result == "stacked":
            return pullback.stack(outputs), states[0]
        if self.result == "some":
            return [outputs[0], outputs[-1], outputs[len(outputs) // 2], states[-1]]
        return states if self.result == "states" else sum(output.sum() for output in outputs)

    def loss(self, w, xs):
        states, outputs = self.unrolled(w, xs)
        return sum(output.mean() for output in outputs) + (states[-1] * w).sum()

    def unrolled(self, w, xs):
        states, history, outputs = [w * (i + 1) * 0.3 for i in range(len(self.states))], [], []
        for t in range(self.steps):
            values = [*states, w]
            for name, *places, number in self.plan:
                x, y = (values[int(place * len(values))] for place in places)
                if name == "before" and len(history) >= self.lag:
                    values.append(history[-self.lag] * 0.5 + x)
                elif name == "sometimes" and self.every and t % self.every == 1:
                    values.append(x.exp() * 0.1)
                elif name in STEPS:
                    values.append(STEPS[name](x, y, xs, t, self.steps, number))
                for _ in range(self.inner if name == "sine" else 0):
                    values[-1] = (values[-1] * 0.7 + x).cos()
            if (self.ends == "first" and not t) or (self.ends == "last" and t + 1 == self.steps):
                values.append(values[-1].exp() * 0.01)
            states = [values[-1 - int(place * 4) % len(values)].tanh() for place in self.states]
            history.append(states[0])
            outputs.append(values[-1])
        return states, outputs


def written(x, y, number):
    """A copy that is written in place, in a part and as a whole."""
    x = x.clone()
    x[0] = y[-1] * number
    x.mul_(0.9).add_(y)
    return x


STEPS = {
    "add": lambda x, y, xs, t, n, c: x + y,
    "multiply": lambda x, y, xs, t, n, c: x * y * 0.5,
    "sine": lambda x, y, xs, t, n, c: x.sin(),
    "number": lambda x, y, xs, t, n, c: x * 0.9 - y * c,
    "schedule": lambda x, y, xs, t, n, c: x * (0.1 * t / n) + 0.5**t * y,
    "row": lambda x, y, xs, t, n, c: x + xs[t],
    "row from the end": lambda x, y, xs, t, n, c: x * xs[n - 1 - t],
    "every second row": lambda x, y, xs, t, n, c: x - xs[2 * t],
    "some row": lambda x, y, xs, t, n, c: x - xs[(t * 5) % n],
    "first rows": lambda x, y, xs, t, n, c: y + xs[min(t, 3)],
    "column": lambda x, y, xs, t, n, c: x + xs[: x.shape[0], t % x.shape[0]].sum() * 0.1,
    "column of all": lambda x, y, xs, t, n, c: x + xs[:, 0][t] * y,
    "window": lambda x, y, xs, t, n, c: x * xs[t : t + 3].sum(0),
    "part": lambda x, y, xs, t, n, c: x + xs[2 * t : 2 * t + 2].mean(0),
    "mean": lambda x, y, xs, t, n, c: x - x.mean() + (x * y).sum() * 0.01,
    "where": lambda x, y, xs, t, n, c: pullback.where(x > y, x, y * 0.5),
    "flip": lambda x, y, xs, t, n, c: x.flip(0) - y,
    "cat": lambda x, y, xs, t, n, c: pullback.cat([x[1:], y[:1]]),
    "turned": lambda x, y, xs, t, n, c: x.mT * y if x.ndim > 1 else x * y[0],
    "product": lambda x, y, xs, t, n, c: x @ y * 0.2 if x.ndim > 1 else x * (x @ y),
    "reduced": lambda x, y, xs, t, n, c: x + y.sum(0) * 0.1,
    "written": lambda x, y, xs, t, n, c: written(x, y, c),
    "drawn": lambda x, y, xs, t, n, c: x + pullback.randn(x.shape, dtype=x.dtype) * c,
}  # fmt: skip
OPERATIONS = [*STEPS, "before", "before", "sometimes", "sometimes", "add", "sine", "row"]


LIMITS = {"LONG": [0], "SMALL": [32, 0], "FUSED": [1, 24, 40, 96], "CALLED": [1, 96], "DEAR": [1, 100], "COPIED": [0, 1 << 16], "PIECES": [1, 6], "INNER": [0, 64]}
"""Limits of the pass, between which all ways to write loops are taken, for programs of some hundred equations."""


@settings(max_examples=COUNT, deadline=None)
@given(st.integers(0, 2**32))
def test_random_loops_keep_their_bits(seed):
    rng = Random(seed)
    pullback.manual_seed(seed)
    loop = Loop(rng)
    program = recorded(loop, *loop.arguments())
    with pytest.MonkeyPatch.context() as patch:
        for name, choices in LIMITS.items():
            patch.setattr(rolling, name, rng.choice(choices))
        assert_rolled(program, seed)
