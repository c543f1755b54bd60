"""NumPy's reductions, scans and statistics of tensors, with NumPy's parameters.

`names` registers the functions. The modules they use are imported on first call.
"""

from __future__ import annotations

# the signatures of the lambdas have NumPy's parameter names
from typing import TYPE_CHECKING

import numpy as np

from .. import ops
from .._core import dtypes
from .._core.primitives import Function
from .._core.shapes import normalize_axes, normalize_axis
from ..vocabulary import arithmetic, later, reductions, shapes
from ..vocabulary.promotion import cast, inexact
from .operands import on_tensors, tensors

if TYPE_CHECKING:
    from .._core.typing import ArrayLike, Dim, DType, Tensor, TensorLike

_scan = {name: later("vocabulary.scans", name) for name in ("cumprod", "diff", "gradient", "trapezoid")}
_statistic = {name: later("vocabulary.statistics", name) for name in ("cov", "corrcoef", "nanquantile", "quantile")}
_sort, _searchsorted = later("vocabulary.sorting", "sort"), later("vocabulary.sorting", "searchsorted")


def _converted(a: Tensor, dtype: DType | None) -> Tensor:
    """The operand of a mean, converted to a dtype; by default to a real or complex one."""
    return inexact(a) if dtype is None else cast(a, dtypes.as_dtype(dtype).numpy)


def _kept(result: Tensor, a: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """A result without the reduced axes, or, with keepdims, with length 1 along them."""
    if not keepdims:
        return result
    return shapes.reshape(result, [1 if axis in axes else size for axis, size in enumerate(a.shape)])


def _merged(a: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The reduced axes, merged into one, which comes last."""
    rest = [axis for axis in range(a.ndim) if axis not in axes]
    return shapes.reshape(shapes.permute(a, *rest, *axes), *[a.shape[axis] for axis in rest], -1)


def prod(a: Tensor, axis: Dim = None, dtype: DType | None = None, out: object = None, keepdims: bool = False) -> Tensor:
    """The product over several axes, while torch's function takes only one."""
    axes = normalize_axes(axis, a.ndim, "prod")
    return _kept(reductions.prod(_merged(a, axes), -1, dtype=dtype), a, axes, keepdims)


def _filled(a: Tensor, value: float) -> Tensor:
    """The operand with each NaN replaced by a number."""
    if a._dtype.kind not in "fc":
        return a
    return arithmetic.where(ops.isnan(a), np.asarray(value, a._dtype), a)


def _along(function: Function, value: float | None = None) -> Function:
    """cumsum and cumprod, along an axis or of all elements; NaNs are replaced by `value`, if given."""

    def scan(a: Tensor, axis: int | None = None, dtype: DType | None = None, out: object = None) -> Tensor:
        a = a if value is None else _filled(a, value)
        return function(shapes.ravel(a) if axis is None else a, axis or 0, dtype=dtype)

    return scan


def _cumulative(function: Function, start: int) -> Function:
    """cumulative_sum and cumulative_prod, which may start with the initial value."""

    def scan(
        x: Tensor,
        /,
        *,
        axis: int | None = None,
        dtype: DType | None = None,
        out: object = None,
        include_initial: bool = False,
    ) -> Tensor:
        if axis is None and x.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        result = function(x, axis or 0, dtype=dtype)
        if not include_initial:
            return result
        first = list(result.shape)
        first[normalize_axis(axis or 0, x.ndim)] = 1
        return shapes.cat([np.full(first, start, result._dtype), result], axis or 0)

    return scan


def _nan_extreme(function: Function, lowest: float) -> Function:
    """nanmax and nanmin: NaN if all elements are NaN."""

    def extreme(a: Tensor, axis: Dim = None, out: object = None, keepdims: bool = False) -> Tensor:
        result = function(_filled(a, lowest), axis, keepdims)
        if a._dtype.kind not in "fc":
            return result
        return arithmetic.where(reductions.all(ops.isnan(a), axis, keepdims), np.asarray(np.nan, a._dtype), result)

    return extreme


def _nan_variance(
    a: Tensor, axis: Dim = None, dtype: DType | None = None, out: object = None, ddof: float = 0, keepdims: bool = False
) -> Tensor:
    a = _converted(a, dtype)
    centred = _filled(arithmetic.sub(a, reductions.nanmean(a, axis, True)), 0.0)
    squares = reductions.sum(arithmetic.square(arithmetic.abs(centred)), axis, keepdims)
    freedom = arithmetic.sub(reductions.sum(ops.logical_not(ops.isnan(a)), axis, keepdims), ddof)
    return arithmetic.div(squares, arithmetic.where(arithmetic.gt(freedom, 0), freedom, np.nan))


def _nan_deviation(
    a: Tensor, axis: Dim = None, dtype: DType | None = None, out: object = None, ddof: float = 0, keepdims: bool = False
) -> Tensor:
    return arithmetic.sqrt(_nan_variance(a, axis, dtype, None, ddof, keepdims))


def _fractions(function: Function, whole: float) -> Function:
    """quantile and percentile: q may have any number of axes, which come first in the result."""

    def fractions(
        a: ArrayLike,
        q: ArrayLike,
        axis: Dim = None,
        out: object = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
    ) -> Tensor:
        a, q = tensors(a, q)
        a = inexact(a)
        if method not in ("linear", "lower", "higher", "midpoint", "nearest"):
            raise TypeError(
                f"a quantile by the method {method!r} has no derivative here: 'linear' has one, among others"
            )
        axes = normalize_axes(axis, a.ndim, "quantile")
        wanted = arithmetic.div(shapes.reshape(cast(q, a._dtype), -1), whole)
        found = function(_merged(a, axes), wanted, -1, interpolation=method)
        rest = [1 if i in axes else n for i, n in enumerate(a.shape) if keepdims or i not in axes]
        return shapes.reshape(found, *q.shape, *rest)

    return fractions


def _median(function: Function) -> Function:
    """NumPy's median: for an even number of elements the mean of the middle two."""
    quantile = _fractions(function, 1.0)
    return lambda a, axis=None, out=None, overwrite_input=False, keepdims=False: quantile(
        a, 0.5, axis, method="midpoint", keepdims=keepdims
    )


def _average(
    a: ArrayLike, axis: Dim = None, weights: ArrayLike | None = None, returned: bool = False, *, keepdims: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    if weights is None:
        (a,) = tensors(a)
        count = np.prod([a.shape[i] for i in normalize_axes(axis, a.ndim)], dtype=int)
        mean = reductions.mean(inexact(a), axis, keepdims)
        return (mean, arithmetic.add(arithmetic.mul(mean, 0), float(count))) if returned else mean
    a, weights = map(inexact, tensors(a, weights))
    if tuple(a.shape) != tuple(weights.shape):
        if not isinstance(axis, int) or weights.ndim != 1:
            raise TypeError("Axis must be specified when shapes of a and weights differ, and weights be 1-d")
        weights = shapes.reshape(weights, -1, *[1] * (a.ndim - normalize_axis(axis, a.ndim) - 1))
        weights = shapes.expand(weights, *a.shape)
    total = reductions.sum(weights, axis, keepdims)
    mean = arithmetic.div(reductions.sum(arithmetic.mul(a, weights), axis, keepdims), total)
    return (mean, total) if returned else mean


def _ptp(a: Tensor, axis: Dim = None, out: object = None, keepdims: bool = False) -> Tensor:
    return arithmetic.sub(reductions.amax(a, axis, keepdims), reductions.amin(a, axis, keepdims))


def _diff(
    a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None
) -> Tensor:
    parts = [a, *(part for part in (prepend, append) if part is not None)]
    a, *_ = tensors(*parts)
    row = [1 if i == normalize_axis(axis, a.ndim) else size for i, size in enumerate(a.shape)]

    def joined(value: ArrayLike) -> Tensor:
        value = tensors(a, value)[1]
        return value if value.ndim else shapes.broadcast_to(value, row)

    ends = [None if value is None else joined(value) for value in (prepend, append)]
    return _scan["diff"](a, n, axis, *ends)


def _gradient(*varargs: ArrayLike, axis: Dim = None, edge_order: int = 1) -> Tensor | tuple[Tensor, ...]:
    (f,), spacing = tensors(varargs[0]), varargs[1:]
    axes = normalize_axes(axis, f.ndim, "gradient")
    spacing = spacing * len(axes) if len(spacing) == 1 else spacing or (1.0,) * len(axes)
    if len(spacing) != len(axes):
        raise TypeError(f"invalid number of arguments: {len(spacing)} spacings for {len(axes)} axes")
    listed = [value if np.ndim(value) == 0 else tensors(f, value)[1] for value in spacing]
    slopes = _scan["gradient"](f, spacing=listed, dim=axes, edge_order=edge_order)
    return slopes[0] if len(slopes) == 1 else slopes


def _trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Tensor:
    if x is None:
        return _scan["trapezoid"](y, dx=dx, dim=axis)
    return _scan["trapezoid"](*tensors(y, x), dim=axis)


def _variables(m: ArrayLike, y: ArrayLike | None, rowvar: bool) -> Tensor:
    """The variables of a covariance matrix, as rows."""

    def rows(value: Tensor) -> Tensor:
        if value.ndim < 2:
            return shapes.reshape(value, 1, -1)
        return value if rowvar else shapes.transpose(value, 0, 1)

    given = tensors(*([m] if y is None else [m, y]))
    return shapes.cat([rows(inexact(value)) for value in given], 0)


def _cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    *,
    dtype: DType | None = None,
) -> Tensor:
    correction = ddof if ddof is not None else int(not bias)
    rows = _variables(m, y, rowvar)
    rows = rows if dtype is None else _converted(rows, dtype)
    weights = [None if value is None else tensors(rows, value)[1] for value in (fweights, aweights)]
    return _statistic["cov"](rows, correction=correction, fweights=weights[0], aweights=weights[1])


def _sorted(a: Tensor, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None) -> Tensor:
    return _sort(shapes.ravel(a), 0).values if axis is None else _sort(a, axis).values


def _interp(
    x: Tensor,
    xp: Tensor,
    fp: Tensor,
    left: TensorLike | None = None,
    right: TensorLike | None = None,
    period: float | None = None,
) -> Tensor:
    x, xp, fp = map(inexact, tensors(x, xp, fp))
    if period is not None:  # with a period, one point before and one after it are added to the sorted points
        x, xp, left, right = on_tensors.remainder(x, abs(period)), on_tensors.remainder(xp, abs(period)), None, None
        sorting = np.argsort(xp)
        order = np.concatenate([sorting[-1:], sorting, sorting[:1]])
        shifts = np.array([-1.0, *[0.0] * (order.size - 2), 1.0])
        xp, fp = on_tensors.take(xp, order) + shifts * abs(period), on_tensors.take(fp, order)
    values = cast(shapes.reshape(x, -1), xp._dtype)
    places = arithmetic.clamp(_searchsorted(xp.detach(), values.detach(), right=True), 1, xp.shape[0] - 1)
    low, high, below, above = (
        ops.take_along_axis(points, place, axis=0)
        for points in (xp, fp)
        for place in (arithmetic.sub(places, 1), places)
    )
    weight = arithmetic.div(arithmetic.sub(values, low), arithmetic.sub(high, low))
    result = arithmetic.add(below, arithmetic.mul(weight, arithmetic.sub(above, below)))
    result = arithmetic.where(arithmetic.lt(values, xp[0]), fp[0] if left is None else left, result)
    result = arithmetic.where(arithmetic.gt(values, xp[-1]), fp[-1] if right is None else right, result)
    return shapes.reshape(result, *x.shape)


def _total(function: Function) -> Function:
    return lambda a, axis=None, dtype=None, out=None, keepdims=False: function(a, axis, keepdims, dtype=dtype)


# fmt: off
STATISTICS: dict[str, Function] = {  # by name, since not all versions of NumPy have all of them
    **dict.fromkeys(("cumprod", "cumproduct"), _along(_scan["cumprod"])),
    "nansum": _total(reductions.nansum),
    "nanmean": _total(lambda a, axis, keepdims, dtype: reductions.nanmean(_converted(a, dtype), axis, keepdims)),
    "nanprod": lambda a, axis=None, dtype=None, out=None, keepdims=False: prod(
        _filled(a, 1.0), axis, dtype, None, keepdims),
    "nancumsum": _along(reductions.cumsum, 0.0), "nancumprod": _along(_scan["cumprod"], 1.0),
    "nanmax": _nan_extreme(reductions.amax, -np.inf), "nanmin": _nan_extreme(reductions.amin, np.inf),
    "nanvar": _nan_variance, "nanstd": _nan_deviation,
    "quantile": _fractions(_statistic["quantile"], 1.0), "percentile": _fractions(_statistic["quantile"], 100.0),
    "nanquantile": _fractions(_statistic["nanquantile"], 1.0),
    "nanpercentile": _fractions(_statistic["nanquantile"], 100.0),
    "median": _median(_statistic["quantile"]), "nanmedian": _median(_statistic["nanquantile"]),
    "average": _average, "ptp": _ptp, "diff": _diff, "gradient": _gradient,
    "trapezoid": _trapezoid, "trapz": _trapezoid,
    "cumulative_sum": _cumulative(reductions.cumsum, 0), "cumulative_prod": _cumulative(_scan["cumprod"], 1),
    "cov": _cov, "corrcoef": lambda x, y=None, rowvar=True: _statistic["corrcoef"](_variables(x, y, rowvar)),
    "sort": _sorted, "msort": lambda a: _sorted(a, 0), "interp": _interp,
}
# fmt: on
