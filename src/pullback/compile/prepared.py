"""Prepared records: a record of a function, and what runs its program and does with the results what the function did."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import Tensor, ops
from .._core.modes import FieldBlock
from .._core.xp import replay
from .._numerics.random import Moment
from .._tape.memory import owner, protect, storage_of, written
from .._tape.recording import Obstacle
from .._tape.views import alias, marked, seen_again
from .._tape.walk import pull_back_within
from ..observe import AccumulateGrad, Snapshot, ancestors, hooks, node as node_of, version
from ..utils.trees import flatten, unflatten
from .layouts import clash, order, overlaps
from .machinery import Machinery
from .program import Program, has_effect
from .records import Record, Way, signature
from .whole import COMPILED, recorded

if TYPE_CHECKING:
    from .._core.typing import Array
    from .._numerics.random import Place as Random
    from .._tape.node import Node
    from .._tape.recording import Tape
    from .answers import Alias

ndarray = np.ndarray


class Prepared:
    """A record, and what runs its program."""

    def __init__(
        self, record: Record, made: Callable[[Program], Machinery], function: Callable[[Sequence[Any]], Any]
    ) -> None:
        self.record = record
        record.state.done()
        self.function = function
        self.quickened = -1  # the first call may be the only one
        self.used = True  # since the last look for records that can go
        self.departed: int | None = None  # the guard that did not hold, -1 if it is not known which
        self.machinery = made(record.program)
        self.execute = self.machinery.execute
        if record.drawn and record.program.guards:
            self.execute = functools.partial(_undone, self.execute, record.drawn)
        self.back = None if record.way is None else made(record.way.program)

    def arrays(self, leaves: Sequence[Any]) -> list[Array] | None:
        """The arrays for the program, if the record holds for this call."""
        record = self.record
        if any(leaves[i].hex() != number for i, number in record.numbers):
            return None
        if not record.state.same() or record.meets(leaves) != record.met:
            return None
        if any(signature(place.tensor(leaves)) != expected for place, expected in record.fixed):
            return None
        if any(place.tensor(leaves)._array.strides != strides for place, strides in record.layouts):
            return None
        if any(one.tensor(leaves)._array is not other.tensor(leaves)._array for one, other in record.aliases):
            return None
        if any(order(place.tensor(leaves)._array) != axes for place, axes in record.orders):
            return None
        arrays = []
        for place, value in zip(record.places, record.program.inputs, strict=True):
            array = place.array(leaves)
            if type(array) is not ndarray or array.shape != value.shape or array.dtype != value.dtype:
                return None  # another thread records, perhaps
            arrays.append(array)
        return arrays

    @property
    def reused(self) -> bool:
        """True if it has served a second call."""
        return self.quickened > 0

    def clashes(self, leaves: Sequence[Any], arrays: list[Array]) -> bool:
        """Whether memory that is written cannot be, or is that of another input: then the function runs as it is."""
        targets = [arrays[number] for number, _ in self.record.program.writes]
        if not all(target.flags.writeable and not overlaps(target) for target in targets):
            return True
        if targets and len(set(map(id, arrays))) < len(arrays):
            return True
        return clash(targets, arrays)

    def run(self, leaves: Sequence[Any], arrays: list[Array]) -> Any:
        """Run the program, and do what the function did with its results."""
        record = self.record
        targets = [(place.tensor(leaves), writes) for place, writes in record.written]
        for tensor, _ in targets:
            protect(tensor)
        results = self.execute(*arrays)
        made = self._made(leaves, results)
        for tensor, writes in targets:
            written(tensor, writes)
        aliases = _aliases(record.aliases_made, leaves)
        starts: dict[str, Sequence[Tensor]] = {"made": made, "seen": made, "alias": aliases, "alias view": aliases}
        answers: list[Any] = []
        for kind, what in record.outputs:
            answer = self.number(results[what]) if kind == "number" else _answer(kind, what, leaves, starts, answers)
            answers.append(answer)
        for place, number in record.effects:
            place.put(leaves, None if number is None else answers[number])
        return unflatten(record.structure, answers[: record.leaves])

    def number(self, result: Array) -> float:
        """An output of the program as Python's number."""
        return result.item()

    def _made(self, leaves: Sequence[Any], results: list[Array]) -> list[Tensor]:
        """The tensors that are made of results."""
        record, way = self.record, self.record.way
        arrays = [replay(results[made.number], path=made.steps) for made in record.made]
        tracked = {} if way is None else self._recorded(way, leaves, results, arrays)
        found: list[Tensor] = []
        for i, (made, array) in enumerate(zip(record.made, arrays, strict=True)):
            tensor = tracked.get(i)
            if tensor is None:
                tensor = spent(array) if made.kind == "spent" else Tensor.interpreter.wrap(array, None)
            found.append(tensor if made.beside is None else alias(found[made.beside], tensor, counted=made.counted))
            if made.version and (made.beside is None or not made.counted):
                written(tensor, made.version)
            if made.mark is not None:
                marked(tensor, made.mark)
        if way is not None:
            node = node_of(tracked[way.roots[0]])
            assert node is not None
            assert node.edges[0] is not None
            _guard(found, node.edges[0])
        return found

    def _recorded(
        self, way: Way, leaves: Sequence[Any], results: list[Array], arrays: list[Array]
    ) -> dict[int, Tensor]:
        """The tensors that require grad, as results of one operation on the tape."""
        args = [results[kept] if isinstance(kept, int) else kept.operand(leaves) for kept in way.kept]
        again = functools.partial(self._again, leaves, args, [*map(version, self._tensors(leaves))])
        return dict(
            zip(way.roots, recorded(args, [arrays[number] for number in way.roots], self._pull, again), strict=True)
        )

    def _tensors(self, leaves: Sequence[object]) -> list[Tensor]:
        """All tensors that the function can reach."""
        return [leaf for leaf in (*leaves, *self.record.state.tensors) if isinstance(leaf, Tensor)]

    def _again(
        self, leaves: Sequence[Any], args: list[Tensor | Array], versions: list[int], g: Sequence[Any]
    ) -> list[Tensor | None] | None:
        """The gradients with a history of their own: of the function itself, if a second run of it does the same again."""
        record, way = self.record, self.record.way
        assert way is not None
        steady = not (record.program.writes or record.effects or any(map(has_effect, record.program.equations)))
        if not steady or not record.state.same() or versions != [*map(version, self._tensors(leaves))]:
            return None
        with FieldBlock(grad=True):
            clones = {id(leaf): ops.clone(leaf) for leaf in leaves if isinstance(leaf, Tensor) and not leaf.is_leaf}
            found, _ = flatten(self.function([clones.get(id(leaf), leaf) for leaf in leaves]))
        tracked = {number: found[leaf] for number in way.roots if (leaf := record.made[number].leaf) is not None}
        results = {number: leaf._base if record.made[number].base else leaf for number, leaf in tracked.items()}
        targets: dict[int, Any] = {
            i: node_of(clones.get(id(arg), arg)) for i in way.reached if isinstance(arg := args[i], Tensor)
        }
        ends = [node_of(results[number]) for number in way.roots]
        if any(hooks(node) for node in ancestors(ends) if not isinstance(node, AccumulateGrad)):
            return None  # a second pass would call them once more: with the sum of what arrives, for the two runs apart
        roots = [(node, each) for node, each in zip(ends, g, strict=True) if node is not None]
        tape: Tape = Tensor.interpreter
        reached = pull_back_within(tape, roots, targets.values(), create_graph=True).found
        return [reached.get(targets[i]) if i in targets else None for i in range(len(args))]

    def _pull(self, g: Sequence[Any], arrays: Sequence[Any]) -> list[Array | None]:
        """The gradients, by the program of the way back."""
        way = self.record.way
        assert way is not None
        assert self.back is not None
        found = dict(zip(way.reached, self.back.execute(*arrays, *g), strict=True))
        return [found.get(i) for i in range(len(arrays))]


def _undone(execute: Callable[..., list[Array]], drawn: Sequence[Random], *arrays: Array) -> list[Array]:
    """What a program gives; where it departs, no random numbers have been drawn."""
    moment = Moment(drawn)
    try:
        return execute(*arrays)
    except Exception:
        moment.restore()
        raise


def _aliases(aliases: Sequence[Alias], leaves: Sequence[Any]) -> list[Tensor]:
    """The aliases of tensors of the caller."""
    found: list[Tensor] = []
    for each in aliases:
        tensor = each.place.tensor(leaves)
        made = Tensor.interpreter.wrap(replay(tensor._array, path=each.steps), None)
        made._inference = tensor._inference
        if each.beside is not None:
            found.append(alias(found[each.beside], made))
            continue
        found.append(alias(tensor, made, counted=each.counted))
        if not each.counted:
            written(made, each.version)
    return found


def _answer(
    kind: str, what: Any, leaves: Sequence[Any], starts: dict[str, Sequence[Tensor]], answers: list[Any]
) -> Any:
    """What a leaf of a result is, or a place holds in the end."""
    if kind == "plain":
        return what
    if kind == "place":
        return what.tensor(leaves)
    if kind == "again":
        return answers[what]
    if kind in ("made", "alias"):
        return starts[kind][what]
    start: Tensor = what.start.tensor(leaves) if kind == "view" else starts[kind][what.start]
    return seen_again(start, what.steps, tracked=what.tracked, mark=what.mark)


def _guard(tensors: Sequence[Tensor], node: Node) -> None:
    """Have writes to tensors leave a node the values that it keeps of their memory."""
    places = {id(owner(tensor._array)): tensor for tensor in tensors}
    for cell in node.saved:
        if type(cell) is Snapshot and (tensor := places.get(id(owner(cell.array)))) is not None:
            storage_of(tensor).hold(cell)


class _Spent(Obstacle):
    """Stands for a graph that was walked, and freed, inside a compiled function."""

    def error(self, node: Node, order: Any = ()) -> Exception:
        """torch's error for a second backward."""
        return RuntimeError(
            "Trying to backward through the graph a second time: backward() was called on this tensor inside a compiled "
            "function, which freed the graph. Call it inside with what you need, or return the tensor before"
        )


SPENT = _Spent()


def spent(array: Array) -> Tensor:
    """A tensor that requires grad and whose graph is gone."""
    made: Tensor = Tensor.interpreter.record(COMPILED, (), (), array, {}, conjugated=False)
    node: Any = node_of(made)
    node.saved = SPENT
    return made
