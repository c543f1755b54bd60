"""Source lines: where the user called an operation, recorded for next to nothing and read only in errors.

A site is a pair (code object, instruction offset). Nothing is formatted, and no frame is kept alive, until an error
needs the line.
"""

from __future__ import annotations

import importlib
import os.path
import sys
from types import CodeType, FrameType

from .modes import asking

Site = tuple[CodeType, int]

_PACKAGE = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120  # pathlib takes 6 ms to import
GENERATED = "<pullback rule "


class _Internal(dict[str, bool]):
    """Whether a file belongs to pullback, found out once per file."""

    def __missing__(self, filename: str) -> bool:
        inside = filename.startswith((_PACKAGE, GENERATED))
        self[filename] = inside
        if not inside:
            outside.add(filename)
        return inside


internal = _Internal()
outside: set[str] = set()
"""The files that do not belong to pullback, among those found out: a set is asked in half the time."""


def user_frame(frame: FrameType) -> FrameType:
    """The frame of the innermost call outside pullback, from a frame on; known while a pass runs that calls no user."""
    if (known := asking.get()) is not None:
        return known  # type: ignore[no-any-return]  # a frame
    while internal[frame.f_code.co_filename] and frame.f_back is not None:
        frame = frame.f_back
    return frame


def caller(skip: int = 2) -> Site:
    """The innermost call outside pullback."""
    frame = user_frame(sys._getframe(skip))
    return frame.f_code, frame.f_lasti


def depth() -> int:
    """The `stacklevel` of a warning that is to name the innermost line outside pullback."""
    frame, level = sys._getframe(1), 1
    while internal[frame.f_code.co_filename] and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return level


def function_of(frame: FrameType) -> str | None:
    """The name of the innermost of pullback's functions with a name of torch's, from a frame on; None in a user's frame."""
    if not internal[frame.f_code.co_filename]:
        return None
    while frame.f_code.co_name.startswith(("_", "<")) and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_name


def line_of(site: Site) -> int:
    """The line number of a site."""
    code, offset = site
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            return line
    return code.co_firstlineno


def remember(filename: str, source: str) -> None:
    """Have tracebacks show the lines of generated text."""
    lines = importlib.import_module("linecache")  # no function is generated at import, which need not pay for it
    lines.cache[filename] = (len(source), None, source.splitlines(True), filename)


def describe(site: Site | None) -> str:
    """A site as text: `train.py:41: y = x * w`."""
    if site is None:
        return "an unknown line"
    filename = site[0].co_filename
    line = line_of(site)
    try:
        text = importlib.import_module("linecache").getline(filename, line).strip()
    except LookupError:  # doctest's patch of linecache does not know the examples of other documents
        text = ""
    place = f"{os.path.basename(filename)}:{line}"  # noqa: PTH119  # as above
    return f"{place}: {text}" if text else place
