"""LAPACK routines that NumPy does not expose: LU with pivots, LDL, triangular systems; and the matrix exponential.

Everything here works on plain arrays, on stacks of matrices at once. NumPy's routines raise for a whole stack if one of
its matrices is singular; here such a matrix gives infinities, and an error only if the caller passes `name`, the name
of the operation for the message.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._numerics import blas

if TYPE_CHECKING:
    from .._core.typing import Array, Threshold

Result = TypeVar("Result")

BLOCK: Threshold = 48  # columns factorized one by one, before matrix products update the rest
FEWEST: Threshold = (
    16  # rows from which BLAS solves the triangular systems of a stack: a call takes as long as NumPy for fewer
)


class LinAlgError(RuntimeError):
    """An error for a matrix without the requested inverse, factor or solution: singular, indefinite or not finite."""

    __module__ = "pullback.linalg"


def transposed(x: Array) -> Array:
    """The transpose of the last two axes."""
    return x.swapaxes(-1, -2)


def adjoint(x: Array) -> Array:
    """The conjugate transpose."""
    return np.conj(x).swapaxes(-1, -2) if x.dtype.kind == "c" else x.swapaxes(-1, -2)


def stacked(x: Array) -> Array:
    """x reshaped to a single batch axis in front of the matrices."""
    return x.reshape(math.prod(x.shape[:-2]), *x.shape[-2:])


@functools.cache
def _told() -> bool:
    """True if NumPy says that it has failed, which it learns from a floating-point flag; WebAssembly has none."""
    try:
        np.linalg.inv(np.zeros((1, 1)))
    except np.linalg.LinAlgError:
        return True
    return False


def computed(function: Callable[..., Result], x: Array, *args: Any) -> Result:
    """The result of one of NumPy's functions for stacks of matrices; np.linalg.LinAlgError if it fails for one of them."""
    result = function(x, *args)
    if not _told() and not _finite(result) and _finite(x, *args):
        raise np.linalg.LinAlgError(f"{function.__name__} failed")
    return result


def svd(x: Array, full_matrices: bool = True) -> tuple[Array, Array, Array]:
    """NumPy's svd; np.linalg.LinAlgError also for infinite numbers, with which LAPACK may never return."""
    if not _finite(x):
        raise np.linalg.LinAlgError("SVD of numbers that are not finite")
    u, s, vh = computed(np.linalg.svd, x, full_matrices)
    return u, s, vh


def _finite(*values: object) -> bool:
    pieces = (piece for each in values for piece in (each if isinstance(each, tuple) else (each,)))
    return all(np.isfinite(piece).all() for piece in pieces if isinstance(piece, np.ndarray))


# 1. Systems of equations


def solve(a: Array, b: Array, *, operation: str = "", triangle: str = "") -> Array:
    """The solution of a @ x = b for matrices b; given a name, a singular matrix raises torch's error.

    `triangle` is "upper" or "lower" if a is known to be such a matrix.
    """
    if triangle:
        return solve_triangular(a, b, upper=triangle == "upper")
    if b.ndim < a.ndim:
        b = b[(None,) * (a.ndim - b.ndim)]
    try:
        return computed(np.linalg.solve, a, b)
    except np.linalg.LinAlgError:
        _refuse_singular(operation, "The solver failed because the input matrix is singular.", a)
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    pairs = (stacked(np.broadcast_to(x, shape + x.shape[-2:])) for x in (a, b))
    found = [_or_infinite(np.linalg.solve, *pair) for pair in zip(*pairs, strict=True)]
    return np.stack(found).reshape(shape + b.shape[-2:])


def inv(x: Array, *, operation: str = "") -> Array:
    """The inverse; given a name, a singular matrix raises torch's error."""
    try:
        return computed(np.linalg.inv, x)
    except np.linalg.LinAlgError:
        _refuse_singular(operation, NO_INVERSE, x)
    found = [_or_infinite(np.linalg.inv, each) for each in stacked(x)]
    return np.stack(found).reshape(x.shape)


def _or_infinite(function: Callable[..., Array], *matrices: Array) -> Array:
    try:
        return computed(function, *matrices)
    except np.linalg.LinAlgError:
        return np.full_like(matrices[-1], np.inf)


def _refuse_singular(operation: str, text: str, x: Array) -> None:
    if operation:
        refuse(operation, text, lu_factor(x)[2])


NO_INVERSE = (
    "The diagonal element {info} is zero, the inversion could not be completed because the input matrix is singular."
)


def refuse(operation: str, text: str, info: Array) -> None:
    """Raise torch's error for the first matrix whose `info` is not zero, if there is one."""
    failed = np.flatnonzero(info)
    if failed.size:
        which = f"(Batch element {failed[0]}): " if np.ndim(info) else ""
        raise LinAlgError(f"{operation}: {which}{text.format(info=np.ravel(info)[failed[0]])}")


def pivot_info(x: Array, y: Array) -> Array:
    """For each matrix of x 0 or, if the solution y is not finite, the index from 1 of the first zero pivot."""
    if np.isfinite(y).all():
        return np.zeros(x.shape[:-2], np.int32)
    return lu_factor(x)[2]


def solve_triangular(a: Array, b: Array, *, upper: bool, unitriangular: bool = False) -> Array:
    """The solution of a @ x = b for triangular a; one triangle is read, and a zero on the diagonal gives infinities."""
    worth = a.dtype == b.dtype and (a.ndim == b.ndim == 2 or a.shape[-1] >= FEWEST)
    by_blas = blas.triangular(a.dtype) if worth else None
    if by_blas is not None and (unitriangular or np.count_nonzero(on := a.diagonal(0, -2, -1)) == on.size):
        if a.ndim > 2 or b.ndim > 2:
            batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
            a, b = (np.broadcast_to(each, batch + each.shape[-2:]) for each in (a, b))
        x = np.array(b, order="C")
        for place in itertools.product(*map(range, a.shape[:-2])) if x.size else ():
            by_blas(a[place], x[place], upper, unitriangular)
        return x
    diagonal = np.arange(a.shape[-1])
    a = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        a[..., diagonal, diagonal] = 1
    if not a[..., diagonal, diagonal].all():
        return _substituted(a, b, upper)
    return solve(a, b)


def _substituted(a: Array, b: Array, upper: bool) -> Array:
    n = a.shape[-1]
    x = np.array(np.broadcast_to(b, np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:]))
    with np.errstate(all="ignore"):
        for i in range(n - 1, -1, -1) if upper else range(n):
            x[..., i, :] /= a[..., i, i, None]
            rest = slice(None, i) if upper else slice(i + 1, None)
            x[..., rest, :] -= a[..., rest, i, None] * x[..., i, None, :]
    return x


# 2. LU


def lu_factor(x: Array, *, pivot: bool = True) -> tuple[Array, Array, Array]:
    """L and U in one matrix, the pivots counted from 1 as in LAPACK, and the index from 1 of the zero pivot, or 0.

    Columns of a block are eliminated one by one, then the rest is updated by matrix products (Golub and Van Loan,
    Matrix Computations, section 3.2).
    """
    *batch, m, n = x.shape
    k = min(m, n)
    a = stacked(np.array(x))
    each = np.arange(len(a))
    pivots = np.tile(np.arange(1, k + 1, dtype=np.int32), (len(a), 1))
    for start in range(0, k, BLOCK):
        stop = min(start + BLOCK, k)
        for j in range(start, stop):
            if pivot:
                column = a[:, j:, j]
                size = np.abs(column.real) + np.abs(column.imag) if x.dtype.kind == "c" else np.abs(column)
                chosen = j + size.argmax(-1)
                pivots[:, j] = chosen + 1
                a[each, j], a[each, chosen] = a[each, chosen], a[each, j].copy()
            top = a[:, j, j, None]
            a[:, j + 1 :, j] /= np.where(top == 0, 1, top)
            a[:, j + 1 :, j + 1 : stop] -= a[:, j + 1 :, j, None] * a[:, j, None, j + 1 : stop]
        if stop < n:
            block = a[:, start:stop, start:stop]
            right = solve_triangular(block, a[:, start:stop, stop:], upper=False, unitriangular=True)
            a[:, start:stop, stop:] = right
            a[:, stop:, stop:] -= a[:, stop:, start:stop] @ right
    return a.reshape(x.shape), pivots.reshape(*batch, k), first_zero(a).reshape(batch)


def first_zero(x: Array) -> Array:
    """For each matrix the index from 1 of the first zero on its diagonal, or 0."""
    zeros = np.diagonal(x, 0, -2, -1) == 0
    found: Array = np.insert(zeros, 0, False, axis=-1).argmax(-1).astype(np.int32)
    return found


def permutation(pivots: Array, x: Array) -> Array:
    """The permutation matrix p, in the dtype of x, such that p @ l @ u is the factorized matrix."""
    m = x.shape[-2]
    swaps = pivots.reshape(math.prod(pivots.shape[:-1]), pivots.shape[-1]) - 1
    rows = np.tile(np.arange(m), (len(swaps), 1))
    each = np.arange(len(swaps))
    for j in range(swaps.shape[-1]):
        chosen = swaps[:, j]
        rows[each, j], rows[each, chosen] = rows[each, chosen], rows[each, j].copy()
    p = np.zeros((len(swaps), m, m), x.dtype)
    p[each[:, None], rows, np.arange(m)] = 1
    return p.reshape(*pivots.shape[:-1], m, m)


# 3. LDL
#
# The pivoting of Bunch and Kaufman (1977), stored below the diagonal as LAPACK's sytrf and hetrf do: a positive pivot
# is the row that was exchanged, two equal negative ones mark a block of two rows. Each matrix chooses its own blocks,
# so a stack is processed matrix by matrix.

GROWTH = (1 + math.sqrt(17)) / 8


def ldl_factor(x: Array, *, hermitian: bool) -> tuple[Array, Array, Array]:
    """L and the blocks of D in one matrix, the pivots, and the index from 1 of the zero block, or 0."""
    *batch, n, _ = x.shape
    a = stacked(np.tril(x))
    pivots = np.zeros((len(a), n), np.int32)
    info = np.zeros(len(a), np.int32)
    conj: Callable[[Array], Array] = np.conj if hermitian and x.dtype.kind == "c" else np.asarray
    for each in range(len(a)):
        k = 0
        while k < n:
            k += _ldl_step(a[each], pivots[each], info[each : each + 1], k, conj)
    return a.reshape(x.shape), pivots.reshape(*batch, n), info.reshape(batch)


def _size(x: Array) -> Array:
    return np.abs(x.real) + np.abs(x.imag)


def _ldl_step(a: Array, pivots: Array, info: Array, k: int, conj: Callable[[Array], Array]) -> int:
    """Eliminate one or two rows and columns, in place; returns how many."""
    n = len(a)
    here, other, width = _size(a[k, k]), k, 1
    below = _size(a[k + 1 :, k])
    largest = below.max() if below.size else 0
    if max(here, largest) == 0:
        info[0] = info[0] or k + 1
    elif here < GROWTH * largest:
        row = k + 1 + int(below.argmax())
        others = np.concatenate([_size(a[row, k:row]), _size(a[row + 1 :, row])]).max()
        if here < GROWTH * largest * (largest / others):
            other, width = row, (1 if _size(a[row, row]) >= GROWTH * others else 2)
    last = k + width - 1
    if other != last:
        _exchange(a, last, other, conj)
        if width == 2:
            a[[last, other], k] = a[[other, last], k]
    pivots[k : k + width] = (other + 1) * (1 if width == 1 else -1)
    rest = slice(k + width, n)
    block = a[k : k + width, k : k + width]
    whole = np.tril(block) + conj(np.tril(block, -1)).T
    if rest.start < n and not (width == 1 and whole[0, 0] == 0):
        column = a[rest, k : k + width].copy()
        factor = np.linalg.solve(whole.T, column.T).T
        a[rest, rest] -= np.tril(factor @ conj(column).T)
        a[rest, k : k + width] = factor
    return width


def _exchange(a: Array, i: int, j: int, conj: Callable[[Array], Array]) -> None:
    """Exchange rows and columns i < j of a symmetric or Hermitian matrix stored as its lower triangle, in place."""
    a[j + 1 :, [i, j]] = a[j + 1 :, [j, i]]
    between = a[i + 1 : j, i].copy()
    a[i + 1 : j, i] = conj(a[j, i + 1 : j])
    a[j, i + 1 : j] = conj(between)
    a[j, i] = conj(a[j, i])
    a[[i, j], [i, j]] = a[[j, i], [j, i]]


def ldl_solve(factor: Array, pivots: Array, b: Array, *, hermitian: bool) -> Array:
    """The solution of a @ x = b, from the result of `ldl_factor` for a."""
    shape = np.broadcast_shapes(factor.shape[:-2], b.shape[:-2])
    n = factor.shape[-1]
    a = stacked(np.broadcast_to(factor, (*shape, n, n)))
    x = stacked(np.array(np.broadcast_to(b, shape + b.shape[-2:])))
    swaps = np.broadcast_to(pivots, (*shape, n)).reshape(len(x), n)
    conj: Callable[[Array], Array] = np.conj if hermitian and a.dtype.kind == "c" else np.asarray
    for each in range(len(x)):
        _ldl_solved(a[each], swaps[each], x[each], conj)
    return x.reshape(shape + b.shape[-2:])


def _ldl_solved(a: Array, pivots: Array, x: Array, conj: Callable[[Array], Array]) -> None:
    n, k = len(a), 0
    steps = []
    while k < n:
        steps.append((k, 1 if pivots[k] > 0 else 2))
        k += steps[-1][1]
    for k, width in steps:
        here, rest, pair = slice(k, k + width), slice(k + width, n), [k + width - 1, abs(pivots[k]) - 1]
        x[pair] = x[pair[::-1]]
        x[rest] -= a[rest, here] @ x[here]
        block = np.tril(a[here, here])
        x[here] = solve(block + conj(np.tril(block, -1)).T, x[here])
    for k, width in reversed(steps):
        here, rest, pair = slice(k, k + width), slice(k + width, n), [k + width - 1, abs(pivots[k]) - 1]
        x[here] -= conj(a[rest, here]).T @ x[rest]
        x[pair] = x[pair[::-1]]


# 4. Cholesky


def cholesky(x: Array, *, upper: bool = False, operation: str = "") -> Array:
    """The lower factor, from the lower or the upper triangle of a Hermitian matrix.

    A matrix that is not positive-definite gives NaN or, given a name, raises torch's error.
    """
    if upper:
        x = adjoint(x)
    try:
        factor = computed(np.linalg.cholesky, x)
    except np.linalg.LinAlgError:
        factor = np.stack([_factor(each) for each in stacked(x)]).reshape(x.shape)
    if operation and not _finite(factor):
        text = (
            "The factorization could not be completed because the input is not positive-definite (the leading minor "
            "of order {info} is not positive-definite)."
        )
        refuse(operation, text, _minors(x))
    return factor


def _factor(x: Array) -> Array:
    try:
        return computed(np.linalg.cholesky, x)
    except np.linalg.LinAlgError:
        return np.full_like(x, np.nan)


def _minors(x: Array) -> Array:
    """For each matrix 0, or the order of the first leading minor that is not positive-definite, found by bisection."""
    found = []
    for each in stacked(x):
        good, bad = 0, len(each) + 1
        while bad - good > 1:
            order = (good + bad) // 2
            if np.isfinite(_factor(each[:order, :order])).all():
                good = order
            else:
                bad = order
        found.append(bad if bad <= len(each) else 0)
    return np.array(found, np.int32).reshape(x.shape[:-2])


def minor_info(x: Array, y: Array, *, upper: bool) -> Array:
    """For each matrix of x 0 or, if its factor y is not finite, the order of the first minor not positive-definite."""
    return np.zeros(x.shape[:-2], np.int32) if np.isfinite(y).all() else _minors(adjoint(x) if upper else x)


# 5. The exponential
#
# Scaling and squaring with Pade approximants. The coefficients, and the largest norm for each degree, are from
# Higham (2005), The Scaling and Squaring Method for the Matrix Exponential Revisited.

DEGREES: dict[int, tuple[float, ...]] = {
    3: (120, 60, 12, 1),
    5: (30240, 15120, 3360, 420, 30, 1),
    7: (17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1),
    9: (17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1),
    13: (
        64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
        670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1,
    ),
}  # fmt: skip
ENOUGH = {  # by the bits of a real number: the largest 1-norm for each degree
    32: {3: 4.258730016922831e-1, 5: 1.880152677804762, 7: 3.925724783138660},
    64: {
        3: 1.495585217958292e-2,
        5: 2.539398330063230e-1,
        7: 9.504178996162932e-1,
        9: 2.097847961257068,
        13: 5.371920351148152,
    },
}


def matrix_exp(x: Array) -> Array:
    """The exponential of each matrix."""
    n = x.shape[-1]
    if x.size == 0:
        return x.copy()
    norm = np.abs(x).sum(-2).max(-1)
    enough = ENOUGH[32 if x.dtype in (np.dtype(np.float32), np.dtype(np.complex64)) else 64]
    highest = max(enough)
    largest = norm.max()
    degree = next((degree for degree, most in enough.items() if largest <= most), highest)
    with np.errstate(all="ignore"):
        squarings = np.maximum(np.ceil(np.log2(norm / enough[highest])), 0)
    squarings = np.where(np.isfinite(squarings), squarings, 0).astype(int)
    if degree == highest:
        x = x / np.exp2(squarings)[..., None, None].astype(norm.dtype)
    y = _pade(x, degree, np.eye(n, dtype=x.dtype))
    for step in range(squarings.max() if degree == highest else 0):
        y = np.where((step < squarings)[..., None, None], y @ y, y)
    return y


def _pade(x: Array, degree: int, eye: Array) -> Array:
    """The Pade approximant: numerator over denominator, which differ in the sign of their odd parts."""
    c = DEGREES[degree]
    square = x @ x
    powers = [eye, square]
    while len(powers) < min(len(c) // 2, 4):
        powers.append(powers[-1] @ square)
    if degree == 13:
        sixth = powers[3]
        odd = sixth @ _polynomial([0, *c[9::2]], powers) + _polynomial(c[1:9:2], powers)
        even = sixth @ _polynomial([0, *c[8::2]], powers) + _polynomial(c[0:8:2], powers)
    else:
        powers += [powers[-1] @ square] * (len(c) // 2 - len(powers))
        odd, even = _polynomial(c[1::2], powers), _polynomial(c[0::2], powers)
    odd = x @ odd
    return solve(even - odd, even + odd)


def _polynomial(coefficients: Sequence[float], powers: list[Array]) -> Array:
    kind = powers[0].dtype.type
    return sum(kind(c) * power for c, power in zip(coefficients, powers, strict=False) if c)
