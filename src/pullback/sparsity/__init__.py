"""Sparse derivatives: Jacobians and Hessians with mostly zero entries, computed in a few passes.

The sparsity pattern is pulled back through the graph of the program by the ordinary backward rules (`tracing`,
`structures`, `patterns`). A coloring determines which rows and columns can share a pass (`coloring`), and `passes`
computes the entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import Tensor, as_tensor, enable_grad
from .._core.package import package
from ..autograd import grad
from ..extend import restoring
from ..observe import ancestors, in_words, node, value
from .coloring import Coloring, best, indexing, star
from .matrices import SparseMatrix
from .passes import Array, filled, filled_symmetric, transposed
from .tracing import dependence

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import ArrayLike
    from .passes import Product

    Program: TypeAlias = Callable[[Tensor], Tensor] | Tensor  # a function, or the tensor that it has returned

Places = tuple[Array, Array]


def sparse_jacobian(
    f: Program, x: ArrayLike, *, local: bool = False, like: SparseMatrix | None = None, allow_unused: bool = False
) -> SparseMatrix:
    """The Jacobian of a function, or of an existing tensor, with respect to x, as the entries that can be nonzero.

    Row i belongs to element i of the output, column j to element j of x, both in C order.

    The pattern is valid for all x for which the program takes the same branches: an entry remains even if a factor or
    mask happens to be zero at x, but indices, including those chosen by max, sort and pooling, are fixed as at x.

    Parameters
    ----------
    f, x
        A function of one real tensor that returns one, and a tensor, an array or a list; or two tensors, f made of x.
    local
        Leave out entries with factors or masks that are zero at x, and zeros of a matrix that x is multiplied by.
    like
        An earlier result whose pattern and coloring are reused; one additional pass checks that they are still valid.

    Raises
    ------
    TypeError
        If x is not one tensor, or f does not return one.
    RuntimeError
        If x or the output is no float, the output does not depend on x (unless `allow_unused`), or the graph is freed.
    ValueError
        If `like` does not match.

    >>> import pullback
    >>> x = pullback.arange(4.0)
    >>> differences = pullback.sparse_jacobian(lambda x: (x[1:] - x[:-1]) ** 2, x)
    >>> differences.passes
    2
    >>> differences.toarray().tolist()
    [[-2.0, 2.0, 0.0, 0.0], [0.0, -2.0, 2.0, 0.0], [0.0, 0.0, -2.0, 2.0]]
    """
    y, x = _output("sparse_jacobian", f, x, allow_unused)
    shape = y.numel(), x.numel()
    if not y.requires_grad:  # x is unused, as `allow_unused` permits
        return _nothing(shape, x)
    if like is not None:
        _check_like(like, shape, "sparse_jacobian")
        rows, columns, coloring = like.rows, like.cols, like.coloring
    else:
        rows, columns = dependence(y, x, local=local)
        coloring = best(rows, columns, shape)
    matrix = SparseMatrix(*filled(y, x, rows, columns, coloring), rows, columns, shape, coloring)
    if like is not None:
        _check_filled(matrix, transposed(y, x))
    return matrix


@restoring
def sparse_hessian(
    f: Program, x: ArrayLike, *, local: bool = False, like: SparseMatrix | None = None, allow_unused: bool = False
) -> SparseMatrix:
    """The Hessian of a scalar function, or of a one-element tensor, as the entries that can be nonzero.

    The arguments are those of `sparse_jacobian`. Both triangles are returned. Since the matrix is symmetric, each entry
    has to be determined at only one of its two positions, which takes fewer passes.

    Raises
    ------
    TypeError, RuntimeError, ValueError
        As `sparse_jacobian`; RuntimeError also if the output has more than one element.

    >>> import pullback
    >>> def chain(x):
    ...     return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    >>> matrix = pullback.sparse_hessian(chain, pullback.ones(1000, dtype=pullback.float64))
    >>> matrix
    SparseMatrix(shape=(1000, 1000), nnz=2998, dtype=float64, passes=3)
    """
    y, x = _output("sparse_hessian", f, x, allow_unused)
    if y.numel() != 1:
        raise RuntimeError(
            "The Tensor returned by the function given to sparse_hessian should contain a single element, but it is a "
            f"{in_words(y)}: sum it, or take the Jacobian"
        )
    shape = x.numel(), x.numel()
    if not y.requires_grad:
        return _nothing(shape, x)
    with enable_grad():
        (g,) = grad(y, x, create_graph=True, materialize_grads=True)
    if not g.requires_grad:  # f is linear: its gradient is constant
        return _nothing(shape, x)
    if like is not None:
        _check_like(like, shape, "sparse_hessian")
        rows, columns, coloring = like.rows, like.cols, like.coloring
    else:
        rows, columns = _symmetric(*dependence(g, x, local=local), shape[0])
        coloring = Coloring(star(rows, columns, shape[0]), np.full(shape[0], -1))
    matrix = SparseMatrix(*filled_symmetric(g, x, rows, columns, coloring), rows, columns, shape, coloring)
    if like is not None:
        _check_filled(matrix, transposed(g, x))
    return matrix


@restoring
def _output(name: str, f: Program, x: Any, allow_unused: bool) -> tuple[Tensor, Tensor]:
    """The output and the input it was computed from, both checked."""
    y: Any
    if isinstance(f, Tensor):
        y = f
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): x must be the tensor that the output was computed from, not {_named(x)}")
    elif not callable(f):
        raise TypeError(f"{name}(): f must be a function of one tensor, or a tensor that exists, not {_named(f)}")
    else:
        x = _input(name, x)
        with enable_grad():
            y = f(x)
        if not isinstance(y, Tensor):
            raise TypeError(f"The function given to {name} must return one Tensor, not {_named(y)}")
    for what, tensor in (("x", x), ("the output", y)):
        _check_real(name, what, tensor)
    if not x.requires_grad:
        raise RuntimeError(
            f"One of the differentiated Tensors does not require grad: x is a {in_words(x)}. Call requires_grad_() "
            "on it before computing the output, or pass the function"
        )
    if not allow_unused and not (y.requires_grad and node(x) in ancestors([node(y)])):
        grad(y, x, y.detach())  # raises an error that says why
    return y, x


def _input(name: str, x: object) -> Tensor:
    """x as a new tensor that requires grad."""
    if isinstance(x, (tuple, list, dict)) and any(isinstance(entry, Tensor) for entry in _entries(x)):
        raise TypeError(
            f"{name}() takes one tensor, and x is {_named(x)} of them: join them with {package}.cat, or see "
            f"{package}.flatten_problem for nested parameters"
        )
    if x is None or isinstance(x, (str, dict)):
        raise TypeError(f"{name}(): x must be a tensor, an array or a list of numbers, not {_named(x)}")
    tensor = x.detach() if isinstance(x, Tensor) else as_tensor(x)
    _check_real(name, "x", tensor)
    return tensor.clone().requires_grad_()


def _entries(x: Any) -> Any:
    return x.values() if isinstance(x, dict) else x


def _check_real(name: str, what: str, tensor: Tensor) -> None:
    if tensor.level:
        raise NotImplementedError(
            f"{name}() reads a pattern and numbers, so it cannot be part of another transform: {what} belongs to vmap, grad "
            "or the like. Call it outside"
        )
    if not tensor.is_floating_point():
        raise RuntimeError(
            f"{name}() needs real numbers of floating point, since only Tensors of floating point dtype have real "
            f"derivatives: {what} is a {in_words(tensor)}"
        )


def _named(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _nothing(shape: tuple[int, int], x: Tensor) -> SparseMatrix:
    """A matrix without entries."""
    none = np.zeros(0, np.int64)
    uncolored = Coloring(np.full(shape[0], -1), np.full(shape[1], -1))
    return SparseMatrix(np.zeros(0, value(x).dtype), 0, none, none, shape, uncolored)


def _symmetric(rows: Array, columns: Array, count: int) -> Places:
    """The entries whose transposed entry is in the pattern too; in a symmetric matrix the others are zero."""
    kept = np.isin(rows * count + columns, columns * count + rows)
    return rows[kept], columns[kept]


def _check_like(like: object, shape: tuple[int, int], name: str) -> None:
    if not isinstance(like, SparseMatrix):
        raise TypeError(f"{name}(): like must be an earlier result, a SparseMatrix, not {_named(like)}")
    if like.shape != shape:
        raise ValueError(f"{name}(): like has shape {like.shape}, but this matrix has shape {shape}")


def _check_filled(matrix: SparseMatrix, product: Product) -> None:
    """Refuse a reused pattern that lacks an entry, by comparing the products of the matrix with a random vector."""
    v = np.random.default_rng(0).uniform(1, 2, matrix.shape[0])
    terms = v[matrix.rows] * matrix.data
    sums, sizes = (np.bincount(indexing(matrix.cols), part, matrix.shape[1]) for part in (terms, np.abs(terms)))
    expected = product(v)
    allowed = np.sqrt(np.finfo(matrix.data.dtype).eps) * np.maximum(sizes, np.abs(expected).max(initial=0))
    missing = np.flatnonzero(~(np.abs(sums - expected) <= allowed) & np.isfinite(expected))
    if missing.size:
        others = f" and {missing.size - 1} others" if missing.size > 1 else ""
        raise ValueError(
            f"like does not have the pattern of this matrix, which has other entries in column {missing[0]}{others}: "
            "the program took another branch. Leave like out"
        )
