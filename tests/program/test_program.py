"""Programs, by the public interface alone."""

import dataclasses

import numpy as np
import pytest

import pullback
from pullback import func, nn, ops
from pullback.program import (
    CaptureError,
    DepartedError,
    Equation,
    InvalidError,
    LoweringError,
    Program,
    Value,
    bodies,
    check,
    has_effect,
    lower,
    record,
    rewrite,
    run,
    simplify,
)


def step(w, x, y):
    return w - 0.1 * func.grad(lambda w: ((x @ w - y) ** 2).mean())(w)


GIVEN = (
    pullback.tensor([1.0, -2.0]),
    pullback.tensor([[1.0, 2.0], [0.5, 1.0], [3.0, -1.0]]),
    pullback.tensor([1.0, 0.0, 2.0]),
)


@pytest.mark.parametrize("change", [lambda program: program, simplify, lambda program: rewrite(program, {})])
def test_a_program_means_its_function(change):
    recording = record(step, *GIVEN)
    program = check(change(recording.program))
    assert recording.names == ("w", "x", "y")
    (found,) = run(program, recording.arrays)
    np.testing.assert_allclose(found, step(*GIVEN).numpy(), rtol=1e-6)


@pytest.mark.parametrize("library", [np, "torch", "jax"])
def test_a_program_is_lowered(library):
    if isinstance(library, str):
        pytest.importorskip(library)
    recording = record(step, *GIVEN)
    (found,) = lower(simplify(recording.program), library)(*recording.arrays)
    np.testing.assert_allclose(np.asarray(found), step(*GIVEN).numpy(), rtol=1e-5)


def test_a_recording_has_no_effects():
    model = nn.Linear(2, 1)
    optimizer = pullback.optim.SGD(model.parameters(), lr=0.5)

    def training(x):
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    before = model.weight.detach().clone()
    recording = record(training, pullback.ones(3, 2))
    assert pullback.equal(model.weight, before)
    assert model.weight.grad is None
    assert {"weight", "bias"} <= set(recording.names)
    assert len(recording.program.writes) == 2
    results = run(recording.program, recording.arrays)
    training(pullback.ones(3, 2))
    place = [recording.names[place] for place, _ in recording.program.writes].index("weight")
    written = results[len(recording.program.outputs) + place]
    np.testing.assert_allclose(written, model.weight.detach().numpy(), rtol=1e-6)


def test_what_depends_on_values_is_refused():
    with pytest.raises(CaptureError):
        record(lambda x: x if x.sum().item() > 0 else -x, pullback.ones(2))


def test_a_changed_program_is_checked():
    program = record(lambda x: x.exp().sin(), pullback.ones(2)).program
    check(program)
    with pytest.raises(InvalidError, match="before it is made"):
        check(dataclasses.replace(program, equations=program.equations[::-1]))


def test_a_program_by_hand():
    x = Value((2,), np.dtype("float32"))
    y = x.like()
    program = check(Program((x,), (Equation(ops.exp, (x,), {}, (y,)),), (y,)))
    np.testing.assert_array_equal(run(program, [np.zeros(2, "float32")])[0], [1, 1])
    with pytest.raises(DepartedError):
        run(program, [np.zeros(3, "float32")])


def test_rules_see_what_stands_before():
    seen = []

    def watching(rewriter, equation):
        seen.append(rewriter.maker(equation.inputs[0], "exp"))

    program = record(lambda x: x.exp().sin(), pullback.ones(2)).program
    assert str(rewrite(program, {"sin": watching})) == str(program)
    assert [each.name for each in seen] == ["exp"]


def test_the_first_rule_that_answers_counts():
    def nothing(rewriter, equation):
        return None

    def twice(rewriter, equation):
        return rewriter.apply(ops.multiply, (equation.inputs[0], rewriter.scalar(2, np.dtype("float32"))), {})

    program = record(lambda x: x.exp(), pullback.ones(2)).program
    changed = rewrite(program, {"exp": [nothing, twice]})
    np.testing.assert_array_equal(run(changed, [np.ones(2, "float32")])[0], [2, 2])


def test_rules_reach_into_loops():
    def looped(x):
        return pullback.fori_loop(0, 3, lambda i, y: y.exp().log(), x)

    def inverse(rewriter, equation):
        made = rewriter.maker(equation.inputs[0], "exp")
        return None if made is None else made.inputs[0]

    program = record(looped, pullback.ones(2)).program
    inner = [body for each in program.equations for body in bodies(each.params)]
    changed = rewrite(program, {"log": inverse})
    assert not [
        part.name
        for each in changed.equations
        for body in bodies(each.params)
        for part in body.equations
        if part.name == "log"
    ]
    assert inner or all(each.name != "log" for each in changed.equations)


def test_effects_are_told():
    program = record(lambda x: x + pullback.rand(2), pullback.ones(2)).program
    assert any(map(has_effect, program.equations))
    assert not any(map(has_effect, record(step, *GIVEN).program.equations))


def test_what_a_library_lacks_is_named():
    class Empty:
        __name__ = "empty"

        def __getattr__(self, name):
            if name in {"asarray", "float64"}:
                return getattr(np, name)
            raise AttributeError(name)

    program = record(lambda x: x.lgamma(), pullback.ones(2)).program
    with pytest.raises((LoweringError, TypeError)):
        lower(program, Empty())


@pytest.mark.parametrize(
    ("function", "reason"),
    [(lambda x: x.nonzero(), "depends on values"), (lambda x: object(), "a new object")],
)
def test_what_cannot_be_recorded_is_one_error(function, reason):
    with pytest.raises(CaptureError, match=reason):
        record(function, pullback.ones(2))


def test_the_first_step_of_an_optimizer_says_what_to_do():
    model = nn.Linear(2, 1)
    optimizer = pullback.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)

    def training(x):
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return loss

    x = pullback.ones(3, 2)
    with pytest.raises(CaptureError, match="call the function once before"):
        record(training, x)
    training(x)
    assert "momentum_buffer" in record(training, x).names


@pytest.mark.parametrize(
    ("rule", "error", "message"),
    [
        (lambda rewriter, equation: 3, TypeError, "gave int: a rule returns a Value"),
        (lambda rewriter, equation: equation.inputs[1], ValueError, r"gave \[<float32\[\]>\] in the place of"),
        (lambda rewriter, equation: (equation.inputs[0],) * 2, ValueError, "or None to leave"),
    ],
)
def test_rules_that_do_not_fit_are_refused(rule, error, message):
    program = record(lambda x: x * 1, pullback.ones(2)).program
    with pytest.raises(error, match=message):
        rewrite(program, {"multiply": rule})


def test_arrays_are_counted():
    with pytest.raises(ValueError, match="has 1 inputs, and 0 arrays"):
        run(record(lambda x: x * 1, pullback.ones(2)).program, [])


@pytest.mark.parametrize(
    "use",
    [
        check,
        simplify,
        lambda given: run(given, given.arrays),
        lambda given: rewrite(given, {}),
        lambda given: lower(given, np),
    ],
    ids=["check", "simplify", "run", "rewrite", "lower"],
)
def test_a_recording_in_the_place_of_its_program_is_refused(use):
    recording = record(lambda x: x * 2, pullback.ones(2))
    with pytest.raises(TypeError, match=r"a Program is expected, not RecordedCall: .* `recorded\.program`"):
        use(recording)


def test_what_is_no_program_is_refused():
    with pytest.raises(TypeError, match="a Program is expected, not int"):
        check(3)


def test_what_is_no_function_is_not_recorded():
    with pytest.raises(TypeError, match="takes a function and its arguments, not Tensor"):
        record(pullback.ones(2))


@pytest.mark.parametrize("shown", [print, repr, str, lambda x: f"{x.sum()}"])
def test_what_prints_a_tensor_asks_for_its_numbers(shown):
    with pytest.raises(CaptureError, match="values are unavailable while tracing"):
        record(shown, pullback.ones(2))


@pytest.mark.parametrize(
    ("draw", "name"),
    [
        (lambda x: x + pullback.randn(2), "normal"),
        (lambda x: x + pullback.rand(2), "uniform"),
        (pullback.bernoulli, "bernoulli"),
        (lambda x: x + pullback.randperm(2), "permutation"),
        (lambda x: x.clone().cauchy_(), "cauchy"),
        (nn.functional.dropout, "scaled_bernoulli"),
    ],
)
def test_what_draws_random_numbers_names_the_distribution(draw, name):
    program = record(draw, pullback.full((2,), 0.5)).program
    (found,) = [each for each in program.equations if has_effect(each)]
    assert found.params == {"distribution": name}
    assert f"distribution={name!r}" in str(program)
    assert run(simplify(program), [np.ones(2, np.float32)] * len(program.inputs))
