"""Connectionist temporal classification: the loss of a sequence of labels over all its alignments with a longer one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import xp as _xp
from .._core.primitives import Carrier
from .._core.values import concrete, data, every, outside, require_tensors
from ..ops.alignment import IMPOSSIBLE
from . import arithmetic
from .losses import chosen, reduced
from .promotion import cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, Tensor

DOUBLE, INTEGER = np.dtype(np.float64), np.dtype(np.int64)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log-probability of label sequences, over all their alignments with log-probabilities (T, N, C).

    An alignment repeats labels and puts blanks between them (Graves and others, 2006). As in torch, the gradient
    assumes that `log_probs` is the result of a log_softmax. Arguments as for `nn.CTCLoss`.

    Parameters
    ----------
    log_probs
        Logarithms of probabilities: (steps, batch, classes), or (steps, classes).
    targets
        Class numbers: a row for each sequence, or all sequences one after the other.
    input_lengths, target_lengths
        How many steps, and how many labels, each sequence has.

    >>> from pullback import nn, tensor, zeros
    >>> nn.functional.ctc_loss(zeros(2, 1, 2).log_softmax(2), tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """
    require_tensors("ctc_loss", log_probs=log_probs, targets=targets)
    reduction = chosen(None, None, reduction)
    batched = log_probs.ndim == 3
    logs = log_probs if batched else ops.expand_dims(log_probs, axis=1)
    steps, count, classes = logs.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range: 0 to {classes - 1}, not {blank}")
    wanted = _lengths("input_lengths", input_lengths, count)
    sizes = _lengths("target_lengths", target_lengths, count)
    if count and (longest := every(wanted).max()) > steps:
        raise RuntimeError(f"Expected input_lengths to have value at most {steps}, but got value {int(longest)}")
    labels = _labels(targets, sizes, count, blank)
    losses = -_log_likelihood(cast(logs, DOUBLE), labels, wanted, sizes, blank)
    impossible = ops.greater(data(losses), -IMPOSSIBLE / 2)
    if _anywhere(impossible):  # without zeros their gradients are NaN, as in torch
        losses = (
            arithmetic.where(impossible, 0.0, losses) if zero_infinity else losses * ops.where(impossible, np.inf, 1.0)
        )
    if reduction == "mean":
        losses = losses / ops.astype(ops.maximum(sizes, 1), dtype=DOUBLE, source=INTEGER)
    losses = cast(losses if batched or reduction != "none" else losses[0], log_probs._dtype)
    return reduced(losses, reduction)


def _integers(value: Tensor | Array) -> Tensor | Array:
    """The elements as int64."""
    source = getattr(value, "_dtype", value.dtype)
    return value if source == INTEGER else ops.astype(value, dtype=INTEGER, source=source)


def _lengths(name: str, lengths: Any, count: int) -> Any:
    """The lengths of sequences as an array."""
    given = data(lengths) if isinstance(lengths, Carrier) else np.asarray(lengths)
    number, dtype = math.prod(given.shape), getattr(given, "_dtype", given.dtype)
    if dtype.kind not in "iu" and number:
        raise RuntimeError(f"{name} must be integral: it has dtype {dtype}")
    if number != count:
        raise RuntimeError(f"{name} must be of size batch_size: {count}, not {number}")
    if number and (least := every(given).min()) < 0:
        raise RuntimeError(f"Expected {name} to have value at least 0, but got value {int(least)}")
    return _integers(ops.reshape(given, shape=(count,)))


def _labels(targets: Any, sizes: Any, count: int, blank: int) -> Tensor:
    """The labels of each sequence as a row, padded with blanks.

    The rows are as long as the longest sequence, or as all of `targets` if the lengths are unknown, as in a compiled
    program.
    """
    given = _integers(data(targets))
    if given.ndim == 1:
        known = concrete(sizes, "ctc_loss")
        width, total = int(known.max(initial=0)), int(known.sum())
        if given.shape[0] != total:
            raise RuntimeError(
                f"Expected tensor to have size {total} at dimension 0, but got size {given.shape[0]} for argument #2 "
                "'targets'"
            )
        places = np.minimum((np.cumsum(known) - known)[:, None] + np.arange(width), max(total - 1, 0))
        labels = ops.index(given, places, spec=(_xp.array,))
    else:
        longest = every(sizes).max() if count else 0
        if given.shape[0] != count or given.shape[1] < longest:
            axis, size = (0, count) if given.shape[0] != count else (1, int(longest))
            raise RuntimeError(
                f"Expected tensor to have size {'at least ' if axis else ''}{size} at dimension {axis}, but got size "
                f"{given.shape[axis]} for argument #2 'targets'"
            )
        width = int(longest) if isinstance(sizes, np.ndarray) else given.shape[1]
        labels = ops.getitem(given, index=(slice(None), slice(width)))
    return ops.where(ops.less(np.arange(width), sizes[:, None]), labels, blank)


def _between(value: Any, columns: Any) -> Tensor:
    """The columns of a matrix with columns of one value before, between and behind them."""
    count, width = columns.shape
    padded = ops.concat(columns, np.full((count, 1), value), axis=1, sizes=(width, 1))
    places = np.full(2 * width + 1, width)
    places[1::2] = np.arange(width)
    return ops.index(padded, places, spec=(slice(None), _xp.array))


def _anywhere(condition: Tensor | Array) -> bool:
    """Whether a condition may hold somewhere: it does not if it is known to hold nowhere."""
    return not isinstance(condition, np.ndarray) or bool(condition.any())


def _skips(states: Any) -> Tensor:
    """What is added where the state before is left out: only a blank may be, between two labels that are not the same."""
    same = ops.equal(states[:, 2:], states[:, :-2])
    edge = np.ones((states.shape[0], min(states.shape[1], 2)), np.bool_)
    return ops.where(ops.concat(edge, same, axis=1, sizes=(edge.shape[1], same.shape[1])), IMPOSSIBLE, 0.0)


def _log_likelihood(logs: Tensor, labels: Any, wanted: Any, sizes: Any, blank: int) -> Tensor:
    """The log-probability of each row of labels: the forward recursion over labels with blanks around them."""
    steps, _, classes = logs.shape
    if outside(labels, classes) is not None:
        raise RuntimeError(f"targets must be labels from 0 to {classes - 1}")
    whole = isinstance(wanted, np.ndarray) and wanted.min(initial=steps) == steps
    states = _between(blank, labels)
    left = 2 * sizes[:, None] - np.arange(states.shape[1])
    ends = ops.where(ops.equal(left * (left - 1), 0), 0.0, IMPOSSIBLE)  # the last label, and the blank behind it
    start = np.where(np.arange(states.shape[1])[None] < 2, 0, IMPOSSIBLE)
    if not whole:  # what is behind the end of a sequence may be infinite or NaN
        logs = ops.select(ops.less(np.arange(steps)[:, None, None], wanted[:, None]), logs)
    found, _ = ops.ctc(logs, states, _skips(states), start, ends, wanted, whole=whole, normal=True)
    empty = ops.equal(wanted, 0)
    if _anywhere(empty):
        found = arithmetic.where(empty, ops.where(ops.equal(sizes, 0), 0.0, IMPOSSIBLE), found)
    return found
