"""Several training runs beside each other: what each is called, in which settings they differ, and which one is ahead."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, SupportsFloat

from .numbers import counted, short

if TYPE_CHECKING:
    from .runs import Run


AT_MOST = 8
"""The number of runs in one page or text: of more, colors and columns could not be told apart."""
FEW = 5
"""The number of losses of which a median is taken at least."""
FALLEN = 0.05
"""The share by which the level of a loss falls, from a tenth of the run to the next, in a run that is not done."""
Setting = float | str | list[float] | None
"""A setting of an optimizer: a number, a truth value (as text), a word, or some numbers, such as `betas`."""


class Level(NamedTuple):
    """What a loss is near the end: the median of the last tenth, its standard error, and the median of the tenth before."""

    value: float
    error: float
    earlier: float

    @property
    def falling(self) -> bool:
        """Whether the run ended while the loss was falling."""
        return self.earlier - self.value > max(3 * self.error, FALLEN * abs(self.earlier))


def settings_of(number: int, optimizer: str, groups: Iterable[Mapping[str, object]]) -> dict[str, Setting]:
    """The settings of a run's n-th optimizer by name: its class, those of its first group, and what other groups have else."""
    of = f" of optimizer {number}" if number > 1 else ""
    first, *others = [{name: _plain(value) for name, value in group.items() if _is_setting(name)} for group in groups]
    found = {f"{name}{of}": value for name, value in {"optimizer": optimizer, **first}.items()}
    for place, group in enumerate(others, 2):
        changed = {name: value for name, value in group.items() if first.get(name) != value}
        found |= {f"{name} of group {place}{of}": value for name, value in changed.items()}
    return {name: value for name, value in found.items() if value != ""}


def _is_setting(name: str) -> bool:
    return name not in {"params", "param_names", "initial_lr"}  # initial_lr: what a scheduler adds


def _plain(value: object) -> Setting:
    """A setting as JSON holds it; "" for what is no number, word or row of numbers."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (tuple, list)):
        each = [_plain(item) for item in value]
        numbers = [item for item in each if isinstance(item, float)]
        return numbers if len(numbers) == len(each) else ""
    if not isinstance(value, SupportsFloat):
        return ""
    try:
        number = float(value)
    except (TypeError, ValueError):  # a tensor of several elements
        return ""
    return number if math.isfinite(number) else repr(number)


def _written(value: Setting) -> str:
    """A setting in words."""
    if isinstance(value, list):
        return f"({', '.join(map(short, value))})"
    return short(value) if isinstance(value, (int, float)) else "none" if value is None else value


def settings(runs: Sequence[Run]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The settings in which some runs differ, a text for each run, and those that all share."""
    differ: dict[str, list[str]] = {}
    same: dict[str, str] = {}
    for name in dict.fromkeys(name for run in runs for name in run.settings):
        texts = [_written(run.settings[name]) if name in run.settings else "-" for run in runs]
        if len({*texts}) > 1:
            differ[name] = texts
        else:
            same[name] = texts[0]
    return differ, same


def labels(runs: Sequence[Run]) -> list[str]:
    """What each of some runs is called: by the setting in which they differ, or by its file, where that tells them apart."""
    if len(runs) == 1:
        return ["run"]
    differ, _ = settings(runs)
    named = [", ".join(f"{name} {texts[i]}" for name, texts in differ.items()) for i in range(len(runs))]
    for names in ([*named] if len(differ) == 1 else [], [run.name for run in runs]):
        if names and all(names) and len({*names}) == len(names):
            return names
    return [f"run {i}" for i in range(1, len(runs) + 1)]


def _level(losses: Sequence[float | None]) -> Level | None:
    """The level of a loss; None where it is not finite, or too short to say."""
    tenth = max(FEW, len(losses) // 10)
    last, before = ([x for x in part if x is not None] for part in (losses[-tenth:], losses[-2 * tenth : -tenth]))
    if min(len(last), len(before)) < FEW or not all(map(math.isfinite, last)):
        return None
    middle = median(last)
    spread = median(abs(each - middle) for each in last)
    return Level(middle, 1.86 * spread / math.sqrt(len(last)), median(before))  # of a normal distribution


def compared(runs: Sequence[Run]) -> str:
    """A sentence that says which of several runs is ahead, by medians; empty where that cannot be said."""
    steps = min(run.count for run in runs)
    levels = {
        label: _level(
            [mean for (number, _), mean in zip(run.losses.values, run.losses.means, strict=True) if number < steps]
        )
        for label, run in zip(labels(runs), runs, strict=True)
    }
    known = sorted((level.value, label) for label, level in levels.items() if level is not None)
    if len(known) < 2:
        return ""
    (best, ahead), (value, label) = known[:2]
    one, other = levels[ahead], levels[label]
    assert one is not None
    assert other is not None
    others = ", ".join(f"{short(value, 3)} of {name}" for value, name in known[1:])
    if value - best > 2 * math.hypot(one.error, other.error):
        told = f"{ahead} is ahead after {counted(steps, 'step')}: {short(best, 3)} against {others}"
    else:
        told = f"{ahead} and {label} are level after {counted(steps, 'step')}: {short(best, 3)} of {ahead}, {others}"
    falling = [name for name, level in levels.items() if level is not None and level.falling]
    lost = [
        name
        for name, run in zip(levels, runs, strict=True)
        if run.losses and not math.isfinite(run.losses.values[-1][1])
    ]
    if falling:
        told += f"; {_listed(falling)} {'is' if len(falling) == 1 else 'are'} still falling"
    if lost:
        told += f"; {_listed(lost)} ended in nan or inf"
    return f"{told} (medians of the last tenth)."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
