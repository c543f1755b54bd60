"""Graph: the steps of a computation, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

from ....extend import warn
from . import naming
from .code import PythonCode, Writer
from .node import Node, map_arg

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...._core.typing import Function
    from ....nn.modules.module import Module
    from .node import Target


class CodeGen:
    """torch.fx.CodeGen: how code is generated, which subclasses cannot change here."""


class _Nodes:
    """The nodes of a graph, in order."""

    def __init__(self, root: Node, step: str = "next") -> None:
        self._root, self._step = root, step

    def __iter__(self) -> Iterator[Node]:
        node = getattr(self._root, self._step)
        while node is not self._root:
            if not node._erased:
                yield node
            node = getattr(node, self._step)

    def __reversed__(self) -> Iterator[Node]:
        return iter(_Nodes(self._root, "prev"))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Inserting:
    """Where new nodes of a graph are inserted, until the end of the block, or for good if there is none."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph, self.before = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None:
        self.graph._insert = self.before


def at(module: Any, target: str) -> Any:
    """What a module has at a path; RuntimeError if that is nothing."""
    for part in target.split("."):
        if not hasattr(module, part):
            raise RuntimeError(
                f"Node target {target} references nonexistent attribute {part} of {type(module).__name__}"
            )
        module = getattr(module, part)
    return module


class Graph:
    """The steps of a computation in order: inputs, constants, calls, and the output.

    >>> import operator
    >>> from pullback.compat.torch.fx.graph import Graph
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> y = graph.call_function(operator.add, (x, 1))
    >>> output = graph.output(y)
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %add : [num_users=1] = call_function[target=operator.add](args = (%x, 1), kwargs = {})
        return add
    """

    def __init__(
        self, owning_module: Module | None = None, tracer_cls: type | None = None, tracer_extras: object = None
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._names = naming.Names()
        self.owning_module, self._tracer_cls = owning_module, tracer_cls
        self._codegen = CodeGen()

    @property
    def nodes(self) -> _Nodes:
        """The nodes in order; `reversed` gives them in the opposite one."""
        return _Nodes(self._root)

    # Steps

    def create_node(
        self,
        op: str,
        target: Target,
        args: Iterable[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
        name: str | None = None,
        type_expr: object = None,
    ) -> Node:
        """A new node, inserted at the end or where `inserting_before` or `inserting_after` says.

        Raises
        ------
        ValueError
            If an argument belongs to another graph, or the operation is unknown.
        """

        def own(node: Node) -> Node:
            if node.graph is not self:
                raise ValueError(f"{node.name} is a node of another graph: copy it with node_copy")
            if node._erased:
                raise ValueError(f"{node.name} has been erased from the graph")
            return node

        args, kwargs = map_arg(args or (), own), map_arg(kwargs or {}, own)
        if name is None:
            name = target if isinstance(target, str) else getattr(target, "__name__", type(target).__name__)
            name = naming.snake_case(name[2:-2] if name.startswith("__") and name.endswith("__") else name)
        node = Node(self, self._names.create_name(name), op, target, args, kwargs, type_expr)
        self._insert(node)
        return node

    def placeholder(self, name: str, type_expr: object = None, default_value: object = ...) -> Node:
        """A new input of the graph."""
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: object = None) -> Node:
        """A new node of a parameter, a buffer, or another attribute of the module."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: Iterable[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
        type_expr: object = None,
    ) -> Node:
        """A new call of a submodule."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: Iterable[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
        type_expr: object = None,
    ) -> Node:
        """A new call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Function,
        args: Iterable[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
        type_expr: object = None,
        name: str | None = None,
    ) -> Node:
        """A new call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: object, type_expr: object = None) -> Node:
        """The result of the graph."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def output_node(self) -> Node:
        """The node of the result."""
        found: Node = next(node for node in reversed(self.nodes) if node.op == "output")
        return found

    # Changes

    def inserting_before(self, n: Node | None = None) -> _Inserting:
        """A block in which new nodes are inserted before a node, or at the beginning; also from the call on."""
        return _Inserting(self, self._root.next.prepend if n is None else self._own(n).prepend)

    def inserting_after(self, n: Node | None = None) -> _Inserting:
        """A block in which new nodes are inserted directly after a node, or at the end; also from the call on."""
        return _Inserting(self, self._root.prepend if n is None else self._own(n).append)

    def _own(self, node: Node) -> Node:
        if node.graph is not self:
            raise AssertionError("Node to insert at is not in graph.")
        return node

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that has no users; RuntimeError if it has some."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                f"{to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warn(f"erase_node({to_erase}) on an already erased node")
            return
        to_erase._unlink()
        to_erase._erased = True
        to_erase._set((), {})

    def node_copy(self, node: Node, arg_transform: Callable[[Node], object] = lambda x: x) -> Node:
        """A new node like one of another graph; `arg_transform` gives what takes the place of its inputs."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = dict(node.meta)
        return copied

    def graph_copy(self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False) -> Any:
        """Insert copies of all nodes of a graph except the output, whose value, or None, is the result.

        `val_map` says what takes the place of nodes, such as inputs, and is told the copies.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], val_map.__getitem__)
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: dict[int, object] | None = None) -> Self:
        copied = type(self)(tracer_cls=self._tracer_cls)
        places: dict[Node, Any] = {}
        found = copied.graph_copy(self, places, return_output_node=True)
        if found is not None:
            end = copied.output(found[0], found[1].type)
            end.meta = dict(found[1].meta)
        return copied

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erase nodes without users and other effects; True if there were any.

        Writes in place are kept here, and so are calls with `inplace=True`.
        """
        impure = is_impure_node or Node.is_impure
        before = len(self.nodes)
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
        return len(self.nodes) < before

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """The nodes of an operation, or those of them that have a target."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    def last_uses(self) -> dict[Node, list[Node]]:
        """For each node those whose values no later one takes, itself among them if it has no users."""
        seen: set[Node] = set()
        found = {}
        for node in reversed(self.nodes):
            last = [each for each in node.all_input_nodes if each not in seen]
            seen.update(last)
            found[node] = last + ([] if node.users else [node])
        return found

    # Text and checks

    def python_code(self, root_module: str, *, verbose: bool = False, **options: object) -> PythonCode:
        """The source code of the graph as a function `forward`, whose first parameter is `root_module`."""
        return Writer(self, root_module).written()

    def __str__(self) -> str:
        return "\n    ".join(["graph():", *(text for node in self.nodes if (text := node.format_node()))])

    def print_tabular(self) -> None:
        """Print a table of the nodes."""
        rows = [["opcode", "name", "target", "args", "kwargs"]]
        rows += [[str(each) for each in (n.op, n.name, n.target, n.args, n.kwargs)] for n in self.nodes]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        rows.insert(1, ["-" * width for width in widths])
        for row in rows:
            print("  ".join(map(str.ljust, row, widths)).rstrip())  # noqa: T201  # as it is called

    def lint(self) -> None:
        """Check that the graph is well formed: RuntimeError, or ValueError for a target that the module lacks."""
        seen: dict[str, Node] = {}
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph, but to another one")
            for each in node.all_input_nodes:
                if seen.get(each.name) is not each:
                    raise RuntimeError(
                        f"Argument '{each}' of Node '{node}' was used before it has been defined! Please check that "
                        f"Nodes in the graph are topologically ordered\n{self}"
                    )
            if node.name in seen:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen[node.name] = node
            if self.owning_module is not None and node.op in {"get_attr", "call_module"}:
                at(self.owning_module, node.target)
