"""Assembly: the steps of a program in order, and the memory of each value.

The code finds all memory through a table of addresses: inputs, results, one block (the arena) for temporaries, and
constants. Temporaries that are not needed at the same time share memory in the arena. A value that is to be written to an
input is computed in the input's memory if no later step can fail or reads the old value; otherwise it is copied after the
last step.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..mathematics.lanes import SIZES
from ..program import Equation, Program, Value
from .elements import ELEMENTS
from .forms import flops, form
from .fusion import Loops, MatrixProduct, Opaque, Own, Planner, Step, Steps, planned
from .lowering import lowered
from .nests import MEMORY, Layout, laid_out
from .ranges import accumulated, chunks, partial

if TYPE_CHECKING:
    from ..scans import Scan

ALIGNED = 64
HEAVY = 100_000
"""The cost of a program, in additions, above which it releases the interpreter's lock while it runs."""
THREADED = 2
THREADED_COST = 1 << 19
"""The fewest chunks of a step and its least cost, in additions, that threads share: waking one takes 30 microseconds."""
LONG_LINE = 100
"""The number of scalar operations above which code is compiled without optimization: it is a sequence of calls, which runs
as fast and compiles four times as fast."""


@dataclass(slots=True, eq=False)
class AssembledStep:
    """A step with its layout, or with the body of its loop, and the names of its functions."""

    step: Step
    name: str
    layout: Layout | None = None
    body: Assembly | None = None
    count: int = 1
    chunk: int = 1
    cost: int = 0

    @property
    def threaded(self) -> bool:
        """Whether threads may share it."""
        return self.count >= THREADED and self.cost >= THREADED_COST


class Stage(NamedTuple):
    """Steps in machine code, one after another, and the number of the step before them: one in Python, or -1."""

    name: str
    before: int
    steps: range


@dataclass(slots=True)
class MemoryLayout:
    """The addresses of values: a slot of the table and an offset in bytes."""

    places: dict[Any, tuple[int, int]] = field(default_factory=dict)
    arena: int = 0
    slots: int = 0


class Assembly:
    """A program, its steps and its memory."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.planner: Planner
        self.planner, steps = planned(program)
        self.pieces = [piece for number, step in enumerate(steps) if (piece := self._piece(step, number)) is not None]
        self.stages = self._stages()
        self.opaque = len(self.stages) > 1
        self.constants = {v: a for v, a in program.constants.items() if a.size != 1 or self._read_as_memory(v)}
        for piece in self.pieces:
            self.constants |= piece.body.constants if piece.body else {}
        self.written_in_place: dict[int, Value] = {}
        self.memory = self._memory()
        self.guards: dict[int, list[tuple[int, Value, Any]]] = {}
        for number, (value, expected) in enumerate(self.program.guards):
            self.guards.setdefault(self.step_of(value), []).append((number, value, expected))

    @property
    def cost(self) -> int:
        """The cost of one run, in additions."""
        return sum(piece.cost for piece in self.pieces)

    @property
    def straight(self) -> bool:
        """Whether the program is a long sequence of scalar operations without loops."""
        nodes = [0 if piece.layout is None or piece.layout.domain else len(piece.layout.nodes) for piece in self.pieces]
        return all(nodes) and sum(nodes) >= LONG_LINE

    def _read_as_memory(self, value: Value) -> bool:
        wanted = {x for p in self.pieces if isinstance(p.step, Opaque | Steps | Own) for x in p.step.equation.inputs}
        factors = {
            x.value for p in self.pieces if isinstance(p.step, MatrixProduct) for x in (p.step.left, p.step.right)
        }
        return value in wanted or value in factors or value in self.program.needed

    # Pieces

    def _stages(self) -> list[Stage]:
        """The stages of the program: one, if no step runs in Python."""
        before = [-1, *[number for number, piece in enumerate(self.pieces) if isinstance(piece.step, Opaque)]]
        ends = [*before[1:], len(self.pieces)]
        return [
            Stage(f"run_{place}" if place else "run", number, range(number + 1, end))
            for place, (number, end) in enumerate(zip(before, ends, strict=True))
        ]

    def _piece(self, step: Step, number: int) -> AssembledStep | None:
        """The piece of a step; None if none of its results is needed."""
        piece = AssembledStep(step, f"step_{number}")
        if isinstance(step, Loops):
            self._drop_unused(step)
            if not step.nest.roots:
                return None
            layout = piece.layout = laid_out(step.nest)
            piece.count, piece.chunk = chunks(layout)
            places = math.prod(layout.domain)
            piece.cost = places * (1 + sum(node.cost for node in layout.nodes if node.axes or not layout.domain))
        elif isinstance(step, MatrixProduct):
            piece.cost, how = flops(step) // 2, form(step)
            piece.count = how.parts.number if how.shared else 1
        elif isinstance(step, Steps):
            loop = step.equation.params["loop"]
            piece.body = None if step.small else Assembly(lowered(loop.body))
            piece.cost = _cost(loop) if piece.body is None else loop.length * piece.body.cost
        elif isinstance(step, Own):
            solved = step.equation.name == "solve_triangular"
            piece.cost = step.equation.inputs[0].size * (step.equation.output.shape[1] if solved else 1)
        return piece

    def _drop_unused(self, step: Loops) -> None:
        """Drop the stores of values that no other step reads."""
        outside = self._outside()
        roots = []
        for root in step.nest.roots:
            root.stored = root.value in outside
            if root.stored or root.consumed:
                roots.append(root)
        step.nest.roots = roots

    def _outside(self) -> set[Value]:
        """The values that some step, or the caller, reads from memory."""
        known: set[Value] | None = getattr(self, "_read", None)
        if known is None:
            known = set(self.program.needed)
            for step in self.planner.steps:
                if isinstance(step, Loops):
                    known |= step.nest.loaded.keys()
                elif isinstance(step, MatrixProduct):
                    known |= {step.left.value, step.right.value}
                else:
                    known |= set(step.equation.inputs)
            self._read = known
        return known

    # Memory

    def _memory(self) -> MemoryLayout:
        program, memory = self.program, MemoryLayout()
        slots = {value: (number, 0) for number, value in enumerate(program.inputs)}
        for number, value in enumerate(program.outputs):
            slots[value] = (len(program.inputs) + number, 0)
        memory.slots = arena = len(program.inputs) + len(program.outputs)
        for number, value in enumerate(self.constants):
            slots[value] = (arena + 1 + number, 0)
        memory.slots += 1 + len(self.constants)
        for piece in self.pieces:
            if isinstance(piece.step, Opaque):
                for value in piece.step.equation.outputs:
                    slots[value] = (memory.slots, 0)
                    memory.slots += 1
        self._find_in_place(slots)
        memory.places.update(slots)
        self._lay_out(memory, arena)
        return memory

    def _lay_out(self, memory: MemoryLayout, slot: int) -> None:
        """Assign memory in the arena to temporaries, reusing that of temporaries that are dead."""
        last = self._last_uses()
        free = FreeParts()
        ends: dict[int, list[tuple[int, int]]] = {}
        for number, piece in enumerate(self.pieces):
            for start, size in ends.pop(number - 1, ()):
                free.give(start, size)
            for key, needed, end in self._needs(piece, number, last):
                if key in memory.places:
                    continue
                size = aligned(needed)
                start = free.take(size)
                memory.places[key] = (slot, start)
                ends.setdefault(end, []).append((start, size))
        memory.arena = free.top

    def _needs(self, piece: AssembledStep, number: int, last: dict[Value, int]) -> list[tuple[Any, int, int]]:
        """The arena memory that a step needs: key, bytes, and the last step that reads it."""
        found: list[tuple[Any, int, int]]
        if isinstance(piece.step, MatrixProduct | Steps | Own):
            found = [(value, value.nbytes, last.get(value, number)) for value in piece.step.equation.outputs]
            return found if piece.body is None else [*found, (piece, room(piece.body, piece.step.equation), number)]
        if piece.layout is None:
            return []
        found = []
        for root in piece.layout.roots:
            if root.stored and root.value not in piece.layout.scratch:
                found.append((root.value, root.value.nbytes, last.get(root.value, number)))
            if partial(root, piece.layout, piece.count):
                found.append((root, piece.count * root.value.size * SIZES[accumulated(root, piece.layout)], number))
        return found

    def _last_uses(self) -> dict[Value, int]:
        last: dict[Value, int] = {}
        for number, piece in enumerate(self.pieces):
            for value in self._reads(piece):
                last[value] = number
        return last | dict.fromkeys(self.program.needed, len(self.pieces))

    @staticmethod
    def _reads(piece: AssembledStep) -> set[Value]:
        step = piece.step
        if isinstance(step, MatrixProduct):
            return {step.left.value, step.right.value}
        if isinstance(step, Opaque | Steps | Own):
            return set(step.equation.inputs)
        assert piece.layout is not None
        return {node.data[0] for node in piece.layout.nodes if node.kind in MEMORY}

    def _find_in_place(self, slots: dict[Value, tuple[int, int]]) -> None:
        """Choose the values that are computed in the memory of the input they are to be written to."""
        makers = {root.value: number for number, piece in enumerate(self.pieces) if piece.layout is not None
                  for root in piece.layout.roots}  # fmt: skip
        guarded = max([self.step_of(value) for value, _ in self.program.guards], default=-1)
        together = {e.output for e in self.program.equations if self.planner.kinds[e] == "pieces"} | self.planner.turned
        for place, value in self.program.writes:
            target = self.program.inputs[place]
            if value in slots or value not in makers or value in together:
                continue
            number = makers[value]
            piece, later = self.pieces[number], self.pieces[number + 1 :]
            if number <= guarded:
                continue
            alone = sum(other is value for _, other in self.program.writes) == 1
            late = any(isinstance(p.step, Opaque) or target in self._reads(p) for p in later)
            if alone and not late and piece.layout is not None and _same_places(piece.layout, value, target):
                slots[value] = (place, 0)
                self.written_in_place[place] = value

    def step_of(self, value: Value) -> int:
        """The number of the step that computes a value; -1 for inputs and constants."""
        found = -1
        for number, piece in enumerate(self.pieces):
            step = piece.step
            if piece.layout is not None:
                made = {root.value for root in piece.layout.roots}
            else:
                assert not isinstance(step, Loops)
                made = set(step.equation.outputs)
            found = number if value in made else found
        return found

    def place(self, key: Hashable) -> tuple[int, int]:
        """The slot and the offset of a value, or of the partial results of a root."""
        return self.memory.places[key]


def _same_places(layout: Layout, value: Value, target: Value) -> bool:
    """Whether each element of `target` that a nest reads is the one it overwrites in the same iteration."""
    roots = [root for root in layout.roots if root.value is value]
    if len(roots) != 1 or roots[0].how or layout.phases != 1:
        return False
    at = roots[0].at
    return all(
        node.kind == "load" and node.data[1] == at
        for node in layout.nodes
        if node.kind in MEMORY and node.data[0] is target
    )


def aligned(size: int) -> int:
    """A number of bytes rounded up to cache lines."""
    return -(-size // ALIGNED) * ALIGNED


def room(body: Assembly, equation: Equation) -> int:
    """The temporary memory of a loop in bytes: that of one step, and a second copy of each state."""
    carries = equation.outputs[: equation.params["loop"].carries]
    return aligned(body.memory.arena) + sum(aligned(value.nbytes) for value in carries)


class FreeParts:
    """The free parts of the arena."""

    def __init__(self) -> None:
        self.top = 0
        self.parts: list[tuple[int, int]] = []

    def take(self, size: int) -> int:
        """The start of a free part: the smallest that is large enough, or new memory."""
        fitting = [part for part in self.parts if part[1] >= size]
        if not fitting:
            self.top += size
            return self.top - size
        start, length = min(fitting, key=lambda part: part[1])
        self.parts.remove((start, length))
        if length > size:
            self.parts.append((start + size, length - size))
        return start

    def give(self, start: int, size: int) -> None:
        """Free a part, and merge it with free neighbors."""
        for other in list(self.parts):
            if other[0] + other[1] == start:
                self.parts.remove(other)
                start, size = other[0], size + other[1]
            elif start + size == other[0]:
                self.parts.remove(other)
                size += other[1]
        self.parts.append((start, size))


def _cost(loop: Scan) -> int:
    """The cost of a loop in registers, in additions."""
    each = 1
    for equation in loop.body.equations:
        size = sum(value.size for value in equation.outputs)
        inner = equation.inputs[0].shape[-1] if equation.name == "matmul" else 1
        each += size * (ELEMENTS[equation.name].cost if equation.name in ELEMENTS else inner)
    return loop.length * each
