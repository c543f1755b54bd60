"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from collections.abc import Sequence as _Sequence
from typing import Any as _Any
from typing import overload as _overload
import numpy as _np
from pullback._core.dtypes import dtype as _dtype
from pullback._tensor.tensor import Tensor
from pullback.vocabulary.decompositions import CholeskyResult as _CholeskyResult
from pullback.vocabulary.decompositions import EigResult as _EigResult
from pullback.vocabulary.decompositions import LDLFactorExResult as _LDLFactorExResult
from pullback.vocabulary.decompositions import LDLFactorResult as _LDLFactorResult
from pullback.vocabulary.decompositions import LUFactorExResult as _LUFactorExResult
from pullback.vocabulary.decompositions import LUFactorResult as _LUFactorResult
from pullback.vocabulary.decompositions import LUResult as _LUResult
from pullback.vocabulary.decompositions import QRResult as _QRResult
from pullback.vocabulary.decompositions import SVDResult as _SVDResult
from pullback.vocabulary.decompositions import SlogdetResult as _SlogdetResult
from pullback.vocabulary.equations import InverseResult as _InverseResult
from pullback.vocabulary.equations import LeastSquaresResult as _LeastSquaresResult
from pullback.vocabulary.equations import SolveResult as _SolveResult

_DType = _dtype | _np.dtype[_Any] | type[_Any] | str

from pullback.ops.lapack import LinAlgError as LinAlgError
def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The lower triangular L with A = L @ L.mH, for Hermitian positive-definite A, of which one triangle is read."""
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> _CholeskyResult:
    """`cholesky` without errors: with the order of each matrix's first minor that is not positive-definite, or 0."""
def cond(A: Tensor, p: float | str | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The condition number of matrices: the norm times that of the inverse; infinite for singular matrices."""
@_overload
def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The vector product along an axis of length 3."""
@_overload
def cross(input: Tensor, other: Tensor, *, axis: int = -1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The vector product along an axis of length 3."""
def det(A: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The determinant; its derivative is the cofactor matrix, also where the determinant is 0."""
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, in the plane of two axes, as the last axis: a view."""
def eig(A: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _EigResult:
    """Eigenvalues and eigenvectors of square matrices, complex; vectors have norm 1 and an arbitrary phase."""
def eigh(A: Tensor, UPLO: str = 'L', *, out: Tensor | tuple[Tensor, ...] | None = None) -> _EigResult:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices, of which one triangle is read."""
def eigvals(A: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The eigenvalues of square matrices, complex, in no particular order."""
def eigvalsh(A: Tensor, UPLO: str = 'L', *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The eigenvalues of Hermitian matrices, ascending; one triangle is read."""
def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The leading columns of a product of Householder reflections: Q, from the result of `geqrf`."""
def inv(A: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of square matrices; LinAlgError for one that has none."""
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> _InverseResult:
    """`inv` without errors: with the index from 1 of each matrix's first pivot that is zero, or 0."""
def ldl_factor(A: Tensor, *, hermitian: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> _LDLFactorResult:
    """L and D in one matrix, and pivots, of a symmetric or Hermitian matrix, whose lower triangle is read."""
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> _LDLFactorExResult:
    """`ldl_factor` without errors: with the index from 1 of each matrix's first block that is zero, or 0."""
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The solution of A @ X = B from the result of `ldl_factor` for A; it has no derivative."""
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> _LeastSquaresResult:
    """The X that minimizes the norm of A @ X - B; if there are several, the one of smallest norm."""
def lu(A: Tensor, *, pivot: bool = True, out: Tensor | tuple[Tensor, ...] | None = None) -> _LUResult:
    """A permutation P, L with ones on its diagonal, and U, with A = P @ L @ U; without pivots P is empty."""
def lu_factor(A: Tensor, *, pivot: bool = True, out: Tensor | tuple[Tensor, ...] | None = None) -> _LUFactorResult:
    """L and U in one matrix, and the pivots: the rows exchanged, counted from 1; `pivot=False` exchanges none."""
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> _LUFactorExResult:
    """`lu_factor` without errors: with the index from 1 of each matrix's first pivot that is zero, or 0."""
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The X with A @ X = B from `lu_factor` of A; X @ A = B if not `left`, A.mH instead of A if `adjoint`."""
def matmul(input: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], other: Tensor | _np.ndarray[_Any, _np.dtype[_Any]], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """input @ other: matrices, vectors, and batches of them, with broadcasting of the batch axes."""
def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices: the sum of A^k / k! over k."""
@_overload
def matrix_norm(A: Tensor, ord: float | str = 'fro', dim: int | _Sequence[int] = ..., keepdim: bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The norm of matrices, in the plane of two axes."""
@_overload
def matrix_norm(A: Tensor, ord: float | str = 'fro', axis: int | _Sequence[int] = ..., keepdims: bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The norm of matrices, in the plane of two axes."""
def matrix_power(A: Tensor, n: int, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A square matrix multiplied by itself n times, or its inverse -n times."""
def matrix_rank(A: Tensor, tol: Tensor | float | None = None, hermitian: bool = False, *, atol: Tensor | float | None = None, rtol: Tensor | float | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The number of singular values or, if `hermitian`, absolute eigenvalues above the bounds of `pinv`."""
def multi_dot(tensors: Tensor | _Sequence[Tensor], *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The product of matrices in the order that takes the fewest multiplications; the ends may be vectors."""
@_overload
def norm(A: Tensor, ord: float | str | None = None, dim: int | _Sequence[int] | None = None, keepdim: bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A norm of vectors or matrices: of all elements or one axis `vector_norm`, of two axes, or with a text, `matrix_norm`; without `ord`, the root of the sum of squares."""
@_overload
def norm(A: Tensor, ord: float | str | None = None, axis: int | _Sequence[int] | None = None, keepdims: bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """A norm of vectors or matrices: of all elements or one axis `vector_norm`, of two axes, or with a text, `matrix_norm`; without `ord`, the root of the sum of squares."""
def pinv(A: Tensor, rcond: Tensor | float | None = None, hermitian: bool = False, *, atol: Tensor | float | None = None, rtol: Tensor | float | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The pseudoinverse of matrices (Moore-Penrose): singular values up to max(atol, rtol * the largest) count as zero."""
def qr(A: Tensor, mode: str = 'reduced', *, out: Tensor | tuple[Tensor, ...] | None = None) -> _QRResult:
    """Q with orthonormal columns and the upper triangular R, with A = Q @ R."""
def slogdet(A: Tensor, *, out: Tensor | tuple[Tensor, ...] | None = None) -> _SlogdetResult:
    """The sign of the determinant, or its phase if it is complex, and the logarithm of its absolute value."""
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The X with A @ X = B, or X @ A = B if not `left`; LinAlgError for a singular A."""
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> _SolveResult:
    """`solve` without errors: with the index from 1 of each matrix's first pivot that is zero, or 0."""
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The X with A @ X = B, or X @ A = B if not `left`, for a triangular A; the other triangle is not read."""
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> _SVDResult:
    """U, the singular values S, descending, and Vh, with A = U @ diag(S) @ Vh."""
def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The singular values, descending."""
def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The inverse of a tensor as a linear map from its last axes to its first `ind` axes."""
@_overload
def tensorsolve(A: Tensor, B: Tensor, dims: _Sequence[int] | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The X for which tensordot(A, X, X.ndim) is B; `dims` are moved to the end of A first."""
@_overload
def tensorsolve(A: Tensor, B: Tensor, axes: _Sequence[int] | None = None, *, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The X for which tensordot(A, X, X.ndim) is B; `dims` are moved to the end of A first."""
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers of each element from 0 to N - 1, along a new last axis; N is the length of the last axis unless given."""
@_overload
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The sum of conj(x) * y along an axis; the other axes broadcast."""
@_overload
def vecdot(x: Tensor, y: Tensor, *, axis: int = -1, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The sum of conj(x) * y along an axis; the other axes broadcast."""
@_overload
def vector_norm(x: Tensor, ord: float = 2, dim: int | _Sequence[int] | None = None, keepdim: bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The norm of all elements, or of vectors along axes: the sum of abs(x) ** ord, to the power 1 / ord."""
@_overload
def vector_norm(x: Tensor, ord: float = 2, axis: int | _Sequence[int] | None = None, keepdims: bool = False, *, dtype: _DType | None = None, out: Tensor | tuple[Tensor, ...] | None = None) -> Tensor:
    """The norm of all elements, or of vectors along axes: the sum of abs(x) ** ord, to the power 1 / ord."""
