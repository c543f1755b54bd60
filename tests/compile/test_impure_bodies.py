"""Bodies of loops and branches that change Python values: each step changes them, as it does without compiling."""

import itertools
import random

import numpy as np
import pytest

import pullback
from pullback import func
from pullback.compile import Compiled

# Each is a factor that is another one at each step, from what the function that is compiled makes anew.


def counter():
    held = [0.0]

    def count():
        held[0] += 1.0
        return held[0]

    return count


def nonlocal_name():
    held = 0.5

    def count():
        nonlocal held
        held = held * 2
        return held

    return count


def attribute():
    class Held:
        value = 1.0

    held = Held()

    def count():
        held.value -= 0.25
        return held.value

    return count


def default():
    def count(held=[3.0]):  # noqa: B006
        held.append(held[-1] / 2)
        return held[-1]

    count.__defaults__ = ([3.0],)
    return count


def growing():
    held = []

    def count():
        held.append(1)
        return float(len(held))

    return count


def array():
    held = np.zeros(2)

    def count():
        held[1] += 1
        return float(held[1])

    return count


def iterator():
    held = iter([0.5, 2.0, 3.0] * 50)
    return lambda: next(held)


def generator():
    def numbers():
        number = 0.0
        while True:
            number += 0.5
            yield number

    held = numbers()
    return lambda: next(held)


def python_random():
    return random.Random(5).random


def numpy_random():
    return np.random.default_rng(5).random


def failing():
    held = [0]

    def count():
        held[0] += 1
        if held[0] > 3:
            raise ValueError("the fourth step")
        return 1.0

    return count


FACTORS = [
    counter, nonlocal_name, attribute, default, growing, array, iterator, generator, python_random, numpy_random, failing,
]  # fmt: skip


def scan(factor, x):
    last, kept = pullback.scan(lambda c, u: (c * factor() + u, c), x.sum(0), x)
    return last.sum() + kept.sum()


def within(factor, x):
    def step(c, u):
        return pullback.scan(lambda d, v: (d * factor() * 0.5 + v * c.sum(), None), u, x[:2])[0], None

    return pullback.scan(step, x[0], x)[0].sum()


def fori_loop(factor, x):
    return pullback.fori_loop(0, len(x), lambda i, c: c * factor() + x[0], x.sum(0)).sum()


def while_loop(factor, x):
    step = lambda i, c: (i + 1, c * factor() + x[0])
    return pullback.while_loop(lambda i, c: i < len(x), step, (pullback.tensor(0), x.sum(0)))[1].sum()


def asking(factor, x):
    test = lambda c: c.sum() < 5 - factor() / 100
    return pullback.while_loop(test, lambda c: (c + 1,), (x.abs().sum(0),))[0].sum()


def cond(factor, x):
    one, other = lambda x: x * factor(), lambda x: x * factor() * factor()
    return pullback.cond(x.sum() > 0, one, other, (x,)).sum() + pullback.cond(x.sum() < 1, one, other, (x,)).sum()


LOOPS = [scan, within, fori_loop, while_loop, asking, cond]
TRANSFORMS = {
    "nothing": lambda f: f,
    "grad": func.grad,
    "jvp": lambda f: lambda x: func.jvp(f, (x,), (x,)),
    "vmap": lambda f: lambda x: func.vmap(f)(pullback.stack([x, x + 1])),
}


def outcome(call, x):
    try:
        result = call(x)
    except ValueError as error:
        return str(error)
    return [each.numpy() for each in (result if isinstance(result, tuple) else (result,))]


CASES = [
    *itertools.product(FACTORS, [scan], TRANSFORMS),
    *itertools.product([counter, iterator], LOOPS[1:], ["nothing", "vmap"]),
]


@pytest.mark.parametrize(("make", "loop", "transform"), CASES)
@pytest.mark.filterwarnings("ignore:compile. function runs as it is:UserWarning")
def test_each_step_changes_them(make, loop, transform):
    """Also at second calls, with other values and another length."""

    def function(x):
        factor = make()
        return TRANSFORMS[transform](lambda x: loop(factor, x))(x)

    compiled, rng = Compiled(function, fuse=False), np.random.default_rng(3)
    for length in (2, 2, 3):
        x = pullback.tensor(rng.normal(size=(length, 2)))
        found, expected = outcome(compiled, x), outcome(function, x)
        assert type(found) is type(expected)
        if isinstance(found, str):
            assert found == expected
        else:
            for left, right in zip(found, expected, strict=True):
                np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)


def test_what_outlives_the_call_changes_at_each_step():
    """A counter outside of the function goes on from call to call."""
    counts, results = [], []
    for wrap in (lambda f: f, lambda f: Compiled(f, fuse=False)):
        held = [0]

        def step(c, u, held=held):
            held[0] += 1
            return c * held[0] + u, None

        call = wrap(lambda x, step=step: pullback.scan(step, x[0], x)[0])
        results.append([call(pullback.ones(3, 2)).tolist() for _ in range(3)])
        counts.append(held[0])
    assert counts == [9, 9]
    assert results[0] == results[1]
