"""The native core's part in tensors: the operators that it takes over, and what it is told for that."""

from __future__ import annotations

import functools
from typing import Any

from .. import ops
from .._core import modes, sites, xp
from .._core.primitives import Primitive
from .._core.shapes import sum_to
from .._tape import memory, node, views, walk
from .._tape.native import core, operation
from .._tape.symbols import traced
from ..vocabulary import shapes
from .tensor import HOT, Tensor

OPERATORS = {name: primitive for name, primitive in HOT.items() if name[0] == "_"} | {"__matmul__": ops.matmul}
VIEWS = {
    "__getitem__": "getitem", "__setitem__": "setitem", "__iter__": "iter", "reshape": "reshape", "view": "reshape",
    "unsqueeze": "unsqueeze", "transpose": "transpose", "t": "t",
}  # fmt: skip
"""Methods that make views, or write through them, and their native forms."""


def install() -> None:
    """Tell the core what it has to know, and put its operators in the place of Python's, which it holds."""
    core.setup(_table())
    for name, primitive in OPERATORS.items():
        setattr(Tensor, name, operation(primitive, getattr(Tensor, name), ndim=2 if primitive is ops.matmul else None))
    for name, form in VIEWS.items():
        function = getattr(Tensor, name)
        setattr(Tensor, name, functools.update_wrapper(core.viewing(form, function), function))
    for name in (*OPERATORS, *VIEWS):
        getattr(Tensor, name).member = name
    reversed_axes = functools.update_wrapper(core.viewing("T", shapes.reversed_axes), shapes.reversed_axes)
    Tensor.T = property(reversed_axes, doc=Tensor.T.__doc__)


def _table() -> dict[str, Any]:
    return {
        "Tensor": Tensor, "Cell": memory.Cell, "Storage": memory.Storage, "Node": node.Node, "Output": node.Output,
        "mode": modes.mode, "RECORD": modes.RECORD, "NO_GRAD": modes.NO_GRAD, "asking": modes.asking,
        "quiet": modes.quiet.copy(), "outside": sites.outside, "internal": sites.internal,
        "user_frame": sites.user_frame, "count": node.count, "turn_acquire": memory._turn.acquire,
        "turn_release": memory._turn.release, "cell_of": memory.cell_of, "storage_of": memory.storage_of, "mark": views._mark, "share": memory.share,
        "keep_array": memory.keep_array, "aliased": memory._entries,
        "getitem": ops.getitem, "index_kinds": {}, "unbind": ops.unbind, "split": ops.split, "kind_of": _kind_of, "rules": {}, "traced": traced, "raw": xp, "sum_to": sum_to, "by_age": walk.by_age,
        "Parts": node.Parts, "filled": walk.filled, "protect": memory.protect, "getattr": getattr, "reshape": ops.reshape,
        "permute_dims": ops.permute_dims, "expand_dims": ops.expand_dims, **_kinds(),
    }  # fmt: skip


def _kind_of(primitive: Primitive, params: dict[str, Any]) -> type[node.Node]:
    """The class of nodes for a primitive with some metadata."""
    return node.node_class(primitive, primitive.node_name(params))


def _kinds() -> dict[str, type[node.Node]]:
    """The classes of nodes of views whose names follow from the function."""
    order = {"axes": (1, 0)}
    return {
        "ViewNode": _kind_of(ops.reshape, {"shape": ()}),
        "UnsqueezeNode": _kind_of(ops.expand_dims, {"axis": 0}),
        "PermuteNode": _kind_of(ops.permute_dims, order),
        "TransposeNode": _kind_of(ops.permute_dims, {**order, "label": "TransposeBackward0"}),
        "TNode": _kind_of(ops.permute_dims, {**order, "label": "TBackward0"}),
    }
