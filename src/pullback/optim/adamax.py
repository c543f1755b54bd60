"""Adamax: Adam with the largest gradient in place of the second moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .elementwise import Count, Elementwise, Rule
from .optimizer import Group, Params, declared

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Tensor


class Adamax(Elementwise):
    """Adam by the infinity norm: section 7 of Kingma and Ba, Adam: a method for stochastic optimization, 2015.

    Arguments as for `Adam`.

    Parameters
    ----------
    betas
        The shares that the running mean of the gradient, and its largest size, keep at each step.

    Raises
    ------
    ValueError
        If `lr`, `eps` or `weight_decay` is negative, or one of `betas` outside [0, 1).

    >>> import pullback
    >>> w = pullback.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = pullback.optim.Adamax([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None: ...

    def remembers(self, group: Group) -> dict[str, float | Tensor]:
        """The first moment, and the decaying maximum of the gradient's absolute value."""
        return {"exp_avg": 0, "exp_inf": 0}

    def rule(self, group: Group, first: bool, count: Count) -> Rule:
        """p - lr m' / u, where u = max(beta2 u, |g| + eps)."""
        (beta1, beta2), eps, t = group["betas"], group["eps"], count.item() + 1
        rate, share = group["lr"] / (1 - beta1**t), 1 - beta1

        def update(xp: Namespace, p: Array, g: Array, m: Array, u: Array) -> None:
            m += share * (g - m)
            u[...] = xp.maximum(beta2 * u, xp.abs(g) + eps)
            p -= rate * m / u

        return update, (t,)
