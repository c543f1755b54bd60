"""Shapes of the values in a graph, noted at its nodes."""

from typing import Any, NamedTuple

from .... import Tensor, channels_last, channels_last_3d, contiguous_format
from .interpreter import Interpreter
from .node import Node, map_aggregate


class TensorMetadata(NamedTuple):
    """What is known of a tensor besides its numbers."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """The metadata of a tensor."""
    formats = [contiguous_format, channels_last, channels_last_3d]
    fitting = formats[: 1 + (result.ndim == 4) + 2 * (result.ndim == 5)]
    form = next((each for each in fitting if include_contiguity and result.is_contiguous(memory_format=each)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), form, False, {})


class ShapeProp(Interpreter):
    """An interpreter that notes at each node, in `meta`, the type of its value, and the metadata of tensors in it.

    >>> import pullback
    >>> from pullback.compat.torch.fx.shapes import ShapeProp
    >>> from pullback.compat.torch.fx.tracing import symbolic_trace
    >>> traced = symbolic_trace(lambda x: x.sum(dim=0) * 2)
    >>> y = ShapeProp(traced).propagate(pullback.ones(3, 2))
    >>> [tuple(node.meta["tensor_meta"].shape) for node in traced.graph.nodes]
    [(3, 2), (2,), (2,), (2,)]
    """

    def run_node(self, n: Node) -> Any:
        """The value of a node, with what is known of it noted."""
        result = super().run_node(n)
        found = False

        def noted(value: object) -> object:
            nonlocal found
            if not isinstance(value, Tensor):
                return value
            found = True
            return _extract_tensor_metadata(value)

        known = map_aggregate(result, noted)
        if found:
            n.meta["tensor_meta"] = known
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: object) -> Any:
        """The result of the graph for these inputs, with what is known of all values noted."""
        return self.run(*args)
