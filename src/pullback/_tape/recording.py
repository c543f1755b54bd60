"""The tape: how an operation is recorded, and what it keeps.

The tape is one interpreter among others: it computes an operation on what its carriers hold and leaves a node where an
input is tracked. How a cotangent travels back over the nodes is in `_pass`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import ops
from .._core import errors
from .._core import xp as _xp
from .._core.modes import FieldBlock, Mode, mode, quiet
from .._core.primitives import Carrier, Interpreter, Primitive, bind
from .._core.shapes import sum_to
from .._core.sites import Site
from .cuts import Cut, cut, cut_off
from .memory import Cell, cell_of, cell_with, keep_array, version
from .node import AccumulateGrad, Node, hooks_of, make, node_class, outputs

ndarray = np.ndarray

# 1. Recording
#
# The tape is the interpreter of level 0, and of each level a transform opens. It computes the operation on what its
# carriers hold, and where an input is tracked it leaves a node.


class Tape(Interpreter):
    """The interpreter that records: its carriers are tensors, boxed by `wrap`."""

    def wrap(self, value: Any, node: Node | None) -> Any:
        """A carrier of this level around a value, with the node that made it."""
        raise NotImplementedError

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Compute one operation and record it where an input is tracked."""
        values: list[Any] = []
        edges: list[Node | None] = []
        tracked = nested = False
        level = self.level
        for arg in args:
            node = None
            if isinstance(arg, Carrier):
                value: Any = arg
                if arg.level == level:
                    if not isinstance(arg.interpreter, Tape):
                        raise RuntimeError(errors.leaked(primitive.name))
                    value = arg._array
                    node = arg._node
                    if node is not None:
                        tracked = True
                if type(value) is not ndarray:
                    nested = True
                values.append(value)
            else:
                values.append(arg)
            edges.append(node)
        if (compute := mode.get().compute) is not None:
            return compute(self, primitive, args, edges, values, params, tracked)
        if nested:
            result = self.beneath(primitive, values, params)
        else:
            result = quiet.copy().run(primitive.forward, *values, **params)
        return self.finish(primitive, args, edges, result, params, tracked)

    def sees(self, value: Carrier) -> bool:
        """Whether a carrier is this tape's, or stands further out; one of another tape of the level is a value to it."""
        return value.interpreter is self or value.level > self.level

    def beneath(self, primitive: Primitive, values: Sequence[Any], params: dict[str, Any]) -> Any:
        """The result of an operation on what carriers of this level hold, some of it carriers of lower levels."""
        return bind(primitive, values, params)

    def recording(self, create_graph: bool, cotangents: Sequence[Any]) -> bool:
        """Whether operations are recorded while cotangents travel over this tape: on it, or further out."""
        return create_graph or any(isinstance(g, Carrier) and g.level > self.level for g in cotangents)

    def finish(
        self,
        primitive: Primitive,
        args: Sequence[Any],
        edges: Sequence[Node | None],
        result: Any,
        params: dict[str, Any],
        tracked: bool,
    ) -> Any:
        """The result of an operation that has been computed, boxed, and recorded if it is to be."""
        current = mode.get()
        if tracked and current.grad and primitive.differentiable:
            kind = _kind(result)
            if kind in {"f", "c"}:
                return self.record(primitive, args, edges, result, params, conjugated=kind == "c")
        return self._untracked(primitive, args, result, tracked, current)

    def record(
        self,
        primitive: Primitive,
        args: Sequence[Any],
        edges: Sequence[Node | None],
        result: Any,
        params: Any,
        *,
        conjugated: bool,
    ) -> Any:
        """The result of an operation, boxed, with its node; `conjugated` where it is complex."""
        title = primitive.title
        cls = node_class(primitive, title if type(title) is str else primitive.node_name(params), conjugated)
        node = make(cls, tuple(edges), (), params, None)
        if type(result) is tuple:
            shapes = [piece.shape for piece in result]
            node.params = {**params, "shapes": shapes}
            made_by = (
                out if _kind(piece) in "fc" else None for piece, out in zip(result, outputs(node, shapes), strict=True)
            )
            pieces = tuple(map(self.wrap, result, made_by))
            if primitive.saved:
                node.saved = self._keep(node, args, pieces)
            return pieces
        node.shape = result.shape
        out = self.wrap(result, node)
        if primitive.saved:
            node.saved = self._keep(node, args, out)
        return out

    def run(self, node: Node, cotangents: Sequence[Any]) -> tuple[Any, ...]:
        """One node alone: the cotangents of its inputs from those of its outputs, all as tensors."""
        if type(node.saved) is not tuple:
            raise node.saved.error(node)
        g = list(cotangents) if "shapes" in (node.params or ()) else cotangents[0]
        saved = tuple(map(cell_with, saved_tensors(self, node))) if node.saved else ()
        results = node.pull(ops, g, node.edges, saved, node.params)
        return tuple(
            None if edge is None or result is None else sum_to(ops, result, edge.shape)
            for edge, result in zip(node.edges, results, strict=True)
        )

    def kept(self, node: Node, place: int, *, raw: bool) -> Any:
        """One value a node has kept, the leaf itself if it is one; raw, the handle that takes hooks."""
        if type(node.saved) is not tuple:
            raise node.saved.error(node)
        if raw:
            return SavedTensor(self, node, place)
        _, source = node.primitive.kept(len(node.edges))[place]
        edge = None if source is None else node.edges[source]
        return edge.variable if isinstance(edge, AccumulateGrad) else saved_tensors(self, node)[place]

    def _untracked(self, primitive: Primitive, args: Sequence[Any], result: Any, tracked: bool, current: Mode) -> Any:
        out = tuple(self.wrap(piece, None) for piece in result) if type(result) is tuple else self.wrap(result, None)
        made = why_cut(primitive, args, result, tracked, current)
        if made is not None:
            for piece in out if type(out) is tuple else (out,):
                piece._cut = made
        return out

    def _keep(self, node: Node, args: Sequence[Any], out: Any) -> Any:
        """The cells of the values that the rules of tracked inputs name; None in the place of the others."""
        if mode.get().pack is not None:  # hooks get arrays, too: masks and indices
            hooks_of(node)
            args = [self.wrap(arg, None) if type(arg) is ndarray and arg.ndim else arg for arg in args]
        kept: list[Cell | None] = []
        for place, users in node.primitive.keeps:
            if users is not None and not any(map(node.edges.__getitem__, users)):
                kept.append(None)
            elif place is None:
                kept.extend(
                    keep(piece, self.level, is_output=True) for piece in (out if type(out) is tuple else (out,))
                )
            elif type(place) is int:
                kept.append(keep(args[place], self.level))
            else:
                kept.extend(keep(arg, self.level) for arg in args[place])
        return tuple(kept)


def why_cut(primitive: Primitive, args: Sequence[Any], result: Any, tracked: bool, current: Mode) -> Cut | None:
    """Why a result is not tracked although it comes from tracked tensors; a zero derivative hides what came before."""
    if tracked and not current.grad and not _leads_nowhere(primitive, result):
        return cut_off("inference_mode" if current.inference else "no_grad", args)
    cuts: list[Cut] = [made for arg in args if (made := getattr(arg, "_cut", None)) is not None]
    if not cuts:
        return cut(primitive.name, args) if tracked else None
    flat = _leads_nowhere(primitive, result)
    hidden = next((made for made in cuts if made.hides), None)
    if tracked or (flat and hidden is not None):
        return hidden if hidden is not None and not flat else cut(primitive.name, args)
    return hidden or cuts[0]


def _leads_nowhere(primitive: Primitive, result: Any) -> bool:
    """Whether a result has no derivative by what it is, or a derivative of zero."""
    return _flat(primitive) or _kind(result) not in {"f", "c"}


@functools.cache
def _flat(primitive: Primitive) -> bool:
    """Whether a derivative is zero wherever it exists: stated so, or by a rule that gives 0 for 1, whatever the inputs."""
    if primitive.kind != "elementwise" or primitive.saved:
        return primitive.kind == "zero"
    rules = [rule for rule in primitive.rules if rule is not None]
    codes = [rule.__code__ for rule in rules]
    plain = all(code.co_argcount == 2 and not code.co_kwonlyargcount for code in codes)
    return plain and not any(rule(_xp, np.ones(())) for rule in rules)


def _kind(result: Any) -> str:
    """The kind of a result's numbers: 'f' for real and 'c' for complex ones; others have no derivative."""
    if type(result) is tuple:
        return _kind(result[0]) if result else "no outputs"
    return (result._dtype if isinstance(result, Carrier) else result.dtype).kind  # type: ignore[no-any-return]


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
            raise RuntimeError(errors.PACK_WROTE)

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
        return tensor._array


class Beneath:
    """A saved carrier of a lower level: it keeps its history there, and the value it had when it was saved."""

    __slots__ = ("cell", "carrier")

    def __init__(self, carrier: Any) -> None:
        self.cell = carrier._cell or cell_of(carrier)
        self.carrier = carrier._twin()

    @property
    def array(self) -> Any:
        """The carrier, as it was."""
        self.carrier._array = self.cell.array
        return self.carrier


def keep(value: Any, level: int, *, is_output: bool = False) -> Any:
    """The cell that a node of a level keeps for a value."""
    if not isinstance(value, Carrier):
        return keep_array(value)
    current = mode.get()
    if value.level != level:
        if value.level or value._node is not None:
            return Beneath(value) if value._memory is None else cell_with(value.snapshot())
        return value._cell or cell_of(value)  # a constant: there is no history to keep
    beneath = value._array
    if current.pack is not None and not (isinstance(beneath, Carrier) and beneath.level >= 0):  # hooks would lose it
        assert current.unpack is not None
        return Packed(value.detach() if is_output else value, current.pack, current.unpack)
    return value._cell or cell_of(value)


class SavedTensor:
    """The place of one saved value: `register_hooks(pack, unpack)` packs it now, and unpacks it in backward."""

    def __init__(self, tape: Tape, node: Node, place: int) -> None:
        self._tape, self._node, self._place = tape, node, place

    def register_hooks(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        """Replace the value by what `pack` makes of it."""
        saved = list(self._node.saved)
        if isinstance(saved[self._place], Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks "
                "is allowed at a time."
            )
        value = self._tape.wrap(saved[self._place].array, None)
        hooks_of(self._node)
        saved[self._place] = Packed(value, pack, unpack)
        self._node.saved = tuple(saved)


@functools.lru_cache(maxsize=1024)
def sources(primitive: Primitive, count: int) -> tuple[int | None, ...]:
    """For each value that an operation with `count` inputs keeps, which of them it was; None for an output."""
    return tuple([source for _, source in primitive.kept(count)])


def saved_tensors(tape: Tape, node: Node) -> list[Any]:
    """The values a node kept, as tensors connected to the graph again; None for one no rule needs."""
    connected: list[Any] = []
    edges = node.edges
    pieces = iter(outputs(node, node.params["shapes"]) if node.primitive.outputs > 1 else (node,))
    for cell, source in zip(node.saved, sources(node.primitive, len(edges))):  # noqa: B905  # as in `Pass.walk`
        made_by = next(pieces) if source is None else edges[source]
        value = None if cell is None else cell.array
        if isinstance(value, (ndarray, Carrier)):
            value = tape.wrap(value, made_by)
            if type(cell) is Cell:
                value._cell = cell
        connected.append(value)
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
        return errors.second_backward(node, self.site)
