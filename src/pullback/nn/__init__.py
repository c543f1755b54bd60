"""Layers, models and losses by torch's names, imported when they are first asked for."""

from __future__ import annotations

import importlib
from typing import Any

from . import functional as functional
from . import modules as modules

_PARTS = ("grad", "init", "parameter", "utils")
_PARAMETERS = {
    "Buffer": "parameter",
    "Parameter": "parameter",
    "UninitializedBuffer": "uninitialized",
    "UninitializedParameter": "uninitialized",
}

__all__ = ["functional", "modules", *_PARTS, *_PARAMETERS, *modules.__all__]  # noqa: PLE0604  # strings, all of them


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _PARAMETERS:
        found = getattr(importlib.import_module(f"{__name__}.{_PARAMETERS[name]}"), name)
    elif name in modules.LATER:
        found = getattr(modules, name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
