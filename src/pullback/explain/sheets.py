"""A sheet: what was found beside a call, as a sentence and a table, for the terminal and for a drawer of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .layout import columns
from .terminal import Paper

MARK = "> "
FIRST, LEAST = 14, 10
"""The columns that the first cell of a row, which tells where it is of, and others keep where there is little room."""
BAR = 8
"""The number of columns of the longest bar."""


class Sheet(NamedTuple):
    """A sentence and a table, of which one row may be marked, and each may have a bar."""

    kind: str
    title: str
    answer: str
    """A word or two, shown on the drawer while it is closed."""
    said: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    bars: Sequence[float] = ()
    """The length of each row's bar, of 1."""
    marked: int | None = None

    def to_text(self, width: int = 100, *, ascii: bool = False) -> str:
        """The sheet in lines of at most so many columns."""
        paper = Paper(width, ascii=ascii, color=False)
        lines = [each for line in self.said.splitlines() for each in paper.wrap(line)]
        if self.rows:
            sign = "#" if ascii else "█"
            head = ["", *self.columns, *([""] if self.bars else [])]
            rows = [
                [MARK if i == self.marked else "", *row, *([sign * round(BAR * self.bars[i])] if self.bars else [])]
                for i, row in enumerate(self.rows)
            ]
            least = [
                0,
                *[min(columns(name), LEAST) if i else FIRST for i, name in enumerate(self.columns)],
                *[BAR][: len(head) - len(self.columns) - 1],
            ]
            lines += ["", *paper.table([head, *rows], frozenset(), least)]
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def plain(self) -> dict[str, object]:
        """The sheet for JSON."""
        return self._asdict() | {
            "columns": [*self.columns],
            "rows": [[*row] for row in self.rows],
            "bars": [round(each, 4) for each in self.bars],
        }
