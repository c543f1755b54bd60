"""Adadelta: each parameter's step size is the ratio of its past updates to its past gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .elementwise import Count, Elementwise, Rule
from .optimizer import Group, Params, declared

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Tensor


class Adadelta(Elementwise):
    """The gradient times the root mean square of past updates, divided by that of past gradients.

    Zeiler, ADADELTA: an adaptive learning rate method, 2012.

    Arguments as for `Adam`.

    Parameters
    ----------
    rho
        The share that the running means keep at each step.

    Raises
    ------
    ValueError
        If `lr`, `eps` or `weight_decay` is negative, or `rho` outside [0, 1].

    >>> import pullback
    >>> w = pullback.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = pullback.optim.Adadelta([w])
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.9968, -1.9968], requires_grad=True)
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None: ...

    def remembers(self, group: Group) -> dict[str, float | Tensor]:
        """The running mean squares of the gradients and of the updates."""
        return {"square_avg": 0, "acc_delta": 0}

    def rule(self, group: Group, first: bool, t: Count) -> Rule:
        """p - lr d, where d = g sqrt(a + eps) / sqrt(v + eps), and v and a are the mean squares of g and d."""
        lr, rho, eps = group["lr"], group["rho"], group["eps"]
        share = 1 - rho

        def update(xp: Namespace, p: Array, g: Array, v: Array, a: Array) -> None:
            v *= rho
            v += share * g * g
            d = xp.sqrt(a + eps) / xp.sqrt(v + eps) * g
            a *= rho
            a += share * d * d
            p -= lr * d

        return update, (t + 1,)
