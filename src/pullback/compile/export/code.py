"""C code as text: expressions, which are named where they are used more than once, in nested blocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

WIDEST = 100
"""The number of characters up to which an expression is written where it is used."""
ATOM = re.compile(r"-?[\w.]+(\[[^][]*\])?|\w+\([^()]*\)")
"""What needs no parentheses: names, numbers, elements, calls."""


def remark(text: str) -> str:
    """A text that may stand in a comment."""
    return text.replace("*/", "* /").replace("/*", "/ *")


class Expression:
    """A value of a kind, with the text of what computes it: strings and other expressions.

    One that reads memory says by which name. A `number` is known, and written wherever it is used.
    """

    def __init__(self, kind: str, parts: Sequence[Any], *, reads: str = "", number: float | None = None) -> None:
        self.kind, self.parts, self.reads, self.number = kind, parts, reads, number


class CodeBlock:
    """Statements in order; each is text with expressions in it, the definition of one, or a block with a head."""

    def __init__(self, head: Sequence[Any] = ()) -> None:
        self.head = head
        self.statements: list[Any] = []

    def say(self, *parts: Any) -> None:
        """Append a statement, or a comment."""
        self.statements.append(tuple(parts))

    def define(self, expression: Expression) -> Expression:
        """Append the computation of an expression."""
        self.statements.append(expression)
        return expression

    def inner(self, *head: Any) -> CodeBlock:
        """Append a block."""
        block = CodeBlock(head)
        self.statements.append(block)
        return block


class Rendered:
    """The lines of a block. Expressions that are used once are written where they are used.

    `written` are the names of memory that the block writes to: what is read there is read in the order of the block.
    `types` are C's types by kinds; no name is one of those `taken`.
    """

    def __init__(self, block: CodeBlock, types: dict[str, str], written: set[str], taken: Collection[str] = ()) -> None:
        self.types, self.written, self.taken = types, written, taken
        self.counts: Counter[int] = Counter(id(each) for each in _used(block))
        self.homes: dict[int, CodeBlock] = {}
        self.names: dict[int, str] = {}
        self.pending: dict[int, str] = {}
        self._place(block)
        self.lines = [*self._block(block, 1)]

    def _place(self, block: CodeBlock) -> None:
        """Note in which block each expression is defined, and which are used in others."""
        for statement in block.statements:
            if isinstance(statement, Expression):
                self.homes[id(statement)] = block
            for each in _parts(statement):
                if isinstance(each, Expression) and self.counts[id(each)] and self.homes.get(id(each)) is not block:
                    self.counts[id(each)] += 1  # it is named: a loop would compute it again
            if isinstance(statement, CodeBlock):
                self._place(statement)

    def _text(self, parts: Sequence[Any], *, whole: bool = False) -> str:
        found = ""
        for part in parts:
            if isinstance(part, Expression):
                if part.number is not None:
                    text = self._text(part.parts)
                elif id(part) in self.names:
                    text = self.names[id(part)]
                else:
                    text = self.pending.pop(id(part))
                    text = text if ATOM.fullmatch(text) or (whole and len(parts) == 1) else f"({text})"
                found += text
            else:
                found += str(part)
        return found

    def _block(self, block: CodeBlock, depth: int) -> Iterator[str]:
        margin = "    " * depth
        for statement in block.statements:
            if isinstance(statement, Expression):
                if not self.counts[id(statement)]:
                    continue
                text = self._text(statement.parts)
                again = self.counts[id(statement)] != 1 or len(text) > WIDEST or statement.reads in self.written
                if again:
                    name = f"t{len(self.names)}"
                    name = self.names[id(statement)] = f"{name}_" if name in self.taken else name
                    yield f"{margin}const {self.types[statement.kind]} {name} = {text};"
                else:
                    self.pending[id(statement)] = text
            elif isinstance(statement, CodeBlock):
                head = self._text(statement.head)
                yield f"{margin}{head} {{" if head else f"{margin}{{"
                yield from self._block(statement, depth + 1)
                yield margin + "}"
            else:
                yield margin + self._text(statement)


def _parts(statement: Any) -> Sequence[Any]:
    if isinstance(statement, Expression):
        return statement.parts
    return statement.head if isinstance(statement, CodeBlock) else statement


def _used(block: CodeBlock) -> Iterator[Expression]:
    """Each use of an expression; of one that nobody uses, what it uses is not used either."""
    needed: set[int] = set()
    uses = [*_backwards(block)]
    for user, expressions in uses:
        if user is None or id(user) in needed:
            needed.update(map(id, expressions))
            yield from expressions


def _backwards(block: CodeBlock) -> Iterator[tuple[Expression | None, list[Expression]]]:
    """The statements from the last to the first: an expression that is defined, or None, and what the statement uses."""
    for statement in reversed(block.statements):
        expressions = [each for each in _parts(statement) if isinstance(each, Expression) and each.number is None]
        if isinstance(statement, CodeBlock):
            yield from _backwards(statement)
        yield (statement if isinstance(statement, Expression) else None), expressions
