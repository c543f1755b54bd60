"""Layers: maps that are linear in their weights, and attention, whose `known` weights its caller may have computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _xp
from .._core import general, linear, zero


def _flat(xp: Any, x: Any) -> Any:
    """x with all axes but the last made one."""
    return x if x.ndim == 2 else xp.reshape(x, shape=(math.prod(x.shape[:-1]), x.shape[-1]))


def _project_forward(x: Any, weight: Any, bias: Any = None) -> Any:
    out = _flat(_xp, x).dot(weight.T)
    if bias is not None:
        out += bias
    return out if x.ndim == 2 else out.reshape(*x.shape[:-1], len(weight))


def _project(xp: Any, g: Any, x: Any, weight: Any, *, needs: Any) -> Any:
    flat = _flat(xp, g)
    to_x = xp.matmul(flat, weight) if needs[0] else None
    if needs[0] and x.ndim != 2:
        to_x = xp.reshape(to_x, shape=x.shape)
    to_weight = xp.matmul(xp.matrix_transpose(flat), _flat(xp, x)) if needs[1] else None
    if len(needs) == 2:
        return to_x, to_weight
    return to_x, to_weight, xp.total(flat, axis=(0,)) if needs[2] else None


def _embedding(xp: Any, g: Any, x_shape: Any, indices: Any, *, padding: int | None, by_frequency: bool) -> Any:
    if padding is not None or by_frequency:
        g = g * xp.index_shares(indices, padding=padding, by_frequency=by_frequency)
    return xp.scatter_rows(g, indices, rows=x_shape[0])


def _embedding_forward(x: Any, indices: Any, *, padding: int | None = None, by_frequency: bool = False) -> Any:
    return x[indices]


def _index_shares(indices: Any, *, padding: int | None, by_frequency: bool) -> Any:
    """What of a cotangent counts at each index: nothing at the padding, 1 / n at an index that occurs n times."""
    shares = np.ones(indices.shape, np.float32)
    if by_frequency:
        shares /= np.bincount(indices.reshape(-1))[indices]
    if padding is not None:
        shares[indices == padding] = 0
    return shares[..., None]


def _scatter_rows_forward(g: Any, indices: Any, *, rows: int) -> Any:
    """Zeros with the rows of g added at indices: sums over runs of the sorted indices, faster than `np.add.at`."""
    out = np.zeros((rows, g.shape[-1]), g.dtype)
    places = np.arange(rows)[indices.reshape(-1)]  # from the front, and inside
    if places.size and g.shape[-1]:
        order = np.argsort(places, kind="stable")
        ordered = places[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        out[ordered[starts]] = np.add.reduceat(g.reshape(-1, g.shape[-1])[order], starts, axis=0)
    return out


def attention_weights(xp: Any, query: Any, key: Any, scale: float) -> Any:
    """How much each query attends to each key."""
    scores = xp.matmul(query * scale, xp.matrix_transpose(key))
    return xp.softmax(scores, axis=scores.ndim - 1)


def _attention_forward(query: Any, key: Any, value: Any, *, scale: float, known: Any) -> Any:
    return np.matmul(attention_weights(_xp, query, key, scale) if known is None else known, value)


def _attention(xp: Any, g: Any, query: Any, key: Any, value: Any, *, scale: float, known: Any, needs: Any) -> Any:
    raw = known is not None and xp is _xp
    weights = known if raw else attention_weights(xp, query, key, scale)
    to_value = xp.matmul(xp.matrix_transpose(weights), g) if needs[2] else None
    if not (needs[0] or needs[1]):
        return None, None, to_value
    shares = xp.softmax_pullback(xp.matmul(g, xp.matrix_transpose(value)), weights, axis=weights.ndim - 1)
    to_query = xp.matmul(shares, key) * scale if needs[0] else None
    to_key = xp.matmul(xp.matrix_transpose(shares), query * scale) if needs[1] else None
    return to_query, to_key, to_value


# fmt: off
#                        name            pullback
project      = general("project",      joint=_project, forward=_project_forward, inputs=("x", "weight"),
                       title="MmBackward0",            complex="holomorphic")
affine       = general("affine",       joint=_project, forward=_project_forward, inputs=("x", "weight", "bias"),
                       title="AddmmBackward0",         complex="holomorphic")
embedding    = linear("embedding",     _embedding,     forward=_embedding_forward, inputs=("x", "indices"))
scatter_rows = linear("scatter_rows",  lambda xp, g, indices: xp.embedding(g, indices, padding=None, by_frequency=False),
                      forward=_scatter_rows_forward,   inputs=("x", "indices"), title="EmbeddingDenseBackwardBackward0")
attention    = general("attention",    joint=_attention, forward=_attention_forward, inputs=("query", "key", "value"),
                       title="ScaledDotProductFlashAttentionForCpuBackward0")
index_shares = zero("index_shares",    forward=_index_shares, inputs=("indices",))
# fmt: on
