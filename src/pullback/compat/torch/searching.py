"""The line search of torch's L-BFGS, for optimizers that are written like it."""

from collections.abc import Callable
from typing import Any

from ... import Tensor, empty
from ...optim.line_search import Conditions, Point, minimum_of_cubic, strong_wolfe


def _cubic_interpolate(
    x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, bounds: tuple[float, float] | None = None
) -> float:
    """Where the cubic through two points, with their slopes, is least within bounds."""
    nothing = empty(0)
    ends = [Point(float(x), float(f), nothing, float(slope)) for x, f, slope in ((x1, f1, g1), (x2, f2, g2))]
    return minimum_of_cubic(ends[0], ends[1], bounds)


def _strong_wolfe(
    obj_func: Callable[[Tensor, float, Tensor], tuple[Any, Tensor]],
    x: Tensor,
    t: float,
    d: Tensor,
    f: Any,
    g: Tensor,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, float, int]:
    """The function, its gradient, the step, and how many points were evaluated, by the strong Wolfe conditions."""

    def evaluate(t: float) -> Point:
        value, slope = obj_func(x, t, d)
        return Point(t, float(value), slope.clone(), float(slope.dot(d)))

    start = Point(0.0, float(f), g, float(gtd))
    length = float(d.abs().max())
    point, count = strong_wolfe(evaluate, start, t, length, tolerance_change, max_ls, Conditions(c1, c2))
    return point.f, point.g, point.t, count
