"""The pass: how a cotangent travels back over the tape, and where it ends up.

Nodes are made after everything they depend on, so running them youngest first is a topological order, and traversal
needs no recursion. A pass first checks the whole graph it is about to walk, then walks it, and only then touches
`.grad`: a refused call changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import starmap
from operator import attrgetter, call
from sys import _getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops
from .._core import xp as _xp
from .._core.forks import exchanging
from .._core.lazy import provider
from .._core.modes import FieldBlock, asking, mode, quiet, restoring, running, set_all
from .._core.primitives import Carrier
from .._core.shapes import sum_to
from .._core.sites import caller, user_frame
from . import native
from .memory import Cell, cell_with, protect, written
from .node import AccumulateGrad, Node, Output, Parts
from .recording import Freed, Tape, saved_tensors
from .views import replace

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType
    from .._core.primitives import Function
    from .._core.typing import Array, Namespace, Saved, Tensor, Value


ndarray = np.ndarray

_seq = attrgetter("seq")

# 1. Order
#
# Everything reachable is known before anything runs.


def youngest_first(roots: Iterable[Node]) -> list[Node]:
    """Every node reachable from the roots, the latest made first."""
    seen: set[Node | None] = {*roots}
    order: list[Any] = [*seen]
    seen.add(None)
    for node in order:  # which grows meanwhile
        for edge in node.edges:
            if edge not in seen:
                seen.add(edge)
                order.append(edge)
    return by_age(order)


def by_age(order: list[Node]) -> list[Node]:
    """A list of nodes, sorted: the latest made first."""
    order.sort(key=_seq, reverse=True)
    return order


def filled(g: Parts, params: Any) -> list[Any]:
    """The cotangents that a node with several outputs runs on."""
    return g.filled(params["shapes"])


def surveyed(order: list[Node], wanted: frozenset[Node]) -> tuple[bool, bool, bool]:
    """Whether code of users runs in a pass over nodes, whether a node has lost its values, and whether all leaves are wanted."""
    foreign = obstructed = False
    everywhere = True
    for node in order:
        if node.hooks is not None or node.foreign:
            foreign = True
        if not node.edges:
            everywhere = everywhere and node in wanted
        if type(node.saved) is not tuple:
            obstructed = True
    return foreign, obstructed, everywhere


if native.core is not None:
    youngest_first, surveyed = native.core.youngest_first, native.core.surveyed


def restrict(order: list[Node], targets: Iterable[Node]) -> set[Node]:
    """The nodes that lie on a way to a target."""
    needed = set(targets)
    for node in reversed(order):
        if node not in needed and not needed.isdisjoint(node.edges):
            needed.add(node)
    return needed


def _all_arrays(order: list[Node]) -> bool:
    """Whether nodes have kept nothing but arrays: then no level beneath has a part in a pass."""
    return all(
        cell is None or (type(cell) is Cell and isinstance(cell.array, ndarray))
        for node in order
        if type(node.saved) is tuple
        for cell in node.saved
    )


def _pulled(
    node: Node, xp: Namespace, edges: Sequence[Node | None], g: Any, saved: Sequence[Saved | None]
) -> Sequence[Value | None]:
    return node.pull(xp, g, edges, saved, node.params)


# 2. The walk
#
# One loop for raw arrays and for `create_graph`: only the namespace, and what saved values look like, differ. The
# cotangent of an input that was broadcast is summed down to the input's shape here, once, so that no rule has to.


class Pass:
    """One walk over the tape: what it is asked, and what it finds."""

    targeted = False
    """Whether it looks for some gradients only."""
    foreign = False
    """Whether code of users runs on its way."""
    inner = False
    """Whether its targets are a part of another pass, too, which runs the hooks on their tensors."""
    recomputed: Any = None
    """What checkpoints have computed again for it."""
    watcher: Any = None
    """Who is told of it."""

    def __init__(self, tape: Tape, create_graph: bool, recording: bool, raw: bool, freed: Freed | None) -> None:
        self.tape = tape
        self.create_graph = create_graph
        self.recording = recording
        self.xp: Namespace = _xp if raw else ops
        self.freed = freed
        self.strong_zeros: Any = provider("strong zeros").with_strong_zeros if mode.get().strong_zeros else None
        self.leaves: list[tuple[AccumulateGrad, Any]] = []
        self.found: dict[Node, Any] = {}
        self.retained: list[tuple[Any, Any]] = []
        self.seen: list[Any] = []  # what hooks hold: never to be written
        self.waiting: dict[Any, dict[int, Any]] = {}  # hooks on several tensors, and what has arrived for each

    def walk(
        self, order: list[Node], pending: dict[Node, Any], wanted: frozenset[Node], needed: set[Node] | None
    ) -> None:
        """Run the nodes in order, each on the sum of the cotangents that have reached it."""
        xp, freed, create_graph, strong_zeros = self.xp, self.freed, self.create_graph, self.strong_zeros
        for node in order:
            g = pending.pop(node, None)
            if g is None:
                continue
            if node.shape is None and isinstance(g, Parts):
                g = filled(g, node.params)
            hooks = node.hooks
            if hooks is not None and not (self.inner and node in wanted):
                g = self.before(node, g)
            edges = node.edges
            if node in wanted:
                self.found[node] = g
            if not edges:
                self.leaves.append((node, g))  # type: ignore[arg-type]  # only leaves have no edges
                continue
            if needed is not None:
                edges = tuple([edge if edge in needed else None for edge in edges])
                if not any(edges):
                    continue
            if hooks is not None and hooks.pre:
                g = self.entered(node, g)
            saved = self.connected(node) if create_graph and node.saved else node.saved
            results = node.pull(xp, g, edges, saved, node.params)
            if strong_zeros is not None and type(node) is not Output:
                pull = partial(_pulled, node, xp, edges)
                results = strong_zeros(xp, node.primitive, g, results, node.params, saved, pull)
            if hooks is not None and hooks.post:
                results = self.after(node, results, g)
            if freed is not None and saved:
                node.saved = freed
            for edge, result in zip(edges, results):  # noqa: B905  # `strict` would take 0.2 us
                if edge is not None and result is not None:
                    fits = result.shape == edge.shape or edge.shape is None
                    g = result if fits else sum_to(xp, result, edge.shape)
                    before = pending.get(edge)
                    pending[edge] = g if before is None else before + g

    @restoring
    def announced(
        self,
        walk: Function,
        order: list[Node],
        pending: dict[Node, Any],
        wanted: frozenset[Node],
        needed: set[Node] | None,
        foreign: bool,
    ) -> None:
        """Walk as the pass that is running, for hooks and other code of users."""
        current, level = mode.get(), self.tape.level
        above = any(isinstance(g, Carrier) and g.level > level for g in pending.values())
        if current.alone is not None and not (foreign or above or level > 1 or current.pack or self.watcher):
            walk = partial(current.alone, [n.primitive for n in order if n.edges and type(n) is not Output], walk)
        site = None if foreign else user_frame(_getframe(2))
        before = {running: running.get(), asking: asking.get()}
        try:
            set_all({running: self, asking: site})
            as_it_is = self.xp is _xp or current.grad is self.recording
            with np.errstate(all="ignore"), nullcontext() if as_it_is else self.mode():  # hooks set it themselves
                walk(order, pending, wanted, needed)
        finally:
            set_all(before)
        if self.waiting:
            with self.mode():
                for hook, arrived in self.waiting.items():
                    hook.finish(arrived)

    def mode(self) -> FieldBlock:
        """The mode in which hooks run, and everything else when the pass is recorded."""
        return FieldBlock(grad=self.recording)

    def connected(self, node: Node) -> tuple[Cell, ...]:
        """What a node kept, as tensors connected to the graph again."""
        return tuple(map(cell_with, saved_tensors(self.tape, node)))

    def wrapped(self, value: Any) -> Any:
        """A cotangent as hooks see it: a tensor."""
        if value is None or (isinstance(value, Carrier) and self.tape.sees(value)):
            return value
        return self.tape.wrap(value, None)

    def unwrapped(self, value: Any) -> Any:
        """What a hook returned, as the walk holds it; from now on somebody else may hold it too."""
        if value is not None and not self.create_graph and value.interpreter is self.tape:
            value = value._array
        self.seen.append(value)
        return value

    def before(self, node: Node, g: Value) -> Any:
        """g after the hooks on the tensor, kept for a tensor that retains its gradient."""
        hooks = node.hooks
        assert hooks is not None
        if hooks.tensor:
            with self.mode():
                g = self.unwrapped(hooks.before(self.wrapped(g)))
        if hooks.retained is not None and (tensor := hooks.retained()) is not None:
            self.retained.append((tensor, g))
        return g

    def entered(self, node: Node, g: Value | list[Value]) -> Any:
        """g after the hooks that run before the node does: no gradient that is asked for has seen them."""
        assert node.hooks is not None
        several = type(g) is list
        with self.mode():
            given = tuple(map(self.wrapped, g if several else (g,)))
            replaced = [self.unwrapped(value) for value in node.hooks.run("pre", given)]
        return replaced if several else replaced[0]

    def after(self, node: Node, results: Sequence[Value | None], g: Value | list[Value]) -> Sequence[Value | None]:
        """The cotangents of the inputs after the hooks on the node."""
        assert node.hooks is not None
        given = tuple(map(self.wrapped, g if type(g) is list else (g,)))
        shaped = [
            r
            if r is None or edge is None or edge.shape is None or r.shape == edge.shape
            else sum_to(self.xp, r, edge.shape)
            for edge, r in zip(node.edges, results, strict=True)
        ]
        with self.mode():
            return [self.unwrapped(r) for r in node.hooks.run("post", tuple(map(self.wrapped, shaped)), given)]


def _require_saved(order: list[Node], needed: set[Node] | None) -> None:
    """Raise the error of a node that has to run and has its values no longer."""
    for node in order:
        if type(node.saved) is not tuple and (needed is None or not needed.isdisjoint(node.edges)):
            raise node.saved.error(node, order)


class Inner(tuple[Node, ...]):
    """Targets of a walk that is a part of another, which reaches them, too, and runs the hooks on their tensors."""

    __slots__ = ()


def pull_back_within(
    tape: Tape, roots: Sequence[tuple[Node, Value]], targets: Iterable[Node], *, create_graph: bool
) -> Pass:
    """A walk from roots to targets that is a part of another: what it passes is kept, and the other runs the targets' hooks."""
    return pull_back(tape, roots, targets=Inner(targets), retain_graph=True, create_graph=create_graph)


def pull_back(
    tape: Tape,
    roots: Sequence[tuple[Node, Value]],
    *,
    targets: Sequence[Node] | None = None,
    refuse_unused: Callable[[int], Exception] | None = None,
    retain_graph: bool,
    create_graph: bool,
) -> Pass:
    """Walk back from roots and their cotangents; with targets, only along ways that lead to one."""
    pending: dict[Node, Any] = {}
    raw = not create_graph
    for node, g in roots:
        pending[node] = pending[node] + g if node in pending else g
        raw = raw and isinstance(g, ndarray)
    order = youngest_first(pending)
    wanted: frozenset[Node] = frozenset() if targets is None else frozenset(targets)
    if targets is not None and refuse_unused is not None and not wanted.issubset(order):
        raise refuse_unused(next(index for index, target in enumerate(targets) if target not in order))
    foreign, obstructed, everywhere = surveyed(order, wanted)
    needed = None if targets is None or everywhere else restrict(order, wanted)
    if obstructed:
        _require_saved(order, needed)
    raw = raw and (tape.level == 0 or _all_arrays(order))
    freed = None if retain_graph else Freed(caller())
    current = mode.get()
    watcher = current.watcher
    usual = (watcher is None or watcher is current.observer) and not current.strong_zeros
    plain = raw and not foreign and usual  # nothing that runs asks for the mode or for the pass
    recording = not plain and tape.recording(create_graph, list(pending.values()))
    walker = Pass(tape, create_graph, recording, raw, freed)
    walk = walker.walk
    if watcher is not None:
        walker.watcher, walker.foreign = watcher, foreign
        walk = watcher.begins(walker, order, roots, needed)
    if plain and watcher is None and native.core is not None:
        found = (wanted, needed, freed, walker.leaves, walker.found)
        quiet.copy().run(native.core.walk, order, pending, *found)
    elif plain:
        quiet.copy().run(walk, order, pending, wanted, needed)
    else:
        walker.targeted, walker.foreign, walker.inner = targets is not None, foreign, type(targets) is Inner
        walker.announced(walk, order, pending, wanted, needed, foreign)
    return walker


# 3. Accumulation
#
# Only here does a pass change anything a user can see. The first gradient becomes `.grad` as it is when nobody else
# holds it, else as a copy with the leaf's layout; later ones are added in place, or, with create_graph, into a new
# tensor. Two threads that accumulate into one tensor take turns.
#
# The handler of a signal may raise an exception between any two instructions of Python. So everything is prepared first;
# what is left are steps that run no instruction of Python, and one call of a function written in C carries out all of them.

_set_grad = vars(AccumulateGrad)["grad"].__set__  # that of a slot, written in C


def _prepare(
    walker: Pass, steps: list[Any], old: Tensor | None, g: Any, like: Array, dtype: NumpyType, held: set[int]
) -> Tensor:
    """The gradient `old`, or None, and one more cotangent; where that is added to the memory of `old`, as one of the steps."""
    if walker.create_graph:
        if g._dtype != dtype:
            g = ops.astype(g, dtype=dtype, source=g._dtype)
        if (
            old is None and id(g) not in held and getattr(g._array, "base", None) is None
        ):  # a view's memory is another's
            held.add(id(g))
            return g
        return ops.clone(g) if old is None else old + g
    if old is None:
        return walker.tape.wrap(owned(g, like, dtype, held), None)
    array = old._array
    if array.shape != g.shape:
        raise RuntimeError(
            f"The size of the gradient that arrives, {tuple(g.shape)}, must match that of .grad, {tuple(array.shape)}: "
            "the leaf has got another shape in place since; set .grad to None first"
        )
    if isinstance(array, Carrier):
        replace(old, walker.tape.wrap(ops.add(array, g), None))  # in a transform, whose results an exception discards
        return old
    if not array.flags.writeable:
        return walker.tape.wrap(np.asarray(array + g, dtype=array.dtype), None)
    protect(old)
    written(old)
    steps.append((np.add if array.dtype is g.dtype else _add, array, g, array))
    return old


_add = partial(np.add, casting="unsafe")


def owned(g: Value, like: Array, dtype: NumpyType, held: set[int]) -> Value:
    """g as an array that nobody else holds, laid out like the leaf; in order if that does not fill its memory."""
    if type(g) is ndarray:
        key = id(g)
        if g.base is None and g.dtype == dtype and g.strides == like.strides and key not in held and g.flags.writeable:
            held.add(key)
            return g
    elif isinstance(g, Carrier):
        g = g if g._dtype == dtype else ops.astype(g, dtype=dtype, source=g._dtype)
        return like.copy_of(g) if hasattr(like, "copy_of") else ops.clone(g)
    out = np.empty_like(like, dtype=dtype, subok=False)
    if not out.flags.c_contiguous and np.empty_like(like).strides != like.strides:
        out = np.empty(like.shape, dtype)  # the leaf has gaps or repeats
    np.copyto(out, g, casting="unsafe")
    return out


def commit(walker: Pass, roots: Sequence[tuple[Node, Value]]) -> None:
    """Write the gradients a pass has found into `.grad`, then run the hooks that wait for them."""
    for place, (leaf, g) in enumerate(walker.leaves):
        if leaf.hooks is not None and leaf.hooks.pre:
            walker.leaves[place] = leaf, walker.entered(leaf, g)
    held = {id(g) for _, g in roots}
    if walker.seen:
        held.update(map(id, walker.seen))
    with exchanging:  # around a call: CPython 3.13 leaves the jump at the end of a loop outside of its block
        hooked = _write(walker, held)
    if hooked:
        for leaf, g in walker.leaves:
            for (hook,) in list(leaf.post):
                hook(leaf.variable)
            if leaf.hooks is not None and leaf.hooks.post:
                walker.after(leaf, (), g)
    if walker.watcher is not None:
        walker.watcher.ends(walker)


def _write(walker: Pass, held: set[int]) -> bool:
    """Write the gradients that a pass has found, all or none of them; True if hooks wait for them."""
    steps: list[Any] = []
    hooked = quietly = False
    for tensor, g in walker.retained:
        new = _prepare(walker, steps, None, g, tensor._array, tensor._dtype, held)
        old = tensor._kept_grad
        if old is not None:
            walker.seen.append(old)  # which lives until all is done: what is called when it goes may be Python
            with walker.mode():
                new = old + new
        steps.append((object.__setattr__, tensor, "_kept_grad", new))
    for leaf, g in walker.leaves:
        tensor = leaf.tensor()
        if tensor is not None and tensor._node is not leaf:
            continue  # it no longer requires grad
        array, old = leaf.array, leaf.grad
        new = _prepare(walker, steps, old, g, array, leaf.grad_dtype or array.dtype, held)
        if new is not old:
            if old is not None:
                walker.seen.append(old)
            steps.append((_set_grad, leaf, new))
        else:
            quietly = True  # numbers are added
        if leaf.post or leaf.hooks is not None:
            hooked = True
    run = quiet.copy().run if quietly else call
    if len(steps) == 1:
        run(*steps[0])
    else:
        run(deque, starmap(call, steps), 0)
    return hooked
