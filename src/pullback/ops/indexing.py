"""Writes at indices along an axis, and at the True elements of a mask, as new arrays; triangles of matrices.

`indices` has as many axes as the array: along `axis` it selects the position, along the others the position is the
element's own. It may be shorter there than the array. The values written have the shape of `indices`.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from .._core import machine, xp as _xp
from .._core.primitives import general, linear
from .shapes import remaining_along

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._core.primitives import Function
    from .._core.typing import Array, OfComplex, Operations, Tensor


def _scatter_forward(x: Array, src: Array, indices: Array, *, axis: int, label: str = "") -> Array:
    out = np.array(x, order="C")
    out[_xp.along(indices, axis)] = src
    return out


def _combined(ufunc: np.ufunc) -> Function:
    """The forward function that combines the values written to a position, and the value there, by a ufunc."""

    def forward(x: Array, src: Array, indices: Array, *, axis: int, label: str = "", nans: bool = False) -> Array:
        out = np.array(x, order="C")
        _xp.combine_along(ufunc, out, indices, src, axis=axis)
        return out

    return forward


def _prod(
    xp: Operations,
    g: Tensor,
    x: Tensor,
    src: Tensor,
    y: Tensor,
    indices: Tensor,
    *,
    axis: int,
    needs: Sequence[bool],
    nans: bool = False,
) -> list[Tensor | None]:
    """g times the product of the other factors: y / factor, except for a factor that is the only 0, or NaN."""
    pulled: list[Tensor | None] = [None, None, None]
    if needs[0]:
        alone = xp.where(x == 0, 1, x)
        pulled[0] = g * (xp.scatter_prod(alone, src, indices, axis=axis) / alone)
    if needs[1]:
        empty = (src == 0) | xp.isnan(src) if nans else src == 0
        zeros = xp.scatter_add(xp.zeros_like(x), xp.where(empty, 1, xp.zeros_like(src)), indices, axis=axis)
        single = empty & (xp.take_along_axis(zeros, indices, axis=axis) == 1)
        product = xp.scatter_prod(x, xp.where(single, 1, src), indices, axis=axis)
        others = xp.where(single, xp.take_along_axis(product, indices, axis=axis), _quotient(xp, y, src, indices, axis))
        pulled[1] = xp.take_along_axis(g, indices, axis=axis) * others
    return pulled


def _quotient(xp: Operations, y: Tensor, src: Tensor, indices: Tensor, axis: int) -> Tensor:
    return xp.take_along_axis(y, indices, axis=axis) / xp.where(src == 0, 1, src)


def _extreme(
    xp: Operations, g: Tensor, x: Tensor, src: Tensor, y: Tensor, indices: Tensor, *, axis: int, nans: bool = False
) -> tuple[Tensor | None, ...]:
    """The cotangent is shared equally among the elements that attain the extreme.

    No element equals an extreme that is NaN, so the gradient of everything written there is NaN, as in torch; if `nans`
    is true, the NaN elements share it instead.
    """
    kept = x == y
    taken = src == xp.take_along_axis(y, indices, axis=axis)
    if nans:
        kept, taken = kept | xp.isnan(x), taken | xp.isnan(src)
    own, others = xp.where(kept, 1, xp.zeros_like(y)), xp.where(taken, 1, xp.zeros_like(src))
    share = g / xp.scatter_add(own, others, indices, axis=axis)
    return own * share, others * xp.take_along_axis(share, indices, axis=axis), None


class _Scatters(TypedDict):
    """The options common to all scatters."""

    inputs: tuple[str, ...]
    title: Callable[..., str]


def _places(title: str) -> _Scatters:
    """The arguments common to all scatters; `title` is torch's name of the node, if it differs from the usual one."""
    return {"inputs": ("x", "src", "indices"), "title": lambda axis, label=title, nans=False: label}


SMALL = 1 << 12  # masks of at most this many elements are saved


@functools.lru_cache(maxsize=64)
def _lower(rows: int, columns: int, k: int) -> Array:
    """True for the elements of a matrix on its k-th diagonal or below."""
    mask = np.tri(rows, columns, k, dtype=np.bool_)
    mask.flags.writeable = False
    return mask


def _tril(x: Array, *, k: int) -> Array:
    rows, columns = x.shape[-2:]
    if (made := machine.triangle(x, k, lower=True)) is not None:
        return made
    zero = _xp.constant(0, x.dtype)
    few = rows * columns <= SMALL
    kept = np.where(_lower(rows, columns, k), x, zero) if few else np.tril(x, k)
    return _xp.in_order(kept)


def _triu(x: Array, *, k: int) -> Array:
    rows, columns = x.shape[-2:]
    if (made := machine.triangle(x, k, lower=False)) is not None:
        return made
    below = _lower(rows, columns, k - 1) if rows * columns <= SMALL else None
    kept = np.triu(x, k) if below is None else np.where(below, _xp.constant(0, x.dtype), x)
    return _xp.in_order(kept)


LARGEST_MASK = 1 << 16
"""Elements of a mask that a program has as a constant."""


def _masked_by(triangle: Function) -> Function:
    """A definition of what is left of matrices by a mask."""

    def definition(xp: Operations, x: Tensor, *, k: int) -> Tensor:
        if math.prod(x.shape[-2:]) > LARGEST_MASK:
            return NotImplemented
        return xp.where(xp.asarray(triangle(np.ones(x.shape[-2:], bool), k)), x, xp.constant(0, x.dtype))

    return definition


def _masked_fill(x: Array, mask: Array, value: Array, *, label: str = "") -> Array:
    return _xp.in_order(np.where(mask, value, x))


def _masked_filled(xp: Operations, x: Tensor, mask: Tensor, value: Tensor, *, label: str = "") -> Tensor:
    return xp.where(mask, value, x) if x.dtype == value.dtype else NotImplemented


REDUCED = _places("ScatterReduceBackward0")
REAL_MATRIX: OfComplex = {"complex": "as written"}  # linear with real coefficients: the transpose needs no conjugate

# fmt: off
#                        name             pullback per input
scatter      = general("scatter",      lambda xp, g, indices, *, axis: xp.scatter(g, 0, indices, axis=axis),
                                       lambda xp, g, indices, *, axis: remaining_along(
                                           xp, g, xp.take_along_axis(g, indices, axis=axis), indices, axis),
                                       None,           forward=_scatter_forward,       **_places("ScatterBackward0"), **REAL_MATRIX)
scatter_add  = general("scatter_add",  lambda xp, g: g,
                                       lambda xp, g, indices, *, axis: xp.take_along_axis(g, indices, axis=axis),
                                       None,           forward=_combined(np.add),      **_places("ScatterAddBackward0"), **REAL_MATRIX, cost=1)
scatter_prod = general("scatter_prod", joint=_prod,    forward=_combined(np.multiply), **REDUCED, complex="holomorphic")
scatter_amax = general("scatter_amax", joint=_extreme, forward=_combined(np.maximum),  **REDUCED)
scatter_amin = general("scatter_amin", joint=_extreme, forward=_combined(np.minimum),  **REDUCED)
masked_fill  = general("masked_fill",  lambda xp, g, mask: xp.select(xp.logical_not(mask), g),
                                       None,
                                       lambda xp, g, mask: xp.select(mask, g),
                       inputs=("x", "mask", "value"),  title=lambda label="MaskedFillBackward0": label,
                       forward=_masked_fill, definition=_masked_filled, **REAL_MATRIX)
tril         = linear("tril",          lambda xp, g, *, k: xp.tril(g, k=k),  forward=_tril, definition=_masked_by(np.tril), **REAL_MATRIX)
triu         = linear("triu",          lambda xp, g, *, k: xp.triu(g, k=k),  forward=_triu, definition=_masked_by(np.triu), **REAL_MATRIX)
# fmt: on
