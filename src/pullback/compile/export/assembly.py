"""The steps of a program for C: as for machine code, but not cut for threads, and with typed memory for temporaries."""

from __future__ import annotations

from typing import Any

from ..machine.assembly import AssembledStep, Assembly, FreeParts, MemoryLayout
from ..machine.elements import KINDS
from ..machine.fusion import Loops, Step
from ..machine.lowering import lowered
from ..machine.ranges import accumulated, partial
from ..program import Program, Value


class PlannedSteps(Assembly):
    """A program, its steps, and the memory of each value: a kind and where it begins among numbers of that kind.

    `inner` are the programs of loops and branches, by step, planned in the same way.
    """

    def __init__(self, program: Program, name: str = "") -> None:
        self.name = name
        self.inner: dict[AssembledStep, list[PlannedSteps]] = {}
        self.rooms: dict[str, int] = {}
        super().__init__(program)

    def _piece(self, step: Step, number: int) -> AssembledStep | None:
        """The piece of a step, of one chunk."""
        if not isinstance(step, Loops):
            piece: AssembledStep | None = AssembledStep(step, f"step_{number}")
        else:
            piece = super()._piece(step, number)
        if piece is not None:
            piece.count = 1
            if not isinstance(step, Loops):
                bodies = _bodies(step.equation.params)
                names = [f"{self.name or 'w'}{number}{'ab'[place]}_" for place in range(len(bodies))]
                self.inner[piece] = [
                    PlannedSteps(lowered(body), name) for body, name in zip(bodies, names, strict=True)
                ]
        return piece

    def _memory(self) -> MemoryLayout:
        """Memory for temporaries, and which values are computed in that of an input."""
        program, memory = self.program, MemoryLayout()
        here = dict.fromkeys((*program.inputs, *program.outputs, *self.constants), (0, 0))
        slots = dict(here)
        self._find_in_place(slots)
        known = {*slots}
        last = self._last_uses()
        free: dict[str, FreeParts] = {}
        ends: dict[int, list[tuple[str, int, int]]] = {}
        for number, piece in enumerate(self.pieces):
            for kind, start, size in ends.pop(number - 1, ()):
                free[kind].give(start, size)
            for key, kind, size, end in self._wants(piece, number, last):
                if key not in known:
                    known.add(key)
                    start = free.setdefault(kind, FreeParts()).take(size)
                    self.found[key] = kind, start
                    ends.setdefault(end, []).append((kind, start, size))
        self.rooms = {kind: each.top for kind, each in free.items()}
        return memory

    @property
    def found(self) -> dict[Any, tuple[str, int]]:
        """Where temporaries are: a kind, and a place among the numbers of that kind."""
        known: dict[Any, tuple[str, int]] = self.__dict__.setdefault("_found", {})
        return known

    def _wants(self, piece: AssembledStep, number: int, last: dict[Value, int]) -> list[tuple[Any, str, int, int]]:
        """The memory that a step needs: key, kind, size, and the last step that reads it."""
        if piece.layout is None:
            assert not isinstance(piece.step, Loops)
            outputs = piece.step.equation.outputs
            return [(v, KINDS.get(v.dtype, "d"), max(v.size, 1), last.get(v, number)) for v in outputs]
        found: list[tuple[Any, str, int, int]] = []
        for root in piece.layout.roots:
            value, kind = root.value, KINDS[root.value.dtype]
            if root.stored and value not in piece.layout.scratch:
                found.append((value, kind, value.size, last.get(value, number)))
            if partial(root, piece.layout, 1):
                found.append((root, accumulated(root, piece.layout), value.size, number))
        return found


def _bodies(params: dict[str, Any]) -> list[Program]:
    """The programs of a loop, a test and a body, or the sides of a branch."""
    if "loop" in params:
        return [params["loop"].body]
    if "bodies" in params:
        return [*params["bodies"]]
    return [params["test"], params["body"]] if "test" in params else []
