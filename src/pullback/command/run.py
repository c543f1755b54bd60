"""`pullback run script.py [arguments]`: run a program that imports torch with pullback instead, without changing it."""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from collections.abc import Sequence

from ..compat.torch import install
from ..distributed.launching import announce, launched, watched

USAGE = """usage: pullback run SCRIPT [ARGUMENT ...]
       pullback run -m MODULE [ARGUMENT ...]
       pullback run --check SCRIPT

Runs a program as `python SCRIPT` or `python -m MODULE` does, with pullback in the place of torch: `import torch` and the
imports of its modules give pullback, in this process and in those that the program starts with multiprocessing.
Its exit code is the program's. `mpiexec -n 4 pullback run SCRIPT` runs it in four processes, for torch.distributed.

With --check nothing runs: the names of torch that the script and the packages it imports use, and that pullback lacks, are
printed, and the exit code is 1 if there are any. What is tried with a way out, or asked for by hasattr, is left out."""


def main(arguments: Sequence[str]) -> int:
    """The exit code of `pullback run` with these arguments; exceptions of the program propagate as in Python.

    >>> from pullback.command.run import main
    >>> main(["--help"])  # doctest: +ELLIPSIS
    usage: pullback run SCRIPT [ARGUMENT ...]
    ...
    0
    """
    given = list(arguments)
    if given and given[0] in {"-h", "--help"}:
        print(USAGE)
        return 0
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
    sys.argv = given
    try:
        _run(given[0], as_module)
    except Exception as error:  # noqa: BLE001  # whatever the program raises is shown as Python shows it
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


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
