"""The tape: how an operation is recorded, and how a cotangent travels back.

Nodes are made after everything they depend on, so running them youngest first is a topological order, and traversal
needs no recursion. A pass first checks the whole graph it is about to walk, then walks it, and only then touches
`.grad`: a refused call changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from . import _refusals, _xp, ops
from ._core import Carrier, Interpreter, Primitive, bind
from ._memory import Cell, protect, version, written
from ._modes import FieldBlock, Mode, mode, running
from ._node import AccumulateGrad, Hooks, Node, Parts, hooks_of, make, node_class, outputs
from ._shapes import sum_to_axes
from ._sites import Site, caller

Array = np.ndarray[Any, np.dtype[Any]]

# 1. Recording
#
# The tape is the interpreter of level 0, and of each level a transform opens. It computes the operation on what its
# carriers hold, and where an input is tracked it leaves a node.


class Cut(NamedTuple):
    """Why a value that depends on tracked tensors is not tracked itself, and where that happened."""

    reason: str
    site: Site


class Tape(Interpreter):
    """The interpreter that records: its carriers are tensors, boxed by `wrap`."""

    def wrap(self, value: Any, node: Node | None) -> Any:
        """A carrier of this level around a value, with the node that made it."""
        raise NotImplementedError

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Compute one operation and record it where an input is tracked."""
        values: list[Any] = []
        edges: list[Node | None] = []
        tracked = False
        for arg in args:
            if isinstance(arg, Carrier) and arg.level == self.level:
                values.append(arg._array)  # type: ignore[attr-defined]  # a tensor
                edges.append(node := arg._node)  # type: ignore[attr-defined]  # a tensor
                tracked = tracked or node is not None
            else:
                values.append(arg)
                edges.append(None)
        result = bind(primitive, values, params)
        current = mode.get()
        if not (tracked and current.grad and primitive.differentiable and _inexact(result)):
            return self._untracked(primitive, args, result, tracked, current)
        return self.record(primitive, args, edges, result, params)

    def record(
        self, primitive: Primitive, args: Sequence[Any], edges: Sequence[Node | None], result: Any, params: Any
    ) -> Any:
        """The result of an operation, boxed, with its node."""
        node = make(node_class(primitive, primitive.node_name(params)), tuple(edges), (), params, None)
        if type(result) is tuple:
            shapes = [piece.shape for piece in result]
            node.params = {**params, "shapes": shapes}
            return tuple(map(self.wrap, result, outputs(node, shapes)))
        node.shape = result.shape
        out = self.wrap(result, node)
        if primitive.saved:
            node.saved = self._keep(primitive, args, edges, out)
        return out

    def _untracked(self, primitive: Primitive, args: Sequence[Any], result: Any, tracked: bool, current: Mode) -> Any:
        out = tuple(self.wrap(piece, None) for piece in result) if type(result) is tuple else self.wrap(result, None)
        cut: Cut | None = None
        if tracked:
            reason = primitive.name if current.grad else "no_grad"
            cut = Cut("inference_mode" if current.inference else reason, caller())
        else:
            for arg in args:
                cut = cut or getattr(arg, "_cut", None)
        if cut is not None:
            for piece in out if type(out) is tuple else (out,):
                piece._cut = cut
        return out

    def _keep(self, primitive: Primitive, args: Sequence[Any], edges: Sequence[Node | None], out: Any) -> Any:
        """The cells of the values that the rules of tracked inputs name; None in the place of the others."""
        kept: list[Cell | None] = []
        for name in primitive.saved:
            if not primitive.needed(name, edges):
                kept.append(None)
            elif name == "y":
                kept.append(keep(out, is_output=True))
            elif primitive.starred(name) == name:
                kept.append(keep(args[primitive.inputs.index(name)]))
            else:
                kept.extend(map(keep, args[len(primitive.inputs) - 1 :]))
        return tuple(kept)


def _inexact(result: Any) -> bool:
    """Whether a result is real or complex: integers and bools have no derivative."""
    if type(result) is tuple and not result:
        return False
    first = result[0] if type(result) is tuple else result
    dtype = first._dtype if isinstance(first, Carrier) else first.dtype  # type: ignore[attr-defined]  # a tensor
    return dtype.kind in "fc"


# 2. What is saved
#
# A node keeps cells. A tensor that has never been saved gets its cell here; a tensor that has, shares it. With
# `saved_tensors_hooks` the cell holds what the hook made of the value instead.


class Packed:
    """A saved value that a pack hook has taken; reading it unpacks."""

    __slots__ = ("handle", "unpack")

    def __init__(self, tensor: Any, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        before = version(tensor)
        with FieldBlock(grad=False, pack=None, unpack=None):
            self.handle = pack(tensor)
        self.unpack = unpack
        if version(tensor) != before:
            raise RuntimeError(_refusals.PACK_WROTE)

    @property
    def array(self) -> Any:
        """The value, unpacked anew each time."""
        with FieldBlock(pack=None, unpack=None):
            tensor = self.unpack(self.handle)
        if not isinstance(tensor, Carrier):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        return tensor._array  # type: ignore[attr-defined]  # a tensor


def keep(value: Any, *, is_output: bool = False) -> Any:
    """The cell a node keeps for a value."""
    if not isinstance(value, Carrier):
        return Cell(value)
    current = mode.get()
    if current.pack is not None:
        assert current.unpack is not None
        return Packed(value.detach() if is_output else value, current.pack, current.unpack)  # type: ignore[attr-defined]
    if value._inference:  # type: ignore[attr-defined]  # a tensor
        raise RuntimeError(_refusals.INFERENCE_SAVED)
    if value._cell is None:  # type: ignore[attr-defined]  # a tensor
        value._cell = Cell(value._array)  # type: ignore[attr-defined]  # a tensor
    return value._cell  # type: ignore[attr-defined]  # a tensor


def saved_tensors(tape: Tape, node: Node) -> list[Any]:
    """The values a node kept, as tensors connected to the graph again; None for one no rule needs."""
    connected = []
    for cell, source in zip(node.saved, node.primitive.sources(len(node.edges)), strict=True):
        if cell is None or not isinstance(value := cell.array, (np.ndarray, Carrier)):
            connected.append(None if cell is None else cell.array)
            continue
        tensor = tape.wrap(value, node if source is None else node.edges[source])
        if isinstance(cell, Cell):
            tensor._cell = cell
        connected.append(tensor)
    return connected


class Obstacle:
    """Stands in the place of a node's saved values when the node cannot run."""

    def error(self, node: Node) -> Exception:
        """What to raise."""
        raise NotImplementedError


class Freed(Obstacle):
    """The saved values were freed by an earlier backward, called at a line."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def error(self, node: Node) -> Exception:
        """torch's error for a second backward, with the line of the first."""
        return _refusals.second_backward(node, self.site)


class NotImplementedRule(Obstacle):
    """The operation has no derivative in torch or here."""

    def error(self, node: Node) -> Exception:
        """torch's error for an operation without a derivative."""
        return RuntimeError(f"derivative for {node.params} is not implemented")


# 3. The pass
#
# One loop for raw arrays and for `create_graph`: only the namespace, and what saved values look like, differ. The tape
# sums a cotangent down to the shape of its input here, once, so that no rule has to.


def youngest_first(roots: Iterable[Node]) -> list[Node]:
    """Every node reachable from the roots, the latest made first."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        for edge in stack.pop().edges:
            if edge is not None and edge not in seen:
                seen.add(edge)
                stack.append(edge)
    return sorted(seen, key=attrgetter("seq"), reverse=True)


def restrict(order: list[Node], targets: Iterable[Node]) -> set[Node]:
    """The nodes that lie on a way to a target."""
    needed = set(targets)
    for node in reversed(order):
        if node not in needed and not needed.isdisjoint(node.edges):  # type: ignore[arg-type]  # None is never in it
            needed.add(node)
    return needed


class Outcome:
    """What a pass found: cotangents at leaves and at targets, and those that tensors asked to retain."""

    def __init__(self) -> None:
        self.leaves: list[tuple[AccumulateGrad, Any]] = []
        self.targets: dict[Node, Any] = {}
        self.retained: list[tuple[Any, Any]] = []
        self.seen: list[Any] = []  # what hooks and users hold: never to be written
        self.waiting: dict[Any, dict[int, Any]] = {}  # hooks on several tensors, and what has arrived for each

    def before(self, tape: Tape, hooks: Hooks, node: Node, g: Any, unwrap: Callable[[Any], Any]) -> Any:
        """Run what is registered to happen before a node."""

        def wrap(value: Any) -> Any:
            return value if isinstance(value, Carrier) and value.level == tape.level else tape.wrap(value, None)

        g = hooks.before(g, wrap, unwrap)
        self.seen.append(g)
        if hooks.retained is not None and (tensor := hooks.retained()) is not None:
            self.retained.append((tensor, g))
        if hooks.pre:
            g = unwrap(hooks.run("pre", (wrap(g),))[0])
        return g

    def after(self, tape: Tape, hooks: Hooks, results: Sequence[Any], g: Any, unwrap: Callable[[Any], Any]) -> Any:
        """Run the hooks registered to happen after a node."""

        def wrap(value: Any) -> Any:
            if value is None or isinstance(value, Carrier):
                return value
            return tape.wrap(value, None)

        given = tuple(map(wrap, g)) if type(g) is list else (wrap(g),)
        results = [None if r is None else unwrap(r) for r in hooks.run("post", tuple(map(wrap, results)), given)]
        self.seen.extend(results)
        return results


def pull_back(
    tape: Tape,
    roots: Sequence[tuple[Node, Any]],
    *,
    targets: Sequence[Node] | None = None,
    refuse_unused: Callable[[int], Exception] | None = None,
    retain_graph: bool,
    create_graph: bool,
) -> Outcome:
    """Walk back from roots and their cotangents; with targets, only along ways that lead to one."""
    order = youngest_first(node for node, _ in roots)
    if refuse_unused is not None and targets is not None:
        reached = set(order)
        for index, target in enumerate(targets):
            if target not in reached:
                raise refuse_unused(index)
    needed = None if targets is None else restrict(order, targets)
    wanted = frozenset(targets or ())
    for node in order:
        if type(node.saved) is not tuple and (needed is None or (node in needed and node not in wanted)):
            raise node.saved.error(node)
    pending: dict[Node, Any] = {}
    for node, g in roots:
        pending[node] = pending[node] + g if node in pending else g
    raw = not create_graph and all(type(g) is np.ndarray for _, g in roots)
    unwrap = _same if create_graph else attrgetter("_array")
    freed = None if retain_graph else Freed(caller())
    with FieldBlock(grad=create_graph), np.errstate(all="ignore"):
        return _walk(tape, order, pending, needed, wanted, _xp if raw else ops, unwrap, freed)


def _same(value: Any) -> Any:
    return value


def _walk(
    tape: Tape,
    order: list[Node],
    pending: dict[Node, Any],
    needed: set[Node] | None,
    wanted: frozenset[Node],
    xp: Any,
    unwrap: Callable[[Any], Any],
    freed: Freed | None,
) -> Outcome:
    """The loop of a pass."""
    outcome = Outcome()
    create_graph = unwrap is _same
    token = running.set(outcome)
    for node in order:
        g = pending.pop(node, None)
        if g is None:
            continue
        if type(g) is Parts:
            g = g.filled(xp, node.params["shapes"])
        hooks = node.hooks
        if hooks is not None:
            g = outcome.before(tape, hooks, node, g, unwrap)
        if node in wanted:
            outcome.targets[node] = g
        edges = node.edges
        if not edges:
            outcome.leaves.append((node, g))  # type: ignore[arg-type]  # only leaves have no edges
            continue
        if needed is not None:
            edges = tuple(edge if edge in needed else None for edge in edges)
            if not any(edges):
                continue
        saved = tuple(map(Cell, saved_tensors(tape, node))) if create_graph else node.saved
        results = node.pull(xp, g, edges, saved, node.params)
        if hooks is not None and hooks.post:
            results = outcome.after(tape, hooks, results, g, unwrap)
        if freed is not None and node.saved:
            node.saved = freed
        for edge, result in zip(edges, results, strict=True):
            if edge is not None and result is not None:
                if result.shape != edge.shape and edge.shape is not None:
                    result = sum_to(xp, result, edge.shape)
                before = pending.get(edge)
                pending[edge] = result if before is None else before + result
    return outcome


def sum_to(xp: Any, g: Any, shape: tuple[int, ...]) -> Any:
    """A cotangent summed over the axes along which its input was repeated."""
    axes, _ = sum_to_axes(tuple(g.shape), tuple(shape))
    if axes:
        g = xp.sum(g, axis=axes, keepdims=True)
    return g if g.shape == shape else xp.reshape(g, shape=shape)


# 4. Accumulation
#
# Only here does a pass change anything a user can see. The first gradient becomes `.grad` as it is when nobody else
# holds it, else as a copy with the leaf's layout; later ones are added in place, or, with create_graph, into a new
# tensor. Two threads that accumulate into one leaf take turns.

_turn = threading.RLock()


def accumulate(tape: Tape, leaf: AccumulateGrad, g: Any, held: set[int], create_graph: bool) -> None:
    """Add a cotangent to the gradient of a leaf."""
    with _turn:
        leaf.grad = _sum_into(tape, leaf.grad, g, leaf.array, leaf.grad_dtype or leaf.array.dtype, held, create_graph)


def _sum_into(tape: Tape, old: Any, g: Any, like: Array, dtype: Any, held: set[int], create_graph: bool) -> Any:
    if create_graph:
        if np.dtype(g._dtype) != dtype:
            g = ops.astype(g, dtype=dtype, source=g._dtype)
        if old is None and id(g) not in held:
            held.add(id(g))
            return g
        return ops.clone(g) if old is None else old + g
    if old is None:
        return tape.wrap(owned(g, like, dtype, held), None)
    if old._node is not None or not old._array.flags.writeable:
        return tape.wrap(np.asarray(old._array + g, dtype=old._array.dtype), None)
    protect(old)
    np.add(old._array, g, out=old._array, casting="unsafe")
    written(old)
    return old


def owned(g: Any, like: Array, dtype: Any, held: set[int]) -> Array:
    """g as an array that nobody else holds, laid out like the leaf."""
    if (
        type(g) is np.ndarray
        and g.base is None
        and g.dtype == dtype
        and g.strides == like.strides
        and id(g) not in held
        and g.flags.writeable
    ):
        held.add(id(g))
        return g
    out = np.empty_like(like, dtype=dtype, subok=False)
    np.copyto(out, g, casting="unsafe")
    return out


def retain(tape: Tape, tensor: Any, g: Any, held: set[int], create_graph: bool) -> None:
    """Add a cotangent to the `.grad` of a tensor that is not a leaf."""
    like = tensor._array
    if isinstance(like, np.ndarray):
        tensor._kept_grad = _sum_into(tape, tensor._kept_grad, g, like, like.dtype, held, create_graph)
    else:
        tensor._kept_grad = tape.wrap(g, None) if tensor._kept_grad is None else tensor._kept_grad + g


def commit(tape: Tape, outcome: Outcome, roots: Sequence[tuple[Node, Any]], create_graph: bool) -> None:
    """Write the gradients a pass has found into `.grad`, then run the hooks that wait for them."""
    held = {id(g) for _, g in roots} | {id(g) for g in outcome.seen}
    for tensor, g in outcome.retained:
        retain(tape, tensor, g, held, create_graph)
    for leaf, g in outcome.leaves:
        accumulate(tape, leaf, g, held, create_graph)
    for leaf, _ in outcome.leaves:
        for (hook,) in list(leaf.post):
            hook(leaf.variable)


def call_node(tape: Tape, node: Node, cotangents: Sequence[Any]) -> Any:
    """Run one node alone: the cotangents of its inputs, as tensors."""
    if type(node.saved) is not tuple:
        raise node.saved.error(node)
    g = list(cotangents) if "shapes" in (node.params or ()) else cotangents[0]
    saved = tuple(map(Cell, saved_tensors(tape, node)))
    results = []
    for edge, result in zip(node.edges, node.pull(ops, g, node.edges, saved, node.params), strict=True):
        if edge is None or result is None:
            results.append(None)
        else:
            results.append(sum_to(ops, result, edge.shape) if result.shape != edge.shape else result)
    return tuple(results)


__all__ = ["Cut", "Tape", "hooks_of", "pull_back"]
