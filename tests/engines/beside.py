"""A program on an engine beside the same program on the host."""

import numpy as np
import pytest

import pullback

from .programs import PROGRAMS

every_program = pytest.mark.parametrize("name", PROGRAMS)


def leaves(tree):
    """The arrays of a result, in order."""
    if isinstance(tree, (tuple, list)):
        return [leaf for each in tree for leaf in leaves(each)]
    return [tree]


def made(name):
    """A step and its batches, all in double precision, from one seed."""
    pullback.set_default_dtype(pullback.float64)
    pullback.manual_seed(0)
    step, batches = PROGRAMS[name]()
    pullback.manual_seed(1)
    return step, batches


def on_host(name):
    """What each call gives on the host, and its arguments as the step leaves them."""
    step, batches = made(name)
    found = []
    for batch in batches:
        given = [pullback.tensor(x.copy()) for x in batch]
        before = [x._version for x in given]
        result = step(*given)
        written = [x._version for x in given] != before
        found.append([x.detach().numpy().copy() for x in leaves((result, given) if written else result)])
    return found


def compared(name, what, *, rtol=1e-8):
    """Check each call on an engine against the host's."""
    try:
        expected = on_host(name)
        step, batches = made(name)
        placed = pullback.compile(step).on(what)
        w = placed.engine
        for batch, numbers in zip(batches, expected, strict=True):
            with w.mode():
                given = [w.constant(x) for x in batch]
            result = placed(*given)
            for mine, true in zip(leaves(result), numbers, strict=True):
                assert isinstance(mine, (w.array, np.generic)), type(mine)
                found = w.host(mine)
                assert (found.shape, found.dtype) == (true.shape, true.dtype)
                np.testing.assert_allclose(found, true, rtol=rtol, atol=1e-10)
        return placed
    finally:
        pullback.set_default_dtype(pullback.float32)
