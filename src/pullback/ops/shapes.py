"""Shapes, indices, joins and casts: linear maps that move elements without changing them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _xp
from .._core import elementwise, linear, multilinear
from .._shapes import sum_to


def _concat(xp: Any, g: Any, *, axis: int, sizes: tuple[int, ...]) -> Any:
    return xp.split(g, sizes=sizes, axis=axis)


def _stack(xp: Any, g: Any, *, axis: int) -> Any:
    return xp.unbind(g, axis=axis)


def _index(xp: Any, g: Any, x_shape: Any, arrays: Any, *, spec: Any) -> Any:
    return (xp.index_add(g, *arrays, spec=spec, shape=x_shape), *[None] * len(arrays))


def _index_add(xp: Any, g: Any, arrays: Any, *, spec: Any, shape: Any) -> Any:
    return (xp.index(g, *arrays, spec=spec), *[None] * len(arrays))


def _index_title(**params: Any) -> str:
    """torch applies one view per entry and shows the last."""
    index = params["index"]
    for entry in reversed(index):
        if isinstance(entry, int):
            return "SelectBackward0"
        if entry is None:
            return "UnsqueezeBackward0"
        if isinstance(entry, slice) and entry != slice(None):
            return "SliceBackward0"
    return "AliasBackward0"


def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def _index_put_pullback(xp: Any, g: Any, arrays: Any, *, spec: Any, needs: Any) -> Any:
    kept = xp.index_put(g, 0, *arrays, spec=spec) if needs[0] else None
    taken = xp.index(g, *arrays, spec=spec) if needs[1] else None
    return (kept, taken, *[None] * len(arrays))


def _filled(x: Any, value: Any) -> Any:
    out = np.empty_like(x)
    out[...] = value
    return out


def _select_along(x: Any, indices: Any, *, axis: int, keepdims: bool, label: str) -> Any:
    taken = _xp.take_along_axis(x, indices, axis=axis)
    return taken if keepdims else taken.squeeze(axis)


class _Edge(NamedTuple):
    """All that the rule of a view asks of its edge."""

    shape: tuple[int, ...]


def _replay(xp: Any, g: Any, x_shape: tuple[int, ...], *, path: Any) -> Any:
    """The transposes of a chain of views, in reverse."""
    probe = np.empty(1).reshape((1,) * len(x_shape))
    probe = np.broadcast_to(probe, x_shape)
    shapes = []
    for primitive, params in path:
        shapes.append(probe.shape)
        probe = primitive.forward(probe, **params)
    for (primitive, params), shape in zip(reversed(path), reversed(shapes), strict=True):
        (g,) = primitive.pull(xp, g, (_Edge(shape),), (), params)
        g = sum_to(xp, g, shape)
    return g


# fmt: off
#                            name             pullback
reshape          = linear("reshape",          lambda xp, g, x_shape: xp.reshape(g, shape=x_shape),    title="ViewBackward0")
broadcast_to     = linear("broadcast_to",     lambda xp, g: g,                                        title="ExpandBackward0")
permute_dims     = linear("permute_dims",     lambda xp, g, *, axes: xp.permute_dims(g, axes=_inverse(axes)),
                          title=lambda axes, label="PermuteBackward0": label,
                          forward=lambda x, *, axes, label="": x.transpose(axes))
matrix_transpose = linear("matrix_transpose", lambda xp, g: xp.matrix_transpose(g),                   title="TransposeBackward0")
expand_dims      = linear("expand_dims",      lambda xp, g, x_shape: xp.reshape(g, shape=x_shape),    title="UnsqueezeBackward0")
squeeze          = linear("squeeze",          lambda xp, g, x_shape: xp.reshape(g, shape=x_shape),
                          title=lambda axis, given: f"SqueezeBackward{int(given)}",
                          forward=lambda x, *, axis, given: x.squeeze(axis))
flip             = linear("flip",             lambda xp, g, *, axis: xp.flip(g, axis=axis),
                          forward=lambda x, *, axis: np.flip(x, axis).copy())
getitem          = linear("getitem",          lambda xp, g, x_shape, *, index: xp.scatter_slice(g, shape=x_shape, index=index),
                          title=_index_title)
scatter_slice    = linear("scatter_slice",    lambda xp, g, *, index: xp.getitem(g, index=index))
index            = linear("index",            _index,         inputs=("x", "*arrays"))
index_add        = linear("index_add",        _index_add,     inputs=("x", "*arrays"))
take_along_axis  = linear("take_along_axis",  lambda xp, g, x_shape, indices, *, axis:
                              xp.put_along_axis(g, indices, axis=axis, shape=x_shape),
                          inputs=("x", "indices"),            title=lambda axis, label="GatherBackward0": label,
                          forward=lambda x, indices, *, axis, label="": _xp.take_along_axis(x, indices, axis=axis))
select_along     = linear("select_along",     lambda xp, g, x_shape, indices, *, axis:
                              xp.put_along_axis(xp.reshape(g, shape=indices.shape), indices, axis=axis, shape=x_shape),
                          inputs=("x", "indices"),            title=lambda label, **_: label, forward=_select_along)
take_rows        = linear("take_rows",        lambda xp, g, x_shape, indices: xp.put_rows(g, indices, shape=x_shape),
                          inputs=("x", "indices"))
put_rows         = linear("put_rows",         lambda xp, g, indices, *, shape: xp.take_rows(g, indices),
                          inputs=("x", "indices"))
put_along_axis   = linear("put_along_axis",   lambda xp, g, indices, *, axis: xp.take_along_axis(g, indices, axis=axis),
                          inputs=("x", "indices"))
diagonal         = linear("diagonal",         lambda xp, g, x_shape, *, axes: xp.scatter_diagonal(g, axes=axes, shape=x_shape))
scatter_diagonal = linear("scatter_diagonal", lambda xp, g, *, axes: xp.diagonal(g, axes=axes))
concat           = multilinear("concat", joint=_concat,  inputs=("*arrays",), title="CatBackward0",
                               forward=lambda *arrays, axis, sizes: np.concatenate(arrays, axis))
stack            = multilinear("stack",  joint=_stack,   inputs=("*arrays",),
                               forward=lambda *arrays, axis: np.stack(arrays, axis))
unbind           = linear("unbind",           lambda xp, g, *, axis: xp.stack(*g, axis=axis))
split            = linear("split",            lambda xp, g, *, axis, sizes: xp.concat(*g, axis=axis, sizes=sizes),
                          title=lambda axis, sizes, label="SplitBackward0": label,
                          forward=lambda x, *, axis, sizes, label="": _xp.split(x, sizes=sizes, axis=axis))
astype           = linear("astype",           lambda xp, g, *, dtype, source: xp.astype(g, dtype=source, source=dtype),
                          title="ToCopyBackward0", complex="as written")
clone            = linear("clone",            lambda xp, g: g,                   forward=lambda x: x.copy(order="K"))
copy             = elementwise("copy",        lambda xp, g: xp.zeros_like(g),
                                              lambda xp, g: g,  forward=_filled, title="CopyBackwards")
fill             = elementwise("fill",        lambda xp, g: xp.zeros_like(g),
                                              lambda xp, g: g,  forward=_filled)
overwrite        = multilinear("overwrite",   lambda xp, g, *, path: xp.overwrite(g, 0, path=path),
                                              lambda xp, g, *, path: xp.replay(g, path=path),
                               inputs=("x", "value"),           title="CopySlices")
index_put        = multilinear("index_put",   joint=_index_put_pullback, inputs=("x", "value", "*arrays"))
replay           = linear("replay",           _replay,
                          title="AsStridedBackward0")
# fmt: on
