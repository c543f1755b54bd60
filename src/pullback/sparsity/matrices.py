"""SparseMatrix, the result type of `sparse_jacobian` and `sparse_hessian`, and Plan, which its likes share."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import Tensor
from ..utils.trees import ContainerKind, register
from .coloring import Coloring

if TYPE_CHECKING:
    from types import ModuleType

Array = np.ndarray[Any, np.dtype[Any]]


class Passes(NamedTuple):
    """Products of one kind: the color of each line, from 0 to `number` - 1, or -1; `forward` if the lines are columns."""

    forward: bool
    colors: Array
    number: int


class Plan:
    """Where the entries of a matrix are, and how they are computed: the passes, and each entry's place in their results.

    The results of all passes are meant to lie one after another; `places` has an index for each entry. Of a symmetric
    matrix, an entry is read from the pass of the lesser of its two colors.
    """

    __slots__ = ("rows", "cols", "shape", "coloring", "passes", "blocks", "places")

    def __init__(
        self, rows: Array, cols: Array, shape: tuple[int, int], coloring: Coloring, *, symmetric: bool = False
    ) -> None:
        self.rows, self.cols, self.shape, self.coloring = rows, cols, shape, coloring
        colors = coloring.rows
        swapped = colors[rows] > colors[cols] if symmetric else np.zeros(rows.size, np.bool_)
        by_columns = coloring.by_columns(rows, cols) & (not symmetric)
        lines, crossings = np.where(swapped, cols, rows), np.where(swapped, rows, cols)
        self.blocks: list[Passes] = []
        self.places = np.zeros(rows.size, np.int64)
        start = 0
        for forward, chosen, colors, line, crossing, width in (
            (False, ~by_columns, coloring.rows, lines, crossings, shape[1]),
            (True, by_columns, coloring.columns, crossings, lines, shape[0]),
        ):
            if chosen.any():
                needed, own = np.unique(colors[line[chosen]], return_inverse=True)
                numbers = np.full(max(colors.max() + 1, 1) + 1, -1)  # the last is that of lines without a color
                numbers[needed] = np.arange(needed.size)
                self.blocks.append(Passes(forward, numbers[colors], needed.size))
                self.places[chosen] = start + own * width + crossing[chosen]
                start += needed.size * width
        self.passes = sum(block.number for block in self.blocks)


class SparseMatrix:
    """A sparse matrix: `data[k]` is the entry at row `rows[k]` and column `cols[k]`; in row order, without duplicates.

    `entries` is `data` as a tensor, which is what compiled functions compute with, and `shape` the shape of the matrix.
    `passes` is the number of products with it, or with its transpose, that were computed, and `coloring` says which rows
    and columns shared one (-1 for those that needed none). It unpacks as `data, rows, cols = matrix`.

    >>> import pullback
    >>> matrix = pullback.sparse_jacobian(lambda x: x * x, pullback.tensor([1.0, 2.0, 3.0]))
    >>> matrix
    SparseMatrix(shape=(3, 3), nnz=3, dtype=float32, passes=1)
    >>> data, rows, cols = matrix
    >>> data
    array([2., 4., 6.], dtype=float32)
    """

    __slots__ = ("entries", "plan")

    def __init__(self, entries: Tensor, plan: Plan) -> None:
        self.entries, self.plan = entries, plan

    @property
    def data(self) -> Array:
        """The entries as a NumPy array."""
        return self.entries.numpy()

    @property
    def rows(self) -> Array:
        """The row of each entry."""
        return self.plan.rows

    @property
    def cols(self) -> Array:
        """The column of each entry."""
        return self.plan.cols

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return self.plan.shape

    @property
    def coloring(self) -> Coloring:
        """Which rows and columns shared a pass."""
        return self.plan.coloring

    @property
    def passes(self) -> int:
        """The number of products that were computed."""
        return self.plan.passes

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return self.rows.size

    def __iter__(self) -> Iterator[Array]:
        return iter((self.data, self.rows, self.cols))

    def __repr__(self) -> str:
        dtype = self.entries.dtype.numpy
        return f"SparseMatrix(shape={self.shape}, nnz={self.nnz}, dtype={dtype}, passes={self.passes})"

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


register(
    SparseMatrix,
    ContainerKind(
        lambda matrix: (("entries",), [matrix.entries], matrix.plan),
        lambda kind, _, entries, plan: kind(*entries, plan),
        by_index=False,
    ),
)


def _scipy_sparse() -> ModuleType:
    try:
        return importlib.import_module("scipy.sparse")
    except ImportError as error:
        raise ImportError(
            "tocoo() and tocsr() make matrices of SciPy, which is not installed: pip install scipy, or use data, rows and "
            "cols, or toarray()"
        ) from error
