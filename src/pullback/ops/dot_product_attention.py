"""Attention: means of values, weighted by a softmax of the products of queries and keys.

Arrays are processed in blocks whose scores fit into the cache: several heads, or some queries of one head. `known` holds
the weights if the caller has computed them, which pays off when they are few. They depend on the inputs nevertheless: a
rule that is differentiated itself computes them again from the inputs.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core import machine
from .._core.primitives import general
from .._numerics import blocks
from .exponentials import slopes_of_rows, softmax_of_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, Operations, Tensor

HEADS = 1 << 18  # bytes of the scores of several heads that are processed as one block
PIECE = 1 << 20  # bytes of the scores of one head in a block of queries; also of weights that may be saved
SEVERAL = 8  # number of tasks to aim for, where the queries of a head can be divided

Place = tuple[slice, ...]


class _Share(NamedTuple):
    """The work of one thread: some heads, and for each of them some blocks of queries."""

    heads: Place
    pieces: list[slice]
    number: int  # index among the tasks for the same heads


def _cut(length: int, count: int) -> list[slice]:
    """Slices that divide a range of a length into `count` parts of nearly equal size."""
    ends = [length * i // count for i in range(count + 1)]
    return list(map(slice, ends, ends[1:]))


@functools.lru_cache(maxsize=64)
def _shares(batch: tuple[int, ...], queries: int, size: int) -> list[_Share]:
    """The division of the work into tasks; `size` is the number of bytes of the scores of one query."""
    axis, inside = len(batch), queries * size
    while axis and inside * batch[axis - 1] <= HEADS:  # all of an axis in one block
        axis -= 1
        inside *= batch[axis]
    along = [_cut(length, length) for length in batch[:axis]]
    if axis and inside <= HEADS:
        along[-1] = _cut(batch[axis - 1], math.ceil(batch[axis - 1] * inside / HEADS))
    heads = list(itertools.product(*along, *[[slice(None)]] * (len(batch) - axis)))
    rows = _cut(queries, max(1, math.ceil(inside / PIECE)))
    groups = _cut(len(rows), min(len(rows), math.ceil(SEVERAL / len(heads))))
    return [_Share(at, rows[group], number) for at in heads for number, group in enumerate(groups)]


def _together(
    query: Array, key: Array, value: Array, mask: Array | None, *others: Array
) -> tuple[list[Array], Array | None]:
    """Arrays broadcast to a common batch shape, float16 converted to float32; the mask, last, is not broadcast."""
    arrays = [query, key, value, *others]
    if query.dtype.char == "e":
        arrays, mask = [x.astype(np.float32) for x in arrays], None if mask is None else mask.astype(np.float32)
    batch = query.shape[:-2]
    if any(x.shape[:-2] != batch for x in arrays) or (mask is not None and mask.ndim > query.ndim):
        wide = np.broadcast_shapes(*(x.shape[:-2] for x in arrays), *([] if mask is None else [mask.shape[:-2]]))
        arrays = [np.broadcast_to(x, (*wide, *x.shape[-2:])) for x in arrays]
    return arrays, mask


def _fits(known: Array | None, *arrays: Array) -> bool:
    """True if weights are known, for arrays that have their batch shape: vmap may be over values or cotangents alone."""
    return known is not None and all(x.shape[:-2] == known.shape[:-2] for x in arrays)


def _shared(work: Callable[[_Share], None], query: Array, key: Array) -> None:
    """Call a function for every task, in several threads."""
    *batch, queries, _ = query.shape
    shares = _shares(tuple(batch), queries, key.shape[-2] * query.itemsize)

    def several(start: int, stop: int) -> None:
        for share in shares[start:stop]:
            work(share)

    blocks.pieces(several, len(shares), blocks.BLOCK, products=True)


def small(query: Array | Tensor, key: Array | Tensor) -> bool:
    """True if all scores fit into one block."""
    return bool(math.prod(query.shape[:-1]) * key.shape[-2] * query.itemsize <= PIECE)


def _several(query: Array, key: Array) -> bool:
    """True if the work is divided into several blocks."""
    *batch, queries, _ = query.shape
    size = key.shape[-2] * query.itemsize
    if math.prod(batch) * queries * size <= HEADS:
        return False
    shares = _shares(tuple(batch), queries, size)
    return len(shares) > 1 or len(shares[0].pieces) > 1


def _whole(mask: Array | None, query: Array, key: Array) -> Array | None:
    """A mask broadcast to the shape of the scores."""
    return None if mask is None else np.broadcast_to(mask, (*query.shape[:-1], key.shape[-2]))


def _like(x: Array, size: int) -> Array:
    """An empty array with rows of `size` elements in the memory order of x, so that heads are joined without a copy."""
    shape = (*x.shape[:-1], size)
    return np.empty(shape, x.dtype) if x.flags.c_contiguous else np.empty_like(x, shape=shape)


def _piece(part: Array | None, at: Place) -> Array | None:
    """The part of a mask, or of known weights, for some heads and queries."""
    return None if part is None else part[at]


def _weigh(query: Array, key: Array, mask: Array | None, scale: float, out: Array | None = None) -> Array:
    """The weights of arrays that are one block."""
    scores = machine.batched(query * scale, key.swapaxes(-1, -2))
    if mask is not None:
        scores += mask
    return softmax_of_rows(scores, out)


def known_weights(query: Array, key: Array, mask: Array | None, scale: float) -> Array:
    """The weights of arrays with one common batch shape, divided into tasks if they are large."""
    if not _several(query, key):
        return _weigh(query, key, mask, scale)
    mask, known = _whole(mask, query, key), np.empty((*query.shape[:-1], key.shape[-2]), query.dtype)

    def work(share: _Share) -> None:
        for rows in share.pieces:
            at = (*share.heads, rows)
            _weigh(query[at], key[share.heads], _piece(mask, at), scale, _piece(known, at))

    _shared(work, query, key)
    return known


def _find(
    query: Array, key: Array, value: Array, mask: Array | None, scale: float, known: Array | None, out: Array
) -> None:
    """Write the attention results of one block."""
    machine.batched(_weigh(query, key, mask, scale) if known is None else known, value, out)


def _pull(
    given: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    scale: float,
    known: Array | None,
    *outs: Array | None,
) -> list[Array]:
    """Write the cotangents of the queries and, where an output is given, of the keys and values, for one block."""
    weights = _weigh(query, key, mask, scale) if known is None else known
    to_query, to_key, to_value = outs
    to_value = machine.batched(weights.swapaxes(-1, -2), given, to_value)
    slopes = machine.batched(given * scale, value.swapaxes(-1, -2))
    slopes_of_rows(slopes, weights)
    machine.batched(slopes, key, to_query)
    return [machine.batched(slopes.swapaxes(-1, -2), query, to_key), to_value]


def _attention_forward(
    query: Array, key: Array, value: Array, mask: Array | None = None, *, scale: float, known: Array | None
) -> Array:
    dtype = query.dtype
    if not _fits(known, value):
        known = None
        (query, key, value), mask = _together(query, key, value, mask)
    out = _like(query, value.shape[-1])
    if not _several(query, key):
        _find(query, key, value, mask, scale, known, out)
        return out.astype(dtype, copy=False)
    mask = _whole(mask, query, key)

    def work(share: _Share) -> None:
        for rows in share.pieces:
            at = (*share.heads, rows)
            arrays = (query[at], key[share.heads], value[share.heads], _piece(mask, at))
            _find(*arrays, scale, _piece(known, at), out[at])

    _shared(work, query, key)
    return out.astype(dtype, copy=False)


def _pullback_forward(
    given: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None = None,
    *,
    scale: float,
    known: Array | None,
) -> tuple[Array, ...]:
    dtype = query.dtype
    if not _fits(known, value, given):
        known = None
        (query, key, value, given), mask = _together(query, key, value, mask, given)
    to_query, *to = outs = [_like(x, x.shape[-1]) for x in (query, key, value)]
    if not _several(query, key):
        _pull(given, query, key, value, mask, scale, known, *outs)
        return tuple([x.astype(dtype, copy=False) for x in outs])
    mask = _whole(mask, query, key)
    done: list[tuple[_Share, list[Array]]] = []

    def work(share: _Share) -> None:
        heads = share.heads
        sums: list[Array | None] = [None if share.number else x[heads] for x in to]
        totals: list[Array] = []
        for place, rows in enumerate(share.pieces):
            at = (*heads, rows)
            arrays = (given[at], query[at], key[heads], value[heads], _piece(mask, at))
            found = _pull(*arrays, scale, _piece(known, at), to_query[at], *sums)
            totals = [np.add(a, b, a) for a, b in zip(totals, found, strict=True)] if place else found
            sums = [None, None]
        done.append((share, totals))

    _shared(work, query, key)
    for share, totals in sorted(done, key=lambda each: each[0].number):
        if share.number:
            for whole, total in zip(to, totals, strict=True):
                whole[share.heads] += total
    return tuple([x.astype(dtype, copy=False) for x in outs])


def _weights(xp: Operations, query: Tensor, key: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """The weights as recorded operations, for values of any kind."""
    scores = xp.matmul(query * scale, xp.matrix_transpose(key))
    if mask is not None:
        scores = scores + mask
    return xp.softmax(scores, axis=scores.ndim - 1)


def _attention(
    xp: Operations,
    g: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float,
    known: Array | None,
    needs: Sequence[bool],
) -> tuple[Tensor, ...]:
    return xp.attention_pullback(g, query, key, value, scale=scale, known=known)


def _masked_attention(
    xp: Operations,
    g: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor,
    *,
    scale: float,
    known: Array | None,
    needs: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    given = (g, query, key, value, mask)
    to = xp.masked_attention_pullback(*given, scale=scale, known=known) if any(needs[:3]) else (None,) * 3
    return *to, _slopes(xp, *given, scale)[1] if needs[3] else None


def _slopes(
    xp: Operations, given: Tensor, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The weights, the cotangents of the scores, and the cotangents of the weights."""
    weights = _weights(xp, query, key, mask, scale)
    to_weights = xp.matmul(given, xp.matrix_transpose(value))
    if weights.shape != to_weights.shape:  # a batch of values or cotangents alone
        weights = xp.broadcast_to(weights, shape=tuple(to_weights.shape))
    return weights, xp.softmax_pullback(to_weights, weights, axis=weights.ndim - 1), to_weights


def _again(
    xp: Operations,
    g: Sequence[Tensor],
    given: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float,
) -> list[Tensor]:
    """The cotangents of all arguments of the pullback, for its own derivative."""
    (by_query, by_key, by_value), turned = g, xp.matrix_transpose
    weights, slopes, to_weights = _slopes(xp, given, query, key, value, mask, scale)
    axis = weights.ndim - 1
    by_slopes = (xp.matmul(by_query, turned(key)) + xp.matmul(query, turned(by_key))) * scale
    by_weights = xp.softmax_pullback(by_slopes, weights, axis=axis)
    mean, own = (xp.sum(each * weights, axis=(axis,), keepdims=True) for each in (to_weights, by_slopes))
    direct = xp.matmul(given, turned(by_value)) + by_slopes * (to_weights - mean) - to_weights * own
    by_scores = xp.softmax_pullback(direct, weights, axis=axis)
    return [
        xp.matmul(weights, by_value) + xp.matmul(by_weights, value),
        (xp.matmul(slopes, by_key) + xp.matmul(by_scores, key)) * scale,
        (xp.matmul(turned(slopes), by_query) + xp.matmul(turned(by_scores), query)) * scale,
        xp.matmul(turned(by_weights), given),
        by_scores,
    ]


def _means(
    xp: Operations,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float,
    known: Array | None = None,
) -> Tensor:
    return xp.matmul(_weights(xp, query, key, mask, scale), value)


def _slopes_of_all(
    xp: Operations,
    given: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float,
    known: Array | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    weights, slopes, _ = _slopes(xp, given, query, key, value, mask, scale)
    turned = xp.matrix_transpose
    to_query, to_key = xp.matmul(slopes, key) * scale, xp.matmul(turned(slopes), query * scale)
    return to_query, to_key, xp.matmul(turned(weights), given)


def _pullback(
    xp: Operations, g: Sequence[Tensor], given: Tensor, query: Tensor, key: Tensor, value: Tensor, *, scale: float
) -> list[Tensor]:
    return _again(xp, g, given, query, key, value, scale=scale)[:4]


# fmt: off
WHOLE, MASKED = ("query", "key", "value"), ("query", "key", "value", "mask")
#                                     name                         pullback
attention                 = general("attention",                 joint=_attention, forward=_attention_forward, inputs=WHOLE,
                                    definition=_means,
                                    title="ScaledDotProductFlashAttentionForCpuBackward0")
masked_attention          = general("masked_attention",          joint=_masked_attention, forward=_attention_forward,
                                    definition=_means,
                                    inputs=MASKED, title="ScaledDotProductFlashAttentionForCpuBackward0")
attention_pullback        = general("attention_pullback",        joint=_pullback, forward=_pullback_forward,
                                    definition=_slopes_of_all,
                                    inputs=("given", *WHOLE), outputs=3)
masked_attention_pullback = general("masked_attention_pullback", joint=_again, forward=_pullback_forward,
                                    definition=_slopes_of_all,
                                    inputs=("given", *MASKED), outputs=3)
# fmt: on
