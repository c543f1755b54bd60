"""Fills of tensors whose elements share memory, such as expanded tensors.

A fill writes one value, so it does not matter through which of several elements a memory location is written. It is
computed as a fill of one element for each location that contains an element to be filled; this is an ordinary write,
with a history.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ops
from .._core import errors
from .._core.modes import mode
from .._core.primitives import Carrier
from .._core.sites import warn
from .._tape.views import overlaps, write
from . import arithmetic, indexing
from .promotion import category
from .slicing import masked_fill

Fill = tuple[Any, Any]
"""A mask of the filled elements, and the value."""


def _by_index(probe: Any, index: Any, values: Any, accumulate: bool = False) -> Fill | None:
    category(values)  # refuses what is not a number
    shape = np.shape(values)
    if accumulate or math.prod(shape) != 1:
        return None
    probe[index] = False
    return ~probe, values.reshape(()) if shape else values


# From a tensor of True with the shape of the target, and the arguments: what is filled, or None for a write that torch
# refuses too, or in which the order of several values would count.
FILLS: dict[str, Callable[..., Fill | None]] = {
    "zero_": lambda probe: (probe, 0),
    "fill_": lambda probe, value: None if isinstance(value, Carrier) else (probe, value),
    "tril_": lambda probe, diagonal=0: (~probe.tril(diagonal), 0),
    "triu_": lambda probe, diagonal=0: (~probe.triu(diagonal), 0),
    "fill_diagonal_": lambda probe, fill_value, wrap=False: (~probe.fill_diagonal_(False, wrap), fill_value),
    "masked_fill_": lambda probe, mask, value: (~probe.masked_fill(mask, False), value),
    "index_fill_": lambda probe, dim, index, value: (~probe.index_fill(dim, index, False), value),
    "index_put_": lambda probe, indices, values, accumulate=False: _by_index(probe, tuple(indices), values, accumulate),
    "x[...] = value": _by_index,
}
WARNS = {
    "masked_fill_": "masked_fill_",
    "index_fill_": "index_fill_",
    "index_put_": "index_put_",
    "x[...] = value": "index_put_",
}
"""The fills that torch announces to forbid, and its names for them."""


def is_filled(name: str, target: Any, args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Fill a tensor whose elements share memory; False if the write is not a fill."""
    probe = arithmetic.eq(ops.zeros_like(target), 0)  # at the transform level of the target
    fill = FILLS[name](probe, *args, **options)
    if fill is None:
        return False
    base = target if target._base is None else target._base
    mask, value = fill
    tracked = base._node is not None or getattr(value, "_node", None) is not None
    if tuple(mask.shape) != tuple(target.shape):
        return False
    if tracked and mode.get().grad and overlaps(base):
        return False  # a base's history has one entry for each element, but these elements share memory
    if name in WARNS:
        warn(
            f"Use of {WARNS[name]} on expanded tensors is deprecated. Please clone() the tensor before performing this "
            "operation. This also applies to advanced indexing e.g. tensor[mask] = scalar. All elements that share a "
            f"place in memory are written where one of them is: {errors.kind(target)}"
        )
    axes = tuple(i for i, step in enumerate(target.stride()) if not step and target.shape[i] > 1)
    first = indexing.getitem(target, tuple(slice(0, 1) if i in axes else slice(None) for i in range(target.ndim)))
    reached = mask.any(axes, keepdim=True)
    write(first, masked_fill(first, reached, value), name)
    return True
