"""Jumps and kinks of functions that are integrated: what they add to a derivative as they move is in no rule of the function.

A function is followed along a line. It may jump, or its slope, where one of its steps, such as a comparison, changes; and where
it takes numbers, as by `int`, wherever its values are far apart on both sides of a place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..vocabulary import load
from .operands import concrete, joined, on_tensors, tensors

if TYPE_CHECKING:
    from .._core.typing import Array, Tensor, Value
    from ..func.replaying import Switched

    Line = Callable[[Any], Value]
    Way = tuple[Array, Array]

FAR = 1e-6
"""How far apart two values are that differ, over their size."""
PLACES = 65
"""Between how many places of a line jumps are looked for, for each number that it moves."""
END = 1e-6
"""How far from the ends the outermost of these are: a function may be infinite at an end."""
ASIDE = 1e-9
"""How far from a step the values beside it are taken: nearer, a quotient of two small numbers would have lost its digits."""
FARTHER = 1e-6
"""How far from a step slopes are taken that have lost all digits there."""
BETWEEN = 200
"""At how many times more the rate of an equation is looked at."""
TRIED = (0.07, 0.29, 0.52, 0.73, 0.96)
"""Where a function is asked whether it has steps at all."""


class Break(NamedTuple):
    """Where a function jumps, or its slope does: between which places; the two values, if they differ; and whether it may move."""

    low: float
    high: float
    jump: tuple[float, float] | None
    moves: bool


def require_still(name: str, function: Line, count: int = PLACES, instead: str = "") -> None:
    """Refuse an integrand that jumps, or whose slope does, where a tensor with a gradient says."""
    for found in breaks(function, count):
        require_continuous(name, found)
        short = name.rpartition(".")[2]
        raise TypeError(
            f"{name} has no derivative here of a function whose slope jumps where a tensor with a gradient says, as that of "
            f"abs(x - a) or maximum(x, a): its nodes are not chosen for that. {instead or 'scipy.integrate.quad finds such places'}, "
            f"or integrate both sides, with that tensor as a limit: {short}(f, low, a) + {short}(f, a, high)"
        )


def require_continuous(name: str, found: Break) -> None:
    """Refuse a jump where a tensor with a gradient says."""
    if found.moves and found.jump is not None:
        short = name.rpartition(".")[2]
        raise TypeError(
            f"{name} has no derivative here of a function that jumps where a tensor with a gradient says, as by `if x < a`, "
            f"where(x < a, ...) or int(x + a): from {found.jump[0]:.4g} to {found.jump[1]:.4g}. Integrate both sides, with that "
            f"tensor as a limit: {short}(f, low, a) + {short}(f, a, high)"
        )


def require_smooth(
    name: str, rate: Callable[..., Value], coarse: Way, finer: Callable[[Array], Way], order: int = 1
) -> bool:
    """Refuse the rate of an equation that jumps on the way of its solution at a state, or where a tensor with a gradient says.

    The way is the times and the states that were found; `finer` gives it at more times, and is only asked of a rate with steps.
    Of a derivative's equation the order is that of the derivative's own. The answer is whether the rate's slope jumps.
    """
    if len(coarse[0]) < 2 or _Followed(_on_the_way(rate, *coarse)).stepless():
        return False
    times = np.unique(np.concatenate([coarse[0], np.linspace(coarse[0][0], coarse[0][-1], BETWEEN)]))
    times, states = finer(times if coarse[0][0] < coarse[0][-1] else times[::-1])
    found = breaks(_on_the_way(rate, times, states), len(times) - 1)
    for jump in (each.jump for each in found if each.jump is not None):
        between = f"from {jump[0]:.4g} to {jump[1]:.4g}"
        if order > 1:
            raise TypeError(
                f"{name} has no derivative of order {order} here of a rate whose derivative of order {order - 1} jumps at a state, or "
                f"where a tensor with a gradient says, as that of abs(y - a): {between}. Lower orders are right; for this one take a "
                "smooth rate, such as sqrt((y - a)**2 + 1e-6)"
            )
        raise TypeError(
            f"{name} has no derivative here of a rate that jumps at a state, or where a tensor with a gradient says, as by "
            f"`if y[0] < a` or int(t + a): {between}. Solve on both sides of the jump, each with a rate of its own: with "
            "method='RK45' and events= that are terminal, t_events and y_events have derivatives"
        )
    return bool(found)


def _on_the_way(rate: Callable[..., Value], times: Array, states: Array) -> Line:
    clock, path = _along(times), _along(load("_tensor.creation", "tensor")(states, requires_grad=True))
    return lambda s: rate(clock(s), path(s))


def through_box(low: Array, high: Array) -> Callable[[Any], Any]:
    """A line through a box, or all of space where it has no end, that comes near to each of its places."""
    low, high = np.minimum(low, high), np.maximum(low, high)
    count, below, above = PLACES * low.size + 1, np.isneginf(low), np.isposinf(high)
    u = np.linspace(END, 1 - END, count)[:, None]
    if low.size > 1:  # places that are spread evenly: multiples of the powers of a root
        root = np.roots([1.0, *[0.0] * (low.size - 1), -1.0, -1.0]).real.max()
        u = np.clip(np.arange(1, count + 1)[:, None] * root ** -np.arange(1.0, low.size + 1) % 1, END, 1 - END)
    first, last = np.where(below, 0.0, low), np.where(above, 0.0, high)
    ways = [np.log(u / (1 - u)) + 0 * first, last - (1 - u) / u, first + u / (1 - u)]
    return _along(np.select([below & above, below, above], ways, first + u * (last - first)))


def _along(corners: Any) -> Callable[[Any], Any]:
    """The line from the first of these points to the last."""
    parts = len(corners) - 1

    def place(s: Any) -> Any:
        k = min(int(concrete(s) * parts), parts - 1)
        return corners[k] + (s * parts - k) * (corners[k + 1] - corners[k])

    return place


class _Followed:
    """A function along a line, which is run once at each place that is asked for."""

    def __init__(self, function: Line, every: bool = False) -> None:
        self.function, self.every = function, every
        self.known: dict[float, Switched] = {}

    def __call__(self, place: float) -> Switched:
        """How the function runs at a place: its steps, whether it takes numbers, its values and, where it has them, its slopes."""
        if place not in self.known:
            self.known[place] = self._run(place)
        return self.known[place]

    def _run(self, place: float) -> Switched:
        def followed(s: Tensor) -> list[Tensor]:
            jvp, ones = load("func", "jvp"), on_tensors.ones_like
            for run in (lambda: jvp(self._values, (s,), (ones(s),)), lambda: [self._values(s)]):
                with suppress(TypeError):  # what it calls may take no such tensors
                    return list(run())
            return []

        found: Switched = load("func.replaying", "switched")(followed, place, self.every)
        return found if found.found else found._replace(steps=b"", looked=False, found=[concrete(self._values(place))])

    def _values(self, s: Value | float) -> Tensor:
        return tensors(joined(self.function(s)))[0].reshape(-1)

    def stepless(self) -> bool:
        """Whether the function has no steps, as far as a few places tell."""
        return not any(run.steps or run.looked for run in map(self, TRIED))


def breaks(function: Line, count: int, every: bool = False) -> list[Break]:
    """Where a function jumps, or its slope, between as many places of a line, where a tensor with a gradient says; or everywhere."""
    moving, at = _Followed(function), _Followed(function, every)
    if at.stepless():
        return []
    places = np.linspace(0, 1, count + 1)
    places[[0, -1]] += END, -END
    found: list[Break] = []
    for low, high in itertools.pairwise(places):
        ends = list(_beside_steps(at, low, high))
        if at(low).looked:
            ends.append(_beside_jump(at, low, high))
        for one, other in ends:
            jump = _apart(at(one - ASIDE).found[0], at(other + ASIDE).found[0])
            if jump is None and not _bent(at, one, other):
                continue
            runs = moving(one - ASIDE), moving(other + ASIDE)
            found.append(Break(one, other, jump, runs[0].looked or runs[0].steps != runs[1].steps))
    return found


def _bent(at: _Followed, one: float, other: float) -> bool:
    """Whether slopes differ on both sides: as near as they are finite, since that of arccos(cos(h)) is not where its digits end."""
    for aside in (ASIDE, FARTHER):
        left, right = at(one - aside).found[-1], at(other + aside).found[-1]
        if np.isfinite([left, right]).all():
            break
    return _apart(left, right) is not None


def _apart(left: Array, right: Array) -> tuple[float, float] | None:
    """The two numbers that are further apart than those that count as equal, if there are such."""
    most = np.argmax(far := _distance(left, right))
    return (left[most], right[most]) if far[most] > 0 else None


def _distance(left: Array, right: Array) -> Array:
    """How much further apart numbers are than those that count as equal."""
    return abs(left - right) - FAR * (1 + abs(left) + abs(right))


def _beside_steps(at: _Followed, low: float, high: float) -> Iterator[tuple[float, float]]:
    """The places on both sides of where a function takes another step, between two that differ in it."""
    while low < high and at(low).steps != at(high).steps:
        before, end = at(low).steps, high
        while low < (middle := (low + end) / 2) < end:
            low, end = (middle, end) if at(middle).steps == before else (low, middle)
        yield low, end
        low = end + 2 * ASIDE


def _beside_jump(at: _Followed, low: float, high: float) -> tuple[float, float]:
    """The places on both sides of where values jump the most between two places; one place twice if they come together."""
    left, right = at(low).found[0], at(high).found[0]
    while (_distance(left, right) > 0).any() and low < (middle := (low + high) / 2) < high:
        between = at(middle).found[0]
        if abs(between - left).max() > abs(right - between).max():
            high, right = middle, between
        else:
            low, left = middle, between
    return (low, high) if (_distance(left, right) > 0).any() else (low, low)
