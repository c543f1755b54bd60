"""SparseMatrix, the result type of `sparse_jacobian` and `sparse_hessian`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .coloring import Coloring

if TYPE_CHECKING:
    from types import ModuleType

Array = np.ndarray[Any, np.dtype[Any]]


class SparseMatrix:
    """A sparse matrix: `data[k]` is the entry at row `rows[k]` and column `cols[k]`; in row order, without duplicates.

    `shape` is the shape of the matrix. `passes` is the number of products with it, or with its transpose, that were
    computed, and `coloring` says which rows and columns shared one (-1 for those that needed none). It unpacks as
    `data, rows, cols = matrix`.

    >>> import pullback
    >>> matrix = pullback.sparse_jacobian(lambda x: x * x, pullback.tensor([1.0, 2.0, 3.0]))
    >>> matrix
    SparseMatrix(shape=(3, 3), nnz=3, dtype=float32, passes=1)
    >>> data, rows, cols = matrix
    >>> data
    array([2., 4., 6.], dtype=float32)
    """

    __slots__ = ("data", "rows", "cols", "shape", "passes", "coloring")

    def __init__(
        self, data: Array, passes: int, rows: Array, cols: Array, shape: tuple[int, int], coloring: Coloring
    ) -> None:
        self.data, self.rows, self.cols = data, rows, cols
        self.shape, self.passes, self.coloring = shape, passes, coloring

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return self.data.size

    def __iter__(self) -> Iterator[Array]:
        return iter((self.data, self.rows, self.cols))

    def __repr__(self) -> str:
        return f"SparseMatrix(shape={self.shape}, nnz={self.nnz}, dtype={self.data.dtype}, passes={self.passes})"

    def toarray(self) -> Array:
        """The matrix as a dense NumPy array."""
        out = np.zeros(self.shape, self.data.dtype)
        out[self.rows, self.cols] = self.data
        return out

    def tocoo(self) -> Any:
        """The matrix as SciPy's `coo_array`; SciPy must be installed."""
        sparse = _scipy_sparse()
        return sparse.coo_array((self.data, (self.rows, self.cols)), shape=self.shape)

    def tocsr(self) -> Any:
        """The matrix as SciPy's `csr_array`; SciPy must be installed."""
        sparse = _scipy_sparse()
        starts = np.searchsorted(self.rows, np.arange(self.shape[0] + 1))
        return sparse.csr_array((self.data, self.cols, starts), shape=self.shape)


def _scipy_sparse() -> ModuleType:
    try:
        return importlib.import_module("scipy.sparse")
    except ImportError as error:
        raise ImportError(
            "tocoo() and tocsr() make matrices of SciPy, which is not installed: pip install scipy, or use data, rows and "
            "cols, or toarray()"
        ) from error
