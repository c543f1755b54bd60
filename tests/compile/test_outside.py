"""What a function reads outside of Python's objects: clocks, files, settings of the process. It runs as it is, and says why."""

import abc
import contextvars
import datetime as dt
import decimal
import functools
import gc
import glob
import io
import json
import logging
import os
import pathlib
import sys
import threading
import time
import types

import numpy as np
import pytest

import pullback
from pullback import extend
from pullback.interpreters import Interpreter

X = pullback.tensor([1.0, 2.0, 3.0])
pytestmark = pytest.mark.filterwarnings("ignore:compile. .* runs as it is:UserWarning")


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = tmp_path / "number"
    found.write_text("2")
    return found


CLOCKS = {
    "time": time.time,
    "perf_counter": time.perf_counter,
    "sleep": lambda: time.sleep(0),
    "datetime": lambda: dt.datetime.now(dt.UTC),
    "today": dt.date.today,
}


def opened(path):
    with open(path) as file:
        return float(file.readline())


def read_or_nothing(path):
    """A number of a file; the program's own handler must not hide that it was read."""
    try:
        return float(path.read_text())
    except Exception:  # noqa: BLE001  # as programs do
        return 0.0


READ = {
    "open": opened,
    "Path": lambda path: float(path.read_text()),
    "exists": lambda path: float(os.path.exists(path)),
    "Path.exists": lambda path: float(path.exists()),
    "size": lambda path: float(os.stat(path).st_size),
    "listdir": lambda path: float(len(os.listdir(path.parent))),
    "glob": lambda path: float(len(glob.glob(f"{path.parent}/*"))),
    "loadtxt": lambda path: float(np.loadtxt(path)),
    "json": lambda path: float(json.loads(path.read_bytes())),
    "working directory": lambda path: float(len(os.getcwd())),
    "partial": lambda path: float(functools.partial(pathlib.Path.read_text, path)()),
    "caught": read_or_nothing,
}


@pytest.mark.parametrize("name", READ)
def test_files_are_read_at_each_call(name, path, monkeypatch):
    read = READ[name]

    @pullback.compile
    def scaled(x):
        return x * read(path)

    values = []
    for change in (lambda: None, lambda: path.write_text("33"), path.unlink, lambda: monkeypatch.chdir("/")):
        change()
        try:
            expected = (X * read(path)).tolist()
        except OSError:
            expected = None
        try:
            values.append((scaled(X).tolist(), expected))
        except OSError:
            values.append((None, expected))
    assert all(found == expected for found, expected in values), values
    assert "whose answer may be another one at the next call" in str(scaled.report())


@pytest.mark.parametrize("name", CLOCKS)
def test_clocks_are_read_at_each_call(name):
    read = []

    @pullback.compile
    def doubled(x):
        read.append(CLOCKS[name]())
        return x * 2

    assert [doubled(X)[0].item() for _ in range(3)] == [2.0, 2.0, 2.0]
    assert len(read) == 3
    assert "whose answer may be another one at the next call" in str(doubled.report())


def settings():
    """Functions that read a setting of the process, and two functions that change it."""
    thread, logger = threading.current_thread(), logging.getLogger("of a test")
    collecting, limit, threads, precision = gc.isenabled(), sys.getrecursionlimit(), pullback.get_num_threads(), 28
    before = thread.name
    return {
        "collector": (gc.isenabled, gc.disable, gc.enable if collecting else gc.disable),
        "recursion": (sys.getrecursionlimit, lambda: sys.setrecursionlimit(limit + 7), lambda: sys.setrecursionlimit(limit)),
        "thread": (
            lambda: len(threading.current_thread().name), lambda: setattr(thread, "name", "x"),
            lambda: setattr(thread, "name", before),
        ),
        "level": (lambda: logger.isEnabledFor(10), lambda: logger.setLevel(10), lambda: logger.setLevel(40)),
        "errors": (
            lambda: len(np.geterr()["over"]), lambda: np.seterr(over="ignore"), lambda: np.seterr(over="warn"),
        ),
        "digits": (
            lambda: np.get_printoptions()["precision"], lambda: np.set_printoptions(precision=3),
            lambda: np.set_printoptions(precision=8),
        ),
        "text of an array": (
            lambda: len(str(np.array([1 / 3]))), lambda: np.set_printoptions(precision=3),
            lambda: np.set_printoptions(precision=8),
        ),
        "threads": (
            pullback.get_num_threads, lambda: pullback.set_num_threads(threads + 1),
            lambda: pullback.set_num_threads(threads),
        ),
        "seed": (pullback.initial_seed, lambda: pullback.manual_seed(5), lambda: pullback.manual_seed(6)),
        "decimals": (
            lambda: float(decimal.Decimal(1) / 3), lambda: setattr(decimal.getcontext(), "prec", 3),
            lambda: setattr(decimal.getcontext(), "prec", precision),
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", settings())
def test_settings_that_change(name):
    read, change, back = settings()[name]

    @pullback.compile
    def scaled(x):
        return x * float(read())

    try:
        for each in (back, change, back, change):
            each()
            np.testing.assert_allclose(scaled(X).numpy(), X.numpy() * np.float32(read()), rtol=1e-6)
    finally:
        back()


def test_the_call_is_not_made_while_the_function_is_recorded(monkeypatch):
    """Each line of the input is read once."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n2\n3\n"))

    @pullback.compile
    def scaled(x):
        return x * float(input())

    assert [scaled(X)[0].item() for _ in range(3)] == [1.0, 2.0, 3.0]


def test_logs_warnings_and_imports_do_not_count(recwarn):
    @pullback.compile
    def scaled(x):
        import colorsys  # as programs do

        logging.getLogger("of a test").info("called")
        return x * colorsys.ONE_THIRD

    sys.modules.pop("colorsys", None)
    scaled(X)
    np.testing.assert_allclose(scaled(X).numpy(), X.numpy() / 3, rtol=1e-6)
    assert scaled.report().recorded == 1, str(scaled.report())


def test_what_the_collector_calls_does_not_count():
    class Left:
        def __del__(self):
            time.time()

    def clock():
        time.time()

    def callback(phase, info):
        clock()  # in another function of the one who watches

    @pullback.compile
    def scaled(x):
        Left()
        gc.collect()
        return x * 2

    gc.callbacks.append(callback)
    try:
        assert scaled(X)[0].item() == 2.0
    finally:
        gc.callbacks.remove(callback)
    assert scaled.report().recorded == 1, str(scaled.report())


def test_under_a_profiler_functions_are_compiled():
    @pullback.compile
    def scaled(x):
        return x * 2

    events = []
    sys.setprofile(lambda frame, event, argument: events.append(event))
    try:
        scaled(X)
        assert sys.getprofile() is not None
    finally:
        sys.setprofile(None)
    assert events
    assert scaled(X).tolist() == [2.0, 4.0, 6.0]


class Shape(abc.ABC):  # noqa: B024  # nothing is abstract but the class
    """A class that others are registered with."""


def instances(value):
    return lambda: isinstance(value, Shape)


def matched(value):
    def matches():
        match value:
            case Shape():
                return True
            case _:
                return False

    return matches


@pytest.mark.parametrize("kind", [instances, matched])
def test_a_class_that_is_registered_later(kind):
    cls = type("Circle", (), {})
    matches = kind(cls())

    @pullback.compile
    def scaled(x):
        return x * (2 if matches() else 1)

    assert [scaled(X)[0].item() for _ in range(2)] == [1.0, 1.0]
    assert scaled.report().recorded == 1
    Shape.register(cls)
    assert [scaled(X)[0].item() for _ in range(2)] == [2.0, 2.0]


# State of Python that has no module, or is no value


def test_globals_of_code_without_a_module():
    scope = {"K": 2.0}
    exec("def scaled(x): return x * K * len([1])", scope)  # as notebooks and templates do
    scaled = pullback.compile(scope["scaled"])
    assert scaled(X)[0].item() == 2.0
    scope["K"] = 5.0
    assert scaled(X)[0].item() == 5.0
    scope["len"] = lambda _: 3.0
    assert scaled(X)[0].item() == 15.0


def test_a_module_of_the_program_that_is_named_like_one_of_the_library(tmp_path, monkeypatch):
    (tmp_path / "tabnanny.py").write_text("K = 2.0\ndef scaled(x):\n    return x * K\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "tabnanny", raising=False)
    import tabnanny  # the one that was just written

    scaled = pullback.compile(tabnanny.scaled)
    assert scaled(X)[0].item() == 2.0
    tabnanny.K = 5.0
    assert scaled(X)[0].item() == 5.0
    del sys.modules["tabnanny"]


def described(a: int):  # of a test
    """Three words here."""


DESCRIPTIONS = {
    "__doc__": (lambda: len(described.__doc__), "One."),
    "__name__": (lambda: len(described.__name__), "d"),
    "__qualname__": (lambda: len(described.__qualname__), "d"),
    "__annotations__": (lambda: len(described.__annotations__), {}),
    "__module__": (lambda: len(described.__module__), "m"),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_what_a_function_says_of_itself(name, monkeypatch):
    read, other = DESCRIPTIONS[name]

    @pullback.compile
    def scaled(x):
        return x * read()

    for _ in range(2):
        assert scaled(X)[0].item() == read()
    monkeypatch.setattr(described, name, other)
    for _ in range(2):
        assert scaled(X)[0].item() == read() == len(other)


@pytest.mark.parametrize("ask", [dir, vars], ids=lambda ask: ask.__name__)
def test_names_of_a_module(ask):
    module = types.ModuleType("of_a_test")

    @pullback.compile
    def scaled(x):
        return x * len([name for name in ask(module) if not name.startswith("_")])

    assert scaled(X)[0].item() == 0.0
    module.one = 1
    assert scaled(X)[0].item() == 1.0


def test_classes_made_later():
    base = type("Base", (), {})

    @pullback.compile
    def scaled(x):
        return x * len(base.__subclasses__())

    assert scaled(X)[0].item() == 0.0
    derived = type("Derived", (base,), {})
    assert scaled(X)[0].item() == 1.0
    del derived


def test_context_variables_of_the_program():
    variable = contextvars.ContextVar("of a test", default=1.0)

    @pullback.compile
    def scaled(x):
        return x * variable.get()

    assert scaled(X)[0].item() == 1.0
    token = variable.set(3.0)
    assert scaled(X)[0].item() == 3.0
    variable.reset(token)


# Code of users that runs while an operation is recorded


def ticking(read):
    """Reads the clock."""
    read.append(time.time())


def by_forward(x, read):
    doubled = extend.linear("doubled", lambda xp, g: 2 * g, forward=lambda x: (ticking(read), 2 * x)[1])
    return doubled(x).sum()


def by_rule(x, read):
    def rule(xp, g):
        ticking(read)
        return 2 * g

    return extend.linear("doubled by a rule", rule, forward=lambda x: 2 * x)(x).sum()


def by_own_function(x, read, way):
    class Doubled(pullback.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            if way == "forward":
                ticking(read)
            return 2 * x

        @staticmethod
        def backward(ctx, g):
            if way == "backward":
                ticking(read)
            return 2 * g

    return Doubled.apply(x * 1.0).sum()


def by_hook(x, read):
    y = 2 * x
    y.register_hook(lambda g: ticking(read))
    return y.sum()


def by_saved(x, read, way):
    def packed(value):
        if way == "pack":
            ticking(read)
        return value.detach()

    def unpacked(value):
        if way == "unpack":
            ticking(read)
        return value

    with pullback.autograd.graph.saved_tensors_hooks(packed, unpacked):
        return (x * x.detach() * (2 / x.detach())).sum()


def by_packing_in_a_pass(x, read):
    y = (x * x).sum()
    with pullback.autograd.graph.saved_tensors_hooks(lambda value: (ticking(read), value)[1], lambda value: value):
        (g,) = pullback.autograd.grad(y, x, create_graph=True)
    return g.sum()


class Ticking(Interpreter):
    """Computes operations as they are, and reads the clock at those of one name."""

    def __init__(self, read, name):
        super().__init__()
        self.read, self.name = read, name

    def process(self, primitive, args, params):
        if primitive.name == self.name:
            ticking(self.read)
        return self.box(primitive(*map(self.unbox, args), **params))


def by_interpreter(x, read):
    with Ticking(read, "multiply") as ticks:
        return ticks.unbox(ticks.box(x) * 2).sum()


def beneath_a_transform(x, read, name):
    """Operations of a transform inside, whose tape computes on what the interpreter has boxed: sin forwards, cos backwards."""
    with Ticking(read, name) as ticks:
        slope = ticks.unbox(pullback.func.grad(lambda y: y.sin().sum())(ticks.box(x)))
    return (slope * (-2 / x.detach().sin())).sum()


def by_cotangent(x, read):
    """A pass whose cotangents are an interpreter's."""
    with Ticking(read, "multiply") as ticks:
        y = x * 2
        (g,) = pullback.autograd.grad(y, x, ticks.box(pullback.ones(3)), create_graph=True)
        return (x * ticks.unbox(g)).sum()


def after_an_operation(x, read):
    y = 2 * x
    ticking(read)
    return y.sum()


def after_an_error(x, read):
    try:
        x @ pullback.ones(5)
    except (RuntimeError, ValueError):
        ticking(read)
    return (2 * x).sum()


def after_a_pass(x, read):
    (g,) = pullback.autograd.grad((x * x).sum(), x)
    ticking(read)
    return (x * g / x.detach()).sum()


PLACES = {
    "forward": by_forward, "rule": by_rule, "hook": by_hook, "interpreter": by_interpreter,
    "beneath a tape": functools.partial(beneath_a_transform, name="sin"),
    "beneath a pass": functools.partial(beneath_a_transform, name="cos"),
    "packing in a pass": by_packing_in_a_pass, "cotangent": by_cotangent, "after an operation": after_an_operation, "after an error": after_an_error,
    "after a pass": after_a_pass,
    "Function.forward": functools.partial(by_own_function, way="forward"),
    "Function.backward": functools.partial(by_own_function, way="backward"),
    "pack": functools.partial(by_saved, way="pack"), "unpack": functools.partial(by_saved, way="unpack"),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_clocks_are_read_wherever_code_of_the_program_runs(place):
    read = []

    @pullback.compile
    def slope(x):
        return pullback.autograd.grad(PLACES[place](x, read), x)[0]

    x = pullback.tensor([1.0, 2.0, 3.0], requires_grad=True)
    counts = []
    for _ in range(3):
        before = len(read)
        np.testing.assert_allclose(slope(x).numpy(), [2.0, 2.0, 2.0], rtol=1e-6)
        counts.append(len(read) - before)
    assert counts[0] > 0
    assert counts[0] == counts[1] == counts[2]
    assert "whose answer may be another one at the next call" in str(slope.report())
