"""Which function of pullback a user has called, read off the frames through which an exception has passed."""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence
from types import FrameType, TracebackType

from .. import ops
from .._core.errors import operation_name
from .._core.keywords import named_at
from .._core.primitives import Primitive
from .._core.sites import GENERATED, PACKAGE, called
from .surface import BY_FORM

PUBLIC = {place.defined for index in BY_FORM.values() for place in index.values()} | {"getitem", "setitem"}
"""The names under which the functions that users call are defined."""
PLUMBING = ("_core", "_numerics", "_tape", "nn/modules", "observe.py", "interpreters.py", "explain", "command")
"""What runs below or around the functions that users call."""
ENTRIES = {"backward", "grad"}
"""Functions among the plumbing that users do call."""
CALLED = re.compile(r"(?P<function>[\w.<>]+)\(\) (missing|takes|got) ")


def called_function(frames: Sequence[FrameType]) -> tuple[str, FrameType] | None:
    """The first function among frames of pullback that a user can call: its name, and the frame that has its arguments.

    It is a class where the frame is that of its `__init__`, and an operation where only code generated for it has run.
    """
    title = None
    for frame in frames:
        file, name = frame.f_code.co_filename, frame.f_code.co_qualname
        simple = frame.f_code.co_name
        if simple == "__init__" and "self" in frame.f_locals:
            return type(frame.f_locals["self"]).__name__, frame
        if file.startswith(GENERATED):
            title = title or (_title(file), frame)
            continue
        path = file.removeprefix(PACKAGE).replace(os.sep, "/")
        if simple in ENTRIES or _is_public(path, name, simple):
            return simple, frame
    return title


def uncalled_function(error: BaseException, entry: TracebackType) -> str | None:
    """The name of a function of pullback that Python could not call at an entry of a traceback, as an argument was missing."""
    given = error.args[:1] if isinstance(error, TypeError) else ()
    found = CALLED.match("".join(each for each in given if isinstance(each, str)))
    if found is None:
        return None
    written = called((entry.tb_frame.f_code, entry.tb_lasti))
    if written is None or not any(named_at(written, entry.tb_frame)):
        return None
    return found["function"].removesuffix(".__init__").rpartition(".")[2]


def _is_public(path: str, name: str, simple: str) -> bool:
    if path.startswith(PLUMBING) or simple.startswith(("_", "<")) or "<locals>" in name:
        return False
    return simple in PUBLIC if path.startswith("vocabulary") else True


def _title(file: str) -> str:
    """The operation that generated code is for: `add_` of `<pullback rule add, in place>`."""
    name, _, way = file.removeprefix(GENERATED).removesuffix(">").partition(", ")
    primitive = getattr(ops, name, None)
    if isinstance(primitive, Primitive) and isinstance(primitive.title, str):  # else its parameters choose
        name = operation_name(primitive, {})
    return f"{name}_" if way == "in place" else name
