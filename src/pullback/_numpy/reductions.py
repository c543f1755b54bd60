"""NumPy's reductions of tensors, with NumPy's parameters, including `initial` and `where`.

`names` registers them.
"""

from __future__ import annotations

# the signatures of the lambdas have NumPy's parameter names
from typing import TYPE_CHECKING

import numpy as np

from .._core import dtypes
from .._core.primitives import Function
from ..vocabulary import arithmetic, norms, reductions
from ..vocabulary.promotion import cast, inexact
from .operands import tensors
from .statistics import prod as products

if TYPE_CHECKING:
    from .._core.typing import ArrayLike, Dim, DType, Tensor


def _chosen(a: Tensor, where: ArrayLike | None, neutral: ArrayLike) -> Tensor:
    """The elements where a mask is True, and the neutral element elsewhere."""
    return a if where is None or where is True else arithmetic.where(_mask(where), a, neutral)


def _start(a: Tensor, initial: ArrayLike | None) -> Tensor:
    """The initial value of a reduction, in the reduction's dtype."""
    return cast(initial, a._dtype)


def _mask(where: ArrayLike | None) -> Tensor:
    return cast(where, np.dtype(bool))


def _count(a: Tensor, where: ArrayLike | None, axis: Dim, keepdims: bool) -> Tensor:
    """The number of elements that are reduced, in the elements' dtype."""
    chosen = np.broadcast_to(_mask(True if where is None else where), tuple(a.shape))
    return cast(np.sum(chosen, axis, keepdims=keepdims), np.empty(0, a._dtype).real.dtype)


def _floats(a: Tensor, dtype: DType | None) -> Tensor:
    return inexact(a) if dtype is None else cast(a, dtypes.as_dtype(dtype).numpy)


def total(axis: Dim = None) -> Function:
    """sum; ufunc.reduce passes axis as the first option."""

    def sum(
        a: Tensor, axis: Dim = axis, dtype: DType | None = None, out: object = None, keepdims: bool = False, initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Tensor:  # fmt: skip
        if axis is None and dtype is None and initial is None and where is None and not keepdims:
            return a.sum()  # the short way
        result = reductions.sum(_chosen(a, where, 0), axis, keepdims, dtype=dtype)
        return result if initial is None else arithmetic.add(result, _start(result, initial))

    return sum


def product(axis: Dim = None) -> Function:
    """prod; ufunc.reduce passes axis as the first option."""

    def prod(
        a: Tensor, axis: Dim = axis, dtype: DType | None = None, out: object = None, keepdims: bool = False, initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Tensor:  # fmt: skip
        result = products(_chosen(a, where, 1), axis, dtype, None, keepdims)
        return result if initial is None else arithmetic.mul(result, _start(result, initial))

    return prod


def extreme(reduce: Function, combine: Function, axis: Dim = None) -> Function:
    """max and min; ufunc.reduce passes axis as the first option."""

    def largest(
        a: Tensor,
        axis: Dim = axis,
        out: object = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Tensor:
        if initial is None:
            if where is not None and where is not True:
                raise ValueError(
                    "a largest or smallest element does not have an identity, so to use a where mask one has to specify "
                    "'initial'"
                )
            return reduce(a, axis, keepdims)
        start = _start(a, initial)
        return combine(reduce(_chosen(a, where, start), axis, keepdims), start)

    return largest


def truth(reduce: Function, neutral: bool, axis: Dim = None) -> Function:
    """all and any; ufunc.reduce passes axis as the first option."""
    return lambda a, axis=axis, out=None, keepdims=False, *, where=None: reduce(
        _chosen(a, where, neutral), axis, keepdims
    )


def _mean(
    a: Tensor,
    axis: Dim = None,
    dtype: DType | None = None,
    out: object = None,
    keepdims: bool = False,
    *,
    where: ArrayLike | None = None,
) -> Tensor:
    a = _floats(a, dtype)
    if where is None or where is True:
        return reductions.mean(a, axis, keepdims)
    return arithmetic.div(reductions.sum(_chosen(a, where, 0), axis, keepdims), _count(a, where, axis, keepdims))


def _spread(
    a: ArrayLike, axis: Dim, dtype: DType | None, keepdims: bool, where: ArrayLike | None, mean: ArrayLike | None
) -> tuple[Tensor, Tensor]:
    """How far the chosen elements are from their mean, 0 for others, and how many were chosen."""
    a = _floats(tensors(a)[0], dtype)
    centre = _mean(a, axis, keepdims=True, where=where) if mean is None else mean
    return _chosen(arithmetic.sub(a, centre), where, 0), _count(a, where, axis, keepdims)


def _variance(
    a: ArrayLike, axis: Dim = None, dtype: DType | None = None, out: object = None, ddof: float = 0, keepdims: bool = False, *,
    where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: float | None = None,
) -> Tensor:  # fmt: skip
    ddof = ddof if correction is None else correction
    if mean is None and (where is None or where is True):
        return reductions.var(_floats(tensors(a)[0], dtype), axis, keepdim=keepdims, correction=ddof)
    far, count = _spread(a, axis, dtype, keepdims, where, mean)
    squares = reductions.sum(arithmetic.square(arithmetic.abs(far)), axis, keepdims)
    return arithmetic.div(squares, np.maximum(count - ddof, 0))


def _deviation(
    a: ArrayLike, axis: Dim = None, dtype: DType | None = None, out: object = None, ddof: float = 0, keepdims: bool = False, *,
    where: ArrayLike | None = None, mean: ArrayLike | None = None, correction: float | None = None,
) -> Tensor:  # fmt: skip
    ddof = ddof if correction is None else correction
    if mean is None and (where is None or where is True):
        return reductions.std(_floats(tensors(a)[0], dtype), axis, keepdim=keepdims, correction=ddof)
    far, count = _spread(a, axis, dtype, keepdims, where, mean)
    length = norms.vector_norm(far, 2, axis, keepdims)  # whose derivative at 0 is 0
    return arithmetic.div(length, np.sqrt(np.maximum(count - ddof, 0)))


def _place(function: Function) -> Function:
    return lambda a, axis=None, out=None, *, keepdims=False: function(a, axis, keepdims)


def _reductions(axis: Dim) -> dict[str, Function]:
    """The reductions that are also ufunc.reduce methods; these reduce the first axis by default."""
    return {
        "add": total(axis),
        "multiply": product(axis),
        "maximum": extreme(reductions.amax, arithmetic.maximum, axis),
        "minimum": extreme(reductions.amin, arithmetic.minimum, axis),
        "logical_and": truth(reductions.all, True, axis),
        "logical_or": truth(reductions.any, False, axis),
    }


OF_UFUNCS: dict[np.ufunc, Function] = {getattr(np, name): function for name, function in _reductions(0).items()}

_whole = _reductions(None)
REDUCTIONS: dict[str, Function] = {  # by name, since not all versions of NumPy have all of them
    **dict.fromkeys(("sum",), _whole["add"]),
    **dict.fromkeys(("prod", "product"), _whole["multiply"]),
    **dict.fromkeys(("max", "amax"), _whole["maximum"]),
    **dict.fromkeys(("min", "amin"), _whole["minimum"]),
    **dict.fromkeys(("all", "alltrue"), _whole["logical_and"]),
    **dict.fromkeys(("any", "sometrue"), _whole["logical_or"]),
    "mean": _mean,
    "var": _variance,
    "std": _deviation,
    "argmax": _place(reductions.argmax),
    "argmin": _place(reductions.argmin),
}
