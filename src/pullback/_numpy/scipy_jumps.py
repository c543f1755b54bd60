"""Jumps of functions that are integrated: what one adds to a derivative as it moves is in no rule, so such functions are refused.

A function is followed along a line, from 0 to 1. It jumps where one of its steps, such as a comparison, changes; and where it
takes numbers, as by `int`, wherever its values are far apart on both sides of a place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..vocabulary import load
from .operands import concrete, joined

if TYPE_CHECKING:
    from .._core.typing import Array, Value

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
BETWEEN = 200
"""At how many times more the rate of an equation is looked at."""
TRIED = (0.07, 0.29, 0.52, 0.73, 0.96)
"""Where a function is asked whether it has steps at all."""


def require_still(name: str, function: Line, count: int = PLACES) -> None:
    """Refuse an integrand that jumps where a tensor with a gradient says."""
    if (jump := _jump(function, count)) is None:
        return
    short = name.rpartition(".")[2]
    raise TypeError(
        f"{name} has no derivative here of a function that jumps where a tensor with a gradient says, as by `if x < a`, "
        f"where(x < a, ...) or int(x + a): from {jump[0]:.4g} to {jump[1]:.4g}. Integrate both sides, with that tensor as "
        f"a limit: {short}(f, low, a) + {short}(f, a, high)"
    )


def require_smooth(name: str, rate: Callable[..., Value], coarse: Way, finer: Callable[[Array], Way]) -> None:
    """Refuse the rate of an equation that jumps on the way of its solution at a state, or where a tensor with a gradient says.

    The way is the times and the states that were found; `finer` gives it at more times, and is only asked of a rate with steps.
    """
    if len(coarse[0]) < 2 or _without_steps(_on_the_way(rate, *coarse)):
        return
    times = np.unique(np.concatenate([coarse[0], np.linspace(coarse[0][0], coarse[0][-1], BETWEEN)]))
    times, states = finer(times if coarse[0][0] < coarse[0][-1] else times[::-1])
    if (jump := _jump(_on_the_way(rate, times, states), len(times) - 1)) is not None:
        raise TypeError(
            f"{name} has no derivative here of a rate that jumps at a state, or where a tensor with a gradient says, as by "
            f"`if y[0] < a` or int(t + a): from {jump[0]:.4g} to {jump[1]:.4g}. Solve on both sides of the jump, each with a rate of "
            "its own: with method='RK45' and events= that are terminal, t_events and y_events have derivatives"
        )


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


def _steps(function: Line, place: float) -> tuple[bytes, bool]:
    """The values of a function's steps at one place, and whether it takes numbers; if it takes nothing else, it has none."""
    try:
        found, looked = load("func.replaying", "switches")(function, place)
    except (TypeError, ValueError, RuntimeError, AttributeError):
        return b"", False
    return b"".join(each.tobytes() for each in found), looked


def _without_steps(function: Line) -> bool:
    return not any(any(_steps(function, place)) for place in TRIED)


def _jump(function: Line, count: int) -> tuple[float, float] | None:
    """The values on both sides of a jump that may move, between as many places of a line; None if there is none."""
    if _without_steps(function):
        return None

    def values(place: float) -> Array:
        return np.ravel(concrete(joined(function(place))))

    places = np.linspace(0, 1, count + 1)
    places[[0, -1]] += END, -END
    for low, high in itertools.pairwise(places):
        (before, looked), (after, _) = _steps(function, low), _steps(function, high)
        ends = [_beside_step(function, low, high)] if before != after else []
        ends += [_beside_jump(values, low, high)] if looked else []
        for left, right in ((values(one - ASIDE), values(other + ASIDE)) for one, other in ends):
            most = np.argmax(far := _distance(left, right))
            if far[most] > 0:
                return left[most], right[most]
    return None


def _distance(left: Array, right: Array) -> Array:
    """How much further apart numbers are than those that count as equal."""
    return abs(left - right) - FAR * (1 + abs(left) + abs(right))


def _beside_step(function: Line, low: float, high: float) -> tuple[float, float]:
    """The places on both sides of where a function takes another step, between two that differ in it."""
    before, _ = _steps(function, low)
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _steps(function, middle)[0] == before else (low, middle)
    return low, high


def _beside_jump(values: Callable[[float], Array], low: float, high: float) -> tuple[float, float]:
    """The places on both sides of where values jump the most between two places; one place twice if they come together."""
    left, right = values(low), values(high)
    while (_distance(left, right) > 0).any() and low < (middle := (low + high) / 2) < high:
        between = values(middle)
        if abs(between - left).max() > abs(right - between).max():
            high, right = middle, between
        else:
            low, left = middle, between
    return (low, high) if (_distance(left, right) > 0).any() else (low, low)
