"""What failed: the module or the operation, the line, and the changes that let the program run; nothing is blamed that did not fail."""

import contextlib
import io
import json

import pytest

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
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def run_here(program, failure, changes, told):
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
