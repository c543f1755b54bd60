"""`pullback run --check script.py`: the names of torch that a program and the packages it imports use, and which are missing."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..compat.torch import facade, install

GUARDS = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException", "RuntimeError"}
"""Exceptions that a program catches where it does without a name."""


OURS = {"torch", "functorch"}
"""Packages in whose place pullback stands."""


class Use(NamedTuple):
    """A name of torch where a module uses it."""

    path: str
    file: Path
    line: int


class _Reader(ast.NodeVisitor):
    """What a module imports, and the names of torch that it uses, but where it does without them if they are absent."""

    def __init__(self, file: Path, package: str) -> None:
        self.file, self.package = file, package
        self.known: dict[str, str] = {}
        self.uses: list[Use] = []
        self.imported: list[str] = []
        self.lines: dict[str, int] = {}

    def _used(self, path: str, node: Any) -> None:
        self.uses.append(Use(path, self.file, node.lineno))

    def _found(self, module: str, node: Any) -> None:
        self.imported.append(module)
        self.lines.setdefault(module.partition(".")[0], node.lineno)

    def visit_Import(self, node: ast.Import) -> None:
        """Note `import torch.a as b`, and modules of others."""
        for alias in node.names:
            top = alias.name.partition(".")[0]
            if top in OURS:
                self.known[alias.asname or top] = alias.name if alias.asname else top
                self._used(alias.name, node)
            else:
                self._found(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Note `from torch.a import b`, and modules of others."""
        parents = self.package.split(".")
        base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
        module = ".".join(filter(None, (base, node.module)))
        for alias in node.names:
            path = f"{module}.{alias.name}"
            if module.partition(".")[0] in OURS and not node.level and alias.name != "*":
                self.known[alias.asname or alias.name] = path
                self._used(path, node)
            else:
                self._found(module, node)
                self.imported.append(path)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Note `torch.a.b`."""
        names: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            names.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.known:
            self._used(".".join((self.known[inner.id], *names)), node)
        else:
            self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        """Leave out what is tried with a way out."""
        caught = {
            each.id
            for handler in node.handlers
            for each in ast.walk(handler.type or node)
            if isinstance(each, ast.Name)
        }
        for part in (*(() if caught & GUARDS else node.body), *node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    def visit_If(self, node: ast.If) -> None:
        """Leave out what is for annotations only, and what is asked for by `hasattr` or a version."""
        words = {each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in ast.walk(node.test)}
        for part in (*(() if words & {"TYPE_CHECKING", "hasattr"} else node.body), *node.orelse):
            self.visit(part)


def _missing(path: str) -> str | None:
    """Why a name of torch cannot be used; None if it can."""
    parts = path.split(".")
    found: Any = importlib.import_module(parts[0])
    for number, part in enumerate(parts[1:], 2):
        if not isinstance(found, facade.Facade):
            return None
        try:
            try:
                found = getattr(found, part)
            except AttributeError:
                found = importlib.import_module(".".join(parts[:number]))
        except (AttributeError, ImportError) as error:
            return str(error)
        if isinstance(found, facade.Unusable):
            text = facade.lacking(found.path).removesuffix(f": {facade.WHERE}")
            return f"{text}; it raises when it is called"
    return None


def _file(name: str, folders: list[str]) -> Path | None:
    """The file of a module that is written in Python, found without importing anything."""
    for folder in folders:
        place = Path(folder or ".", *name.split("."))
        for file in (place / "__init__.py", place.with_suffix(".py")):
            if file.is_file():
                return file
    return None


def modules(script: Path) -> Iterator[_Reader]:
    """The program, and the modules that it and they import, as far as they mention torch."""
    folders = [str(script.parent), *sys.path[1:]]
    waiting, seen = [(script, "")], {script}
    while waiting:
        file, package = waiting.pop()
        text = file.read_text(encoding="utf-8", errors="replace")
        reader = _Reader(file, package)
        reader.visit(ast.parse(text, str(file)))
        if file == script or reader.uses:
            yield reader
        for name in reader.imported:
            top = name.partition(".")[0]
            found = (
                None if top in sys.stdlib_module_names or top in {"numpy", "pullback", *OURS} else _file(name, folders)
            )
            if found is not None and found not in seen:
                seen.add(found)
                waiting.append((found, name if found.name == "__init__.py" else name.rpartition(".")[0]))


def _absent(reader: _Reader) -> Iterator[tuple[str, int]]:
    """The packages that a program imports and that are not installed, each with the line."""
    folders = [str(reader.file.parent), *sys.path[1:]]
    for name, line in reader.lines.items():
        if name and _file(name, folders) is None and importlib.util.find_spec(name) is None:
            yield name, line


def check(program: str) -> int:
    """Print the names of torch that are missing, and the packages that cannot be looked at; 1 if there are any."""
    install()
    script = Path(program)
    readers = list(modules(script))
    uses = {use.path: use for reader in reversed(readers) for use in reader.uses}
    absent = [(use, why) for use in uses.values() if (why := _missing(use.path)) is not None]
    strangers = list(_absent(readers[0]))
    for name, line in strangers:
        print(f"{script}:{line}: {name} is not installed here: which names of torch it uses is unknown")
    for use, why in sorted(absent, key=lambda each: (each[0].file != script, each[0].file, each[0].line)):
        print(f"{use.file}:{use.line}: {why.removesuffix(f': {facade.WHERE}')}")
    others = f" and {_counted(len(readers) - 1, 'module')} that it imports" if len(readers) > 1 else ""
    missing = f"{len(absent)} missing" if absent else "all available"
    print(f"{script.name}{others}: {_counted(len(uses), 'torch name')}, {missing}; {facade.WHERE}")
    return int(bool(absent or strangers))


def _counted(number: int, what: str) -> str:
    """A number with what it counts, as 1 module or 2 modules."""
    return f"{number} {what}{'s' * (number != 1)}"
