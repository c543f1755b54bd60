"""Alignments of label sequences with longer ones: the recursions of connectionist temporal classification.

States are labels with blanks around them, and `states` (..., N, S) says which of the classes of `logs` (..., T, N, C): steps,
sequences, classes. A state is reached from itself, from the state before it, and from the one before that, which adds
`skips` (..., N, S) to its log-probability; the first step adds `start`, and the last, which is step `wanted` (..., N) or, if
`whole`, that of all, adds `ends`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core import machine
from .._core.primitives import general
from .._core.xp import RAW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, Operations, Same, Tensor

IMPOSSIBLE = -1e30  # replaces the logarithm of zero where -inf would make differences NaN
MOST = 1.0  # above the logarithm of any share: only differences of impossible ones, which are all rounding, are greater


def _shifted(xp: Operations, x: Tensor, places: int, edge: float) -> Tensor:
    """The elements so many places to the right along the last axis, with copies of a number in front."""
    *lead, size = x.shape
    kept = max(size - places, 0)
    front = xp.zeros((*lead, size - kept), like=x) + edge
    return xp.concat(front, xp.getitem(x, index=(..., slice(kept))), axis=len(lead), sizes=(size - kept, kept))


def _early(xp: Operations, x: Tensor) -> Tensor:
    """All steps but the last."""
    return xp.getitem(x, index=(..., slice(-1), slice(None), slice(None)))


def _late(xp: Operations, x: Tensor) -> Tensor:
    """All steps but the first."""
    return xp.getitem(x, index=(..., slice(1, None), slice(None), slice(None)))


def _places(xp: Operations, logs: Same, states: Same) -> Same:
    """The states of each step as an index of classes."""
    *lead, count, size = states.shape
    return xp.broadcast_to(xp.reshape(states, shape=(*lead, 1, count, size)), shape=(*logs.shape[:-1], size))


def _emissions(xp: Operations, logs: Same, states: Same) -> Same:
    """The log-probabilities of states at each step."""
    if xp is RAW:
        out = np.empty((*logs.shape[:-1], states.shape[-1]), logs.dtype)
        inside = not states.size or 0 <= states.min() <= states.max() < logs.shape[-1]
        if inside and machine.aligns(out):
            machine.module("alignment").run("emissions", logs=logs, states=states, classes=logs.shape[-1], out=out)
            return xp.asarray(out)
    found = xp.take_along_axis(logs, _places(xp, logs, states), axis=len(logs.shape) - 1)
    return xp.clip(found, lower=IMPOSSIBLE, upper=None)


def _last(xp: Operations, wanted: Same, size: int) -> Same:
    """The last step of each sequence, as an index of all its states along the axis of steps; any step if it has none."""
    *lead, count = wanted.shape
    return xp.broadcast_to(xp.reshape(wanted - 1, shape=(*lead, 1, count, 1)), shape=(*lead, 1, count, size))


def _at_end(xp: Operations, reached: Same, ends: Same, wanted: Same, whole: bool) -> Same:
    """The log-probabilities of the states of each sequence after its last step, with those that are no ends impossible."""
    *lead, steps, count, size = reached.shape
    if not steps:
        return ends
    if whole:
        return xp.getitem(reached, index=(..., steps - 1, slice(None), slice(None))) + ends
    found = xp.take_along_axis(reached, _last(xp, wanted, size), axis=len(lead))
    return xp.reshape(found, shape=(*lead, count, size)) + ends


def _ctc_forward(
    logs: Array, states: Array, skips: Array, start: Array, ends: Array, wanted: Array, *, whole: bool, normal: bool
) -> tuple[Array, Array]:
    """The log-probabilities of the sequences, and of all that is reached at each step."""
    reached = _emissions(RAW, logs, states)
    reached[..., :1, :, :] += start[..., None, :, :]
    _reach(reached, skips)
    found = _at_end(RAW, reached, ends, wanted, whole)
    top = found.max(-1)
    return np.log(np.exp(found - top[..., None]).sum(-1)) + top, reached


def _reach(reached: Array, skips: Array) -> None:
    """Add to the log-probability of each state that of being reached by the steps before."""
    *lead, steps, count, size = reached.shape
    if machine.aligns(reached):
        machine.module("alignment").run("ctc", skips=skips, out=reached)
        return
    ways = np.full((3, *lead, count, size), IMPOSSIBLE, reached.dtype)
    shares = np.empty_like(ways)
    for step in range(1, steps):
        before = reached[..., step - 1, :, :]
        ways[0], ways[1, ..., 1:] = before, before[..., :-1]
        np.add(before[..., :-2], skips[..., 2:], out=ways[2, ..., 2:])
        top = np.maximum.reduce(ways)
        np.exp(np.subtract(ways, top, out=shares), out=shares)
        top += np.log(np.add.reduce(shares))
        reached[..., step, :, :] += top


def _ctc(
    xp: Operations, g: Tensor, y: Tensor, logs: Tensor, states: Tensor, skips: Tensor, start: Tensor, ends: Tensor, wanted: Tensor,
    *, whole: bool, normal: bool, needs: Sequence[bool],
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """The cotangent of each state, divided among its predecessors by their shares in its probability.

    If `logs` are `normal`, results of a log_softmax, each class's probability times the cotangent of the sequence is subtracted.
    """
    *lead, steps, count, size = shape = y[1].shape
    if not steps:
        return (xp.zeros_like(logs), *[None] * 5)
    given = xp.reshape(g[0], shape=(*lead, count, 1))
    pulled = given * xp.softmax(_at_end(xp, y[1], ends, wanted, whole), axis=len(lead) + 1)
    if whole:
        pulled = xp.scatter_slice(pulled, shape=shape, index=(..., steps - 1, slice(None), slice(None)))
    else:
        pulled = xp.reshape(pulled, shape=(*lead, 1, count, size))
        pulled = xp.put_along_axis(pulled, _last(xp, wanted, size), axis=len(lead), shape=shape)
    if xp is not RAW or g[1].any():  # of the probabilities of all steps only derivatives have cotangents
        pulled = pulled + g[1]
    pulled = _pulled(xp, pulled, _emissions(xp, logs, states), skips, y[1])
    if xp is RAW and machine.aligns(pulled):
        arrays = {"logs": logs, "states": states, "pulled": pulled, "wanted": np.array(steps) if whole else wanted}
        arrays["given"], to_logs = given[..., 0] if normal else np.zeros(()), np.empty(logs.shape, logs.dtype)
        machine.module("alignment").run("chances", of=pulled, out=to_logs, classes=logs.shape[-1], **arrays)
        return (xp.asarray(to_logs), *[None] * 5)
    pulled_logs = xp.put_along_axis(pulled, _places(xp, logs, states), axis=len(lead) + 2, shape=logs.shape)
    if normal:
        pulled_logs = pulled_logs - _chances(xp, xp.reshape(given, shape=(*lead, 1, count, 1)), logs, wanted, whole)
    return (pulled_logs, *[None] * 5)


def _chances(xp: Operations, given: Tensor, logs: Tensor, wanted: Tensor, whole: bool) -> Tensor:
    """The probabilities of classes times a number for each sequence, which may be NaN; zeros after its last step."""
    chances = given * xp.exp(logs)
    if whole:
        return chances
    *lead, steps, count, _ = logs.shape
    within = xp.reshape(wanted, shape=(*lead, 1, count, 1)) > np.arange(steps).reshape(steps, 1, 1)
    return xp.select(within, chances)


def _pulled(xp: Operations, pulled: Tensor, emissions: Tensor, skips: Tensor, reached: Tensor) -> Tensor:
    """The cotangents of the emissions, from those of what is reached at each step."""
    if xp is RAW and machine.aligns(reached):
        machine.module("alignment").run("ctc_back", emissions=emissions, skips=skips, reached=reached, out=pulled)
        return pulled
    before, after = _early(xp, reached), _late(xp, reached) - _late(xp, emissions)
    *lead, count, size = skips.shape
    skips = xp.reshape(skips, shape=(*lead, 1, count, size))
    one, two = (_shifted(xp, before, places, IMPOSSIBLE) for places in (1, 2))
    ways = (before, one, two + skips)
    stay, back, further = (xp.exp(xp.clip(way - after, lower=None, upper=MOST)) for way in ways)
    return xp.lattice(stay, back, further, pulled, reverse=True)


def _lattice_forward(stay: Array, one: Array, two: Array, given: Array, *, reverse: bool) -> Array:
    out, ways = np.array(given, order="C"), (stay, one, two)
    if machine.aligns(out):
        name = "lattice_back" if reverse else "lattice"
        machine.module("alignment").run(name, stay=stay, one=one, two=two, out=out)
        return out
    steps = out.shape[-3]
    for step in range(1, steps)[:: -1 if reverse else 1]:
        early, late = out[..., step - 1, :, :], out[..., step, :, :]
        for places, way in enumerate(ways):
            share = way[..., step - 1, :, places:]
            if reverse:
                early[..., : share.shape[-1]] += share * late[..., places:]
            else:
                late[..., places:] += share * early[..., : share.shape[-1]]
    return out


def _lattice(
    xp: Operations,
    g: Tensor,
    stay: Tensor,
    one: Tensor,
    two: Tensor,
    y: Tensor,
    *,
    needs: Sequence[bool],
    reverse: bool,
) -> tuple[Tensor | None, ...]:
    """The transposed recursion runs the other way; the cotangent of a share is the product of what it connects."""
    pulled = xp.lattice(stay, one, two, g, reverse=not reverse)
    if not any(needs[:3]):
        return None, None, None, pulled
    early, late = (_early(xp, pulled), _late(xp, y)) if reverse else (_early(xp, y), _late(xp, pulled))
    shares = [late * early, *(late * _shifted(xp, early, places, 0.0) for places in (1, 2))]
    return (*shares, pulled)


# fmt: off
#                 name                 pullback        forward
ctc     = general("ctc",     joint=_ctc,     forward=_ctc_forward,     inputs=("logs", "states", "skips", "start", "ends", "wanted"),
                  title="CtcLossBackward0", outputs=2)
lattice = general("lattice", joint=_lattice, forward=_lattice_forward, inputs=("stay", "one", "two", "given"))
# fmt: on
