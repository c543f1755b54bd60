"""Adafactor: second moments of matrices kept as those of their rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.dtypes import finfo
from .optimizer import Group, Options, Params, State, declared
from .whole import COUNT, Whole, require, require_rate

if TYPE_CHECKING:
    from .._core.typing import Tensor


class Adafactor(Whole):
    """The gradient divided by the root of its second moment, of which a matrix keeps only row means and column means.

    Shazeer and Stern, Adafactor: adaptive learning rates with sublinear memory cost, 2018, as torch has it: `lr` is the
    most that the relative step size may be, and the factor of weight decay; `eps` are the least root of a second moment
    (None: the machine epsilon) and the least size that a parameter counts as; `d` is the size from which on an update
    is clipped. The memory of parameters with more than two axes is that of matrices along the last two.

    Arguments as for `Adam`.

    Parameters
    ----------
    lr
        The most that the relative size of a step may be, and the factor of weight decay.
    beta2_decay
        The exponent of the step's number by which the memory of second moments grows.
    eps
        The least root of a second moment, None for the machine epsilon, and the least size that a parameter
        counts as.
    d
        The size from which on an update is clipped.
    weight_decay
        The factor, times `lr`, by which the parameter itself shrinks.

    Raises
    ------
    ValueError
        If `lr`, `weight_decay` or one of `eps` is negative, `beta2_decay` positive, or `d` less than 1.

    >>> import pullback
    >>> w = pullback.ones(2, 3, requires_grad=True)
    >>> optimizer = pullback.optim.Adafactor([w], lr=0.1)
    >>> (w * pullback.arange(3.0)).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([[1.0000, 0.9000, 0.9000],
            [1.0000, 0.9000, 0.9000]], requires_grad=True)
    >>> {name: tuple(value.shape) for name, value in optimizer.state[w].items()}
    {'step': (), 'row_var': (2, 1), 'col_var': (1, 3)}
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None: ...

    def check_options(self, options: Options) -> None:
        """Raise an error for an option that is out of range."""
        beta2_decay, eps, d, weight_decay = (options[name] for name in ("beta2_decay", "eps", "d", "weight_decay"))
        require_rate(options["lr"])
        require(beta2_decay <= 0, "beta2_decay should be <= 0 but is", beta2_decay)
        require(eps[0] is None or eps[0] >= 0, "epsilon1 should be >= 0 but is", eps[0])
        require(eps[1] >= 0, "epsilon2 should be >= 0 but is", eps[1])
        require(d >= 1, "Clipping threshold d should be >= 1 but is", d)
        require(weight_decay >= 0, "weight_decay should be >= 0 but is", weight_decay)

    def remembers(self, parameter: Tensor) -> dict[str, tuple[int, ...]]:
        """The number of steps, and the mean squares of rows and columns, or of each element."""
        shape = tuple(parameter.shape)
        if len(shape) < 2:
            return {COUNT: (), "variance": shape}
        return {COUNT: (), "row_var": (*shape[:-1], 1), "col_var": (*shape[:-2], 1, shape[-1])}

    def move(self, group: Group, parameter: Tensor, gradient: Tensor, state: State) -> None:
        """p - a u / max(1, rms(u) / d), where u = g / sqrt(v) and a = min(lr, 1 / sqrt(t)) max(eps, rms(p))."""
        state[COUNT] += 1
        least, smallest = group["eps"]
        least = finfo(parameter.dtype).eps if least is None else least
        t = state[COUNT].double()
        size = (1 / t.sqrt()).clamp(max=group["lr"]) * _root_mean_square(parameter).clamp(min=smallest)
        if group["weight_decay"] != 0:
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
        update = gradient / _moment(gradient, state, t ** group["beta2_decay"], least).clamp(min=least**2).sqrt()
        size = size / (_root_mean_square(update) / group["d"]).clamp(min=1)
        parameter.add_(update * size, alpha=1 if group["maximize"] else -1)


def _root_mean_square(x: Tensor) -> Tensor:
    return (x.square().sum() / max(x.numel(), 1)).sqrt()


def _moment(gradient: Tensor, state: State, share: Tensor, least: float) -> Tensor:
    """The running second moment after this gradient: for a matrix, the outer product of row means and column means."""
    squares = gradient.square()
    if "variance" in state:
        return state["variance"].lerp_(squares, share.to(squares.dtype))
    rows, columns = state["row_var"], state["col_var"]
    for means, axis in ((rows, -1), (columns, -2)):
        means.lerp_(squares.mean(axis, True), share.to(squares.dtype))
    return rows * columns / rows.mean(-2, True).clamp(min=least)
