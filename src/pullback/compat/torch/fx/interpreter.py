"""Interpreter and Transformer: a graph that is run, and one that is recorded again, node by node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .graph import Graph, at
from .graph_module import GraphModule
from .node import Node, map_arg
from .proxy import Proxy
from .tracing import Tracer

if TYPE_CHECKING:
    from ...._core.typing import Function
    from ....nn.modules.module import Module


class Interpreter:
    """Runs the graph of a module node by node; subclasses override what a kind of node does.

    >>> import pullback
    >>> from pullback.compat.torch.fx.interpreter import Interpreter
    >>> from pullback.compat.torch.fx.tracing import symbolic_trace
    >>> class Names(Interpreter):
    ...     def call_function(self, target, args, kwargs):
    ...         print(target.__name__)
    ...         return super().call_function(target, args, kwargs)
    >>> Names(symbolic_trace(lambda x: 2 * x + 1)).run(pullback.tensor(3.0))
    mul
    add
    tensor(7.)
    """

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.graph: Graph = module.graph if graph is None else graph
        self.submodules = dict(module.named_modules())
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())
        self.extra_traceback = True
        self.garbage_collect_values = garbage_collect_values

    def run(self, *args: object, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """The result of the graph for these inputs; errors name the node."""
        self.env, self.args_iter = dict(initial_env or {}), iter(args)
        last = self.graph.last_uses() if self.garbage_collect_values else {}
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    text = f"While executing {node.format_node()}"
                    error.args = (f"{error.args[0]}\n\n{text}" if error.args else text, *error.args[1:])
                raise
            if node.op == "output":
                return self.env[node]
            for each in last.get(node, ()):
                self.env.pop(each, None)
        return None

    def run_node(self, n: Node) -> Any:
        """The value of a node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """The next input, or its default."""
        if target.startswith("*"):
            return list(self.args_iter)
        missing = object()
        value = next(self.args_iter, missing)
        if value is not missing:
            return value
        if args:
            return args[0]
        raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!")

    def get_attr(self, target: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """An attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Function, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """The result of a function."""
        return target(*args, **kwargs)

    def call_method(self, target: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """The result of a method of the first argument."""
        owner, *rest = args
        return getattr(owner, target)(*rest, **kwargs)

    def call_module(self, target: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """The result of a submodule."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """The result of the graph."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """What the module has at a path; RuntimeError if that is nothing."""
        return at(self.module, target)

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a node with the values of its inputs."""
        args: tuple[Any, ...] = self.map_nodes_to_values(n.args, n)
        kwargs: dict[str, Any] = self.map_nodes_to_values(n.kwargs, n)
        return args, kwargs

    def map_nodes_to_values(self, args: object, n: Node) -> Any:
        """Arguments with the values of nodes."""

        def value(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[node]

        return map_arg(args, value)


class _Recorder(Tracer):
    """The tracer of a Transformer, for which every module is a single step."""

    def __init__(self, graph: Graph, root: Module) -> None:
        super().__init__()
        self.graph, self.root = graph, root
        self.tensor_attrs: dict[Any, str] = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """True."""
        return True


class Transformer(Interpreter):
    """An interpreter that runs a graph on proxies, and so gives a new one: what methods return takes a node's place.

    >>> import operator
    >>> from pullback.compat.torch.fx.interpreter import Transformer
    >>> from pullback.compat.torch.fx.tracing import symbolic_trace
    >>> class Doubled(Transformer):
    ...     def call_function(self, target, args, kwargs):
    ...         return super().call_function(target, args, kwargs) * 2
    >>> print(Doubled(symbolic_trace(lambda x: x + 1)).transform().code.strip())
    def forward(self, x):
        add = x + 1;  x = None
        mul = add * 2;  add = None
        return mul
    """

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.tracer = _Recorder(self.new_graph, module)

    def placeholder(self, target: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Proxy:
        """An input of the new graph."""
        return Proxy(self.new_graph.placeholder(target, default_value=args[0] if args else ...), self.tracer)

    def get_attr(self, target: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Proxy:
        """An attribute of the module in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """A call of a submodule in the new graph."""
        module = self.fetch_attr(target)
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target: Function, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """A call of a function in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The module of the new graph."""
        self.new_graph.output(self.tracer.create_arg(self.run()))
        return GraphModule(self.module, self.new_graph, type(self.module).__name__)
