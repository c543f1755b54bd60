"""Dead code: equations and constants of which nothing that is needed is made."""

from __future__ import annotations

from ..program import Program, Value, has_effect


def without_dead_code(program: Program) -> Program:
    """The program without what nobody uses; effects stay, and so do inputs, which are the caller's."""
    needed: set[Value] = set(program.needed)
    kept = []
    for equation in reversed(program.equations):
        if not needed.isdisjoint(equation.outputs) or has_effect(equation):
            kept.append(equation)
            needed.update(equation.inputs)
    constants = {value: array for value, array in program.constants.items() if value in needed}
    if len(kept) == len(program.equations) and len(constants) == len(program.constants):
        return program
    return program.changed(equations=tuple(reversed(kept)), constants=constants)
