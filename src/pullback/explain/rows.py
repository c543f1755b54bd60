"""The program as rows of a table: a line or a module each, with its value, its gradient and its steps."""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .arrays import Kept
from .gradients import is_model
from .layout import GAP, columns, cut, fitted, pad, wrapped
from .matrices import fit, size_text
from .sending import Sending, numbered
from .stops import Omitted, Stop, stops
from .terminal import Paper
from .trace import Call, Failure

MOST_STOPS, MOST_OF_NETWORK = 24, 14
"""The number of rows above which modules and rounds are folded, of a program and of a network."""
ROOMY = 72
"""The width from which the steps stand beside the lines, and not below."""
LEAST = [18, 9, 9]
"""The least widths of the program, the values and the gradients."""
TITLE = columns("newest first")
LEAST_OPERATIONS = 22
"""The least width of the operations, where there was no backward pass."""
LINES_BESIDE = 4
"""The most lines beside a line of the program; more are written below, where there is more room."""


class Row(NamedTuple):
    """One line of the table, before its columns have widths."""

    line: str
    program: str
    round: str = ""
    values: Sequence[Kept | None] = ()
    grads: Sequence[Kept | None] = ()
    number: str = ""
    stop: Stop | None = None
    remark: str = ""
    tensors: int = 0
    """The number of values, of which two are shown at most."""


class Widths(NamedTuple):
    """The widths of the columns."""

    line: int
    program: int
    value: int
    grad: int
    number: int
    steps: int


class ProgramTable:
    """Writes the lines of a call; those of a failed program end with the line that failed."""

    def __init__(self, paper: Paper, call: Call, failure: Failure | None = None) -> None:
        self.paper, self.call, self.failure = paper, call, failure
        modules = any(step.scope is not None and step.scope.kind == "module" for step in call.forward)
        self.norms = modules and is_model(call)
        self.stops = stops(call, MOST_OF_NETWORK if self.norms else MOST_STOPS)
        self.sending = Sending(paper, call, [stop for stop in self.stops if isinstance(stop, Stop)], norms=self.norms)
        self.backward = bool(call.steps)

    def write(self) -> list[str]:
        """The table."""
        rows = list(self.rows())
        if not rows:
            return []
        beside = self.paper.width >= ROOMY
        widths = self.widths(rows, beside=beside)
        lines = [self.titles(widths, beside=beside)]
        for row in rows:
            lines += self.beside(row, widths) if beside else self.below(row, widths)
        return [*lines, ""]

    # Contents

    def rows(self) -> Iterator[Row]:
        """The rows; where another file begins, its name."""
        file = None if self.call.place is None else self.call.place.file
        for stop in self.stops:
            place = stop.place if isinstance(stop, Stop) else None
            if place is not None and place.file != file:
                if file is not None:
                    yield Row("", cut(self.paper.clean(os.path.basename(place.file)), self.paper.width - 6))
                file = place.file
            yield self.row(stop)
        if self.failure is not None and not self.backward:
            yield self.failed(self.failure)

    def row(self, stop: Stop | Omitted) -> Row:
        """A stop as a row."""
        if isinstance(stop, Omitted):
            return Row("", f"... {stop.label}")
        shown = stop.results[:2]
        return Row(
            _line(stop),
            self.paper.clean(self.program(stop)),
            f", round {stop.nth} of {stop.of}" if stop.of > 1 else "",
            [tensor.data for tensor in shown],
            [self.sending.grads.get(tensor) for tensor in shown],
            numbered([step for step in stop.steps if step.op is not None or not stop.forward]),
            stop,
            tensors=len(stop.results),
        )

    def failed(self, failure: Failure) -> Row:
        """The line that failed."""
        stop = Stop(failure.place, failure.scope)
        return Row(_line(stop), self.paper.clean(self.program(stop)), remark=f"raised {failure.type}")

    def program(self, stop: Stop) -> str:
        """A line's source, a module's name and class, or, without a source, what was computed."""
        if stop.scope is not None:
            scope = stop.scope
            return scope.name if scope.name == scope.type else f"{scope.name}  {scope.type}"
        code = "" if stop.place is None else stop.place.code
        return code or ", ".join(tensor.name for tensor in stop.results[:2])

    # Columns

    def widths(self, rows: Sequence[Row], *, beside: bool) -> Widths:
        """The width of each column: the steps take what the others leave."""
        line = max(4, *(columns(row.line) for row in rows))
        number = max(5, *(columns(row.number) for row in rows)) if self.backward else 0
        most = max(LEAST[1], self.paper.width // (7 if self.backward else 4))
        natural = [
            max(7, *(columns(row.program + row.round) for row in rows if row.stop is not None or row.remark)),
            max(7 if self.norms else 5, *(min(most, self.natural(row.values, count=row.tensors)) for row in rows)),
            max(6 if self.norms else 4, *(min(most, self.natural(row.grads, count=row.tensors)) for row in rows))
            if self.backward
            else 0,
        ]
        gaps = GAP * (3 + self.backward * 2)
        room = self.paper.width - line - gaps - number
        if not beside:
            room = self.paper.width - line - GAP * (2 + self.backward) + GAP * 2
            program, value, grad = fitted(natural, [min(a, b) for a, b in zip(natural, [8, 6, 6], strict=True)], room)
            return Widths(line, program, value, grad, number, 0)
        rounds = max(columns(row.round) for row in rows)
        least = [min(a, b + extra) for a, b, extra in zip(natural, LEAST, (rounds * 2 // 3, 0, 0), strict=True)]
        program, value, grad = fitted(
            natural, least, room - (self.paper.width * 28 // 100 if self.backward else LEAST_OPERATIONS)
        )
        program = max(8, min(program, room - value - grad - TITLE))
        return Widths(line, program, value, grad, number, room - program - value - grad)

    def natural(self, given: Sequence[Kept | None], *, count: int) -> int:
        """The columns that values take with all digits."""
        return columns(self.cell(given, self.paper.width, count=count))

    def cell(self, given: Sequence[Kept | None], room: int, *, count: int) -> str:
        """Values in a cell, two at most, and dots for more; of a network their norms."""
        if not any(each is not None for each in given):
            return "-" if given else ""
        dots = ", .." if count > len(given) else ""
        part = (room - len(dots) - GAP * (len(given) - 1)) // len(given)
        shown = [size_text(each) if self.norms else fit(each, part) for each in given if each is not None]
        if any(columns(text) > part or ".." in text for text in shown):
            return cut(f"{count} tensors", room) if count > 1 else cut(shown[0], room)
        texts = iter(shown)
        return ", ".join("-" if each is None else next(texts) for each in given) + dots

    def titles(self, widths: Widths, *, beside: bool) -> str:
        """The titles of the columns."""
        texts = [pad("line", widths.line, right=True), pad("program", widths.program)]
        value, grad, sends = ("|value|", "|grad|", "sends |v|") if self.norms else ("value", "grad", "newest first")
        texts.append(pad(value, widths.value, right=True))
        texts += [pad(grad, widths.grad, right=True)] if self.backward else []
        if beside:
            texts += [pad("steps", widths.number), sends] if self.backward else ["operations"]
        return (" " * GAP).join(texts)

    def start(self, row: Row, widths: Widths) -> str:
        """A row without its steps."""
        if row.stop is None and not row.remark:
            return (" " * (widths.line + GAP)) + row.program
        texts = [pad(row.line, widths.line, right=True), pad(_named(row, widths.program), widths.program)]
        texts.append(pad(self.cell(row.values, widths.value, count=row.tensors), widths.value, right=True))
        texts += (
            [pad(self.cell(row.grads, widths.grad, count=row.tensors), widths.grad, right=True)]
            if self.backward
            else []
        )
        return (" " * GAP).join(texts)

    def beside(self, row: Row, widths: Widths) -> list[str]:
        """A row with its steps to the right, as far as they fit there."""
        start = self.start(row, widths)
        if row.stop is None:
            return [self.paper.red(f"{start}{' ' * GAP}{row.remark}") if row.remark else start]
        if self.backward:
            start += " " * GAP + pad(row.number, widths.number, right=True)
        start += " " * GAP
        names, given = self.sending.parts(row.stop, widths.steps)
        whole = [names, *(each[0] for each in given)]
        if all(columns(text) <= widths.steps for text in whole):
            texts = _packed([text for text in whole[1:] if text], widths.steps)
            texts = [names, *texts] if names else texts
            if len(texts) <= LINES_BESIDE:
                indent = " " * columns(start)
                return [f"{start if at == 0 else indent}{text}".rstrip() for at, text in enumerate(texts or [""])]
        inside = names and columns(names) <= widths.steps
        first = f"{start}{names}" if inside else start
        return [first.rstrip(), *self.under("" if inside else names, given, widths.line + 2 * GAP)]

    def below(self, row: Row, widths: Widths) -> list[str]:
        """A row with its steps on lines of their own."""
        start = self.start(row, widths)
        if row.stop is None:
            return [start.rstrip(), *([self.paper.red(f"    {row.remark}")] if row.remark else [])]
        indent = widths.line + GAP
        names, given = self.sending.parts(row.stop, self.paper.width - indent)
        if self.backward:
            which = f"step {row.number}" if row.number.isdigit() else f"steps {row.number}"
            names = f"{which}: {names}" if names and row.number else which if row.number and given else names
        return [start.rstrip(), *self.under(names, given, indent)]

    def under(self, names: str, given: Sequence[Sequence[str]], indent: int) -> list[str]:
        """The steps of a row below it."""
        room = self.paper.width - indent
        texts = wrapped("", [f"{word} " for word in names.split(" ")], room) if names else []
        texts += _packed([_first(each, room) for each in given], room)
        return [f"{' ' * indent}{text}".rstrip() for text in texts if text]


def _line(stop: Stop) -> str:
    return "" if stop.place is None else str(stop.place.line)


def _named(row: Row, room: int) -> str:
    """A line cut in its middle, with its round; of a module, the class goes first."""
    program = row.program
    left = max(room - columns(row.round), 6)
    if row.stop is not None and row.stop.scope is not None and columns(program) > left:
        program = program.partition("  ")[0]
    return cut(f"{cut(program, left)}{row.round}", room)


def _first(texts: Sequence[str], room: int) -> str:
    """The first text that fits, or the last one, cut."""
    return next((text for text in texts if columns(text) <= room), cut(texts[-1], room))


def _packed(texts: Sequence[str], room: int) -> list[str]:
    """Texts in as few lines as they take, none of them broken."""
    lines: list[str] = []
    for text in texts:
        if lines and columns(lines[-1]) + 3 + columns(text) <= room:
            lines[-1] += f"   {text}"
        else:
            lines.append(text)
    return lines
