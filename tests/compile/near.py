"""Nearness: whether a program that rounds in another way gives what it may give.

How far results may lie apart depends on the program: a difference of near numbers has few digits left, a sine of a large
one none. So the program itself is run several times with every number, inputs included, moved at random by a few units in
its last place; as far as its results move, others' may lie from them.
"""

import numpy as np

from pullback.compile.program import run

RUNS, UNITS, MARGIN = 6, 4, 4
LOGARITHMS = {"log_softmax", "logsumexp"}
"""Functions that take the logarithm of a sum of their own, which rounds to the last place of 1 where it is near 1."""
DIVISIONS = {"divide": 1, "reciprocal": 0, "rsqrt": 0, "power": 0, "pow": 0, "rms_normalize": 0}


class DivisionByZeroError(Exception):
    """The sign of a zero may change, and with it that of an infinity: such a run says nothing."""


def moved(array, rng):
    """Numbers moved by a few units in the last place; zeros, NaN and infinities stay."""
    if array.dtype.kind != "f":
        return array
    step = rng.integers(-UNITS, UNITS + 1, array.shape).astype(array.dtype) * np.finfo(array.dtype).eps
    with np.errstate(all="ignore"):
        return np.asarray(array * (1 + step)).astype(array.dtype)


def slack(program, arrays):
    """The results of a program, each with how far from it another may lie."""

    def plain(equation, given):
        place = DIVISIONS.get(equation.name)
        if place is not None and np.any(given[place] == 0):
            raise DivisionByZeroError
        return equation.primitive.forward(*given, **equation.params)

    def shaken(equation, given):
        result = equation.primitive.forward(*[moved(np.asarray(x), rng) for x in given], **equation.params)
        if equation.name in LOGARITHMS:
            result = np.asarray(result + (moved(np.ones_like(result), rng) - 1), result.dtype)
        return result

    with np.errstate(all="ignore"):
        expected = run(program, arrays, each=plain)
        spread = [np.zeros(array.shape) for array in expected]
        for seed in range(RUNS):
            rng = np.random.default_rng(seed)
            for i, array in enumerate(run(program.changed(guards=()), arrays, each=shaken)):
                if (
                    array.dtype.kind == "f"
                ):  # the last move is not left to chance: with thousands of numbers some never move
                    last = UNITS * np.finfo(array.dtype).eps * np.abs(array.astype(float))
                    spread[i] = np.fmax(spread[i], np.abs(array.astype(float) - expected[i].astype(float)) + last)
        tiny = [np.finfo(a.dtype).tiny if a.dtype.kind == "f" else 0 for a in expected]
    return [(array, MARGIN * gap + least) for array, gap, least in zip(expected, spread, tiny, strict=True)]


def assert_near(found, allowed):
    """Results lie within what is allowed of them; NaN and infinities stand in the same places, with the same sign."""
    for array, (expected, bound) in zip(found, allowed, strict=True):
        assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
        if expected.dtype.kind != "f":
            np.testing.assert_array_equal(array, expected)
            continue
        finite = np.isfinite(expected)
        np.testing.assert_array_equal(np.isfinite(array), finite)
        np.testing.assert_array_equal(array[~finite], expected[~finite])
        gap = np.abs(array[finite].astype(float) - expected[finite].astype(float))
        assert np.all(gap <= bound[finite]), (array, expected, bound)
