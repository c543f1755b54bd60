"""GraphModule: a module whose `forward` is generated from a graph."""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any, Self

from .... import Tensor
from ...._core.sites import generated
from ....nn.modules.module import Module
from ....nn.parameter import Parameter
from .capture import wrapped_until_gone
from .graph import Graph, at
from .node import Node, map_aggregate, map_arg

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...._core.typing import Function
    from .code import PythonCode


_numbers = itertools.count()


class GraphModule(Module):
    """A module whose `forward` is the code of a graph, with the submodules and parameters that the graph names.

    Assigning `graph`, or `recompile` after a change of it, generates the code again. A pickle has the graph's nodes and
    no code.

    >>> import operator
    >>> import pullback
    >>> from pullback.compat.torch.fx.tracing import symbolic_trace
    >>> traced = symbolic_trace(lambda x: x + 1)
    >>> for node in traced.graph.nodes:
    ...     if node.target is operator.add:
    ...         node.target = operator.mul
    ...         node.update_arg(1, 10)
    >>> code = traced.recompile()
    >>> traced(pullback.tensor([1.0, 2.0]))
    tensor([10., 20.])
    """

    _graph: Graph
    _code: str
    meta: dict[str, Any]
    """What passes note of the module; copies and pickles keep it."""

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """An instance of a class of its own, which has the generated `forward`."""
        base = next(each for each in cls.__mro__ if "_is_generated" not in vars(each))
        made: Self = object.__new__(
            type(base.__name__, (base,), {"_is_generated": True, "__module__": base.__module__})
        )
        return made

    def __init__(self, root: Module | Mapping[str, object], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        self.meta = {}
        type(self).__name__ = class_name
        if isinstance(root, Module):
            self.training = root.training
        for node in graph.nodes:
            if node.op in {"get_attr", "call_module"}:
                if isinstance(root, Module):
                    share(root, self, node.target)
                elif node.target in root:
                    put(self, node.target, root[node.target])
                else:
                    raise RuntimeError(f"Node {node} referenced target {node.target}, which is not provided in `root`!")
        self.graph = graph

    @property
    def graph(self) -> Graph:
        """The graph of which `forward` is the code."""
        return self._graph

    @graph.setter
    def graph(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(graph)}")
        self._graph = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source code of `forward`."""
        return self._code

    def recompile(self) -> PythonCode:
        """Generate `forward` from the graph."""
        code = self._graph.python_code("self")
        self._code = code.src
        title = f"{type(self).__name__}, graph {next(_numbers)}"
        type(self).forward = forward = generated(title, code.src, code.globals, "forward")
        wrapped_until_gone(forward)
        return code

    # Submodules

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a path, with empty modules on the way; False if something else stands in it."""
        try:
            put(self, target, m)
        except AttributeError:  # of something that is not a module
            return False
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module at a path; False if there is none."""
        path, _, name = target.rpartition(".")
        if target not in dict(self.named_modules(remove_duplicate=False)):
            return False
        delattr(self.get_submodule(path), name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove all modules that no node of the graph calls, or fetches, or something in."""
        used = {node.target for node in self.graph.nodes if node.op in {"call_module", "get_attr"}}
        for name in [name for name, _ in self.named_modules() if name]:
            if not any(f"{each}.".startswith(f"{name}.") or name.startswith(f"{each}.") for each in used):
                self.delete_submodule(name)

    # Copies and text

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        return _made(type(self), *copy.deepcopy((type(self).__name__, self._state(), self._graph), memo))

    def _state(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name not in ("_graph", "_code")}

    def __reduce__(self) -> tuple[Function, tuple[object, ...]]:
        base = next(each for each in type(self).__mro__ if "_is_generated" not in vars(each))
        steps = [
            (n.name, n.op, n.target, map_arg(n.args, _Name.of), map_arg(n.kwargs, _Name.of), n.type)
            for n in self._graph.nodes
        ]
        return (_restored, (base, type(self).__name__, self._state(), steps))

    def print_readable(self, print_output: bool = True, **options: object) -> str:
        """The class of this module as text, which is also printed."""
        lines = [f"    {line}".rstrip() for line in self._code.strip().split("\n")]
        text = "\n".join([f"class {type(self).__name__}(torch.nn.Module):", *lines, ""])
        if print_output:
            print(text)  # noqa: T201  # as it is called
        return text

    def __str__(self) -> str:
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__repr__(), self._code, hint])


class _Name(str):
    """The name of a node, in its place in a pickle."""

    __slots__ = ()

    @classmethod
    def of(cls, node: Node) -> _Name:
        """That of a node."""
        return cls(node.name)


def _restored(cls: type[GraphModule], name: str, state: dict[str, object], steps: list[Any]) -> GraphModule:
    """The module of a pickle, whose code is generated from its nodes."""
    graph = Graph()
    nodes: dict[str, Node] = {}

    def taken(value: object) -> object:
        return nodes[str(value)] if isinstance(value, _Name) else value

    for title, op, target, args, kwargs, kind in steps:
        given = map_aggregate((args, kwargs), taken)
        nodes[title] = graph.create_node(op, target, given[0], given[1], title, kind)
    return _made(cls, name, state, graph)


def _made(cls: type[GraphModule], name: str, state: dict[str, object], graph: Graph) -> GraphModule:
    """A module of a class, without a call of its `__init__`."""
    made = cls.__new__(cls)
    type(made).__name__ = name
    vars(made).update(state)
    made.graph = graph
    return made


def put(root: Module, target: str, value: object, *, persistent: bool = True, keep: bool = False) -> None:
    """Put a value at a path of a module, with empty modules on the way; with `keep`, only where there is nothing."""
    *owners, name = target.split(".")
    for owner in owners:
        if not hasattr(root, owner):
            root.add_module(owner, Module())
        root = getattr(root, owner)
    if keep and hasattr(root, name):
        return
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        root.register_buffer(name, value, persistent=persistent)
    else:
        setattr(root, name, value)


def share(source: Module, to: Module, target: str) -> None:
    """Have a module share what another one has at a path, unless it has something there."""
    path, _, name = target.rpartition(".")
    owner = at(source, path) if path else source
    passing = getattr(owner, "_non_persistent_buffers_set", ())
    put(to, target, at(owner, name), persistent=name not in passing, keep=True)
