"""Diagonals and triangles of matrices."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from .. import ops
from .._core.shapes import normalize_axis
from .._core.values import require_tensor
from .._tape.views import Step, view, write
from . import fills, shapes
from .scatter import filling
from .slicing import overwritten

if TYPE_CHECKING:
    from .._core.primitives import Primitive
    from .._core.typing import Number, Tensor


def _axes(ndim: int, dim1: int, dim2: int) -> tuple[int, int]:
    axes = normalize_axis(dim1, ndim), normalize_axis(dim2, ndim)
    if axes[0] == axes[1]:
        raise RuntimeError(
            f"diagonal dimensions cannot be identical {dim1}, {dim2}: a diagonal runs along two different axes"
        )
    return axes


def _path(shape: tuple[int, ...], offset: int, axes: tuple[int, int]) -> list[Step]:
    """The views that lead to a diagonal: the part of the plane whose main diagonal it is, then that diagonal."""
    found: list[Step] = []
    if offset:
        axis, skipped = axes[offset > 0], abs(offset)
        begin = min(skipped, shape[axis])
        found.append((ops.getitem, {"index": (*[slice(None)] * axis, slice(begin, None), ...)}))
    return [*found, (ops.diagonal, {"axes": axes})]


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis: a view; `offset` counts columns to the right of the main one.

    >>> import pullback
    >>> pullback.arange(6).reshape(2, 3).diagonal(1)
    tensor([1, 5])
    """
    return _seen(input, offset, _axes(input.ndim, dim1, dim2))


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, in the plane of two axes, as the last axis: a view.

    >>> import pullback
    >>> pullback.linalg.diagonal(pullback.arange(4).reshape(2, 2))
    tensor([0, 3])
    """
    require_tensor("linalg_diagonal", "A", A)
    return diagonal(A, offset, dim1, dim2)


def _seen(input: Tensor, offset: int, axes: tuple[int, int]) -> Tensor:
    result = input
    for primitive, metadata in _path(tuple(input.shape), offset, axes):
        result = view(primitive, result, **metadata)
    return result


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy whose diagonal of two axes is `src`.

    >>> import pullback
    >>> pullback.zeros(2, 2).diagonal_scatter(pullback.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    path = _path(tuple(input.shape), offset, _axes(input.ndim, dim1, dim2))
    return overwritten("diagonal_scatter", input, src, *path)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Zeros whose diagonal of two new axes is the last axis of the input.

    >>> import pullback
    >>> pullback.tensor([1.0, 2.0]).diag_embed()
    tensor([[1., 0.],
            [0., 2.]])
    """
    axes = _axes(input.ndim + 1, dim1, dim2)
    normalize_axis(-2, input.ndim + 1)
    length = input.shape[-1] if input.ndim else 1
    corner, full = (list(input.shape[:-1]) for _ in range(2))
    for axis in sorted(axes):
        corner.insert(axis, length)
        full.insert(axis, length + abs(offset))
    result = ops.scatter_diagonal(input, axes=axes, shape=tuple(corner))
    if not offset:
        return result
    row, column = (slice(0, length), slice(offset, None)) if offset > 0 else (slice(-offset, None), slice(0, length))
    index = [row if axis == axes[0] else column if axis == axes[1] else slice(None) for axis in range(len(full))]
    return ops.scatter_slice(result, shape=tuple(full), index=tuple(index))


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal.

    >>> import pullback
    >>> pullback.diag(pullback.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    if input.ndim == 1:
        return diag_embed(input, diagonal)
    return ops.clone(_seen(input, diagonal, (0, 1)))


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements of the input on its diagonal.

    >>> import pullback
    >>> pullback.diagflat(pullback.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    return diag_embed(shapes.ravel(input), offset)


@fills
def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """In place: the main diagonal, along which all indices are equal, filled with a number.

    With `wrap`, the diagonal of a tall matrix starts again below its square part, after skipping one row.

    Parameters
    ----------
    fill_value
        The number.
    wrap
        Begin again below, in a matrix with more rows than columns.

    >>> import pullback
    >>> pullback.zeros(2, 3).fill_diagonal_(5.0)
    tensor([[5., 0., 0.],
            [0., 5., 0.]])
    """
    if self.ndim < 2:
        raise RuntimeError(f"dimensions must larger than 1: fill_diagonal_ of a tensor of shape {tuple(self.shape)}")
    if self.ndim > 2 and len(set(self.shape)) > 1:
        raise RuntimeError(f"all dimensions of input must be of equal length, not {list(self.shape)}")
    step, end = 1, min(self.shape) ** self.ndim
    for size in self.shape[:0:-1]:
        step = step * size + 1
    if self.ndim == 2:
        end = self.numel() if wrap else min(self.shape) * self.shape[1]
    path = (ops.reshape, {"shape": (self.numel(),)}), (ops.getitem, {"index": (slice(0, end, step), ...)})
    return write(self, ops.overwrite(self, filling("fill_diagonal_", self, fill_value), path=path), "fill_diagonal_")


def _triangle(primitive: Primitive, input: Tensor, diagonal: int) -> Tensor:
    if input.ndim < 2:
        raise RuntimeError(
            f"{primitive.name}: input tensor must have at least 2 dimensions, and has shape {tuple(input.shape)}"
        )
    if isinstance(diagonal, float):
        raise TypeError(f"{primitive.name}(): argument 'diagonal' (position 1) must be int, not float")
    return primitive(input, k=operator.index(diagonal))


def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of matrices, up to a diagonal; zeros elsewhere.

    >>> import pullback
    >>> pullback.ones(2, 2).tril()
    tensor([[1., 0.],
            [1., 1.]])
    """
    return _triangle(ops.tril, input, diagonal)


def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of matrices, from a diagonal on; zeros elsewhere.

    >>> import pullback
    >>> pullback.ones(2, 2).triu()
    tensor([[1., 1.],
            [0., 1.]])
    """
    return _triangle(ops.triu, input, diagonal)
