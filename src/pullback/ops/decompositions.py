"""Decompositions: inverses, determinants, factors, eigenvalues and singular values of stacks of matrices.

A rule gets the cotangents of several outputs as a list. Rules of holomorphic functions are written for real matrices;
the others conjugate where needed. Gradients follow Giles (2008), An extended collection of matrix derivative results,
and, for non-square factors, Walter and Lehmann (2010), Algorithmic differentiation of linear algebra functions. Where
the factors are not unique, a rule holds for losses that do not depend on the choice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._core.primitives import general, zero
from .._core.xp import RAW, is_missing
from . import lapack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core.primitives import Function
    from .._core.typing import Array, NumpyType, OfComplex, Operations, Same, Tensor

ALL = slice(None)

# 1. Parts of rules


def _adjoint(xp: Operations, x: Same) -> Same:
    """The conjugate transpose."""
    x = xp.matrix_transpose(x)
    return xp.conj(x) if xp.is_complex(x) else x


def _product(xp: Operations, *factors: Same) -> Same:
    """The product of several matrices, multiplied from left to right."""
    result = factors[0]
    for factor in factors[1:]:
        result = xp.matmul(result, factor)
    return result


def _row(xp: Operations, x: Same) -> Same:
    return xp.reshape(x, shape=(*x.shape[:-1], 1, x.shape[-1]))


def _column(xp: Operations, x: Same) -> Same:
    return xp.reshape(x, shape=(*x.shape, 1))


def _matrix(xp: Operations, x: Same) -> Same:
    """A scalar for each matrix, with two trailing axes of length 1 to broadcast."""
    return xp.reshape(x, shape=(*x.shape, 1, 1))


def _on_diagonal(xp: Operations, x: Tensor) -> Tensor:
    """Matrices with x on their diagonals, zero elsewhere."""
    return xp.scatter_diagonal(x, axes=(x.ndim - 1, x.ndim), shape=(*x.shape, x.shape[-1]))


def _diagonal(xp: Operations, x: Same) -> Same:
    return xp.diagonal(x, axes=(x.ndim - 2, x.ndim - 1))


def _part(xp: Operations, x: Tensor, rows: slice, columns: slice) -> Tensor:
    return xp.getitem(x, index=(Ellipsis, rows, columns))


def _beside(xp: Operations, a: Tensor, b: Tensor, axis: int) -> Tensor:
    """Two matrices joined vertically (axis -2) or horizontally (axis -1)."""
    axis += a.ndim
    return xp.concat(a, b, axis=axis, sizes=(a.shape[axis], b.shape[axis]))


def _identity(xp: Operations, size: int) -> Array:
    """True on the diagonal."""
    return xp.asarray(np.eye(size, dtype=bool))


def _gaps(xp: Operations, values: Tensor) -> Tensor:
    """The differences of eigenvalues, [i, j] = values[j] - values[i]."""
    return _row(xp, values) - _column(xp, values)


def _check_phase(g: Array, vectors: Array, *, operation: str, real: bool = False) -> Array:
    """Raise if the loss depends on the phase of complex vectors, which is arbitrary.

    Real vectors of a real matrix have no phase and are not checked.
    """
    if real and not vectors.imag.any():
        return np.zeros(())
    if g.dtype.kind == "c" and not np.allclose(g.imag, 0, rtol=1e-2, atol=1e-2):
        what = "singular vectors" if "svd" in operation else "eigenvectors"
        raise RuntimeError(
            f"{operation}: The {what} in the complex case are specified up to multiplication by e^{{i phi}}. The "
            "specified loss function depends on this quantity, so it is ill-defined: make it depend on the "
            f"{what} through products that the phase leaves alone, such as abs()"
        )
    return np.zeros(())


# 2. Forward functions that NumPy has under other names, or only for some matrices


def _slogdet_forward(x: Array) -> tuple[Array, Array]:
    sign, size = np.linalg.slogdet(x)
    return np.asarray(sign, x.dtype), np.asarray(size)


def _cofactor_forward(x: Array) -> Array:
    """The cofactors: det(x) times the transposed inverse, also defined for singular x."""
    try:
        return np.linalg.det(x)[..., None, None] * lapack.transposed(lapack.computed(np.linalg.inv, x))
    except np.linalg.LinAlgError:
        u, s, vh = svd_forward(x, full=True)
        others = np.where(np.eye(x.shape[-1], dtype=bool), 1, s[..., None, :]).prod(-1)
        turn = np.linalg.det(u) * np.linalg.det(vh)
        adjugate = (lapack.adjoint(vh) * others[..., None, :]) @ lapack.adjoint(u)
        return np.asarray(turn[..., None, None] * lapack.transposed(adjugate), x.dtype)


def _cofactor_slope_forward(given: Array, x: Array) -> Array:
    """The derivative of the cofactors of x in a direction: by the inverse or, if that is inexact, by singular values.

    With x = u s vh, the cofactors of s are products of all but one singular value, and their derivatives of all but
    two.
    """
    try:
        inverse = lapack.computed(np.linalg.inv, x)
        inexact = not np.all(
            np.linalg.norm(x, axis=(-2, -1)) * np.linalg.norm(inverse, axis=(-2, -1)) < WELL_CONDITIONED
        )
    except np.linalg.LinAlgError:
        inexact = True
    if not inexact:
        return _by_inverse(RAW, given, np.linalg.det(x), lapack.transposed(inverse))
    u, s, vh = svd_forward(x, full=True)
    turned = lapack.adjoint(u) @ given @ lapack.adjoint(vh)
    same = np.eye(x.shape[-1], dtype=bool)
    rest = np.where(same[:, None] | same, 1, s[..., None, None, :]).prod(-1)
    diagonal = (np.where(same, 0, rest) * np.diagonal(turned, 0, -2, -1)[..., None, :]).sum(-1)
    slope = np.where(same, diagonal[..., None], -rest * lapack.transposed(turned))
    turn = np.linalg.det(u) * np.linalg.det(vh)
    return np.asarray(turn[..., None, None] * (np.conj(u) @ slope @ np.conj(vh)), x.dtype)


def eigh_forward(x: Array, *, lower: bool) -> tuple[Array, ...]:
    """Eigenvalues and eigenvectors of Hermitian matrices; only one triangle is read."""
    return _converging("eigh", np.linalg.eigh, x, "L" if lower else "U")


def _eig_forward(x: Array) -> tuple[Array, Array]:
    """Complex eigenvalues and eigenvectors, also of real matrices."""
    values, vectors = _converging("eig", np.linalg.eig, x)
    kind = np.result_type(x.dtype, np.complex64)
    return values.astype(kind), vectors.astype(kind)


def svd_forward(x: Array, *, full: bool) -> tuple[Array, ...]:
    """The singular value decomposition: u, s, vh."""
    return _converging("svd", lapack.svd, x, full)


def _converging(name: str, function: Function, *args: Any) -> tuple[Array, ...]:
    try:
        return tuple(lapack.computed(function, *args))
    except np.linalg.LinAlgError:
        x = args[0]
        failed = ~np.isfinite(x).all((-2, -1))
        text = "The algorithm failed to converge because the input matrix contained non-finite values."
        if not failed.any():
            text = (
                "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
                f"{'singular values' if name == 'svd' else 'eigenvalues'}."
            )
            failed = np.ones(failed.shape)
        lapack.refuse(f"linalg.{name}", text, failed)
        raise


def _qr_forward(x: Array, *, mode: str) -> tuple[Array, ...]:
    factor: Function = np.linalg.qr  # its type stubs know the modes only as literals
    return tuple(factor(x, mode))


def _geqrf_forward(x: Array) -> tuple[Array, Array]:
    h, tau = np.linalg.qr(x, "raw")
    return np.ascontiguousarray(lapack.transposed(h)), tau


def _pinv_forward(x: Array, least: Array, relative: Array, *, hermitian: bool) -> Array:
    """The pseudoinverse: singular values below either bound count as zero; the second is relative to the largest."""
    if x.size == 0:
        return np.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    if hermitian:
        values, u = eigh_forward(x, lower=True)
        vh = lapack.adjoint(u)
    else:
        u, values, vh = svd_forward(x, full=False)
    size = np.abs(values)
    bound = np.maximum(least[..., None], relative[..., None] * size.max(-1, keepdims=True))
    inverse = np.divide(1, values, out=np.zeros_like(values), where=size > bound)
    return (lapack.adjoint(vh) * inverse[..., None, :]) @ lapack.adjoint(u)


# 3. Rules


def _inv(xp: Operations, g: Tensor, y: Tensor) -> Tensor:
    y = xp.matrix_transpose(y)
    return -_product(xp, y, g, y)


OTHER = {"": "", "upper": "lower", "lower": "upper"}
"""The triangle that a matrix has when transposed."""


def _solve(
    xp: Operations, g: Tensor, a: Tensor, y: Tensor, *, needs: Sequence[bool], triangle: str = ""
) -> tuple[Tensor | None, ...]:
    g = xp.solve(xp.matrix_transpose(a), g, triangle=OTHER[triangle])
    return (-xp.matmul(g, xp.matrix_transpose(y)) if needs[0] else None, g)


def _solve_triangular(
    xp: Operations, g: Tensor, a: Tensor, y: Tensor, *, upper: bool, unitriangular: bool, needs: Sequence[bool]
) -> tuple[Tensor | None, ...]:
    g = xp.solve_triangular(xp.matrix_transpose(a), g, upper=not upper, unitriangular=unitriangular)
    if not needs[0]:
        return (None, g)
    full = xp.matmul(g, xp.matrix_transpose(y))
    k = int(unitriangular)
    return (-(xp.triu(full, k=k) if upper else xp.tril(full, k=-k)), g)


def _det(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    return _matrix(xp, g) * xp.cofactor(x)


def _by_inverse(xp: Operations, g: Same, det: Same, inverse: Same) -> Same:
    """The derivative of the cofactors in a direction, computed from the transposed inverse."""
    return _matrix(xp, det) * (_inner(xp, g, inverse) * inverse - _between(xp, inverse, g))


def _inner(xp: Operations, a: Same, b: Same) -> Same:
    return xp.sum(a * b, axis=(b.ndim - 2, b.ndim - 1), keepdims=True)


def _between(xp: Operations, inverse: Same, *directions: Same) -> Same:
    """The product inverse @ d1.T @ inverse @ d2.T @ ... for directions d and the transposed inverse."""
    result = inverse
    for direction in directions:
        result = _product(xp, result, xp.matrix_transpose(direction), inverse)
    return result


def _cofactor_slope_by_x(xp: Operations, g: Tensor, given: Tensor, x: Tensor) -> Tensor:
    """The third derivative of the determinant, which is symmetric in its two directions."""
    inverse = xp.matrix_transpose(xp.inv(x))
    first, second = _inner(xp, g, inverse), _inner(xp, given, inverse)
    mixed = _inner(xp, g, _between(xp, inverse, given))
    crossed = first * _between(xp, inverse, given) + second * _between(xp, inverse, g)
    both = _between(xp, inverse, given, g) + _between(xp, inverse, g, given)
    return _matrix(xp, xp.det(x)) * ((first * second - mixed) * inverse - crossed + both)


def _slogdet(xp: Operations, g: Sequence[Tensor], x: Tensor, y: Sequence[Tensor]) -> Tensor:
    """The phase depends on the imaginary part of the logarithm; the sign of a real matrix has derivative 0."""
    size = g[1]
    if xp.is_complex(x):
        turn = xp.conj(g[0]) * y[0]
        size = size - (turn - xp.conj(turn)) / 2
    inverse = _adjoint(xp, xp.inv(x))
    if xp is RAW and np.isinf(inverse).any():
        inverse = xp.asarray(np.where(np.isinf(inverse), _slopes_of_singular(cast("Array", x)), inverse))
    return _matrix(xp, size) * inverse


def _slopes_of_singular(x: Array) -> Array:
    """The cofactors of singular matrices over their determinant 0: infinite with the cofactor's sign, or NaN if that is 0."""
    cofactors = np.conj(_cofactor_forward(x))
    size = np.abs(cofactors)
    rounding = x.shape[-1] * np.finfo(size.dtype).eps * size.max((-2, -1), keepdims=True)
    return np.where(size > rounding, cofactors, 0) / np.zeros((), x.dtype)


def _cholesky(xp: Operations, g: Tensor, y: Tensor) -> Tensor:
    """The cotangent of x, symmetrized as in torch: the factor reads one triangle, which represents both."""
    upper = _adjoint(xp, y)
    lower = xp.tril(xp.matmul(upper, g), k=0)
    both = (lower + _adjoint(xp, xp.tril(lower, k=-1))) / 2
    both = xp.solve_triangular(upper, both, upper=True, unitriangular=False)
    return _adjoint(xp, xp.solve_triangular(upper, _adjoint(xp, both), upper=True, unitriangular=False))


def _lu_factor(xp: Operations, g: Sequence[Tensor], y: Sequence[Tensor], *, pivot: bool) -> Tensor:
    """The cotangent through the leading square block, and through the remaining columns or rows."""
    given, factors, pivots = g[0], y[0], y[1]
    m, n = factors.shape[-2:]
    k = min(m, n)
    first, last = slice(None, k), slice(k, None)
    square = _part(xp, factors, first, first)
    lower, upper = xp.where(_identity(xp, k), 1, xp.tril(square, k=-1)), xp.triu(square, k=0)
    head = _part(xp, given, first, first)
    below = xp.matmul(xp.matrix_transpose(lower), xp.tril(head, k=-1))
    above = xp.matmul(xp.triu(head, k=0), xp.matrix_transpose(upper))
    if n > k:
        beside = _part(xp, given, ALL, last)
        below = below - xp.matmul(beside, xp.matrix_transpose(_part(xp, factors, ALL, last)))
    if m > k:
        under = _part(xp, given, last, ALL)
        above = above - xp.matmul(xp.matrix_transpose(_part(xp, factors, last, ALL)), under)
    middle = xp.tril(below, k=-1) + xp.triu(above, k=0)

    def left(x: Tensor) -> Tensor:
        return xp.solve_triangular(xp.matrix_transpose(lower), x, upper=True, unitriangular=True)

    def right(x: Tensor) -> Tensor:
        solved = xp.solve_triangular(upper, xp.matrix_transpose(x), upper=True, unitriangular=False)
        return xp.matrix_transpose(solved)

    result = left(right(middle))
    if n > k:
        result = _beside(xp, result, left(beside), -1)
    if m > k:
        result = _beside(xp, result, right(under), -2)
    return xp.matmul(xp.permutation(pivots, factors), result) if pivot else result


def _eigh(xp: Operations, g: Sequence[Tensor], y: Sequence[Tensor]) -> Tensor:
    """The cotangent of x, made Hermitian as in `cholesky`."""
    values, vectors = y
    middle = _unsettled(xp, values, _on_diagonal(xp, g[0]))
    by_values = _product(xp, vectors, middle, _adjoint(xp, vectors))
    return by_values if is_missing(g[1]) else by_values + by_eigenvectors(xp, g[1], values, vectors)


def by_eigenvectors(xp: Operations, g: Tensor, values: Tensor, vectors: Tensor) -> Tensor:
    """The eigenvectors' contribution to the cotangent of a Hermitian matrix: NaN for equal eigenvalues."""
    turned = xp.matmul(_adjoint(xp, vectors), g)
    xp.check_phase(_diagonal(xp, turned), vectors, operation="linalg_eigh_backward")
    turned = (turned - _adjoint(xp, turned)) / 2
    gaps = _gaps(xp, values)
    middle = _shares(xp, turned, gaps, gaps, values, g)
    return _product(xp, vectors, middle, _adjoint(xp, vectors))


def _unsettled(xp: Operations, values: Tensor, middle: Tensor) -> Tensor:
    """The middle factor of a gradient, recorded such that its derivative is NaN where eigenvalues are equal.

    There the eigenvectors are arbitrary, so a derivative through them is meaningless. sqrt(0) has the slope 1 / 0.
    """
    if xp is RAW:
        return middle
    gaps = _gaps(xp, values)
    eps = float(np.finfo(str(getattr(values, "_dtype", values.dtype)).rsplit(".", 1)[-1]).eps)
    size = _row(xp, xp.abs(values)) + _column(xp, xp.abs(values))
    equal = (xp.abs(gaps) <= size * (ROUNDING * eps)) & ~_identity(xp, values.shape[-1])
    return middle + xp.where(equal, xp.sqrt(xp.where(equal, gaps * 0, 1)), 0)


def _shares(
    xp: Operations, numerators: Tensor, divisors: Tensor, gaps: Tensor, values: Tensor, *cotangents: Tensor
) -> Tensor:
    """What pairs of vectors contribute to the middle factor of a gradient: quotients, NaN where the gap is lost, 0 on the diagonal."""
    used = _used(xp, *cotangents)
    lost = _lost(xp, gaps, values, used, used + xp.matrix_transpose(used))
    diagonal = _identity(xp, values.shape[-1])
    return xp.where(diagonal, 0, numerators / xp.where(diagonal, 1, xp.where(lost, math.nan, divisors)))


def _used(xp: Operations, *cotangents: Tensor) -> Tensor:
    """The largest elements of the cotangents of each vector, in a row: vectors are columns."""
    largest = [xp.amax if g.shape[-2] else xp.sum for g in cotangents]  # the largest of nothing is 0
    first, *rest = [of(xp.abs(g), axis=(g.ndim - 2,), keepdims=True) for of, g in zip(largest, cotangents, strict=True)]
    return first + rest[0] if rest else first


def _lost(xp: Operations, gaps: Tensor, values: Tensor, used: Tensor, here: Tensor) -> Tensor:
    """True where a cotangent must not be divided by a gap, of two values or from 0, although the quotient may be finite.

    At a gap of 0 the derivative of a function of the vectors exists only if all bases of their span give the same. Then
    the quotient is 0 / 0, and cotangents do not tell the limit: a vector may be unused, or have been multiplied by a zero
    that has a derivative. At a gap of a few rounding errors the quotient is right only if the cotangents `here` are so
    small beside all that are `used` that their rounding errors, divided by it, are small too.
    """
    if not values.shape[-1]:
        return gaps == 0
    eps = float(np.finfo(str(getattr(values, "_dtype", values.dtype)).rsplit(".", 1)[-1]).eps)
    size = _column(xp, xp.amax(xp.abs(values), axis=(values.ndim - 1,), keepdims=True))
    most = xp.amax(used, axis=(used.ndim - 2, used.ndim - 1), keepdims=True)
    gaps = xp.abs(gaps)
    small = (here * size * (ROUNDING * eps) <= most * gaps) & (most > 0)
    return (gaps == 0) | ((gaps <= size * (ROUNDING * eps)) & xp.logical_not(small))


def _eig(xp: Operations, g: Sequence[Tensor], y: Sequence[Tensor], *, dtype: NumpyType) -> Tensor:
    """Eigenvectors have norm 1, so their derivative along themselves is 0; `dtype` is that of x, real or complex."""
    values, vectors = y
    dual = _adjoint(xp, vectors)
    middle = _unsettled(xp, values, _on_diagonal(xp, g[0]))
    if not is_missing(g[1]):
        turned = xp.matmul(dual, g[1])
        along = _diagonal(xp, turned)
        xp.check_phase(along, vectors, operation="linalg_eig_backward", real=dtype.kind == "f")
        turned = turned - xp.matmul(dual, vectors * _row(xp, (along + xp.conj(along)) / 2))
        gaps = xp.conj(_gaps(xp, values))
        middle = middle + _shares(xp, turned, gaps, gaps, values, g[1])
    result = xp.solve(dual, xp.matmul(middle, dual))
    return result if dtype.kind == "c" else xp.astype(result, dtype=dtype, source=np.result_type(dtype, np.complex64))


def svd_pullback(xp: Operations, g: Sequence[Tensor], y: Sequence[Tensor], *, full: bool) -> Tensor:
    """The cotangent through the leading columns of the factors; the other columns are an arbitrary basis."""
    k = y[1].shape[-1]
    gu, gvh = (_part(xp, g[0], ALL, slice(k)), _part(xp, g[2], slice(k), ALL)) if full else (g[0], g[2])
    u, vh = (_part(xp, y[0], ALL, slice(k)), _part(xp, y[2], slice(k), ALL)) if full else (y[0], y[2])
    s = y[1]
    middle = _unsettled(xp, s, _on_diagonal(xp, g[1]))
    if is_missing(g[0]) and is_missing(g[2]):
        return _product(xp, u, middle, vh)
    left, right = xp.matmul(_adjoint(xp, u), gu), xp.matmul(vh, _adjoint(xp, gvh))
    left, right = (side - _adjoint(xp, side) for side in (left, right))
    columns = gu, xp.matrix_transpose(gvh)
    numerators = left * _row(xp, s) + _column(xp, s) * right
    middle = middle + _shares(xp, numerators, _gaps(xp, s * s), _gaps(xp, s), s, *columns)
    used = _used(xp, *columns)
    known = xp.where(_lost(xp, _row(xp, s), s, used, used), math.nan, _row(xp, s))
    if xp.is_complex(u):
        phase = _diagonal(xp, left)
        xp.check_phase(phase + _diagonal(xp, right), u, operation="svd_backward")
        middle = middle + _on_diagonal(xp, phase / (2 * xp.reshape(known, shape=s.shape)))
    if u.shape[-2] > k and not is_missing(g[0]):
        outer = gu / known
        outer = outer - _product(xp, u, _adjoint(xp, u), outer)
        result = xp.matmul(xp.matmul(u, middle) + outer, vh)
    else:
        result = xp.matmul(u, xp.matmul(middle, vh))
    if vh.shape[-1] > k and not is_missing(g[2]):
        outer = gvh / xp.matrix_transpose(known)
        outer = outer - _product(xp, outer, _adjoint(xp, vh), vh)
        result = result + xp.matmul(u, outer)
    return result


def _qr(xp: Operations, g: Sequence[Tensor], y: Sequence[Tensor], *, mode: str) -> Tensor:
    """The cotangent through the leading square block; the rest of R is Q^H times the other columns."""
    (gq, gr), (q, r) = g, y
    k, n = q.shape[-1], r.shape[-1]
    if k > n:
        raise RuntimeError(
            f"The QR decomposition is not differentiable when mode='complete' and nrows > ncols: Q has {k} columns and the "
            f"matrix {n}, so it does not determine the last {k - n}. Use mode='reduced'"
        )
    first, last = slice(None, k), slice(k, None)
    beside = None
    if n > k:
        rest, beside = _part(xp, r, ALL, last), _part(xp, gr, ALL, last)
        gq = gq + _product(xp, q, rest, _adjoint(xp, beside))
        r, gr = _part(xp, r, ALL, first), _part(xp, gr, ALL, first)
    moved = xp.triu(xp.matmul(gr, _adjoint(xp, r)) - xp.matmul(_adjoint(xp, q), gq), k=0)
    moved = moved + _adjoint(xp, moved)
    moved = xp.where(_identity(xp, k), moved / 2, moved)
    result = _adjoint(xp, gq + xp.matmul(q, moved))
    result = _adjoint(xp, xp.solve_triangular(r, result, upper=True, unitriangular=False))
    return result if beside is None else _beside(xp, result, xp.matmul(q, beside), -1)


def _pinv(xp: Operations, g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Golub and Pereyra (1973): the derivative among matrices of the same rank."""
    dual, back = _adjoint(xp, y), _adjoint(xp, g)
    left = _product(xp, back, y, dual)
    right = _product(xp, dual, y, back)
    change = -_product(xp, dual, g, dual) + left - _product(xp, x, y, left)
    return change + right - _product(xp, right, y, x)


def _matrix_exp(xp: Operations, g: Tensor, x: Tensor) -> Tensor:
    """The transposed derivative is a corner block of the exponential of a matrix twice as large."""
    n = x.shape[-1]
    if n == 0:
        return g
    x = xp.matrix_transpose(x)
    top = _beside(xp, x, g, -1)
    bottom = _beside(xp, xp.zeros_like(x), x, -1)
    return _part(xp, xp.matrix_exp(_beside(xp, top, bottom, -2)), slice(None, n), slice(n, None))


# 4. The table

ROUNDING = 1000.0  # times the machine epsilon: eigenvalues or singular values that differ by less count as equal
WELL_CONDITIONED = 1e4  # up to this condition number, derivatives by the inverse keep half of their digits

WHOLE: OfComplex = {"complex": "holomorphic"}
WRITTEN: OfComplex = {"complex": "as written"}

# fmt: off
#                     name           pullback
inv          = general("inv",          _inv,         forward=lapack.inv,            title="LinalgInvExBackward0", **WHOLE)
solve        = general("solve",        joint=_solve, forward=lapack.solve,          title="LinalgSolveExBackward0",
                       inputs=("a", "b"), **WHOLE)
solve_triangular = general("solve_triangular", joint=_solve_triangular, forward=lapack.solve_triangular,
                       title="LinalgSolveTriangularBackward0", inputs=("a", "b"), **WHOLE)
det          = general("det",          _det,         forward=np.linalg.det,         title="LinalgDetBackward0", **WHOLE)
cofactor     = general("cofactor",     lambda xp, g, x: xp.cofactor_slope(g, x),
                       forward=_cofactor_forward, **WHOLE)
cofactor_slope = general("cofactor_slope", lambda xp, g, x: xp.cofactor_slope(g, x), _cofactor_slope_by_x,
                       forward=_cofactor_slope_forward, inputs=("given", "x"), **WHOLE)
slogdet      = general("slogdet",      _slogdet,     forward=_slogdet_forward,      title="LinalgSlogdetBackward0",
                       outputs=2, **WRITTEN)
cholesky     = general("cholesky",     _cholesky,    forward=lapack.cholesky,       title="LinalgCholeskyExBackward0", **WRITTEN)
lu_factor    = general("lu_factor",    _lu_factor,   forward=lapack.lu_factor,      title="LinalgLuFactorExBackward0",
                       outputs=3, **WHOLE)
eigh         = general("eigh",         _eigh,        forward=eigh_forward,         title="LinalgEighBackward0",
                       outputs=2, **WRITTEN)
eig          = general("eig",          _eig,         forward=lambda x, *, dtype: _eig_forward(x),
                       title="LinalgEigBackward0", outputs=2, **WRITTEN)
svd          = general("svd",          svd_pullback,         forward=svd_forward,          title="LinalgSvdBackward0",
                       outputs=3, **WRITTEN)
qr           = general("qr",           _qr,          forward=_qr_forward,           title="LinalgQrBackward0",
                       outputs=2, **WRITTEN)
pinv         = general("pinv",         _pinv,        None, None,  forward=_pinv_forward, title="LinalgPinvBackward0",
                       inputs=("x", "least", "relative"), **WRITTEN)
matrix_exp   = general("matrix_exp",   _matrix_exp,  forward=lapack.matrix_exp,     title="LinalgMatrixExpBackward0", **WHOLE)

geqrf        = zero("geqrf",       forward=_geqrf_forward)
ldl_factor   = zero("ldl_factor",  forward=lapack.ldl_factor)
ldl_solve    = zero("ldl_solve",   forward=lapack.ldl_solve,   inputs=("factor", "pivots", "b"))
permutation  = zero("permutation", forward=lapack.permutation, inputs=("pivots", "x"))
pivot_info   = zero("pivot_info",  forward=lapack.pivot_info,  inputs=("x", "y"))
minor_info   = zero("minor_info",  forward=lapack.minor_info,  inputs=("x", "y"))
check_phase  = zero("check_phase", forward=_check_phase,       inputs=("g", "vectors"))
# fmt: on
