"""Functions without effect, for things that pullback does not have: accelerators, other libraries, other compilers."""

import contextlib
from collections.abc import Iterator
from typing import Any


def does_nothing(*args: Any, **options: Any) -> None:
    """Has no effect."""


def zero(*args: Any, **options: Any) -> int:
    """0: there are none."""
    return 0


def no(*args: Any, **options: Any) -> bool:
    """False."""
    return False


def none_found(*args: Any, **options: Any) -> list[Any]:
    """An empty list."""
    return []


@contextlib.contextmanager
def block(*args: Any, **options: Any) -> Iterator[None]:
    """A context without effect."""
    yield
