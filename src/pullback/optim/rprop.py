"""Rprop: steps by the signs of gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .elementwise import Count, Elementwise, Rule
from .optimizer import Group, Params, declared

if TYPE_CHECKING:
    from .._core.typing import Array, Namespace, Tensor


class Rprop(Elementwise):
    """Steps whose length grows while the gradient keeps its sign, and shrinks when the sign changes.

    Riedmiller and Braun, A direct adaptive method for faster backpropagation learning, 1993; where the gradient has
    turned there is no step.

    Arguments as for `Adam`.

    Parameters
    ----------
    lr
        The length of the first step.
    etas
        The factors by which the length shrinks and grows.
    step_sizes
        The shortest and the longest step.

    Raises
    ------
    ValueError
        If `lr` is negative, or `etas` are not below and above 1.

    >>> import pullback
    >>> w = pullback.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = pullback.optim.Rprop([w], lr=0.1)
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
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None: ...

    def remembers(self, group: Group) -> dict[str, float | Tensor]:
        """The previous gradient, zero where there was no step, and the length of the step."""
        return {"prev": 0, "step_size": group["lr"]}

    def rule(self, group: Group, first: bool, t: Count) -> Rule:
        """p - s sign(g), where s has grown or shrunk by an eta, as the sign of g has stayed or changed."""
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]

        def update(xp: Namespace, p: Array, g: Array, before: Array, s: Array) -> None:
            turned = g * before
            s[...] = xp.where(turned > 0, grow * s, xp.where(turned < 0, shrink * s, s))
            s[...] = xp.minimum(xp.maximum(s, least), most)
            before[...] = xp.where(turned < 0, 0 * s, g)
            p -= s * xp.sign(before)

        return update, (t + 1,)
