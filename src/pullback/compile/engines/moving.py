"""Lowerings of what moves elements: reshapes, slices, indices, scatters.

One rule serves for all operations that only move elements, whatever they are called: their forward functions, run on the
numbers of the elements, say where each element of the result comes from; the engine takes them from there. It is for
what has no function of its own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...extend import xp as _xp
from ..program import ARRAY
from .lowerings import LOWERINGS, Lowering, LoweringError, lowering, part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._core.typing import Array, Entry, Index, NumpyType, Path
    from ..program import Equation
    from .libraries import Engine
    from .lowerings import Foreign, Made


def moved(w: Engine, e: Equation, *arrays: Foreign, **_: Any) -> Made:
    """The result of an operation that moves elements, or leaves zeros where there are none."""
    if len(set(kinds := _kinds(e))) > 1:
        if any(kind.kind not in "fc" for kind in kinds):
            raise w.refusal("of a view that has another dtype")
        return _moved_parts(w, e, arrays, (kinds[0], kinds[-1]))
    stops = np.cumsum([1, *[value.size for value in e.inputs]])
    numbers = [
        np.arange(start, start + value.size).reshape(value.shape) for start, value in zip(stops, e.inputs, strict=False)
    ]
    made = e.primitive.forward(*numbers, **e.params)
    elements = [w.astype(w.xp.reshape(x, (-1,)), e.outputs[0].dtype) for x in arrays]
    together = w.xp.concat(elements, axis=0) if len(elements) > 1 else elements[0]
    return tuple(taken(w, together, each, 0) for each in made) if type(made) is tuple else taken(w, together, made, 0)


def _kinds(e: Equation) -> list[NumpyType]:
    """The dtypes of an array and of its views along a path."""
    view = np.broadcast_to(np.empty((), e.inputs[0].dtype), e.inputs[0].shape)
    path = e.params.get("path", ())
    return [view.dtype, *[(view := primitive.forward(view, **params)).dtype for primitive, params in path]]


def _moved_parts(w: Engine, e: Equation, arrays: Sequence[Foreign], kinds: tuple[NumpyType, NumpyType]) -> Foreign:
    """The result where a view is of the parts of complex numbers: these have the numbers, two for each element."""
    numbers, elements, start = [], [], 1.0
    for value, x, kind in zip(e.inputs, arrays, kinds, strict=False):
        held = w.astype(w.xp.real(x) if value.dtype.kind == "c" != kind.kind else x, kind)
        parts = w.xp.stack([w.xp.real(held), w.xp.imag(held)], axis=-1) if kind.kind == "c" else held
        stop = start + math.prod(parts.shape)
        numbers.append(np.arange(start, stop).view("D" if kind.kind == "c" else "d").reshape(value.shape))
        elements.append(w.xp.reshape(parts, (-1,)))
        start = stop
    made = np.ascontiguousarray(e.primitive.forward(*numbers, **e.params))
    width = made.itemsize // numbers[0].real.itemsize
    found = taken(
        w, w.xp.concat(elements, axis=0), made.view("d").reshape((*e.output.shape, width)).astype(np.int64), 0
    )
    return w.complex(found[..., 0], found[..., 1]) if width == 2 else found[..., 0]


def taken(w: Engine, x: Foreign, numbers: Array, axis: int) -> Foreign:
    """Elements along an axis by their numbers from 1 on, and zeros for the number 0; in the place of the axis, theirs."""
    flat = np.ascontiguousarray(numbers).reshape(-1)
    if flat.size and not flat.min():
        edge = w.xp.zeros((*x.shape[:axis], 1, *x.shape[axis + 1 :]), dtype=x.dtype)
        x, flat = w.xp.concat([edge, x], axis=axis), flat + 1
    found = w.xp.take(x, w.constant(flat - 1), axis=axis)
    return w.xp.reshape(found, (*x.shape[:axis], *numbers.shape, *x.shape[axis + 1 :]))


def summed(w: Engine, x: Foreign, numbers: Array, size: int) -> Foreign:
    """Rows of elements added at their numbers from 1 on, in rows of a size: the transpose of `taken` along the last axis."""
    flat = numbers.reshape(-1)
    order = np.argsort(flat, kind="stable")
    order = order[flat[order] > 0]
    rank = np.arange(len(order)) - np.searchsorted(flat[order], flat[order])
    sources = np.zeros((int(rank.max(initial=0)) + 1, size), np.int64)
    sources[rank, flat[order] - 1] = order + 1
    layers = taken(w, x, sources, len(x.shape) - 1)
    return w.xp.sum(layers, axis=-2, dtype=x.dtype) if len(sources) > 1 else layers[..., 0, :]


@lowering("fold_windows", "add_strided")
def _overlapping(w: Engine, e: Equation, x: Foreign, **params: Any) -> Foreign:
    """The sums of what moves to the same place: by the transpose, which is the operation's own rule."""
    shape = params.pop("shape")
    (value,) = e.inputs
    numbers = np.arange(1, e.output.size + 1).reshape(shape)
    (places,) = e.primitive.pull(_xp, numbers, (value,), (), e.params)
    return w.xp.reshape(summed(w, w.xp.reshape(x, (1, -1)), np.ascontiguousarray(places), e.output.size), shape)


@lowering("getitem")
def _getitem(w: Engine, e: Equation, x: Foreign, *, index: Index) -> Made:
    entries = index if isinstance(index, tuple) else (index,)
    if any(isinstance(entry, slice) and (entry.step or 1) < 0 for entry in entries):
        return moved(w, e, x)
    return x[w.basic(entries, e.inputs[0].shape)]


@lowering("scatter_slice")
def _scatter_slice(w: Engine, e: Equation, g: Foreign, *, shape: tuple[int, ...], index: Index) -> Made:
    return _written(w, e, w.xp.zeros(tuple(shape), dtype=g.dtype), g, index)


@lowering("overwrite")
def _overwrite(w: Engine, e: Equation, x: Foreign, value: Foreign, *, path: Path) -> Made:
    if not path:
        return w.xp.broadcast_to(w.astype(value, e.output.dtype), e.output.shape)
    if [primitive.name for primitive, _ in path] == ["getitem"]:
        return _written(w, e, x, w.astype(value, e.output.dtype), path[0][1]["index"])
    return moved(w, e, x, value)


def _written(w: Engine, e: Equation, x: Foreign, value: Foreign, index: Index) -> Made:
    entries = index if isinstance(index, tuple) else (index,)
    plain = all(entry is not None and (not isinstance(entry, slice) or (entry.step or 1) > 0) for entry in entries)
    return (
        w.put(x, w.basic(entries, x.shape), value)
        if plain
        else moved(w, e, *([value] if len(e.inputs) < 2 else [x, value]))
    )


# Places that are data


def along(w: Engine, indices: Foreign, shape: tuple[int, ...], axis: int) -> Foreign:
    """The places in a flattened array that indices select along an axis, each beside its own place along the others."""
    step = math.prod(shape[axis + 1 :])
    ranges = tuple(slice(1 if i == axis else size) for i, size in enumerate(indices.shape))
    rest = np.arange(math.prod(shape)).reshape(shape)[ranges]
    return w.inside(indices, shape[axis]) * step + w.constant(rest)


def places(w: Engine, arrays: Sequence[Foreign], spec: tuple[Entry, ...], shape: tuple[int, ...]) -> Foreign:
    """The places in a flattened array that an advanced index picks.

    The index with zeros in place of its arrays says where the rest of it leads; the arrays are added along their axes.
    """
    if any(w.kind(each).kind == "b" for each in arrays):
        raise LoweringError("an index by a mask, whose result has a shape that depends on values,")
    together = np.broadcast_shapes(*[tuple(each.shape) for each in arrays])
    zeros = np.zeros(together, np.int64)
    index: tuple[Any, ...] = tuple(zeros if each is ARRAY else each for each in spec)
    rest = np.arange(math.prod(shape)).reshape(shape)[index]
    used = sum(each is not None and each is not Ellipsis for each in spec)
    full: list[Entry] = []
    for each in spec:
        full += [slice(None)] * (len(shape) - used) if each is Ellipsis else [each]
    chosen = [i for i, each in enumerate(full) if each is ARRAY or isinstance(each, int)]
    before = 0 if chosen[-1] - chosen[0] >= len(chosen) else chosen[0]
    form = (1,) * before + together + (1,) * (rest.ndim - before - len(together))
    axes = [i for i, each in enumerate([each for each in full if each is not None]) if each is ARRAY]
    found = w.constant(rest)
    for axis, array in zip(axes, arrays, strict=True):
        step = w.inside(w.xp.broadcast_to(array, together), shape[axis]) * math.prod(shape[axis + 1 :])
        found = found + w.xp.reshape(step, form)
    return found


def picked(w: Engine, x: Foreign, where: Foreign) -> Foreign:
    """The elements of an array at places in it, flattened."""
    found = w.xp.take(w.xp.reshape(x, (-1,)), w.xp.reshape(where, (-1,)), axis=0)
    return w.xp.reshape(found, tuple(where.shape))


def combined(w: Engine, how: str, x: Foreign, where: Foreign, values: Foreign) -> Foreign:
    """An array with values combined with what stands at places in it: by "add", "multiply", "maximum", "minimum", "put"."""
    shape = tuple(where.shape)
    values = w.xp.reshape(w.xp.broadcast_to(w.astype(values, w.kind(x)), shape), (-1,))
    flat = w.combine(how, w.xp.reshape(x, (-1,)), w.xp.reshape(where, (-1,)), values)
    return w.xp.reshape(flat, tuple(x.shape))


@lowering("index")
def _index(w: Engine, e: Equation, x: Foreign, *arrays: Foreign, spec: tuple[Entry, ...]) -> Foreign:
    if spec == (ARRAY,) and e.inputs[1].dtype.kind != "b":
        return rows(w, x, arrays[0])
    return picked(w, x, places(w, arrays, spec, e.inputs[0].shape))


def rows(w: Engine, x: Foreign, indices: Foreign) -> Foreign:
    """The slices along the first axis that indices name."""
    found = w.xp.take(x, w.xp.reshape(w.inside(indices, x.shape[0]), (-1,)), axis=0)
    return w.xp.reshape(found, (*indices.shape, *x.shape[1:]))


@lowering("index_put")
def _index_put(
    w: Engine, e: Equation, x: Foreign, value: Foreign, *arrays: Foreign, spec: tuple[Entry, ...]
) -> Foreign:
    (first, *_) = arrays
    if spec == (ARRAY,) and e.inputs[2].dtype.kind == "b" and e.inputs[1].size == 1:
        mask = w.xp.reshape(first, (*first.shape, *[1] * (len(x.shape) - len(first.shape))))
        return w.xp.where(mask, w.astype(w.xp.reshape(value, ()), e.output.dtype), x)
    return combined(w, "put", x, places(w, arrays, spec, e.inputs[0].shape), value)


def _scatter(how: str) -> Lowering:
    def scattered(w: Engine, e: Equation, x: Foreign, src: Foreign, indices: Foreign, *, axis: int) -> Foreign:
        return combined(w, how, x, along(w, indices, e.inputs[0].shape, axis), src)

    return scattered


def _zeros(w: Engine, e: Equation, like: Foreign) -> Foreign:
    return w.xp.zeros(e.output.shape, dtype=like.dtype)


@lowering("scatter_rows")
def _scatter_rows(w: Engine, e: Equation, g: Foreign, indices: Foreign, *, rows: int) -> Foreign:
    flat, width = w.inside(w.xp.reshape(indices, (-1, 1)), rows), e.output.shape[1]
    where = flat * width + w.constant(np.arange(width)[None])
    return combined(w, "add", _zeros(w, e, g), where, w.xp.reshape(g, tuple(where.shape)))


@lowering("index_counts")
def _index_counts(w: Engine, e: Equation, indices: Foreign) -> Foreign:
    flat = w.xp.reshape(indices, (-1,))
    return w.xp.sum(w.astype(indices[..., None] == flat, e.output.dtype), axis=-1, keepdims=True)


def _column(indices: Foreign) -> Foreign:
    return indices[:, None]


def _last(w: Engine, indices: Foreign, shape: tuple[int, ...]) -> Foreign:
    return along(w, w.xp.broadcast_to(indices, (*shape[:-1], indices.shape[-1])), shape, len(shape) - 1)


LOWERINGS |= {
    **dict.fromkeys(
        ("windows", "as_strided", "scatter_diagonal", "tile", "replay", "tril", "triu", "roll", "diagonal"), moved
    ),
    **dict.fromkeys(
        ("reshape", "expand_dims", "squeeze"), lambda w, e, x, **_: w.xp.reshape(x, e.output.shape)
    ),
    "broadcast_to": lambda w, e, x, *, shape: w.xp.broadcast_to(x, tuple(shape)),
    "permute_dims": lambda w, e, x, *, axes: w.xp.permute_dims(x, tuple(axes)),
    "flip": lambda w, e, x, *, axis: w.xp.flip(x, axis=axis),
    "concat": lambda w, e, *arrays, axis, sizes: w.xp.concat(
        [w.astype(x, e.output.dtype) for x in arrays], axis=axis
    ),
    "stack": lambda w, e, *arrays, axis: w.xp.stack([w.astype(x, e.output.dtype) for x in arrays], axis=axis),
    "unbind": lambda w, e, x, *, axis: tuple(
        x[(*[slice(None)] * axis, i, ...)] for i in range(len(e.outputs))
    ),
    "split": lambda w, e, x, *, axis, sizes: tuple(
        part(x, axis, stop - size, stop)
        for size, stop in zip(sizes, np.cumsum(sizes).tolist(), strict=True)
    ),
    "astype": lambda w, e, x, *, dtype: w.truth(x) if np.dtype(dtype).kind == "b" else w.astype(
        w.xp.real(x) if e.inputs[0].dtype.kind == "c" and np.dtype(dtype).kind not in "cb" else x, np.dtype(dtype)
    ),
    "drawn": lambda w, e, values, *parameters: values,
    "take_along_axis": lambda w, e, x, indices, *, axis: picked(w, x, along(w, indices, e.inputs[0].shape, axis)),
    "put_along_axis": lambda w, e, g, indices, *, axis, shape: combined(
        w, "add", _zeros(w, e, g), along(w, indices, tuple(shape), axis), g
    ),
    "select_along": lambda w, e, x, indices, *, axis, keepdims: w.xp.reshape(
        picked(w, x, along(w, w.xp.reshape(indices, tuple(
            1 if i == axis else size for i, size in enumerate(e.inputs[0].shape)
        )), e.inputs[0].shape, axis)),
        e.output.shape,
    ),
    "take_rows": lambda w, e, x, indices: picked(w, x, along(w, _column(indices), e.inputs[0].shape, 1))[:, 0],
    "put_rows": lambda w, e, g, indices, *, shape: combined(
        w, "put", _zeros(w, e, g), along(w, _column(indices), tuple(shape), 1), _column(w.xp.broadcast_to(g, tuple(indices.shape)))
    ),
    "weighed_nll": lambda w, e, x, indices, weights: -w.astype(weights, e.output.dtype) * picked(
        w, x, along(w, _column(indices), e.inputs[0].shape, 1)
    )[:, 0],
    "index_add": lambda w, e, g, *arrays, spec, shape: combined(
        w, "add", _zeros(w, e, g), places(w, arrays, spec, tuple(shape)), g
    ),
    "scatter": _scatter("put"),
    "scatter_add": _scatter("add"),
    "scatter_prod": _scatter("multiply"),
    "scatter_amax": _scatter("maximum"),
    "scatter_amin": _scatter("minimum"),
    "embedding": lambda w, e, x, indices, **_: rows(w, x, indices),
    "gather": lambda w, e, x, indices: picked(w, x, _last(w, indices, e.inputs[0].shape)),
    "accumulate": lambda w, e, g, indices, **_: combined(
        w, "add", _zeros(w, e, g), _last(w, indices, e.output.shape), g
    ),
    "put": lambda w, e, x, indices, *, size: combined(
        w, "put", _zeros(w, e, x), _last(w, indices, e.output.shape), x
    ),
}  # fmt: skip
