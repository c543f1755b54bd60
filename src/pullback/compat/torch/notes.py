"""Warnings, each issued once per process, about calls with no effect or less effect than in torch."""

from ...extend import warn

_said: set[str] = set()


def note(text: str) -> None:
    """Issue a warning the first time it occurs."""
    if text not in _said:
        _said.add(text)
        warn(text)
