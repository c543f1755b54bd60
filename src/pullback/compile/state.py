"""The state of a function: all that it can reach besides its arguments, and whether that is still what it was.

A compiled function reads tensors and Python values from closures, globals, attributes and containers. They are found by
walking from the function, through everything it names, before a run is recorded. Tensors are read anew at each call;
everything else must be what it was, or the record does not hold. What is inside an object is known of containers, of
objects of classes that Python made, and of the kinds listed here; an object that does not show it, an iterator for one,
makes the function run as it is, and is said why. So nothing is read that is not watched.
"""

from __future__ import annotations

import array
import builtins
import contextlib
import contextvars
import functools
import importlib
import inspect
import io
import mmap
import operator
import os
import random
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .. import Generator, Tensor
from ..observe import AccumulateGrad, node as node_of
from . import cpython, holders
from .holders import PLAIN, Holder, attached, is_scalar

LIMIT = 100_000  # things walked through, before a function is said to reach too much
LARGEST_ARRAY = 1 << 20
LIBRARIES = {"pullback", "numpy", "scipy", *sys.stdlib_module_names} - {"__main__"}
OWN = {"pullback", "numpy", "scipy"}
"""Libraries of whose modules only what a function names is watched."""
FUNCTIONAL = "pullback.nn.functional"
FOLDERS = (os.path.dirname(os.__file__), os.path.join(sys.base_prefix, "DLLs"))
"""Where Python's library is."""
BUFFERS = (bytearray, array.array, memoryview, mmap.mmap, *cpython.C_DATA)


# What other objects are made of, or say of themselves.
PARTS: dict[Any, Callable[[Any], Iterable[Any]]] = {
    types.MethodType: lambda method: (method.__self__, method.__func__),
    types.BuiltinMethodType: lambda method: () if isinstance(method.__self__, types.ModuleType) else (method.__self__,),
    types.MethodWrapperType: lambda method: (method.__self__,),
    functools.partial: lambda partial: (partial.func, partial.args, partial.keywords),
    (staticmethod, classmethod): lambda method: (method.__func__,),
    property: lambda made: (made.fget, made.fset, made.fdel),
    slice: lambda made: (made.start, made.stop, made.step),
    (type({}.keys()), type({}.values()), type({}.items())): cpython.within,
}
WRAPPING = (types.MethodType, functools.partial, (staticmethod, classmethod), property)
"""Those of them that functions are made into."""
QUESTIONS: dict[Any, Callable[[Any], Any]] = {
    cpython.Cache: cpython.cached,
    contextvars.ContextVar: lambda variable: variable.get(None),
    BUFFERS: bytes,
    np.void: lambda scalar: (scalar.dtype.str, scalar.tobytes()),
    BaseException: lambda error: (error.args, error.__dict__),
}

# What cannot change, or of which the program does not take note: locks, logs, files.
STILL = (
    types.BuiltinFunctionType, types.CodeType, types.GenericAlias, types.UnionType, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType,
    np.dtype, np.ufunc, type(np.interp), np.random.BitGenerator, random.SystemRandom, type(inspect.FullArgSpec.args),
)  # fmt: skip
STILL_MODULES = {
    "_abc", "_io", "_struct", "_thread", "datetime", "decimal", "fractions", "io", "logging", "operator", "pathlib", "re", "threading",
    "typing", "uuid", "zoneinfo",
}  # fmt: skip

# Names that are computed: by some functions anything can be found, by others the attributes of what is reached.
FINDERS = (
    globals, eval, exec, __import__, importlib.import_module, importlib.reload, sys.modules,
    inspect.currentframe, inspect.stack, *cpython.FINDERS,
)  # fmt: skip
DESCRIPTIONS = {"__doc__", "__name__", "__qualname__", "__annotations__", "__module__"}
LOOKING = (getattr, hasattr, setattr, delattr, vars, dir, operator.attrgetter)


def hooks_on(tensor: Tensor) -> list[Any]:
    """The lists of hooks on a leaf."""
    node: Any = node_of(tensor)
    if not isinstance(node, AccumulateGrad):
        return []
    hooks = node.hooks
    return [node.post] if hooks is None else [node.post, hooks.tensor, hooks.pre, hooks.post]


def seeded(generator: object) -> bool:
    """Whether random numbers are those of pullback: the thread's, or those of a `Generator`."""
    return generator is None or isinstance(generator, Generator)


class State:
    """What can be reached from some roots: holders in the order in which they are found, and tensors.

    `unknown` says why not all of it can be known, `asks_types` whether a function names `type`, which tells a stand-in
    from a float. Of the `arguments` among the roots a state keeps none alive, once it is `done`.
    """

    def __init__(self, roots: Iterable[object], arguments: Iterable[object] = ()) -> None:
        self._passed = {id(each) for each in arguments if holders.passed(each)}
        self.holders: list[Holder] = []
        self.tensors: list[Tensor] = []
        self.generators: list[Any] = []
        self.randoms: list[tuple[random.Random, Any]] = []
        self.unknown = ""
        self.asks_types = False
        self._seen: dict[int, object] = {}
        self._todo: deque[object] = deque(roots)
        self._names: set[str] = set()
        self._modules: list[types.ModuleType] = []
        self._functions: list[types.FunctionType] = []
        self._whole = False
        self._scopes: dict[int, tuple[Mapping[str, Any], set[str], set[str]]] = {}
        while self._todo or self._looked_up():
            value = self._todo.popleft()
            if type(value) in PLAIN[:-1] or is_scalar(value) or id(value) in self._seen:
                continue
            self._seen[id(value)] = value
            if len(self._seen) > LIMIT:
                self._refuse(f"reaches more than {LIMIT} objects")
            if self.unknown:
                return
            self._visit(value)

    def knows(self, value: object) -> bool:
        """Whether a value was there before the function ran."""
        return id(value) in self._seen

    def done(self) -> None:
        """Forget what only the search has needed."""
        self._seen, self._functions, self._scopes = {}, [], {}

    def same(self) -> bool:
        """Whether all holders hold what they held."""
        return all(holder.same() for holder in self.holders)

    def renew(self) -> bool:
        """Whether all holders hold what means the same; if so, it is what they held from now on.

        Another thread may change things at any moment, so what is taken is what has been looked at.
        """
        found = [(holder, holder.entries()) for holder in self.holders]
        if not all(holder.untouched(now) or holder.means(now) for holder, now in found):
            return False
        for holder, now in found:
            holder.take(now)
        return True

    def drew(self) -> bool:
        """Whether Python's random numbers have been drawn."""
        return any(source.getstate() != before for source, before in self.randoms)

    def restore(self) -> None:
        """Put back what was held."""
        for holder in self.holders:
            if not holder.untouched(holder.entries()):
                holder.restore()
        for source, before in self.randoms:
            source.setstate(before)

    def _refuse(self, reason: str) -> None:
        self.unknown = self.unknown or f"the function {reason}"

    def _visit(self, value: Any) -> None:
        if isinstance(value, Tensor):
            self.tensors.append(value)
            self._todo.append(type(value))
            self._todo.extend(hooks_on(value))
            if attached(value):
                self._hold(holders.Attached(value))
        elif any(value is finder for finder in FINDERS):
            self._refuse(f"looks names up that it computes, by {getattr(value, '__name__', 'sys.modules')}")
        elif isinstance(value, operator.attrgetter) or any(value is function for function in LOOKING):
            self._whole = True
        elif value is os.getenv:
            self._todo.append(os.environ)
        elif isinstance(value, dict | types.MappingProxyType):
            self._hold(holders.Mapping(value))
            self._todo.extend((*value, getattr(value, "default_factory", None)))
            self._members(value)
        elif isinstance(value, list | tuple | set | frozenset | deque):
            self._hold(holders.Sequence(value))
            self._members(value)
        elif isinstance(value, np.ndarray):
            self._array(value)
        elif isinstance(value, Generator | np.random.Generator | np.random.RandomState):
            self.generators.append(value)
        elif isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
            self.randoms.append((value, value.getstate()))
        else:
            self._code(value)

    def _hold(self, holder: Holder) -> None:
        self.holders.append(holder)
        self._todo.extend(holder.before.values())

    def _array(self, array: Any) -> None:
        if array.dtype.hasobject:
            self._hold(holders.Elements(array))
        elif array.nbytes > LARGEST_ARRAY:
            self._refuse(f"reaches a NumPy array of {array.nbytes} bytes: make it a tensor, which is read")
        else:
            self.holders.append(holders.Content(array))
        if type(array) is not np.ndarray:
            self._members(array)

    def _code(self, value: Any) -> None:
        """Look into what is called, and where names are found."""
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.ModuleType):
            self._modules.append(value)
        elif isinstance(value, types.CellType):
            self._hold(holders.Closure(value, "contents"))
        elif isinstance(value, type):
            if value.__module__ == "decimal":
                self._hold(holders.Asked(value, lambda _: repr(sys.modules["decimal"].getcontext())))
            elif not _library(value):
                self._hold(holders.Attributes(value, "__class__", "__bases__"))
                self._hold(holders.Members(value))
            elif _own(value.__module__, "pullback"):
                self._own_class(value)
        elif isinstance(value, weakref.ProxyTypes) or (isinstance(value, weakref.ref) and value() is not None):
            self._refuse("reaches a weak reference, whose object a record would keep alive")
        elif type(value).__module__.startswith("pullback.compile") and "function" in getattr(value, "__dict__", ()):
            self._todo.append(value.function)
        else:
            self._object(value)

    def _own_class(self, value: type) -> None:
        """Hold what a class of pullback has, and what its functions name in `nn.functional`: users exchange both."""
        self.holders.append(holder := holders.Library(value))
        self._todo.extend(value.__mro__[1:])
        users, functional = _exchanged(value, holder.before)
        self._todo.extend(users)
        if functional:
            self._want(vars(sys.modules[FUNCTIONAL]), functional)

    def _object(self, value: Any) -> None:
        for kinds, parts in PARTS.items():
            if isinstance(value, kinds):
                self._todo.extend((*parts(value), getattr(value, "__dict__", None)))
                return
        for kinds, question in QUESTIONS.items():
            if isinstance(value, kinds):
                self._asked(value, question)
                return
        if isinstance(value, io.IOBase) and not value.closed and value.readable():
            self._refuse("reaches a file that is read")
        elif isinstance(value, threading.local):
            self._hold(holders.Attributes(value, "__class__", "__dict__"))
        elif type(value).__module__ == "decimal":
            self._todo.append(type(value))
        elif type(value) is object or (isinstance(value, STILL) and _library(type(value))) or _still(type(value)):
            pass
        else:
            kind: Any = type(value)
            hidden = _hidden(kind) and not isinstance(value, PLAIN)
            if hidden or (_library(type(value)) and hasattr(value, "__next__")):
                what = "an iterator" if hasattr(value, "__next__") else "an object that does not show what is inside it"
                self._refuse(f"reaches {what}, of type {type(value).__module__}.{type(value).__qualname__}")
            self._members(value)

    def _asked(self, value: Any, question: Callable[[Any], Any]) -> None:
        if isinstance(value, BUFFERS) and getattr(value, "_objects", None):
            self._refuse("reaches memory of C by a pointer")
        elif isinstance(value, BUFFERS) and memoryview(value).nbytes > LARGEST_ARRAY:
            self._refuse(f"reaches {memoryview(value).nbytes} bytes in a {type(value).__name__}")
        else:
            self._hold(holders.Asked(value, question))
            self._todo.append(getattr(value, "__wrapped__", None))

    def _members(self, value: Any) -> None:
        """Hold the attributes of an object, and its class."""
        kind = type(value)
        container = isinstance(value, dict | types.MappingProxyType | list | tuple | set | frozenset | deque)
        if _still(kind) or (container and _library(kind)):
            return
        members = getattr(value, "__dict__", None)
        if kind.__module__.startswith("pullback."):
            self._todo.append(kind)
            if isinstance(members, dict):
                self._hold(holders.Mapping(members))
            return
        self._hold(self._attributes(value, "__class__", *(["__dict__"] if isinstance(members, dict) else [])))
        if slots := cpython.slots_of(kind):
            self._hold(self._attributes(value, *slots))

    def _attributes(self, value: Any, *names: str) -> holders.Attributes:
        """A holder of some attributes, which keeps no argument alive."""
        return (holders.OfArgument if id(value) in self._passed else holders.Attributes)(value, *names)

    # Names

    def _function(self, function: types.FunctionType) -> None:
        if of_library(_home(function)):  # it stays what it is; but it may have been made of a user's
            self._todo.extend(each() if isinstance(each, weakref.ref) else each for each in _contents(function))
            return
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._hold(holders.Closure(cell, name))
        self._hold(self._attributes(function, "__code__", "__defaults__", "__kwdefaults__", "__dict__"))
        self._functions.append(function)
        names, found = cpython.names_in(function.__code__), cpython.globals_in(function.__code__)
        self._names |= names
        self._whole |= "__dict__" in names
        self.asks_types |= "type" in found
        scope = function.__globals__
        self._want(scope, found)
        self._todo.extend(getattr(builtins, name) for name in found if name not in scope and hasattr(builtins, name))
        if imported := _imported(function.__code__, scope.get("__package__")):
            self._hold(holders.Named(sys.modules, imported))
        around = [scope[name] for name in found if name in scope]
        around += [sys.modules.get(name) for name in cpython.imports_in(function.__code__)]
        for module in (*around, *_contents(function)):
            if isinstance(module, types.ModuleType) and of_library(module.__name__):
                self._want(vars(module), _present(module, names))

    def _want(self, namespace: Mapping[str, Any], names: Iterable[str]) -> None:
        """Have some names of a namespace held."""
        self._scopes.setdefault(id(namespace), (namespace, set(), set()))[1].update(names)

    def _looked_up(self) -> bool:
        """Hold what namespaces have under the names that functions use; whether that is anything new."""
        if described := DESCRIPTIONS & self._names:
            for function in self._functions:
                self._hold(self._attributes(function, *sorted(described)))
            self._functions.clear()
        for module in self._modules:
            own, library = vars(module), of_library(module.__name__)
            if library and not _own(module.__name__):
                continue
            if self._whole and not library:
                self._todo.extend([] if id(own) in self._seen else [own])
            else:
                self._want(own, _present(module, self._names))
        for namespace, wanted, held in list(self._scopes.values()):
            if names := wanted - held:
                held.update(names)
                self.holders.append(holder := holders.Named(namespace, sorted(names)))
                found = holder.before.values()
                arrays = _own(str(namespace.get("__name__")), "numpy", "scipy")
                self._todo.extend([each for each in found if _followed(each)] if arrays else found)
        return bool(self._todo)


def _home(function: types.FunctionType) -> str:
    """The module in which a function was written, whatever `functools.wraps` has made it say."""
    return str(function.__globals__.get("__name__") or function.__module__ or "")


_members: dict[int, tuple[Any, list[Any], set[str]]] = {}


def _exchanged(cls: type, entries: dict[Any, Any]) -> tuple[list[Any], set[str]]:
    """What in a class of pullback is a user's, and the names that its functions look up in `nn.functional`."""
    known = _members.get(id(cls))
    if known is not None and known[0] is entries:
        return known[1:]
    names = set[str]()
    module = sys.modules.get(FUNCTIONAL)
    functions = [value for value in entries.values() if isinstance(value, types.FunctionType)]
    for function in functions:
        if (
            module
            and of_library(_home(function))
            and any(function.__globals__.get(name) is module for name in function.__code__.co_names)
        ):
            names.update(_present(module, {*function.__code__.co_names}))
    users = [value for value in entries.values() if _by_user(value, set())]
    _members[id(cls)] = entries, users, names
    return users, names


def _present(module: types.ModuleType, names: set[str]) -> set[str]:
    """Those of some names that a module has; pullback's modules import what they have when they are asked."""
    if _own(module.__name__, "pullback"):
        for name in names.intersection(dir(module)).difference(vars(module)):
            getattr(module, name, None)
    return names.intersection(vars(module))


def _followed(value: object) -> bool:
    """Whether what NumPy or SciPy has under a name leads on: to other names, or to code of a user."""
    return isinstance(value, types.ModuleType) or _by_user(value, set())


def _by_user(value: object, seen: set[int]) -> bool:
    """Whether a member of a class is a user's function, or is made of one."""
    if id(value) in seen:
        return False
    seen.add(id(value))
    if isinstance(value, types.FunctionType):
        return not of_library(_home(value)) or any(_by_user(each, seen) for each in _contents(value))
    parts = next((parts(value) for kinds, parts in PARTS.items() if kinds in WRAPPING and isinstance(value, kinds)), ())
    return any(_by_user(each, seen) for each in parts)


def _contents(function: types.FunctionType) -> list[Any]:
    """What the variables hold that a function has of those around it."""
    found = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # not assigned yet
            found.append(cell.cell_contents)
    return found


def _imported(code: types.CodeType, package: str | None) -> tuple[str, ...]:
    """The names in `sys.modules` of those that are none of a library."""
    names = [name for name in cpython.imports_in(code) if name and not of_library(name)]
    found = [*names, *[name.partition(".")[0] for name in names], *[f"{package}.{name}" for name in names if package]]
    return tuple(dict.fromkeys(found))


@functools.lru_cache(maxsize=1024)
def _hidden(kind: type) -> bool:
    """Whether objects of a class have more inside than attributes, and what is walked through."""
    walked = issubclass(kind, dict | list | tuple | set | frozenset | deque | np.ndarray)
    return not walked and cpython.hides(kind)


def _still(kind: type) -> bool:
    """Whether objects of a library's class stay what they are, as far as programs go."""
    module = kind.__module__
    if module.startswith("pullback."):
        return not module.startswith(
            ("pullback.nn", "pullback.optim", "pullback.distributions", "pullback.compile", "pullback.utils")
        )
    return module.partition(".")[0] in STILL_MODULES


def _library(thing: Callable[..., Any] | type) -> bool:
    return of_library(getattr(thing, "__module__", None) or "builtins")


def of_library(module: str) -> bool:
    """True if a module belongs to Python's library, NumPy, SciPy or pullback, and does not only have such a name."""
    root = module.partition(".")[0]
    file = getattr(sys.modules.get(root), "__file__", None)
    return root in LIBRARIES and (root in OWN or file is None or file.startswith(FOLDERS))


def _own(module: str, *roots: str) -> bool:
    return module.partition(".")[0] in (roots or OWN)
