"""SGD: stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import Any

from .elementwise import Elementwise, Formula, declared
from .optimizer import Group


class SGD(Elementwise):
    """Stochastic gradient descent, with momentum (Polyak, 1964) as Sutskever et al. write it.

    Sutskever, Martens, Dahl and Hinton, On the importance of initialization and momentum in deep learning, 2013; with
    `nesterov` the gradient is that of a point further along. The rate multiplies the momentum, as in torch. `foreach`
    and `fused` are accepted, and change nothing.

    Raises
    ------
    ValueError
        If `lr`, `momentum` or `weight_decay` is negative, or Nesterov momentum has no momentum or has dampening.

    >>> import pullback
    >>> w = pullback.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = pullback.optim.SGD([w], lr=0.1, momentum=0.9)
    >>> for _ in range(2):
    ...     optimizer.zero_grad()
    ...     (w * w).sum().backward()
    ...     optimizer.step()
    >>> w
    tensor([0.4600, 0.9200], requires_grad=True)
    """

    @declared
    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None: ...

    def counts(self, group: Group) -> dict[str, float]:
        """Nothing."""
        return {}

    def remembers(self, group: Group) -> dict[str, float]:
        """The momentum."""
        return {"momentum_buffer": 0} if group["momentum"] != 0 else {}

    def rule(self, t: float, group: Group, state: dict[str, Any]) -> Formula:
        """p - lr g, or with momentum p - lr b, where b = momentum b + (1 - dampening) g; the first b is g."""
        lr, momentum, nesterov = group["lr"], group["momentum"], group["nesterov"]
        if momentum == 0:
            return lambda xp, p, g: (p - lr * g,)
        first = state.get("momentum_buffer") is None
        share = 1 - group["dampening"]

        def update(xp: Any, p: Any, g: Any, b: Any) -> Any:
            b = g * 1 if first else momentum * b + share * g
            return p - lr * (g + momentum * b if nesterov else b), b

        return update
