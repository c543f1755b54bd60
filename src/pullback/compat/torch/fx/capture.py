"""What sends calls to a graph: functions of torch with proxies among their arguments, and calls of modules.

While there are proxies, functions look for them among their arguments: see `redirecting`.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import math
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...._core import forks
from ....nn.modules.calls import Calls
from ....nn.modules.members import Members
from .. import redirecting
from ..redirecting import UNANSWERED, Redirected, redirected

if TYPE_CHECKING:
    from types import FunctionType

    from ...._core.typing import Function
    from .tracing import Tracer


RECORDED = {*redirecting.OPERATORS.values()}
"""The operators of tensors that are recorded as methods."""


class Recorded:
    """The base of proxies: what functions of torch look for among their arguments."""

    _present: Any = None


# While there are proxies: functions


def found(value: object) -> Recorded | None:
    """The first proxy in an argument, or in the tuples, lists, dictionaries and slices in it."""
    if isinstance(value, Recorded):
        return value
    parts: Any = value if isinstance(value, (tuple, list)) else ()
    if isinstance(value, (dict, slice)):
        parts = value.values() if isinstance(value, dict) else (value.start, value.stop, value.step)
    return next((proxy for part in parts if (proxy := found(part)) is not None), None)


def _seek(function: Function, method: str | None, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Have a call with a proxy recorded."""
    proxy: Any = found((args, kwargs)) if method is None or method[0] != "_" or method in RECORDED else None
    if proxy is None:
        return UNANSWERED
    if method is None:
        return proxy.__torch_function__(function, (), args, kwargs)
    return proxy.tracer.create_proxy("call_method", method, args, kwargs)


class _Presence:
    """What all proxies hold: when the last of them is gone, it is, too."""


class _Shared:
    """What the threads of a process share: a reference to that presence, and the number of tracers at work."""

    present: weakref.ref[_Presence] | None = None
    tracers = 0


_lock, _shared = forks.lock(), _Shared()


def appear() -> _Presence:
    """What a new proxy holds as long as it lives."""
    with _lock:
        present = None if _shared.present is None else _shared.present()
        if present is None:
            present = _Presence()
            _shared.present = weakref.ref(present)
            weakref.finalize(present, redirecting.end, _seek)
            redirecting.begin(_seek)
        return present


# While a tracer is at work: modules, functions of `math`, and those that programs have wrapped

_active = threading.local()
WRAPPED: dict[tuple[int, str], dict[str, Any]] = {}
"""The globals in which a program has wrapped a name."""
_changed: dict[tuple[int, str], list[Any]] = {}
"""Globals and names in them that are replaced: for how many tracers, what was there, and what is there now."""
_MISSING = object()


def _call(function: object, own: Function, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    tracer = getattr(_active, "tracer", None)
    if tracer is None:
        return own(*args, **kwargs)
    module, *rest = args
    return tracer.call_module(module, functools.partial(own, module), tuple(rest), kwargs)


def _attribute(function: object, own: Function, args: tuple[Any, ...], kwargs: dict[str, object]) -> Any:
    value, tracer = own(*args, **kwargs), getattr(_active, "tracer", None)
    return value if tracer is None else tracer.getattr(args[1], value, tracer.parameter_proxy_cache)


def _modules() -> tuple[Redirected, Redirected]:
    return redirected(Calls.__call__, _call), redirected(Members.__getattr__, _attribute)


@contextlib.contextmanager
def tracing(tracer: Tracer) -> Iterator[None]:
    """A block in which a tracer is told of this thread's calls of modules, and of parameters that are fetched."""
    before, _active.tracer = getattr(_active, "tracer", None), tracer
    with _lock:
        _shared.tracers += 1
        for each in _modules() if _shared.tracers == 1 else ():
            each.do()
    try:
        with replaced(tracer):
            yield
    finally:
        _active.tracer = before
        with _lock:
            _shared.tracers -= 1
            for each in _modules() if _shared.tracers == 0 else ():
                each.undo()


def _recording(function: Function) -> Function:
    """The function, recorded as one call where it is given a proxy."""

    @functools.wraps(function)
    def called(*args: object, **kwargs: object) -> Any:
        proxy: Any = found((args, kwargs))
        if proxy is None:
            return function(*args, **kwargs)
        return proxy.tracer.create_proxy("call_function", function, args, kwargs)

    return called


@contextlib.contextmanager
def replaced(tracer: Tracer) -> Iterator[None]:
    """A block in which functions of modules that a tracer wraps, and those of `wrap`, record calls with proxies."""
    wrapped = {id(each) for each in tracer.autowrap_functions}
    places = [(vars(module), name) for module in tracer.autowrap_modules for name in dir(module) if name[0] != "_"]
    places += [(names, name) for (_, name), names in WRAPPED.copy().items()]
    places += [(tracer._scope, name) for name, value in tracer._scope.copy().items() if id(value) in wrapped]
    places = [(names, name) for names, name in places if callable(_named(names, name))]
    with _lock:
        for names, name in places:
            key = id(names), name
            if key not in _changed:
                _changed[key] = [0, names.get(name, _MISSING), _recording(_named(names, name))]
                names[name] = _changed[key][2]
            _changed[key][0] += 1
    try:
        yield
    finally:
        with _lock:
            for names, name in places:
                changed = _changed[id(names), name]
                changed[0] -= 1
                if not changed[0]:
                    del _changed[id(names), name]
                    if names.get(name) is changed[2]:
                        names[name] = changed[1]
                    if names.get(name) is _MISSING:
                        del names[name]


def _named(names: dict[str, object], name: str) -> Any:
    """What a name means among globals, also while it is replaced: a built-in function where they lack it."""
    own = _changed[id(names), name][1] if (id(names), name) in _changed else names.get(name, _MISSING)
    return getattr(builtins, name, None) if own is _MISSING else own


def wrap(fn_or_name: Any) -> Any:
    """Have a function of a module, or a built-in one, recorded as one call when it is given a proxy.

    Use it at the top of a module: as a decorator, or with a name that the module has.

    Raises
    ------
    RuntimeError
        If it is given neither a function nor a name.
    NotImplementedError
        If it is not called at the top of a module.
    """
    name = fn_or_name if isinstance(fn_or_name, str) else getattr(fn_or_name, "__name__", None)
    if not isinstance(name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name of one")
    caller = sys._getframe(1)
    if caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    WRAPPED[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name


def is_wrapped(function: object) -> bool:
    """True for what a tracer finds only if it replaces names among globals: what programs wrap, and functions of `math`."""
    name = getattr(function, "__name__", "")
    if name in vars(math) and _named(vars(math), name) is function:
        return True
    return any(_named(names, name) is function for (_, name), names in WRAPPED.copy().items())


def wrapped_until_gone(function: FunctionType) -> None:
    """Forget what generated code has wrapped when its function is gone."""
    for key in [key for key in WRAPPED.copy() if key[0] == id(function.__globals__)]:
        weakref.finalize(function, WRAPPED.pop, key, None)
