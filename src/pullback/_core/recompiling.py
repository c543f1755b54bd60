"""Recompiling: whether compiled functions may be recorded, which tests of a program's speed forbid."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from contextlib import contextmanager

forbidding: contextvars.ContextVar[str] = contextvars.ContextVar("pullback.forbidding", default="")
"""Which recordings are errors: "" for none, "again" for those of functions that have a program, "all"."""


class RecompiledError(AssertionError):
    """Raised under `no_recompiles` where a compiled function would be recorded."""


@contextmanager
def no_recompiles(*, new: bool = True) -> Iterator[None]:
    """Have a compiled function that would be recorded again raise a RecompiledError that says why.

    Parameters
    ----------
    new
        False to refuse the first recording of a function, too.

    It holds for this thread. The call that raises has changed nothing.

    >>> import pullback
    >>> from pullback.testing import no_recompiles
    >>> square = pullback.compile(lambda x: x**2)
    >>> with no_recompiles():
    ...     square(pullback.ones(2)), square(pullback.zeros(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    token = forbidding.set("again" if new else "all")
    try:
        yield
    finally:
        forbidding.reset(token)


def allow(name: str, reason: str, *, again: bool) -> None:
    """RecompiledError if a function is not to be recorded, or not again."""
    if forbidding.get() == "all" or (again and forbidding.get()):
        raise RecompiledError(f"{name} would be recorded{' again' if again else ''}: {reason}")
