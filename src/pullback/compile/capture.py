"""Capture: one run of a function, made and written down, and what of it can be done again by a program.

A run that has been written down is taken back: nothing outside has been written, and the program then gives the results
and effects of this call as of all later ones, to the last bit. So what takes long is put off while a run is recorded, and
need not be computed. A run that cannot be done again, because Python values change in it, is a real one: its results and
effects are those of the call.
"""

from __future__ import annotations

import enum
import functools
import gc
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Tensor, dtype
from .._core.dtypes import rules
from .._core.machine import budget
from .._core.modes import FieldBlock, mode, under
from .._core.package import package
from .._numerics.random import Moment, source
from .._tape.memory import protect, written
from .._tape.node import grad_of, leaf as leaf_node
from .._tape.views import exchange, lineage
from .._tape.walk import pull_back_within
from ..extend import restoring
from ..func.control import runner
from ..observe import AccumulateGrad, Snapshot, ancestors, node as node_of, value as inside, version
from ..utils.trees import Structure, flatten, unflatten
from . import records
from .answers import Answer, Answers
from .cpython import owners, profile_function, references, referring, set_profile_function
from .holders import PLAIN, Asked, Holder, Mapping, attached
from .layouts import clash, order
from .loops import LoopRecorder
from .numbers import DOUBLE, FLOATS, INT, LARGEST, Escaped, Integer, Number, Root
from .outside import Outside, registered
from .program import Program, Value
from .recorder import MemoryBlock, Recorded, Recorder
from .records import Place, Record, set_grad, signature
from .refusals import EXCHANGED, RANDOM, RefusedError
from .state import State, hooks_on, seeded

if TYPE_CHECKING:
    from typing import TypeAlias

    from .._core.typing import Array
    from .._tape.node import Node
    from .._tape.recording import Tape

    Flags: TypeAlias = tuple[Node | None, bool, tuple[Callable[..., Any], ...]]


ndarray = np.ndarray
RATED = {"params", "lr"}
"""The entries by which an optimizer's group of parameters is known."""


class CapturedRun:
    """One run of a function, recorded."""

    def __init__(
        self,
        function: Callable[..., Any],
        leaves: Sequence[Any],
        structure: Structure,
        constant: frozenset[Root] = frozenset(),
        ints: frozenset[int] = frozenset(),
    ) -> None:
        self.function, self.leaves, self.structure = function, leaves, structure
        self.constant, self.traced = constant, set[Root]()
        self.ints = ints
        self.recorder = Recorder(patient=True)
        self.alone = references(self.recorder)
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        hooks = [hook for tensor in tensors for hooks in hooks_on(tensor) for (hook,) in hooks]
        kinds = {Tensor, *map(type, tensors)}
        others = [leaf for leaf in leaves if not isinstance(leaf, Tensor)]
        self.state = State([function, *others, *hooks, *kinds], others)
        if self.state.asks_types:
            self.constant |= {("argument", i) for i, leaf in enumerate(leaves) if type(leaf) in FLOATS or i in ints}
        self.places: list[Place] = []
        self.memories: list[MemoryBlock | None] = []
        self.rates: list[tuple[Holder, Number]] = []
        self.signatures: list[tuple[Place, Any]] = []
        self.known: dict[int, tuple[Tensor, Place]] = {}
        self.swapped: list[tuple[Tensor, Array, Snapshot | None, int, Recorded]] = []
        self.grads: list[tuple[Tensor, Tensor | None, Place]] = []
        self.histories: list[tuple[Tensor, Node | None]] = []
        self.flags: list[tuple[Tensor, Flags]] = []
        self.storages: list[tuple[Tensor, Any]] = []
        self.hooks: list[tuple[AccumulateGrad, Any, list[tuple[list[Any], list[Any]]]]] = []
        self.effects: list[tuple[Place, Tensor | None]] = []
        self.taken: list[tuple[Place, Array]] = []
        self.aliases: list[tuple[Place, Place]] = []
        self.moment = Moment.of(self.state.generators)
        self.recorder.moment = self.moment.now()
        self.settings = self._settings()
        if self.state.unknown:
            raise RefusedError(self.state.unknown)
        if any(map(attached, tensors)):
            raise RefusedError("an argument is a tensor that has been given attributes of its own")

    def make(self) -> tuple[Any, Record | None, str]:
        """None and a record of the run, which is taken back; or its result, None, and why there is no record.

        Escaped: a float is used in a way that cannot be traced, and has to be constant.
        """
        try:
            result, record, reason = self._recorded()
            if record is not None:
                result = None
            self._no_number_left()
            if self.recorder.deferred.waiting():  # somebody still holds it
                self.recorder.deferred.compute()
            if record is not None:
                self._take_back()
                return None, record, ""
        except BaseException as error:
            self.recorder.deferred.abandon(error)
            self._take_back()
            raise
        try:
            self._connect(result)
        finally:  # the run has happened: what it wrote is put back as a whole, also if that is interrupted
            try:
                self._put_back(committed=True, results=flatten(result)[0])
            except BaseException:
                self._put_back(committed=True, results=flatten(result)[0])
                raise
        return result, None, reason

    @restoring
    def _recorded(self) -> tuple[Any, Record | None, str]:
        """The result of the run, its record, if there is one, and otherwise why there is none."""
        with self.recorder, budget.once():
            self.mode = mode.get()
            self._take_in()
            result = self._called()
            self._settled()
            return (result, *self._finished(result))

    def _called(self) -> Any:
        """What the function gives for arguments with floats that are recorded."""
        given = [self._number(i, leaf) for i, leaf in enumerate(self.leaves)]
        args, kwargs = unflatten(self.structure, given)
        arguments = (args, dict(kwargs))
        watch = profile_function()
        try:
            with Outside(self.recorder) as outside:
                result = under(runner, LoopRecorder(), functools.partial(self.function, *args, **kwargs))
        finally:  # if leaving the block was interrupted
            set_profile_function(watch)
        for refusal in self.recorder.refusals:
            raise refusal  # the function has caught it
        if outside.abstract:
            self.state.holders.append(Asked(registered, lambda ask: ask()))
        self._restore_rates()
        self._unchanged(given, arguments)
        return result

    def _no_number_left(self) -> None:
        """Escaped: a number of the recorded program lives on, in an object that the function has changed or made."""
        for attempt in range(2):
            left = [number for made in self.recorder.numbers if (number := made()) is not None]
            if not left:
                return
            if not attempt:
                del left
                gc.collect(1)
        if not (roots := frozenset().union(*(number.roots for number in left))):
            raise RefusedError("a number that comes from a tensor is kept in an object")
        raise Escaped(roots)

    def _take_back(self) -> None:
        """Have everything be what it was before the run."""
        for tensor, (node, *_) in self.flags:
            tensor._node = node
        for leaf, hooks, lists in self.hooks:
            leaf.hooks = hooks
            for each, before in lists:
                each[:] = before
        for tensor, storage in self.storages:  # it may have been given the memory of another
            tensor._storage = storage
        self._put_back(committed=False)
        self.state.restore()
        for tensor, grad, _ in self.grads:
            set_grad(tensor, grad)
        self.moment.restore()

    # Before

    def _take_in(self) -> None:
        """Have every tensor that can be reached hold a recorded value."""
        arrays: dict[int, tuple[Recorded, Place]] = {}
        for number, leaf in enumerate(self.leaves):
            if isinstance(leaf, Tensor):
                self._take(leaf, records.Argument(number), arrays)
        for tensor in self.state.tensors:
            self._take(tensor, records.Fixed(tensor), arrays)
        for tensor, _ in tuple(self.histories):
            base = tensor._base
            if base is not None and not isinstance(
                node_of(base), AccumulateGrad
            ):  # writes to other views are refused, too
                self.histories.append((base, node_of(base)))
                base._node = leaf_node(base, inside(base))
        for holder in self.state.holders:
            if type(holder) is Mapping and holder.before.keys() >= RATED and type(holder.before["lr"]) is float:
                root = ("lr", id(holder.held))
                if root not in self.constant:
                    self._take_rate(holder, root)

    def _take_rate(self, holder: Holder, root: Root) -> None:
        """Have an optimizer's learning rate be an input: schedules change it."""
        number = self._traced(holder.before["lr"], root)
        self.places.append(records.Rate(holder))
        self.memories.append(None)
        self.rates.append((holder, number))
        holder.moving.add("lr")
        holder.put("lr", number)

    def _restore_rates(self) -> None:
        """Have groups of parameters hold learning rates as they were, unless the function has changed them."""
        for holder, number in self.rates:
            if holder.held.get("lr") is number:
                holder.put("lr", holder.before["lr"])
        self.rates.clear()

    def _take(self, tensor: Tensor, place: Place, arrays: dict[int, tuple[Recorded, Place]]) -> None:
        if id(tensor) in self.known:
            return
        self.known[id(tensor)] = (tensor, place)
        self.signatures.append((place, signature(tensor)))
        node = node_of(tensor)
        tracked = node is not None and not isinstance(node, AccumulateGrad)
        if (
            (tracked and not isinstance(place, records.Argument))
            or not isinstance(inside(tensor), ndarray)
            or tensor.level
        ):
            return  # refused when it is used
        array, cell = inside(tensor), tensor._cell
        if id(array) in arrays:
            held, first = arrays[id(array)]
            self.aliases.append((first, place))
        else:
            held = self.recorder.input(array)
            arrays[id(array)] = held, place
            self.places.append(place)
            self.memories.append(held.block)
        self.swapped.append((tensor, array, cell, version(tensor), held))
        self.taken.append((place, array))
        if (storage := lineage(tensor).storage) is not None:
            self.storages.append((tensor, storage))
        exchange(tensor, held)
        if tracked:  # inside, a leaf; its history goes on outside
            self.histories.append((tensor, node))
            tensor._node = leaf_node(tensor, held)  # type: ignore[arg-type]  # it stands for an array
        self.flags.append((tensor, _flags(tensor)))
        if isinstance(leaf := node_of(tensor), AccumulateGrad):
            self.hooks.append((leaf, leaf.hooks, [(each, [*each]) for each in hooks_on(tensor)]))
        grad = grad_of(tensor)
        self.grads.append((tensor, grad, place))
        if grad is not None:
            self._take(grad, records.Gradient(place), arrays)

    def _number(self, number: int, leaf: Any) -> Any:
        root = ("argument", number)
        if root in self.constant or not (type(leaf) in FLOATS or number in self.ints):
            return leaf
        self.places.append(records.Float(number) if type(leaf) in FLOATS else records.Int(number))
        self.memories.append(None)
        return self._traced(leaf, root)

    def _traced(self, value: float, root: Root) -> Number:
        """What stands for a number that is another one at each call."""
        self.traced.add(root)
        if type(value) is int:
            return Integer(self.recorder, self.recorder.input(np.array(value, INT)), LARGEST, frozenset([root]))
        held = self.recorder.input(np.array(value, DOUBLE))
        return Number(self.recorder, held, weak=type(value) is float, roots=frozenset([root]))

    # After

    def _unchanged(self, given: list[object], arguments: object) -> None:
        """RefusedError: the function has changed a container that it was given, which here is a copy."""
        leaves, structure = flatten(arguments)
        same = structure == self.structure and all(map(operator.is_, leaves, given))
        if not same:
            raise RefusedError("it changes a container that is an argument, as a list or a dict")

    def _settings(self) -> tuple[object, ...]:
        """What holds for the whole thread, and where its random numbers come from."""
        return rules(), *[source(each) for each in (None, *self.state.generators) if seeded(each)]

    def _settled(self) -> None:
        """RefusedError: the function leaves a setting changed, or moves random numbers in a way that is not written down."""
        if mode.get() is not self.mode:
            raise RefusedError("it changes the grad mode and leaves it so")
        if not all(map(operator.is_, self._settings(), self.settings)):
            raise RefusedError("it seeds random numbers, or sets the default dtype or the rule of promotion")
        moved = self.recorder.moment.moved()
        if any(map(seeded, moved)):
            raise RefusedError(RANDOM)
        if moved:
            raise RefusedError("it draws NumPy's random numbers without pullback: make them tensors, or pass them in")
        if self.state.drew():
            raise RefusedError("it draws random numbers of Python's: pass them in")

    def _finished(self, result: Any) -> tuple[Record | None, str]:
        """The record of the run, or why there is none."""
        recorder = self.recorder
        if recorder.overheard:
            return None, "another thread used its tensors while it was recorded"
        record = Record(recorder.program((), ()), self.places, self.state)
        record.arguments = self.structure
        writes = self._writes(record)
        leaves, record.structure = flatten(result)
        for tensor, before, place in self.grads:
            now = grad_of(tensor)
            if now is not before:
                if any(tensor is other for other, _ in self.histories):
                    raise RefusedError("a backward pass goes on into the history of an argument")
                if now is not None and node_of(now) is not None:
                    return None, "a gradient has a history (create_graph=True) when the function ends"
                self.effects.append((records.Gradient(place), now))
        if reason := self._rebound() or self._exchanged():
            return None, reason
        answers = self._answered(record, leaves)
        if answers.tracked:
            if writes and self.histories:
                return None, "an argument with a history is written"
            self._find_way(record, answers, writes)
        else:
            record.program = recorder.program(answers.values, writes)
        record.made, record.aliases_made = answers.made, answers.aliases
        if answers.layered():
            record.orders = [(place, order(array)) for place, array in self.taken if array.ndim > 1]
        self._trim(record)
        record.signatures, record.aliases = self.signatures, self.aliases
        record.drawn = [*dict.fromkeys(recorder.drawn)]
        constant = [i for kind, i in self.constant if kind == "argument"]
        record.numbers = [(i, self.leaves[i].hex()) for i in constant if type(self.leaves[i]) in FLOATS]
        record.ints = self.ints.difference(constant)
        record.fixed = [
            (place, expected)
            for place, expected in self.signatures
            if isinstance(place, records.Fixed) and self._stays(place)
        ]
        record.reached = frozenset(map(id, self.state.tensors))
        record.met = record.meets(self.leaves)
        if recorder.layouts_asked:
            record.layouts = [(place, array.strides) for place, array in self.taken]
        return record, ""

    def _answered(self, record: Record, leaves: Sequence[Any]) -> Answers:
        """Note of each leaf of the result, and of each tensor that is put somewhere, what it is."""
        put = [tensor for _, tensor in self.effects if tensor is not None]
        answers = Answers(self.recorder, [each for each in (*leaves, *put) if isinstance(each, Tensor)])
        known: dict[int, int] = {}

        def note(leaf: Any, leaf_number: int | None) -> int:
            number = len(record.outputs)
            first = known.setdefault(id(leaf), number) if isinstance(leaf, Tensor) else number
            again = first < number
            record.outputs.append(("again", first) if again else self._described(leaf, answers, leaf_number))
            return number

        for i, leaf in enumerate(leaves):
            note(leaf, i)
        record.leaves = len(leaves)
        for place, tensor in self.effects:
            number = None
            if isinstance(place, records.Exchanged):
                number = len(record.outputs)
                assert tensor is not None
                record.outputs.append(answers.of(tensor, None, data=True))
            elif tensor is not None:
                number = note(tensor, None)
            record.effects.append((place, number))
        return answers

    def _described(self, leaf: Any, answers: Answers, number: int | None) -> Answer:
        if isinstance(leaf, Tensor):
            known = self.known.get(id(leaf))
            if known is not None:
                return "place", known[1]
            if type(leaf) is not Tensor:
                raise RefusedError(f"the function returns a tensor of the class {type(leaf).__qualname__}")
            if not isinstance(inside(leaf), Recorded) or leaf.level > 0:
                raise RefusedError(
                    "the function returns a tensor of a transform, or one that it reaches in an unknown way"
                )
            if inside(leaf).block.outside is not None:
                if leaf.requires_grad:
                    raise RefusedError(
                        "the function returns a view of a tensor that requires grad: return a clone of it"
                    )
                return answers.outside(leaf, [*self.known.values()])
            if leaf._inference and not mode.get().inference:
                raise RefusedError("the function returns a tensor made under inference_mode, which it enters itself")
            origin = inside(leaf).block.origin
            if node_of(leaf) is None and origin is not None and origin.outside is not None:
                raise RefusedError("the function returns a view whose place a tensor chooses: return a clone of it")
            if id(leaf._base) in self.known:
                raise RefusedError(EXCHANGED)
            return answers.of(leaf, number)
        if isinstance(leaf, Number):
            return answers.number(leaf)
        if not (_immutable(leaf) or self.state.knows(leaf) or any(leaf is given for given in self.leaves)):
            way = "return tensors, numbers, strings, or lists, tuples, dicts and dataclasses of them"
            if isinstance(leaf, ndarray):
                way = f"NumPy's functions return tensors if they are given some, so pass {package}.tensor(array)"
            raise RefusedError(f"the function returns a new {type(leaf).__name__}, which is not looked into: {way}")
        return "plain", leaf

    def _rebound(self) -> str:
        """Note which places of the state hold new tensors; or say what else has changed."""
        for holder in self.state.holders:
            now = holder.entries()
            if not holder.as_keyed(now):
                return (
                    "a container has other keys than before: something was made for the first time, as the state of an "
                    "optimizer is in its first step: call the function once before"
                )
            for key, old, value in zip(holder.before, holder.before.values(), now.values(), strict=True):
                if holder.equal(old, value):
                    continue
                fresh = isinstance(value, Tensor) and isinstance(inside(value), Recorded) and node_of(value) is None
                if not (fresh and isinstance(old, Tensor)) or id(value) in self.known or self._places_of(old) > 1:
                    return f"a Python value changes while the function runs: {key!r} of a {type(holder.held).__name__}"
                place = records.Held(holder, key)
                self._moves(old, place)
                holder.moving.add(key)
                self.effects.append((place, value))
        return ""

    def _places_of(self, tensor: Tensor) -> int:
        """In how many places the state and the arguments hold a tensor."""
        held = [value for holder in self.state.holders for value in holder.before.values()]
        return sum(value is tensor for value in (*held, *self.leaves))

    def _exchanged(self) -> str:
        """Note which tensors have other memory than before; or say that their flags have changed."""
        changed = [tensor for tensor, flags in self.flags if _flags(tensor) != flags]
        if changed:
            told = "the function changes requires_grad, hooks or the history of a tensor that it was given"
            if any(tensor is other for tensor in changed for other, _ in self.histories):
                raise RefusedError(told)  # what it was given had a stand-in for its history, which is no one's
            return told
        for tensor, *_, held in self.swapped:
            if inside(tensor) is held:
                continue
            if not isinstance(inside(tensor), Recorded) or inside(tensor).block.outside is not None:
                return "the function has a tensor share the memory of another"
            self.effects.append((records.Exchanged(self.known[id(tensor)][1]), tensor))
        return ""

    def _moves(self, old: Tensor, place: records.Held) -> None:
        """Read a tensor of the state from the place where it is exchanged."""
        self.known[id(old)] = old, place
        for i, found in enumerate(self.places):
            if isinstance(found, records.Fixed) and found.found is old:
                self.places[i] = place

    @staticmethod
    def _trim(record: Record) -> None:
        """Leave out inputs that the program does not read."""
        program = record.program
        written = [place for place, _ in program.writes]
        used = program.uses()
        kept = [i for i, value in enumerate(program.inputs) if value in used or i in written]
        record.places = [record.places[i] for i in kept]
        record.program = program.changed(
            inputs=tuple(program.inputs[i] for i in kept),
            writes=tuple((kept.index(place), value) for place, value in program.writes),
        )

    def _find_way(self, record: Record, answers: Answers, writes: Sequence[tuple[int, Value]]) -> None:
        """Record the way back from the tensors that are tracked, as a program of its own."""
        recorder = self.recorder
        forward, inputs = list(recorder.equations), list(recorder.inputs)
        tracked = [answers.tensors[number] for number in answers.tracked]
        targets = self._leaves()
        cotangents = [recorder.input(np.ones(leaf.shape, leaf.dtype.numpy)) for leaf in tracked]
        made_by = zip(map(node_of, tracked), cotangents, strict=True)
        roots = [(node, g) for node, g in made_by if node is not None]
        tape: Tape = Tensor.interpreter
        with FieldBlock(grad=False):
            found = pull_back_within(tape, roots, [node for _, node in targets], create_graph=False).found
        reached = [(i, recorder.value_of(found[node])) for i, node in targets if node in found]
        backward = recorder.equations[len(forward) :]
        gradients = [value for _, value in reached]
        made = {value for equation in backward for value in equation.outputs} | {*recorder.inputs[len(inputs) :]}
        needed = dict.fromkeys(v for v in (*[v for e in backward for v in e.inputs], *gradients) if v not in made)
        written = {i for i, _ in writes}  # whose numbers before are kept as results
        places = {value: i for i, value in enumerate(inputs) if i not in written}
        kept: list[Place | int] = [self.places[i] for i, _ in reached]
        given = [inputs[i].like() if i in written else inputs[i] for i, _ in reached]
        for value in needed:
            if value in recorder.constants or value in given:
                continue
            given.append(value)
            kept.append(self.places[places[value]] if value in places else answers.needed(value))
        back = Program((*given, *recorder.inputs[len(inputs) :]), tuple(backward), tuple(gradients), recorder.constants)
        recorder.equations, recorder.inputs = forward, inputs
        record.program = recorder.program(answers.values, writes)
        record.way = records.Way(answers.tracked, back, kept, list(range(len(reached))))

    def _leaves(self) -> list[tuple[int, Node]]:
        """The nodes of the tensors that require grad, each with the number of its input."""
        numbers = {id(memory): i for i, memory in enumerate(self.memories)}
        found: dict[int, Node] = {}
        for tensor, *_, held in self.swapped:
            if isinstance(node := node_of(tensor), AccumulateGrad):
                found.setdefault(numbers[id(held.block)], node)
        return list(found.items())

    def _stays(self, place: records.Fixed) -> bool:
        """Whether a tensor of the state is the same one at each call."""
        return not any(any(holder.before[key] is place.found for key in holder.moving) for holder in self.state.holders)

    def _writes(self, record: Record) -> list[tuple[int, Value]]:
        """What the program writes to its inputs' memory."""
        held = [(array, memory.writes) for memory in self.memories if memory and (array := memory.outside) is not None]
        if clash([array for array, writes in held if writes], [array for array, _ in held]):
            raise RefusedError("memory is written that two tensors share")
        counts: dict[int, dict[int, tuple[Place, int]]] = {}
        for tensor, *_, before, taken in self.swapped:  # those through `.data` are counted apart
            counted = self.known[id(tensor)][1], version(tensor) - before
            counts.setdefault(id(taken.block), {}).setdefault(id(lineage(tensor).storage or tensor), counted)
        writes = []
        for i, memory in enumerate(self.memories):
            if memory is not None and memory.writes:
                writes.append((i, memory.value))
                record.written += counts[id(memory)].values()
        exchanged = [each for each in self.swapped if inside(each[0]) is not each[-1] and not each[-1].block.writes]
        for tensor, *_, before, _ in exchanged:
            if count := version(tensor) - before:  # of its new memory
                if any(tensor is other for other, _ in self.storages):
                    raise RefusedError(EXCHANGED)  # for those that shared the old one do not count them
                record.written.append((self.known[id(tensor)][1], count))
        return writes

    def _connect(self, result: Any) -> None:
        """Let the graph of the result, which ends at arguments with a history, go on there."""
        histories = {node_of(tensor): node for tensor, node in self.histories}
        nodes = (node_of(leaf) for leaf in flatten(result)[0] if isinstance(leaf, Tensor))
        roots = [node for node in nodes if node is not None]
        for node in ancestors(roots) if histories else ():
            node.edges = tuple(histories.get(edge, edge) for edge in node.edges)

    def _put_back(self, *, committed: bool, results: Sequence[Any] = ()) -> None:
        """Have tensors hold arrays again: arguments first, of which the others may be views."""
        while self.swapped:  # none leaves the list before it is back
            self._swap_back(*self.swapped[-1], committed=committed)
            del self.swapped[-1]
        self.mode = mode.get()  # that of the run holds the recorder
        for tensor, node in self.histories:
            tensor._node = node
        for tensor in (*results, *(made() for made in self.recorder.tensors)):
            if isinstance(tensor, Tensor):
                settle(tensor)
        self.recorder.tensors.clear()
        if references(self.recorder) > self.alone:
            gc.collect(1)  # what was made just now and holds itself: looking there only takes a millisecond
        if references(self.recorder) > self.alone:
            _settle_others(self.recorder)

    @staticmethod
    def _swap_back(
        tensor: Tensor, array: Array, cell: Snapshot | None, before: int, held: Recorded, *, committed: bool
    ) -> None:
        now = inside(tensor)
        if not committed or now is held or now is array:  # the last if putting it back was interrupted
            tensor._array = array
            tensor._cell = cell if cell is not None and cell.array is array else None
            if tensor._cell is not None and tensor._storage is not None:
                tensor._storage.hold(tensor._cell)  # a write that has been taken back has let go of it
            if not committed:
                written(tensor, before - version(tensor))
        elif isinstance(now, Recorded):
            tensor._array = now.settled()
        if committed and held.block.writes:  # also if the tensor has other axes or other memory now
            protect(tensor)
            numbers = held.block.array
            assert numbers is not None
            np.copyto(array, numbers)
        if isinstance(node := node_of(tensor), AccumulateGrad):
            node.array = inside(tensor)


def _flags(tensor: Tensor) -> Flags:
    """What of a tensor stays as it is while a function is recorded."""
    node, hooks = node_of(tensor), hooks_on(tensor)
    return node, tensor.requires_grad, tuple(hook for given in hooks for (hook,) in given)


def _immutable(value: object) -> bool:
    """Whether a Python value is the same at each call, if it is at one."""
    if isinstance(value, tuple | frozenset):
        return all(map(_immutable, value))
    return isinstance(value, (*PLAIN, type, np.dtype, dtype, enum.Enum))


def settle(tensor: Tensor) -> None:
    """Have a tensor hold an array in the place of a recorded value."""
    held, cell = tensor._array, tensor._cell
    now = held
    if isinstance(held, Recorded):
        now = tensor._array = held.settled()
        if isinstance(node := tensor._node, AccumulateGrad):
            node.array = now
    if cell is not None and isinstance(cell.array, Recorded):
        cell.array = now if cell.array is held else cell.array.numbers


def _settle_others(recorder: Recorder) -> None:
    """Have graphs that live on, and aliases made without the tape, hold arrays; this asks every object there is."""
    alive = [found for found in owners(recorder) if isinstance(found, Recorded)]
    for holder in referring(*alive) if alive else ():
        if isinstance(holder, Tensor) and not isinstance(holder, Recorded):
            settle(holder)
        elif isinstance(holder, Snapshot) and isinstance(holder.array, Recorded):
            holder.array = holder.array.numbers
