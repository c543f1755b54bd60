"""Functions of layers and losses, by torch's names; the index of `vocabulary` says where they are defined."""

from __future__ import annotations

from typing import Any

from .. import vocabulary
from ..vocabulary.arithmetic import sigmoid as sigmoid
from ..vocabulary.arithmetic import tanh as tanh


def __getattr__(name: str) -> Any:
    if name not in vocabulary.LATER_FUNCTIONAL:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = vocabulary.functional(name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *vocabulary.LATER_FUNCTIONAL]
