"""Normalization: values shifted and scaled to a mean of zero and a variance of one along axes.

`known` holds the statistics of x if the caller has computed them. They depend on x nevertheless: a rule that is
differentiated itself computes them again from x.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

import numpy as np

from .._core import machine, xp as _xp
from .._core.primitives import general, linear
from .._core.xp import RAW
from .._numerics import blocks

if TYPE_CHECKING:
    from .._core.typing import Array, NumpyType, Operations, Same, Tensor, Threshold
    from ..compile.machine.tasks import BoundKernels

Result = TypeVar("Result")

FEW: Threshold = 1 << 10  # shorter sums are computed by `_xp.sum`, which has less overhead
LONGEST: Threshold = 1 << 14  # longer sums are computed by `_xp.sum`, which keeps the rounding error small
MERGED: Threshold = 1 << 14  # from this size on, summing rows separately and merging the sums pays off
SHORTEST: Threshold = 1 << 6  # minimum length of partial sums: `einsum` has a fixed cost for each


class _Plan(NamedTuple):
    """How to sum over the first and the last axes of an array."""

    cut: int  # elements to sum at the end,
    end: int  # in parts of this length,
    front: int  # and elements to sum at the front
    shape: tuple[int, ...]  # of the result


@functools.lru_cache(maxsize=256)
def _plan(shape: tuple[int, ...], axis: tuple[int, ...]) -> _Plan | None:
    """How to sum over axes; None for axes in the middle, and for sums that are too long or too short."""
    last = len(shape)
    while last and last - 1 in axis:
        last -= 1
    first = 0
    while first < last and first in axis:
        first += 1
    front, end = math.prod(shape[:first]), math.prod(shape[last:])
    if first + len(shape) - last != len(axis) or 0 in shape or front > LONGEST:
        return None
    cut = 1
    for size in reversed(shape[last:]):
        if cut * size > LONGEST:
            break
        cut *= size
    if cut < min(end, SHORTEST):
        return None
    return _Plan(cut, end, front, tuple(1 if i in axis else size for i, size in enumerate(shape)))


def inner(axis: tuple[int, ...], x: Array, *others: Array) -> Array:
    """The sum of an array, or of the product of two, over axes, which are kept with length 1.

    Where `_plan` allows it `einsum` is used, which takes a third of the time of NumPy's sum.
    """
    plan = _plan(x.shape, axis) if x.size >= FEW and x.dtype.kind == "f" and x.dtype.itemsize >= 4 else None
    if plan is None:
        return _xp.sum(np.multiply(x, *others) if others else x, axis=axis, keepdims=True)
    if plan.end > 1:
        x = np.einsum("ij,ij->i" if others else "ij->i", *(part.reshape(-1, plan.cut) for part in (x, *others)))
        if plan.end > plan.cut:
            x = np.add.reduce(x.reshape(-1, plan.end // plan.cut), 1)
    elif others:
        x = np.multiply(x, *others)
    if plan.front > 1:
        x = machine.dot(_xp.ones(plan.front, x.dtype), x.reshape(plan.front, -1))
    return x.reshape(plan.shape)


def _total(xp: Operations, g: Tensor, x_shape: tuple[int, ...], *, axis: tuple[int, ...]) -> Tensor:
    return xp.broadcast_to(g, shape=x_shape)


def count(shape: tuple[int, ...], axis: tuple[int, ...]) -> int:
    """The number of elements along axes."""
    return math.prod([shape[i] for i in axis])


@functools.lru_cache(maxsize=256)
def _number(shape: tuple[int, ...], axis: tuple[int, ...], dtype: NumpyType) -> Array:
    """The number of elements along axes, at least 1, in a dtype."""
    return np.array(max(count(shape, axis), 1), dtype)


def _over(function: Callable[[slice], Result], x: Array) -> list[Result]:
    """The results of a function for blocks of the first axis of x, in order, computed by several threads."""
    found: dict[int, Result] = {}

    def part(start: int, stop: int) -> None:
        found[start] = function(slice(start, stop))

    blocks.pieces(part, len(x), x[0].nbytes)
    return [found[start] for start in sorted(found)]


def _merged(parts: Sequence[tuple[Array, ...]], axis: tuple[int, ...]) -> list[Array]:
    """The results of several sums over blocks of the first axis, each merged into one array."""
    return [functools.reduce(np.add, part) if 0 in axis else np.concatenate(part) for part in zip(*parts, strict=True)]


def _of(value: Array, rows: slice) -> Array:
    """The slice of a value for some rows; the value itself if it is shared by all rows."""
    return value if len(value) == 1 else value[rows]


class Known(NamedTuple):
    """The statistics of an array over axes, which are kept with length 1."""

    mean: Array
    variance: Array
    scale: Array  # 1 / sqrt(variance + eps)
    centred: Array | None  # the array less its mean, if it is small; else None


class _NormalizedRows(NamedTuple):
    """An array divided into contiguous rows for compiled code, and the axes over which the rows' sums are merged."""

    code: BoundKernels
    heads: tuple[int, ...]
    """The shape of an array with one value per row."""
    merged: tuple[int, ...]
    """The axes of such an array over which sums continue."""
    shared: dict[str, int]
    """How rows share statistics and weights, as arguments of the compiled code."""

    def numbers(self, count: int, dtype: NumpyType) -> list[Array]:
        """Empty arrays with one value for each row."""
        return [np.empty(self.heads, dtype) for _ in range(count)]

    def total(self, numbers: Array) -> Array:
        """The sums over all rows that share statistics."""
        return _xp.sum(numbers, axis=self.merged, keepdims=True) if self.merged else numbers

    def of(self, weight: Array, ndim: int) -> Array:
        """A weight reshaped to broadcast against one value per row."""
        return weight.reshape(weight.shape[: weight.ndim - ndim + len(self.heads)])


class _Cut(NamedTuple):
    """How an array is divided into rows: their size, the axes in front of them, and what rows share."""

    size: int
    heads: tuple[int, ...]
    merged: tuple[int, ...]
    shared: dict[str, int] | None


@functools.lru_cache(maxsize=256)
def _cut(shape: tuple[int, ...], axis: tuple[int, ...], weight: tuple[int, ...] | None) -> _Cut:
    """The division of an array into rows that lie along `axis`, and along which a weight of a shape is constant."""
    first, size = len(shape), 1
    rest = range(len(shape)) if weight is None else _repeated(shape, weight)
    while first and first - 1 in axis and first - 1 in rest and size * shape[first - 1] <= machine.LONGEST:
        first -= 1
        size *= shape[first]
    heads = shape[:first]
    own, others, shared = _order(heads, axis), _order(heads, rest), None
    if own and others and (weight is None or np.broadcast_shapes(shape, weight) == shape):
        shared = {"each": own[0], "of": own[1], "weight_each": others[0], "weight_of": others[1]}
    return _Cut(size, heads, tuple(i for i in axis if i < first), shared)


def _order(heads: tuple[int, ...], along: Sequence[int]) -> tuple[int, int] | None:
    """How rows share values that are constant along axes: (rows in turn, values); None if no such pair describes it."""
    own = [i for i, size in enumerate(heads) if i not in along and size != 1]
    if not own:
        return 1, 1
    found = math.prod(heads[i] for i in own)
    return (math.prod(heads[own[-1] + 1 :]), found) if math.prod(heads[own[0] : own[-1] + 1]) == found else None


def _rows(x: Array, axis: tuple[int, ...], weight: Array | None = None) -> _NormalizedRows | None:
    """The rows of an array along axes, along which a weight is constant; None if there is no compiled code for them."""
    if x.size < machine.WORTH:
        return None
    size, heads, merged, shared = _cut(x.shape, axis, None if weight is None else weight.shape)
    if shared is None or (merged and x.size < MERGED) or (code := machine.rows(x, size)) is None:
        return None
    return _NormalizedRows(code, heads, merged, shared)


def _alone(x: Array, axis: tuple[int, ...], weight: Array) -> BoundKernels | None:
    """Compiled code for rows with separate statistics and one weight per element of a row; None if not available."""
    rows = _rows(x, axis)
    if rows is None or rows.merged or weight.shape != x.shape[len(rows.heads) :] or not weight.flags.c_contiguous:
        return None
    return rows.code


def statistics(x: Array, axis: tuple[int, ...], eps: float) -> Known:
    """The statistics of an array over axes."""
    number = _number(x.shape, axis, x.dtype)
    centred = None
    if (rows := _rows(x, axis)) is not None:
        mean, variance = _merged_moments(x, rows)
    elif x.nbytes <= blocks.BLOCK:
        mean = inner(axis, x) / number
        centred = x - mean
        variance = inner(axis, centred, centred) / number
    else:
        mean, variance = _moments(x, axis, number)
    return Known(mean, variance, np.reciprocal(np.sqrt(variance + _xp.constant(eps, x.dtype))), centred)


def _merged_moments(x: Array, rows: _NormalizedRows) -> tuple[Array, Array]:
    """The mean and the variance from those of the rows: the mean variance of rows plus the variance of their means."""
    mean, variance = rows.numbers(2, x.dtype)
    rows.code("moments", x=x, mean=mean, variance=variance)
    if rows.merged:
        number = _number(rows.heads, rows.merged, x.dtype)
        means, mean = mean, rows.total(mean) / number
        means -= mean
        rest = rows.total(means) / number  # the rounding error of the sum of large means
        rest[np.isnan(rest)] = 0  # an infinite mean stays infinite
        mean += rest
        means -= rest
        means *= means
        variance += means
        variance = rows.total(variance) / number
    shape = mean.shape + (1,) * (x.ndim - mean.ndim)
    return mean.reshape(shape), variance.reshape(shape)


def _moments(x: Array, axis: tuple[int, ...], number: Array) -> tuple[Array, Array]:
    """The mean and the variance of a large array, in one pass unless a large mean would cost the variance digits."""

    def sums(rows: slice) -> tuple[Array, Array]:
        return inner(axis, x[rows]), inner(axis, x[rows], x[rows])

    def squares(rows: slice) -> tuple[Array]:
        centred = x[rows] - _of(mean, rows)
        return (inner(axis, centred, centred),)

    mean, second = (total / number for total in _merged(_over(sums, x), axis))
    variance = second - mean * mean
    if not (4 * variance >= mean * mean).all():
        variance = _merged(_over(squares, x), axis)[0] / number
    return mean, variance


def _centred(xp: Operations, x: Same, axis: tuple[int, ...], eps: float, known: Known | None) -> tuple[Same, Same]:
    """x less its mean, which callers must not write to, and the reciprocal standard deviation."""
    if known is not None and xp is RAW:
        centred = x - known.mean if known.centred is None else xp.asarray(known.centred)
        return centred, xp.asarray(known.scale)
    number = max(count(x.shape, axis), 1)
    centred = x - xp.total(x, axis=axis) / number
    return centred, xp.rsqrt(xp.total(centred * centred, axis=axis) / number + eps)


def _standardize_forward(x: Array, *, axis: tuple[int, ...], eps: float, known: Known | None = None) -> Array:
    mean, _, scale, centred = known or statistics(x, axis, eps)
    if centred is not None:
        return _xp.in_order(centred * scale)
    out = np.empty(x.shape, x.dtype)
    if (rows := _rows(x, axis)) is not None:
        if rows.merged:
            one, zero = (_xp.constant(number, x.dtype) for number in (1, 0))
            rows.code("scaled", x=x, mean=mean, scale=scale, weight=one, bias=zero, out=out, **rows.shared)
        else:
            rows.code("standardize", x=x, mean=mean, scale=scale, out=out)
        return out

    def write(rows: slice) -> None:
        part = out[rows]
        np.subtract(x[rows], _of(mean, rows), part)
        np.multiply(part, _of(scale, rows), part)

    _over(write, x)
    return out


def _standardize_pullback_forward(
    given: Array, x: Array, *, axis: tuple[int, ...], eps: float, known: Known | None = None
) -> Array:
    known = known or statistics(x, axis, eps)
    mean, _, scale, centred = known
    number = _number(x.shape, axis, x.dtype)
    if centred is not None:
        return _to_input(given, centred, scale, scale, inner(axis, given), inner(axis, given, centred), number)
    out = np.empty(x.shape, x.dtype)
    if (rows := _rows(x, axis)) is not None:
        given = np.ascontiguousarray(given)
        if rows.merged:
            _shared(rows, given, x, known, number, None, out)
        else:
            rows.code("standardize_pullback", x=x, mean=mean, scale=scale, given=given, out=out)
        return out

    def sums(rows: slice) -> tuple[Array, Array, Array, Array]:
        g, centred = given[rows], x[rows] - _of(mean, rows)
        return inner(axis, g), inner(axis, g, centred), g, centred

    def write(rows: slice) -> None:
        first, second, g, centred = sums(rows)
        if whole is not None:
            first, second = whole
        factor, part = _of(scale, rows), out[rows]
        np.multiply(centred, second * (factor * factor / number), centred)
        np.subtract(g, first / number, part)
        np.subtract(part, centred, part)
        np.multiply(part, factor, part)

    whole = _merged(_over(lambda rows: sums(rows)[:2], x), axis) if 0 in axis else None
    _over(write, x)
    return out


def _affine_forward(
    x: Array, weight: Array, bias: Array, *, axis: tuple[int, ...], eps: float, known: Known | None = None
) -> Array:
    if known is not None and known.centred is None:
        out = np.empty(x.shape, x.dtype)
        parts: dict[str, Array | int] = {"x": x, "mean": known.mean, "scale": known.scale, "weight": weight, "out": out}
        if (code := _alone(x, axis, weight)) is not None:
            code("affine", bias=np.ascontiguousarray(bias), **parts)
            return out
        if weight.shape == bias.shape and (rows := _rows(x, axis, weight)) is not None:
            parts["weight"] = np.ascontiguousarray(weight)
            rows.code("scaled", bias=np.ascontiguousarray(bias), **parts, **rows.shared)
            return out
    centred, scale = _centred(RAW, x, axis, eps, known)
    own = None if known is not None and centred is known.centred else centred
    if _constant(x.shape, weight.shape, axis):
        out = np.multiply(centred, scale * weight, own)
    else:
        out = _within(np.multiply, np.multiply(centred, scale, own), weight)
    return _xp.in_order(_within(np.add, out, bias))


def _within(function: np.ufunc, out: Array, other: Array) -> Array:
    """A function of two arrays, written into the first unless the second is larger, as a batch of weights is."""
    try:
        return function(out, other, out)
    except ValueError:  # nothing has been written
        return function(out, other)


@functools.lru_cache(maxsize=256)
def _repeated(shape: tuple[int, ...], weight_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of x along which a weight is broadcast."""
    new = len(shape) - len(weight_shape)
    return tuple(i for i, size in enumerate(shape) if i < new or weight_shape[i - new] != size)


@functools.lru_cache(maxsize=256)
def _constant(shape: tuple[int, ...], weight_shape: tuple[int, ...], axis: tuple[int, ...]) -> bool:
    """True if a weight is constant along axes."""
    new = len(shape) - len(weight_shape)
    return all(i < new or weight_shape[i - new] == 1 for i in axis)


def _products(xp: Operations, a: Tensor, b: Tensor, axis: tuple[int, ...]) -> Tensor:
    """The sum of products over axes, which are kept; for arrays without the products in memory."""
    if xp is RAW:
        return xp.asarray(inner(axis, cast("Array", a), cast("Array", b)))
    return xp.total(a * b, axis=axis)


def _to_input(g: Same, centred: Same, scale: Same, gain: Same, sums: Same, products: Same, number: Array | int) -> Same:
    """The cotangent of x: g times a gain, minus its projections on the ones and on the centered values."""
    return (g - sums / number) * gain - centred * (products * (gain * scale * scale / number))


def _standardize(
    xp: Operations, g: Tensor, x: Tensor, *, axis: tuple[int, ...], eps: float, known: Known | None = None
) -> Tensor:
    return xp.standardize_pullback(g, x, axis=axis, eps=eps, known=known)


def _by_values(
    xp: Operations,
    g: Tensor,
    given: Tensor,
    x: Tensor,
    *,
    axis: tuple[int, ...],
    eps: float,
    known: Known | None = None,
) -> Tensor:
    """With n = standardize(x), the pullback is the projection scale * (given - mean(given) - n * mean(given * n))."""
    number = max(count(x.shape, axis), 1)
    centred, scale = _centred(xp, x, axis, eps, None)
    normal = centred * scale
    ours, theirs = (xp.total(value * normal, axis=axis) / number for value in (g, given))
    flat = xp.total(g, axis=axis) * xp.total(given, axis=axis) / number**2
    rest = xp.total(g * given, axis=axis) / number - flat - ours * theirs
    turned = xp.standardize_pullback(theirs * g + ours * given, x, axis=axis, eps=eps, known=known)
    return -(normal * (rest * scale * scale) + scale * turned)


def _affine(
    xp: Operations,
    g: Tensor,
    x: Tensor,
    weight: Tensor,
    *,
    axis: tuple[int, ...],
    eps: float,
    needs: Sequence[bool],
    known: Known | None = None,
) -> tuple[Tensor | None, ...]:
    if known is not None and xp is RAW and known.centred is None:
        found = _by_machine_code(cast("Array", g), cast("Array", x), cast("Array", weight), axis, known)
        if found is not None:
            return tuple(map(xp.asarray, found))
    centred, scale = _centred(xp, x, axis, eps, known)
    number = max(count(x.shape, axis), 1)
    if _constant(x.shape, weight.shape, axis):
        sums, products = xp.total(g, axis=axis), _products(xp, g, centred, axis)
        to_x = _to_input(g, centred, scale, scale * weight, sums, products, number) if needs[0] else None
        return to_x, xp.tied(products * scale, x), xp.tied(sums, x)
    rest = _repeated(x.shape, weight.shape)
    if rest + tuple(axis) == tuple(range(x.ndim)) and 0 not in x.shape:
        rows, of_weight, of_bias = _of_rows(xp, g, centred, scale, weight, number)
        return xp.reshape(rows, shape=x.shape), of_weight, xp.tied(of_bias, x)
    to_weight = xp.total(g * (centred * scale), axis=rest) if needs[1] else None
    to_bias = xp.tied(xp.total(g, axis=rest), x) if needs[2] else None
    if not needs[0]:
        return None, to_weight, to_bias
    g = g * weight
    sums, products = xp.total(g, axis=axis), _products(xp, g, centred, axis)
    return _to_input(g, centred, scale, scale, sums, products, number), to_weight, to_bias


def _by_machine_code(
    g: Array, x: Array, weight: Array, axis: tuple[int, ...], known: Known
) -> tuple[Array, ...] | None:
    """The cotangents of an affine normalization by compiled code; None if there is none."""
    out, given = np.empty(x.shape, x.dtype), np.ascontiguousarray(g)
    if (code := _alone(x, axis, weight)) is not None:
        sums = np.zeros((2, code.tasks, *weight.shape), x.dtype)
        parts: dict[str, Array] = {"given": given, "weight": weight, "to_weight": sums[0], "to_bias": sums[1]}
        code("affine_pullback", x=x, mean=known.mean, scale=known.scale, out=out, **parts)
        return out, *np.add.reduce(sums, 1)
    if (rows := _rows(x, axis, weight)) is not None:
        return _of_shared(rows, given, x, weight, known, _number(x.shape, axis, x.dtype), out)
    return None


def _shared(
    rows: _NormalizedRows, given: Array, x: Array, known: Known, number: Array, weight: Array | None, out: Array
) -> tuple[Array, Array]:
    """Write the cotangent of x where rows share statistics; the sums of `given` and of its products with x, per row."""
    sums, products = rows.numbers(2, x.dtype)
    parts: dict[str, Array | int] = {"x": x, "mean": known.mean, "given": given, **rows.shared}
    rows.code("shares", sums=sums, products=products, **parts)
    if weight is None:
        weight = _xp.constant(1, x.dtype)
        shift, slope = rows.total(sums), rows.total(products)
    else:
        own = rows.of(weight, x.ndim)
        shift, slope = rows.total(sums * own), rows.total(products * own)
    factor = known.scale / -number
    shift = shift.reshape(factor.shape) * factor
    slope = slope.reshape(factor.shape) * (factor * known.scale * known.scale)
    weight = np.ascontiguousarray(weight)
    rows.code("mixed", scale=known.scale, weight=weight, slope=slope, shift=shift, out=out, **parts)
    return sums, products


def _of_shared(
    rows: _NormalizedRows, given: Array, x: Array, weight: Array, known: Known, number: Array, out: Array
) -> tuple[Array, ...]:
    """The cotangents where rows share statistics and a weight has one value per row."""
    sums, products = _shared(rows, given, x, known, number, weight, out)
    products *= rows.of(known.scale, x.ndim)
    rest = tuple(i for i in _repeated(x.shape, weight.shape) if i < len(rows.heads))
    to_weight, to_bias = (_xp.sum(part, axis=rest, keepdims=False).reshape(weight.shape) for part in (products, sums))
    return out, to_weight, to_bias


def _of_rows(
    xp: Operations, g: Tensor, centred: Tensor, scale: Tensor, weight: Tensor, number: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The cotangents where each row of a matrix is normalized: all sums are matrix-vector products."""
    rows = count(g.shape, tuple(range(g.ndim))) // number
    g, centred = (xp.reshape(value, shape=(rows, number)) for value in (g, centred))
    gains, weights = xp.reshape(scale, shape=(rows,)), xp.reshape(weight, shape=(number,))
    shares = g * centred
    to_weight = xp.reshape(xp.matmul(gains, shares), shape=weight.shape)
    to_bias = xp.reshape(xp.total(g, axis=(0,)), shape=weight.shape)
    sums, products, column = (
        xp.reshape(value, shape=(rows, 1)) for value in (xp.matmul(g, weights), xp.matmul(shares, weights), gains)
    )
    return _to_input(g * weights, centred, column, column, sums, products, number), to_weight, to_bias


def _scaled(xp: Operations, g: Tensor, x: Tensor, scale: Tensor, *, needs: Sequence[bool]) -> tuple[Tensor | None, ...]:
    rest = _repeated(x.shape, scale.shape)
    to_x = g * scale if needs[0] else None
    to_scale = xp.total(g * x, axis=rest) if needs[1] else None
    return to_x, to_scale, xp.tied(xp.total(g, axis=rest), x) if needs[2] else None


def _root_mean_square(xp: Operations, x: Same, axis: tuple[int, ...], eps: float) -> Same:
    """The reciprocal root mean square."""
    return xp.rsqrt(xp.total(x * x, axis=axis) / max(count(x.shape, axis), 1) + eps)


def _rms(xp: Operations, g: Tensor, x: Tensor, *, axis: tuple[int, ...], eps: float) -> Tensor:
    scale = _root_mean_square(xp, x, axis, eps)
    share = xp.total(g * x, axis=axis) * (scale * scale * scale / max(count(x.shape, axis), 1))
    return g * scale - x * share


def _standardized(
    xp: Operations, x: Tensor, *, axis: tuple[int, ...], eps: float, known: Tensor | None = None
) -> Tensor:
    centred, scale = _centred(xp, x, axis, eps, None)
    return centred * scale


def _standardized_affine(
    xp: Operations,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    *,
    axis: tuple[int, ...],
    eps: float,
    known: Tensor | None = None,
) -> Tensor:
    return _standardized(xp, x, axis=axis, eps=eps) * weight + bias


def _standardized_back(
    xp: Operations, given: Tensor, x: Tensor, *, axis: tuple[int, ...], eps: float, known: Tensor | None = None
) -> Tensor:
    if given.shape != x.shape:
        return NotImplemented
    centred, scale = _centred(xp, x, axis, eps, None)
    number = max(count(x.shape, axis), 1)
    along = xp.total(given * centred, axis=axis) / number * (scale * scale)
    return (given - xp.total(given, axis=axis) / number - centred * along) * scale


# fmt: off
# `tied` is its first input, recorded as if it depended on the second, whose cotangent is zero: torch records biases so.
#                                name                 pullback
tied               = linear("tied",               lambda xp, g: g,  forward=lambda x, other: x, inputs=("x", "other"),
                             view=True)
total              = linear("total",              _total,       title="SumBackward1",
                             forward=lambda x, *, axis: inner(axis, x),
                             definition=lambda xp, x, *, axis: xp.sum(x, axis=axis, keepdims=True))
standardize        = general("standardize",        _standardize, forward=_standardize_forward, definition=_standardized,
                             title="NativeLayerNormBackward0")
standardize_pullback = general("standardize_pullback", _standardize, _by_values, forward=_standardize_pullback_forward,
                             definition=_standardized_back,
                             inputs=("given", "x"),              title="NativeLayerNormBackwardBackward0")
standardize_affine = general("standardize_affine", joint=_affine, forward=_affine_forward, definition=_standardized_affine,
                             inputs=("x", "weight", "bias"),     title="NativeLayerNormBackward0")
scale_and_shift    = general("scale_and_shift",    joint=_scaled, forward=lambda x, scale, shift: _xp.in_order(x * scale + shift),
                             definition=lambda xp, x, scale, shift: x * scale + shift,
                             inputs=("x", "scale", "shift"),     title="NativeBatchNormBackward0")
rms_normalize      = general("rms_normalize",      _rms, forward=lambda x, *, axis, eps: _xp.in_order(x * _root_mean_square(RAW, x, axis, eps)),
                             definition=lambda xp, x, *, axis, eps: x * _root_mean_square(xp, x, axis, eps),
                             title="RmsNormBackward0", complex="holomorphic")
# fmt: on
