"""In-place forms as functions of the package: `pullback.exp_(x)` is `x.exp_()`.

Which of them there are is in the index of this package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core.values import require_tensor
from . import published
from .arithmetic import named


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_") or not name.endswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def function(input: Any, *args: Any, **options: Any) -> Any:
        require_tensor(name, "input", input)
        return getattr(input, name)(*args, **options)

    return published(named(name, function, f"In place: `input.{name}(...)`."), "pullback", name)
