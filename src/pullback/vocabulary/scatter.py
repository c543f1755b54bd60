"""Reading and writing at the indices in a tensor, along an axis or in the flattened tensor.

torch's rules for such indices are stricter than those of `x[index]`: they are int32 or int64, most must not be
negative, and the values written have the dtype of the target.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import dtypes, errors, xp as _xp
from .._core.primitives import Carrier, Primitive
from .._core.shapes import broadcast_shapes, normalize_axis
from .._core.values import outside, require_operand
from .._tape.views import beside, view
from . import shapes
from .promotion import cast, category, held

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from .._core.typing import Array, Number, Tensor, TensorLike

    Operand = TypeVar("Operand", bound=Tensor | Array)

REDUCTIONS: dict[str, Callable[..., Tensor]] = {
    "sum": ops.scatter_add,
    "prod": ops.scatter_prod,
    "amax": ops.scatter_amax,
    "amin": ops.scatter_amin,
}


# Checks of arguments


def _indices(
    name: str, index: Tensor | Array, error: type[Exception] = RuntimeError, *, wide: bool = False
) -> Tensor | Array:
    """An index that is a tensor or array of int64, or of int32 unless `wide` requires int64."""
    if not isinstance(index, (Carrier, np.ndarray)):
        raise errors.no_tensor(name.rstrip("_"), "index", 2 if name in ("put_", "take") else 3, index)
    dtype = category(index)[0]
    if dtype == np.int64 or (dtype == np.int32 and not wide):
        return index
    if name in ("put_", "take"):
        raise error(f"{name}(): Expected a long tensor for index, but got {_type_name(index)}: use index.long()")
    wanted = "int64" if wide else "int32 or int64" if name.startswith("index") else "int32/int64"
    raise error(f"{name}(): Expected dtype {wanted} for index, but it has {_type_name(index)}: use index.long()")


def _type_name(value: TensorLike) -> str:
    return dtypes.type_name(dtypes.from_numpy(category(value)[0]))


def _check_bounds(
    index: Tensor | Array,
    input: Tensor | Array,
    axis: int,
    error: type[Exception],
    begun: str = "",
    *,
    from_end: bool = False,
) -> None:
    size = input.shape[axis] if input.ndim else 1
    found = outside(index, size, from_end=from_end)
    if found is not None:
        raise error(f"{begun}{errors.out_of_bounds(found, axis, size)}")


def seen(primitive: Primitive, operand: Any, **metadata: Any) -> Any:
    """An operand passed through a view, which is tracked, so that a value saved by a graph survives a later write."""
    return view(primitive, operand, **metadata) if isinstance(operand, Carrier) else primitive(operand, **metadata)


def _lifted(value: Operand) -> Operand:
    """A 0-d operand reshaped to one axis."""
    return value if value.ndim else seen(ops.reshape, value, shape=(1,))


def _like(input: Tensor, result: Tensor) -> Tensor:
    """A result computed with one axis, reshaped to the shape of its 0-d input."""
    return result if input.ndim else beside(ops.reshape, result, shape=())


def scalar(input: Tensor, value: Number | np.generic) -> Array:
    """A number in the dtype of its target."""
    return held(value, input._dtype)


# Along an axis, with an index for each element


def _check_axes(index: Tensor | Array, other: Tensor | Array, what: str) -> None:
    if max(index.ndim, 1) != max(other.ndim, 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {what} tensor: their shapes are "
            f"{tuple(index.shape)} and {tuple(other.shape)}"
        )


def gather(input: Tensor, dim: int, index: Tensor | Array, *, sparse_grad: bool = False) -> Tensor:
    """The elements along a dim selected by `index`; the result has the shape of `index`.

    Parameters
    ----------
    sparse_grad
        Accepted; gradients are dense.

    >>> import pullback
    >>> x = pullback.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x.gather(1, pullback.tensor([[0], [1]]))
    tensor([[1.],
            [4.]])
    """
    axis = normalize_axis(dim, input.ndim)
    if isinstance(index, Carrier) and 0 in index.shape:
        return shapes.reshape(seen(ops.getitem, shapes.ravel(input), index=(slice(0, 0), ...)), tuple(index.shape))
    index = _indices("gather", index)
    shape = tuple(index.shape)
    _check_axes(index, input, "input")
    for place, (size, most) in enumerate(zip(shape, input.shape, strict=False)):
        if size > most and place != axis:
            raise RuntimeError(
                f"Size does not match at dimension {place} expected index {list(shape)} to be no larger than self "
                f"{list(input.shape)} apart from dimension {axis}"
            )
    _check_bounds(index, input, axis, RuntimeError)
    if shape and input.ndim:
        return ops.take_along_axis(input, index, axis=axis)
    return beside(ops.reshape, ops.take_along_axis(_lifted(input), _lifted(index), axis=0), shape=tuple(shape))


def take_along_dim(
    input: Tensor, indices: Tensor | Array, dim: int | None = None, *, axis: int | None = None
) -> Tensor:
    """The elements along a dim selected by `indices`, with other axes broadcast; of the flattened tensor without a dim.

    Parameters
    ----------
    indices
        Where elements stand along the axis.

    >>> import pullback
    >>> x = pullback.tensor([[3.0, 1.0, 2.0]])
    >>> x.take_along_dim(x.argmin(dim=1, keepdim=True), dim=1)
    tensor([[1.]])
    """
    dim = axis if dim is None else dim
    require_operand("take_along_dim", "indices", indices, 2)
    if category(indices)[0] != np.int64:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {_type_name(indices)}")
    if dim is None:
        input, indices, dim = shapes.ravel(input), seen(ops.reshape, indices, shape=(-1,)), 0
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    place = normalize_axis(dim, input.ndim)
    size = input.shape[place] if input.ndim else 1
    if outside(indices, size) is not None and outside(indices, size, from_end=True) is None:
        indices = ops.remainder(indices, np.asarray(size))
    if not input.ndim:
        return gather(input, 0, indices)
    have, want = list(input.shape), list(indices.shape)
    have[place] = want[place] = 1
    together = list(broadcast_shapes(tuple(have), tuple(want)))
    grid, source = tuple(together), tuple(together)
    grid = (*grid[:place], indices.shape[place], *grid[place + 1 :])
    source = (*source[:place], input.shape[place], *source[place + 1 :])
    if tuple(input.shape) != source:
        input = shapes.expand(input, source)
    if tuple(indices.shape) != grid:
        indices = seen(ops.broadcast_to, indices, shape=grid)
    return gather(input, place, indices)


def _same_dtype(input: Tensor, source: Tensor | Array, refusal: str) -> None:
    if category(source)[0] != input._dtype:
        raise RuntimeError(f"{refusal}: got {_type_name(input)} and {_type_name(source)}; convert one of them")


def _source(input: Tensor, axis: int, index: Tensor | Array, src: Tensor | Array | Number) -> Tensor | Array:
    """The values that a scatter writes: the part of the source that has the shape of the index, or a number."""
    if not isinstance(src, (Carrier, np.ndarray)):
        _check_axes(index, input, "self")
        return scalar(input, src)
    _same_dtype(input, src, "scatter(): Expected self.dtype to be equal to src.dtype")
    _check_axes(index, input, "self")
    _check_axes(index, src, "src")
    src = _lifted(src)
    if tuple(src.shape) == tuple(index.shape):
        return src
    if any(size > most for size, most in zip(index.shape, src.shape, strict=True)):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(input.shape)} apart from dimension "
            f"{axis} and to be no larger size than src {list(src.shape)}"
        )
    return seen(ops.getitem, src, index=(*(slice(0, size) for size in index.shape), ...))


def _scattered(name: str, combine: Any, input: Tensor, dim: int, index: Tensor | Array, src: Any) -> Tensor:
    """`combine(input, src, index, axis)` of operands with checked shapes."""
    axis = normalize_axis(dim, input.ndim)
    require_operand(name, "index", index, 3)
    index = _indices("scatter", index)
    if 0 in index.shape:
        return ops.clone(input)
    index = _lifted(index)
    src = _source(input, axis, index, src)
    target = _lifted(input)
    if any(i != axis and index.shape[i] > target.shape[i] for i in range(target.ndim)):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(target.shape)} apart from dimension "
            f"{axis}"
        )
    _check_bounds(index, target, axis, RuntimeError)
    return _like(input, combine(target, src, index, axis=axis))


def scatter(
    input: Tensor,
    dim: int,
    index: Tensor | Array,
    src: Tensor | Number | None = None,
    *,
    value: Number | None = None,
    reduce: str | None = None,
) -> Tensor:
    """A copy in which the elements along a dim selected by `index` are those of `src`, or one number.

    With `reduce='add'` or `'multiply'` they are added to, or multiplied with, the existing elements. If several
    elements are written to one position, one of them remains.

    Parameters
    ----------
    value
        The number that is written, in the place of `src`.
    reduce
        None to write, 'add' or 'multiply'.

    >>> import pullback
    >>> pullback.zeros(2, 3).scatter(1, pullback.tensor([[0], [2]]), 1.0)
    tensor([[1., 0., 0.],
            [0., 0., 1.]])
    """
    combines: dict[str | None, Any] = {None: ops.scatter, "add": ops.scatter_add, "multiply": ops.scatter_prod}
    if reduce not in combines:
        raise RuntimeError(f"reduce argument must be either add or multiply: got {reduce!r}")
    source = value if src is None else src
    if source is None:
        raise TypeError("scatter() missing 1 required argument: 'src', a tensor, or 'value', a number")
    combine = combines[reduce]
    if reduce is None and not isinstance(source, (Carrier, np.ndarray)):
        combine = functools.partial(combine, label="ScatterBackward1")
    return _scattered("scatter_reduce", combine, input, dim, index, source)


def scatter_add(input: Tensor, dim: int, index: Tensor | Array, src: Tensor) -> Tensor:
    """A copy in which the elements of `src` are added to those along a dim selected by `index`.

    >>> import pullback
    >>> pullback.zeros(3).scatter_add(0, pullback.tensor([0, 2, 2]), pullback.tensor([1.0, 2.0, 3.0]))
    tensor([1., 0., 5.])
    """
    require_operand("scatter_add", "src", src, 4)
    return _scattered("scatter_add", ops.scatter_add, input, dim, index, src)


def scatter_reduce(
    input: Tensor, dim: int, index: Tensor | Array, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy with the sum, prod, mean, amax or amin of the elements of `src` that `index` assigns to each position.

    The existing elements are included unless `include_self` is False. Equal extremes share the gradient.

    Parameters
    ----------
    reduce
        'sum', 'prod', 'mean', 'amax' or 'amin'.
    include_self
        Count the elements of the input, too.

    >>> import pullback
    >>> places, values = pullback.tensor([0, 1, 1]), pullback.tensor([1.0, 2.0, 4.0])
    >>> pullback.zeros(2).scatter_reduce(0, places, values, "mean", include_self=False)
    tensor([1., 3.])
    """
    if reduce not in REDUCTIONS and reduce != "mean":
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    require_operand("scatter_reduce", "src", src, 4)

    def combine(target: Any, source: Any, places: Any, *, axis: int) -> Tensor:
        return _reduced(target, source, places, axis, reduce, include_self, "ScatterReduceBackward0")

    return _scattered("scatter_reduce", combine, input, dim, index, src)


def _reduced(input: Tensor, src: Any, index: Tensor, axis: int, reduce: str, include_self: bool, label: str) -> Tensor:
    if not include_self:
        input = ops.scatter(input, _neutral(reduce, input._dtype), index, axis=axis)
    if reduce != "mean":
        return REDUCTIONS[reduce](input, src, index, axis=axis, label=label)
    if input._dtype.char in "eE":  # halves cannot represent large counts
        wide, added = (cast(x, np.dtype(np.float32)) for x in (input, src))
        return cast(_reduced(wide, added, index, axis, reduce, include_self, label), input._dtype)
    total = ops.scatter_add(input, src, index, axis=axis)
    one = np.ones((), input._dtype)
    count: Any = np.ones(tuple(input.shape), input._dtype)
    if not include_self:
        count = ops.scatter(count, 0, index, axis=axis)
    count = ops.maximum(ops.scatter_add(count, one, index, axis=axis), one)
    return ops.divide(total, count) if input._dtype.kind in "fc" else ops.floor_divide(total, count)


def _neutral(reduce: str, dtype: np.dtype[Any]) -> Array:
    """The identity element of a reduction."""
    if reduce not in ("amax", "amin"):
        return np.asarray(int(reduce == "prod"), dtype)
    if dtype.kind == "f":
        return np.asarray(-np.inf if reduce == "amax" else np.inf, dtype)
    if dtype.kind == "b":
        return np.asarray(reduce == "amin")
    limits = np.iinfo(dtype)
    return np.asarray(limits.min if reduce == "amax" else limits.max, dtype)


# Whole slices along an axis


def _along(axis: int) -> tuple[Any, ...]:
    """The metadata of an index that selects slices along an axis."""
    return (*[slice(None)] * axis, _xp.array)


def index_select(input: Tensor, dim: int, index: Tensor | Array) -> Tensor:
    """The slices along a dim selected by `index`, a vector.

    >>> import pullback
    >>> pullback.tensor([[1.0, 2.0, 3.0]]).index_select(1, pullback.tensor([2, 0]))
    tensor([[3., 1.]])
    """
    axis = normalize_axis(dim, input.ndim)
    index = _indices("index_select", index)
    if index.ndim > 1:
        raise IndexError(f"index_select(): Index is supposed to be a vector: it has shape {tuple(index.shape)}")
    if not input.ndim and index.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {int(index.size)} value(s)")
    if (found := outside(index, input.shape[axis] if input.ndim else 1)) is not None:
        raise IndexError(
            f"index out of range in self: dimension {axis} of shape {tuple(input.shape)} has no place {found}"
        )
    return _like(input, ops.index(_lifted(input), _lifted(index), spec=_along(axis), label="IndexSelectBackward0"))


def _vector(
    name: str, index: Tensor | Array, *, wide: bool = False, error: type[Exception] = RuntimeError
) -> Tensor | Array:
    index = _indices(name, index, error, wide=wide)
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {_type_name(index)} and "
            f"size: {list(index.shape)}"
        )
    return _lifted(index)


def index_add(input: Tensor, dim: int, index: Tensor | Array, source: Tensor, *, alpha: float = 1) -> Tensor:
    """A copy in which alpha times the slices of `source` are added to the slices along a dim selected by `index`.

    >>> import pullback
    >>> pullback.zeros(3).index_add(0, pullback.tensor([0, 0]), pullback.tensor([1.0, 2.0]))
    tensor([3., 0., 0.])
    """
    axis = normalize_axis(dim, input.ndim)
    index = _vector("index_add_", index)
    _check_slices("index_add_", input, axis, index, source)
    _check_bounds(index, input, axis, RuntimeError)
    if alpha != 1:
        source = ops.multiply(source, scalar(input, alpha))
    target = _lifted(input)
    added = ops.index_add(_lifted(source), index, spec=_along(axis), shape=tuple(target.shape))
    return _like(input, ops.add(target, added))


def _check_slices(name: str, input: Tensor, axis: int, index: Tensor | Array, source: Tensor | Array) -> None:
    """Raise if slices to write differ from those along an axis in dtype, number or shape."""
    if not isinstance(source, (Carrier, np.ndarray)):
        raise errors.no_tensor(name.rstrip("_"), "source", 4, source)
    if category(source)[0] != input._dtype:
        raise RuntimeError(
            f"{name}(): self ({_type_name(input)}) and source ({_type_name(source)}) must have the same scalar type"
        )
    have, want = list(_lifted(source).shape), list(_lifted(input).shape)
    if len(have) != len(want) or have[:axis] + have[axis + 1 :] != want[:axis] + want[axis + 1 :]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(input.shape)} source.shape = {list(source.shape)}"
        )
    if have[axis] != index.shape[0]:
        raise RuntimeError(
            f"{name}(): Number of indices ({index.shape[0]}) should be equal to source.size(dim): ({have[axis]}), for "
            f"dim: {axis}"
        )


def index_copy(input: Tensor, dim: int, index: Tensor | Array, source: Tensor) -> Tensor:
    """A copy in which the slices along a dim selected by `index` are those of `source`.

    >>> import pullback
    >>> pullback.zeros(3).index_copy(0, pullback.tensor([2, 0]), pullback.tensor([1.0, 2.0]))
    tensor([2., 0., 1.])
    """
    axis = normalize_axis(dim, input.ndim)
    index = _vector("index_copy_", index, wide=True)
    require_operand("index_copy", "source", source, 4)
    if category(source)[0] != input._dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{_type_name(input)} and (source) {_type_name(source)}"
        )
    have, want = list(_lifted(source).shape), list(_lifted(input).shape)
    if len(have) != len(want) or have[:axis] + have[axis + 1 :] != want[:axis] + want[axis + 1 :]:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{want[:axis] + want[axis + 1 :]} and source slice shape: {have[:axis] + have[axis + 1 :]} at dimension {axis}"
        )
    if have[axis] != index.shape[0]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.shape[0]}) should be equal to source.size(dim) ({have[axis]})"
        )
    _check_bounds(index, input, axis, IndexError, "index_copy_(): ")
    return _like(
        input, ops.index_put(_lifted(input), _lifted(source), index, spec=_along(axis), label="IndexCopyBackward0")
    )


def index_fill(input: Tensor, dim: int, index: Tensor | Array, value: TensorLike) -> Tensor:
    """A copy in which the slices along a dim selected by `index` are filled with a number or a 0-d tensor.

    Parameters
    ----------
    value
        The number, or a tensor without axes, that is written.

    >>> import pullback
    >>> pullback.zeros(3).index_fill(0, pullback.tensor([0, -1]), 1.0)
    tensor([1., 0., 1.])
    """
    axis = normalize_axis(dim, input.ndim)
    index = _indices("index_fill_", index, IndexError, wide=True)
    if index.ndim > 1:
        raise RuntimeError(f"Index has to be a vector/scalar: it has shape {tuple(index.shape)}")
    if category(value)[0].kind == "c" and input._dtype.kind != "c":
        raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    value = filling("index_fill_", input, value)
    _check_bounds(index, input, axis, IndexError, from_end=True)
    lifted = _lifted(input)
    places = ops.index_put(np.zeros(lifted.shape[axis], np.bool_), True, _lifted(index), spec=(_xp.array,))
    places = seen(ops.reshape, places, shape=(-1, *(1 for _ in lifted.shape[axis + 1 :])))
    label = f"IndexFillBackward{int(isinstance(value, Carrier))}"
    return _like(input, ops.masked_fill(lifted, places, value, label=label))


def filling(name: str, input: Tensor, value: TensorLike) -> Tensor | Array:
    """The value with which a tensor is filled, in its dtype: a number as an array, a 0-d tensor as it is."""
    if not isinstance(value, (Carrier, np.ndarray)):
        return scalar(input, value)
    if value.ndim:
        raise RuntimeError(
            f"{name} only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    source = category(value)[0]
    if source.kind == "c" and input._dtype.kind != "c":
        raise RuntimeError(
            f"value cannot be converted to type {input._dtype.name}_t without overflow: it is a complex tensor"
        )
    return value if source == input._dtype else ops.astype(value, dtype=input._dtype, source=source)


def index_reduce(
    input: Tensor, dim: int, index: Tensor | Array, source: Tensor | Array, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy with the prod, mean, amax or amin of the slices of `source` that `index` assigns to each position.

    The existing slices are included unless `include_self` is False.

    Parameters
    ----------
    reduce
        'prod', 'mean', 'amax' or 'amin'.
    include_self
        Count the elements of the input, too.

    >>> import pullback
    >>> pullback.ones(2).index_reduce(0, pullback.tensor([1, 1]), pullback.tensor([2.0, 3.0]), "prod")
    tensor([1., 6.])
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    axis = normalize_axis(dim, input.ndim)
    index = _vector("index_reduce_", index)
    _check_slices("index_reduce_", input, axis, index, source)
    size = input.shape[axis] if input.ndim else 1
    if (found := outside(index, size)) is not None:
        raise IndexError(f"index out of range in self: dimension {axis} of size {size} has no place {found}")
    source = _lifted(source)
    line = seen(ops.reshape, index, shape=(-1, *[1] * (source.ndim - 1 - axis)))
    places = seen(ops.broadcast_to, line, shape=tuple(source.shape))
    return _like(input, _reduced(_lifted(input), source, places, axis, reduce, include_self, "IndexReduceBackward0"))


# In the flattened tensor


def _flat_places(name: str, input: Tensor, index: Tensor | Array) -> Tensor | Array:
    index = _indices(name, index, wide=True)
    count = input.numel()
    if (found := outside(index, count, from_end=True)) is not None:
        raise IndexError(f"out of range: tried to access index {found} on a tensor of {count} elements.")
    return index


def take(input: Tensor, index: Tensor | Array) -> Tensor:
    """The elements of the flattened tensor selected by `index`, in the shape of `index`.

    >>> import pullback
    >>> pullback.tensor([[1.0, 2.0], [3.0, 4.0]]).take(pullback.tensor([0, -1]))
    tensor([1., 4.])
    """
    index = _flat_places("take", input, index)
    return ops.index(seen(ops.reshape, input, shape=(-1,)), index, spec=(_xp.array,), label="TakeBackward0")


def put(input: Tensor, index: Tensor | Array, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy in which the elements of `source` replace, or are added to, those of the flattened tensor at `index`.

    >>> import pullback
    >>> pullback.zeros(2, 2).put(pullback.tensor([0, -1]), pullback.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    index = _flat_places("put_", input, index)
    require_operand("put", "source", source, 3)
    if category(source)[0] != input._dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{_type_name(input)} and source.dtype = {_type_name(source)}"
        )
    if source.size != index.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{int(source.size)}, index.numel() = {int(index.size)}"
        )
    flat, places = seen(ops.reshape, input, shape=(-1,)), seen(ops.reshape, index, shape=(-1,))
    values = seen(ops.reshape, source, shape=(-1,))
    combine = ops.scatter_add if accumulate else ops.scatter
    return beside(ops.reshape, combine(flat, values, places, axis=0), shape=tuple(input.shape))
