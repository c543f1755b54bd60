"""Muon: steps along the orthogonalised momentum of a matrix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..vocabulary.functions import frexp, ldexp
from .optimizer import Group, Options, Params, State, declared
from .whole import Whole, require, require_rate

if TYPE_CHECKING:
    from .._core.typing import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
MANY = 100


class Muon(Whole):
    """Steps along the orthogonal matrix nearest to the momentum, for parameters that are matrices.

    Jordan et al., Muon: an optimizer for hidden layers in neural networks, 2024. The matrix is found by `ns_steps`
    iterations of Newton and Schulz with the polynomial of `ns_coefficients`, whose numbers are rounded to the 8 bits of
    bfloat16, as in torch. `adjust_lr_fn` says how the rate depends on the shape: "original" (as None), or
    "match_rms_adamw" for rates and decays that were found with AdamW (Liu et al., Muon is scalable for LLM training,
    2025). Other parameters, such as biases, need another optimizer.

    Arguments as for `SGD`.

    Parameters
    ----------
    weight_decay
        The factor, times `lr`, by which the parameter itself shrinks.
    momentum
        The share that the momentum keeps at each step.
    ns_coefficients
        The three coefficients of the polynomial that makes a matrix orthogonal.
    eps
        The least norm that a matrix is divided by.
    ns_steps
        How often the polynomial is applied.
    adjust_lr_fn
        How the rate depends on the shape: "original", as None, or "match_rms_adamw".

    Raises
    ------
    ValueError
        If a parameter is not a matrix, `lr`, `momentum` or `weight_decay` negative, or `adjust_lr_fn` unknown; from
        `step`, if there are not three coefficients, or 100 iterations and more.

    >>> import pullback
    >>> w = pullback.eye(2).requires_grad_()
    >>> optimizer = pullback.optim.Muon([w], lr=0.5, weight_decay=0.0)
    >>> (w * pullback.tensor([[3.0, 0.0], [0.0, -3.0]])).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([[0.4375, 0.0000],
            [0.0000, 1.5625]], requires_grad=True)
    """

    @declared
    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None: ...

    def check_options(self, options: Options) -> None:
        """Raise an error for an option that is out of range."""
        require_rate(options["lr"])
        require(options["momentum"] >= 0, "momentum should be >= 0 but is", options["momentum"])
        require(options["weight_decay"] >= 0, "weight decay should be >= 0 but is", options["weight_decay"])
        if options["adjust_lr_fn"] not in {None, "original", "match_rms_adamw"}:
            raise ValueError(
                f"Adjust learning rate function {options['adjust_lr_fn']} is not supported: it is 'original' or "
                "'match_rms_adamw'"
            )

    def _check_parameter(self, parameter: Tensor) -> None:
        super()._check_parameter(parameter)
        if parameter.ndim != 2:
            raise ValueError(
                f"Muon only supports 2D parameters whereas we found a parameter with size: {parameter.size()}. Give it to "
                "another optimizer"
            )

    def remembers(self, parameter: Tensor) -> dict[str, tuple[int, ...]]:
        """The momentum."""
        return {"momentum_buffer": tuple(parameter.shape)}

    def require(self, group: Group, parameter: Tensor) -> None:
        """Refuse a parameter that cannot be moved, or iterations that make no sense."""
        super().require(group, parameter)
        if group["ns_steps"] >= MANY:
            raise ValueError(
                f"Number of steps must be less than {MANY} for computational efficiency: ns_steps is {group['ns_steps']}"
            )
        if len(group["ns_coefficients"]) != 3:
            raise ValueError(
                f"Coefficients must be a tuple of exactly 3 values: ns_coefficients is {group['ns_coefficients']}"
            )

    def move(self, group: Group, parameter: Tensor, gradient: Tensor, state: State) -> None:
        """p - r o, where o is the orthogonal matrix nearest to the momentum, or to the Nesterov momentum."""
        lr, momentum = group["lr"], group["momentum"]
        update = state["momentum_buffer"].lerp_(gradient, 1 - momentum)
        if group["nesterov"]:
            update = gradient.lerp(update, momentum)
        update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        parameter.mul_(1 - lr * group["weight_decay"])
        parameter.sub_(update.to(parameter.dtype) * (lr * _factor(group["adjust_lr_fn"], *parameter.shape)))


def _factor(rule: str | None, rows: int, columns: int) -> float:
    """What the rate is multiplied by for a matrix of a shape."""
    if rule == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / max(columns, 1)))


def _rounded(x: Tensor) -> Tensor:
    """Numbers rounded to the nearest of 8 binary digits: those that bfloat16 has, but for the very smallest."""
    fraction, exponent = frexp(x)
    return ldexp((fraction * 256).round() / 256, exponent)


def _fused(factor: float, x: Tensor, y: Tensor) -> Tensor:
    """factor x + y in single precision, rounded once, as processors do it in one instruction."""
    return (float(np.float32(factor)) * x.double() + y.double()).float()


def _orthogonal(matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """An approximation of the nearest orthogonal matrix: that with the same singular vectors, and singular values near 1.

    An iteration replaces each singular value s, of which none is above 1 at first, by a s + b s**3 + c s**5.
    """
    a, b, c = coefficients
    x = _rounded(matrix.float())
    tall = x.shape[0] > x.shape[1]
    x = x.mT if tall else x
    x = _rounded(x / _rounded(x.square().sum().sqrt()).clamp(min=eps))
    for _ in range(steps):
        gram = _rounded(x @ x.mT)
        polynomial = _rounded(_fused(b, gram, c * (gram @ gram)))
        x = _rounded(_fused(a, x, polynomial @ x))
    return x.mT if tall else x
