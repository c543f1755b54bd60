"""NumPy's joining, splitting and rearranging of tensors, with NumPy's parameters.

`names` registers the functions. The modules they use are imported on first call.
"""

# ruff: noqa: PLW0108  # the signatures of the lambdas have NumPy's parameter names

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.primitives import Carrier, Function
from .._core.shapes import normalize_axes, normalize_axis
from ..vocabulary import later, shapes
from ..vocabulary.promotion import cast
from .operands import concrete, constants, holds_tensor, numeric, on_tensors, tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, ArrayLike, Dim, Sizes, Tensor

_roll, _rot90, _tile, _repeat_interleave, _unfold = (
    later("vocabulary.rearranging", name) for name in ("roll", "rot90", "tile", "repeat_interleave", "unfold")
)
_dstack, _column_stack, _broadcast_tensors = (
    later("vocabulary.joining", name) for name in ("dstack", "column_stack", "broadcast_tensors")
)
_pad = later("vocabulary.padding", "numpy_pad")

several: Any = type(np.broadcast_arrays(0))  # NumPy's type for several arrays: a list before NumPy 2


def _listed(values: Tensor | Sequence[ArrayLike]) -> list[Tensor]:
    """The arguments of a join as tensors: the rows of a tensor, or the entries of a sequence."""
    return list(shapes.unbind(values)) if isinstance(values, Carrier) else tensors(*values)


def _at_least(name: str) -> Function:
    """atleast_1d and its relatives."""
    raise_one, by_numpy = later("vocabulary.joining", name), getattr(np, name)

    def raised(*arys: ArrayLike) -> Any:
        found = [raise_one(*tensors(each)) if numeric(each) else by_numpy(each) for each in arys]
        return found[0] if len(found) == 1 else several(found)

    return raised


def _broadcast(*args: ArrayLike) -> Any:
    """Each array repeated to the shape of all; those of objects and texts remain NumPy's."""
    numbers = [each for each in args if numeric(each)]
    others = [np.asarray(each) for each in args if not numeric(each)]
    shape = np.broadcast_shapes(*[np.shape(each) for each in others])
    wide = iter(_broadcast_tensors(*tensors(*numbers, np.broadcast_to(False, shape)))[:-1])
    made = [next(wide) if numeric(each) else each for each in args]
    common = next(tuple(each.shape) for each in made if isinstance(each, Carrier))
    return several([each if isinstance(each, Carrier) else np.broadcast_to(each, common) for each in made])


def _repeat(a: ArrayLike, repeats: ArrayLike, axis: int | None = None) -> Tensor:
    a, repeats = tensors(a, repeats)
    return _repeat_interleave(a, repeats, axis)


def _append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Tensor:
    pair = tensors(arr, values)
    return shapes.cat([shapes.ravel(tensor) for tensor in pair]) if axis is None else shapes.cat(pair, axis)


def _resize(a: Tensor, new_shape: Sizes) -> Tensor:
    shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    count, flat = math.prod(shape), shapes.ravel(a)
    whole = _tile(flat, -(-count // flat.numel())) if count > flat.numel() else flat
    return shapes.reshape(shapes.split(whole, [count, whole.numel() - count])[0], shape)


def _rollaxis(a: Tensor, axis: int, start: int = 0) -> Tensor:
    place = normalize_axis(axis, a.ndim, "rollaxis")
    start = start + a.ndim if start < 0 else start
    return shapes.movedim(a, place, start - (start > place))


def _mesh(*xi: ArrayLike, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> Any:
    vectors = [shapes.ravel(tensors(each)[0]) if numeric(each) else np.ravel(each) for each in xi]
    grids = _open(vectors, indexing)
    grids = grids if sparse else _broadcast(*grids)
    return several([(grid.clone() if isinstance(grid, Carrier) else grid.copy()) if copy else grid for grid in grids])


def _open(vectors: Sequence[Tensor | Array], indexing: str) -> list[Tensor]:
    """Each vector along its own axis of a grid, with length 1 along the others."""
    places = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        places[:2] = [1, 0]
    return [
        on_tensors.reshape(vector, [-1 if axis == place else 1 for axis in range(len(vectors))])
        for vector, place in zip(vectors, places, strict=True)
    ]


def _windows(x: Tensor, window_shape: Sizes, axis: Dim = None) -> Tensor:
    sizes = (window_shape,) if isinstance(window_shape, int) else tuple(window_shape)
    axes = normalize_axes(axis, x.ndim, "sliding_window_view")
    if len(axes) != len(sizes):
        raise ValueError(
            f"sliding_window_view: {len(sizes)} sizes of windows were given for the {len(axes)} axes {axes}"
        )
    for place, size in zip(axes, sizes, strict=True):
        x = _unfold(x, place, size, 1)
    return x


_STATISTICS: dict[str, Function] = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}


def _padded(
    array: ArrayLike, pad_width: Any, mode: str | Function = "constant", *, constant_values: ArrayLike = 0, end_values: ArrayLike = 0,
    stat_length: ArrayLike | None = None,
) -> Tensor:  # fmt: skip
    """NumPy's pad: by moving elements, or with values computed from the edges of one axis after the other."""
    (array,) = tensors(array) if isinstance(array, Carrier) else tensors(array, constant_values, end_values)[:1]
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(i, pad_width.get(i - array.ndim, (0, 0))) for i in range(array.ndim)]
        pad_width = [(pair, pair) if isinstance(pair, int) else pair for pair in pad_width]
    if array._dtype.kind in "biu" and isinstance(mode, str):
        given = {"linear_ramp": {"end_values": end_values}, "constant": {"constant_values": constant_values}}
        options = given.get(mode, {} if stat_length is None else {"stat_length": stat_length})
        padded: Any = np.pad
        return tensors(padded(concrete(array), pad_width, mode, **constants("numpy.pad", options)), array)[0]
    constant = mode == "constant" and holds_tensor(constant_values)
    if not constant and mode != "linear_ramp" and (not isinstance(mode, str) or mode not in _STATISTICS):
        return _pad(array, pad_width, mode, constant_values=constant_values)
    widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()
    lengths = np.broadcast_to(np.asarray(stat_length), (array.ndim, 2)).tolist()
    values = np.broadcast_to(np.stack(end_values) if isinstance(end_values, list) else end_values, (array.ndim, 2))
    if constant:
        values = np.broadcast_to(constant_values, (array.ndim, 2))
    for axis in range(array.ndim):
        sides = [
            _side(array, axis, widths[axis][end], mode, values[axis][end], lengths[axis][end], end) for end in (0, 1)
        ]
        array = on_tensors.concatenate([cast(sides[0], array._dtype), array, cast(sides[1], array._dtype)], axis)
    return array


def _side(array: Tensor, axis: int, width: int, mode: Any, value: ArrayLike, length: int | None, end: int) -> Tensor:
    """The padding before an axis, or after it if `end` is 1."""
    before = (slice(None),) * axis
    shape = [width if i == axis else size for i, size in enumerate(array.shape)]
    if mode == "constant":
        return on_tensors.broadcast_to(value, shape)
    size = array.shape[axis]
    count = size if length is None else min(length, size)
    if mode != "linear_ramp":
        edge = array[(*before, slice(size - count, None) if end else slice(0, count))]
        return on_tensors.broadcast_to(_STATISTICS[mode](edge, axis, keepdims=True), shape)
    edge = array[(*before, slice(-1, None) if end else slice(0, 1))]
    steps = (np.arange(width) / max(width, 1)).reshape(-1, *[1] * (array.ndim - axis - 1))
    slopes: Tensor = (edge - value) * (np.flip(steps, 0) if end else steps)
    return slopes + value


def _pieces(name: str) -> Function:
    """hsplit and its relatives, whose result is a list."""
    return lambda ary, indices_or_sections: list(later("vocabulary.joining", name)(ary, indices_or_sections))


def _rolled(a: Tensor, shift: Sizes, axis: Dim = None) -> Tensor:
    if axis is not None and (np.ndim(axis) or np.ndim(shift)):  # one shift of several axes, or several of one
        shift, axis = (tuple(each.tolist()) for each in np.broadcast_arrays(np.atleast_1d(shift), axis))
    return _roll(a, shift, axis)


# fmt: off
FUNCTIONS: dict[Function, Function] = {
    np.roll: _rolled,
    np.rot90: lambda m, k=1, axes=(0, 1): _rot90(m, k, axes),
    np.tile: lambda A, reps: _tile(A, reps), np.repeat: _repeat, np.resize: _resize,
    np.pad: _padded,
    np.append: _append, np.dstack: lambda tup: _dstack(_listed(tup)), np.column_stack: lambda tup: _column_stack(_listed(tup)),
    np.atleast_1d: _at_least("atleast_1d"), np.atleast_2d: _at_least("atleast_2d"), np.atleast_3d: _at_least("atleast_3d"),
    np.broadcast_arrays: _broadcast,
    np.hsplit: _pieces("hsplit"), np.vsplit: _pieces("vsplit"), np.dsplit: _pieces("dsplit"),
    np.meshgrid: _mesh, np.rollaxis: _rollaxis, np.lib.stride_tricks.sliding_window_view: _windows,
}
if hasattr(np, "matrix_transpose"):  # NumPy 2 only
    FUNCTIONS[np.matrix_transpose] = FUNCTIONS[np.linalg.matrix_transpose] = lambda x: shapes.matrix_transpose(x)
if hasattr(np, "unstack"):
    FUNCTIONS[np.unstack] = lambda x, *, axis=0: shapes.unbind(x, axis)
# fmt: on
