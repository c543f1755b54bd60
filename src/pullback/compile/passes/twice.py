"""Loops that are run twice: one whose steps are among those of another is that other.

The way back of a loop, and its tangents, take the steps of the loop once more, to keep what they need of them. So the first
loop is a part of the second, which then gives the results of both.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from .. import keys
from ..program import Equation, Program, Value, effectful
from .building import with_ends


def run_once(program: Program) -> Program:
    """The program without loops whose steps a later loop takes, too."""
    while (found := _joined(program)) is not None:
        program = found
    return program


def _joined(program: Program) -> Program | None:
    """The program with two of its loops as one; None if no two are alike."""
    loops = [e for e in program.equations if e.name == "scan_loop"]
    loops = [e for e in loops if not any(map(effectful, e.params["loop"].body.equations))]
    for place, first in enumerate(loops):
        for second in loops[place + 1 :]:
            if (both := _Both(program, first, second)).fit and (found := both.ordered()) is not None:
                return found
    return None


class _Both:
    """Two loops of a program, the steps of the first of which may be among those of the second."""

    def __init__(self, program: Program, first: Equation, second: Equation) -> None:
        self.program, self.first, self.second = program, first, second
        self.loop = second
        self._replaced: dict[Value, Value] = {}
        one, other = first.params["loop"], second.params["loop"]
        found = None if (one.length, one.reverse) != (other.length, other.reverse) else self._places()
        places = None if found is None else self._within(found)
        self.fit = places is not None
        if places is not None:
            self._join(places)

    def _places(self) -> list[int] | None:
        """For each input of the first loop, the same input of the second."""
        found: list[int] = []
        parts = [
            [(e.params["loop"].part(i), self._key(v)) for i, v in enumerate(e.inputs)]
            for e in (self.first, self.second)
        ]
        for key in parts[0]:
            place = next((i for i, other in enumerate(parts[1]) if other == key and (key[0] or i not in found)), None)
            if place is None:
                return None
            found.append(place)
        return found

    def _twins(self) -> dict[Value, Value]:
        """For each input of the second loop's steps that is no carry, the first that is the same."""
        loop = self.second.params["loop"]
        found: dict[Hashable, Value] = {}
        given = [*enumerate(zip(loop.body.inputs, self.second.inputs, strict=True))][loop.carries :]
        return {value: found.setdefault((loop.part(i), self._key(outer)), value) for i, (value, outer) in given}

    def _key(self, value: Value) -> Hashable:
        array = self.program.constants.get(value)
        return value if array is None else keys.of_constant(array)

    def _within(self, places: Sequence[int]) -> list[Value] | None:
        """The values of a step of the second loop that are the results of a step of the first."""
        one, other = self.first.params["loop"].body, self.second.params["loop"].body
        constants = {keys.of_constant(array): value for value, array in other.constants.items()}
        same: dict[Value, Value | None] = {v: other.inputs[i] for v, i in zip(one.inputs, places, strict=True)}
        same |= {value: constants.get(keys.of_constant(array)) for value, array in one.constants.items()}
        twins = self._twins()
        known = {_key(e, [twins.get(value, value) for value in e.inputs]): e.outputs for e in other.equations}
        for equation in one.equations:
            made = known.get(_key(equation, [same[value] for value in equation.inputs]))
            if made is None:
                return None
            same.update(zip(equation.outputs, made, strict=True))
        results = [same[value] for value in one.outputs]
        carried = [other.outputs[i] for i in places[: self.first.params["loop"].carries]]
        return None if None in results or results[: len(carried)] != carried else [v for v in results if v is not None]

    def _join(self, results: Sequence[Value]) -> None:
        """Have the second loop give the results of the first."""
        loop, carries = self.second.params["loop"], self.first.params["loop"].carries
        found, outside = [*loop.body.outputs], [*self.second.outputs]
        places = self._places() or []
        for i, (value, old) in enumerate(zip(results, self.first.outputs, strict=True)):
            if i < carries:
                place = places[i]
            elif value in found[loop.carries :]:
                place = found.index(value, loop.carries)
            else:
                place = len(found)
                found.append(value)
                outside.append(old.like())
            self._replaced[old] = outside[place]
        self.loop = replace(
            self.second,
            params={"loop": loop._replace(body=loop.body.changed(outputs=tuple(found)))},
            outputs=tuple(outside),
        )

    def ordered(self) -> Program | None:
        """The program with the second loop alone, before all that uses the results of the first; None if that is not possible."""
        changed = [
            self.loop if e is self.second else replace(e, inputs=tuple([self._replaced.get(v, v) for v in e.inputs]))
            for e in self.program.equations
            if e is not self.first
        ]
        made = {*self.program.inputs, *self.program.constants}
        makers = {value: e for e in changed for value in e.outputs}
        waiting, started, order = changed[::-1], set[int](), dict[int, Equation]()
        while waiting:
            equation = waiting.pop()
            if id(equation) in order:
                continue
            missing = [makers[value] for value in equation.inputs if value not in made]
            if not missing:
                order[id(equation)] = equation
                made.update(equation.outputs)
            elif id(equation) in started or any(
                map(effectful, missing)
            ):  # it needs itself, or an effect before its turn
                return None
            else:
                started.add(id(equation))
                waiting += [equation, *missing]
        return with_ends(self.program.changed(equations=tuple(order.values())), self._replaced)


def _key(equation: Equation, inputs: Sequence[Value | None]) -> Hashable:
    return id(equation.primitive), tuple(inputs), keys.of_metadata(equation.params)
