"""Adagrad: step sizes that decrease with the sum of all squared gradients so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .elementwise import Count, Elementwise, Rule, begin
from .optimizer import Group, Params, declared

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Tensor


class Adagrad(Elementwise):
    """The gradient divided by the square root of the sum of all squared gradients.

    Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic optimization, 2011.

    Arguments as for `Adam`.

    Parameters
    ----------
    lr_decay
        How much the rate falls with each step.
    initial_accumulator_value
        What the sum of squares begins with.

    Raises
    ------
    ValueError
        If `lr`, `lr_decay`, `weight_decay`, `initial_accumulator_value` or `eps` is negative.

    >>> import pullback
    >>> w = pullback.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = pullback.optim.Adagrad([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None: ...

    def begin(self) -> None:
        """Initialize the state of all parameters, which torch does when the optimizer is made."""
        for group in self.param_groups:
            for p in group["params"]:
                begin(self.state[p], self.counts(group), self.remembers(group), p)

    def remembers(self, group: Group) -> dict[str, float | Tensor]:
        """The sum of the squared gradients."""
        return {"sum": group["initial_accumulator_value"]}

    def rule(self, group: Group, first: bool, t: Count) -> Rule:
        """p - lr g / (sqrt(s) + eps), where s is the sum of all g^2."""
        rate, eps = group["lr"] / (1 + t.item() * group["lr_decay"]), group["eps"]

        def update(xp: Namespace, p: Array, g: Array, s: Array) -> None:
            s += g * g
            p -= rate * g / (xp.sqrt(s) + eps)

        return update, (t + 1,)
