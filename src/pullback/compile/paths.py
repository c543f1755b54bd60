"""Paths: how a program itself writes what a function reads, `model.scale` or `self.sizes[0]`: looked for when a reason is told."""

from __future__ import annotations

import functools
import inspect
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .. import Tensor
from ..nn import Module
from ..observe import user_frame, variables_of
from .cpython import names_in

MOST = 5000
"""The number of objects after which no further one is looked at."""
PARTS = {"_parameters", "_modules", "_buffers"}
"""The dictionaries of a module whose entries a program reaches as attributes."""
CONTAINERS = (dict, list, tuple, deque)
CLOSED = (Tensor, np.ndarray, type, ModuleType, str, bytes, int, float, complex, type(None))
"""What has no parts that a path leads through."""


def entry(held: Any, key: object, function: Callable[..., Any]) -> str | None:
    """How a program writes what is held under a key; None where no path leads to what holds it."""
    if isinstance(held, dict) and "__name__" in held:
        return str(key) if held is getattr(_plain(function), "__globals__", None) else f"{held['__name__']}.{key}"
    if isinstance(held, type):
        return f"{held.__name__}.{key}"
    for path, each in _reached(function):
        if each is held:
            return f"{path}[{key!r}]" if isinstance(held, CONTAINERS) else f"{path}.{key}"
        if any(part is held for part in _namespaces(each)):
            return f"{path}.{key}"
    return None


def path_to(target: Any, function: Callable[..., Any]) -> str | None:
    """How a program reaches an object; None where no path is found."""
    return next((path for path, each in _reached(function) if each is target), None)


def title(function: Callable[..., Any]) -> str:
    """What is compiled: a function by its name, a module by its class."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, Module):
        return type(owner).__name__
    return str(getattr(function, "__qualname__", repr(function))).rpartition("<locals>.")[2]


def _reached(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """What a function reaches, with the paths, the shortest first."""
    waiting = deque(_roots(function))
    seen: set[int] = set()
    while waiting and len(seen) < MOST:
        path, each = waiting.popleft()
        if id(each) not in seen:
            seen.add(id(each))
            yield path, each
            waiting += _parts(path, each)


def _plain(function: Any) -> Any:
    """The function of a method or of one with arguments filled in."""
    while isinstance(function, MethodType | functools.partial):
        function = function.__func__ if isinstance(function, MethodType) else function.func
    return function


def _roots(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The variables that a function sees, those that it names first, and those where it is called."""
    plain = _plain(function)
    if isinstance(function, MethodType):
        yield "self", function.__self__
    if isinstance(plain, FunctionType):
        yield from _enclosed(plain)
        used = names_in(plain.__code__)
        variables = [(name, value) for name, value in list(plain.__globals__.items()) if not name.startswith("__")]
        yield from sorted(variables, key=lambda pair: pair[0] not in used)
    frame = inspect.currentframe()
    yield from [] if frame is None else variables_of(user_frame(frame)).items()


def _enclosed(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The variables around a function that it uses."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _namespaces(value: Any) -> list[dict[str, Any]]:
    """The dictionaries of an object whose entries are its attributes."""
    if isinstance(value, CLOSED + CONTAINERS):
        return []
    own = getattr(value, "__dict__", None)
    parts = [own[name] for name in PARTS] if isinstance(value, Module) and own is not None else []
    return [each for each in (own, *parts) if isinstance(each, dict)]


def _parts(path: str, value: Any) -> Iterable[tuple[str, Any]]:
    """The parts of an object, with their paths."""
    if isinstance(value, dict):
        return [(f"{path}[{key!r}]", each) for key, each in list(value.items())]
    if isinstance(value, CONTAINERS):
        return [(f"{path}[{i}]", each) for i, each in enumerate(value)]
    if isinstance(value, FunctionType):
        return _enclosed(value)
    named = [pair for each in _namespaces(value) for pair in list(each.items())]
    return [(f"{path}.{name}", each) for name, each in named if name not in PARTS]
