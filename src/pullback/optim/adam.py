"""Adam: steps along the first moment of the gradient divided by the square root of its second moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .elementwise import Count, Elementwise, Rule
from .optimizer import Group, Params, declared

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Tensor


class Adam(Elementwise):
    """The running mean of the gradient divided by the root of that of its square, for steps of about `lr` at any scale.

    Kingma and Ba, Adam: a method for stochastic optimization, 2015. `amsgrad` divides by the largest second
    moment so far (Reddi, Kale and Kumar, On the convergence of Adam and beyond, 2018).

    Parameters
    ----------
    params
        Tensors, pairs of a name and a tensor, or dictionaries for groups with options of their own.
    lr
        The learning rate: what an update is multiplied by.
    betas
        The shares that running means of the gradient and of its square keep at each step.
    eps
        A small number added to what is divided by.
    weight_decay
        The factor of the parameter that is added to its gradient.
    amsgrad
        Divide by the largest second moment so far.
    foreach, capturable, fused
        Accepted, and changes nothing.
    maximize
        Step upwards, to increase the loss.
    differentiable
        Record the step, so that gradients go through it.
    decoupled_weight_decay
        Shrink the parameter itself by `weight_decay`, as `AdamW` does, not its gradient.

    Raises
    ------
    ValueError
        If `lr`, `eps` or `weight_decay` is negative, or one of `betas` outside [0, 1).

    >>> import pullback
    >>> w = pullback.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = pullback.optim.Adam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.9000, -1.9000], requires_grad=True)
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float | Tensor = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None: ...

    def remembers(self, group: Group) -> dict[str, float | Tensor]:
        """The moments of the gradient, and the largest second one."""
        moments: dict[str, float | Tensor] = {"exp_avg": 0, "exp_avg_sq": 0}
        return {**moments, "max_exp_avg_sq": 0} if group["amsgrad"] else moments

    def rule(self, group: Group, first: bool, count: Count) -> Rule:
        """p - lr m' / (sqrt(v') + eps), where m' and v' are the moments m and v, corrected for their bias towards 0."""
        (beta1, beta2), eps, t = group["betas"], group["eps"], count.item() + 1
        rate, correction = group["lr"] / (1 - beta1**t), (1 - beta2**t) ** 0.5
        share, share_of_square = 1 - beta1, 1 - beta2

        def update(xp: Namespace, p: Array, g: Array, m: Array, v: Array, *largest: Array) -> None:
            m += share * (g - m)
            v *= beta2
            v += share_of_square * g * g
            for u in largest:
                u[...] = v = xp.maximum(u, v)
            p -= rate * m / (xp.sqrt(v) / correction + eps)

        return update, (t,)
