"""SGD: stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .elementwise import Elementwise, Rule
from .optimizer import Group, Params, declared

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Tensor


class SGD(Elementwise):
    """Stochastic gradient descent, with momentum (Polyak, 1964) as Sutskever et al. write it.

    Sutskever, Martens, Dahl and Hinton, On the importance of initialization and momentum in deep learning, 2013; with
    `nesterov` the gradient is that of a point further along. The rate multiplies the momentum, as in torch. `foreach`
    and `fused` are accepted, and change nothing.

    Arguments as for `Adam`.

    Parameters
    ----------
    momentum
        The share of the last update that is added to the next.
    dampening
        The share of the gradient that the momentum leaves out.
    nesterov
        Take the gradient a step ahead, along the momentum.

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
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None: ...

    def counts(self, group: Group) -> dict[str, float | Tensor]:
        """Nothing."""
        return {}

    def remembers(self, group: Group) -> dict[str, float | Tensor]:
        """The momentum."""
        return {"momentum_buffer": 0} if group["momentum"] != 0 else {}

    def rule(self, group: Group, first: bool) -> Rule:
        """p - lr g, or with momentum p - lr b, where b = momentum b + (1 - dampening) g; the first b is g."""
        lr, momentum, nesterov = group["lr"], group["momentum"], group["nesterov"]
        share = 1 if first else 1 - group["dampening"]
        whole = share == 1

        def plain(xp: Namespace, p: Array, g: Array) -> None:
            p -= lr * g

        def with_momentum(xp: Namespace, p: Array, g: Array, b: Array) -> None:
            b *= momentum
            b += g if whole else share * g
            p -= lr * (g + momentum * b if nesterov else b)

        return plain if momentum == 0 else with_momentum, ()
