"""What is made when it is first asked for: modules and names, so that importing the package costs little; properties."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class computed(Generic[Value]):  # a decorator, as `property`
    """A property that is computed when it is first asked for, and then kept by the instance.

    `functools.cached_property` holds a lock meanwhile in Python 3.11, which the child of a fork would find taken.
    """

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self.function, self.name = function, function.__name__
        self.__doc__ = function.__doc__

    def __get__(self, instance: object, owner: object = None) -> Value:
        kept: dict[str, Value] = vars(instance)
        return kept.setdefault(self.name, self.function(instance))


PROVIDERS: dict[str, str] = {}
"""Modules of higher layers that lower layers call, by what they provide. The root of the package, which may import
everything, fills this table, so that no lower layer names a higher one."""


@functools.cache
def imported(name: str) -> Any:
    """The module of that name, imported if it has not been, its packages first.

    To import `a.b` Python waits for `a` only if nobody imports it yet. So where another thread imports `a`, which imports
    its own modules, each thread would soon wait for the other, and Python gives one of them an incomplete module.
    """
    if package := name.rpartition(".")[0]:
        imported(package)
    return importlib.import_module(name)


def provider(task: str) -> Any:
    """The module that provides something, imported when it is first needed."""
    return imported(PROVIDERS[task])


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
            namespace[name] = value = getattr(imported(f"{namespace['__package__']}.{places[name]}"), name)
            return value
        if name in parts:
            return imported(f"{namespace['__package__']}.{name}")
        raise AttributeError(
            f"module {namespace['__name__']!r} has no attribute {name!r}{_instead(namespace['__name__'], name)}"
        )

    return found, lambda: [*{**namespace, **places, **dict.fromkeys(parts)}], [*places, *modules.split()]


def _instead(module: str, name: str) -> str:
    """What to do about a name that a module lacks, if torch has it."""
    if name.startswith("_") or "modules of torch" not in PROVIDERS:
        return ""
    path = f"torch{module.removeprefix(module.partition('.')[0])}.{name}"
    return provider("modules of torch").instead(path)
