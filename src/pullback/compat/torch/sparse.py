"""torch.sparse, on dense tensors: the values are torch's, but all elements are stored."""

from typing import Any

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

_DENSE = "sparse tensors are kept as dense ones: the numbers are the same, and zeros take memory and time, too"


def _given(indices: Any, values: Any, size: Any, dtype: Any) -> tuple[Any, Any, tuple[int, ...]]:
    """Indices, values and sizes, checked and converted; RuntimeError if they are inconsistent."""
    indices = _as_tensor(indices).to("int64")
    values = _as_tensor(values) if dtype is None else _as_tensor(values).to(dtype)
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if values.ndim == 0:
        values = values.expand(indices.shape[1])
    if values.shape[0] != indices.shape[1]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {indices.shape[1]}, nnz from values: "
            f"{values.shape[0]}"
        )
    if indices.numel() and int(indices.min()) < 0:
        raise RuntimeError(f"found negative index {int(indices.min())} among the indices")
    sizes = tuple(size) if size is not None else (*(int(row.max()) + 1 for row in indices), *values.shape[1:])
    if len(sizes) != indices.shape[0] + values.ndim - 1:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(sizes)}, sparse_dim = "
            f"{indices.shape[0]}, dense_dim = {values.ndim - 1}"
        )
    for dim, row in enumerate(indices if indices.numel() else ()):
        if int(row.max()) >= sizes[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {sizes[dim]} but found index {int(row.max())}"
            )
    return indices, values, sizes


def sparse_coo_tensor(
    indices: Any,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    **options: Any,
) -> Any:
    """A dense tensor with values at indices, one column for each, and zeros elsewhere; duplicates are summed.

    Raises
    ------
    RuntimeError
        If indices, values and sizes do not fit together.
    """
    notes.note(_DENSE)
    if values is None or (size is None and not isinstance(values, Tensor) and not hasattr(values, "__len__")):
        return _zeros(*(indices if values is None else values), dtype=dtype, requires_grad=requires_grad)
    where, what, sizes = _given(indices, values, size, dtype)
    made = _zeros(*sizes, dtype=what.dtype).index_put(tuple(where), what, accumulate=True)
    return with_pattern(made.requires_grad_() if requires_grad else made, where)


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, **options: Any
) -> Any:
    """A dense matrix in compressed row form: `crow_indices` has the start of each row, `col_indices` the columns."""
    starts, columns = _as_tensor(crow_indices), _as_tensor(col_indices)
    counts = starts[1:] - starts[:-1]
    rows = _arange(len(counts)).repeat_interleave(counts)
    sizes = (len(counts), int(columns.max()) + 1) if size is None else size
    return sparse_coo_tensor(_stack([rows, columns.to("int64")]), values, sizes, dtype=dtype, **options)


def _typed(dtype: str) -> Any:
    """torch's deprecated constructor of sparse tensors of a dtype."""

    def make(*args: Any) -> Any:
        sizes = args and all(isinstance(arg, int) for arg in args)
        return _zeros(*args, dtype=dtype) if sizes or not args else sparse_coo_tensor(*args, dtype=dtype)

    return make


FloatTensor, DoubleTensor, HalfTensor = _typed("float32"), _typed("float64"), _typed("float16")
LongTensor, IntTensor, ShortTensor, ByteTensor = _typed("int64"), _typed("int32"), _typed("int16"), _typed("uint8")


def mm(mat1: Any, mat2: Any, reduce: str = "sum") -> Any:
    """The product of two matrices."""
    return _mm(mat1, mat2)


spmm = smm = hspmm = mm


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of all elements, or along axes."""
    return _sum(input, dim, dtype=dtype)


def _absent(input: Any) -> Any:
    """The elements with zeros replaced by minus infinity."""
    return _where(input != 0, input, float("-inf"))


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The softmax over the nonzero elements along an axis; zeros stay zero."""
    scores = functional.softmax(_absent(input), dim, dtype=dtype)
    return _where(input != 0, scores, 0)


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of the softmax over the nonzero elements along an axis; zeros stay zero."""
    scores = functional.log_softmax(_absent(input), dim, dtype=dtype)
    return _where(input != 0, scores, 0)
