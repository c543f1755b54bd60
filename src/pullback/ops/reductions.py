"""Reductions: sums, means, extremes and norms.

`axis` is a tuple of non-negative ints, or an int for operations along one axis; callers normalize it.
"""

from __future__ import annotations

import functools
import importlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import machine, xp as _xp
from .._core.primitives import SINGLES, general, linear, zero
from .._core.xp import RAW
from .elementwise import bent, nondifferentiable_zero

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.primitives import Function, Rule
    from .._core.typing import Array, Operations, Tensor


def _aligned(xp: Operations, g: Tensor, shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool) -> Tensor:
    """g, a reduction's result or its cotangent, reshaped to broadcast over the reduced axes."""
    if not keepdims and axis and g.shape and max(axis) >= len(axis):  # leading axes need no reshape to broadcast
        g = xp.reshape(g, shape=_with_ones(shape, axis))
    return g


@functools.lru_cache(maxsize=1024)
def _with_ones(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """A shape whose reduced axes have length 1."""
    return tuple([1 if i in axis else size for i, size in enumerate(shape)])


def _spread(xp: Operations, g: Tensor, shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool) -> Tensor:
    """g, the cotangent of a reduction, broadcast to the input's shape."""
    return xp.broadcast_to(_aligned(xp, g, shape, axis, keepdims), shape=shape)


def _sum(xp: Operations, g: Tensor, x_shape: tuple[int, ...], *, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    return _spread(xp, g, x_shape, axis, keepdims)


def _mean(xp: Operations, g: Tensor, x_shape: tuple[int, ...], *, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    return _spread(xp, g / xp.constant(_xp.length(x_shape, axis), g.dtype), x_shape, axis, keepdims)


_add: Function = np.add.reduce  # (x, axis, dtype, out, keepdims)
LEAST_SUM = {char: float(np.finfo(char).tiny / np.finfo(char).eps) for char in "efd"}
"""By dtype, the sum of powers below which terms may have been lost to underflow."""


def _in_range(total: Array) -> bool:
    """Whether sums of powers are neither 0, nor so small that terms have been lost, nor infinite or NaN."""
    least = LEAST_SUM[total.dtype.char]
    if not total.ndim:
        return bool(least < total < np.inf)
    return not total.size or bool(total.min() > least and total.max() < np.inf)


def _scaled_norm(x: Array, order: float, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    """The norm of real numbers after a division by a power of two: no power of an element is out of range."""
    size = np.abs(x)
    top = np.min(size, axis, keepdims=True) if order < 0 else np.max(size, axis, keepdims=True, initial=0)
    power = np.where(np.isfinite(top), np.frexp(top)[1], 0)
    size = np.ldexp(size, -power)
    total = _xp.sum(size * size if order == 2 else size**order, axis=axis, keepdims=keepdims)
    root = np.sqrt(total) if order == 2 else np.power(total, 1 / order, dtype=size.dtype)
    return _xp.in_order(np.ldexp(root, power if keepdims else np.squeeze(power, axis)))


def _variance_forward(x: Array, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Array:
    mean = _xp.mean(x, axis=axis, keepdims=True)
    if (code := machine.totals("spread", x, axis)) is not None:
        total = code(x, centre=mean, keepdims=keepdims)
    else:
        centred = x - mean
        if x.dtype.kind == "f":
            total = _xp.squares(centred, axis=axis, keepdims=keepdims)
        else:
            total = _xp.sum((centred * centred.conj()).real, axis=axis, keepdims=keepdims)
    return _xp.shared(total, max(_xp.length(x.shape, axis) - correction, 0))


def _deviation_forward(x: Array, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Array:
    variance = _variance_forward(x, axis=axis, correction=correction, keepdims=keepdims)
    if _in_range(variance):
        return np.sqrt(variance)
    centred = np.abs(x - _xp.mean(x, axis=axis, keepdims=True))
    divisor = max(_xp.length(x.shape, axis) - correction, 0)
    return _xp.shared(_scaled_norm(centred, 2, axis=axis, keepdims=keepdims), math.sqrt(divisor))


def _variance(
    xp: Operations, g: Tensor, x: Tensor, *, axis: tuple[int, ...], correction: float, keepdims: bool
) -> Tensor:
    count = _xp.length(x.shape, axis)
    centred = x - xp.mean(x, axis=axis, keepdims=True)
    divisor = count - correction
    factor = 2 / divisor if divisor else math.inf
    return _aligned(xp, g * xp.constant(factor, g.dtype), x.shape, axis, keepdims) * centred


def _deviation(
    xp: Operations, g: Tensor, x: Tensor, y: Tensor, *, axis: tuple[int, ...], correction: float, keepdims: bool
) -> Tensor:
    """The derivative of a standard deviation; zero where all elements are equal, with a derivative that is unknown.

    That of a single element is zero everywhere, and so are all its derivatives.
    """
    level = y == 0
    g = xp.where(level, 0, g / xp.where(level, 1, 2 * y))
    slopes = _variance(xp, g, x, axis=axis, correction=correction, keepdims=keepdims)
    if _xp.length(x.shape, axis) == 1:
        return slopes
    centred = x if xp is RAW else x - xp.mean(x, axis=axis, keepdims=True)
    return bent(xp, slopes, centred, _aligned(xp, level, x.shape, axis, keepdims))


def _extreme(xp: Operations, g: Tensor, x: Tensor, y: Tensor, *, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    """Ties share the cotangent equally; a NaN gets all of it, as in torch."""
    y = _aligned(xp, y, x.shape, axis, keepdims)
    return _shared(xp, g, x, xp.where(xp.isnan(y), xp.isnan(x), x == y), axis, keepdims)


def _ties(xp: Operations, g: Tensor, x: Tensor, y: Tensor, *, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    """Ties share the cotangent equally; where the result is NaN the whole gradient is NaN, as in torch."""
    return _shared(xp, g, x, x == _aligned(xp, y, x.shape, axis, keepdims), axis, keepdims)


def _shared(xp: Operations, g: Tensor, x: Tensor, chosen: Tensor, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    share = xp.select(chosen, xp.broadcast_to(xp.zeros((), like=x) + 1, shape=x.shape))
    return _aligned(xp, g / xp.sum(share, axis=axis, keepdims=keepdims), x.shape, axis, keepdims) * share


def _logsumexp_forward(x: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
    """log(sum(exp(x))) over axes, shifted by the maximum; all -inf gives -inf, any inf gives inf."""
    if x.size == 0:
        return np.log(np.exp(x).sum(axis=axis, keepdims=keepdims))
    if len(axis) == 1:
        return _logsumexp_along(x, axis[0], keepdims)
    return _xp.in_order(_by_parts(x, axis, keepdims))


def _logsumexp_along(x: Array, axis: int, keepdims: bool) -> Array:
    """The same over one axis: a short one is laid first, where NumPy computes with vectors.

    1000 times 8 rows of 8 take 0.2 ms then, 0.8 as they lie; 0.07 by machine code.
    """
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    shape = (*before, *[1] * keepdims, *after)
    if not after and (code := machine.rows(x, x.shape[-1])) is not None:
        shift, sums = np.empty(shape, x.dtype), np.empty(shape, x.dtype)
        code("exponents", x=x, shift=shift, sums=sums)
        return np.log(sums) + shift
    if (code := machine.columns(x, axis)) is not None:
        out = np.empty(shape, x.dtype)
        code("logsumexp", inner=math.prod(after), x=x, out=out)
        return out
    if before and x.shape[axis] <= _xp.NARROW and x.size > _xp.FLAT:
        first = x.transpose(axis, *range(axis), *range(axis + 1, x.ndim))
        return _by_parts(np.ascontiguousarray(first), (0,), False).reshape(shape)
    return _xp.in_order(_by_parts(x, (axis,), keepdims))


def _by_parts(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    top = np.maximum.reduce(x.real, axis, keepdims=True)
    shift = np.where(np.isfinite(top), top, _xp.constant(0, x.dtype))
    total = np.log(_add(np.exp(x - shift), axis, None, None, keepdims))
    total += shift if keepdims else shift.squeeze(axis)
    return total


def _logsumexp(xp: Operations, g: Tensor, x: Tensor, y: Tensor, *, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    if xp is RAW and axis == (x.ndim - 1,) and (code := machine.rows(x, x.shape[-1])) is not None:
        out, shift, sums = np.empty(x.shape, x.dtype), np.empty(y.shape, x.dtype), np.empty(y.shape, x.dtype)
        code("exponents", x=x, shift=shift, sums=sums)
        code("shifted_powers", x=x, shift=shift, slopes=g / sums, out=out)
        return xp.asarray(out)
    y = _aligned(xp, y, x.shape, axis, keepdims)
    powers = xp.exp(x - y)
    total = xp.sum(powers, axis=axis, keepdims=True)  # 1 but for the rounding of y, which is large where y is
    return _aligned(xp, g, x.shape, axis, keepdims) / xp.where(xp.isfinite(y), total, 1) * powers


def _norm_forward(x: Array, *, order: float, axis: tuple[int, ...], keepdims: bool) -> Array:
    if order == 2:
        code = machine.totals("squares", x, axis)
        size = np.abs(x) if x.dtype.kind == "c" else x
        total = code(x, keepdims=keepdims) if code else _xp.squares(size, axis=axis, keepdims=keepdims)
        return np.sqrt(total) if _in_range(total) else _scaled_norm(size, 2, axis=axis, keepdims=keepdims)
    size = np.abs(x)
    if order == math.inf:
        return _xp.in_order(np.max(size, axis=axis, keepdims=keepdims))
    if order == -math.inf:
        return _xp.in_order(np.min(size, axis=axis, keepdims=keepdims))
    if order == 0:
        return _xp.in_order(np.not_equal(x, 0).sum(axis=axis, keepdims=keepdims, dtype=size.dtype))
    total = _xp.sum(size**order, axis=axis, keepdims=keepdims)
    if order == 1:
        return total
    if not _in_range(total):
        return _scaled_norm(size, order, axis=axis, keepdims=keepdims)
    return np.power(total, 1 / order, dtype=size.dtype)


def _direction(xp: Operations, x: Tensor) -> Tensor:
    """x / abs(x), and 0 at 0; a recorded quotient for complex numbers, which can be differentiated again."""
    if not xp.is_complex(x):
        return xp.sign(x)
    return xp.where(x == 0, 0, x / xp.where(x == 0, 1, xp.abs(x)))


def _norm(
    xp: Operations, g: Tensor, x: Tensor, y: Tensor, *, order: float, axis: tuple[int, ...], keepdims: bool
) -> Tensor:
    """The derivative of a norm; the subgradient at zero is zero, for every order."""
    if order in (math.inf, -math.inf):
        return _direction(xp, x) * _extreme(xp, g, xp.abs(x), y, axis=axis, keepdims=keepdims)
    if order == 0:
        return xp.zeros_like(x)
    g = _aligned(xp, g, x.shape, axis, keepdims)
    if order == 1:
        return g * _direction(xp, x)
    y = _aligned(xp, y, x.shape, axis, keepdims)
    size = xp.where(y == 0, 1, y)  # no NaN behind a mask: forward mode would propagate it
    if order == 2:
        return bent(xp, xp.where(y == 0, 0, g) * (x / size), x, y == 0)
    slope = _direction(xp, x) * xp.power(xp.abs(xp.where(x == 0, 1, x)) / size, exponent=order - 1)
    slope = xp.where((x == 0) | (y == 0), 0, g * slope)
    return bent(xp, slope, x, (x == 0) if order < 2 else (y == 0))


def _pushed(rule: Rule) -> Function:
    """Forward mode for a norm of x that is itself differentiated: where it is 0, its tangent has no derivative.

    Without it, the cotangent of a tangent that is 0 by convention could be 0 too, and hide the convention.
    """

    def push(
        xp: Operations, primals: Sequence[Tensor | Array], tangents: Sequence[Tensor], y: Tensor, **params: Any
    ) -> Tensor:
        (x,), (moved,) = primals, tangents
        if isinstance(x, np.ndarray) or params.get("order", 2) in (0, 1, math.inf, -math.inf):
            return NotImplemented
        options = {"axis": params["axis"], "keepdims": params["keepdims"]}
        products = rule(xp, xp.zeros_like(y) + 1, x, y, **params) * (xp.conj(moved) if xp.is_complex(moved) else moved)
        bends = (y == 0) & (xp.sum(xp.abs(moved), **options) != 0)
        return xp.sum(xp.real(products) if xp.is_complex(x) else products, **options) + nondifferentiable_zero(
            xp, bends, xp.sum(xp.abs(x), **options)
        )

    return push


def _prod(xp: Operations, g: Tensor, x: Tensor, *, axis: int, keepdims: bool) -> Tensor:
    """Each slope is the product of all other elements."""
    if xp is RAW and (code := machine.totals("product_pullback", x, (axis,))) is not None:
        slopes = code.product_pullback(g, x)
        if slopes is not None:
            return slopes
    double, single = (np.dtype(each) for each in (np.float64, np.float32))
    widened = getattr(x, "_dtype", None) is single
    if widened:  # partial products in single precision may be out of its range
        x = xp.astype(x, dtype=double, source=single)
    slopes = xp.product_of_others(x, axis=axis)
    if widened:
        slopes = xp.astype(slopes, dtype=single, source=double)
    return _spread(xp, g, x.shape, (axis,), keepdims) * slopes


def _sum_forward(x: Array, *, axis: tuple[int, ...], keepdims: bool, given: bool = True) -> Array:
    return _xp.sum(x, axis=axis, keepdims=keepdims)


def _mean_forward(x: Array, *, axis: tuple[int, ...], keepdims: bool, given: bool = True, label: str = "") -> Array:
    return _xp.mean(x, axis=axis, keepdims=keepdims)


def _reduced_by(reduce: Function) -> Function:
    """A reduction by that of a ufunc, without the 2 us of overhead of NumPy's function of that name."""

    def forward(x: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
        made = reduce(x, axis, None, None, keepdims)
        return made if (axis and x.ndim < 3) or x.flags.c_contiguous else _xp.in_order(made)

    return forward


def _extreme_by(reduce: Function, name: str) -> Function:
    """As `_reduced_by`, with a compiled implementation of that name."""

    def forward(x: Array, *, axis: tuple[int, ...], keepdims: bool) -> Array:
        if (code := machine.totals(name, x, axis)) is not None:
            return code(x, keepdims=keepdims)
        made = reduce(x, axis, None, None, keepdims)
        return made if x.ndim < 3 or x.flags.c_contiguous else _xp.in_order(made)

    return forward


_multiply: Function = np.multiply.reduce  # (x, axis, dtype, out, keepdims)


def out_of_range(product: Array, vanishes: Array | bool) -> bool:
    """True if a product is infinite or NaN, or 0 without a factor 0: a partial product may have been, and be the reason."""
    return not np.all(np.isfinite(product) & ((product != 0) | vanishes))


def _prod_forward(x: Array, *, axis: int, keepdims: bool) -> Array:
    if (code := machine.totals("product", x, (axis,))) is not None:
        return code.product(x, keepdims=keepdims)
    made = _multiply(x, axis, x.dtype, None, keepdims)
    usual = made.size == 1 and 0 < abs(made) < math.inf
    if (
        not usual
        and x.dtype.kind == "f"
        and out_of_range(made, False)
        and out_of_range(made, ~np.all(x, axis, keepdims=keepdims))
    ):
        made = importlib.import_module("pullback._numerics.products").product(x, axis, keepdims)
    return made if x.ndim < 3 or x.flags.c_contiguous else _xp.in_order(made)


def _prod_itself(xp: Operations, x: Tensor, *, axis: int, keepdims: bool) -> Tensor:
    """In double precision: partial products may be out of the range of single precision."""
    single, double = x.dtype, np.dtype(np.float64)
    if single.char != "f":
        return NotImplemented
    product = xp.prod(xp.astype(x, dtype=double, source=single), axis=axis, keepdims=keepdims)
    return xp.astype(product, dtype=single, source=double)


def _mean_itself(
    xp: Operations, x: Tensor, *, axis: tuple[int, ...], keepdims: bool, given: bool = True, label: str = ""
) -> Tensor:
    return (
        xp.sum(x, axis=axis, keepdims=keepdims) / _xp.length(x.shape, axis) if x.dtype.kind == "f" else NotImplemented
    )


def _variance_itself(xp: Operations, x: Tensor, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Tensor:
    centred = x - xp.mean(x, axis=axis, keepdims=True)
    squares = xp.sum(centred * centred, axis=axis, keepdims=keepdims)
    return squares / max(_xp.length(x.shape, axis) - correction, 0)


def _deviation_itself(xp: Operations, x: Tensor, *, axis: tuple[int, ...], correction: float, keepdims: bool) -> Tensor:
    centred = x - xp.mean(x, axis=axis, keepdims=True)
    return _root_of_squares(xp, centred, axis, keepdims, max(_xp.length(x.shape, axis) - correction, 0))


def _logsumexp_itself(xp: Operations, x: Tensor, *, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    top = xp.amax(x, axis=axis, keepdims=True)
    most = float(np.finfo(x.dtype).max)  # so that beside inf, exponentials of large numbers are finite
    shift = xp.minimum(xp.maximum(top, -most), most)
    logs = xp.log(xp.sum(xp.exp(x - shift), axis=axis, keepdims=True)) + shift
    kept = tuple([size for i, size in enumerate(x.shape) if i not in axis])
    return logs if keepdims else xp.reshape(logs, shape=kept)


def _norm_itself(xp: Operations, x: Tensor, *, order: float, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    if abs(order) == math.inf:
        return (xp.amax if order > 0 else xp.amin)(xp.abs(x), axis=axis, keepdims=keepdims)
    if order == 1:
        return xp.sum(xp.abs(x), axis=axis, keepdims=keepdims)
    return _root_of_squares(xp, x, axis, keepdims) if order == 2 else NotImplemented


def _root_of_squares(
    xp: Operations, x: Tensor, axis: tuple[int, ...], keepdims: bool, count: float | None = None
) -> Tensor:
    """The root of the sum of squares, or of their mean: what is too large or too small to be squared is scaled before."""
    dtype, factor = x.dtype, None
    if dtype.itemsize < 8:
        wide = xp.astype(x, dtype=np.dtype(np.float64), source=dtype)
    else:
        top = xp.amax(xp.abs(x), axis=axis, keepdims=True)
        down, up, one = (xp.constant(number, dtype) for number in (2.0**-600, 2.0**700, 1))
        factor = xp.where(top > 2.0**500, down, xp.where(top < 2.0**-450, up, one))
        wide = x * factor
    squares = xp.sum(wide * wide, axis=axis, keepdims=keepdims)
    root = xp.sqrt(squares if count is None else squares / count)
    if factor is None:
        return xp.astype(root, dtype=dtype, source=root.dtype)
    return root / xp.reshape(factor, shape=root.shape)


def _by_axis(name: str) -> Function:
    """torch numbers the variants of node names: 0 reduces everything, 1 some axes."""
    titles = f"{name}Backward0", f"{name}Backward1"
    return lambda *, axis, keepdims, given=False, label="": label or titles[given]


# fmt: off
#                         name         pullback
sum         = linear("sum",         _sum,      forward=_sum_forward,                    title=_by_axis("Sum"), cost=1)
mean        = linear("mean",        _mean,     forward=_mean_forward, definition=_mean_itself, title=_by_axis("Mean"), **SINGLES)
prod        = general("prod",       _prod,     forward=_prod_forward, definition=_prod_itself, complex="holomorphic", **SINGLES, cost=1)
var         = general("var",        _variance, forward=_variance_forward, definition=_variance_itself,
                      complex="as written", **SINGLES)
std         = general("std",        _deviation,                                    complex="as written",
                      forward=_deviation_forward, definition=_deviation_itself, push=_pushed(_deviation), **SINGLES)
amax        = general("amax",       _ties,     forward=_extreme_by(np.maximum.reduce, "largest"), cost=1)
amin        = general("amin",       _ties,     forward=_extreme_by(np.minimum.reduce, "smallest"), cost=1)
largest     = general("largest",    _extreme,  forward=_extreme_by(np.maximum.reduce, "largest"),  title="MaxBackward1",
                      definition=lambda xp, x, *, axis, keepdims: xp.amax(x, axis=axis, keepdims=keepdims))
smallest    = general("smallest",   _extreme,  forward=_extreme_by(np.minimum.reduce, "smallest"), title="MinBackward1",
                      definition=lambda xp, x, *, axis, keepdims: xp.amin(x, axis=axis, keepdims=keepdims))
logsumexp   = general("logsumexp",  _logsumexp,   forward=_logsumexp_forward, definition=_logsumexp_itself,
                      complex="holomorphic", **SINGLES)
vector_norm = general("vector_norm", _norm,        forward=_norm_forward, definition=_norm_itself, title="LinalgVectorNormBackward0",
                      push=_pushed(_norm),
                      complex="as written", **SINGLES)
cumsum      = linear("cumsum",      lambda xp, g, *, axis: xp.flip(xp.cumsum(xp.flip(g, axis=axis), axis=axis), axis=axis), cost=1)
all         = zero("all",    forward=_reduced_by(np.logical_and.reduce))
any         = zero("any",    forward=_reduced_by(np.logical_or.reduce))
argmax      = zero("argmax", forward=lambda x, *, axis, keepdims=False: _xp.long(x.argmax(axis, keepdims=keepdims)))
argmin      = zero("argmin", forward=lambda x, *, axis, keepdims=False: _xp.long(x.argmin(axis, keepdims=keepdims)))
# fmt: on
