"""Alignments of label sequences with longer ones: the recursions of connectionist temporal classification.

States are labels with blanks around them. Arrays are (..., T, N, S): steps, sequences, states. A state is reached from
itself, from the state before it, and from the one before that, which adds `skips` (..., N, S) to its log-probability; the
first step adds `start` (..., N, S).
"""

from typing import Any

import numpy as np

from .._core import machine, xp as _xp
from .._core.primitives import general

IMPOSSIBLE = -1e30  # replaces the logarithm of zero where -inf would make differences NaN
MOST = 1.0  # above the logarithm of any share: only differences of impossible ones, which are all rounding, are greater


def _shifted(xp: Any, x: Any, places: int, edge: float) -> Any:
    """The elements so many places to the right along the last axis, with copies of a number in front."""
    *lead, size = x.shape
    kept = max(size - places, 0)
    front = xp.zeros((*lead, size - kept), like=x) + edge
    return xp.concat(front, xp.getitem(x, index=(..., slice(kept))), axis=len(lead), sizes=(size - kept, kept))


def _early(xp: Any, x: Any) -> Any:
    """All steps but the last."""
    return xp.getitem(x, index=(..., slice(-1), slice(None), slice(None)))


def _late(xp: Any, x: Any) -> Any:
    """All steps but the first."""
    return xp.getitem(x, index=(..., slice(1, None), slice(None), slice(None)))


def _ctc_forward(emissions: Any, skips: Any, start: Any) -> Any:
    reached = np.array(emissions, order="C")
    reached[..., :1, :, :] += start[..., None, :, :]
    if machine.aligns(reached):
        machine.module("alignment").run("ctc", emissions=emissions, skips=skips, out=reached)
        return reached
    *lead, steps, count, size = reached.shape
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
    return reached


def _ctc(xp: Any, g: Any, emissions: Any, skips: Any, y: Any, *, needs: Any) -> Any:
    """The cotangent of each state, divided among its predecessors by their shares in its probability."""
    if xp is _xp and machine.aligns(y):
        pulled = np.array(g, order="C")
        machine.module("alignment").run("ctc_back", emissions=emissions, skips=skips, reached=y, out=pulled)
        return pulled, None, None
    before, after = _early(xp, y), _late(xp, y) - _late(xp, emissions)
    *lead, count, size = skips.shape
    skips = xp.reshape(skips, shape=(*lead, 1, count, size))
    one, two = (_shifted(xp, before, places, IMPOSSIBLE) for places in (1, 2))
    ways = (before, one, two + skips)
    shares = [xp.exp(xp.clip(way - after, lower=None, upper=MOST)) for way in ways]
    return xp.lattice(*shares, g, reverse=True), None, None


def _lattice_forward(stay: Any, one: Any, two: Any, given: Any, *, reverse: bool) -> Any:
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


def _lattice(xp: Any, g: Any, stay: Any, one: Any, two: Any, y: Any, *, needs: Any, reverse: bool) -> Any:
    """The transposed recursion runs the other way; the cotangent of a share is the product of what it connects."""
    pulled = xp.lattice(stay, one, two, g, reverse=not reverse)
    if not any(needs[:3]):
        return None, None, None, pulled
    early, late = (_early(xp, pulled), _late(xp, y)) if reverse else (_early(xp, y), _late(xp, pulled))
    shares = [late * early, *(late * _shifted(xp, early, places, 0.0) for places in (1, 2))]
    return (*shares, pulled)


# fmt: off
#                 name                 pullback        forward
ctc     = general("ctc",     joint=_ctc,     forward=_ctc_forward,     inputs=("emissions", "skips", "start"),
                  title="CtcLossBackward0")
lattice = general("lattice", joint=_lattice, forward=_lattice_forward, inputs=("stay", "one", "two", "given"))
# fmt: on
