"""Modules and names that are imported when they are first asked for, so that importing the package costs little."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

PROVIDERS: dict[str, str] = {}
"""Modules of higher layers that lower layers call, by what they provide. The root of the package, which may import
everything, fills this table, so that no lower layer names a higher one."""


def provider(task: str) -> Any:
    """The module that provides something, imported when it is first needed."""
    return importlib.import_module(PROVIDERS[task])


def index(
    namespace: dict[str, Any], names: Mapping[str, str], modules: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package.

    Parameters
    ----------
    namespace
        The globals of the package. They get `__places__`, which says what module has each name.
    names
        The names of the package, by the modules that define them. These modules are attributes of the package, too.
    modules
        Further modules of the package.
    """
    places = {name: module for module, several in names.items() for name in several.split()}
    namespace["__places__"] = places
    parts = [*modules.split(), *(module for module in names if "." not in module)]

    def found(name: str) -> Any:
        if name in places:
            namespace[name] = value = getattr(
                importlib.import_module(f"{namespace['__package__']}.{places[name]}"), name
            )
            return value
        if name in parts:
            return importlib.import_module(f"{namespace['__package__']}.{name}")
        raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")

    return found, lambda: [*{**namespace, **places, **dict.fromkeys(parts)}], [*places, *modules.split()]
