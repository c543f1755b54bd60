"""Machine code shared by threads: results do not show it, and threads neither disturb a fork nor each other."""

import multiprocessing
import subprocess
import sys
import threading

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code is made by llvmlite, which is not installed")

import pullback
from pullback._numerics import blas

from .beside import same


@pytest.fixture(autouse=True)
def _threads_as_before():
    before = pullback.get_num_threads()
    pullback.set_num_threads(2)
    yield
    pullback.set_num_threads(before)


def large(seed=0):
    rng = np.random.default_rng(seed)
    return [pullback.tensor(rng.standard_normal(shape)) for shape in ((600, 500), (500, 400))]


def work(x, y):
    """Nests and a product that threads share."""
    z = pullback.tanh(x @ y)
    return (z * z).sum(0), pullback.softmax(z, 1), z.mean()


def made():
    """The compiled function, and what its machine code gave: the first call records."""
    compiled = pullback.compile(work, fullgraph=True)
    _, expected = (compiled(*large()) for _ in range(2))
    assert any(kernel.threads for kernel in compiled._newest().machinery.executable.kernels)
    return compiled, expected


def test_results_do_not_depend_on_the_number_of_threads():
    compiled, expected = made()
    for a, b in zip(expected, work(*large()), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-13)
    for count in (1, 3, 7, 100, 2):
        pullback.set_num_threads(count)
        for _ in range(3):
            same(compiled(*large()), expected)


def test_threads_of_python_that_call_at_the_same_time():
    compiled, _ = made()
    expected = [compiled(*large(seed)) for seed in range(4)]
    wrong = []

    def call(number):
        for _ in range(20):
            found = compiled(*large(number))
            wrong.extend(not np.array_equal(a.numpy(), b.numpy()) for a, b in zip(found, expected[number], strict=True))

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not any(wrong)


FIRST = """
import sys, threading, numpy as np, pullback
sys.setswitchinterval(1e-6)
x = pullback.rand(1 << 19)
line, found = threading.Barrier(8, timeout=60), []
def run():
    for name in ("sin", "exp", "tanh"):
        for _ in range(2):
            line.wait()
            found.append(bool(np.allclose(getattr(x, name)().numpy(), getattr(np, name)(x.numpy()), rtol=1e-5)))
threads = [threading.Thread(target=run) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(set(found), len(found))
"""


def test_threads_that_are_all_the_first_to_need_code(monkeypatch):
    """Code is made while other threads run: none may use what another one makes and drops."""
    monkeypatch.setenv("PULLBACK_CACHE", "off")
    for _ in range(3):
        run = subprocess.run([sys.executable, "-c", FIRST], check=False, capture_output=True, text=True, timeout=120)
        assert (run.returncode, run.stdout, run.stderr) == (0, "{True} 48\n", "")


SLOW = """
import threading, time, pullback
from llvmlite.ir import values
class Slow(dict):
    def __setitem__(self, key, value):
        time.sleep(1e-4)
        dict.__setitem__(self, key, value)
values._escape_string.__defaults__ = (Slow(),)
x = pullback.rand(1 << 19)
names = "sin exp tanh cos".split()
line = threading.Barrier(len(names), timeout=60)
def run(name):
    getattr(x, name)()
    line.wait()
    getattr(x, name)()
threads = [threading.Thread(target=run, args=(name,)) for name in names]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def test_threads_do_not_read_half_of_a_table_of_llvmlite(monkeypatch):
    """It escapes names by a table that the first caller fills, and others read it as soon as it is not empty."""
    monkeypatch.setenv("PULLBACK_CACHE", "off")
    run = subprocess.run([sys.executable, "-c", SLOW], check=False, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.skipif(blas.control() is None, reason="NumPy's BLAS is not OpenBLAS")
def test_openblas_keeps_its_threads():
    control = blas.control()
    before = control.get()
    try:
        for count in (1, 3):
            control.change(count)
            compiled, _ = made()
            compiled(*large())
            assert control.get() == count
            with blas.single():
                compiled(*large())
                assert control.get() == 1
            assert control.get() == count
    finally:
        control.change(before)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork")
def test_after_a_fork_parent_and_child_go_on():
    compiled, expected = made()
    for _ in range(3):
        queue = multiprocessing.get_context("fork").SimpleQueue()

        def child(queue=queue):
            queue.put([np.array_equal(a.numpy(), b.numpy()) for a, b in zip(compiled(*large()), expected, strict=True)])

        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        same(compiled(*large()), expected)
        process.join(60)
        assert process.exitcode == 0
        assert queue.get() == [True] * 3


SCRIPT = """
import threading, numpy as np, pullback
pullback.set_num_threads(4)
x = pullback.tensor(np.ones((1000, 1000)))
compiled = pullback.compile(lambda x: (x.tanh() * x).sum(), fullgraph=True)
print(float(compiled(x)))
def on():
    while True:
        compiled(x)
threading.Thread(target=on, daemon=True).start()
"""


@pytest.mark.parametrize("end", ["", "raise SystemExit(3)", "import os; os._exit(3)"])
def test_a_process_ends_while_threads_work(end):
    run = subprocess.run([sys.executable, "-c", SCRIPT + end], check=False, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (3 if end else 0, "")


SHAPES = [
    ((512, 128), (128, 128)), ((130, 77), (77, 300)), ((64, 512), (512, 64)), ((700, 600), (600, 650)),
    ((8, 4, 64, 16), (8, 4, 16, 64)), ((8, 4, 64, 64), (8, 4, 64, 64)), ((5, 300, 200), (200, 310)),
    ((3, 1, 100, 100), (1, 4, 100, 100)), ((1500, 1), (1, 1500)), ((2000, 300), (300,)), ((300,), (300, 2000)),
    ((7, 513, 40), (7, 40, 129)), ((200, 20, 20), (200, 20, 20)), ((2, 2000, 40), (2, 40, 70)),
]  # fmt: skip


@pytest.mark.parametrize("turned", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_products_in_parts(shapes, turned):
    """Rows, columns or batches are cut; factors may lie transposed."""
    rng = np.random.default_rng(0)

    def seen(array, number):
        return array.swapaxes(-1, -2) if number in turned and len(shapes[number]) > 1 else array

    arrays = [np.ascontiguousarray(seen(rng.standard_normal(shape), number)) for number, shape in enumerate(shapes)]
    compiled = pullback.compile(lambda a, b: seen(a, 0) @ seen(b, 1), fullgraph=True)
    found = compiled(*map(pullback.tensor, arrays)).numpy()
    expected = np.matmul(seen(arrays[0], 0), seen(arrays[1], 1))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
