"""Tracebacks as Python displays them: the frames of the user's program, one line of ours, and the message.

A mistake in one line of a program can pass a dozen frames of this package, which say nothing to the program's author. They
are left out where an exception is displayed: by `sys.excepthook`, `threading.excepthook` and IPython. Three other ways
were considered:

- Each public function catches what leaves it, and removes our frames from its `__traceback__`, as JAX does. That costs
  every call (80 ns, a tenth of an addition), must be done wherever a user can enter (methods, properties, constructors),
  and takes the frames from debuggers, which need them. It is the only way that would also reach those who format an
  exception themselves: `logging.exception`, `traceback.print_exc`, pytest. They show all frames, as before.
- `__tracebackhide__` is known to pytest and IPython alone, and would be a local variable in each function.
- To replace functions of the module `traceback` would change the exceptions of everybody else.

Nothing is left out if PULLBACK_TRACEBACK is `full`, of exceptions that have not passed through this package, and of those that
look like a fault of this package: a failed `assert`; a missing name, attribute or key that no `raise` reports.
"""

from __future__ import annotations

import _thread
import importlib
import itertools
import opcode
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FrameType, FunctionType, TracebackType
from typing import Any, TypeGuard

import numpy as np

from .sites import GENERATED, PACKAGE, internal

_STANDARD = os.path.join(os.path.dirname(os.__file__), "")
_NUMERIC = tuple(os.path.join(os.path.dirname(os.path.dirname(np.__file__)), name, "") for name in ("numpy", "scipy"))

ARGUMENTS = "unexpected keyword", "__init__() "
"""What Python says of arguments, where `keywords.suggested` may say more."""
ENTRY = re.compile(r'^  File "(?P<file>[^"]+)", line .*\n(?:    .*\n)*', re.MULTILINE)
"""An entry of a traceback as text, with the lines of its source."""
Run = Sequence[TracebackType]
"""Entries of a traceback that follow each other, all of the program or none."""


def install() -> None:
    """Let Python, its threads and IPython display shorter tracebacks, in whatever way they display them now."""
    sys.excepthook = partial(_displayed, sys.excepthook)
    loaded = "threading" in sys.modules  # else it takes its hook from `_thread` when the program imports it
    owner, name = (sys.modules["threading"], "excepthook") if loaded else (_thread, "_excepthook")
    setattr(owner, name, partial(_displayed_by_thread, getattr(owner, name)))
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((BaseException,), _displayed_by_notebook)


def _displayed(
    display: Callable[..., object], kind: type[BaseException], error: BaseException, _: TracebackType | None
) -> None:
    with Shortened(error):
        display(kind, error, error.__traceback__)


def _displayed_by_thread(display: Callable[..., object], failed: Any) -> None:
    with Shortened(failed.exc_value):
        trace = getattr(failed.exc_value, "__traceback__", None)
        display(type(failed)((failed.exc_type, failed.exc_value, trace, failed.thread)))


def _displayed_by_notebook(
    shell: Any, kind: type[BaseException], error: BaseException, _: TracebackType | None, **options: Any
) -> None:
    with Shortened(error, line=False):  # it would say at length that there is no source
        shell.showtraceback((kind, error, error.__traceback__), **options)


class Shortened:
    """A block in which an exception, and what it was raised from, have the frames that are displayed, and no others.

    Without `line`, none is ours.
    """

    def __init__(self, error: BaseException | None, line: bool = True) -> None:
        self.error, self.line = error, line
        self.before: dict[int, tuple[Any, ...]] = {}
        self.texts: dict[int, tuple[Any, str]] = {}

    def __enter__(self) -> None:
        if os.environ.get("PULLBACK_TRACEBACK") != "full":
            self._shorten(self.error)

    def __exit__(self, *_: object) -> None:
        for error, *state in self.before.values():
            error.__cause__, error.__context__, error.__suppress_context__, error.__traceback__, error.args = state
        for cause, text in self.texts.values():
            cause.tb = text

    def _shorten(self, error: BaseException | None) -> None:
        if error is None or id(error) in self.before:
            return
        cause, context = error.__cause__, error.__context__
        self.before[id(error)] = error, cause, context, error.__suppress_context__, error.__traceback__, error.args
        for part in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
            self._shorten(part)
        if is_remote(cause):
            self.texts[id(cause)] = cause, cause.tb
            cause.tb = _shorter(cause.tb)
        if isinstance(error, TypeError) and any(words in str(error.args[:1]) for words in ARGUMENTS):
            keywords = importlib.import_module("pullback._core.keywords")
            error.args = keywords.suggested(error, list(entries(error.__traceback__)))
        runs = [list(run) for _, run in itertools.groupby(entries(error.__traceback__), of_library)]
        if runs and _is_ours(runs[-1]):
            if _is_fault(error, runs[-1][-1]):
                return
            error.__cause__, error.__context__ = _of_program(cause), _of_program(context)
            error.__suppress_context__ = error.__suppress_context__ or cause is not None
        error.__traceback__ = self._joined(runs, is_remote(cause))
        self._shorten(error.__cause__)
        self._shorten(error.__context__)

    def _joined(self, runs: Sequence[Run], remote: bool) -> TracebackType | None:
        """The traceback of runs, without ours; if the last is, one line tells where the exception was raised.

        Of one that was raised in another process, only the program's are left.
        """
        ours = _is_ours(runs[-1]) if runs else False
        hidden = ours or remote
        kept = [entry for run in runs if not (_is_ours(run) or (hidden and of_library(run[0]))) for entry in run]
        last = [entry for entry in runs[-1] if entry.tb_frame.f_code.co_filename.startswith(PACKAGE)] if ours else []
        trace = _line(last[-1]) if last and kept and self.line else None
        for entry in reversed(kept):
            trace = TracebackType(trace, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
        return trace


def is_remote(error: object) -> TypeGuard[Any]:
    """Whether an exception is the text, `tb`, of the traceback in another process, as those of pools of processes are."""
    return type(error).__name__.lstrip("_") == "RemoteTraceback" and isinstance(getattr(error, "tb", None), str)


def _shorter(text: str) -> str:
    """A traceback, as text, without the entries of this package and of what it stands on."""

    def kept(entry: re.Match[str]) -> str:
        file = entry["file"]
        library = file.startswith((PACKAGE, GENERATED, "<frozen ", _STANDARD, *_NUMERIC)) and "-packages" not in file
        return "" if library else entry[0]

    return ENTRY.sub(kept, text)


def entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def of_library(entry: TracebackType) -> bool:
    """Whether an entry belongs to this package, or to what it stands on."""
    file = entry.tb_frame.f_code.co_filename
    standard = file.startswith(("<frozen ", _STANDARD)) and "-packages" not in file
    return standard or file.startswith(_NUMERIC) or _is_ours([entry])


def _is_ours(run: Run) -> bool:
    """Whether a run has an entry of this package: of its files, of text that it generates, or of a dataclass in it."""
    frames = [entry.tb_frame for entry in run]
    return any(
        internal[f.f_code.co_filename] or str(f.f_globals.get("__name__")).startswith("pullback.") for f in frames
    )


def _of_program(error: BaseException | None) -> BaseException | None:
    """An exception that has passed through the program, or was put together without being raised; None for others."""
    if error is None or error.__traceback__ is None:
        return error
    return None if all(map(of_library, entries(error.__traceback__))) else error


def _is_fault(error: BaseException, entry: TracebackType) -> bool:
    """Whether an exception that was raised in this package looks like a fault of it."""
    if isinstance(error, AssertionError):
        return not error.args
    if entry.tb_frame.f_code.co_code[entry.tb_lasti] == opcode.opmap["RAISE_VARARGS"]:
        return False
    if isinstance(error, AttributeError):  # of an argument, it is the caller's
        return error.obj is None or type(error.obj).__module__.startswith("pullback")
    return isinstance(error, (KeyError, NameError))


def _line(entry: TracebackType) -> TracebackType:
    """An entry that is displayed as one line, without source: files named `<...>` have none."""
    code = entry.tb_frame.f_code
    file = f"pullback/{code.co_filename.removeprefix(PACKAGE).replace(os.sep, '/')}"
    named = _here.__code__.replace(co_filename=f"<{file}>", co_name=code.co_name, co_qualname=code.co_qualname)
    named = named.replace(co_firstlineno=entry.tb_lineno - 1)  # Python 3.13 displays the line of the instruction
    frame: FrameType = FunctionType(named, {"sys": sys})()
    return TracebackType(None, frame, frame.f_lasti, entry.tb_lineno)


def _here() -> FrameType:
    return sys._getframe()
