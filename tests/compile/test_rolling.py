"""Re-rolling: repeated equations of unrolled loops become loops, and no bit changes.

`Loop` writes random loops as users might, and runs them step by step; the program that is recorded is compared with what
the pass makes of it, both as NumPy calls. PULLBACK_FUZZ says how many random loops there are.
"""

import os
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pullback
from pullback import func
from pullback.compile import machinery
from pullback.compile.passes import looping, rolling, simplify
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
    return [
        (len(e.params["loop"].body.equations), e.params["loop"].length)
        for e in program.equations
        if e.name == "scan_loop"
    ]


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
        self.plan = [
            (rng.choice(OPERATIONS), rng.random(), rng.random(), rng.random()) for _ in range(rng.randrange(4, 14))
        ]
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


LIMITS = {
    "LONG": [0],
    "VERY_LONG": [0],
    "SMALL": [32, 0],
    "FUSED": [1, 24, 40, 96],
    "CALLED": [1, 96],
    "DEAR": [1, 100],
    "COPIED": [0, 1 << 16],
    "PIECES": [1, 6],
    "INNER": [0, 64],
}
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
            patch.setattr(rolling if hasattr(rolling, name) else looping, name, rng.choice(choices))
        assert_rolled(program, seed)


# What becomes of loops of many kinds: the equations and steps of the loops, and how many equations there are in all


def history(w, xs):
    h, states = pullback.zeros(5, dtype=DOUBLE), []
    for x in xs:
        h = (h * w + x).tanh()
        states.append(h)
    return pullback.stack(states)


def multistep(y):
    """Adams and Bashforth's method, which uses the slopes of two steps before."""
    slopes = []
    for _ in range(60):
        slopes.append(-y * y.sin() + y.flip(0) * 0.1)
        y = y + 0.01 * (slopes[-1] if len(slopes) < 3 else 23 * slopes[-1] - 16 * slopes[-2] + 5 * slopes[-3])
    return y


def nested(w, xs):
    h = pullback.zeros(4, dtype=DOUBLE)
    for x in xs:
        h = h + x
        for _ in range(5):
            h = (w @ h).sigmoid()
    return h


def schedule(x):
    for t in range(50):
        x = x * (1 - 0.01 * t) + x.sin() * 0.5**t
    return x


def irregular(x):
    for t in range(80):
        x = x * 1.1 + 0.1
        if t % 7 == 3:
            x = x.cos()
    return x


def in_place(a, m):
    for _ in range(60):
        m.mul_(0.9)
        m.add_(a * 0.1)
        a = a - m.tanh() * 0.01
    return a


def drawn(x):
    for _ in range(60):
        x = x + pullback.randn(5, dtype=DOUBLE) * 0.1
        x = x - x.sin()
    return x


def reversed_rows(x):
    total, sums = pullback.zeros((), dtype=DOUBLE), []
    for row in reversed(x.unbind(0)):
        total = total * 0.9 + row
        sums.append(total.exp() - total * total + total.sin())
    return pullback.stack(sums[::-1])


def first_and_last(x):
    for t in range(60):
        x = x.exp() * 0.1 if t == 0 else x.cos() if t == 59 else x * 0.9 + x.sin()
    return x


def descent(x, y, w):
    for _ in range(25):
        w = w - 0.1 * func.grad(lambda w: ((x @ w).tanh() - y).square().mean())(w)
    return w


CASES = {
    "history": (history, [(5,), (50, 5)], [(3, 50)], 2),
    "gradient of history": (func.grad(lambda w, xs: history(w, xs).sum()), [(5,), (50, 5)], None, 18),
    "multistep": (multistep, [(6,)], [(13, 58)], 17),
    "nested": (nested, [(4, 4), (20, 4)], [(11, 20)], 2),
    "gradient of nested": (func.grad(lambda w, xs: nested(w, xs).sum()), [(4, 4), (40, 4)], None, 260),
    "schedule": (schedule, [(3, 7)], [(4, 50)], 1),
    "irregular": (irregular, [(2,)], [(15, 11)], 8),
    "in place": (in_place, [(5, 5), (5, 5)], [(6, 60)], 1),
    "drawn": (drawn, [(5,)], [(4, 60)], 62),
    "reversed rows": (reversed_rows, [(40,)], [(7, 40)], 2),
    "first and last": (first_and_last, [(4,)], [(3, 58)], 4),
    "descent": (descent, [(8, 2), (8,), (2,)], None, 40),
}


@pytest.mark.parametrize("name", CASES)
def test_loops_are_found(name):
    function, shapes, expected, most = CASES[name]
    program = recorded(function, *[tensor(*shape) for shape in shapes])
    made = without_dead_code(assert_rolled(program))
    assert loops(made) == expected if expected else loops(made)
    assert len(made.equations) <= most


def test_what_does_not_repeat_is_left_alone():
    def function(x):
        rng = Random(3)
        for _ in range(300):
            x = rng.choice([pullback.sin, pullback.exp, pullback.tanh, pullback.square, pullback.neg])(x * rng.random())
        return x

    program = recorded(function, tensor(4))
    assert rolled(program) is program


def test_values_in_another_order_are_not_stacked():
    """Their sums would be added up in another order; the state itself keeps its own."""

    def function(x, w):
        states = []
        for _ in range(80):
            x = x * w.mT + 1
            states.append(x)
        return sum(state.sum() for state in states) if stacked else x

    for stacked in (False, True):
        program = recorded(function, tensor(3, 4), tensor(4, 3))
        assert bool(loops(assert_rolled(program))) is not stacked


def test_views_that_steps_hand_on():
    """Outside of the loop they are no views of views of all steps."""

    def function(x):
        total = x * 0
        for _ in range(200):
            total = total * 0.5 + x.sin()
            x = x.mT
        return total, x

    made = assert_rolled(recorded(function, tensor(3, 3)))
    assert loops(made)
    assert len(made.equations) < 20


def test_steps_with_calls_from_python_stay_as_they_are():
    """As a loop, each of its rows would be copied by Python, too."""

    def function(x):
        for _ in range(80):
            x = pullback.linalg.solve(x @ x.mT + pullback.eye(3, dtype=DOUBLE), x) * 0.5
        return x

    program = recorded(function, tensor(3, 3))
    assert len(program.equations) > rolling.FEWEST
    assert not loops(rolled(program))


@pytest.mark.parametrize("options", [{"without": ["loops"]}, {"fuse": False}], ids=["without", "exact"])
def test_the_pass_can_be_left_out(options):
    program = recorded(schedule, tensor(4))
    assert loops(simplify(program))
    assert not loops(simplify(program, **options))


def test_programs_of_any_length_have_as_many_equations():
    """So the time of a first call is that of recording and of looking for loops."""

    def function(y, k, steps):
        a, b, c = y[0], y[1], y[2]
        for _ in range(steps):
            first, second, third = k[0] * a, k[1] * b * c, k[2] * b * b
            a, b, c = a + 0.01 * (second - first), b + 0.01 * (first - second - third), c + 0.01 * third
        return a * a + b + c

    counts = []
    for steps in (30, 90):
        program = simplify(recorded(func.grad(function, argnums=1), tensor(3), tensor(3), steps))
        counts.append((len(program.equations), [size for size, _ in loops(program)]))
    assert counts[0] == counts[1]


def test_lines_are_named():
    compiled = pullback.compile(schedule)
    compiled(tensor(4))
    assert loops(compiled._newest().machinery.program)
    assert "x.sin() * 0.5**t" in str(compiled.source)


# Loops under transforms


def cell(w, xs):
    step = lambda h, x: ((w @ h + x).tanh(), h.sum())
    last, sums = pullback.scan(step, pullback.zeros(3, dtype=DOUBLE), xs)
    return (last * last).sum() + sums.sum()


def counted(w, xs):
    return pullback.fori_loop(0, 40, lambda i, h: (w @ h + xs[0]).tanh(), xs[1]).sum()


def until(w, xs):
    step = lambda i, h: (i + 1, (w @ h + xs[0]).tanh())
    return pullback.while_loop(lambda i, h: i < 40, step, (0, xs[1]))[1].sum()


TRANSFORMS = {
    "grad": lambda f: func.grad(f, argnums=(0, 1)),
    "jvp": lambda f: lambda w, xs: func.jvp(lambda w: f(w, xs), (w,), (w * 0.5,))[1],
    "vmap": lambda f: lambda w, xs: func.vmap(lambda s: f(w * s, xs))(pullback.arange(3.0, dtype=DOUBLE)),
    "hvp": lambda f: lambda w, xs: func.jvp(func.grad(lambda w: f(w, xs)), (w,), (w,))[1],
    "vmap of grad": lambda f: lambda w, xs: func.vmap(lambda s: func.grad(f)(w * s, xs))(pullback.arange(3.0, dtype=DOUBLE)),
}  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("function", [cell, counted, until], ids=lambda function: function.__name__)
def test_loops_under_transforms_are_loops(function, transform):
    function, args = TRANSFORMS[transform](function), (tensor(3, 3), tensor(40 if function is cell else 4, 3))
    compiled = pullback.compile(function, fullgraph=True)
    found, expected = compiled(*args), function(*args)
    for a, b in zip(*[r if isinstance(r, tuple) else (r,) for r in (found, expected)], strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-12)
    program = compiled._newest().machinery.program
    found = loops(program) or [e for e in program.equations if e.name == "repeat_loop"]
    assert len(found) >= (2 if "g" in transform or transform == "hvp" else 1)
    assert len(program.equations) < 300
