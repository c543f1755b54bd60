"""The native core beside Python alone: every bit, stride, node, version and error text is the same."""

import copy
import gc
import importlib
import importlib.util
import inspect
import os
import pickle
import subprocess
import sys
import tomllib
import weakref
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
from tests.prepared import installed

import pullback
from pullback._tape import native

MODULE = "_pullback_native"
ROOT = Path(__file__).parents[2]
HERE = importlib.util.find_spec(MODULE) is not None
needs_core = pytest.mark.skipif(not HERE, reason="the native core is not built: native/README.md")


def lines(way, *arguments):
    command = [sys.executable, "-m", "tests.native", *arguments]
    environment = os.environ | {"PULLBACK_NATIVE": way, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first == f"native core: {way == '1'}"
    return rest


@needs_core
@pytest.mark.parametrize("part", ["samples", "operations", "expressions", "writes", "programs"])
def test_both_ways_give_the_same(part):
    python, core = lines("0", part), lines("1", part)
    assert len(python) == len(core) > 20
    differences = [f"{one}\n{other}" for one, other in zip(python, core, strict=True) if one != other]
    assert not differences, f"{len(differences)} of {len(python)}:\n" + "\n\n".join(differences[:3])


def told(**environment):
    """What an import says, in an environment."""
    code = "import pullback; print(pullback._tape.native.core)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment,
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_a_core_that_is_asked_for_and_missing_is_an_error(tmp_path):
    (tmp_path / f"{MODULE}.py").write_text("raise ModuleNotFoundError('no core')")
    missing = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    assert "asks for the native core, and it is not installed" in told(PULLBACK_NATIVE="1", PYTHONPATH=missing)
    assert told(PULLBACK_NATIVE="", PYTHONPATH=missing) == "None\n"


def test_a_core_of_another_version_is_refused(tmp_path):
    (tmp_path / f"{MODULE}.py").write_text("__version__ = '0.0.9'")
    other = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    assert "pullback-native 0.0.9" in told(PULLBACK_NATIVE="1", PYTHONPATH=other)
    found = told(PULLBACK_NATIVE="", PYTHONPATH=other)
    assert "RuntimeWarning: the native core is not used, since versions differ" in found
    assert "None\n" in found
    assert told(PULLBACK_NATIVE="0", PYTHONPATH=other) == "None\n"


def test_other_values_of_the_variable_are_refused():
    assert "it is 0 for Python alone, 1 for the native core" in told(PULLBACK_NATIVE="yes")


def test_the_version_is_that_of_pullback():
    with (ROOT / "pyproject.toml").open("rb") as file:
        extra = tomllib.load(file)["project"]["optional-dependencies"]["native"]
    assert extra == [f"pullback-native=={pullback.__version__}"]
    assert f"version: '{pullback.__version__}'" in (ROOT / "native" / "meson.build").read_text()


@pytest.mark.skipif(native.core is None, reason="the core is not used here")
@pytest.mark.parametrize("name", ["sin", "cat", "split", "mean", "dot"])
def test_so_does_a_function_of_the_package(name):
    function = getattr(pullback, name)
    assert isinstance(function, FunctionType)
    assert function.__module__ == "pullback"
    assert str(inspect.signature(function)) == str(inspect.signature(inspect.unwrap(function)))
    assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.skipif(native.core is None, reason="the core is not used here")
@pytest.mark.parametrize("name", ["__mul__", "__getitem__", "reshape", "t", "sum", "chunk", "__iadd__", "matmul"])
def test_a_function_stays_a_function_to_users(name):
    function = getattr(pullback.Tensor, name)
    assert isinstance(function, FunctionType)
    assert inspect.isfunction(function)
    assert inspect.signature(function)
    assert function.__doc__ == inspect.unwrap(function).__doc__
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function


@needs_core
def test_nothing_of_the_usual_case_is_handed_over():
    """Results would be the same: only time would tell. In a process of its own: where NumPy code has a tensor, more is asked."""
    entered = [*lines("1", "usual"), *lines("1", "free")]
    assert len(entered) > 50
    assert [line for line in entered if not line.endswith("\t[]")] == []


@needs_core
def test_the_loop_of_a_ufunc_serves_what_fits_it_and_nothing_else():
    """Elsewhere the ufunc would give the same: only time would tell, or memory that belongs to others."""
    matrix, row, column = (np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape) for shape in [(3, 4), (4,), (3,)])
    looped = importlib.import_module(MODULE).looped
    for given in (
        (matrix, matrix),
        (matrix, row),
        (row, matrix),
        (matrix, np.array(2.0)),
        (np.ones((2, 3, 4)), matrix),
    ):
        assert np.array_equal(looped(np.multiply, *given), np.multiply(*given)), [each.shape for each in given]
    assert np.array_equal(looped(np.negative, row), -row)
    refused = [
        (np.multiply, matrix, column),
        (np.multiply, column, matrix),
        (np.multiply, row),
        (np.negative, row, row),
    ]
    refused += [(np.multiply, row, row.astype(np.float32)), (np.multiply, matrix, matrix.T[:3]), (np.dot, row, row)]
    refused += [
        (np.multiply, row[:0], row[:0]),
        (np.multiply, np.ones(2049), np.ones(2049)),
        (np.modf, row),
        (len, row),
    ]
    refused += [(np.multiply,), (np.multiply, row, row, row), (np.multiply, *[row] * 9), (np.isnan, row), ()]
    assert [looped(*given) for given in refused] == [None] * len(refused)


@needs_core
def test_views_of_other_functions_are_made_by_the_core():
    entered = lines("1", "views")
    assert len(entered) == 5
    assert [line for line in entered if "'view'" in line] == []


def test_something_else_may_answer_calls_of_functions():
    """As a mode with `__torch_function__` does, or a graph of torch.fx; afterwards nothing is handed over again."""
    installed("""
        import torch
        from pullback._tape import native
        from tests.native.entering import entered_by
        from torch.overrides import TorchFunctionMode

        class Log(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                seen.append(func.__name__)
                return func(*args, **(kwargs or {}))

        x, y, seen = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2), []
        with Log():
            row, product, _ = x[0], x * y, torch.cat([x, y])
            product.sum().backward()
            y += 1.0
            y[0] = 2.0
        assert {"getitem", "mul", "cat", "sum", "add_", "setitem"} <= {*seen}, seen
        assert row.grad_fn.name() == "SelectBackward0" and x.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
        graph = torch.fx.symbolic_trace(lambda x, y: torch.stack([x @ y, torch.sin(x)])[0]).graph
        assert [node.name for node in graph.nodes] == ["x", "y", "matmul", "sin", "stack", "getitem", "output"]
        seen.clear()
        assert (x * y)[0].shape == (2,) and not seen
        assert native.core is None or entered_by("x * y; x[0]; u @ y", {"x": x, "y": y, "u": y * 2}) == []
    """)


@needs_core
def test_a_subinterpreter_goes_without():
    """With what NumPy allows: that nobody else in the process has imported it."""
    code = "import pullback; x = pullback.ones(2, requires_grad=True); (x * x).sum().backward(); "
    code += "print(pullback._tape.native.core, x.grad.tolist(), flush=True)"
    if sys.version_info >= (3, 13):
        start = f"import _interpreters as made; made.exec(made.create('legacy'), {code!r})"
    else:
        start = f"import _xxsubinterpreters as made; made.run_string(made.create(isolated=False), {code!r})"
    environment = os.environ | {"PULLBACK_NATIVE": "", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-W", "ignore", "-c", start]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stdout == "None [2.0, 2.0]\n", done.stderr


@pytest.mark.skipif(native.core is None, reason="the core is not used here")
def test_places_that_change_while_a_write_begins_are_looked_at_again():
    """What a graph has kept is copied first, by Python, which may run code of users: a profiler, a finalizer, another thread."""
    x, u, places = pullback.ones(4, requires_grad=True), pullback.zeros(4), pullback.tensor([0, 1])
    product = x * u

    def changed(frame, event, _):
        if event == "call" and frame.f_code.co_name == "protect":
            places.numpy()[...] = 10**12

    sys.setprofile(changed)
    try:
        with pytest.raises(IndexError, match="out of bounds"):
            u[places] = pullback.tensor([1.0, 2.0])
    finally:
        sys.setprofile(None)
    assert (product == 0).all()
    assert u.tolist() == [0.0] * 4


def test_pullback_is_imported_anew_in_python_alone():
    """The core serves the pullback that was imported first."""
    code = """if True:
        import sys, pullback as first
        x = first.ones(2, requires_grad=True)
        for kept in ("_pullback_native", ""):
            for name in [name for name in sys.modules if "pullback" in name.partition(".")[0] and name != kept]:
                del sys.modules[name]
            import pullback
            y = pullback.ones(2, requires_grad=True)
            (y * y[0]).sum().backward()
            (x * x[0]).sum().backward()
            assert pullback._tape.native.core is None
        print(y.grad.tolist(), x.grad.tolist())
    """
    environment = os.environ | {"PULLBACK_NATIVE": "", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout == "[3.0, 1.0] [6.0, 2.0]\n", done.stderr


def mixed(x, places):
    """A graph of all native forms, with calls that they hand over, and its pass."""
    y = pullback.cat([x, x * 2])[[0, 1, 4]] + x[places] - x[places >= 0]
    z = pullback.stack([y, x], -1)
    z += 1.0
    z[0] = x[:2]
    first, second = z.split(2)
    total = first.sum(1).mean() + second.unbind()[0].sum() + x.dot(y) + sum(row[0] for row in z.chunk(2)[0])
    layer = pullback.nn.functional.linear(z.T, z.T, x[:2])
    loss = pullback.nn.functional.cross_entropy(layer, places[:2] * 0)
    for wrong in (
        lambda: x[[9]],
        lambda: pullback.cat([x, z]),
        lambda: x @ z[:2],
        lambda: z.sum(7),
        lambda: x.split(0),
    ):
        with pytest.raises((IndexError, RuntimeError)):
            wrong()
    (total + loss + (x * x)[0] + x.reshape(1, 3).T.sum() + (z.T @ y).relu().sum()).backward()


@pytest.mark.skipif(native.core is None, reason="the core is not used here")
def test_graphs_are_collected():
    x = pullback.ones(3, requires_grad=True)
    y = x * 2
    y.itself = y[0:1]
    y.grad_fn.metadata["tensor"] = y
    gone = weakref.ref(y)
    del y
    gc.collect()
    assert gone() is None
    left, places = [], pullback.tensor([0, 1, 1])
    for count in (10, 300):
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(count):
            mixed(x, places)
            x.grad = None
        gc.collect()
        left.append(sys.getallocatedblocks() - before)
    assert left[1] < 100, left


def test_the_sources_are_short():
    for path in sorted((ROOT / "native" / "src").glob("*.[ch]")):
        lines = path.read_text().splitlines()
        assert len(lines) <= 500, path
        start = 0
        for number, line in enumerate(lines):
            if line == "{":
                start = number
            assert line != "}" or number - start <= 60, (path, number)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_not_finite_neither_warns_nor_raises(dtype):
    largest = np.full((3, 3), np.finfo(dtype).max, dtype)
    infinite = np.array([[np.inf, 1, 0], [1, -np.inf, np.nan], [0, 0, 1]], dtype)
    with np.errstate(all="raise"):
        for array in (largest, infinite):
            x = pullback.tensor(array, requires_grad=True)
            products, sums = (
                [x @ x, x @ x[0], x[0] @ x[1], x.T @ x, x * x, x / 0],
                [x.sum(0), x.sum(1, True), x.mean(0)],
            )
            for y in (*products, *sums, x.sum()):
                assert not y.isfinite().all()
            pullback.nn.functional.linear(x, x, x[0]).sum().backward()
            pullback.nn.functional.cross_entropy(x.detach().requires_grad_(), pullback.tensor([0, 1, 2])).backward()
