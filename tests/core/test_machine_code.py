"""When operations outside of compiled functions are machine code: with "always" and "never" no bit depends on the past."""

import multiprocessing
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import pullback
from pullback._core import machine
from pullback.nn import functional

BITS = Path(__file__).parents[1] / "stress" / "bits.py"
INSTALLED = machine.installed()
with_llvmlite = pytest.mark.skipif(not INSTALLED, reason="machine code is made by llvmlite, which is not installed")
OPERATIONS = ["tanh", "sum", "softmax", "matmul", "conv2d", "max_pool2d", "layer_norm", "lstm", "index_add", "training"]
BY_BLAS = ["sum", "softmax", "matmul", "conv2d", "training"]
"""What NumPy computes by BLAS or in an order of its own; loops of ours are those of the other mode."""


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    before = pullback.get_machine_code()
    monkeypatch.setenv("PULLBACK_MACHINE_CODE", before)
    yield
    pullback.set_machine_code(before)


def digests(mode, *operations):
    """For each of some operations the digests at all moments of a new process, some of which are those of three spawned workers."""
    environment = os.environ | {"PULLBACK_MACHINE_CODE": mode}
    command = [sys.executable, "-W", "ignore", BITS, *operations]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    found = defaultdict(list)
    for line in run.stdout.splitlines():
        operation, _, digest = line.split("|")
        found[operation].append(digest)
    assert found.keys() == {*operations}
    assert {len(each) for each in found.values()} == {10 if hasattr(os, "fork") else 9}
    return found


def test_never_gives_the_same_bits_whatever_came_before():
    assert dict.fromkeys(BY_BLAS, 1) == {name: len({*found}) for name, found in digests("never", *BY_BLAS).items()}


@with_llvmlite
def test_always_gives_the_same_bits_whatever_came_before():
    assert dict.fromkeys(OPERATIONS, 1) == {
        name: len({*found}) for name, found in digests("always", *OPERATIONS).items()
    }


@with_llvmlite
def test_otherwise_bits_depend_on_what_came_before():
    """So the tests above would notice it."""
    assert len({*digests("auto", "sum")["sum"]}) == 2


def sums(x):
    return x.sum(1).numpy().tobytes()


@with_llvmlite
def test_it_can_be_changed_at_any_time():
    x = pullback.from_numpy(np.random.default_rng(0).standard_normal((500, 700)).astype(np.float32))
    y = pullback.from_numpy(np.random.default_rng(1).standard_normal((700, 700)).astype(np.float32))

    def found(mode):
        pullback.set_machine_code(mode)
        return sums(x), sums(x.exp()), sums(x @ y), sums(x.softmax(1) * 3)

    never, always = found("never"), found("always")
    assert never != always
    for _ in range(2):
        assert found("never") == never
        assert found("always") == always
    pullback.set_machine_code("never")
    with np.errstate(all="ignore"):
        assert sums(x.tanh()) == np.tanh(x.numpy()).sum(1).tobytes()


def mode_in_child(queue):
    queue.put(pullback.get_machine_code())


@pytest.mark.parametrize("method", [m for m in multiprocessing.get_all_start_methods() if m != "forkserver"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_processes_that_are_started_have_the_same_mode(method):
    pullback.set_machine_code("never")
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    process = context.Process(target=mode_in_child, args=(queue,))
    process.start()
    process.join(120)
    assert process.exitcode == 0
    assert queue.get() == "never"


@pytest.mark.parametrize("mode", ["sometimes", "", "Never", None, True, ["never"]])
def test_other_modes_are_refused_and_change_nothing(mode):
    before = pullback.get_machine_code()
    with pytest.raises(ValueError, match="must be 'auto', 'always' or 'never'"):
        pullback.set_machine_code(mode)
    assert pullback.get_machine_code() == before == os.environ["PULLBACK_MACHINE_CODE"]


@pytest.mark.parametrize(("value", "mode"), [("", "auto"), ("auto", "auto"), ("never", "never"), ("nein", None)])
def test_the_environment_chooses(value, mode):
    command = [sys.executable, "-c", "import pullback; print(pullback.get_machine_code())"]
    environment = os.environ | {"PULLBACK_MACHINE_CODE": value}
    run = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if mode is None:
        assert "ValueError: the environment variable PULLBACK_MACHINE_CODE must be" in run.stderr
    else:
        assert (run.returncode, run.stdout) == (0, f"{mode}\n")


WITHOUT = """
import sys
class Without:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "llvmlite":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Without)
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name == "llvmlite" else find(name)
import pullback
try:
    pullback.set_machine_code("always")
except RuntimeError as error:
    print(error)
print(pullback.get_machine_code())
"""


def test_always_needs_llvmlite():
    run = subprocess.run([sys.executable, "-c", WITHOUT], check=False, capture_output=True, text=True)
    told = "set_machine_code is 'always', but llvmlite is not installed: pip install 'pullback[compile]'\nauto\n"
    assert (run.returncode, run.stdout, run.stderr) == (0, told, "")


def test_torchs_name_for_it():
    from pullback.compat.torch import top

    pullback.set_machine_code("auto")
    assert not top.are_deterministic_algorithms_enabled()
    top.use_deterministic_algorithms(True)
    assert (top.are_deterministic_algorithms_enabled(), pullback.get_machine_code()) == (True, "never")
    top.use_deterministic_algorithms(False)
    assert (top.are_deterministic_algorithms_enabled(), pullback.get_machine_code()) == (False, "auto")


def many(*shape):
    """Enough numbers for each kernel, which require grad."""
    return pullback.from_numpy(np.random.default_rng(0).standard_normal(shape)).requires_grad_()


def aligned():
    logs = many(50, 8, 20).log_softmax(-1)
    return functional.ctc_loss(logs, pullback.ones(8, 10, dtype=pullback.int64), [50] * 8, [10] * 8)


def updated():
    w = many(1 << 16)
    w.grad = pullback.ones_like(w)
    pullback.optim.SGD([w], lr=0.1).step()
    return w


KERNELS = {
    "accumulation": lambda: many(300, 300).index_add(0, pullback.arange(300) % 7, many(300, 300)),
    "alignment": aligned,
    "convolution": lambda: functional.conv2d(many(4, 12, 64, 80), many(24, 12, 3, 3)),
    "dense": lambda: many(300, 300) @ many(300, 300),
    "depthwise": lambda: functional.conv2d(many(4, 12, 64, 80), many(12, 1, 3, 3), groups=12),
    "large": lambda: many(1 << 16).erf(),
    "moving": lambda: many(600, 600).flip(0, 1),
    "pooling": lambda: functional.max_pool2d(many(4, 12, 64, 80), 2),
    "recurrent": lambda: pullback.nn.LSTM(64, 128, dtype=pullback.float64)(many(20, 32, 64))[0],
    "resampling": lambda: functional.interpolate(many(4, 12, 64, 80), scale_factor=1.5, mode="bilinear"),
    "rows": lambda: many(300, 300).softmax(1),
    "scanning": lambda: many(300, 300).cumsum(1),
    "totals": lambda: many(300, 300).sum(1),
    "updates": updated,
}
"""What is computed by the kernels of each module of `compile.machine` that eager operations ask for."""


def test_each_kernel_is_tried():
    source = Path(pullback.__file__).parent
    paths = [path for path in source.rglob("*.py") if "compile" not in path.relative_to(source).parts]
    calls = re.findall(r"\bmodule\((\"[^)]*)\)", "\n".join(path.read_text(encoding="utf-8") for path in paths))
    asked = {name for call in calls for name in re.findall(r"\"(\w+)\"", call)}
    files = {path.stem for path in (source / "compile" / "machine").glob("*.py")}
    untried = (asked & files) - KERNELS.keys()
    assert not untried, f"write operations that use {sorted(untried)} into KERNELS"
    assert KERNELS.keys() <= asked


@with_llvmlite
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_is_used_always_and_never(name, monkeypatch):
    """`never` leaves all to NumPy: what asks for a kernel asks `usable`, or a function that does, before."""
    asked, module = [], machine.module
    for known in ("products", "batches"):  # as in a process that has not met any
        monkeypatch.setattr(machine.budget, known, getattr(machine.Budget(), known))
    monkeypatch.setattr(machine, "module", lambda name: asked.append(name) or module(name))
    for mode, used in (("never", False), ("always", True)):
        pullback.set_machine_code(mode)
        asked.clear()
        KERNELS[name]()
        assert name not in asked or used, (
            f"{name} is used in the mode {mode}: ask machine.usable(), or a function that does"
        )
        assert name in asked or not used, f"KERNELS[{name!r}] uses only {asked}: call {name} in the forward function"
