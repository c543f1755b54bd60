"""Norms of vectors and matrices, condition numbers and ranks, by the names of torch.linalg."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import ops
from .._core import dtypes
from .._core.shapes import normalize_axes
from .._core.values import require_tensor
from .decompositions import constant, eigvalsh, require_inexact, require_matrices, require_square, svdvals
from .equations import bounds, counted, inv_ex
from .promotion import cast, sizes

if TYPE_CHECKING:
    from .._core.typing import Dim, DType, Tensor


def _converted(name: str, input: Tensor, dtype: DType | None) -> Tensor:
    require_tensor(name, "input", input)
    require = input._dtype
    if require.kind not in "fc":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {input._type_name}: convert first, x.float()"
        )
    if dtype is None:
        return input
    target = dtypes.as_dtype(dtype)
    if target.numpy.kind not in "fc":
        raise RuntimeError(f"{name}: dtype should be floating point or complex. Got {dtypes.type_name(target)}")
    if (target.numpy.kind == "c") != (require.kind == "c"):
        kinds = ["complex" if kind == "c" else "real" for kind in (require.kind, target.numpy.kind)]
        raise RuntimeError(
            f"{name}: dtype should be {kinds[0]} for {kinds[0]} inputs, but got {dtypes.type_name(target)}"
        )
    if dtypes.promote_types(input.dtype, target) != target:
        raise RuntimeError(
            f"{name}: the dtype of the input ({input._type_name}) should be convertible without narrowing to the specified "
            f"dtype ({dtypes.type_name(target)})"
        )
    return cast(input, target.numpy)


def vector_norm(
    x: Tensor, ord: float = 2, dim: Dim = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """The norm of all elements, or of vectors along axes: the sum of abs(x) ** ord, to the power 1 / ord.

    `ord` inf and -inf are the largest and smallest absolute value; 0 counts the nonzero elements. The slope at 0 is 0.

    >>> import pullback
    >>> pullback.linalg.vector_norm(pullback.tensor([[3.0, 4.0], [0.0, 2.0]]), dim=1)
    tensor([5., 2.])
    """
    name = "linalg.vector_norm"
    x = _converted(name, x, dtype)
    if isinstance(ord, (str, complex)):
        raise TypeError(f"{name}: ord must be a number, not {ord!r}")
    axes = normalize_axes(None if isinstance(dim, tuple | list) and not dim else dim, x.ndim)
    if (ord < 0 or ord == math.inf) and 0 in x.shape:
        if dim is None or not axes:
            raise RuntimeError(
                f"{name} cannot compute the {float(ord)} norm on an empty tensor because the operation does "
                "not have an identity"
            )
        for axis in axes:
            if x.shape[axis] == 0:
                raise RuntimeError(
                    f"{name} cannot compute the {float(ord)} norm on the dimension {axis} because this dimension is empty "
                    "and the operation does not have an identity"
                )
    return ops.vector_norm(sizes(x, float(ord)), order=float(ord), axis=axes, keepdims=keepdim)


def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: int | Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """The norm of matrices, in the plane of two axes.

    `ord` is 'fro', the root of the sum of squares; 'nuc', the sum of the singular values; 2 and -2, the largest and the
    smallest singular value; 1 and -1, the largest and smallest column sum of absolute values; inf and -inf, the row
    sum.

    >>> from pullback import linalg, tensor
    >>> linalg.matrix_norm(tensor([[3.0, 0.0], [4.0, 0.0]]))
    tensor(5.)
    >>> linalg.matrix_norm(tensor([[3.0, -1.0], [4.0, 0.0]]), ord=1)  # the largest sum of a column
    tensor(7.)
    """
    name = "linalg.matrix_norm"
    A = _converted(name, A, dtype)
    if A.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions. It has shape {tuple(A.shape)}")
    if isinstance(dim, int | np.integer) or len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {dim}")
    first, second = (normalize_axes(axis, A.ndim)[0] for axis in dim)
    if first == second:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    axes = (first, second)
    if ord == "fro":
        return ops.vector_norm(A, order=2.0, axis=axes, keepdims=keepdim)
    if ord != "nuc" and (isinstance(ord, str) or abs(ord) not in (1, 2, math.inf)):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    if isinstance(ord, str) or abs(ord) == 2:
        return _of_singular_values(A, ord, axes, keepdim)
    summed, kept = (first, second) if abs(ord) == 1 else (second, first)
    sums = ops.vector_norm(sizes(A, 1.0), order=1.0, axis=(summed,), keepdims=True)
    result = _extreme(name, ord, sums, kept, keepdims=True)
    return result if keepdim else ops.reshape(result, shape=_without(A, axes))


def _without(x: Tensor, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for axis, size in enumerate(x.shape) if axis not in axes)


def _extreme(name: str, ord: float, x: Tensor, axis: int, *, keepdims: bool) -> Tensor:
    """The largest or smallest element along an axis; the largest of no elements is 0, the least norm."""
    if x.shape[axis]:
        return (ops.amax if ord > 0 else ops.amin)(x, axis=(axis,), keepdims=keepdims)
    if ord > 0:
        return ops.sum(x, axis=(axis,), keepdims=keepdims)
    raise IndexError(
        f"{name}: amin(): Expected reduction dim {axis} to have non-zero size: the {ord} norm of an empty matrix has no "
        "identity"
    )


def _of_singular_values(x: Tensor, ord: float | str, axes: tuple[int, int], keepdim: bool) -> Tensor:
    require_inexact("linalg.matrix_norm", x)
    others = tuple(axis for axis in range(x.ndim) if axis not in axes)
    values = svdvals(ops.permute_dims(x, axes=(*others, *axes)))
    last = values.ndim - 1
    if isinstance(ord, str):  # "nuc"
        result = ops.sum(values, axis=(last,), keepdims=False)
    else:
        result = _extreme("linalg.matrix_norm", ord, values, last, keepdims=False)
    if not keepdim:
        return result
    return ops.reshape(result, shape=tuple(1 if axis in axes else size for axis, size in enumerate(x.shape)))


def norm(
    A: Tensor, ord: float | str | None = None, dim: Dim = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """A norm of vectors or matrices: of all elements or one axis `vector_norm`, of two axes, or with a text,
    `matrix_norm`; without `ord`, the root of the sum of squares.

    >>> from pullback import linalg, tensor
    >>> linalg.norm(tensor([3.0, 4.0])), linalg.norm(tensor([3.0, -4.0]), ord=1)
    (tensor(5.), tensor(7.))
    """
    require_tensor("linalg_norm", "A", A)
    count = None if dim is None else 1 if isinstance(dim, int | np.integer) else len(dim)
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if count not in (None, 1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {dim}")
    if count is None and A.ndim not in (1, 2):
        if isinstance(ord, str):
            raise RuntimeError(
                f"linalg.norm: If ord={ord!r} and dim is left out, the input must be 2D. It is {A.ndim}D"
            )
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D."
        )
    if isinstance(ord, str) or (A.ndim if count is None else count) == 2:
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def cond(A: Tensor, p: float | str | None = None) -> Tensor:
    """The condition number of matrices: the norm times that of the inverse; infinite for singular matrices.

    Without p, and for p 2 and -2, the matrices need not be square: the largest singular value divided by the smallest,
    or the reverse.

    >>> import pullback
    >>> pullback.linalg.cond(pullback.tensor([[4.0, 0.0], [0.0, 2.0]]), p=1)
    tensor(2.)
    """
    name = "linalg.cond"
    require_matrices(name, A)
    if p is None or p in (2, -2):
        values = svdvals(A)
        ends = (0, -1) if p != -2 else (-1, 0)
        if values.shape[-1] == 0:
            return constant(A, np.zeros(values.shape[:-1], values._dtype))
        top, bottom = (ops.getitem(values, index=(..., end)) for end in ends)
        return ops.divide(top, bottom)
    if isinstance(p, str) and p not in ("fro", "nuc"):
        raise RuntimeError(f"{name}: Got an invalid norm type: {p}")
    if not isinstance(p, str) and abs(p) not in (1, math.inf):
        raise RuntimeError(f"{name} got an invalid norm type: {p}")
    require_square(f"{name}", A)
    if A.shape[-1] == 0:
        return constant(A, np.zeros(A.shape[:-2], np.zeros((), A._dtype).real.dtype))
    inverse, info = inv_ex(A)
    result = ops.multiply(matrix_norm(A, p), matrix_norm(inverse, p))
    return ops.where(ops.not_equal(info, 0), np.asarray(np.inf, result._dtype), result)


def nuclear_norm(input: Tensor, dim: int | Sequence[int] = (-2, -1), keepdim: bool = False) -> Tensor:
    """The sum of the singular values of matrices: the older name of `linalg.matrix_norm(input, "nuc")`.

    >>> import pullback
    >>> pullback.nuclear_norm(pullback.tensor([[3.0, 0.0], [0.0, -4.0]]))
    tensor(7.)
    """
    return matrix_norm(input, "nuc", dim, keepdim)


def matrix_rank(
    A: Tensor,
    tol: Tensor | float | None = None,
    hermitian: bool = False,
    *,
    atol: Tensor | float | None = None,
    rtol: Tensor | float | None = None,
) -> Tensor:
    """The number of singular values or, if `hermitian`, absolute eigenvalues above the bounds of `pinv`.

    >>> import pullback
    >>> pullback.linalg.matrix_rank(pullback.tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)
    """
    name = "torch.linalg.matrix_rank"
    require_matrices(name, A, "input")
    values = ops.abs(eigvalsh(A)) if hermitian else svdvals(A)
    size = ops.abs(values.detach())
    if 0 in A.shape[-2:]:
        return constant(A, np.zeros(A.shape[:-2], np.int64))
    least, relative = bounds(name, A, tol if atol is None else atol, 0.0 if tol is not None and rtol is None else rtol)
    bound = ops.maximum(least, ops.multiply(relative, ops.amax(size, axis=(size.ndim - 1,), keepdims=False)))
    return counted(ops.greater(size, ops.expand_dims(bound, axis=bound.ndim)))
