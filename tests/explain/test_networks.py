"""What is found in whole networks: nothing in ten that are right, and each of ten planted mistakes."""

from pathlib import Path

import pytest

import pullback
from pullback.command import main

from . import networks, unusual

FILE = Path(networks.__file__)


def kinds(program):
    pullback.manual_seed(0)
    with pullback.explain.record() as ex:
        program()
    assert ex.all_calls
    return ex, {finding.kind for call in ex.all_calls for finding in call.findings}


@pytest.mark.parametrize("program", [*networks.RIGHT, *unusual.UNUSUAL], ids=lambda one: one.__name__)
def test_a_network_that_is_right_has_no_finding(program):
    ex, found = kinds(program)
    assert found == set(), [each.why for call in ex.all_calls for each in call.findings]


@pytest.mark.parametrize("program", [*networks.RIGHT, *unusual.UNUSUAL], ids=lambda one: one.__name__)
def test_a_run_of_a_network_that_is_right_has_no_finding(program):
    pullback.manual_seed(0)
    with pullback.explain.record(None, None, every=1) as run:
        program()
    assert run.count
    assert [str(event) for event in run.events] == []


def test_an_expert_that_was_not_chosen_is_noted():
    ex, _ = kinds(unusual.experts)
    note = "model.experts.3.0.weight and 3 more got no gradient, unlike other members of their ModuleList"
    assert ex.notes == [note]
    assert note in " ".join(str(ex).split())


def test_an_expert_that_is_never_chosen_is_found_in_a_long_run():
    model, x = unusual.Experts(skip=True), pullback.randn(16, 16)
    optimizer = pullback.optim.SGD(model.parameters(), lr=0.01)
    found = {}
    for steps in (5, 25):
        with pullback.explain.record(model, optimizer, every=1) as run:
            unusual.train(model, lambda: model(x).square().mean(), steps=steps, optimizer=optimizer)
        found[steps] = {event.parameter.rpartition(".")[0] for event in run.events if event.kind == "missing"}
    assert found == {5: set(), 25: {"experts.3.0", "experts.3.2"}}


@pytest.mark.parametrize("both", [False, True])
def test_a_factor_of_zero_is_right_if_it_learns(both):
    """Of two factors that are both zero, neither ever changes."""
    x, down, up = pullback.randn(8, 4), pullback.nn.Parameter(pullback.randn(4, 2)), pullback.zeros(2, 4)
    with pullback.no_grad():
        down *= not both
    up.requires_grad_()
    with pullback.explain.record() as ex:
        (x @ down @ up - x).square().mean().backward()
    assert ("zero" in {each.kind for each in ex.health}) == both
    assert not down.grad.any()
    if not both:
        assert "the other matrix has only zeros there" in str(pullback.why(down, (x @ down @ up - x).square().mean()))


def test_a_factor_of_zero_that_does_not_learn_is_found():
    """The weight after dead units gets zeros because of them."""
    first, second = pullback.nn.Linear(4, 4), pullback.nn.Linear(4, 2)
    with pullback.no_grad():
        first.bias -= 100
    with pullback.explain.record() as ex:
        second(first(pullback.randn(40, 4)).relu()).square().mean().backward()
    assert [(each.kind, each.tensor.name) for each in ex.health][1:] == [("zero", "second.weight")]


@pytest.mark.parametrize(("program", "kind"), networks.WRONG.items(), ids=lambda one: getattr(one, "__name__", one))
def test_a_planted_mistake_is_found(program, kind):
    assert kind in kinds(program)[1]


def why(program, kind):
    ex, _ = kinds(program)
    return next(each for call in ex.all_calls for each in call.findings if each.kind == kind)


def test_a_finding_says_what_to_do():
    root = why(networks.wrong_mask, "nan")
    assert (root.born.op, root.phase) == ("softmax", "forward")
    assert root.fix.startswith("all of a row is -inf: the mask has to leave one position of each row")
    log = why(networks.log_of_zero, "nan")
    assert (log.born.op, log.fix[:18]) == ("log", "The value of log a")
    assert "rate" in why(networks.learning_rate, "diverged").fix


def test_the_reason_of_a_missing_gradient_names_the_line():
    cut = why(networks.detached, "missing").why
    assert cut.startswith("model.encoder.weight, model.encoder.bias got no gradient: ")
    assert "detach() at networks.py:" in cut
    assert why(networks.unused, "missing").why.startswith("model.second.weight, model.second.bias got no gradient")
    assert why(networks.frozen, "missing").why.startswith("model.2.weight got no gradient: it does not require grad")


def test_shares_are_counted():
    dead = why(networks.dead_units, "dead")
    assert dead.why.endswith("16 of its 16 units are 0 for every example, and get no gradient")
    assert (dead.born.op, dead.phase) == ("relu", "forward")


CODES = {**dict.fromkeys(networks.RIGHT, 0), **dict.fromkeys(networks.WRONG, 4)}


@pytest.mark.parametrize(("name", "code"), [(one.__name__, code) for one, code in CODES.items()])
def test_the_command_fails_on_what_is_true(name, code, capsys):
    arguments = ["explain", "--fail-on", "any", "--no-timing", str(FILE), name]
    assert main(arguments) == code
    assert ("found" in capsys.readouterr().err) == (code == 4)


def test_the_weights_of_a_deep_stack_of_sigmoids_vanish():
    model = networks.perceptron(pullback.nn.Sigmoid, layers=12)
    x, y = networks.examples()
    with pullback.explain.record() as ex:
        pullback.nn.functional.cross_entropy(model(x), y).backward()
    (finding,) = ex.health
    assert finding.kind == "tiny"
    assert finding.tensor.name == "model.0.weight"
    assert finding.why.startswith("the gradient of model.0.weight vanishes: it is ")


def test_a_parameter_that_another_call_gives_a_gradient_is_not_missing():
    first, second = pullback.nn.Linear(2, 2), pullback.nn.Linear(2, 2)
    model = pullback.nn.ModuleDict({"first": first, "second": second})
    with pullback.explain.record() as ex:
        for part in (first, second):
            model[{first: "first", second: "second"}[part]](pullback.ones(1, 2)).sum().backward()
    assert [each.kind for call in ex.all_calls for each in call.findings] == []


def test_infinity_that_is_selected_away_is_none():
    x = pullback.tensor([0.0, 2.0], requires_grad=True)
    safe = pullback.where(x > 0, x, 1.0).log().masked_fill(x == 0, float("-inf"))
    assert pullback.explain(safe.exp().sum()).health == []
    with pullback.explain.record() as ex:
        x.log().masked_fill(x == 0, 0.0).sum().backward()
    (finding,) = ex.health  # 0 of the mask times the slope at 0, which is inf
    assert (finding.kind, finding.phase, finding.born.op) == ("nan", "backward", "log")
