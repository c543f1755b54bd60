"""What torch.autograd has beside derivatives."""

from __future__ import annotations

import contextlib
from typing import Any


def is_multithreading_enabled() -> bool:
    """False: a backward pass runs in the thread that asked for it."""
    return False


def set_multithreading_enabled(mode: Any) -> Any:
    """A block in which backward passes may run in several threads, as they do not."""
    return contextlib.nullcontext()
