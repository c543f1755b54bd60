"""Mistakes drawn at random from the source: a comparison or an operator swapped, a number moved by one, a `not` dropped."""

import ast
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SWAPPED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}


class Text:
    """The text of a module, whose parts are found by the line and the column of the syntax tree."""

    def __init__(self, text: str):
        self.bytes = text.encode()
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line.encode()))

    def begin(self, node: ast.expr) -> int:
        """Where a node begins."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr) -> int:
        """Where a node ends."""
        return self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def replaced(self, begin: int, end: int, old: str, new: str) -> str | None:
        """The whole text, with a word that stands once between two places replaced, or None where it does not."""
        between = self.bytes[begin:end]
        if between.count(old.encode()) != 1:
            return None
        return (self.bytes[:begin] + between.replace(old.encode(), new.encode()) + self.bytes[end:]).decode()


def swaps(text: Text, node: ast.AST) -> Iterator[tuple[str, str | None]]:
    """What a node may be mistaken for: (description, whole text)."""
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            old, new = SWAPPED[type(operator)]
            yield f"{old} becomes {new}", text.replaced(text.end(left), text.begin(right), old, new)
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED and not isinstance(node.left, ast.JoinedStr):
        old, new = SWAPPED[type(node.op)]
        if not (isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)):
            yield f"{old} becomes {new}", text.replaced(text.end(node.left), text.begin(node.right), old, new)
    elif isinstance(node, ast.BoolOp):
        old, new = SWAPPED[type(node.op)]
        left, right = node.values[:2]
        yield f"{old} becomes {new}", text.replaced(text.end(left), text.begin(right), old, new)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "a not is dropped", text.replaced(text.begin(node), text.begin(node.operand), "not", "")
    elif isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        begin, end = text.begin(node), text.end(node)
        yield (
            f"{node.value} becomes {node.value + 1}",
            text.replaced(begin, end, text.bytes[begin:end].decode(), repr(node.value + 1)),
        )


def places(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes that are computed when a program runs: no annotations, no texts."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):
            continue
        yield node
        for field, value in ast.iter_fields(node):
            if field not in {"annotation", "returns", "type_params"}:
                waiting += [
                    each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST)
                ]


def mistaken(path: Path, package: Path, choice: random.Random) -> dict[str, Any] | None:
    """A mistake drawn from a module: its file, the line, a name, and the whole text with it; None where none was found."""
    source = path.read_text(encoding="utf-8")
    text, tree = Text(source), ast.parse(source)
    several = [(node, name, new) for node in places(tree) for name, new in swaps(text, node) if new is not None]
    while several:
        node, name, new = several.pop(choice.randrange(len(several)))
        try:
            different = ast.dump(ast.parse(new)) != ast.dump(tree)
        except SyntaxError:
            continue
        if different:
            line = node.lineno  # type: ignore[attr-defined]  # each kind of `swaps` has one
            title = f"line {line}, {name}: {source.splitlines()[line - 1].strip()}"
            return {"file": str(path.relative_to(package)), "line": line, "name": title, "text": new}
    return None


def drawn(package: Path, number: int, seed: int, words: list[str]) -> list[dict[str, Any]]:
    """Some mistakes, drawn so that each line of code is as likely as any other."""
    choice = random.Random(seed)
    paths = [path for path in sorted(package.rglob("*.py")) if not words or any(word in str(path) for word in words)]
    sizes = [len(path.read_text(encoding="utf-8")) for path in paths]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    while len(found) < number:
        if mistake := mistaken(choice.choices(paths, sizes)[0], package, choice):
            found[mistake["file"], mistake["name"]] = mistake
    return list(found.values())
