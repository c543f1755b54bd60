"""NAdam: Adam with Nesterov momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .elementwise import Count, Elementwise, Rule
from .optimizer import Group, Params, declared

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Tensor


class NAdam(Elementwise):
    """Adam with Nesterov momentum: Dozat, Incorporating Nesterov momentum into Adam, 2016.

    The momentum of step t is mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2).

    Arguments as for `Adam`.

    Parameters
    ----------
    momentum_decay
        How fast the momentum approaches its final value.

    Raises
    ------
    ValueError
        If `lr`, `eps`, `weight_decay` or `momentum_decay` is negative, or one of `betas` outside [0, 1).

    >>> import pullback
    >>> w = pullback.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = pullback.optim.NAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.8944, -1.8944], requires_grad=True)
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None: ...

    def counts(self, group: Group) -> dict[str, float | Tensor]:
        """The step, and the product of all momenta."""
        return {"step": 0.0, "mu_product": 1.0}

    def remembers(self, group: Group) -> dict[str, float | Tensor]:
        """The moments of the gradient."""
        return {"exp_avg": 0, "exp_avg_sq": 0}

    def rule(self, group: Group, first: bool, count: Count, product: Count) -> Rule:
        """p - lr m' / (sqrt(v') + eps), where m' is the first moment after another step with the same gradient."""
        lr, (beta1, beta2), eps, decay = group["lr"], group["betas"], group["eps"], group["momentum_decay"]
        t = count.item() + 1
        mu = beta1 * (1 - 0.5 * 0.96 ** (t * decay))
        mu_next = beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * decay))
        factor = product.dtype.type(mu) if isinstance(product, np.generic) else mu  # NumPy 1 would widen the product
        product = product * factor
        share = lr * (1 - mu) / (1 - product.item())
        share_of_moment = lr * mu_next / (1 - product.item() * mu_next)
        correction, share_of_change, share_of_square = 1 - beta2**t, 1 - beta1, 1 - beta2

        def update(xp: Namespace, p: Array, g: Array, m: Array, v: Array) -> None:
            m += share_of_change * (g - m)
            v *= beta2
            v += share_of_square * g * g
            d = xp.sqrt(v / correction) + eps
            p -= share * g / d
            p -= share_of_moment * m / d

        return update, (t, product)
