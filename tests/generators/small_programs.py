"""Random small programs, with views, writes, reductions and Python numbers: by machine code they give what they give eagerly.

The programs are those of tests/compile/test_fuzz.py, on arrays whose sizes lie on both sides of those from which work is shared
among threads, put off, or done by other code, in single and double precision, with other numbers at each call.
"""

import copy
import warnings

import numpy as np
from tests.compile.test_fuzz import SHAPES, Draw

import pullback
from pullback.compile import CaptureError, Compiled

FEW = 2
LONG = [(2047,), (2049,), (4095,), (4097,), (64, 33), (33, 64), (2, 33, 31), (65, 63), (1, 2049)]
TIMES = 1000
"""How much further than eager results those of a program may lie from true ones: from those in double precision, or, where they
are, from those of arguments moved by a few units in the last place."""


def _function(program):
    """A function of numbers and tensors that draws nothing when it is called."""

    def run(numbers, *inputs):
        twin = copy.copy(program)
        twin.values = numbers
        return Draw.__call__(twin, *inputs)

    return run


def _results(function, numbers, arrays, dtype):
    """All results and gradients of a call; None where it raises, with what it raises."""
    inputs = [pullback.tensor(x, dtype=dtype, requires_grad=True) for x in arrays]
    try:
        values, gradients = function(numbers, *inputs)
    except CaptureError:
        raise
    except Exception as error:  # whatever it is, both raise it
        return None, error
    return [*values, *gradients, *[x.detach() for x in inputs]], None


def _near(found, expected, exact, where):
    """Compare the results of a program with eager ones, and with true ones."""
    for number, (left, right, true) in enumerate(zip(found, expected, exact, strict=True)):
        what = [(x.dtype, x.shape, x.requires_grad) for x in (left, right)]
        assert what[0] == what[1], f"{where}, result {number}: {what[0]} for {what[1]}"
        a, b, c = (np.asarray(x.numpy(), np.float64) for x in (left, right, true))
        if right.dtype.is_floating_point:
            np.testing.assert_array_equal(np.isfinite(a), np.isfinite(b), err_msg=f"{where}, result {number}")
            a, b, c = (np.where(np.isfinite(b) & np.isfinite(c), x, 0.0) for x in (a, b, c))
            size = 1 + np.max(np.abs(c), initial=0.0)
            slack = TIMES * (np.max(np.abs(b - c), initial=0.0) + 16 * pullback.finfo(right.dtype).eps * size)
            assert np.max(np.abs(a - b), initial=0.0) <= slack, f"{where}, result {number}: {left} for {right}"
        else:
            np.testing.assert_array_equal(a, b, err_msg=f"{where}, result {number}")
    return sum(x.numel() for x in expected)


def check(rng):
    """Draw a program, a dtype and numbers; and compare some calls of it, compiled and eager."""
    seed, long = int(rng.integers(1 << 40)), bool(rng.integers(2))
    dtype = (pullback.float32, pullback.float64)[rng.integers(2)]
    fuse, single = bool(rng.integers(4)), "always" if rng.random() < 0.1 else "never"  # for what is computed one by one
    program = Draw(seed, LONG if long else SHAPES)
    function, before, compared = _function(program), pullback.get_machine_code(), 0
    compiled = Compiled(function, fuse=fuse)
    for turn in range(3):
        numbers = rng.uniform(-2, 2, 5).tolist()
        arrays = [x * (1 + 0.25 * turn) for x in program.inputs]
        where = f"seed {seed} of {LONG if long else SHAPES}, {dtype}, fuse {fuse}, {single}, call {turn}"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pullback.set_machine_code("never")
            expected, raised = _results(function, numbers, arrays, dtype)
            moved = [x * (1 + 1e-14 * (dtype == pullback.float64)) for x in arrays]
            exact, _ = _results(function, numbers, moved, pullback.float64)
            pullback.set_machine_code(single)
            found, failed = _results(compiled, numbers, arrays, dtype)
            pullback.set_machine_code(before)
        told = [str(each.message) for each in caught]
        told = [text for text in told if "no machine code" in text or "fails where" in text]
        assert not told, f"{where}: {told[0]}"
        assert type(raised) is type(failed), f"{where}: raises {failed!r} for {raised!r}"
        if raised is None:
            compared += _near(found, expected, exact, where)
    return compared
