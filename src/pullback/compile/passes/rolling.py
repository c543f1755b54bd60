"""Re-rolling: repeated equations of an unrolled loop become one loop of the program.

A loop of Python is recorded step by step, so a program may have thousands of equations of which most repeat. `repeats`
finds the steps, and `looping` writes each run of steps as a scan. Which runs are worth it is decided here: a loop of small
steps is as fast as its steps; larger ones are made loops in long programs, for the sake of the first call.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..inference import RULES, SAME, TRUTH
from ..program import Equation, Program, has_effect
from .building import Builder
from .looping import Rolling
from .repeats import STEPS, Numbering, Repeat, candidates, kinds, repeats

FEWEST = 128
"""Equations of the shortest program in which loops are searched."""
SMALL, MOST = 32, 300
"""Elements and equations up to which a step is computed in registers: then a loop is as fast as its steps, or faster."""
LONG = 1000
"""Equations of the shortest program in which larger steps become loops: a shorter one is soon compiled as it is."""
FUSED, CALLED = 24, 400
"""Equations of larger steps, if need be several steps in one: where cheap operations of adjacent steps are fused, and where
operations are called from Python, as each step then is."""
DEAR = 8
"""The cost, in additions, from which on an operation takes longer than memory."""
WIDE, VERY_LONG = 1 << 14, 10_000
"""Elements from which on a step of elementwise operations alone is slower as a loop, as one with calls from Python is, and
equations from which on it is a loop nevertheless."""
INSIDE = {*RULES, "prod", "all", "any", "stack", "flip", "scatter_diagonal", "clone"}
"""Operations that have machine code, of those that are neither elementwise, nor views, nor written as others."""
ELEMENTWISE = {*SAME, *TRUTH, "where", "select"}


def rolled(program: Program) -> Program:
    """The program with loops in the place of repeated equations."""
    if len(program.equations) < FEWEST or not candidates(kinds(moved := _drawn_first(program))):
        return program
    once = _once(moved)
    numbering = Numbering(once)
    rolling = Rolling(once, numbering, _chosen(once, repeats(numbering, candidates(kinds(once)))))
    made = rolling.rewrite()
    return made if rolling.loops else program


def _once(program: Program) -> Program:
    """The program with each equation once: what is the same in all steps stands before them."""
    return Builder(program, {}, strict=False, fold=False, share=True, inner=lambda body: body).rewrite()


def _drawn_first(program: Program) -> Program:
    """The program with random numbers drawn before all else, in their order, if nothing has to be known for that."""
    given = {*program.inputs, *program.constants}
    drawn = [e for e in program.equations if has_effect(e)]
    if not drawn or not all(e.name == "draw" and given.issuperset(e.inputs) for e in drawn):
        return program
    return program.changed(equations=(*drawn, *[e for e in program.equations if not has_effect(e)]))


def _chosen(program: Program, found: list[Repeat]) -> list[Repeat]:
    """The loops that are of use; those of large steps have several steps in one."""
    steps = {repeat: program.equations[repeat.start : repeat.start + repeat.period] for repeat in found}
    small = [repeat for repeat in found if _is_small(steps[repeat])]
    large = [repeat for repeat in found if repeat not in small] if len(program.equations) >= LONG else []
    chosen = [*small]
    for repeat in large:
        alike = [other for other in large if abs(other.count - repeat.count) <= STEPS]  # the way back, as a rule
        several = max([_together(steps[other]) for other in alike]) // max([other.period for other in alike])
        slow = _is_wide(steps[repeat]) or not _is_inside(steps[repeat])
        if not slow or len(program.equations) >= VERY_LONG:
            chosen.append(repeat.taken_together(min(max(1, several), repeat.count // STEPS)))
    return chosen


def _together(step: Sequence[Equation]) -> int:
    """How many equations a step should have."""
    if _is_fused(step):
        return FUSED if all((e.primitive.cost or 0) < DEAR for e in step) else 1
    return 1 if _is_inside(step) else CALLED


def _is_small(step: Sequence[Equation]) -> bool:
    if len(step) > MOST or not _is_inside(step):
        return False
    return all(value.size <= SMALL for e in step for value in (*e.outputs, *(() if e.primitive.view else e.inputs)))


def _is_inside(step: Sequence[Equation]) -> bool:
    """Whether all of a step has machine code."""
    return all(
        e.primitive.kind == "elementwise" or e.primitive.view or e.name in INSIDE or e.primitive.definition is not None
        for e in step
    )


def _is_wide(step: Sequence[Equation]) -> bool:
    return _is_fused(step) and max(value.size for e in step for value in e.outputs) >= WIDE


def _is_fused(step: Sequence[Equation]) -> bool:
    return all(e.primitive.kind == "elementwise" or e.primitive.view or e.name in ELEMENTWISE for e in step)
