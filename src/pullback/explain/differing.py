"""The first difference: two trails are aligned, and the first result or gradient that rounding does not explain is named."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .arrays import Array
from .numbers import short
from .sheets import Sheet
from .trails import BACKWARD, FORWARD, GIVEN, LEAF, SENT, WRITE, Trail, TrailEntry

UNITS = 64.0
"""How many units of rounding, of the largest element, two results may differ by."""
GROWTH = 16.0
"""How many more for each unit by which results before have differed."""
MOST_UNITS = 2.0**14
"""How many at most: a thousandth in float32."""
NOISE = 4.0
"""How many units of its operands a sum may be off by, where they cancel."""
SUMS = tuple(
    "add sub sum mean affine matmul conv norm standardize var std entropy loss einsum dot lstm gru softmax".split()
)
"""What is in the names of operations that add: what cancels there is rounding of the operands."""
BFLOAT = 2.0**-8
BEFORE, AFTER = 8, 12
"""How many results around the first difference are shown."""
COMMON = 0.25
"""The share of the shorter run's results that the other has to have, too: of fewer it is not said that they agree. Of a GRU, whose
steps torch does not tell of, it is 0.4."""
Key = tuple[object, ...]


class Difference(NamedTuple):
    """Where two runs part: what `first_difference` finds."""

    what: str
    """'value', 'gradient', 'dtype', 'shape', 'operation' for one that only one of the runs has, or 'length' for a line that one of
    them has run more often."""
    entry: TrailEntry
    """What the first run has there, or the one that has it alone: the operation, its line and module."""
    other: TrailEntry | None
    """What the second run has in its place."""
    element: tuple[int, ...] | None
    """The index of the element that differs most; None where elements are not compared, or it was not kept."""
    first: object
    second: object
    """The element in either run; a dtype or a shape, if that differs; how often a line has run."""
    units: float
    """How many units of rounding, of the largest element, lie between them."""
    also: str = ""

    @property
    def subject(self) -> str:
        """What differs, in words."""
        phase, operation, called, module, place, code, *_ = self.entry
        at = f" at {place.where}" if place is not None else ""
        inside = f" in {module}" if module else ""
        name = called if called and not called.isdigit() else "an operand"
        return {
            FORWARD: f"{operation}{at}{inside}: {code} gave",
            GIVEN: f"{name}, which {operation}{at}{inside} was given, is",
            SENT: f"the derivative of {operation}{at}{inside}, for operand {called or 0}, is",
            BACKWARD: f"the gradient that arrives at {operation}{at}{inside} is",
            LEAF: f"the gradient of {name}, used{at}{inside}, is",
            WRITE: f"what is written to {called or 'a tensor'}{at}{f': {code}' * (self.what == 'operation')} is",
        }[phase]

    def __str__(self) -> str:
        if self.what in {"operation", "length"}:
            subject = self.subject.removesuffix(" gave").removesuffix(", is").removesuffix(" is")
            if self.what == "length":
                return f"{subject} came {self.first} times in the first run and {self.second} times in the second"
            word = {FORWARD: "runs", WRITE: "stands"}.get(self.entry.phase, "is sent")
            return f"{subject} {word} in {self.first} alone; {self.also}"
        index = "" if self.element in {None, ()} else f", at {[*(self.element or ())]}"
        one, other = (_said(each) for each in (self.first, self.second))
        units = ""
        if self.what in {"value", "gradient"}:
            many = "no rounding" if math.isinf(self.units) else f"{self.units:.0f} units of rounding"
            units = f", {many}"
        return f"{self.subject} {one} in the first run and {other} in the second{index}{units}{self.also and f'; {self.also}'}"


class Compared(NamedTuple):
    """A result of the first run beside that of the second."""

    entry: TrailEntry
    other: TrailEntry
    units: float
    allowed: float

    @property
    def differs(self) -> bool:
        """Whether more than rounding lies between them."""
        return self.units > self.allowed or self.entry.dtype != self.other.dtype


class Comparison:
    """Two runs side by side: true if they differ beyond rounding, and `first` is where.

    >>> import pullback
    >>> with pullback.explain.trail() as one:
    ...     y = pullback.tensor([1.0, 2.0]).sin()
    >>> found = pullback.explain.first_difference(one, one)
    >>> bool(found), str(found)
    (False, 'no difference: 2 results and gradients agree, within 0 units of rounding')
    """

    def __init__(self, first: Difference | None, pairs: list[Compared], alone: tuple[int, int], cut: str = "") -> None:
        self.first = first
        self.pairs = pairs
        """What was compared, in order."""
        self.alone = alone
        """How many results each run has that the other has not."""
        self.cut = cut
        """Which run was longer than what is kept of it: 'the first', 'the second', both or ''."""
        self._at = next((i for i, each in enumerate(pairs) if each.differs), len(pairs))

    @property
    def agreed(self) -> list[Compared]:
        """What agrees, before the first difference."""
        return self.pairs[: self._at]

    def __bool__(self) -> bool:
        return self.first is not None

    def __str__(self) -> str:
        worst = max((each.units for each in self.agreed), default=0.0)
        same = f"{len(self.agreed)} results and gradients agree, within {worst:.2g} units of rounding"
        one, other = self.alone
        only = f"; {one} stand in the first run alone, {other} in the second" if one or other else ""
        if self.cut:
            only += f"; {self.cut} was longer than what is kept of a run, and of the rest nothing is known"
        if self.first is None:
            return f"no difference: {same}{only}"
        return f"{self.first}. Before it, {same}"

    def sheet(self) -> Sheet:
        """The results around the first difference as a table."""
        at = self._at
        shown = self.pairs[max(0, at - BEFORE) : at + AFTER]
        rows = [
            [
                "" if e.place is None else e.place.where, e.module, _WORDS[e.phase].format(e).strip(),
                f"{e.dtype} {'x'.join(map(str, e.shape)) or '1'}", short(units, 3),
            ]
            for e, _, units, _ in shown
        ]  # fmt: skip
        bars = [0.0 if u <= 0 else min(1.0, math.log2(1 + min(u, 2.0**24)) / 24) for _, _, u, _ in shown]
        marked = at - max(0, at - BEFORE) if at < len(self.pairs) else None
        columns = ["line", "module", "result", "array", "units"]
        place = None if self.first is None else self.first.entry.place
        answer = "none" if self.first is None else "" if place is None else f"line {place.line}"
        return Sheet("difference", "First difference", answer, str(self), columns, rows, bars, marked)


def first_difference(a: Trail, b: Trail) -> Comparison:
    """The first operation of two runs whose result or gradient differs by more than rounding.

    The runs are those of one program, with something changed: a constant, a seed, a rule, the version of pullback, or torch
    in its place. What they did is aligned by lines, modules and operations, so that a line that was added, or two
    that have changed places, are no difference by themselves. The answer names the operation, its line and module,
    and the element that differs most with both numbers. Results differ if an element does by more than 64 units of rounding
    of the largest element, and by 16 more for each unit that was seen before.

    Raises
    ------
    ValueError
        If a trail is empty, or if nothing differs but most of either run has no partner in the other: two programs, then.

    >>> import pullback
    >>> def run(slope):
    ...     with pullback.explain.trail() as trail:
    ...         x = pullback.tensor([-1.0, 2.0], requires_grad=True)
    ...         pullback.nn.functional.leaky_relu(x, slope).sum().backward()
    ...     return trail
    >>> found = pullback.explain.first_difference(run(0.01), run(0.02))
    >>> found.first.entry.operation, found.first.element, found.first.first, found.first.second
    ('leaky_relu', (0,), -0.009999999776482582, -0.019999999552965164)
    """
    _check_trails(a, b)
    same = a.source == b.source
    ones, others = ([*_places(t)] if same else _calls(t) for t in (a, b))
    pairs, alone = _aligned(a, b, ones, others, _SAME if same else _CROSSED)
    mirrored = a.source != "pullback"
    scales = _Scales(b if mirrored else a)
    worst, compared, first, last, since = 0.0, list[Compared](), None, (-1, -1), AFTER
    for i, j in pairs:
        one, other, here = a.entries[i], b.entries[j], j if mirrored else i
        units, at = _apart(one, other, scales.of(here) * (NOISE + worst))
        allowed = max(min(UNITS + GROWTH * worst, MOST_UNITS), GROWTH * scales.noise(here))
        compared.append(Compared(one, other, units, allowed))
        if not compared[-1].differs:
            worst, last = max(worst, min(units, MOST_UNITS)), (i, j)
            scales.seen(here, _apart(one, other, 0.0)[0])
        elif first is None or (first.entry.phase == GIVEN and not first.entry.name):  # made unseen: others tell more
            only = _only(a, b, alone, last, (i, j)) if same else None
            first = only or first or _difference(one, other, units, at, a)
        since = AFTER if first is None else since - 1
        if not since:
            break
    if first is None:
        _check_common(len(pairs), len(ones), len(others))
        first = _longer(a, b, alone) if same and a.whole and b.whole else None
    cut = ["the first" * (not a.whole), "the second" * (not b.whole)]
    return Comparison(first, compared, (len(alone[0]), len(alone[1])), " and ".join(filter(None, cut)))


def _check_trails(a: Trail, b: Trail) -> None:
    for each in (a, b):
        if not isinstance(each, Trail):
            raise TypeError(
                f"first_difference(): expected two trails, got {type(each).__name__}: explain.trail() records one"
            )
        if not each.entries:
            which = "the first" if each is a else "the second"
            raise ValueError(
                f"{which} trail is empty, so there is nothing to compare: no operation of {each.source} ran "
                "while it was recorded"
            )


def _check_common(pairs: int, one: int, other: int) -> None:
    """Refuse runs that agree in what both have, where that is little."""
    if pairs < COMMON * min(one, other):
        raise ValueError(
            f"of {one} and {other} results and gradients of the two runs only {pairs} belong together, which agree: these are "
            "no runs of one program, so that nothing is said of the others"
        )


# 1. Which results belong together


def _places(trail: Trail) -> range:
    return range(len(trail.entries))


def _calls(trail: Trail) -> list[int]:
    """Of what an expression has called, the last result, which is the expression's value in pullback and in torch."""
    ends: list[int] = []
    entries = trail.entries
    for i, entry in enumerate(entries):
        if entry.phase == FORWARD:
            if not ends or _expression(entries[ends[-1]]) != _expression(entry):
                ends.append(i)
            elif entry.values.dtype.kind in "fc" or entries[ends[-1]].values.dtype.kind not in "fc":
                ends[-1] = i  # of values and their indices, as `max` has them, the values
    kept = set(ends)
    return [
        i for i, entry in enumerate(entries)
        if i in kept or entry.phase in {LEAF, WRITE} or (entry.phase == BACKWARD and kept.intersection(entry.makers))
    ]  # fmt: skip


def _expression(entry: TrailEntry) -> Key:
    return entry.place, entry.module


_SAME: tuple[Callable[[TrailEntry], Key], ...] = (
    lambda e: (e.phase, e.module, e.code, e.operation, e.name, e.shape),
    lambda e: (e.phase, e.module, e.operation, e.name, e.shape),
    lambda e: (e.phase, e.module, e.code, e.name, e.shape),
    lambda e: (e.phase, e.module, e.code, e.name),
)
_CROSSED: tuple[Callable[[TrailEntry], Key], ...] = (
    lambda e: (e.phase, e.module, e.code, e.place and e.place[1:], e.name if e.phase == LEAF else "", e.shape),
    lambda e: (e.phase, e.module, e.code, e.shape),
    lambda e: (e.phase, e.module, e.place and e.place.line, e.shape),
)
"""What equal entries have in common, the strictest first; of several the first belongs to the first."""


def _aligned(
    a: Trail, b: Trail, ones: Iterable[int], others: Iterable[int], keys: Sequence[Callable[[TrailEntry], Key]]
) -> tuple[list[tuple[int, int]], tuple[list[int], list[int]]]:
    """The pairs of entries, in the order of the first run, and the entries of either that have no partner."""
    left, right, pairs = [*ones], [*others], list[tuple[int, int]]()
    for key in keys:
        waiting: dict[Key, int] = {}
        counts: Counter[Key] = Counter()
        for j in right:
            what = key(b.entries[j])
            waiting[*what, counts[what]] = j
            counts[what] += 1
        counts.clear()
        rest = []
        for i in left:
            what = key(a.entries[i])
            found = waiting.pop((*what, counts[what]), -1)
            counts[what] += 1
            if found < 0:
                rest.append(i)
            else:
                pairs.append((i, found))
        left, right = rest, sorted(waiting.values())
    return sorted(pairs), (left, right)


def _only(
    a: Trail, b: Trail, alone: tuple[list[int], list[int]], last: tuple[int, int], here: tuple[int, int]
) -> Difference | None:
    """The first operation, or gradient that a rule sends, that what differs comes from and that one of the runs lacks."""
    for trail, rest, since, until, whose in zip(
        (a, b), alone, last, here, ("the first run", "the second run"), strict=True
    ):
        entries, lone = trail.entries, set(rest)
        if entries[until].phase in {FORWARD, GIVEN}:
            user = next((e for e in entries[until + 1 :] if until in e.makers), entries[until])
            between = rest[bisect_left(rest, since) : bisect_left(rest, until)]
            begin = [
                *_back(entries, (user if entries[until].phase == GIVEN else entries[until]).makers, lone),
                *between,
            ]
            found = next((entries[i] for i in sorted(begin) if entries[i].phase == FORWARD), None)
        elif entries[until].phase == WRITE:
            between = rest[bisect_left(rest, since) : bisect_left(rest, until)]
            found = next((entries[i] for i in between if entries[i].phase == WRITE), None)
        else:
            passed = _after(entries, entries[until].makers[:1])
            sent = (entries[i] for i in rest if entries[i].phase == SENT and i < until)
            found = next((e for e in sent if passed.intersection(e.makers)), None)
        if found is not None:
            then = a.entries[here[0]]
            also = f"what follows differs, first {f'what is written to {then.name}' if then.phase == WRITE else then.operation}"
            return Difference("operation", found, None, None, whose, None, math.inf, also)
    return None


def _longer(a: Trail, b: Trail, alone: tuple[list[int], list[int]]) -> Difference | None:
    """The first line of those that both runs have and one has run more often, as in a loop with more steps."""
    counts = [Counter(map(_line, trail.entries)) for trail in (a, b)]
    for trail, rest in zip((a, b), alone, strict=True):
        for i in rest:
            entry = trail.entries[i]
            often = [count[_line(entry)] for count in counts]
            if entry.phase in {FORWARD, WRITE} and all(often) and often[0] != often[1]:
                return Difference("length", entry, None, None, often[0], often[1], math.inf)
    return None


def _line(entry: TrailEntry) -> Key:
    return entry.phase, entry.module, entry.code, entry.operation, entry.name


def _back(entries: Sequence[TrailEntry], makers: Iterable[int], lone: set[int]) -> set[int]:
    """Of entries and of what they come from those that stand in one run alone."""
    found: set[int] = set()
    waiting = [*makers]
    while waiting:
        if (at := waiting.pop()) in lone and at not in found:
            found.add(at)
            waiting += entries[at].makers
    return found


def _after(entries: Sequence[TrailEntry], made: Iterable[int]) -> set[int]:
    """The operations that an entry is used by, at once or through others."""
    reached, found = set(made), set[int]()
    for i, entry in enumerate(entries):
        if entry.phase == FORWARD and reached.intersection(entry.makers):
            reached.add(i)
            found.add(i)
    return found


# 2. Whether they differ


class _Scales:
    """How large the numbers were that were added to give a result: so large is its rounding, whatever they sum to."""

    def __init__(self, trail: Trail) -> None:
        self.entries = trail.entries
        self.users: dict[int, list[int]] = defaultdict(list)
        self.gradients: dict[int, float] = defaultdict(float)
        self.apart: dict[int, float] = {}
        for i, entry in enumerate(self.entries):
            if entry.phase == FORWARD:
                for maker in entry.makers:
                    self.users[maker].append(i)
            elif entry.phase in {SENT, BACKWARD} and entry.makers:
                self.gradients[entry.makers[0]] = max(self.gradients[entry.makers[0]], entry.statistics.largest)

    def of(self, at: int) -> float:
        """The largest operand of a sum, times the root of the number of terms; 0 where nothing is added."""
        entry = self.entries[at]
        makers = [self.entries[i] for i in entry.makers]
        if entry.phase == FORWARD and any(word in entry.operation for word in SUMS):
            return max((m.statistics.largest * _root(m, entry) for m in makers), default=0.0)
        if not makers or entry.phase not in {SENT, BACKWARD, LEAF}:
            return 0.0
        if entry.phase == SENT:
            return self.gradients[entry.makers[0]] * _root(makers[0], entry)
        users = self.users[entry.makers[0]]
        return max((self.gradients[i] * _root(self.entries[i], entry) for i in users), default=0.0)

    def noise(self, at: int) -> float:
        """How far apart the gradients were that this one comes from: all that is left of a sum that is 0 is rounding."""
        entry = self.entries[at]
        if not entry.makers or entry.phase not in {SENT, BACKWARD, LEAF}:
            return 0.0
        waiting = [entry.makers[0]] if entry.phase == SENT else [*self.users[entry.makers[0]]]
        found, passed = 0.0, set(waiting)
        while waiting:
            user = waiting.pop()
            if user in self.apart:
                found = max(found, self.apart[user])
            else:  # it was not compared: what comes after it was
                fresh = [each for each in self.users[user] if each not in passed]
                passed.update(fresh)
                waiting += fresh
        return found

    def seen(self, at: int, units: float) -> None:
        """Note how far apart two gradients were that rounding explains."""
        entry = self.entries[at]
        if entry.makers and entry.phase in {SENT, BACKWARD} and math.isfinite(units):
            self.apart[entry.makers[0]] = max(self.apart.get(entry.makers[0], 0.0), units)


def _root(whole: TrailEntry, part: TrailEntry) -> float:
    return math.sqrt(max(1.0, whole.size / max(1, part.size)))


def _apart(one: TrailEntry, other: TrailEntry, excused: float) -> tuple[float, int | None]:
    """How many units of rounding lie between two results, and at which of their values most."""
    if one.shape != other.shape:
        return math.inf, None
    eps = max(_epsilon(one), _epsilon(other))
    scale = max(one.statistics.largest, other.statistics.largest)
    if len(one.values) == len(other.values):
        x, y = one.values, other.values
        with np.errstate(all="ignore"):
            off = _off(x, y)
        at = int(off.argmax()) if off.size else None
        found = 0.0 if at is None else float(off[at])
    else:
        at, found = None, 0.0
    units = _units(found, scale, eps, excused)
    if not (len(one.values) == len(other.values) == one.size):  # statistics tell of the elements that are not kept
        p, q = one.statistics, other.statistics
        more = max(
            math.inf if p.bad != q.bad else 0.0,
            _units(abs(p.largest - q.largest), scale, eps, excused),
            _units(abs(p.signed - q.signed), max(p.norm, q.norm), eps, excused * math.sqrt(one.size)),
        )
        if more > max(units, UNITS):
            return more, at if units > UNITS else None
    return units, at


def _off(x: Array, y: Array) -> Array:
    """The distance of elements: infinite where one is NaN, or another infinity, and where whole numbers differ."""
    if x.dtype.kind in "biu" and y.dtype.kind in "biu":
        return np.where(x == y, 0.0, np.inf)
    wide = [each.astype(np.complex128 if each.dtype.kind == "c" else np.float64) for each in (x, y)]
    same = (wide[0] == wide[1]) | (np.isnan(wide[0]) & np.isnan(wide[1]))
    found: Array = np.where(same, 0.0, np.nan_to_num(np.abs(wide[0] - wide[1]), nan=np.inf))
    return found


def _units(off: float, scale: float, eps: float, excused: float) -> float:
    off = max(0.0, off - eps * excused)
    return 0.0 if off == 0 else math.inf if not (scale and math.isfinite(off)) or not eps else off / (eps * scale)


def _epsilon(entry: TrailEntry) -> float:
    if entry.dtype == "bfloat16":
        return BFLOAT
    kind = entry.values.dtype
    return float(np.finfo(kind).eps) / 2 if kind.kind in "fc" else 0.0


# 3. What is said

_WORDS = {
    FORWARD: "{0.operation} {0.name}", GIVEN: "given {0.name}", SENT: "grad by {0.operation} {0.name}",
    BACKWARD: "grad at {0.operation} {0.name}", LEAF: "grad of {0.name}", WRITE: "written {0.name}",
}  # fmt: skip


def _difference(one: TrailEntry, other: TrailEntry, units: float, at: int | None, a: Trail) -> Difference:
    also = "; ".join(_remarks(one, other, a))
    if one.shape != other.shape:
        return Difference("shape", one, other, None, one.shape, other.shape, math.inf, also)
    apart = units > UNITS
    if one.dtype != other.dtype and not (apart and math.isinf(units)):
        return Difference("dtype", one, other, None, one.dtype, other.dtype, units, also)
    what = "value" if one.phase in {FORWARD, GIVEN, WRITE} else "gradient"
    if at is None:
        also = "; ".join(filter(None, ["the element is none of those kept: raise values=", also]))
        return Difference(what, one, other, None, one.statistics.norm, other.statistics.norm, units, also)
    element = (one if len(one.values) == len(other.values) else other).element(at)
    return Difference(what, one, other, element, one.values[at].item(), other.values[at].item(), units, also)


def _remarks(one: TrailEntry, other: TrailEntry, a: Trail) -> Iterator[str]:
    if other.operation != one.operation and other.phase == FORWARD:
        yield f"in the second run it is {other.operation}"
    if other.code != one.code:
        yield f"in the second run the line is {other.code}"
    if one.phase in {BACKWARD, LEAF} and one.makers:
        users = [e for e in a.entries if e.phase == FORWARD and one.makers[0] in e.makers]
        lines = dict.fromkeys(f"{e.operation} at {e.place.where}" for e in users if e.place is not None)
        if lines:
            yield f"it is sent by {', '.join([*lines][:3])}"


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return "x".join(map(str, value)) or "a single number"
    return short(value, 8) if isinstance(value, (int, float, complex)) else str(value)
