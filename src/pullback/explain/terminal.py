"""The terminal: how wide it is, and what it can show."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import TextIO

from .._core.texts import printable
from .layout import columns, cut, pad, table, wrapped

WIDTH = 80
"""The width of a text that is not for a terminal."""
NARROWEST = 40
"""The width below which lines are cut by the terminal."""
HEAD = 12
"""The width of the column before a section's text."""

BOLD, RED, PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[0m"


def terminal_width() -> int:
    """The columns of the terminal, or COLUMNS; 80 where there is no terminal."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def colored(stream: TextIO) -> bool:
    """Whether a stream is a terminal with colors, and NO_COLOR is not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Paper:
    """What a text is written on: a width, and whether there are colors and more characters than ASCII."""

    def __init__(self, width: int, *, ascii: bool, color: bool) -> None:
        self.width, self.ascii, self.color = max(width, NARROWEST), ascii, color

    def clean(self, text: str) -> str:
        """A text without characters that steer a terminal."""
        return printable(text, ascii=self.ascii)

    def bold(self, text: str) -> str:
        """A line in bold."""
        return self._styled(BOLD, text)

    def red(self, text: str) -> str:
        """A line in red."""
        return self._styled(RED, text)

    def _styled(self, style: str, text: str) -> str:
        line = cut(self.clean(text), self.width)
        return f"{style}{line}{PLAIN}" if self.color and line else line

    def wrap(self, text: str, head: str = "") -> list[str]:
        """A text in lines that fit, after a heading."""
        return wrapped(self.clean(head), [f"{word} " for word in self.clean(text).split(" ")], self.width)

    def section(self, title: str, text: str) -> list[str]:
        """A text beside its title."""
        return self.wrap(text, pad(title, HEAD))

    def table(self, body: Sequence[Sequence[str]], right: frozenset[int], least: Sequence[int]) -> list[str]:
        """Rows as aligned lines."""
        return table([[self.clean(cell) for cell in line] for line in body], self.width, right=right, least=least)

    def fits(self, line: str) -> bool:
        """Whether a line is narrow enough."""
        return columns(line) <= self.width
