"""torch.utils.benchmark: the run time of statements, as numbers, texts and tables."""

from __future__ import annotations

import statistics
import textwrap
import timeit
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ... import get_num_threads, set_num_threads

if TYPE_CHECKING:
    from ..._core.typing import Function


_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9))


def _unit(seconds: float) -> tuple[str, float]:
    """The largest unit in which a time is at least 1."""
    return next((unit for unit in _UNITS if seconds >= unit[1]), _UNITS[-1])


class Measurement:
    """The run time of a statement in several runs: `times` are seconds per execution in each run."""

    def __init__(self, number_per_run: int, raw_times: list[float], timer: Timer) -> None:
        self.number_per_run, self.raw_times, self.task_spec = number_per_run, raw_times, timer

    @property
    def times(self) -> list[float]:
        """Seconds per execution, in each run."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def median(self) -> float:
        """The median of the times."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean of the times."""
        return statistics.fmean(self.times)

    @property
    def iqr(self) -> float:
        """The interquartile range of the times."""
        if len(self.times) == 1:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    def __getattr__(self, name: str) -> Any:
        if name in {"stmt", "setup", "label", "sub_label", "description", "env", "num_threads"}:
            return getattr(self.task_spec, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        name, size = _unit(self.median)
        runs = len(self.raw_times)
        spread = f"  IQR:    {self.iqr / size:.2f} {name}\n" if runs > 1 else ""
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        measured = f"{runs} measurement{'s' if runs > 1 else ''}, {self.number_per_run} runs per measurement, {threads}"
        kind = "Median" if runs > 1 else "Time"
        return (
            f"<torch.utils.benchmark.utils.common.Measurement object at {id(self):#x}>\n{self.task_spec.title}\n"
            f"  {kind}: {self.median / size:.2f} {name}\n{spread}  {measured}"
        )


class Timer:
    """A statement to be measured, with its setup and the names it can use.

    `num_threads` is the number of threads during measurements; `label`, `sub_label`, `description` and `env` are for
    texts.
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timeit.default_timer,
        globals: Mapping[str, object] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: object = "python",
    ) -> None:
        if str(language).lower() not in {"python", "py", "language.python"}:
            raise NotImplementedError(f"statements are Python's here, not {language}'s")
        self.stmt, self.setup = (textwrap.dedent(text).strip() or "pass" for text in (stmt, setup))
        self.label, self.sub_label = label, sub_label
        self.description, self.env, self.num_threads = description, env, num_threads
        self._timer = timeit.Timer(
            self.stmt, self.setup, timer, globals={"torch": import_module("torch"), **(globals or {})}
        )

    @property
    def title(self) -> str:
        """A one-line description of the measurement."""
        name = self.label or self.stmt
        return f"{name}{f': {self.sub_label}' if self.sub_label else ''}"

    def _measured(self, measure: Callable[[], Measurement]) -> Measurement:
        before = get_num_threads()
        set_num_threads(self.num_threads)
        try:
            return measure()
        finally:
            set_num_threads(before)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One run of `number` executions, after one that is not counted."""

        def measure() -> Measurement:
            self._timer.timeit(max(number // 100, 2))
            return Measurement(number, [self._timer.timeit(number)], self)

        return self._measured(measure)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Raises, as in torch: use `timeit` or `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block(self, least: float) -> int:
        """The number of executions that take at least a given time."""
        number = 1
        while (time := self._timer.timeit(number)) < least:
            number = max(number * 2, min(number * 10, int(number * least / max(time, 1e-9))))
        return number

    def blocked_autorange(self, callback: Function | None = None, min_run_time: float = 0.2) -> Measurement:
        """Runs long enough for the resolution of the clock, until `min_run_time` seconds have passed."""

        def measure() -> Measurement:
            number = self._block(min_run_time / 1000)
            times: list[float] = []
            while sum(times) < min_run_time:
                times.append(self._timer.timeit(number))
                if callback is not None:
                    callback(number, times[-1])
            return Measurement(number, times, self)

        return self._measured(measure)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Function | None = None,
    ) -> Measurement:
        """Runs until the interquartile range is within `threshold` of the median, or until `max_run_time`."""

        def measure() -> Measurement:
            number = self._block(min_run_time / 10)
            found = Measurement(number, [], self)
            while sum(found.raw_times) < max_run_time:
                found.raw_times.append(self._timer.timeit(number))
                if (
                    sum(found.raw_times) >= min_run_time
                    and len(found.raw_times) > 3
                    and found.iqr < threshold * found.median
                ):
                    break
            return found

        return self._measured(measure)


_WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


class Compare:
    """A table of measurements: one row for each statement and number of threads, one column for each description."""

    def __init__(self, results: Sequence[Measurement]) -> None:
        self._results = list(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Has no effect: all numbers have one decimal."""

    def colorize(self, rowwise: bool = False) -> None:
        """Has no effect: tables are plain text."""

    highlight_warnings = trim_significant_figures

    def __str__(self) -> str:
        labels = dict.fromkeys(result.label for result in self._results)
        return "\n".join(self._table(label, [r for r in self._results if r.label == label]) for label in labels)

    def print(self) -> None:
        """Print the table."""
        print(self)  # noqa: T201  # what it is for

    @staticmethod
    def _table(label: str | None, results: list[Measurement]) -> str:
        name, size = _unit(min(result.median for result in results))
        columns = list(dict.fromkeys(str(result.description or "") for result in results))
        rows = list(dict.fromkeys((result.num_threads, result.sub_label or result.stmt) for result in results))
        cells = {
            (r.num_threads, r.sub_label or r.stmt, str(r.description or "")): f"{r.median / size:.1f}" for r in results
        }
        first = max(len(text) for _, text in rows) + 6
        widths = [max(len(column), 8) for column in columns]
        lines = [" " * first + "".join(f"  |  {c:^{w}}" for c, w in zip(columns, widths, strict=True))]
        threads = None
        for number, text in rows:
            if number != threads:
                lines.append(f"{number} threads: ".ljust(len(lines[0]), "-"))
                threads = number
            found = [cells.get((number, text, column), "") for column in columns]
            lines.append(
                f"      {text}".ljust(first) + "".join(f"  |  {c:>{w}}" for c, w in zip(found, widths, strict=True))
            )
        heading = f"[{'-' * 4} {label or ''} {'-' * 4}]".center(len(lines[0]))
        return "\n".join([heading, *lines, f"\nTimes are in {_WORDS[name]} ({name}).\n"])
