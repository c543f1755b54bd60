"""Reductions and normalizations that exclude masked elements, by torch's names.

A mask is a bool tensor that broadcasts to the input: True for elements that are included. Excluded elements are
replaced by the identity element of the reduction, which is therefore the result if no element is included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from . import ops
from ._core import dtypes
from ._core.bfloat import finfo
from ._core.primitives import Carrier
from ._core.shapes import expand_shape, normalize_axes, normalize_axis
from ._core.values import require_operand, require_tensor
from .vocabulary import arithmetic, functions, reductions, scans, shapes, statistics
from .vocabulary.promotion import cast, category, inexact

if TYPE_CHECKING:
    from ._core.typing import Array, Dim, DType, Tensor


# Masks, and the replacements of excluded elements


def _mask_of(name: str, input: Tensor, mask: Tensor | Array | None) -> Tensor | Array | None:
    """The mask as bools, in a shape that broadcasts to the input's."""
    require_tensor(f"masked.{name}", "input", input)
    if mask is None:
        return None
    require_operand(f"masked.{name}", "mask", mask, 2)
    if mask.ndim > input.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input): shapes "
            f"{tuple(mask.shape)} and {tuple(input.shape)}"
        )
    expand_shape(tuple(mask.shape), tuple(input.shape), f"masked.{name}")
    source = category(mask)[0]
    return mask if source.kind == "b" else ops.astype(mask, dtype=np.dtype(bool), source=source)


def _filled(name: str, input: Tensor, mask: Tensor | Array | None, number: float) -> Tensor:
    """The input with a number where the mask is False."""
    mask = _mask_of(name, input, mask)
    return input if mask is None else ops.where(mask, input, np.asarray(number, input._dtype))


def _limit(input: object, highest: bool) -> float:
    """The highest or lowest number of the input's dtype."""
    if isinstance(input, Carrier) and input._dtype.kind in "biu":
        if input._dtype.kind == "b":
            return highest
        limits = np.iinfo(input._dtype)
        return int(limits.max if highest else limits.min)
    return np.inf if highest else -np.inf


def _converted(input: Tensor, dtype: DType | None) -> Tensor:
    return input if dtype is None else cast(input, dtypes.as_dtype(dtype).numpy)


def _axes(input: Tensor, dim: Dim) -> tuple[int, ...]:
    return normalize_axes(None if isinstance(dim, tuple | list) and not dim else dim, input.ndim)


# Reductions


def sum(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The sum of the included elements, of all or along dims; 0 if there are none.

    >>> import pullback
    >>> mask = pullback.tensor([True, False, True])
    >>> pullback.masked.sum(pullback.tensor([1.0, 2.0, 3.0]), mask=mask)
    tensor(4.)
    """
    filled = _filled("sum", input, mask, 0)
    return reductions.sum(filled, _axes(filled, dim), keepdim, dtype=dtype)


def prod(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The product of the included elements, of all or along dims; 1 if there are none.

    An empty list of dims, `[]`, means no dims, as in torch; an empty tuple `()` means all dims, as in its other
    reductions.

    >>> import pullback
    >>> pullback.masked.prod(pullback.tensor([2.0, 9.0, 3.0]), mask=pullback.tensor([True, False, True]))
    tensor(6.)
    """
    result = _filled("prod", input, mask, 1)
    if isinstance(dim, list) and not dim:
        return reductions.prod(result.unsqueeze(0), 0, dtype=dtype)
    axes = sorted(_axes(result, dim), reverse=True)
    if not axes:
        return reductions.prod(result, dtype=dtype)
    for axis in axes:
        result = reductions.prod(result, axis, keepdim, dtype=dtype)
    return result


def amax(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The largest included element, of all or along dims; -inf if there is none.

    >>> import pullback
    >>> pullback.masked.amax(pullback.tensor([1.0, 9.0, 3.0]), mask=pullback.tensor([True, False, True]))
    tensor(3.)
    """
    filled = _converted(_filled("amax", input, mask, _limit(input, highest=False)), dtype)
    return reductions.amax(filled, _axes(filled, dim), keepdim)


def amin(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The smallest included element, of all or along dims; inf if there is none.

    >>> import pullback
    >>> pullback.masked.amin(pullback.tensor([1.0, 9.0, 3.0]), mask=pullback.tensor([False, True, True]))
    tensor(3.)
    """
    filled = _converted(_filled("amin", input, mask, _limit(input, highest=True)), dtype)
    return reductions.amin(filled, _axes(filled, dim), keepdim)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The index of the largest included element, in the flattened tensor or along a dim.

    As in torch the result has the dtype of the input, or the given one: convert it to use it as an index.

    >>> import pullback
    >>> pullback.masked.argmax(pullback.tensor([1.0, 9.0, 3.0]), mask=pullback.tensor([True, False, True]))
    tensor(2.)
    """
    filled = _filled("argmax", input, mask, _limit(input, highest=False))
    return _located("argmax", reductions.argmax, filled, dim, keepdim, dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The index of the smallest included element, as `argmax`.

    >>> import pullback
    >>> pullback.masked.argmin(pullback.tensor([1.0, 9.0, 3.0]), mask=pullback.tensor([False, True, True]))
    tensor(2.)
    """
    filled = _filled("argmin", input, mask, _limit(input, highest=True))
    return _located("argmin", reductions.argmin, filled, dim, keepdim, dtype)


def _located(
    name: str, locate: Callable[..., Tensor], input: Tensor, dim: int | None, keepdim: bool, dtype: DType | None
) -> Tensor:
    place = None if dim is None else normalize_axis(dim, input.ndim, name)
    return _converted(cast(locate(input, place, keepdim), input._dtype), dtype)


def _count(input: Tensor, mask: Tensor | Array | None, axes: tuple[int, ...], keepdim: bool) -> Tensor:
    """The number of included elements."""
    ones = np.ones((), np.int64)
    counted = ones if mask is None else ops.astype(mask, dtype=ones.dtype, source=np.dtype(bool))
    return ops.sum(ops.broadcast_to(counted, shape=tuple(input.shape)), axis=axes, keepdims=keepdim)


def mean(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The mean of the included elements, of all or along dims; NaN if there are none.

    >>> import pullback
    >>> mask = pullback.tensor([True, False, True])
    >>> pullback.masked.mean(pullback.tensor([1.0, 2.0, 3.0]), mask=mask)
    tensor(2.)
    """
    input = _converted(input, dtype)
    mask = _mask_of("mean", input, mask)
    if input._dtype.kind not in "fc":
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            f"{input.dtype}"
        )
    axes = _axes(input, dim)
    if mask is None:
        return reductions.mean(input, axes, keepdim)
    return arithmetic.div(sum(input, axes, keepdim=keepdim, mask=mask), _count(input, mask, axes, keepdim))


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The lower median along a dim of the included elements that are not NaN; NaN if there are none.

    >>> import pullback
    >>> pullback.masked.median(pullback.tensor([1.0, 9.0, 3.0]), 0, mask=pullback.tensor([True, False, True]))
    tensor(1.)
    """
    mask = _mask_of("median", input, mask)
    input = _converted(input, dtype)
    kind = input._dtype
    place = normalize_axis(dim, input.ndim)
    axes = (place,) if input.ndim else ()
    if kind.kind != "f" and (_count(input, mask, axes, keepdim=False) == 0).any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    filled = _filled("median", inexact(input), mask, np.nan)
    return cast(statistics.nanmedian(filled, place, keepdim).values, kind)


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The norm of a given order of the included elements, of all or along dims.

    >>> import pullback
    >>> pullback.masked.norm(pullback.tensor([3.0, 9.0, 4.0]), mask=pullback.tensor([True, False, True]))
    tensor(5.)
    """
    order = 2.0 if ord is None else ord
    filled = _filled("norm", input, mask, np.inf if order == -np.inf else 0)
    return reductions.norm(filled, order, _axes(filled, dim), keepdim, dtype=dtype)


def _variance(
    name: str,
    input: Tensor,
    dim: Dim,
    unbiased: bool | None,
    correction: float | None,
    keepdim: bool,
    dtype: DType | None,
    mask: Tensor | Array | None,
) -> Tensor:
    if unbiased is not None and correction is not None:
        raise ValueError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    mask = _mask_of(name, input, mask)
    input = inexact(_converted(_filled(name, input, mask, 0), dtype))
    axes = _axes(input, dim)
    kind = finfo(input._dtype).dtype
    count = cast(_count(input, mask, axes, keepdim=True), kind)
    centred = arithmetic.sub(input, arithmetic.div(sum(input, axes, keepdim=True, mask=mask), count))
    squares = ops.square(centred) if input._dtype.kind == "f" else ops.multiply(centred, ops.conj(centred))
    total = sum(squares, axes, keepdim=True, mask=mask)
    freedom = ops.maximum(ops.subtract(count, cast(correction, kind)), cast(0, kind))
    result = arithmetic.div(total, freedom)
    return result if keepdim else shapes.squeeze(result, axes)


def var(
    input: Tensor,
    dim: Dim = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The variance of the included elements, of all or along dims, divided by their number - correction (1).

    >>> import pullback
    >>> pullback.masked.var(pullback.tensor([1.0, 9.0, 3.0]), mask=pullback.tensor([True, False, True]))
    tensor(2.)
    """
    return _variance("var", input, dim, unbiased, correction, keepdim, dtype, mask)


def std(
    input: Tensor,
    dim: Dim = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The standard deviation: the square root of `var`.

    >>> from pullback import masked, tensor
    >>> masked.std(tensor([1.0, 9.0, 3.0]), mask=tensor([True, False, True]), unbiased=False)
    tensor(1.)
    """
    return ops.sqrt(_variance("std", input, dim, unbiased, correction, keepdim, dtype, mask))


def logsumexp(
    input: Tensor,
    dim: Dim = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """log(sum(exp(input))) of the included elements, of all or along dims; -inf if there are none.

    >>> import pullback
    >>> pullback.masked.logsumexp(pullback.tensor([1.0, 9.0, 1.0]), mask=pullback.tensor([True, False, False]))
    tensor(1.)
    """
    filled = _converted(_filled("logsumexp", input, mask, _limit(input, highest=False)), dtype)
    return cast(reductions.logsumexp(filled, _axes(filled, dim), keepdim), filled._dtype)


# Along a dim, in the shape of the input


def cumsum(input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | Array | None = None) -> Tensor:
    """The cumulative sum along a dim of the included elements.

    >>> import pullback
    >>> pullback.masked.cumsum(pullback.tensor([2.0, 9.0, 3.0]), 0, mask=pullback.tensor([True, False, True]))
    tensor([2., 2., 5.])
    """
    filled = _converted(_filled("cumsum", input, mask, 0), dtype)
    return reductions.cumsum(filled, dim, dtype=filled.dtype)


def cumprod(input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | Array | None = None) -> Tensor:
    """The cumulative product along a dim of the included elements.

    >>> import pullback
    >>> pullback.masked.cumprod(pullback.tensor([2.0, 9.0, 3.0]), 0, mask=pullback.tensor([True, False, True]))
    tensor([2., 2., 6.])
    """
    filled = _converted(_filled("cumprod", input, mask, 1), dtype)
    return scans.cumprod(filled, dim, dtype=filled.dtype)


def softmax(input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | Array | None = None) -> Tensor:
    """exp(input) divided by its sum along a dim over the included elements; 0 for the others.

    >>> import pullback
    >>> mask = pullback.tensor([True, False, True])
    >>> pullback.masked.softmax(pullback.zeros(3), 0, mask=mask)
    tensor([0.5000, 0.0000, 0.5000])
    """
    return reductions.softmax(_filled("softmax", input, mask, _limit(input, highest=False)), dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | Array | None = None) -> Tensor:
    """The logarithm of `softmax`; -inf for excluded elements.

    >>> from pullback import masked, tensor
    >>> masked.log_softmax(tensor([1.0, 9.0, 1.0]), 0, mask=tensor([True, False, True]))
    tensor([-0.6931,    -inf, -0.6931])
    """
    return reductions.log_softmax(_filled("log_softmax", input, mask, _limit(input, highest=False)), dim, dtype=dtype)


def softmin(input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | Array | None = None) -> Tensor:
    """`softmax` of the negative input.

    >>> import pullback
    >>> pullback.masked.softmin(pullback.tensor([1.0, 0.0, 1.0]), 0, mask=pullback.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    filled = _filled("softmin", input, mask, _limit(input, highest=True))
    return reductions.softmax(arithmetic.neg(filled), dim, dtype=dtype)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: DType | None = None,
    mask: Tensor | Array | None = None,
) -> Tensor:
    """The included elements, divided by their norm along a dim, or by eps if that is larger; 0 for the others.

    >>> from pullback import masked, tensor
    >>> masked.normalize(tensor([3.0, 9.0, 4.0]), 2.0, 0, mask=tensor([True, False, True]))
    tensor([0.6000, 0.0000, 0.8000])
    """
    filled = _converted(_filled("normalize", input, mask, 0), dtype)
    size = norm(filled, ord, dim, keepdim=True, mask=mask)
    return arithmetic.div(filled, arithmetic.maximum(size, np.asarray(eps, size._dtype)))


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: DType | None = None,
    input_mask: Tensor | Array | None = None,
    other_mask: Tensor | Array | None = None,
) -> Tensor:
    """log(exp(input) + exp(other)), elementwise, of the included ones of the two; -inf where neither is.

    >>> from pullback import masked, tensor
    >>> mask = tensor([True, False])
    >>> masked.logaddexp(tensor([1.0, 1.0]), tensor([1.0, 1.0]), input_mask=mask, other_mask=~mask)
    tensor([1., 1.])
    """
    pair = [
        _converted(_filled("logaddexp", value, mask, _limit(value, highest=False)), dtype)
        for value, mask in ((input, input_mask), (other, other_mask))
    ]
    return functions.logaddexp(*pair)
