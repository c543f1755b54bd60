"""Replacing each part of a graph that is like a pattern by another graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ....nn.modules.module import Module
from .graph import Graph
from .graph_module import GraphModule, share
from .node import Node, map_arg
from .tracing import symbolic_trace

if TYPE_CHECKING:
    from ...._core.typing import Function


class Match(NamedTuple):
    """A part of a graph that is like a pattern: the last node of the pattern, and the nodes by those of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Any]


def _graph_of(function: Graph | Module | Function) -> Graph:
    """The graph of a function or a module, or a graph itself."""
    if isinstance(function, Graph):
        return function
    return (function if isinstance(function, GraphModule) else symbolic_trace(function)).graph


def _results(graph: Graph) -> list[Node]:
    """The nodes that a graph returns, in order."""
    found: list[Node] = []
    map_arg(graph.output_node().args, found.append)
    return found


class _Matcher:
    """Finds the parts of a graph that are like a pattern."""

    def __init__(self, pattern: Graph) -> None:
        self.results = _results(pattern)

    def found(self, graph: Graph) -> list[dict[Node, Any]]:
        """What the nodes of the pattern stand for, for each match; matches have no step in common."""
        matches = []
        taken: set[Any] = set()
        first, *others = self.results
        for node in graph.nodes:
            places: dict[Node, Any] = {}
            if not self._like(first, node, places):
                continue
            if not all(any(self._extends(other, each, places) for each in graph.nodes) for other in others):
                continue
            steps = {each for own, each in places.items() if own.op != "placeholder"}
            if self._alone(places, steps) and not steps & taken:
                taken |= steps
                matches.append(places)
        return matches

    def _extends(self, own: Node, node: Node, places: dict[Node, Any]) -> bool:
        tried = dict(places)
        if not self._like(own, node, tried):
            return False
        places.update(tried)
        return True

    def _like(self, own: object, other: object, places: dict[Node, Any]) -> bool:
        """True if an argument of the pattern can stand for one of the graph; notes for what its nodes stand."""
        if isinstance(own, Node):
            if own in places:
                return places[own] is other
            if own.op == "placeholder":
                places[own] = other
                return not isinstance(other, Node) or other.op != "output"
            if not isinstance(other, Node) or own.op != other.op or own.target != other.target:
                return False
            if other in places.values():
                return False
            places[own] = other
            return self._like(own.args, other.args, places) and self._like(own.kwargs, other.kwargs, places)
        if isinstance(own, (tuple, list)) and isinstance(other, (tuple, list)):
            pairs = zip(own, other, strict=False)
            return len(own) == len(other) and all(self._like(a, b, places) for a, b in pairs)
        if isinstance(own, dict) and isinstance(other, dict):
            return own.keys() == other.keys() and all(self._like(own[key], other[key], places) for key in own)
        return type(own) is type(other) and bool(own == other)

    def _alone(self, places: dict[Node, Any], steps: set[Node]) -> bool:
        """True if nothing outside of a match takes what the replacement does not give."""
        inner = [own for own in places if own.op not in {"placeholder", "output"} and own not in self.results]
        return all(user in steps for own in inner for user in places[own].users)


def replace_pattern(
    gm: GraphModule, pattern: Graph | Module | Function, replacement: Graph | Module | Function
) -> list[Match]:
    """Replace each part of a module's graph that is like the graph of a pattern; the list of those parts.

    `pattern` and `replacement` are functions or modules of the same parameters. A parameter of the pattern stands for any
    value; an intermediate result of it must have no users elsewhere.

    >>> from pullback.compat.torch.fx.subgraph_rewriter import replace_pattern
    >>> from pullback.compat.torch.fx.tracing import symbolic_trace
    >>> traced = symbolic_trace(lambda x, y: x.neg() + y.neg())
    >>> matches = replace_pattern(traced, lambda a: a.neg(), lambda a: 0 - a)
    >>> print(traced.code.strip())
    def forward(self, x, y):
        sub = 0 - x;  x = None
        sub_1 = 0 - y;  y = None
        add = sub + sub_1;  sub = sub_1 = None
        return add
    """
    old, new = _graph_of(pattern), _graph_of(replacement)
    if len(_results(old)) != len(_results(new)):
        raise RuntimeError(f"the pattern has {len(_results(old))} results, and its replacement {len(_results(new))}")
    changed: dict[Node, Node] = {}
    done = []
    for places in _Matcher(old).found(gm.graph):
        now = {own: changed.get(each, each) if isinstance(each, Node) else each for own, each in places.items()}
        _replace(gm.graph, old, new, now, changed)
        done.append(Match(_results(old)[-1], places))
    source = replacement if isinstance(replacement, Module) else new.owning_module
    for node in new.nodes if done else ():
        if source is not None and node.op in {"call_module", "get_attr"}:
            share(source, gm, node.target)
    gm.recompile()
    return done


def _replace(graph: Graph, old: Graph, new: Graph, now: dict[Node, Any], changed: dict[Node, Node]) -> None:
    """Replace one match, and note what has replaced its results."""
    inputs = [now.get(node) for node in old.nodes if node.op == "placeholder"]
    places: dict[Node, Any] = dict(zip([node for node in new.nodes if node.op == "placeholder"], inputs, strict=True))
    results = [now[node] for node in _results(old)]
    users = {user for result in results for user in result.users}
    steps = {each for own, each in now.items() if own.op != "placeholder"}
    first = next((node for node in graph.nodes if node in users - steps), graph.output_node())
    if any(isinstance(each, Node) and first < each for each in inputs):
        raise RuntimeError(f"a pattern's input is computed after {first}, which takes one of its results")
    with graph.inserting_before(first):
        graph.graph_copy(new, places)
    for result, node in zip(results, _results(new), strict=True):
        value = places[node]
        result.replace_all_uses_with(value)
        changed[result] = value
    for node in reversed(graph.nodes):
        if node in steps and not node.users:
            graph.erase_node(node)
