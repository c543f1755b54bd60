"""The tape: how an operation is recorded, and which values are saved for the backward pass.

The tape is one interpreter among others: it computes an operation on the values in its carriers and, if an input is
tracked, creates a node. How a cotangent travels back over the nodes is in `walk`.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from .. import ops
from .._core import bfloat, errors
from .._core.halves import char_of
from .._core.modes import FieldBlock, Mode, mode, quiet
from .._core.primitives import BaseInterpreter, Carrier, Primitive, bind
from .._core.shapes import sum_to
from .._core.sites import Site
from .cuts import Cut, cut, cut_off, flat
from .memory import Cell, cell_of, cell_with, keep_array, share, version
from .node import AccumulateGrad, Node, hooks_of, make, node_class, outputs

if TYPE_CHECKING:
    import contextvars

    from .._core.primitives import Function
    from .._core.typing import Params, Result, Saved, Tensor, Tensors, Value


ndarray = np.ndarray

# 1. Recording
#
# The tape is the interpreter of level 0, and of each level that a transform enters.


class TapeOperation(NamedTuple):
    """An operation that the `compute` of a mode is to compute: its arguments, what they box, and whether one is tracked."""

    tape: Tape
    primitive: Primitive
    args: Sequence[Value]
    edges: Sequence[Node | None]
    values: Sequence[Value]
    params: Params
    tracked: bool

    def beneath(self) -> Any:
        """The result, unboxed: some of the values may be carriers of lower levels."""
        return self.tape.beneath(self.primitive, self.values, self.params)

    def finished(self, result: Result) -> Tensors:
        """The result, boxed, and recorded if an input is tracked."""
        return self.tape.finish(self.primitive, self.args, self.edges, result, self.params, self.tracked)

    def seen(
        self, before: Callable[[TapeOperation], Tensors] | None, copy: Callable[[], contextvars.Context]
    ) -> Tensors:
        """The boxed result for observers: what an earlier one computes, or computed in the context that `copy` gives.

        If some of the values are carriers of lower levels, it is computed and recorded there.
        """
        if before is not None:
            return before(self)
        if any(isinstance(value, Carrier) for value in self.values):
            return self.finished(self.beneath())
        return self.finished(copy().run(bfloat.forward(self.primitive, self.values), *self.values, **self.params))


heirs: list[Callable[[Sequence[Value], Tensors], object]] = []
"""What gives results of the default tape the class of their arguments, if there is a class that results inherit."""


class Tape(BaseInterpreter):
    """The interpreter that records operations: its carriers are tensors, boxed by `wrap`."""

    boxes: ClassVar[type[Tensor] | None] = None
    """The class of this tape's plain tensors, if one may be made without `wrap`, which is quicker."""

    def wrap(self, value: Value, node: Node | None) -> Tensor:
        """A carrier of this level that boxes a value, with the node that computed it."""
        raise NotImplementedError

    def process(self, primitive: Primitive, args: Sequence[Value], params: Params) -> Tensors:
        """Compute one operation, and record it if an input is tracked."""
        values: list[Value] = []
        edges: list[Node | None] = []
        tracked = nested = False
        level = self.level
        for arg in args:
            node = None
            if isinstance(arg, Carrier):
                value: Value = arg
                if arg.level == level:
                    if not isinstance(arg.interpreter, Tape):
                        raise RuntimeError(errors.leaked(primitive.short_name))
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
            return compute(TapeOperation(self, primitive, args, edges, values, params, tracked))
        run = quiet.copy().run
        result = self.beneath(primitive, values, params) if nested else run(primitive.forward, *values, **params)
        return self.finish(primitive, args, edges, result, params, tracked)

    def sees(self, value: Carrier) -> bool:
        """True if a carrier belongs to this tape or to a higher level; one of another tape of this level is only a value."""
        return value.interpreter is self or value.level > self.level

    def beneath(self, primitive: Primitive, values: Sequence[Value], params: Params) -> Any:
        """The result of an operation on the values in carriers of this level, some of which are carriers of lower levels."""
        return bind(primitive, values, params)

    def recording(self, create_graph: bool, cotangents: Sequence[object]) -> bool:
        """True if the operations of a pass over this tape are recorded, by this tape or at a higher level."""
        return create_graph or any(isinstance(g, Carrier) and g.level > self.level for g in cotangents)

    def finish(
        self,
        primitive: Primitive,
        args: Sequence[Value],
        edges: Sequence[Node | None],
        result: Result,
        params: Params,
        tracked: bool,
    ) -> Tensors:
        """The boxed result of an operation that has been computed; it is recorded if an input is tracked."""
        current = mode.get()
        kind = _kind(result) if tracked and current.grad and primitive.differentiable else ""
        if kind in {"f", "c"}:
            out = self.record(primitive, args, edges, result, params, conjugated=kind == "c")
        else:
            out = self._untracked(primitive, args, result, tracked, current)
        if not self.level:
            for piece in out if isinstance(out, tuple) else (out,):
                if isinstance(piece._array, ndarray) or piece._array._memory is not None:
                    share(args, piece)
            if heirs:
                heirs[0](args, out)
        return out

    def record(
        self,
        primitive: Primitive,
        args: Sequence[Any],
        edges: Sequence[Node | None],
        result: Result,
        params: Any,
        *,
        conjugated: bool,
    ) -> Tensors:
        """The boxed result of an operation, with its new node; `conjugated` is True for complex results."""
        title = primitive.title
        first = result[0] if isinstance(result, tuple) else result
        rounded = type(first) is not ndarray and char_of(first) == "E"
        name = title if type(title) is str else primitive.node_name(params)
        cls = node_class(primitive, name, conjugated, rounded=rounded)
        node = make(cls, tuple(edges), (), params, None)
        if isinstance(result, tuple):
            shapes = [piece.shape for piece in result]
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

    def run(self, node: Node, cotangents: Sequence[Tensor]) -> tuple[Tensor | None, ...]:
        """Run a single node: the cotangents of its inputs from those of its outputs, all as tensors."""
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
        """One value that a node has saved (the leaf itself for a leaf); with `raw`, the handle on which hooks are registered."""
        if type(node.saved) is not tuple:
            raise node.saved.error(node)
        if raw:
            return SavedTensor(self, node, place)
        _, source = node.primitive.kept(len(node.edges))[place]
        edge = None if source is None else node.edges[source]
        return edge.variable if isinstance(edge, AccumulateGrad) else saved_tensors(self, node)[place]

    def _untracked(
        self, primitive: Primitive, args: Sequence[Value], result: Result, tracked: bool, current: Mode
    ) -> Tensors:
        out = (
            tuple(self.wrap(piece, None) for piece in result) if isinstance(result, tuple) else self.wrap(result, None)
        )
        made = why_cut(primitive, args, result, tracked, current)
        if made is not None:
            for piece in out if isinstance(out, tuple) else (out,):
                piece._cut = made
        return out

    def _keep(self, node: Node, args: Sequence[Value], out: Tensors) -> tuple[Saved | None, ...]:
        """The cells of the saved values; None for values that only rules of untracked inputs name."""
        if mode.get().pack is not None:  # hooks get arrays, too: masks and indices
            hooks_of(node)
            args = [self.wrap(arg, None) if type(arg) is ndarray and arg.ndim else arg for arg in args]
        kept: list[Saved | None] = []
        for place, users in node.primitive.keeps:
            if users is not None and not any(map(node.edges.__getitem__, users)):
                kept.append(None)
            elif place is None:
                kept += [
                    keep(piece, self.level, is_output=True) for piece in (out if isinstance(out, tuple) else (out,))
                ]
            elif type(place) is int:
                kept.append(keep(args[place], self.level))
            else:
                kept += [keep(arg, self.level) for arg in args[place]]
        return tuple(kept)


def why_cut(primitive: Primitive, args: Sequence[Value], result: Result, tracked: bool, current: Mode) -> Cut | None:
    """The reason why a result is not tracked although tracked tensors went into it; None if there is nothing to explain.

    An operation whose derivative is zero hides the reasons that its inputs carry.
    """
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


def _leads_nowhere(primitive: Primitive, result: Result) -> bool:
    """True if a result has no derivative because of its dtype, or a derivative of zero."""
    return flat(primitive) or _kind(result) not in {"f", "c"}


def _kind(result: Result) -> str:
    """The kind of a result's dtype: 'f' for real and 'c' for complex numbers; others have no derivative."""
    if isinstance(result, tuple):
        return next((kind for kind in map(_kind, result) if kind in "fc"), "no outputs")
    return (result._dtype if isinstance(result, Carrier) else result.dtype).kind


# 2. What is saved
#
# A node holds cells. A tensor gets its cell when it is first saved, and shares it with all nodes that save it later. With
# `saved_tensors_hooks` a `Packed` object holds the result of the pack hook instead.


class Packed:
    """A saved value replaced by the result of a pack hook; to read it calls the unpack hook."""

    __slots__ = ("handle", "unpack")

    def __init__(self, tensor: Tensor, pack: Function, unpack: Function) -> None:
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
    """A saved carrier of a lower level, with its history there and the value that it had when it was saved."""

    __slots__ = ("cell", "carrier")

    def __init__(self, carrier: Tensor) -> None:
        self.cell = carrier._cell or cell_of(carrier)
        self.carrier = carrier._shallow_copy()

    @property
    def array(self) -> Tensor:
        """The carrier, with the value that it had when it was saved."""
        self.carrier._array = self.cell.array
        return self.carrier


def keep(value: Value, level: int, *, is_output: bool = False) -> Saved:
    """The cell in which a node of a level saves a value."""
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
    """A handle on one saved value: `register_hooks(pack, unpack)` packs it now, and unpacks it during backward."""

    def __init__(self, tape: Tape, node: Node, place: int) -> None:
        self._tape, self._node, self._place = tape, node, place

    def register_hooks(self, pack: Function, unpack: Function) -> None:
        """Replace the value by the result of `pack`."""
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
    """For each saved value of an operation with `count` inputs, the index of its input; None for an output."""
    return tuple([source for _, source in primitive.kept(count)])


def saved_tensors(tape: Tape, node: Node) -> list[Tensor | None]:
    """The saved values of a node, as tensors that are connected to the graph again; None for values that no rule needs."""
    connected: list[Tensor | None] = []
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
    """Replaces the saved values of a node that cannot run any more."""

    def error(self, node: Node, order: Sequence[Node] = ()) -> Exception:
        """The exception to raise when the node is to run, in a pass over the nodes in `order`."""
        raise NotImplementedError


class Freed(Obstacle):
    """Says that the saved values were freed by an earlier backward, and where that was called."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def error(self, node: Node, order: Sequence[Node] = ()) -> Exception:
        """torch's error for a second backward, with the line of the first."""
        new = [each for each in order if type(each.saved) is tuple and each.saved]
        if new and {each.site for each in new} & {each.site for each in order if each.saved is self}:
            # Lines have run again since the first pass, as in a loop: what do they use of what they gave before it?
            first = min(each.seq for each in new)
            ways = [edge for each in order if each.seq >= first for edge in each.edges]
            kept = [each.site for each in ways if each is not None and each.seq < first and each.edges]
            lines = importlib.import_module("pullback._tape.lines")  # read for errors alone
            cuts: list[str] = next(filter(None, map(lines.detached, kept)), [])
            if kept:
                return errors.second_backward(node, self.site, kept[0], cuts)
        return errors.second_backward(node, self.site)
