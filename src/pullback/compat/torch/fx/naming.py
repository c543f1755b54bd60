"""The names of what a graph calls: in the text of a graph, in generated code, and of its nodes."""

import builtins
import keyword
import re
from typing import Any

from .... import Tensor
from ..redirecting import path_of

RESERVED = {"inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"}
"""Names that generated code uses for itself."""


def qualified(target: object) -> str:
    """The name of a function or class with its module; a built-in one has none."""
    path = path_of(target)
    if path is not None:
        return path
    name = getattr(target, "__name__", None) or type(target).__name__
    if getattr(builtins, name, None) is target:
        return str(name)
    if name == "<lambda>":
        name = "lambda"
    owner = str(getattr(target, "__module__", None) or "")
    return f"{owner}.{name}" if owner else name


def shown_name(target: object) -> str:
    """The name of a function in the text of a graph."""
    name = qualified(target)
    return name.replace("_operator.", "operator.") if "." in name else f"builtins.{name}"


def type_text(kind: object) -> str:
    """An annotation as text."""
    if isinstance(kind, type) and kind is Tensor:
        return "torch.Tensor"
    return qualified(kind) if isinstance(kind, type) and not hasattr(kind, "__args__") else str(kind)


def snake_case(name: str) -> str:
    """`LinearReLU` as `linear_re_lu`: the name of a node, from that of what it calls."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


class Names:
    """Names that are given once each, all of them Python identifiers."""

    def __init__(self) -> None:
        self._given: dict[int, tuple[str, Any]] = {}  # by identity: equal numbers may have different types
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def create_name(self, candidate: str, obj: object = None) -> str:
        """A free name like `candidate`; for an object that has one already, the same.

        >>> from pullback.compat.torch.fx.naming import Names
        >>> names = Names()
        >>> [names.create_name(each) for each in ("add", "add", "sum", "0.weight", "for")]
        ['add', 'add_1', 'sum_1', '_0_weight', 'for_1']
        """
        if id(obj) in self._given:
            return self._given[id(obj)][0]
        word = re.sub(r"\W+", "_", candidate, flags=re.ASCII) or "_unnamed"
        word = f"_{word}" if word[0].isdigit() else word
        found = re.fullmatch(r"(.*)_(\d+)", word)
        base, number = (found[1], int(found[2])) if found else (word, self._last.get(word, 0))
        name = word
        while name in self._taken or self._is_reserved(name, obj):
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        self._last[base] = number
        if obj is not None:
            self._given[id(obj)] = name, obj
        return name

    @staticmethod
    def _is_reserved(name: str, obj: object) -> bool:
        own = getattr(builtins, name, obj)
        return keyword.iskeyword(name) or own is not obj or name in RESERVED
