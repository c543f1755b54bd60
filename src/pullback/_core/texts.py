"""Texts as terminals may show them: control characters are escaped."""

import unicodedata


def printable(text: str, *, ascii: bool = False) -> str:
    """A text as one line, with control characters and characters that change the writing direction escaped."""
    if text.isascii() and text.isprintable():
        return text
    safe = "".join(char if char.isprintable() and not _turns(char) else _escaped(char) for char in text)
    return safe.encode("ascii", "backslashreplace").decode() if ascii else safe


def _turns(char: str) -> bool:
    """True if a character changes the writing direction, or joins others, so that text is displayed misleadingly."""
    return unicodedata.category(char) in {"Cf", "Cc", "Zl", "Zp"}


def _escaped(char: str) -> str:
    return " " if char in "\t\n\r" else char.encode("unicode_escape").decode()
