"""torch.profiler and torch.autograd.profiler: names for parts of a program, and Python's profiler by torch's names."""

from __future__ import annotations

import contextlib
import cProfile
import enum
import io
import pstats
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from typing import NoReturn


SORTS = {"cpu_time_total": "cumulative", "self_cpu_time_total": "tottime", "count": "ncalls"}
"""torch's sort keys of a table, and those of `pstats`."""


_running: list[profile] = []
"""The profilers of blocks that have been entered and not left."""


class record_function(contextlib.ContextDecorator):
    """A context with a name for profilers; also a decorator."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._began: list[float] = []

    def __enter__(self) -> Self:
        self._began.append(time.perf_counter())
        return self

    def __exit__(self, *error: object) -> None:
        seconds = time.perf_counter() - self._began.pop()
        for profiler in _running:
            count, total = profiler.named.get(self.name, (0, 0.0))
            profiler.named[self.name] = count + 1, total + seconds


class ProfilerActivity(enum.Enum):
    """The activities that a profiler may record: the CPU's."""

    CPU = 0
    CUDA = 1


class ProfilerAction(enum.Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class Averages:
    """The calls in a profiled block, by function, and what has a name."""

    def __init__(self, profiler: cProfile.Profile, named: dict[str, tuple[int, float]]) -> None:
        self._profiler, self._named = profiler, named

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: object) -> str:
        """The calls as text, the longest first."""
        text = io.StringIO()
        for name, (count, seconds) in sorted(self._named.items(), key=lambda each: -each[1][1]):
            print(f"{count:9} {seconds:8.3f} s in blocks named {name}", file=text)
        stats = pstats.Stats(self._profiler, stream=text)
        stats.sort_stats(SORTS.get(sort_by or "", "tottime")).print_stats(max(row_limit, 0) or 100)
        return text.getvalue()


class profile(contextlib.ContextDecorator):
    """A context whose Python calls are counted and timed by Python's profiler; options for devices are ignored.

    >>> from pullback.compat.torch.profiling import profile
    >>> with profile() as seen:
    ...     _ = sorted([2, 1])
    >>> "sorted" in seen.key_averages().table(sort_by="cpu_time_total")
    True
    """

    def __init__(
        self, *args: object, on_trace_ready: Callable[[profile], object] | None = None, **options: object
    ) -> None:
        self._profiler, self._ready = cProfile.Profile(), on_trace_ready
        self.named: dict[str, tuple[int, float]] = {}

    def __enter__(self) -> Self:
        _running.append(self)
        self._profiler.enable()
        return self

    def __exit__(self, *error: object) -> None:
        self._profiler.disable()
        _running.remove(self)
        if self._ready is not None:
            self._ready(self)

    start = __enter__

    def stop(self) -> None:
        """End the block."""
        self.__exit__()

    def step(self) -> None:
        """Mark the end of a step of a program; it has no effect."""

    def key_averages(self, **options: object) -> Averages:
        """The calls, by function."""
        return Averages(self._profiler, self.named)

    def table(self, **options: Any) -> str:
        """The calls as text."""
        return self.key_averages().table(**options)

    __str__ = table

    def export_chrome_trace(self, path: str) -> None:
        """Write the calls to a file that `pstats` reads."""
        self._profiler.dump_stats(path)


def _default_schedule_fn(step: int) -> ProfilerAction:
    """What is done in a step without a schedule: it is recorded."""
    return ProfilerAction.RECORD


def schedule(*args: object, **options: object) -> None:
    """The steps to be profiled: always all."""


def tensorboard_trace_handler(folder: str, *args: object, **options: object) -> NoReturn:
    """Raises: there is no trace for TensorBoard."""
    raise NotImplementedError("pullback writes no traces for TensorBoard: profile.key_averages().table() is text")


def kineto_available() -> bool:
    """False: it is Python's profiler."""
    return False
