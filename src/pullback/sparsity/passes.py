"""Passes: computation of the entries of a pattern, by operations on tensors, which a compiled function records.

A reverse pass multiplies by the transpose: a cotangent that is 1 in all rows of one color gives the sum of these rows.
A forward pass gives a sum of columns. It is a reverse pass over a reverse pass: the pullback is linear in its cotangent
v, and the transpose of this linear map is the Jacobian, computed on the existing graph. All cotangents of a kind are
pulled back together, and one gather takes the entries from the results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import as_tensor, cat, enable_grad, zeros
from ..autograd import grad
from ..extend import restoring

if TYPE_CHECKING:
    from .._core.typing import Tensor
    from .matrices import Passes, Plan

Array = np.ndarray[Any, np.dtype[Any]]

TOGETHER = 1 << 20
"""Elements of the largest stack of cotangents that is pulled back at once, unless it is a single one."""


def filled(y: Tensor, x: Tensor, plan: Plan) -> Tensor:
    """The entries of the Jacobian of y with respect to x."""
    parts = [part.to(x.dtype) for block in plan.blocks for part in _results(y, x, block)]
    if not parts:
        return zeros(0, dtype=x.dtype)
    return (cat(parts) if len(parts) > 1 else parts[0])[as_tensor(plan.places)]


def _results(y: Tensor, x: Tensor, block: Passes) -> list[Tensor]:
    """The results of passes of one kind, one after another, in pieces."""
    if block.forward:
        y, x = pushed(y, x)
    at_once = max(1, TOGETHER // max(y.numel(), x.numel()))
    parts = []
    for first in range(0, block.number, at_once):
        colors = np.arange(first, min(first + at_once, block.number))
        seeds = as_tensor(block.colors == colors[:, None]).to(y.dtype)
        parts.append(pulled(y, x, seeds.reshape(len(colors), *y.shape)).reshape(-1))
    return parts


def pulled(y: Tensor, x: Tensor, cotangents: Tensor) -> Tensor:
    """What cotangents of y, along a first axis, pull back to."""
    if not y.requires_grad:  # the rule returned constant zeros
        return zeros(cotangents.shape[0], *x.shape, dtype=x.dtype)
    (found,) = grad(y, x, cotangents, retain_graph=True, is_grads_batched=True, materialize_grads=True)
    result: Tensor = found
    return result


@restoring
def pushed(y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Two tensors, such that the pullback from the first to the second is the pushforward from x to y."""
    with enable_grad():
        v = zeros(y.shape, dtype=y.dtype).requires_grad_()
        (found,) = grad(y, x, v, create_graph=True)
    return found, v
