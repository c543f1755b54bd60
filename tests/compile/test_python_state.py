"""Python objects that a compiled function asks something of: each is watched, or the function runs as it is and says why.

Each situation makes a function, compiled or not, over objects of its own, and a step that changes those and calls it.
"""

import builtins
import collections
import configparser
import contextvars
import csv
import ctypes
import dataclasses
import enum
import functools
import importlib
import io
import itertools
import operator
import os
import pathlib
import random
import re
import struct
import sys
import threading
import types
import typing
import weakref

import numpy as np
import pytest

import pullback

X = pullback.ones(2)
SITUATIONS = {}
MODULE = types.ModuleType("pullback_test_settings")
sys.modules[MODULE.__name__] = MODULE
SETTING = 0.0


def situation(make):
    SITUATIONS[make.__name__] = make
    return make


def trace(make, wrap, times=5):
    """What some calls give, or the error, and what the situation shows of its objects."""
    random.seed(0)
    pullback.manual_seed(0)
    step, found = make(wrap), []
    for i in range(times):
        try:
            found.append(str(step(i)))
        except (StopIteration, RuntimeError, KeyError, ReferenceError) as error:
            found.append(type(error).__name__)
    return found


class Plain:
    pass


# Iterators


def tensors():
    return iter([pullback.tensor(float(i)) for i in range(9)])


def loaded():
    data = pullback.utils.data.TensorDataset(pullback.arange(9.0))
    return (batch[0].sum() for batch in iter(pullback.utils.data.DataLoader(data)))


NUMBERS = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0]
ITERATORS = {
    "generator": lambda: (n for n in NUMBERS),
    "list": lambda: iter(NUMBERS),
    "reversed": lambda: reversed(NUMBERS),
    "map": lambda: map(float, NUMBERS),
    "filter": lambda: filter(None, NUMBERS),
    "zip": lambda: map(sum, zip(NUMBERS, NUMBERS, strict=True)),
    "enumerate": lambda: map(sum, enumerate(NUMBERS)),
    "dict": lambda: iter(dict.fromkeys(range(9))),
    "set": lambda: iter(set(range(9))),
    "range": lambda: iter(range(9)),
    "chain": lambda: itertools.chain([1.0, 2.0], NUMBERS),
    "islice": lambda: itertools.islice(NUMBERS, 7),
    "accumulate": lambda: itertools.accumulate(NUMBERS),
    "cycle": lambda: itertools.cycle(NUMBERS[:2]),
    "count": lambda: itertools.count(1.0),
    "combinations": lambda: map(sum, itertools.combinations(NUMBERS, 2)),
    "flat": lambda: np.arange(9.0).flat,
    "nditer": lambda: map(float, np.nditer(np.arange(9.0))),
    "csv": lambda: map(float, itertools.chain.from_iterable(csv.reader(["1,2", "3,4", "5,6"]))),
    "lines": lambda: map(float, io.StringIO("1\n2\n3\n4\n5\n")),
    "tensors": tensors,
    "DataLoader": loaded,
}


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", ITERATORS)
@pytest.mark.parametrize("held", ["closure", "attribute", "argument", "list"])
def test_no_item_of_an_iterator_is_lost_or_repeated(name, held):
    def make(wrap):
        box = Plain()
        box.items = items = ITERATORS[name]()
        inside = [items]
        functions = {
            "closure": wrap(lambda x: x * next(items)),
            "attribute": wrap(lambda x: x * next(box.items)),
            "list": wrap(lambda x: x * next(inside[0])),
        }
        taking = wrap(lambda x, items: x * next(items))
        return lambda i: taking(X, items) if held == "argument" else functions[held](X)

    compiled = []
    assert trace(make, lambda f: compiled.append(pullback.compile(f)) or compiled[-1]) == trace(make, lambda f: f)
    notes = [note for each in compiled if each.refused for note in each.report().notes]
    assert any("iterator" in note or "file" in note for note in notes)


def test_iterators_of_ones_own_are_watched():
    class Turns:
        def __init__(self):
            self.n = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            return float(self.n)

    def make(wrap):
        turns = Turns()
        function = wrap(lambda x: x * next(turns))
        return lambda i: (function(X), turns.n)

    assert trace(make, pullback.compile) == trace(make, lambda f: f)


# Values that are equal, and are not the same

ALIKE = {
    "types": [1, 1.0, True, np.float32(1), np.float64(1), np.int64(1), 1 + 0j],
    "zeros": [0.0, -0.0],
    "NaN": [float("nan"), -float("nan")],
    "ranges": [range(0, 3, 2), range(0, 4, 2)],
    "slices": [slice(0, 1), slice(0, 1.0), slice(False, 1)],
    "tuples": [(1,), (1.0,), (True,), ((1,),)],
    "frozen sets": [frozenset([1]), frozenset([1.0])],
    "texts": ["1", b"1"],
}


def seen(value):
    """A number that tells values apart."""
    sign = float(np.copysign(1, value)) if isinstance(value, float) else 0.0
    return len(repr(value)) + len(type(value).__name__) + sign + getattr(value, "stop", 0)


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("held", ["value", "key", "set", "argument", "argument's key", "attribute"])
def test_values_that_are_equal_but_differ(name, held):
    def make(wrap):
        where, members, box = {}, set(), Plain()

        def function(x, given):
            if held == "argument":
                return x * seen(given)
            if held == "argument's key":
                return sum(given.values()) * seen(*given)
            if held == "attribute":
                return x * seen(box.value)
            return x * seen(next(iter(where.values() if held == "value" else where if held == "key" else members)))

        function = wrap(function)

        def step(i):
            value = ALIKE[name][i % len(ALIKE[name])]
            if isinstance(value, slice) and held in ("key", "set", "argument's key"):
                value = value.stop
            where.clear()
            members.clear()
            box.value = value
            if not isinstance(value, slice):
                members.add(value)
            where.update({value: value} if held == "key" else {0: value})
            return function(X, value if held == "argument" else {value: X} if held == "argument's key" else 0)

        return step

    assert trace(make, pullback.compile, 14) == trace(make, lambda f: f, 14)


# Objects


class Scaled(float):
    pass


class Color(enum.IntEnum):
    RED = 1


class Shade(enum.Enum):
    DARK = "dark"


@dataclasses.dataclass
class Point:
    x: float
    y: list = dataclasses.field(default_factory=list)


class Pair(typing.NamedTuple):
    first: float
    second: float = 2.0


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: float = 2.0


class Slotted:
    __slots__ = ("value",)


class Marked:
    __scale__ = 1.0


class Structure(ctypes.Structure):
    _fields_ = (("value", ctypes.c_double),)


def attributes_of(made, name="weight", read=None):
    """A situation in which an attribute of an object is set to another value at each call."""

    def make(wrap):
        held = made()
        function = wrap(read(held) if read else lambda x: x * getattr(held, name))

        def step(i):
            setattr(held, name, float(i))
            return function(X)

        return step

    return make


MEMBERS = {
    "float": attributes_of(lambda: Scaled(2.0), read=lambda held: lambda x: x * held.weight * held),
    "str": attributes_of(lambda: type("Text", (str,), {})("a")),
    "int enum": attributes_of(lambda: Color.RED),
    "enum": attributes_of(lambda: Shade.DARK, read=lambda held: lambda x: x * Shade.DARK.weight),
    "enum class": attributes_of(lambda: Color),
    "module": attributes_of(lambda: MODULE),
    "module, attrgetter": attributes_of(
        lambda: MODULE, read=lambda _: functools.partial(looked, operator.attrgetter("weight"))
    ),
    "module, vars": attributes_of(lambda: MODULE, read=lambda held: lambda x: x * vars(held)["weight"]),
    "module, __dict__": attributes_of(lambda: MODULE, read=lambda held: lambda x: x * held.__dict__["weight"]),
    "sys.modules": attributes_of(
        lambda: MODULE, read=lambda _: lambda x: x * sys.modules["pullback_test_settings"].weight
    ),
    "import_module": attributes_of(
        lambda: MODULE, read=lambda _: lambda x: x * importlib.import_module("pullback_test_settings").weight
    ),
    "slots": attributes_of(Slotted, "value"),
    "dataclass": attributes_of(lambda: Point(1.0), "x"),
    "marked": attributes_of(lambda: Marked, "__scale__", lambda _: lambda x: x * Marked.__scale__),
    "function": attributes_of(lambda: lambda: None),
    "ctypes": attributes_of(lambda: ctypes.c_double(1.0), "value"),
    "ctypes structure": attributes_of(Structure, "value"),
    "namespace": attributes_of(types.SimpleNamespace),
    "thread's": attributes_of(threading.local),
    "UserDict": attributes_of(collections.UserDict),
    "array": attributes_of(lambda: np.zeros(2).view(type("Array", (np.ndarray,), {}))),
    "exception": attributes_of(ValueError),
    "list": attributes_of(type("Numbers", (list,), {})),
    "partial": attributes_of(lambda: functools.partial(float)),
}


def looked(get, x):
    return x * get(MODULE)


KNOWN = {
    "named tuple": Pair(1.0),
    "class of named tuples": Pair,
    "dataclass": Point(1.0),
    "frozen dataclass with slots": Frozen(),
    "enum": Shade.DARK,
    "pattern": re.compile("a"),
    "struct": struct.Struct("d"),
    "path": pathlib.Path("a"),
    "namespace": types.SimpleNamespace(x=1.0),
    "ordered dict": collections.OrderedDict(a=1),
    "default dict": collections.defaultdict(list),
    "generic alias": list[int],
}


@pytest.mark.parametrize("name", KNOWN)
def test_objects_that_are_known_let_functions_be_compiled(name):
    held = KNOWN[name]
    function = pullback.compile(lambda x: (x * 2).sin() if held is not None else x)
    for _ in range(3):
        assert function(X).tolist() == (X * 2).sin().tolist()
    assert "uncompiled" not in str(function.report())


@situation
def named_tuple_that_is_replaced(wrap):
    held = [Pair(0.0)]
    function = wrap(lambda x: x * held[0].first + held[0].second)
    return lambda i: (held.__setitem__(0, Pair(float(i))), function(X))


@situation
def class_of_named_tuples_that_changes(wrap):
    class Changing(typing.NamedTuple):
        first: float

    held = Changing(2.0)
    function = wrap(lambda x: x * held.first)
    return lambda i: (setattr(Changing, "first", property(lambda _: float(i))), function(X))[1]


@situation
def weak_keys(wrap):
    held, key = weakref.WeakKeyDictionary(), Plain()
    function = wrap(lambda x: x * held[key])
    return lambda i: (held.update({key: float(i)}), function(X))


@situation
def weak_reference_dies(wrap):
    box = [Plain()]
    found = weakref.ref(box[0])
    function = wrap(lambda x: x * (2.0 if found() is None else 3.0))
    return lambda i: (box.clear() if i == 2 else None, function(X), found() is None)


@situation
def weak_reference_of_what_is_held_dies(wrap):
    box = [Plain()]
    found = weakref.ref(box[0])
    function = wrap(lambda x: x * (2.0 if found() is None else 3.0) * (len(box) + 1))
    return lambda i: (box.clear() if i == 2 else None, function(X))


@situation
def weak_values(wrap):
    held, keys = weakref.WeakValueDictionary(), [Plain()]
    held["a"] = keys[0]
    function = wrap(lambda x: x * len(held))
    return lambda i: (keys.clear() if i == 2 else None, function(X))


@situation
def weak_set(wrap):
    held, keys = weakref.WeakSet(), []
    function = wrap(lambda x: x * len(held))
    return lambda i: (keys.append(Plain()), held.add(keys[-1]), function(X))[2]


@situation
def weak_proxy(wrap):
    key = Plain()
    proxy = weakref.proxy(key)
    function = wrap(lambda x: x * proxy.value)
    return lambda i: (setattr(key, "value", i), function(X))


@situation
def configuration(wrap):
    held = configparser.ConfigParser()
    held["a"] = {}
    function = wrap(lambda x: x * float(held["a"]["b"]))
    return lambda i: (held["a"].update({"b": str(i)}), function(X))[1]


@situation
def pointer(wrap):
    held = ctypes.c_double()
    found = ctypes.pointer(held)
    function = wrap(lambda x: x * found.contents.value)
    return lambda i: (setattr(held, "value", i), function(X))


@situation
def array_of_ctypes(wrap):
    held = (ctypes.c_double * 2)()
    function = wrap(lambda x: x * held[0])
    return lambda i: (held.__setitem__(0, i), function(X))


def of_globals(read):
    def make(wrap):
        function = wrap(read)

        def step(i):
            globals()["SETTING"] = float(i)
            return function(X)

        return step

    return make


ALIAS = globals
SITUATIONS |= {
    "globals": of_globals(lambda x: x * globals()["SETTING"]),
    "globals, by another name": of_globals(lambda x: x * ALIAS()["SETTING"]),
    "eval": of_globals(lambda x: x * eval("SETTING")),
    "frame": of_globals(lambda x: x * sys._getframe().f_globals["SETTING"]),
    "nested": of_globals(lambda x: x * sum(SETTING for _ in range(2))),
}


@situation
def computed_name(wrap):
    held, name = Plain(), "eulav"[::-1]
    function = wrap(lambda x: x * getattr(held, name))
    return lambda i: (setattr(held, name, i), function(X))


@situation
def environment(wrap):
    function = wrap(lambda x: x * float(os.environ["PULLBACK_TEST"]) * float(os.getenv("PULLBACK_TEST")))
    return lambda i: (os.environ.__setitem__("PULLBACK_TEST", str(i)), function(X))


@situation
def random_numbers(wrap):
    function = wrap(lambda x: x * random.random())
    return lambda i: function(X)


@situation
def random_numbers_of_ones_own(wrap):
    source = random.Random(3)
    function = wrap(lambda x: x * source.random())
    return lambda i: function(X)


@situation
def bytes_read(wrap):
    held = io.BytesIO(b"1234567")
    function = wrap(lambda x: x * held.read(1)[0])
    return lambda i: function(X)


@situation
def method_of_a_dict(wrap):
    held = {}
    get = held.get
    function = wrap(lambda x: x * get("a"))
    return lambda i: (held.update(a=i), function(X))[1]


@situation
def view_of_a_dict(wrap):
    held = {}
    values = held.values()
    function = wrap(lambda x: x * sum(values))
    return lambda i: (held.update(a=i), function(X))[1]


@situation
def memory_view(wrap):
    held = bytearray(2)
    seen = memoryview(held)
    function = wrap(lambda x: x * seen[0])
    return lambda i: (held.__setitem__(0, i), function(X))


@situation
def scalar_of_a_structure(wrap):
    held = np.zeros(1, [("k", float)])[0]
    function = wrap(lambda x: x * float(held["k"]))
    return lambda i: (held.__setitem__("k", i), function(X))


@situation
def order_of_a_dict(wrap):
    held = collections.OrderedDict(a=1.0, b=2.0, c=3.0)
    function = wrap(lambda x: x * next(iter(held.values())))
    return lambda i: (held.move_to_end(next(iter(held))), function(X))[1]


@situation
def cell(wrap):
    value = 1.0
    cells = (lambda: value).__closure__
    function = wrap(lambda x: x * cells[0].cell_contents)
    return lambda i: (setattr(cells[0], "cell_contents", float(i)), function(X))[1]


@situation
def cached_property(wrap):
    source = Plain()

    class Held:
        value = functools.cached_property(lambda self: source.n)

    held = Held()
    function = wrap(lambda x: x * held.value)
    return lambda i: (setattr(source, "n", i), vars(held).clear(), function(X))[2]


@situation
def context(wrap):
    held = contextvars.ContextVar("held")
    function = wrap(lambda x: x * held.get())
    return lambda i: (held.set(float(i)), function(X))[1]


@situation
def tensor_keys(wrap):
    held, key = {}, [pullback.ones(2)]
    held[key[0]] = 1.0
    function = wrap(lambda x: x * sum(held.values()))

    def step(i):
        new = pullback.ones(2)
        held[new] = held.pop(key[0]) + 1
        key[0] = new
        return function(X)

    return step


@situation
def state_of_an_optimizer_moves(wrap):
    parameter = pullback.ones(2, requires_grad=True)
    optimizer = pullback.optim.SGD([parameter], lr=0.1, momentum=0.9)

    def train(x):
        optimizer.zero_grad()
        loss = (optimizer.param_groups[0]["params"][0] * x).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    train = wrap(train)

    def step(i):
        old = optimizer.param_groups[0]["params"][0]
        if i == 3:
            new = (old.detach() * 2).requires_grad_()
            optimizer.param_groups[0]["params"][0] = new
            optimizer.state[new] = optimizer.state.pop(old)
        return train(X).item(), optimizer.param_groups[0]["params"][0].detach()

    return step


@situation
def new_object_at_each_call(wrap):
    function = wrap(lambda x, held: x * held.value)

    def step(i):
        held = Plain()
        held.value = i
        return function(X, held)

    return step


@situation
def builtin_is_hidden(wrap):
    function = wrap(lambda x: x * abs(-2.0))

    def step(i):
        globals().pop("abs", None)
        if i > 2:
            globals()["abs"] = lambda value: value
        try:
            return function(X)
        finally:
            globals().pop("abs", None)

    return step


assert builtins.abs


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("name", [*MEMBERS, *SITUATIONS])
def test_what_is_asked_of_objects(name):
    make = (MEMBERS | SITUATIONS)[name]
    assert trace(make, pullback.compile, 6) == trace(make, lambda f: f, 6)


def test_a_function_that_runs_as_it_is_says_why():
    items = iter(NUMBERS)
    compiled = pullback.compile(lambda x: x * next(items))
    with pytest.warns(UserWarning, match="runs as it is, uncompiled: the function reaches an iterator"):
        compiled(X)
    assert "list_iterator" in str(compiled.report())


# Memory that is shared


def views_of_one_base(wrap):
    cache = pullback.zeros(4, 3)

    def function(row):
        row.add_(1)
        return cache.sum()

    function = wrap(function)
    return lambda i: (function(cache[i % 3 + 1]), cache.clone())


def apart_and_then_together(wrap):
    base = pullback.zeros(3)

    def function(a, b):
        a.add_(1)
        return b * 2

    function = wrap(function)
    return lambda i: (function(base.view(3) if i % 2 else base.clone(), base), base.clone())


def memory_of_numpy(wrap):
    base = np.zeros(4, np.float32)
    first, rest = pullback.from_numpy(base), pullback.from_numpy(base[1:])

    def function(x):
        first.add_(x.sum())
        return rest * 1

    function = wrap(function)
    return lambda i: (function(X), base.copy())


def parameters_that_overlap(wrap):
    base = pullback.arange(4.0)
    first, second = base[:3].detach().requires_grad_(), base[1:].detach().requires_grad_()
    optimizer = pullback.optim.SGD([first, second], lr=0.1)

    def function():
        optimizer.zero_grad()
        loss = (first**2).sum() + (second**3).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    function = wrap(function)
    return lambda i: (function(), base.clone())


def expanded(wrap):
    def function(x):
        return x.add_(1).sum()

    function = wrap(function)
    return lambda i: function(pullback.zeros(3) if i % 2 == 0 else pullback.zeros(1).expand(3))


def views_are_returned(wrap):
    x = pullback.arange(3.0)
    function = wrap(lambda x: (x.add_(1), x[1:])[1])
    return lambda i: (function(x).zero_(), x.clone())


def copies_are_returned(wrap):
    x = pullback.arange(3.0)
    function = wrap(lambda x: (x.add_(1), x[1:] + 0, x)[1:])
    return lambda i: (function(x)[0].zero_(), x.clone())


def written_in_turns(wrap):
    buffers = [pullback.zeros(3), pullback.zeros(3)]

    def function(x):
        buffers[0].add_(1)
        return buffers[1] + 0

    function = wrap(function)
    return lambda i: (buffers.reverse(), function(X), buffers[0].clone())


SHARED = [
    views_of_one_base, apart_and_then_together, memory_of_numpy, parameters_that_overlap, expanded, views_are_returned,
    copies_are_returned, written_in_turns,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize("make", SHARED, ids=lambda make: make.__name__)
def test_memory_that_is_written_and_shared(make):
    assert trace(make, pullback.compile, 6) == trace(make, lambda f: f, 6)


def test_a_graph_from_before_keeps_its_values_when_the_function_is_recorded():
    base = pullback.arange(4.0)
    part = base[1:].detach().requires_grad_()
    loss = (part**2).sum()

    @pullback.compile
    def function():
        base.mul_(2)
        return base.sum()

    for _ in range(3):
        function()
    base.zero_()
    loss.backward()
    assert part.grad.tolist() == [2.0, 4.0, 6.0]
