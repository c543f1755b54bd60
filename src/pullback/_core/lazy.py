"""Modules and names that are imported when they are first asked for, so that importing the package costs little."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from typing import Any

PROVIDERS: dict[str, str] = {}
"""Modules of higher layers that lower layers call, by what they provide. The root of the package, which may import
everything, fills this table, so that no lower layer names a higher one."""


def provider(task: str) -> Any:
    """The module that provides something, imported when it is first needed."""
    return importlib.import_module(PROVIDERS[task])


def later(namespace: dict[str, Any], name: str, places: Mapping[str, str], modules: Collection[str] = ()) -> Any:
    """What a module's `__getattr__` gives: one of the package's modules, or what another of them has under the name.

    Raises
    ------
    AttributeError
        If the name is neither among the modules nor in `places`, which says where each name is defined.
    """
    package = namespace["__package__"]
    if name in modules:
        return importlib.import_module(f"{package}.{name}")
    if name not in places:
        raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
    namespace[name] = found = getattr(importlib.import_module(f"{package}.{places[name]}"), name)
    return found
