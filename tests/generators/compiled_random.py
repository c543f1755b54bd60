"""Random state: functions that draw, seed, save and restore it, compiled beside the same without compile.

The numbers of three calls, and what the generators give afterwards, must be those of the function as it is, whether it is
compiled or runs uncompiled because it does what a program could not do again.
"""

import warnings

import numpy as np

import pullback
from pullback.compile import Compiled

FEW = 6


class State:
    """The generators that a function knows, in the same state at each trial."""

    def __init__(self):
        pullback.manual_seed(1)
        self.own, self.other = pullback.Generator().manual_seed(2), pullback.Generator().manual_seed(3)
        self.numpy = np.random.default_rng(4)
        self.kept, self.first = None, self.own.get_state()
        self.default = pullback.get_rng_state()


def step(name, state, x):
    """One step: the tensor that the next one continues with."""
    match name:
        case "draw":
            return x + pullback.rand(3)
        case "normal":
            return x + pullback.randn(3, generator=state.own)
        case "other":
            return x * pullback.rand(3, generator=state.other)
        case "numpy":
            return x + pullback.rand(3, generator=state.numpy)
        case "dropout":
            return pullback.nn.functional.dropout(x, 0.5)
        case "bernoulli":
            return x + pullback.bernoulli(pullback.full((3,), 0.5), generator=state.own)
        case "directly":
            return x + float(state.own.numpy.random())
        case "numpy directly":
            return x + float(state.numpy.random())
        case "seed":
            pullback.manual_seed(1)
        case "seed own":
            state.own.manual_seed(2)
        case "make":
            return x + pullback.rand(3, generator=pullback.Generator().manual_seed(5))
        case "make unseeded":
            return x + pullback.rand(3, generator=pullback.Generator())
        case "save":
            state.kept = pullback.get_rng_state()
        case "again":
            saved = pullback.get_rng_state()
            x = x + pullback.rand(3)
            pullback.set_rng_state(saved)
            return x - pullback.rand(3)
        case "restore":
            pullback.set_rng_state(state.default)
        case "restore own":
            state.own.set_state(state.first)
        case "fork":
            with pullback.fork_rng():
                return x + pullback.rand(3)
        case "number":
            return x + state.own.initial_seed()
        case "scan":
            return pullback.scan(lambda c, _: (c + pullback.rand(3), c), x, pullback.arange(3.0))[0]
        case "vmap":
            return pullback.vmap(lambda t: t + pullback.rand(()), randomness="same")(x)
        case "vmap each":
            return pullback.vmap(lambda t: pullback.normal(t, t.abs() + 1), randomness="same")(x)
        case "vmap apart":
            return pullback.vmap(lambda t: t + pullback.rand(()), randomness="different")(x)
    return x


PLAIN = ["draw", "normal", "other", "numpy", "dropout", "bernoulli", "scan", "vmap", "vmap apart"]
STEPS = [
    *PLAIN, "directly", "numpy directly", "seed", "seed own", "make", "make unseeded", "save", "again", "restore", "restore own",
    "fork", "number", "vmap each",
]  # fmt: skip


def trial(names, compiled):
    """The results of three calls, what the generators give then, and why calls were not compiled."""
    state = State()

    def function(x):
        for name in names:
            x = step(name, state, x)
        return x

    called = Compiled(function, fuse=False) if compiled else function
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        results = [called(pullback.ones(3)) for _ in range(3)]
    after = pullback.rand(2), pullback.rand(2, generator=state.own), pullback.rand(2, generator=state.other)
    found = [each.numpy().copy() for each in (*results, *after)] + [state.numpy.random(2)]
    return found, [*called.refused.values()] if compiled else []


def check(rng):
    names = [str(name) for name in rng.choice(STEPS if rng.random() < 0.7 else PLAIN, rng.integers(1, 5))]
    expected, _ = trial(names, compiled=False)
    got, reasons = trial(names, compiled=True)
    for number, (one, other) in enumerate(zip(got, expected, strict=True)):
        assert np.allclose(one, other, rtol=1e-6), f"{names}, refused {reasons}: {number} is {one} instead of {other}"
    if {*names} <= {*PLAIN}:
        assert not reasons, f"{names} run uncompiled: {reasons}"
    return len(got)
