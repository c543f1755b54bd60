"""Sparse derivatives: Jacobians and Hessians with mostly zero entries, computed in a few passes.

The sparsity pattern is pulled back through the graph of the program by the ordinary backward rules (`tracing`,
`structures`, `patterns`). A coloring determines which rows and columns can share a pass (`coloring`), and `passes`
computes the entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import Tensor, as_tensor, cat, enable_grad, where, zeros
from .._core.package import package
from ..autograd import grad
from ..extend import concrete, holds, restoring
from ..observe import ancestors, in_words, node, value
from .coloring import Coloring, best, star
from .matrices import Array, Plan, SparseMatrix
from .passes import filled, pulled
from .tracing import MovingError, dependence, moves

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._core.typing import ArrayLike

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
        return _again("sparse_jacobian", y, x, like)
    rows, columns = _found("sparse_jacobian", y, x, local)
    plan = Plan(rows, columns, shape, best(rows, columns, shape))
    return SparseMatrix(filled(y, x, plan), plan)


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
        return _again("sparse_hessian", g, x, like)
    rows, columns = _symmetric(*_found("sparse_hessian", g, x, local), shape[0])
    coloring = Coloring(star(rows, columns, shape[0]), np.full(shape[0], -1))
    plan = Plan(rows, columns, shape, coloring, symmetric=True)
    return SparseMatrix(filled(g, x, plan), plan)


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
    return SparseMatrix(zeros(0, dtype=x.dtype), Plan(none, none, shape, uncolored))


def _found(name: str, y: Tensor, x: Tensor, local: bool) -> Places:
    """The pattern, which in a compiled function has to be that of each call."""
    try:
        return dependence(y, x, local=local)
    except MovingError:
        concrete(y, name)  # refused in the words of the one who records
        raise


def _symmetric(rows: Array, columns: Array, count: int) -> Places:
    """The entries whose transposed entry is in the pattern too; in a symmetric matrix the others are zero."""
    kept = np.isin(rows * count + columns, columns * count + rows)
    return rows[kept], columns[kept]


def _again(name: str, y: Tensor, x: Tensor, like: SparseMatrix) -> SparseMatrix:
    """The matrix at another point, in the pattern of an earlier one."""
    if not isinstance(like, SparseMatrix):
        raise TypeError(f"{name}(): like must be an earlier result, a SparseMatrix, not {_named(like)}")
    shape = y.numel(), x.numel()
    if like.shape != shape:
        raise ValueError(f"{name}(): like has shape {like.shape}, but this matrix has shape {shape}")
    plan = like.plan
    matrix = SparseMatrix(filled(y, x, plan), plan)
    if not (moves(y) and _stays(name, y, x, plan)):
        _check_filled(matrix.entries, plan, y, x)
    return matrix


def _stays(name: str, y: Tensor, x: Tensor, plan: Plan) -> bool:
    """Whether a plan is good for all points, as far as a compiled function asks: then its program need not check it."""
    try:
        rows, columns = dependence(y, x, local=False)
    except (MovingError, ValueError):  # the latter if the pattern, of which the plan knows a part, is too large
        return False
    if name == "sparse_hessian":
        rows, columns = _symmetric(rows, columns, plan.shape[0])
    width = plan.shape[1]
    return bool(np.isin(rows * width + columns, plan.rows * width + plan.cols).all())


def _check_filled(entries: Tensor, plan: Plan, y: Tensor, x: Tensor) -> None:
    """Refuse a reused pattern that lacks an entry, by comparing the products of the matrix with a random vector."""
    v = np.random.default_rng(0).uniform(1, 2, plan.shape[0])
    entries = entries.double()
    columns = as_tensor(plan.cols)
    terms = as_tensor(v[plan.rows]) * entries
    nothing = zeros(plan.shape[1], dtype=terms.dtype)
    sums, sizes = nothing.index_add(0, columns, terms), nothing.index_add(0, columns, terms.abs())
    expected = pulled(y, x, as_tensor(v).to(y.dtype).reshape(1, *y.shape)).reshape(-1).double()
    if not expected.numel():
        return
    finite = (expected + sums).isfinite()  # elsewhere, as where zero times infinity is NaN, columns say nothing
    numbers = cat([expected, terms]).abs()
    largest = where(numbers.isfinite(), numbers, zeros((), dtype=numbers.dtype)).max()
    allowed = np.sqrt(np.finfo(x.dtype.numpy).eps) * sizes.maximum(largest)
    missing = finite & ~((sums - expected).abs() <= allowed)
    if not holds(~missing):
        count = int(value(missing.sum()))
        others = f" and {count - 1} others" if count > 1 else ""
        raise ValueError(
            f"like does not have the pattern of this matrix, which has other entries in column "
            f"{int(value(missing.long().argmax()))}{others}: the program took another branch. Leave like out"
        )
