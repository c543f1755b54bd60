"""NumPy's names for the vocabulary: which operation a ufunc or function of NumPy is, in NumPy's parameters."""

# ruff: noqa: PLW0108  # the signature of a lambda gives the parameters their names in NumPy

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _dtypes, ops
from .._core import Carrier
from .._promotion import cast, inexact
from .._shapes import normalize_axes, normalize_axis
from . import (
    arithmetic,
    indexing,
    load,
    numpy_functions,
    numpy_indexing,
    numpy_linalg,
    numpy_shapes,
    products,
    reductions,
    shapes,
)
from .numpy_statistics import STATISTICS

Function = Callable[..., Any]

# fmt: off
UFUNCS: dict[np.ufunc, Function] = {
    np.add: arithmetic.add, np.subtract: arithmetic.sub, np.multiply: arithmetic.mul, np.divide: arithmetic.div,
    np.floor_divide: arithmetic.floor_divide, np.remainder: arithmetic.remainder, np.power: arithmetic.pow,
    np.negative: arithmetic.neg, np.positive: ops.clone, np.absolute: arithmetic.abs,
    np.square: arithmetic.square, np.sqrt: arithmetic.sqrt, np.reciprocal: arithmetic.reciprocal,
    np.exp: arithmetic.exp, np.expm1: arithmetic.expm1, np.log: arithmetic.log, np.log1p: arithmetic.log1p,
    np.sin: arithmetic.sin, np.cos: arithmetic.cos, np.tan: arithmetic.tan,
    np.sinh: arithmetic.sinh, np.cosh: arithmetic.cosh, np.tanh: arithmetic.tanh,
    np.floor: arithmetic.floor, np.ceil: arithmetic.ceil, np.rint: arithmetic.round, np.trunc: arithmetic.trunc,
    np.maximum: arithmetic.maximum, np.minimum: arithmetic.minimum, np.conjugate: ops.conj,
    np.equal: arithmetic.eq, np.not_equal: arithmetic.ne, np.less: arithmetic.lt, np.less_equal: arithmetic.le,
    np.greater: arithmetic.gt, np.greater_equal: arithmetic.ge,
    np.logical_and: arithmetic.logical_and, np.logical_or: arithmetic.logical_or,
    np.logical_xor: arithmetic.logical_xor, np.logical_not: arithmetic.logical_not,
    np.bitwise_and: arithmetic.bitwise_and, np.bitwise_or: arithmetic.bitwise_or,
    np.bitwise_xor: arithmetic.bitwise_xor, np.invert: arithmetic.bitwise_not,
    np.isnan: arithmetic.isnan, np.isinf: arithmetic.isinf, np.isfinite: arithmetic.isfinite,
    np.matmul: products.matmul, **numpy_functions.UFUNCS, **numpy_linalg.UFUNCS,
}
# fmt: on


def operand(value: Any) -> Any:
    """A list as an array; tensors, arrays and numbers as they are."""
    return np.asarray(value) if isinstance(value, (list, tuple)) else value


def _each(values: Any) -> Any:
    """What is to be joined: a tensor as it is, of a sequence every entry that is a list as an array."""
    return values if isinstance(values, Carrier) else [operand(value) for value in values]


def _reshaped(value: Any, *shape: int) -> Any:
    return shapes.reshape(value, shape) if isinstance(value, Carrier) else np.reshape(value, shape)


def _concatenate(arrays: Any, axis: int | None = 0, out: Any = None) -> Any:
    joined = _each(arrays)
    return shapes.cat([_reshaped(value, -1) for value in joined], 0) if axis is None else shapes.cat(joined, axis)


def _vstack(tup: Any) -> Any:
    return shapes.cat([_reshaped(value, 1, -1) if np.ndim(value) < 2 else value for value in _each(tup)], 0)


def _hstack(tup: Any) -> Any:
    listed = [_reshaped(value, 1) if np.ndim(value) == 0 else value for value in _each(tup)]
    return shapes.cat(listed, min(np.ndim(listed[0]) - 1, 1))


def _split(function: Function) -> Function:
    """split and array_split: NumPy's own rule for the pieces, applied to the places along the axis."""

    def pieces(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
        place = normalize_axis(axis, ary.ndim)
        parts = function(np.arange(ary.shape[place]), indices_or_sections)
        bounds = [slice(part[0], part[-1] + 1) if part.size else slice(0, 0) for part in parts]
        return [indexing.getitem(ary, (*[slice(None)] * place, bound)) for bound in bounds]

    return pieces


def _moveaxis(a: Any, source: Any, destination: Any) -> Any:
    taken, given = (normalize_axes(axes, a.ndim, "moveaxis") for axes in (source, destination))
    order = [axis for axis in range(a.ndim) if axis not in taken]
    for place, axis in sorted(zip(given, taken, strict=True)):
        order.insert(place, axis)
    return shapes.permute(a, order)


def _squeeze(a: Any, axis: Any = None) -> Any:
    if axis is not None and any(a.shape[place] != 1 for place in normalize_axes(axis, a.ndim, "squeeze")):
        raise ValueError(f"squeeze: axis {axis} of shape {tuple(a.shape)} does not have length 1")
    return shapes.squeeze(a, axis)


def _expand_dims(a: Any, axis: Any) -> Any:
    for place in sorted(normalize_axes(axis, a.ndim + np.size(axis), "expand_dims")):
        a = shapes.unsqueeze(a, place)
    return a


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return arithmetic.where(condition)
    return arithmetic.where(cast(operand(condition), np.dtype(bool)), operand(x), operand(y))


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    a, b = operand(a), operand(b)
    axes = np.ndim(a), np.ndim(b)
    if 0 in axes:
        return arithmetic.mul(a, b)
    if axes[0] < 2 or axes[1] < 3:
        return products.matmul(a, b)
    left, right = products.LETTERS[: axes[0]], products.LETTERS[axes[0] : sum(axes)]
    free = right[:-2] + right[-1]
    return products.einsum(f"{left},{right[:-2]}{left[-1]}{right[-1]}->{left[:-1]}{free}", a, b)


def _like(fill: Any) -> Function:
    """zeros_like and its kin: constants."""

    def alike(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
        kind = a._dtype if dtype is None else _dtypes.as_dtype(dtype).numpy
        return a.interpreter.wrap(np.full(tuple(a.shape) if shape is None else shape, fill, kind), None)

    return alike


# How reductions take their arguments, which NumPy orders in three ways. `out` only has its place here, as it has in all
# functions of the table: the protocol writes it.


def _inexact(a: Any, dtype: Any) -> Any:
    return inexact(a) if dtype is None else cast(a, _dtypes.as_dtype(dtype).numpy)


def _total(function: Function, axis: Any = None) -> Function:
    return lambda a, axis=axis, dtype=None, out=None, keepdims=False: function(a, axis, keepdims, dtype=dtype)


def _extreme(function: Function, axis: Any = None) -> Function:
    return lambda a, axis=axis, out=None, keepdims=False: function(a, axis, keepdims)


def _spread(function: Function) -> Function:
    return lambda a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None: function(
        _inexact(a, dtype),
        axis,
        keepdim=keepdims,
        correction=ddof if correction is None else correction,
    )


# fmt: off
REDUCTIONS: dict[np.ufunc, Function] = {  # of ufunc.reduce, whose axis is the first unless one is given
    np.add: _total(reductions.sum, 0), np.maximum: _extreme(reductions.amax, 0), np.minimum: _extreme(reductions.amin, 0),
    np.logical_and: _extreme(reductions.all, 0), np.logical_or: _extreme(reductions.any, 0),
    np.multiply: lambda a, axis=0, dtype=None, out=None, keepdims=False: STATISTICS["prod"](
        a, axis, dtype, None, keepdims),
}

FUNCTIONS: dict[Function, Function] = {  # the parameters are NumPy's, and those that are missing are refused by name
    np.sum: _total(reductions.sum),
    np.mean: _total(lambda a, axis, keepdim, dtype: reductions.mean(_inexact(a, dtype), axis, keepdim)),
    np.var: _spread(reductions.var), np.std: _spread(reductions.std),
    np.max: _extreme(reductions.amax), np.min: _extreme(reductions.amin),
    np.amax: _extreme(reductions.amax), np.amin: _extreme(reductions.amin),
    np.argmax: _extreme(reductions.argmax), np.argmin: _extreme(reductions.argmin),
    np.all: _extreme(reductions.all), np.any: _extreme(reductions.any),
    np.cumsum: lambda a, axis=None, dtype=None, out=None: reductions.cumsum(
        shapes.ravel(a) if axis is None else a, axis or 0, dtype=dtype),
    np.clip: lambda a, a_min=None, a_max=None, out=None, *, min=None, max=None: arithmetic.clamp(
        operand(a), operand(a_min if min is None else min), operand(a_max if max is None else max)),
    np.where: _where, np.nonzero: lambda a: arithmetic.nonzero(a, as_tuple=True),
    np.round: lambda a, decimals=0, out=None: arithmetic.round(a, decimals=decimals),
    np.around: lambda a, decimals=0, out=None: arithmetic.round(a, decimals=decimals), np.copy: lambda a: ops.clone(a),
    np.concatenate: _concatenate, np.vstack: _vstack, np.hstack: _hstack,
    np.stack: lambda arrays, axis=0, out=None: shapes.stack(_each(arrays), axis),
    np.split: _split(np.split), np.array_split: _split(np.array_split),
    np.reshape: lambda a, shape=None, *, newshape=None: shapes.reshape(a, newshape if shape is None else shape),
    np.ravel: lambda a: shapes.ravel(a), np.broadcast_to: lambda array, shape: shapes.expand(array, shape),
    np.transpose: lambda a, axes=None: shapes.permute(a, tuple(reversed(range(a.ndim))) if axes is None else axes),
    np.swapaxes: lambda a, axis1, axis2: shapes.transpose(a, axis1, axis2),
    np.moveaxis: _moveaxis, np.squeeze: _squeeze, np.expand_dims: _expand_dims,
    np.convolve: lambda a, v, mode="full": load("vocabulary.convolution", "sequences")(
        operand(a), operand(v), mode, mirrored=True),
    np.correlate: lambda a, v, mode="valid": load("vocabulary.convolution", "sequences")(
        operand(a), operand(v), mode, mirrored=False),
    np.flip: lambda m, axis=None: shapes.flip(m, tuple(range(m.ndim)) if axis is None else axis),
    np.flipud: lambda m: shapes.flip(m, 0), np.fliplr: lambda m: shapes.flip(m, 1),
    np.dot: _dot, np.outer: lambda a, b, out=None: arithmetic.mul(_reshaped(a, -1, 1), _reshaped(b, -1)),
    np.einsum: lambda *operands, optimize=False: products.einsum(operands[0], *map(operand, operands[1:])),
    np.zeros_like: _like(0), np.ones_like: _like(1), np.empty_like: _like(0),
    np.full_like: lambda a, fill_value, dtype=None, *, shape=None: _like(fill_value)(a, dtype, shape=shape),
    **{vars(np)[name]: function for name, function in STATISTICS.items() if name in vars(np)},
    **numpy_shapes.FUNCTIONS, **numpy_linalg.FUNCTIONS,
    **numpy_functions.FUNCTIONS, **numpy_indexing.FUNCTIONS,
}

# Those of modules that NumPy imports late, by name.
BY_NAME: dict[str, Function] = {**numpy_indexing.SPECTRA}

# What has no derivative anywhere: NumPy's answer about the values, of tracked tensors too.
VALUES_ONLY: set[Function] = {
    np.shape, np.ndim, np.size, np.array_equal, np.array_equiv, np.allclose, np.isclose, np.argsort, np.searchsorted,
    np.digitize, np.argpartition, np.lexsort, np.nanargmax, np.nanargmin,
    np.count_nonzero, np.argwhere, np.flatnonzero, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast,
    *numpy_functions.VALUES_ONLY, np.shares_memory, np.may_share_memory, np.array2string, np.array_repr, np.array_str,
}
# fmt: on
