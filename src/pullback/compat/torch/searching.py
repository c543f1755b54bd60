"""The line search of torch's L-BFGS, for optimizers that are written like it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ... import Tensor, empty
from ...optim.line_search import USUAL, Conditions, Point, minimum_of_cubic, strong_wolfe


def _cubic_interpolate(*ends: float, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through two points, with their slopes, is least within bounds."""
    nothing = empty(0)
    first, second = [Point(float(x), float(f), nothing, float(slope)) for x, f, slope in (ends[:3], ends[3:])]
    return minimum_of_cubic(first, second, bounds)


class SearchLimits(NamedTuple):
    """What a search asks for, and when it ends: the names and the values of torch's."""

    c1: float = USUAL.sufficient
    c2: float = USUAL.flat
    tolerance_change: float = 1e-9
    max_ls: int = 25


def _strong_wolfe(
    obj_func: Callable[[Tensor, float, Tensor], tuple[Any, Tensor]],
    x: Tensor,
    t: float,
    d: Tensor,
    *start: Any,
    **limits: Any,
) -> tuple[float, Tensor, float, int]:
    """The function, its gradient, the step, and how many points were evaluated, by the strong Wolfe conditions.

    `start` is the function at x, its gradient, and its slope along d; `limits` are those of `SearchLimits`.
    """

    def evaluate(t: float) -> Point:
        value, slope = obj_func(x, t, d)
        return Point(t, float(value), slope.clone(), float(slope.dot(d)))

    f, g, gtd = start
    c1, c2, tolerance, most = SearchLimits(**limits)
    begin = Point(0.0, float(f), g, float(gtd))
    point, count = strong_wolfe(evaluate, begin, t, float(d.abs().max()), tolerance, most, Conditions(c1, c2))
    return point.f, point.g, point.t, count
