"""Optimizers by torch's names, imported when they are first asked for."""

from __future__ import annotations

from typing import Any

from .._core.lazy import later

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
    return later(globals(), name, _INDEX, _MODULES)


def __dir__() -> list[str]:
    return [*globals(), *_INDEX, *_MODULES]
