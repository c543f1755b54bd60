"""Products of tensors over some axes, or none: inner, tensordot, kron, cross, and tensors composed of blocks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import xp as _xp
from .._core.primitives import Carrier
from .._core.shapes import broadcast_shapes, normalize_axes, normalize_axis
from .._core.sites import of_pairs
from .._core.values import require_operands, require_tensor, require_tensors
from . import arithmetic, products, scans
from .decompositions import constant, require_same_dtype
from .promotion import binary, cast, together

if TYPE_CHECKING:
    from .._core.typing import Tensor, Threshold

# Sums over axes


def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products along the last axes of two tensors, for all pairs; with a number, the product.

    >>> import pullback
    >>> pullback.inner(pullback.tensor([[1.0, 2.0], [3.0, 4.0]]), pullback.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    require_operands("inner", input=input, other=other)
    if input.ndim == 0 or other.ndim == 0:
        return arithmetic.mul(input, other)
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(input.shape)} and "
            f"{list(other.shape)}"
        )
    return tensordot(input, other, ((-1,), (-1,)))


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[int] | Sequence[Sequence[int]] | Tensor = 2) -> Tensor:
    """The sum of products over the last `dims` axes of a and the first of b, or over axes given as two lists.

    Parameters
    ----------
    a
        The first tensor.
    b
        The second tensor.

    >>> import pullback
    >>> a, b = pullback.ones(2, 3, 4), pullback.ones(4, 3)
    >>> pullback.tensordot(a, b, dims=([2, 1], [0, 1]))
    tensor([12., 12.])
    """
    require_operands("tensordot", a=a, b=b)
    left, right = _summed(a, b, dims.tolist() if isinstance(dims, Carrier) else dims)
    for i, j in zip(left, right, strict=True):
        if a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j]):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.shape[i]} in dim {i} and second has size "
                f"{b.shape[j]} in dim {j}"
            )
    if any(a.shape[i] != b.shape[j] for i, j in zip(left, right, strict=True)):
        a, b = (
            _narrowed(x, axes, other, others) for x, axes, other, others in ((a, left, b, right), (b, right, a, left))
        )
    a, b = products.matching(a, b, "tensordot")
    first = [axis for axis in range(a.ndim) if axis not in left]
    last = [axis for axis in range(b.ndim) if axis not in right]
    rows, columns = [a.shape[axis] for axis in first], [b.shape[axis] for axis in last]
    size = math.prod(a.shape[axis] for axis in left)
    a = ops.reshape(ops.permute_dims(a, axes=(*first, *left)), shape=(math.prod(rows), size))
    b = ops.reshape(ops.permute_dims(b, axes=(*right, *last)), shape=(size, math.prod(columns)))
    return ops.reshape(ops.matmul(a, b), shape=(*rows, *columns))


def _summed(
    a: Tensor, b: Tensor, dims: int | Sequence[int] | Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(dims, int | np.integer):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return tuple(range(a.ndim - dims, a.ndim)), tuple(range(dims))
    first, last = ([axes] if isinstance(axes, int) else list(axes) for axes in dims)
    if len(first) != len(last):
        raise RuntimeError(f"both dimension lists should have same length: they are {first} and {last}")
    return normalize_axes(first, a.ndim, "tensordot"), normalize_axes(last, b.ndim, "tensordot")


def _narrowed(x: Tensor, axes: tuple[int, ...], other: Tensor, others: tuple[int, ...]) -> Tensor:
    """A tensor summed along axes in which the other has length 1."""
    alone = tuple(i for i, j in zip(axes, others, strict=True) if other.shape[j] == 1 and x.shape[i] != 1)
    return ops.sum(x, axis=alone, keepdims=True) if alone else x


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sum of conj(x) * y along an axis; the other axes broadcast.

    >>> import pullback
    >>> pullback.linalg.vecdot(pullback.tensor([[1.0, 2.0], [3.0, 4.0]]), pullback.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    require_tensor("linalg_vecdot", "x", x)
    require_same_dtype("linalg.vecdot", x, y, ("x", "y"))
    if x._dtype.kind == "b":
        raise RuntimeError("\"linalg.vecdot\" not implemented for 'Bool': convert first, x.long()")
    shape = broadcast_shapes(tuple(x.shape), tuple(y.shape))
    axis = normalize_axis(dim, len(shape), "linalg.vecdot")
    product = ops.multiply(ops.conj(x) if x._dtype.kind == "c" else x, y)
    return ops.sum(product, axis=(axis,) if shape else (), keepdims=False)


@of_pairs
def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: all products of an element of one tensor with one of the other, as blocks.

    >>> import pullback
    >>> pullback.kron(pullback.tensor([1, 10]), pullback.tensor([1, 2]))
    tensor([ 1,  2, 10, 20])
    """
    a, b = together(input, other)
    ndim = max(a.ndim, b.ndim)
    shapes = [(1,) * (ndim - x.ndim) + tuple(x.shape) for x in (a, b)]
    wide = [
        tuple(size for each in shape for size in ((each, 1), (1, each))[place]) for place, shape in enumerate(shapes)
    ]
    product = ops.multiply(ops.reshape(a, shape=wide[0]), ops.reshape(b, shape=wide[1]))
    return ops.reshape(product, shape=tuple(m * n for m, n in zip(*shapes, strict=True)))


# Three dimensions


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The vector product along an axis of length 3: the first such axis, unless one is given.

    >>> import pullback
    >>> pullback.cross(pullback.tensor([1.0, 0.0, 0.0]), pullback.tensor([0.0, 1.0, 0.0]), dim=0)
    tensor([0., 0., 1.])
    """
    if dim is None:
        for axis, size in enumerate(input.shape):
            if size == 3:
                return _cross("linalg.cross", input, other, axis)
        raise RuntimeError(f"no dimension of size 3 in input: its shape is {tuple(input.shape)}")
    return _cross("linalg.cross", input, other, dim)


def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The vector product along an axis of length 3.

    >>> import pullback
    >>> pullback.linalg.cross(pullback.tensor([1.0, 0.0, 0.0]), pullback.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    return cross(input, other, dim)


def _cross(name: str, a: Tensor, b: Tensor, dim: int) -> Tensor:
    require_tensors("linalg_cross", input=a, other=b)
    if a.ndim != b.ndim:
        raise RuntimeError(
            f"{name}: inputs must have the same number of dimensions. They have shapes {tuple(a.shape)} and "
            f"{tuple(b.shape)}"
        )
    axis = normalize_axis(dim, a.ndim, name)
    if a.ndim == 0 or a.shape[axis] != 3 or b.shape[axis] != 3:
        sizes = [x.shape[axis] if x.ndim else 0 for x in (a, b)]
        raise RuntimeError(f"{name}: inputs dimension {dim} must have length 3. Got {sizes[0]} and {sizes[1]}")
    if a.shape != b.shape:
        broadcast_shapes(tuple(a.shape), tuple(b.shape))
    a, b = together(a, b)
    return ops.cross(a, b, axis=axis - a.ndim)


# Tensors composed of others


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers of each element from 0 to N - 1, along a new last axis; N is the length of the last axis unless given.

    >>> import pullback
    >>> pullback.linalg.vander(pullback.tensor([2, 3]), N=3)
    tensor([[1, 2, 4],
            [1, 3, 9]])
    """
    require_tensor("linalg_vander", "x", x)
    if x._dtype.kind in "bui":
        x = cast(x, np.dtype(np.int64))
    if x.ndim == 0:
        x = ops.reshape(x, shape=(1,))
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError(f"N must be greater than 1. Got {count}")
    ones = ops.add(ops.zeros_like(x), np.ones((), x._dtype))
    column = ops.reshape(x, shape=(*x.shape, 1))
    powers = ops.broadcast_to(column, shape=(*x.shape, count - 1))
    first = ops.reshape(ones, shape=(*x.shape, 1))
    return ops.concat(first, scans.cumprod(powers, -1), axis=x.ndim, sizes=(1, count - 1))


def block_diag(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """A matrix with matrices on its diagonal, and zeros elsewhere; vectors count as rows.

    >>> import pullback
    >>> pullback.block_diag(pullback.tensor([[1, 2], [3, 4]]), pullback.tensor(5))
    tensor([[1, 2, 0],
            [3, 4, 0],
            [0, 0, 5]])
    """
    blocks = []
    for place, tensor in enumerate(tensors):
        if not isinstance(tensor, Carrier):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(tensor).__name__}")
        if tensor.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {place} has {tensor.ndim} dimensions"
            )
        blocks.append(ops.reshape(tensor, shape=(1, tensor.numel())) if tensor.ndim < 2 else tensor)
    if not blocks:
        raise RuntimeError("torch.block_diag: pass at least one tensor")
    blocks = list(together(*blocks))
    widths = [block.shape[1] for block in blocks]
    rows = []
    for place, block in enumerate(blocks):
        before, behind = sum(widths[:place]), sum(widths[place + 1 :])
        sides = [constant(block, np.zeros((block.shape[0], size), block._dtype)) for size in (before, behind)]
        rows.append(ops.concat(sides[0], block, sides[1], axis=1, sizes=(before, widths[place], behind)))
    return ops.concat(*rows, axis=0, sizes=tuple(row.shape[0] for row in rows))


def cartesian_prod(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """All combinations of one element of each vector, one per row; a single vector is returned unchanged.

    >>> import pullback
    >>> pullback.cartesian_prod(pullback.tensor([1, 2]), pullback.tensor([8, 9]))
    tensor([[1, 8],
            [1, 9],
            [2, 8],
            [2, 9]])
    """
    vectors: list[Any] = (
        list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)
    )
    for place, vector in enumerate(vectors, 1):
        require_tensor("cartesian_prod", "tensors", vector, place)
        if vector.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(vector.shape)}")
    if len(vectors) == 1:
        return vectors[0]
    if len({vector._dtype for vector in vectors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    sizes = tuple(vector.shape[0] for vector in vectors)
    places = np.indices(sizes).reshape(len(sizes), math.prod(sizes))
    columns = [ops.index(vector, place, spec=(_xp.array,)) for vector, place in zip(vectors, places, strict=True)]
    return ops.stack(*columns, axis=1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r elements of a vector, in order, one per row; with replacement, an element may be repeated.

    Parameters
    ----------
    r
        How many elements each has.
    with_replacement
        An element may occur more than once.

    >>> import pullback
    >>> pullback.combinations(pullback.tensor([1, 2, 3]))
    tensor([[1, 2],
            [1, 3],
            [2, 3]])
    """
    require_tensor("combinations", "input", input)
    if input.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return constant(input, np.zeros(0, input._dtype))
    chosen = (itertools.combinations_with_replacement if with_replacement else itertools.combinations)(
        range(input.shape[0]), r
    )
    places = np.array(list(chosen), np.int64).reshape(-1, r)
    return ops.index(input, places, spec=(_xp.array,))


FEW: Threshold = 1 << 10  # pairs, up to which their coordinates are added along a last axis


@of_pairs
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Tensor:
    """The distance in the p-norm between each row of x1 and each row of x2, in stacks of matrices.

    The slope at distance 0 is 0. `compute_mode` changes nothing here.

    Parameters
    ----------
    x1
        Rows of points.
    x2
        Rows of points, with as many columns.
    p
        The exponent of the norm.
    compute_mode
        Accepted, and changes nothing.

    >>> import pullback
    >>> pullback.cdist(pullback.tensor([[0.0, 0.0]]), pullback.tensor([[3.0, 4.0], [6.0, 8.0]]))
    tensor([[ 5., 10.]])
    """
    require_tensors("cdist", x1=x1, x2=x2)
    for place, x in enumerate((x1, x2), 1):
        if x._dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, X{place} got: {x._type_name}")
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{place} got: {x.ndim}D")
    left, right = tuple(x1.shape), tuple(x2.shape)
    if left[-1] != right[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {left[-1]} X2: {right[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if compute_mode not in (
        None, "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"
    ):  # fmt: skip
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    outer = (*broadcast_shapes(left[:-2], right[:-2]),) if len(left) + len(right) > 4 else ()
    pair = [x1, x2]
    if math.prod(outer) * left[-2] * right[-2] > FEW:  # there sums over the first of these axes are quicker
        turned = [ops.permute_dims(x, axes=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)) for x in pair]
        pair, axis = [ops.clone(x, order="C") for x in turned], len(outer)
        places = len(left), len(right) - 1
    else:
        places, axis = (len(left) - 1, len(right) - 2), len(outer) + 2
    apart = binary(ops.subtract, *[ops.expand_dims(x, axis=place) for x, place in zip(pair, places, strict=True)])
    axes = (axis,)
    if left[-1] == 0:
        return ops.sum(apart, axis=axes, keepdims=False)
    return ops.vector_norm(apart, order=float(p), axis=axes, keepdims=False)
