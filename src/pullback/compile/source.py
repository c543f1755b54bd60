"""Source: a program as a NumPy function.

`write` gives text for people to read and to keep: the lines it comes from are comments, and their names are kept. It calls
NumPy, and pullback for operations that NumPy does not have. `compile_source` gives a function to call at once: it is how a
compiled function runs where there is no machine code for it. Both write equations by the same table, `spelling.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core.modes import quiet
from .naming import Identifiers
from .program import Array, DepartedError, Program, Value
from .references import References, UnwritableError as UnwritableError
from .statements import Statements, described, indented


class SourceText(NamedTuple):
    """A program as text, and the arrays that its function takes as `constants`, by name."""

    text: str
    name: str
    constants: dict[str, Array]


def write(program: Program, name: str = "compiled", inputs: Sequence[str] = ()) -> SourceText:
    """The program as a Python module with one function.

    Its parameters are the program's inputs in their order, with names like those given: arrays of the recorded shapes and
    dtypes or, for floats without axes, numbers. It returns the outputs, as a tuple unless there is one. Writes into the
    memory of inputs are the last statements, after everything that can raise.

    Raises
    ------
    UnwritableError
        If an operation draws random numbers, or cannot be imported by a name.
    """
    names = Identifiers({"constants"})
    name = names.new(name)
    references = References(names)
    statements = Statements(program, names, references, inputs, described=described)
    body = statements.lines() or ["pass"]
    ends = _ending(program, statements)
    more = ["*", "constants"] if statements.large else []
    lines = [*_documentation(program, statements), *_checks(program, statements)]
    lines += ['with np.errstate(all="ignore"):', *indented(body), *ends]
    function = "\n".join([f"def {name}({', '.join([*statements.arguments, *more])}):", *indented(lines)])
    text = "\n\n\n".join([references.text(), *statements.definitions, function])
    return SourceText("\n".join(line.rstrip() for line in text.split("\n")) + "\n", name, statements.large)


def _documentation(program: Program, statements: Statements) -> list[str]:
    """The docstring of the function: its parameters and results."""
    lines = ['"""A program that pullback has recorded, written with NumPy.', "", "Inputs:"]
    lines += [f"    {text}: {_kind(v)}" for text, v in zip(statements.arguments, program.inputs, strict=True)]
    if statements.large:
        lines += ["", "constants is a dict of arrays:"]
        lines += [f"    {text}: {c.dtype.name}{list(c.shape)}" for text, c in statements.large.items()]
    lines += ["", f"Outputs: {', '.join(map(_kind, program.outputs)) or 'none'}"]
    if written := [statements.arguments[place] for place, _ in program.writes]:
        lines.append(f"Written in place: {', '.join(written)}")
    return [*lines, '"""']


def _checks(program: Program, statements: Statements) -> list[str]:
    """Statements that raise for arguments of other shapes and dtypes, and convert numbers given for floats without axes."""
    written = {place for place, _ in program.writes}
    lines, rows = [], []
    for place, (text, value) in enumerate(zip(statements.arguments, program.inputs, strict=True)):
        if not value.shape and value.dtype.kind in "fc" and place not in written:
            lines.append(f'{text} = np.asarray({text}, "{value.dtype.name}")')
        else:
            rows.append(f'("{text}", {text}, {value.shape}, "{value.dtype.name}"),')
    if not rows:
        return lines
    name, given, shape, dtype = map(statements.names.new, ("name", "given", "shape", "dtype"))
    found = f"{{{given}.dtype}}{{list({given}.shape)}}"
    return [
        *lines,
        f"for {name}, {given}, {shape}, {dtype} in (",
        *indented(rows),
        "):",
        *indented([f"if {given}.shape != {shape} or {given}.dtype != {dtype}:"]),
        *indented(indented([f'raise ValueError(f"{{{name}}} is to be {{{dtype}}}{{list({shape})}}, not {found}")'])),
    ]


def _kind(value: Value) -> str:
    return f"{value.dtype.name}{list(value.shape)}"


def _ending(program: Program, statements: Statements) -> list[str]:
    """The writes and the return statement; results that share memory with a written input are copied before."""
    writes = [(place, value) for place, value in program.writes if value is not program.inputs[place]]
    written = {program.inputs[place] for place, _ in writes}
    roots = _roots(program)
    lines, texts = [], {}
    for value in dict.fromkeys((*program.outputs, *[value for _, value in writes])):
        if roots.get(value, frozenset()) & written or value in program.constants:
            texts[value] = statements.names.new(f"{statements.base(value)}_kept")
            lines.append(f"{texts[value]} = np.array({statements.text(value)})")
    makers = program.makers()

    def result(value: Value) -> str:
        """An output as an array; a broadcast one, whose elements share memory, is copied."""
        if value in texts or value in program.inputs:
            return texts.get(value) or statements.text(value)
        maker = makers.get(value)
        function = "array" if maker is not None and maker.name == "broadcast_to" else "asarray"
        return f"np.{function}({statements.text(value)})"

    for place, value in writes:
        lines.append(f"{statements.arguments[place]}[...] = {texts.get(value) or statements.text(value)}")
    results = [result(value) for value in program.outputs]
    return [*lines, f"return {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}"]


def _roots(program: Program) -> dict[Value, frozenset[Value]]:
    """For each value, the inputs whose memory it may share: none after an elementwise operation, but for two that may return
    their operand.
    """
    roots = {value: frozenset([value]) for value in program.inputs}
    nothing: frozenset[Value] = frozenset()
    for e in program.equations:
        own = e.primitive.kind == "elementwise" and e.name not in {"clip", "attached"}
        found = nothing if own else nothing.union(*[roots.get(value, nothing) for value in e.inputs])
        roots |= dict.fromkeys(e.outputs, found)
    return roots


class _Bound:
    """Objects bound to names, for text that is executed in this process and so imports nothing."""

    def __init__(self, names: Identifiers) -> None:
        self.names = names
        self.scope: dict[str, Any] = {"np": np, "DepartedError": DepartedError}
        self._known: dict[int, str] = {}

    def expression(self, thing: Any, hint: str = "value") -> str:
        """A literal, or the name that the object is bound to."""
        if thing is None or isinstance(thing, bool | int | str):
            return repr(thing)
        if id(thing) not in self._known:
            name = self._known[id(thing)] = self.names.new(hint, "_")
            self.scope[name] = thing
        return self._known[id(thing)]


def compile_source(program: Program) -> Callable[..., list[Array]]:
    """A function of the inputs that returns what `run` returns: the outputs, then the values to be written.

    Results may share memory with inputs and with each other, but never with constants.
    It raises `DepartedError` where a guard finds another value than the recorded one.
    """
    names = Identifiers()
    library = _Bound(names)
    statements = Statements(program, names, library)
    body = statements.lines()
    wanted = (*program.outputs, *[value for _, value in program.writes])
    asarray, copy = library.expression(np.asarray, "asarray"), library.expression(np.array, "array")
    results = [f"{copy if value in program.constants else asarray}({statements.text(value)})" for value in wanted]
    body.append(f"return [{', '.join(results)}]")
    text = "\n".join([f"def compiled({', '.join(statements.arguments)}):", *indented(body)])
    scope = library.scope | statements.large
    exec(compile(text, "<pullback program>", "exec"), scope)  # noqa: S102  # our own text
    function, run = scope["compiled"], quiet.run
    return lambda *arrays: run(function, *arrays)
