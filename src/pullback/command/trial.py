"""The process in which a program is tried with a changed text: it may read and compute, and do nothing to the world.

Run as `python -m pullback.command.trial` with a plan as JSON on the standard input; it writes a line of JSON about how the
program ended. Where the program would write a file, start a process, or reach the network, this process ends before.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib.machinery
import json
import os
import sys
import types
from collections.abc import Sequence
from typing import Any, NoReturn

from ..compat.torch import available
from ..explain.edits import innermost
from .measuring import Measured

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
REFUSED = {
    "ftplib.connect", "http.client.connect", "os.chflags", "os.chmod", "os.chown", "os.exec", "os.fork", "os.forkpty", "os.kill",
    "os.killpg", "os.link", "os.lockf", "os.mkdir", "os.posix_spawn", "os.remove", "os.removexattr", "os.rename", "os.rmdir",
    "os.setxattr", "os.spawn", "os.startfile", "os.symlink", "os.system", "os.truncate", "os.utime", "poplib.connect", "pty.spawn",
    "smtplib.connect", "socket.bind", "socket.connect", "socket.sendmsg", "socket.sendto", "sqlite3.connect", "subprocess.Popen",
    "urllib.Request", "webbrowser.open", "winreg.CreateKey", "winreg.DeleteKey", "winreg.SetValue",
}  # fmt: skip
"""The events of Python's audit at which a trial ends."""
PASSED = "_pullback_passed_"


class Trial:
    """One run of a program, and how often the statement that failed before has been passed."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.passed = 0
        self.answer = os.dup(1)
        self.quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(self.quiet, stream)

    def end(self, how: str, detail: str = "") -> NoReturn:
        """Tell how the program ended, and end with it, whatever it would do about that."""
        told = {"ended": how, "detail": detail, "passed": self.passed}
        with contextlib.suppress(OSError):
            os.write(self.answer, json.dumps(told).encode() + b"\n")
        os._exit(0)

    def audit(self, event: str, args: Sequence[Any]) -> None:
        """End before something is done that would outlast this process."""
        if event == "open":
            path, mode, flags = args
            written = isinstance(mode, str) and not {*mode}.isdisjoint("wax+")
            if (written or (isinstance(flags, int) and flags & WRITING)) and path != os.devnull:
                self.end("refused", "writes a file")
        elif event in REFUSED:
            self.end("refused", "changes something outside of itself")

    def count(self, value: Any = None) -> Any:
        """Called by the program when it has passed the statement; gives what it was given."""
        self.passed += 1
        if self.passed <= self.plan["told"]:
            os.write(self.answer, b"\n")  # each line is a pass, for the case that time runs out
        return value

    def compiled(self, text: str, file: str) -> types.CodeType:
        """The code of a file, in which the statement that failed tells that it was passed."""
        tree = ast.parse(text, file)
        if file == self.plan["file"]:
            _mark(tree, self.plan["line"])
        return compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)

    def run(self) -> NoReturn:
        """Run the program."""
        plan = self.plan
        trial, get_code = self, importlib.machinery.SourceFileLoader.get_code

        def code_of(loader: Any, name: str) -> Any:
            text = plan["texts"].get(loader.path)
            return get_code(loader, name) if text is None else trial.compiled(text, loader.path)

        importlib.machinery.SourceFileLoader.get_code = code_of
        main = types.ModuleType("__main__")
        main.__dict__.update({"__file__": plan["argv"][0], "__builtins__": builtins})
        setattr(builtins, PASSED, self.count)  # for all files of the program
        sys.modules["__main__"], sys.argv = main, plan["argv"]
        sys.path.insert(0, plan["folder"])
        sys.addaudithook(self.audit)
        measured = contextlib.nullcontext() if "call" not in plan else Measured(plan["call"], plan["leaf"], self.end)
        try:
            with measured:
                exec(self.compiled(plan["texts"][plan["main"]], plan["main"]), main.__dict__)  # noqa: S102  # the user's program
        except SystemExit as stop:
            self.end("done" if stop.code in {None, 0} else "exit", str(stop.code))
        except BaseException as error:  # noqa: BLE001  # whatever the program raises is the answer
            self.end("raised", f"{type(error).__name__}: {error}"[:300])
        self.end("done")


def _mark(tree: ast.Module, line: int) -> None:
    """Let the innermost statement on a line tell that it was passed."""
    statement = innermost(tree, line)
    for field in ("value", "test", "iter"):
        value = getattr(statement, field, None)
        if isinstance(statement, (ast.Return, ast.If, ast.While, ast.For)) and isinstance(value, ast.expr):
            setattr(statement, field, _call([value]))
            return
    for parent in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(parent, field, None)
            if isinstance(body, list) and statement in body:
                body.insert(body.index(statement) + 1, ast.Expr(_call([])))
                return


def _call(arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Name(PASSED, ast.Load()), arguments, [])


def main() -> None:
    """Run the plan that is read."""
    plan = json.load(sys.stdin)
    with contextlib.suppress(ImportError, OSError, ValueError):
        resource = importlib.import_module("resource")
        most = plan["seconds"] * (os.cpu_count() or 1)  # the process that waits for this one may have ended
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    with available(always=plan["torch"]):
        Trial(plan).run()


if __name__ == "__main__":
    main()
