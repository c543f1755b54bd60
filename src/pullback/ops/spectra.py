"""Eigenvalues of Hermitian matrices and singular values, without their vectors: differentiable where values are equal.

A function that is symmetric in equal values is smooth in the matrix, though the vectors are anybody's choice. Let L be
the values, V the vectors, and the gradient of such a function V diag(g) V^H. Its derivative in a direction X is, with
Y = V^H X V, Y[i, j] (g[i] - g[j]) / (L[i] - L[j]) off the diagonal and dg on it (Daleckii and Krein, 1965). Where
L[i] = L[j] and g[i] = g[j] the quotient is 0 / 0, and its limit is not known from g and L. But the vectors may be chosen
so that Y is diagonal among equal values, as perturbation theory does: then these elements are on the diagonal of Y, and
nothing is divided.

So every derivative in a direction chooses vectors V Q for it. In forward mode the direction is known when the values
move. In reverse mode it is known first to the pullback of the gradient, which sends Q - 1 as the cotangent of `turn`, a
third output, zero, of the values. Two directions that choose different vectors have no common answer, and give NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import xp as _xp
from .._core.primitives import general, zero
from . import lapack
from .decompositions import _adjoint, _column, _converging, _diagonal, _identity, _product, _row

# 1. Which values are equal, and which vectors to choose among them

COMMON = 1e-3  # frames that are farther from unitary are the sum of two


def _tied_forward(values: Any, slopes: Any, *, share: float) -> Any:
    """Which pairs of sorted values are equal, up to a share of the largest, and have equal slopes."""
    together = _near(values, share) & _near(slopes, float(np.finfo(slopes.dtype).eps) ** 0.5)
    group = np.zeros(values.shape, np.intp)
    np.cumsum(~together, -1, out=group[..., 1:])
    return group[..., :, None] == group[..., None, :]


def _near(numbers: Any, share: float) -> Any:
    """Whether neighbours are as near to each other as a share of the largest."""
    return np.abs(np.diff(numbers)) <= share * np.abs(numbers).max(-1, keepdims=True, initial=0)


def _frames_forward(y: Any, tied: Any) -> Any:
    """Unitary Q, among tied values only, for which Q^H y Q is diagonal among them, and ascends; 1 where y is already 0."""
    size = y.shape[-1]
    one = np.broadcast_to(np.eye(size, dtype=y.dtype), y.shape)
    inside = np.where(tied & (one == 0), y, 0)
    turns = inside.any((-2, -1), keepdims=True) & np.isfinite(y).all((-2, -1), keepdims=True)
    if not turns.any():
        return one.copy()
    inside = np.where(turns & tied, y, 0)
    apart = 4 * size * np.abs(inside).max((-2, -1), keepdims=True)  # keeps blocks apart, and in their order
    found = np.linalg.eigh(inside + one * apart * np.argmax(tied, -1)[..., None])[1]
    return np.where(turns, np.where(tied, found, 0), one).astype(y.dtype)


def _tied(xp: Any, values: Any, slopes: Any, *, digits: float) -> Any:
    """Which values are equal, up to a power of the machine's precision."""
    kind = values._dtype if hasattr(values, "_dtype") else values.dtype
    return xp.tied_values(values, slopes, share=1000.0 ** (digits == 1) * float(np.finfo(kind).eps) ** digits)


# 2. Parts of rules


def _like(xp: Any, numbers: Any, x: Any) -> Any:
    """Real numbers in the dtype of x, real or complex."""
    return numbers + xp.zeros_like(x) if xp.is_complex(x) else numbers


def _one(xp: Any, x: Any) -> Any:
    """The identity in the dtype of matrices x."""
    return xp.where(_identity(xp, x.shape[-1]), 1, xp.zeros_like(x))


def _around(xp: Any, vectors: Any, middle: Any) -> Any:
    return _product(xp, vectors, middle, _adjoint(xp, vectors))


def _within(xp: Any, vectors: Any, x: Any) -> Any:
    """A direction, made Hermitian, as the vectors see it."""
    return _product(xp, _adjoint(xp, vectors), (x + _adjoint(xp, x)) / 2, vectors)


def _real_diagonal(xp: Any, x: Any) -> Any:
    found = _diagonal(xp, x)
    return xp.real(found) if xp.is_complex(found) else found


def _turned(xp: Any, frames: Any, numbers: Any) -> Any:
    """Q diag(numbers) Q^H."""
    return xp.matmul(frames * _row(xp, numbers), _adjoint(xp, frames))


def _gaps(xp: Any, values: Any, tied: Any) -> Any:
    """How much greater the value of a row is than that of a column; infinite where they are tied."""
    return xp.where(tied, np.inf, _column(xp, values) - _row(xp, values))


def _apart(xp: Any, y: Any, slopes: Any, values: Any, tied: Any) -> Any:
    """y times the quotients of differences; 0 where values are tied, and NaN where their slopes are not equal."""
    steps = _column(xp, slopes) - _row(xp, slopes)
    equal = _tied(xp, values, slopes, digits=0.5)
    return y * (steps / _gaps(xp, values, tied) + xp.where(xp.logical_or(xp.logical_not(tied), equal), 0, np.nan))


# 3. Eigenvalues


def _forward(x: Any, *, lower: bool) -> Any:
    values, vectors = _converging("eigh", np.linalg.eigh, x, "L" if lower else "U")
    return values, vectors, np.zeros(x.shape, x.dtype)


def _eigvalsh(xp: Any, g: Any, x: Any, y: Any) -> Any:
    """A Hermitian cotangent, as that of `cholesky`; vectors have one only from third derivatives."""
    values, vectors, turn = y
    slopes = xp.hermitian_gradient(g[0], x, values, vectors, turn)
    if not _absent(g[2]):
        one = _one(xp, vectors)
        frames = g[2] + one
        common = xp.abs(xp.matmul(_adjoint(xp, frames), frames) - one) < COMMON
        moved = _turned(xp, frames, g[0]) - one * _row(xp, g[0])
        slopes = slopes + _around(xp, vectors, xp.where(common, moved, np.nan))
    return slopes if _absent(g[1]) else slopes + _by_vectors(xp, g[1], values, vectors)


def _absent(g: Any) -> bool:
    """Whether an output has no cotangent: where none arrives, a pass fills in zeros."""
    return type(g) is np.ndarray and not g.any()


def _by_vectors(xp: Any, g: Any, values: Any, vectors: Any) -> Any:
    """What the vectors contribute to the cotangent of a Hermitian matrix: NaN or infinite for those of equal values.

    Vectors with a cotangent of zeros are not used, and need no gap.
    """
    turned = xp.matmul(_adjoint(xp, vectors), g)
    used = xp.any(g != 0, axis=(g.ndim - 2,), keepdims=False)
    gaps = _row(xp, values) - _column(xp, values)
    idle = xp.logical_not(xp.logical_or(_row(xp, used), _column(xp, used)))
    gaps = xp.where(xp.logical_or(idle, _identity(xp, values.shape[-1])), 1, gaps)
    middle = xp.where(_identity(xp, values.shape[-1]), 0, (turned - _adjoint(xp, turned)) / 2 / gaps)
    return _around(xp, vectors, middle)


def _push_eigvalsh(xp: Any, primals: Any, tangents: Any, y: Any, *, lower: bool) -> Any:
    values, vectors, turn = y
    inside = _within(xp, vectors, tangents[0])
    diagonal = _identity(xp, values.shape[-1])
    gaps = xp.where(diagonal, 1, _row(xp, values) - _column(xp, values))
    slopes = xp.eigenvalue_slopes(tangents[0], primals[0], values, vectors, turn)
    return slopes, xp.matmul(vectors, xp.where(diagonal, 0, inside / gaps)), None


def _gradient_forward(given: Any, x: Any, values: Any, vectors: Any, turn: Any) -> Any:
    return (vectors * given[..., None, :]) @ lapack.adjoint(vectors)


def _gradient(xp: Any, g: Any, given: Any, values: Any, vectors: Any) -> Any:
    """The vectors are chosen for the cotangent."""
    inside = _within(xp, vectors, g)
    tied = _tied(xp, values, given, digits=0.5)
    frames = xp.frames(inside, tied)
    slopes = _real_diagonal(xp, _product(xp, _adjoint(xp, frames), inside, frames))
    return slopes, _around(xp, vectors, _apart(xp, inside, given, values, tied)), None, None, frames - _one(xp, vectors)


def _push_gradient(xp: Any, primals: Any, tangents: Any, y: Any) -> Any:
    """The vectors are chosen for the tangent of the matrix."""
    given, _, values, vectors, _ = primals
    moved = xp.zeros_like(given) if tangents[0] is None else tangents[0]
    if tangents[1] is None:
        return xp.hermitian_gradient(moved, *primals[1:])
    inside = _within(xp, vectors, tangents[1])
    tied = _tied(xp, values, values, digits=1)
    middle = _turned(xp, xp.frames(inside, tied), moved)
    return _around(xp, vectors, middle + _apart(xp, inside, given, values, tied))


def _slopes_forward(direction: Any, x: Any, values: Any, vectors: Any, turn: Any) -> Any:
    return _slopes(_xp, direction, values, vectors)[0]


def _slopes(xp: Any, direction: Any, values: Any, vectors: Any) -> tuple[Any, ...]:
    inside = _within(xp, vectors, direction)
    tied = _tied(xp, values, values, digits=1)
    frames = xp.frames(inside, tied)
    return _real_diagonal(xp, _product(xp, _adjoint(xp, frames), inside, frames)), inside, tied, frames


def _by_slopes(xp: Any, g: Any, direction: Any, values: Any, vectors: Any) -> Any:
    _, inside, tied, frames = _slopes(xp, direction, values, vectors)
    to_direction = _around(xp, vectors, _turned(xp, frames, g))
    to_x = _around(xp, vectors, _apart(xp, inside, g, values, tied))
    return to_direction, to_x, None, None, frames - _one(xp, vectors)


def _push_slopes(xp: Any, primals: Any, tangents: Any, y: Any) -> Any:
    """Where the matrix moves in a second direction, both have to choose the same vectors."""
    direction, _, values, vectors, _ = primals
    slopes, inside, tied, frames = _slopes(xp, direction, values, vectors)
    moved = xp.zeros_like(y)
    if tangents[0] is not None:
        moved = _real_diagonal(xp, _product(xp, _adjoint(xp, frames), _within(xp, vectors, tangents[0]), frames))
    if tangents[1] is None:
        return moved
    other = _within(xp, vectors, tangents[1])
    chosen = xp.frames(other, tied)
    again = _real_diagonal(xp, _product(xp, _adjoint(xp, chosen), inside, chosen))
    size = xp.amax(xp.abs(slopes), axis=(slopes.ndim - 1,), keepdims=True)
    common = xp.abs(again - slopes) <= size * COMMON
    first, second = (_product(xp, _adjoint(xp, frames), each, frames) for each in (inside, other))
    bent = 2 * first * xp.matrix_transpose(second) / _gaps(xp, values, tied)
    bent = xp.sum(xp.real(bent) if xp.is_complex(bent) else bent, axis=(bent.ndim - 1,), keepdims=False)
    return moved + xp.where(common, bent, np.nan)


# 4. The table

INPUTS: Any = {"inputs": ("given", "x", "values", "vectors", "turn"), "complex": "as written"}

# fmt: off
eigvalsh           = general("eigvalsh", _eigvalsh, forward=_forward, push=_push_eigvalsh, outputs=3, complex="as written",
                             title="LinalgEighBackward0")
hermitian_gradient = general("hermitian_gradient", joint=_gradient, forward=_gradient_forward, push=_push_gradient, **INPUTS)
eigenvalue_slopes  = general("eigenvalue_slopes", joint=_by_slopes, forward=_slopes_forward, push=_push_slopes,
                             inputs=("direction", "x", "values", "vectors", "turn"), complex="as written")
tied_values        = zero("tied_values", forward=_tied_forward, inputs=("values", "slopes"))
frames             = zero("frames", forward=_frames_forward, inputs=("y", "tied"))
# fmt: on
