"""Reductions of segments: consecutive parts of an axis, of given lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import dtypes
from .._core.primitives import Carrier
from .._core.shapes import normalize_axis
from .._core.values import concrete, require_tensor
from . import arithmetic, bits, scatter
from .promotion import held
from .slicing import narrow

if TYPE_CHECKING:
    from .._core.typing import Array, Tensor

# The scatter reduction of each name, including the initial value.
REDUCTIONS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("sum", "mean"), ("sum", 0.0)),
    "prod": ("prod", 1.0),
    **dict.fromkeys(("max", "amax"), ("amax", -np.inf)),
    **dict.fromkeys(("min", "amin"), ("amin", np.inf)),
}


def segment_reduce(
    data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None, axis: int = 0,
    unsafe: bool = False, initial: float | Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The sums, means, maxima, minima or products of segments: consecutive parts of an axis.

    Equal extremes share the gradient.

    Parameters
    ----------
    data, reduce
        The elements, and "sum", "mean", "max", "min" or "prod".
    lengths, offsets
        The number of elements of each segment; or, which takes precedence, each start and the last end: integers, whose
        last axis is that of the segments. Axes before are those of `data` before `axis`: rows may have their own segments.
    unsafe
        Ignore elements in no segment, as with offsets; else lengths must add up to the length of the axis.
    initial, indices
        The result for an empty segment, with which each reduction starts; without it an empty sum is 0, a product 1, a
        maximum -inf, a minimum inf and a mean NaN. There are no indices, as in torch.

    Raises
    ------
    RuntimeError
        If neither lengths nor offsets fit the data, or the reduction is unknown, or if there are indices.
    NotImplementedError
        If the data are not real floating-point numbers, or lengths or offsets neither int32 nor int64.

    >>> import pullback
    >>> data = pullback.tensor([1.0, 2.0, 4.0, 8.0], requires_grad=True)
    >>> y = pullback.segment_reduce(data, "max", lengths=pullback.tensor([3, 0, 1]), initial=0)
    >>> y
    tensor([4., 0., 8.], grad_fn=<WhereBackward0>)
    >>> y.sum().backward()
    >>> data.grad
    tensor([0., 0., 1., 1.])
    """
    require_tensor("segment_reduce", "data", data)
    if not isinstance(reduce, str):
        raise TypeError(f"segment_reduce(): argument 'reduce' (position 2) must be str, not {type(reduce).__name__}")
    if reduce not in REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet. Pass lengths or offsets")
    if data._dtype.kind != "f":
        raise NotImplementedError(f"\"_segment_reduce_cpu\" not implemented for '{data._type_name}': x.float() first")
    place, bounds = _bounds(data, lengths, offsets, axis, unsafe=unsafe)
    start = None if initial is None else held(initial.item() if isinstance(initial, Carrier) else initial, data._dtype)
    return _begun(_gathered(data, REDUCTIONS[reduce], place, bounds), reduce, np.diff(bounds), start)


def _bounds(
    data: Tensor, lengths: Tensor | None, offsets: Tensor | None, axis: int, *, unsafe: bool
) -> tuple[int, Array]:
    """The axis, and the boundaries of its segments as an array."""
    name, given = ("lengths", lengths) if offsets is None else ("offsets", offsets)
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if not isinstance(given, (Carrier, np.ndarray)):
        raise TypeError(f"segment_reduce(): argument '{name}' must be Tensor, not {type(given).__name__}")
    found = concrete(given, "segment_reduce")
    if found.dtype not in (np.int32, np.int64):
        raise NotImplementedError(
            f"\"_segment_reduce_{name}_cpu_kernel1\" not implemented for '{dtypes.type_name(found.dtype)}': {name} are integers, "
            f"{name}.long()"
        )
    place = normalize_axis(axis, data.ndim)
    if not data.ndim or place != found.ndim - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {name} but got {place}. data has shape "
            f"{tuple(data.shape)}, {name} {found.shape}"
        )
    if found.shape[:-1] != tuple(data.shape[:place]):
        raise RuntimeError(
            f"segment_reduce(): Expected {name} to have the axes of data before axis {place}: data has shape "
            f"{tuple(data.shape)}, {name} {found.shape}"
        )
    size = data.shape[place]
    if name == "lengths":
        if (found < 0).any():
            raise RuntimeError("lengths contains negative value! A segment has at least no element")
        total = found.sum(-1)
        if (total > size).any() or not (unsafe or (total == size).all()):
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
                f"!unsafe. They sum to {total.tolist()}, and axis {place} has length {size}"
            )
        return place, np.concatenate([np.zeros((*found.shape[:-1], 1), np.int64), np.cumsum(found, -1)], -1)
    if not found.shape[-1]:
        raise RuntimeError(
            "Trying to create tensor with negative dimension -1: offsets have the end of the last segment"
        )
    if (np.diff(found) < 0).any():
        raise RuntimeError("Expected segment_length >= 0 to be true, but got false: offsets do not decrease")
    if (found < 0).any() or (found > size).any():
        raise RuntimeError(f"segment_reduce(): offsets lie outside of axis {place}, which has length {size}")
    return place, found


def _gathered(data: Tensor, reduction: tuple[str, float], axis: int, bounds: Array) -> Tensor:
    """The reduction of each segment; elements in no segment go to an extra position, which is dropped."""
    count, size = bounds.shape[-1] - 1, data.shape[axis]
    rows = [np.searchsorted(row, np.arange(size), "right") - 1 for row in bounds.reshape(-1, count + 1)]
    places = np.asarray(rows, np.int64).reshape(*data.shape[: axis + 1], *[1] * (data.ndim - axis - 1))
    places = np.broadcast_to(np.where(places < 0, count, places), tuple(data.shape))
    how, neutral = reduction
    empty = data.new_full((*data.shape[:axis], count + 1, *data.shape[axis + 1 :]), neutral)
    shared = {} if how == "sum" else {"nans": True}
    found = scatter.REDUCTIONS[how](empty, data, places, axis=axis, label="SegmentReduceBackward0", **shared)
    return narrow(found, axis, 0, count)


def _begun(found: Tensor, reduce: str, lengths: Array, start: Any) -> Tensor:
    """The reductions combined with an initial value; means of them."""
    if start is not None:
        if reduce == "prod":
            found = arithmetic.mul(found, start)
        elif reduce in ("sum", "mean"):
            found = arithmetic.add(found, start)
        else:
            beyond = found < start if reduce in ("max", "amax") else found > start
            found = arithmetic.where(bits.logical_or(beyond, np.isnan(start)), start, found)
    if reduce != "mean":
        return found
    count = lengths.reshape(*lengths.shape, *[1] * (found.ndim - lengths.ndim)).astype(found._dtype)
    return arithmetic.div(found, count if start is None else np.maximum(count, 1))
