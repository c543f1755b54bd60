"""What stood at each place of each operation: tensors of the tape, constants, and what was computed from either unrecorded.

A tape has edges to what is differentiated, and no more. A page that recomputes after a change needs all operands, also
the masks, indices and detached values that follow from what is changed; and it must know where the program has looked at
numbers itself, since what it did after that may depend on them. All this is kept for small arrays only.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from .. import Tensor, observe
from ..observe import AccumulateGrad, Node, OutputNode
from .arrays import Array, plain

if TYPE_CHECKING:
    from ..extend import Primitive


LARGEST, DEEPEST, LOOKS, VIEWS = 200, 1000, 200, 64
"""The elements of the largest array that is kept, the longest chain of operations, and the most looks, and views of one
block of memory, that are remembered."""
TOO_LARGE = f"it has more than {LARGEST} elements"
WRITTEN = "it was written in place"


@dataclass(eq=False, slots=True)
class Given:
    """A value that no node has made: a constant, or the result of an operation that is not differentiated.

    `why` says why it is not known what it depends on, if that is so. `memory` is what a constant lies in: it may be a leaf's.
    """

    value: Array | None = None
    made: Applied | None = None
    output: int = 0
    why: str = ""
    memory: tuple[weakref.ref[Any], object] | None = None


@dataclass(eq=False, slots=True)
class Applied:
    """An operation as it was applied: to which operands, and what it gave. `number` is its place in the order of events."""

    number: int
    primitive: Primitive
    params: Any
    operands: tuple[Node | Given, ...]
    values: tuple[Array, ...]
    results: tuple[Array, ...]
    site: observe.Site
    depth: int
    why: str = ""


@dataclass(eq=False, slots=True)
class Look:
    """The program has looked at a number itself, or done what is not seen: all after it may depend on it."""

    number: int
    what: Node | Given | None
    site: observe.Site
    why: str = ""


class Operands:
    """Collects operations as they are applied."""

    def __init__(self) -> None:
        self._count = count()
        self._applied: weakref.WeakKeyDictionary[Node, Applied] = weakref.WeakKeyDictionary()
        self._given: dict[int, tuple[weakref.ref[Any], Given, int]] = {}
        self._memory: dict[int, tuple[weakref.ref[Any], dict[Any, Given]]] = {}
        self._looks: deque[Look] = deque(maxlen=LOOKS)

    # What happens

    def operation(self, seen: observe.Operation) -> None:
        """An operation has run."""
        if seen.level:
            self._look(None, seen.site, "a transform has computed numbers of its own")
            return
        node = seen.node
        edges = (None,) * len(seen.arguments) if node is None else node.edges
        operands = tuple([self._operand(arg, edge) for arg, edge in zip(seen.arguments, edges, strict=False)])
        made = self._made(seen, operands)
        if node is not None:
            self._applied[node] = made
        for output, piece in enumerate(seen.results):
            value = _result(made, output)
            if observe.node(piece) is None:
                self._keep(piece, value)
            self._lies(plain(piece), value)

    def _made(self, seen: observe.Operation, operands: tuple[Node | Given, ...]) -> Applied:
        arrays, results = [*map(_array, seen.arguments)], [*map(_array, seen.results)]
        depth = 1 + max((self._depth(each) for each in operands), default=0)
        why = ""
        if any(each is None for each in (*arrays, *results)):
            why = "an operand is no array"
        elif any(each.size > LARGEST for each in (*arrays, *results) if each is not None):
            why = TOO_LARGE
        elif depth > DEEPEST:
            why = f"more than {DEEPEST} operations led to it"
        else:  # nothing large is kept alive, however far away
            why = next(filter(None, map(self._lost, operands)), "")
        number = next(self._count)
        if why:
            return Applied(number, seen.primitive, seen.params, (), (), (), seen.site, 1, why)
        values, made = (tuple([each.copy() for each in found if each is not None]) for found in (arrays, results))
        return Applied(number, seen.primitive, seen.params, operands, values, made, seen.site, depth)

    def looked(self, tensor: Tensor, site: observe.Site) -> None:
        """The program has asked a tensor for its numbers."""
        if tensor.level:
            self._look(None, site, "a transform has asked for numbers")
            return
        what = self._operand(tensor, observe.node(tensor))
        if isinstance(what, Node) and (made := self.of(what)) is not None:
            what = _result(made, what.params if isinstance(what, OutputNode) else 0)
        if isinstance(what, Node) or what.made is not None or what.why:
            self._look(what, site)

    def wrote(self, write: observe.Write) -> None:
        """A tensor was written: where neither a node nor a constant tells of it, what it depends on is not known any more."""
        tensor, value = write.tensor, write.value
        node, before = observe.node(tensor), self._given.get(id(tensor))
        edge = node.edges[1] if node is not None and len(node.edges) > 1 else None
        given = None if value is None else self._operand(value, edge)
        constant = isinstance(given, Given) and given.made is None and not given.why
        array = _array(tensor)
        small = array is not None and array.size <= LARGEST
        if (
            node is not None
            and not is_leaf(node)
            and node.primitive.name == "overwrite"
            and given is not None
            and array is not None
            and small
        ):
            base: Node | Given | None = node.edges[0]
            if (
                base is None
            ):  # what it was is gone; what is written over has no part in the result, and the rest is as it was
                base = Given(array.copy()) if before is None else before[1]
            made = Applied(
                next(self._count), node.primitive, node.params, (base, given), (array.copy(), np.array(_array(value))),
                (array.copy(),), write.site, 1 + max(self._depth(base), self._depth(given)),
            )  # fmt: skip
            self._applied[node] = made
            return
        plain = constant and small and (before is None or (before[1].made is None and not before[1].why))
        for each in observe.aliases(tensor):
            if observe.node(each) is None:
                now = _array(each)
                fine = plain and now is not None and now.size <= LARGEST
                self._keep(each, Given(now.copy()) if fine and now is not None else Given(why=WRITTEN))

    def _look(self, what: Node | Given | None, site: observe.Site, why: str = "") -> None:
        if len(self._looks) == LOOKS:  # the first stays, and stands for all that are forgotten
            first, second = self._looks.popleft(), self._looks.popleft()
            self._looks.appendleft(Look(first.number, None, second.site, "the program looks at numbers too often"))
        self._looks.append(Look(next(self._count), what, site, why))

    # What stands at a place

    def _operand(self, arg: Any, edge: Node | None) -> Node | Given:
        if edge is not None:
            return edge
        array = _array(arg)
        if array is None:
            return Given(why="it is no array")
        if not isinstance(arg, Tensor):
            return self.origin(array) or self._constant(array)
        if (node := observe.node(arg)) is not None:
            return node
        return self._untracked(arg, array)

    def _untracked(self, tensor: Tensor, array: Array) -> Node | Given:
        known = self._given.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return known[1] if known[2] == observe.version(tensor) else Given(why=WRITTEN)
        value = self._source(tensor, array) or self._constant(array)
        if isinstance(value, Given):
            self._keep(tensor, value)
        return value

    def _constant(self, array: Array) -> Given:
        owner = _owner(array)
        memory = (weakref.ref(owner), _where(array)) if isinstance(owner, np.ndarray) else None
        return Given(array.copy() if array.size <= LARGEST else None, memory=memory)

    def _source(self, tensor: Tensor, array: Array) -> Node | Given | None:
        """What lies in the same memory as a tensor: what it was detached from, say."""
        for each in observe.aliases(tensor):
            if (node := observe.node(each)) is not None and _where(plain(each)) == _where(array):
                return node
        return self.origin(array)

    def origin(self, array: Array) -> Given | None:
        """What an operation has put into memory where an array lies now."""
        known = self._memory.get(id(_owner(array)))
        if known is None or known[0]() is not _owner(array):
            return None
        return known[1].get(_where(array)) or Given(why="it shares memory with a result")

    def _keep(self, tensor: Tensor, value: Given) -> None:
        key = id(tensor)
        self._given[key] = weakref.ref(tensor, lambda _: self._given.pop(key, None)), value, observe.version(tensor)

    def _lies(self, array: Array | None, value: Given) -> None:
        if array is None:
            return
        owner = _owner(array)
        key = id(owner)
        known = self._memory.get(key)
        if known is None or known[0]() is not owner:
            try:
                known = self._memory[key] = weakref.ref(owner, lambda _: self._memory.pop(key, None)), {}
            except TypeError:  # memory of another library
                return
        known[1][_where(array)] = value
        if len(known[1]) > VIEWS:
            del known[1][next(iter(known[1]))]

    def _lost(self, operand: Node | Given) -> str:
        """Why it is not known what an operand depends on; nothing if it is, or if a line of its own will say so."""
        if isinstance(operand, Given):
            return operand.why
        made = self.of(operand)
        return "" if made is None else made.why

    def _depth(self, operand: Node | Given) -> int:
        made = operand.made if isinstance(operand, Given) else self.of(operand)
        return 0 if made is None else made.depth

    # What is known

    def now(self) -> int:
        """The number of an event that has no other."""
        return next(self._count)

    def of(self, node: Node) -> Applied | None:
        """The operation that made a node, as it was applied."""
        return self._applied.get(maker(node))

    def looks(self, last: float) -> Iterator[Look]:
        """The looks before an event."""
        return (look for look in self._looks if look.number < last)


def _result(made: Applied, output: int) -> Given:
    return Given(made.results[output] if made.results else None, made, output, made.why)


def maker(node: Node) -> Node:
    """The node of the operation: one of several outputs has its own."""
    if isinstance(node, OutputNode):
        assert node.edges[0] is not None
        return node.edges[0]
    return node


def is_leaf(node: Node) -> TypeGuard[AccumulateGrad]:
    """Whether a node is that of a leaf."""
    return isinstance(node, AccumulateGrad)


def kinds(arrays: Sequence[Array]) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
    """The shapes and dtypes of arrays."""
    return [(each.shape, each.dtype) for each in arrays]


def _array(value: Any) -> Array | None:
    """The array of an operand, which must not be written; None if it is none."""
    if isinstance(value, Tensor):
        return plain(value)
    return np.asarray(value) if isinstance(value, (bool, int, float, np.ndarray, np.generic)) else None


def lies_in(given: Given, array: Array) -> bool | None:
    """Whether a constant is all of an array, by its memory; None if it does not lie there."""
    if given.memory is None or given.memory[0]() is not _owner(array):
        return None
    return given.memory[1] == _where(array)


def _owner(array: Array) -> Any:
    found: Any = array
    while getattr(found, "base", None) is not None:
        found = found.base
    return found


def _where(array: Array | None) -> object:
    return None if array is None else (array.ctypes.data, array.shape, array.strides, array.dtype)
