"""Programs that end or change the world in unusual ways: what explain says of them, and what it never does."""

import json
import os

import pytest

from pullback.command import main, trying

HEAD = "import os\nimport pullback as pb\n"


@pytest.fixture
def explained(tmp_path, monkeypatch):
    """The trace of a program that is run in a folder of its own."""

    def run(text, *options):
        monkeypatch.chdir(tmp_path)
        name = f"{tmp_path.name}.py"  # no two tests have a file of one name
        (tmp_path / name).write_text(HEAD + text, encoding="utf-8")
        main(["explain", *options, "-o", "odd.json", "-o", "odd.txt", name])
        return json.loads((tmp_path / "odd.json").read_text(encoding="utf-8")), (tmp_path / "odd.txt").read_text()

    return run


def test_a_module_that_has_not_begun_is_no_fault_of_the_recording(explained):
    trace, _ = explained(
        "class Block(pb.nn.Module):\n    def __init__(self):\n        self.layer = pb.nn.Linear(3, 3)\nBlock()\n",
        "--no-try",
    )
    assert trace["error"]["message"].startswith("cannot assign module before Module.__init__() call")
    assert trace["error"]["place"]["line"] == 5


def test_a_program_that_exits_shows_what_it_has_computed(explained):
    trace, _ = explained("x = pb.ones(3, requires_grad=True)\ny = (x * 2).sum()\nraise SystemExit('no data')\n")
    assert [step["op"] for step in trace["calls"][-1]["steps"]] == ["mul", "sum"]
    assert "y" in [tensor["name"] for tensor in trace["calls"][-1]["tensors"]]


def test_recursion_without_end_blames_the_line_and_no_operation(explained):
    _, text = explained("def f(x):\n    return f(x * 1.0)\nf(pb.ones(1, requires_grad=True))\n", "--no-try")
    assert "Line 4 of the program raised RecursionError" in " ".join(text.split())
    assert "No operation of pullback failed." in " ".join(text.split())


def test_a_program_that_goes_elsewhere_is_tried_where_it_began(explained, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setattr(trying, "SECONDS", 60)
    trace, _ = explained(
        f"os.chdir({str(other)!r})\nlayer = pb.nn.Linear(4, 2)\nlayer(pb.ones(2, 3)).sum().backward()\n"
    )
    assert [fix["tried"] for fix in trace["error"]["fixes"]] == [trying.TO_THE_END]
    assert not [*other.iterdir()]


OUTSIDE = [
    "import socket; socket.getaddrinfo('localhost', 1)",
    *(["os.mkfifo('pipe')"] if hasattr(os, "mkfifo") else []),
]


@pytest.mark.parametrize("statement", OUTSIDE)
def test_a_trial_makes_no_pipe_and_asks_no_server(statement, explained, tmp_path, monkeypatch):
    monkeypatch.setattr(trying, "SECONDS", 60)
    trace, _ = explained(f"x = pb.ones(4, requires_grad=True)\ny = x.reshape(3, 2)\n{statement}\n")
    assert not (tmp_path / "pipe").exists()
    assert "was stopped before it changes something" in trace["error"]["fixes"][0]["tried"]


def test_a_write_to_a_part_is_one_round(explained):
    trace, text = explained(
        "x = pb.tensor([1.0, 2.0], requires_grad=True)\ny = x * 1\ny[1:] *= x[1:]\ny.sum().backward()\n"
    )
    assert "round" not in text
    assert trace["calls"][-1]["leaves"][0]["grad"]["data"] == [1.0, 4.0]


@pytest.mark.parametrize(
    ("text", "says", "fixes"),
    [
        ("d = pb.tensor([1.0, float('nan')])\nx = pb.ones(2, requires_grad=True)\n(x * d).sum().backward()\n", "mul was given nan at [1] of d, which needs no gradient", 0),
        ("x = pb.tensor([[2.0]], requires_grad=True)\ny = x.std()\ny.backward()\n", "std gives nan", 0),
        ("x = pb.tensor([0.0, -2.0], requires_grad=True)\n(x**0.5).sum().backward()\n", "x.grad[1] is nan, because pow gives nan at [1]", 1),
    ],
)  # fmt: skip
def test_nan_of_data_and_of_operations_without_a_guard(text, says, fixes, explained):
    trace, _ = explained(text, "--no-try")
    finding = trace["calls"][-1]["findings"][0]
    assert says in finding["told"]
    assert len([fix for fix in finding.get("fixes", []) if not fix.get("guess")]) == fixes
    assert "divisor" not in json.dumps(finding.get("fixes", []))


def test_a_message_is_not_cut_inside_of_brackets(explained):
    text = (
        "class Twice(pb.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, w):\n        return x * w\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g\n"
        "x, w = pb.ones(2, requires_grad=True), pb.ones(2, requires_grad=True)\nTwice.apply(x, w).sum().backward()\n"
    )
    _, written = explained(text, "--no-try")
    assert "(expected 2, got 1)." in " ".join(written.split())


def test_exceptions_of_any_kind_leave_the_trace(explained):
    begin = "x = pb.ones(2, requires_grad=True)\n(x * 2).sum().backward()\n"
    trace, _ = explained(begin + "raise type('Stop', (BaseException,), {})('enough')\n")
    assert trace["calls"][0]["leaves"][0]["grad"]["data"] == [2.0, 2.0]


def test_an_excepthook_that_fails_leaves_the_trace(explained, monkeypatch):
    monkeypatch.setattr("sys.excepthook", lambda *_: 1 / 0)
    trace, _ = explained("pb.ones(2) @ pb.ones(3)\n", "--no-try")
    assert trace["error"]["op"] == "matmul"


def test_of_two_equal_lines_the_one_before_is_shown_first(explained):
    _, text = explained(
        "x = pb.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward()\ny.backward()\n", "--no-try"
    )
    shown = [line.strip() for line in text.splitlines() if line.strip().startswith(("- ", "+ "))]
    assert shown[:2] == ["- y.backward()", "+ y.backward(retain_graph=True)"]


@pytest.mark.parametrize(
    "call", ["y.backward()", "y.backward(None)", "y.backward(None,)", "y.backward(None,  # none\n)"]
)
def test_one_more_argument_comes_after_one_comma(call, explained):
    _, text = explained(f"x = pb.ones(2, requires_grad=True)\ny = (x * x).sum()\n{call}\ny.backward()\n", "--no-try")
    fixed = [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("+ ")]
    assert any("retain_graph=True" in line for line in fixed)
    assert not any(",," in line.replace(" ", "") for line in fixed)
