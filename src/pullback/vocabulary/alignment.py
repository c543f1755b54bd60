"""Connectionist temporal classification: the loss of a sequence of labels over all its alignments with a longer one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from .._promotion import cast
from .._values import concrete
from ..ops.losses import IMPOSSIBLE
from . import arithmetic, reductions
from .losses import chosen, reduced, require_tensors


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """The negative log-probability of label sequences, over all their alignments with log-probabilities (T, N, C).

    An alignment repeats labels and puts blanks between them (Graves and others, 2006). `targets` is (N, S), or all
    sequences one after another. The gradient is torch's: that of scores which a log_softmax has made `log_probs`.

    >>> import pullback
    >>> log_probs = pullback.zeros(2, 1, 2).log_softmax(2)
    >>> pullback.nn.functional.ctc_loss(log_probs, pullback.tensor([[1]]), (2,), (1,))
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
    if wanted.size and wanted.max() > steps:
        raise RuntimeError(f"Expected input_lengths to have value at most {steps}, but got value {wanted.max()}")
    labels = _labels(targets, sizes, blank)
    losses = -_log_likelihood(cast(logs, np.dtype(np.float64)), labels, wanted, sizes, blank)
    impossible = losses.detach() > -IMPOSSIBLE / 2
    losses = arithmetic.where(impossible, 0.0 if zero_infinity else np.inf, losses)
    if reduction == "mean":
        losses = losses / np.maximum(sizes, 1).astype(np.float64)
    losses = cast(losses if batched or reduction != "none" else losses[0], log_probs._dtype)
    return reduced(losses, reduction)


def _lengths(name: str, lengths: Any, count: int) -> Any:
    """The lengths of sequences as an array."""
    array = np.asarray(concrete(lengths, "ctc_loss")).reshape(-1)
    if array.dtype.kind not in "iu" and array.size:
        raise RuntimeError(f"{name} must be integral: it has dtype {array.dtype}")
    if array.size != count:
        raise RuntimeError(f"{name} must be of size batch_size: {count}, not {array.size}")
    if array.size and array.min() < 0:
        raise RuntimeError(f"Expected {name} to have value at least 0, but got value {array.min()}")
    return array.astype(np.int64)


def _labels(targets: Any, sizes: Any, blank: int) -> Any:
    """The labels of each sequence in a row, with blanks behind them."""
    longest = int(sizes.max(initial=0))
    given = concrete(targets, "ctc_loss").astype(np.int64)
    labels = np.full((len(sizes), longest), blank)
    inside = np.arange(longest) < sizes[:, None]
    if given.ndim == 1:
        if given.size != sizes.sum():
            raise RuntimeError(
                f"Expected tensor to have size {sizes.sum()} at dimension 0, but got size {given.size} for argument #2 "
                "'targets'"
            )
        labels[inside] = given
    else:
        if given.shape[1] < longest:
            raise RuntimeError(
                f"Expected tensor to have size at least {longest} at dimension 1, but got size {given.shape[1]} for "
                "argument #2 'targets'"
            )
        labels[inside] = given[:, :longest][inside]
    return labels


def _log_likelihood(logs: Any, labels: Any, wanted: Any, sizes: Any, blank: int) -> Any:
    """The log-probability of each row of labels: the forward recursion over labels with blanks around them."""
    steps, count, classes = logs.shape
    if labels.size and not 0 <= labels.min() <= labels.max() < classes:
        raise RuntimeError(f"targets must be labels from 0 to {classes - 1}")
    states = np.full((count, 2 * labels.shape[1] + 1), blank)
    states[:, 1::2] = labels
    skips = np.full(states.shape, IMPOSSIBLE)
    skips[:, 3::2][labels[:, 1:] != labels[:, :-1]] = 0
    start = np.where(np.arange(states.shape[1]) < 2, 0, IMPOSSIBLE)
    places = np.broadcast_to(states, (steps, *states.shape))
    emissions = ops.unbind(ops.take_along_axis(logs, places, axis=2), axis=0)
    reached = emissions[0] + start
    for step in range(1, steps):
        following = ops.ctc_step(reached, emissions[step], skips)
        going = wanted[:, None] > step
        reached = following if going.all() else arithmetic.where(going, following, reached)
    ends = np.stack([2 * sizes, np.maximum(2 * sizes - 1, 0)], axis=1)
    closed = np.where((ends > 0) | (np.arange(2) == 0), 0, IMPOSSIBLE) + np.where(wanted > 0, 0, IMPOSSIBLE)[:, None]
    found = ops.logsumexp(ops.take_along_axis(reached, ends, axis=1) + closed, axis=(1,), keepdims=False)
    found = arithmetic.where((wanted == 0) & (sizes == 0), 0.0, found)
    inside = (np.arange(steps)[:, None] < wanted).astype(np.float64)[:, :, None]
    total = reductions.sum(arithmetic.exp(logs) * inside, (0, 2))
    return found - (total - total.detach())
