"""The dispatching namespace: every primitive under the name rules use, for values of any kind.

The derivative tables are the modules of this package. Given plain arrays a primitive computes; given boxed values it
goes to their interpreter.
"""

from __future__ import annotations

from typing import Any

from .. import _xp
from .elementwise import *  # noqa: F403
from .linear_algebra import *  # noqa: F403
from .reductions import *  # noqa: F403
from .shapes import *  # noqa: F403


def zeros(shape: tuple[int, ...], *, like: Any) -> Any:
    """Zeros with the dtype of `like`, a constant."""
    return _xp.zeros(shape, like=like)
