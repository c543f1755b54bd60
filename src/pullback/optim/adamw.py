"""AdamW: Adam with decoupled weight decay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .adam import Adam

if TYPE_CHECKING:
    from .._core.typing import Tensor
    from .optimizer import Params


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters themselves, whatever their gradients are.

    Loshchilov and Hutter, Decoupled weight decay regularization, 2019. Options and errors are those of `Adam`.

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
        The factor, times `lr`, by which the parameter itself shrinks.
    amsgrad
        Divide by the largest second moment so far.
    maximize
        Step upwards, to increase the loss.
    foreach, capturable, fused
        Accepted, and changes nothing.
    differentiable
        Record the step, so that gradients go through it.

    >>> import pullback
    >>> w = pullback.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = pullback.optim.AdamW([w], lr=0.1, weight_decay=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.8500, -1.8000], requires_grad=True)
    """

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float | Tensor = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip
