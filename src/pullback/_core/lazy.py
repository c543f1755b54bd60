"""What is made when it is first asked for: a package's names, so that importing it costs little, and properties."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class computed(Generic[Value]):  # noqa: N801  # a decorator, as `property`
    """A property that is computed when it is first asked for, and then kept by the instance.

    `functools.cached_property` holds a lock meanwhile in Python 3.11, which the child of a fork would find taken.
    """

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self.function, self.name = function, function.__name__
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Value:
        kept: dict[str, Value] = vars(instance)
        return kept.setdefault(self.name, self.function(instance))


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
