"""Programs after `install()`, and commands: where there are forks, in copies of one process that has done the imports."""

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pullback

SOURCE = Path(pullback.__file__).parents[1]  # that under test, which scripts/mutants changes
LIMIT = 120  # seconds
INSTALLED = """
import sys, warnings
import pullback
from pullback.compat.torch import install, uninstall

def raises(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), str(error)
    else:
        raise AssertionError(f"nothing was raised: {words}")

def warned(words, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    assert len(caught) == 1 and words in str(caught[0].message), [str(each.message) for each in caught]
    return found

install()
import torch
"""
COMMAND = """
import runpy, sys, warnings
import pullback.command.explain, pullback.command.names, pullback.explain
"""
COPIED = """
import json, os, signal
for _line in sys.stdin:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads that a copy does not have: NumPy's BLAS starts its own
        _copy = os.fork()
    if not _copy:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(_copy, 0)[1]), flush=True)
else:
    sys.exit()
_text, _folder, _limit, _place = json.loads(_line)
os.chdir(_place)
signal.alarm(_limit)
for _number, _name in enumerate(("in", "out", "err")):
    os.dup2(os.open(os.path.join(_folder, _name), os.O_RDWR | os.O_CREAT), _number)
exec(compile(_text, "<string>", "exec"))
"""
COUNTED = "RUNNING_TEST" in os.environ  # scripts/coverage asks which test reaches a line: each process has one


def python(*arguments, cwd=None, status=0):
    """What a Python process prints; it must end with this exit code."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-W", "error", *map(str, arguments)]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=cwd, env=environment, timeout=LIMIT
    )
    assert result.returncode == status, result.stdout + result.stderr
    return result


@functools.cache
def _prepared(start, *flags):
    command = [sys.executable, *flags, "-c", start + COPIED]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)  # it ends with its input
    return process


def _copy(process, text, cwd=None, given=""):
    """What a copy of a prepared process does that executes a text: as `subprocess.run` gives it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in").write_text(given, encoding="utf-8")
        print(json.dumps([text, folder, LIMIT, str(cwd or os.getcwd())]), file=process.stdin, flush=True)
        status = int(process.stdout.readline())
        printed, told = ((Path(folder) / name).read_text(encoding="utf-8") for name in ("out", "err"))
    return subprocess.CompletedProcess(text, status, printed, told)


def after(start, text, *flags, given=""):
    """What a program prints that begins in the same way as others, reads what is given, and is to end well."""
    if COUNTED or not hasattr(os, "fork"):
        whole = [sys.executable, *flags, "-c", f"import sys, warnings\n{start}{text}"]
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        done = subprocess.run(
            whole, input=given, capture_output=True, text=True, check=False, env=environment, timeout=LIMIT
        )
    else:
        done = _copy(_prepared(f"import sys, warnings\n{start}", *flags), text, given=given)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def installed(text):
    """What statements print after `install()`, with `raises` and `warned` at hand."""
    return after(INSTALLED, textwrap.dedent(text), "-W", "error")


def command(*arguments, cwd=None, flags=()):
    """What `python -m pullback` does with arguments, and with `flags` of Python's before: as `subprocess.run` gives it."""
    if COUNTED or not hasattr(os, "fork"):
        whole = [sys.executable, *flags, "-m", "pullback", *arguments]
        return subprocess.run(whole, capture_output=True, text=True, check=False, cwd=cwd, timeout=LIMIT)
    text = (
        f"sys.argv[1:], sys.path[0] = {arguments!r}, os.getcwd()\nrunpy.run_module('pullback', None, '__main__', True)"
    )
    return _copy(_prepared(COMMAND, *flags), text, cwd)
