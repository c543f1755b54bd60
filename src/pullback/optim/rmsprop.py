"""RMSprop: gradients divided by their running root mean square."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .elementwise import Count, Elementwise, Rule
from .optimizer import Group, Params, declared

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Tensor


class RMSprop(Elementwise):
    """The gradient divided by its running root mean square: Tieleman and Hinton, Neural networks for machine learning, 2012.

    `centered` takes the variance in the place of the mean square (Graves, Generating sequences with recurrent neural
    networks, 2013).

    Arguments as for `Adam`.

    Parameters
    ----------
    alpha
        The share that the running mean of squares keeps at each step.
    momentum
        The share of the last update that is added to the next.
    centered
        Divide by the root of the variance, not of the mean square.

    Raises
    ------
    ValueError
        If `lr`, `alpha`, `eps`, `weight_decay` or `momentum` is negative.

    >>> import pullback
    >>> w = pullback.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = pullback.optim.RMSprop([w], lr=0.01)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    not_negative = ("alpha",)

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None: ...

    def remembers(self, group: Group) -> dict[str, float | Tensor]:
        """The mean square of gradients, the momentum, and the mean of gradients."""
        wanted = {"square_avg": True, "momentum_buffer": group["momentum"] > 0, "grad_avg": group["centered"]}
        return {name: 0 for name, is_wanted in wanted.items() if is_wanted}

    def rule(self, group: Group, first: bool, t: Count) -> Rule:
        """p - lr d, where d = g / (sqrt(v) + eps) and v is the mean square, or variance, of g; or with momentum in d."""
        lr, alpha, eps, momentum = group["lr"], group["alpha"], group["eps"], group["momentum"]
        share, centered, moving = 1 - alpha, group["centered"], momentum > 0

        def update(xp: Namespace, p: Array, g: Array, v: Array, *others: Array) -> None:
            v *= alpha
            v += share * g * g
            if centered:
                mean = others[-1]
                mean += share * (g - mean)
                v = v - mean * mean
            d = g / (xp.sqrt(v) + eps)
            if moving:
                b = others[0]
                b *= momentum
                b += d
                d = b
            p -= lr * d

        return update, (t + 1,)
