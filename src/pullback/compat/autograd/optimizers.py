"""autograd.misc.optimizers: gradient descent on nested arrays."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from .flattening import flatten

if TYPE_CHECKING:
    from ..._core.typing import Array, Function


def unflatten_optimizer(optimize: Function) -> Function:
    """An optimizer of vectors as one of nested arrays, in which form gradient and callback get them.

    >>> from pullback.compat.autograd.optimizers import sgd
    >>> found = sgd(lambda p, i: {"x": 2 * p["x"]}, {"x": np.array([1.0, -1.0])}, num_iters=300)
    >>> bool(abs(found["x"]).max() < 1e-6)
    True
    """

    @functools.wraps(optimize)
    def on_trees(grad: Function, x0: object, callback: Function | None = None, *args: object, **kwargs: object) -> Any:
        start, unflatten = flatten(x0)

        def flat_grad(x: Array, i: int) -> Array:
            return flatten(grad(unflatten(x), i))[0]

        def flat_callback(x: Array, i: int, g: Array) -> None:
            if callback is not None:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(flat_grad, np.array(start, dtype=float), flat_callback, *args, **kwargs))

    return on_trees


@unflatten_optimizer
def sgd(
    grad: Function, x: Array, callback: Function, num_iters: int = 200, step_size: float = 0.1, mass: float = 0.9
) -> Array:
    """Stochastic gradient descent with momentum; `grad(x, i)` is the gradient at step i."""
    velocity = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        velocity = mass * velocity - (1.0 - mass) * g
        x = x + step_size * velocity
    return x


@unflatten_optimizer
def rmsprop(
    grad: Function,
    x: Array,
    callback: Function,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 1e-8,
) -> Array:
    """Gradient descent with steps divided by the running root mean square of gradients (Tieleman & Hinton, 2012)."""
    square = np.ones(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        square = gamma * square + (1 - gamma) * g**2
        x = x - step_size * g / (np.sqrt(square) + eps)
    return x


@unflatten_optimizer
def adam(
    grad: Function,
    x: Array,
    callback: Function,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
) -> Array:
    """Adam (Kingma & Ba, 2015): steps from running means of the gradient and of its square."""
    mean, square = np.zeros(len(x)), np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        mean = b1 * mean + (1 - b1) * g
        square = b2 * square + (1 - b2) * g**2
        x = x - step_size * (mean / (1 - b1 ** (i + 1))) / (np.sqrt(square / (1 - b2 ** (i + 1))) + eps)
    return x
