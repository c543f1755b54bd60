"""The construction of an explanation from a walk over a graph.

A `CallTracer` is notified of what arrives at each node and what its rule sends, by explain's own walk or by hooks in the
program's pass. Values, places and scopes are taken from a recording, or else from what the nodes save.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import observe
from ..observe import AccumulateGrad, Node, OutputNode as Output, saved, version
from .arrays import FINE, Array, Kept, Limits, Marks, flat, kept, marks, plain
from .derivations import derive
from .naming import Named, leaf_name, operation, saved_name, saved_text, settings, tensor_name
from .plots import statistics
from .rules import Builder, rule_source, several
from .sources import Place, excerpt_at, executions, place_of, rounds, shortened
from .trace import Call, Hooked, Leaf, Output as Start, Saved, Scope, Step, Term, Traced
from .walking import Watch
from .yardsticks import Yardstick, made_by, yardstick

MANY = 2000
"""The number of nodes above which less is stored of each."""
PICTURED = 100
"""The number of nodes above which shortened arrays have no pictures."""
JUDGED = 1024
"""The number of elements up to which the scores of a cross-entropy, and their gradient, are stored in full."""


@dataclass(eq=False, slots=True)
class Record:
    """A recording's data about one node: its value, the program's call that created it, the place, and the duration."""

    cell: Any
    execution: int
    scope: Scope | None = None
    time: float | None = None
    version: int = 0


class Nodes:
    """The nodes of a call, oldest first, and the object that represents each of their values."""

    def __init__(
        self, nodes: Sequence[Node], records: Mapping[Node, Record], names: Mapping[Node, Named], limits: Limits
    ) -> None:
        self.records, self.names, self.limits = records, names, limits
        self.small = limits._replace(values=min(limits.values, 8)) if len(nodes) > MANY else limits
        self.pictured = len(nodes) <= PICTURED
        self.judged = {edge for node in nodes for edge in node.edges[:1] if made_by(node, "cross_entropy")}
        self.made = [node for node in nodes if not isinstance(node, Output)]
        self.numbers = {node: number for number, node in enumerate(self.made)}
        self.pieces = {node.edges[0]: node for node in nodes if isinstance(node, Output)}
        self.traced: dict[Node, Traced] = {}
        self.outputs: dict[Node, list[Traced]] = {}
        shares = self._shares()
        for node in nodes:
            maker = node.edges[0] if isinstance(node, Output) else node
            if maker is not None and (isinstance(node, Output) or not several(node)):
                tensor = self._traced(node, maker, shares.get(maker, (0, 1)))
                self.traced[node] = tensor
                self.outputs.setdefault(maker, []).append(tensor)
        self._number()
        self._rounds()
        self._values()
        self._saved()

    def _number(self) -> None:
        """Tell tensors of one name apart, "h, 1 of 3": the one that the program's variable holds keeps the name alone.

        Expressions that read the same are told apart by their lines, unless one sends to another.
        """
        same: dict[str, list[Node]] = {}
        for node, tensor in self.traced.items():
            same.setdefault(tensor.name, []).append(node)
        for name, nodes in same.items():
            tensors = [self.traced[node] for node in nodes]
            together = len({tensor.place for tensor in tensors}) < len(tensors)
            if together or any(each.name == name for tensor in tensors for each in tensor.inputs):
                held = [node for node in nodes if node in self.names][-1:]
                for number, node in enumerate(nodes, 1):
                    self.traced[node].name = name if node in held else f"{name}, {number} of {len(nodes)}"

    def _shares(self) -> dict[Node, tuple[int, int]]:
        """Each node's number among the nodes of its expression, and their count."""
        inner = [node for node in self.made if not isinstance(node, AccumulateGrad)]
        entries = [
            (node.site, node.title, record.execution if (record := self.record(node)) is not None else None)
            for node in inner
        ]
        return dict(zip(inner, executions(entries), strict=True))

    def _rounds(self) -> None:
        """Which time the line of a tensor ran, where it ran several times."""
        made = [(node, tensor) for node in self.made for tensor in self.outputs.get(node, [])]
        records = [self.record(node) for node, _ in made]
        places = [
            (tensor.place, None if record is None else record.execution, tensor.op)
            for (_, tensor), record in zip(made, records, strict=True)
        ]
        for (_, tensor), found in zip(made, rounds(places), strict=True):
            tensor.round = found

    def record(self, node: Node) -> Record | None:
        """A recording's data about a node; for one with several outputs, about any of them."""
        return self.records.get(node) or self.records.get(self.pieces.get(node, node))

    def _traced(self, node: Node, maker: Node, share: tuple[int, int]) -> Traced:
        place = place_of(maker.site) if self.limits.lines else None
        excerpt = excerpt_at(place)
        record = self.record(node)
        scope = None if record is None else record.scope
        number = self.numbers[maker]
        known = self.names[node].name if node in self.names else None
        if isinstance(node, AccumulateGrad):
            name, expr = leaf_name(number, excerpt, known), None
        else:
            module = scope.name if scope is not None and scope.kind == "module" else ""
            name, expr = tensor_name(node, number, excerpt, share, known, module)
        inputs: dict[int, Traced] = {}
        for edge in maker.edges:
            if edge is not None and edge in self.traced:
                inputs[id(edge)] = self.traced[edge]
        return Traced(
            index=len(self.traced),
            name=shortened(name),
            expr=expr,
            role="leaf" if isinstance(node, AccumulateGrad) else "inner",
            op=operation(node),
            grad_fn=None if isinstance(node, AccumulateGrad) else maker.title,
            node=number,
            output=node.params if isinstance(node, Output) else 0,
            inputs=list(inputs.values()),
            shape=tuple(node.shape or ()),
            dtype=node.array.dtype if isinstance(node, AccumulateGrad) else None,
            version=None if record is None else record.version,
            place=place,
            scope=scope,
            time=None if record is None else record.time,
        )

    # Values

    def know(self, node: Node, array: object, source: str) -> None:
        """Store the value of a tensor, unless it is known already."""
        tensor = self.traced.get(node)
        if tensor is None or (tensor.data is not None and source != "output"):
            return
        if not isinstance(array, np.ndarray) or tensor.shape != array.shape:
            return
        tensor.dtype, tensor.marks, tensor.value_from = array.dtype, marks(array), source
        with np.errstate(all="ignore"):
            tensor.flat = flat(tensor.op, array)
        tensor.data = self.kept(array, node, whole=source in {"leaf", "output"})

    def kept(self, array: object, node: Node, *, whole: bool = False) -> Kept:
        """The stored form of an array that belongs to a node, or of one of which more is stored than of others."""
        limits = self.limits if whole else self.small
        if node in self.judged:
            limits = limits._replace(values=max(JUDGED, limits.values))
        return kept(array, limits, pictured=self.pictured)

    def array(self, node: Node) -> Array | None:
        """The whole value of a node, if it is known."""
        if isinstance(node, AccumulateGrad):
            return plain(node.array)
        record = self.records.get(node)
        return None if record is None or record.cell is None else plain(record.cell.array)

    def _values(self) -> None:
        for node in self.traced:
            if isinstance(node, AccumulateGrad):
                self.know(node, node.array, "leaf")
                tensor = node.tensor()
                if tensor is not None:
                    self.traced[node].version = version(tensor)
            elif (record := self.records.get(node)) is not None and record.cell is not None:
                self.know(node, plain(record.cell.array), "recorded")
            elif node in self.names:
                self.know(node, self.names[node].array, "variable")

    def _saved(self) -> None:
        """The values that nodes save; they also supply values of tensors that are otherwise unknown."""
        counted = {id(node.array) for node in self.made if isinstance(node, AccumulateGrad)}
        for node in self.made:
            if isinstance(node, AccumulateGrad) or node not in self.outputs or (values := saved(node)) is None:
                continue
            first = self.outputs[node][0]
            for each in [] if node.foreign else values:
                if each.packed or each.value is not None:
                    self._keeps(node, first, each, counted)
            first.saved += [Saved(name, text) for name, text in settings(node)]

    def _keeps(self, node: Node, first: Traced, held: observe.SavedValue, counted: set[int]) -> None:
        array, name = held.value, held.name
        if not isinstance(array, np.ndarray):
            first.saved.append(Saved(saved_name(name), "packed by a hook" if held.packed else str(array)))
            return
        owner = node if held.source is None else node.edges[held.source]
        if owner is not None and not several(owner):
            self.know(owner, array, "saved")
        if id(array) not in counted:
            counted.add(id(array))
            first.bytes += array.nbytes
        tensor = None if owner is None else self.traced.get(owner)
        value: Kept | None = None
        if tensor is not None and tensor.value_from in {"saved", "recorded"}:
            value = tensor.data  # a leaf may have been written since: a rule saves the old value
        elif not self.limits.redact:
            value = self.kept(array, node)
        first.saved.append(Saved(saved_name(name), saved_text(array, self.limits), tensor, value))


def _sum(a: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):
        total: Array = np.add(a, b)
        return total


class CallTracer(Watch):
    """Builds a call from the notifications of a walk."""

    def __init__(self, tape: Nodes, roots: Sequence[tuple[Node, Array]], ends: Sequence[Node]) -> None:
        self.tape, self.roots, self.ends = tape, roots, ends
        limits = tape.limits
        self.builder = Builder(
            limits._replace(jacobian=min(limits.jacobian, 64)) if tape.small is not limits else limits
        )
        self.totals: dict[Node, tuple[Any, Kept, Marks]] = {}
        self.given: list[Any] = []
        """What a node's rule gave, before hooks of the program."""
        self.terms: dict[Node, list[tuple[Step, Term]]] = {}
        self.parts: dict[Node, dict[int, Array]] = {}
        self.arrivals: dict[Node, Array] = {}
        self.steps: list[Step] = []
        self.current: Step | None = None
        self.built: tuple[dict[int, Any], str | None] = ({}, None)
        self.started = 0.0
        self.kept = sum(tensor.bytes for tensor in tape.traced.values())
        self.loss = self._loss()
        self.travelling = sum(v.nbytes for _, v in roots)

    def _loss(self) -> Yardstick | None:
        """What the call's output is measured by, if it is a loss: found before the pass frees the values."""
        (root, v), *others = self.roots
        value = self.tape.traced[root].data
        if others or v.size != 1 or not isinstance(value, np.ndarray) or self.tape.limits.redact:
            return None
        return yardstick(root, float(value.real.reshape(-1)[0]), self.tape.array, self.tape.traced)

    def arrived(self, node: Node, g: Any) -> None:
        """See `Watch`."""
        if node in self.ends:
            array = np.asarray(g)
            if isinstance(node, AccumulateGrad) and array.dtype.kind == node.array.dtype.kind:
                array = array.astype(node.array.dtype)  # the dtype that `.grad` gets
            self.arrivals[node] = array
        if isinstance(node, Output):
            assert node.edges[0] is not None
            self.parts.setdefault(node.edges[0], {})[node.params] = g
            self._typed(node, g)
            return
        outputs = self.tape.outputs.get(node)
        if outputs is None:
            self.current = None
            return
        step = Step("backward", len(self.steps) + 1, node.title, outputs[0].op, outputs)
        step.place, step.scope, step.ran = outputs[0].place, outputs[0].scope, rule_source(node)
        if isinstance(node, AccumulateGrad):
            step.place = None
        arrivals = [self.parts.get(node, {}).get(each.output) for each in outputs] if several(node) else [g]
        if not several(node):
            self._typed(node, g)
        told = [None if each is None else self._told(node, each, outputs[0]) for each in arrivals]
        step.vs = [None if each is None else each[1] for each in told]
        step.marks = worst([each[2] for each in told if each is not None])
        before = self.totals.pop(node, None)
        if not several(node) and before is not None:
            self._hooked(node, step, before[0], g)
        self.given = []
        self.steps.append(step)
        self.current = step
        self.travelling -= 0 if isinstance(node, AccumulateGrad) else sum(e.nbytes for e in arrivals if e is not None)
        self.kept -= outputs[0].bytes
        step.live_bytes = self.kept + self.travelling
        wanted = [i for i, edge in enumerate(node.edges) if edge is not None and edge in self.tape.traced]
        dtype = next(each.dtype for each in arrivals if each is not None)
        self.built = self.builder.build(node, wanted, dtype) if wanted else ({}, None)
        self.started = time.perf_counter()

    def sent(self, node: Node, edges: Sequence[Node | None], results: Sequence[Any]) -> None:
        """See `Watch`."""
        taken = time.perf_counter() - self.started
        step = self.current
        if isinstance(node, Output) or step is None:
            return
        if self.tape.limits.timing:
            step.time = taken
        places = [each.output for each in step.outputs]
        for index, (edge, result) in enumerate(zip(edges, results, strict=False)):
            if edge is None or result is None or edge not in self.tape.traced:
                continue
            out = np.asarray(result)
            to = self.tape.traced[edge]
            if self.given:
                self._hooked(node, step, self.given[index], out)
            before = self.totals.get(edge)
            total = out if before is None else _sum(before[0], out)
            after = self.totals[edge] = self._told(edge, total, to)
            built, missing = self.built
            local = built.get(index) or [None] * (max(places) + 1)
            term = Term(
                to,
                index,
                [local[place] for place in places],
                missing if any(local[place] is None for place in places) else None,
                rule_source(node, index),
                after[1] if before is None else self._kept(edge, out, to),
                None if before is None else before[1],
                after[1],
                marks=after[2] if before is None else marks(out),
                derivation=derive(node, index),
            )
            self.terms.setdefault(edge, []).append((step, term))
            term.nth = len(self.terms[edge])
            step.terms.append(term)
            self.travelling += out.nbytes if before is None else 0
        step.live_bytes = self.kept + self.travelling

    def _hooked(self, node: Node, step: Step, before: Any, after: Any) -> None:
        """Note a gradient that has been changed on its way, if a hook of the program can have done it."""
        functions = observe.hooks(node)
        if not functions or before is None or before is after or np.array_equal(before, after, equal_nan=True):
            return
        kept = [self.tape.kept(np.asarray(each), node, whole=True) for each in (before, after)]
        step.hooked = Hooked([_defined(each) for each in functions], kept[0], kept[1])

    def _told(self, node: Node, array: Any, tensor: Traced) -> tuple[Any, Kept, Marks]:
        """A node's cotangent with its stored form and conspicuous properties, which are computed once."""
        known = self.totals.get(node)
        if known is not None and known[0] is array:
            return known
        return array, self._kept(node, array, tensor), marks(array)

    def _kept(self, node: Node, array: Any, tensor: Traced) -> Kept:
        whole = tensor.role != "inner" or tensor.index == self.tape.traced[self.roots[0][0]].index
        return self.tape.kept(array, node, whole=whole)

    def _typed(self, node: Node, g: Any) -> None:
        tensor = self.tape.traced.get(node)
        if tensor is not None and tensor.dtype is None:
            tensor.dtype = g.dtype

    # The call

    def call(self, text: str, kind: str, place: Place | None, implicit: Sequence[bool]) -> Call:
        """The call built from all notifications."""
        tape = self.tape
        for entries in self.terms.values():
            for _, term in entries:
                term.of = len(entries)
        outputs = []
        for (node, v), left_out in zip(self.roots, implicit, strict=True):
            tensor = tape.traced[node]
            tensor.role = "leaf" if tensor.is_leaf else "output"
            outputs.append(Start(tensor, tape.kept(v, node, whole=True), left_out))
        default = self.roots[0][1].dtype
        for tensor in tape.traced.values():
            if tensor.dtype is None:
                tensor.dtype = default
        leaves = [self._leaf(node) for node in self.ends if node in self.arrivals and node in tape.traced]
        forward, total = self._forward()
        return Call(
            text=text,
            kind=kind,
            place=place,
            outputs=outputs,
            tensors=list(tape.traced.values()),
            forward=forward,
            steps=self.steps,
            leaves=leaves,
            kept_bytes=total,
            estimated=kind == "explain",
            loss=self.loss,
        )

    def _leaf(self, node: Node) -> Leaf:
        limits, arrived = self.tape.limits, self.arrivals[node]
        grad = self.tape.kept(arrived, node, whole=True)
        leaf = Leaf(self.tape.traced[node], grad, None, None, self.terms.get(node, []), [])
        leaf.flow = None if limits.redact else statistics(arrived)
        return leaf

    def _forward(self) -> tuple[list[Step], int]:
        """The operations, oldest first, and the number of bytes that they save together."""
        total = 0
        steps: list[Step] = []
        for node in self.tape.made:
            outputs = self.tape.outputs.get(node)
            if outputs is None or isinstance(node, AccumulateGrad):
                continue
            first = outputs[0]
            total += first.bytes
            step = Step("forward", len(steps) + 1, node.title, first.op, outputs)
            step.place, step.scope, step.time, step.live_bytes = first.place, first.scope, first.time, total
            step.marks = worst([tensor.marks for tensor in outputs])
            steps.append(step)
        return steps, total


def _defined(function: Callable[..., Any]) -> tuple[str, Place | None]:
    """The name of a function, and where it is defined."""
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    name = getattr(function, "__name__", type(function).__name__)
    place = None if code is None else Place(code.co_filename, code.co_firstlineno, None, None, None)
    return name, place


def worst(found: Sequence[Marks]) -> Marks:
    """The first conspicuous property that is NaN or inf; zero only if all are zero."""
    bad = next((each for each in found if each.bad is not None), None)
    if bad is not None:
        return bad
    return Marks(zero=True) if found and all(each.zero for each in found) else FINE
