"""The exporter: boxes for equations, arrows for values."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from pullback import observe
from pullback.program import Equation, Program, Value, record, simplify


def dot(function: Callable[..., Any], *args: Any, simplified: bool = True) -> str:
    """The program of one call of a function as a graph of Graphviz's."""
    recording = record(function, *args)
    program = simplify(recording.program) if simplified else recording.program
    return graph(program, recording.names)


def graph(program: Program, names: Sequence[str]) -> str:
    """A program as a graph; `names` are those of its inputs."""
    numbers: dict[Value, int] = {}

    def box(value: Value, text: str, shape: str) -> str:
        numbers[value] = number = len(numbers)
        return f"  v{number} [label={json.dumps(text)} shape={shape}]"

    lines = ["digraph program {", "  rankdir=TB"]
    for value, name in zip(program.inputs, names, strict=True):
        lines.append(box(value, f"{name}\n{value}", "ellipse"))
    for value, array in program.constants.items():
        lines.append(box(value, str(array.tolist()) if array.size == 1 else str(value), "plaintext"))
    for equation in program.equations:
        for value in equation.outputs:
            lines.append(box(value, labelled(equation, value), "box"))
            lines += [f"  v{numbers[given]} -> v{numbers[value]}" for given in equation.inputs]
    for place, value in enumerate(program.outputs):
        lines += [f"  out{place} [label=output shape=ellipse]", f"  v{numbers[value]} -> out{place}"]
    for place, value in program.writes:
        written = f"into {names[place]}"
        lines += [f"  w{place} [label={json.dumps(written)} shape=ellipse]", f"  v{numbers[value]} -> w{place}"]
    return "\n".join([*lines, "}"])


def labelled(equation: Equation, value: Value) -> str:
    """What stands in a box: the primitive, what it gives, and the line that asked for it."""
    line = "" if equation.site is None else observe.describe(equation.site).partition(": ")[0]
    return "\n".join(filter(None, [equation.name, repr(value), line]))
