"""NumPy's functions that assemble tensors: ranges, blocks, choices, insertions, and functions applied along axes.

They are written with NumPy's own functions, which accept tensors like arrays. `names` registers them.
"""

from __future__ import annotations

# the signatures of the lambdas have NumPy's parameter names
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import dtypes
from .._core.primitives import Carrier, Function
from .._core.shapes import normalize_axis
from ..vocabulary import shapes
from ..vocabulary.promotion import cast, common, fractional, together
from .operands import concrete, on_tensors, operand, tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, ArrayLike, Dim, DType, Sizes, Tensor


def _in(dtype: DType | None, value: Tensor) -> Tensor:
    """A value converted to a dtype, unless that is None; conversion to integers rounds down, as in NumPy's ranges."""
    if dtype is None:
        return value
    kind = dtypes.as_dtype(dtype).numpy
    return cast(np.floor(value) if kind.kind in "iu" else value, kind)


def _of_floats(*values: ArrayLike) -> list[Tensor]:
    return tensors(*fractional(*map(operand, values)))


def _fractions(first: Tensor, num: int, endpoint: bool) -> Array:
    """num numbers from 0 up to 1, which is included if `endpoint` is set, along a new first axis."""
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    gaps = num - 1 if endpoint else num
    places = np.arange(num, dtype=first._dtype) / max(gaps, 1)
    return places.reshape(-1, *[1] * first.ndim)


def _linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DType | None = None,
    axis: int = 0,
) -> Tensor | tuple[Tensor, Tensor]:
    start, stop = on_tensors.broadcast_arrays(*_of_floats(start, stop))
    span = stop - start
    values = start + _fractions(start, num, endpoint) * span
    if endpoint and num > 1:
        values = on_tensors.concatenate([values[:-1], stop[None]])
    values = _in(dtype, on_tensors.moveaxis(values, 0, axis))
    gaps = num - endpoint
    return (values, span / gaps if gaps > 0 else span * np.nan) if retstep else values


def _logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DType | None = None,
    axis: int = 0,
) -> Tensor:
    start, stop, base = on_tensors.broadcast_arrays(*_of_floats(start, stop, base))
    return _in(dtype, on_tensors.moveaxis(np.power(base, _linspace(start, stop, num, endpoint)), 0, axis))


def _geomspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, dtype: DType | None = None, axis: int = 0
) -> Tensor:
    start, stop = on_tensors.broadcast_arrays(*_of_floats(start, stop))
    if (concrete(start) == 0).any() or (concrete(stop) == 0).any():
        raise ValueError("Geometric sequence cannot include zero")
    values = start * (stop / start) ** _fractions(start, num, endpoint)
    if endpoint and num > 1:
        values = on_tensors.concatenate([values[:-1], stop[None]])
    return _in(dtype, on_tensors.moveaxis(values, 0, axis))


def _full_like(
    a: ArrayLike, fill_value: ArrayLike, dtype: DType | None = None, *, shape: Sizes | None = None
) -> Tensor:
    a, fill = tensors(a, fill_value)
    kind = a._dtype if dtype is None else dtypes.as_dtype(dtype).numpy
    whole = tuple(a.shape) if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    return ops.clone(shapes.expand(cast(fill, kind), *whole))


def _astype(x: Tensor, dtype: DType, /, *, copy: bool = True) -> Tensor:
    result = cast(x, dtypes.as_dtype(dtype).numpy)
    return ops.clone(x) if copy and result is x else result


# Choices between values


def _select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0) -> Tensor:
    conditions, choices = list(condlist), list(choicelist)
    if len(conditions) != len(choices):
        raise ValueError(
            f"list of cases must be same length as list of conditions: {len(choices)} cases, {len(conditions)} conditions"
        )
    if not conditions:
        raise ValueError("select with an empty condition list is not possible")
    for place, condition in enumerate(conditions):
        if common(operand(condition)).kind != "b":
            raise TypeError(f"invalid entry {place} in condlist: should be boolean ndarray")
    result = operand(default)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = np.where(condition, choice, result)
    return result


def _choose(a: ArrayLike, choices: Sequence[ArrayLike], out: object = None, mode: str = "raise") -> Tensor:
    places = concrete(a)
    count = len(choices)
    if mode == "raise" and ((places < 0) | (places >= count)).any():
        raise ValueError(f"invalid entry in choice array: there are {count} choices")
    places = np.clip(places, 0, count - 1) if mode == "clip" else places % count
    places, *rows = np.broadcast_arrays(places, *together(*map(operand, choices)))
    return np.take_along_axis(np.stack(tensors(*_with_tensor(rows, a))[: len(rows)]), concrete(places)[None], 0)[0]


def _with_tensor(values: Sequence[ArrayLike], tensor: ArrayLike) -> list[ArrayLike]:
    """A list of values, with `tensor` appended if it is a tensor."""
    return [*values, tensor] if isinstance(tensor, Carrier) else list(values)


def _piecewise(x: ArrayLike, condlist: Any, funclist: Sequence[Function | ArrayLike], *args: Any, **kw: Any) -> Tensor:
    (x,) = tensors(x)
    several = isinstance(condlist, (list, tuple)) or np.ndim(condlist) > 0
    single = not several or (np.ndim(condlist[0]) == 0 and x.ndim != 0)
    masks = [concrete(condition).astype(bool) for condition in ([condlist] if single else condlist)]
    if len(funclist) == len(masks) + 1:
        masks.append(~np.logical_or.reduce(masks))
    if len(funclist) != len(masks):
        raise ValueError(
            f"with {len(masks)} condition(s), either {len(masks)} or {len(masks) + 1} functions are expected, not "
            f"{len(funclist)}"
        )
    result = ops.zeros_like(x)
    for mask, function in zip(masks, funclist, strict=True):
        place = np.broadcast_to(mask, tuple(x.shape))
        if not callable(function):
            result[place] = function
        elif place.any():
            result[place] = function(x[place], *args, **kw)
    return result


# Blocks and insertions


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(entry) for entry in arrays}
    if len(depths) != 1:
        raise ValueError(
            f"List depths are mismatched, or a list is empty: the depths below one list are {sorted(depths)}"
        )
    return depths.pop() + 1


def _leaves(arrays: Any) -> list[Tensor]:
    return [leaf for entry in arrays for leaf in _leaves(entry)] if isinstance(arrays, list) else [arrays]


def _block(arrays: Any) -> Tensor:
    depth = _depth(arrays)
    ndim = max(depth, *(np.ndim(leaf) for leaf in _leaves(arrays)))

    def joined(value: ArrayLike, axis: int) -> Tensor:
        if isinstance(value, list):
            return on_tensors.concatenate([joined(entry, axis + 1) for entry in value], axis)
        return on_tensors.expand_dims(operand(value), tuple(range(ndim - np.ndim(value))))

    return joined(arrays, -depth)


def _insert(arr: ArrayLike, obj: ArrayLike | slice, values: ArrayLike, axis: int | None = None) -> Tensor:
    """An insertion at the positions that NumPy determines, by inserting into the indices of the slices."""
    arr, values = tensors(arr, values)
    arr, place = (shapes.ravel(arr), 0) if axis is None else (arr, normalize_axis(axis, arr.ndim, "insert"))
    length, where = arr.shape[place], obj if isinstance(obj, slice) else concrete(obj)
    values = shapes.reshape(cast(values, arr._dtype), (1,) * (arr.ndim - values.ndim) + tuple(values.shape))
    if isinstance(where, slice):
        where = np.arange(length)[where]
    elif where.dtype.kind == "b":
        where = np.flatnonzero(where)
    if where.ndim == 0:
        values = shapes.movedim(values, 0, place)
    count = values.shape[place] if where.size == 1 else where.size
    values = shapes.expand(values, *arr.shape[:place], count, *arr.shape[place + 1 :])
    order = np.insert(np.arange(length), where, np.arange(length, length + count))
    return on_tensors.take(shapes.cat([arr, values], place), order, place)


def _delete(arr: Tensor, obj: ArrayLike | slice, axis: int | None = None) -> Tensor:
    arr, place = (shapes.ravel(arr), 0) if axis is None else (arr, normalize_axis(axis, arr.ndim, "delete"))
    where = obj if isinstance(obj, slice) else concrete(obj)
    return on_tensors.take(arr, np.delete(np.arange(arr.shape[place]), where), place)


def _trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Dim = None) -> Tensor:
    (filt,) = tensors(filt)
    found = np.argwhere(concrete(filt))
    axes = range(filt.ndim) if axis is None else [normalize_axis(each, filt.ndim) for each in np.atleast_1d(axis)]
    bounds = [slice(None)] * filt.ndim
    for place in axes:
        low, high = (found[:, place].min(), found[:, place].max() + 1) if len(found) else (filt.shape[place],) * 2
        bounds[place] = slice(int(low) if "f" in trim.lower() else 0, int(high) if "b" in trim.lower() else None)
    if not len(found):
        bounds = [slice(0, 0) if place in axes else bound for place, bound in enumerate(bounds)]
    return filt[tuple(bounds)]


# Functions passed by the caller


def _apply_along_axis(func1d: Function, axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Tensor:
    (arr,) = tensors(arr)
    place = normalize_axis(axis, arr.ndim, "apply_along_axis")
    rows = on_tensors.moveaxis(arr, place, -1)
    outer = tuple(rows.shape[:-1])
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = tensors(*(func1d(rows[index], *args, **kwargs) for index in np.ndindex(outer)), arr)[:-1]
    result = shapes.reshape(shapes.stack(found), *outer, *found[0].shape)
    inner = range(len(outer), result.ndim)
    return shapes.movedim(result, tuple(inner), tuple(range(place, place + len(inner))))


def _apply_over_axes(func: Function, a: Tensor, axes: Any) -> Tensor:
    for axis in axes if np.ndim(axes) else [axes]:
        place = normalize_axis(int(axis), a.ndim, "apply_over_axes")
        result = func(a, place)
        if result.ndim == a.ndim - 1:
            result = np.expand_dims(result, place)
        if result.ndim != a.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        a = result
    return a


CONSTRUCTION: dict[str, Function] = {  # by name, since not all versions of NumPy have all of them
    "linspace": _linspace,
    "logspace": _logspace,
    "geomspace": _geomspace,
    "full_like": _full_like,
    "astype": _astype,
    "select": _select,
    "choose": _choose,
    "piecewise": _piecewise,
    "block": _block,
    "insert": _insert,
    "delete": _delete,
    "trim_zeros": _trim_zeros,
    "apply_along_axis": _apply_along_axis,
    "apply_over_axes": _apply_over_axes,
}
