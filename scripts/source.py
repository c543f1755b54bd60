"""What the source of pullback says of itself: its modules, their lines of code, and who imports whom, lazily too.

A lazy import is a module's name in a string that is given to `import_module`, or to a function that hands it on to
`import_module`, a *loader*. Tables of names that a package offers its users, which its `__getattr__` reads, are no
imports: a package does without what it offers.
"""

import ast
import functools
import io
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "pullback"
LAYOUT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}

LOADERS = {  # functions whose first argument names a module, and what goes before it
    "import_module": "",
    "imported": "",
    "load": "pullback.",
    "later": "pullback.",
}


def module_name(path: Path) -> str:
    """The name of a module within pullback; that of the package itself is `__init__`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


PATHS = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@functools.cache
def text(name: str) -> str:
    return PATHS[name].read_text(encoding="utf-8")


@functools.cache
def tree(name: str) -> ast.Module:
    return ast.parse(text(name))


@functools.cache
def nodes(name: str) -> list[ast.AST]:
    return [*ast.walk(tree(name))]


def room(name: str) -> str:
    """The entry at the root of pullback in which a module is."""
    return name.partition(".")[0]


@functools.cache
def code_lines(text: str) -> int:
    """The lines of a module's text on which there is code: not docstrings, comments and blank lines."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {line for token in tokens if token.type not in LAYOUT for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            code.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(code)


class Import(NamedTuple):
    """One module that another imports, the line on which it does, and whether that line is a string's."""

    module: str
    line: int
    lazy: bool


def statements(tree: ast.AST) -> list[ast.Import | ast.ImportFrom]:
    """The imports below a node, but those that only type checkers read."""
    found: list[ast.Import | ast.ImportFrom] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        elif isinstance(node, ast.If) and last_word(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif not isinstance(node, ast.expr):  # an expression imports nothing
            waiting += ast.iter_child_nodes(node)
    return found


def named(statement: ast.Import | ast.ImportFrom, importer: str) -> Iterator[str]:
    """The modules of pullback that an import statement names."""
    if isinstance(statement, ast.Import):
        origins = [(alias.name, None) for alias in statement.names]
    else:
        package = ["pullback", *importer.split(".")]
        if PATHS[importer].name != "__init__.py" or importer == "__init__":
            package.pop()
        start = package[: len(package) - statement.level + 1] if statement.level else []
        origin = ".".join([*start, *filter(None, [statement.module])])
        origins = [(origin, alias.name) for alias in statement.names]
    for origin, attribute in origins:
        top, _, module = origin.partition(".")
        if top == "pullback":
            deeper = ".".join(filter(None, [module, attribute]))
            yield deeper if deeper in PATHS else module or "__init__"


def last_word(name: ast.expr) -> str:
    """The last word of a name with dots; the empty text for other expressions."""
    return name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")


def called(node: ast.Call) -> str:
    """The last word of the name under which a function is called."""
    return last_word(node.func)


def texts(argument: ast.expr) -> list[str]:
    """The strings that an argument may be: one, or those between which an `if` chooses."""
    if isinstance(argument, ast.IfExp):
        return texts(argument.body) + texts(argument.orelse)
    return [argument.value] if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else []


def loading(name: str) -> list[ast.Call]:
    """The calls in a module of functions that have a loader's name."""
    return [node for node in nodes(name) if isinstance(node, ast.Call) and node.args and called(node) in LOADERS]


@functools.cache
def lazy_imports(name: str) -> list[Import]:
    """The modules of pullback that a module names in strings given to a loader."""
    found = []
    for call in loading(name):
        for written in texts(call.args[0]):
            top, _, module = f"{LOADERS[called(call)]}{written}".partition(".")
            if top == "pullback" and (module or "__init__") in PATHS:
                found.append(Import(module or "__init__", call.lineno, lazy=True))
    return found


def unreadable_imports(name: str) -> list[int]:
    """The lines on which `import_module`, or our `imported`, is given something else than a string."""
    calls = [call for call in loading(name) if called(call) in {"import_module", "imported"}]
    return [call.lineno for call in calls if not texts(call.args[0])]


@functools.cache
def imports(name: str) -> list[Import]:
    """All that a module imports of pullback, in the order of the lines."""
    eager = [Import(other, line.lineno, lazy=False) for line in statements(tree(name)) for other in named(line, name)]
    return sorted([*eager, *lazy_imports(name)], key=lambda found: found.line)


def graph() -> dict[str, set[str]]:
    """Every module, with those it imports, lazily too."""
    return {name: {found.module for found in imports(name)} - {name} for name in PATHS}


def between_rooms() -> dict[str, set[str]]:
    """Every room, with those it imports from."""
    rooms: dict[str, set[str]] = {room(name): set() for name in PATHS}
    for name, others in graph().items():
        rooms[room(name)] |= {room(other) for other in others} - {room(name)}
    return rooms


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The largest sets of two and more names that all reach each other along the arrows."""
    after = {start: reached(start, graph) for start in graph}
    found = {frozenset([start, *(other for other in after[start] if start in after[other])]) for start in graph}
    return sorted(sorted(circle) for circle in found if len(circle) > 1)


def reached(start: str, graph: Mapping[str, Iterable[str]]) -> set[str]:
    """What can be reached from a node in one step or more."""
    seen: set[str] = set()
    waiting = [*graph[start]]
    while waiting:
        if (one := waiting.pop()) not in seen:
            seen.add(one)
            waiting += graph.get(one, ())
    return seen
