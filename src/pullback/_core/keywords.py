"""Misspelt keywords: which parameter of a public function was meant, found where the error is displayed.

Python itself names the nearest attribute in the same way and at the same time, so that a call that is right pays nothing.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from .sites import GENERATED, called, internal

if TYPE_CHECKING:
    from types import FunctionType


_MADE = re.compile(r"(?P<function>_\w+\.__init__)\(\) (?P<said>.* positional arguments?.*)", re.DOTALL)
"""What Python says of the arguments with which a class of ours was made, that others with public names derive from."""
_REFUSED = re.compile(
    r"(?P<function>[\w.<>]+)\(\) got an unexpected keyword argument '(?P<given>\w+)'(\. Did you mean '\w+'\?)?"
)  # from Python 3.13 on it has a guess of its own
_SPELLINGS = {"axis": "dim", "axes": "dims"}
"""NumPy's words, for those of torch."""
_PLACES = ("device", "layout", "memory_format", "pin_memory")
"""What functions take by `**options` that say where elements are to lie."""


def suggested(error: TypeError, entries: Sequence[TracebackType]) -> tuple[object, ...]:
    """The arguments of an error, with the keyword that was meant, if the error is about one of ours and one is near."""
    text = str(error)
    if (found := _MADE.fullmatch(text)) is not None:
        titles = (_title(found["function"], callee) for callee in _callees(found["function"], entries))
        return (f"{next(titles, found['function'])}() {found['said']}",)
    found = _REFUSED.fullmatch(text)
    if found is None or not entries:
        return error.args
    function, given = found["function"], found["given"]
    for callee in _callees(function, entries):
        name = nearest(given, [each for each in _parameters(callee) if each != given])
        title = _title(function, callee)
        if name is not None or title != function:
            meant = "" if name is None else f". Did you mean {name!r}?"
            return (f"{title}() got an unexpected keyword argument {given!r}{meant}",)
    return error.args


def nearest(given: str, names: Sequence[str]) -> str | None:
    """The name that a misspelt one was meant to be, by letters, initials (`learning_rate`, `lr`), words (`grad`) or beginnings (`pad`)."""
    ranked = [(_distance(_plain(given), _plain(name)), _distance(given, name), name) for name in names]
    far, _, name = min(ranked, default=(len(given), 0, ""))
    if 3 * far <= len(given) + 1:
        return name
    if _SPELLINGS.get(given) in names:
        return _SPELLINGS[given]
    words = set(given.split("_"))
    alike = (name for name in names if name == _initials(given) or given == _initials(name) != name)
    held = (name for name in names if words < set(name.split("_")))
    begun = (
        name for name in names if min(len(given), len(name)) > 2 and (name.startswith(given) or given.startswith(name))
    )
    return next(alike, next(held, next(begun, None)))


def require_spelt(cls: type, base: type, methods: Sequence[str]) -> None:
    """Raises TypeError if a new subclass has a method that is nearly called like one that is its base's to call."""
    for name in vars(cls).keys() - vars(base).keys():
        meant = None if name.startswith("_") or not callable(vars(cls)[name]) else nearest(name, methods)
        if meant is None or abs(len(name) - len(meant)) > 2 or meant in (f"{name}ed", f"{name}ing"):
            continue  # a word in common, or another form of it, is none of ours misspelt
        if getattr(cls, meant) is getattr(base, meant):
            raise TypeError(
                f"{cls.__name__} defines {name}, which {base.__name__} does not call. Did you mean {meant!r}? Methods of its "
                "own may have any other name"
            )


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _initials(name: str) -> str:
    return "".join(word[:1] for word in name.split("_"))


def _distance(a: str, b: str) -> int:
    """How many letters must be put in, taken out, changed or swapped with the next to make one word of another."""
    rows = [list(range(len(b) + 1))]
    for i, letter in enumerate(a):
        row = [i + 1]
        for j, other in enumerate(b):
            ways = [rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter != other)]
            if i and j and a[i - 1 : i + 1] == other + b[j - 1]:
                ways.append(rows[i - 1][j - 1] + 1)
            row.append(min(ways))
        rows.append(row)
    return rows[-1][-1]


def _callees(function: str, entries: Sequence[TracebackType]) -> Iterator[object]:
    """What may have been called: what the program's line names, what our frames hold, and what we define under the name."""
    program = [entry for entry in entries if not internal[entry.tb_frame.f_code.co_filename]]
    if program:
        frame = program[-1].tb_frame
        written = called((frame.f_code, program[-1].tb_lasti))
        yield from named_at(written, frame) if written else ()
    name = function.removesuffix(".__init__")
    for entry in reversed(entries):
        alike = [each for each in entry.tb_frame.f_locals.values() if getattr(each, "__qualname__", None) == name]
        yield from filter(_is_ours, alike)
    modules = [module for path, module in list(sys.modules.items()) if path.partition(".")[0] == "pullback"]
    tensor = sys.modules["pullback"].Tensor
    for owner in (tensor, *modules):
        held = vars(owner).get(name.partition(".")[0]) if owner is not tensor else getattr(owner, name, None)
        if _is_ours(held):
            yield held
            yield getattr(held, name.rpartition(".")[2], None)


def named_at(written: str, frame: FrameType) -> Iterator[object]:
    """What `a.b.c` stands for in a frame, if it is ours; for `f(x).c`, the method of tensors."""
    first, *rest = written.split(".") if written.replace(".", "").isidentifier() else ["", written.rpartition(".")[2]]
    found = {**frame.f_globals, **frame.f_locals}.get(first, sys.modules["pullback"].Tensor)
    for name in rest:
        found = getattr(found, name, None)
    yield from filter(_is_ours, [found])


def _is_ours(value: object) -> bool:
    return callable(value) and any(
        str(getattr(each, "__module__", "")).partition(".")[0] in {"pullback", "torch"}
        for each in (value, *getattr(value, "__mro__", ()))
    )


def _parameters(callee: Any) -> list[str]:
    """The names that a function or a class takes by keyword, and those that it hands on."""
    if not isinstance(callee, type):
        functions = [callee if inspect.isroutine(callee) else type(callee).__call__]
    else:
        functions = [vars(each)["__init__"] for each in callee.__mro__ if "__init__" in vars(each)]
    names: list[str] = []
    for function in functions:
        open_ended = False
        for layer in _layers(function):
            code = layer.__code__
            taken = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
            names += [name for name in taken if not name.startswith("_") and name != "self"]
            names += [*getattr(layer, "accepts", ()), *getattr(getattr(layer, "__signature__", None), "parameters", ())]
            open_ended = bool(code.co_flags & inspect.CO_VARKEYWORDS)
        if not open_ended:
            return names
    return [*names, *_PLACES]


def _layers(function: Any) -> Iterator[FunctionType]:
    """A function and those that it wraps, as far as they are written in Python, and by us: also an `__init__` made of settings."""
    function = getattr(function, "__func__", function)
    while function is not None:
        file = getattr(getattr(function, "__code__", None), "co_filename", None)
        if file is not None and (file.endswith(".__init__>") or not file.startswith(GENERATED)):
            yield function
        function = getattr(function, "__wrapped__", None)


def _title(function: str, callee: object) -> str:
    """What was called, by its public name: classes that others derive from have private ones."""
    return f"{callee.__name__}.__init__" if isinstance(callee, type) and function.endswith("__init__") else function
