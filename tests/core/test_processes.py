"""Forks and signals at random moments: small counts here, and any number by the scripts in `tests/stress`."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import pullback
from pullback._core import forks

STRESS = Path(__file__).parents[1] / "stress"
only_with_forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def script(name, *arguments):
    command = [sys.executable, STRESS / name, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=580)


@only_with_forks
def test_forks_while_threads_run_backward_compile_and_import():
    pytest.importorskip("pullback.compile")
    run = script("forks.py", "--forks", "13", "--each", "13")
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    assert "0 hung, 0 failed" in run.stdout


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="a system without timers")
def test_interrupted_passes_leave_all_gradients_or_none():
    run = script("signals.py", "--passes", "300")
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    assert "0 partial" in run.stdout


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="a system without timers")
def test_interrupted_steps_of_an_optimizer_leave_the_mode_as_it_was():
    """The next forward pass is recorded."""
    run = subprocess.run([sys.executable, "-c", STEPS], check=False, capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stderr) == (0, "")


STEPS = """
import random, signal, sys
import pullback
class Interruption(Exception):
    pass
def interrupt(number, frame):
    raise Interruption
signal.signal(signal.SIGALRM, interrupt)
chance, came = random.Random(0), 0
parameters = [pullback.ones(3, requires_grad=True)]
optimizer = pullback.optim.SGD(parameters, lr=0.1)
parameters[0].grad = pullback.ones(3)
for _ in range(2000):
    try:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 3e-5))
        for _ in range(3):
            optimizer.step()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Interruption:
        came += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert pullback.is_grad_enabled()
assert came > 200, came
"""


def status_of_child(work):
    """What a child that does some work ends with: 0, or 14 if it takes too long."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            signal.alarm(20)
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]


def accumulates():
    w = pullback.ones(2, requires_grad=True)
    with pullback.enable_grad():
        for _ in range(2):
            (w * 3).sum().backward()
    assert w.grad.tolist() == [6.0, 6.0]


@only_with_forks
def test_a_fork_waits_for_the_thread_that_has_a_lock():
    lock, inside, half = forks.lock(), threading.Event(), []

    def run():
        with lock:
            half.append("first")
            inside.set()
            threading.Event().wait(0.2)
            half.append("second")

    thread = threading.Thread(target=run)
    thread.start()
    inside.wait(10)
    seen = []

    def look():
        seen.extend(half)
        with lock:
            assert seen == ["first", "second"]

    assert status_of_child(look) == 0
    thread.join()


@only_with_forks
def test_a_fork_inside_a_lock_of_the_same_thread():
    """A hook forks: the child goes on inside the lock, and leaves it."""
    lock = forks.lock()
    with lock:
        pid = os.fork()
    if not pid:
        with lock:
            os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    with lock:
        pass

    w = pullback.ones(2, requires_grad=True)
    found = []
    w.register_post_accumulate_grad_hook(lambda _: found.append(status_of_child(accumulates)))
    w.register_hook(lambda _: found.append(status_of_child(accumulates)))
    (w * 3).sum().backward()
    assert found == [0, 0]


@only_with_forks
def test_a_fork_does_not_wait_forever_and_its_child_has_new_locks(monkeypatch):
    """A thread that holds a lock waits for the one that forks."""
    monkeypatch.setattr(forks, "PATIENCE", 0.1)
    lock, inside, over = forks.lock(), threading.Event(), threading.Event()

    def run():
        with lock:
            inside.set()
            over.wait(30)

    thread = threading.Thread(target=run)
    thread.start()
    inside.wait(10)

    def take():
        with lock:
            accumulates()

    assert status_of_child(take) == 0
    over.set()
    thread.join()


@only_with_forks
def test_functions_around_forks_are_called_in_pairs():
    """Also those that a thread registers, which imports a module, while a fork waits for it."""
    lock, inside, calls = forks.lock(), threading.Event(), []

    def run():
        with lock:
            inside.set()
            threading.Event().wait(0.2)
            forks.around(before=lambda: calls.append("before"), in_parent=lambda: calls.append("after"))

    thread = threading.Thread(target=run)
    thread.start()
    inside.wait(10)
    try:
        assert status_of_child(accumulates) == 0
        assert calls == ["before", "after"]
    finally:
        thread.join()
        forks._around.pop()


SLOWLY = """
import os, sys, threading, time
import pullback
class Slow:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "pullback.optim.adamw":
            inside.set()
            time.sleep(0.3)
inside = threading.Event()
sys.meta_path.insert(0, Slow)
threading.Thread(target=lambda: pullback.optim.AdamW).start()
inside.wait(10)
child = os.fork()
if not child:
    import signal
    signal.alarm(20)
    w = pullback.ones(2, requires_grad=True)
    (w * 3).sum().backward()
    pullback.optim.AdamW([w]).step()
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1])
"""


@only_with_forks
def test_a_fork_waits_for_an_import_of_ours():
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", SLOWLY], check=False, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def test_a_gradient_stays_the_same_tensor_and_what_a_graph_keeps_of_it_its_value():
    a, b = (pullback.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    (a * 2 + b).sum().backward()
    grad, weights = a.grad, pullback.ones(2, requires_grad=True)
    product, version = (grad * weights).sum(), grad._version
    (a * 5 + b).sum().backward()
    assert a.grad is grad
    assert grad._version == version + 1
    assert (grad.tolist(), b.grad.tolist()) == ([7.0, 7.0], [2.0, 2.0])
    product.backward()
    assert weights.grad.tolist() == [2.0, 2.0]


def test_numpy_errors_of_one_sum_do_not_leave_others_undone():
    """Sums of gradients are made without NumPy's warnings, as everything in a pass."""
    import numpy as np

    w = [pullback.tensor([1.0], requires_grad=True) for _ in range(3)]
    for leaf in w:
        leaf.grad = pullback.tensor([float("inf")])
    with np.errstate(all="raise"):
        (w[0] * 2 - w[1] * float("inf") + w[2]).sum().backward()
    assert [str(leaf.grad.item()) for leaf in w] == ["inf", "nan", "inf"]
