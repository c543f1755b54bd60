"""The Python side of the playground: what a run reports, each example, and each block of the tutorial."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.prepared import after

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "frontend" / "src" / "playground"
EXAMPLES = sorted((FOLDER / "examples").glob("*.py"))
FAILING = {"shape": "has shape (1,)", "second": "a second time", "inplace": "a leaf Variable that requires grad"}

# The session belongs to a process of its own: it puts pullback in torch's place.
RUN = """
import json, runpy, sys
session = runpy.run_path(SESSION, run_name="session")
for request in json.load(sys.stdin):
    sys.stdout, kept = __import__("io").StringIO(), sys.stdout
    answer = json.loads(session["run"](json.dumps(request)))
    printed, sys.stdout = sys.stdout.getvalue(), kept
    trace = answer["page"] and answer["page"].partition('id="trace">')[2].partition("</script>")[0]
    print(json.dumps({**answer, "page": bool(trace), "printed": printed, "calls": len(json.loads(trace)["calls"]) if trace else 0}))
"""


def answers(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    """What the session answers to these requests, one after the other, and what they print."""
    text = RUN.replace("SESSION", repr(str(FOLDER / "session.py")))
    said = after("import pullback.explain\n", text, "-W", "error", given=json.dumps(requests))
    return [json.loads(line) for line in said.splitlines()]


def answer(program: str, **options: str) -> dict[str, Any]:
    """What the session answers to a program."""
    return answers({"program": program, **options})[0]


@pytest.fixture(autouse=True)
def built() -> None:
    """The page of explain, which `to_html` needs."""
    if not (ROOT / "src" / "pullback" / "explain" / "static" / "explain.js").exists():
        pytest.skip("the page of explain is not built here")


def test_every_example_is_a_program_with_a_title_a_question_and_an_answer() -> None:
    order = json.loads((FOLDER / "examples" / "order.json").read_text(encoding="utf-8"))
    assert sorted(name for names in order.values() for name in names) == [path.stem for path in EXAMPLES]
    assert len(EXAMPLES) == 15
    for path in EXAMPLES:
        docstring = compile(path.read_text(encoding="utf-8"), str(path), "exec").co_consts[0]
        title, question, told = docstring.strip().split("\n\n")
        assert title.endswith(".") and "?" in question and told.endswith(".")


def test_examples_run_one_after_the_other_and_are_explained() -> None:
    programs = [path.read_text(encoding="utf-8") for path in EXAMPLES]
    for path, told in zip(EXAMPLES, answers(*({"program": program} for program in programs)), strict=True):
        assert told["page"], path.stem
        assert FAILING.get(path.stem, "") in (told["error"] or {"message": ""})["message"]
        assert bool(told["error"]) == (path.stem in FAILING)


def test_the_last_expression_is_shown_as_in_a_notebook() -> None:
    program = "import torch\n1 + 1\nx = torch.ones(2, requires_grad=True)\nx.sum().backward()\nx.grad"
    last, every, none = answers({"program": program}, {"program": program, "echo": "all"}, {"program": "x = 3\nNone"})
    assert last["printed"] == "tensor([1., 1.])\n"
    assert every["printed"] == "2\ntensor([1., 1.])\n"
    assert none["printed"] == ""


def test_an_error_names_its_line_and_the_tensors_on_it() -> None:
    told = answer("import torch\nx = torch.ones(2, 3)\nw = torch.ones(4, requires_grad=True)\ny = (x\n     @ w)\n")
    assert told["error"]["type"] == "RuntimeError"
    assert told["error"]["line"] in {4, 5}
    assert [(row["name"], row["shape"], row["what"]) for row in told["error"]["tensors"]] == [
        ("x", "(2, 3)", "does not require grad"),
        ("w", "(4,)", "leaf that requires grad"),
    ]
    inner = answer(
        "import numpy as np\nimport torch\ndef f(a, model):\n    return model.weight @ a + CONSTANT\n"
        "CONSTANT = np.ones(2)\nf(torch.ones(5), torch.nn.Linear(3, 2))\n"
    )
    assert inner["error"]["line"] == 4
    assert [row["name"] for row in inner["error"]["tensors"]] == ["CONSTANT", "model.weight", "a"]


def test_what_is_no_program_says_where() -> None:
    told = answer("x = 1\nif x\n    y = 2\n")
    assert (told["error"]["type"], told["error"]["line"], told["error"]["tensors"]) == ("SyntaxError", 2, [])
    assert told["page"] is False


def test_programs_that_compute_nothing_are_told_so() -> None:
    nothing, no_backward, ended = answers(
        {"program": "x = 1"},
        {"program": "import torch\nx = torch.ones(1, requires_grad=True)\ny = x * 2"},
        {"program": "raise SystemExit('enough')"},
    )
    assert nothing["note"].startswith("Nothing that requires grad was computed")
    assert no_backward["note"].startswith("No backward() ran")
    assert no_backward["page"] is True
    assert ended["note"] == "The program ended itself: enough."


def test_a_run_leaves_nothing_to_the_next() -> None:
    draw = "import random\nimport numpy as np\nimport torch\nprint(torch.rand(2), np.random.rand(), random.random())"
    change = (
        "import torch\nkept = 1\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)\n"
        "torch.set_printoptions(precision=1)\ntorch.autograd.set_detect_anomaly(True)\nimport sys\nsys.stdout = sys.stderr = None"
    )
    look = "import torch\nx = torch.ones(1, requires_grad=True) / 3\nprint(x, 'kept' in globals())"
    first, _, second, seen = answers(*({"program": program} for program in (draw, change, draw, look)))
    assert first["printed"] == second["printed"]
    assert seen["printed"] == "tensor([0.3333], grad_fn=<DivBackward0>) False\n"


def test_a_program_may_explain_itself() -> None:
    program = (
        "import pullback\nx = pullback.ones(2, requires_grad=True)\n"
        "with pullback.explain.record() as ex:\n    (x * x).sum().backward()\nprint(len(ex.calls), ex.steps[0].node)"
    )
    told = answer(program)
    assert (told["printed"], told["error"], told["calls"]) == ("1 SumBackward0\n", None, 1)


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "tutorial").glob("*.md")), ids=lambda path: path.stem)
def test_blocks_of_the_tutorial_run_in_place(page: Path) -> None:
    """As `blocks.ts` does, a block after all statements above it that do not raise: those that raise, and the last."""
    blocks = re.findall(r"```python\n(>>>.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    parser = doctest.DocTestParser()
    requests, raising, before = [], [], ""
    for block in blocks:
        examples = parser.get_examples(block)
        requests.append({"program": "".join(each.source for each in examples), "before": before, "echo": "all"})
        raising.append(any(each.exc_msg for each in examples))
        before += "".join(each.source for each in examples if not each.exc_msg)
    chosen = [index for index, raises in enumerate(raising) if raises or index == len(blocks) - 1]
    for index, told in zip(chosen, answers(*(requests[index] for index in chosen)), strict=True):
        assert bool(told["error"]) == raising[index], (requests[index], told["error"])
