"""The text of a graph: Python code of a function that computes what the graph does.

The text is composed of identifiers, which are checked, and of constants of Python's own types; any other object is a
global of the code. So nothing that a graph holds is executed because of how it prints.
"""

from __future__ import annotations

import builtins
import cmath
import dataclasses
import enum
import json
import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from .... import device, dtype, layout, memory_format
from .. import redirecting
from . import naming
from .capture import is_wrapped, wrap
from .node import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .graph import Graph


BINARY = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "mod": "%", "pow": "**", "lshift": "<<",
    "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "matmul": "@",
}  # fmt: skip
COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
FORMS = {
    **{name: f"{{}} {sign} {{}}" for name, sign in {**BINARY, **COMPARED}.items()},
    "pos": "+{}",
    "neg": "-{}",
    "invert": "~{}",
    "getitem": "{}[{}]",
}
"""How calls of functions of the module operator are written."""
WRITES = {f"i{name.rstrip('_')}": f"{{}} {sign}= {{}}" for name, sign in BINARY.items()}
WRITES["setitem"] = "{}[{}] = {}"
WRAP = "torch.fx._symbolic_trace.wrap"


@dataclasses.dataclass
class PythonCode:
    """Source code of a graph, and the globals that it needs."""

    src: str
    globals: dict[str, Any]


class _Tree(SimpleNamespace):
    """What generated code means by `torch`: the functions that it calls, each at its path."""

    def put(self, path: str, value: object) -> str:
        """Set what is at a dotted path, which begins with the name of this tree; the path."""
        *owners, name = path.split(".")[1:]
        place = self
        for owner in owners:
            place = vars(place).setdefault(owner, _Tree())
        setattr(place, name, value)
        return path


def identifier(name: object) -> str:
    """A name that code is to contain; ValueError unless it is an identifier."""
    if not (isinstance(name, str) and name.isidentifier()) or name in ("None", "True", "False"):
        raise ValueError(f"{name!r} is no identifier: no code can be generated from it")
    return name


class Writer:
    """Writes the code of one graph."""

    def __init__(self, graph: Graph, root: str) -> None:
        self.graph, self.root = graph, root
        self.tree = _Tree()
        self.names = naming.Names()
        for node in graph.nodes:
            self.names.create_name(identifier(node.name), node)
        self.globals: dict[str, Any] = {
            "inf": math.inf, "nan": math.nan, "NoneType": type(None), "torch": self.tree, "device": device,
        }  # fmt: skip
        self.wrapped: dict[str, None] = {}

    def written(self) -> PythonCode:
        """The code of the graph."""
        body, parameters, result = [], [], ""
        for node in self.graph.nodes:
            if node.op == "placeholder":
                parameters.append(self._parameter(node))
                raw = node.target.lstrip("*")
                body += [f"{node.name} = {raw}"] if node.name != raw else []
        last = self.graph.last_uses()
        for node in self.graph.nodes:
            if node.op == "output":
                body.append(f"return {self.value(node.args[0])}")
                result = f" -> {self.annotation(node.type)}" if node.type is not None else ""
            elif node.op != "placeholder":
                gone = "".join(f"{each.name} = " for each in last[node])
                body.append(f"{self.step(node)};  {gone}None" if gone else self.step(node))
        wraps = "\n".join(f'{WRAP}("{name}")' for name in self.wrapped)
        if wraps:
            self.tree.put(WRAP, wrap)
        lines = "\n".join(f"    {line}" for line in body or ["pass"])
        parameters = parameters if parameters[:1] == [self.root] else [self.root, *parameters]
        head = f"def forward({', '.join(parameters)}){result}:"
        return PythonCode(f"\n{wraps}\n\n{head}\n{lines}\n    ", self.globals)

    # Steps

    def _parameter(self, node: Node) -> str:
        stars = len(node.target) - len(node.target.lstrip("*"))
        default = f" = {self.value(node.args[0])}" if node.args else ""
        return f"{'*' * min(stars, 2)}{identifier(node.target.lstrip('*'))}{self._typed(node)}{default}"

    def _typed(self, node: Node) -> str:
        return "" if node.type is None else f" : {self.annotation(node.type)}"

    def step(self, node: Node) -> str:
        """The line that computes the value of a node."""
        start = f"{node.name}{self._typed(node)} = "
        if node.op == "get_attr":
            return f"{start}{self.path(node.target)}"
        if node.op == "call_module":
            return f"{start}{self.path(node.target)}({self.arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            owner, *rest = node.args
            subject = self.value(owner) if isinstance(owner, Node) else f"({self.value(owner)})"
            return f"{start}{subject}.{identifier(node.target)}({self.arguments(rest, node.kwargs)})"
        return self._call(start, node)

    def _call(self, start: str, node: Node) -> str:
        name, args = getattr(node.target, "__name__", ""), node.args
        operands = [self.value(each) for each in args]
        if getattr(node.target, "__module__", None) == "_operator" and not node.kwargs:
            if (form := FORMS.get(name)) is not None and form.count("{}") == len(args):
                if name == "pow" and operands[0].startswith("-"):
                    operands[0] = f"({operands[0]})"
                return f"{start}{form.format(*operands)}"
            if (form := WRITES.get(name)) is not None and form.count("{}") == len(args) and isinstance(args[0], Node):
                return f"{form.format(*operands)};  {start}{operands[0]}"
        if node.target is getattr and len(args) == 2 and isinstance(args[0], Node) and str(args[1]).isidentifier():
            return f"{start}{operands[0]}.{identifier(args[1])}"
        called = self.of(node.target)
        if is_wrapped(node.target):
            self.wrapped[called] = None
            self.globals[called] = node.target  # also a built-in one
        return f"{start}{called}({self.arguments(args, node.kwargs)})"

    def arguments(self, args: Iterable[object], kwargs: Mapping[str, object]) -> str:
        """The arguments of a call."""
        named = [f"{identifier(name)} = {self.value(each)}" for name, each in kwargs.items()]
        return ", ".join([*map(self.value, args), *named])

    def path(self, target: str) -> str:
        """An attribute of the module at a path, of which some parts may be numbers."""
        found = self.root
        for part in target.split("."):
            found = f"{found}.{part}" if part.isidentifier() else f"getattr({found}, {json.dumps(part)})"
        return found

    # Values

    def of(self, obj: object, hint: str | None = None) -> str:
        """The name by which the code reaches an object: its path in torch, or that of a global."""
        path = redirecting.path_of(obj)
        if path is not None:
            return self.tree.put(path, obj)
        hint = (hint or naming.qualified(obj)).replace(".", "_")
        if getattr(builtins, hint, None) is obj:
            return hint
        name = self.names.create_name(hint, obj)
        self.globals[name] = obj
        return name

    def annotation(self, kind: object) -> str:
        """A type as code."""
        text = naming.type_text(kind)
        if text == "torch.Tensor":
            return self.tree.put(text, kind)
        return self.of(kind, text)

    def value(self, value: object) -> str:
        """An argument as code."""
        if isinstance(value, Node):
            return value.name
        kind = type(value)
        if kind in (int, bool, type(None), type(...), str, bytes, float, range, device):
            return repr(value)
        if isinstance(value, complex) and kind is complex and cmath.isfinite(value):
            return repr(value)
        if isinstance(value, slice):
            return f"slice({', '.join(self.value(each) for each in (value.start, value.stop, value.step))})"
        if isinstance(value, (tuple, list)):
            inner = ", ".join(map(self.value, value))
            if isinstance(value, list):
                return f"[{inner}]"
            return f"{self.of(kind)}({inner})" if hasattr(value, "_fields") else f"({inner}{',' * (len(value) == 1)})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.value(key)}: {self.value(each)}" for key, each in value.items()) + "}"
        return self._object(value)

    def _object(self, value: object) -> str:
        """An object that is no constant of Python's."""
        if isinstance(value, dtype):
            return self.tree.put(f"torch.{value.name}", value)
        if isinstance(value, (layout, memory_format)):
            return self.tree.put(f"torch.{str(value).rpartition('.')[2]}", value)
        if isinstance(value, enum.Enum):
            return f"{self.of(type(value))}.{identifier(value.name)}"
        return self.of(value, None if callable(value) else f"_{type(value).__name__}")
