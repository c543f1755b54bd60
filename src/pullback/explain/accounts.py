"""The account of a call: all that it computed, in order, so that a page can compute it anew after a change.

Besides the operations of the tape it has those that are not differentiated but lead into them, and the places where the
program has looked at numbers. A line that cannot be recomputed says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..observe import AccumulateGrad, Node, OutputNode
from .arrays import Array, Kept
from .operands import WRITTEN, Applied, Given, Look, Operands, is_leaf, lies_in, maker
from .sources import Place, place_of

if TYPE_CHECKING:
    from .trace import Traced
    from .tracing import Nodes


MOST = 1000
"""The number of elements, of all tensors together, up to which a call has an account."""
LATER = "it was computed before the recording began, or by what is not recorded"


class Statement(NamedTuple):
    """A list of words: each its name, the numbers of its operands, its dtype and shape, and settings; then the results' numbers.

    The inputs have the first numbers, the words those that follow. A result is None where there is none.
    """

    inputs: int
    words: list[list[object]]
    results: list[int | None]


class Said(NamedTuple):
    """The statements of an operation and of its rules; or why there are none."""

    statement: Statement | None = None
    pull: Statement | None = None
    why: str = ""


@dataclass(eq=False, slots=True)
class Constant:
    """A value beside the tensors of a call: its array, and whether the program has given it, and so can be given another."""

    value: Kept | None
    given: bool
    why: str = ""


@dataclass(eq=False, slots=True)
class Line:
    """An operation, or a look at a number: which values went in and came out, by their places in the account.

    The tensors of the call have the first places. Inputs are None where not all are known. `wanted` says which have a
    derivative. What is `said` of it, statements, is known where the account has been read from a trace.
    """

    inputs: list[int] | None
    outputs: list[int]
    applied: Applied | None = None
    wanted: tuple[bool, ...] = ()
    place: Place | None = None
    why: str = ""
    look: bool = False
    said: Said | None = None


@dataclass(eq=False, slots=True)
class Account:
    """The values of a call that are no tensors of it, and its lines; `why` says why there are none.

    `v` has the places of the cotangents with which it begins, of those that follow from other values.
    """

    constants: list[Constant] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    v: list[int | None] = field(default_factory=list)
    why: str = ""


def account(operands: Operands, tape: Nodes, vs: Sequence[Array]) -> Account:
    """The account of a call, of which a tape has the nodes; `vs` are the cotangents with which it begins."""
    count = sum(math.prod(tensor.shape) for tensor in tape.traced.values())
    if count > MOST:
        return Account(why=f"its tensors have {count} elements together, and the page computes up to {MOST}")
    return _Accountant(operands, tape).account(vs)


class _Accountant:
    """Makes the account of one call."""

    def __init__(self, operands: Operands, tape: Nodes) -> None:
        self.operands, self.tape = operands, tape
        self.first = len(tape.traced)
        self.places = {node: place for place, node in enumerate(tape.traced)}
        self.tensors: list[Traced] = [*tape.traced.values()]
        self.constants: list[Constant] = []
        self.given: dict[Given, int] = {}
        self.known: dict[Applied, list[int]] = {}
        self.waiting: list[tuple[Applied, Line]] = []
        self.lines: list[tuple[float, Line]] = []

    def account(self, vs: Sequence[Array]) -> Account:
        """The account."""
        made = [node for node in self.tape.made if not is_leaf(node)]
        self._tape(made)
        self._finish()
        sources = [self.operands.origin(v) for v in vs]
        starts = [None if source is None else self._place(source) for source in sources]
        self._finish()
        last = max((number for number, _ in self.lines), default=0)
        for look in self.operands.looks(last):
            self._look(look)
        self._finish()
        for node, place in list(self.places.items()):
            if is_leaf(node):
                self._leaf(node, place)
        self._finish()
        lines = sorted(self.lines, key=lambda each: each[0])
        return Account(self.constants, _in_order([line for _, line in lines]), starts)

    def _tape(self, nodes: Sequence[Node]) -> None:
        outputs: dict[Node, dict[int, int]] = {}
        for node, place in self.places.items():
            outputs.setdefault(maker(node), {})[node.params if isinstance(node, OutputNode) else 0] = place
        following: float = self.operands.now()
        for node in reversed(nodes):
            applied = self.operands.of(node)
            found = outputs.get(node, {})
            if applied is not None and not applied.why:
                there = [
                    found[k] if k in found else self._new(Constant(each, False))
                    for k, each in enumerate(applied.results)
                ]
                self._line(applied, there, tuple(edge is not None for edge in node.edges))
            else:
                self._unseen(node, [*found.values()], applied, following)
            following = self.lines[-1][0]

    def _unseen(self, node: Node, outputs: list[int], applied: Applied | None, following: float) -> None:
        """A line for a node of which it is not known to what it was applied, or that is too large; as late as it can be."""
        why = applied.why if applied is not None else LATER
        if node.foreign:
            why = "its rule is the program's own"
        number = following - 0.5 if applied is None else applied.number
        self.lines.append((number, Line(None, outputs, place=place_of(node.site), why=why)))

    def _line(self, applied: Applied, outputs: list[int], wanted: tuple[bool, ...] = ()) -> None:
        line = Line([], outputs, applied, wanted, place_of(applied.site))
        self.known[applied] = outputs
        self.waiting.append((applied, line))
        self.lines.append((applied.number, line))

    def _finish(self) -> None:
        """Find the operands of all lines, and the lines that lead to them."""
        while self.waiting:
            applied, line = self.waiting.pop()
            line.inputs = inputs = [self._place(each) for each in applied.operands]
            for place, value in zip(inputs, applied.values, strict=True):
                known = self.tensors[place].data if place < self.first else self.constants[place - self.first].value
                same = not isinstance(known, np.ndarray) or np.array_equal(
                    known, value, equal_nan=value.dtype.kind == "f"
                )
                if not same and applied.primitive.name != "overwrite":
                    line.applied, line.inputs, line.why = None, None, f"{WRITTEN} in between"

    def _place(self, value: Node | Given) -> int:
        if isinstance(value, Given):
            if value not in self.given:
                made = value.made
                if made is None and (leaf := self._shared(value)) is not None:
                    self.given[value] = leaf
                    return leaf
                self.given[value] = (
                    self._new(Constant(value.value, not value.why, value.why))
                    if made is None or made.why
                    else self._results(made)[value.output]
                )
            return self.given[value]
        if value not in self.places:
            applied = self.operands.of(value)
            if is_leaf(value):
                self.places[value] = self._new(Constant(np.array(value.array), True))
            elif applied is None or applied.why:
                self.places[value] = self._new(Constant(None, False, LATER if applied is None else applied.why))
            else:
                self.places[value] = self._results(applied)[value.params if isinstance(value, OutputNode) else 0]
        return self.places[value]

    def _shared(self, given: Given) -> int | None:
        """The place of a leaf in whose memory a constant lies, all of it, as that of `x.detach()`; of a part it is not known."""
        for node, place in self.places.items():
            if is_leaf(node) and (whole := lies_in(given, node.array)) is not None:
                return place if whole else self._new(Constant(given.value, False, "it shares memory with a leaf"))
        return None

    def _results(self, applied: Applied) -> list[int]:
        """The places of an operation's results."""
        if applied not in self.known:
            self._line(applied, [self._new(Constant(each, False)) for each in applied.results])
        return self.known[applied]

    def _look(self, look: Look) -> None:
        inputs = [] if look.what is None else [self._place(look.what)]
        self.lines.append((look.number, Line(inputs, [], place=place_of(look.site), why=look.why, look=True)))

    def _leaf(self, node: AccumulateGrad, place: int) -> None:
        """A leaf in whose memory lies a result of an operation, as in `nn.Parameter(x.detach() * 2)`.

        What it was itself before, as in `x -= 0.1 * x.grad`, has no part in it: a change is one of what it is in this call.
        """
        origin = self.operands.origin(node.array)
        if origin is None or origin.made is None:
            return
        waiting, seen, inputs = [origin.made], {origin.made}, set[int]()
        while waiting:
            for each in waiting.pop().operands:
                made = each.made if isinstance(each, Given) else self.operands.of(each) if not is_leaf(each) else None
                known = self.given.get(each) if isinstance(each, Given) else self.places.get(each)
                if made is not None and made not in seen:
                    seen.add(made)
                    waiting.append(made)
                elif known is not None and each is not node:
                    inputs.add(known)
        lost = any(made.why for made in seen)
        if inputs or lost:
            line = Line(None if lost else sorted(inputs), [place], why="it was made from a result")
            self.lines.append((origin.made.number + 0.5, line))

    def _new(self, constant: Constant) -> int:
        self.constants.append(constant)
        return self.first + len(self.constants) - 1


def _in_order(lines: Iterable[Line]) -> list[Line]:
    """Lines in their order, but for those whose inputs later ones give: they wait."""
    lines = [*lines]
    makers = {place: line for line in lines for place in line.outputs}
    found: dict[Line, None] = {}
    stack = [*reversed(lines)]
    opened: set[Line] = set()
    while stack:
        line = stack.pop()
        before = [makers[place] for place in line.inputs or () if place in makers and makers[place] not in found]
        if line in found:
            continue
        if before and line not in opened:
            opened.add(line)
            stack += [line, *before]
        else:
            found[line] = None
    return [*found]
