"""Blocks: large arrays processed in cache-sized pieces by several threads.

NumPy's passes over an array larger than the cache are limited by memory bandwidth. Several passes that belong together
are therefore made over one piece after another, and threads share the pieces: NumPy releases the GIL while it computes.
The partition depends only on the array's size, so results do not depend on the number of threads.
"""

from __future__ import annotations

import math
import os
import queue
import threading
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._core import forks, machine
from .._core.modes import quiet
from . import blas

if TYPE_CHECKING:
    from .._core.typing import Threshold


BLOCK: Threshold = 1 << 19
"""Bytes of an array per piece: with smaller pieces, threads wait for the GIL between NumPy's calls."""

Piece = Callable[[int, int], None]


def pieces(function: Piece, length: int, size: int, *, products: bool = False) -> None:
    """Call `function(start, stop)` for pieces of range(length); each index represents `size` bytes.

    With `products`, the function computes matrix products, and each runs in its calling thread. If BLAS cannot be
    configured so, or where results must not depend on what other threads do, the pieces run in one thread, and BLAS
    uses its own threads: last bits of products depend on how many.
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
    """Process a job of `count` pieces with several threads."""
    if (others := min(threads, count) - 1) > 0:
        _workers.call(job, others)
    job.work()
    job.wait(count)


class _Job:
    """A job whose pieces are taken by threads until none is left."""

    def __init__(self, function: Piece, left: list[tuple[int, int]]) -> None:
        self.function = function
        self.left = left
        self.done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def work(self) -> None:
        """Process pieces until none is left; an exception is stored for the waiting thread."""
        while self.left:
            try:
                start, stop = self.left.pop()
            except IndexError:  # another thread took the last piece
                return
            try:
                self.function(start, stop)
            except BaseException as error:  # noqa: BLE001  # raised by `wait`
                self.done.put(error)
            else:
                self.done.put(None)

    def wait(self, count: int) -> None:
        """Wait until all pieces are done; threads that have not taken a piece are not waited for."""
        errors = [self.done.get() for _ in range(count)]
        for error in errors:
            if error is not None:
                raise error


class _Workers:
    """The thread pool: started on first use, and stopped for the moment of a fork, since threads are not copied."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self.threads: list[threading.Thread] = []
        self.lock = forks.lock()
        self.forks = 0
        forks.around(before=self.pause, in_parent=self.resume, in_child=self.restart)

    def call(self, job: _Job, count: int) -> None:
        """Let `count` threads take part in a job."""
        if len(self.threads) < count:
            with self.lock:
                self.start(count)
        for _ in self.threads[:count]:
            self.jobs.put(job)

    def start(self, count: int) -> None:
        """Start threads until there are `count`; none while the process forks: the caller then works alone."""
        while len(self.threads) < count and not self.forks:
            thread = threading.Thread(target=self.loop, args=(self.jobs,), name="pullback", daemon=True)
            thread.start()
            self.threads.append(thread)

    def loop(self, jobs: queue.SimpleQueue[_Job | None]) -> None:
        """The main loop of a worker thread: process jobs, without NumPy's warnings, until None says to stop."""
        while (job := jobs.get()) is not None:
            quiet.run(job.work)
            del job  # the job holds arrays

    def pause(self) -> None:
        """Stop all threads, and start none until the fork is done."""
        with self.lock:
            self.forks += 1
            ended, self.threads = self.threads, []
            jobs, self.jobs = self.jobs, queue.SimpleQueue()
        for thread in ended:
            while thread.is_alive():  # nobody else reads this queue any more, so that one None too many does no harm
                jobs.put(None)
                thread.join(0.1)

    def resume(self) -> None:
        """Allow threads to be started again."""
        with self.lock:
            self.forks -= 1

    def restart(self) -> None:
        """Drop the jobs in a forked child, where their threads do not exist."""
        self.jobs, self.forks = queue.SimpleQueue(), 0


_workers = _Workers()


def _available() -> int:
    """The default number of threads: OMP_NUM_THREADS, as for NumPy's BLAS, or one per core that the process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    affinity: Any = getattr(os, "sched_getaffinity", None)  # not on all platforms
    cores = len(affinity(0)) if affinity else (os.cpu_count() or 1)
    return min(cores, _quota("/sys/fs/cgroup") or cores)


def _quota(folder: str) -> int | None:
    """The cores that a control group's share of processor time amounts to, rounded up, or None: containers have such limits."""
    try:
        with open(f"{folder}/cpu.max", encoding="ascii") as file:  # microseconds of each so many, or "max"
            share, period = map(int, file.read().split())
        return max(-(-share // period), 1)
    except (OSError, ValueError, ZeroDivisionError):
        return None


_chosen = array("q", [0])
"""The number of threads; 0 until it is first queried."""


def chosen_address() -> int:
    """The memory address of the number of threads, for compiled code."""
    get_num_threads()
    return _chosen.buffer_info()[0]


def get_num_threads() -> int:
    """The number of threads that work on large arrays.

    It is the number set by `set_num_threads`; by default the value of the environment variable `OMP_NUM_THREADS` at the
    first query, or else the number of cores that the process may use, by the limits of its container, too. NumPy's matrix
    products use their own threads, except in convolutions.

    >>> import pullback
    >>> pullback.get_num_threads() >= 1
    True
    """
    if not _chosen[0]:
        _chosen[0] = _available()
    return _chosen[0]


def set_num_threads(number: int, /) -> None:
    """Set the number of threads that work on large arrays; results do not depend on it.

    Parameters
    ----------
    number
        The number of threads, at least 1.

    >>> import pullback
    >>> before = pullback.get_num_threads()
    >>> pullback.set_num_threads(1)
    >>> pullback.get_num_threads()
    1
    >>> pullback.set_num_threads(before)

    Raises
    ------
    RuntimeError
        If the number is not a positive 32-bit integer.
    """
    if type(number) is not int:
        raise RuntimeError(f"set_num_threads expects an int, but got {type(number).__name__}: {number!r}")
    if not 1 <= number < 1 << 31:
        raise RuntimeError(
            f"set_num_threads expects a positive integer of 32 bits, but got {number}: 1 means no threads"
        )
    _chosen[0] = number
