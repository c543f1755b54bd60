"""RAdam: Adam with a rectified variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .elementwise import Count, Elementwise, Rule
from .optimizer import Group, Params, declared

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Tensor


class RAdam(Elementwise):
    """Adam that uses the second moment only when enough steps have contributed to it.

    Liu et al., On the variance of the adaptive learning rate and beyond, 2020.

    Arguments as for `Adam`.

    Raises
    ------
    ValueError
        If `lr`, `eps` or `weight_decay` is negative, or one of `betas` outside [0, 1).

    >>> import pullback
    >>> w = pullback.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = pullback.optim.RAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.8000, -1.6000], requires_grad=True)
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None: ...

    def remembers(self, group: Group) -> dict[str, float | Tensor]:
        """The moments of the gradient."""
        return {"exp_avg": 0, "exp_avg_sq": 0}

    def rule(self, group: Group, first: bool, count: Count) -> Rule:
        """p - lr m', times r / (sqrt(v') + eps) once the variance is tractable: r is the rectification, of rho."""
        (beta1, beta2), eps, t = group["betas"], group["eps"], count.item() + 1
        rate = group["lr"] / (1 - beta1**t)
        most = 2 / (1 - beta2) - 1
        rho = most - 2 * t * beta2**t / (1 - beta2**t)
        tractable, share, share_of_square = rho > 5, 1 - beta1, 1 - beta2
        if tractable:
            r = ((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho)) ** 0.5
            rate = rate * (r * (1 - beta2**t) ** 0.5)

        def update(xp: Namespace, p: Array, g: Array, m: Array, v: Array) -> None:
            m += share * (g - m)
            v *= beta2
            v += share_of_square * g * g
            p -= rate * m / (xp.sqrt(v) + eps) if tractable else rate * m

        return update, (t,)
