"""Layers: operations that are linear in their weights."""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING

import numpy as np

from .._core import machine, xp as _xp
from .._core.primitives import general, linear, zero
from .._core.xp import RAW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, Operations, Same, Tensor


def _flat(xp: Operations, x: Same) -> Same:
    """x with all axes but the last flattened into one."""
    return x if x.ndim == 2 else xp.reshape(x, shape=(math.prod(x.shape[:-1]), x.shape[-1]))


def _project_forward(x: Array, weight: Array, bias: Array | None = None) -> Array:
    out = _xp.matmul(_flat(RAW, x), weight.T)
    if bias is not None:
        out += bias
    return out if x.ndim == 2 else out.reshape(*x.shape[:-1], len(weight))


def _projected(xp: Operations, x: Tensor, weight: Tensor, *bias: Tensor) -> Tensor:
    if any(each.dtype != x.dtype for each in (weight, *bias)):
        return NotImplemented
    flat = xp.reshape(x, shape=(math.prod(x.shape[:-1]), x.shape[-1]))
    out = xp.matmul(flat, xp.permute_dims(weight, axes=(1, 0)))
    return xp.reshape(out + bias[0] if bias else out, shape=(*x.shape[:-1], weight.shape[0]))


def _project_image(xp: Operations, g: Tensor, weight: Tensor, x_shape: tuple[int, ...]) -> Tensor:
    to_x = xp.matmul(_flat(xp, g), weight)
    return to_x if len(x_shape) == 2 else xp.reshape(to_x, shape=x_shape)


def _project_weight(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    return xp.matmul(xp.matrix_transpose(_flat(xp, g)), _flat(xp, x))


def _project_bias(xp: Operations, g: Tensor) -> Tensor:
    return xp.total(_flat(xp, g), axis=(0,))


def _push_projected(
    xp: Operations, primals: Sequence[Tensor], tangents: Sequence[Tensor | None], y: Tensor
) -> Tensor | None:
    """A sum over the operands; transposing the rules takes longer."""
    (x, weight), (moved, turned, *shift) = primals[:2], tangents
    parts = [] if moved is None else [xp.project(moved, weight)]
    parts += [] if turned is None else [xp.project(x, turned)]
    parts += [xp.broadcast_to(each, shape=tuple(y.shape)) for each in shift if each is not None]
    return functools.reduce(operator.add, parts) if parts else None


def _embedding(
    xp: Operations, g: Tensor, x_shape: tuple[int, ...], indices: Tensor, *, padding: int | None, by_frequency: bool
) -> Tensor:
    """The gradient rows summed for each index, divided by its count if `by_frequency`; zero for the padding row."""
    if by_frequency:
        g = g / xp.index_counts(indices)
    if padding is not None:
        g = xp.select(xp.expand_dims(xp.not_equal(indices, padding), axis=indices.ndim), g)
    return xp.scatter_rows(g, indices, rows=x_shape[0])


def _embedding_forward(x: Array, indices: Array, *, padding: int | None = None, by_frequency: bool = False) -> Array:
    return x[indices]


def _index_counts(indices: Array) -> Array:
    """How often each index occurs, in the smallest float dtype, so that dividing by it does not change other dtypes."""
    return np.bincount(_xp.indexing(indices.reshape(-1)))[indices][..., None].astype(np.float32)


def _scatter_rows_forward(g: Array, indices: Array, *, rows: int) -> Array:
    """Zeros with the rows of g added at indices, by sums over runs of sorted indices: faster than `np.add.at`."""
    out = np.zeros((rows, g.shape[-1]), g.dtype)
    places = np.arange(rows)[indices.reshape(-1)]  # negative indices made positive, and bounds checked
    if places.size and machine.accumulates(g):
        _xp.add_rows(out, places, g)
    elif places.size and g.shape[-1]:
        order = np.argsort(places, kind="stable")
        ordered = places[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        out[ordered[starts]] = np.add.reduceat(g.reshape(-1, g.shape[-1])[order], starts, axis=0)
    return out


# fmt: off
#                        name            pullback
project      = general("project",      _project_image, _project_weight,
                       forward=_project_forward,        inputs=("x", "weight"),
                       definition=_projected,          push=_push_projected,
                       title="MmBackward0",            complex="holomorphic")
affine       = general("affine",       _project_image, _project_weight, _project_bias,
                       forward=_project_forward,        inputs=("x", "weight", "bias"),
                       definition=_projected,          push=_push_projected,
                       title="AddmmBackward0",         complex="holomorphic")
embedding    = linear("embedding",     _embedding,     forward=_embedding_forward, inputs=("x", "indices"))
scatter_rows = linear("scatter_rows",  lambda xp, g, indices: xp.embedding(g, indices, padding=None, by_frequency=False),
                      forward=_scatter_rows_forward,   inputs=("x", "indices"), title="EmbeddingDenseBackwardBackward0", cost=1)
index_counts = zero("index_counts",    forward=_index_counts, inputs=("indices",))
# fmt: on
