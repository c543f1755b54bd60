"""Forks at random moments, while four threads run backward, compile, import and write: no child may hang.

    python tests/stress/forks.py --forks 500

Each process forks a number of times, the first time while hardly anything has been imported. A child does what its parent's
threads were doing, checks the numbers, and ends.
"""

import argparse
import concurrent.futures.thread  # noqa: F401  # see below
import faulthandler
import importlib.util
import logging  # noqa: F401  # see below
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

# `logging` and `concurrent.futures` register with `os.register_at_fork` when they are imported. If another thread forks at that
# moment, Python lets go a lock in the parent that it has not taken, and says so on stderr: Python's, and so both are imported
# before.
NEITHER = r"[.](compat|machine)[.]"
if importlib.util.find_spec("llvmlite") is None:
    NEITHER += r"|[.]mathematics[.]|[.]scalars$"
LIMIT = 90.0
"""Seconds that a child has: it needs one or two where processors are idle, ten where modules are compiled anew."""


def names(pullback):
    """The library's modules, but those that are programs, and those of machine code, which only the library imports."""
    places = Path(pullback.__file__).parent.rglob("*.py")
    found = [
        ".".join(("pullback", *place.relative_to(Path(pullback.__file__).parent).with_suffix("").parts))
        for place in places
    ]
    return sorted(
        name for name in found if not name.endswith(("__main__", "__init__")) and not re.search(NEITHER, name)
    )


def backward(pullback):
    """Sums of small whole numbers are exact; softmax goes through blocks, or machine code."""
    w = pullback.tensor([1.0, 2.0], requires_grad=True)
    (w * 3).sum().backward()
    (w * 3).sum().backward()
    assert w.grad.tolist() == [6.0, 6.0], w.grad
    x = pullback.ones(600, 512, dtype=pullback.float64, requires_grad=True)
    x.softmax(1).sum().backward()
    assert abs(x.grad).max() < 1e-12


def compiled(pullback, number):
    """A program that no other has: it is recorded and compiled."""
    function = pullback.compile(lambda x: ((x * number).tanh() + number).sum(), fullgraph=True)
    x = pullback.tensor([0.0, 0.0])
    assert [function(x).item() for _ in range(2)] == [2 * number] * 2


def writes(pullback):
    """Views of one tensor, written while a graph keeps them."""
    x = pullback.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    product = (y[1:] * y[1:]).sum()
    y.zero_()
    product.backward()
    assert x.grad.tolist() == [0.0, 4.0, 6.0], x.grad
    assert pullback.nn.functional.conv2d(pullback.ones(2, 3, 40, 40), pullback.ones(4, 3, 3, 3))[0, 0, 0, 0] == 27


def imports(pullback, chance, count):
    """Modules, each as a statement does it, or as an attribute does."""
    for name in chance.sample(names(pullback), count):
        for end, letter in enumerate(f"{name}."):
            if letter == ".":  # packages first: Python's locks of modules are not safe where a package imports its own
                importlib.import_module(name[:end])
    for name in ("optim", "nn", "special", "fft", "distributions"):
        getattr(pullback, name)


def child(pullback, chance):
    """What a child does after the fork: all of it."""
    status = 1
    try:
        backward(pullback)
        writes(pullback)
        compiled(pullback, chance.randrange(1 << 20))
        imports(pullback, chance, 5)
        status = 0
    except BaseException as error:  # noqa: BLE001  # told by the parent
        sys.stderr.write(f"child: {type(error).__name__}: {error}\n")
    finally:
        os._exit(status)


def process(seed, forks):
    """Fork so often while threads work; the number of children that hung, and of those that failed."""
    import pullback

    chance, over, failed = random.Random(seed), threading.Event(), []

    def on(work):
        while not over.is_set():
            try:
                work(random.Random(chance.random()))
            except BaseException as error:  # noqa: BLE001  # told at the end
                failed.append(f"thread: {type(error).__name__}: {error}")
                return

    sys.setswitchinterval(chance.choice([1e-6, 1e-4, 5e-3]))
    works = [
        lambda _: backward(pullback),
        lambda own: compiled(pullback, own.randrange(1 << 20)),
        lambda own: imports(pullback, own, 20),
        lambda _: writes(pullback),
    ]
    threads = [threading.Thread(target=on, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    hung = 0
    for _ in range(forks):
        time.sleep(chance.random() ** 2 * 0.5)
        pid = os.fork()
        if not pid:
            child(pullback, chance)
        end = time.monotonic() + LIMIT
        while not (found := os.waitpid(pid, os.WNOHANG))[0] and time.monotonic() < end:
            time.sleep(0.01)
        if not found[0]:
            hung += 1
            os.kill(pid, signal.SIGABRT)  # with PYTHONFAULTHANDLER it says where it was
            os.waitpid(pid, 0)
        elif found[1]:
            failed.append(f"child: status {found[1]}")
    over.set()
    for thread in threads:
        thread.join(LIMIT)
        if thread.is_alive():
            failed.append("thread: it did not end")
    for each in failed:
        sys.stderr.write(f"{each}\n")
    return hung, len(failed)


def main():
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--forks", type=int, default=500)
    parser.add_argument("--each", type=int, default=5, help="forks in a process")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        faulthandler.dump_traceback_later(4 * LIMIT * asked.each, exit=True)  # the process itself must not hang either
        hung, failed = process(asked.seed, asked.each)
        print(hung, failed)
        sys.stdout.flush()
        os._exit(0)
    with tempfile.TemporaryDirectory() as cache:  # the user's would be filled with programs that nobody needs
        os.environ["PULLBACK_CACHE"] = cache
        return several(asked.forks, asked.each, asked.seed)


def several(forks, each, seed):
    """Fork so often, in processes one after another; 1 where a child hung or failed."""
    hung = failed = 0
    start = time.monotonic()
    for number in range(seed, seed + forks, each):
        command = [sys.executable, "-W", "ignore", "-X", "faulthandler", __file__, "--inside"]
        run = subprocess.run(
            [*command, "--seed", str(number), "--each", str(each)], check=False, capture_output=True, text=True
        )
        found = run.stdout.split()
        if run.returncode or len(found) != 2:
            found = [0, 1]
        hung, failed = hung + int(found[0]), failed + int(found[1])
        if run.stderr or run.returncode:
            print(f"seed {number}, exit code {run.returncode}: {run.stderr}", file=sys.stderr)
    print(f"{forks} forks in {time.monotonic() - start:.0f} s: {hung} hung, {failed} failed")
    return int(hung + failed > 0)


if __name__ == "__main__":
    sys.exit(main())
