"""torch.utils.tensorboard._pytorch_graph: a model as the graph that TensorBoard draws, of what torch.fx records."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ... import no_grad
from ...extend import restoring
from . import fx
from .fx.node import Node
from .fx.shapes import ShapeProp

IO = "IO Node"
"""What TensorBoard calls inputs and outputs."""


@restoring
def graph(model: Any, args: object, verbose: bool = False, use_strict_trace: bool = True) -> tuple[Any, Any]:
    """The graph of a module for given inputs, and the device, as messages of tensorboardX.

    A module below is one node, and so is a function; each has the shape of its output. What torch.fx cannot record, as a
    branch on a value, raises its error.
    """
    given = args if isinstance(args, (tuple, list)) else (args,)
    recorded = fx.symbolic_trace(model)
    modes = {each: each.training for each in model.modules()}
    try:
        model.eval()
        with no_grad():
            ShapeProp(recorded).propagate(*given)
    finally:
        for each, mode in modes.items():
            each.training = mode
    if verbose:
        sys.stdout.write(f"{recorded.graph}\n")
    names = {node: _name(node) for node in recorded.graph.nodes}
    nodes = [_message(node, names, recorded) for node in recorded.graph.nodes]
    made = importlib.import_module("tensorboardX.proto.graph_pb2")
    versions = importlib.import_module("tensorboardX.proto.versions_pb2")
    return made.GraphDef(node=nodes, versions=versions.VersionDef(producer=22)), Statistics()


class Statistics:
    """The message that says of a run only that it was on the CPU: tensorboardX has no class for it."""

    def serialized(self) -> bytes:
        """A RunMetadata with the statistics of one device, which hold its name: each is field 1 of the one around it."""
        text = b"/device:CPU:0"
        for _ in range(3):
            text = bytes([0x0A, len(text)]) + text
        return text

    SerializeToString = serialized  # protobuf's name


def _name(node: Node) -> str:
    """The path of a node: of a module that of the model, of others one of its own."""
    kinds = {"placeholder": "input", "output": "output"}
    if node.op == "call_module":
        return f"{str(node.target).replace('.', '/')}/{node.name}"
    return f"{kinds.get(node.op, 'functions')}/{node.name}"


def _message(node: Node, names: dict[Node, str], recorded: Any) -> Any:
    attributes = importlib.import_module("tensorboardX.proto.attr_value_pb2")
    shapes = importlib.import_module("tensorboardX.proto.tensor_shape_pb2")
    nodes = importlib.import_module("tensorboardX.proto.node_def_pb2")
    kind: Any = IO if node.op in {"placeholder", "output"} else getattr(node.target, "__name__", str(node.target))
    text = ""
    if node.op == "call_module":
        module = recorded.get_submodule(str(node.target))
        kind, text = type(module).__name__, module.extra_repr()
    attr = {"attr": attributes.AttrValue(s=text.encode())}
    shape = getattr(node.meta.get("tensor_meta"), "shape", None)
    if isinstance(shape, tuple):
        proto = shapes.TensorShapeProto(dim=[shapes.TensorShapeProto.Dim(size=int(size)) for size in shape])
        attr["_output_shapes"] = attributes.AttrValue(list=attributes.AttrValue.ListValue(shape=[proto]))
    inputs = [names[each] for each in node.all_input_nodes]
    return nodes.NodeDef(name=names[node], op=kind, input=inputs, attr=attr)
