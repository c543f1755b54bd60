"""Operations with a user-defined derivative: how a call is dispatched, recorded, and pulled back.

To an interpreter such an operation is a primitive like any other: its tensors are the primitive's arguments, everything
else its parameters. Only the node differs. It holds what the user saved, and its `pull` passes tensors to the user's
code and checks the results, argument by argument.

In a recorded pass, the user's code runs again as an ordinary program. If that program drops the history of a value, its
derivative would be silently wrong; so its result gets a node that refuses to be differentiated.
"""

from __future__ import annotations

import contextvars
from collections.abc import Hashable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .. import ops
from .._core import xp as _xp
from .._core.modes import FieldBlock, innermost, losses, mode, under
from .._core.primitives import Carrier, Primitive
from .._core.shapes import broadcast_shapes
from .._core.sites import describe
from .._tape.cuts import Cut
from .._tape.memory import Cell
from .._tape.node import AccumulateGrad, Node, Output, Parts, make, outputs
from .._tape.recording import Tape, keep
from .._tape.refusals import MarkedView, refused
from .._tape.views import exchange_all
from .tensor import Tensor

if TYPE_CHECKING:
    from .._core.dtypes import NumpyType
    from .._core.typing import Namespace, Saved, Value


ndarray = np.ndarray

# 1. Calls
#
# The primitive's arguments are the tensors among the user's arguments. A `CustomCall` holds the other arguments and, after
# the first run, the structure of the outputs. It is passed as a parameter.


class Meta(NamedTuple):
    """The description of a tensor that remains available after the tensor is freed."""

    shape: tuple[int, ...]
    dtype: NumpyType

    @classmethod
    def of(cls, value: object) -> Meta | None:
        """The description of a tensor; None for anything else."""
        return cls(tuple(value.shape), value._dtype) if isinstance(value, Carrier) else None

    def zeros(self) -> Tensor:
        """A constant tensor of zeros."""
        return Tensor.interpreter.wrap(np.zeros(self.shape, self.dtype), None)


class CustomCall:
    """One call: the arguments that are not tensors, and the structure of the outputs once it is known."""

    __slots__ = ("constants", "places", "template", "single", "aliases", "dirty", "context", "pushed", "rule")

    template: list[Any]
    single: bool
    aliases: dict[int, int]
    dirty: dict[int, int]
    context: Any
    pushed: tuple[Tensor | None, ...]
    rule: Any

    def __init__(self, args: Sequence[object]) -> None:
        self.places = [place for place, arg in enumerate(args) if isinstance(arg, Carrier)]
        self.constants = [None if isinstance(arg, Carrier) else arg for arg in args]
        self.aliases = {}
        self.dirty = {}

    @property
    def key(self) -> Hashable:
        """What a call of a pure rule has in common with another of the same function on the same tensors; the call itself if it has none."""
        if getattr(self, "rule", None) is None:
            return self
        return (*self.places, *[(type(constant), constant) for constant in self.constants])

    def repeats(self, other: CustomCall) -> None:
        """Know of the outputs what another call with the same key has learned."""
        self.template, self.single, self.rule.result = other.template, other.single, other.rule.result

    def filled(self, tensors: Sequence[Value]) -> tuple[Any, ...]:
        """All arguments, with these tensors inserted at the tensors' positions."""
        args = list(self.constants)
        for place, tensor in zip(self.places, tensors, strict=True):
            args[place] = tensor_of(tensor)
        return tuple(args)

    def taken_apart(self, result: object) -> list[Tensor]:
        """The tensors among the outputs; the other outputs are remembered."""
        self.single = not isinstance(result, tuple)
        pieces = list(result) if isinstance(result, tuple) else [result]
        self.template = [None if isinstance(piece, Carrier) else (piece,) for piece in pieces]
        return [piece for piece in pieces if isinstance(piece, Carrier)]

    def assembled(self, tensors: Sequence[Value]) -> Any:
        """The outputs in the structure that the user's function returned, with these tensors."""
        rest = iter(tensors)
        pieces = [tensor_of(next(rest)) if entry is None else entry[0] for entry in self.template]
        return pieces[0] if self.single else tuple(pieces)

    def positions(self) -> list[int]:
        """The positions of the tensors among the outputs."""
        return [place for place, entry in enumerate(self.template) if entry is None]


def tensor_of(value: Value) -> Tensor:
    """A value as a public tensor: an array becomes a constant tensor."""
    return value if isinstance(value, Carrier) else Tensor.interpreter.wrap(value, None)


class Custom(Primitive):
    """A primitive with a user-defined derivative; it takes tensors and the `CustomCall`, and returns a tuple of tensors.

    Interpreters recognize it by its kind, "custom".
    """

    def __init__(self, name: str, title: str) -> None:
        super().__init__(f"custom.{name}", "custom", self.computed, ("*tensors",), title=title)
        self.differentiable = True

    def __call__(self, *args: Value, call: CustomCall) -> tuple[Value, ...]:
        """The tensors among the outputs, computed by the interpreter of the highest level among the arguments."""
        top = max((arg for arg in args if isinstance(arg, Carrier)), key=attrgetter("level"), default=None)
        if top is None:
            return self.computed(*args, call=call)
        if isinstance(top.interpreter, Tape):
            results: Sequence[Value] = self.recorded(top.interpreter, args, call)
        else:
            results = top.interpreter.process(self, args, {"call": call})
        if top.level and call.dirty:
            replaced: list[Any] = list(results)
            for number, place in call.dirty.items():
                target: Any = args[place]
                if top.interpreter.holds(target):
                    exchange_all(target, replaced[number])
                    replaced[number] = target
            return tuple(replaced)
        return tuple(results)

    def computed(self, *arrays: Value, call: CustomCall) -> tuple[Value, ...]:
        """The outputs for plain arrays, as arrays."""
        raise NotImplementedError

    def recorded(self, tape: Tape, args: Sequence[Value], call: CustomCall) -> Sequence[Tensor]:
        """The outputs on a tape, with their histories."""
        raise NotImplementedError

    def kept(self, count: int) -> list[tuple[str, int | None]]:
        """The saved values: to the pass, everything that the user saved is a single entry."""
        return [("saved", None)]


class among:
    """A block in which newly created tensors get the highest level of the given values."""

    __slots__ = ("_interpreter", "_outside")

    def __init__(self, values: Sequence[Value | None]) -> None:
        top = max((value for value in values if isinstance(value, Carrier)), key=attrgetter("level"), default=None)
        self._interpreter = top.interpreter if top is not None and top.level else None

    def __enter__(self) -> None:
        self._outside = innermost.get()
        try:
            innermost.set(self._interpreter)
        except BaseException:  # the handler of a signal may raise it after the change
            innermost.set(self._outside)
            raise

    def __exit__(self, *exc: object) -> None:
        innermost.set(self._outside)


def edges_of(tape: Tape, args: Sequence[Value]) -> tuple[Node | None, ...]:
    """The nodes of the arguments on a tape."""
    return tuple(arg._node if isinstance(arg, Carrier) and arg.level == tape.level else None for arg in args)


def beneath(primitive: Custom, tape: Tape, args: Sequence[Value], call: CustomCall) -> Sequence[Value]:
    """The outputs, computed one level further in."""
    values = [arg._array if isinstance(arg, Carrier) and arg.level == tape.level else arg for arg in args]
    results: Sequence[Value] = tape.beneath(primitive, values, {"call": call})
    return results


# 2. Saved values


class Slot(NamedTuple):
    """A saved tensor: its value, its source (a number for an output), and the lost part of its history."""

    cell: Saved
    source: Node | int | None
    lost: Cut | None


class Kept:
    """All values that one node has saved; it takes the position of a cell."""

    __slots__ = ("array",)

    def __init__(self, slots: Sequence[Slot | None]) -> None:
        self.array = slots


def slot(tape: Tape, tensor: Tensor, source: Node | int | None, lost: Cut | None = None) -> Slot:
    """The slot for a tensor among the values that a node saves."""
    return Slot(keep(tensor, tape.level, is_output=type(source) is int), source, lost)


class RuleRun:
    """One run of a user's rule: its node, the saved values, and the histories that were lost."""

    def __init__(self, node: CustomNode, slots: Sequence[Slot | None], connected: bool) -> None:
        self.node = node
        self.slots = slots
        self.connected = connected
        self.lost: list[Cut] = []
        self.handed: list[Tensor | None] = []
        self.refusal: str | None = None

    def saved(self) -> tuple[Tensor | None, ...]:
        """The saved tensors, connected to the graph again if the pass is recorded on their own tape."""
        tensors = tuple(map(self._unpacked, self.slots))
        self.handed += tensors
        return tensors

    def _unpacked(self, entry: Slot | None) -> Tensor | None:
        if entry is None:
            return None
        value = entry.cell.array
        if entry.lost is not None:
            self.lost.append(entry.lost)
        if not self.connected:
            return tensor_of(value)
        source = entry.source
        if isinstance(source, AccumulateGrad) and source.variable._array is value:
            return source.variable
        node = self.node
        made_by: Any = source
        if type(source) is int:
            made_by = outputs(node, node.params["shapes"])[source] if "shapes" in node.params else node
        tensor = node.tape.wrap(value, made_by)
        if isinstance(entry.cell, Cell):
            tensor._cell = entry.cell
        return tensor


running: contextvars.ContextVar[RuleRun | None] = contextvars.ContextVar("pullback.run", default=None)

# 3. The node


class Arrived(Parts):
    """The cotangents that have arrived at a user's operation; None for other outputs, which have their own dtypes."""

    def __add__(self, other: Parts) -> Arrived:
        return Arrived(super().__add__(other))

    def filled(self, shapes: Sequence[tuple[int, ...]]) -> list[Tensor | None]:
        """One cotangent for each output; None where none has arrived."""
        return [self.get(index) for index in range(len(shapes))]


class CustomOutput(Output):
    """The node of one output of a user's operation with several."""

    __slots__ = ()

    @staticmethod
    def pull(
        xp: Namespace, g: Value, edges: Sequence[Node | None], saved: Sequence[Saved | None], params: Any
    ) -> Sequence[Arrived]:
        """The cotangent, labeled with the output it belongs to."""
        return (Arrived({params: g}),)


class CustomNode(Node):
    """A node whose pullback is the user's code."""

    __slots__ = ("tape", "given", "made", "context")

    foreign = True

    tape: Tape
    given: list[Meta | None]
    made: list[Meta | None]
    context: Any
    primitive: Custom

    def gradients(self, run: RuleRun, g: Sequence[Tensor | None]) -> Any:
        """The result of the user's code for one cotangent per output; None where none has arrived."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """The user's names for the arguments."""
        raise NotImplementedError

    def name(self) -> str:
        """The node's name."""
        return self.title

    def pull(
        self,
        xp: object,
        g: Value | list[Value | None],
        edges: Sequence[Node | None],
        saved: Sequence[Saved],
        params: Any,
    ) -> Sequence[Value | None]:
        """The cotangents of the tensors among the arguments."""
        raw = xp is _xp
        given = g if isinstance(g, list) else [g]
        # A pass recorded on this same tape has already connected the saved values; they are then in a plain cell.
        recorded = (
            type(saved[0]) is Cell
            if saved
            else any(isinstance(g, Carrier) and g.level == self.tape.level for g in given)
        )
        run = RuleRun(self, saved[0].array if saved else (), raw or recorded)
        cotangents = [None if each is None else tensor_of(each) for each in given]
        if raw:
            with FieldBlock(grad=False), among(()):
                answers = self._answers(run, cotangents)
        elif mode.get().grad:
            answers = under(losses, run.lost, self._answers, run, cotangents)
            answers = guarded(run, cotangents, answers)
        else:
            answers = self._answers(run, cotangents)
        as_arrays = raw or not run.connected
        return [
            None if edge is None or r is None else _owned(r, raw, as_arrays, run.handed)
            for edge, r in zip(edges, answers, strict=True)
        ]

    def _answers(self, run: RuleRun, cotangents: Sequence[Tensor | None]) -> list[Tensor | None]:
        """The results of the user's code, checked: a tensor or None for each tensor among the arguments."""
        return list(checked(self, under(running, run, self.gradients, run, cotangents)))


def _owned(r: Tensor, raw: bool, as_arrays: bool, handed: Sequence[Tensor | None]) -> Value:
    """A copy of a result, if it is or shares memory with a tensor that was passed out: it must not become a `.grad`."""
    if as_arrays and type(r) is Tensor and (raw or r._node is None):
        if type(r._array) is ndarray:
            return r._array.view()
        r = r._array  # of a recording
    return ops.clone(r) if any(r is tensor for tensor in handed) else r


Recorded = TypeVar("Recorded", bound=CustomNode)


def record(
    cls: type[Recorded],
    tape: Tape,
    args: Sequence[Value],
    edges: tuple[Node | None, ...],
    call: CustomCall,
    outs: Sequence[Tensor],
) -> Recorded:
    """The node of a call whose outputs are these tensors."""
    metas = iter(map(Meta.of, map(tensor_of, args)))
    made = iter(map(Meta.of, outs))
    node: Recorded = make(cls, edges, (), {}, None)
    node.tape = tape
    node.given = [None] * len(call.constants)
    for place in call.places:
        node.given[place] = next(metas)
    node.made = [next(made) if entry is None else None for entry in call.template]
    if len(node.made) == 1:
        node.shape = outs[0].shape
    else:
        node.params = {"shapes": [None if meta is None else meta.shape for meta in node.made]}
    return node


def places_of(node: CustomNode) -> list[Node]:
    """The node at which the cotangent of each output arrives."""
    if "shapes" not in node.params:
        return [node]
    return [make(CustomOutput, (node,), (), index, shape) for index, shape in enumerate(node.params["shapes"])]


# 4. The user's results


def checked(node: CustomNode, answer: object) -> Iterator[Tensor | None]:
    """A gradient or None for each tensor among the arguments, in its dtype; refused by name if it does not match."""
    answers = answer if isinstance(answer, tuple) else (answer,)
    count = len(node.given)
    if len(answers) < count or any(extra is not None for extra in answers[count:]):
        raise RuntimeError(
            f"function {node.title} returned an incorrect number of gradients (expected {count}, got {len(answers)}): "
            f"return one for each argument of forward, in order, as a tuple: {_listed(node.names())}. For an argument "
            f"without a gradient return None.{_at(node)}"
        )
    index = 0
    for place, (meta, r) in enumerate(zip(node.given, answers, strict=False)):
        if meta is not None:
            yield None if r is None else _fitted(node, index, place, meta, r)
            index += 1
        elif r is not None:
            raise RuntimeError(
                f"function {node.title} returned a gradient different than None at position {place + 1}, but the "
                f"corresponding forward input was not a Variable: {node.names()[place]!r} was no tensor, so return None "
                f"in its place.{_at(node)}"
            )


def _fitted(node: CustomNode, index: int, place: int, meta: Meta, r: object) -> Tensor:
    """A gradient converted to the dtype of its argument."""
    if not isinstance(r, (Carrier, ndarray, np.generic)):
        raise RuntimeError(
            f"expected Variable or None (got {type(r).__name__}): the gradient of {node.names()[place]!r} that {node.title} "
            f"returned must be a tensor of shape {meta.shape}, or None.{_at(node)}"
        )
    g = r if isinstance(r, Carrier) else Tensor.interpreter.wrap(np.asarray(r), None)
    if node.edges[index] is None:
        return g
    if g.shape != meta.shape and not expandable(meta.shape, tuple(g.shape)):
        name = node.names()[place]
        raise RuntimeError(
            f"Function {node.title} returned an invalid gradient at index {index} - got {list(g.shape)} but expected shape "
            f"compatible with {list(meta.shape)}: the gradient of {name!r} has shape {tuple(g.shape)}, and {name!r} had "
            f"{meta.shape}. A larger gradient is summed to that shape; another must be reshaped, summed or expanded in "
            f"backward.{_at(node)}"
        )
    if g._dtype == meta.dtype:
        return g
    if g._dtype.kind == "c" and meta.dtype.kind != "c":
        name = node.names()[place]
        raise RuntimeError(
            "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got "
            f"false: the gradient of {name!r} that {node.title} returned is {g.dtype}, and {name!r} is real. Return its "
            f"real part, grad.real.{_at(node)}"
        )
    return ops.astype(g, dtype=meta.dtype, source=g._dtype)


def expandable(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """True if a shape broadcasts to a larger one."""
    try:
        return broadcast_shapes(small, large) == large
    except RuntimeError:
        return False


def _listed(names: Sequence[str]) -> str:
    return f"({', '.join(f'grad of {name}' for name in names)}{',' if len(names) == 1 else ''})"


def _at(node: Node) -> str:
    return f" Called at {describe(node.site)}."


# 5. Lost histories
#
# A recorded pass must return results that can be differentiated. There are three certain signs that a result cannot:
# the code removed a value from the graph, by detach(), .data, numpy(force=True) or no_grad; it read a saved value that
# forward had computed as an intermediate; or its result is not zero and yet does not depend on the gradient passed in.


def guarded(run: RuleRun, cotangents: Sequence[Tensor | None], answers: Sequence[Tensor | None]) -> list[Tensor | None]:
    """The results of a recorded run; a result whose history is lost refuses to be differentiated."""
    node = run.node
    tracked = [each for each in (*cotangents, *run.handed) if each is not None and each._node is not None]
    tape = node.tape if run.connected else max((t.interpreter for t in tracked), key=attrgetter("level"), default=None)
    if tape is None:
        return list(answers)
    edges = [each._node for each in tracked if each._node is not None and each.level == tape.level]
    if run.connected:
        edges += [edge for edge in node.edges if edge is not None]
    arrived = [g for g in cotangents if g is not None]
    flowing = bool(arrived) and all(g._node is not None for g in arrived)
    text = run.refusal or (_lost(node, run.lost) if run.lost else None)
    return [
        r
        if r is None or r.level > tape.level or not (why := text or (flowing and _without_g(node, r)))
        else refused(tape, r, edges, why)
        for r in answers
    ]


SAVED = "saved"
WAYS = {
    "detach": "detach() was called",
    "data": ".data was read",
    "numpy": "numpy() was called",
    "no_grad": "no_grad held",
    "inference_mode": "inference_mode held",
    SAVED: "a value was read that forward had computed on the way and saved, neither an input nor an output,",
}


def _lost(node: CustomNode, lost: Sequence[Cut]) -> str:
    first = lost[0]
    return (
        f"trying to differentiate twice through {node.title}, whose backward drops the history of what it computes with: "
        f"{WAYS.get(first.reason, first.reason)} at {describe(first.site)}. Its own derivative would be silently wrong. "
        "Write backward with operations on tensors; save inputs and outputs, and return as an output what backward needs "
        "in addition; make intended constants attributes of ctx." + _at(node)
    )


def _without_g(node: CustomNode, r: Tensor) -> str | None:
    if r._node is not None or type(r._array) is not ndarray or not r._array.any():
        return None
    return (
        f"trying to differentiate twice through {node.title}, whose backward returned a value with no history, although "
        "the gradient it was given has one. Its own derivative would be silently wrong. Compute what backward returns from "
        "its arguments, with operations on tensors." + _at(node)
    )


class CustomView(MarkedView):
    """Marks an output that shares memory with another tensor: a write would invalidate its user-defined rule."""

    def __init__(self, number: int, title: str) -> None:
        super().__init__(
            f"Output {number} of {title.removesuffix('Backward')} is a view and is being modified inplace. This view was "
            "created inside a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace "
            "would override the custom backward associated with the custom Function, leading to incorrect gradients. This "
            "behavior is forbidden. You can fix this by cloning the output of the custom Function."
        )
