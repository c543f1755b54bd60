"""ASGD: stochastic gradient descent that also keeps the average of the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.primitives import Carrier
from .elementwise import Count, Elementwise, Rule
from .optimizer import Group, Params, declared

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Tensor


class ASGD(Elementwise):
    """Stochastic gradient descent, with the average of the parameters over the steps in `state[p]["ax"]`.

    Polyak and Juditsky, Acceleration of stochastic approximation by averaging, 1992. The rate of step t is
    lr / (1 + lambd lr t)^alpha; averaging begins after step `t0`.

    Arguments as for `Adam`.

    Parameters
    ----------
    lambd
        The factor of the decay, of the rate and of the parameter.
    alpha
        The power by which the rate decays.
    t0
        The step after which averaging begins.

    Raises
    ------
    ValueError
        If `lr` or `weight_decay` is negative.

    >>> import pullback
    >>> w = pullback.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = pullback.optim.ASGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.8000, -1.6000], requires_grad=True)
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None: ...

    def counts(self, group: Group) -> dict[str, float | Tensor]:
        """The number of steps, the learning rate of the step, and the weight of the current parameter in the average."""
        return {"step": 0.0, "eta": group["lr"], "mu": 1.0}

    def remembers(self, group: Group) -> dict[str, float | Tensor]:
        """The average of the parameter."""
        return {"ax": 0}

    def rule(self, group: Group, first: bool, count: Count, rate: Count, share: Count) -> Rule:
        """p - eta (g + lambd p), and the average of p: p itself until step t0, the mean over all steps since then."""
        lr, lambd, alpha = group["lr"], group["lambd"], group["alpha"]
        lr = lr.item() if isinstance(lr, Carrier) else lr
        t, eta, mu = count.item() + 1, rate.item(), share.item()
        kept = 1 - lambd * eta

        def update(xp: Namespace, p: Array, g: Array, average: Array) -> None:
            p *= kept
            p -= eta * g
            average += mu * (p - average)

        return update, (t, lr / (1 + lambd * lr * t) ** alpha, 1 / max(1, t - group["t0"]))
