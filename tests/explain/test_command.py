"""`pullback explain`: what it runs, prints and writes, and its exit codes."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import pullback
from pullback.command import main

GOOD = """import sys
import pullback as pb

x = pb.tensor([1.0, 2.0], requires_grad=True)
y = x * float(sys.argv[1] if len(sys.argv) > 1 else 3)
y.backward(pb.tensor([1.0, 10.0]))
print("arguments", sys.argv[1:])
"""

FAILS = """import pullback as pb

def work(t):
    h = t * 3
    return h @ pb.ones(7)

x = pb.tensor([1.0, 2.0], requires_grad=True)
work(x).backward()
"""

NANS = "import pullback as pb; x = pb.tensor([0.0, 4.0], requires_grad=True); (x.sqrt() * 0).sum().backward()"


@pytest.fixture
def script(tmp_path):
    def write(text, name="train.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def run(*arguments, env=None):
    return subprocess.run(
        [sys.executable, "-m", "pullback", "explain", *arguments], capture_output=True, text=True, check=False, env=env
    )


def test_a_script_with_its_arguments(script, capsys):
    before = sys.argv[:], sys.path[:], sys.modules["__main__"]
    assert main(["explain", "--no-timing", script(GOOD), "7", "--json", "-o"]) == 0
    out = capsys.readouterr().out
    assert "arguments ['7', '--json', '-o']" in out
    assert "train.py:6  y.backward([1., 10.]) put [7 70] into x.grad" in out
    assert "[7 70]" in out
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before


def test_a_script_that_raises_gives_its_partial_trace(script, capsys, tmp_path):
    path = script(FAILS)
    assert main(["explain", "--no-timing", path]) == 1
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "train.py:5  return h @ pb.ones(7)  raised RuntimeError"
    assert lines[1] == "cause       h @ pb.ones(7) multiplies 2 elements by 7."
    assert any(line.split() == ["4", "h", "=", "t", "*", "3", "[3", "6]", "mul"] for line in lines)
    assert any(line.split()[:1] == ["5"] and line.endswith("raised RuntimeError") for line in lines)
    assert "the program raised RuntimeError; this is the tape up to there" in err
    assert 'train.py", line 5, in work' in err
    assert "runpy" not in err
    assert main(["explain", "-o", str(tmp_path / "out.json"), path]) == 1
    document = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert document["error"]["type"] == "RuntimeError"
    assert document["error"]["place"]["line"] == 5
    (call,) = document["calls"]
    assert [step["phase"] for step in call["steps"]] == ["forward"]
    assert [tensor["name"] for tensor in call["tensors"] if not tensor["is_leaf"]] == ["h"]
    assert (document["error"]["tensor"], document["error"]["op"]) == (None, "matmul")


def test_an_error_before_anything_was_computed(script, capsys):
    assert main(["explain", script("raise ValueError('early')")]) == 1
    assert "there is no tape" in capsys.readouterr().err


def test_the_exit_code_of_a_script_is_told(script, capsys):
    assert main(["explain", script(GOOD + "sys.exit(0)")]) == 0
    assert main(["explain", script(GOOD + "sys.exit(5)")]) == 1
    assert "the program exited with 5" in capsys.readouterr().err


def test_no_backward_is_an_exit_code_of_its_own(script, capsys):
    assert main(["explain", script("print('nothing')")]) == 3
    assert main(["explain", script("import pullback as pb\nx = pb.ones(2, requires_grad=True)\ny = x * 2")]) == 3
    out, err = capsys.readouterr()
    assert "no backward() ran in the program's main thread, this is the tape of what was computed" in err
    assert "   3  y = x * 2" in out


@pytest.mark.parametrize(("kinds", "code"), [("nan", 4), ("inf", 0), ("zero", 4), ("inf,nan", 4)])
def test_fail_on(kinds, code, capsys):
    assert main(["explain", "--fail-on", kinds, "-c", NANS]) == code
    assert ("found" in capsys.readouterr().err) == (code == 4)


def test_fail_on_sees_every_call(capsys):
    code = NANS + "\nfor _ in range(150): (x * x).sum().backward()"
    assert main(["explain", "--fail-on", "nan", "-c", code]) == 4
    assert "of 151 backward calls the last 100 are kept" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [[], ["--nonsense"], ["-o", "x.pdf", "-c", "1"], ["nowhere.py"], ["--fail-on", "color", "-c", "1"], ["-m"],
     ["--values", "none", "-c", "1"], ["--call", "0", "-c", "1"], ["--at", "train", "-c", "1"]],
)  # fmt: skip
def test_usage(arguments, capsys):
    assert main(["explain", *arguments]) == 2
    assert "usage: pullback explain" in capsys.readouterr().err


def test_help(capsys):
    assert main(["explain", "--help"]) == 0
    out = capsys.readouterr().out
    assert "--fail-on" in out
    assert "3 no backward() ran" in out
    assert main([]) == 2
    assert main(["--help"]) == 0
    assert main(["--version"]) == 0
    assert main(["nonsense"]) == 2
    assert "there is no command 'nonsense'" in capsys.readouterr().err


def test_modules(tmp_path, capsys, monkeypatch):
    (tmp_path / "planted_module.py").write_text(GOOD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["explain", "-m", "planted_module", "5"]) == 0
    assert "[5 50]" in capsys.readouterr().out


def test_json_is_all_that_is_printed(script):
    done = run("--json", script(GOOD))
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["calls"][0]["leaves"][0]["grad"]["data"] == [3, 30]
    assert "arguments []" in done.stderr


def test_ascii_where_the_terminal_has_no_more(script):
    import os

    path = script(GOOD.replace("y", "größe").replace("pgröße", "py").replace("sgrößes", "sys"))
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = run("--no-timing", path, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "gr\\xf6\\xdfe" in done.stdout


def test_files_and_parts(script, tmp_path, capsys):
    path = script(GOOD)
    names = [str(tmp_path / f"out.{suffix}") for suffix in ("txt", "json", "dot", "mmd")]
    assert main(["explain", *(part for name in names for part in ("-o", name)), path]) == 0
    assert all(Path(name).stat().st_size for name in names)
    assert "x.grad" not in capsys.readouterr().out
    assert main(["explain", "--step", "1", path]) == 0
    assert "backward step 1 of 2: MulBackward0 of y, train.py:5" in capsys.readouterr().out
    assert main(["explain", "--jacobian", "--cost", "--health", path]) == 0
    out = capsys.readouterr().out
    for part in ("Jacobian by x", "train.py:5", "nothing wrong with the numbers"):
        assert part in out
    for options, said in (
        (["--step", "9"], "there is no step 9: --step takes 1 to 2"),
        (["--step", "-1"], "expected a positive number, not '-1'"),
        (["--step", "0"], "expected a positive number"),
        (["--inputs", "nosuch"], "no leaf is called nosuch; there are x"),
        (["--inputs", "x,nosuch"], "no leaf is called nosuch"),
        (["--inputs", ""], "--inputs: expected a name, not ''"),
        (["--examples", ""], "--examples: expected a name"),
        (["--examples", ",,"], "--examples: expected a name, not ',,'"),
        (["--against", ""], "--against: expected a name"),
        (["--trail", ""], "--trail: expected a name"),
        (["--svg", "x.png"], "--svg x.png: the steps are written as .svg"),
        (["--svg", "none/x.svg"], "there is no folder none"),
        (["-o", "none/x.html"], "there is no folder none"),
        (["--at", "train.py:77"], "nothing was recorded at train.py:77"),
    ):
        assert main(["explain", *options, path]) == 2, options
        told = capsys.readouterr()
        assert said in told.err, options
        assert told.out in {"", "arguments []\n"}, options
    for name, said in ("", "there is no file ''"), (str(tmp_path), "is a folder without __main__.py"):
        assert main(["explain", name]) == 2
        assert said in capsys.readouterr().err


def test_a_saved_trace_is_shown_again(script, tmp_path, capsys):
    saved = str(tmp_path / "trace.json")
    assert main(["explain", "--no-timing", "-o", saved, script(GOOD)]) == 0
    capsys.readouterr()
    assert main(["explain", "--width", "90", saved]) == 0
    assert "put [3 30] into x.grad" in capsys.readouterr().out
    assert main(["explain", "-o", str(tmp_path / "again.dot"), saved]) == 0
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    assert main(["explain", str(tmp_path / "bad.json")]) == 2


CALLS = """import pullback as pb
x = pb.tensor([1.0, 2.0], requires_grad=True)
w = pb.tensor([3.0, 4.0], requires_grad=True)
for k in range(3):
    (x * w * (k + 1)).sum().backward()
(x + w).sum().backward()
"""


def test_which_call_and_which_part_of_it(script, capsys):
    path = script(CALLS)
    assert main(["explain", path]) == 0
    assert "this is 4 of 4" in " ".join(capsys.readouterr().out.split())
    assert main(["explain", "--call", "2", path]) == 0
    assert "this is 2 of 4" in " ".join(capsys.readouterr().out.split())
    assert main(["explain", "--call", "all", path]) == 0
    assert capsys.readouterr().out.count("calls       ") == 4
    assert main(["explain", "--at", "train.py:5", path]) == 0
    assert "this is 3 of 3" in " ".join(capsys.readouterr().out.split())
    assert main(["explain", "--call", "5", path]) == 2
    assert "there is no call 5: --call takes 1 to 4, 'last' or 'all'" in capsys.readouterr().err
    assert main(["explain", "--inputs", "w", path]) == 0
    out = capsys.readouterr().out
    assert "w.grad" in out
    assert "x.grad" not in out
    assert main(["explain", "--inputs", "w", "--json", path]) == 0
    document = json.loads(capsys.readouterr().out)
    for call in document["calls"]:
        assert [call["tensors"][leaf["tensor"]]["name"] for leaf in call["leaves"]] == ["w"]


def test_redacted(script, tmp_path):
    name = tmp_path / "out.json"
    assert main(["explain", "--redact", "-o", str(name), script(GOOD), "7"]) == 0
    document = json.loads(name.read_text(encoding="utf-8"))
    assert document["limits"]["redacted"]
    assert all("data" not in step["v"][0] for step in document["calls"][0]["steps"] if step["v"])
    assert document["sources"][0]["lines"] == []


TORCH = """import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(2, 1)
F.mse_loss(model(torch.ones(3, 2, dtype=torch.float32)), torch.zeros(3, 1)).backward()
"""


def test_a_script_that_imports_torch(script, capsys):
    from importlib.util import find_spec

    path = script(TORCH)
    given = [] if find_spec("torch") is None else ["--torch"]
    assert main(["explain", "--no-timing", "--width", "400", *given, path, "7", "a b"]) == 0
    out = capsys.readouterr().out
    assert "model.weight.grad" in out
    again = f"pullback explain -o step.html {shlex.join([*given, path, '7', 'a b'])}"
    assert again in re.sub(r"\s+", " ", out)
    assert "torch" not in sys.modules
    assert str(pullback.float32) == "pullback.float32"
    assert main(["explain", "--torch", script(TORCH + "raise ValueError")]) == 1
    assert "the program raised ValueError; this is the tape up to there" in capsys.readouterr().err


def test_nothing_refers_to_an_interactive_session(script, capsys):
    assert main(["explain", script(FAILS)]) == 1
    assert main(["explain", script("raise ValueError('early')")]) == 1
    assert main(["explain", script(CALLS)]) == 0
    assert main(["explain", "-c", "pass"]) == 3
    told = "".join(capsys.readouterr())
    assert "ex." not in told
    assert "last_error" not in told
    assert "one step: --step 4" in " ".join(told.split())


def test_without_graphviz_the_other_files_are_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    files = [tmp_path / f"step.{suffix}" for suffix in ("svg", "mmd", "dot")]
    code = "import pullback as pb; x = pb.ones(2, requires_grad=True); (x * x).sum().backward()"
    assert main(["explain", *(part for file in files for part in ("-o", str(file))), "-c", code]) == 2
    assert [file.exists() for file in files] == [False, True, True]
    assert "step.svg was not written: a picture is drawn by Graphviz" in capsys.readouterr().err


LSTM = """
import pullback as pb
lstm = pb.nn.LSTM(2, 3)
out, _ = lstm(pb.ones(4, 1, 2))
out.sum().backward()
with pb.enable_grad():
    accuracy = lstm(pb.ones(4, 1, 2))[0].mean()
"""


def test_an_output_that_is_not_used_is_no_call(capsys):
    assert main(["explain", "--no-timing", "-c", LSTM]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("<string>:5  out.sum().backward()\n")
    assert "before a backward call" not in shown
    assert main(["explain", "--health", "--fail-on", "nan", "-c", LSTM]) == 0
    assert capsys.readouterr().out == "nothing wrong with the numbers\n"


def test_what_one_expression_calls_several_times_has_one_name(tmp_path, capsys):
    file = tmp_path / "sums.py"
    file.write_text(
        "import pullback as pb\n"
        "x = [pb.tensor(float(i), requires_grad=True) for i in range(3)]\n"
        "y = sum(x)\n"
        "for _ in range(2):\n"
        "    y = y * x[1]\n"
        "y.backward()\n"
    )
    assert main(["explain", "--no-timing", str(file)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("  y = sum(x)  ") == 1  # one line, though not one operation
    assert [text for text in ("round 1 of 2", "round 2 of 2", "round 3") if text in shown] == [
        "round 1 of 2",
        "round 2 of 2",
    ]
    assert main(["explain", "--no-timing", "--operations", str(file)]) == 0
    shown = capsys.readouterr().out.partition("\nbackward ")[0]
    assert re.findall(r"(?:add|mul) (\S[^.]*?) {2}", shown) == [
        "in sum(x), 1 of 2",
        "in sum(x), 2 of 2",
        "y, 1 of 3 = sum(x)",
        "y, 2 of 3 = y * x[1]",
        "y = y * x[1]",
    ]


def test_one_name_of_each_operation(capsys):
    code = "import pullback as pb; x = pb.ones(2, requires_grad=True); F = pb.nn.functional; F.logsigmoid(x.deg2rad().rad2deg()).sum().backward()"
    assert main(["explain", "--no-timing", "-c", code]) == 0
    shown = capsys.readouterr().out
    assert not [word for word in ("deg2_rad", "rad2_deg", "log_sigmoid") if word in shown]
    assert all(word in shown for word in ("deg2rad", "rad2deg", "logsigmoid"))


@pytest.mark.skipif(os.name != "posix", reason="a pipe whose reader has gone")
@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_reader_that_has_seen_enough(flags, tmp_path):
    file = tmp_path / "long.py"
    file.write_text(
        "import pullback as pb\nx = y = pb.ones(2, requires_grad=True)\n"
        "for i in range(3000):\n    y = y * x\ny.sum().backward()\n"
    )
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as out:
        ran = subprocess.run(
            [sys.executable, "-m", "pullback", "explain", *flags, str(file)],
            stdout=out,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.skipif(os.name != "posix", reason="a pipe whose reader has gone")
@pytest.mark.parametrize("arguments", [["explain", "FILE"], ["explain", "--training", "FILE"], ["--help"]])
def test_a_reader_that_has_seen_enough_of_what_the_program_prints(arguments, tmp_path):
    file = tmp_path / "prints.py"
    file.write_text('for i in range(9000):\n    print("line", i)\n')
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "pullback", *(str(file) if each == "FILE" else each for each in arguments)]
    with os.fdopen(writer, "w") as out:
        ran = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, check=False)
    assert ran.stderr == b""
