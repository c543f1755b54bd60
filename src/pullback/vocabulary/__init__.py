"""torch's words on the primitives: names, defaults, `dim` and `keepdim`, with NumPy's spellings beside them.

These functions are the methods of `Tensor` and the functions of the package alike. Rules never see them. Those that
every program needs are named in `_tensor` and `_functions`; this is the index of all others, which are imported when
they are first asked for: by the module that defines them, the names under which the package and its tensors have them.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from .. import _refusals
from .._core import Carrier

Function = Callable[..., Any]

# pullback.<name>(...), as it is defined
FUNCTIONS: dict[str, str] = {}

# pullback.<name>(input, ...) and tensor.<name>(...): the first argument must be a tensor
BOTH: dict[str, str] = {}

# tensor.<name>(...) alone
METHODS: dict[str, str] = {}

# tensor.<name>_(...): the same operation, written to the tensor
IN_PLACE: dict[str, str] = {}

# pullback.nn.functional.<name>(...)
FUNCTIONAL: dict[str, str] = {}

# Other names: the same function or method
ALIASES: dict[str, str] = {}


def _by_name(*indexes: dict[str, str]) -> dict[str, str]:
    found = {name: module for index in indexes for module, names in index.items() for name in names.split()}
    return found | {alias: found[name] for alias, name in ALIASES.items() if name in found}


LATER_FUNCTIONS = _by_name(FUNCTIONS, BOTH)
LATER_METHODS = _by_name(BOTH, METHODS)
LATER_IN_PLACE = _by_name(IN_PLACE)
LATER_FUNCTIONAL = _by_name(FUNCTIONAL)
_BOTH = _by_name(BOTH)


def load(module: str, name: str) -> Function:
    """The function that a module of pullback defines under a name, or under the one it is an alias of."""
    defined: Function = getattr(importlib.import_module(f"pullback.{module}"), ALIASES.get(name, name))
    return defined


def function(name: str) -> Function:
    """The function `pullback.<name>`."""
    found = load(LATER_FUNCTIONS[name], name)
    return of_tensor(found) if name in _BOTH else found


def of_tensor(function: Function) -> Function:
    """A function whose first argument must be a tensor."""

    @functools.wraps(function)
    def checked(input: Any, *args: Any, **options: Any) -> Any:
        if not isinstance(input, Carrier):
            raise _refusals.no_tensor(function.__name__, "input", 1, input)
        return function(input, *args, **options)

    return checked
