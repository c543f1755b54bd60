"""Bordered values: what shifts, stencils and padding give is the same, part by part, to the last bit."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import pullback
from pullback import func
from pullback.compile.machine import borders
from pullback.compile.passes import simplify
from pullback.program import record, run

LENGTHS = (borders.LONG - 1, borders.LONG, borders.LONG + 9, 900)
"""Of both sides of the least long part."""


def inner(x, axis, begin, end):
    return x.narrow(axis, begin, x.shape[axis] + end - begin)


def padded(x, axis):
    return pullback.nn.functional.pad(x, (0, 0) * (x.ndim - 1 - axis) + (1, 1))


STEPS = {
    "shifted": lambda x, w, axis: pullback.cat([x.narrow(axis, 0, 1), inner(x, axis, 0, -1) * 2], axis),
    "from both ends": lambda x, w, axis: pullback.cat(
        [x.narrow(axis, 0, 3), inner(x, axis, 3, -2) + inner(x, axis, 1, -4), x.narrow(axis, 0, 2)], axis
    ),
    "padded and cut": lambda x, w, axis: padded(x, axis).narrow(axis, 0, x.shape[axis]) + w,
    "neighbours": lambda x, w, axis: inner(padded(x, axis), axis, 2, 0) - inner(padded(x, axis), axis, 0, -2) * 0.5,
    "wide": lambda x, w, axis: pullback.cat([inner(x, axis, 200, 0), x.narrow(axis, 0, 200)], axis),
    "product": lambda x, w, axis: x * w,
    "difference": lambda x, w, axis: w - x,
    "chosen": lambda x, w, axis: pullback.where(x > w, x, -x),
    "exponential": lambda x, w, axis: (x * 0.01).exp(),
    "whole": lambda x, w, axis: x - x.mean(axis, keepdim=True),
    "reversed": lambda x, w, axis: x.flip(axis),
}


def stepped(steps, axis):
    def function(x, w):
        for step in steps:
            x = STEPS[step](x, w, axis)
        return x

    return function


def numbers(shape, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return [pullback.from_numpy(rng.integers(-3, 4, size).astype(dtype)) for size in (shape, shape[-1:])]


@hypothesis.given(
    st.lists(st.sampled_from([*STEPS]), min_size=1, max_size=6), st.sampled_from(LENGTHS), st.integers(0, 2), st.integers(0, 99),
    st.sampled_from([None, np.inf, -np.inf, np.nan, -0.0]), st.booleans(),
)  # fmt: skip
def test_random_stencils(steps, length, kind, seed, strange, derived):
    shape, axis = [((length,), 0), ((length, 2), 0), ((3, length), 1)][kind]
    f = stepped(steps, axis)
    function = (lambda x, w: func.vjp(f, x, w)[1](x * w)) if derived else f
    x, w = numbers(shape, seed)
    if strange is not None:
        x.view(-1)[[0, seed, -1]] = strange
    made = record(function, x, w)
    program = simplify(made.program)
    with np.errstate(all="ignore"):
        for mine, its in zip(run(borders.bordered(program), made.arrays), run(program, made.arrays), strict=True):
            assert mine.dtype == its.dtype
            assert mine.tobytes() == its.tobytes() or np.isnan(its).any()
            np.testing.assert_array_equal(mine, its, strict=True)


def stages(x, w):
    for _ in range(4):
        x = x + pullback.cat([w[:1], w[1:] * x[:-1]])
    return x


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("strided", [False, True])
def test_machine_code(dtype, length, strided):
    x, w = numbers((2, 2 * length), 0, dtype)
    x, w = (x[0, ::2], w[::2]) if strided else (x[0, :length], w[:length])
    np.testing.assert_array_equal(pullback.compile(stages, fullgraph=True)(x, w), stages(x, w), strict=True)


def test_stages_are_one_nest_of_long_parts():
    def pulled(x, w):
        return func.vjp(stages, x, w)[1](x)[0]

    x = pullback.linspace(0, 1, 5000, dtype=pullback.float64)
    compiled = pullback.compile(pulled, fullgraph=True)
    np.testing.assert_allclose(compiled(x, x), pulled(x, x), rtol=1e-13)
    kernels = compiled.report().kernels
    assert sum(each.written for each in kernels) < 2 * x.nbytes
    assert compiled.report().peak < x.nbytes


def test_costly_stages_are_stored():
    def f(x):
        for _ in range(9):
            x = x.exp() - pullback.cat([x[:1], x[:-1].exp()])
        return x

    program = simplify(record(f, pullback.linspace(0, 1, 5000)).program)
    assert sum(equation.name == "exp" for equation in borders.bordered(program).equations) <= 3 * 9
