"""Nests: the computation of a loop nest, as a graph of nodes over the axes of an iteration.

The graph is built from results backwards to loads. A node is identified by a value of the program and the index at which it
is needed, so that common subexpressions are computed once, and operations that only move elements need no node. The result
of a reduction over the inner axes may be used by a later phase for the same outer index: so a softmax reads each row once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..program import Equation, Value
from . import indices
from .elements import ELEMENTS
from .indices import NOWHERE, Affine, AnyIndex, Cut, Flat, Index, Unaligned, along_axes, broadcast, flat, moved, whole

DType = np.dtype[Any]
MOST_NODES = 3000
FULL = 200
"""The number of nodes from which on a loop takes no more roots: LLVM's time grows faster than its size."""
FULL_OF_NUMBERS = 2000
"""The same for operations on single numbers: what does not fit into a nest any more is found out by computing its nodes."""
MOST_SUMMED = 1 << 15
"""Elements up to which what is reduced is used again in the same nest."""
CHEAP = 8
"""The cost, in additions, up to which a later phase recomputes a node instead of storing it."""

REDUCTIONS = {
    "sum": "sum", "prod": "prod", "amax": "maximum", "largest": "maximum", "amin": "minimum", "smallest": "minimum",
    "all": "and", "any": "or",
}  # fmt: skip


GATHERS = {"take_rows", "embedding"}
"""Operations that load from computed indices."""


MEMORY = {"load", "gather"}
"""The kinds of nodes that read memory."""


class Incompatible(Exception):  # noqa: N818  # a finding, no error
    """Raised where a root cannot be computed by a nest."""


@dataclass(slots=True, eq=False)
class ScalarNode:
    """A scalar computation, done at each index of an iteration over `axes`.

    `kind` is load (data: the value, and the affine position in its memory), number (a constant), count (the index along an
    axis), apply (data: name, dtypes of the operands, parameters), gather (a load at an index that operands compute) or
    reduce (data: how, and over which axes).
    """

    kind: str
    dtype: DType
    axes: frozenset[int]
    operands: tuple[ScalarNode, ...]
    data: Any
    phase: int
    cost: int = 0


@dataclass(slots=True, eq=False)
class Root:
    """A result of a nest: a value that is stored, or reduced and stored.

    `source` is computed for each index of its shape, or of its outer axes; `at` is the affine position of the results in the
    memory of `value`.
    """

    value: Value
    source: Value
    how: str = ""
    axis: tuple[int, ...] = ()
    place: Callable[[Index, list[int]], Affine] | None = None
    outer: bool = False
    node: ScalarNode | None = None
    at: Affine = NOWHERE
    reduced: frozenset[int] = frozenset()
    consumed: bool = False
    stored: bool = True

    @property
    def phase(self) -> int:
        """The phase in which it is stored or accumulated."""
        assert self.node is not None
        return self.node.operands[0].phase if self.how else self.node.phase


@dataclass(slots=True, eq=False)
class NestFacts:
    """The facts about values that a nest needs: their equations, and whether they are in memory before it runs."""

    makers: dict[Value, Equation]
    constants: dict[Value, Any]
    inside: Callable[[Value], Root | None]
    """The root of this nest that computes a value; None for other values that are not in memory."""
    ready: Callable[[Value], bool]
    keys: dict[Equation, tuple[Any, Any]]


class Nest:
    """Nodes over an iteration, and the roots among them."""

    def __init__(self, domain: list[int], source: NestFacts) -> None:
        self.domain = domain
        self.source = source
        self.roots: list[Root] = []
        self.nodes: list[ScalarNode] = []
        self.inner: frozenset[int] | None = None
        self.loaded: dict[Value, None] = {}
        self.inlined: dict[Value, None] = {}
        self._known: dict[Any, ScalarNode] = {}
        self._unique: dict[Any, ScalarNode] = {}
        self._reduced: list[Root] = []

    @property
    def full(self) -> bool:
        """Whether it is as large as a nest of several roots should be."""
        return len(self.nodes) >= (FULL if self.domain else FULL_OF_NUMBERS)

    # Adding

    def add(self, root: Root) -> None:
        """Add a root; if that raises, the nest is unchanged."""
        while True:
            restore = self._moment()  # with the axes as they are now
            try:
                self._place(root)
            except Cut as cut:
                self._cut(cut)
            except (Incompatible, Unaligned):
                restore()
                raise
            else:
                self.roots.append(root)
                self._reduced += [root] if root.how else []
                return

    def _moment(self) -> Callable[[], None]:
        """A function that takes back what is added from now on: nodes, too, which may follow from what did not come about."""
        inner, reduced = self.inner, [root for root in self._reduced if not root.consumed]
        tables: list[dict[Any, Any]] = [self._known, self._unique, self.loaded, self.inlined]
        sizes, count = [*map(len, tables)], len(self.nodes)

        def restore() -> None:
            self.inner = inner
            for root in reduced:
                root.consumed = False
            for table, size in zip(tables, sizes, strict=True):
                for key in [*table][size:]:
                    del table[key]
            del self.nodes[count:]

        return restore

    def moment(self) -> Callable[[], None]:
        """A function that makes the nest what it is now."""
        held, restore = dict(self.__dict__), self._moment()
        roots = [(root, root.node, root.at, root.reduced, root.consumed) for root in self.roots]
        reduced = len(self._reduced)

        def undo() -> None:
            self.__dict__ = held
            restore()
            del self.roots[len(roots) :], self._reduced[reduced:]
            for root, node, at, kept, consumed in roots:
                root.node, root.at, root.reduced, root.consumed = node, at, kept, consumed

        return undo

    @property
    def cost(self) -> float:
        """The approximate number of instructions."""
        layout = laid_out(self)
        return _work(layout.vector, layout.domain, layout.roots, layout.nodes)

    def _cut(self, cut: Cut) -> None:
        """Split an axis of the iteration, and rebuild all nodes."""
        if len(self.domain) > 7:
            raise Unaligned
        size = self.domain[cut.axis]
        fresh = Nest(
            [*self.domain[: cut.axis], size // cut.inner, cut.inner, *self.domain[cut.axis + 1 :]], self.source
        )
        before = [(root.node, root.at, root.reduced, root.consumed) for root in self.roots]
        try:
            for root in self.roots:
                fresh.add(root)
        except (Incompatible, Unaligned):
            for root, known in zip(self.roots, before, strict=True):
                root.node, root.at, root.reduced, root.consumed = known
            raise
        self.__dict__ = fresh.__dict__

    def _place(self, root: Root) -> None:
        shape = root.source.shape
        axes = len(self.domain)
        if root.outer:
            axes = self._outer(root.source.size)
        elif math.prod(self.domain) != root.source.size:
            raise Incompatible
        index = self._whole(root, axes)
        node = self.node(root.source, index)
        if root.how:
            assert not isinstance(index, Flat)
            reduced = {axis for k in root.axis for axis, _ in index[k][1]}
            root.reduced = frozenset(reduced)
            kept = [NOWHERE if k in root.axis else at for k, at in enumerate(index)]
            shape = tuple([1 if k in root.axis else size for k, size in enumerate(shape)])
            root.at = flat(tuple(kept), shape)
            node = self._reduce(root.how, node, root.reduced, root.value.dtype, frozenset(range(axes)))
        else:
            root.at = (
                root.place(along_axes(index, shape, self.domain), self.domain) if root.place else flat(index, shape)
            )
        if len(self.nodes) > MOST_NODES:
            raise Incompatible
        root.node = node

    def _whole(self, root: Root, axes: int) -> AnyIndex:
        """The index of a root's source in terms of the iteration."""
        try:
            return whole(root.source.shape, self.domain, axes)
        except Unaligned:
            if root.how or root.place:
                raise
            steps = indices.strides(tuple(self.domain[:axes]))
            return Flat((0, tuple([(axis, steps[axis]) for axis in range(axes) if self.domain[axis] > 1])))

    def _outer(self, size: int) -> int:
        """The number of outer axes, if they have `size` elements in total."""
        if self.inner is None or self.inner != frozenset(range(len(self.domain) - len(self.inner), len(self.domain))):
            raise Incompatible
        count = len(self.domain) - len(self.inner)
        if math.prod(self.domain[:count]) != size:
            raise Incompatible
        return count

    # Nodes

    def node(self, value: Value, index: AnyIndex) -> ScalarNode:
        """The node for a value at an index."""
        known = self._known
        waiting: list[tuple[Value, AnyIndex, Any]] = [(value, index, None)]
        while waiting:
            one, at, needed = waiting[-1]
            if (one, at) in known:
                waiting.pop()
                continue
            found = self._leaf(one, at) if needed is None else None
            if found is None:
                equation = self.source.makers[one]
                if needed is None:
                    needed = self._operands(equation, one, at)
                    missing = [pair for pair in needed if pair not in known]
                    if missing:
                        waiting[-1] = one, at, needed
                        waiting.extend([(*pair, None) for pair in missing])
                        continue
                self.inlined[one] = None
                found = self._applied(equation, one, at, [known[pair] for pair in needed])
            known[one, at] = found
            waiting.pop()
        return known[value, index]

    def _leaf(self, value: Value, at: AnyIndex) -> ScalarNode | None:
        """The node of a stored value, a constant, or a reduction of this nest; None for a value that has to be computed."""
        constant = self.source.constants.get(value)
        if constant is not None and constant.size == 1:
            return self._make("number", value.dtype, (), constant.reshape(())[()], frozenset())
        if self.source.ready(value):
            self.loaded[value] = None
            place = flat(at, value.shape)
            return self._make("load", value.dtype, (), (value, place), frozenset(axis for axis, _ in place[1]))
        root = self.source.inside(value)
        if root is None or not root.how:
            maker = self.source.makers.get(value)
            if maker is None or not (maker.name in ELEMENTS or maker.name in indices.NAMES or maker.name in GATHERS):
                raise Incompatible
            return None
        return self._consumed(root, flat(at, value.shape))

    def _consumed(self, root: Root, place: Affine) -> ScalarNode:
        """The result of a reduction of this nest, for a later phase."""
        node = root.node
        axes = frozenset(range(len(self.domain)))
        small = math.prod([self.domain[axis] for axis in root.reduced]) <= MOST_SUMMED
        if node is None or place != root.at or not small or node.axes != axes - root.reduced or not root.reduced:
            raise Incompatible
        if self.inner not in (None, root.reduced):
            raise Incompatible
        self.inner = root.reduced
        root.consumed = True
        return node

    def _operands(self, equation: Equation, value: Value, at: AnyIndex) -> list[tuple[Value, AnyIndex]]:
        name = equation.primitive.name
        try:
            if name in GATHERS:
                return [(equation.inputs[1], along_axes(at, value.shape, self.domain)[: len(equation.inputs[1].shape)])]
            if name in indices.NAMES:
                x, number = equation.inputs[0], equation.outputs.index(value)
                return [(x, moved(name, at, x.shape, value.shape, equation.params, self.domain, number))]
            return [(x, self._broadcast(at, x.shape, value.shape)) for x in equation.inputs]
        except Unaligned:
            raise Unaligned(value) from None

    def _broadcast(self, at: AnyIndex, shape: tuple[int, ...], out: tuple[int, ...]) -> AnyIndex:
        if isinstance(at, Flat):
            if shape == out:
                return at
            at = along_axes(at, out, self.domain)
        return broadcast(at, shape)

    def _applied(self, equation: Equation, value: Value, at: AnyIndex, operands: list[ScalarNode]) -> ScalarNode:
        name = equation.primitive.name
        if name in GATHERS:
            return self._gathered(equation, along_axes(at, value.shape, self.domain), operands[0])
        if name in indices.NAMES:
            return operands[0]
        data, text = self.source.keys.get(equation) or self._key_of(equation)
        axes = frozenset().union(*[operand.axes for operand in operands])
        return self._make("apply", value.dtype, tuple(operands), data, axes, ELEMENTS[name].cost, text)

    def _key_of(self, equation: Equation) -> tuple[Any, Any]:
        """The data of an equation's nodes, and a hashable key for it."""
        params = tuple(sorted(equation.params.items()))
        dtypes = tuple([x.dtype for x in equation.inputs])
        found = (equation.name, dtypes, params), (equation.name, dtypes, repr(params) if params else "")
        self.source.keys[equation] = found
        return found

    def _gathered(self, equation: Equation, at: Index, chosen: ScalarNode) -> ScalarNode:
        x = equation.inputs[0]
        if not self.source.ready(x):
            raise Unaligned(x)
        self.loaded[x] = None
        rows, step = indices.strides(x.shape)
        if equation.primitive.name == "take_rows":
            rest, size = flat(at, x.shape[:1]), x.shape[1]
            rest = indices.shifted(rest, 0, rows)
        else:
            rest, size, step = flat(at[-1:], x.shape[1:]), x.shape[0], rows
        axes = chosen.axes | {axis for axis, _ in rest[1]}
        return self._make("gather", x.dtype, (chosen,), (x, rest, step, size), axes)

    def _reduce(
        self, how: str, node: ScalarNode, axes: frozenset[int], dtype: DType, all_axes: frozenset[int]
    ) -> ScalarNode:
        found = self._make("reduce", dtype, (node,), (how, axes), all_axes - axes)
        found.phase = node.phase + 1
        return found

    def _make(
        self,
        kind: str,
        dtype: DType,
        operands: tuple[ScalarNode, ...],
        data: Any,
        axes: frozenset[int],
        cost: int = 0,
        text: Any = None,
    ) -> ScalarNode:
        known = repr(data) if kind == "number" else data if text is None else text
        key = (kind, dtype, tuple([id(operand) for operand in operands]), known, axes)
        found = self._unique.get(key)
        if found is None:
            phase = max([operand.phase for operand in operands], default=0)
            found = self._unique[key] = ScalarNode(kind, dtype, axes, operands, data, phase, cost)
            self.nodes.append(found)
        return found


@dataclass(slots=True)
class Layout:
    """A nest ready for code generation: axes merged and ordered, with the roots of each phase."""

    domain: list[int]
    roots: list[Root]
    outer: int
    vector: int
    phases: int
    nodes: list[ScalarNode] = field(default_factory=list)
    scratch: list[Value] = field(default_factory=list)


def laid_out(nest: Nest) -> Layout:
    """The layout of a nest: axes merged as far as possible, outer ones first."""
    used = _used([root.node for root in nest.roots if root.node is not None])
    order = _order(nest)
    groups = _groups(nest, used, order)
    domain = [math.prod([nest.domain[axis] for axis in group]) for group in groups]
    number = {group[-1]: place for place, group in enumerate(groups)}

    def renumbered(place: Affine) -> Affine:
        return place[0], tuple(sorted((number[axis], step) for axis, step in place[1] if axis in number))

    def renamed(axes: frozenset[int]) -> frozenset[int]:
        return frozenset(number[axis] for axis in axes if axis in number)

    fresh: dict[int, ScalarNode] = {}
    for node in used:
        operands = tuple([fresh[id(operand)] for operand in node.operands])
        data = node.data
        if node.kind == "load":
            data = (data[0], renumbered(data[1]))
        elif node.kind == "gather":
            data = (data[0], renumbered(data[1]), *data[2:])
        elif node.kind == "reduce":
            data = (data[0], renamed(data[1]))
        fresh[id(node)] = ScalarNode(node.kind, node.dtype, renamed(node.axes), operands, data, node.phase, node.cost)
    roots = []
    for root in nest.roots:
        node = fresh[id(root.node)]
        roots.append(replace(root, place=None, node=node, at=renumbered(root.at), reduced=renamed(root.reduced)))
    inner = renamed(nest.inner) if nest.inner is not None else frozenset()
    outer = len(domain) - len(inner) if nest.inner is not None else 0
    nodes = list(fresh.values())
    phases = 1 + max([root.phase for root in roots], default=0)
    layout = Layout(domain, roots, outer, _vector(domain, roots, nodes), phases, nodes)
    if phases > 1:
        return _kept(layout) if layout.vector >= outer else layout
    return _blocked(layout)


BLOCKS = (8, 16, 12, 10, 9, 15, 14, 6, 7, 5, 4)
"""Rows that are added up in registers before they are added to a result in memory: the first number that divides all rows."""


def _blocked(layout: Layout) -> Layout:
    """The layout with some rows innermost, where rows would be added one by one to a result in memory."""
    domain, last = layout.domain, len(layout.domain)
    rows = {min(root.reduced) for root in layout.roots if len(root.reduced) == 1 and _in_memory(root)}
    (row,) = rows if len(rows) == 1 else (-1,)
    size = next((size for size in BLOCKS if domain[row] % size == 0 and domain[row] > size), 0) if domain else 0
    if row < 0 or not size or layout.vector == row:
        return layout

    def cut(place: Affine) -> Affine:
        terms = [(axis, step * size if axis == row else step) for axis, step in place[1]]
        return place[0], (*terms, *[(last, step) for axis, step in place[1] if axis == row])

    def both(axes: frozenset[int]) -> frozenset[int]:
        return axes | {last} if row in axes else axes

    for node in layout.nodes:
        node.axes = both(node.axes)
        if node.kind in MEMORY:
            node.data = (node.data[0], cut(node.data[1]), *node.data[2:])
        elif node.kind == "reduce":
            node.data = (node.data[0], both(node.data[1]))
    for root in layout.roots:
        root.at, root.reduced = cut(root.at), both(root.reduced)
    layout.domain = [domain[row] // size if axis == row else length for axis, length in enumerate(domain)] + [size]
    return layout


def _in_memory(root: Root) -> bool:
    """Whether what a root reduces is added up in memory: a kept axis is inside of a reduced one."""
    return bool(root.how) and max([axis for axis, _ in root.at[1]], default=-1) > min(root.reduced, default=-1)


KEPT_BYTES = 1 << 16
LANES, ACROSS, APART, NEAR = 8, 8, 16, 4
"""The cost model for choosing the vectorized axis: lanes, instructions to reduce across lanes, and instructions to load or
store lanes that are not adjacent; if no more elements apart than this, their number.
"""


def _kept(layout: Layout) -> Layout:
    """The layout with a buffer for each costly node that a later phase uses again, along those axes of a row that it has."""
    loads: dict[int, ScalarNode] = {}
    room = KEPT_BYTES
    nodes = list(layout.nodes)

    def kept(node: ScalarNode) -> ScalarNode:
        nonlocal room
        found = loads.get(id(node))
        if found is None:
            stored = next((r for r in layout.roots if r.node is node and _is_row(r, node.axes)), None)
            found = node
            own = [axis for axis in range(layout.outer, len(layout.domain)) if axis in node.axes]
            sizes = tuple([layout.domain[axis] for axis in own])
            size = math.prod(sizes)
            if stored is not None:
                found = ScalarNode("load", node.dtype, node.axes, (), (stored.value, stored.at), node.phase)
            elif layout.vector in own and size * node.dtype.itemsize <= room:
                room -= size * node.dtype.itemsize
                value, place = Value((size,), node.dtype), (0, tuple(zip(own, indices.strides(sizes), strict=True)))
                layout.scratch.append(value)
                layout.roots.append(Root(value, value, node=node, at=place))
                found = ScalarNode("load", node.dtype, frozenset(own), (), (value, place), node.phase)
            loads[id(node)] = found
            nodes.append(found)
        return found

    for node in [node for node in layout.nodes if node.kind != "reduce"]:
        node.operands = tuple(
            [
                kept(o) if o.phase < node.phase and o.kind == "apply" and _inner(o, layout) and _dear(o) else o
                for o in node.operands
            ]
        )
    layout.nodes = nodes
    return layout


def _is_row(root: Root, axes: frozenset[int]) -> bool:
    """Whether a root is stored, and lies along no other axes than these."""
    return not root.how and root.stored and not root.outer and axes >= {axis for axis, _ in root.at[1]}


def _inner(node: ScalarNode, layout: Layout) -> bool:
    return any(axis >= layout.outer for axis in node.axes)


def _dear(node: ScalarNode) -> bool:
    """Whether a node is costly to recompute, with its operands."""
    return sum(each.cost for each in _used([node])) > CHEAP


def _used(wanted: list[ScalarNode]) -> list[ScalarNode]:
    """The nodes that roots need, each after its operands."""
    found: dict[int, ScalarNode] = {}
    stack = [(node, False) for node in reversed(wanted)]
    while stack:
        node, done = stack.pop()
        if id(node) in found:
            continue
        if done:
            found[id(node)] = node
        else:
            stack.append((node, True))
            stack.extend([(operand, False) for operand in node.operands if id(operand) not in found])
    return list(found.values())


SMALL = 1 << 13


def _order(nest: Nest) -> list[int]:
    """The axes longer than 1, from the outermost loop to the innermost; reduced ones last where that is simple."""
    axes = [axis for axis, size in enumerate(nest.domain) if size > 1]
    inner = nest.inner
    if inner is None:
        sets = {root.reduced for root in nest.roots if root.how}
        if len(sets) != 1 or math.prod(nest.domain) > SMALL:
            return axes
        (inner,) = sets
    return [axis for axis in axes if axis not in inner] + [axis for axis in axes if axis in inner]


def _groups(nest: Nest, used: list[ScalarNode], order: list[int]) -> list[list[int]]:
    """Groups of adjacent axes that every access runs through like one axis."""
    places = [dict(node.data[1][1]) for node in used if node.kind in MEMORY]
    places += [dict(root.at[1]) for root in nest.roots]
    sets = [root.reduced for root in nest.roots if root.how] + ([nest.inner] if nest.inner is not None else [])
    groups: list[list[int]] = []
    for axis in order:
        if groups:
            last = groups[-1][-1]
            size = nest.domain[axis]
            same = all(
                place.get(last, 0) == size * place.get(axis, 0) for place in places if last in place or axis in place
            )
            kept = all((last in chosen) == (axis in chosen) for chosen in sets)
            if same and kept and (axis == last + 1 or same):
                groups[-1].append(axis)
                continue
        groups.append([axis])
    return groups


def _vector(domain: list[int], roots: list[Root], nodes: list[ScalarNode]) -> int:
    """The axis to vectorize: that with the lowest cost."""
    return min(reversed(range(len(domain))), key=lambda lane: _work(lane, domain, roots, nodes), default=-1)


def _work(lane: int, domain: list[int], roots: list[Root], nodes: list[ScalarNode]) -> float:
    """The approximate number of instructions if an axis is vectorized."""

    def times(axes: Iterable[int]) -> float:
        """The number of executions of what depends on these axes: in the loop of the last one, and so in all around it."""
        depth = max(axes, default=-1) + 1
        count = math.prod(domain[:depth])
        return count / domain[lane] * -(-domain[lane] // LANES) if lane < depth else count

    def access(axes: Iterable[int], place: Affine, scattered: Iterable[int] = ()) -> float:
        step = dict(place[1]).get(lane, 1)
        return times(axes) * (step if 1 <= step <= NEAR and lane not in scattered else APART)

    found = sum(node.cost * times(node.axes) for node in nodes if node.cost)
    for node in nodes:
        if node.kind in MEMORY:
            scattered = [axis for operand in node.operands for axis in operand.axes]
            found += access(node.axes, node.data[1], scattered)
    for root in roots:
        kept = [axis for axis, _ in root.at[1]]
        if not root.how:
            found += access(kept, root.at)
        elif _in_memory(root) and lane not in root.reduced:
            found += 2 * access(kept, root.at)
        elif lane in root.reduced:
            found += ACROSS * times([*kept, lane] if max(kept, default=-1) > lane else kept)
    return found
