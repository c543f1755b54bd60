"""Changes of a program's text at parts of its syntax tree, and the text with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from .sources import Place, Text, text_of
from .trace import Change

if TYPE_CHECKING:
    from types import FrameType


COMMENT = re.compile(r"#[^\n]*")
Node = TypeVar("Node", bound=ast.expr | ast.stmt)
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
"""Expressions to which a method call can be appended without brackets."""


class Written:
    """A file of the program as it is written, whose parts can be found and changed."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.text: Text = text_of(file)

    def place(self, node: ast.expr | ast.stmt | ast.keyword) -> Place:
        """The place of a part."""
        return Place(self.file, *self.text.span(node))

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """What is written there."""
        return written_at(self.text.lines, self.place(node))

    def at(self, place: Place | None, kind: type[Node]) -> Node | None:
        """The part of a kind that is exactly at a place."""
        if place is None or place.file != self.file:
            return None
        found = (node for node in ast.walk(self.text.tree) if isinstance(node, kind))
        return next((node for node in found if self.place(node) == place), None)

    def statement(self, line: int) -> ast.stmt | None:
        """The innermost statement on a line, the last of several."""
        return innermost(self.text.tree, line)

    def assigned(self, name: str, line: int) -> ast.expr | None:
        """What a name was set to last, in the text before a line."""
        found = None
        for node in ast.walk(self.text.tree):
            if isinstance(node, ast.Assign) and node.lineno < line and len(node.targets) == 1:
                target = node.targets[0]
                if isinstance(target, ast.Name) and target.id == name:
                    found = node.value if found is None or node.value.lineno > found.lineno else found
        return found

    def loops(self, line: int) -> Iterator[ast.For]:
        """The loops around a line."""
        for node in ast.walk(self.text.tree):
            if isinstance(node, ast.For) and node.lineno <= line <= (node.end_lineno or 0):
                yield node

    def is_part(self, node: ast.expr, name: str) -> bool:
        """Whether an expression is an argument of a call of a function or class of that name."""
        calls = (each for each in ast.walk(self.text.tree) if isinstance(each, ast.Call) and node in each.args)
        return any(self.segment(each.func).rpartition(".")[2] == name for each in calls)

    # Changes

    def replaced(self, node: ast.expr | ast.stmt, text: str) -> Change:
        """Another text in a part's place."""
        return Change(self.place(node), text)

    def before(self, node: ast.expr | ast.stmt, text: str) -> Change:
        """A text before a part."""
        place = self.place(node)
        return Change(place._replace(end_line=place.line, end_column=place.column), text)

    def after(self, node: ast.expr | ast.stmt, text: str, back: int = 0) -> Change:
        """A text after a part, or so many characters before its end."""
        _, _, line, column = self.text.span(node)
        return Change(Place(self.file, line, column - back, line, column - back), text)

    def appended(self, node: ast.expr, text: str) -> Change:
        """An expression with a method call after it, in brackets where it needs some."""
        if isinstance(node, ATOMS):
            return self.after(node, text)
        return self.replaced(node, f"({self.segment(node)}){text}")

    def passed(self, call: ast.Call, text: str) -> Change:
        """One more argument of a call, the last."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        _, found, rest = self.segment(call).rpartition(self.segment(given[-1])) if given else ("", "", "")
        separated = not found or "," in COMMENT.sub("", rest)
        return self.after(call, text if separated else f", {text}", back=1)


def innermost(tree: ast.AST, line: int) -> ast.stmt | None:
    """The innermost statement on a line, the last of several."""
    found: ast.stmt | None = None
    for node in _statements(tree):
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            found = node
    return found


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements, each before those inside of it."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.stmt):
            yield child
        yield from _statements(child)


def written_at(lines: Sequence[str], place: Place) -> str:
    """The text of a place, which has columns."""
    assert place.end_line is not None
    part = [*lines[place.line - 1 : place.end_line]]
    part[-1] = part[-1][: place.end_column]
    part[0] = part[0][place.column :]
    return "\n".join(part)


def changed(lines: Sequence[str], changes: Sequence[Change]) -> list[str]:
    """Lines with changes, which do not overlap and keep the number of lines if none has a line break."""
    text = list(lines)
    for place, new in sorted(changes, key=lambda each: (each.place.line, each.place.column or 0), reverse=True):
        assert place.end_line is not None
        first, last = text[place.line - 1], text[place.end_line - 1]
        text[place.line - 1 : place.end_line] = f"{first[: place.column]}{new}{last[place.end_column :]}".split("\n")
    return text


def method_or_function(call: ast.Call, frame: FrameType) -> list[ast.expr]:
    """The operands of a call in their order: of a method the object comes first."""
    function = call.func
    owned = isinstance(function, ast.Attribute) and not isinstance(value_of(function.value, frame), ModuleType)
    return [function.value, *call.args] if owned and isinstance(function, ast.Attribute) else list(call.args)


def value_of(node: ast.expr, frame: FrameType) -> Any:
    """The value that a name has in a frame, or an attribute of a module there; None for all that would run code."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        owner = value_of(node.value, frame)
        if isinstance(owner, ModuleType):
            return getattr(owner, node.attr, None)
        return vars(owner).get(node.attr) if hasattr(owner, "__dict__") else None
    return None


def constants(node: ast.AST) -> Iterator[ast.expr]:
    """The whole numbers that are written in an expression, with their signs."""
    for child in ast.walk(node):
        if isinstance(child, ast.expr) and number_at(child) is not None:
            yield child


def number_at(node: ast.AST) -> int | None:
    """A whole number that is written."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_at(node.operand)
        return None if inner is None else -inner
    return None
