"""What tensors are called: no step sends to its own name, and of equal names each has a number."""

import contextlib
import io
import runpy
from pathlib import Path

import pytest

import pullback

from . import networks, unusual

ROOT = Path(__file__).parents[2]
PROGRAMS = [*(ROOT / "tests/explain/programs").glob("*.py"), *(ROOT / "examples/seeds").glob("*.py")]


def recorded(function):
    """The recording of a program, whatever it prints or raises."""
    pullback.manual_seed(0)
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()), pullback.explain.record() as ex:
        function()
    return ex


def own_names(ex):
    """The steps that send to a tensor of the name of what they are of."""
    return [
        (step.node, term.to.name)
        for call in ex.all_calls
        for step in call.steps
        for term in step.terms
        if term.to.name in {output.name for output in step.outputs}
    ]


@pytest.mark.parametrize("program", [*networks.RIGHT, *networks.WRONG, *unusual.UNUSUAL], ids=lambda one: one.__name__)
def test_no_step_of_a_network_sends_to_its_own_name(program):
    assert own_names(recorded(program)) == []


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda one: one.stem)
def test_no_step_of_a_program_sends_to_its_own_name(file):
    assert own_names(recorded(lambda: runpy.run_path(str(file), run_name="__main__"))) == []


def named(text, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(f"import pullback as pb\nx = pb.tensor([1.0, 2.0], requires_grad=True)\n{text}")
    with pullback.explain.record() as ex:
        runpy.run_path(str(file))
    return [tensor.name for tensor in ex.tensors][1:], ex


def test_the_steps_of_a_loop_have_numbers_and_the_variable_its_name(tmp_path):
    names, ex = named("h = x * 2\nfor _ in range(2):\n    h = h * x\nh.sum().backward()\n", tmp_path)
    assert names == ["h, 1 of 3", "h, 2 of 3", "h", "h.sum()"]
    assert ex.call.text == "h.sum().backward()"


def test_what_an_expression_calls_inside_is_told_apart(tmp_path):
    names, _ = named("y = sum(x)\ny.backward()\n", tmp_path)
    assert names == ["unbind in sum(x)[0]", "unbind in sum(x)[1]", "add in sum(x)", "y"]


def test_equal_expressions_of_two_lines_keep_their_text(tmp_path):
    names, _ = named("a = x[0] * 3\nb = x[0] * 4\n(a + b).backward()\n", tmp_path)
    assert names == ["x[0]", "a", "x[0]", "b", "a + b"]


def test_a_leaf_whose_variable_is_set_again_has_a_number(tmp_path):
    names, ex = named("x = x * 2\nx = x.exp()\nx.sum().backward()\n", tmp_path)
    assert names == ["x, 2 of 3", "x", "x.sum()"]
    assert ex.leaves[0].tensor.name == "x, 1 of 3"


def test_a_copy_belongs_to_the_line_that_asks_for_it(tmp_path):
    text = "import copy\nw = copy.deepcopy(x)\n(w * x).sum().backward()\n"
    _, ex = named(text, tmp_path)
    files = {source["file"] for source in ex.to_dict()["sources"]}
    assert len(files) == 1
    assert "copy.py" not in files
    assert {leaf.tensor.name for leaf in ex.leaves} == {"x", "w"}
