"""NumPy's functions that select elements by value: sets, partitions and histograms.

NumPy determines the indices from the values; the elements are then read at these indices, so each gradient goes to the
element's origin; of several equal elements, to the first. `names` registers them.
"""

from __future__ import annotations

# the signatures of the lambdas have NumPy's parameter names
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.primitives import Function
from ..vocabulary import indexing, shapes
from ..vocabulary.promotion import cast, inexact
from .operands import concrete, holds_tensor, on_tensors, operand, tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, ArrayLike, Tensor


def _flat(value: ArrayLike) -> Tensor:
    return shapes.ravel(tensors(operand(value))[0])


def _joined(*values: ArrayLike) -> Tensor:
    """All elements of several arrays, concatenated."""
    return shapes.cat([shapes.ravel(tensor) for tensor in tensors(*map(operand, values))])


def _unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Tensor | tuple[Tensor | Array, ...]:
    search: Function = np.unique
    _, places, *others = search(concrete(ar), True, return_inverse, return_counts, axis, equal_nan=equal_nan)
    found = np.take(_flat(ar) if axis is None else ar, places, axis or 0)
    given = [found, *([places] if return_index else []), *others]
    return tuple(given) if len(given) > 1 else found


def _unique_parts(name: str) -> Function:
    """unique_all and its relatives: NumPy's result, with the values read from the tensor."""

    def parts(x: ArrayLike, /) -> Tensor | tuple[Tensor | Array, ...]:
        found = getattr(np, name)(concrete(x))
        elements = _unique(x, equal_nan=False)
        return found._replace(values=elements) if hasattr(found, "_replace") else elements

    return parts


def _intersection(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False
) -> tuple[Tensor, Array, Array] | Tensor:
    _, first, second = np.intersect1d(concrete(ar1), concrete(ar2), assume_unique, return_indices=True)
    ar1, _ = tensors(operand(ar1), operand(ar2)) if holds_tensor(ar1) or holds_tensor(ar2) else (ar1, ar2)
    common = on_tensors.take(_flat(ar1), first)
    return (common, first, second) if return_indices else common


def _difference(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Tensor:
    (given, _) = tensors(operand(ar1), operand(ar2))
    first: Any = _flat(ar1) if assume_unique else _unique(given)
    return first[np.isin(concrete(first), concrete(ar2), assume_unique=True, invert=True)]


def _exclusive(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Tensor:
    pair = tensors(operand(ar1), operand(ar2))
    both = _joined(*(pair if assume_unique else map(_unique, pair)))
    _, places, counts = np.unique(concrete(both), return_index=True, return_counts=True)
    return np.take(both, places[counts == 1])


def _partition(
    a: ArrayLike, kth: ArrayLike, axis: int | None = -1, kind: Any = "introselect", order: str | None = None
) -> Tensor:
    a, axis = (_flat(a), -1) if axis is None else (a, axis)
    return on_tensors.take_along_axis(a, np.argpartition(concrete(a), concrete(kth), axis, kind, order), axis)


def _sort_complex(a: ArrayLike) -> Tensor:
    (a,) = tensors(operand(a))
    ordered = on_tensors.take_along_axis(a, np.argsort(concrete(a), -1), -1)
    return cast(ordered, np.sort_complex(np.zeros(1, a._dtype)).dtype)


def _ediff(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Tensor:
    inner = on_tensors.diff(_flat(tensors(*(each for each in (ary, to_end, to_begin) if each is not None))[0]))
    ends = [[] if end is None else [on_tensors.ravel(cast(operand(end), inner._dtype))] for end in (to_begin, to_end)]
    return on_tensors.concatenate([*ends[0], inner, *ends[1]])


# Histograms: the count in a bin is a step function of the elements; weights and edges have derivatives.


def _sums(places: Array, weights: Tensor, count: int) -> Tensor:
    """The sum of the weights for each index."""
    totals = weights.interpreter.wrap(np.zeros(count, weights._dtype), None)
    return indexing.index_put(totals, (places,), weights, accumulate=True)


def _bincount(x: ArrayLike, /, weights: ArrayLike | None = None, minlength: int = 0) -> Tensor:
    places = concrete(x)
    counts = np.bincount(places, minlength=minlength)
    if weights is None:
        return tensors(x, counts)[1]
    weighed = cast(_flat(tensors(weights, x)[0] if holds_tensor(x) else weights), np.dtype(np.float64))
    if weighed.shape[0] != places.size:
        raise ValueError(f"The weights and list don't have the same length: {weighed.shape[0]} and {places.size}")
    return _sums(places, weighed, counts.size)


def _edges(
    a: ArrayLike, bins: ArrayLike = 10, range: Sequence[ArrayLike] | None = None, weights: ArrayLike | None = None
) -> Tensor | Array:
    if np.iscomplexobj(a):
        raise TypeError(
            "numpy.histogram has no bins for complex numbers, which have no order: take t.real or np.abs(t)"
        )
    if holds_tensor(bins) or np.ndim(bins) == 1:
        return operand(bins)
    plain = concrete(weights) if isinstance(bins, str) and weights is not None else None
    bounds = None if range is None else tuple(concrete(end).item() for end in range)
    found = np.histogram_bin_edges(concrete(a), bins, bounds, plain)
    if not any(map(holds_tensor, (a, range))):
        return found
    if range is None:
        flat = inexact(_flat(a))
        low, high = (np.min(flat), np.max(flat)) if flat.shape[0] else (np.zeros_like(flat, shape=()), np.float64(1))
    else:
        low, high = range
    if concrete(low) == concrete(high):
        low, high = low - 0.5, high + 0.5
    return on_tensors.linspace(low, high, found.size)


def _histogram(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[ArrayLike] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Tensor, Tensor]:
    edges = _edges(a, bins, range, weights)
    values = concrete(a).reshape(-1)
    bounds = concrete(edges)
    counts: Any
    if weights is None:
        plain = None if range is None else tuple(concrete(end).item() for end in range)
        whole = concrete(bins) if holds_tensor(bins) else bins
        counts = np.histogram(values, whole, plain)[0]
    else:
        places = np.where(values == bounds[-1], bounds.size - 2, np.searchsorted(bounds, values, "right") - 1)
        inside = (values >= bounds[0]) & (values <= bounds[-1])
        listed = _flat(weights) if holds_tensor(weights) else np.ravel(weights)
        flat, _ = tensors(listed, next(each for each in (weights, a, edges) if holds_tensor(each)))
        counts = _sums(places[inside], flat[inside], bounds.size - 1)
    if density:
        counts = counts / np.diff(edges) / np.sum(counts)
    counts, edges, *_ = tensors(
        counts, edges, *(each for each in (a, weights) if each is not None and holds_tensor(each))
    )
    return counts, edges


SETS: dict[str, Function] = {
    "unique": _unique,
    **{name: _unique_parts(name) for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values")},
    "union1d": lambda ar1, ar2: _unique(_joined(ar1, ar2)),
    "intersect1d": _intersection,
    "setdiff1d": _difference,
    "setxor1d": _exclusive,
    "partition": _partition,
    "sort_complex": _sort_complex,
    "ediff1d": _ediff,
    "bincount": _bincount,
    "histogram": _histogram,
    "histogram_bin_edges": _edges,
}
