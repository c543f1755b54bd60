"""Systems of linear equations, by the names of torch.linalg: solutions, inverses, least squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import NoneType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import ops
from .._core.bfloat import finfo
from .._core.modes import quiet
from .._core.primitives import Carrier
from .._core.shapes import broadcast_shapes, normalize_axes
from .._core.values import data, every, require_operand, require_tensor
from . import spelled_as
from .decompositions import (
    adjoint,
    constant,
    path,
    require_inexact,
    require_matrices,
    require_pivots,
    require_same_dtype,
    require_square,
)
from .promotion import cast

if TYPE_CHECKING:
    from .._core.typing import Array, Tensor


class InverseResult(NamedTuple):
    """What inv_ex returns."""

    inverse: Tensor
    info: Tensor


class SolveResult(NamedTuple):
    """What solve_ex returns."""

    result: Tensor
    info: Tensor


class LeastSquaresResult(NamedTuple):
    """What lstsq returns."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def inv(A: Tensor) -> Tensor:
    """The inverse of square matrices; LinAlgError for one that has none.

    >>> import pullback
    >>> pullback.linalg.inv(pullback.tensor([[2.0, 0.0], [1.0, 1.0]]))
    tensor([[ 0.5000,  0.0000],
            [-0.5000,  1.0000]])
    """
    require_square("linalg.inv", A)
    return ops.inv(A, operation="linalg.inv")


def inv_ex(A: Tensor, *, check_errors: bool = False) -> InverseResult:
    """`inv` without errors: with the index from 1 of each matrix's first pivot that is zero, or 0.

    >>> import pullback
    >>> pullback.linalg.inv_ex(pullback.zeros(2, 2)).info
    tensor(1, dtype=pullback.int32)
    """
    require_square("linalg.inv_ex", A)
    inverse = ops.inv(A, operation="linalg.inv_ex" if check_errors else "")
    return InverseResult(inverse, ops.pivot_info(A, inverse))


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The X with A @ X = B, or X @ A = B if not `left`; LinAlgError for a singular A.

    B holds matrices or, if it has one axis or the shape of A without its last axis, vectors.

    >>> import pullback
    >>> pullback.linalg.solve(pullback.tensor([[2.0, 0.0], [1.0, 1.0]]), pullback.tensor([2.0, 4.0]))
    tensor([1., 3.])
    """
    return _solve("linalg.solve", A, B, left, "torch.linalg.solve")


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> SolveResult:
    """`solve` without errors: with the index from 1 of each matrix's first pivot that is zero, or 0.

    >>> import pullback
    >>> pullback.linalg.solve_ex(pullback.zeros(2, 2), pullback.ones(2)).info
    tensor(1, dtype=pullback.int32)
    """
    result = _solve("linalg.solve_ex", A, B, left, "torch.linalg.solve_ex" if check_errors else "")
    return SolveResult(result, ops.pivot_info(A, result))


def _solve(name: str, a: Tensor, b: Tensor, left: bool, operation: str) -> Tensor:
    require_square(name, a)
    require_same_dtype(name, a, b)
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and tuple(b.shape) == tuple(a.shape[:-1]))
    if vector:
        if not left:
            raise RuntimeError(
                f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this case "
                "linalg.solve is equivalent to B / A.squeeze(-1)"
            )
        b = ops.expand_dims(b, axis=b.ndim)
    require_fit(name, a, b, left)
    if left:
        result = ops.solve(a, b, operation=operation)
    else:
        result = _turned(ops.solve(_turned(a), _turned(b), operation=operation))
    return ops.reshape(result, shape=tuple(result.shape[:-1])) if vector else result


def _turned(x: Tensor) -> Tensor:
    return ops.matrix_transpose(x)


def require_fit(name: str, a: Tensor, b: Tensor, left: bool = True) -> None:
    """Raise for a right-hand side that is not a matrix, has the wrong number of rows, or does not broadcast."""
    if b.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions. It has shape {tuple(b.shape)}")
    if a.shape[-1] != b.shape[-2 if left else -1]:
        sizes = [f"{x.shape[-2]}x{x.shape[-1]}" for x in (a, b)]
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({sizes[0]} and {sizes[1]})"
        )
    broadcast_shapes(tuple(a.shape[:-2]), tuple(b.shape[:-2]))


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """The X with A @ X = B, or X @ A = B if not `left`, for a triangular A; the other triangle is not read.

    With `unitriangular` the diagonal is taken to be ones. A zero on the diagonal gives infinities.

    >>> from pullback import linalg, tensor
    >>> linalg.solve_triangular(tensor([[2.0, 0.0], [1.0, 1.0]]), tensor([[4.0], [5.0]]), upper=False)
    tensor([[2.],
            [3.]])
    """
    name = "linalg.solve_triangular"
    require_square(name, A)
    require_same_dtype(name, A, B)
    require_fit(name, A, B, left)
    if left:
        return ops.solve_triangular(A, B, upper=upper, unitriangular=unitriangular)
    return _turned(ops.solve_triangular(_turned(A), _turned(B), upper=not upper, unitriangular=unitriangular))


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """The X with A @ X = B from `lu_factor` of A; X @ A = B if not `left`, A.mH instead of A if `adjoint`.

    >>> import pullback
    >>> lu, pivots = pullback.linalg.lu_factor(pullback.tensor([[1.0, 2.0], [2.0, 6.0]]))
    >>> pullback.linalg.lu_solve(lu, pivots, pullback.tensor([[3.0], [8.0]]))
    tensor([[1.],
            [1.]])
    """
    name = "torch.linalg.lu_solve"
    require_square(name, LU, "LU")
    require_same_dtype(name, LU, B, ("LU", "B"), 3)
    require_pivots(name, pivots, "pivots")
    if tuple(pivots.shape) != tuple(LU.shape[:-1]):
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix: they have shapes "
            f"{tuple(pivots.shape)} and {tuple(LU.shape)}"
        )
    require_fit("linalg.lu_solve", LU, B, left)
    return _factors_solved(LU, pivots, B, adjoint) if left else _turned_solved(LU, pivots, B, adjoint)


def _factors_solved(factors: Tensor, pivots: Tensor, b: Tensor, reverse: bool) -> Tensor:
    p = ops.permutation(pivots, factors)
    if not reverse:
        b = ops.matmul(_turned(p), b)
        b = ops.solve_triangular(factors, b, upper=False, unitriangular=True)
        return ops.solve_triangular(factors, b, upper=True, unitriangular=False)
    factors = adjoint(factors)
    b = ops.solve_triangular(factors, b, upper=False, unitriangular=False)
    return ops.matmul(p, ops.solve_triangular(factors, b, upper=True, unitriangular=True))


def _turned_solved(factors: Tensor, pivots: Tensor, b: Tensor, reverse: bool) -> Tensor:
    """The solution of X @ A = B, which is that of A.mH @ X.mH = B.mH."""
    return adjoint(_factors_solved(factors, pivots, adjoint(b), not reverse))


def pinv(
    A: Tensor,
    rcond: Tensor | float | None = None,
    hermitian: bool = False,
    *,
    atol: Tensor | float | None = None,
    rtol: Tensor | float | None = None,
) -> Tensor:
    """The pseudoinverse of matrices (Moore-Penrose): singular values up to max(atol, rtol * the largest) count as zero.

    The bounds are numbers, or tensors with one for each matrix; rtol defaults to max(m, n) * eps. With `hermitian`,
    eigenvalues are used instead of singular values. The derivative is that among matrices of the same rank.

    >>> import pullback
    >>> pullback.linalg.pinv(pullback.tensor([[3.0], [4.0]]))  # divided by 3**2 + 4**2
    tensor([[0.1200, 0.1600]])
    """
    require_tensor("linalg_pinv", "A", A)
    if A.ndim < 2 or A._dtype.kind not in "fc":
        raise RuntimeError(
            f"linalg.pinv({A._type_name}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of float, double, "
            "cfloat or cdouble types"
        )
    require_matrices("linalg.pinv", A)
    if hermitian:
        require_square("linalg.pinv", A)
    least, relative = bounds("linalg.pinv", A, atol, rcond if rtol is None else rtol)
    return ops.pinv(A, least, relative, hermitian=hermitian)


def bounds(
    name: str, x: Tensor, atol: Tensor | Array | float | None, rtol: Tensor | Array | float | None
) -> list[Tensor]:
    """The bounds up to which values count as zero, for each matrix: absolute, and relative to the largest value."""
    eps = float(finfo(x._dtype).eps) * max(x.shape[-2:])
    given = []
    for argument, bound in (("atol", atol), ("rtol", rtol)):
        if isinstance(bound, Carrier):
            if bound._dtype.kind == "c":
                raise RuntimeError(f"{name}: atol and rtol tensors of complex type are not supported.")
        elif not isinstance(bound, (int, float, np.generic, NoneType)):
            require_operand(path(name), argument, bound, 2)
        given.append(data(bound) if isinstance(bound, Carrier) else bound)
    if given[1] is None:
        # as in torch: if a positive absolute bound is given, the default relative bound is 0
        given[1] = eps if given[0] is None else ops.where(ops.greater(given[0], 0), 0.0, eps)
    given[0] = 0.0 if given[0] is None else given[0]
    kind = np.zeros((), x._dtype).real.dtype
    arrays = [
        cast(bound, kind) if isinstance(bound, Carrier) else quiet.run(np.asarray, bound, kind) for bound in given
    ]
    return [ops.broadcast_to(a, shape=tuple(broadcast_shapes(tuple(a.shape), tuple(x.shape[:-2])))) for a in arrays]


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> LeastSquaresResult:
    """The X that minimizes the norm of A @ X - B; if there are several, the one of smallest norm.

    The other results are the squared residuals, if a driver other than 'gelsy' is given and A has full rank and more
    rows than columns, else empty; the rank, unless the driver is 'gels'; and the singular values, if it is 'gelss' or
    'gelsd'. The derivative is that among matrices of the same rank.

    >>> import pullback
    >>> a, b = pullback.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), pullback.tensor([[1.0], [3.0], [5.0]])
    >>> pullback.linalg.lstsq(a, b).solution.round(decimals=3)  # the line 1 + 2 * x
    tensor([[1.],
            [2.]])
    """
    name = "torch.linalg.lstsq"
    require_matrices(name, A, "input")
    require_tensor("linalg_lstsq", "b", B, 2)
    if A._dtype != B._dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {A._type_name}"
            f" and other's dtype {B._type_name}"
        )
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss): not {driver!r}")
    vector = B.ndim == A.ndim - 1 and tuple(B.shape) == tuple(A.shape[:-1])
    if B.ndim < 1 or (not vector and (B.ndim < 2 or A.shape[-2] != B.shape[-2])):
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size(-2): they have shapes {tuple(A.shape)} and "
            f"{tuple(B.shape)}"
        )
    b = ops.expand_dims(B, axis=B.ndim) if vector else B
    broadcast_shapes(tuple(A.shape[:-2]), tuple(b.shape[:-2]))
    least, relative = bounds(
        name, A, 0.0, rcond if rcond is not None else float(finfo(A._dtype).eps) * max(A.shape[-2:])
    )
    solution = ops.matmul(ops.pinv(A, least, relative, hermitian=False), b)
    values = ops.svd(A, full=False)[1].detach()
    largest = ops.getitem(values, index=(..., slice(0, 1)))
    rank = counted(ops.greater(values, ops.multiply(relative[..., None], largest)))
    m, n = A.shape[-2:]
    size = ops.abs(ops.matmul(A, solution) - b)
    residuals = ops.sum(size * size, axis=(size.ndim - 2,), keepdims=False)
    if m <= n or driver in (None, "gelsy") or (driver != "gels" and not np.all(every(rank) == n)):
        residuals = ops.getitem(ops.reshape(residuals, shape=(math.prod(residuals.shape),)), index=(slice(0),))
    return LeastSquaresResult(
        ops.reshape(solution, shape=tuple(solution.shape[:-1])) if vector else solution,
        residuals,
        constant(A, np.zeros(0, np.int64)) if driver == "gels" else rank,
        values if driver in ("gelsd", "gelss") else constant(A, np.zeros(0, values._dtype)),
    )


def counted(holds: Tensor) -> Tensor:
    """The number of True elements along the last axis."""
    numbers = ops.astype(holds, dtype=np.dtype(np.int64), source=np.dtype(np.bool_))
    return ops.sum(numbers, axis=(holds.ndim - 1,), keepdims=False)


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of a tensor as a linear map from its last axes to its first `ind` axes.

    >>> import pullback
    >>> pullback.linalg.tensorinv(pullback.eye(6).reshape(2, 3, 6), ind=2).shape
    pullback.Size([6, 2, 3])
    """
    require_tensor("linalg_tensorinv", "A", A)
    require_inexact("tensorinv", A)
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', got {ind}")
    result, source = tuple(A.shape[ind:]), tuple(A.shape[:ind])
    size = math.prod(result)
    if size != math.prod(source):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{size} != {math.prod(source)}"
        )
    return ops.reshape(inv(ops.reshape(A, shape=(size, size))), shape=(*result, *source))


@spelled_as(other="B")
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """The X for which tensordot(A, X, X.ndim) is B; `dims` are moved to the end of A first.

    >>> import pullback
    >>> pullback.linalg.tensorsolve(2 * pullback.eye(6).reshape(6, 2, 3), pullback.arange(6.0))
    tensor([[0.0000, 0.5000, 1.0000],
            [1.5000, 2.0000, 2.5000]])
    """
    require_tensor("linalg_tensorsolve", "A", A)
    require_inexact("tensorsolve", A)
    require_same_dtype("linalg.tensorsolve", A, B)
    if dims is not None:
        moved = normalize_axes(dims, A.ndim)
        A = ops.permute_dims(A, axes=(*(axis for axis in range(A.ndim) if axis not in moved), *moved))
    result = tuple(A.shape[B.ndim :])
    size = math.prod(result)
    if size != math.prod(A.shape[: B.ndim]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but "
            f"got {size} != {math.prod(A.shape[: B.ndim])}"
        )
    solution = solve(ops.reshape(A, shape=(size, size)), ops.reshape(B, shape=(math.prod(B.shape),)))
    return ops.reshape(solution, shape=result)
