"""What a terminal shows: texts to the letter, and what holds at each width.

`python tests/explain/test_text.py` writes the texts anew, which must be read before they are committed.
"""

import contextlib
import linecache
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import pullback
from pullback.command import main
from pullback.explain.layout import columns, cut
from pullback.explain.naming import names_of
from pullback.explain.reading import read

HERE = Path(__file__).parent
TEXTS = HERE / "texts"
PROGRAMS = ("plane", "seed", "mlp", "lstm", "gpt", "failed", "misfit", "nans")
WIDTHS = (80, 100)
OTHERS = [
    *sorted((HERE.parents[1] / "examples/seeds").glob("*.py")),
    *sorted((HERE.parents[1] / "docs/live").glob("*.py")),
]
WITHOUT = {"failed", "misfit", "overwritten", "chains_and_weights"}
"""Programs whose text has no gradient."""
VALUE = r"(?:\[[^]]*\]|[^ ,]+)"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def recorded(path, **options):
    """The recording of a program, which may raise."""
    with contextlib.suppress(RuntimeError), pullback.explain.record(timing=False, **options) as ex:
        runpy.run_path(str(path))
    return ex


def program(text, name="<program>", **given):
    """The recording of a text that is run as a program with these variables."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    variables = {"pb": pullback, **given}
    with contextlib.suppress(RuntimeError), pullback.explain.record(timing=False) as ex:
        exec(compile(text, name, "exec"), variables)
    if not ex.all_calls:
        ex.keep_unpulled(names_of(variables))
    return ex


def written(name, width):
    return TEXTS / f"{name}_{width}.txt"


def shown(name, width):
    return recorded(HERE / "programs" / f"{name}.py").to_text(width=width)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_to_the_letter(name, width):
    """Last digits, which differ between machines, apart."""
    expected, text = written(name, width).read_text(encoding="utf-8"), shown(name, width)
    assert NUMBER.sub("#", text).split() == NUMBER.sub("#", expected).split()
    for one, other in zip(NUMBER.findall(text), NUMBER.findall(expected), strict=True):
        assert float(one) == pytest.approx(float(other), rel=1e-2, abs=1e-6)
    assert text.isascii()


ALL = [*sorted((HERE / "programs").glob("*.py")), *OTHERS]


def fits(ex, step=1):
    """No line is wider than asked, whichever call is shown."""
    for call in range(max(1, len(ex.all_calls))):
        ex.shown = call if ex.all_calls else None
        for width in range(40, 161, step if call == 0 else 40):
            for operations in (False, True) if width % 40 == 0 else (False,):
                text = ex.to_text(width=width, operations=operations)
                wide = [line for line in text.splitlines() if columns(line) > width]
                assert not wide, f"{width}: {wide}"


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_no_line_is_wider_than_asked(path):
    fits(recorded(path))


@pytest.mark.parametrize("name", ["adding", "explaining", "gaussian_process", "pole"])
def test_examples_fit(name, tmp_path, monkeypatch):
    if name == "gaussian_process":
        pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    trace = str(tmp_path / "trace.json")
    quick = [] if name == "explaining" else ["--quick"]
    program = str(HERE.parents[1] / f"examples/{name}.py")
    assert main(["explain", "--no-timing", "-o", trace, program, *quick]) == 0
    fits(read(trace), step=9)


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_the_numbers_are_those_of_grad(path):
    ex = recorded(path)
    text = " ".join(ex.to_text(width=160).split())
    told = 0
    for leaf in ex.leaves if ex.all_calls and ex.steps else ():
        name = re.escape(leaf.tensor.name)
        put = re.search(rf"(?:put|added|and) ({VALUE}) (?:in)?to {name}\.grad(?:, now ({VALUE}))?", text)
        listed = re.search(rf" {name} (\[[^]]*\])", text)
        norm = re.search(rf" {name} (\S+) =", text)
        if put is not None or listed is not None:
            shown = (put[2] or put[1]) if put is not None else listed[1]
            numbers = [float(each) for each in shown.replace(";", "").strip("[]").split()]
            grad = leaf.grad if put is None else leaf.grad_after
            np.testing.assert_allclose(numbers, np.asarray(grad, np.float64).reshape(-1), rtol=1e-3, equal_nan=True)
        elif norm is not None:
            assert float(norm[1]) == pytest.approx(leaf.flow.norm, rel=1e-2)
        told += any(each is not None for each in (put, listed, norm))
    assert told or path.stem in WITHOUT


def test_the_page_about_it_shows_these_texts():
    page = (HERE.parents[1] / "docs/how-to/explain.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for block, name in zip(blocks[:2], ("plane", "gpt"), strict=True):
        assert block.rstrip() in written(name, 100).read_text(encoding="utf-8")


def test_a_gpt_takes_few_lines():
    for width in WIDTHS:
        assert len(shown("gpt", width).splitlines()) <= 45


def table(ex, width=100):
    """The rows of the program: for each the number of the line, and the rest."""
    lines = ex.to_text(width=width).splitlines()
    start = next(at for at, line in enumerate(lines) if line.split()[:2] == ["line", "program"])
    rows = {}
    for line in lines[start + 1 : lines.index("", start)]:
        found = re.match(r" *(\d+)  (\S.*)", line)
        if found:
            rows.setdefault(int(found[1]), []).append(found[2])
        elif rows:
            rows[max(rows)][-1] += f" {line.strip()}"
    return rows


def test_a_line_is_a_row_with_value_gradient_and_steps():
    rows = table(recorded(HERE / "programs/plane.py"))
    assert list(rows) == [3, 4, 5, 6, 7]
    assert [" ".join(line.split()) for line in rows[5]] == [
        "p = a * b 2 1 4 [1]@[1]=[1] -> a, 8+1=9 [1]@[2]=[2] -> b, 2+2=4"
    ]
    assert re.search(r"5 +2 +2-3  add, pow \[2\]@\[1\]=\[2\] -> b +\[2\]@\[4\]=\[8\] -> a", rows[6][0])


def test_a_line_of_seven_operations_is_one_row_that_lists_them():
    rows = table(recorded(HERE / "programs/seed.py"))
    (line,) = rows[6]
    assert "7 operations: setitem, add, mul, pow x2, select x2" in line


def test_rounds_of_a_loop_are_counted():
    ex = program(
        "x = pb.tensor([2.0], requires_grad=True)\ny = x\nfor k in range(3):\n    y = y * x\ny.sum().backward()\n"
    )
    rows = table(ex)
    assert [re.search(r"round \d of 3", line)[0] for line in rows[4]] == [f"round {k} of 3" for k in (1, 2, 3)]
    assert "round" not in rows[5][0]


def test_a_round_in_which_the_other_side_of_a_choice_runs_is_one():
    ex = program(
        "x = pb.tensor([2.0], requires_grad=True)\ny = x\nfor k in range(4):\n    y = (y * x).sin() if k % 2 else y + x\ny.sum().backward()\n"
    )
    rows = table(ex)
    assert [re.search(r"round \d of 4", line)[0] for line in rows[4]] == [f"round {k} of 4" for k in (1, 2, 3, 4)]
    assert ["  sin, mul" in line for line in rows[4]] == [False, True, False, True]


def test_what_is_run_once_is_no_round():
    x = [pullback.tensor(float(k), requires_grad=True) for k in range(2)]
    rows = table(program("y = sum(x)\ny = y * 2 + y * 3\ny.backward()\n", x=x))
    assert not [line for lines in rows.values() for line in lines if "round" in line]
    assert "add, mul x2" in rows[2][0]


def test_a_function_that_is_called_twice_has_rounds():
    rows = table(program("def f(t):\n    return t * t\nx = pb.tensor(3.0, requires_grad=True)\nf(f(x)).backward()\n"))
    assert [re.search(r"round \d of 2", line)[0] for line in rows[2]] == ["round 1 of 2", "round 2 of 2"]


def test_modules_are_folded_where_there_are_many():
    text = shown("gpt", 100)
    assert [line for line in text.splitlines() if "model.blocks.3  Block" in line]
    assert "attention" not in text
    assert "model.1  ReLU" in shown("mlp", 100)


def test_what_was_there_is_added_to():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    x.grad = pullback.tensor([1.0, 1.0])
    head = program("(x * x).sum().backward()\n", x=x).to_text().splitlines()[0]
    assert head == "<program>:1  (x * x).sum().backward() added [2 4] to x.grad, now [3 5]"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pb.autograd.grad((x * x).sum(), x)\n", "gave [2 4] for x"),
        ("y = x * 1\n", "no backward() ran; 1 operation recorded"),
        ("z = pb.ones(2) * 2\n", "nothing was recorded"),
        ("x.sum().backward(pb.tensor(float('nan')))\n", "made nan"),
        ("(x[:0] * 2).sum().backward()\n", "put [0 0] into x.grad"),
        ("(x + 0j).sum().real.backward()\n", "put [1 1] into x.grad"),
    ],
)
def test_odd_calls(text, told):
    ex = program(text, x=pullback.tensor([1.0, 2.0], requires_grad=True))
    assert told in " ".join(ex.to_text().split())
    for width in range(40, 161, 8):
        assert max(map(columns, ex.to_text(width=width).splitlines())) <= width


def test_explain_writes_nothing_and_says_so():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    assert "would add [2 4] to x.grad" in pullback.explain((x * x).sum()).to_text(width=120)


def test_without_source_rows_have_the_names():
    x = pullback.tensor([1.0, 2.0], requires_grad=True)
    with pullback.explain.record(lines=False) as ex:
        y = x * 3
        y.sum().backward()
    assert [line for line in ex.to_text().splitlines() if "-> x" in line]
    assert pullback.explain((x * x).sum()).to_text()


def test_wide_characters_are_counted():
    ex = program(
        "宽 = pb.tensor([1.0, 2.0], requires_grad=True)\n结果的名字很长很长很长很长很长很长很长 = 宽 * 3\n结果的名字很长很长很长很长很长很长很长.sum().backward()\n"
    )
    for width in range(40, 161):
        assert max(map(columns, ex.to_text(width=width).splitlines())) <= width
    assert columns("宽e\u0301\ufe0f") == 3
    assert cut("宽宽宽宽", 6) == "宽..宽"
    assert cut("abcdefghij", 7) == "abc..ij"
    assert cut("abc", 2) == ".."


def test_a_matrix_is_drawn_where_it_fits():
    x = pullback.tensor([[1.0, 2.0, 3.0]] * 2, requires_grad=True)
    w = pullback.tensor([0.123456789, 7.654321, -1.512345])
    text = program("(x @ w).backward(pb.tensor([1.0, 10.0]))\n", x=x, w=w).to_text
    assert "[0.1235 7.654 -1.512      0     0      0]" in text(width=120)
    assert "[0.123 7.65 -1.51     0    0     0]" in text(width=90)
    assert "J (2x6)" in text(width=60)


@pytest.mark.parametrize(("columns_of", "width"), [("57", 57), ("", 80)])
def test_the_width_is_that_of_the_terminal(columns_of, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns_of)
    ex = recorded(HERE / "programs/seed.py")
    assert str(ex) == ex.to_text(width=width)


HOOKED = {
    "h.register_hook(lambda g: g * 10)": "hook <lambda> (program.py:3) changed the gradient from [6 12] to [60 120]",
    "x.register_hook(lambda g: g.clamp(max=20))": "hook <lambda> (program.py:3) changed the gradient from [18 36] to [18 20]",
    "x.register_hook(abs)": "",
    "x.register_hook(print)": "",
    "x.register_hook(lambda g: -g); x.register_hook(pb.neg)": "",
    "h.register_hook(lambda g: g + 1); h.register_hook(lambda g: g * 2)": "hooks <lambda> (program.py:3) and <lambda> (program.py:3) changed the gradient from [6 12] to [14 26]",
    "x.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(0.5))": "put [18 36] into x.grad, now [9 18]",
    "net.register_full_backward_hook(lambda module, gi, go: (gi[0] * 2,))": "hook <lambda> (program.py:3) changed the gradient from [1 1] to [2 2]",
    "net.register_full_backward_pre_hook(lambda module, go: (go[0] * 3,))": "hook <lambda> (program.py:3) changed the gradient from [1 1] to [3 3]",
    "net.register_full_backward_hook(lambda module, gi, go: None)": "",
}
"""Hooks, and what is said of them: nothing of those that change nothing, together."""


@pytest.mark.parametrize("hook", HOOKED)
def test_what_a_hook_has_changed_is_told_where_it_did(hook, tmp_path):
    y = "net(h).sum()" if hook.startswith("net") else "(h * h).sum()"
    file = tmp_path / "program.py"
    start = "import pullback as pb\nx = pb.tensor([1.0, 2.0], requires_grad=True); h = x * 3; net = pb.nn.Identity()\n"
    file.write_text(f"{start}{hook}\ny = {y}\ny.backward()\n")
    ex = recorded(file)
    assert ("changed the" in ex.to_text(width=200)) == ("changed the" in HOOKED[hook])
    assert HOOKED[hook] in ex.to_text(width=200)
    assert all(max(map(columns, ex.to_text(width=width).splitlines())) <= width for width in range(40, 161, 8))
    if HOOKED[hook].startswith("hook"):
        assert HOOKED[hook] in " ".join(str(step["note"]) for step in ex.to_dict()["calls"][0]["steps"])


if __name__ == "__main__":
    TEXTS.mkdir(exist_ok=True)
    for each in PROGRAMS:
        for size in WIDTHS:
            written(each, size).write_text(shown(each, size), encoding="utf-8", newline="\n")
