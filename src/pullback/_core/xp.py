"""The raw namespace: what a rule's `xp` is when values are plain NumPy arrays.

The array API standard's names over NumPy, plus a short list of extras the standard lacks. The dispatching namespace,
`pullback.ops`, has the same names; a rule cannot tell which of the two it was given. What is not defined here is the
forward function of the primitive of that name.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import bfloat, errors, machine
from .bounds import above as above, beyond as beyond, constant as constant, not_clipped as not_clipped, within as within
from .contraction import contracted, in_pairs
from .lazy import PROVIDERS, provider

if TYPE_CHECKING:
    from .dtypes import NumpyType
    from .primitives import Function, Primitive
    from .typing import Array, Operations, Params, Shaped, Threshold, Value

NUMPY = """abs add all any bitwise_and bitwise_or bitwise_xor ceil conj cos cosh divide equal exp expand_dims expm1 floor
    floor_divide greater greater_equal isfinite isinf isnan less less_equal log log1p logical_and logical_not
    logical_or logical_xor maximum minimum multiply negative not_equal ones_like reciprocal remainder rint sin
    sinh sqrt square squeeze subtract tan tanh trunc where""".split()
"""The functions of the namespace that are NumPy's own."""
globals().update({name: getattr(np, name) for name in NUMPY})


def __getattr__(name: str) -> Any:
    if name.startswith("_") or "primitives" not in PROVIDERS:  # which is so while the package is imported
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    forward = globals()[name] = getattr(provider("primitives"), name).forward
    return forward


RAW: Operations = sys.modules[__name__]
"""This module as what rules are given."""

pow = np.power


def astype(x: Array, *, dtype: Any, source: object = None) -> Array:
    """x converted to a dtype; `source` is the dtype it has, which the transpose needs."""
    x = np.asarray(x)
    made = (x.real if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb" else x).astype(dtype)
    if isinstance(dtype, bfloat.BFloatType):
        numbers: Array = bfloat.held(made)
        return numbers
    return made if made.flags.c_contiguous else _unrepeated(made, x)


def _unrepeated(copied: Array, x: Array) -> Array:
    """A copy of x, in order where x repeats its elements; NumPy has the axes that repeat innermost."""
    return np.ascontiguousarray(copied) if 0 in x.strides else copied


def clone(x: Array, *, order: str = "K") -> Array:
    """A copy whose axes lie in memory as those of x, or for "C" in order."""
    return x.copy() if x.flags.c_contiguous or order == "C" else _unrepeated(x.copy("K"), x)


def broadcast_to(x: Any, *, shape: tuple[int, ...]) -> Array:
    """x repeated to a shape without copying: `np.broadcast_to` at a tenth of its cost, and writable."""
    x = np.asarray(x)
    if not x.ndim:
        return np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    added = len(shape) - x.ndim
    strides = (0,) * added + x.strides
    if x.shape != shape[added:]:
        kept = map(operator.eq, x.shape, shape[added:])
        strides = (0,) * added + tuple(map(operator.mul, x.strides, kept))
    if x.flags.c_contiguous:
        return np.ndarray(shape, x.dtype, x, 0, strides)
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=x.flags.writeable)


_add: Any = np.add.reduce  # (x, axis, dtype, out, keepdims): np.sum without its Python wrapper


HALF = np.dtype(np.float16)
LONG: Threshold = 1 << 15
BLOCK: Threshold = 512
SMALL: Threshold = 1 << 13  # elements up to which BLAS multiplies a matrix and a vector in one thread
SHORT: Threshold = 128
NARROW: Threshold = 32  # elements of a row up to which BLAS adds it in less time than NumPy, and than compiled code


@functools.lru_cache(maxsize=256)
def ones(count: int, dtype: NumpyType) -> Array:
    """So many ones, to multiply by: a product of a matrix and a vector is quicker than a sum."""
    vector = np.ones(count, dtype)
    vector.flags.writeable = False
    return vector


def sums_by_products(shape: tuple[int, ...], dtype: NumpyType, axis: tuple[int, ...]) -> bool:
    """Whether sums over an axis are those of short rows, or of the columns of small matrices: BLAS's in one thread."""
    if len(axis) != 1 or dtype.char not in "fd":
        return False
    place, last = axis[0], len(shape) - 1
    if place == last > 0 and 0 < shape[-1] <= SHORT:
        return True
    columns = last == 1 or place < last
    return columns and shape[place] <= BLOCK and math.prod(shape[min(place, last - 1) :]) <= SMALL


def sums_as_numpy(x: Shaped, axis: tuple[int, ...]) -> bool:
    """Whether sums of floats over axes are NumPy's own: not of float16, of many elements, or by products."""
    size = math.prod(x.shape)
    return x.dtype != HALF and size <= LONG and not sums_by_products(x.shape, x.dtype, axis)


def _sum_by_products(x: Array, axis: int, keepdims: bool) -> Array:
    """The sum over a last axis that is short, of which many rows are multiplied in parts, or over the columns of matrices."""
    factors = ones(x.shape[axis], x.dtype)
    if x.ndim == 2 and x.size <= SMALL:
        if axis:
            return x.dot(factors[:, None] if keepdims else factors)
        return (factors[None] if keepdims else factors).dot(x)
    total = np.empty((*x.shape[:axis], *[1] * keepdims, *x.shape[axis + 1 :]), x.dtype)
    if not axis:
        factors.dot(x.reshape(len(factors), total.size), reshaped_view(total, -1))
        return total
    if axis < x.ndim - 1:
        outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
        np.matmul(factors, x.reshape(outer, len(factors), inner), reshaped_view(total, outer, inner))
        return total
    rows, flat = x.reshape(total.size, x.shape[-1]), reshaped_view(total, -1)
    part = max(1, SMALL // x.shape[-1])
    whole = len(rows) // part * part
    if whole:
        np.matmul(rows[:whole].reshape(-1, part, x.shape[-1]), factors, reshaped_view(flat[:whole], -1, part))
    if whole < len(rows):
        rows[whole:].dot(factors, flat[whole:])
    return total


def sum(x: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    """The sum over axes, in the dtype of x; NumPy's, with its error kept small where NumPy adds one after another.

    Those of short rows and of the columns of small matrices are BLAS's, in a fifth of the time; BLAS raises no flags.
    """
    single = len(axis) == 1 and x.ndim > 1
    products = single and sums_by_products(x.shape, x.dtype, axis) and (x.ndim == 2 or x.flags.c_contiguous)
    narrow = products and axis[0] == x.ndim - 1 and x.shape[-1] <= NARROW
    if x.size > LONG and not narrow and (code := machine.totals("total", x, axis)) is not None:
        return code(x, keepdims=keepdims)
    if products:
        return _sum_by_products(x, axis[0], keepdims)
    if x.dtype.char == "e":
        return in_order(np.asarray(_add(x, axis, np.float32, None, keepdims)).astype(np.float16))
    if x.size > LONG:
        for i in axis:
            if x.shape[i] > BLOCK and i != x.ndim - 1:
                x = np.add.reduceat(x, range(0, x.shape[i], BLOCK), axis=i)
    total = _add(x, axis, x.dtype, None, keepdims)
    return total if x.ndim < 3 or x.flags.c_contiguous else in_order(total)


def in_order(x: Array) -> Array:
    """x, copied if its elements do not lie in memory in the order of its axes: then it has a flat view.

    NumPy lays out its results as it finds its operands. As in torch, only those of elementwise functions stay so.
    """
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


def reshaped_view(x: Array, *shape: int) -> Array:
    """A view of x with another shape, for what is written through it: an error where `reshape` would make a copy."""
    view = x.reshape(shape)
    if not x.flags.c_contiguous and x.size and not np.may_share_memory(view, x):
        raise ValueError(f"no view of shape {shape} of an array of shape {x.shape} and strides {x.strides}")
    return view


def mean(x: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    """The mean over axes, in the dtype of x."""
    count = length(x.shape, axis)
    if x.dtype.char == "e":
        return in_order(np.asarray(_add(x, axis, np.float32, None, keepdims) / count).astype(np.float16))
    return shared(sum(x, axis=axis, keepdims=keepdims), count)


def cumsum(x: Array, *, axis: int) -> Array:
    """Running sums along an axis, in the dtype of x."""
    made = machine.running_sums(x) if axis in (-1, x.ndim - 1) else None
    return running(np.add, x, axis) if made is None else made


def running(function: np.ufunc, x: Array, axis: int) -> Array:
    """What a function of two numbers accumulates along an axis; as in torch, in doubles, for errors add up."""
    if x.dtype.char in "efF":
        wide = np.complex128 if x.dtype.char == "F" else np.float64
        found = function.accumulate(x.astype(wide), axis).astype(x.dtype)
    else:
        found = function.accumulate(x, axis, x.dtype)
    return found if x.ndim < 2 or x.flags.c_contiguous else in_order(found)


def length(shape: tuple[int, ...], axis: tuple[int, ...]) -> int:
    """The number of elements over axes."""
    return math.prod(shape if len(axis) == len(shape) else map(shape.__getitem__, axis))


def shared(total: Any, count: float) -> Any:
    """A total over a count, in its dtype: a single number is divided by one of its kind, in a fifth of the time."""
    divisor = constant(count, total.dtype)
    return total / (divisor if type(total) is np.ndarray else divisor[()])


def squares(x: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    """The sum of the squares of real numbers over axes; that of a small vector is BLAS's, as in `sum`."""
    if x.ndim == 1 and axis and not keepdims and x.size <= BLOCK and x.dtype.char in "fd":
        return x.dot(x)
    return sum(x * x, axis=axis, keepdims=keepdims)


def matmul(a: Array, b: Array) -> Array:
    """Products of vectors, matrices and batches of matrices; `dot` has 1.7 us less to decide where there is no batch."""
    if not 0 < a.ndim < 3 > b.ndim > 0:
        if a.ndim > 2 == b.ndim and a.flags.c_contiguous and a.size:  # as one product
            return matmul(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
        if a.ndim and b.ndim:
            return in_order(machine.batched(a, b) if a.ndim == b.ndim else machine.dot(a, b))
        return in_order(np.matmul(a, b))
    if a.size < machine.FACTOR:
        return a.dot(b) if a.size > 1 < b.size and not machine.spreads(a, b) else machine.dot(a, b)
    made = machine.inner(a, b) if a.ndim == 1 == b.ndim else machine.product(a, b)
    return machine.dot(a, b) if made is None else made


def matrix_transpose(x: Array) -> Array:
    """The last two axes exchanged.

    >>> import pullback
    >>> pullback.zeros(2, 3, 4).mT.shape
    pullback.Size([2, 4, 3])
    """
    return x.swapaxes(-1, -2)


def unbind(x: Array, *, axis: int) -> tuple[Array, ...]:
    """The slices of x along an axis, as views."""
    before: tuple[Any, ...] = (slice(None),) * axis
    return tuple([x[(*before, i, ...)] for i in range(x.shape[axis])])


def split(x: Array, *, sizes: tuple[int, ...], axis: int) -> tuple[Array, ...]:
    """Consecutive pieces of x along an axis, as views."""
    before = (slice(None),) * axis
    ends = itertools.accumulate(sizes)
    return tuple([x[(*before, slice(end - size, end))] for size, end in zip(sizes, ends, strict=True)])


def asarray(x: Any) -> Any:
    """A constant that a rule has made with NumPy, as an array of the namespace."""
    return x


def number(x: Any) -> Any:
    """A 0-d array as NumPy's scalar; anything else as it is."""
    return x[()] if type(x) is np.ndarray else x


def is_complex(x: Array) -> bool:
    """Whether the elements are complex numbers."""
    return x.dtype.kind == "c"


def zeros_like(x: Array) -> Array:
    """Zeros with the shape and dtype of x: a third of the time of NumPy's function of that name."""
    return np.zeros(x.shape, x.dtype)


def flip(x: Array, *, axis: int | tuple[int, ...]) -> Array:
    """x in the opposite order along axes, as a view."""
    index = [slice(None)] * x.ndim
    for i in (axis,) if isinstance(axis, int) else axis:
        index[i] = slice(None, None, -1)
    return x[tuple(index)]


def zeros(shape: tuple[int, ...], *, like: Value) -> Array:
    """Zeros with the dtype of `like`."""
    return np.zeros(shape, like.dtype)


class _Nothing(bytearray):
    """The memory of a missing cotangent."""


def missing(shape: tuple[int, ...], *, like: Value) -> Array:
    """Zeros that replace the cotangent of an output that nothing uses."""
    dtype: NumpyType = np.dtype(like.dtype)
    return np.ndarray(shape, dtype, _Nothing(math.prod(shape) * dtype.itemsize))


def is_missing(g: object) -> bool:
    """True for the result of `missing`, and not for a cotangent that happens to be zero."""
    return type(g) is np.ndarray and isinstance(g.base, _Nothing)


def diagonal(x: Array, *, axes: tuple[int, int]) -> Array:
    """The diagonal of two axes, as the last axis, as a view; writable where x is."""
    view = np.diagonal(x, 0, *axes)
    view.flags.writeable = x.flags.writeable
    return view


def scatter_diagonal(g: Array, *, axes: tuple[int, int], shape: tuple[int, ...]) -> Array:
    """Zeros of `shape` with g on the diagonal of two axes: the transpose of `diagonal`."""
    out = np.zeros(shape, getattr(g, "dtype", None))
    view = np.diagonal(out, 0, *axes)
    view.flags.writeable = True
    view[...] = g
    return out


def getitem(x: Array, *, index: Any) -> Array:
    """Basic indexing: ints, slices, None and Ellipsis."""
    return x[index]


def scatter_slice(g: Array, *, shape: tuple[int, ...], index: Any) -> Array:
    """Zeros of `shape` with g at a basic index: the transpose of `getitem`."""
    out = np.zeros(shape, getattr(g, "dtype", None))
    out[index] = g
    return out


def place(arrays: Sequence[Array], spec: tuple[object, ...]) -> tuple[Any, ...]:
    """An index from its metadata and its arrays: each `array` in spec stands for the next array."""
    rest = iter(arrays)
    return tuple(next(rest) if entry is array else entry for entry in spec)


class _Marker:
    """Stands in an index's metadata for an array, which is data."""

    def __repr__(self) -> str:
        return "array"


array = _Marker()


def index(x: Array, *arrays: Array, spec: tuple[object, ...]) -> Array:
    """Advanced indexing by integer and boolean arrays."""
    return x[place(arrays, spec)]


def index_in_order(x: Array, *arrays: Array, spec: tuple[object, ...]) -> Array:
    """What stands at an advanced index, in order in memory, so that it has flat views.

    NumPy's index leaves it as it was found, with the axes of the arrays first. Along one axis `take` is quicker, too.
    """
    if len(arrays) == 1 and (axis := sole_axis(spec)) is not None and x.size and arrays[0].dtype == np.intp:
        return x.take(arrays[0], axis)
    return in_order(index(x, *arrays, spec=spec))


WHOLE = slice(None)


def sole_axis(spec: tuple[object, ...]) -> int | None:
    """The axis that the one array of an index stands for, where all others are taken whole, else None."""
    for place, entry in enumerate(spec):
        if type(entry) is slice:
            if entry != WHOLE:
                return None
        elif entry is not array and (entry is not Ellipsis or place < spec.index(array)):
            return None
    return spec.index(array)


def index_add(g: Array, *arrays: Array, spec: tuple[object, ...], shape: tuple[int, ...]) -> Array:
    """Zeros of `shape` with g added at an advanced index, repeats adding up: the transpose of `index`."""
    out = np.zeros(shape, getattr(g, "dtype", None))
    try:
        if all_masks(arrays):
            out[place(arrays, spec)] = g
        else:
            combine_at(np.add, out, place(arrays, spec), g)
    except IndexError:
        raise RuntimeError(errors.PICKED.format(tuple(shape))) from None
    return out


FLAT: Threshold = 1 << 8  # values from which on `ufunc.at` is quicker with flat indices


def combine_along(ufunc: np.ufunc, out: Array, indices: Array, values: Array, *, axis: int) -> None:
    """Combine values with what stands at places along an axis of `out`, a contiguous array, one after another."""
    combine_at(ufunc, out, along(indices, axis, out.shape), values, flat_along(indices, axis, out.shape))


def combine_at(ufunc: np.ufunc, out: Array, index: tuple[Any, ...], values: Array, flat: Array | None = None) -> None:
    """Combine values with what stands at an index of `out`, a contiguous array, one after another.

    Of flat indices NumPy has a quick loop: 1.1 ms against 7.2 for 4096 rows of 64. Where they are not given, they are not
    worth their memory if `out` is far larger than what is written.
    """
    if ufunc is np.add and values.dtype == out.dtype and machine.accumulates(values):
        picked, shape = (index[:1], out.shape[:1]) if _of_rows(index) else (index, out.shape)
        if (count := math.prod(shape)) < 8 * values.size or flat is not None:
            places = np.arange(count).reshape(shape)[picked] if flat is None else flat
            if values.shape == places.shape + out.shape[len(shape) :]:
                add_rows(out, places, values)
                return
    if values.size > FLAT and (out.size < 8 * values.size or flat is not None):
        places = np.arange(out.size).reshape(out.shape)[index] if flat is None else flat
        ufunc.at(reshaped_view(out, -1), places.reshape(-1), np.broadcast_to(values, places.shape).reshape(-1))
    else:
        ufunc.at(out, index, values)


def _of_rows(index: tuple[Any, ...]) -> bool:
    """Whether an index says where along the first axis, and picks all that is there."""
    first, *others = index
    if not isinstance(first, np.ndarray) or first.dtype.kind not in "iu":
        return False
    return not [at for at in others if type(at) is not slice or at != WHOLE]


def add_rows(out: Array, places: Array, values: Array) -> None:
    """Add rows to those of a contiguous array at places, which are inside and from the front, by machine code."""
    places, values = np.ascontiguousarray(places.reshape(-1), np.int64), np.ascontiguousarray(values)
    machine.module("accumulation").add(out, places, values.reshape(len(places), -1))


def all_masks(arrays: Sequence[Array]) -> bool:
    """Whether an index holds one boolean array and nothing else: then no place occurs twice."""
    return len(arrays) == 1 and arrays[0].dtype == np.bool_


def repeats(shape: tuple[int, ...], arrays: Sequence[Array], spec: tuple[object, ...], picked: tuple[int, ...]) -> bool:
    """Whether an advanced index, which picks elements of the shape `picked`, picks one twice.

    Whole slices along one axis are looked at by their numbers alone.
    """
    if all_masks(arrays):
        return False
    if len(arrays) == 1 and (axis := sole_axis(spec)) is not None:
        shape, spec, picked = shape[axis : axis + 1], (array,), arrays[0].shape
    seen = np.zeros(shape, np.bool_)
    seen[place(arrays, spec)] = True
    return bool(np.count_nonzero(seen) < math.prod(picked))


def along(indices: Array, axis: int, shape: tuple[int, ...] | None = None) -> tuple[Array | slice, ...]:
    """The advanced index that picks one place along an axis for each place along the others; see `_line` for a shape."""
    if indices.ndim == 1:
        return (indices,)
    if shape is not None and (line := _line(indices, axis, shape)) is not None:
        return (*[WHOLE] * axis, line)
    grid = (_few_places if indices.size < SMALL else _places)(indices.shape)
    return (*grid[:axis], indices, *grid[axis + 1 :])


def _places(shape: tuple[int, ...]) -> tuple[Array, ...]:
    """For each axis of a shape the places along it, laid out along that axis."""
    last = len(shape) - 1
    return tuple([np.arange(size).reshape((size,) + (1,) * (last - i)) for i, size in enumerate(shape)])


_few_places = functools.lru_cache(maxsize=256)(_places)


def _line(indices: Array, axis: int, shape: tuple[int, ...]) -> Array | None:
    """The indices along an axis if they are the same for all other places, which are taken whole of that shape, else None."""
    if indices.strides.count(0) < indices.ndim - 1 or not indices.strides[axis] or not indices.size:
        return None
    if indices.shape != (*shape[:axis], indices.shape[axis], *shape[axis + 1 :]):
        return None
    line: tuple[int | slice, ...] = (*[0] * axis, WHOLE, *[0] * (indices.ndim - axis - 1))
    return indices[line]


def flat_along(indices: Array, axis: int, shape: tuple[int, ...]) -> Array | None:
    """`along` as places in a flat array, for which NumPy takes an eighth of the time.

    None where indices are few (there NumPy is as quick), the same for all others, out of range, or counted from the end.
    """
    if (
        indices.ndim == 1
        or indices.size <= 8 * FLAT
        or indices.dtype != np.intp
        or _line(indices, axis, shape) is not None
    ):
        return None
    once = indices[tuple([slice(None if step else 1) for step in indices.strides])]
    if once.min() < 0 or once.max() >= shape[axis]:
        return None
    others = (*indices.shape[:axis], 1, *indices.shape[axis + 1 :])
    starts = (_few_starts_of if math.prod(others) < SMALL else _starts_of)(others, shape)
    step = math.prod(shape[axis + 1 :])
    return starts + (indices if step == 1 else indices * step)


def _starts_of(places: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Where the first elements of an array of a shape lie in a flat one: so many along each axis."""
    steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    return functools.reduce(np.add, map(np.multiply, _places(places), steps)).astype(np.intp, copy=False)


_few_starts_of = functools.lru_cache(maxsize=256)(_starts_of)


def take_along_axis(x: Array, indices: Array, *, axis: int) -> Array:
    """One element along an axis for each place along the others, as NumPy's; without its wrapper, a third of the time."""
    if x.flags.c_contiguous and (flat := flat_along(indices, axis, x.shape)) is not None:
        return x.reshape(-1).take(flat)
    return in_order(x[along(indices, axis, x.shape)])


def put_along_axis(g: Array, indices: Array, *, axis: int, shape: tuple[int, ...]) -> Array:
    """Zeros of `shape` with g added at places along an axis: the transpose of `take_along_axis`."""
    out = np.zeros(shape, g.dtype)
    if indices.shape[axis] == 1:
        out[along(indices, axis)] = g
    else:
        combine_along(np.add, out, indices, g, axis=axis)
    return out


def indexing(indices: Array) -> Array:
    """Integers as `take`, `repeat` and `bincount` want them, which on 32-bit systems do not accept int64."""
    return indices.astype(np.intp, copy=False)


def long(found: Array) -> Array:
    """Indices and counts that NumPy has found as int64, torch's dtype of them; on 32-bit systems NumPy's is int32."""
    return found.astype(np.int64, copy=False)


def longs(function: Function) -> Function:
    """The function with its results as int64."""
    return functools.wraps(function)(lambda *args, **options: long(function(*args, **options)))


def in_rows(x: Array, indices: Array) -> Array:
    """Where the elements of a contiguous array lie that `indices` takes of each of its rows, counted from its first."""
    *outer, size = x.shape
    return indexing((few_starts if x.size < SMALL else _starts)(math.prod(outer), size) + indices)


def _starts(rows: int, length: int) -> Array:
    """Where the rows of a matrix begin."""
    return np.arange(0, rows * length, length, dtype=np.intp)


few_starts = functools.lru_cache(maxsize=256)(_starts)


def take_rows(x: Array, indices: Array) -> Array:
    """One element of each row of a matrix, from the column that `indices` gives."""
    return x[np.arange(len(indices)), indices]


def put_rows(g: Array, indices: Array, *, shape: tuple[int, int]) -> Array:
    """Zeros of `shape` with g in each row at the column that `indices` gives: the transpose of `take_rows`."""
    out = np.zeros(shape, g.dtype)
    out[np.arange(shape[0]), indices] = g
    return out


def reshape(x: Array, *, shape: tuple[int, ...]) -> Array:
    """x with another shape, without copying where the layout allows it."""
    return x.reshape(shape)


def permute_dims(x: Array, *, axes: tuple[int, ...]) -> Array:
    """The axes in another order.

    >>> import pullback
    >>> pullback.zeros(2, 3, 4).permute(2, 0, 1).shape
    pullback.Size([4, 2, 3])
    """
    return x.transpose(axes)


def concat(*arrays: Array, axis: int, sizes: tuple[int, ...]) -> Array:
    """Arrays joined along an axis; `sizes` are their lengths there, which the transpose needs."""
    return joined(arrays, axis)


def joined(arrays: Sequence[Array], axis: int) -> Array:
    """Arrays joined along an axis, in order in memory; NumPy would keep the order of arrays that are transposed."""
    return in_order(np.concatenate(arrays, axis))


def stack(*arrays: Array, axis: int) -> Array:
    """Arrays joined along a new axis: NumPy's function at half its cost."""
    place = (*[slice(None)] * axis, None)
    return joined([x[place] for x in arrays], axis)


def einsum(*arrays: Array, equation: str) -> Array:
    """Sums of products over labeled axes."""
    if len(arrays) == 2 and (product := contracted(*arrays, equation)) is not None:
        return in_order(product)
    result = np.einsum(equation, *arrays, optimize=in_pairs([x.shape for x in arrays]))
    return in_order(result) if result.base is None else result.copy()  # of one array NumPy's result may be a view


def overwrite(x: Array, value: Array, *, path: Sequence[tuple[Primitive, Params]]) -> Array:
    """A copy of x whose view along `path`, a chain of (primitive, metadata), holds value."""
    out = np.array(x, order="C")
    view = replay(out, path=path)
    if view.size and not np.shares_memory(view, out):  # a view of x, whose layout differs, is none of out
        numbers = np.arange(_parts(out).size, dtype=np.float64).view("D" if out.dtype.kind == "c" else "d")
        place = replay(numbers.reshape(out.shape), path=path)
        _parts(out)[_parts(in_order(place)).astype(np.intp)] = _parts(
            np.array(np.broadcast_to(value, place.shape), view.dtype, order="C")
        )
    else:
        view[...] = value
    return out


def _parts(x: Array) -> Array:
    """The elements one after another, of complex ones the two parts; a view where they lie so."""
    flat = reshaped_view(x, -1)
    return flat.view(flat.real.dtype)


def replay(x: Array, *, path: Sequence[tuple[Primitive, Params]]) -> Array:
    """x through a chain of views, each a pair of primitive and metadata."""
    for primitive, params in path:
        x = primitive.forward(x, **params)
    return x


def index_put(x: Array, value: Array, *arrays: Array, spec: tuple[object, ...]) -> Array:
    """A copy of x that holds value at an advanced index."""
    out = np.array(x, order="C")
    out[place(arrays, spec)] = value
    return out


def power(x: Array, *, exponent: float) -> Array:
    """x to a Python number; NumPy's operator has quick ways for 2, 1, 0.5, 0 and -1, and needs 40 times as long for 3."""
    if exponent == 3:
        return x * x * x
    return x**exponent


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)); an exponential that overflows gives the right 0."""
    below = np.exp(-x)
    below += constant(1, x.dtype)
    return np.reciprocal(below)


def sign(x: Array) -> Array:
    """x / abs(x), for complex numbers too; 0 at 0 and at NaN, as torch has it."""
    if x.dtype.kind == "c":
        return np.where(x == 0, constant(0, x.dtype), x / np.abs(x))
    zero = constant(0, x.dtype)
    return np.subtract(x > zero, x < zero, dtype=x.dtype)


VECTORS: Threshold = 1 << 11  # elements from which on it pays to choose the loops that NumPy vectorizes


def relu(x: Array) -> Array:
    """max(x, 0); NaN stays NaN. NumPy vectorizes the maximum of two arrays, not that of an array and a number."""
    return np.maximum(x, np.zeros(x.shape[-1:], x.dtype) if x.size > VECTORS else constant(0, x.dtype))


def select(condition: Array, x: Array) -> Array:
    """x where a condition holds, that is, is not zero; else 0.

    Of many real numbers the bits are multiplied by 1 or 0 as whole numbers, so that inf and NaN become 0 as well: a
    quarter of the time of `np.where` (14 us against 59 for 10 000).
    """
    if x.size < VECTORS or x.dtype.kind != "f" or condition.shape != x.shape:
        return np.where(condition, x, constant(0, x.dtype))
    bits = np.multiply(x.view(f"i{x.dtype.itemsize}"), condition.astype(np.bool_, copy=False))
    return bits.view(x.dtype)


def rsub(a: Array, b: Array) -> Array:
    """b - a."""
    return np.subtract(b, a)
