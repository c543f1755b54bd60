"""Warnings, each issued once per process, about calls with no effect or less effect than in torch."""

import warnings

_said: set[str] = set()


def note(text: str) -> None:
    """Issue a warning the first time it occurs."""
    if text not in _said:
        _said.add(text)
        warnings.warn(text, stacklevel=3)
