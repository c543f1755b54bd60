"""Standalone text: functions of pullback written out so that they need NumPy alone.

An operation without a spelling of its own is written with the source of its forward function. What that function names,
other functions of pullback, constants, what closures hold, is written out too, each under one name, which begins with
an underscore so that no local name hides it; modules of Python are imported. What cannot be written so is refused.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import inspect
import sys
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .._core import machine
from .._core import xp as _xp
from .._core.primitives import Primitive
from .._numerics import blocks
from .naming import Names, digits, number

_NUMPY = (np, np.linalg, np.fft, np.lib.stride_tricks)
_MANY = 4096  # elements of an array that is written out

_PIECES = f"""
def _pieces(function, length, size, products=False):
    \"\"\"Call `function(start, stop)` for pieces of range(length), each element of which stands for `size` bytes.\"\"\"
    count = min(length, math.ceil(length * size / {blocks.BLOCK}))
    if count < 2:
        function(0, length)
    for i in range(count if count > 1 else 0):
        function(length * i // count, length * (i + 1) // count)
"""  # one after another: the original has threads

NAMESPACE = "xp"
_PACKAGE = __name__.partition(".")[0]


class UnwritableError(RuntimeError):
    """An operation has no form as text that needs NumPy alone."""


class Library:
    """The definitions that expressions of a text refer to."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.definitions: list[str] = []
        self.modules: set[str] = set()
        self._known: dict[int, tuple[Any, str]] = {}
        self._constants: dict[tuple[str, str], str] = {}
        self._members: dict[str, str] = {}
        self._wanted: set[str] = set()

    def text(self) -> list[str]:
        """The definitions in an order in which they can be run, after the modules they import."""
        lines = [f"import {module}" for module in sorted(self.modules)] + ["import numpy as np"]
        parts = ["\n".join(lines), *self.definitions]
        if self._members:
            members = ", ".join(f"{name}={text}" for name, text in sorted(self._members.items()))
            parts.append(f"{NAMESPACE} = types.SimpleNamespace({members})")
        return parts

    def expression(self, thing: Any, hint: str = "value") -> str:
        """How a value is written: a literal, a name of NumPy or Python, or that of a definition."""
        if thing is None or isinstance(thing, bool | int | str | bytes | float | complex | np.generic):
            return number(thing)
        if thing is Ellipsis:
            return "..."
        if isinstance(thing, tuple) and hasattr(thing, "_fields"):
            return f"{self.expression(type(thing))}({', '.join(map(self.expression, thing))})"
        if isinstance(thing, slice):
            return f"slice({', '.join(self.expression(x) for x in (thing.start, thing.stop, thing.step))})"
        if isinstance(thing, tuple | list | dict | set | frozenset):
            return self._container(thing)
        if isinstance(thing, np.dtype):
            return f'np.dtype("{thing.name}")'
        known = self._known.get(id(thing))
        if known is not None:
            return known[1]
        found = self._public(thing) or self._defined(thing, hint)
        self._known[id(thing)] = (thing, found)
        return found

    def _container(self, thing: Any) -> str:
        if isinstance(thing, dict):
            return f"{{{', '.join(f'{self.expression(key)}: {self.expression(x)}' for key, x in thing.items())}}}"
        inside = ", ".join(self.expression(each) for each in thing)
        if isinstance(thing, tuple):
            return f"({inside},)" if len(thing) == 1 else f"({inside})"
        return f"[{inside}]" if isinstance(thing, list) else f"{type(thing).__name__}([{inside}])"

    def _public(self, thing: Any) -> str | None:
        """The name that NumPy or Python has for something."""
        if isinstance(thing, MethodType | BuiltinFunctionType) and isinstance(thing.__self__, np.ufunc):
            return f"np.{thing.__self__.__name__}.{thing.__name__}"
        if isinstance(thing, functools.partial):
            self.modules.add("functools")
            parts = [thing.func, *thing.args]
            named = [f"{name}={self.expression(x)}" for name, x in thing.keywords.items()]
            return f"functools.partial({', '.join([*map(self.expression, parts), *named])})"
        if thing is np:
            return "np"
        if isinstance(thing, ModuleType):
            return self._module(thing.__name__)
        name = getattr(thing, "__name__", None)
        for space in _NUMPY:
            if name and getattr(space, name, None) is thing:
                return f"{space.__name__.replace('numpy', 'np', 1)}.{name}"
        if name and getattr(builtins, name, None) is thing:
            return str(name)
        module = getattr(thing, "__module__", None)
        if name and module and module.partition(".")[0] in sys.stdlib_module_names and module != "builtins":
            return f"{self._module(module)}.{name}"
        return None

    def _module(self, name: str) -> str | None:
        if name.partition(".")[0] not in sys.stdlib_module_names:
            return None
        self.modules.add(name)
        return name

    def _defined(self, thing: Any, hint: str) -> str:
        """The name of a definition, which is written."""
        if isinstance(thing, Primitive):
            self.modules.add("types")
            return f"types.SimpleNamespace(forward={self.expression(thing.forward, thing.name)})"
        if hasattr(thing, "cache_info"):
            return self.expression(thing.__wrapped__, hint)
        if thing is _xp:
            self.modules.add("types")
            return NAMESPACE
        if thing is _xp.array:
            return self._constant("array", "object()  # stands in an index for an array")
        if thing is blocks.pieces:
            self.modules.add("math")
            self.definitions.append(_PIECES.strip())
            return "_pieces"
        if getattr(thing, "__module__", None) == machine.__name__:
            return self._constant(hint, "lambda *args, **options: None  # no machine code in a text of NumPy's")
        if isinstance(thing, np.ndarray) and thing.size <= _MANY:
            return self._constant(hint, array(thing))
        if isinstance(thing, FunctionType):
            return self._function(thing, hint)
        if isinstance(thing, type):
            return self._class(thing)
        if thing.__class__.__module__.startswith(_PACKAGE):
            return self._constant(hint, self._instance(thing))
        raise UnwritableError(f"{hint} needs {thing!r}, which cannot be written out")

    def named(self, thing: Any, hint: str) -> str:
        """How a value is written that had a name: a number or a text keeps one."""
        if not isinstance(thing, str | int | float | complex) or isinstance(thing, bool):
            return self.expression(thing, hint)
        text = self.expression(thing)
        if (hint, text) not in self._constants:
            self._constants[hint, text] = self._constant(hint, text)
        return self._constants[hint, text]

    def _constant(self, hint: str, text: str) -> str:
        name = self.names.new(hint, "_")
        self.definitions.append(f"{name} = {text}")
        return name

    def _function(self, function: FunctionType, hint: str) -> str:
        own = function.__name__.strip("_<>")
        name = self.names.new(hint if own == "lambda" else own, "_")
        self._known[id(function)] = (function, name)
        node = definition(function.__code__)
        if node is None:
            raise UnwritableError(f"the source of {function.__qualname__} is not there to be written out")
        closure = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        scope = function.__globals__ | {name: cell.cell_contents for name, cell in closure}
        tree = _Written(self, scope).visit(_named(node, name))
        self.definitions.append(ast.unparse(ast.fix_missing_locations(tree)))
        return name

    def _class(self, kind: type) -> str:
        node, module = _definition_of(kind)
        if node is None:
            raise UnwritableError(f"the source of {kind.__qualname__} is not there to be written out")
        name = self.names.new(kind.__name__.strip("_"), "_")
        self._known[id(kind)] = (kind, name)
        tree = _Written(self, vars(module)).visit(copy.deepcopy(node))
        tree.name = name
        self.definitions.append(ast.unparse(ast.fix_missing_locations(tree)))
        return name

    def _instance(self, thing: Any) -> str:
        """An object by what its class is to be called with, which it has under the same names."""
        wanted = list(inspect.signature(type(thing)).parameters)
        missing = [name for name in wanted if not hasattr(thing, name)]
        if missing:
            raise UnwritableError(f"{thing!r} does not say what it was made from")
        given = ", ".join(f"{name}={self.expression(getattr(thing, name), name)}" for name in wanted)
        return f"{self.expression(type(thing))}({given})"

    def member(self, name: str) -> None:
        """Have the namespace of rules hold an operation."""
        if name not in self._wanted:
            self._wanted.add(name)
            self._members[name] = self.expression(getattr(_xp, name), name)


def array(thing: np.ndarray[Any, np.dtype[Any]]) -> str:
    """An array as an expression."""
    flat = thing.reshape(-1)
    if thing.size > 1 and len({each.tobytes() for each in flat}) == 1:
        return f'np.full({thing.shape}, {digits(flat[0])}, "{thing.dtype.name}")'
    entries = _listed(thing)
    shape = "" if thing.size else f".reshape({thing.shape})"
    return f'np.array({entries}, "{thing.dtype.name}"){shape}'


def _listed(thing: Any) -> str:
    if thing.ndim == 0:
        return digits(thing[()])
    return f"[{', '.join(map(_listed, thing))}]" if thing.size else "[]"


def _named(node: ast.FunctionDef | ast.Lambda, name: str) -> ast.FunctionDef:
    """A copy of a function as a definition under a name, without decorators."""
    node = copy.deepcopy(node)  # the file's tree is kept, and the copy will be changed
    if isinstance(node, ast.FunctionDef):
        node.name, node.decorator_list = name, []
        return node
    made = ast.parse(f"def {name}(): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.args, made.body = node.args, [ast.Return(node.body)]
    return made


_MISSING = object()


class _Written(ast.NodeTransformer):
    """A function or a class whose free names are exchanged for those of the text, without annotations."""

    def __init__(self, library: Library, scope: dict[str, Any]) -> None:
        self.library = library
        self.scope = scope
        self.local: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = None
        outer, self.local = self.local, self.local | {NAMESPACE, *_locals(node)}
        written = self.generic_visit(node)
        self.local = outer
        return written

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Fields keep an annotation, of no meaning; where the class came from is left out."""
        node.body = [each for each in node.body if not ast.unparse(each).startswith("__module__")]
        fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
        node.body = [each for each in node.body if each not in fields]
        self.generic_visit(node)
        for each in fields:
            each.annotation = ast.Constant("object")
        node.body = [*fields, *node.body]
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return None
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """A member of a module of pullback stands for itself."""
        if isinstance(node.value, ast.Name):
            if node.value.id == NAMESPACE:
                self.library.member(node.attr)
                return node
            owner = self._value(node.value.id)
            if isinstance(owner, ModuleType) and owner.__name__.startswith(_PACKAGE):
                return _expression(self.library.named(getattr(owner, node.attr), node.attr))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        found = self._value(node.id)
        if found is _MISSING:
            return node
        return _expression(self.library.named(found, node.id))

    def _value(self, name: str) -> Any:
        return _MISSING if name in self.local else self.scope.get(name, _MISSING)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _locals(node: ast.AST) -> set[str]:
    """The names that a function, or one within it, assigns."""
    found = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            found.add(each.id)
        elif isinstance(each, ast.arg):
            found.add(each.arg)
        elif isinstance(each, ast.FunctionDef) and each is not node:
            found.add(each.name)
    return found


# The definition of a function, found in its file


@functools.cache
def _classes(filename: str) -> dict[str, ast.ClassDef]:
    """The classes of a file by their names."""
    try:
        tree = ast.parse(Path(filename).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return {}
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _definition_of(kind: type) -> tuple[ast.ClassDef | None, ModuleType]:
    """Where a class is defined, which need not be the module that it says it is of."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == _PACKAGE]
    for module in modules:
        if vars(module).get(kind.__name__) is kind:
            node = _classes(str(getattr(module, "__file__", ""))).get(kind.__name__)
            if node is not None:
                return node, module
    return None, modules[0]


@functools.cache
def _functions(filename: str) -> dict[int, list[ast.FunctionDef | ast.Lambda]]:
    """The functions of a file by the line on which they begin."""
    found: dict[int, list[ast.FunctionDef | ast.Lambda]] = {}
    for node in ast.walk(ast.parse(Path(filename).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = min([node.lineno, *[each.lineno for each in getattr(node, "decorator_list", [])]])
            found.setdefault(first, []).append(node)
    return found


def definition(code: CodeType) -> ast.FunctionDef | ast.Lambda | None:
    """The definition that was compiled to a code, if its file is there."""
    try:
        candidates = _functions(code.co_filename).get(code.co_firstlineno, [])
    except (OSError, SyntaxError, ValueError):
        return None
    if code.co_name != "<lambda>":
        return next((node for node in candidates if getattr(node, "name", None) == code.co_name), None)
    places = {place for place in code.co_positions() if None not in place}
    lambdas = [node for node in candidates if isinstance(node, ast.Lambda)]
    of_place = [node for node in lambdas if _place(node.body) in places]
    return (of_place or lambdas)[0] if len(of_place) == 1 or len(lambdas) == 1 else None


def _place(node: ast.expr) -> tuple[int | None, ...]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
