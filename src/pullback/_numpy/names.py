"""The table of NumPy functions on tensors: the operation for each ufunc or function, with NumPy's parameters."""

# ruff: noqa: PLW0108  # the signatures of the lambdas have NumPy's parameter names

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core.primitives import Carrier, Function
from .._core.shapes import normalize_axes, normalize_axis
from .._core.sites import of_pairs
from ..vocabulary import arithmetic, bits, functions, indexing, load, products, reductions, rounding, shapes, slicing
from ..vocabulary.promotion import cast
from . import functions as numpy_functions, indexing as numpy_indexing, linalg as numpy_linalg, shapes as numpy_shapes
from .construction import CONSTRUCTION
from .operands import on_tensors, operand, tensors
from .polynomials import POLYNOMIALS
from .reductions import REDUCTIONS
from .sets import SETS
from .statistics import STATISTICS
from .writing import WRITING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import ArrayLike, Dim, Sizes, Tensor, TensorLike

# fmt: off
UFUNCS: dict[np.ufunc, Function] = {
    np.add: arithmetic.add, np.subtract: arithmetic.sub, np.multiply: arithmetic.mul, np.divide: arithmetic.div,
    np.floor_divide: arithmetic.floor_divide, np.remainder: arithmetic.remainder, np.power: arithmetic.pow,
    np.negative: arithmetic.neg, np.positive: ops.clone, np.absolute: arithmetic.abs,
    np.square: arithmetic.square, np.sqrt: arithmetic.sqrt, np.reciprocal: arithmetic.reciprocal,
    np.exp: arithmetic.exp, np.expm1: functions.expm1, np.log: arithmetic.log, np.log1p: functions.log1p,
    np.sin: arithmetic.sin, np.cos: arithmetic.cos, np.tan: functions.tan,
    np.sinh: functions.sinh, np.cosh: functions.cosh, np.tanh: arithmetic.tanh,
    np.floor: rounding.floor, np.ceil: rounding.ceil, np.rint: rounding.round, np.trunc: rounding.trunc,
    np.maximum: arithmetic.maximum, np.minimum: arithmetic.minimum, np.conjugate: ops.conj,
    np.equal: arithmetic.eq, np.not_equal: arithmetic.ne, np.less: arithmetic.lt, np.less_equal: arithmetic.le,
    np.greater: arithmetic.gt, np.greater_equal: arithmetic.ge,
    np.logical_and: bits.logical_and, np.logical_or: bits.logical_or,
    np.logical_xor: bits.logical_xor, np.logical_not: bits.logical_not,
    np.bitwise_and: arithmetic.bitwise_and, np.bitwise_or: arithmetic.bitwise_or,
    np.bitwise_xor: arithmetic.bitwise_xor, np.invert: arithmetic.bitwise_not,
    np.isnan: bits.isnan, np.isinf: bits.isinf, np.isfinite: bits.isfinite,
    np.matmul: numpy_linalg.product, **numpy_functions.UFUNCS, **numpy_linalg.UFUNCS,
}
# fmt: on


def _each(values: Tensor | Sequence[ArrayLike]) -> Tensor | list[Any]:
    """The arguments of a join: a tensor unchanged; in a sequence every list as an array."""
    return values if isinstance(values, Carrier) else [operand(value) for value in values]


def _reshaped(value: TensorLike, *shape: int) -> Tensor:
    return shapes.reshape(value, shape) if isinstance(value, Carrier) else on_tensors.reshape(value, shape)


def _concatenate(arrays: Tensor | Sequence[ArrayLike], axis: int | None = 0, out: object = None) -> Tensor:
    joined = _each(arrays)
    return shapes.cat([_reshaped(value, -1) for value in joined], 0) if axis is None else shapes.cat(joined, axis)


def _size(a: Tensor, axis: Dim = None) -> int:
    axes = range(a.ndim) if axis is None else normalize_axes(axis, a.ndim, "size")
    return math.prod(a.shape[one] for one in axes)


def _vstack(tup: Tensor | Sequence[ArrayLike]) -> Tensor:
    return shapes.cat([_reshaped(value, 1, -1) if np.ndim(value) < 2 else value for value in _each(tup)], 0)


def _hstack(tup: Tensor | Sequence[ArrayLike]) -> Tensor:
    listed = [_reshaped(value, 1) if np.ndim(value) == 0 else value for value in _each(tup)]
    return shapes.cat(listed, min(np.ndim(listed[0]) - 1, 1))


def _split(function: Function) -> Function:
    """split and array_split: NumPy determines the pieces, by splitting the indices along the axis."""

    def pieces(ary: Tensor, indices_or_sections: ArrayLike, axis: int = 0) -> list[Tensor]:
        place = normalize_axis(axis, ary.ndim)
        parts = function(np.arange(ary.shape[place]), indices_or_sections)
        bounds = [slice(part[0], part[-1] + 1) if part.size else slice(0, 0) for part in parts]
        return [indexing.getitem(ary, (*[slice(None)] * place, bound)) for bound in bounds]

    return pieces


def _moveaxis(a: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    return shapes.movedim(a, *(normalize_axes(axes, a.ndim, "moveaxis") for axes in (source, destination)))


def _squeeze(a: Tensor, axis: Dim = None) -> Tensor:
    if axis is not None and any(a.shape[place] != 1 for place in normalize_axes(axis, a.ndim, "squeeze")):
        raise ValueError(f"squeeze: axis {axis} of shape {tuple(a.shape)} does not have length 1")
    return shapes.squeeze(a, axis)


def _expand_dims(a: Tensor, axis: int | Sequence[int]) -> Tensor:
    for place in sorted(normalize_axes(axis, a.ndim + np.size(axis), "expand_dims")):
        a = shapes.unsqueeze(a, place)
    return a


def _where(condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None) -> Tensor | tuple[Tensor, ...]:
    if x is None and y is None:
        (given,) = tensors(condition)
        return slicing.nonzero(given, as_tuple=True)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return arithmetic.where(cast(operand(condition), np.dtype(bool)), operand(x), operand(y))


def _dot(a: ArrayLike, b: ArrayLike, out: object = None) -> Tensor:
    left, right = operand(a), operand(b)
    axes = getattr(left, "ndim", 0), getattr(right, "ndim", 0)
    if 0 in axes:
        return arithmetic.mul(left, right)
    if axes[0] < 2 or axes[1] < 3:
        return numpy_linalg.product(left, right)
    rows, columns = products.LETTERS[: axes[0]], products.LETTERS[axes[0] : sum(axes)]
    free = columns[:-2] + columns[-1]
    return products.einsum(f"{rows},{columns[:-2]}{rows[-1]}{columns[-1]}->{rows[:-1]}{free}", left, right)


def _like(fill: int) -> Function:
    """zeros_like and its relatives, whose results are constants."""
    return lambda a, dtype=None, *, shape=None: CONSTRUCTION["full_like"](a, fill, dtype, shape=shape)


def _ordered(function: Function) -> Function:
    """reshape and ravel, also in Fortran order: the axes are reversed before and after."""

    def ordered(a: Tensor, shape: Sizes, order: str) -> Tensor:
        if order not in ("C", "F"):
            raise TypeError(f"numpy.{function.__name__} has no derivative here with order={order!r}: 'C' and 'F' have")
        if order == "C":
            return shapes.reshape(a, shape)
        turned = [shape] if isinstance(shape, int) else list(reversed(shape))
        return _turned(shapes.reshape(_turned(a), turned))

    return ordered


def _turned(a: Tensor) -> Tensor:
    return shapes.permute(a, tuple(reversed(range(a.ndim))))


_reshape, _ravel = _ordered(np.reshape), _ordered(np.ravel)


# fmt: off
FUNCTIONS: dict[Function, Function] = {  # the parameters have NumPy's names; unsupported ones are refused by name
    np.cumsum: lambda a, axis=None, dtype=None, out=None: reductions.cumsum(
        shapes.ravel(a) if axis is None else a, axis or 0, dtype=dtype),
    np.clip: lambda a, a_min=None, a_max=None, out=None, *, min=None, max=None: arithmetic.clamp(
        operand(a), operand(a_min if min is None else min), operand(a_max if max is None else max)),
    np.where: _where, np.nonzero: lambda a: slicing.nonzero(a, as_tuple=True),
    **{
        vars(np)[name]: lambda a, decimals=0, out=None: rounding.round(a, decimals=decimals)
        for name in ("round", "around", "round_") if name in vars(np)
    },
    np.copy: lambda a: ops.clone(a),
    np.concatenate: _concatenate, np.vstack: _vstack, np.hstack: _hstack,
    np.stack: lambda arrays, axis=0, out=None: shapes.stack(_each(arrays), axis),
    np.split: _split(np.split), np.array_split: _split(np.array_split),
    np.reshape: lambda a, shape=None, order="C", *, newshape=None: _reshape(a, newshape if shape is None else shape, order),
    np.ravel: lambda a, order="C": _ravel(a, -1, order), np.broadcast_to: lambda array, shape: shapes.expand(array, shape),
    np.transpose: lambda a, axes=None: shapes.permute(a, tuple(reversed(range(a.ndim))) if axes is None else axes),
    np.swapaxes: lambda a, axis1, axis2: shapes.transpose(a, axis1, axis2),
    np.moveaxis: _moveaxis, np.squeeze: _squeeze, np.expand_dims: _expand_dims,
    np.convolve: lambda a, v, mode="full": load("vocabulary.convolution", "sequences")(
        operand(a), operand(v), mode, mirrored=True),
    np.correlate: lambda a, v, mode="valid": load("vocabulary.convolution", "sequences")(
        operand(a), operand(v), mode, mirrored=False),
    np.flip: lambda m, axis=None: shapes.flip(m, tuple(range(m.ndim)) if axis is None else axis),
    np.flipud: lambda m: shapes.flip(m, 0), np.fliplr: lambda m: shapes.flip(m, 1),
    np.dot: _dot, np.outer: of_pairs(lambda a, b, out=None: arithmetic.mul(
        _reshaped(a, -1, 1), b if getattr(b, "ndim", 0) == 1 else _reshaped(b, -1))),
    np.einsum: lambda *operands, optimize=False: products.einsum(operands[0], *map(operand, operands[1:])),
    np.zeros_like: _like(0), np.ones_like: _like(1), np.empty_like: lambda prototype, dtype=None, *, shape=None: _like(0)(prototype, dtype, shape=shape),
    **{
        vars(np)[name]: function
        for table in (STATISTICS, REDUCTIONS, CONSTRUCTION, POLYNOMIALS, SETS, WRITING)
        for name, function in table.items()
        if name in vars(np)
    },
    **numpy_shapes.FUNCTIONS, **numpy_linalg.FUNCTIONS,
    **numpy_functions.FUNCTIONS, **numpy_indexing.FUNCTIONS,
}

# Functions of modules that NumPy imports late, by name.
BY_NAME: dict[str, Function] = {**numpy_indexing.SPECTRA}

# Functions without derivatives: NumPy computes them from the values, also of tracked tensors.
VALUES_ONLY: set[Function] = {
    vars(np)[name]
    for name in (
        "shape ndim size array_equal array_equiv allclose isclose argsort searchsorted digitize argpartition lexsort "
        "nanargmax nanargmin count_nonzero argwhere flatnonzero iscomplexobj isrealobj result_type can_cast common_type "
        "min_scalar_type shares_memory may_share_memory array2string array_repr array_str isin in1d isposinf isneginf "
        "isreal iscomplex diag_indices_from tril_indices_from triu_indices_from ix_ ravel_multi_index unravel_index "
        "einsum_path"
    ).split()
    if name in vars(np)
}

# Of these, functions of the shape alone: they work under vmap, where each example has its own values.
OF_SHAPES: dict[Function, Function] = {np.ndim: lambda a: a.ndim, np.shape: lambda a: tuple(a.shape), np.size: _size}

# Functions refused for tracked tensors, with the reason; for others NumPy computes them from the values.
_DATES, _BITS, _FILES = "tensors hold no dates", "bits of integers have no slope", "a file holds values alone"
_STEPS, _COUNTS = "it is a step function", "np.histogram has one, with weights, along one axis"
REFUSED: dict[str, str] = {
    **dict.fromkeys("numpy.busday_count numpy.busday_offset numpy.is_busday numpy.datetime_as_string".split(), _DATES),
    **dict.fromkeys("numpy.isnat".split(), _DATES),
    **dict.fromkeys("numpy.packbits numpy.unpackbits numpy.bitwise_count".split(), _BITS),
    **dict.fromkeys("numpy.save numpy.savetxt numpy.savez numpy.savez_compressed".split(), _FILES),
    **dict.fromkeys("numpy.histogram2d numpy.histogramdd".split(), _COUNTS),
    "numpy.spacing": _STEPS,
    "numpy.asfarray": "it makes an array: use t.double()",
}
# fmt: on
