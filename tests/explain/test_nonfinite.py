"""The cause of a NaN: at each pole, and whatever comes before and after it, one finding with the line and the fix of the pole."""

import itertools
import runpy

import pytest

import pullback
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
