"""Sites: the lines of the user's program that called operations, recorded at almost no cost and read only for errors.

A site is a pair (code object, instruction offset). No frame is kept alive, and the line is looked up only when an error
needs it.
"""

from __future__ import annotations

import importlib
import itertools
import os
import os.path
import sys
import warnings
import weakref
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from .modes import asking

if TYPE_CHECKING:
    from .typing import Params


Site = tuple[CodeType, int]
Function = TypeVar("Function", bound=Callable[..., Any])

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
GENERATED = "<pullback rule "
COPY = os.path.join(os.path.dirname(os.__file__), "copy.py")
"""A file of Python's own library, which asks tensors for their copies."""


class _Internal(dict[str, bool]):
    """Maps a file name to whether the file belongs to pullback, or is that of `copy`, which calls tensors back."""

    def __missing__(self, filename: str) -> bool:
        inside = filename.startswith((PACKAGE, GENERATED)) or filename == COPY
        self[filename] = inside
        if not inside:
            outside.add(filename)
        return inside


internal = _Internal()
_OURS = 3
"""References to what `f_locals` has given if nobody else has it: the frame's, a variable's and the argument's that counts."""
outside: set[str] = set()
"""The files already tested that do not belong to pullback: a lookup in a set takes half the time of one in a dict."""


def user_frame(frame: FrameType) -> FrameType:
    """The frame of the innermost call outside pullback, starting at a frame; during a pass that frame is known beforehand."""
    if (known := asking.get()) is not None:
        return known
    while internal[frame.f_code.co_filename] and frame.f_back is not None:
        frame = frame.f_back
    return frame


def variables_of(frame: FrameType) -> dict[str, Any]:
    """The local variables of a frame, in a dictionary of their own.

    Until Python 3.12 a function keeps the dictionary that it has given, and with it what a `del` should free: it is emptied,
    unless the program (`locals()`, `eval`) or a debugger has it too.
    """
    given = frame.f_locals
    found = dict(given)
    if sys.version_info < (3, 13):
        ours = frame.f_code.co_flags & CO_OPTIMIZED and frame.f_trace is None
        if ours and sys.getrefcount(given) == _OURS:
            given.clear()
    return found


def caller(skip: int = 2) -> Site:
    """The site of the innermost call outside pullback."""
    frame = user_frame(sys._getframe(skip))
    return frame.f_code, frame.f_lasti


def wanted_by(skip: int = 2) -> Site:
    """The site of the innermost call outside pullback and outside NumPy's own functions."""
    frame = user_frame(sys._getframe(skip))
    while frame.f_globals.get("__name__", "").startswith("numpy.") and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


def qualified(name: str, maker: str) -> str:
    """A name with the module in front whose code asks `maker`, another module, for something; the name alone for pullback's own.

    So a custom primitive is not taken for the one of pullback's that has its name.
    """
    frame = sys._getframe(2)
    while (module := frame.f_globals.get("__name__", "")) == maker and frame.f_back is not None:
        frame = frame.f_back
    return name if module.partition(".")[0] == maker.partition(".")[0] else f"{module}.{name}"


def depth() -> int:
    """The `stacklevel` with which a warning names the innermost line outside pullback."""
    frame, level = sys._getframe(1), 1
    while internal[frame.f_code.co_filename] and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return level


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that names the line of the program: the innermost one outside pullback, and not the caller's own.

    Parameters
    ----------
    text
        What it says.
    category
        The class of the warning.

    >>> import warnings
    >>> from pullback.extend import warn
    >>> with warnings.catch_warnings(record=True, action="always") as found:
    ...     warn("lr is 0, so nothing is learned")
    >>> found[0].message
    UserWarning('lr is 0, so nothing is learned')
    """
    warnings.warn(text, category, stacklevel=depth())


def function_of(frame: FrameType) -> str | None:
    """The name of the innermost public function of pullback, starting at a frame; None if the frame is the user's."""
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
    """Make tracebacks show the lines of generated source code."""
    lines = importlib.import_module("linecache")  # imported here, since no code is generated at import
    lines.cache[filename] = (len(source), None, source.splitlines(True), filename)


def generated(title: str, source: str, scope: Params, name: str, *, owner: object = None) -> Any:
    """The function of a name that generated text defines, which finds its globals in `scope`; tracebacks show the text.

    With an owner, the text is forgotten when that is.
    """
    filename = f"{GENERATED}{title}>"
    remember(filename, source)
    if owner is not None:
        weakref.finalize(owner, importlib.import_module("linecache").cache.pop, filename, None)
    defined: dict[str, Any] = {}  # not the scope: another thread may be generating the same function
    exec(compile(source, filename, "exec", dont_inherit=True), scope, defined)  # noqa: S102  # our own text
    return defined[name]


def describe(site: Site | None) -> str:
    """A site as text: `train.py:41: y = x * w`."""
    return "an unknown line" if site is None else ": ".join(filter(None, place_and_text(site)))


def called(site: Site) -> str | None:
    """The function that is called at a site, as it is written there: `math.sin`; None where no call is, or no source."""
    ast, found = _call_at(site)
    return None if found is None else ast.unparse(found.func)


def given(site: Site, place: int, keyword: str) -> str | None:
    """An argument of the call at a site, as it is written there, if it is a variable or a part of one: `self.w`, `ws[0]`."""
    ast, found = _call_at(site)
    if found is None or any(isinstance(each, ast.Starred) for each in found.args):
        return None
    named = [each.value for each in found.keywords if each.arg == keyword]
    whole = next(iter([*found.args[place : place + 1], *named]), None)
    part = whole
    while isinstance(part, ast.Attribute | ast.Subscript):
        part = part.value
    return ast.unparse(whole) if isinstance(part, ast.Name) else None


def _call_at(site: Site) -> tuple[Any, Any]:
    """The module `ast`, imported here since programs run without it, and the call at a site; None where none is, or no source."""
    code, offset = site
    ast = importlib.import_module("ast")
    start, end, left, right = next(itertools.islice(code.co_positions(), offset // 2, None))
    if start is None or end is None:
        return ast, None
    lines = importlib.import_module("linecache").getlines(code.co_filename)[start - 1 : end]
    if not lines:
        return ast, None
    lines[-1] = lines[-1].encode()[:right].decode()
    lines[0] = lines[0].encode()[left:].decode()
    try:
        found = ast.parse("".join(lines), mode="eval").body
    except SyntaxError:
        return ast, None
    return ast, found if isinstance(found, ast.Call) else None


def place_and_text(site: Site) -> tuple[str, str]:
    """The file and the number of a line, and what is written there, empty if it cannot be read."""
    filename, line = site[0].co_filename, line_of(site)
    try:
        text = importlib.import_module("linecache").getline(filename, line).strip()
    except LookupError:  # doctest's patch of linecache does not know the examples of other documents
        text = ""
    return f"{os.path.basename(filename)}:{line}", text


pairing: set[CodeType] = set()
"""The code of the functions that are decorated by `of_pairs`."""


def of_pairs(function: Function) -> Function:
    """A decorator of a function that means all pairs of its operands' elements; a broadcast in it is no mistake to `check`."""
    decorated: Any = function
    pairing.add(decorated.__code__)
    return function


def named(name: str, function: Function, text: str) -> Function:
    """A function that was made by another, with a name and a docstring of its own."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function
