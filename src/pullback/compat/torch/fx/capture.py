"""What sends calls to a graph: functions of torch with proxies among their arguments, and calls of modules.

A function of pullback knows nothing of proxies, and programs hold it in many places: globals, attributes, closures. So,
while there are proxies, the function keeps its identity and gets other code, which looks for a proxy among the arguments:
with one, the call becomes a node of the proxy's graph; without, as in all other threads, the function's own code runs.
When the last proxy is gone, all functions have their own code again.
"""

import builtins
import contextlib
import functools
import math
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from ...._core import forks
from ...._core.sites import generated
from ...._tensor.tensor import Tensor
from ....nn.modules.calls import Calls
from ....nn.modules.members import Members
from .. import facade
from . import naming

Answer = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]
UNSEEN = {"is_tensor", "is_storage", "typename"}
"""Functions of torch that are asked about any object, and so are answered for a proxy itself."""


class Recorded:
    """The base of proxies: what functions of torch look for among their arguments."""

    _present: Any = None


@functools.cache
def _code(free: int) -> CodeType:
    """The code of a function with so many free variables, which calls the constant that takes the place of `...`."""
    names = [f"free_{index}" for index in range(free)]
    lines = [
        "def outer():",
        *(f"    {name} = None" for name in names),
        "    def stand_in(*args, **options):",
        "        answer = ...",
        "        return answer(args, options)",
        f"        ({', '.join(names)})",
        "    return stand_in",
    ]
    code: CodeType = generated(f"a function of {free} cells", "\n".join(lines), {}, "outer")().__code__
    return code


class Redirected:
    """A function whose calls can be answered by another one: `answer(function, its own code, args, kwargs)`."""

    def __init__(self, function: Any, answer: Answer) -> None:
        write = (function.__kwdefaults__ or {}).get("_write")
        if write is not None:
            write()  # a short way, whose code is not yet there
        self.function, self.code, names = function, function.__code__, function.__globals__
        own = FunctionType(self.code, names, function.__name__, function.__defaults__, function.__closure__)
        own.__kwdefaults__, own.__annotations__ = function.__kwdefaults__, function.__annotations__
        self.signed = None if hasattr(function, "__wrapped__") else own
        code = _code(len(self.code.co_freevars))
        constants = tuple(functools.partial(answer, function, own) if each is ... else each for each in code.co_consts)
        self.other = code.replace(co_consts=constants, co_name=self.code.co_name)

    def do(self) -> None:
        """Have calls answered by the other function."""
        self.function.__code__ = self.other
        if self.signed is not None:
            self.function.__wrapped__ = self.signed  # for those who ask for its parameters

    def undo(self) -> None:
        """Give the function its own code again."""
        self.function.__code__ = self.code
        if self.signed is not None:
            del self.function.__wrapped__


redirected = functools.cache(Redirected)
"""What redirects a function, made once."""


# While there are proxies: functions


def found(value: Any) -> Recorded | None:
    """The first proxy in an argument, or in the tuples, lists, dictionaries and slices in it."""
    if isinstance(value, Recorded):
        return value
    parts: Any = value if isinstance(value, (tuple, list)) else ()
    if isinstance(value, (dict, slice)):
        parts = value.values() if isinstance(value, dict) else (value.start, value.stop, value.step)
    return next((proxy for part in parts if (proxy := found(part)) is not None), None)


def seeking(record: Callable[..., Any]) -> Answer:
    """Answers calls with a proxy by `record(proxy, function, args, kwargs)`, and others by the function's own code."""

    def answer(function: Any, own: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        proxy = found((args, kwargs))
        return own(*args, **kwargs) if proxy is None else record(proxy, function, args, kwargs)

    return answer


OPERATORS = {
    **{f"__{name}__": name for name in "add sub mul pow matmul eq ne lt le gt ge".split()},
    **{f"__{name}__": f"__{name}__" for name in "floordiv and or xor lshift rshift getitem".split()},
    "__truediv__": "div",
    "__mod__": "remainder",
}
"""The methods as which operators of a tensor and a proxy are recorded."""


@functools.cache
def _methods() -> dict[FunctionType, str]:
    """The methods of tensors, and how they are recorded when they are given a proxy."""
    names = {name: OPERATORS.get(name, name) for kind in Tensor.__mro__ for name in vars(kind)}
    public = [(getattr(Tensor, name), called) for name, called in names.items() if name[0] != "_" or name in OPERATORS]
    methods = [(method, called) for method, called in public if isinstance(method, FunctionType)]
    return dict(sorted(methods, key=lambda each: each[0].__name__ == each[1]))  # of several names, its own


_function = seeking(lambda proxy, function, args, kwargs: proxy.__torch_function__(function, (), args, kwargs))
_wrapped = seeking(lambda proxy, *call: proxy.tracer.create_proxy("call_function", *call))
_method = seeking(
    lambda proxy, function, *given: proxy.tracer.create_proxy("call_method", _methods()[function], *given)
)


class _Presence:
    """What all proxies hold: when the last of them is gone, it is, too."""


_lock = forks.lock()
_present: Any = lambda: None  # noqa: E731  # a weak reference, later
_done: dict[int, Redirected] = {}


def appear() -> Any:
    """What a new proxy holds as long as it lives."""
    global _present  # noqa: PLW0603  # one presence in a process
    with _lock:
        present = _present()
        if present is None:
            present = _Presence()
            _present = weakref.ref(present)
            weakref.finalize(present, _restore, _present)
            facade.WATCHERS.append(_watch)
            for name in naming.NAMESPACES:
                module = sys.modules.get(name)
                for value in facade.kept(module) if isinstance(module, facade.Facade) else ():
                    _watch(name, value)
            layers = naming.module("torch.nn.functional")
            for name in layers.__all__:  # those that layers call
                _watch(layers.__name__, getattr(layers, name))
            for method in _methods():
                _redirect(method, _method)
        return present


def _watch(name: str, value: Any) -> None:
    """Redirect a function that a module of torch has."""
    ours = isinstance(value, FunctionType) and str(value.__module__).startswith("pullback")
    if ours and name in naming.NAMESPACES and value.__name__ not in UNSEEN:
        _redirect(value, _function)


def _redirect(function: Any, answer: Answer) -> None:
    with _lock:
        if id(function) not in _done:
            _done[id(function)] = redirected(function, answer)
            _done[id(function)].do()


def _restore(gone: Any) -> None:
    """Undo what was done for proxies that are gone, unless there are others again."""
    with _lock:
        if _present is gone:
            facade.WATCHERS.clear()
            while _done:
                _done.popitem()[1].undo()


# While a tracer is at work: modules, functions of `math`, and those that programs have wrapped

_active = threading.local()
_count = 0
WRAPPED: dict[tuple[int, str], dict[str, Any]] = {}
"""The globals in which a program has wrapped a name."""
_changed: dict[tuple[int, str], list[Any]] = {}
"""Globals and names in them that are replaced: for how many tracers, what was there, and what is there now."""
_MISSING = object()


def _call(function: Any, own: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tracer = getattr(_active, "tracer", None)
    if tracer is None:
        return own(*args, **kwargs)
    module, *rest = args
    return tracer.call_module(module, functools.partial(own, module), tuple(rest), kwargs)


def _attribute(function: Any, own: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value, tracer = own(*args, **kwargs), getattr(_active, "tracer", None)
    return value if tracer is None else tracer.getattr(args[1], value, tracer.parameter_proxy_cache)


def _modules() -> tuple[Redirected, Redirected]:
    return redirected(Calls.__call__, _call), redirected(Members.__getattr__, _attribute)


@contextlib.contextmanager
def tracing(tracer: Any) -> Iterator[None]:
    """A block in which a tracer is told of this thread's calls of modules, and of parameters that are fetched."""
    global _count  # noqa: PLW0603  # tracers at work in a process
    before, _active.tracer = getattr(_active, "tracer", None), tracer
    with _lock:
        _count += 1
        for each in _modules() if _count == 1 else ():
            each.do()
    try:
        with replaced(tracer):
            yield
    finally:
        _active.tracer = before
        with _lock:
            _count -= 1
            for each in _modules() if _count == 0 else ():
                each.undo()


def _recording(function: Any) -> Any:
    """The function, recorded as one call where it is given a proxy."""
    return functools.wraps(function)(lambda *args, **kwargs: _wrapped(function, function, args, kwargs))


@contextlib.contextmanager
def replaced(tracer: Any) -> Iterator[None]:
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


def _named(names: dict[str, Any], name: str) -> Any:
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


def is_wrapped(function: Any) -> bool:
    """True for what a tracer finds only if it replaces names among globals: what programs wrap, and functions of `math`."""
    name = getattr(function, "__name__", "")
    if name in vars(math) and _named(vars(math), name) is function:
        return True
    return any(_named(names, name) is function for (_, name), names in WRAPPED.copy().items())


def wrapped_until_gone(function: Any) -> None:
    """Forget what generated code has wrapped when its function is gone."""
    for key in [key for key in WRAPPED.copy() if key[0] == id(function.__globals__)]:
        weakref.finalize(function, WRAPPED.pop, key, None)
