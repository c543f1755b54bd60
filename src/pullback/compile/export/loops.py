"""Loops and branches of a program as C's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..machine.assembly import AssembledStep
from ..machine.elements import KINDS
from ..machine.fusion import MOST_ELEMENTS, Steps
from ..program import Equation, Value
from .assembly import PlannedSteps
from .words import STORED

if TYPE_CHECKING:
    from .unit import FunctionWriter

Offsets = Sequence[int] | None


def _given(writer: FunctionWriter, equation: Equation, offsets: Offsets) -> list[str]:
    """The pointers to what a loop or a branch takes."""
    texts = [writer.address(value) for value in equation.inputs]
    return [
        f"{text} + {offset}" if offset else text
        for text, offset in zip(texts, offsets or [0] * len(texts), strict=True)
    ]


def _declare(writer: FunctionWriter, body: PlannedSteps) -> None:
    """Declare memory for the temporaries of small steps on the stack."""
    for kind, size in body.rooms.items():
        name = f"{body.name}{kind}"
        writer.block.say(f"{STORED[kind]} {name}[{size}];")
        writer.local.add(name)


def _scan(writer: FunctionWriter, piece: AssembledStep, equation: Equation, offsets: Offsets) -> None:
    """A loop of a known number of steps."""
    loop, (body,) = equation.params["loop"], writer.plan.inner[piece]
    program, given = body.program, _given(writer, equation, offsets)
    outs = [writer.address(value) for value in equation.outputs]
    values = {*program.inputs, *program.outputs, *(v for e in program.equations for v in e.outputs)}
    small = all(value.size <= MOST_ELEMENTS for value in values) or (isinstance(piece.step, Steps) and piece.step.small)
    after = loop.carries + loop.columns
    with writer.inside(""):
        states = [
            _state(writer, v, given[i], outs[i], loop.length, small=small)
            for i, v in enumerate(program.inputs[: loop.carries])
        ]
        for value, text in zip(program.inputs[after:], given[after:], strict=True):
            writer.names[value] = text
        t = writer.fresh("n")  # not as expressions are named
        head = f"for (int {t} = 0; {t} < {loop.length}; ++{t})"
        if loop.reverse:
            head = f"for (int {t} = {loop.length - 1}; {t} >= 0; --{t})"
        with writer.inside(head):
            rows = [*zip(program.inputs[loop.carries : after], given[loop.carries : after], strict=True)]
            rows += zip(program.outputs[loop.carries :], outs[loop.carries :], strict=True)
            for value, text in rows:
                writer.names[value] = f"{text} + {value.size} * {t}"
            for i, (old, new, _) in enumerate(states):
                writer.names[program.inputs[i]], writer.names[program.outputs[i]] = old, new
            if small:
                _declare(writer, body)
            writer.steps(body)
            for value, (old, new, other) in zip(program.inputs, states, strict=False):
                if other:
                    writer.block.say(
                        f"{old} = {new}; {new} = {other}; {other} = ({STORED[KINDS[value.dtype]]} *){old};"
                    )
                else:
                    writer.copy(old, new, value)
        for value, (old, _, other), out in zip(program.inputs, states, outs, strict=False):
            if not other:
                writer.copy(out, old, value)


def _state(
    writer: FunctionWriter, value: Value, given: str, out: str, length: int, *, small: bool
) -> tuple[str, str, str]:
    """The names of a state before and after a step, and of the memory that takes turns with that; none for copies."""
    kind = STORED[KINDS[value.dtype]]
    if not value.size:
        return given, out, ""
    old, new = writer.fresh("old"), writer.fresh("new")
    if small or not length:
        writer.block.say(f"{kind} {old}[{value.size}], {new}[{value.size}];")
        writer.copy(old, given, value)
        return old, new, ""
    other = writer.fresh("other")
    second = writer.room(f"{writer.fresh('state')}", KINDS[value.dtype], value.size)
    first, last = (out, second) if length % 2 else (second, out)
    writer.block.say(f"const {kind} *{old} = {given};")
    writer.block.say(f"{kind} *{new} = {first}, *{other} = {last};")
    return old, new, other


def _branch(writer: FunctionWriter, piece: AssembledStep, equation: Equation, offsets: Offsets) -> None:
    """One of two programs, by a condition."""
    given = _given(writer, equation, offsets)
    outs = [writer.address(value) for value in equation.outputs]
    heads = (f"if ({writer.element(equation.inputs[0])})", "else")
    for head, body in zip(heads, writer.plan.inner[piece], strict=True):
        with writer.inside(head):
            writer.names.update(zip(body.program.inputs, given[1:], strict=True))
            writer.names.update(zip(body.program.outputs, outs, strict=True))
            writer.steps(body)


def _repeat(writer: FunctionWriter, piece: AssembledStep, equation: Equation, offsets: Offsets) -> None:
    """A loop until a test fails."""
    carries, tested = equation.params["carries"], equation.params["tested"]
    given = _given(writer, equation, offsets)
    test, body = writer.plan.inner[piece]
    outs = [writer.address(value) for value in equation.outputs]
    for value, out, text in zip(equation.outputs, outs, given, strict=False):
        writer.copy(out, text, value)
    seconds = [writer.room(writer.fresh("state"), KINDS[v.dtype], max(v.size, 1)) for v in equation.outputs]
    flag = writer.fresh("holds")
    with writer.inside("for (;;)"):
        writer.block.say(f"uint8_t {flag}[1];")
        writer.names.update(zip(test.program.inputs, [*outs, *given[carries : carries + tested]], strict=True))
        writer.names[test.program.outputs[0]] = flag
        writer.steps(test)
        writer.block.say(f"if (!{flag}[0]) break;")
        writer.names.update(zip(body.program.inputs, [*outs, *given[carries + tested :]], strict=True))
        writer.names.update(zip(body.program.outputs, seconds, strict=True))
        writer.steps(body)
        for value, out, second in zip(equation.outputs, outs, seconds, strict=True):
            writer.copy(out, second, value)


WRITERS: dict[str, Callable[[FunctionWriter, AssembledStep, Equation, Offsets], None]] = {
    "scan_loop": _scan,
    "branch": _branch,
    "repeat_loop": _repeat,
}
"""What has a body, by the names of its primitives."""
