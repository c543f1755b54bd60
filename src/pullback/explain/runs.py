"""A recorded training run: its losses, what was measured at its recorded steps, and what was found; as text and as a file.

The file has one JSON object a line: the parameters first, then a step or a finding each. What was written before a program
ended, in whatever way, can be read: `pullback.explain.read_run("run.jsonl")`.
"""

from __future__ import annotations

import importlib
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from .._core.texts import printable
from .bounds import LOOKED_FOR
from .comparing import AT_MOST, Setting, compared, labels, settings
from .damage import DAMAGES, FormatError, called, readable, why
from .layout import cut, pad, table, wrapped
from .numbers import counted, duration, short
from .page import mimebundle, to_html
from .schemas import problem

if TYPE_CHECKING:
    from os import PathLike


T = TypeVar("T")
MOST = 1000
"""The number of recorded steps, and of findings, that are kept in memory; of more steps every second one, evenly."""
HEAD = 12
"""The width of the column before a section's text."""
DRAWN, CELLS, LEAST = 250, 80_000, 20
"""The number of recorded steps in a page; that of steps times parameters, of which there are fewer steps, but not below the last."""
BARS = " ▁▂▃▄▅▆▇█"
MEASURES = ("gradient", "update", "zeros")
RUNS = (".jsonl", ".html", ".txt")
SHOWN = 40
"""The number of parameters that the text lists."""


class Measured(NamedTuple):
    """What was measured at one step: of each parameter the gradient's norm, the update's share of the weight, and zeros.

    `gradient` is None for a parameter without one; `update` for a weight of zeros. `time` is in seconds since the start.
    """

    number: int
    loss: float | None
    rate: float | None
    gradient: list[float | None]
    update: list[float | None]
    zeros: list[float | None]
    time: float | None = None

    def plain(self) -> dict[str, object]:
        """The step for JSON, in which NaN and inf are text."""
        words = {name: plain(value) for name, value in self._asdict().items()}
        return {"step": words.pop("number"), **words}


class Event(NamedTuple):
    """A finding: its kind, the step and the parameter, if it is one's, why, and what helps."""

    kind: str
    step: int
    parameter: str
    why: str
    fix: str

    def __str__(self) -> str:
        of = f" of {self.parameter}" if self.parameter else ""
        return f"{self.kind}, step {self.step}{of}: {self.why}. {self.fix[:1].upper()}{self.fix[1:]}"


class Series(Generic[T]):
    """Values by their steps, at most `MOST` of them, evenly spread over the run, and the last one."""

    def __init__(self) -> None:
        self.kept: list[tuple[int, T]] = []
        self.last: tuple[int, T] | None = None
        self.stride = 1
        self._count = 0

    def add(self, number: int, value: T) -> None:
        """Add the value of a step."""
        self.last = number, value
        if self._count % self.stride == 0:
            self.kept.append(self.last)
            if len(self.kept) > MOST:
                self.kept, self.stride = self.kept[::2], 2 * self.stride
        self._count += 1

    @property
    def values(self) -> list[tuple[int, T]]:
        """Pairs of a step and its value."""
        return self.kept if self.last is None or self.kept[-1] is self.last else [*self.kept, self.last]

    def __len__(self) -> int:
        return len(self.values)


class Averaged(Series[float]):
    """Losses by their steps; of each also the mean of the finite ones after the one before it, kept or not."""

    def __init__(self) -> None:
        super().__init__()
        self._sums: list[tuple[float, int]] = []
        self._open = 0.0, 0

    def add(self, number: int, value: float) -> None:
        """Add the loss of a step."""
        kept = len(self.kept)
        super().add(number, value)
        self._open = _both(self._open, (value, 1) if math.isfinite(value) else (0.0, 0))
        if len(self.kept) == kept:
            return
        self._sums.append(self._open)
        self._open = 0.0, 0
        if len(self.kept) < kept:  # every second one was kept, from the first to the last
            first, *rest = self._sums
            self._sums = [first, *map(_both, rest[::2], rest[1::2])]

    @property
    def means(self) -> list[float | None]:
        """The means, one for each of `values`."""
        sums = [*self._sums, self._open][: len(self.values)]
        return [total / count if count else None for total, count in sums]


def _both(one: tuple[float, int], other: tuple[float, int]) -> tuple[float, int]:
    """A sum and a number of values, of two."""
    return one[0] + other[0], one[1] + other[1]


class Run:
    """A training run, recorded or read from its file: `losses`, `steps`, `events`, and the names of the parameters.

    >>> import pullback
    >>> w = pullback.nn.Parameter(pullback.tensor([3.0]))
    >>> optimizer = pullback.optim.SGD([w], lr=0.25)
    >>> with pullback.explain.record(None, optimizer, every=1) as run:
    ...     for _ in range(3):
    ...         optimizer.zero_grad()
    ...         (w**2).sum().backward()
    ...         optimizer.step()
    >>> run.losses.values
    [(0, 9.0), (1, 2.25), (2, 0.5625)]
    >>> run.steps.values[0][1].gradient, run.steps.values[0][1].update
    ([6.0], [0.5])
    """

    def __init__(self, every: int) -> None:
        self.every, self.count = every, 0
        self.parameters: list[str] = []
        self.shapes: list[tuple[int, ...]] = []
        self.losses = Averaged()
        self.steps: Series[Measured] = Series()
        self.events: list[Event] = []
        self.seconds: float | None = None
        self.failure: str | None = None
        self.name = ""
        """The name of its file, without the suffix."""
        self.settings: dict[str, Setting] = {}
        """The optimizer's class, and the settings that its groups began with."""

    def series(self, parameter: str, what: str = "gradient") -> tuple[list[int], list[float | None]]:
        """The recorded steps, and a parameter's 'gradient' norm, 'update' or share of 'zeros' at each of them.

        Raises
        ------
        KeyError
            If there is no such parameter, or measure.
        """
        if parameter not in self.parameters or what not in MEASURES:
            raise KeyError(
                f"{what} of {parameter}: there are gradient, update and zeros of {', '.join(self.parameters)}"
            )
        place = self.parameters.index(parameter)
        found = [getattr(step, what) for _, step in self.steps.values]
        return [number for number, _ in self.steps.values], [
            each[place] if place < len(each) else None for each in found
        ]

    def scalars(self) -> Iterator[tuple[int, dict[str, float]]]:
        """Pairs of a step and its numbers by name, as `wandb.log(numbers, step)` and the like take them."""
        for number, step in self.steps.values:
            found = {"loss": step.loss, "lr": step.rate}
            for what in MEASURES:
                found |= {f"{what}/{name}": x for name, x in zip(self.parameters, getattr(step, what), strict=False)}
            yield number, {name: x for name, x in found.items() if x is not None}

    def to_tensorboard(self, folder: str | PathLike[str]) -> None:
        """Write the numbers for TensorBoard, by the package tensorboardX.

        Raises
        ------
        ImportError
            If tensorboardX is not installed.
        """
        try:
            package = importlib.import_module("tensorboardX")
        except ImportError:
            raise ImportError("to_tensorboard() needs tensorboardX: pip install tensorboardX") from None
        with package.SummaryWriter(str(folder)) as writer:
            for number, values in self.scalars():
                for name, value in values.items():
                    writer.add_scalar(name, value, number)

    def to_dict(self, most: int = MOST) -> dict[str, Any]:
        """The run as JSON can hold it, with at most so many steps: NaN and inf are text."""
        steps = [step for _, step in self.steps.values]
        steps = [*steps[: -1 : max(1, math.ceil(len(steps) / most))], *steps[-1:]]
        names = ("every", "count", "seconds", "failure", "parameters", "shapes")
        return {
            **{name: getattr(self, name) for name in names},
            "losses": [[number, plain(loss)] for number, loss in self.losses.values],
            "means": plain(self.losses.means, 6),
            "steps": [step.number for step in steps],
            "times": [plain(step.time, 6) for step in steps],
            **{name: [plain(getattr(step, name), 4) for step in steps] for name in ("rate", *MEASURES)},
            "events": [event._asdict() for event in self.events],
        }

    def to_html(self, *others: Run, title: str | None = None, theme: str = "auto") -> str:
        """The run as a page with a slider from step to step; with up to seven other runs, all in each chart.

        Raises
        ------
        ValueError
            If there are more than eight runs.
        """
        runs = _some("to_html", self, others)
        most = max(LEAST, min(DRAWN, CELLS // max(1, sum(len(run.parameters) for run in runs))))
        differ, same = settings(runs)
        page = {
            "schema": "pullback-run",
            "version": 1,
            "title": title or f"{counted(self.count, 'step')} of training",
            "looked_for": LOOKED_FOR,
            "compared": compared(runs),
            "settings": {"differ": [*differ.items()], "same": [*same.items()]},
            "runs": [
                {"name": name, "file": run.name, **run.to_dict(most)}
                for name, run in zip(labels(runs), runs, strict=True)
            ],
        }
        return to_html(page, theme=theme)

    def save(self, path: str | PathLike[str], *others: Run) -> None:
        """Write the run, with others where there are some, as a page (.html) or text (.txt).

        Raises
        ------
        ValueError
            If the suffix is another, or if there are more than eight runs.
        """
        makers: dict[str, Any] = {".html": self.to_html, ".txt": self.to_text}
        if (suffix := Path(path).suffix.lower()) not in makers:
            raise ValueError(f"save({str(path)!r}): the suffix says what to write, one of {' '.join(makers)}")
        Path(path).write_text(makers[suffix](*others), encoding="utf-8", newline="\n")

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return mimebundle(self.to_text(), self.to_html)

    def to_text(self, *others: Run, width: int = 100, ascii: bool = False) -> str:
        """The run in lines of at most `width` characters; with up to seven other runs, side by side.

        Raises
        ------
        ValueError
            If there are more than eight runs.
        """
        writer = _RunWriter(max(width, 60), ascii)
        return "\n".join(line.rstrip() for line in writer.lines(_some("to_text", self, others))) + "\n"

    def __str__(self) -> str:
        return self.to_text()


def read_run(path: str | PathLike[str]) -> Run:
    """The run in a file; of a run that was interrupted, what was written before.

    Raises
    ------
    ValueError
        If the file is not that of a run.
    """
    file = readable(path)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except DAMAGES as error:
        raise ValueError(f"{called(path)}: not the file of a training run ({why(error)})") from None
    run = Run(1)
    run.name = Path(path).stem
    for number, line in enumerate(lines, 1):
        try:
            _add(run, json.loads(line))
        except DAMAGES as error:
            if 1 < number == len(lines):
                break  # the program was stopped while it wrote
            raise ValueError(f"{called(path)}, line {number}: not the file of a training run ({why(error)})") from None
    if not run.parameters:
        raise ValueError(f"{called(path)} has no parameters: not the file of a training run, or no step was recorded")
    return run


def _rows(optional: dict[str, object] | None = None, **properties: object) -> dict[str, object]:
    return {"type": "object", "required": [*properties], "properties": {**properties, **(optional or {})}}


_TEXT, _COUNT, _NUMBER = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": ["number", "string", "null"]}
_NUMBERS = {"type": "array", "items": _NUMBER}
_ROW = {
    "anyOf": [
        _rows(
            {"time": _NUMBER},
            step=_COUNT,
            loss=_NUMBER,
            rate=_NUMBER,
            **dict.fromkeys(MEASURES, _NUMBERS),
            losses=_NUMBERS,
        ),
        _rows(event=_rows(kind=_TEXT, step=_COUNT, parameter=_TEXT, why=_TEXT, fix=_TEXT)),
        _rows(losses=_NUMBERS, ended=_COUNT, seconds={"type": "number"}, failure={"type": ["string", "null"]}),
        _rows(
            {"settings": {"type": "array", "items": _rows(name=_TEXT, value={"anyOf": [_NUMBER, _NUMBERS]})}},
            format={"const": "pullback run"},
            version={"const": 1},
            every={"type": "integer", "minimum": 1},
            parameters={"type": "array", "items": _TEXT},
            shapes={"type": "array", "items": {"type": "array", "items": _COUNT}},
        ),
    ]
}
"""A line of a file: a step, a finding, the end, or the beginning."""


def _add(run: Run, row: dict[str, Any]) -> None:
    """Add what a line of a file says."""
    if wrong := problem(row, _ROW):
        raise FormatError(wrong)
    if "format" in row:
        run.every, run.parameters = row["every"], row["parameters"]
        run.shapes = [tuple(shape) for shape in row["shapes"]]
        run.settings = {setting["name"]: setting["value"] for setting in row.get("settings", ())}
        return
    if not run.parameters:
        raise FormatError("it does not begin with the format")
    if "event" in row:
        run.events.append(Event(**row["event"]))
        return
    for loss in _numbers(row.pop("losses")):
        if loss is not None:
            run.losses.add(run.count, loss)
        run.count += 1
    if "ended" in row:
        run.seconds, run.failure = row["seconds"], row["failure"]
    else:
        number = row.pop("step")
        loss, rate, time = _numbers([row.pop("loss"), row.pop("rate"), row.pop("time", None)])
        if {len(row[name]) for name in MEASURES} != {len(run.parameters)}:
            raise FormatError(f"a step of {len(row[MEASURES[0]])} parameters, where {len(run.parameters)} are known")
        measured = {name: _numbers(value) for name, value in row.items()}
        run.steps.add(number, Measured(number, loss, rate, **measured, time=time))


def plain(value: Any, digits: int = 17) -> Any:
    """A number, or a list of them, for JSON: rounded to some digits; NaN and inf are text."""
    if isinstance(value, list):
        return [plain(each, digits) for each in value]
    if not isinstance(value, float):
        return value
    return float(f"{value:.{digits}g}") if math.isfinite(value) else repr(value)


def _numbers(values: list[Any]) -> list[float | None]:
    return [None if value is None else float(value) for value in values]


def _some(name: str, run: Run, others: Sequence[object]) -> list[Run]:
    """A run and others, checked."""
    if len(others) >= AT_MOST:
        raise ValueError(f"{name}(): {len(others) + 1} runs, and at most {AT_MOST} can be told apart: choose some")
    runs = [each for each in others if isinstance(each, Run)]
    if len(runs) < len(others):
        wrong = next(type(each).__name__ for each in others if not isinstance(each, Run))
        raise TypeError(f"{name}(): the others must be runs, not a {wrong}: read_run(file) reads one")
    return [run, *runs]


class _RunWriter:
    """Writes one run, or several side by side."""

    def __init__(self, width: int, ascii: bool) -> None:
        self.width, self.ascii = width, ascii

    def lines(self, runs: Sequence[Run]) -> Iterator[str]:
        """All lines."""
        names = [cut(printable(name, ascii=self.ascii), HEAD - 1) for name in labels(runs)]
        yield from self.between(runs)
        for label, run in zip(names, runs, strict=True):
            took = "" if run.seconds is None else f"; {duration(run.seconds)}"
            every = f"one in {run.every} recorded" if run.every > 1 else "all recorded"
            yield f"{pad(label, HEAD)}{counted(run.count, 'step')}, {every}, {counted(len(run.parameters), 'parameter')}{took}"
            if run.failure is not None:
                yield from self.wrap("", f"ended by {run.failure}")
            yield from self.loss(run)
        yield ""
        yield from self.table(runs)
        title = "health"
        for label, run in zip(names, runs, strict=True):
            of = f"{label}: " if len(runs) > 1 else ""
            nothing = f"nothing was found in {counted(run.count, 'step')}"
            for said in [str(event) for event in run.events[:SHOWN]] or [nothing]:
                yield from self.wrap(title, of + said)
                title = ""
        if not all(run.events for run in runs):
            yield from self.wrap("looked for", LOOKED_FOR)

    def between(self, runs: Sequence[Run]) -> Iterator[str]:
        """Which run is ahead, and the settings in which they differ."""
        if len(runs) == 1:
            return
        if told := compared(runs):
            yield from self.wrap("compared", told)
        for name, texts in settings(runs)[0].items():
            yield from self.wrap(name, " | ".join(texts))

    def wrap(self, title: str, text: str) -> list[str]:
        words = [f"{word} " for word in printable(text, ascii=self.ascii).split(" ")]
        return wrapped(pad(title, HEAD), words, self.width)

    def loss(self, run: Run) -> Iterator[str]:
        """First, last and smallest loss, and their course as bars."""
        values = run.losses.values
        if not values:
            yield f"{pad('loss', HEAD)}unknown: no backward() wrote to the gradients of these parameters"
            return
        finite = [(loss, number) for number, loss in values if math.isfinite(loss)]
        least = f", smallest {short(min(finite)[0])} at step {min(finite)[1]}" if finite else ""
        yield f"{pad('loss', HEAD)}{short(values[0][1])} -> {short(values[-1][1])}{least}"
        if not self.ascii and len(finite) > 1:
            yield f"{pad('', HEAD)}{bars([loss for loss, _ in finite], min(60, self.width - HEAD))}"

    def table(self, runs: Sequence[Run]) -> list[str]:
        """A line for each parameter: what was measured at the first and at the last recorded step.

        More than two runs have room for the last gradient alone.
        """
        names = list(dict.fromkeys(name for run in runs for name in run.parameters))
        few = len(runs) < 3
        head = ["gradient", "update/weight", "zeros"] * len(runs) if few else labels(runs)
        body = [["parameter" if few else "gradient, last", *(printable(each, ascii=self.ascii) for each in head)]]
        for name in names[:SHOWN]:
            cells = [printable(name, ascii=self.ascii)]
            for run in runs:
                for what in MEASURES if few else MEASURES[:1]:
                    values = run.series(name, what)[1] if name in run.parameters else []
                    cells.append(_ends(values, brief=not few or what == "zeros"))
            body.append(cells)
        lines = table(body, self.width, right=frozenset(), least=[8, *([6, 6, 4] if few else [4]) * len(runs)])
        more = len(names) - SHOWN
        return [*lines, *([f"and {more} more: run.parameters"] if more > 0 else []), ""]


def _ends(values: Sequence[float | None], *, brief: bool) -> str:
    """The first and the last of some numbers."""
    found = [value for value in values if value is not None]
    if not found:
        return "none"
    last = short(found[-1], 2)
    return last if brief or len(found) == 1 else f"{short(found[0], 2)} -> {last}"


def bars(values: Sequence[float], width: int) -> str:
    """The course of some numbers as a row of bars, each the mean of its part; of their logarithms, if these differ much."""
    if min(values) > 0 and max(values) > 50 * min(values):
        values = [math.log(value) for value in values]
    count = min(width, len(values))
    edges = [len(values) * i // count for i in range(count + 1)]
    means = [sum(values[a:b]) / (b - a) for a, b in itertools.pairwise(edges)]
    low, high = min(means), max(means)
    return "".join(BARS[1 + round((len(BARS) - 2) * (mean - low) / (high - low or 1))] for mean in means)
