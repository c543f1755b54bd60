"""Made by scripts/stubs: the types of what is imported when it is first asked for."""

from collections.abc import Sequence as _Sequence
from typing import Any as _Any
import numpy as _np
import numpy.typing as _npt
from pullback._core.dtypes import dtype as _dtype
from pullback._tensor.tensor import Tensor
from pullback.vocabulary.decompositions import EigResult as _EigResult
from pullback.vocabulary.decompositions import QRResult as _QRResult
from pullback.vocabulary.decompositions import SVDResult as _SVDResult
from pullback.vocabulary.decompositions import SlogdetResult as _SlogdetResult

_Number = bool | int | float | complex
_TensorLike = Tensor | _np.ndarray[_Any, _Any] | _np.generic | _Number
_DType = _dtype | _np.dtype[_Any] | type[_Any] | str

def cholesky(a: Tensor, /, *, upper: _Any = False) -> Tensor:
    """The lower triangular L with A = L @ L.mH, for Hermitian positive-definite A, of which one triangle is read."""
def cross(x1: _TensorLike, x2: _TensorLike, /, *, axis: int | _Sequence[int] | None = -1) -> Tensor:
    """The vector product along an axis of length 3."""
def det(a: Tensor) -> Tensor:
    """The determinant; its derivative is the cofactor matrix, also where the determinant is 0."""
def diagonal(x: Tensor, /, *, offset: _Any = 0) -> Tensor:
    """The diagonals of matrices, in the plane of two axes, as the last axis: a view."""
def eig(a: Tensor) -> _EigResult:
    """Eigenvalues and eigenvectors of square matrices, complex; vectors have norm 1 and an arbitrary phase."""
def eigh(a: Tensor, UPLO: _Any = 'L') -> _EigResult:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices, of which one triangle is read."""
def eigvals(a: Tensor) -> Tensor:
    """The eigenvalues of square matrices, complex, in no particular order."""
def eigvalsh(a: Tensor, UPLO: _Any = 'L') -> Tensor:
    """The eigenvalues of Hermitian matrices, ascending; one triangle is read."""
def inv(a: Tensor) -> Tensor:
    """The inverse of square matrices; LinAlgError for one that has none."""
def matmul(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """x1 @ x2: matrices, vectors, and batches of them, with broadcasting of the batch axes."""
def matrix_norm(x: Tensor, /, *, keepdims: _Any = False, ord: _Any = 'fro') -> Tensor:
    """The norm of matrices, in the plane of two axes."""
def matrix_power(a: Tensor, n: int) -> Tensor:
    """A square matrix multiplied by itself n times, or its inverse -n times."""
def matrix_rank(A: Tensor, tol: Tensor | _npt.ArrayLike | None = None, hermitian: bool = False, *, rtol: _TensorLike | None = None) -> Tensor:
    """The number of singular values or absolute eigenvalues above the bounds of `pinv`."""
def matrix_transpose(x: Tensor, /) -> Tensor:
    """Matrices with rows and columns exchanged."""
def outer(x1: _TensorLike, x2: _TensorLike, /) -> Tensor:
    """All products of an element of one vector with an element of another."""
def pinv(x: Tensor, /, *, rtol: _TensorLike | None = None) -> Tensor:
    """The pseudoinverse of matrices: singular values up to rtol times the largest count as zero."""
def qr(a: Tensor, mode: str = 'reduced') -> _QRResult:
    """Q with orthonormal columns and the upper triangular R, with A = Q @ R."""
def slogdet(a: Tensor) -> _SlogdetResult:
    """The sign of the determinant, or its phase if it is complex, and the logarithm of its absolute value."""
def solve(a: Tensor, b: _TensorLike) -> Tensor:
    """The X with x1 @ X = x2, where x2 is a vector or holds matrices; LinAlgError for a singular x1."""
def svd(a: Tensor, full_matrices: bool = True, compute_uv: bool = True) -> _SVDResult:
    """U, the singular values S, descending, and Vh, with A = U @ diag(S) @ Vh."""
def svdvals(x: Tensor, /) -> Tensor:
    """The singular values, descending."""
def tensordot(x1: _TensorLike, x2: _TensorLike, /, *, axes: int | _Sequence[int] = 2) -> Tensor:
    """The sum of products over the last `axes` axes of x1 and the first of x2, or over two lists of axes."""
def trace(x: Tensor, /, *, offset: int = 0, dtype: _DType | None = None) -> Tensor:
    """The sum of the elements on a diagonal of matrices; of integers in int64, or uint64, unless a dtype is given."""
def vecdot(x1: _TensorLike, x2: _TensorLike, /, *, axis: int = -1) -> Tensor:
    """The sum of conj(x1) * x2 along an axis, which has one length in both; the other axes broadcast."""
def vector_norm(x: Tensor, /, *, axis: int | _Sequence[int] | None = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """The norm of all elements, or of vectors along axes: the sum of abs(x) ** ord, to the power 1 / ord."""
