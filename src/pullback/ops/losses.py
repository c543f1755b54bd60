"""Losses that are more accurate or faster than a composition of other operations."""

from typing import Any

import numpy as np

from .._core import xp as _xp
from .._core.primitives import elementwise, general, linear

LOWEST_LOG = -100  # torch's floor for the logarithms of a probability of zero
IMPOSSIBLE = -1e30  # replaces the logarithm of zero where -inf would make differences NaN


def _binary_forward(x: Any, target: Any) -> Any:
    floor = x.dtype.type(LOWEST_LOG)
    return (target - 1) * np.maximum(np.log1p(-x), floor) - target * np.maximum(np.log(x), floor)


def _binary(xp: Any, g: Any, x: Any, target: Any) -> Any:
    return g * (x - target) / xp.clip(x * (1 - x), lower=1e-12, upper=None)


def _binary_target(xp: Any, g: Any, x: Any) -> Any:
    impossible, certain = x == 0, x == 1
    failure = xp.where(certain, LOWEST_LOG, xp.log1p(-xp.where(certain, 0, x)))  # no 1 / 0 in the slopes
    success = xp.where(impossible, LOWEST_LOG, xp.log(xp.where(impossible, 1, x)))
    return g * (xp.clip(failure, lower=LOWEST_LOG, upper=None) - xp.clip(success, lower=LOWEST_LOG, upper=None))


def _huber_forward(x: Any, *, delta: float) -> Any:
    size = np.abs(x)
    near = np.minimum(size, x.dtype.type(delta))
    return near * (size - near * 0.5)


def _huber(xp: Any, g: Any, x: Any, *, delta: float) -> Any:
    """The derivative of the Huber loss; at the bounds that of the flat side, as in torch."""
    if xp is _xp:
        return g * xp.clip(x, lower=-delta, upper=delta)
    return g * xp.where(xp.abs(x) >= delta, xp.sign(x) * delta, x)


def _pick(xp: Any, g: Any, x: Any, indices: Any, weights: Any) -> Any:
    return xp.attached(xp.put_rows(g * -weights, indices, shape=x.shape), x)


def _arrivals(xp: Any, before: Any, skips: Any) -> Any:
    """The log-probabilities of reaching each state from itself, from the previous one, and from the one before that."""
    edge = xp.zeros((*before.shape[:-1], 2), like=before) + IMPOSSIBLE
    last = len(before.shape) - 1
    wide = xp.concat(edge, before, axis=last, sizes=(2, before.shape[-1]))
    one = xp.getitem(wide, index=(..., slice(1, -1)))
    two = xp.getitem(wide, index=(..., slice(0, -2)))
    return xp.stack(before, one, two + skips, axis=0)


def _arrived(before: Any, skips: Any) -> Any:
    """`_arrivals` of plain arrays, in an array of its own."""
    ways = np.full((3, *before.shape), IMPOSSIBLE, np.result_type(before, skips))
    ways[0], ways[1, ..., 1:], ways[2, ..., 2:] = before, before[..., :-1], before[..., :-2]
    ways[2] += skips
    return ways


def _ctc_step_forward(before: Any, emission: Any, skips: Any) -> Any:
    ways = _arrived(before, skips)
    top = np.maximum.reduce(ways)
    total = np.log(np.add.reduce(np.exp(np.subtract(ways, top, out=ways), out=ways)))
    total += top
    return emission + total


def _ctc_step(xp: Any, g: Any, before: Any, emission: Any, skips: Any, y: Any, *, needs: Any) -> Any:
    """The cotangent of each state, divided among its predecessor states by their shares in its probability."""
    if not needs[0]:
        return None, g, None
    if xp is _xp:
        ways = _arrived(before, skips)
        ways -= y - emission
        back, one, two = np.multiply(np.exp(ways, out=ways), g, out=ways)
        back[..., :-1] += one[..., 1:]
        back[..., :-2] += two[..., 2:]
        return back, g, None
    shares = xp.exp(_arrivals(xp, before, skips) - (y - emission))
    stay, one, two = xp.unbind(shares * g, axis=0)
    shape = g.shape
    back = stay + xp.scatter_slice(
        xp.getitem(one, index=(..., slice(1, None))), shape=shape, index=(..., slice(None, -1))
    )
    back = back + xp.scatter_slice(
        xp.getitem(two, index=(..., slice(2, None))), shape=shape, index=(..., slice(None, -2))
    )
    return back, g, None


# fmt: off
#                                  name                    pullback per input
binary_cross_entropy = elementwise("binary_cross_entropy", _binary, _binary_target, forward=_binary_forward,
                                   inputs=("x", "target"), complex="refused")
huber    = elementwise("huber",    _huber,
                       forward=_huber_forward,             title="HuberLossBackward0", complex="refused")
weighed_nll = linear("weighed_nll", _pick, forward=lambda x, indices, weights: _xp.take_rows(x, indices) * -weights,
                     inputs=("x", "indices", "weights"), title="NllLossBackward0", complex="refused")
ctc_step = general("ctc_step",     joint=_ctc_step, forward=_ctc_step_forward, inputs=("before", "emission", "skips"))
# fmt: on
