"""Losses that are more accurate or faster than a composition of other operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.primitives import elementwise, linear
from .._core.xp import RAW

if TYPE_CHECKING:
    from .._core.typing import Operations, Tensor

LOWEST_LOG = -100  # torch's floor for the logarithms of a probability of zero


def _binary_itself(xp: Operations, x: Tensor, target: Tensor) -> Tensor:
    floor = xp.constant(LOWEST_LOG, x.dtype)
    return (target - 1) * xp.maximum(xp.log1p(-x), floor) - target * xp.maximum(xp.log(x), floor)


def _binary(xp: Operations, g: Tensor, x: Tensor, target: Tensor) -> Tensor:
    return g * (x - target) / xp.clip(x * (1 - x), lower=1e-12, upper=None)


def _logits(xp: Operations, g: Tensor, x: Tensor, target: Tensor) -> Tensor:
    return g * ((1 - target) * xp.logistic(x) - target * xp.logistic(-x))


def _binary_target(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    impossible, certain = x == 0, x == 1
    failure = xp.where(certain, LOWEST_LOG, xp.log1p(-xp.where(certain, 0, x)))  # no 1 / 0 in the slopes
    success = xp.where(impossible, LOWEST_LOG, xp.log(xp.where(impossible, 1, x)))
    return g * (xp.clip(failure, lower=LOWEST_LOG, upper=None) - xp.clip(success, lower=LOWEST_LOG, upper=None))


def _huber_itself(xp: Operations, x: Tensor, *, delta: float) -> Tensor:
    size = xp.abs(x)
    near = xp.minimum(size, xp.constant(delta, x.dtype))
    return near * (size - near * 0.5)


def _huber(xp: Operations, g: Tensor, x: Tensor, *, delta: float) -> Tensor:
    """The derivative of the Huber loss; at the bounds that of the flat side, as in torch."""
    if xp is RAW:
        return g * xp.clip(x, lower=-delta, upper=delta)
    return g * xp.where(xp.abs(x) >= delta, xp.sign(x) * delta, x)


def _pick(xp: Operations, g: Tensor, x: Tensor, indices: Tensor, weights: Tensor) -> Tensor:
    return xp.attached(xp.put_rows(g * -weights, indices, shape=x.shape), x)


# fmt: off
#                                  name                    pullback per input
binary_cross_entropy = elementwise("binary_cross_entropy", _binary, _binary_target, definition=_binary_itself,
                                   inputs=("x", "target"), complex="refused")
binary_cross_entropy_of_logits = elementwise("binary_cross_entropy_of_logits", _logits, lambda xp, g, x: -g * x,
                                   definition=lambda xp, x, target: (1 - target) * x - xp.logsigmoid(x), inputs=("x", "target"), complex="refused",
                                   title="BinaryCrossEntropyWithLogitsBackward0")
huber    = elementwise("huber",    _huber,
                       definition=_huber_itself,           title="HuberLossBackward0", complex="refused")
weighed_nll = linear("weighed_nll", _pick, definition=lambda xp, x, indices, weights: xp.take_rows(x, indices) * -weights,
                     inputs=("x", "indices", "weights"), title="NllLossBackward0", complex="refused")
# fmt: on
