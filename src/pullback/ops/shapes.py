"""Shapes, indices, joins and casts: linear maps that move elements without changing them."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._core import machine, xp as _xp
from .._core.primitives import elementwise, general, jointly_linear, linear
from .._core.shapes import sum_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, Entry, Operations, Path, Tensor


def _concat(xp: Operations, g: Tensor, *, axis: int, sizes: tuple[int, ...]) -> tuple[Tensor, ...]:
    return xp.split(g, sizes=sizes, axis=axis)


def _stack(xp: Operations, g: Tensor, *, axis: int) -> tuple[Tensor, ...]:
    return xp.unbind(g, axis=axis)


def _index(
    xp: Operations, g: Tensor, x_shape: tuple[int, ...], arrays: Sequence[Tensor], *, spec: tuple[Entry, ...]
) -> tuple[Tensor | None, ...]:
    return (xp.index_add(g, *arrays, spec=spec, shape=x_shape), *[None] * len(arrays))


def _index_add(
    xp: Operations, g: Tensor, arrays: Sequence[Tensor], *, spec: tuple[Entry, ...], shape: tuple[int, ...]
) -> tuple[Tensor | None, ...]:
    return (xp.index(g, *arrays, spec=spec), *[None] * len(arrays))


def _index_title(**params: Any) -> str:
    """The node name of an index: torch applies one view per entry, and shows the last."""
    index = params["index"]
    for entry in reversed(index):
        if type(entry) is int:
            return "SelectBackward0"
        if entry is None:
            return "UnsqueezeBackward0"
        if type(entry) is slice and entry != _xp.WHOLE:
            return "SliceBackward0"
    return "AliasBackward0"


@functools.lru_cache(maxsize=1024)
def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def _index_put_pullback(
    xp: Operations, g: Tensor, arrays: Sequence[Tensor], *, spec: tuple[Entry, ...], needs: Sequence[bool]
) -> tuple[Tensor | None, ...]:
    kept = xp.index_put(g, 0, *arrays, spec=spec) if needs[0] else None
    taken = remaining(xp, g, xp.index(g, *arrays, spec=spec), arrays, spec) if needs[1] else None
    return (kept, taken, *[None] * len(arrays))


def remaining(
    xp: Operations, g: Tensor, taken: Tensor, arrays: Sequence[Tensor | Array], spec: tuple[Entry, ...]
) -> Tensor:
    """The cotangent of values written at an index, from what was taken there of g: 0 where a later value replaced one.

    Which value remains of those that were written to one place is read off a write of numbers; NumPy keeps the last.
    """
    if not xp.repeats(g.shape, arrays, spec, taken.shape):
        return taken
    numbers = _numbers(taken.shape)
    nothing: Any = np.broadcast_to(numbers.dtype.type(0), tuple(g.shape))
    places = xp.index_put(nothing, numbers, *arrays, spec=spec)
    return xp.select(xp.equal(xp.index(places, *arrays, spec=spec), xp.asarray(numbers)), taken)


def remaining_along(xp: Operations, g: Tensor, taken: Tensor, indices: Tensor, axis: int) -> Tensor:
    """As `remaining`, of values written to one place along an axis for each place along the others."""
    arrays = cast("tuple[Array, ...]", _xp.along(cast("Array", indices), axis))
    return remaining(xp, g, taken, arrays, (_xp.array,) * len(arrays))


def _numbers(shape: tuple[int, ...]) -> Array:
    return np.arange(math.prod(shape)).reshape(shape)


OVERLAPPING = {"as_strided", "windows"}
"""The views in which an element of memory may occur several times, and which can be written all the same."""


def written_last(xp: Operations, g: Tensor, taken: Tensor, path: Path) -> Tensor:
    """The cotangent of a value written to a view: 0 for elements whose memory a later one of them took."""
    if OVERLAPPING.isdisjoint([primitive.name for primitive, _ in path]):
        return taken
    numbers = _numbers(taken.shape)
    places = _xp.replay(_xp.overwrite(np.zeros(g.shape, numbers.dtype), numbers, path=path), path=path)
    return taken if (places == numbers).all() else xp.select(xp.asarray(places == numbers), taken)


def _filled(x: Array, value: Array) -> Array:
    out = np.empty_like(x)
    out[...] = value
    return out


def _filled_with(xp: Operations, x: Tensor, value: Tensor) -> Tensor:
    return xp.broadcast_to(xp.astype(value, dtype=x.dtype, source=value.dtype), shape=x.shape)


def _single(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """A shape with an axis of length 1."""
    return (*shape[:axis], 1, *shape[axis + 1 :])


def _select_along(x: Array, indices: Array, *, axis: int, keepdims: bool, label: str) -> Array:
    """One element along an axis, from `indices` with an axis of length 1 there or without it."""
    if axis == x.ndim - 1 and x.size and x.flags.c_contiguous:
        places = _xp.in_rows(x, indices.reshape(-1))
        return x.take(places.reshape((*x.shape[:-1], 1) if keepdims else x.shape[:-1]))
    taken = _xp.take_along_axis(x, indices.reshape(_single(x.shape, axis)), axis=axis)
    return taken if keepdims else taken.squeeze(axis)


def _put_along(xp: Operations, g: Tensor, x_shape: tuple[int, ...], indices: Tensor, *, axis: int) -> Tensor:
    shape = _single(x_shape, axis)
    return xp.put_along_axis(xp.reshape(g, shape=shape), xp.reshape(indices, shape=shape), axis=axis, shape=x_shape)


class _Edge:
    """The only attribute of an edge that the rules of views use: its shape."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


def _replay(xp: Operations, g: Tensor, x_shape: tuple[int, ...], *, path: Path) -> Tensor:
    """The transposes of a chain of views, in reverse."""
    source = next((params["source"] for _, params in path if "source" in params), None)
    probe = np.empty((1,) * len(x_shape), source)
    probe = np.broadcast_to(probe, x_shape)
    shapes = []
    for primitive, params in path:
        shapes.append(probe.shape)
        probe = primitive.forward(probe, **params)
    for (primitive, params), shape in zip(reversed(path), reversed(shapes), strict=True):
        (g,) = primitive.pull(xp, g, (_Edge(shape),), (), params)
        g = sum_to(xp, g, shape)
    return g


def _flip(x: Array, *, axis: tuple[int, ...]) -> Array:
    view = _xp.flip(x, axis=axis)
    made = machine.copied(view)
    return view.copy() if made is None else made


def _rolled(xp: Operations, x: Tensor, *, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Tensor:
    for shift, axis in zip(shifts, axes, strict=True):
        moved = shift % max(x.shape[axis], 1)
        cut, before = x.shape[axis] - moved, (slice(None),) * axis
        ends = [xp.getitem(x, index=(*before, part, ...)) for part in (slice(cut, None), slice(None, cut))]
        x = xp.concat(*ends, axis=axis, sizes=(moved, cut)) if moved else x
    return x


def _tiled(xp: Operations, x: Tensor, *, repeats: tuple[int, ...]) -> Tensor:
    full = (1,) * (len(repeats) - x.ndim) + tuple(x.shape)
    apart = xp.reshape(x, shape=tuple([length for size in full for length in (1, size)]))
    wide = xp.broadcast_to(apart, shape=_interleaved(repeats, x.shape))
    return xp.reshape(wide, shape=tuple([count * size for count, size in zip(repeats, full, strict=True)]))


def _roll(x: Array, *, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    """Elements rolled along axes; along a single axis by concatenation, in a third of the time of np.roll."""
    if len(axes) > 1 or not x.size:
        return _xp.in_order(np.roll(x, shifts, axes))
    start = -shifts[0] % x.shape[axes[0]]
    before: tuple[slice, ...] = (slice(None),) * axes[0]
    return _xp.joined((x[(*before, slice(start, None))], x[(*before, slice(0, start))]), axes[0])


def _tile(x: Array, *, repeats: tuple[int, ...]) -> Array:
    """Copies of x side by side; `repeats` has an entry for each axis of the result."""
    parts = _interleaved(repeats, x.shape)
    out = np.empty(parts, x.dtype)
    out[...] = x.reshape([1 if place % 2 == 0 else size for place, size in enumerate(parts)])
    return out.reshape([copies * size for copies, size in zip(parts[::2], parts[1::2], strict=True)])


def _interleaved(repeats: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """For each axis the number of copies and its length, alternating."""
    full = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    return tuple([number for pair in zip(repeats, full, strict=True) for number in pair])


def _tile_pullback(xp: Operations, g: Tensor, x_shape: tuple[int, ...], *, repeats: tuple[int, ...]) -> Tensor:
    parts = xp.reshape(g, shape=_interleaved(repeats, x_shape))
    total = xp.sum(parts, axis=tuple(range(0, parts.ndim, 2)), keepdims=False)
    return xp.reshape(total, shape=x_shape)


def _windows(x: Array, *, axis: int, size: int, step: int) -> Array:
    """Windows along an axis, one every `step` elements, as a view with the window elements along a new last axis."""
    shape, strides = list(x.shape), list(x.strides)
    strides.append(strides[axis])
    shape[axis] = (shape[axis] - size) // step + 1
    strides[axis] *= step
    return np.lib.stride_tricks.as_strided(x, (*shape, size), strides, writeable=x.flags.writeable)


def _fold_windows(g: Array, *, axis: int, size: int, step: int, shape: tuple[int, ...]) -> Array:
    """The transpose of `windows`: one addition for each offset within a window."""
    out = np.zeros(shape, g.dtype)
    along = out.swapaxes(axis, 0)
    pieces = g.swapaxes(axis, 0)
    for place in range(size):
        along[place : place + step * len(pieces) : step] += pieces[..., place]
    return out


def _as_strided(x: Array, *, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Array:
    """The elements of x, in row-major order, read with other strides."""
    flat = np.ascontiguousarray(x).reshape(-1)
    if 0 in size:
        return flat[:0].reshape(size)
    return np.ndarray(size, x.dtype, flat, offset * x.itemsize, [step * x.itemsize for step in stride])


def _add_strided(
    g: Array, *, size: tuple[int, ...], stride: tuple[int, ...], offset: int, shape: tuple[int, ...]
) -> Array:
    """The transpose of `as_strided`: elements that are read several times get the sum."""
    out = np.zeros(math.prod(shape), g.dtype)
    places = np.asarray(offset)
    for length, step in zip(size, stride, strict=True):
        places = places[..., None] + np.arange(length) * step
    np.add.at(out, places, g)
    return out.reshape(shape)


# fmt: off
#                            name             pullback
reshape          = linear("reshape",          lambda xp, g, x_shape: xp.reshape(g, shape=x_shape),    title="ViewBackward0", view=True)
broadcast_to     = linear("broadcast_to",     lambda xp, g: g,                                        title="ExpandBackward0", view=True)
permute_dims     = linear("permute_dims",     lambda xp, g, *, axes: xp.permute_dims(g, axes=_inverse(axes)),
                          title=lambda axes, label="PermuteBackward0": label,
                          forward=lambda x, *, axes, label="": x.transpose(axes), view=True)
matrix_transpose = linear("matrix_transpose", lambda xp, g: xp.matrix_transpose(g),                   title="TransposeBackward0", view=True)
expand_dims      = linear("expand_dims",      lambda xp, g, x_shape: xp.reshape(g, shape=x_shape),    title="UnsqueezeBackward0",
                          forward=lambda x, *, axis: x.reshape((*x.shape[:axis], 1, *x.shape[axis:])), view=True)
squeeze          = linear("squeeze",          lambda xp, g, x_shape: xp.reshape(g, shape=x_shape),
                          title=lambda axis, given: f"SqueezeBackward{int(given)}",
                          forward=lambda x, *, axis, given: x.squeeze(axis), view=True)
flip             = linear("flip",             lambda xp, g, *, axis: xp.flip(g, axis=axis),
                          forward=_flip)
roll             = linear("roll",             lambda xp, g, *, shifts, axes:
                              xp.roll(g, shifts=tuple([-shift for shift in shifts]), axes=axes),
                          forward=_roll, definition=_rolled)
tile             = linear("tile",             _tile_pullback, forward=_tile, definition=_tiled,       title="RepeatBackward0")
windows          = linear("windows",          lambda xp, g, x_shape, *, axis, size, step:
                              xp.fold_windows(g, axis=axis, size=size, step=step, shape=x_shape),
                          forward=_windows,                   title="UnfoldBackward0", view=True)
fold_windows     = linear("fold_windows",     lambda xp, g, *, axis, size, step:
                              xp.windows(g, axis=axis, size=size, step=step),
                          forward=_fold_windows,              title="UnfoldBackwardBackward0", cost=1)
as_strided       = linear("as_strided",       lambda xp, g, x_shape, *, size, stride, offset:
                              xp.add_strided(g, size=size, stride=stride, offset=offset, shape=x_shape),
                          forward=_as_strided, view=True)
add_strided      = linear("add_strided",      lambda xp, g, *, size, stride, offset:
                              xp.as_strided(g, size=size, stride=stride, offset=offset),
                          forward=_add_strided, cost=1)
getitem          = linear("getitem",          lambda xp, g, x_shape, *, index: xp.scatter_slice(g, shape=x_shape, index=index),
                          title=_index_title, view=True)
scatter_slice    = linear("scatter_slice",    lambda xp, g, *, index: xp.getitem(g, index=index))
index            = linear("index",            _index,         inputs=("x", "*arrays"),
                          title=lambda spec, label="IndexBackward0": label,
                          forward=lambda x, *arrays, spec, label="": _xp.index_in_order(x, *arrays, spec=spec))
index_add        = linear("index_add",        _index_add,     inputs=("x", "*arrays"), cost=1)
take_along_axis  = linear("take_along_axis",  lambda xp, g, x_shape, indices, *, axis:
                              xp.put_along_axis(g, indices, axis=axis, shape=x_shape),
                          inputs=("x", "indices"),            title=lambda axis, label="GatherBackward0": label,
                          forward=lambda x, indices, *, axis, label="": _xp.take_along_axis(x, indices, axis=axis))
select_along     = linear("select_along",     _put_along,
                          inputs=("x", "indices"),            title=lambda label, **_: label, forward=_select_along)
take_rows        = linear("take_rows",        lambda xp, g, x_shape, indices: xp.put_rows(g, indices, shape=x_shape),
                          inputs=("x", "indices"))
put_rows         = linear("put_rows",         lambda xp, g, indices, *, shape: xp.take_rows(g, indices),
                          inputs=("x", "indices"))
put_along_axis   = linear("put_along_axis",   lambda xp, g, indices, *, axis: xp.take_along_axis(g, indices, axis=axis),
                          inputs=("x", "indices"), cost=1)
diagonal         = linear("diagonal",         lambda xp, g, x_shape, *, axes: xp.scatter_diagonal(g, axes=axes, shape=x_shape),
                          view=True)
scatter_diagonal = linear("scatter_diagonal", lambda xp, g, *, axes: xp.diagonal(g, axes=axes), title="DiagEmbedBackward0")
concat           = jointly_linear("concat", joint=_concat,                   title="CatBackward0",
                               forward=lambda *arrays, axis, sizes: _xp.joined(arrays, axis))
stack            = jointly_linear("stack",  joint=_stack,
                               forward=lambda *arrays, axis: _xp.stack(*arrays, axis=axis))
unbind           = linear("unbind",           lambda xp, g, *, axis: xp.stack(*g, axis=axis), view=True)
split            = linear("split",            lambda xp, g, *, axis, sizes: xp.concat(*g, axis=axis, sizes=sizes),
                          title=lambda axis, sizes, label="SplitBackward0": label,
                          forward=lambda x, *, axis, sizes, label="": _xp.split(x, sizes=sizes, axis=axis), view=True)
astype           = linear("astype",           lambda xp, g, *, dtype, source: xp.astype(g, dtype=source, source=dtype),
                          title="ToCopyBackward0", complex="as written", halves="as written")
clone            = linear("clone",            lambda xp, g: g,                   forward=_xp.clone)
copy             = elementwise("copy",        lambda xp, g: xp.zeros_like(g),
                                              lambda xp, g: g,  forward=_filled, definition=_filled_with, title="CopyBackwards")
fill             = elementwise("fill",        lambda xp, g: xp.zeros_like(g),
                                              lambda xp, g: g,  forward=_filled, definition=_filled_with)
drawn            = general("drawn",           joint=lambda xp, g, *, needs: (g, *[xp.zeros_like(g)] * (len(needs) - 1)),
                           inputs=("values", "*parameters"),  title=lambda label: label,  complex="as written",
                           forward=lambda values, *parameters, label: np.array(values))
overwrite        = jointly_linear("overwrite",   lambda xp, g, *, path: xp.overwrite(g, 0, path=path),
                                              lambda xp, g, *, path: written_last(xp, g, xp.replay(g, path=path), path),
                               inputs=("x", "value"),           title=lambda path, label="CopySlices": label,
                               forward=lambda x, value, *, path, label="": _xp.overwrite(x, value, path=path),
                               complex="as written")
index_put        = jointly_linear("index_put",   joint=_index_put_pullback, inputs=("x", "value", "*arrays"),
                               title=lambda spec, label="IndexPutBackward0": label,
                               forward=lambda x, value, *arrays, spec, label="": _xp.index_put(x, value, *arrays, spec=spec))
replay           = linear("replay",           _replay,
                          title="AsStridedBackward0", complex="as written", view=True)
# fmt: on
