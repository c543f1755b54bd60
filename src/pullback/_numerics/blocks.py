"""Blocks: an array worked on in pieces that stay in the cache, by several threads.

A pass of NumPy over an array larger than the cache waits for memory. Where several passes belong together, they are
made over one piece after another, and threads share the pieces: NumPy lets others run while it computes. How an array
is cut depends on its size alone, so results do not depend on the number of threads.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import threading
from array import array
from collections.abc import Callable
from typing import Any

from .._core import forks, machine
from .._core.modes import quiet
from . import blas

BLOCK = 1 << 19
"""Bytes of an array at a time: with fewer, threads wait for the interpreter between NumPy's calls."""

Piece = Callable[[int, int], None]


def pieces(function: Piece, length: int, size: int, *, products: bool = False) -> None:
    """Call `function(start, stop)` for pieces of range(length), each element of which stands for `size` bytes.

    Where it makes products of matrices, each is left to the thread that asks for it. With a BLAS that cannot be told
    so, the threads are BLAS's own; also where no bit may depend on what other threads do, since bits of products depend
    on BLAS's number of threads.
    """
    count = min(length, math.ceil(length * size / BLOCK))
    if count < 2:
        function(0, length)
        return
    ends = [length * i // count for i in range(count + 1)]
    job = _Job(function, [(ends[i - 1], ends[i]) for i in range(count, 0, -1)])
    if not products:
        _share(job, count, get_num_threads())
    elif blas.threads() is None or not machine.automatic():
        _share(job, count, 1)
    else:
        with blas.single():
            _share(job, count, get_num_threads())


def _share(job: _Job, count: int, threads: int) -> None:
    """Do a job of so many pieces in so many threads."""
    if (others := min(threads, count) - 1) > 0:
        _workers.call(job, others)
    job.work()
    job.wait(count)


class _Job:
    """Pieces of work that threads take until none is left."""

    def __init__(self, function: Piece, left: list[tuple[int, int]]) -> None:
        self.function = function
        self.left = left
        self.done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def work(self) -> None:
        """Do pieces until none is left; what goes wrong is for the one who waits."""
        while self.left:
            try:
                start, stop = self.left.pop()
            except IndexError:  # another thread was quicker
                return
            try:
                self.function(start, stop)
            except BaseException as error:  # noqa: BLE001  # raised by `wait`
                self.done.put(error)
            else:
                self.done.put(None)

    def wait(self, count: int) -> None:
        """Return when all pieces are done, and not before: a thread that has not begun is not waited for."""
        errors = [self.done.get() for _ in range(count)]
        for error in errors:
            if error is not None:
                raise error


class _Workers:
    """The threads that help: started when first needed, and ended for the moment of a fork, which copies none."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self.threads: list[threading.Thread] = []
        self.lock = forks.lock()
        self.forks = 0
        forks.around(before=self.pause, in_parent=self.resume, in_child=self.restart)

    def call(self, job: _Job, count: int) -> None:
        """Let so many threads take part in a job."""
        if len(self.threads) < count:
            with self.lock:
                self.start(count)
        for _ in self.threads[:count]:
            self.jobs.put(job)

    def start(self, count: int) -> None:
        """Start threads until there are so many; while the process forks, the one who asks works without them."""
        while len(self.threads) < count and not self.forks:
            thread = threading.Thread(target=self.loop, name="pullback", daemon=True)
            thread.start()
            self.threads.append(thread)

    def loop(self) -> None:
        """What a thread does: jobs, without NumPy's warnings, until it is told to end."""
        while (job := self.jobs.get()) is not None:
            quiet.run(job.work)
            del job  # holds arrays

    def pause(self) -> None:
        """End all threads, and start none until the fork is done."""
        with self.lock:
            self.forks += 1
            ended, self.threads = self.threads, []
        with contextlib.suppress(queue.Empty):  # those whose jobs they are do them themselves
            while True:
                self.jobs.get_nowait()
        for _ in ended:
            self.jobs.put(None)
        for thread in ended:
            thread.join()

    def resume(self) -> None:
        """Let threads be started again."""
        with self.lock:
            self.forks -= 1

    def restart(self) -> None:
        """In a child, forget the jobs of threads that are gone."""
        self.jobs, self.forks = queue.SimpleQueue(), 0


_workers = _Workers()


def _available() -> int:
    """How many threads to use by default: OMP_NUM_THREADS, as NumPy's BLAS has it, or one for each core."""
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    affinity: Any = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)


_chosen = array("q", [0])
"""The number of threads, 0 before it was asked for."""


def chosen_address() -> int:
    """Where the number of threads lies, for machine code."""
    get_num_threads()
    return _chosen.buffer_info()[0]


def get_num_threads() -> int:
    """The number of threads that work on large arrays.

    It is that of the cores, or what the environment variable `OMP_NUM_THREADS` said when it was first asked for, or
    what `set_num_threads` was given. NumPy's products of matrices have their own threads, except in convolutions.

    >>> import pullback
    >>> pullback.get_num_threads() >= 1
    True
    """
    if not _chosen[0]:
        _chosen[0] = _available()
    return _chosen[0]


def set_num_threads(number: int, /) -> None:
    """Choose the number of threads that work on large arrays; results do not depend on it.

    >>> import pullback
    >>> before = pullback.get_num_threads()
    >>> pullback.set_num_threads(1)
    >>> pullback.get_num_threads()
    1
    >>> pullback.set_num_threads(before)

    Raises
    ------
    RuntimeError
        If the number is no positive int of 32 bits.
    """
    if type(number) is not int:
        raise RuntimeError(f"set_num_threads expects an int, but got {type(number).__name__}: {number!r}")
    if not 1 <= number < 1 << 31:
        raise RuntimeError(
            f"set_num_threads expects a positive integer of 32 bits, but got {number}: 1 means no threads"
        )
    _chosen[0] = number
