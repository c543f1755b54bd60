"""What a function reads outside of Python's objects while it is recorded: clocks, files, the settings of the process.

Such answers may be different at the next call, and nothing can watch them. So while a function runs to be recorded, a
profile function sees each call of a function written in C, and raises RefusedError before it is carried out: the compiled
function runs as it is. So it does where it starts another thread or waits for one, which may itself wait for tensors
that are recorded. Calls made by pullback itself, by imports, and for logs and warnings do not count.
"""

from __future__ import annotations

import abc
import datetime as dt
import gc
import operator
import sys
from contextvars import ContextVar
from types import FrameType
from typing import Any, Self

import numpy as np

from .cpython import (
    ASKING_FUNCTIONS,
    ASKING_MODULES,
    COMPUTING,
    SETTINGS,
    profile_function,
    set_profile_function,
)
from .recorder import Recorder
from .refusals import RefusedError
from .state import of_library

ERROR_STATE = {"_get_extobj_dict", "geterrobj"}
"""NumPy's function that reads its error state, from 2.0 on and before."""
ERROR_BLOCKS = {getattr(method, "__code__", None) for method in (np.errstate.__enter__, np.errstate.__exit__)}
"""What NumPy 1 runs around a block with an error state of its own, which reads the one that it puts back."""
CLOCKS = {"now", "utcnow", "today"}
"""Methods of dates that read the clock."""
ASKING = {
    "threading": ("current_thread", "active_count", "enumerate"),
    "logging": ("Logger.isEnabledFor", "Logger.getEffectiveLevel"),
    "numpy.core.arrayprint": ("get_printoptions", "_make_options_dict"),  # NumPy 1
    "pullback": ("get_num_threads", "initial_seed", "get_machine_code"),
}
"""Functions of Python whose answers may change."""
REPORTING = {"logging", "warnings", "traceback", "linecache", "importlib", "zipimport", "_frozen_importlib", "weakref"}
"""Modules of Python that may read files and clocks for what a program does not take note of."""
OPEN = ("pullback.files", "pullback.utils", "pullback.compat")
"""Packages of pullback that read files and clocks for those who call them."""


class Outside:
    """A context that refuses calls whose answers may change, unless a profiler is running.

    `abstract` is True afterwards if a class has been asked whether it is an abstract one's, which `register` changes.
    The recorder suspends the profile function for what is pullback's own: it is called 200 times for each operation.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.abstract = False
        self._recorder = recorder
        self._unprofiled = profile_function() is None
        self._asking = {
            id(operator.attrgetter(name)(sys.modules[module]).__code__): name
            for module, names in ASKING.items()
            for name in names
            if module in sys.modules
        }

    def __enter__(self) -> Self:
        if self._unprofiled:
            self._recorder.watch = self._seen
            set_profile_function(self._recorder.watch)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._unprofiled:
            self._recorder.watch = None
            set_profile_function(None)

    def _seen(self, frame: FrameType, event: str, function: Any) -> None:
        if event == "call" and id(frame.f_code) in self._asking and _by_user(frame.f_back):
            self._refuse(self._asking[id(frame.f_code)])
        elif event != "c_call":
            return
        elif function.__module__ == "_abc":
            self.abstract = self.abstract or _by_user(frame)
        elif _changes(function, frame) and _by_user(frame):
            self._refuse(function.__qualname__)

    def _refuse(self, name: str) -> None:
        raise RefusedError(f"the function calls {name}, whose answer may be another one at the next call")


def registered() -> object:
    """What changes when a class is registered with an abstract one."""
    return abc.get_cache_token()


def _changes(function: Any, frame: FrameType) -> bool:
    """True if the answer of a function written in C may be another one at the next call."""
    name, module = function.__name__, function.__module__
    if module is None:
        owner = function.__self__
        if isinstance(owner, ContextVar):  # a user's own is watched
            return name == "get" and _root(frame) in {"numpy", "decimal"}
        if owner is sys:
            return name in SETTINGS
        if _waits(owner, name):
            return True
        return name == "__subclasses__" or (name in CLOCKS and isinstance(owner, type) and issubclass(owner, dt.date))
    if module == "sys":
        return name in SETTINGS
    asking = (module in ASKING_MODULES and name not in COMPUTING) or (module, name) in ASKING_FUNCTIONS
    return asking or (name in ERROR_STATE and not _puts_back(frame))


def _puts_back(frame: FrameType | None) -> bool:
    """True if NumPy's error state is read where a block with another one begins or ends."""
    while frame is not None and _root(frame) == "numpy":
        if frame.f_code in ERROR_BLOCKS:
            return True
        frame = frame.f_back
    return False


def _waits(owner: Any, name: str) -> bool:
    """True if a method waits for another thread: of a lock that is held, an empty queue, or a thread."""
    if type(owner).__module__ == "_queue":
        return name == "get" and owner.empty()
    held = name == "acquire" and getattr(owner, "locked", bool)()
    return type(owner).__module__ == "_thread" and (held or name == "join")


def _by_user(frame: FrameType | None) -> bool:
    """True if a call was made by the program, perhaps through Python's library or NumPy's, and not by pullback.

    The collector of garbage, and what it finds, call functions at any moment: those are not the program's.
    """
    callbacks = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    found = False
    while frame is not None:
        root = _root(frame)
        if frame.f_code in callbacks or frame.f_code.co_name == "__del__":
            return False
        if root == "pullback":
            return found or str(frame.f_globals.get("__name__")).startswith(OPEN)
        if not found and root in REPORTING and of_library(root):
            return False
        found = found or not of_library(root)
        frame = frame.f_back
    return found


def _root(frame: FrameType) -> str:
    """The package in which a function was defined."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
