"""Functions without effect, for things that pullback does not have: accelerators, other libraries, other compilers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn


def does_nothing(*args: object, **options: object) -> None:
    """Has no effect."""


def zero(*args: object, **options: object) -> int:
    """0: there are none."""
    return 0


def no(*args: object, **options: object) -> bool:
    """False."""
    return False


def none_found(*args: object, **options: object) -> list[NoReturn]:
    """An empty list."""
    return []


@contextlib.contextmanager
def block(*args: object, **options: object) -> Iterator[None]:
    """A context without effect."""
    yield
