"""Python displays a user's mistake as the user's own frames, one line of ours, and the message."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import pullback

ADDITION = """
    import pullback as pb
    a = pb.ones(3, requires_grad=True)
    def add(b):
        return a + b
    add(pb.ones(4))
"""


def displayed(tmp_path, program, *arguments, **environment):
    """The lines that a program writes to stderr before it ends; its frames are of `program.py`."""
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(program).lstrip())
    ran = subprocess.run(
        [sys.executable, *arguments, str(file)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **environment},
    )
    return ran.stderr.replace(str(file), "program.py").splitlines()


def frames(lines):
    return [line.strip() for line in lines if line.startswith("  File ")]


def test_a_mistake_shows_the_users_frames_one_line_of_ours_and_the_message(tmp_path):
    lines = displayed(tmp_path, ADDITION)
    assert lines[0] == "Traceback (most recent call last):"
    assert frames(lines)[:2] == ['File "program.py", line 5, in <module>', 'File "program.py", line 4, in add']
    (ours,) = frames(lines)[2:]
    assert ours.startswith('File "<pullback/')
    assert lines[lines.index(f"  {ours}") + 1].startswith("RuntimeError: ")  # no source of ours
    path, number = re.fullmatch(r'File "<pullback/(.*)>", line (\d+), in \w+', ours).groups()
    source = Path(pullback.__file__).parent.joinpath(path).read_text(encoding="utf-8").splitlines()
    assert "raise" in source[int(number) - 1]
    assert len(lines) <= 12
    assert not [line for line in lines if "exception" in line or "<pullback rule" in line]


def test_all_frames_are_kept_on_request(tmp_path):
    lines = displayed(tmp_path, ADDITION, PULLBACK_TRACEBACK="full")
    assert frames(lines)[:2] == ['File "program.py", line 5, in <module>', 'File "program.py", line 4, in add']
    assert len(frames(lines)) > 3
    assert not [line for line in frames(lines) if "<pullback/" in line]


def test_a_program_may_ask_while_it_runs(tmp_path):
    lines = displayed(tmp_path, "import os\nos.environ['PULLBACK_TRACEBACK'] = 'full'" + textwrap.dedent(ADDITION))
    assert len(frames(lines)) > 3


@pytest.mark.parametrize("full", ["", "full"])
def test_exceptions_that_have_not_passed_through_pullback_are_left_alone(tmp_path, full):
    program = """
        import pullback, json
        try:
            json.loads("{")
        except ValueError:
            {}["a"]
    """
    lines = displayed(tmp_path, program, PULLBACK_TRACEBACK=full)
    assert len([line for line in frames(lines) if "json" in line]) == 3
    assert "During handling of the above exception, another exception occurred:" in lines


def test_frames_of_callbacks_are_shown(tmp_path):
    program = """
        import pullback as pb
        def hook(gradient):
            return scaled(gradient)
        def scaled(gradient):
            return gradient.no_such_name
        x = pb.ones(3, requires_grad=True)
        x.register_hook(hook)
        (x * 2).sum().backward()
    """
    lines = displayed(tmp_path, program)
    assert [line.rpartition(" ")[2] for line in frames(lines)] == ["<module>", "hook", "scaled"]


def test_what_a_program_raises_from_is_shown_and_shortened_too(tmp_path):
    program = """
        import pullback as pb
        try:
            pb.ones(3) @ pb.ones(4)
        except RuntimeError as error:
            raise ValueError("my own") from error
    """
    lines = displayed(tmp_path, program)
    assert "The above exception was the direct cause of the following exception:" in lines
    assert [line for line in frames(lines) if "program.py" not in line] == frames(lines)[1:2]
    assert lines[-1] == "ValueError: my own"
    assert len(frames(lines)) == 3


def test_a_fault_of_ours_keeps_all_frames(tmp_path):
    program = """
        import pullback as pb
        from pullback._core import shapes
        del shapes.describe
        pb.ones(3) + pb.ones(4)
    """
    lines = displayed(tmp_path, program)
    assert len(frames(lines)) > 3
    assert lines[-1].startswith("NameError: ")


def test_threads_show_the_same(tmp_path):
    program = """
        import threading
        import pullback as pb
        def work():
            pb.ones(3) + pb.ones(4)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    """
    lines = displayed(tmp_path, program)
    assert lines[0].startswith("Exception in thread")
    assert [line.rpartition(" ")[2] for line in frames(lines)][:1] == ["work"]
    assert len(frames(lines)) == 2


def test_hooks_that_were_there_are_called(tmp_path):
    program = """
        import sys, traceback
        def mine(kind, error, trace):
            print(kind.__name__, len(traceback.extract_tb(trace)), len(traceback.extract_tb(error.__traceback__)), file=sys.stderr)
        sys.excepthook = mine
        import pullback as pb
        pb.ones(3) + pb.ones(4)
    """
    assert displayed(tmp_path, program) == ["RuntimeError 2 2"]


def test_the_exception_itself_keeps_its_frames():
    import pullback as pb

    with pytest.raises(RuntimeError) as caught:
        pb.ones(3) + pb.ones(4)
    before = caught.value.__traceback__
    count = len(caught.traceback)
    hook = sys.excepthook
    hook(type(caught.value), caught.value, before)
    assert caught.value.__traceback__ is before
    assert len(caught.traceback) == count > 2


def test_notebooks_show_no_frame_of_ours(tmp_path):
    pytest.importorskip("IPython")
    program = """
        from IPython.core.interactiveshell import InteractiveShell
        import sys
        shell = InteractiveShell.instance()
        shell.run_cell("import pullback as pb")
        for cell in ("pb.ones(3) + pb.ones(4)", "1 / 0"):
            shell.run_cell(cell)
    """
    lines = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout
    assert "pullback/" not in lines
    assert lines.count("Traceback (most recent call last)") == 2
    assert len(lines.splitlines()) <= 24
