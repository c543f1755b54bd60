"""Text in columns: widths and truncation."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Sequence

GAP = 2


def columns(text: str) -> int:
    """The number of terminal columns that a text occupies."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    """Two for a character of East Asian scripts, none for a mark over the one before it."""
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(text: str, width: int) -> str:
    """A text of at most `width` columns: two dots stand for the middle of a longer one."""
    if columns(text) <= width:
        return text
    if width < 3:
        return "." * max(width, 0)
    behind = (width - 2) // 2
    return f"{_start(text, width - 2 - behind)}..{_start(text[::-1], behind)[::-1]}"


def _start(text: str, width: int) -> str:
    """As many of the first characters as fit."""
    ends = itertools.accumulate(map(columns, text))
    return text[: sum(1 for _ in itertools.takewhile(lambda end: end <= width, ends))]


def pad(text: str, width: int, *, right: bool = False) -> str:
    """A text padded with spaces."""
    space = " " * max(0, width - columns(text))
    return space + text if right else text + space


def fitted(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Column widths that fit into `room`: the widest columns shrink first, none below its minimum."""
    widths = list(natural)
    while sum(widths) + GAP * (len(widths) - 1) > room:
        spare = [width - low for width, low in zip(widths, least, strict=True)]
        widest = max(range(len(widths)), key=lambda i: (spare[i] > 0, widths[i]))
        if spare[widest] <= 0:
            break
        widths[widest] -= 1
    return widths


def table(rows: Sequence[Sequence[str]], room: int, *, right: frozenset[int], least: Sequence[int]) -> list[str]:
    """Rows as aligned lines; a row of two cells is a number and a remark that takes the rest of the line."""
    full = [row for row in rows if len(row) == len(least)]
    natural = [max((columns(row[i]) for row in full), default=0) for i in range(len(least))]
    widths = fitted(natural, [min(a, b) for a, b in zip(natural, least, strict=True)], room)
    return [line for row in rows for line in _lines(row, widths, room, right)]


def _lines(row: Sequence[str], widths: Sequence[int], room: int, right: frozenset[int]) -> list[str]:
    if len(row) == len(widths):
        cells = [_cell(cell, width) for cell, width in zip(row, widths, strict=True)]
        return [
            (" " * GAP).join(pad(one, widths[i], right=i in right) for i, one in enumerate(line)).rstrip()
            for line in itertools.zip_longest(*cells, fillvalue="")
        ]
    *head, last = row
    before = "".join(pad(cell, widths[i], right=i in right) + " " * GAP for i, cell in enumerate(head))
    return wrapped(before, [f"{word} " for word in last.split(" ")], room)


def _cell(text: str, width: int) -> list[str]:
    """The lines of a cell: numbers in brackets are continued below, and other text is cut."""
    return wrapped("", [f"{word} " for word in text.split(" ")], width) if text.startswith("[") else [cut(text, width)]


def wrapped(head: str, words: Sequence[str], room: int) -> list[str]:
    """A heading followed by words, wrapped into lines; lines after the first are indented."""
    lines, line = [], head
    for word in words:
        if columns(line) > columns(head) and columns(line) + columns(word.rstrip()) > room:
            lines.append(line.rstrip())
            line = " " * columns(head)
        line += cut(word, max(4, room - columns(head)))
    return [*lines, line.rstrip()]
