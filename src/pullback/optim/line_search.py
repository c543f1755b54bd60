"""A line search for the strong Wolfe conditions: a step that lowers the function enough, to where it is flat enough.

Algorithms 3.5 and 3.6 of Nocedal and Wright, Numerical optimization, 2006, with cubic interpolation, and with the
safeguards of minFunc (Schmidt, 2005), so that the steps are torch's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .._core.typing import Tensor


class Conditions(NamedTuple):
    """What of the slope at the start the function must have fallen by for each unit of the step, and may be left of it."""

    sufficient: float
    flat: float


USUAL = Conditions(1e-4, 0.9)


class Point(NamedTuple):
    """A point on the line: the step to it, the function there, its gradient, and its slope along the line."""

    t: float
    f: float
    g: Tensor
    slope: float


def minimum_of_cubic(a: Point, b: Point, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through two points, with their slopes, is least within bounds; the middle if nowhere.

    >>> minimum_of_cubic(Point(0.0, 1.0, None, -2.0), Point(3.0, 4.0, None, 4.0))
    1.0
    """
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    if a.t > b.t:
        a, b = b, a
    d = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t) if a.t != b.t else math.nan
    square = d * d - a.slope * b.slope
    root = math.sqrt(square) if square >= 0 else math.nan
    below = b.slope - a.slope + 2 * root
    if not abs(below) > 0:
        return (low + high) / 2
    return min(max(b.t - (b.t - a.t) * ((b.slope + root - d) / below), low), high)


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    t: float,
    length: float,
    tolerance: float,
    most: int,
    conditions: Conditions = USUAL,
) -> tuple[Point, int]:
    """A point that fulfils the strong Wolfe conditions, or the best one found, and how many were evaluated.

    `evaluate(t)` gives the point at step t, of which `start` is that at 0; `t` is the first to try, `length` the largest
    change of a number for a step of 1, `tolerance` the smallest change worth a further point, `most` how often to try.
    """
    before, point, count, tries = start, evaluate(t), 1, 0
    ends = [start, point]
    while tries < most:
        if _too_high(point, start, conditions) or (tries > 1 and point.f >= before.f):
            ends = [before, point]
            break
        if abs(point.slope) <= -conditions.flat * start.slope:
            return point, count
        if point.slope >= 0:
            ends = [before, point]
            break
        further = minimum_of_cubic(before, point, (point.t + 0.01 * (point.t - before.t), point.t * 10))
        before, point = point, evaluate(further)
        count, tries = count + 1, tries + 1
        ends = [start, point]
    return _zoom(evaluate, start, ends, length, tolerance, most - tries, count, conditions)


def _too_high(point: Point, start: Point, conditions: Conditions) -> bool:
    """Whether the function has not fallen enough."""
    return point.f > start.f + conditions.sufficient * point.t * start.slope


def _zoom(
    evaluate: Callable[[float], Point],
    start: Point,
    ends: list[Point],
    length: float,
    tolerance: float,
    most: int,
    count: int,
    conditions: Conditions,
) -> tuple[Point, int]:
    """A point between two that fulfils the conditions, or the lower of the ends that are left."""
    first, second = ends
    low, high = (0, 1) if first.f <= second.f else (1, 0)
    stuck = False
    for _ in range(most):
        left, right = sorted((ends[0].t, ends[1].t))
        if (right - left) * length < tolerance:
            break
        t, stuck = _moved_inside(minimum_of_cubic(ends[0], ends[1]), left, right, stuck)
        point = evaluate(t)
        count += 1
        if _too_high(point, start, conditions) or point.f >= ends[low].f:
            ends[high] = point
            low, high = (0, 1) if ends[0].f <= ends[1].f else (1, 0)
            continue
        done = abs(point.slope) <= -conditions.flat * start.slope
        if not done and point.slope * (ends[high].t - ends[low].t) >= 0:
            ends[high] = ends[low]
        ends[low] = point
        if done:
            break
    return ends[low], count


def _moved_inside(t: float, left: float, right: float, stuck: bool) -> tuple[float, bool]:
    """A step between two ends: off an end by a tenth of the way if it is there, or was near one before."""
    margin = 0.1 * (right - left)
    if min(right - t, t - left) >= margin:
        return t, False
    if not (stuck or t >= right or t <= left):
        return t, True
    return (right - margin if abs(t - right) < abs(t - left) else left + margin), False
