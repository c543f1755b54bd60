"""The process in which a program is tried with a changed text: it may read and compute, and do nothing to the world.

Run as `python -m pullback.command.trial` with a plan as JSON on the standard input; it writes a line of JSON about how the
program ended. Where the program would write a file, start a process, or reach the network, this process ends before.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib.util
import json
import os
import sys
import threading
import types
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import NamedTuple, NoReturn, Self

from ..compat.torch import available
from ..explain.edits import innermost
from ..explain.failing import message_of
from .measuring import Measured

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
REFUSED = {
    "ftplib.connect", "http.client.connect", "os.chflags", "os.chmod", "os.chown", "os.exec", "os.fork", "os.forkpty", "os.kill",
    "os.killpg", "os.link", "os.lockf", "os.mkdir", "os.posix_spawn", "os.remove", "os.removexattr", "os.rename", "os.rmdir",
    "os.setxattr", "os.spawn", "os.startfile", "os.symlink", "os.system", "os.truncate", "os.utime", "poplib.connect", "pty.spawn",
    "smtplib.connect", "socket.bind", "socket.connect", "socket.getaddrinfo", "socket.gethostbyaddr",
    "socket.gethostbyname", "socket.getnameinfo", "socket.sendmsg", "socket.sendto", "sqlite3.connect", "subprocess.Popen", "syslog.openlog", "syslog.syslog",
    "urllib.Request", "webbrowser.open", "winreg.CreateKey", "winreg.DeleteKey", "winreg.SetValue",
}  # fmt: skip
"""The events of Python's audit at which a trial ends."""
UNWATCHED = {"mkfifo", "mknod"}
"""The functions of `os` that make files and tell the audit nothing."""
LIBRARIES = {"_dbm", "_gdbm"}
"""The modules of Python's own that write files in C."""
PASSED = "_pullback_passed_"


class Plan(NamedTuple):
    """What is to be run, and the statement whose passes are counted."""

    argv: list[str]
    """The script, whose text is the main one, and its arguments."""
    folder: str
    torch: bool
    texts: dict[str, str]
    """The files that are not read, as they are to be."""
    file: str
    line: int
    seconds: float
    call: int | None = None
    """The backward call whose gradient is measured, with which the trial ends."""
    leaf: str = ""


class Trial:
    """One run of a program: a block, which tells how the program in it has ended, and ends this process."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.passed = 0
        self.answer = os.dup(1)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)

    def __enter__(self) -> Self:
        setattr(builtins, PASSED, self.count)  # for all files of the program
        sys.argv = self.plan.argv
        sys.path.insert(0, self.plan.folder)
        for name in UNWATCHED & {*vars(os)}:
            setattr(os, name, self.refused)
        sys.dont_write_bytecode = True  # of modules of the program: a file that would stay
        sys.addaudithook(self.audit)
        clock = threading.Timer(self.plan.seconds, self.end, ["late"])
        clock.daemon = True
        clock.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> NoReturn:
        if kind is None or (isinstance(error, SystemExit) and error.code in {None, 0}):
            self.end("done")
        self.end("raised", f"{kind.__name__}: {message_of(error)}"[:300])

    def end(self, how: str, detail: str = "") -> NoReturn:
        """Tell how the program ended, and end with it, whatever it would do about that."""
        told = {"ended": how, "detail": detail, "passed": self.passed}
        with contextlib.suppress(OSError):
            os.write(self.answer, json.dumps(told).encode() + b"\n")
        os._exit(0)

    def audit(self, event: str, args: Sequence[object]) -> None:
        """End before something is done that would outlast this process."""
        if event == "open":
            path, mode, flags = args
            written = isinstance(mode, str) and not {*mode}.isdisjoint("wax+")
            if (written or (isinstance(flags, int) and flags & WRITING)) and path != os.devnull:
                self.end("refused", "writes a file")
        elif event in REFUSED or (event == "import" and args[0] in LIBRARIES):
            self.refused()

    def refused(self, *_: object, **__: object) -> NoReturn:
        """End before something changes that is not this process."""
        self.end("refused", "changes something outside of itself")

    def count(self, value: object = None) -> object:
        """Called by the program when it has passed the statement; gives what it was given."""
        self.passed += 1
        return value


class ChangedLoader(SourceFileLoader):
    """Loads a file of the program with the text that is given for it."""

    def __init__(self, name: str, file: str, plan: Plan) -> None:
        super().__init__(name, file)
        self.plan = plan

    def get_code(self, fullname: str) -> types.CodeType:
        """Its code, in which the statement that failed tells that it was passed."""
        file = self.path
        tree = ast.parse(self.plan.texts[file], file)
        if file == self.plan.file:
            _mark(tree, self.plan.line)
        found: types.CodeType = compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)
        return found


class ChangedFinder(MetaPathFinder):
    """Finds those modules of the program whose text is given."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a module is, if it has another text; else Python finds it."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin not in self.plan.texts:
            return None
        spec.loader = ChangedLoader(fullname, spec.origin, self.plan)
        return spec


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


def run(trial: Trial) -> None:
    """Run the program of a trial as `__main__`, with the texts of its plan."""
    sys.meta_path.insert(0, ChangedFinder(trial.plan))
    loader = ChangedLoader("__main__", trial.plan.argv[0], trial.plan)
    spec = importlib.util.spec_from_loader("__main__", loader)
    assert spec is not None
    main = importlib.util.module_from_spec(spec)
    main.__spec__ = None  # as of a script
    sys.modules["__main__"] = main
    call = trial.plan.call
    measured = contextlib.nullcontext() if call is None else Measured(call, trial.plan.leaf, trial.end)
    with trial, measured:
        loader.exec_module(main)


def main() -> None:
    """Run the plan that is read."""
    plan = Plan(**json.load(sys.stdin))
    with contextlib.suppress(ImportError, OSError, ValueError):
        resource = importlib.import_module("resource")
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    with available(always=plan.torch):
        run(Trial(plan))


if __name__ == "__main__":
    main()
