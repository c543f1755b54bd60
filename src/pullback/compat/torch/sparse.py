"""torch.sparse, on dense tensors: the values are torch's, but all elements are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import (
    Tensor,
    addmm as addmm,
    arange as _arange,
    as_tensor as _as_tensor,
    mm as _mm,
    stack as _stack,
    sum as _sum,
    where as _where,
    zeros as _zeros,
)
from ..._tensor.layouts import with_pattern
from ...nn import functional
from . import notes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..._core.typing import Dim, DType, TensorLike


_DENSE = "sparse tensors are kept as dense ones: the numbers are the same, and zeros take memory and time, too"


def _given(
    indices: TensorLike | Sequence[object],
    values: TensorLike | Sequence[object],
    size: Sequence[int] | None,
    dtype: DType | None,
) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """Indices, values and sizes, checked and converted; RuntimeError if they are inconsistent."""
    where = _as_tensor(indices).to("int64")
    what = _as_tensor(values) if dtype is None else _as_tensor(values).to(dtype)
    if where.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(where.shape)}")
    if what.ndim == 0:
        what = what.expand(where.shape[1])
    if what.shape[0] != where.shape[1]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {where.shape[1]}, nnz from values: "
            f"{what.shape[0]}"
        )
    if where.numel() and int(where.min()) < 0:
        raise RuntimeError(f"found negative index {int(where.min())} among the indices")
    sizes = tuple(size) if size is not None else (*(int(row.max()) + 1 for row in where), *what.shape[1:])
    if len(sizes) != where.shape[0] + what.ndim - 1:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(sizes)}, sparse_dim = "
            f"{where.shape[0]}, dense_dim = {what.ndim - 1}"
        )
    for dim, row in enumerate(where if where.numel() else ()):
        if int(row.max()) >= sizes[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {sizes[dim]} but found index {int(row.max())}"
            )
    return where, what, sizes


def sparse_coo_tensor(
    indices: TensorLike | Sequence[object],
    values: TensorLike | Sequence[object] | None = None,
    size: Sequence[int] | None = None,
    *,
    dtype: DType | None = None,
    requires_grad: bool = False,
    **options: object,
) -> Tensor:
    """A dense tensor with values at indices, one column for each, and zeros elsewhere; duplicates are summed.

    Raises
    ------
    RuntimeError
        If indices, values and sizes do not fit together.
    """
    notes.note(_DENSE)
    if values is None or (size is None and not isinstance(values, Tensor) and not hasattr(values, "__len__")):
        given: Any = indices if values is None else values
        return _zeros(*given, dtype=dtype, requires_grad=requires_grad)
    where, what, sizes = _given(indices, values, size, dtype)
    made = _zeros(*sizes, dtype=what.dtype).index_put(tuple(where), what, accumulate=True)
    return with_pattern(made.requires_grad_() if requires_grad else made, where)


def sparse_csr_tensor(
    crow_indices: TensorLike | Sequence[int],
    col_indices: TensorLike | Sequence[int],
    values: TensorLike | Sequence[object],
    size: Sequence[int] | None = None,
    *,
    dtype: DType | None = None,
    **options: Any,
) -> Tensor:
    """A dense matrix in compressed row form: `crow_indices` has the start of each row, `col_indices` the columns."""
    starts, columns = _as_tensor(crow_indices), _as_tensor(col_indices)
    counts = starts[1:] - starts[:-1]
    rows = _arange(len(counts)).repeat_interleave(counts)
    sizes = (len(counts), int(columns.max()) + 1) if size is None else size
    return sparse_coo_tensor(_stack([rows, columns.to("int64")]), values, sizes, dtype=dtype, **options)


def _typed(dtype: str) -> Callable[..., Tensor]:
    """torch's deprecated constructor of sparse tensors of a dtype."""

    def make(*args: Any) -> Tensor:
        sizes = args and all(isinstance(arg, int) for arg in args)
        return _zeros(*args, dtype=dtype) if sizes or not args else sparse_coo_tensor(*args, dtype=dtype)

    return make


FloatTensor, DoubleTensor, HalfTensor = _typed("float32"), _typed("float64"), _typed("float16")
LongTensor, IntTensor, ShortTensor, ByteTensor = _typed("int64"), _typed("int32"), _typed("int16"), _typed("uint8")


def mm(mat1: Tensor, mat2: Tensor, reduce: str = "sum") -> Tensor:
    """The product of two matrices."""
    return _mm(mat1, mat2)


spmm = smm = hspmm = mm


def sum(input: Tensor, dim: Dim = None, dtype: DType | None = None) -> Tensor:
    """The sum of all elements, or along axes."""
    return _sum(input, dim, dtype=dtype)


def _absent(input: Tensor) -> Tensor:
    """The elements with zeros replaced by minus infinity."""
    return _where(input != 0, input, float("-inf"))


def softmax(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """The softmax over the nonzero elements along an axis; zeros stay zero."""
    scores = functional.softmax(_absent(input), dim, dtype=dtype)
    return _where(input != 0, scores, 0)


def log_softmax(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """The logarithm of the softmax over the nonzero elements along an axis; zeros stay zero."""
    scores = functional.log_softmax(_absent(input), dim, dtype=dtype)
    return _where(input != 0, scores, 0)
