"""Dead code: equations and constants of which nothing that is needed is made, and what loops do for nobody."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..program import Equation, Program, Value, has_effect


def without_dead_code(program: Program) -> Program:
    """The program without what nobody uses; effects stay, and so do inputs, which are the caller's."""
    needed: set[Value] = set(program.needed)
    kept = []
    for old in reversed(program.equations):
        if not needed.isdisjoint(old.outputs) or has_effect(old):
            equation = _narrowed(old, needed) if old.name == "scan_loop" else old
            kept.append(equation)
            needed.update(equation.inputs)
    constants = {value: array for value, array in program.constants.items() if value in needed}
    equations = tuple(reversed(kept))
    if equations == program.equations and len(constants) == len(program.constants):
        return program
    return program.changed(equations=equations, constants=constants)


def _narrowed(equation: Equation, needed: Collection[Value]) -> Equation:
    """A loop without the results that nobody uses, and without what only they were made of."""
    loop = equation.params["loop"]
    body: Program = loop.body
    pairs = [*zip(body.outputs, equation.outputs, strict=True)]
    kept = [i for i, (_, outside) in enumerate(pairs) if outside in needed]
    if len(kept) == len(pairs) or has_effect(equation):
        return equation
    while True:
        inner = without_dead_code(body.changed(outputs=tuple([body.outputs[i] for i in kept])))
        used = inner.uses()
        more = {*kept, *[i for i in range(loop.carries) if body.inputs[i] in used]}
        if len(more) == len(kept):
            break
        kept = sorted(more)
    after = loop.carries + loop.columns
    given = [i for i, value in enumerate(body.inputs) if (i in kept if i < loop.carries else value in used)]
    loop = loop._replace(
        body=inner.changed(inputs=tuple([body.inputs[i] for i in given])),
        carries=sum(i < loop.carries for i in kept),
        columns=sum(loop.carries <= i < after for i in given),
    )
    inputs, outputs = (
        tuple([values[i] for i in places]) for values, places in ((equation.inputs, given), (equation.outputs, kept))
    )
    return replace(equation, inputs=inputs, outputs=outputs, params={"loop": loop})
