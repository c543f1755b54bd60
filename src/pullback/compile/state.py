"""The state of a function: all that it can reach besides its arguments, and whether that is still what it was.

A compiled function reads tensors and Python values from closures, globals, attributes and containers. They are found by
walking from the function, through everything it names, before a run is recorded. Tensors are read anew at each call;
everything else must be what it was, or the record does not hold.
"""

from __future__ import annotations

import array
import contextlib
import contextvars
import dis
import functools
import gc
import itertools
import operator
import sys
import threading
import types
import weakref
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._core.primitives import Carrier
from .._numerics.random import Generator
from .._tape.node import AccumulateGrad

LIMIT = 100_000  # things walked through, before a function is said to reach too much
LARGEST_ARRAY = 1 << 20
PLAIN = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    range,
    slice,
    type(Ellipsis),
    type(NotImplemented),
    np.generic,
)
LIBRARIES = {"pullback", "numpy", "scipy", *sys.stdlib_module_names} - {"__main__"}


class Holder:
    """A container that holds values of the state, by keys: what it held, and whether it still does."""

    def __init__(self, held: Any) -> None:
        self.held = held
        self.remember()

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        raise NotImplementedError

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        raise NotImplementedError

    def restore(self) -> None:
        """Hold again what was held."""
        for key, value in self.before.items():
            self.put(key, value)

    def named(self) -> Iterable[tuple[str, Any]]:
        """What it held under names."""
        return ((key, value) for key, value in self.before.items() if isinstance(key, str))

    def remember(self) -> None:
        """Take what it holds now for what it held."""
        self.before = self.entries()
        self._keys = tuple(self.before)
        self._key_ids = tuple(map(id, self.before))
        self._ids = tuple(map(id, self.before.values()))
        self.moving: set[Any] = set()

    def untouched(self, now: dict[Any, Any]) -> bool:
        """Whether it holds the very objects that it held."""
        return tuple(map(id, now.values())) == self._ids and tuple(map(id, now)) == self._key_ids

    def same(self) -> bool:
        """Whether it holds what it held; tensors under keys that move may be others of the same kind."""
        now = self.entries()
        if self.untouched(now):
            return True
        if now.keys() != self.before.keys() or tuple(now) != self._keys:
            return False
        return all(
            new is old or (alike(old, new) if key in self.moving else equal(old, new))
            for (key, new), old in zip(now.items(), self.before.values(), strict=True)
        )


class Mapping(Holder):
    """A dictionary, or one that is read only."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return dict(self.held)

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        self.held[key] = value

    def restore(self) -> None:
        """Hold again what was held."""
        if isinstance(self.held, dict):
            dict.clear(self.held)
            dict.update(self.held, self.before)


class Members(Mapping):
    """The attributes of a class."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        own = vars(self.held).items()
        return {name: value for name, value in own if not _dunder(name) or callable(value)}

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        setattr(self.held, key, value)

    def restore(self) -> None:
        """Hold again what was held."""
        for key, value in self.before.items():
            if vars(self.held).get(key) is not value:
                setattr(self.held, key, value)


class Facets(Holder):
    """Attributes of an object that are exchanged as a whole: its class and its dictionary, a function's code."""

    def __init__(self, held: Any, *names: str) -> None:
        self._names = names
        super().__init__(held)

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return {name: getattr(self.held, name, None) for name in self._names}

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        if getattr(self.held, key, None) is not value:
            setattr(self.held, key, value)


class Asked(Holder):
    """What an object says of itself: how far an iterator has come, what a cache has missed, which bytes there are."""

    def __init__(self, held: Any, answer: Callable[[Any], Any]) -> None:
        self._answer = answer
        super().__init__(held)

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return {"answer": self._answer(self.held)}

    def restore(self) -> None:
        """Nothing can be put back."""


class Attached(Holder):
    """Attributes that a user has given to a tensor."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return attached(self.held)

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        setattr(self.held, key, value)


class Named(Holder):
    """Some names of a namespace: the globals that a function uses, those of a module."""

    def __init__(self, held: Any, names: Iterable[str]) -> None:
        self._names = tuple(names)
        super().__init__(held)

    @property
    def absent(self) -> list[str]:
        """The names that were not there."""
        return [name for name in self._names if name not in self.before]

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return {name: self.held[name] for name in self._names if name in self.held}

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        if isinstance(self.held, dict):
            self.held[key] = value


class Slots(Holder):
    """An object with slots."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        names = [name for cls in type(self.held).__mro__ for name in _slots(cls)]
        return {name: getattr(self.held, name) for name in names if hasattr(self.held, name)}

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        setattr(self.held, key, value)


def _slots(cls: type) -> list[str]:
    """The slots of a class, under the names that Python gives to private ones."""
    names = vars(cls).get("__slots__", ())
    names = (names,) if isinstance(names, str) else names
    private = f"_{cls.__name__.lstrip('_')}"
    return [private + name if name.startswith("__") else name for name in names if not _dunder(name)]


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class Sequence(Holder):
    """A list, a tuple, a deque or a set."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return dict(enumerate(self.held))

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        if isinstance(self.held, list | deque):
            self.held[key] = value

    def restore(self) -> None:
        """Hold again what was held."""
        if isinstance(self.held, list):
            self.held[:] = self.before.values()
        elif isinstance(self.held, deque | set):
            self.held.clear()
            (self.held.extend if isinstance(self.held, deque) else self.held.update)(self.before.values())


class Elements(Holder):
    """A NumPy array of objects."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return dict(enumerate(self.held.flat))

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        self.held.flat[key] = value


class Closure(Holder):
    """A variable of an enclosing function."""

    def __init__(self, held: Any, name: str) -> None:
        self._name = name
        super().__init__(held)

    def named(self) -> Iterable[tuple[str, Any]]:
        """What it held, under the variable's name."""
        return ((self._name, value) for value in self.before.values())

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        try:
            return {"contents": self.held.cell_contents}
        except ValueError:  # not assigned yet
            return {}

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        self.held.cell_contents = value


class Content(Holder):
    """The numbers of a NumPy array, which are part of the program."""

    def entries(self) -> dict[Any, Any]:
        """What it holds now."""
        return {"content": (self.held.shape, self.held.dtype.str, self.held.tobytes())}

    def put(self, key: Any, value: Any) -> None:
        """Hold another value under a key."""
        shape, dtype, data = value
        if self.held.flags.writeable:
            self.held[...] = np.frombuffer(data, dtype).reshape(shape)


def equal(old: Any, new: Any) -> bool:
    """Whether two values that are no one object mean the same to a program."""
    if type(old) is not type(new) or not isinstance(old, (*PLAIN, tuple)):
        return False
    if isinstance(old, tuple):
        return len(old) == len(new) and all(a is b or equal(a, b) for a, b in zip(old, new, strict=True))
    return repr(old) == repr(new) if isinstance(old, float | complex | np.generic) else bool(old == new)


def alike(old: Any, new: Any) -> bool:
    """Whether two tensors are read alike: of one shape and dtype, both without a history; or two floats."""
    if type(old) is float:
        return type(new) is float
    if not (isinstance(old, Carrier) and isinstance(new, Carrier)):
        return False
    return (
        type(old) is type(new)
        and tuple(old.shape) == tuple(new.shape)
        and old._dtype == new._dtype
        and old._node is None
        and new._node is None
        and new._array.flags.c_contiguous
    )


def hooks_on(tensor: Any) -> list[Any]:
    """The lists of hooks on a leaf."""
    node: Any = tensor._node
    if not isinstance(node, AccumulateGrad):
        return []
    hooks = node.hooks
    return [node.post] if hooks is None else [node.post, hooks.tensor, hooks.pre, hooks.post]


def attached(tensor: Any) -> dict[str, Any]:
    """The attributes that a user has given to a tensor."""
    return {name: value for name, value in vars(tensor).items() if not hasattr(type(tensor), name)}


class State:
    """What can be reached from some roots: holders in the order in which they are found, and tensors.

    `asks_types` says whether a function names `type`, which tells a stand-in from a float.
    """

    def __init__(self, roots: Iterable[Any]) -> None:
        self.holders: list[Holder] = []
        self.tensors: list[Any] = []
        self.generators: list[Any] = []
        self.too_much: str | None = None
        self.asks_types = False
        self._seen: dict[int, Any] = {}
        self._todo: deque[Any] = deque(roots)
        self._names: set[str] = set()
        self._modules: dict[Any, set[str]] = {}
        while self._todo or self._looked_up():
            value = self._todo.popleft()
            if isinstance(value, PLAIN) or id(value) in self._seen:
                continue
            self._seen[id(value)] = value
            if len(self._seen) > LIMIT:
                self.too_much = f"the function reaches more than {LIMIT} objects"
                return
            self._visit(value)

    def knows(self, value: Any) -> bool:
        """Whether a value was there before the function ran."""
        return id(value) in self._seen

    def same(self) -> bool:
        """Whether all holders hold what they held."""
        return all(holder.same() for holder in self.holders)

    def restore(self) -> None:
        """Put back what was held."""
        for holder in self.holders:
            if not holder.untouched(holder.entries()):
                holder.restore()

    def _visit(self, value: Any) -> None:
        if isinstance(value, Carrier):
            self.tensors.append(value)
            self._todo.extend(hooks_on(value))
            if attached(value):
                self._hold(Attached(value))
        elif isinstance(value, dict | types.MappingProxyType):
            self._hold(Mapping(value))
            self._todo.extend((*value, getattr(value, "default_factory", None)))
            self._members(value)
        elif isinstance(value, list | tuple | set | frozenset | deque):
            self._hold(Sequence(value))
            self._members(value)
        elif isinstance(value, bytearray | array.array):
            self.holders.append(Asked(value, bytes))
        elif isinstance(value, np.ndarray):
            self._array(value)
        elif isinstance(value, Generator | np.random.Generator | np.random.RandomState):
            self.generators.append(value)
        else:
            self._object(value)

    def _hold(self, holder: Holder) -> None:
        self.holders.append(holder)
        self._todo.extend(holder.before.values())

    def _looked_up(self) -> bool:
        """Hold what modules have under the names that functions use; whether that is anything new."""
        for module, known in list(self._modules.items()):
            names = self._names.intersection(vars(module)) - known
            if names:
                known.update(names)
                self._hold(Named(vars(module), sorted(names)))
        return bool(self._todo)

    def _array(self, array: Any) -> None:
        if array.dtype.hasobject:
            self._hold(Elements(array))
        elif array.nbytes > LARGEST_ARRAY:
            self.too_much = (
                f"the function reaches a NumPy array of {array.nbytes} bytes: make it a tensor, which is read"
            )
        else:
            self.holders.append(Content(array))

    def _object(self, value: Any) -> None:
        if isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.MethodType):
            self._todo.extend((value.__self__, value.__func__))
        elif isinstance(value, types.ModuleType):
            if not _library_name(value.__name__):
                self._modules.setdefault(value, set())
        elif isinstance(value, functools.partial | functools.partialmethod):
            self._todo.extend((value.func, value.args, value.keywords))
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, staticmethod | classmethod):
            self._todo.append(value.__func__)
        elif isinstance(value, property):
            self._todo.extend((value.fget, value.fset))
        elif isinstance(value, weakref.ref):
            self._todo.append(value())
        elif isinstance(value, threading.local):
            self._hold(Facets(value, "__class__", "__dict__"))
        elif (answer := _answer(value)) is not None:
            self._hold(Asked(value, answer))
            self._todo.append(getattr(value, "__wrapped__", None))
        elif type(value).__module__.startswith("pullback.compile") and "function" in getattr(value, "__dict__", ()):
            self._todo.append(value.function)
        else:
            self._members(value)

    def _members(self, value: Any) -> None:
        """Hold the attributes of an object, and its class."""
        if not _open(type(value)):
            return
        members = getattr(value, "__dict__", None)
        if not _library(type(value)):
            self._hold(Facets(value, "__class__", *(["__dict__"] if isinstance(members, dict) else [])))
            if any(map(_slots, type(value).__mro__)):
                self._hold(Slots(value))
        elif isinstance(members, dict):
            self._hold(Mapping(members))

    def _function(self, function: Any) -> None:
        if _library(function):  # it stays what it is; but it may have been made of a user's
            self._todo.extend(_contents(function))
            return
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self._hold(Closure(cell, name))
        self._hold(Facets(function, "__code__", "__defaults__", "__kwdefaults__", "__dict__"))
        self._names |= _names(function.__code__)
        self.asks_types |= "type" in _globals(function.__code__)
        scope = function.__globals__
        self._hold(Named(scope, _globals(function.__code__)))
        if imported := _imported(function.__code__, scope.get("__package__")):
            self._hold(Named(sys.modules, imported))

    def _class(self, cls: type) -> None:
        if _library(cls):
            return
        self._hold(Facets(cls, "__class__", "__bases__"))
        self._hold(Members(cls))


def _contents(function: Any) -> list[Any]:
    """What the variables hold that a function has of those around it."""
    found = []
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # not assigned yet
            found.append(cell.cell_contents)
    return found


@functools.lru_cache(maxsize=1024)
def _globals(code: Any) -> tuple[str, ...]:
    """The globals that a function, and those inside it, look up or set."""
    kinds = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL")
    found = [i.argval for i in dis.get_instructions(code) if i.opname in kinds]
    return tuple(dict.fromkeys([*found, *[name for inner in _inner(code) for name in _globals(inner)]]))


@functools.lru_cache(maxsize=1024)
def _imported(code: Any, package: str | None) -> tuple[str, ...]:
    """The modules, none of a library, that a function, and those inside it, import."""
    given = [i.argval for i in dis.get_instructions(code) if i.opname == "IMPORT_NAME"]
    names = [name for name in given if name and not _library_name(name)]
    found = [*names, *[name.partition(".")[0] for name in names], *[f"{package}.{name}" for name in names if package]]
    return tuple(dict.fromkeys([*found, *[name for inner in _inner(code) for name in _imported(inner, package)]]))


def _answer(value: Any) -> Callable[[Any], Any] | None:
    """The question whose answer changes with an object that does not show what is inside it."""
    if isinstance(value, functools._lru_cache_wrapper):
        return _cached
    if isinstance(value, contextvars.ContextVar):
        return lambda variable: variable.get(None)
    if isinstance(value, types.GeneratorType):
        return _progress
    if isinstance(value, itertools.count):
        return repr
    if _library(type(value)) and hasattr(value, "__next__") and hasattr(value, "__length_hint__"):
        return operator.length_hint
    return None


def _cached(function: Any) -> Any:
    """What the cache of a function holds; it is no attribute, but can be asked for as what is referred to."""
    own = vars(function)
    return tuple(
        value
        for held in gc.get_referents(function)
        if type(held) is dict and held is not own
        for value in held.values()
    )


def _progress(generator: Any) -> Any:
    """How far a generator has come."""
    frame = generator.gi_frame
    return None if frame is None else (frame.f_lasti, *map(id, frame.f_locals.values()))


def _names(code: Any) -> set[str]:
    """All names in a function and those inside it, those of attributes among them."""
    return {*code.co_names, *[name for inner in _inner(code) for name in _names(inner)]}


def _inner(code: Any) -> list[Any]:
    return [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def _open(kind: type) -> bool:
    """Whether what is inside an object counts: of objects of users, of models and optimizers, and of plain containers."""
    module = kind.__module__
    models = module.startswith(("pullback.nn", "pullback.optim", "pullback.distributions", "pullback.compile"))
    plain = kind in (types.SimpleNamespace, UserDict, UserList, ChainMap)
    plain = plain or (module, kind.__name__) == ("argparse", "Namespace")  # not worth the import
    return models or plain or not _library(kind)


def _library(thing: Callable[..., Any] | type) -> bool:
    return _library_name(getattr(thing, "__module__", None) or "builtins")


def _library_name(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES
