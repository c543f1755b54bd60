"""Eigenvalues of Hermitian matrices and singular values, without their vectors: differentiable where values are equal.

A function that is symmetric in equal values is smooth in the matrix, although the vectors are not unique. Let L be the
values, V the vectors, and V diag(g) V^H the gradient of such a function. Its derivative in a direction X is, with Y =
V^H X V, Y[i, j] (g[i] - g[j]) / (L[i] - L[j]) off the diagonal and dg on it (Daleckii and Krein, 1965). Where L[i] =
L[j] and g[i] = g[j], the quotient is 0 / 0, and its limit is not determined by g and L. But the vectors can be chosen
such that Y is diagonal among equal values, as in perturbation theory: then these elements are on the diagonal of Y, and
no division is needed.

For singular values the same holds with Y = U^H X V: its Hermitian part has quotients of differences, its skew-Hermitian
part quotients of sums, and the part outside the spans of U and V has g / S, which is 0 / 0 at 0.

So every derivative in a direction uses vectors V Q chosen for that direction. In forward mode the direction is known
when the values are differentiated. In reverse mode it is known only to the pullback of the gradient, which sends Q - 1
as the cotangent of `turn`, a third output of the primitive, which is zero. If two directions require different vectors
the derivative is undefined, and NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core.bfloat import finfo
from .._core.primitives import general, zero
from .._core.xp import RAW, is_missing
from .decompositions import (
    ROUNDING,
    _adjoint,
    _column,
    _diagonal,
    _identity,
    _product,
    _row,
    by_eigenvectors,
    eigh_forward,
    svd_forward,
    svd_pullback,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.typing import Array, OfComplex, Operations, Same, Tensor

# 1. Which values are equal, and which vectors to choose among them

COMMON = 1e-3  # frames farther from unitary than this are the sum of two


def _tied_forward(values: Array, slopes: Array, *, share: float) -> Array:
    """A mask of pairs of sorted values that are equal, up to a share of the largest, and have equal slopes.

    Slopes that vanish have the rounding errors of the values from which they are computed.
    """
    eps = float(finfo(slopes.dtype).eps)
    size, steep = (np.abs(numbers).max(-1, keepdims=True, initial=0) for numbers in (values, slopes))
    together = (np.abs(np.diff(values)) <= share * size) & (
        np.abs(np.diff(slopes)) <= eps**0.5 * steep + ROUNDING * eps * size
    )
    group = np.zeros(values.shape, np.intp)
    np.cumsum(~together, -1, out=group[..., 1:])
    return group[..., :, None] == group[..., None, :]


def _frames_forward(y: Array, tied: Array) -> Array:
    """Unitary Q within groups of tied values such that Q^H y Q is diagonal there, ascending; 1 where y is already 0."""
    size = y.shape[-1]
    one = np.broadcast_to(np.eye(size, dtype=y.dtype), y.shape)
    inside = np.where(tied & (one == 0), y, 0)
    turns = inside.any((-2, -1), keepdims=True) & np.isfinite(y).all((-2, -1), keepdims=True)
    if not turns.any():
        return one.copy()
    inside = np.where(turns & tied, y, 0)
    apart = 4 * size * np.abs(inside).max((-2, -1), keepdims=True)  # shifts that keep blocks apart, and in order
    found = np.linalg.eigh(inside + one * apart * np.argmax(tied, -1)[..., None])[1]
    return np.where(turns, np.where(tied, found, 0), one).astype(y.dtype)


def _tied(xp: Operations, values: Same, slopes: Same, *, digits: float) -> Same:
    """True for pairs of values that agree in all digits, or with `digits` 0.5 in half of them, with equal slopes."""
    eps = float(finfo(getattr(values, "_dtype", values.dtype)).eps)
    return xp.tied_values(values, slopes, share=ROUNDING * eps if digits == 1 else eps**digits)


# 2. Parts of rules


def _one(xp: Operations, x: Tensor) -> Tensor:
    """The identity in the dtype of matrices x."""
    return xp.where(_identity(xp, x.shape[-1]), 1, xp.zeros_like(x))


def _within(xp: Operations, x: Same, left: Same, right: Same) -> tuple[Same, Same]:
    """A direction in the basis of the factors, split into its Hermitian and its skew-Hermitian part."""
    inside = _product(xp, _adjoint(xp, left), x, _adjoint(xp, right))
    back = _adjoint(xp, inside)
    return (inside + back) / 2, (inside - back) / 2


def _real(xp: Operations, x: Same) -> Same:
    return xp.real(x) if xp.is_complex(x) else x


def _diagonal_in(xp: Operations, frames: Same, x: Same) -> Same:
    """The diagonal of Q^H x Q."""
    return _real(xp, _diagonal(xp, _product(xp, _adjoint(xp, frames), x, frames)))


def _turned(xp: Operations, frames: Tensor, numbers: Tensor) -> Tensor:
    """Q diag(numbers) Q^H."""
    return xp.matmul(frames * _row(xp, numbers), _adjoint(xp, frames))


def _gaps(xp: Operations, values: Tensor, tied: Tensor) -> Tensor:
    """The differences values[i] - values[j]; infinite for tied pairs."""
    return xp.where(tied, np.inf, _column(xp, values) - _row(xp, values))


def _sums(xp: Operations, values: Tensor, x: Tensor) -> Tensor:
    """The sums of two values; infinite on the diagonal for real matrices, whose skew part has no diagonal."""
    both = _column(xp, values) + _row(xp, values)
    return both if xp.is_complex(x) else xp.where(_identity(xp, values.shape[-1]), np.inf, both)


def _outside(xp: Operations, x: Tensor, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """The parts of a direction outside the left factor and inside the right one, and the reverse."""
    beyond = x - _product(xp, left, _adjoint(xp, left), x)
    return _product(xp, beyond, _adjoint(xp, right)), _product(
        xp, _adjoint(xp, left), x - _product(xp, x, _adjoint(xp, right), right)
    )


def _apart(
    xp: Operations,
    x: Tensor,
    slopes: Tensor,
    values: Tensor,
    left: Tensor,
    right: Tensor,
    tied: Tensor,
    hermitian: bool,
) -> Tensor:
    """The derivative of the gradient's matrix, with slopes g, in a direction, from pairs that are not tied.

    NaN where tied values have different slopes.
    """
    inside, other = _within(xp, x, left, right)
    steps = (_column(xp, slopes) - _row(xp, slopes)) / _gaps(xp, values, tied)
    equal = _tied(xp, values, slopes, digits=0.5)
    middle = inside * xp.where(xp.logical_not(tied) | equal, steps, np.nan)
    if hermitian:
        return _product(xp, left, middle, right)
    middle = middle + other * ((_column(xp, slopes) + _row(xp, slopes)) / _sums(xp, values, x))
    moved = _product(xp, left, middle, right)
    above, beside = _outside(xp, x, left, right)
    if x.shape[-2] > values.shape[-1]:
        moved = moved + _product(xp, above * _row(xp, slopes / values), right)
    if x.shape[-1] > values.shape[-1]:
        moved = moved + _product(xp, left * _row(xp, slopes / values), beside)
    return moved


# 3. The values, their gradient, and their derivative in a direction


def _eigvalsh_forward(x: Array, *, lower: bool) -> tuple[Array, Array, Array]:
    values, vectors = eigh_forward(x, lower=lower)
    return values, vectors, np.zeros(x.shape, x.dtype)


def _svdvals_forward(x: Array) -> tuple[Array, Array, Array, Array]:
    left, values, right = svd_forward(x, full=False)
    return left, values, right, np.zeros((*values.shape, values.shape[-1]), x.dtype)


def _by_values(
    xp: Operations,
    g: Tensor,
    turn_g: Tensor,
    x: Tensor,
    values: Tensor,
    left: Tensor,
    right: Tensor,
    turn: Tensor,
    hermitian: bool,
) -> Tensor:
    """The cotangent of a matrix from those of its values and of `turn`."""
    slopes = xp.spectral_gradient(g, x, values, left, right, turn, hermitian=hermitian)
    if is_missing(turn_g):
        return slopes
    one = _one(xp, turn_g)
    frames = turn_g + one
    common = xp.abs(xp.matmul(_adjoint(xp, frames), frames) - one) < COMMON
    moved = xp.where(common, _turned(xp, frames, g) - one * _row(xp, g), np.nan)
    return slopes + _product(xp, left, moved, right)


def _eigvalsh(xp: Operations, g: Sequence[Tensor], x: Tensor, y: Sequence[Tensor]) -> Tensor:
    """A Hermitian cotangent, as in `cholesky`; those of the vectors arise only in third derivatives."""
    values, vectors, turn = y
    slopes = _by_values(xp, g[0], g[2], x, values, vectors, _adjoint(xp, vectors), turn, True)
    return slopes if is_missing(g[1]) else slopes + by_eigenvectors(xp, g[1], values, vectors)


def _svdvals(xp: Operations, g: Sequence[Tensor], x: Tensor, y: Sequence[Tensor]) -> Tensor:
    left, values, right, turn = y
    slopes = _by_values(xp, g[1], g[3], x, values, left, right, turn, False)
    if is_missing(g[0]) and is_missing(g[2]):
        return slopes
    return slopes + svd_pullback(xp, [g[0], xp.zeros_like(values), g[2]], [left, values, right], full=False)


def _push_eigvalsh(
    xp: Operations, primals: Sequence[Tensor], tangents: Sequence[Tensor], y: Sequence[Tensor], *, lower: bool
) -> tuple[Tensor | None, ...]:
    """The tangents of values and vectors; those of vectors of equal values are NaN or infinite."""
    values, vectors, turn = y
    x, moves = ((each + _adjoint(xp, each)) / 2 for each in (primals[0], tangents[0]))
    back = _adjoint(xp, vectors)
    slopes = xp.spectral_slopes(moves, x, values, vectors, back, turn, hermitian=True)
    diagonal = _identity(xp, values.shape[-1])
    inside = _within(xp, moves, vectors, back)[0]
    turned = xp.where(diagonal, 0, inside / xp.where(diagonal, 1, _row(xp, values) - _column(xp, values)))
    return slopes, xp.matmul(vectors, turned), None


def _push_svdvals(
    xp: Operations, primals: Sequence[Tensor], tangents: Sequence[Tensor], y: Sequence[Tensor]
) -> tuple[Tensor | None, ...]:
    left, values, right, turn = y
    moves = tangents[0]
    slopes = xp.spectral_slopes(moves, primals[0], values, left, right, turn, hermitian=False)
    inside, other = _within(xp, moves, left, right)
    diagonal = _identity(xp, values.shape[-1])
    both = inside / -xp.where(diagonal, np.inf, _column(xp, values) - _row(xp, values))
    apart = other / _sums(xp, values, moves)
    above, beside = _outside(xp, moves, left, right)
    to_left, to_right = xp.matmul(left, both + apart), xp.matmul(apart - both, right)
    if moves.shape[-2] > values.shape[-1]:
        to_left = to_left + above / _row(xp, values)
    if moves.shape[-1] > values.shape[-1]:
        to_right = to_right + beside / _column(xp, values)
    return to_left, slopes, to_right, None


def _gradient_forward(
    given: Array, x: Array, values: Array, left: Array, right: Array, turn: Array, *, hermitian: bool
) -> Array:
    return (left * given[..., None, :]) @ right


def _gradient(
    xp: Operations, g: Tensor, given: Tensor, values: Tensor, left: Tensor, right: Tensor, *, hermitian: bool
) -> tuple[Tensor | None, ...]:
    """The pullback of the gradient; the factors are chosen for the cotangent."""
    g = (g + _adjoint(xp, g)) / 2 if hermitian else g
    inside = _within(xp, g, left, right)[0]
    tied = _tied(xp, values, given, digits=0.5)
    frames = xp.frames(inside, tied)
    moved = _apart(xp, g, given, values, left, right, tied, hermitian)
    return _diagonal_in(xp, frames, inside), moved, None, None, None, frames - _one(xp, frames)


def _push_gradient(
    xp: Operations, primals: Sequence[Tensor], tangents: Sequence[Tensor | None], y: Tensor, *, hermitian: bool
) -> Tensor:
    """The pushforward of the gradient; the factors are chosen for the tangent of the matrix."""
    given, _, values, left, right, _ = primals
    moved, x = tangents[:2]
    moved = xp.zeros_like(given) if moved is None else moved
    if x is None:
        return xp.spectral_gradient(moved, *primals[1:], hermitian=hermitian)
    x = (x + _adjoint(xp, x)) / 2 if hermitian else x
    tied = _tied(xp, values, values, digits=1)
    middle = _turned(xp, xp.frames(_within(xp, x, left, right)[0], tied), moved)
    return _product(xp, left, middle, right) + _apart(xp, x, given, values, left, right, tied, hermitian)


def _slopes(xp: Operations, direction: Same, values: Same, left: Same, right: Same) -> tuple[Same, Same, Same, Same]:
    inside = _within(xp, direction, left, right)[0]
    tied = _tied(xp, values, values, digits=1)
    frames = xp.frames(inside, tied)
    return _diagonal_in(xp, frames, inside), inside, tied, frames


def _slopes_forward(
    direction: Array, x: Array, values: Array, left: Array, right: Array, turn: Array, *, hermitian: bool
) -> Array:
    return _slopes(RAW, direction, values, left, right)[0]


def _by_slopes(
    xp: Operations, g: Tensor, direction: Tensor, values: Tensor, left: Tensor, right: Tensor, *, hermitian: bool
) -> tuple[Tensor | None, ...]:
    """The pullback of the directional derivative; the factors are chosen for the direction."""
    _, _, tied, frames = _slopes(xp, direction, values, left, right)
    to_direction = _product(xp, left, _turned(xp, frames, g), right)
    moved = _apart(xp, direction, g, values, left, right, tied, hermitian)
    return to_direction, moved, None, None, None, frames - _one(xp, frames)


def _push_slopes(
    xp: Operations, primals: Sequence[Tensor], tangents: Sequence[Tensor | None], y: Tensor, *, hermitian: bool
) -> Tensor:
    """The tangent in a second direction; NaN unless both directions choose the same factors."""
    direction, _, values, left, right, _ = primals
    slopes, inside, tied, frames = _slopes(xp, direction, values, left, right)
    moved = xp.zeros_like(y)
    if tangents[0] is not None:
        moved = _diagonal_in(xp, frames, _within(xp, tangents[0], left, right)[0])
    if tangents[1] is None:
        return moved
    chosen = xp.frames(_within(xp, tangents[1], left, right)[0], tied)
    size = xp.sum(xp.abs(slopes), axis=(slopes.ndim - 1,), keepdims=True)
    common = xp.abs(_diagonal_in(xp, chosen, inside) - slopes) <= size * COMMON
    left, right = xp.matmul(left, frames), xp.matmul(_adjoint(xp, frames), right)
    return moved + xp.where(common, _bent(xp, direction, tangents[1], values, left, right, tied, hermitian), np.nan)


def _bent(
    xp: Operations, a: Tensor, b: Tensor, values: Tensor, left: Tensor, right: Tensor, tied: Tensor, hermitian: bool
) -> Tensor:
    """The second derivatives of the values in two directions."""

    def total(x: Tensor, y: Tensor, axis: int) -> Tensor:
        y = xp.conj(y) if xp.is_complex(y) else y
        return xp.sum(_real(xp, x * y), axis=(x.ndim + axis,), keepdims=False)

    (first, other), (second, others) = (_within(xp, x, left, right) for x in (a, b))
    bent = total(2 * first / _gaps(xp, values, tied), second, -1)
    if hermitian:
        return bent
    bent = bent + total(2 * other / _sums(xp, values, a), others, -1)
    (above, beside), (higher, further) = (_outside(xp, x, left, right) for x in (a, b))
    if a.shape[-2] > values.shape[-1]:
        bent = bent + total(above, higher, -2) / values
    if a.shape[-1] > values.shape[-1]:
        bent = bent + total(beside, further, -1) / values
    return bent


# 4. The table

FACTORS = ("x", "values", "left", "right", "turn")
WRITTEN: OfComplex = {"complex": "as written"}

# fmt: off
#                  name                 pullback                       forward mode
eigvalsh = general("eigvalsh",          _eigvalsh,                     push=_push_eigvalsh, forward=_eigvalsh_forward,
                   outputs=3, title="LinalgEighBackward0", **WRITTEN)
svdvals  = general("svdvals",           _svdvals,                      push=_push_svdvals,  forward=_svdvals_forward,
                   outputs=4, title="LinalgSvdBackward0", **WRITTEN)
spectral_gradient = general("spectral_gradient", joint=_gradient,      push=_push_gradient, forward=_gradient_forward,
                   inputs=("given", *FACTORS), **WRITTEN)
spectral_slopes = general("spectral_slopes", joint=_by_slopes,         push=_push_slopes,   forward=_slopes_forward,
                   inputs=("direction", *FACTORS), **WRITTEN)
tied_values = zero("tied_values", forward=_tied_forward, inputs=("values", "slopes"))
frames   = zero("frames", forward=_frames_forward, inputs=("y", "tied"))
# fmt: on
