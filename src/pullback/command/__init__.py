"""The command line: `pullback explain script.py`, `pullback run script.py`,
`pullback export script.py:step`; `python -m pullback` is the same.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from .pipes import reader_gone

SUBCOMMANDS = {
    "explain": ("pullback.command.explain", "show what the backward calls of a script computed"),
    "export": ("pullback.command.export", "write a compiled function of a script as C"),
    "run": ("pullback.command.run", "run a program written for torch"),
}
"""The module of each subcommand, which has `main(arguments) -> exit code` and is imported on use."""

RAISED, USAGE = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of one command line, the program's own by default.

    >>> from pullback.command import main
    >>> main(["--version"])
    pullback 0.1.0
    0
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(given)
    except BrokenPipeError:  # of the standard output: another one is the program's own exception, and told
        code = RAISED
    reader_gone(sys.stdout)
    return code


def _run(given: list[str]) -> int:
    """Run a command line; returns its exit code."""
    name = given[0] if given else "--help"
    if name in {"-h", "--help"}:
        print(_help())
        return 0 if given else USAGE
    if name in {"-V", "--version"}:
        print(f"pullback {importlib.import_module('pullback').__version__}")
        return 0
    if name not in SUBCOMMANDS:
        print(f"pullback: there is no command {name!r}\n\n{_help()}", file=sys.stderr)
        return USAGE
    code: int = importlib.import_module(SUBCOMMANDS[name][0]).main(given[1:])
    return code


def _help() -> str:
    width = max(map(len, SUBCOMMANDS))
    lines = [f"  pullback {name:{width}}  {about}" for name, (_, about) in SUBCOMMANDS.items()]
    return "\n".join(["usage: pullback COMMAND ...", "", *lines, "", "pullback COMMAND --help says more."])
