"""The native core's part in tensors: the operators that it takes over, and what it is told for that."""

from __future__ import annotations

import copyreg
import math
from typing import Any

import numpy as np

from .. import ops
from .._core import machine, modes, sites, xp
from .._core.primitives import Function, Primitive
from .._core.shapes import sum_to
from .._numerics.blocks import BLOCK
from .._tape import memory, node, views, walk
from .._tape.native import core, has_loops, operation, recording, viewing
from .._tape.symbols import traced
from ..ops.exponentials import LARGE
from ..ops.layers import affine
from ..vocabulary import shapes
from .tensor import HOT, IN_PLACE, Tensor

VIEWS = {
    "__getitem__": "getitem", "__setitem__": "setitem", "__iter__": "iter", "reshape": "reshape", "view": "reshape",
    "unsqueeze": "unsqueeze", "transpose": "transpose", "t": "t", "unbind": "unbind", "split": "split", "chunk": "chunk",
    "take": "take", "index_select": "index_select",
}  # fmt: skip
"""Methods that make views, write through them, or select, and their native forms."""
FUNCTIONS = {
    name: VIEWS[name] for name in ("unbind", "split", "chunk", "transpose", "unsqueeze", "t", "take", "index_select")
}
"""Functions of the package that are such a method."""
OPERATIONS: dict[str, tuple[Primitive, str]] = {
    **{name: (primitive, "recorded") for name, primitive in HOT.items()}, "sum": (ops.sum, "sum"), "mean": (ops.mean, "mean"),
    **{name: (primitive, "in place") for name, primitive in IN_PLACE.items()},
}  # fmt: skip
"""Methods, and functions of the package, of tensors of one floating dtype: their primitives and native forms."""
PRODUCTS = {"__matmul__": "matmul", "matmul": "matmul", "mm": "mm", "dot": "dot"}
"""Products of matrices and vectors, and their native forms."""
PLACES = {"gather": (ops.take_along_axis, {"axis": 0})}
"""Methods that take elements at places, their primitives, and metadata from which the name of their nodes follows."""
JOINS = {"cat": (ops.concat, "cat"), "stack": (ops.stack, "stack")}
LAYERS = {"linear": (affine, "linear"), "relu": (ops.relu, "recorded")}


def install() -> None:
    """Tell the core what it has to know, and put its methods in the place of Python's, which it holds."""
    table = _table()
    core.setup(table)
    table["adds"] += [True] * _adds_in_order()
    copyreg.pickle(core.Operation, _reduced)
    for name in (*OPERATIONS, *PRODUCTS, *PLACES, *VIEWS):
        setattr(Tensor, name, formed(name, getattr(Tensor, name), VIEWS))
        getattr(Tensor, name).member = name
    reversed_axes = viewing("T", shapes.reversed_axes)
    Tensor.T = property(reversed_axes, doc=Tensor.T.__doc__)


def formed(name: str, function: Function, views: dict[str, str] = FUNCTIONS) -> Any:
    """The native form of a function of the package, or of a method; the function itself where there is none."""
    if name in views:
        return viewing(views[name], function)
    if name in PRODUCTS:
        return operation(ops.matmul, function, form=PRODUCTS[name])
    if name in PLACES:
        primitive, known = PLACES[name]
        return recording(primitive, function, known=known, form=name)
    if name in JOINS:
        primitive, form = JOINS[name]
        return recording(primitive, function, form=form)
    if name in OPERATIONS:
        primitive, form = OPERATIONS[name]
        return operation(primitive, function, form=form)
    return function


def layer(name: str, function: Function) -> Any:
    """The native form of a function of `nn.functional`, or the function itself."""
    if name == "cross_entropy":
        return recording(ops.cross_entropy, function, form="cross entropy")
    primitive, form = LAYERS.get(name, (None, ""))
    return function if primitive is None else operation(primitive, function, numbers=False, form=form)


def _reduced(form: Any) -> Any:
    """How a native form is pickled: by its name, as a function is; a method as `getattr(Tensor, name)`, also where there is no core."""
    member = vars(form).get("member")
    return form.__qualname__ if member is None else (getattr, (Tensor, member))


def _table() -> dict[str, Any]:
    return {
        "Tensor": Tensor, "Cell": memory.Cell, "Storage": memory.Storage, "Node": node.Node, "Output": node.Output,
        "mode": modes.mode, "RECORD": modes.RECORD, "NO_GRAD": modes.NO_GRAD, "asking": modes.asking,
        "quiet": modes.quiet.copy(), "outside": sites.outside, "internal": sites.internal,
        "user_frame": sites.user_frame, "count": node.count, "turn_acquire": memory._turn.acquire,
        "turn_release": memory._turn.release, "cell_of": memory.cell_of, "storage_of": memory.storage_of, "mark": views._mark, "share": memory.share,
        "keep_array": memory.keep_array, "aliased": memory._entries,
        "index": recording(ops.index), "index_put": recording(ops.index_put), "marker": xp.array, "whole": xp.WHOLE, "spec_name": ("spec",), "pick_names": ("spec", "label"), "flat_shape": (-1,), "dots": (...,),
        "axis_name": ("axis",), "label_name": ("label",), "join_names": ("axis", "sizes"), "reduction_names": ("axis", "keepdims", "given"),
        "make_ones": xp.ones, "zero": 0, "add": np.add, "add_reduce": np.add.reduce, "exp": np.exp, "log": np.log, "adds": [], "loops": {each.forward for each in HOT.values() if has_loops(each.forward)},
        "loss_size": min(LARGE, BLOCK // 8), "loss_names": ("reduction", "known"), "small_size": xp.SMALL, "product_size": min(machine.FACTOR, machine.BUSY),
        "product_work": machine.SPREAD, "block_size": xp.BLOCK,
        "getitem": ops.getitem, "overwrite": ops.overwrite, "replay": ops.replay, "kinds": {}, "unbind": ops.unbind, "split": ops.split, "kind_of": _kind_of, "rules": {}, "traced": traced, "raw": xp, "sum_to": sum_to, "by_age": walk.by_age,
        "Parts": node.Parts, "filled": walk.filled, "protect": memory.protect, "reshape": ops.reshape,
        "permute_dims": ops.permute_dims, "expand_dims": ops.expand_dims, **_kinds(),
    }  # fmt: skip


def _adds_in_order() -> bool:
    """Whether the loop of `np.add`, called on all of an array at once, gives the bits of `np.add.reduce`."""
    for dtype in (np.float32, np.float64):
        for shape in ((1,), (7,), (8,), (65,), (129,), (1000,), (8192,), (3, 5), (40, 40), (3, 4, 50)):
            wave = np.sin(np.arange(math.prod(shape), dtype=dtype)).reshape(shape)
            for array in (wave, wave * 1e30, wave * -0.0):
                if core.added(array).tobytes() != np.add.reduce(array, None).tobytes():
                    return False
    return True


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
