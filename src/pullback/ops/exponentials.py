"""The softmax family: exponentials along an axis divided by their sum, and the logarithm of that.

The pullbacks are primitives themselves, as in torch, so that they too are computed in blocks. Large arrays are reshaped
to (outer, along, inner): the reduced axis is in the middle, and the work is divided along one of the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .._core import machine, xp as _xp
from .._core.primitives import SINGLES, general
from .._numerics import blocks

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._core.primitives import Function
    from .._core.typing import Array, Operations, Tensor

    KnownLosses: TypeAlias = tuple[Array, Array, Array]

LARGE = 1 << 12  # from this size on, a copy of the exponentials costs less than NumPy's maximum of each row
FEW = 32  # rows up to which NumPy's maximum of each takes less than argmax and what it finds
LONGEST = 1 << 14  # longer sums are computed by `_xp.sum`, which keeps the rounding error small

# Bounds of sums of exponentials that need no shift by the maximum: above them, the logarithm loses digits or the sum
# approaches overflow; below them, underflow may drop exponentials that matter.
NEAR = 40.0**2
PLAIN_SUMS, PLAIN_LOGARITHMS = (2.0**-10, 2.0**100), (2.0**-4, 2.0**17)


def _in_blocks(part: Callable[..., None], name: str = "", *words: str) -> Function:
    """The operation whose result, shaped like its first input, is filled by `part(axis, out, *inputs)`.

    `name` is that of a compiled implementation, `words` the names of its inputs.
    """

    def forward(x: Array, *others: Array, axis: int) -> Array:
        out = np.empty(x.shape, x.dtype)
        if name and axis == x.ndim - 1 and (rows := machine.rows(x, x.shape[axis])) is not None:
            rows(name, out=out, **dict(zip(words, (x, *map(np.ascontiguousarray, others)), strict=True)))
        elif out.nbytes > blocks.BLOCK:
            _cut(part, axis, out, x, *others)
        elif out.size:
            part(axis, out, x, *others)
        return out

    return forward


def _cut(part: Callable[..., None], axis: int, *arrays: Array) -> None:
    """Compute a part over blocks of arrays, as rows or as (outer, along, inner)."""
    shape = arrays[0].shape
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    form = (outer, shape[axis]) if inner == 1 else (outer, shape[axis], inner)
    arrays = (_xp.reshaped_view(arrays[0], *form), *[x.reshape(form) for x in arrays[1:]])
    size = shape[axis] * arrays[0].itemsize
    if outer > 1 or inner == 1:
        blocks.pieces(lambda start, stop: part(1, *(x[start:stop] for x in arrays)), outer, size * inner)
    else:
        blocks.pieces(lambda start, stop: part(1, *(x[:, :, start:stop] for x in arrays)), inner, size)


def _rows(x: Array, axis: int) -> bool:
    """True if the sums are along the last axis, and short enough for `einsum`, which takes half the time."""
    return axis == x.ndim - 1 and x.shape[axis] <= LONGEST


def _sums(x: Array, axis: int) -> Array:
    if x.size >= LARGE and _rows(x, axis):
        return np.einsum("...i->...", x)[..., None]
    return _xp.sum(x, axis=(axis,), keepdims=True)


def _sums_of_products(a: Array, b: Array, axis: int) -> Array:
    if a.size >= LARGE and _rows(a, axis):
        return np.einsum("...i,...i->...", a, b)[..., None]
    return _xp.sum(a * b, axis=(axis,), keepdims=True)


_max: Function = np.maximum.reduce  # (x, axis, dtype, out, keepdims)


def _highest(x: Array, axis: int) -> Array:
    """The maxima along an axis; for more than a few rows of a matrix via argmax, which takes half the time."""
    if axis == 1 and x.ndim == 2 and len(x) > FEW:
        return x.take(_xp.in_rows(x, x.argmax(1)))[:, None]
    return _max(x, axis, None, None, True)


def _near(x: Array) -> bool:
    """True if a few values are so close to zero, by their sum of squares, that exponentials need no shift."""
    flat = x.reshape(-1)
    return flat.dot(flat) <= NEAR


def _exponentials(x: Array, out: Array, axis: int, plain: tuple[float, float]) -> tuple[Array, Array]:
    """Write exponentials into `out`; return their argument, x or x less its maxima along an axis, and their sums."""
    near = x.size < LARGE and plain != PLAIN_LOGARITHMS and _near(x)
    if near or x.size >= LARGE:
        np.exp(x, out)
        sums = _sums(out, axis)
        if near or (plain[0] <= np.minimum.reduce(sums, None) and np.maximum.reduce(sums, None) <= plain[1]):
            return x, sums
    shifted = x - _highest(x, axis)
    np.exp(shifted, out)
    return shifted, _sums(out, axis)


def _softmax_part(axis: int, out: Array, x: Array) -> None:
    _, sums = _exponentials(x, out, axis, PLAIN_SUMS)
    np.divide(out, sums, out)


def _log_softmax_part(axis: int, out: Array, x: Array) -> None:
    shifted, sums = _exponentials(x, out, axis, PLAIN_LOGARITHMS)
    np.subtract(shifted, np.log(sums), out)


def _softmax_pullback_part(axis: int, out: Array, g: Array, y: Array) -> None:
    np.subtract(g, _sums_of_products(g, y, axis), out)
    np.multiply(out, y, out)


def softmax_of_rows(x: Array, out: Array | None = None) -> Array:
    """Softmax along the last axis of a contiguous array, which may be overwritten; in `out` if that is given and contiguous."""
    if (code := machine.rows(x, x.shape[-1])) is not None:
        out = x if out is None else out
        code("softmax", x=x, out=out)
        return out
    out = np.empty(x.shape, x.dtype) if out is None else out
    rows = x.reshape(-1, x.shape[-1])
    _softmax_part(1, _xp.reshaped_view(out, *rows.shape), rows)
    return out


def slopes_of_rows(x: Array, shares: Array) -> None:
    """Turn the cotangents of a softmax along the last axis into those of its argument, in place."""
    if (code := machine.rows(x, x.shape[-1])) is not None and shares.flags.c_contiguous:
        code("softmax_pullback", given=x, shares=shares, out=x)
    else:
        _softmax_pullback_part(x.ndim - 1, x, x, shares)


def _log_softmax_pullback_part(axis: int, out: Array, g: Array, y: Array) -> None:
    np.exp(y, out)
    np.multiply(out, _sums(g, axis), out)
    np.subtract(g, out, out)


def _softmax(xp: Operations, g: Tensor, y: Tensor, *, axis: int) -> Tensor:
    return xp.softmax_pullback(g, y, axis=axis)


def _log_softmax(xp: Operations, g: Tensor, y: Tensor, *, axis: int) -> Tensor:
    return xp.log_softmax_pullback(g, y, axis=axis)


def _by_cotangent(xp: Operations, g: Tensor, shares: Tensor, *, axis: int) -> Tensor:
    return xp.softmax_pullback(g, shares, axis=axis)


def _by_shares(xp: Operations, g: Tensor, given: Tensor, shares: Tensor, *, axis: int) -> Tensor:
    centred = given - xp.sum(given * shares, axis=(axis,), keepdims=True)
    return g * centred - given * xp.sum(g * shares, axis=(axis,), keepdims=True)


def _by_log_cotangent(xp: Operations, g: Tensor, logs: Tensor, *, axis: int) -> Tensor:
    return g - xp.sum(g * xp.exp(logs), axis=(axis,), keepdims=True)


def _by_logs(xp: Operations, g: Tensor, given: Tensor, logs: Tensor, *, axis: int) -> Tensor:
    return -(g * xp.exp(logs)) * xp.sum(given, axis=(axis,), keepdims=True)


# Cross-entropy
#
# The losses of rows of scores, each with the index of its class. `known` holds the intermediate results that the
# pullback needs, if the caller has computed them, which pays off for scores that fit into the cache. Otherwise they are
# not saved: the pullback computes the exponentials again, which is faster than writing them to memory and reading them.


def known_losses(x: Array, indices: Array) -> KnownLosses | None:
    """The losses of rows of scores, the probabilities of all classes, and the flat indices of the correct classes.

    None if saving the probabilities does not pay off.
    """
    if x.nbytes > blocks.BLOCK or x.dtype.char == "e":
        return None
    if x.size < LARGE:  # a step of a small network, dominated by the overhead of calls
        starts = _xp.few_starts(*x.shape)
        shifted = x - x.take(starts + x.argmax(1))[:, None]
        shares = np.exp(shifted, order="C")
        sums = shares.dot(_xp.ones(x.shape[1], x.dtype))
        places = _xp.indexing(starts + indices)
    else:
        shares = np.empty(x.shape, x.dtype)
        shifted, sums = _exponentials(x, shares, 1, PLAIN_LOGARITHMS)
        sums = sums[:, 0]
        places = _xp.in_rows(x, indices)
    shares /= sums[:, None]
    return np.log(sums) - shifted.take(places), shares, places


def _losses_of_rows(x: Array, indices: Array) -> Array:
    losses = np.empty(len(x), x.dtype)
    if (code := machine.rows(x, x.shape[1])) is not None:
        shift, sums = np.empty(len(x), x.dtype), np.empty(len(x), x.dtype)
        code("exponents", x=x, shift=shift, sums=sums)
        np.subtract(np.log(sums), x.take(_xp.in_rows(x, indices)) - shift, losses)
        losses[~((sums > 0) & (sums < math.inf))] = math.nan
        return losses

    def part(start: int, stop: int) -> None:
        rows = x[start:stop]
        shifted, sums = _exponentials(rows, np.empty(rows.shape, rows.dtype), 1, PLAIN_LOGARITHMS)
        picked = shifted.take(_xp.in_rows(shifted, indices[start:stop]))
        np.subtract(np.log(sums[:, 0]), picked, losses[start:stop])

    blocks.pieces(part, len(x), x.shape[1] * x.itemsize)
    return losses


def _cross_entropy_forward(x: Array, indices: Array, *, reduction: str, known: KnownLosses | None) -> Array:
    losses = _losses_of_rows(x, indices) if known is None else known[0]
    if reduction == "none":
        return losses if known is None else losses.copy()
    few = len(losses) < LARGE
    total = losses.dot(_xp.ones(len(losses), losses.dtype)) if few else _xp.sum(losses, axis=(0,), keepdims=False)
    return total if reduction == "sum" else total / total.dtype.type(len(losses))


def _cross_entropy_pullback_forward(
    given: Array, x: Array, indices: Array, *, reduction: str, known: KnownLosses | None
) -> Array:
    slopes = given / x.dtype.type(len(x)) if reduction == "mean" else given
    if known is not None:
        _, shares, places = known
        return _less_own(shares * (slopes if reduction != "none" else slopes[:, None]), slopes, places)
    out = np.empty(x.shape, x.dtype)
    if (code := machine.rows(x, x.shape[1])) is not None:
        spread = np.ascontiguousarray(np.broadcast_to(slopes, len(x)))
        code("weighted_softmax", x=x, slopes=spread, sums=np.empty(len(x), x.dtype), out=out)
        return _less_own(out, slopes, _xp.in_rows(out, indices))

    def part(start: int, stop: int) -> None:
        own, spread = (slopes[start:stop], slopes[start:stop, None]) if reduction == "none" else (slopes, slopes)
        rows = out[start:stop]
        _, sums = _exponentials(x[start:stop], rows, 1, PLAIN_SUMS)
        rows *= spread / sums
        _less_own(rows, own, _xp.in_rows(rows, indices[start:stop]))

    blocks.pieces(part, len(x), x.shape[1] * x.itemsize)
    return out


def _less_own(rows: Array, own: Array, places: Array) -> Array:
    """Subtract `own` from one element of each row, the one at `places` in the flattened rows, in place."""
    _xp.reshaped_view(rows, -1)[places] -= own
    return rows


def _cross_entropy(
    xp: Operations, g: Tensor, x: Tensor, indices: Tensor, *, reduction: str, known: KnownLosses | None
) -> Tensor:
    return xp.cross_entropy_pullback(g, x, indices, reduction=reduction, known=known)


def _is_array(x: Tensor | Array) -> bool:
    return type(x) is np.ndarray


def _shares(xp: Operations, x: Tensor, known: KnownLosses | None) -> Tensor:
    """The probabilities of classes; from the known ones, if x is an array."""
    return xp.softmax(x, axis=1) if known is None or not _is_array(x) else xp.asarray(known[1])


def _less_one_hot(xp: Operations, x: Tensor, indices: Tensor, reduction: str, known: KnownLosses | None) -> Tensor:
    """The derivatives of the losses: the probabilities of all classes, less one at the correct class."""
    one_hot = xp.put_rows(xp.zeros(x.shape[:1], like=x) + 1, indices, shape=tuple(x.shape))
    slopes = _shares(xp, x, known) - one_hot
    return slopes / x.shape[0] if reduction == "mean" else slopes


def _by_loss_cotangent(
    xp: Operations, g: Tensor, x: Tensor, indices: Tensor, *, reduction: str, known: KnownLosses | None
) -> Tensor:
    axis = (1,) if reduction == "none" else (0, 1)
    return xp.sum(g * _less_one_hot(xp, x, indices, reduction, known), axis=axis, keepdims=False)


def _by_scores(
    xp: Operations, g: Tensor, given: Tensor, x: Tensor, *, reduction: str, known: KnownLosses | None
) -> Tensor:
    given = xp.expand_dims(given, axis=1) if reduction == "none" else given
    g = g * (given / x.shape[0] if reduction == "mean" else given)
    return xp.softmax_pullback(g, _shares(xp, x, known), axis=1)


def _powers(xp: Operations, x: Tensor, axis: int) -> tuple[Tensor, Tensor, Tensor]:
    """x less its maximum along an axis, the exponentials of that, and their sums."""
    shifted = x - xp.amax(x, axis=(axis,), keepdims=True)
    powers = xp.exp(shifted)
    return shifted, powers, xp.sum(powers, axis=(axis,), keepdims=True)


def _shares_of(xp: Operations, x: Tensor, *, axis: int) -> Tensor:
    _, powers, sums = _powers(xp, x, axis)
    return powers * xp.reciprocal(sums)


def _logs_of(xp: Operations, x: Tensor, *, axis: int) -> Tensor:
    shifted, _, sums = _powers(xp, x, axis)
    return shifted - xp.log(sums)


def _shares_back(xp: Operations, given: Tensor, shares: Tensor, *, axis: int, known: None = None) -> Tensor:
    if given.shape != shares.shape:
        return NotImplemented
    return (given - xp.sum(given * shares, axis=(axis,), keepdims=True)) * shares


def _logs_back(xp: Operations, given: Tensor, logs: Tensor, *, axis: int, known: None = None) -> Tensor:
    if given.shape != logs.shape:
        return NotImplemented
    return given - xp.exp(logs) * xp.sum(given, axis=(axis,), keepdims=True)


def _entropies(xp: Operations, x: Tensor, indices: Tensor, *, reduction: str, known: KnownLosses | None) -> Tensor:
    shifted, _, sums = _powers(xp, x, 1)
    losses = xp.reshape(xp.log(sums), shape=x.shape[:1]) - xp.take_rows(shifted, indices)
    if reduction == "none":
        return losses
    total = xp.sum(losses, axis=(0,), keepdims=False)
    return total if reduction == "sum" else total / x.shape[0]


def _entropies_back(
    xp: Operations, given: Tensor, x: Tensor, indices: Tensor, *, reduction: str, known: KnownLosses | None
) -> Tensor:
    _, powers, sums = _powers(xp, x, 1)
    slopes = given / x.shape[0] if reduction == "mean" else given
    column = xp.reshape(slopes, shape=(x.shape[0], 1)) if reduction == "none" else slopes
    of_rows = xp.broadcast_to(slopes, shape=x.shape[:1])
    return powers * (column / sums) - xp.put_rows(of_rows, indices, shape=tuple(x.shape))


_softmax_forward = _in_blocks(_softmax_part, "softmax", "x")
_softmax_pullback_forward = _in_blocks(_softmax_pullback_part, "softmax_pullback", "given", "shares")
_log_softmax_forward = _in_blocks(_log_softmax_part)

# fmt: off
#                              name                    pullback per input
softmax              = general("softmax",              _softmax,     forward=_softmax_forward, definition=_shares_of, **SINGLES)
log_softmax          = general("log_softmax",          _log_softmax, forward=_log_softmax_forward, definition=_logs_of,
                               title="LogSoftmaxBackward0", **SINGLES)
softmax_pullback     = general("softmax_pullback",     _by_cotangent, _by_shares, forward=_softmax_pullback_forward, definition=_shares_back,
                               inputs=("given", "shares"), title="SoftmaxBackwardDataBackward0", **SINGLES)
log_softmax_pullback = general("log_softmax_pullback", _by_log_cotangent, _by_logs,
                               forward=_in_blocks(_log_softmax_pullback_part), definition=_logs_back,
                               inputs=("given", "logs"), title="LogSoftmaxBackwardDataBackward0", **SINGLES)
cross_entropy = general("cross_entropy", _cross_entropy, None, forward=_cross_entropy_forward, definition=_entropies,
                               inputs=("x", "indices"), title="NllLossBackward0", **SINGLES)
cross_entropy_pullback = general("cross_entropy_pullback", _by_loss_cotangent, _by_scores, None,
                               forward=_cross_entropy_pullback_forward, definition=_entropies_back,
                               inputs=("given", "x", "indices"), title="NllLossBackwardBackward0", **SINGLES)
# fmt: on
