"""Statements: the equations of a program as lines of Python, each value under a name chosen once.

Loops and branches are Python's own, over functions for the programs within.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..observe import Site, describe
from .naming import Identifiers, comment, number
from .program import Array, Equation, Program, Value
from .references import UnwritableError, array
from .spelling import SPELLINGS, literal, of_numpy

SHORT = 16
"""Elements of a constant that is written out; larger ones are handed over."""

INDENT = " " * 4

Described = Callable[[Site], "tuple[str, str]"]


class Definitions(Protocol):
    """What expressions refer to: imports, or objects bound to names."""

    def expression(self, thing: Any, hint: str = "value") -> str:
        """How something is written."""


class Statements:
    """The lines of a program.

    With `described`, which gives a user's line and the name it assigns, they are for people to read; else they are to be
    run at once, and delete each value after its last use.
    """

    def __init__(
        self,
        program: Program,
        names: Identifiers,
        library: Definitions,
        inputs: Sequence[str] = (),
        *,
        described: Described | None = None,
    ) -> None:
        self.program, self.names, self.library, self.described = program, names, library, described
        self.readable = described is not None
        self.definitions: list[str] = []
        self.large: dict[str, Array] = {}
        self._texts: dict[Value, str] = {}
        hints = [*inputs, *["x"] * (len(program.inputs) - len(inputs))]
        self.arguments = [self._name(value, names.new(hint)) for value, hint in zip(program.inputs, hints, strict=True)]
        for value, constant in program.constants.items():
            if constant.ndim:
                self._constant(value, constant)

    def _name(self, value: Value, text: str) -> str:
        self._texts[value] = text
        return text

    def _constant(self, value: Value, constant: Array) -> None:
        text = self._name(value, self.names.number("c"))
        if self.readable and constant.size <= SHORT:
            self.definitions.append(f"{text} = {array(constant)}")
        else:
            self.large[text] = constant

    def text(self, value: Value) -> str:
        """How a value is written outside of an equation."""
        found = self._texts.get(value)
        return number(self.program.constants[value][()]) if found is None else found

    def base(self, value: Value) -> str:
        """A text to name other things after."""
        return self._texts.get(value, "value")

    def lines(self) -> list[str]:
        """What computes all values and checks the guards; with lines of users above what comes from them."""
        lines = [f'{text} = constants["{text}"]' for text in self.large] if self.readable else []
        for value in (*self.program.inputs, *self.program.constants):
            lines += self._guarded(value)
        hints = self._hints() if self.described else {}
        last = {} if self.readable else self._last_uses()
        above = ""
        for place, e in enumerate(self.program.equations):
            if self.described and e.site is not None:
                line, _ = self.described(e.site)
                if line != above:
                    lines.append(f"# {line}")
                above = line
            lines += self._equation(e, hints)
            for value in e.outputs:
                lines += self._guarded(value)
            if gone := last.get(place):
                lines.append(f"del {', '.join(map(self.text, gone))}")
        return lines

    def _hints(self) -> dict[Value, str]:
        """The name that a user's line gives to the last value that was made on it, before the next line."""
        assert self.described is not None
        hints = {}
        for e, following in itertools.pairwise([*self.program.equations, None]):
            assert e is not None
            if e.site is not None and len(e.outputs) == 1:
                line, target = self.described(e.site)
                over = following is None or following.site is None or self.described(following.site)[0] != line
                if target and over:
                    hints[e.output] = target
        return hints

    def _last_uses(self) -> dict[int, list[Value]]:
        """After which equation which values are not used any more, so that memory is free for what follows."""
        found: dict[Value, int] = {}
        for place, e in enumerate(self.program.equations):
            found.update(dict.fromkeys((*e.outputs, *e.inputs), place))
        kept = {*self.program.needed, *self.program.inputs, *self.program.constants}
        gone: dict[int, list[Value]] = {}
        for value, place in found.items():
            if value not in kept:
                gone.setdefault(place, []).append(value)
        return gone

    def _guarded(self, value: Value) -> list[str]:
        lines = []
        for guarded, expected in self.program.guards:
            if guarded is not value:
                continue
            text = self.text(value)
            told = f"{text} is {{{text}.item()}}, and was {comment(number(expected))} when the program was recorded"
            error = "ValueError" if self.readable else "DepartedError"
            if isinstance(expected, bool) and value.dtype.kind == "b":
                condition = f"not {text}.item()" if expected else f"{text}.item()"
            else:
                condition = f"{text}.item() != {number(expected)}"
            lines += [f"if {condition}:", f'{INDENT}raise {error}(f"{told}")']
        return lines

    # Equations

    def _equation(self, e: Equation, hints: dict[Value, str]) -> list[str]:
        args = [self._operand(value, e) for value in e.inputs]
        targets = [self._target(value, hints) for value in e.outputs]
        if e.name in LOOPS:
            return LOOPS[e.name](self, e, args, targets)
        spelled = SPELLINGS[e.name](e, args) if e.name in SPELLINGS else None
        if spelled is None:
            spelled = self._call(e, args)
        left = ", ".join(targets) + ("," if len(targets) == 1 and _several(e) else "")
        if isinstance(spelled, str):
            return [f"{left} = {spelled}"]
        return [line.replace("{0}", left) for line in spelled]

    def _operand(self, value: Value, e: Equation) -> str:
        found = self._texts.get(value)
        if found is not None:
            return found
        return literal(self.program.constants[value], e, self.program.constants.__contains__)

    def _target(self, value: Value, hints: dict[Value, str]) -> str:
        hint = hints.get(value)
        return self._name(value, self.names.new(hint) if hint else self.names.number("t"))

    def _call(self, e: Equation, args: Sequence[str]) -> str:
        """A call of the forward function, with metadata by keyword."""
        name = of_numpy(e.primitive.forward) if self.readable else None
        if name is None:
            name = self._function(e)
        params = [f"{key}={self._parameter(entry)}" for key, entry in e.params.items()]
        return f"{name}({', '.join([*args, *params])})"

    def _function(self, e: Equation) -> str:
        if e.primitive.kind == "effect" and self.readable:
            raise UnwritableError(f"{e.name}, at {_place(e)}, draws random numbers, which have no form as text")
        try:
            if self.readable:
                return f"{self.library.expression(e.primitive, e.name)}.forward"
            return self.library.expression(e.primitive.forward, e.name)
        except UnwritableError as error:
            raise UnwritableError(f"{e.name}, at {_place(e)}, cannot be written: {error}") from error

    def _parameter(self, entry: Any) -> str:
        return self.library.expression(entry, "parameter")

    # Loops

    def inner(self, program: Program, hint: str) -> tuple[str, list[str]]:
        """The name and the lines of a function for a program within, whose outputs it gives as a tuple."""
        name = self.names.new(hint)
        inside = Statements(program, self.names, self.library, described=self.described)
        body = inside.lines()
        self.definitions += inside.definitions
        self.large |= inside.large
        results = _row([inside.text(value) for value in program.outputs])
        head = f"def {name}({', '.join(inside.arguments)}):"
        return name, [head, *indented([*body, f"return {results}"])]


def indented(lines: Sequence[str]) -> list[str]:
    """Lines one step further in."""
    return [f"{INDENT}{line}" for line in lines]


def _several(e: Equation) -> bool:
    """Whether one output comes in a tuple."""
    return e.name in {"unbind", "split"}


def _row(texts: Sequence[str]) -> str:
    """Names to which a tuple is assigned, or which make one."""
    return ", ".join(texts) + ("," if len(texts) == 1 else "") if texts else "()"


def _scan(writing: Statements, e: Equation, args: Sequence[str], targets: Sequence[str]) -> list[str]:
    loop = e.params["loop"]
    step, lines = writing.inner(loop.body, "step")
    counter = writing.names.new("i")
    carries = [writing.names.new("carry") for _ in range(loop.carries)]
    rows = [writing.names.new("row") for _ in targets[loop.carries :]]
    columns = [f"{text}[{counter}]" for text in args[loop.carries : loop.carries + loop.columns]]
    shared = args[loop.carries + loop.columns :]
    for target, value in zip(targets[loop.carries :], e.outputs[loop.carries :], strict=True):
        lines.append(f'{target} = np.empty({value.shape}, "{value.dtype.name}")')
    lines += [f"{carry} = {text}" for carry, text in zip(carries, args, strict=False)]
    steps = f"range({loop.length})"
    lines.append(f"for {counter} in {f'reversed({steps})' if loop.reverse else steps}:")
    inside = [f"{_row([*carries, *rows])} = {step}({', '.join([*carries, *columns, *shared])})"]
    inside += [f"{target}[{counter}] = {row}" for target, row in zip(targets[loop.carries :], rows, strict=True)]
    lines += indented(inside)
    return lines + [f"{target} = np.array({carry})" for target, carry in zip(targets, carries, strict=False)]


def _branch(writing: Statements, e: Equation, args: Sequence[str], targets: Sequence[str]) -> list[str]:
    names, lines = [], []
    for body, hint in zip(e.params["bodies"], ("holds", "fails"), strict=True):
        name, text = writing.inner(body, hint)
        names.append(name)
        lines += text
    given = ", ".join(args[1:])
    call = f"{names[0]}({given}) if {args[0]}.item() else {names[1]}({given})"
    return [*lines, f"{_row(targets)} = {call}", *[f"{text} = np.array({text})" for text in targets]]


def _repeat(writing: Statements, e: Equation, args: Sequence[str], targets: Sequence[str]) -> list[str]:
    params = e.params
    test, lines = writing.inner(params["test"], "test")
    step, text = writing.inner(params["body"], "step")
    carries = [writing.names.new("carry") for _ in targets]
    shared = args[params["carries"] :]
    lines += [*text, *[f"{carry} = {given}" for carry, given in zip(carries, args, strict=False)]]
    lines.append(f"while {test}({', '.join([*carries, *shared[: params['tested']]])})[0].item():")
    lines += indented([f"{_row(carries)} = {step}({', '.join([*carries, *shared[params['tested'] :]])})"])
    return lines + [f"{target} = np.array({carry})" for target, carry in zip(targets, carries, strict=True)]


LOOPS: dict[str, Callable[[Statements, Equation, Sequence[str], Sequence[str]], list[str]]] = {
    "scan_loop": _scan,
    "branch": _branch,
    "repeat_loop": _repeat,
}

# Lines of users

_TARGET = re.compile(r"([^\W\d]\w*)\s*(?::[^=]*)?=(?!=)")


def described(site: Site) -> tuple[str, str]:
    """A user's line as a comment, and the name that it assigns, if it is a plain assignment."""
    found = _TARGET.match(describe(site).partition(": ")[2])
    return comment(describe(site)), found[1] if found else ""


def _place(e: Equation) -> str:
    return "an unknown line" if e.site is None else described(e.site)[0]
