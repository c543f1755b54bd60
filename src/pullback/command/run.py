"""`pullback run script.py [arguments]`: run a program that imports torch with pullback instead, without changing it."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import sys
from collections.abc import Sequence

from ..compat.torch import install
from ..distributed.launching import announce, launched, watched

IMPORTS_AUTOGRAD = re.compile(rb"^\s*(?:import|from)\s+autograd\b", re.MULTILINE)

USAGE = """usage: pullback run [--autograd] SCRIPT [ARGUMENT ...]
       pullback run [--autograd] -m MODULE [ARGUMENT ...]
       pullback run --check SCRIPT

Runs a program as `python SCRIPT` or `python -m MODULE` does, with pullback in the place of torch: `import torch` and the
imports of its modules give pullback, in this process and in those that the program starts with multiprocessing.
Its exit code is the program's. `mpiexec -n 4 pullback run SCRIPT` runs it in four processes, for torch.distributed.

With --autograd, `import autograd` gives pullback's stand-in for HIPS autograd as well; so it does, and that is said, for a script
that imports autograd where that is not installed.

With --check nothing runs: the names of torch that the script and the packages it imports use, and that pullback lacks, are
printed, and the exit code is 1 if there are any. What is tried with a way out, or asked for by hasattr, is left out."""


def main(arguments: Sequence[str]) -> int:
    """The exit code of `pullback run` with these arguments; exceptions of the program propagate as in Python.

    >>> from pullback.command.run import main
    >>> main(["--help"])  # doctest: +ELLIPSIS
    usage: pullback run [--autograd] SCRIPT [ARGUMENT ...]
    ...
    0
    """
    given = list(arguments)
    if given and given[0] in {"-h", "--help"}:
        print(USAGE)
        return 0
    stand_in = given[:1] == ["--autograd"]
    given = given[stand_in:]
    as_module, only_names = given[:1] == ["-m"], given[:1] == ["--check"]
    given = given[as_module or only_names :]
    if not given or (given[0].startswith("-") and not os.path.exists(given[0])):
        print(USAGE, file=sys.stderr)
        return 2
    if not as_module and not os.path.exists(given[0]):
        print(f"pullback run: can't open file {given[0]!r}: no such file", file=sys.stderr)
        return 2
    if only_names:
        missing: int = importlib.import_module("pullback.command.names").check(given[0])
        return missing
    launch = launched()
    if launch is not None:
        announce(launch)
        code = watched(launch)
        if code is not None:
            return code
    install()
    if stand_in or (not as_module and _lacks_autograd(given[0])):
        importlib.import_module("pullback.compat.autograd").install()
    sys.argv = given
    try:
        _run(given[0], as_module)
    except Exception as error:  # noqa: BLE001  # whatever the program raises is shown as Python shows it
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def _lacks_autograd(script: str) -> bool:
    """Whether a script imports HIPS autograd, which is not installed; then it is said that pullback takes its place."""
    beside = os.path.join(os.path.dirname(os.path.realpath(script)), "autograd")
    own = os.path.isdir(beside) or os.path.isfile(f"{beside}.py")
    if own or importlib.util.find_spec("autograd") is not None or not os.path.isfile(script):
        return False
    with open(script, "rb") as file:
        found = IMPORTS_AUTOGRAD.search(file.read()) is not None
    if found:
        print("pullback run: autograd is not installed: `import autograd` gives pullback's", file=sys.stderr)
    return found


def _run(program: str, as_module: bool) -> None:
    """Run a script or a module as `__main__`; `sys.path` starts as it does in Python."""
    if as_module:
        if not sys.flags.safe_path:
            sys.path[0] = os.getcwd()
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    if os.path.isfile(program) and not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(program))
    runpy.run_path(program, run_name="__main__")
