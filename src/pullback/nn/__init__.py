"""Layers, models and losses by torch's names, imported when they are first asked for."""

from __future__ import annotations

from typing import Any

from .._core.lazy import later
from . import functional as functional
from . import modules as modules

_PARTS = ("grad", "init", "parameter", "utils")
_LATER = {
    "Buffer": "parameter",
    "Parameter": "parameter",
    "UninitializedBuffer": "uninitialized",
    "UninitializedParameter": "uninitialized",
    **dict.fromkeys(modules.LATER, "modules"),
}

__all__ = ["functional", "modules", *_PARTS, *_LATER]  # noqa: PLE0604  # strings, all of them


def __getattr__(name: str) -> Any:
    return later(globals(), name, _LATER, _PARTS)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
