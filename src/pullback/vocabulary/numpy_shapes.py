"""NumPy's joins, pieces and rearrangements of tensors, in NumPy's parameters, by operations of the vocabulary.

`numpy_names` has them in its table. The modules behind them are imported when one is called.
"""

# ruff: noqa: PLW0108  # the signature of a lambda gives the parameters their names in NumPy

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import Carrier
from .._shapes import normalize_axes, normalize_axis
from . import load, shapes
from .numpy_statistics import tensors

Function = Callable[..., Any]


def _of(module: str, name: str) -> Function:
    """A function of the vocabulary by its module and name, which is imported when it is called."""
    return lambda *args, **options: load(f"vocabulary.{module}", name)(*args, **options)


_roll, _rot90, _tile, _repeat_interleave, _unfold = (
    _of("rearranging", name) for name in ("roll", "rot90", "tile", "repeat_interleave", "unfold")
)
_dstack, _column_stack, _broadcast_tensors = (
    _of("joining", name) for name in ("dstack", "column_stack", "broadcast_tensors")
)
_pad = _of("padding", "numpy_pad")

several: Any = type(np.broadcast_arrays(0))  # what NumPy returns where it returns several arrays: a list before NumPy 2


def _listed(values: Any) -> list[Any]:
    """What is to be joined, as tensors: the rows of a tensor, or the entries of a sequence."""
    return list(shapes.unbind(values)) if isinstance(values, Carrier) else tensors(*values)


def _at_least(name: str) -> Function:
    """atleast_1d and its kin."""

    def raised(*arys: Any) -> Any:
        found = [_of("joining", name)(tensor) for tensor in tensors(*arys)]
        return found[0] if len(found) == 1 else several(found)

    return raised


def _repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    a, repeats = tensors(a, repeats)
    return _repeat_interleave(a, repeats, axis)


def _append(arr: Any, values: Any, axis: int | None = None) -> Any:
    pair = tensors(arr, values)
    return shapes.cat([shapes.ravel(tensor) for tensor in pair]) if axis is None else shapes.cat(pair, axis)


def _resize(a: Any, new_shape: Any) -> Any:
    shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    count, flat = math.prod(shape), shapes.ravel(a)
    whole = _tile(flat, -(-count // flat.numel())) if count > flat.numel() else flat
    return shapes.reshape(shapes.split(whole, [count, whole.numel() - count])[0], shape)


def _rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    place = normalize_axis(axis, a.ndim, "rollaxis")
    start = start + a.ndim if start < 0 else start
    return shapes.movedim(a, place, start - (start > place))


def _mesh(*xi: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> Any:
    grids = _open([shapes.ravel(tensor) for tensor in tensors(*xi)], indexing)
    grids = grids if sparse else _broadcast_tensors(*grids)
    return several([grid.clone() if copy else grid for grid in grids])


def _open(vectors: list[Any], indexing: str) -> list[Any]:
    """Each vector along its axis of a grid, with length 1 along the others."""
    places = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        places[:2] = [1, 0]
    return [
        shapes.reshape(vector, [-1 if axis == place else 1 for axis in range(len(vectors))])
        for vector, place in zip(vectors, places, strict=True)
    ]


def _windows(x: Any, window_shape: Any, axis: Any = None) -> Any:
    sizes = (window_shape,) if isinstance(window_shape, int) else tuple(window_shape)
    axes = normalize_axes(axis, x.ndim, "sliding_window_view")
    if len(axes) != len(sizes):
        raise ValueError(
            f"sliding_window_view: {len(sizes)} sizes of windows were given for the {len(axes)} axes {axes}"
        )
    for place, size in zip(axes, sizes, strict=True):
        x = _unfold(x, place, size, 1)
    return x


def _pieces(name: str) -> Function:
    """hsplit and its kin, as a list."""
    return lambda ary, indices_or_sections: list(_of("joining", name)(ary, indices_or_sections))


# fmt: off
FUNCTIONS: dict[Function, Function] = {
    np.roll: lambda a, shift, axis=None: _roll(a, shift, axis),
    np.rot90: lambda m, k=1, axes=(0, 1): _rot90(m, k, axes),
    np.tile: lambda A, reps: _tile(A, reps), np.repeat: _repeat, np.resize: _resize,
    np.pad: lambda array, pad_width, mode="constant", *, constant_values=0: _pad(
        array, pad_width, mode, constant_values=constant_values),
    np.append: _append, np.dstack: lambda tup: _dstack(_listed(tup)), np.column_stack: lambda tup: _column_stack(_listed(tup)),
    np.atleast_1d: _at_least("atleast_1d"), np.atleast_2d: _at_least("atleast_2d"), np.atleast_3d: _at_least("atleast_3d"),
    np.broadcast_arrays: lambda *args: several(_broadcast_tensors(*tensors(*args))),
    np.hsplit: _pieces("hsplit"), np.vsplit: _pieces("vsplit"), np.dsplit: _pieces("dsplit"),
    np.meshgrid: _mesh, np.rollaxis: _rollaxis, np.lib.stride_tricks.sliding_window_view: _windows,
}
if hasattr(np, "matrix_transpose"):  # the names of NumPy 2
    FUNCTIONS[np.matrix_transpose] = FUNCTIONS[np.linalg.matrix_transpose] = lambda x: shapes.matrix_transpose(x)
if hasattr(np, "unstack"):
    FUNCTIONS[np.unstack] = lambda x, *, axis=0: shapes.unbind(x, axis)
# fmt: on
