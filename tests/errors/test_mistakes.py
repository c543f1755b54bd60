"""A user's mistake is displayed in a few lines, of which the first of the message says what is wrong, and one the way on."""

import contextlib
import io
import sys
import textwrap
import warnings

import numpy as np
import pytest

import pullback as pb
from pullback import nn
from pullback.nn import functional as F  # noqa: N812

from .mistakes import MISTAKES

LONGEST = 12
"""The lines that are displayed, where the program has two frames."""


def displayed(program, file):
    """What Python displays where a function of the program makes the mistake."""
    text = f"def main():\n{textwrap.indent(program, '    ')}\nmain()\n"
    file.write_text(text)
    shown = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stderr(shown):
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, str(file), "exec"), {"pb": pb, "nn": nn, "F": F, "np": np})
        except Exception as error:  # noqa: BLE001
            error.__traceback__ = error.__traceback__.tb_next  # without this file
            sys.excepthook(type(error), error, error.__traceback__)
    return shown.getvalue()


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_displayed_in_a_few_lines(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PULLBACK_TRACEBACK", raising=False)
    if "scipy" in MISTAKES[name].program:
        pytest.importorskip("scipy")
    program, first, fix = MISTAKES[name]
    text = displayed(program, tmp_path / "mistake.py")
    lines = [line for line in text.splitlines() if line != "    ~~~~^^"]  # Python 3.13, below the test's `main()`
    assert len(lines) <= LONGEST, text
    start = next(i for i, line in enumerate(lines) if line.rpartition(".")[2].startswith(first) or first in line)
    assert lines[0] == "Traceback (most recent call last):"
    assert not [line for line in lines if line.startswith(("During handling", "The above exception"))]
    assert "    main()" in lines  # the source of the program's frames is shown
    frames = [line for line in lines[:start] if line.startswith("  File ")]
    ours = [line for line in frames if "mistake.py" not in line]
    assert ours in ([], frames[-1:]), text  # one line of ours at most, the last
    assert not ours or lines[start - 1] == ours[0], text  # and without source
    assert fix in "\n".join(lines[start:]), text


def test_there_are_a_hundred():
    assert len(MISTAKES) >= 100
