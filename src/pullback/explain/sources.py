"""The source code of a node: the expression that created it, and the program's name for its value.

A node records its bytecode instruction (`_sites`); the compiler records the source range of each instruction. The text
in that range is the expression, and the enclosing statement shows whether the value was assigned to a name.
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import os.path
import re
from collections.abc import Sequence
from types import CodeType
from typing import NamedTuple

from ..observe import Site, line_of

LONGEST = 200
"""The number of characters above which an expression is shortened."""


class Place(NamedTuple):
    """A range in a file: lines from 1, columns in characters from 0, the last column excluded."""

    file: str
    line: int
    column: int | None
    end_line: int | None
    end_column: int | None

    @property
    def where(self) -> str:
        """The file without its folder, and the line: `train.py:41`."""
        return f"{os.path.basename(self.file)}:{self.line}"

    @property
    def code(self) -> str:
        """The text of the line, without the space around it; empty if it cannot be read."""
        lines = text_of(self.file).lines
        return " ".join(lines[self.line - 1].split()) if 0 < self.line <= len(lines) else ""


class Excerpt(NamedTuple):
    """The source code at a place: the expression, the name it is assigned to, what the tensor it writes to is then."""

    expr: str | None
    assigned: str | None
    written: str | None


NOTHING = Excerpt(None, None, None)
Span = tuple[int, int, int, int]


@functools.lru_cache(maxsize=4096)
def _positions(code: CodeType) -> list[tuple[int | None, int | None, int | None, int | None]]:
    return list(code.co_positions())


def place_of(site: Site) -> Place | None:
    """The place of a site, None where the code has no lines."""
    code, offset = site
    return _place(code, offset, code.co_filename)


@functools.lru_cache(maxsize=4096)
def _place(code: CodeType, offset: int, file: str) -> Place | None:
    """The same; code that reads the same in two files is equal, so the file is a part of what is looked up."""
    positions = _positions(code)
    line, end_line, column, end_column = positions[offset // 2] if offset // 2 < len(positions) else (None,) * 4
    if line is None:
        return None
    if column is None or end_column is None or end_line is None:
        return Place(file, line, None, None, None)
    text = text_of(file)
    column, end_column = text.characters(line, column), text.characters(end_line, end_column)
    return Place(file, line, column, end_line, end_column)


def excerpt_at(place: Place | None) -> Excerpt:
    """The source code at a place."""
    if place is None or place.column is None or place.end_line is None or place.end_column is None:
        return NOTHING
    return text_of(place.file).excerpt((place.line, place.column, place.end_line, place.end_column))


def shortened(text: str, most: int = LONGEST) -> str:
    """A text on one line; if it is too long, its middle is left out."""
    text = " ".join(text.split())
    half = most // 2 - 2
    return text if len(text) <= most else f"{text[:half]}...{text[-half:]}"


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_REPEATING = (ast.For, ast.AsyncFor, ast.While, *_COMPREHENSIONS)


class Text:
    """The source code of one file, and the meaning of a range in it."""

    def __init__(self, lines: list[str], *, saved: bool = False) -> None:
        self.read = lines
        self.saved = saved
        self.lines = [line.rstrip("\r\n") for line in lines]
        self._excerpts: dict[Span, Excerpt] = {}
        self._sides: dict[Span, frozenset[tuple[int, bool]]] = {}

    def excerpt(self, span: Span) -> Excerpt:
        """The expression and names in a range."""
        if span not in self._excerpts:
            self._excerpts[span] = self._found(span)
        return self._excerpts[span]

    def _found(self, span: Span) -> Excerpt:
        line, column, end_line, end_column = span
        if not 0 < end_line <= len(self.lines):
            return NOTHING
        if span in self.written:
            name, expr = self.written[span]
            return Excerpt(expr, None, f"{name} after line {line}")
        if line == end_line:
            segment = self.lines[line - 1][column:end_column]
        else:
            parts = (
                self.lines[line - 1][column:],
                *self.lines[line : end_line - 1],
                self.lines[end_line - 1][:end_column],
            )
            segment = " ".join(part.strip() for part in parts)
        return Excerpt(shortened(segment) or None, self.assigned.get(span), None)

    def characters(self, line: int, column: int) -> int:
        """The column in characters for a column in UTF-8 bytes, which the compiler uses."""
        if line > len(self.lines) or self.lines[line - 1].isascii():
            return column
        return len(self.lines[line - 1].encode()[:column].decode(errors="ignore"))

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of the file; an empty one if it cannot be parsed."""
        try:
            return ast.parse("\n".join(self.lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])

    @functools.cached_property
    def assigned(self) -> dict[Span, str]:
        """The values that are assigned to a name, with the name."""
        found = {}
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
                target = node.targets[-1] if isinstance(node, ast.Assign) else node.target
                if not isinstance(target, (ast.Tuple, ast.List, ast.Subscript)):
                    found[self.span(node.value)] = ast.unparse(target)
        return found

    def calls_of(self, name: str, file: str) -> list[Place]:
        """The places of a file, which is this one's, where a function or class of a name is called."""
        calls = (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        found = (node for node in calls if re.split(r"\W", ast.unparse(node.func))[-1] == name)
        return [Place(file, *self.span(node)) for node in found]

    def looped(self, line: int) -> list[str]:
        """The names that the loops around a line set, those of the outermost first."""
        loops = (node for node in ast.walk(self.tree) if isinstance(node, (ast.For, ast.AsyncFor)))
        targets = [node.target for node in loops if node.lineno <= line <= (node.end_lineno or 0)]
        return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]

    def comprehended(self, line: int) -> list[str]:
        """The names that the comprehensions around a line set."""
        loops = (node for node in ast.walk(self.tree) if isinstance(node, _COMPREHENSIONS))
        around = [node for node in loops if node.lineno <= line <= (node.end_lineno or 0)]
        targets = [each.target for node in around for each in node.generators]
        return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]

    @functools.cached_property
    def choices(self) -> list[tuple[Span, Span]]:
        """The two sides of each `a if condition else b`."""
        chosen = (node for node in ast.walk(self.tree) if isinstance(node, ast.IfExp))
        return [(self.span(node.body), self.span(node.orelse)) for node in chosen]

    def sides(self, place: Place) -> frozenset[tuple[int, bool]]:
        """On which sides of choices a place is, by their numbers: True for the first side."""
        span = place.line, place.column or 0, place.end_line or place.line, place.end_column or 0
        if span not in self._sides:
            self._sides[span] = frozenset(
                (number, side is choice[0])
                for number, choice in enumerate(self.choices)
                for side in choice
                if side[:2] <= span[:2] and span[2:] <= side[2:]
            )
        return self._sides[span]

    def repeats(self, line: int) -> bool:
        """Whether a line is inside of a loop or a comprehension, so that its statement may run several times."""
        loops = (each for each in ast.walk(self.tree) if isinstance(each, _REPEATING))
        return any(each.lineno <= line <= (each.end_lineno or 0) for each in loops)

    @functools.cached_property
    def written(self) -> dict[Span, tuple[str, str]]:
        """The writes, `y[0] = ...` and `y += ...`: the name of the tensor written to, and the text."""
        found = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.AugAssign):
                found[self.span(node)] = found[self.span(node.target)] = (
                    _root(node.target),
                    shortened(ast.unparse(node)),
                )
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                found.setdefault(self.span(node), (_root(node), shortened(ast.unparse(node))))
        return found

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> Span:
        """The range of a part of the tree."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.characters(node.lineno, node.col_offset)
        return node.lineno, start, node.end_lineno, self.characters(node.end_lineno, node.end_col_offset)


def _root(target: ast.expr) -> str:
    """The name of the tensor that `y[0][1] = ...` writes to."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return ast.unparse(target)


_texts: dict[str, Text] = {}


def text_of(filename: str) -> Text:
    """The source code of a file, empty if there is none; it is parsed again if `linecache` has reloaded it."""
    text = _texts.get(filename)
    if text is not None and text.saved:
        return text
    try:
        lines = linecache.getlines(filename)
    except (LookupError, SyntaxError, UnicodeDecodeError):  # doctest's patch of linecache; an undecodable file
        lines = []
    if text is None or text.read is not lines:
        _texts[filename] = text = Text(lines)
    return text


def remember(name: str, first: int, lines: list[str]) -> str:
    """Register the lines of a saved trace under a name that is not a file's; returns that name."""
    key = f"<saved {len(_texts)}>/{name}"
    _texts[key] = Text([*[""] * (first - 1), *lines], saved=True)
    return key


# Executions
#
# One expression can create several nodes (a layer, a loss), and a line in a loop can create many nodes in a row.


def executions(sites: Sequence[tuple[Site, str, object]]) -> list[tuple[int, int]]:
    """Each node's number among the nodes of its execution, and their count; nodes are given in order of creation.

    For nodes that were not recorded it is guessed: consecutive operations of one site are one execution, unless they
    repeat.
    """
    found: list[tuple[int, int]] = []
    for (site, execution), group in itertools.groupby(sites, key=lambda entry: (entry[0], entry[2])):
        names = [op for _, op, _ in group]
        code, _ = site
        once = code.co_name == "<module>" and not text_of(code.co_filename).repeats(line_of(site))
        period = len(names) if once or execution is not None else _period(names)
        found += [(index % period, period) for index in range(len(names))]
    return found


def _period(names: list[str]) -> int:
    """The shortest period of a sequence of names."""
    count = len(names)
    for length in range(1, count // 2 + 1):
        if count % length == 0 and all(names[i] == names[i - length] for i in range(length, count)):
            return length
    return count


def rounds(places: Sequence[tuple[Place | None, object, object]]) -> list[tuple[int, int] | None]:
    """Which time its line ran when a node was created, and how many times it ran; None where it ran once.

    The nodes are given by place, execution and operation, in order of creation. A line runs again where an operation of
    it does at the same place: `y[1:] *= x` reads and writes at one. It also does where the other side of a choice runs.
    """
    counts: dict[tuple[str, int], int] = {}
    seen: dict[tuple[str, int], dict[tuple[Place, object], object]] = {}
    sides: dict[tuple[str, int], set[tuple[int, bool]]] = {}
    found: list[tuple[tuple[str, int], int] | None] = []
    for place, execution, operation in places:
        if place is None or execution is None:
            found.append(None)
            continue
        line = place.file, place.line
        before = seen.setdefault(line, {})
        taken, own = sides.setdefault(line, set()), text_of(place.file).sides(place)
        other = any((number, not side) in taken for number, side in own)
        if other or before.get((place, operation), execution) != execution:
            counts[line] = counts.get(line, 1) + 1
            before.clear()
            taken.clear()
        before[place, operation] = execution
        taken |= own
        found.append((line, counts.get(line, 1)))
    return [None if each is None or each[0] not in counts else (each[1], counts[each[0]]) for each in found]
