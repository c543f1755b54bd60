"""Rows that are zero by construction: the derivatives of uncompiled functions, with their NaN and infinities."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import pullback
from pullback import func
from pullback.compile.machine import zeros
from pullback.compile.passes import simplify
from pullback.compile.passes.dead import without_dead_code
from pullback.program import record, run

INPUTS, BONES, POINTS = 8, 6, 48
ENTRIES = {
    "zero": lambda x, i, j: pullback.zeros_like(x[i]),
    "one": lambda x, i, j: pullback.ones_like(x[i]),
    "element": lambda x, i, j: x[i],
    "sine": lambda x, i, j: x[i].sin(),
    "product": lambda x, i, j: x[i] * x[j],
    "difference": lambda x, i, j: (x[i] - x[j]).tanh(),
    "masked": lambda x, i, j: (x * pullback.from_numpy((np.arange(INPUTS) == i) * 1.0)).sum(),
    "indexed": lambda x, i, j: x[[i, j, j]].sum() / 2,
}
entry = st.tuples(st.sampled_from([*ENTRIES]), st.integers(0, INPUTS - 1), st.integers(0, INPUTS - 1))
STEPS = {
    "weights": lambda p, weights: p * weights[:, None],
    "scale": lambda p, weights: p * 0.5,
    "column": lambda p, weights: p * weights[:, :1, None],
    "row": lambda p, weights: p * weights[0],
    "sine": lambda p, weights: p.sin(),
    "reshape": lambda p, weights: p.reshape(3, 2, -1, POINTS).reshape(BONES, -1, POINTS),
    "square": lambda p, weights: p * p,
}
ENDS = {
    "sum over matrices": lambda p: p.sum(0),
    "sum over rows": lambda p: p.sum(1),
    "sum over both": lambda p: p.sum((0, 1)),
    "sum over points": lambda p: p.sum(-1),
    "indexed": lambda p: p.sum(0)[:, [3, 0, 0, 7]],
    "all": lambda p: p,
}


def numbers(seed):
    generator = np.random.default_rng(seed)
    return [pullback.from_numpy(generator.normal(size=shape)) for shape in ((INPUTS,), (3, POINTS), (BONES, POINTS))]


def moved(rows, steps, end):
    """Points moved by matrices, each of a few inputs, weighted and added up."""

    def positions(x, points, weights):
        matrices = [[ENTRIES[name](x, (i + number) % INPUTS, j) for name, i, j in rows] for number in range(BONES)]
        p = pullback.stack([pullback.stack(row).reshape(-1, 3) for row in matrices]) @ points
        for step in steps:
            p = STEPS[step](p, weights)
        return ENDS[end](p)

    return positions


DERIVATIVES = {
    "jacfwd": func.jacfwd,
    "jacrev": lambda f: func.jacrev(lambda *given: f(*given).sum(-1)),
    "hessian": lambda f: func.hessian(lambda *given: f(*given).square().sum()),
    "of a half": lambda f: func.jacfwd(lambda x, *given: f(pullback.cat([x[:4], x[:4].detach()]), *given)),
}
programs = st.builds(
    moved,
    st.lists(entry, min_size=2, max_size=4).map(lambda row: row * 3),
    st.lists(st.sampled_from([*STEPS]), max_size=3),
    st.sampled_from([*ENDS]),
)


def assert_near(found, expected):
    found, expected = found.numpy(), expected.numpy()
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.where(finite, 0, found), np.where(finite, 0, expected))
    scale = 1 + np.abs(expected[finite]).max(initial=0)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-10, atol=1e-12 * scale)


@hypothesis.settings(max_examples=30)
@hypothesis.given(
    programs, st.sampled_from([*DERIVATIVES]), st.integers(0, 99), st.sampled_from([None, np.inf, -np.inf, np.nan])
)
def test_random_programs(f, derivative, seed, strange):
    function = DERIVATIVES[derivative](f)
    compiled = pullback.compile(function, fullgraph=True)
    given = numbers(seed)
    assert_near(compiled(*given), function(*given))
    for number in range(len(given) if strange is not None else 0):
        changed = [each.clone() for each in given]
        changed[number].view(-1)[seed % changed[number].numel()] = strange
        assert_near(compiled(*changed), function(*changed))


@hypothesis.settings(max_examples=40)
@hypothesis.given(programs, st.sampled_from([*DERIVATIVES]), st.integers(0, 99))
def test_masks_contain_all_that_is_not_zero(f, derivative, seed):
    made = record(DERIVATIVES[derivative](f), *numbers(seed))
    program = simplify(made.program)
    masks = zeros.possible(program, {value for e in program.equations for value in e.outputs})
    assert_masks(program, masks, made.arrays)


def assert_masks(program, masks, arrays):
    def looked_at(equation, given):
        results = equation.primitive.forward(*given, **equation.params)
        for value, array in zip(equation.outputs, results if type(results) is tuple else (results,), strict=True):
            assert not np.any(np.not_equal(array, 0) & ~masks.get(value, np.True_)), equation
        return results

    run(program, arrays, each=looked_at)


def hand(theta, points, weights):
    """Six chains of two joints, each turned by an angle of its own."""
    o, i = pullback.zeros_like(theta), pullback.ones_like(theta)
    turns = pullback.stack([theta.cos(), -theta.sin(), o, theta.sin(), theta.cos(), o, o, o, i], -1).reshape(-1, 3, 3)
    joints = pullback.stack([m for one, two in zip(turns[::2], turns[1::2], strict=True) for m in (one, one @ two)])
    return ((joints @ points) * weights[:, None]).sum(0)[:2].T


def test_most_work_of_a_jacobian_is_left_out():
    theta, points, weights = (pullback.randn(*shape, dtype=pullback.float64) for shape in ((12,), (3, 99), (12, 99)))
    jacobian = func.jacfwd(hand)
    compiled = pullback.compile(jacobian, fullgraph=True)
    assert_near(compiled(theta, points, weights), jacobian(theta, points, weights))
    program = simplify(record(jacobian, theta, points, weights).program)
    assert max(e.inputs[0].size for e in program.equations if e.name == "matmul") == 12 * 12 * 3 * 3
    thin = zeros.thinned(program)
    used = without_dead_code(thin)
    assert max(e.inputs[0].size for e in used.equations if e.name == "matmul") < 12 * 12 * 3 * 3 / zeros.SPARSE
    assert {e.output.size for e in used.equations if e.name == "multiply"}.isdisjoint({12 * 12 * 3 * 99})


@pytest.mark.parametrize("strange", [np.inf, np.nan])
@pytest.mark.parametrize("place", range(3))
def test_what_is_not_finite_makes_the_program_run_as_it_was(place, strange):
    given = [pullback.randn(*shape, dtype=pullback.float64) for shape in ((12,), (3, 99), (12, 99))]
    jacobian = func.jacfwd(hand)
    compiled = pullback.compile(jacobian, fullgraph=True)
    compiled(*given)
    given[place].view(-1)[-1] = strange
    expected = jacobian(*given)
    assert expected.isnan().any()
    for _ in range(2):
        assert_near(compiled(*given), expected)
    given[place].view(-1)[-1] = 1
    assert_near(compiled(*given), jacobian(*given))


def test_a_forecast_that_is_wrong_is_noticed(monkeypatch):
    monkeypatch.setattr(zeros, "VANISHING", zeros.VANISHING | {"cos"})
    monkeypatch.setattr(zeros, "SPARSE", 1)

    def f(x, points):
        return ((x * pullback.from_numpy(np.eye(40, 4))).cos() @ points).sin()

    x, points = pullback.randn(40, 4, dtype=pullback.float64), pullback.randn(4, 300, dtype=pullback.float64)
    assert_near(pullback.compile(f, fullgraph=True)(x, points), f(x, points))
