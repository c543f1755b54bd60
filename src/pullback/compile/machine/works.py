"""The work of steps in machine code: the flops of what their nodes compute, and the bytes that they read and write."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from ..costs import Work, sites, work
from ..program import Equation, Value
from . import forms
from .assembly import AssembledStep, Assembly
from .fusion import Loops, MatrixProduct, Opaque, Steps
from .nests import MEMORY, Layout, ScalarNode


def works(assembly: Assembly, seconds: dict[str, float]) -> list[Work]:
    """The work of each step of a program."""
    places = {equation: place for place, equation in enumerate(assembly.program.equations)}

    def equations(step: Loops) -> list[Equation]:
        """The equations that a nest computes, in their order."""
        made = {*step.nest.inlined, *[root.value for root in step.nest.roots if root.how]}
        found = {assembly.planner.makers[value] for value in made}
        return sorted(found, key=lambda equation: places.get(equation, len(places)))

    return [_work(piece, equations)._replace(seconds=seconds.get(piece.name)) for piece in assembly.pieces]


def _work(piece: AssembledStep, equations: Callable[[Loops], list[Equation]]) -> Work:
    step = piece.step
    if isinstance(step, Loops):
        assert piece.layout is not None
        return _of_nest(piece, piece.layout, equations(step))
    found = work(step.equation, piece.name)._replace(threads=piece.threaded)
    if isinstance(step, Opaque) and step.equation.primitive.view:
        copied = sum(value.nbytes for value in step.equation.outputs)  # which are memory of their own here
        return found._replace(read=copied, written=copied)
    if isinstance(step, MatrixProduct):
        return found._replace(flops=forms.flops(step))
    if isinstance(step, Steps) and piece.body is not None:
        return _of_loop(found, step, piece.body)
    return found


def _of_nest(piece: AssembledStep, layout: Layout, equations: list[Equation]) -> Work:
    """A nest's work: each node costs what it does at each index of its axes, and memory is read once, where it is read at all."""

    def places(axes: Iterable[int]) -> int:
        return math.prod([layout.domain[axis] for axis in axes])

    def cost(node: ScalarNode) -> int:
        over = node.operands[0].axes | node.data[1] if node.kind == "reduce" else node.axes
        return places(over) * (1 if node.kind == "reduce" else node.cost)

    touched: dict[Value, int] = {}
    own = {root.value for root in layout.roots}
    for node in layout.nodes:
        if node.kind in MEMORY and (value := node.data[0]) not in own:
            touched[value] = touched.get(value, 0) + places(node.axes) * value.dtype.itemsize
    stored = [root.value if root.how else root.source for root in layout.roots if root.stored]
    return Work(
        piece.name,
        tuple(equation.name for equation in equations),
        sum(map(cost, layout.nodes)),
        sum(min(count, value.nbytes) for value, count in touched.items()),
        sum(value.nbytes for value in stored),
        piece.threaded,
        sites=sites(equations),
    )


def _of_loop(found: Work, step: Steps, body: Assembly) -> Work:
    """A loop's work is that of its steps, which move the same memory again and again."""
    length, inner = step.equation.params["loop"].length, works(body, {})
    return found._replace(
        flops=length * sum(each.flops for each in inner),
        read=max(found.read, length * sum(each.read for each in inner)),
        written=max(found.written, length * sum(each.written for each in inner)),
        among=max([each.within for each in inner], default=0),
    )
