"""Where NaN, inf and dead gradients are born: the right step, the right line, forward and backward told apart."""

import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest

import pullback
from pullback.command.explain import KINDS, main

from . import networks

ROOT = Path(__file__).parent.parent.parent
EXPLAIN = Path(pullback.explain.__file__).parent


def line_of(function, part):
    lines, first = inspect.getsourcelines(function)
    return next(first + i for i, line in enumerate(lines) if part in line)


def found(function, *start, dtype=None):
    """The findings of one run, and the function's own place."""
    x = pullback.tensor(list(start), requires_grad=True, dtype=dtype)
    with pullback.explain.record() as ex:
        function(x)
    return ex.health


def root_of_zero(x):
    root = x.sqrt()
    (root * 0).sum().backward()


def test_zero_times_infinity_is_born_in_the_root():
    (nan,) = [each for each in found(root_of_zero, 0.0, 4.0) if each.kind == "nan"]
    assert (nan.phase, nan.born.node, nan.element) == ("backward", "SqrtBackward0", (0,))
    assert nan.line == line_of(root_of_zero, "x.sqrt()")
    assert "v = 0 times J = inf" in nan.why
    assert nan.tensor.name == "x"


def infinite_slope(x):
    x.sqrt().sum().backward()


def test_an_infinite_slope_is_inf():
    (inf,) = found(infinite_slope, 0.0, 4.0)
    assert (inf.kind, inf.phase, inf.born.node) == ("inf", "backward", "SqrtBackward0")
    assert "v = 1 times J = inf" in inf.why


def negative_log(x):
    low = x.log()
    up = low * 2
    (up + 1).sum().backward()


def test_a_nan_of_the_forward_pass_is_carried():
    (nan,) = [each for each in found(negative_log, -1.0, 2.0) if each.phase == "forward"]
    assert (nan.kind, nan.born.node, nan.element) == ("nan", "LogBackward0", (0,))
    assert nan.line == line_of(negative_log, "x.log()")
    assert nan.why == "log gives nan at [0], where x = -1"
    assert [step.node for step in nan.path] == ["MulBackward0", "AddBackward0", "SumBackward0"]


def ratio(x):
    (x / x).sum().backward()


def test_nothing_divided_by_nothing():
    """One cause is one finding, whatever it does to values and gradients."""
    (finding,) = found(ratio, 0.0, 1.0)
    assert (finding.kind, finding.phase, finding.born.node) == ("nan", "forward", "DivBackward0")
    assert [(step.phase, step.node) for step in finding.path] == [
        ("forward", "SumBackward0"),
        ("backward", "DivBackward0"),
    ]


def dead(x):
    hidden = (x - 10).relu()
    (hidden * 3).sum().backward()


def test_a_dead_activation():
    (finding,) = found(dead, 1.0, 2.0)
    assert (finding.kind, finding.born.node, finding.line) == ("dead", "ReluBackward0", line_of(dead, ".relu()"))
    assert "every element lies where relu is flat" in finding.why
    assert [step.node for step in finding.path] == ["SubBackward0"]


def partly_dead(x):
    (x - 1.5).relu().sum().backward()


def test_an_activation_that_is_partly_dead_is_none():
    assert found(partly_dead, 1.0, 2.0) == []


def selected(x):
    (x[0] * 2).backward()


def test_zeros_of_a_selection_are_none():
    assert found(selected, 1.0, 2.0) == []


def overflow(x):
    (x * 1e38).sum().backward()


@pytest.mark.parametrize("dtype", [pullback.float32, pullback.float64])
def test_overflow_is_of_the_dtype(dtype):
    findings = found(overflow, 100.0, 1.0, dtype=dtype)
    if dtype == pullback.float64:
        assert {finding.kind for finding in findings} == {"huge"}
        return
    inf = findings[0]
    assert (inf.kind, inf.phase, inf.born.node, inf.element) == ("inf", "forward", "MulBackward0", (0,))
    assert "more than float32 can hold (3.403e38)" in inf.why
    assert [step.node for step in inf.path] == ["SumBackward0"]


def exponential(x):
    (x.exp() - x.exp()).sum().backward()


def test_a_nan_made_of_infs_has_their_causes():
    findings = found(exponential, 1000.0)
    assert [(each.kind, each.born.op) for each in findings] == [("nan", "exp")] * 2
    assert all(each.path[0].op == "sub" for each in findings)


def test_what_comes_in_is_born_outside():
    x = pullback.tensor([1.0, float("nan")], requires_grad=True)
    ex = pullback.explain((x * 2).sum())
    (finding,) = [each for each in ex.health if each.phase == "forward"]
    assert finding.born is None
    assert finding.why == "x has nan at [1] before this call computed anything"
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    (finding,) = pullback.explain(x * 2, gradient=[1.0, float("inf")]).health
    assert finding.born is None
    assert finding.why == "the gradient that backward was given has inf at [1]"
    assert finding.path[0].node == "MulBackward0"


def test_zero_factors():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    (finding,) = pullback.explain((x * 0).sum()).health
    assert (finding.kind, finding.born.node) == ("zero", "MulBackward0")
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    assert pullback.explain((x * 0 + x).sum()).health == []


@pytest.mark.parametrize(("factor", "kind"), [(1e-12, "tiny"), (1e12, "huge")])
def test_sizes(factor, kind):
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    (finding,) = pullback.explain((x * factor).sum()).health
    assert finding.kind == kind


def test_large_arrays_are_searched_whole():
    values = np.ones(1000)
    values[777] = -1
    x = pullback.tensor(values, requires_grad=True)
    with pullback.explain.record() as ex:
        x.log().sum().backward()
    assert ex.health[0].element == (777,)


def test_cost_adds_up():
    x = pullback.ones(1000, requires_grad=True)
    with pullback.explain.record(timing=True) as ex:
        y = x.exp()
        (y * y).sum().backward()
    cost = ex.cost()
    assert cost.kept_bytes == 4000  # exp's result, which is both factors
    assert cost.peak_bytes >= 8000
    assert len(cost.live_bytes) == len(ex.forward) + len(ex.steps)
    for what in ("line", "op", "scope"):
        rows = cost.by(what)
        assert sum(row.forward or 0 for row in rows) == pytest.approx(cost.forward)
        assert sum(row.backward or 0 for row in rows) == pytest.approx(cost.backward)
        assert sum(row.bytes for row in rows) == 4000
        assert sum(row.steps for row in rows) == len(ex.forward) + len(ex.steps)
    with pytest.raises(ValueError, match="by 'line', 'op' or 'scope'"):
        cost.by("color")
    assert "exp" in cost.table("op")
    assert "while recorded, which takes longer than alone" in str(cost)


def test_no_time_is_told_that_was_not_asked_for(capsys):
    code = "import pullback as pb; x = pb.ones(9, requires_grad=True); (x * x).sum().backward()"
    time = re.compile(r"\d (us|ms|s)\b")
    for flags in ([], ["--cost"]):
        assert main([*flags, "-c", code]) == 0
        assert not time.search(capsys.readouterr().out)
    assert main(["--timing", "-c", code]) == 0
    assert "while recorded" in " ".join(capsys.readouterr().out.split())
    assert main(["--timing", "--cost", "-c", code]) == 0
    assert time.search(capsys.readouterr().out)


MOVES = {
    "clone": lambda p: p.clone(),
    "whole slice": lambda p: p[:, :],
    "part": lambda p: p[:1],
    "expand": lambda p: p.expand(2, 2, 3)[0],
    "double": lambda p: p.double(),
    "flip": lambda p: p.flip(1),
    "chunk": lambda p: p.chunk(1)[0],
    "clamp": lambda p: p.clamp(1e-6, 1.0),
    "two of them": lambda p: p.double().clone(),
}


@pytest.mark.parametrize("move", MOVES)
def test_probabilities_behind_what_moves_them_are_found(move):
    functional = pullback.nn.functional
    x = pullback.randn(2, 3, requires_grad=True)
    for probabilities, loss in (
        (x.softmax(1), lambda p: functional.cross_entropy(p, pullback.zeros(len(p), dtype=pullback.int64))),
        (x.sigmoid(), lambda p: functional.binary_cross_entropy_with_logits(p, pullback.ones_like(p))),
    ):
        found = pullback.explain(loss(MOVES[move](probabilities))).health
        assert "double" in {finding.kind for finding in found}
        logits = pullback.explain(loss(MOVES[move](x))).health
        assert "double" not in {finding.kind for finding in logits}


def between(path, begin, end):
    """The words of a file between two texts."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return {*re.findall(r"\w+", text.partition(begin)[2].partition(end)[0])}


@pytest.mark.skipif(not (ROOT / "frontend").exists(), reason="the page's source and the docs are in the repository")
def test_each_kind_of_finding_has_a_place_in_each_form():
    source = "\n".join(path.read_text(encoding="utf-8") for path in EXPLAIN.glob("*.py"))
    made = {*re.findall(r'Finding\(\s*"(\w+)"|\bkind = "(\w+)"', source)}
    schema = json.loads((EXPLAIN / "schema.json").read_text(encoding="utf-8"))["$defs"]["finding"]["properties"]["kind"]
    kinds = {*schema["enum"]}
    forms = {
        "src/pullback/explain/schema.json, enum": kinds,
        "src/pullback/explain/schema.json, description": {*re.findall(r"\w+", schema["description"]), "nan", "inf"},
        "frontend/src/trace.ts, Finding": between("frontend/src/trace.ts", "interface Finding {", ";"),
        "frontend/src/model.ts, WORDS": between("frontend/src/model.ts", 'WORDS: Record<Finding["kind"]', "};"),
        "docs/how-to/explain.md": between("docs/how-to/explain.md", "`kind` is", "\n## "),
        "src/pullback/command/explain.py, KINDS": KINDS["any"],
        "tests/explain/networks.py, WRONG": {*networks.WRONG.values(), "tiny", "zero", "inf"},
    }
    wanted = kinds.union(*made) - {""}
    lacking = [f"{place}: {sorted(wanted - words)}" for place, words in forms.items() if wanted - words]
    assert not lacking, "write these kinds of findings into these places:\n" + "\n".join(lacking)
