"""`pullback export script.py:step -o folder`: run a script, and write compiled functions of it as C."""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..compat.torch import install
from ..compile.compiled import Compiled
from ..compile.export import ExportError
from ..compile.export.exporting import exported
from ..compile.export.unit import Options

Calls = dict[int, tuple[Compiled, tuple[Any, ...], dict[str, Any]]]
"""Each compiled function that was called, with the arguments of its last call."""


@contextlib.contextmanager
def noted(calls: Calls) -> Iterator[None]:
    """A block in which calls of compiled functions are noted."""
    call: Callable[..., Any] = Compiled.__call__

    @functools.wraps(call)
    def noting(self: Compiled, *args: Any, **kwargs: Any) -> Any:
        calls[id(self)] = self, args, kwargs
        return call(self, *args, **kwargs)

    type.__setattr__(Compiled, "__call__", noting)
    try:
        yield
    finally:
        type.__setattr__(Compiled, "__call__", call)


def main(arguments: Sequence[str]) -> int:
    """The exit code of `pullback export` with these arguments.

    >>> from pullback.command.export import main
    >>> main(["--help"])  # doctest: +ELLIPSIS
    usage: pullback export ...
    0
    """
    parser = _parser()
    try:
        given = parser.parse_args([*arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    script, _, asked = given.script.rpartition(":")
    names = asked.split(",")
    if not script or not all(map(str.isidentifier, names)):
        print(f"pullback export: name the function as well: {given.script}:step", file=sys.stderr)
        return 2
    if not os.path.isfile(script):
        print(f"pullback export: can't open file {script!r}: no such file", file=sys.stderr)
        return 2
    made: Calls = {}
    variables = _run(script, given.arguments, made)
    calls = {}
    for name in names:
        found = variables.get(name)
        compiled = getattr(found, "__dict__", {}).get("_compiled", found)
        if not isinstance(compiled, Compiled) or id(compiled) not in made:
            what = "is not compiled: write @pullback.compile above it" if found is not None else "is not there"
            told = "is never called" if isinstance(compiled, Compiled) else what
            print(f"pullback export: {name} {told}", file=sys.stderr)
            return 1
        calls[name] = made[id(compiled)]
    title = given.name or (names[0] if len(names) == 1 else None)
    options = Options(title, given.math, given.fma, given.products, given.work, given.parameters, given.abi)
    try:
        folder = exported(given.output or title or os.path.splitext(os.path.basename(script))[0], calls, options)
    except ExportError as error:
        print(f"pullback export: {error}", file=sys.stderr)
        return 1
    print(f"{folder}: {', '.join(sorted(file.name for file in folder.iterdir()))}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pullback export",
        description="Runs a script, with pullback in the place of torch, and writes compiled functions of it as one C file, for "
        "arguments like those of their last calls, with their state as it is at the end.",
    )
    parser.add_argument("script", metavar="SCRIPT:FUNCTION,...")
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="arguments of the script")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="the folder (default: the function's name)")
    parser.add_argument("--name", help="of the files (default: the function's, or that of the folder)")
    parser.add_argument("--math", choices=("own", "libm"), default="own", help="whose exp, sin and the like")
    parser.add_argument("--fma", action="store_true", help="fused multiply-adds")
    parser.add_argument(
        "--products", choices=("loops", "cblas"), default="loops", help="how larger matrices are multiplied"
    )
    parser.add_argument("--work", choices=("argument", "static"), default="argument", help="whose the work memory is")
    parser.add_argument(
        "--parameters",
        choices=("passed", "embedded"),
        default="passed",
        help="whether what is only read is in the file",
    )
    parser.add_argument("--abi", choices=("plain", "casadi"), default="plain", help="who calls the functions")
    return parser


def _run(script: str, arguments: Sequence[str], calls: Calls) -> dict[str, Any]:
    """Run a script, and note the arguments of each compiled function's last call; the script's variables."""
    install()
    before, sys.argv = sys.argv, [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
    try:
        with noted(calls):
            return runpy.run_path(script, run_name="__main__")
    finally:
        sys.argv = before
        del sys.path[0]
