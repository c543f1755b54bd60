"""The modules and functions of the program that an operation runs in, determined from the call stack."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable
from types import FrameType
from typing import Any

from ..nn.modules.calls import Calls
from ..observe import is_internal, user_frame
from .sources import text_of
from .trace import Scope

MODULE_CALL = Calls.__call__.__code__


class Scopes:
    """The scopes of one recording, and the scope that the program is in now."""

    def __init__(self, base: FrameType, *, skip: int = 0) -> None:
        self.base = base
        self.skip = skip
        self.all: list[Scope] = []
        self.modules: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self.execution = 0
        self._frames: list[FrameType] = []
        self._scopes: list[Scope | None] = []
        self._entry: FrameType | None = None
        self._here: tuple[FrameType, int] | None = None
        self._counts: dict[tuple[Scope | None, str], int] = {}

    def enter(self, frame: FrameType) -> Scope | None:
        """The scope of an operation that is called from a frame; a new scope for each new call of a function.

        The frames of the last operation are held until the next, so that frames of different calls are never confused.
        """
        stack: list[FrameType] = []
        entry = previous = None
        walked: FrameType | None = frame
        while walked is not None and walked is not self.base:
            inside = is_internal(walked.f_code.co_filename)
            if not inside and entry is None:
                entry = previous
            if not inside and walked.f_code.co_name == "<module>":
                break  # the frame that runs the program's main module is not one of its functions
            if not inside or walked.f_code is MODULE_CALL:
                stack.append(walked)
            previous, walked = walked, walked.f_back
        entry = entry or previous
        if entry is not self._entry:
            self._entry = entry
            user = user_frame(frame)
            here = user, user.f_lasti
            if here != self._here or text_of(user.f_code.co_filename).repeats(user.f_lineno):
                self.execution += 1  # else one expression calls several times, as `sum(x)` does
            self._here = here
        return self._opened(stack, walked)

    def failed(self, frames: Iterable[FrameType]) -> Scope | None:
        """The scope of the innermost module among the frames that an exception has passed, innermost first."""
        stack: list[FrameType] = []
        outside = None
        for outside in frames:
            inside = is_internal(outside.f_code.co_filename)
            if outside is self.base or (not inside and outside.f_code.co_name == "<module>"):
                break
            if not inside or outside.f_code is MODULE_CALL:
                stack.append(outside)
        scope = self._opened(stack, outside)
        while scope is not None and scope.kind != "module":
            scope = scope.parent
        return scope

    def _opened(self, stack: list[FrameType], outside: FrameType | None) -> Scope | None:
        """The scope of frames, innermost first, that were called from another one."""
        stack.reverse()
        skip = self.skip if stack and stack[0].f_code is not MODULE_CALL else 0
        return self._scope(stack[skip:], stack[skip - 1] if skip else outside)

    def _scope(self, stack: list[FrameType], outside: FrameType | None) -> Scope | None:
        common = 0
        for old, new in zip(self._frames, stack, strict=False):
            if old is not new:
                break
            common += 1
        scopes = self._scopes[:common]
        for place in range(common, len(stack)):
            around = scopes[-1] if scopes else None
            scopes.append(self._made(stack[place], stack[place - 1] if place else outside, around))
        self._frames, self._scopes = stack, scopes
        return scopes[-1] if scopes else None

    def _made(self, frame: FrameType, outer: FrameType | None, around: Scope | None) -> Scope | None:
        """The scope that a frame opens, or the enclosing one it belongs to."""
        if frame.f_code is MODULE_CALL:
            module = frame.f_locals["self"]
            name = _module_name(module, outer, around)
            scope = self._new("module", name, type(module).__name__, around)
            self.modules[scope.index] = module
            return scope
        name = frame.f_code.co_qualname.replace(".<locals>", "")
        forward = around is not None and around.kind == "module" and frame.f_code.co_name == "forward"
        return around if forward or frame.f_code.co_name.startswith("<") else self._new("function", name, name, around)

    def _new(self, kind: str, name: str, type: str, around: Scope | None) -> Scope:
        key = around, name
        self._counts[key] = nth = self._counts.get(key, 0) + 1
        scope = Scope(len(self.all), kind, name, type, around, nth)
        self.all.append(scope)
        return scope

    def close(self) -> None:
        """Release the program's frames."""
        self._frames, self._scopes, self._entry, self._here = [], [], None, None


def _module_name(module: object, outer: FrameType | None, around: Scope | None) -> str:
    """The program's name for a module: `model`, or `model.h.0` inside another, before a loop variable's."""
    if outer is None:
        return type(module).__name__
    caller = outer.f_locals.get("self")
    if (path := _path(caller, module)) is not None:
        return f"{around.name}.{path}" if around is not None and around.kind == "module" else path
    own = ""
    for variables in (outer.f_locals, outer.f_globals):
        for name, value in list(variables.items()):
            if value is module:
                own = own or name
            elif (path := _path(value, module)) is not None:
                return f"{name}.{path}"
    return own or type(module).__name__


def _path(parent: Any, module: object) -> str | None:
    """The path from a module to one inside it."""
    if not hasattr(type(parent), "named_modules") or parent is module:
        return None
    return next((path for path, child in parent.named_modules() if child is module), None)


def program_frame(depth: int = 1) -> FrameType:
    """The innermost frame outside pullback."""
    frame = sys._getframe(depth)
    while is_internal(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return frame
