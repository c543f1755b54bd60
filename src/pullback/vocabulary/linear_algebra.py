"""Linear algebra by torch's older names, where they differ from those of torch.linalg."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import ops
from .._core.values import every, require_tensor
from .._numerics import random
from ..ops import lapack
from . import decompositions, equations, spelled_as
from .decompositions import LUFactorExResult, LUFactorResult, QRResult, adjoint, constant, identity
from .promotion import cast

if TYPE_CHECKING:
    from .._core.typing import Tensor


class SingularResult(NamedTuple):
    """What svd, svd_lowrank and pca_lowrank return: V is not transposed."""

    U: Tensor
    S: Tensor
    V: Tensor


class GeqrfResult(NamedTuple):
    """What geqrf returns."""

    a: Tensor
    tau: Tensor


class TriangularSolveResult(NamedTuple):
    """What triangular_solve returns."""

    solution: Tensor
    cloned_coefficient: Tensor


# Cholesky


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The lower triangular L with input = L @ L.mH, for a Hermitian positive-definite input; with `upper`, L.mH.

    >>> import pullback
    >>> pullback.cholesky(pullback.tensor([[4.0, 2.0], [2.0, 2.0]]))
    tensor([[2., 0.],
            [1., 1.]])
    """
    decompositions.require_square("cholesky", input)
    factor = ops.cholesky(input, upper=upper, operation="cholesky")
    return adjoint(factor) if upper else factor


def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The X with A @ X = input, where A = L @ L.mH, or L.mH @ L with `upper`.

    Parameters
    ----------
    L
        The factor, as `cholesky` gives it.

    >>> import pullback
    >>> pullback.cholesky_solve(pullback.tensor([[8.0], [16.0]]), pullback.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[2.],
            [1.]])
    """
    require_tensor("cholesky_solve", "input2", L, 2)
    for name, x in (("b", input), ("u", L)):
        if x.ndim < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {x.ndim} dimensions instead")
    decompositions.require_square("cholesky_solve", L)
    decompositions.require_same_dtype("cholesky_solve", input, L, ("input", "L"))
    lower = _triangle(adjoint(L) if upper else L)
    missing = (1,) * (
        L.ndim - input.ndim
    )  # without them a matrix with as many rows as there are factors would be taken as vectors
    right = ops.reshape(input, shape=(*missing, *input.shape)) if missing else input
    equations.require_fit("cholesky_solve", lower, right)
    return ops.solve(adjoint(lower), ops.solve(lower, right, triangle="lower"), triangle="upper")


def _triangle(x: Tensor) -> Tensor:
    """A lower factor; the gradient of one that is triangular is that of a general matrix, and full, as in torch."""
    clean = not ops.triu(every(x), k=1).any()
    return x if clean else ops.tril(x, k=0)


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of L @ L.mH, or of L.mH @ L with `upper`; LinAlgError for a zero on the diagonal.

    Parameters
    ----------
    L
        The factor, as `cholesky` gives it.

    >>> import pullback
    >>> pullback.cholesky_inverse(pullback.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.2500, 0.0000],
            [0.0000, 0.0625]])
    """
    decompositions.require_square("cholesky_inverse", L)
    lapack.refuse("cholesky_inverse", lapack.NO_INVERSE, lapack.first_zero(every(L)))
    return cholesky_solve(identity(L, L.shape[-1]), L, upper)


# Orthogonal factors


def qr(input: Tensor, some: bool = True) -> QRResult:
    """Q and R with input = Q @ R; Q is square unless `some`.

    Parameters
    ----------
    some
        Of as many columns as are needed, not of all.

    >>> import pullback
    >>> a = pullback.tensor([[3.0], [4.0]])
    >>> [part.shape for part in pullback.qr(a, some=False)]
    [pullback.Size([2, 2]), pullback.Size([2, 1])]
    """
    return decompositions.qr(input, "reduced" if some else "complete")


def geqrf(input: Tensor) -> GeqrfResult:
    """R, with below it the reflections whose product is Q, and their factors; it has no derivative.

    >>> import pullback
    >>> pullback.geqrf(pullback.tensor([[3.0], [4.0]])).a[0].abs()  # R is the length of the column
    tensor([5.])
    """
    decompositions.require_matrices("torch.geqrf", input, "input")
    return GeqrfResult(*ops.geqrf(input))


@spelled_as(input3="other")
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """Q @ other for the square Q of `geqrf`; other @ Q if not `left`; with Q.mH instead of Q if `transpose`.

    Parameters
    ----------
    tau
        The factors, as `geqrf` gives them.
    left
        Multiply from the left, not from the right.
    transpose
        Multiply by the transpose.

    >>> import pullback
    >>> a = pullback.tensor([[3.0, 1.0], [4.0, 2.0]])
    >>> pullback.ormqr(*pullback.geqrf(a), a, transpose=True).tril(-1).abs().max() < 1e-6  # Q.mH @ a is R
    tensor(True)
    """
    decompositions.require_reflections("torch.ormqr", input, tau)
    decompositions.require_same_dtype("torch.ormqr", input, other, ("input", "other"), 3)
    if other.ndim != input.ndim or tuple(other.shape[:-2]) != tuple(input.shape[:-2]):
        raise RuntimeError(
            "torch.ormqr: Expected batch dimensions of input to be equal to those of other: they have shapes "
            f"{tuple(input.shape)} and {tuple(other.shape)}"
        )
    if input.shape[-2] != other.shape[-2 if left else -1]:
        raise RuntimeError(
            f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2]: they have shapes "
            f"{tuple(other.shape)} and {tuple(input.shape)}"
        )
    vectors, middle = decompositions.reflections(input, tau)
    if transpose:
        middle = adjoint(middle)
    if left:
        return other - ops.matmul(vectors, ops.matmul(middle, ops.matmul(adjoint(vectors), other)))
    return other - ops.matmul(ops.matmul(ops.matmul(other, vectors), middle), adjoint(vectors))


# LU and triangles


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> LUFactorResult | LUFactorExResult:
    """L and U in one matrix, and the pivots; with `get_infos`, also which pivots are zero.

    Parameters
    ----------
    pivot
        Exchange rows.
    get_infos
        Give, too, the number of the first zero pivot, 0 for none.

    >>> import pullback
    >>> pullback.lu(pullback.tensor([[2.0, 6.0], [1.0, 2.0]]))[0]
    tensor([[ 2.0000,  6.0000],
            [ 0.5000, -1.0000]])
    """
    if get_infos:
        return decompositions.lu_factor_ex(A, pivot=pivot)
    return decompositions.lu_factor(A, pivot=pivot)


def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The X with A @ X = input from the result of `lu` for A.

    Parameters
    ----------
    LU_data
        The factors, as `lu` gives them.
    LU_pivots
        The rows that were exchanged.

    >>> import pullback
    >>> lu, pivots = pullback.lu(pullback.tensor([[1.0, 2.0], [2.0, 6.0]]))
    >>> pullback.lu_solve(pullback.tensor([[3.0], [8.0]]), lu, pivots)
    tensor([[1.],
            [1.]])
    """
    require_tensor("lu_solve", "LU_data", LU_data, 2)
    return equations.lu_solve(LU_data, LU_pivots, input)


def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> TriangularSolveResult:
    """The X with A @ X = input for a triangular A, or A.mT @ X = input with `transpose`, and a copy of A.

    Parameters
    ----------
    transpose
        Solve with the transpose.
    unitriangular
        Take the diagonal as 1.

    >>> from pullback import tensor, triangular_solve
    >>> triangular_solve(tensor([[5.0], [2.0]]), tensor([[1.0, 1.0], [0.0, 2.0]])).solution
    tensor([[4.],
            [1.]])
    """
    name = "torch.triangular_solve"
    require_tensor("triangular_solve", "A", A, 2)
    for place, (argument, flag) in enumerate((("upper", upper), ("transpose", transpose)), 3):
        if not isinstance(flag, bool):
            raise TypeError(
                f"triangular_solve(): argument '{argument}' (position {place}) must be bool, not {type(flag).__name__}"
            )
    for argument, x in (("b", input), ("A", A)):
        if x.ndim < 2:
            raise RuntimeError(
                f"{name}: Expected {argument} to have at least 2 dimensions, but it has {x.ndim} dimensions instead"
            )
    matrix = ops.matrix_transpose(A) if transpose else A
    solution = equations.solve_triangular(matrix, input, upper=upper != transpose, unitriangular=unitriangular)
    return TriangularSolveResult(solution, ops.clone(A))


# Singular values


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> SingularResult:
    """U, the singular values S, descending, and V, with input = U @ diag(S) @ V.mH; square U and V unless `some`.

    Without `compute_uv` U and V are zeros.

    Parameters
    ----------
    some
        Of as many columns as are needed, not of all.
    compute_uv
        Give U and V, not zeros.

    >>> import pullback
    >>> pullback.svd(pullback.tensor([[0.0, 2.0], [3.0, 0.0]])).S.round(decimals=3)
    tensor([3., 2.])
    """
    if compute_uv:
        u, s, vh = decompositions.svd(input, full_matrices=not some)
        return SingularResult(u, s, adjoint(vh))
    *batch, m, n = input.shape
    zeros = (constant(input, np.zeros((*batch, size, size), input._dtype)) for size in (m, n))
    return SingularResult(next(zeros), decompositions.svdvals(input), next(zeros))


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudoinverse; singular values up to rcond times the largest count as zero.

    Parameters
    ----------
    rcond
        The least singular value that counts, in parts of the largest.

    >>> import pullback
    >>> pullback.pinverse(pullback.tensor([[3.0], [4.0]]))  # divided by 3**2 + 4**2
    tensor([[0.1200, 0.1600]])
    """
    return equations.pinv(input, rcond)


def svd_lowrank(A: Tensor, q: int = 6, niter: int | None = 2, M: Tensor | None = None) -> SingularResult:
    """An approximation of the q largest singular values and their vectors, by random projections, of A, or of A - M.

    Halko, Martinsson and Tropp (2009), algorithms 4.4 and 5.1, with `niter` steps of subspace iteration.

    Parameters
    ----------
    q
        The number of singular values that are looked for.
    niter
        The number of iterations.
    M
        What is subtracted from the matrix first.

    >>> import pullback
    >>> pullback.svd_lowrank(pullback.diag(pullback.tensor([5.0, 3.0, 0.0])), q=2)[1].round(decimals=3)
    tensor([5., 3.])
    """
    decompositions.require_matrices("svd_lowrank", A)
    if M is not None:
        A = A - M
    if q < 0:
        raise ValueError(f"q(={q}) must be non-negative integer")
    q = min(q, *A.shape[-2:])
    tall = A.shape[-2] >= A.shape[-1]
    a = A if tall else adjoint(A)
    real = np.zeros((), a._dtype).real.dtype
    start = cast(random.normal((a.shape[-1], q), real), a._dtype)
    basis = ops.qr(ops.matmul(a, start), mode="reduced")[0]
    for _ in range(niter or 0):
        basis = ops.qr(ops.matmul(adjoint(a), basis), mode="reduced")[0]
        basis = ops.qr(ops.matmul(a, basis), mode="reduced")[0]
    u, s, vh = ops.svd(ops.matmul(adjoint(basis), a), full=False)
    u, v = ops.matmul(basis, u), adjoint(vh)
    return SingularResult(u, s, v) if tall else SingularResult(v, s, u)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> SingularResult:
    """`svd_lowrank` of a matrix whose columns are shifted to mean 0, unless `center` is False.

    Parameters
    ----------
    q
        The number of columns that are looked for.
    center
        Subtract the means of the columns first.
    niter
        The number of iterations.

    >>> import pullback
    >>> pullback.pca_lowrank(pullback.arange(12.0).reshape(6, 2), q=2)[1].shape
    pullback.Size([2])
    """
    decompositions.require_matrices("pca_lowrank", A)
    count = min(6, *A.shape[-2:]) if q is None else q
    if not 0 <= count <= min(A.shape[-2:]):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(A.shape[-2:])}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    centred = A - ops.mean(A, axis=(A.ndim - 2,), keepdims=True) if center else A
    return svd_lowrank(centred, count, niter)
