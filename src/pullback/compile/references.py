"""References: how the text of a program names what it uses.

Numbers, tuples and small arrays are written as literals. NumPy's functions, and the primitives, classes and functions of
pullback, are imported.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np

from .. import ops
from .naming import Identifiers, digits, number

LARGEST = 4096
"""The most elements of an array that is written as a literal."""


class UnwritableError(RuntimeError):
    """An operation has no form as text."""


class References:
    """The imports that the expressions of a text need."""

    def __init__(self, names: Identifiers) -> None:
        self.names = names
        self._imports: dict[tuple[str, str], str] = {}

    def text(self) -> str:
        """The imports, one on a line."""
        found = [
            f"from {module} import {name}" + (f" as {given}" if given != name else "")
            for (module, name), given in sorted(self._imports.items())
        ]
        return "\n".join(["import numpy as np", *([""] if found else []), *found])

    def expression(self, thing: Any, hint: str = "value") -> str:
        """A value as an expression: a literal, or a name that is imported.

        Raises
        ------
        UnwritableError
            If it is neither a literal nor what a module has under a name.
        """
        if thing is None or isinstance(thing, bool | int | str | bytes | float | complex | np.generic):
            return number(thing)
        if thing is Ellipsis:
            return "..."
        if isinstance(thing, np.dtype):
            return f'np.dtype("{thing.name}")'
        if isinstance(thing, np.ndarray) and thing.size <= LARGEST:
            return array(thing)
        if isinstance(thing, slice):
            return f"slice({', '.join(self.expression(x) for x in (thing.start, thing.stop, thing.step))})"
        if isinstance(thing, dict):
            return f"{{{', '.join(f'{self.expression(key)}: {self.expression(x)}' for key, x in thing.items())}}}"
        if isinstance(thing, tuple | list):
            return self._sequence(thing)
        return self._imported(thing) or self._instance(thing, hint)

    def _sequence(self, thing: Any) -> str:
        inside = ", ".join(map(self.expression, thing))
        if hasattr(thing, "_fields"):
            return f"{self.expression(type(thing))}({inside})"
        if isinstance(thing, list):
            return f"[{inside}]"
        return f"({inside},)" if len(thing) == 1 else f"({inside})"

    def _imported(self, thing: Any) -> str | None:
        """The name under which a module has something: `ops` for primitives, if it has them."""
        name = str(getattr(thing, "__qualname__", None) or getattr(thing, "name", None) or repr(thing))
        if vars(ops).get(name) is thing:
            return f"{self._import('pullback', 'ops')}.{name}"
        own = getattr(thing, "__module__", None)
        for module in [own] if own in sys.modules else sorted(sys.modules):
            if getattr(sys.modules[module], name, None) is thing:
                return self._import(module, name)
        return None

    def _import(self, module: str, name: str) -> str:
        if (module, name) not in self._imports:
            self._imports[module, name] = self.names.new(name)
        return self._imports[module, name]

    def _instance(self, thing: Any, hint: str) -> str:
        """A call of a class, for an object that has the class's parameters as attributes."""
        kind = type(thing)
        wanted = [] if kind.__module__ == "builtins" else list(inspect.signature(kind).parameters)
        if not wanted or not all(hasattr(thing, name) for name in wanted):
            raise UnwritableError(f"no module has {hint} under a name, so it cannot be imported")
        given = ", ".join(f"{name}={self.expression(getattr(thing, name), name)}" for name in wanted)
        return f"{self.expression(kind)}({given})"


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
