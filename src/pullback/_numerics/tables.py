"""A tensor as HTML, which notebooks show: its numbers as a table, its shape, dtype and history in a caption."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core.bfloat import widened
from .printing import formatted_cells

NDArray = np.ndarray[Any, np.dtype[Any]]

LONGEST, EDGE = 12, 5
"""The longest axis that is shown whole, and how many items a longer one keeps at each end."""
MOST = 8
"""Tables that are shown of a tensor with more than two axes."""


def to_html(array: NDArray, caption: str) -> str:
    """An array as HTML: one table for the last two axes, several for more; all without a style of their own.

    >>> import numpy as np
    >>> to_html(np.array([[1.0, 2.0]]), "float64, shape (1, 2)")
    '<table><caption>float64, shape (1, 2)</caption><tr><td>1.</td><td>2.</td></tr></table>'
    """
    array = np.asarray(widened(array))
    if array.size == 0:
        return f"<p>{html.escape(caption)}: no elements</p>"
    outer = [*np.ndindex(*array.shape[:-2])] if array.ndim > 1 else [()]
    shown = outer if len(outer) <= MOST else [*outer[: MOST // 2], *outer[-MOST // 2 :]]
    tables = []
    for at in shown:
        place = f" [{', '.join(map(str, at))}]" if at else ""
        tables.append(_table(np.atleast_2d(array[at]), f"{caption}{place}"))
    if len(shown) < len(outer):
        tables.insert(MOST // 2, f"<p>{len(outer) - len(shown)} more</p>")
    return "".join(tables)


def _table(array: NDArray, caption: str) -> str:
    """The table of two axes."""
    places = [_places(length) for length in array.shape]
    kept = [[place for place in axis if place is not None] for axis in places]
    cells = iter(formatted_cells(array[np.ix_(*kept)]))
    rows = [["⋮"] * len(places[1]) if row is None else _row(places[1], cells) for row in places[0]]
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption>{body}</table>"


def _places(length: int) -> Sequence[int | None]:
    """The items of an axis that are shown, None for those between."""
    return range(length) if length <= LONGEST else [*range(EDGE), None, *range(length - EDGE, length)]


def _row(places: Sequence[int | None], cells: Any) -> list[str]:
    """The texts of one row, the next of all."""
    return ["…" if place is None else next(cells).strip() for place in places]
