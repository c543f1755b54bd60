"""The cause of a NaN: at each pole, and whatever comes before and after it, one finding with the line and the fix of the pole."""

import itertools
import json
import runpy

import pytest

import pullback
from pullback.command import trying
from pullback.command.explain import main
from pullback.explain.reading import read
from pullback.observe import fault

POLES = {
    "sqrt": ("u.sqrt()", 0.0, "sqrt", "The derivative of sqrt at 0 is inf: for a length use norm"),
    "log": ("u.log()", 0.0, "log", "The value of log at 0 is -inf, and its derivative inf: add a small number"),
    "reciprocal": ("u.reciprocal()", 0.0, "reciprocal", "The divisor is 0: add a small number to it"),
    "div": ("1 / u", 0.0, "div", "The divisor is 0: add a small number to it"),
    "pow": ("u**0.5", 0.0, "pow", "The base may be 0: add a small number to it"),
    "norm": ("u / u[1:].norm()", 0.0, "div", "The divisor is 0: add a small number to it"),
    "acos": ("u.acos()", 1.0, "acos", "The derivative of acos at -1 and 1 is -inf: clamp its argument"),
    "atanh": ("u.atanh()", 1.0, "atanh", "The value of atanh at -1 and 1, and its derivative, are infinite: clamp"),
}
"""The expression, the number at which it has a pole, the operation to blame, and the fix."""
BEFORE = {
    "directly": "w = pb.tensor([0.3, POINT], requires_grad=True); u = w",
    "mul": "w = pb.tensor([0.3, 2.0], requires_grad=True); u = w * pb.tensor([1.0, 0.0]) + pb.tensor([0.0, POINT])",
    "mm": "w = pb.tensor([[0.3, 1.0], [POINT, 1.0]], requires_grad=True); u = w @ pb.tensor([1.0, 0.0])",
    "lstm": "lstm = zeros(pb.nn.LSTM(1, 2)); u = lstm(pb.ones(1, 1, 1))[0].reshape(2) + pb.tensor([0.3, POINT])",
}
"""How the operand is made: what the inf meets on its way back."""
AFTER = {
    "directly": "d.sum()",
    "mul": "(d * pb.tensor([1.0, 0.0])).sum()",
    "mm": "(d.reshape(1, 2) @ pb.tensor([[1.0, 2.0], [0.0, 1.0]])).sum()",
    "lstm": "second(d.reshape(2, 1, 1))[0].sum()",
}
"""What is made of the result: what a value that is infinite meets."""
PROGRAM = """
import pullback as pb
def zeros(module):
    for each in module.parameters():
        each.data.zero_()
    return module
pb.manual_seed(0)
second = pb.nn.LSTM(1, 2)
BEFORE
d = POLE
loss = AFTER
loss.backward()
"""
LINE = 1 + PROGRAM.split("\n").index("d = POLE")


def recorded(folder, text):
    """The recording of a program."""
    file = folder / "program.py"
    file.write_text(text)
    with pullback.explain.record() as ex:
        runpy.run_path(str(file))
    return ex


@pytest.mark.parametrize(
    ("before", "after"), [*itertools.product(BEFORE, ["directly"]), *itertools.product(["directly"], AFTER)]
)
@pytest.mark.parametrize("pole", POLES)
def test_a_pole_is_blamed_whatever_comes_before_and_after_it(pole, before, after, tmp_path):
    expression, point, op, fix = POLES[pole]
    operand = BEFORE[before].replace("POINT", str(point))
    text = PROGRAM.replace("BEFORE", operand).replace("AFTER", AFTER[after]).replace("POLE", expression)
    ex = recorded(tmp_path, text)
    (found,) = [each for each in ex.health if each.kind in {"nan", "inf"}]
    assert (found.born.op, found.line) == (op, LINE)
    assert found.fix.startswith(fix)
    ends = {bad[0] for leaf in ex.leaves if (bad := fault(leaf.grad)) is not None} | {
        bad[0] for output in ex.call.outputs if (bad := fault(output.tensor.data)) is not None
    }
    assert found.kind == ("nan" if "nan" in ends else "inf")
    assert ends


ROOT = """
import pullback as pb
w = pb.tensor([2.0, 0.0, 1.0], requires_grad=True)
x = pb.tensor([1.0, 0.0, 3.0])
d = pb.sqrt(w * x)
loss = (d / d.norm()).sum() + pb.log(w[1] + 1)
loss.backward()
"""


def test_one_element_is_followed_from_its_birth(tmp_path):
    (found,) = recorded(tmp_path, ROOT).health
    assert found.told == "w.grad[1] is nan, because sqrt on line 5 was taken of 0, where its slope is infinite"
    assert [(hop.to.name, hop.element, hop.said) for hop in found.way] == [
        ("w * x", (1,), "0.4472 @ inf = inf"),
        ("w", (1,), "inf @ 0 = nan"),
    ]
    assert (
        found.extent
        == "loss itself, 1.407, is finite: the number begins on the way back. 1 of 3 elements of w.grad is nan or inf."
    )


def test_a_change_is_shown_with_the_gradient_that_it_gives(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(trying, "SECONDS", 120)  # of a busy machine
    monkeypatch.setattr(trying, "IN_ALL", 600)
    file, saved = tmp_path / "root.py", tmp_path / "root.json"
    file.write_text(ROOT)
    assert main(["-o", str(saved), str(file)]) == 0
    assert "the gradient is finite with 1" in capsys.readouterr().err
    (found,) = json.loads(saved.read_text())["calls"][0]["findings"]
    (helps,), (vain,) = found["fixes"], found["vain"]
    assert [each["text"] for each in helps["changes"]] == ["(w * x).clamp(min=1e-12)"]
    assert helps["tried"] == "w.grad = [0.01741, 1., -0.03482]; the loss moves by 5e-7"
    assert vain["changes"][0]["text"] == "pb.where((w * x) > 0, pb.sqrt(w * x), 0)"
    assert vain["tried"] == "w.grad = [0.01741, nan, -0.03482]"
    assert read(saved).health[0].fixes[0].tried == helps["tried"]


def test_a_change_that_was_not_run_stands_without_words(tmp_path):
    (found,) = recorded(tmp_path, ROOT).health
    assert [(fix.changes[0].text, fix.tried) for fix in found.shown_fixes] == [("(w * x).clamp(min=1e-12)", None)]
    assert found.vain == []


def test_each_of_several_causes_is_found(tmp_path):
    ex = recorded(
        tmp_path,
        """
import pullback as pb
x = pb.tensor([0.0, 4.0, -1.0], requires_grad=True)
root = x.sqrt()
(root * pb.tensor([0.0, 1.0, 0.0])).sum().backward()
""",
    )
    assert [(each.phase, each.element, each.told.partition("because ")[2]) for each in ex.health] == [
        ("forward", (2,), "sqrt gives nan at [2], where x = -1"),
        ("backward", (0,), "sqrt on line 4 was taken of 0, where its slope is infinite"),
    ]


def test_large_tensors_have_a_way_too(tmp_path):
    ex = recorded(
        tmp_path,
        """
import pullback as pb
x = pb.ones(1000, requires_grad=True)
y = x * pb.cat([pb.zeros(1), pb.ones(999)])
(y.sqrt() * 2).sum().backward()
""",
    )
    (found,) = ex.health
    assert (found.kind, found.began, found.line) == ("nan", "inf", 5)
    assert found.told == "x.grad[0] is nan, because sqrt on line 5 was taken of 0, where its slope is infinite"
    assert [hop.step.op for hop in found.way] == ["sqrt", "mul"]
