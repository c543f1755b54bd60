"""Functions that answer for what pullback does not have: accelerators, other libraries, other processes, other compilers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


def does_nothing(*args: Any, **options: Any) -> None:
    """Nothing follows from it."""


def zero(*args: Any, **options: Any) -> int:
    """0: there are none."""
    return 0


def no(*args: Any, **options: Any) -> bool:
    """False: it is not there."""
    return False


def none_found(*args: Any, **options: Any) -> list[Any]:
    """An empty list: there are none."""
    return []


@contextlib.contextmanager
def block(*args: Any, **options: Any) -> Iterator[None]:
    """A block that runs as if it were not one."""
    yield
