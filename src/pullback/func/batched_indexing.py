"""Batching rules for indexing: integer and boolean indices, table lookups and chains of views.

An index that differs between the examples gets one more index array in front: the example's number. NumPy puts the axes
that come from index arrays at the position of those arrays if they are adjacent, and in front of all other axes if they
are not. With a batch axis added, the axes therefore have to be moved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import ops
from .._core import xp as _xp
from .._core.bfloat import dtype_of as dtype_of_array
from .._core.package import package
from .._core.primitives import Carrier, Primitive
from .arguments import Argument, count, folded, one_by_one, raised, spread, unfolded, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike

    from .._core.dtypes import NumpyType
    from .._core.typing import Array, Params, Result, Value
    from .._tape.views import Step
    from ..vocabulary.indexing import Index


DYNAMIC = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{name}: it "
    "depends on the values, and each example would have a result of its own. Compute it outside of vmap and pass it in; "
    "for a mask write {package}.where(mask, a, b), which has one shape for all"
)
MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with a "
    "boolean mask: each example would have as many elements as its own mask has. Write {package}.where(mask, a, b), which "
    "has one shape for all"
)


# 1. Indices of arrays


class Layout(NamedTuple):
    """The position, the number, and the result's rank, of the axes that come from an index's arrays.

    `steady` is True if a slice in front of the index does not move them: the arrays are shared, and adjacent.
    """

    start: int
    width: int
    rank: int
    steady: bool


def _layout(rank: int, spec: Index, arrays: list[Argument]) -> Layout:
    """The layout of the result of indexing an example with `rank` axes."""
    marked = [i for i, entry in enumerate(spec) if entry is _xp.array]
    consumed = sum(entry is not None and entry is not Ellipsis for entry in spec)
    lengths = [rank - consumed if entry is Ellipsis else 1 for entry in spec]
    together = marked[-1] - marked[0] == len(marked) - 1
    others = sum(length for i, length in enumerate(lengths) if i not in marked)
    others += 0 if Ellipsis in spec else rank - consumed
    width = max(arg.rank for arg in arrays)
    steady = together and not any(arg.batched for arg in arrays)
    return Layout(sum(lengths[: marked[0]]) if together else 0, width, others + width, steady)


def _integers(spec: Index, arrays: list[Argument]) -> tuple[Index, list[Argument]]:
    """The index with shared masks replaced by integer arrays; a mask that differs between the examples is refused."""
    entries: list[Any] = []
    found: list[Argument] = []
    rest = iter(arrays)
    for entry in spec:
        if entry is not _xp.array:
            entries.append(entry)
            continue
        arg = next(rest)
        if _kind(arg.value) != "b":
            entries.append(entry)
            found.append(arg)
            continue
        if arg.batched:
            raise RuntimeError(MASK.format(package=package))
        mask = arg.value._concrete() if isinstance(arg.value, Carrier) else arg.value
        places = np.nonzero(mask)
        entries += [_xp.array] * len(places)
        found += [Argument(place, False) for place in places]
    return tuple(entries), found


def _kind(value: Value) -> str:
    dtype: NumpyType = value._dtype if isinstance(value, Carrier) else dtype_of_array(value)
    return dtype.kind


def _forward(layout: Layout) -> tuple[int, ...]:
    """The permutation that moves the arrays' axes from behind the batch axis to their position in an example."""
    if layout.steady:
        return tuple(range(layout.rank + 1))
    start, width, rank, _ = layout
    others = iter(range(width + 1, rank + 1))
    return (0, *(next(others) for _ in range(start)), *range(1, width + 1), *others)


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _within(size: int, spec: Index, arrays: list[Argument], layout: Layout) -> tuple[Index, list[Value]]:
    """The index into all examples at once: with a leading slice, or with the examples' numbers."""
    values = [raised(arg, layout.width) for arg in arrays]
    if layout.steady:
        return (slice(None), *spec), values
    return (_xp.array, *spec), [np.arange(size).reshape(size, *(1,) * layout.width), *values]


def _split(args: list[Argument], leading: int, params: Params) -> tuple[Index, list[Argument]] | None:
    """The index of an operation without masks; None if only NumPy can interpret it."""
    spec = params["spec"]
    if any(type(entry) is int for entry in spec):
        return None
    if any(_kind(arg.value) == "b" and not arg.shape and not arg.batched for arg in args[leading:]):
        return None
    return _integers(spec, args[leading:])


def index(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """x[index]."""
    found = _split(args, 1, params)
    if found is None:
        return one_by_one(size, primitive, args, params)
    x, (spec, arrays) = args[0], found
    layout = _layout(x.rank, spec, arrays)
    order = _forward(layout)
    if not x.batched:  # the batch axis is one more axis of the index arrays
        y = primitive(x.value, *[raised(arg, layout.width) for arg in arrays], **{**params, "spec": spec})
        front = layout.start
        return ops.permute_dims(y, axes=(front, *range(front), *range(front + 1, layout.rank + 1))) if front else y
    wider, values = _within(size, spec, arrays, layout)
    y = primitive(x.value, *values, **{**params, "spec": wider})
    return y if order == tuple(range(len(order))) else ops.permute_dims(y, axes=order)


def index_add(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """Zeros with g added at an index."""
    found = _split(args, 1, params)
    if found is None:
        return one_by_one(size, primitive, args, params)
    spec, arrays = found
    layout = _layout(len(params["shape"]), spec, arrays)
    wider, values = _within(size, spec, arrays, layout)
    g = _placed(size, args[0], layout)
    return primitive(g, *values, **{**params, "spec": wider, "shape": (size, *params["shape"])})


def index_put(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """A copy of x with a value assigned at an index."""
    found = _split(args, 2, params)
    if found is None:
        return one_by_one(size, primitive, args, params)
    spec, arrays = found
    layout = _layout(args[0].rank, spec, arrays)
    wider, values = _within(size, spec, arrays, layout)
    value = _placed(size, args[1], layout) if args[1].shape else raised(args[1], layout.rank)
    return primitive(whole(size, args[0]), value, *values, **{**params, "spec": wider})


def _placed(size: int, arg: Argument, layout: Layout) -> Value:
    """The value assigned at an index, with the arrays' axes moved behind the batch axis."""
    order = _inverse(_forward(layout))
    value = raised(Argument(whole(size, arg), True), layout.rank)
    return value if order == tuple(range(len(order))) else ops.permute_dims(value, axes=order)


# 2. Rows of tables


def embedding(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """Rows of a table; tables that differ between the examples are stacked below each other."""
    x, indices = args
    if params.get("by_frequency") or (x.batched and params.get("padding") is not None):
        return one_by_one(size, primitive, args, params)
    if not x.batched:
        return primitive(x.value, indices.value, **params)
    return primitive(folded(size, x), _numbered(size, indices, x.shape[0]), **params)


def scatter_rows(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """Zeros with rows added at indices."""
    g, indices = args
    rows = params["rows"]
    y = primitive(whole(size, g), _numbered(size, indices, rows), **{**params, "rows": size * rows})
    return unfolded(size, y, rows)


def _numbered(size: int, indices: Argument, rows: int) -> Value:
    """Row numbers in the tables stacked below each other."""
    first = np.arange(size).reshape(size, *(1,) * indices.rank) * rows
    return ops.add(whole(size, indices), first)


def put_rows(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """Zeros with one element set in each row."""
    rows, columns = params["shape"]
    values = [ops.reshape(spread(size, arg, (rows,)), shape=(size * rows,)) for arg in args]
    return unfolded(size, primitive(*values, shape=(size * rows, columns)), rows)


def searchsorted(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """The insertion positions of values in a sorted sequence: shared, the example's own, or one per row."""
    ordered, values = args
    if not ordered.batched and ordered.rank == 1:
        return primitive(ordered.value, values.value, **params)
    flat = whole(size, values)
    if ordered.rank == 1:
        flat = ops.reshape(flat, shape=(size, count(values.shape)))
    y = primitive(whole(size, ordered), flat, **params)
    return ops.reshape(y, shape=(size, *values.shape)) if ordered.rank == 1 else y


def isin(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """True where elements occur in a set of values, which must be the same for all examples."""
    elements, others = args
    if others.batched:
        return one_by_one(size, primitive, args, params)
    return primitive(elements.value, others.value, **params)


# 3. Metadata, and chains of views


def _further(axis: int | Sequence[int]) -> int | tuple[int, ...]:
    """An axis, or several, counted with the batch axis in front."""
    return axis + 1 if isinstance(axis, int) else tuple([one + 1 for one in axis])


MOVED: dict[str, Callable[[int, Any], Any]] = {
    "axis": lambda size, axis: _further(axis),
    "axes": lambda size, axes: _further(axes),
    "index": lambda size, index: (slice(None), *index),
    "shape": lambda size, shape: (size, *shape),
}


def moved(size: int, primitive: Primitive, params: Params) -> Params:
    """The parameters of an operation with the batch axis in front of all others."""
    found = {name: MOVED[name](size, value) if name in MOVED else value for name, value in params.items()}
    if primitive is ops.permute_dims:
        found["axes"] = (0, *found["axes"])
    return found


def viewed(size: int, primitive: Primitive, args: list[Argument], params: Params) -> Result:
    """An operation on the part of its first argument that a chain of views selects."""
    path = params["path"]
    if not has_rules(path):
        return one_by_one(size, primitive, args, params)
    chain, region = lifted(size, path, args[0].shape)
    values = [whole(size, args[0])]
    values += [raised(arg, region.ndim) for arg in args[1:]]
    return primitive(*values, **{**params, "path": chain})


def has_rules(path: Sequence[Step]) -> bool:
    """True if each step of a chain of views can be applied to all examples at once."""
    return all(step is ops.clone or (step.view and step not in (ops.as_strided, ops.replay)) for step, _ in path)


def lifted(size: int, path: Sequence[Step], shape: tuple[int, ...]) -> tuple[Sequence[Step], Array]:
    """The chain of views that does for a batch what `path` does for an example of `shape`; and the resulting shape."""
    chain: list[Step] = []
    region: Array = np.broadcast_to(np.zeros((), _probe(path)), shape)
    for step, metadata in path:
        if step is ops.broadcast_to and len(metadata["shape"]) > region.ndim:
            longer = (size, *(1,) * (len(metadata["shape"]) - region.ndim), *region.shape)
            chain.append((ops.reshape, {"shape": longer}))
        chain.append((step, moved(size, step, metadata)))
        region = step.forward(region, **metadata)
    return tuple(chain), region


def _probe(path: Sequence[Step]) -> DTypeLike:
    """The dtype that a chain of views starts from: it matters where views of complex tensors are real."""
    return next((metadata["source"] for _, metadata in path if metadata.get("source") is not None), np.bool_)
