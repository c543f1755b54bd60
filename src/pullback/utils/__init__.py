"""torch.utils's surface: checkpoints, and data."""

from typing import Any

from .._core.lazy import later
from . import checkpoint as checkpoint


def __getattr__(name: str) -> Any:
    return later(globals(), name, {}, ("data",))


def __dir__() -> list[str]:
    return [*globals(), "data"]
