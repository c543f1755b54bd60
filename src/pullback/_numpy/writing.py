"""NumPy's functions that write to their first argument, a tensor, which gets the history of the written values.

The first argument may also be an array if nothing is tracked. `names` registers these functions.
"""

from __future__ import annotations

# ruff: noqa: PLW0108  # the signatures of the lambdas have NumPy's parameter names
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._core import xp as _xp
from .._core.primitives import Carrier, Function
from .._core.shapes import normalize_axis
from ..vocabulary import indexing, shapes
from ..vocabulary.promotion import cast, category
from .operands import concrete, constants, operand

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, ArrayLike, Tensor

Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
INTO_ARRAY = "it would write to a NumPy array, which cannot hold a history: write to a tensor instead"


def _to_tensors(name: str) -> Callable[[Function], Function]:
    """A function that writes to tensors; writes to arrays are left to NumPy."""

    def decorate(function: Function) -> Function:
        def written(target: Tensor | Array, *args: Any, **options: Any) -> None:
            if isinstance(target, Carrier):
                function(target, *args, **options)
            else:
                given = constants(f"numpy.{name}", (args, options), why=INTO_ARRAY)
                getattr(np, name)(target, *given[0], **given[1])

        return written

    return decorate


def _value(values: ArrayLike) -> Any:
    return values if isinstance(values, Carrier) else np.asarray(values)


def _places(target: Tensor, places: Array) -> tuple[Array, ...]:
    """An index into the tensor, from indices into the flattened tensor."""
    return np.unravel_index(places, tuple(target.shape))


@_to_tensors("put")
def _put(target: Tensor, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None:
    places, values, count = concrete(ind).reshape(-1), _value(v), target.numel()
    if mode == "raise":
        if places.size and not -count <= places.min() <= places.max() < count:
            raise IndexError(f"numpy.put: index out of bounds for a tensor of {count} elements: {places.tolist()}")
        places = places % count if count else places
    else:
        places = np.clip(places, 0, count - 1) if mode == "clip" else places % count
    if values.ndim:  # if there are too few values, they are repeated
        values = values.reshape(-1)[np.arange(places.size) % values.size]
    if not target.ndim:
        target = shapes.reshape(target, 1)
    indexing.setitem(target, _places(target, places), values)


@_to_tensors("put_along_axis")
def _put_along_axis(target: Tensor, indices: ArrayLike, values: ArrayLike, axis: int | None = -1) -> None:
    if axis is None:
        _put(target, indices, values)
    else:
        indexing.setitem(target, _xp.along(concrete(indices), normalize_axis(axis, target.ndim)), _value(values))


@_to_tensors("place")
def _place(target: Tensor, mask: ArrayLike, vals: ArrayLike) -> None:
    places, values = np.flatnonzero(concrete(mask)), np.ravel(operand(vals))
    if places.size and not values.shape[0]:
        raise ValueError("Cannot insert from an empty array!")
    _put(target, places, values)


@_to_tensors("putmask")
def _putmask(target: Tensor, mask: ArrayLike, values: ArrayLike) -> None:
    chosen, values = concrete(mask), np.ravel(operand(values))
    if chosen.shape != tuple(target.shape):
        raise ValueError(f"putmask: mask and data must be the same size, not {chosen.shape} and {tuple(target.shape)}")
    places = np.flatnonzero(chosen)
    if places.size and values.shape[0]:
        _put(target, places, values[places % values.shape[0]])


@_to_tensors("copyto")
def _copyto(target: Tensor, src: ArrayLike, casting: Casting = "same_kind", where: Any = True) -> None:
    source, values = category(operand(src))[0], operand(src)
    if not np.can_cast(source, target._dtype, casting):
        raise TypeError(f"numpy.copyto cannot cast from {source} to {target._dtype} by the rule {casting!r}")
    if where is True:
        indexing.setitem(target, ..., _value(values))
        return
    mask = np.broadcast_to(concrete(where), tuple(target.shape))
    indexing.setitem(target, mask, np.broadcast_to(_value(values), tuple(target.shape))[mask])


@_to_tensors("fill_diagonal")
def _fill_diagonal(target: Tensor, val: ArrayLike, wrap: bool = False) -> None:
    if target.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if target.ndim > 2 and len(set(target.shape)) > 1:
        raise ValueError(f"All dimensions of input must be of equal length, and they are {tuple(target.shape)}")
    size = target.shape[1]
    step = size + 1 if target.ndim == 2 else sum(size**axis for axis in range(target.ndim))
    end = target.numel() if wrap or target.ndim > 2 else min(size * size, target.numel())
    _put(target, np.arange(0, end, step), val)


# ufunc.at


def _add_at(target: Tensor, indices: Sequence[ArrayLike], values: ArrayLike) -> None:
    """target[indices] += values, where repeated indices accumulate."""
    index: Any = tuple(concrete(entry) if isinstance(entry, Carrier) else entry for entry in indices)
    places = np.arange(target.numel()).reshape(target.shape)[index]
    added = np.broadcast_to(cast(_value(values), target._dtype), places.shape)
    total = indexing.index_put(shapes.ravel(target), (places.reshape(-1),), np.ravel(added), accumulate=True)
    indexing.setitem(target, ..., shapes.reshape(total, target.shape))


def at(name: str, ufunc: np.ufunc, target: Tensor | Array, indices: ArrayLike, *values: ArrayLike) -> None:
    """ufunc.at for a tensor; only for sums and differences."""
    if not isinstance(target, Carrier):
        ufunc.at(target, *constants(name, (indices, *values), why=INTO_ARRAY))
    elif ufunc is np.add or ufunc is np.subtract:
        index = indices if isinstance(indices, tuple) else (indices,)
        _add_at(target, index, values[0] if ufunc is np.add else np.negative(values[0]))
    else:
        raise TypeError(
            f"{name} has no derivative here, that of numpy.add and numpy.subtract has: assign to x[index] instead, as in "
            "x[index] = x[index] * values, if no index occurs twice"
        )


# fmt: off
WRITING: dict[str, Function] = {
    "put": lambda a, ind, v, mode="raise": _put(a, ind, v, mode),
    "put_along_axis": lambda arr, indices, values, axis: _put_along_axis(arr, indices, values, axis),
    "place": lambda arr, mask, vals: _place(arr, mask, vals),
    "putmask": lambda a, mask, values: _putmask(a, mask, values),
    "copyto": lambda dst, src, casting="same_kind", where=True: _copyto(dst, src, casting, where),
    "fill_diagonal": lambda a, val, wrap=False: _fill_diagonal(a, val, wrap),
}
# fmt: on
