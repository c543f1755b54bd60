"""`pullback run --check script.py`: the names of torch that a program and the packages it imports use, and which are missing.

A name that is missing stops the import of a program where a module uses it as it is imported; in a function it raises when that is
called; and where it is tried with a way out, nothing happens.
"""

from __future__ import annotations

import ast
import enum
import functools
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..compat.torch import facade, install

EVERYTHING = {"Exception", "BaseException", "RuntimeError"}
OF_IMPORTS = EVERYTHING | {"ImportError", "ModuleNotFoundError"}
OF_NAMES = EVERYTHING | {"AttributeError"}
"""Exceptions that a program catches where it does without a module, and without the attribute of one."""

OURS = {"torch", "functorch"}
"""Packages in whose place pullback stands."""

OPERATOR = re.compile(r"\w+::\w+")
COMPILED = "is compiled for torch, and cannot be loaded by pullback"


class When(enum.IntEnum):
    """When a line is run: as the program is imported, as a function is called, or where it may fail."""

    IMPORT, CALL, BRANCH = range(3)


KINDS = {
    "called": "; it raises when it is called",
    "derived": "; a class is derived from it, whose instances raise",
    "formatted": "; its text is not that of torch's",
    "named": "",
}
"""What becomes of a class that can be imported and does nothing else, by what a program does with it."""


class Use(NamedTuple):
    """A name of torch where a module uses it."""

    path: str
    file: Path
    line: int
    when: When
    kind: str = "named"


class Reader(ast.NodeVisitor):
    """What a module imports, and the names of torch that it uses, with when it does so."""

    def __init__(self, file: Path, package: str, *, imports: bool = False) -> None:
        self.file, self.package, self.when = file, package, When.IMPORT
        self.only_imports = imports
        self.known: dict[str, str] = {}
        self.uses: list[Use] = []
        self.imported: list[tuple[str, When]] = []
        self.lines: dict[str, int] = {}
        self.operators: set[str] = set()
        self.kinds: dict[ast.AST, str] = {}
        self.caught: set[str] = set()

    def visit(self, node: ast.AST) -> None:
        """Visit a part; if only imports are looked for, no expressions, in which there are none."""
        if not (self.only_imports and isinstance(node, ast.expr)):
            super().visit(node)

    def _within(self, when: When, nodes: list[Any]) -> None:
        """Visit what is run at another time than the lines around it."""
        before, self.when = self.when, max(self.when, when)
        for node in nodes:
            self.visit(node)
        self.when = before

    def _now(self, guards: set[str]) -> When:
        return When.BRANCH if self.caught & guards else self.when

    def _used(self, path: str, node: Any, guards: set[str]) -> None:
        self.uses.append(Use(path, self.file, node.lineno, self._now(guards), self.kinds.get(node, "named")))

    def _found(self, module: str, node: Any) -> None:
        self.imported.append((module, self._now(OF_IMPORTS)))
        if self._now(OF_IMPORTS) is not When.BRANCH:
            self.lines.setdefault(module.partition(".")[0], node.lineno)

    def visit_Import(self, node: ast.Import) -> None:
        """Note `import torch.a as b`, and modules of others."""
        for alias in node.names:
            top = alias.name.partition(".")[0]
            if top in OURS:
                self.known[alias.asname or top] = alias.name if alias.asname else top
                self._used(alias.name, node, OF_IMPORTS)
            else:
                self._found(alias.name, node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Note `from torch.a import b`, and modules of others."""
        parents = self.package.split(".")
        base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
        module = ".".join(filter(None, (base, node.module)))
        for alias in node.names:
            path = f"{module}.{alias.name}"
            if module.partition(".")[0] in OURS and not node.level:
                self._used(module if alias.name == "*" else path, node, OF_IMPORTS)
                if self._now(OF_IMPORTS) is When.BRANCH:
                    self.known.pop(alias.asname or alias.name, None)  # it may be another in its place
                else:
                    self.known[alias.asname or alias.name] = path
            else:
                self._found(module, node)
                self.imported.append((path, self._now(OF_IMPORTS)))

    def visit_Attribute(self, node: ast.Attribute | ast.Name) -> None:
        """Note `torch.a.b`."""
        names: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            names.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in self.known:
            self._used(".".join((self.known[inner.id], *names)), node, OF_NAMES)
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """Note what was imported from torch."""
        self.visit_Attribute(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Note what is called, and what is made a text."""
        self.kinds[node.func] = "called"
        if isinstance(node.func, ast.Name) and node.func.id in {"str", "repr"} and node.args:
            self.kinds[node.args[0]] = "formatted"
        self.generic_visit(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        """Note what is part of a text."""
        self.kinds[node.value] = "formatted"
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Note operators that a program defines, by their names."""
        if isinstance(node.value, str):
            self.operators.update(OPERATOR.findall(node.value))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Note what a class is derived from."""
        self.kinds.update(dict.fromkeys(node.bases, "derived"))
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """What a function does is done when it is called; its decorators and defaults are evaluated before."""
        defaults = [each for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
        for decorator in node.decorator_list:
            self.kinds[decorator] = "decorates"
        self._within(When.IMPORT, [*node.decorator_list, *defaults])
        caught, self.caught = self.caught, set()  # a `try` around a function is left when that is called
        self._within(When.CALL, node.body)
        self.caught = caught

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """As another function."""
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """As a function."""
        self._within(When.CALL, [node.body])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Leave out annotations."""
        self._within(When.IMPORT, [each for each in (node.target, node.value) if each is not None])

    def visit_Try(self, node: ast.Try) -> None:
        """Note what is tried with a way out."""
        ways = [each for handler in node.handlers for each in ast.walk(handler.type or ast.Name("Exception"))]
        before, self.caught = self.caught, self.caught | {each.id for each in ways if isinstance(each, ast.Name)}
        for part in node.body:
            self.visit(part)
        self.caught = before
        for rest in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(rest)

    def visit_If(self, node: ast.If) -> None:
        """What `hasattr` or a version decides is a branch, and so is the other one; what is for annotations only is not run."""
        if getattr(node.test, "id", getattr(node.test, "attr", "")) == "TYPE_CHECKING":
            self._within(When.IMPORT, node.orelse)
            return
        words = {each.id if isinstance(each, ast.Name) else getattr(each, "attr", "") for each in ast.walk(node.test)}
        asks = "hasattr" in words or any("version" in word.lower() for word in words)
        self._within(When.IMPORT, [node.test])
        self._within(When.BRANCH if asks else When.IMPORT, [*node.body, *node.orelse])


def missing(path: str) -> tuple[str, bool] | None:
    """Why a name of torch cannot be used, and whether it can be imported nevertheless; None if it can be used."""
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
            return str(error).removesuffix(f": {facade.WHERE}"), False
        if isinstance(found, facade.Unusable):
            return facade.lacking(found.path).removesuffix(f": {facade.WHERE}"), True
    return None


@functools.cache
def _entries(folder: str) -> frozenset[str]:
    """The names of what is in a folder; asked once, as most modules that are looked for are not there."""
    try:
        return frozenset(os.listdir(folder or "."))
    except OSError:
        return frozenset()


@functools.cache
def _in_folders(name: str, folders: tuple[str, ...], ends: tuple[str, ...]) -> Path | None:
    """The first file of a module with one of these ends, found without importing anything."""
    *parents, last = name.split(".")
    for folder in folders:
        place = os.path.join(folder, *parents)
        for end in ends:
            inside, _, file = f"{last}{end}".rpartition("/")
            if file in _entries(os.path.join(place, inside) if inside else place):
                return Path(place, f"{last}{end}")
    return None


def _file(name: str, folders: tuple[str, ...]) -> Path | None:
    """The file of a module that is written in Python."""
    return _in_folders(name, folders, ("/__init__.py", ".py"))


def _machine_code(name: str, folders: tuple[str, ...]) -> Path | None:
    """The file of a module that is compiled."""
    return _in_folders(name, folders, tuple(importlib.machinery.EXTENSION_SUFFIXES))


@functools.cache
def _requires_torch(distribution: str) -> bool:
    """Whether a distribution needs torch, or can use it, or needs another that does."""
    try:
        needs = importlib.metadata.requires(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return False
    named = [(re.split(r"[^\w.-]", need, maxsplit=1)[0], "extra ==" in need) for need in needs]
    return any(name in OURS or (not extra and _requires_torch(name)) for name, extra in named)


_distributions = functools.cache(importlib.metadata.packages_distributions)


@functools.cache
def _concerned(package: str, folders: tuple[str, ...]) -> bool:
    """Whether a package may use torch: what is installed says what it needs, and einops alone does not, but mentions torch."""
    names, file = _distributions().get(package, []), _file(package, folders)
    if not names or file is None or any(map(_requires_torch, names)):
        return True
    modules = [each for each in file.parent.glob("*.py") if file.name == "__init__.py" and each.name != "conftest.py"]
    return any(b"import torch" in each.read_bytes() for each in modules)


@functools.cache
def _of_libtorch(file: Path) -> bool:
    """Whether a compiled module asks for the libraries of torch."""
    return b"libtorch" in file.read_bytes()


def _parents(name: str) -> Iterator[str]:
    """A module and the packages it is in, which are imported before it."""
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def modules(script: Path) -> Iterator[Reader]:
    """The program, and the modules that it and they import, as far as they mention torch: first those that importing it imports."""
    folders = (str(script.parent), *sys.path[1:])
    waiting: list[list[tuple[Path, str]]] = [[] for _ in When]
    waiting[When.IMPORT], seen = [(script, "")], set[Path]()
    while any(waiting):
        when = next(when for when in When if waiting[when])
        file, package = waiting[when].pop()
        if file in seen:
            continue
        seen.add(file)
        text = file.read_text(encoding="utf-8", errors="replace")
        reader = Reader(file, package, imports=not any(name in text for name in OURS))
        reader.visit(ast.parse(text, str(file)))
        reader.uses = [use._replace(when=max(when, use.when)) for use in reader.uses]
        own = package.partition(".")[0]
        for name, own_time in dict(reversed(reader.imported)).items():
            top = name.partition(".")[0]
            if top in sys.stdlib_module_names or top in {"numpy", "pullback", *OURS} or not _concerned(top, folders):
                continue
            if own and top != own and own_time is not When.IMPORT:
                continue  # an option of the package: a program that takes it imports it, too
            later = max(when, own_time)
            compiled = _machine_code(name, folders)
            if compiled is not None and _of_libtorch(compiled):
                reader.uses.append(Use(name, file, reader.lines.get(top, 1), later, COMPILED))
            for each in _parents(name):
                found = _file(each, folders)
                if found is not None and found not in seen:
                    waiting[later].append((found, each if found.name == "__init__.py" else each.rpartition(".")[0]))
        if file == script or reader.uses:
            yield reader


def _absent(reader: Reader) -> Iterator[tuple[str, int]]:
    """The packages that a program imports and that are not installed, each with the line."""
    folders = (str(reader.file.parent), *sys.path[1:])
    for name, line in reader.lines.items():
        if (
            name
            and not (_file(name, folders) or _machine_code(name, folders))
            and importlib.util.find_spec(name) is None
        ):
            yield name, line


def _troubles(readers: list[Reader]) -> Iterator[tuple[Use, str]]:
    """Uses of names that fail, each with the reason: of each name the one that comes first."""
    defined = {name for reader in readers for name in reader.operators}
    uses = sorted((use for reader in readers for use in reader.uses), key=lambda use: use.when)
    known: dict[str, Any] = {}
    told: set[str] = set()
    for use in uses:
        if use.path in told:
            continue
        parts = use.path.split(".")
        if use.kind == COMPILED:
            why: str | None = f"{use.path} {COMPILED}"
        elif parts[:2] == ["torch", "ops"] and len(parts) > 3 and parts[2] != "aten":
            there = f"{parts[2]}::{parts[3]}" in defined
            why = None if there else f"the operator torch.ops.{parts[2]}.{parts[3]} {COMPILED}"
        else:
            found = known[use.path] if use.path in known else known.setdefault(use.path, missing(use.path))
            why = None if found is None else found[0]
            if found is not None and found[1]:  # a class that can be imported and named
                why = f"{found[0]}{KINDS[use.kind]}" if KINDS.get(use.kind) else None
        if why is not None:
            told.add(use.path)
            yield use, why


def check(program: str) -> int:
    """Print the names of torch that are missing, and the packages that cannot be looked at; 1 if there are any.

    Names that are tried with a way out are counted, and not printed.
    """
    install()
    script = Path(program)
    readers = list(modules(script))
    count = len({use.path for reader in readers for use in reader.uses})
    all_absent = [*_troubles(readers)]
    absent = [each for each in all_absent if each[0].when is not When.BRANCH]
    strangers = list(_absent(readers[0]))
    for name, line in strangers:
        print(f"{script}:{line}: {name} is not installed here: which names of torch it uses is unknown")
    for use, why in sorted(absent, key=lambda each: (each[0].when, each[0].file != script, each[0].file, each[0].line)):
        print(
            f"{use.file}:{use.line}: {why}{'; it stops the import' * (use.when is When.IMPORT and 'derived' not in why)}"
        )
    others = f" and {_counted(len(readers) - 1, 'module')} that it imports" if len(readers) > 1 else ""
    stops = sum(use.when is When.IMPORT for use, _ in absent)
    told = f"{len(absent)} missing, {stops} as it is imported" if absent else "all available"
    branches = len(all_absent) - len(absent)
    more = f", and {branches} more with a way out" if branches else ""
    print(f"{script.name}{others}: {_counted(count, 'torch name')}, {told}{more}; {facade.WHERE}")
    return int(bool(absent or strangers))


def _counted(number: int, what: str) -> str:
    """A number with what it counts, as 1 module or 2 modules."""
    return f"{number} {what}{'s' * (number != 1)}"
