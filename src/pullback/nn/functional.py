"""Functions of layers and losses, by torch's names; the index of `vocabulary` says where the others are defined."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _refusals, ops, vocabulary
from .._core import Carrier
from ..vocabulary.arithmetic import relu as relu
from ..vocabulary.arithmetic import sigmoid as sigmoid
from ..vocabulary.arithmetic import tanh as tanh
from ..vocabulary.reductions import log_softmax as log_softmax
from ..vocabulary.reductions import softmax as softmax


def __getattr__(name: str) -> Any:
    if name not in vocabulary.LATER_FUNCTIONAL:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = vocabulary.load(vocabulary.LATER_FUNCTIONAL[name], name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *vocabulary.LATER_FUNCTIONAL]


def _require_tensors(name: str, **arguments: Any) -> None:
    for position, (argument, value) in enumerate(arguments.items(), 1):
        if not isinstance(value, Carrier):
            raise _refusals.no_tensor(name, argument, position, value)


REDUCTIONS = ("mean", "sum", "none")


def _reduced(losses: Any, reduction: str, label: str) -> Any:
    """The mean or the sum of losses, or all of them; the mean's node has the name torch has for the loss."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction: use 'mean', 'sum' or 'none'")
    if reduction == "mean" and losses.numel():
        return ops.mean(losses, axis=tuple(range(losses.ndim)), keepdims=False, label=label)
    return losses if reduction == "none" else getattr(losses, reduction)()


def cross_entropy(input: Any, target: Any, *, reduction: str = "mean") -> Any:
    """The negative log-probability of the target classes, from unnormalised scores of shape (N, C).

    `target` holds N class numbers.

    Raises
    ------
    ValueError
        If the shapes of scores and targets do not fit.
    IndexError
        If a target is no class number.

    >>> import pullback
    >>> scores = pullback.zeros(2, 4)
    >>> pullback.nn.functional.cross_entropy(scores, pullback.tensor([0, 3]))
    tensor(1.3863)
    """
    if not (isinstance(input, Carrier) and isinstance(target, Carrier)):
        _require_tensors("cross_entropy", input=input, target=target)
    classes = target._array
    shape = input._array.shape
    if len(shape) != 2 or classes.shape != shape[:1]:
        raise ValueError(
            f"Expected input batch_size ({shape[0] if shape else 0}) to match target batch_size "
            f"({classes.shape[0] if classes.ndim else 0}): scores have shape (N, C), here {tuple(shape)}, and "
            f"targets (N,), here {classes.shape}"
        )
    if classes.dtype.kind not in "iu":
        raise RuntimeError(f"expected scalar type Long: targets are class numbers, not {classes.dtype}")
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction: use 'mean', 'sum' or 'none'")
    if classes.size and np.minimum.reduce(classes) < 0:
        raise IndexError(f"Target {classes.min()} is out of bounds: there are {shape[1]} classes")
    try:
        return ops.nll_loss(ops.log_softmax(input, axis=1), target, reduction=reduction)
    except IndexError:
        raise IndexError(f"Target {classes.max()} is out of bounds: there are {shape[1]} classes") from None


def mse_loss(input: Any, target: Any, *, reduction: str = "mean") -> Any:
    """The squared difference of two tensors of one shape.

    >>> import pullback
    >>> pullback.nn.functional.mse_loss(pullback.tensor([1.0, 3.0]), pullback.tensor([1.0, 1.0]))
    tensor(2.)
    """
    _require_tensors("mse_loss", input=input, target=target)
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"mse_loss: input has shape {tuple(input.shape)} and target {tuple(target.shape)}. Broadcasting them would "
            "compare every element with every other: reshape one of them"
        )
    difference = input - target
    return _reduced(difference * difference, reduction, "MseLossBackward0")
