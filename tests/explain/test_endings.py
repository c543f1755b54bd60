"""How a program may end, and what may have happened to its streams: each is told shortly, and as what it was."""

import re
import subprocess
import sys
from multiprocessing.pool import RemoteTraceback

import pytest
from tests.prepared import command

import pullback

START = "import sys\nimport pullback as pb\nx = pb.ones(2, 3, requires_grad=True)\n"
BAD = "class Bad({}):\n    def __str__(self):\n        raise ValueError('no text')\n    __repr__ = __str__\n"
TRY = "try:\n    x @ pb.ones(2, 3)\nexcept RuntimeError as error:\n    "
MEET = "x @ pb.ones(2, 3) multiplies 2×3 by 2×3: 3 columns meet 2 rows."
ENDINGS = {
    "a cause": (f"{TRY}raise ValueError('the model does not fit') from error", [MEET, "of it ValueError was made at"]),
    "a cause of a cause": (
        f"{TRY}middle = KeyError('a'); middle.__cause__ = error; raise ValueError('b') from middle",
        [MEET, "of it ValueError was made at"],
    ),
    "a context": (f"{TRY}{{}}['missing']", ["KeyError: 'missing'", "there is no tape"]),
    "a group": (f"{TRY}raise ExceptionGroup('two', [KeyError('a'), error])", [MEET, "of it ExceptionGroup was made"]),
    "no text": (f"{BAD.format('Exception')}y = x * 2\nraise Bad(1)", ["raised Bad", "its text is not known"]),
    "no text of a TypeError": (f"{BAD.format('TypeError')}y = x * 2\nraise Bad()", ["raised Bad", "its text is not"]),
    "a cause without a text": (f"{BAD.format('Exception')}{TRY}raise Bad(1) from error", [MEET, "of it Bad was made"]),
    "an argument without a text": (f"{BAD.format('object')}pb.matmul(x, Bad())", ["must be Tensor, not Bad"]),
    "interrupted": ("(x * 2).sum().backward()\nraise KeyboardInterrupt", ["into x.grad", "raised KeyboardInterrupt"]),
    "recursion": ("def f(n):\n    return f(n + 1)\nf(0)", ["RecursionError", "there is no tape"]),
    "a syntax error": ("y = (x * 2\n", ["line 4", "'(' was never closed", "    ^", "there is no tape"]),
    "indented": ("  y = x\n", ["line 4", "unexpected indent", "there is no tape"]),
    "no standard output": ("sys.stdout = None\n(x * 2).sum().backward()", ["put [2 2 2; 2 2 2] into x.grad"]),
    "it is closed": ("sys.stdout.close()\n(x * 2).sum().backward()", ["put [2 2 2; 2 2 2] into x.grad"]),
    "it is a buffer": (
        "import io; sys.stdout = io.StringIO(); print('hidden')\n(x * 2).sum().backward()",
        ["put [2 2 2; 2 2 2] into x.grad"],
    ),
    "no standard error": ("sys.stderr = None\n(x * 2).backward()", ["needs a gradient", "raised RuntimeError"]),
    "a closed standard error": ("sys.stderr.close()\n(x * 2).backward()", ["needs a gradient"]),
    "both are closed": ("sys.stdout.close(); sys.stderr.close()\n(x * 2).sum().backward()", []),
    "in a thread": (
        "import threading\nt = threading.Thread(target=lambda: x @ pb.ones(2, 3)); t.start(); t.join()\nx.sum().backward()",
        ["Exception in thread", "put [1 1 1; 1 1 1] into x.grad"],
    ),
}
"""What a program does, and what is told of it."""


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_ending_is_told_as_what_it_was(ending, tmp_path):
    text, told = ENDINGS[ending]
    file = tmp_path / "program.py"
    file.write_text(f"{START}{text}\n", encoding="utf-8")
    ran = command("explain", "--no-try", str(file))
    out, err = ran.stdout, ran.stderr
    joined = " ".join(f"{out}\n{err}".split())
    assert [each for each in told if " ".join(each.split()) not in joined] == []
    assert "hidden" not in out
    assert "pullback/explain/" not in joined
    assert "Internal" not in joined
    if "there is no tape" in told:
        assert out == ""
        assert len(err.splitlines()) <= 24


POOL = """
import sys
import traceback
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
import pullback as pb


def work(n):
    return pb.ones(2, n) @ pb.ones(2, 3)


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    if sys.argv[1] == "pool":
        with context.Pool(1) as pool:
            pool.map(work, [3])
    else:
        with ProcessPoolExecutor(1, context) as pool:
            list(pool.map(work, [3]))
"""


@pytest.mark.skipif(sys.platform == "emscripten", reason="no processes")
@pytest.mark.parametrize("kind", ["pool", "executor"])
def test_an_error_in_another_process_is_displayed_without_the_frames_of_libraries(kind, tmp_path):
    file = tmp_path / "pool.py"
    file.write_text(POOL)
    ran = subprocess.run([sys.executable, str(file), kind], capture_output=True, text=True, check=False)
    frames = re.findall(r'File "([^"]+)"', ran.stderr)
    assert ran.returncode == 1
    assert set(frames) == {str(file)}
    assert "line 10, in work" in ran.stderr
    assert "mat1 and mat2 shapes cannot be multiplied" in ran.stderr
    assert len([line for line in ran.stderr.splitlines() if line.strip()]) <= 14


def test_a_group_is_displayed_without_the_frames_of_libraries(tmp_path):
    file = tmp_path / "group.py"
    file.write_text(f"{START}{TRY}raise ExceptionGroup('two', [error, error])\n")
    ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    assert "mat1 and mat2 shapes cannot be multiplied" in ran.stderr
    assert {name for name in re.findall(r'File "([^"]+)"', ran.stderr) if not name.startswith("<")} == {str(file)}


def test_what_was_shortened_for_display_is_whole_again(capsys):
    own = 'Traceback:\n  File "a.py", line 2, in h\n    f()\nValueError: no\n'
    text = own.replace("  File", f'  File "{pullback.__file__}", line 1, in f\n    return g()\n           ^^^\n  File')
    error = ValueError("no")
    error.__cause__ = cause = RemoteTraceback(text)
    sys.excepthook(ValueError, error, None)
    assert own in capsys.readouterr().err
    assert cause.tb == text
