"""Decompositions of matrices, by the names of torch.linalg: factors, eigenvalues, singular values.

All take stacks of matrices, in the last two axes of a tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ops
from .._core import dtypes
from .._core.primitives import Carrier
from .._core.values import every, require_tensor
from ..ops import lapack

if TYPE_CHECKING:
    from .._core.typing import Tensor


class SlogdetResult(NamedTuple):
    """What slogdet returns."""

    sign: Tensor
    logabsdet: Tensor


class CholeskyResult(NamedTuple):
    """What cholesky_ex returns."""

    L: Tensor
    info: Tensor


class EigResult(NamedTuple):
    """What eig and eigh return."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class SVDResult(NamedTuple):
    """What svd returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class QRResult(NamedTuple):
    """What qr returns."""

    Q: Tensor
    R: Tensor


class LUResult(NamedTuple):
    """What lu and lu_unpack return."""

    P: Tensor
    L: Tensor
    U: Tensor


class LUFactorResult(NamedTuple):
    """What lu_factor returns."""

    LU: Tensor
    pivots: Tensor


class LUFactorExResult(NamedTuple):
    """What lu_factor_ex returns."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


class LDLFactorResult(NamedTuple):
    """What ldl_factor returns."""

    LD: Tensor
    pivots: Tensor


class LDLFactorExResult(NamedTuple):
    """What ldl_factor_ex returns."""

    LD: Tensor
    pivots: Tensor
    info: Tensor


# Checks of arguments


def path(name: str) -> str:
    """The name of a function in torch's argument errors: `linalg_inv`, where other errors have `linalg.inv`."""
    return name.removeprefix("torch.").replace(".", "_")


def require_matrices(name: str, x: Any, argument: str = "A") -> None:
    """Raise unless x is a tensor of real or complex matrices."""
    if not isinstance(x, Carrier):
        require_tensor(path(name), argument, x)
    require_inexact(name, x)
    if x.ndim < 2:
        raise RuntimeError(
            f"{name}: The input tensor {argument} must have at least 2 dimensions. It has shape {tuple(x.shape)}"
        )


def require_inexact(name: str, x: Tensor) -> None:
    """Raise for integers and for half precision, for which LAPACK has no solvers."""
    kind = x._dtype
    if kind.kind not in "fc":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {x._type_name}: convert first, x.float()"
        )
    if kind.char in "eE":
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {x._type_name}: convert first, x.float()")


def require_square(name: str, x: Tensor, argument: str = "A") -> None:
    """Raise unless x is a tensor of square real or complex matrices."""
    require_matrices(name, x, argument)
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"{name}: {argument} must be batches of square matrices, but they are {x.shape[-2]} by {x.shape[-1]} matrices"
        )


def require_same_dtype(
    name: str, a: Tensor, b: Any, arguments: tuple[str, str] = ("A", "B"), position: int = 2
) -> None:
    """Raise unless operand b, at a position, is a tensor with the dtype of a: solvers do not promote."""
    if not isinstance(b, Carrier):
        require_tensor(path(name), arguments[1], b, position)
    if a._dtype != b._dtype:
        first, second = (dtypes.type_name(dtypes.from_numpy(each._dtype)) for each in (a, b))
        raise RuntimeError(
            f"{name}: Expected {arguments[0]} and {arguments[1]} to have the same dtype, but found {arguments[0]} of type "
            f"{first} and {arguments[1]} of type {second} instead"
        )


def adjoint(x: Tensor) -> Tensor:
    """The conjugate transpose."""
    x = ops.matrix_transpose(x)
    return ops.conj(x) if x._dtype.kind == "c" else x


def constant(like: Tensor, array: Any) -> Tensor:
    """A tensor without gradient, of the kind of another."""
    return like.interpreter.wrap(np.asarray(array), None)


def identity(like: Tensor, *shape: int) -> Tensor:
    """An identity matrix, in the dtype of a tensor."""
    return constant(like, np.eye(*shape, dtype=like._dtype))


def refuse_failed(operation: str, text: str, info: Tensor) -> None:
    """Raise torch's error for the first matrix that failed, if the values are known."""
    lapack.refuse(operation, text, every(info))


# Determinants


def det(A: Tensor) -> Tensor:
    """The determinant; its derivative is the cofactor matrix, also where the determinant is 0.

    >>> import pullback
    >>> a = pullback.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> pullback.linalg.det(a).backward()
    >>> a.grad  # the cofactors
    tensor([[ 4., -3.],
            [-2.,  1.]])
    """
    require_square("linalg.det", A)
    return ops.det(A)


def slogdet(A: Tensor) -> SlogdetResult:
    """The sign of the determinant, or its phase if it is complex, and the logarithm of its absolute value.

    >>> import pullback
    >>> pullback.linalg.slogdet(pullback.tensor([[0.0, 1.0], [1.0, 0.0]]))
    SlogdetResult(sign=tensor(-1.), logabsdet=tensor(0.))
    """
    require_square("linalg.slogdet", A)
    return SlogdetResult(*ops.slogdet(A))


def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN where it is negative, -inf where it is 0.

    >>> import pullback
    >>> pullback.logdet(pullback.eye(3)), pullback.logdet(-pullback.eye(3))
    (tensor(0.), tensor(nan))
    """
    require_square("logdet", input)
    sign, size = ops.slogdet(input)
    return ops.log(sign) + size


# Cholesky


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangular L with A = L @ L.mH, for Hermitian positive-definite A, of which one triangle is read.

    With `upper`, its conjugate transpose. The gradient is Hermitian, as torch's. LinAlgError for other matrices.

    >>> import pullback
    >>> pullback.linalg.cholesky(pullback.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    require_square("linalg.cholesky", A)
    factor = ops.cholesky(A, upper=upper, operation="linalg.cholesky")
    return adjoint(factor) if upper else factor


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> CholeskyResult:
    """`cholesky` without errors: with the order of each matrix's first minor that is not positive-definite, or 0.

    The factor of a matrix that has none is NaN.

    >>> import pullback
    >>> pullback.linalg.cholesky_ex(pullback.tensor([[1.0, 0.0], [0.0, -1.0]])).info
    tensor(2, dtype=pullback.int32)
    """
    require_square("linalg.cholesky_ex", A)
    factor = ops.cholesky(A, upper=upper, operation="linalg.cholesky_ex" if check_errors else "")
    return CholeskyResult(adjoint(factor) if upper else factor, ops.minor_info(A, factor, upper=upper))


# Eigenvalues


def eig(A: Tensor) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices, complex; vectors have norm 1 and an arbitrary phase.

    A loss must not depend on the phases: backward raises for one that does, if it can detect it. Where eigenvalues are
    equal, the derivative of all that uses the vectors is NaN or infinite. For a function of the eigenvalues alone that
    is symmetric in equal ones, the first derivative is correct; the second is NaN there.

    >>> import pullback
    >>> pullback.linalg.eig(pullback.tensor([[0.0, -1.0], [1.0, 0.0]])).eigenvalues.abs().round()  # i and -i
    tensor([1., 1.])
    """
    require_square("linalg.eig", A)
    if not np.isfinite(every(A)).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    return EigResult(*ops.eig(A, dtype=A._dtype))


def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of square matrices, complex, in no particular order.

    Where some are equal, the first derivative is correct for functions that are symmetric in them, and the second is
    NaN.

    >>> import pullback
    >>> pullback.linalg.eigvals(pullback.tensor([[0.0, -1.0], [1.0, 0.0]])).imag.sort().values.round()
    tensor([-1.,  1.])
    """
    return eig(A).eigenvalues


def eigh(A: Tensor, UPLO: str = "L") -> EigResult:
    """Eigenvalues, ascending, and eigenvectors of Hermitian matrices, of which one triangle is read.

    Vectors have norm 1, and an arbitrary sign or phase. Where eigenvalues are equal, also if only by rounding, the
    derivative of all that uses the vectors is NaN or infinite, of V @ diag(f(L)) @ V.mH too: it is not determined by the
    cotangents of L and V. The eigenvalues have a second derivative there only if they come from `eigvalsh`; here it is
    NaN.

    >>> import pullback
    >>> pullback.linalg.eigh(pullback.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues.round(decimals=3)
    tensor([1., 3.])
    """
    require_square("linalg.eigh", A)
    return EigResult(*ops.eigh(A, lower=reads_lower(UPLO)))


def reads_lower(triangle: str) -> bool:
    """True if the argument selects the lower triangle, 'L', False for 'U'."""
    if str(triangle).upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {triangle}")
    return triangle.upper() == "L"


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of Hermitian matrices, ascending; one triangle is read.

    Where eigenvalues are equal up to rounding, functions that are symmetric in them, such as the sum of their squares,
    have first and second derivatives, in every mode. A function that treats equal values differently, such as the first
    of them, has no derivative there: the second is NaN; the first depends on the eigenvectors that LAPACK chose or, in
    forward mode, is the derivative in the direction of the tangent. Third derivatives are NaN there, and so is anything
    that combines several second derivatives, as a sum of pullbacks of two gradients.

    >>> import pullback
    >>> pullback.func.hessian(lambda A: pullback.linalg.eigvalsh(A).pow(2).sum())(pullback.eye(2))[0].round()
    tensor([[[2., 0.],
             [0., 0.]],
    <BLANKLINE>
            [[0., 1.],
             [1., 0.]]])
    """
    require_square("linalg.eigvalsh", A)
    return ops.eigvalsh(A, lower=reads_lower(UPLO))[0]


# Singular values


def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> SVDResult:
    """U, the singular values S, descending, and Vh, with A = U @ diag(S) @ Vh.

    With `full_matrices`, U and Vh are square; the gradient uses their leading columns and rows only, and a loss must
    not depend on the others. Where singular values are equal, or 0 in a matrix that is not square, the derivative of all
    that uses U and Vh is NaN or infinite, as for `eigh`. S has a second derivative there only if it comes from
    `svdvals`; here it is NaN.
    `driver` has no effect.

    >>> import pullback
    >>> a = pullback.tensor([[0.0, 2.0], [3.0, 0.0]])
    >>> u, s, vh = pullback.linalg.svd(a)
    >>> s.round(decimals=3), pullback.allclose(u @ pullback.diag(s) @ vh, a, atol=1e-6)
    (tensor([3., 2.]), True)
    """
    require_matrices("linalg.svd", A)
    return SVDResult(*ops.svd(A, full=bool(full_matrices)))


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values, descending.

    Where some are equal, derivatives are as for `eigvalsh`: first and second ones of functions that are symmetric in
    them, NaN for others. At a singular value of 0, a function has a second derivative only if it is even in it, as the
    sum of squares; it is NaN if the 0 is exact and the matrix is not square, or has several of them.

    >>> import pullback
    >>> pullback.linalg.svdvals(pullback.tensor([[0.0, 2.0], [3.0, 0.0]])).round(decimals=3)
    tensor([3., 2.])
    """
    require_matrices("linalg.svdvals", A)
    return ops.svdvals(A)[1]


# Orthogonal factors


def qr(A: Tensor, mode: str = "reduced") -> QRResult:
    """Q with orthonormal columns and the upper triangular R, with A = Q @ R.

    `mode` is 'reduced'; 'complete' for a square Q, which has no derivative if A has more rows than columns; or 'r' for
    only R, with an empty Q.

    >>> import pullback
    >>> a = pullback.tensor([[3.0, 1.0], [4.0, 2.0]])
    >>> q, r = pullback.linalg.qr(a)
    >>> pullback.allclose(q @ r, a), r[1, 0]
    (True, tensor(0.))
    """
    require_matrices("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    q, r = ops.qr(A, mode="complete" if mode == "complete" else "reduced")
    return QRResult(constant(A, np.zeros(0, A._dtype)) if mode == "r" else q, r)


def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The leading columns of a product of Householder reflections: Q, from the result of `geqrf`.

    Reflection i is 1 - tau[i] * v @ v.mH, where v is 0 above row i, 1 in row i, and below it column i of the input.

    >>> import pullback
    >>> a = pullback.tensor([[3.0, 1.0], [4.0, 2.0]])
    >>> q = pullback.linalg.householder_product(*pullback.geqrf(a))
    >>> pullback.allclose(q.T @ q, pullback.eye(2), atol=1e-6)
    True
    """
    name = "torch.linalg.householder_product"
    require_reflections(name, input, tau)
    if input.shape[-1] > input.shape[-2]:
        raise RuntimeError(
            f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]: they are {input.shape[-2]} and "
            f"{input.shape[-1]}"
        )
    vectors, middle = reflections(input, tau)
    m, n = input.shape[-2:]
    first = ops.getitem(vectors, index=(..., slice(None, n), slice(None)))
    return identity(input, m, n) - ops.matmul(vectors, ops.matmul(middle, adjoint(first)))


def require_reflections(name: str, input: Tensor, tau: Tensor) -> None:
    """Raise for arguments that cannot be a result of `geqrf`."""
    require_matrices(name, input, "input")
    require_same_dtype(name, input, tau, ("input", "tau"))
    if tau.ndim != input.ndim - 1 or tuple(tau.shape[:-1]) != tuple(input.shape[:-2]):
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, and batch dimensions of tau to be equal to "
            f"input.shape[:-2]. Got shapes {tuple(tau.shape)} and {tuple(input.shape)}"
        )
    if tau.shape[-1] > input.shape[-1]:
        raise RuntimeError(
            f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]: they are {input.shape[-1]} and "
            f"{tau.shape[-1]}"
        )


def reflections(input: Tensor, tau: Tensor) -> tuple[Tensor, Tensor]:
    """v and t such that 1 - v @ t @ v.mH is the product of the reflections (Schreiber and Van Loan, 1989)."""
    k = tau.shape[-1]
    below = ops.getitem(input, index=(..., slice(None), slice(None, k)))
    vectors = ops.tril(below, k=-1) + identity(input, input.shape[-2], k)
    scale = ops.scatter_diagonal(tau, axes=(tau.ndim - 1, tau.ndim), shape=(*tau.shape, k))
    products = ops.triu(ops.matmul(adjoint(vectors), vectors), k=1)
    return vectors, ops.solve_triangular(ops.matmul(scale, products), scale, upper=True, unitriangular=True)


# LU


def lu_factor(A: Tensor, *, pivot: bool = True) -> LUFactorResult:
    """L and U in one matrix, and the pivots: the rows exchanged, counted from 1; `pivot=False` exchanges none.

    >>> import pullback
    >>> pullback.linalg.lu_factor(pullback.tensor([[1.0, 2.0], [2.0, 6.0]])).pivots
    tensor([2, 2], dtype=pullback.int32)
    """
    require_matrices("torch.linalg.lu_factor", A)
    factors, pivots, info = ops.lu_factor(A, pivot=pivot)
    text = (
        "U[{info},{info}] is zero and using it on lu_solve would result in a division by zero. If you still want to "
        "perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
    )
    refuse_failed("torch.linalg.lu_factor", text, info)
    return LUFactorResult(factors, pivots)


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> LUFactorExResult:
    """`lu_factor` without errors: with the index from 1 of each matrix's first pivot that is zero, or 0.

    >>> import pullback
    >>> pullback.linalg.lu_factor_ex(pullback.zeros(2, 2)).info
    tensor(1, dtype=pullback.int32)
    """
    require_matrices("torch.linalg.lu_factor_ex", A)
    if check_errors:
        lu_factor(A, pivot=pivot)
    return LUFactorExResult(*ops.lu_factor(A, pivot=pivot))


def lu(A: Tensor, *, pivot: bool = True) -> LUResult:
    """A permutation P, L with ones on its diagonal, and U, with A = P @ L @ U; without pivots P is empty.

    >>> import pullback
    >>> p, l, u = pullback.linalg.lu(pullback.tensor([[1.0, 2.0], [2.0, 6.0]]))
    >>> l, u
    (tensor([[1.0000, 0.0000],
            [0.5000, 1.0000]]), tensor([[ 2.,  6.],
            [ 0., -1.]]))
    """
    require_matrices("linalg.lu", A)
    factors, pivots, _ = ops.lu_factor(A, pivot=pivot)
    return lu_unpack(factors, pivots, unpack_pivots=pivot)


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> LUResult:
    """P, L and U from the result of `linalg.lu_factor`; those not requested are empty; arguments as for `lu_solve`.

    Parameters
    ----------
    unpack_data
        Give L and U.
    unpack_pivots
        Give P.

    >>> import pullback
    >>> a = pullback.tensor([[1.0, 2.0], [2.0, 6.0]])
    >>> p, l, u = pullback.lu_unpack(*pullback.linalg.lu_factor(a))
    >>> p @ l @ u
    tensor([[1., 2.],
            [2., 6.]])
    """
    require_matrices("torch.lu_unpack", LU_data, "LU_data")
    p = lower = upper = constant(LU_data, np.zeros(0, LU_data._dtype))
    if unpack_pivots:
        require_pivots("torch.lu_unpack", LU_pivots, "LU_pivots")
        p = ops.permutation(LU_pivots, LU_data)
    if unpack_data:
        m, n = LU_data.shape[-2:]
        k = min(m, n)
        lower = ops.tril(ops.getitem(LU_data, index=(..., slice(None, k))), k=-1) + identity(LU_data, m, k)
        upper = ops.triu(ops.getitem(LU_data, index=(..., slice(None, k), slice(None))), k=0)
    return LUResult(p, lower, upper)


def require_pivots(name: str, pivots: Tensor, argument: str) -> None:
    """Raise unless pivots are a tensor of int32."""
    require_tensor(path(name), argument, pivots, 2)
    if pivots._dtype != np.dtype(np.int32):
        raise RuntimeError(
            f"{name}: {argument} is expected to be a contiguous tensor of torch.int32 dtype, not {pivots.dtype}. Note: "
            f"this function is intended to be used with the output produced by lu_factor"
        )


# LDL


def ldl_factor(A: Tensor, *, hermitian: bool = False) -> LDLFactorResult:
    """L and D in one matrix, and pivots, of a symmetric or Hermitian matrix, whose lower triangle is read.

    It has no derivative.

    >>> import pullback
    >>> pullback.linalg.ldl_factor(pullback.tensor([[4.0, 2.0], [2.0, 3.0]])).LD.tril()
    tensor([[4.0000, 0.0000],
            [0.5000, 2.0000]])
    """
    require_square("torch.linalg.ldl_factor", A)
    factors, pivots, info = ops.ldl_factor(A, hermitian=hermitian)
    refuse_failed("torch.linalg.ldl_factor", "Block {info} of D is zero, and nothing can be solved with it.", info)
    return LDLFactorResult(factors, pivots)


def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> LDLFactorExResult:
    """`ldl_factor` without errors: with the index from 1 of each matrix's first block that is zero, or 0.

    >>> import pullback
    >>> pullback.linalg.ldl_factor_ex(pullback.zeros(2, 2)).info
    tensor(1, dtype=pullback.int32)
    """
    require_square("torch.linalg.ldl_factor_ex", A)
    if check_errors:
        ldl_factor(A, hermitian=hermitian)
    return LDLFactorExResult(*ops.ldl_factor(A, hermitian=hermitian))


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The solution of A @ X = B from the result of `ldl_factor` for A; it has no derivative.

    >>> import pullback
    >>> factors = pullback.linalg.ldl_factor(pullback.tensor([[4.0, 2.0], [2.0, 3.0]]))
    >>> pullback.linalg.ldl_solve(*factors, pullback.tensor([[6.0], [5.0]]))
    tensor([[1.],
            [1.]])
    """
    require_square("torch.linalg.ldl_solve", LD, "LD")
    require_same_dtype("torch.linalg.ldl_solve", LD, B, ("LD", "B"), 3)
    require_tensor("linalg_ldl_solve", "pivots", pivots, 2)
    if pivots._dtype.kind not in "iu":
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected pivots to be integers. Got {pivots._type_name}")
    if tuple(pivots.shape) != tuple(LD.shape[:-1]):
        raise RuntimeError(
            f"torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots.shape)} instead"
        )
    if B.ndim < 2:
        raise RuntimeError(
            f"torch.linalg.ldl_solve: Expected B to have at least 2 dimensions, but it has {B.ndim} dimensions instead"
        )
    if B.shape[-2] != LD.shape[-1]:
        raise RuntimeError(
            "linalg.ldl_solve: Incompatible matrix sizes for ldl_solve: each LD matrix is "
            f"{LD.shape[-1]} by {LD.shape[-1]} but each B matrix is {B.shape[-2]} by {B.shape[-1]}"
        )
    return ops.ldl_solve(LD, pivots, B, hermitian=hermitian)


# Functions of matrices


def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices: the sum of A^k / k! over k.

    >>> import pullback
    >>> pullback.linalg.matrix_exp(pullback.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    require_square("linalg.matrix_exp", A)
    return ops.matrix_exp(A)


def matrix_power(A: Tensor, n: int) -> Tensor:
    """A square matrix multiplied by itself n times, or its inverse -n times.

    Parameters
    ----------
    n
        The exponent, a whole number.

    >>> import pullback
    >>> pullback.linalg.matrix_power(pullback.tensor([[1.0, 1.0], [0.0, 1.0]]), 5)
    tensor([[1., 5.],
            [0., 1.]])
    """
    name = "linalg.matrix_power"
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    require_square(name, A)
    if n < 0:
        A = ops.inv(A, operation="linalg.inv")
    if n == 0:
        return ops.add(ops.zeros_like(A), identity(A, A.shape[-1]))
    result = A
    for digit in f"{abs(n):b}"[1:]:
        result = ops.matmul(result, result)
        if digit == "1":
            result = ops.matmul(result, A)
    return ops.clone(A) if n == 1 else result
