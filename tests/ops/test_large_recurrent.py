"""Recurrent layers large enough for machine code, where llvmlite is installed: what their definitions say.

The same is asked where it is not.
"""

import numpy as np
import pytest

import pullback
from pullback import ops

GATES = {"rnn": 1, "relu": 1, "lstm": 4, "gru": 3}
# The rows of each step, whether the last step comes first, and how wide states are.
LAYERS = {
    "equal steps": ((20,) * 30, False, 48),
    "backwards": ((70,) * 12, True, 33),
    "falling": ((41, 41, 40, 33, 33, 32, 8, 8, 7, 1), False, 64),
    "falling, backwards": ((41, 41, 40, 33, 33, 32, 8, 8, 7, 1), True, 64),
    "narrow": ((3,) * 65, False, 5),
    "one step": ((200,), False, 70),
}
SLACK = {"float32": 2e-5, "float64": 1e-12}
KINDS = pytest.mark.parametrize("kind", GATES)
EACH = pytest.mark.parametrize("name", LAYERS)


def given(kind, name, dtype):
    """What the inputs contribute, with its columns first in memory, the initial states, the weights; and the metadata."""
    sizes, reverse, width = LAYERS[name]
    rng = np.random.default_rng(0)
    states = [(sizes[0], width)] * (1 + (kind == "lstm"))
    shapes = [(sum(sizes), GATES[kind] * width), *states, (GATES[kind] * width, width), (GATES[kind] * width,)]
    arrays = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    arrays[-2] *= 1 / np.sqrt(width)
    arrays[0] = np.asfortranarray(arrays[0])
    for array in arrays:
        array.flags.writeable = False
    return arrays if kind == "gru" else arrays[:-1], {"sizes": sizes, "reverse": reverse}


def run(kind, arrays, options):
    """All outputs of the operation."""
    if kind in ("rnn", "relu"):
        return (ops.rnn(*arrays, **options, relu=kind == "relu"),)
    return getattr(ops, kind)(*arrays, **options)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def by_definition(kind, arrays, sizes, reverse):
    """Every state, one sequence after another, in double precision."""
    x, h, *others = (array.astype(np.float64) for array in arrays)
    width = h.shape[1]
    starts = np.cumsum([0, *sizes])
    out = np.empty((len(x), width))
    for place in range(sizes[0]):
        rows = [start + place for start, size in zip(starts, sizes, strict=False) if place < size]
        state, cell = h[place], others[0][place] if kind == "lstm" else None
        for row in rows[::-1] if reverse else rows:
            if kind == "lstm":
                i, f, g, o = np.split(x[row] + others[1] @ state, 4)
                cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
                state = sigmoid(o) * np.tanh(cell)
            elif kind == "gru":
                moved = np.split(others[0] @ state + others[1], 3)
                r, z = (sigmoid(a + b) for a, b in zip(np.split(x[row], 3), moved[:2], strict=False))
                new = np.tanh(x[row, 2 * width :] + r * moved[2])
                state = (1 - z) * new + z * state
            else:
                total = x[row] + others[0] @ state
                state = np.tanh(total) if kind == "rnn" else np.maximum(total, 0)
            out[row] = state
    return out


def near(found, expected, dtype):
    assert found.dtype == dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=SLACK[dtype] * max(1, abs(expected).max()))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@EACH
@KINDS
def test_states_are_those_of_the_definition(kind, name, dtype):
    arrays, options = given(kind, name, dtype)
    near(run(kind, arrays, options)[0], by_definition(kind, arrays, **options), dtype)


def loss(kind, arrays, options, several):
    """A number that depends on all states, and with `several` on the second that a layer leaves, as an LSTM its cells."""
    return sum((each * each).sum() for each in run(kind, arrays, options)[: 1 + several])


@pytest.mark.parametrize(("dtype", "several"), [("float32", False), ("float64", True)])
@EACH
@KINDS
def test_gradients_are_those_of_the_differentiable_rule(kind, name, dtype, several):
    """With `create_graph` a rule runs on tensors, step by step, and not as machine code."""
    arrays, options = given(kind, name, dtype)
    leaves = [pullback.tensor(array, requires_grad=True) for array in arrays]
    plain = pullback.autograd.grad(loss(kind, leaves, options, several), leaves)
    ruled = pullback.autograd.grad(loss(kind, leaves, options, several), leaves, create_graph=True)
    for mine, expected in zip(plain, ruled, strict=True):
        near(mine.numpy(), expected.detach().numpy(), dtype)


@pytest.mark.parametrize("name", ["equal steps", "falling, backwards"])
@KINDS
def test_second_derivatives_are_the_change_of_the_first(kind, name):
    arrays, options = given(kind, name, "float64")
    rng = np.random.default_rng(1)
    directions = [rng.standard_normal(array.shape) for array in arrays]

    def gradients(step, **how):
        moved = [pullback.tensor(a + step * u, requires_grad=True) for a, u in zip(arrays, directions, strict=True)]
        return moved, pullback.autograd.grad(loss(kind, moved, options, several=False), moved, **how)

    leaves, first = gradients(0, create_graph=True)
    along = sum((each * pullback.tensor(u)).sum() for each, u in zip(first, directions, strict=True))
    second = pullback.autograd.grad(along, leaves)
    step = 1e-6 if kind != "relu" else 1e-9  # which no corner is nearer than
    before, after = (gradients(sign * step)[1] for sign in (-1, 1))
    for mine, low, high in zip(second, before, after, strict=True):
        expected = (high.numpy() - low.numpy()) / (2 * step)
        np.testing.assert_allclose(mine.numpy(), expected, rtol=0, atol=1e-4 * abs(expected).max())


@KINDS
def test_results_do_not_depend_on_the_threads(kind):
    arrays, options = given(kind, "backwards", "float32")
    before, found = pullback.get_num_threads(), []
    try:
        for threads in (1, 3):
            pullback.set_num_threads(threads)
            leaves = [pullback.tensor(array, requires_grad=True) for array in arrays]
            total = loss(kind, leaves, options, several=False)
            found.append([total.detach(), *pullback.autograd.grad(total, leaves[: 2 + (kind == "lstm")])])
    finally:
        pullback.set_num_threads(before)
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one.numpy(), three.numpy())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@KINDS
def test_what_is_not_finite_stays_in_its_sequence(kind, value):
    (x, *others), options = given(kind, "equal steps", "float32")
    x = x.copy()
    x[20 * 4 + 3, 1] = value
    with np.errstate(invalid="ignore"):
        found, expected = run(kind, [x, *others], options)[0], by_definition(kind, [x, *others], **options)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    there = ~np.isnan(expected)
    np.testing.assert_allclose(found[there], expected[there].astype(np.float32), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("place", [0, 1, 2])
@KINDS
def test_what_does_not_fit_is_refused(kind, place, axis):
    arrays, options = given(kind, "equal steps", "float32")
    arrays[place] = arrays[place][:-1] if axis == 0 else arrays[place][:, :-1]
    with pytest.raises(ValueError, match=r"shape|broadcast|align"):
        run(kind, arrays, options)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@EACH
def test_gates_of_an_lstm_lie_side_by_side(name, dtype):
    arrays, options = given("lstm", name, dtype)
    states, _, gates = ops.lstm(*arrays, **options)
    x, h, _, weight = (array.astype(np.float64) for array in arrays)
    sizes = options["sizes"]
    starts, before = np.cumsum([0, *sizes]), np.empty((len(x), h.shape[1]))
    for step, size in enumerate(sizes):
        last = step + 1 if options["reverse"] else step - 1
        have = sizes[last] if 0 <= last < len(sizes) else 0
        row = before[starts[step] : starts[step] + size]
        row[:have] = states[starts[last] : starts[last] + have][:size] if have else 0
        row[have:] = h[have:size]
    i, f, g, o = np.split(x + before @ weight.T, 4, axis=1)
    near(gates, np.concatenate([sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)], axis=1), dtype)
