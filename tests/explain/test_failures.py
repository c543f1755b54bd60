"""What failed: the module or the operation, the line, and the changes that let the program run; nothing is blamed that did not fail."""

import contextlib
import io
import json
import os
import subprocess
import sys

import pytest

import pullback
from pullback.command import main, trying
from pullback.explain.document import schema
from pullback.explain.edits import changed
from pullback.explain.reading import from_dict, read
from pullback.explain.schemas import problem
from pullback.explain.sources import text_of

from .planted import ERRORS, HEAD, OTHERS


def here(text):
    """What happens when a text is run, in this process."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, "<changed>", "exec"), {"__name__": "__main__"})
    except Exception as error:  # noqa: BLE001  # any that the program raises is the answer
        return f"{type(error).__name__}: {error}"
    return None


def run_here(program, failure, changes):
    """A trial as `trying` makes it, without a process of its own."""
    error = here("\n".join(changed(text_of(program.file).lines, changes)))
    return trying.Outcome("done" if error is None else "raised", error or "", 0)


def explained(tmp_path, text, *options):
    """The exit code, and the failure that the trace has."""
    script, out = tmp_path / "program.py", tmp_path / "out.json"
    script.write_text(text, encoding="utf-8")
    code = main(["explain", "--no-timing", *options, "-o", str(out), str(script)])
    document = json.loads(out.read_text(encoding="utf-8"))
    assert problem(document, schema()) is None
    assert read(out).to_dict() == document
    assert script.read_text(encoding="utf-8") == text
    return code, document


def line_with(text, mark):
    found = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(mark)]
    return found[0] if found else None


@pytest.mark.parametrize("name", ERRORS)
def test_the_error_is_found_and_what_is_shown_helps(name, tmp_path, monkeypatch):
    monkeypatch.setattr(trying, "_run", run_here)
    planted = ERRORS[name]
    text = HEAD + planted.text
    code, document = explained(tmp_path, text)
    error = document["error"]
    assert code == 1
    scope = None if error["scope"] is None else document["scopes"][error["scope"]]["name"]
    assert (scope, error["op"], error["place"]["line"]) == (planted.scope, planted.op, line_with(text, "# FAILS"))
    assert (error["made"] and error["made"]["line"]) == line_with(text, "# MADE")
    assert error["said"] == planted.said or not planted.said
    assert error["tensor"] is None
    assert error["stages"] == [] or error["stages"][-1]["scope"] == error["scope"]
    texts = []
    for fix in from_dict(document).failure.fixes:
        assert fix.tried == trying.TO_THE_END
        texts.append("\n".join(changed(text.splitlines(), fix.changes)))
        assert here(texts[-1]) is None
    assert planted.helps is None or any(planted.helps in each for each in texts), texts


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_is_blamed_that_did_not_fail(name, tmp_path):
    text = HEAD + OTHERS[name].text
    code, document = explained(tmp_path, text)
    error = document["error"]
    assert code == 1
    assert [error[each] for each in ("scope", "op", "clash", "made")] == [None] * 4
    assert error["arguments"] == error["stages"] == error["fixes"] == []
    assert error["place"]["line"] == line_with(text, "# FAILS")
    assert error["said"].startswith(f"Line {error['place']['line']} of the program raised {error['type']}")
    assert error["said"].endswith("No operation of pullback failed.")


# Trials

FAILS = """
x = torch.randn(3, requires_grad=True)
y = x * 2
{before}
y.backward()
{after}
"""


def tried(tmp_path, before="", after="", *options):
    text = HEAD + FAILS.format(before=before, after=after)
    return [fix["tried"] for fix in explained(tmp_path, text, *options)[1]["error"]["fixes"]]


def test_a_change_is_shown_if_the_program_runs_with_it_in_a_process_of_its_own(tmp_path, capsys):
    """The changed line is right, and one of the two changes fails at another line."""
    found = tried(tmp_path, after="assert x.grad.tolist() == [2, 2, 2]\nif y.grad_fn is None: raise ValueError")
    assert found == [trying.TO_THE_END] * 2
    assert "was run again with 2 changes: it runs with 2" in capsys.readouterr().err
    assert tried(tmp_path, after="raise ValueError('with any change')") == []
    assert "it runs with none of them" in capsys.readouterr().err


def test_a_trial_ends_before_it_changes_anything(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "kept.txt"
    kept.write_text("as it was")
    ends = [
        "open('kept.txt', 'w').write('lost')", "import os; os.remove('kept.txt')",
        "import pathlib; pathlib.Path('kept.txt').write_text('lost')", "import os; os.system('rm kept.txt')",
        "import subprocess; subprocess.run(['rm', 'kept.txt'])", "import os; os.open('kept.txt', os.O_WRONLY | os.O_TRUNC)",
        "import numpy as np; np.save('kept.txt.npy', np.ones(2))", "import shutil; shutil.move('kept.txt', 'gone.txt')",
    ]  # fmt: skip
    for end in ends[:: 1 if os.environ.get("PULLBACK_ALL_TRIALS") else 3]:
        found = tried(tmp_path, after=f"try:\n    {end}\nexcept BaseException:\n    pass")
        assert len(found) == 2
        assert all(each.startswith("the program then passes this line, and was stopped before it") for each in found)
        assert kept.read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.txt", "out.json", "program.py"]


def test_what_cannot_be_tried_is_not_called_tried(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    untried = [None, None]
    assert tried(tmp_path, before="open('log.txt', 'a').close()") == untried
    (tmp_path / "log.txt").unlink()
    assert tried(tmp_path, "", "", "--no-try") == untried
    monkeypatch.setattr(trying, "SECONDS", 0)
    assert tried(tmp_path) == untried
    assert "run again" not in capsys.readouterr().err
    assert not (tmp_path / "log.txt").exists()


def test_a_program_that_does_not_end_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(trying, "SECONDS", 4)
    found = tried(tmp_path, after="import time\nwhile True: time.sleep(0.1)")
    assert set(found) <= {"the program then passes this line, and was stopped after 4 s"}


def test_a_module_of_the_program_is_changed_where_it_is_imported(tmp_path):
    (tmp_path / "layers.py").write_text(
        "import pullback as torch\n\ndef head(x):\n    return x.sum(dim=3)\n", encoding="utf-8"
    )
    text = HEAD + "from layers import head\nhead(torch.randn(2, 2, requires_grad=True)).sum().backward()\n"
    _, document = explained(tmp_path, text)
    (fix,) = document["error"]["fixes"]
    place = fix["changes"][0]["place"]
    assert (document["sources"][place["source"]]["file"], place["line"], fix["changes"][0]["text"]) == (
        "layers.py",
        4,
        "-1",
    )
    assert fix["tried"] == trying.TO_THE_END


# Recordings in a program


def failed(program, **options):
    with contextlib.suppress(Exception), pullback.explain.record(**options) as ex:
        program()
    return ex


def in_a_row():
    pullback.nn.Sequential(pullback.nn.Linear(4, 8), pullback.nn.Linear(9, 2))(pullback.ones(3, 4))


def test_a_recording_in_a_program_is_not_run_again_and_shows_no_guesses():
    failure = failed(in_a_row).failure
    assert [fix.tried for fix in failure.fixes] == [None, None]
    assert failure.scope.name == "Sequential.1"
    assert [stage.title for stage in failure.stages] == ["Linear(4, 8)", "Linear(9, 2)"]
    assert [stage.shape for stage in failure.stages] == [(3, 8), None]
    x = pullback.ones(3, 4)
    ex = failed(lambda: pullback.nn.Linear(4, 2)(x.double()))
    assert [fix.guess for fix in ex.failure.fixes] == [True] * len(ex.failure.fixes)
    assert ex.to_dict()["error"]["fixes"] == []


def test_a_redacted_failure_has_shapes_and_no_text():
    error = failed(lambda: pullback.ones(3, requires_grad=True).reshape(4, 2), redact=True).to_dict()["error"]
    assert error["fixes"] == []
    assert [each["text"] for each in error["arguments"]] == [None, None]
    assert error["arguments"][0]["shape"] == [3]


@pytest.mark.parametrize("options", [{}, {"lines": False}])
def test_a_failure_before_anything_was_recorded_has_a_page(options):
    ex = failed(lambda: pullback.ones(3) @ pullback.ones(4), **options)
    assert (ex.failure.op, ex.failure.call) == ("matmul", 0)
    document = ex.to_dict()
    assert problem(document, schema()) is None
    assert from_dict(document).to_dict() == document


def test_a_trace_of_an_older_version_opens():
    document = failed(in_a_row).to_dict()
    older = {"type", "message", "place", "call", "tensor", "overwritten"}
    document["error"] = {name: value for name, value in document["error"].items() if name in older}
    assert problem(document, schema()) is None
    assert from_dict(document).failure.said == ""


def test_names_of_functions_and_messages_of_others_are_no_evidence():
    def linear(input, weight):
        return input @ weight

    ex = failed(lambda: linear(pullback.ones(2, requires_grad=True)))
    assert ex.failure.op is None
    ex = failed(lambda: pullback.nn.functional.linear(pullback.ones(2, requires_grad=True)))
    assert (ex.failure.op, ex.failure.said.endswith("was called without 'weight'.")) == ("linear", True)
    without_text = failed(lambda: (_ for _ in ()).throw(RuntimeError()))
    assert without_text.failure.said.endswith("raised RuntimeError. No operation of pullback failed.")


@pytest.mark.parametrize(
    "value", [pullback.ones(0, 3), pullback.tensor(2.0), pullback.ones(2, 3, dtype=pullback.complex64)]
)
def test_odd_operands(value):
    ex = failed(lambda: value.requires_grad_() @ pullback.ones(5, 2, dtype=value.dtype))
    assert ex.failure.op == "matmul"
    assert ex.failure.arguments[0].shape == tuple(value.shape)
    assert ex.failure.said


def trial_of(tmp_path, text, line, **modules):
    """How a program ends in the process of a trial, and how often the statement on a line was passed."""
    script = tmp_path / "tried.py"
    for name, module in modules.items():
        (tmp_path / f"{name}.py").write_text(module, encoding="utf-8")
    script.write_text("", encoding="utf-8")
    plan = {
        "argv": [str(script)], "folder": str(tmp_path), "torch": False, "texts": {str(script): text},
        "file": str(script), "line": line, "seconds": 60,
    }  # fmt: skip
    command = [sys.executable, "-m", "pullback.command.trial"]
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command, input=json.dumps(plan), capture_output=True, text=True, check=True, timeout=120, env=usual
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_a_trial_counts_how_often_a_statement_is_passed(tmp_path):
    program = "a = 1\nb = [][{0}:]; b += [1]\nc = b[{1}]\nd = 2\nraise KeyError(d)\n"
    assert trial_of(tmp_path, program.format(0, 0), 4) == {"ended": "raised", "detail": "KeyError: 2", "passed": 1}
    assert trial_of(tmp_path, program.format(0, 9), 3)["passed"] == 0
    assert trial_of(tmp_path, program.format(0, 9), 1)["passed"] == 1
    assert trial_of(tmp_path, "for i in range(3):\n    a = i\n    b = a\n", 3)["passed"] == 3


def test_a_trial_imports_modules_with_the_text_that_they_have(tmp_path):
    program = "try:\n    import nowhere_to_be_found\nexcept ModuleNotFoundError:\n    pass\nimport beside\nassert beside.number == 3\n"
    assert trial_of(tmp_path, program, 6, beside="number = 3\n") == {"ended": "done", "detail": "", "passed": 1}
