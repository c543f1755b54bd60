"""torch.fx: programs as graphs, which can be read, changed, run node by node, and turned into Python code again.

`symbolic_trace` calls a function or module with proxies, which record what is done with them; `GraphModule` computes
what a graph says.
"""

from ...._core.lazy import index

_INDEX = {
    "graph": "CodeGen Graph",
    "graph_module": "GraphModule",
    "interpreter": "Interpreter Transformer",
    "node": "Node has_side_effect immutable_collections map_arg",
    "proxy": "Proxy",
    "subgraph_rewriter": "replace_pattern",
    "tracing": "PH Tracer symbolic_trace wrap",
}
__getattr__, __dir__, __all__ = index(globals(), _INDEX)
