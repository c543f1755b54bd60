"""SparseAdam: Adam that updates only those rows of a table whose gradient is not zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .optimizer import Group, Options, Params, State, declared
from .whole import COUNT, Whole, require, require_single

if TYPE_CHECKING:
    from .._core.typing import Tensor


class SparseAdam(Whole):
    """Adam for gradients that are zero but for some rows, such as those of embeddings: other rows keep their moments.

    torch's takes sparse gradients alone. Here gradients are dense, and a row is taken to be absent if all of it is zero.

    Arguments as for `Adam`.

    Raises
    ------
    ValueError
        If `lr` or `eps` is not positive, or one of `betas` outside [0, 1).

    >>> import pullback
    >>> table = pullback.ones(3, 2, requires_grad=True)
    >>> optimizer = pullback.optim.SparseAdam([table], lr=0.1)
    >>> table[1].sum().backward()
    >>> optimizer.step()
    >>> table
    tensor([[1.0000, 1.0000],
            [0.9000, 0.9000],
            [1.0000, 1.0000]], requires_grad=True)
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None: ...

    def check_options(self, options: Options) -> None:
        """Raise an error for an option that is out of range."""
        require_single(options["lr"])
        require(options["lr"] > 0, "Invalid learning rate", options["lr"])
        require(options["eps"] > 0, "Invalid epsilon value", options["eps"])
        for i, beta in enumerate(options["betas"]):
            require(0 <= beta < 1, f"Invalid beta parameter at index {i}", beta)

    def remembers(self, parameter: Tensor) -> dict[str, tuple[int, ...]]:
        """The number of steps, and the two moments."""
        shape = tuple(parameter.shape)
        return {COUNT: (), "exp_avg": shape, "exp_avg_sq": shape}

    def move(self, group: Group, parameter: Tensor, gradient: Tensor, state: State) -> None:
        """p - a m / (sqrt(v) + eps) in the rows that have a gradient, where a = lr sqrt(1 - beta2^t) / (1 - beta1^t)."""
        state[COUNT] += 1
        t, (beta1, beta2) = state[COUNT].item(), group["betas"]
        rows = (gradient != 0).reshape(gradient.shape[0], -1).any(1) if gradient.ndim else ...
        g = -gradient[rows] if group["maximize"] else gradient[rows]
        m, v = state["exp_avg"][rows], state["exp_avg_sq"][rows]
        m, v = m + (1 - beta1) * (g - m), v + (1 - beta2) * (g * g - v)
        state["exp_avg"][rows], state["exp_avg_sq"][rows] = m, v
        size = group["lr"] * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
        parameter[rows] -= size * m / (v.sqrt() + group["eps"])
