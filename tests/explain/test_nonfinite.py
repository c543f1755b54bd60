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
    "sqrt": (
        "u.sqrt()",
        0.0,
        "sqrt",
        "The derivative of sqrt at 0 is inf: keep its argument above 0, or for a length use norm",
    ),
    "log": ("u.log()", 0.0, "log", "The value of log at 0 is -inf, and its derivative inf: keep its argument above 0"),
    "reciprocal": ("u.reciprocal()", 0.0, "reciprocal", "The divisor is 0: keep it away from 0"),
    "div": ("1 / u", 0.0, "div", "The divisor is 0: keep it away from 0"),
    "pow": ("u**0.5", 0.0, "pow", "The base is 0, where the power or its slope is infinite: keep it above 0"),
    "norm": ("u / u[1:].norm()", 0.0, "div", "The divisor is 0: keep it away from 0"),
    "acos": ("u.acos()", 1.0, "acos", "The derivative of acos at -1 and 1 is -inf: keep its argument between -1 and 1"),
    "atanh": (
        "u.atanh()",
        1.0,
        "atanh",
        "The value of atanh at -1 and 1, and its derivative, are infinite: keep its argument between",
    ),
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
    assert "its numbers are finite with 1" in capsys.readouterr().err
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


X, SCALE = "requires_grad=True", "scale the numbers down"
EXP = "exp overflows: subtract the largest first"
FORWARD = {
    "the exp of a logarithm of a sum": (
        f"x = pb.tensor([1.0, 800.0], {X})\npb.log(pb.sum(pb.exp(x))).backward()",
        ("exp", 2, "where x = 800: more than float32 can hold (3.403e38)", EXP),
    ),
    "in bfloat16": (
        f"x = pb.tensor([1.0, 100.0], dtype=pb.bfloat16, {X})\nx.exp().sum().log().backward()",
        ("exp", 2, "where x = 100: more than bfloat16 can hold", EXP),
    ),
    "in float64": (
        f"x = pb.tensor([1.0, 800.0], dtype=pb.float64, {X})\n(1 + x.exp()).log().sum().backward()",
        ("exp", 2, "more than float64 can hold", EXP),
    ),
    "a softmax by hand": (
        f"x = pb.tensor([[1.0, 2.0], [3.0, 100.0]], {X})\ne = x.exp()\np = e / e.sum(1, keepdim=True)\n(-p[:, 0].log().mean()).backward()",
        ("exp", 2, "where x = 100", EXP),
    ),
    "a sigmoid by hand": (
        f"x = pb.tensor([-200.0, 0.5], {X})\np = 1 / (1 + pb.exp(-x))\n(-p.log().mean()).backward()",
        ("exp", 2, "where -x = 200", EXP),
    ),
    "a root of one": (
        f"x = pb.tensor([-200.0, 0.5], {X})\np = 1 / (1 + pb.exp(-x))\n(p.sqrt() * 2).sum().backward()",
        ("exp", 2, "where -x = 200", EXP),
    ),
    "float16": (
        f"x = pb.tensor([1.0, 300.0], dtype=pb.float16, {X})\n(x * x * 2).sum().backward()",
        ("mul", 2, "more than float16 can hold (65504)", "compute this in float32"),
    ),
    "a power": (
        f"x = pb.tensor([1e25, 1.0], {X})\n(x**2).sum().sqrt().backward()",
        ("pow", 2, "where x = 1e25", SCALE),
    ),
    "a loop that grows": (
        f"w = pb.full((4, 4), 8.0, {X})\nh = pb.ones(1, 4)\nfor _ in range(40):\n    h = h @ w\nh.sum().backward()",
        ("mm", 4, "more than float32 can hold", SCALE),
    ),
    "an optimizer that diverges": (
        f"w = pb.tensor([5.0], {X})\nopt = pb.optim.SGD([w], lr=100.0)\nfor _ in range(4):\n    opt.zero_grad()\n    loss = (w**4).sum()\n    loss.backward()\n    opt.step()",
        ("pow", 5, "w = ", SCALE),
    ),
    "nan in the data": (
        f"data = pb.tensor([[1.0, float('nan')], [2.0, 3.0]])\nw = pb.ones(2, 1, {X})\n(data @ w).mean().backward()",
        ("mm", 3, "mm was given nan at [0, 1] of data, which needs no gradient", "leave out the examples"),
    ),
    "nan in the target": (
        f"w = pb.ones(2, 1, {X})\nt = pb.tensor([[1.0], [float('nan')]])\npb.nn.functional.mse_loss(pb.ones(2, 2) @ w, t).backward()",
        ("sub", 3, "sub was given nan at [1, 0] of t, which needs no gradient", "leave out the examples"),
    ),
    "nan in the weights": (
        "model = pb.nn.Linear(2, 1)\nmodel.load_state_dict({'weight': pb.tensor([[1.0, float('nan')]]), 'bias': pb.zeros(1)})\nmodel(pb.ones(3, 2)).mean().backward()",
        (None, 1, "model.weight has nan at [0, 1] before this call", "look at the calls before this one"),
    ),
    "nan that backward is given": (
        f"x = pb.ones(3, {X})\ny = x * 2\ny.backward([1.0, float('nan'), 1.0])",
        (None, 3, "the gradient that backward was given has nan at [1]", ""),
    ),
    "std of one element": (
        f"x = pb.tensor([3.0], {X})\n((x - x.mean()) / x.std()).sum().backward()",
        ("std", 2, "where x = 3", "std of one element is 0 / 0"),
    ),
    "a mean of nothing": (
        f"x = pb.zeros(3, {X})\nx[x > 1].mean().backward()",
        ("mean", 2, "where x[x > 1] has no elements", "mean of no elements is 0 / 0"),
    ),
    "a logarithm of less than 0": (
        f"x = pb.tensor([0.5, -1.0], {X})\nx.log().sum().backward()",
        ("log", 2, "log gives nan at [1], where x = -1", "log has no value there: keep its argument above 0"),
    ),
}
"""Programs, and the first operation that makes NaN or inf out of finite numbers: with its line, its operand, and what helps."""


@pytest.mark.parametrize("case", FORWARD)
def test_the_first_operation_is_blamed_that_makes_it_of_finite_numbers(case, tmp_path):
    text, (op, line, told, fix) = FORWARD[case]
    ex = recorded(tmp_path, f"import pullback as pb; pb.manual_seed(0)\n{text}\n")
    found = [each for call in ex.all_calls for each in call.findings if not each.kinds.isdisjoint({"nan", "inf"})]
    first = found[0]
    assert (first.born and first.born.op, first.line) == (op, line + 1)
    assert told in first.told
    assert first.fix.startswith(fix)
    assert len({each.why for each in found}) == 1 or ex.call is not ex.all_calls[0]
    assert not any("gets" in each.why or "kept" in each.why for each in first.fixes) or "keep" in first.fix


RIGHT = {
    "a mask of -inf": f"s = pb.randn(2, 3, {X})\nm = pb.tensor([[True, False, False]] * 2)\ns.masked_fill(m, -pb.inf).softmax(-1)[:, 1].log().sum().backward()",
    "a mask of -inf in bfloat16": f"s = pb.ones(2, 3, dtype=pb.bfloat16, {X})\nm = pb.tensor([[True, False, False]] * 2)\ns.masked_fill(m, -pb.inf).softmax(-1)[:, 1].sum().backward()",
    "attention": "layer = pb.nn.MultiheadAttention(4, 2, batch_first=True)\nx = pb.randn(1, 3, 4)\nm = pb.full((3, 3), -pb.inf).triu(1)\nlayer(x, x, x, attn_mask=m)[0].sum().backward()",
    "a where before the root": f"x = pb.tensor([0.0, 4.0], {X})\npb.where(x > 0, pb.where(x > 0, x, 1).sqrt(), 0).sum().backward()",
    "an overflow that is not selected": f"x = pb.tensor([1.0, 800.0], {X})\npb.where(x.detach() > 80, x, (x.clamp(max=80)).exp().log1p()).sum().backward()",
    "logsumexp": f"x = pb.tensor([1.0, 800.0], {X})\nx.logsumexp(0).backward()",
    "a norm at 0": f"x = pb.zeros(3, {X})\nx.norm().backward()",
    "atan2 at 0": f"x = pb.zeros(2, {X})\npb.atan2(x, x).sum().backward()",
    "a division by inf": f"x = pb.tensor([1.0, 2.0], {X})\n(x / pb.tensor([1.0, pb.inf]) + 1).log().sum().backward()",
    "large numbers in bfloat16": f"x = pb.full((4,), 1e30, dtype=pb.bfloat16, {X})\n(x * 2).sum().backward()",
    "nan that is replaced": f"x = pb.tensor([1.0, pb.nan])\nw = pb.ones(2, {X})\n(x.nan_to_num() * w).sum().backward()",
    "a clamped logarithm": f"p = pb.tensor([0.0, 0.5], {X})\n(-p.clamp(min=1e-12).log()).sum().backward()",
}


@pytest.mark.parametrize("case", RIGHT)
def test_no_alarm_where_no_result_has_it(case, tmp_path):
    ex = recorded(tmp_path, f"import pullback as pb; pb.manual_seed(0)\n{RIGHT[case]}\n")
    assert [each.told for each in ex.health if not each.kinds.isdisjoint({"nan", "inf"})] == []


@pytest.mark.parametrize(
    "expression", ["-(p * p.log()).sum()", "(p * p.rsqrt()).sum()", "(p / p).sum()", "(p.log() + 1 / p).sum()"]
)
def test_the_way_ends_with_the_number_that_the_gradient_has(expression, tmp_path):
    ex = recorded(
        tmp_path,
        f"import pullback as pb\np = pb.tensor([0.0, 0.5], requires_grad=True)\nloss = {expression}\nloss.backward()\n",
    )
    found = ex.health[0]
    (leaf,) = ex.leaves
    assert found.told.startswith(f"p.grad[0] is {fault(leaf.grad)[0]}")
    assert str(float(leaf.grad[0])) in found.way[-1].said.rpartition("= ")[2]
