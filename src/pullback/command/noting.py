"""The calls of compiled functions while a program runs."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from ..compile.compiled import Compiled

Calls = dict[int, tuple[Compiled, tuple[Any, ...], dict[str, Any]]]
"""Each compiled function that was called, with the arguments of its last call."""


@contextlib.contextmanager
def noted(calls: Calls) -> Iterator[None]:
    """A block in which calls of compiled functions are noted."""
    call: Callable[..., Any] = Compiled.__call__

    @functools.wraps(call)
    def noting(self: Compiled, *args: Any, **kwargs: Any) -> Any:
        calls[id(self)] = self, args, kwargs
        return call(self, *args, **kwargs)

    type.__setattr__(Compiled, "__call__", noting)
    try:
        yield
    finally:
        type.__setattr__(Compiled, "__call__", call)
