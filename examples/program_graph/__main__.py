"""Print the graph of a gradient step."""

import pullback

from . import dot


def step(w: pullback.Tensor, x: pullback.Tensor, y: pullback.Tensor) -> pullback.Tensor:
    """Parameters after one step of gradient descent."""
    slope = pullback.func.grad(lambda w: ((x @ w - y) ** 2).mean())(w)
    return w - 0.1 * slope


print(dot(step, pullback.ones(3), pullback.ones(5, 3), pullback.zeros(5)))
