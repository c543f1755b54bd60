"""The operations as functions of the package and its namespaces, built from the table in `surface` on first use.

Each function refuses a first argument that is not a tensor. Functions that are also frequently used methods of Tensor
have the same fast path.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

from .. import vocabulary
from .._core.lazy import provider
from .._core.values import require_tensor
from .._tape import shortcuts
from .._tape.native import core
from ..vocabulary import in_both_spellings, load, published, taking_numbers, taking_out
from . import surface
from .tensor import WAYS, Tensor

Function = Callable[..., Any]
CHECKS: dict[str, Callable[[Function, bool], Function]] = {
    "of_tensor": vocabulary.of_tensor,
    "of_pair": vocabulary.of_pair,
    "of_either": vocabulary.of_tensors,
}


@functools.cache
def function(name: str) -> Any:
    """The function `pullback.<name>`, or another object of that name."""
    found = _function(name)
    return found if core is None else provider("native core").formed(name, found)


def _function(name: str) -> Any:
    functions = surface.NAMESPACES["pullback"]
    place = functions[name]
    if name != place.defined and (same := functions.get(place.defined)) is not None and same.module == place.module:
        return function(place.defined)
    if place.form == "of_method":
        return of_method(name)
    plain = load(place.module, place.defined)
    if not isinstance(plain, FunctionType):
        return plain
    found: Function = in_both_spellings(plain)
    check = CHECKS.get(place.form.partition("+")[0])
    if check is not None:
        found = taking_numbers(check(found, place.takes_out))
        if name in WAYS:
            return published(WAYS[name](found, out=True), "pullback", name)
    elif place.takes_out:
        found = taking_out(found)
    return _published(plain, shortcuts.short(Tensor, found), "pullback", name)


def of_method(name: str) -> Function:
    """The function of the package that calls the tensor method of the same name."""

    def function(input: Tensor, *args: Any, **options: Any) -> Any:
        require_tensor(name, "input", input)
        return getattr(input, name)(*args, **options)

    function.__name__, function.__doc__ = name, getattr(Tensor, name).__doc__
    return published(function, "pullback", name)


def _published(plain: Function, found: Function, module: str, name: str) -> Function:
    return found if found is plain else published(found, module, name)


def of_namespace(namespace: str, name: str) -> Any:
    """The function `pullback.<namespace>.<name>`: the package's own object if that has the same definition."""
    place = surface.NAMESPACES[namespace][name]
    same = surface.NAMESPACES["pullback"].get(place.defined)
    if namespace == "special" and same is not None and same.module == place.module:
        return function(place.defined)
    plain = load(place.module, place.defined)
    if not isinstance(plain, FunctionType):
        return plain
    found: Function = in_both_spellings(plain) if namespace == "linalg" else plain
    found = shortcuts.short(Tensor, taking_out(found) if place.takes_out else found)
    if core is not None and namespace == "nn.functional":
        found = provider("native core").layer(name, found)
    return _published(plain, found, f"pullback.{namespace}", name)


def namespace(module: dict[str, Any]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a namespace module, from the table."""
    title = module["__name__"].partition(".")[2]
    names = surface.NAMESPACES[title]

    def getattr(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        module[name] = found = of_namespace(title, name)
        return found

    return getattr, lambda: [*module, *names], [*names]


def __getattr__(name: str) -> Any:
    if name not in surface.NAMESPACES["pullback"]:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = function(name)
    return found
