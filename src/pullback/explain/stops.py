"""Where a reader stops: the lines of a program, and its modules, each time that they ran.

A stop holds the operations of one line, forward and backward. An operation inside a library's module belongs to the
module; modules and functions are folded where there would be too many stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .. import nn
from .folding import repeats
from .sources import Place
from .trace import Call, Scope, Step, Traced


@dataclass(eq=False, slots=True)
class Stop:
    """A line or a module, one of the times that it ran: its operations, its backward steps and the leaves made there."""

    place: Place | None
    scope: Scope | None = None
    forward: list[Step] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    leaves: list[Traced] = field(default_factory=list)
    results: list[Traced] = field(default_factory=list)
    nth: int = 1
    of: int = 1

    @property
    def operations(self) -> list[str]:
        """The names of its operations, the newest first."""
        steps = [step for step in self.steps if step.op is not None] or self.forward[::-1]
        return [step.op for step in steps if step.op is not None]

    def __str__(self) -> str:
        if self.scope is not None:
            return self.scope.name
        return "" if self.place is None else self.place.where


@dataclass(slots=True)
class Omitted:
    """Stops that are not shown, and why."""

    label: str


def reached(call: Call) -> list[list[Step]]:
    """The backward steps as a reader steps through them: those of one line, one of the times that it ran, together.

    What has been added up for a leaf belongs to the line that sent its last part.
    """
    found: list[list[Step]] = []
    for step in call.steps:
        line = _line(step)
        if found and (step.op is None or (line is not None and line == _line(found[-1][0]))):
            found[-1].append(step)
        else:
            found.append([step])
    return found


def _line(step: Step) -> tuple[str, int, tuple[int, int] | None] | None:
    """The line of a step, and which time it ran."""
    return None if step.place is None else (step.place.file, step.place.line, step.outputs[0].round)


def stops(call: Call, most: int) -> list[Stop | Omitted]:
    """The stops of a call in the program's order, about `most` at most: modules are folded first, then rounds."""
    inner = max((len(step.scope.path) for step in (*call.forward, *call.steps) if step.scope is not None), default=0)
    for depth in range(inner + 1, 0, -1):
        found = shortened(_Builder(call, depth).build(), most)
        if len(found) <= most:
            return found
    half = most // 2
    rest = len(found) - 2 * half
    return [*found[:half], Omitted(f"{rest} more"), *found[-half:]]


def shortened(found: Sequence[Stop], most: int) -> list[Stop | Omitted]:
    """Stops with repetitions left out, if there are too many: of three or more rounds the first and the last remain."""
    items: list[Stop | Omitted] = list(found)
    if len(items) <= most:
        return items
    numbers: dict[object, int] = {}
    keys = [numbers.setdefault(_same(stop), len(numbers)) for stop in found]
    items, at = [], 0
    while at < len(found):
        length, rounds = repeats(keys, at)
        if rounds < 3:
            items.append(found[at])
            at += 1
            continue
        what = "this" if length == 1 else f"these {length}"
        items += [*found[at : at + length], Omitted(f"{rounds - 2} more rounds of {what}")]
        items += found[at + length * (rounds - 1) : at + length * rounds]
        at += length * rounds
    return items


def _same(stop: Stop) -> object:
    """What stops of one line, or of one module, have in common."""
    if stop.scope is not None:
        return stop.scope.name
    return (stop.place.file, stop.place.line) if stop.place is not None else stop


class _Builder:
    """Sorts the operations of a call into stops."""

    def __init__(self, call: Call, depth: int) -> None:
        self.call, self.depth = call, depth
        self.found: list[Stop] = []
        self.open: dict[object, Stop] = {}
        self.of: dict[Traced, Stop] = {}
        self.opaque, self.parents = _opaque(call)

    def build(self) -> list[Stop]:
        """The stops, each with its round."""
        for step in self.call.forward:
            stop = self._stop(step)
            stop.forward.append(step)
            self.of |= dict.fromkeys(step.outputs, stop)
        self.found.sort(key=lambda stop: stop.forward[-1].index)
        self._leaves()
        for step in self.call.steps:
            tensor = step.outputs[0]
            stop = self.of[tensor] if tensor in self.of else self._stop(step)
            stop.steps.append(step)
        self._results()
        rounds: dict[object, list[Stop]] = {}
        for stop in self.found:
            if stop.scope is not None:
                rounds.setdefault(_same(stop), []).append(stop)
        for several in rounds.values():
            for nth, stop in enumerate(several, 1):
                stop.nth, stop.of = nth, len(several)
        return self.found

    def _results(self) -> None:
        """A stop's results are the values that are used elsewhere, or not at all; else its leaves."""
        inside: set[Traced] = set()
        outside = {output.tensor for output in self.call.outputs}
        for tensor in self.call.tensors:
            for each in tensor.inputs:
                (inside if self._within(self.of.get(each), self.of.get(tensor)) else outside).add(each)
        for stop in self.found:
            made = [tensor for step in stop.forward for tensor in step.outputs]
            stop.results = [each for each in made if each in outside or each not in inside] or made[-1:] or stop.leaves

    @staticmethod
    def _within(stop: Stop | None, user: Stop | None) -> bool:
        """Whether a value is used in its own line: by it, or by a module that is called there."""
        if stop is user or stop is None or user is None:
            return True
        if user.scope is None or stop.scope is not None or stop.place is None or user.place is None:
            return False
        return (stop.place.file, stop.place.line) == (user.place.file, user.place.line)

    def _stop(self, step: Step) -> Stop:
        """The stop of an operation: that of its line in its round, or of its module."""
        scope = self._module(step)
        place = step.place
        if scope is None and place is None:
            return self._new(Stop(None))
        key = scope or _line(step)
        if key not in self.open:
            self.open[key] = stop = self._new(Stop(place, scope))
            stop.nth, stop.of = step.outputs[0].round or (1, 1) if scope is None else (1, 1)
        return self.open[key]

    def _new(self, stop: Stop) -> Stop:
        self.found.append(stop)
        return stop

    def _module(self, step: Step) -> Scope | None:
        """The module or function that stands for an operation's line; None if the line itself is shown."""
        path = () if step.scope is None else step.scope.path
        if len(path) > self.depth or (len(path) == self.depth and path[-1] in self.parents):
            return path[self.depth - 1]
        return path[-1] if path and path[-1] in self.opaque else None

    def _leaves(self) -> None:
        """Leaves belong to the module whose parameters they are, or to the line that made them."""
        names = {stop.scope.name: stop for stop in reversed(self.found) if stop.scope is not None}
        lines: dict[object, Stop] = {}
        for tensor in self.call.tensors:
            if not tensor.is_leaf:
                continue
            owner = max((name for name in names if tensor.name.startswith(f"{name}.")), key=len, default="")
            if owner:
                names[owner].leaves.append(tensor)
                self.of[tensor] = names[owner]
                continue
            key = tensor if tensor.place is None else (tensor.place.file, tensor.place.line)
            if key not in lines:
                lines[key] = Stop(tensor.place)
                self._insert(lines[key])
            lines[key].leaves.append(tensor)
            self.of[tensor] = lines[key]

    def _insert(self, stop: Stop) -> None:
        """Put the line of a leaf where it stands in the program, or at the beginning."""
        place = stop.place
        later = (
            at
            for at, each in enumerate(self.found)
            if place is not None and each.place is not None and each.place.file == place.file
            if each.place.line > place.line and each.scope is None
        )
        before = [at for at, each in enumerate(self.found) if each.leaves and not each.forward]
        self.found.insert(next(later, len(before)), stop)


def _opaque(call: Call) -> tuple[set[Scope], set[Scope]]:
    """The modules that are shown in place of the lines of their operations, and the scopes that contain others.

    They are the library's, and those whose operations are all on one line.
    """
    lines: dict[Scope, set[tuple[str, int]]] = {}
    parents: set[Scope] = set()
    for step in (*call.forward, *call.steps):
        if step.scope is None:
            continue
        parents.update(step.scope.path[:-1])
        if step.scope.kind == "module" and step.place is not None:
            lines.setdefault(step.scope, set()).add((step.place.file, step.place.line))
    opaque = {
        scope
        for scope, places in lines.items()
        if scope.type in vars(nn) or (len(places) == 1 and scope not in parents)
    }
    return opaque, parents
