"""Answers: what the tensors that a run leaves behind are made of at later calls.

A program gives arrays in their order of axes, each in memory of its own. Tensors that a function returns, or puts somewhere,
may share memory, and may lie in it in another order; programs observe both, by writes and by `view`. So what the program
gives of a block of memory that several of them see is the whole block, and each is a way from there.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import ops
from .._tape.views import lineage
from ..observe import AccumulateGrad, ancestors, hooks, node as node_of, retains, value as inside, version
from .layouts import Array, dense, inverse, order
from .program import Value
from .recorder import Recorded, Recorder
from .refusals import RefusedError

if TYPE_CHECKING:
    from .._tape.views import Step
    from .._tensor.tensor import Tensor
    from .numbers import Number
    from .records import Place

    Found = Sequence[tuple[Tensor, Place]]  # tensors of the caller, and where they are

Answer = tuple[str, Any]
"""What a leaf of a result, or a tensor that is put somewhere, is: see `Record`."""


class Made(NamedTuple):
    """A tensor that each call makes around an output of the program, seen through steps.

    `kind` is "value", "tracked" for one with a history, or "spent" for one whose history is gone; `beside` the number of one
    made before in whose memory it lies, whose writes are `counted` together with its own; `version` says how often it was
    written, and `mark` whether it may not be (see `MarkedView`). It is that leaf of the result, or its `_base`.
    """

    kind: str
    number: int
    steps: tuple[Step, ...]
    beside: int | None
    counted: bool
    leaf: int | None
    base: bool
    version: int
    mark: Any


class Alias(NamedTuple):
    """A tensor that each call makes in the memory of a place's, without being a view of it, seen through steps.

    `beside` is the number of an alias made before whose writes are counted together with its own; if there is none, they are
    `counted` with those of the place's tensor, or there were as many as `version` says.
    """

    place: Place
    steps: tuple[Step, ...]
    beside: int | None
    counted: bool
    version: int


class Seen(NamedTuple):
    """A view that each call makes, through steps: of one of the tensors or aliases that are made, or of a place's tensor."""

    start: int | Place
    steps: tuple[Step, ...]
    tracked: bool
    mark: Any


class Answers:
    """The tensors that calls make, and the outputs of the program that they are made of."""

    def __init__(self, recorder: Recorder, tensors: Sequence[Tensor]) -> None:
        self.recorder = recorder
        self.values: list[Value] = []
        self.made: list[Made] = []
        self.tensors: list[Tensor] = []
        distinct = {id(tensor): tensor for tensor in tensors if _fresh(tensor)}.values()
        self._seen = Counter(id(inside(tensor).block) for tensor in distinct)
        self._chosen = Counter(id(inside(tensor).block.origin or inside(tensor).block) for tensor in distinct)
        self._known: dict[int, int] = {}
        self._numbers: dict[Value, int] = {}
        self._blocks: dict[int, tuple[int, tuple[Step, ...]]] = {}
        self._first: dict[int, int] = {}
        self.aliases: list[Alias] = []
        self._aliased: dict[int, tuple[Tensor, int]] = {}

    def of(self, tensor: Tensor, leaf: int | None, *, data: bool = False) -> Answer:
        """What a tensor is made of; of its memory alone, if that is what is put somewhere."""
        memory, (base, path, mark, _) = inside(tensor).block, lineage(tensor)
        if memory.origin is not None and self._chosen[id(memory.origin)] > 1:
            raise RefusedError("it returns a tensor and a view whose place a tensor chooses: return a clone of that")
        node = node_of(tensor)
        tracked = node is not None
        if node is not None and not data and retains(node):
            raise RefusedError("it returns a tensor whose gradient it retains: call retain_grad() on the result")
        if not data and base is not None and (self._seen[id(memory)] > 1 or tensor.requires_grad is not tracked):
            held = inside(base)
            if isinstance(held, Recorded) and held.block is memory and (node_of(base) is not None or not tracked):
                if node is not None and hooks(node):
                    raise RefusedError(
                        "it returns a view with a hook, and what it is a view of: return a clone of the view"
                    )
                number = self._number(base, leaf, base=True)
                return "seen", Seen(number, path, tracked, mark)
        return "made", self._number(tensor, leaf, data=data)

    def outside(self, tensor: Tensor, known: Found) -> Answer:
        """What a tensor without a history is made of that lies in memory of the caller."""
        base, path, mark, _ = lineage(tensor)
        if base is None:
            return "alias", self._alias(tensor, known)
        for other, place in known:
            if other is base:
                return "view", Seen(place, path, False, mark)
        for other, place in known:
            start, before, *_ = lineage(other)  # of a view, too, whose base is not known
            if start is base and all(map(operator.is_, before, path)) and len(before) <= len(path):
                return "view", Seen(place, path[len(before) :], False, mark)
        return "alias view", Seen(self._alias(base, known), path, False, mark)

    def _alias(self, tensor: Tensor, known: Found) -> int:
        """The number of an alias of a tensor of the caller."""
        if id(tensor) not in self._aliased:
            held, storage = inside(tensor), lineage(tensor).storage
            found = [each for each in known if getattr(inside(each[0]), "block", None) is held.block]
            together = [each for each in found if lineage(each[0]).storage is storage]
            beside = next(
                (number for other, number in self._aliased.values() if lineage(other).storage is storage), None
            )
            place = (together or found)[0][1]
            self.aliases.append(Alias(place, held.steps, beside, bool(together), version(tensor)))
            self._aliased[id(tensor)] = tensor, len(self._aliased)
        return self._aliased[id(tensor)][1]

    def number(self, leaf: Number) -> Answer:
        """What a number is that the function returns: an output of the program, as Python's number."""
        return "number", self.needed(self.recorder.value_of(leaf.returned()))

    def needed(self, value: Value) -> int:
        """The number of the output that a value is."""
        return self._numbers[value] if value in self._numbers else self._added(value)

    def _added(self, value: Value) -> int:
        """The number of a new output."""
        self._numbers.setdefault(value, len(self.values))
        self.values.append(value)
        return len(self.values) - 1

    @property
    def tracked(self) -> list[int]:
        """The numbers of the tensors with a history."""
        return [number for number, made in enumerate(self.made) if made.kind == "tracked"]

    def layered(self) -> bool:
        """Whether the order of the axes of inputs may decide where elements of the tensors lie."""
        return any(inside(tensor).block.shaped.ndim > 1 for tensor in self.tensors)

    def _number(self, tensor: Tensor, leaf: int | None, *, base: bool = False, data: bool = False) -> int:
        """The number of a tensor among those that are made."""
        known = self._known.get(id(tensor))
        if known is None:
            memory, kind = inside(tensor).block, "value" if data else _kind(tensor)
            number, way = self._output(inside(tensor))
            *_, mark, storage = lineage(tensor)
            together = None if storage is None else self._first.get(id(storage))
            beside = self._first.get(id(memory)) if together is None else together
            counted = together is not None or storage is None
            known = self._known[id(tensor)] = len(self.made)
            self._first.setdefault(id(memory), known)
            self._first.setdefault(id(storage), known)
            writes, mark = (0, None) if data else (version(tensor), mark)
            self.made.append(Made(kind, number, way, beside, counted, leaf, base, writes, mark))
            self.tensors.append(tensor)
        return known

    def _output(self, held: Recorded) -> tuple[int, tuple[Step, ...]]:
        """An output of the program, and the way from there to a recorded value."""
        memory, recorder = held.block, self.recorder
        if self._seen[id(memory)] == 1 and dense(held.form):
            return self._appended(recorder.value_of(held), held.form)
        if id(memory) not in self._blocks:
            self._blocks[id(memory)] = self._appended(memory.value, memory.shaped)
        number, way = self._blocks[id(memory)]
        return number, (*way, *held.steps)

    def _appended(self, value: Value, array: Array) -> tuple[int, tuple[Step, ...]]:
        """A new output, of elements in the order in which they lie in an array, and the way back to their axes."""
        axes = order(array)
        if axes is None:
            return self._added(value), ()
        turned = self.recorder.written_down(ops.permute_dims, (value,), {"axes": axes}, array.transpose(axes))
        return self._added(turned), ((ops.permute_dims, {"axes": inverse(axes)}),)


def _fresh(tensor: Tensor) -> bool:
    """Whether a tensor lies in memory that the run has made."""
    return isinstance(inside(tensor), Recorded) and inside(tensor).block.outside is None


def _kind(tensor: Tensor) -> str:
    """The kind of a tensor that is made: whether it has a history, which can be walked."""
    node = node_of(tensor)
    if node is None:
        return "value"
    if isinstance(node, AccumulateGrad):
        raise RefusedError("the function returns a new leaf that requires grad: set that outside")
    return "spent" if any(type(each.saved) is not tuple for each in ancestors([node])) else "tracked"
