"""Optimizers by torch's names, imported when they are first asked for."""

from __future__ import annotations

import importlib
from typing import Any

_INDEX = {
    "Adadelta": "adadelta",
    "Adafactor": "adafactor",
    "Adagrad": "adagrad",
    "Adam": "adam",
    "AdamW": "adamw",
    "Adamax": "adamax",
    "ASGD": "asgd",
    "LBFGS": "lbfgs",
    "Muon": "muon",
    "NAdam": "nadam",
    "Optimizer": "optimizer",
    "RAdam": "radam",
    "RMSprop": "rmsprop",
    "Rprop": "rprop",
    "SGD": "sgd",
    "SparseAdam": "sparse_adam",
}
_MODULES = {*_INDEX.values(), "lr_scheduler", "swa_utils"}

__all__ = [*_INDEX, "lr_scheduler", "swa_utils"]  # noqa: PLE0604  # strings, all of them


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _INDEX:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_INDEX[name]}"), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *_INDEX, *_MODULES]
