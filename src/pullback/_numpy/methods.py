"""The methods of NumPy's ufuncs on tensors, such as `reduce`, and the options `dtype` and `axes` of a call.

Every ufunc with two operands has them: sums, products and extremes use their own operations, all others are computed
step by step along an axis. `_numpy` looks them up.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import dtypes
from .._core.primitives import Carrier, Function
from .._core.shapes import normalize_axes, normalize_axis
from .._core.sites import of_pairs
from ..vocabulary import later, reductions, shapes
from ..vocabulary.promotion import cast, category
from . import reductions as numpy_reductions
from .operands import concrete, on_tensors, tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, ArrayLike, Dim, DType, Number, Tensor

_scan = {name: later("vocabulary.scans", name) for name in ("cumprod", "cummax", "cummin", "logcumsumexp")}


def _in(dtype: DType | None, a: Tensor) -> Tensor:
    return a if dtype is None else cast(a, dtypes.as_dtype(dtype).numpy)


ACCUMULATIONS: dict[np.ufunc, Function] = {
    np.add: lambda a, axis, dtype: reductions.cumsum(a, axis, dtype=dtype),
    np.multiply: lambda a, axis, dtype: _scan["cumprod"](a, axis, dtype=dtype),
    np.maximum: lambda a, axis, dtype: _scan["cummax"](_in(dtype, a), axis)[0],
    np.minimum: lambda a, axis, dtype: _scan["cummin"](_in(dtype, a), axis)[0],
    np.logaddexp: lambda a, axis, dtype: _scan["logcumsumexp"](_in(dtype, a), axis),
}


def method(ufunc: np.ufunc, operation: Function, name: str) -> Function | None:
    """A method of a ufunc that is computed by `operation`; None if there is no such method."""
    if ufunc.nin != 2 or ufunc.nout != 1 or ufunc.signature is not None:
        return None
    if name == "reduce" and ufunc in numpy_reductions.OF_UFUNCS:
        return numpy_reductions.OF_UFUNCS[ufunc]
    methods = {"reduce": _reduce, "accumulate": _accumulate, "outer": _outer, "reduceat": _reduceat}
    return methods[name](ufunc, operation)


def _merged(a: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The reduced axes, merged into one, which comes first."""
    rest = [axis for axis in range(a.ndim) if axis not in axes]
    return shapes.reshape(shapes.permute(a, [*axes, *rest]), -1, *[a.shape[axis] for axis in rest])


def _judged(ufunc: np.ufunc, a: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The operand in the dtype that NumPy reduces it in; refused if NumPy refuses the dtype, or several axes."""
    return cast(a, ufunc.reduce(np.ones((1,) * a.ndim, a._dtype), axis=axes).dtype)


def _reduce(ufunc: np.ufunc, operation: Function) -> Function:
    def reduce(
        a: Tensor,
        axis: Dim = 0,
        dtype: DType | None = None,
        out: object = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
    ) -> Tensor:
        axes = normalize_axes(axis, a.ndim, ufunc.__name__)
        a = _judged(ufunc, _in(dtype, a), axes)
        rows: list[Any] = list(shapes.unbind(_merged(a, axes)))
        start = ufunc.identity if initial is None and not rows else initial
        if start is None and not rows:
            raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
        rows = rows if start is None else [start, *rows]
        result: Tensor | Array | Number = functools.reduce(operation, rows)
        if not isinstance(result, Carrier):
            rest = [size for place, size in enumerate(a.shape) if place not in axes]
            (result, _) = tensors(np.broadcast_to(np.asarray(result, a._dtype), rest), a)
        return on_tensors.expand_dims(result, axes) if keepdims else result

    return reduce


def _accumulate(ufunc: np.ufunc, operation: Function) -> Function:
    def accumulate(a: Tensor, axis: int = 0, dtype: DType | None = None, out: object = None) -> Tensor:
        if not a.ndim:
            raise TypeError("cannot accumulate on a scalar")
        place = normalize_axis(axis, a.ndim, ufunc.__name__)
        if ufunc in ACCUMULATIONS:
            return ACCUMULATIONS[ufunc](a, place, dtype)
        a = _judged(ufunc, _in(dtype, a), (place,))
        if not a.shape[place]:
            return a.clone()
        return shapes.stack(list(itertools.accumulate(shapes.unbind(a, place), operation)), place)

    return accumulate


def _outer(ufunc: np.ufunc, operation: Function) -> Function:
    return of_pairs(lambda a, b: operation(np.reshape(a, (*np.shape(a), *[1] * np.ndim(b))), b))


def _reduceat(ufunc: np.ufunc, operation: Function) -> Function:
    def reduceat(
        a: Tensor, indices: ArrayLike, axis: int = 0, dtype: DType | None = None, out: object = None
    ) -> Tensor:
        place = normalize_axis(axis, a.ndim, ufunc.__name__)
        starts, length = concrete(indices).tolist(), a.shape[place]
        if any(not 0 <= start < length for start in starts):
            raise IndexError(f"index out-of-bounds in {ufunc.__name__}.reduceat [0, {length}): {starts}")
        reduce = method(ufunc, operation, "reduce")
        options = {} if dtype is None else {"dtype": dtype}
        moved = shapes.movedim(a, place, 0)
        pieces = [
            moved[start : max(start + 1, stop)] for start, stop in zip(starts, [*starts[1:], length], strict=True)
        ]
        found = [reduce(piece, axis=0, **options) for piece in pieces]  # type: ignore[misc]
        return shapes.stack(found, place)

    return reduceat


# The options of a call


def in_dtype(name: str, operation: Function, dtype: DType) -> Function:
    """An operation whose operands are first converted to a dtype, and whose result has it."""
    kind = dtypes.as_dtype(dtype).numpy

    def computed(*operands: ArrayLike) -> Tensor:
        sources = [category(operand) for operand in operands]
        for source, strength in sources:
            if strength != "scalar" and not np.can_cast(source, kind, "same_kind"):
                raise TypeError(f"{name} with dtype={kind} cannot cast an operand from {source}: convert it first")
        given = tensors(*(cast(operand, kind) for operand in operands))
        result = operation(*given)
        if any(part._dtype != kind for part in (result if isinstance(result, tuple) else (result,))):
            raise TypeError(
                f"{name} has no derivative here with dtype={kind}, which is not its result's: leave dtype= out, and "
                "convert the result"
            )
        return result

    return computed


def along_axes(ufunc: np.ufunc, operation: Function, axes: Sequence[Any] | None, axis: Dim, keepdims: bool) -> Function:
    """A generalized ufunc such as matmul along other axes than the last ones of its signature."""
    sides = str(ufunc.signature).split("->")
    cores = [len(re.findall(r"\w+", core)) for side in sides for core in re.findall(r"\(([^)]*)\)", side)]
    if keepdims and cores[-1]:
        raise TypeError(f"{ufunc.__name__} does not support keepdims: its result has axes of its own")
    if axis is not None:
        axes = [axis if core else () for core in cores]
    listed = axes and [tuple(np.atleast_1d(np.asarray(entry, int)).tolist()) for entry in axes]

    def computed(*operands: ArrayLike) -> Tensor:
        places = listed or [tuple(range(-core, 0)) for core in cores]
        if len(places) < len(operands):
            raise ValueError(f"axes should be a list with an entry for all {ufunc.nin} inputs and outputs: {axes}")
        moved = [
            on_tensors.moveaxis(value, place, tuple(range(-len(place), 0))) if place else value
            for value, place in zip(operands, places, strict=False)
        ]
        result = operation(*moved)
        if keepdims:
            return on_tensors.expand_dims(result, places[0])
        last = places[len(operands)] if len(places) > len(operands) else ()
        return np.moveaxis(result, tuple(range(-len(last), 0)), last) if last else result

    return computed
