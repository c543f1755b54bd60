"""Statistics: covariances, medians, quantiles and histograms."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ops
from .._core.bfloat import finfo
from .._core.modes import quiet
from .._core.primitives import Carrier
from .._core.shapes import normalize_axis
from .._core.sites import warn
from .._core.values import concrete, each, every, require_operand, require_tensor
from .._tape.views import beside
from . import arithmetic, functions, of_tensor, products, reductions, shapes, sorting
from .promotion import cast, category, inexact, overflow
from .sorting import Selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, Tensor


def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariance matrix of variables, the rows of the input, over observations, its columns.

    `fweights` are the numbers of occurrences of the observations, `aweights` their relative weights.

    Parameters
    ----------
    correction
        What is subtracted from the number of samples, in what is divided by.
    fweights
        How often each sample was seen.
    aweights
        The weight of each sample.

    >>> import pullback
    >>> pullback.cov(pullback.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got {input.ndim} dimensions")
    if input._dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = inexact(input if input.ndim == 2 else shapes.reshape(input, 1, -1))
    count: int = rows.shape[1]
    _check_weights("fweights", fweights, count, "iu", "integral")
    _check_weights("aweights", aweights, count, "f", "floating point")
    weights: Tensor | None = (
        fweights if aweights is None else aweights if fweights is None else arithmetic.mul(fweights, aweights)
    )
    weighted = rows if weights is None else arithmetic.mul(rows, weights)
    total: Tensor | int = count if weights is None else reductions.sum(weights)
    centred = arithmetic.sub(rows, arithmetic.div(reductions.sum(weighted, 1, True), total))
    weighted = centred if weights is None else arithmetic.mul(centred, weights)
    lost: Any = correction
    if weights is not None and aweights is not None and correction:
        lost = arithmetic.div(arithmetic.mul(reductions.sum(arithmetic.mul(weights, aweights)), correction), total)
    freedom: Tensor | float = arithmetic.sub(total, lost) if isinstance(total, Carrier) else total - lost
    if np.any(every(freedom) <= 0):
        warn(
            f"cov(): degrees of freedom is <= 0: correction {correction} should be less than the number of observations"
        )
        freedom = arithmetic.clamp(freedom, min=0.0) if isinstance(freedom, Carrier) else 0.0
    product = products.matmul(weighted, ops.conj(shapes.matrix_transpose(centred)))
    return shapes.squeeze(arithmetic.div(product, freedom))


def _check_weights(name: str, weights: Tensor | None, count: int, kinds: str, wanted: str) -> None:
    if weights is None:
        return
    require_tensor("cov", name, weights, 2)
    if weights.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {weights.ndim} dimensions")
    if category(weights)[0].kind not in kinds:
        raise RuntimeError(f"cov(): expected {name} to have {wanted} dtype but got {name} with {weights.dtype} dtype")
    if weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {count}"
        )
    if count and (every(weights) < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")


def corrcoef(input: Tensor) -> Tensor:
    """The correlation matrix of variables, the rows of the input, over observations, its columns: from -1 to 1.

    >>> import pullback
    >>> pullback.corrcoef(pullback.tensor([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])).round(decimals=3)
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got {input.ndim} dimensions"
        )
    covariances = cov(input)
    if not covariances.ndim:
        return arithmetic.div(covariances, covariances)
    variances = ops.diagonal(covariances, axes=(0, 1))
    deviations = arithmetic.sqrt(arithmetic.abs(variances) if variances._dtype.kind == "c" else variances)
    scaled = arithmetic.div(arithmetic.div(covariances, shapes.unsqueeze(deviations, 1)), deviations)
    return scaled if scaled._dtype.kind == "c" else arithmetic.clamp(scaled, -1, 1)


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The median, the lower one of an even number of elements; along a dim, (values, indices). NaN if any is NaN.

    >>> import pullback
    >>> pullback.median(pullback.tensor([4.0, 1.0, 3.0, 2.0]))
    tensor(2.)
    """
    return _median("median", input, dim, keepdim, skip=False)


def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The median of the elements that are not NaN; arguments and results as those of `median`.

    >>> import pullback
    >>> pullback.nanmedian(pullback.tensor([1.0, float("nan"), 3.0, 5.0]))
    tensor(3.)
    """
    return _median("nanmedian", input, dim, keepdim, skip=True)


def _median(name: str, input: Tensor, dim: int | None, keepdim: bool, *, skip: bool) -> Any:
    arithmetic.refuse_unordered(name, input._dtype)
    if dim is None:
        return ops.median(input, axis=tuple(range(input.ndim)), keepdims=False, skip=skip)
    place = _nonempty(name, input, dim)
    if not input.ndim:
        return sorting.alone(input)
    return sorting.picked(
        input, ops.argmedian(input, axis=place, skip=skip), place, keepdim, f"{name.title()}Backward1"
    )


def _nonempty(name: str, input: Tensor, dim: int) -> int:
    place = normalize_axis(dim, input.ndim, name)
    if input.ndim and not input.shape[place]:
        raise IndexError(f"{name}(): Expected reduction dim {place} to have non-zero size.")
    return place


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Selection:
    """The most frequent element along a dim, the smallest of several, and its index: (values, indices).

    >>> import pullback
    >>> pullback.mode(pullback.tensor([3, 1, 3, 2]))
    Selection(values=tensor(3), indices=tensor(2))
    """
    arithmetic.refuse_unordered("mode", input._dtype)
    place = _nonempty("mode", input, dim)
    if not input.ndim:
        return sorting.alone(input)
    return sorting.picked(input, ops.argmode(input, axis=place), place, keepdim, "ModeBackward0")


INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(
    input: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The quantiles for fractions q, of all elements or along a dim; NaN if any element is.

    A 1-d q gives results along a new first axis. `interpolation` between two elements is 'linear', 'lower', 'higher',
    'midpoint' or 'nearest'.

    Parameters
    ----------
    q
        The quantiles, between 0 and 1.
    interpolation
        'linear', 'lower', 'higher', 'midpoint' or 'nearest', between two elements.

    >>> import pullback
    >>> pullback.quantile(pullback.tensor([0.0, 1.0, 2.0, 3.0]), 0.6)
    tensor(1.8000)
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


def nanquantile(
    input: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The quantiles of the elements that are not NaN; arguments and results as those of `quantile`.

    Parameters
    ----------
    q
        The quantiles, between 0 and 1.
    interpolation
        'linear', 'lower', 'higher', 'midpoint' or 'nearest', between two elements.

    >>> import pullback
    >>> pullback.nanquantile(pullback.tensor([1.0, float("nan"), 3.0]), 0.5)
    tensor(2.)
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)


def _quantile(
    name: str, input: Tensor, q: Tensor | float, dim: int | None, keepdim: bool, interpolation: str
) -> Tensor:
    q = _checked_fractions(name, input, q, interpolation)
    place = None if dim is None else normalize_axis(dim, input.ndim, name)
    if place is None or not input.ndim:
        rows, axis, kept = shapes.reshape(input, -1), 0, (1,) * input.ndim
    else:
        rows, axis = input, place
        kept = (*input.shape[:place], 1, *input.shape[place + 1 :])
    last = rows.ndim - 1
    ordered = sorting.sort(shapes.movedim(rows, axis, last), last).values
    fractions = shapes.reshape(q, -1)
    ranks = _ranks(ordered, fractions, skip=name == "nanquantile")
    found = _between(ordered, ranks, interpolation)
    if q.ndim:
        found = shapes.movedim(found, last, 0)
        return shapes.reshape(found, fractions.numel(), *(kept if keepdim else _reduced(input, place)))
    shape = tuple(kept if keepdim else _reduced(input, place))
    return beside(ops.reshape, found, shape=shape) if found.ndim else found


def _reduced(input: Tensor, place: int | None) -> tuple[int, ...]:
    return () if place is None else (*input.shape[:place], *input.shape[place + 1 :])


def _checked_fractions(name: str, input: Tensor, q: Any, interpolation: str) -> Tensor:
    """q as an operand of the input's dtype."""
    if input._dtype.kind != "f":
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype, not {input.dtype}")
    if input.numel() == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if not isinstance(q, (float, int, np.generic)):
        require_operand(name, "q", q, 2)
    if not isinstance(q, Carrier):
        q = input.interpreter.wrap(quiet.run(np.asarray, q, input._dtype), None)
    if q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor, not of shape {tuple(q.shape)}")
    if q._dtype != input._dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor: {q.dtype}, {input.dtype}")
    fractions = every(q)
    if not ((fractions >= 0) & (fractions <= 1)).all():
        raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {fractions.tolist()}")
    return q


def _ranks(ordered: Tensor, fractions: Tensor, *, skip: bool) -> Tensor:
    """The fractional index of each quantile in the sorted rows; the last index, a NaN, for rows with a NaN."""
    size = ordered.shape[-1]
    absent = reductions.sum(ops.isnan(ordered), -1, True)
    if not skip:
        ranks = arithmetic.mul(fractions, size - 1)
        return arithmetic.where(arithmetic.gt(absent, 0), float(size - 1), ranks)
    counted = arithmetic.clamp(arithmetic.rsub(absent, size - 1), min=0)
    return arithmetic.mul(fractions, counted)


def _between(ordered: Tensor, ranks: Tensor, interpolation: str) -> Tensor:
    """The elements of each row at fractional indices, interpolated."""

    def taken(rank: Tensor) -> Tensor:
        places = cast(rank.detach(), np.dtype(np.int64))
        return ops.take_along_axis(ordered, places, axis=ordered.ndim - 1)

    if interpolation == "nearest":
        return taken(ops.rint(ranks))
    below = ops.floor(ranks)
    if interpolation == "lower":
        return taken(below)
    above = taken(ops.ceil(ranks))
    if interpolation == "higher":
        return above
    weight = 0.5 if interpolation == "midpoint" else arithmetic.sub(ranks, below)
    low = taken(below)
    return functions.lerp(low, above, weight)


# Counts have no derivative: they are computed by NumPy from the values.


class Histogram(NamedTuple):
    """Counts, and the bin edges."""

    hist: Tensor
    bin_edges: Tensor | tuple[Tensor, ...]


def _value(tensor: object) -> Any:
    return concrete(tensor, "histogram")


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """The number of elements in each of several bins of equal width from min to max, or over their range if both are 0.

    Parameters
    ----------
    bins
        The number of bins.

    >>> import pullback
    >>> pullback.histc(pullback.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    if not hasattr(type(bins), "__index__"):
        raise TypeError(f"histc(): argument 'bins' (position 2) must be int, not {type(bins).__name__}")
    bins, min, max = operator.index(bins), float(min), float(max)
    if bins <= 0:
        raise RuntimeError(f"histc(): bins must be > 0, but got {bins}")
    if max < min:
        raise RuntimeError(f"histc(): max must be larger than min, but got min {min} and max {max}")
    if input._dtype.kind not in "fiu":
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{input._type_name}'")
    for bound in (min, max):
        if input._dtype.kind == "f" and float(finfo(input._dtype).max) < abs(bound) < math.inf:
            raise overflow(bound, input._dtype)
    return each(input, lambda values: _in_bins(values, bins, min, max).astype(input._dtype), "histc")


def _in_bins(values: Array, bins: int, low: float, high: float) -> Array:
    """The number of values in each bin; over their own range if the bounds are equal."""
    if low == high and values.size:
        low, high = values.min().item(), values.max().item()
    if low == high:
        low, high = low - 1, high + 1
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"histc(): range of [{low}, {high}] is not finite")
    return np.histogram(values, bins, (low, high))[0]


def histogram(
    input: Tensor,
    bins: Tensor | int = 100,
    *,
    range: tuple[float, float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """The number of elements in each of several bins: (hist, bin_edges).

    `bins` is the number of bins of equal width over `range`, or a 1-d tensor of their edges. With `weight` each element
    counts with its weight, and with `density` the histogram integrates to 1.

    Parameters
    ----------
    bins
        The number of bins, or their edges.
    range
        The ends of the first and the last bin; None for the least and the largest element.
    weight
        What each element counts; None for 1.
    density
        Divide by the total and by the widths of bins.

    >>> import pullback
    >>> pullback.histogram(pullback.tensor([0.0, 0.1, 0.9]), bins=2)
    Histogram(hist=tensor([2., 1.]), bin_edges=tensor([0.0000, 0.4500, 0.9000]))
    """
    weights = _histogram_weights("histogram", input, weight, tuple(input.shape))
    counts, found = _counted(np.histogram, _value(input).reshape(-1), _edges(bins), range, weights, density)
    wrap = input.interpreter.wrap
    return Histogram(*(wrap(np.asarray(part).astype(input._dtype), None) for part in (counts, found)))


def _edges(bins: Any) -> Any:
    """The number of bins, or an array of their edges."""
    if not isinstance(bins, Carrier | np.ndarray | int | np.integer):
        raise TypeError(f"torch.histogram(): bins must be an int or a tensor of edges, not {type(bins).__name__}")
    return _value(bins)


def _counted(function: Any, values: Any, bins: Any, range: Any, weights: Any, density: bool) -> Any:
    try:
        return quiet.run(function, values, bins, range, density=density, weights=weights)
    except ValueError as error:
        raise RuntimeError(f"torch.{function.__name__}: {error}") from None


def _histogram_weights(name: str, input: Tensor, weight: Tensor | None, shape: tuple[int, ...]) -> Any:
    if input._dtype.kind != "f":
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{input._type_name}': convert first, x.float()")
    if weight is None:
        return None
    require_operand(name, "weight", weight, 3)
    if tuple(weight.shape) != shape or category(weight)[0] != input._dtype:
        raise RuntimeError(
            f"torch.{name}(): if weight tensor is provided, it should have the same shape and dtype as the input: "
            f"{list(shape)}, {input.dtype}, but got {list(weight.shape)}, {weight.dtype}"
        )
    return _value(weight).reshape(-1)


@of_tensor
def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """The number of points, the rows along the last axis, in each cell of a grid: (hist, bin_edges), edges per dim.

    Arguments as for `histogram`.
    `bins` is a number, a list of numbers or a list of 1-d tensors of edges, and `range` holds the lowest and the highest
    edge of each dim, one dim after the other.

    Parameters
    ----------
    bins
        The number of bins, or their edges, for each column.

    >>> import pullback
    >>> pullback.histogramdd(pullback.tensor([[0.0, 0.0], [1.0, 1.0]]), bins=[2, 2]).hist
    tensor([[1., 0.],
            [0., 1.]])
    """
    if input.ndim < 2:
        raise RuntimeError(f"torch.histogramdd: input tensor should have at least 2 dimensions, but got {input.ndim}")
    width = input.shape[-1]
    listed: list[Any] = list(bins) if isinstance(bins, list | tuple) else [bins] * width
    if len(listed) != width:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input. Got "
            f"{len(listed)} for {width}."
        )
    weights = _histogram_weights("histogramdd", input, weight, tuple(input.shape[:-1]))
    pairs = None if range is None else list(zip(range[::2], range[1::2], strict=True))
    values = _value(input).reshape(-1, width)
    counts, found = _counted(np.histogramdd, values, [_edges(entry) for entry in listed], pairs, weights, density)
    wrap = input.interpreter.wrap
    edges: list[Any] = [
        given if isinstance(given, Carrier) else wrap(e.astype(input._dtype), None)
        for given, e in zip(listed, found, strict=True)
    ]
    return Histogram(wrap(counts.astype(input._dtype), None), tuple(edges))


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """The number of occurrences of each of the numbers 0, 1, 2, ..., or the sum of its weights.

    Parameters
    ----------
    weights
        What each number counts; None for 1.
    minlength
        The least length of the result.

    >>> import pullback
    >>> pullback.bincount(pullback.tensor([1, 3, 1]))
    tensor([0, 2, 0, 1])
    """
    if minlength < 0:
        raise RuntimeError(f"bincount: minlength should be >= 0, not {minlength}")
    values = concrete(input, "bincount")
    if input.ndim != 1 or values.dtype.kind not in "iu" or (values.size and values.min() < 0):
        raise RuntimeError(
            "bincount only supports 1-d non-negative integral inputs: this one has shape "
            f"{tuple(input.shape)} and dtype {input.dtype}"
        )
    if weights is not None:
        require_tensor("bincount", "weights", weights, 2)
        if tuple(weights.shape) != tuple(input.shape):
            raise RuntimeError(
                f"bincount: weights should be 1-d and have the same length as input: {list(weights.shape)}, "
                f"{list(input.shape)}"
            )
    counts = np.bincount(values.astype(np.intp), _value(weights), minlength)
    kind = np.int64 if weights is None else np.float32 if weights._dtype == np.float32 else counts.dtype
    return input.interpreter.wrap(counts.astype(kind, copy=False), None)
