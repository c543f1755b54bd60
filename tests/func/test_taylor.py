"""Taylor mode: every primitive along a curve beside nested forward mode, true values by mpmath, and what is refused."""

import math

import numpy as np
import pytest

import pullback
from pullback import func

from ..ops.test_rules import each_sample, random_like
from .test_pushforwards import sample


def curve(t, start, derivatives):
    """x(t) with these derivatives at 0."""
    return sum((d * (t ** (k + 1) / math.factorial(k + 1)) for k, d in enumerate(derivatives)), start)


def nested(f, order):
    """The derivative of an order of a function of one number, at 0, by `jvp` in `jvp`."""
    for _ in range(order):
        f = (lambda f: lambda t: func.jvp(f, (t,), (pullback.ones_like(t),))[1])(f)
    return f(pullback.tensor(0.0, dtype=pullback.float64))


@each_sample
def test_jets_are_nested_tangents(name, makers, params):
    f, primals, first = sample(name, makers, params)
    derivatives = [first, random_like(primals, 4), random_like(primals, 5)]
    series = [list(each) for each in zip(*derivatives, strict=True)]

    def along(t):
        return f(*[curve(t, x, row) for x, row in zip(primals, series, strict=True)])

    outputs, found = func.jet(f, tuple(primals), tuple(series))
    for mine, theirs in zip(outputs, f(*primals), strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())
    for order, derivative in enumerate(found, 1):
        for y, mine, theirs in zip(outputs, derivative, nested(along, order), strict=True):
            assert (mine.shape, mine.dtype) == (y.shape, y.dtype)
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-7, atol=1e-7)
