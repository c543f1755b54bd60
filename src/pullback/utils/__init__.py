"""torch.utils's surface: checkpoints, and data."""

import importlib
from typing import Any

from . import checkpoint as checkpoint


def __getattr__(name: str) -> Any:
    if name == "data":
        return importlib.import_module(f"{__name__}.data")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), "data"]
