"""What is said, once in a process, about calls that do nothing or less than torch's."""

from __future__ import annotations

import warnings

_said: set[str] = set()


def note(text: str) -> None:
    """Warn of something the first time it comes up."""
    if text not in _said:
        _said.add(text)
        warnings.warn(text, UserWarning, stacklevel=3)
