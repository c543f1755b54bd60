"""Colourings: which rows or columns of a sparse matrix one pass can fill together.

Columns without a common row can be added up and still be told apart; so can rows without a common column. Which have the
same colour is decided one by one, the fullest first (Coleman and Moré, Estimation of sparse Jacobian matrices and graph
coloring problems, 1983). A set of colours is an integer whose bits are the colours, of any length: what a vertex may not
have is then a union of few integers.

Of a symmetric matrix an entry may be told from either of its two places. A star colouring makes sure of one (Gebremedhin,
Manne and Pothen, What color is your Jacobian?, 2005); here it is a restricted one: neighbours differ, and two neighbours
of a vertex share a colour only if it is greater than that of the vertex.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Coloring(NamedTuple):
    """The colour of each row that takes part in a reverse pass, and of each column in a forward pass; -1 for the others.

    Either all rows take part, and the columns whose entries they cannot give (`mainly_rows`), or the other way round.
    """

    rows: Array
    columns: Array
    mainly_rows: bool = True

    @property
    def passes(self) -> int:
        """How many passes there are: one for each colour."""
        return int(self.rows.max(initial=-1) + self.columns.max(initial=-1)) + 2

    def by_columns(self, rows: Array, columns: Array) -> Array:
        """Which of some entries are read from forward passes."""
        return self.columns[columns] >= 0 if self.mainly_rows else self.rows[rows] < 0


def apart(lines: Array, crossings: Array, count: int, width: int) -> Array:
    """Colours for `count` lines, of which no two with a common crossing have the same; -1 for lines without entries.

    Lines are rows or columns; entry k of the matrix lies on `lines[k]` and on `crossings[k]`, one of `width`.
    """
    colors = np.full(count, -1)
    order = np.argsort(lines, kind="stable")
    sizes = np.bincount(lines, minlength=count)
    ends = np.cumsum(sizes).tolist()
    crossed = crossings[order].tolist()
    taken = [0] * width
    for line in _fullest_first(sizes):
        own = crossed[ends[line] - sizes[line] : ends[line]]
        forbidden = 0
        for crossing in own:
            forbidden |= taken[crossing]
        lowest = ~forbidden & (forbidden + 1)
        for crossing in own:
            taken[crossing] |= lowest
        colors[line] = lowest.bit_length() - 1
    return colors


def star(rows: Array, columns: Array, count: int) -> Array:
    """Colours for the rows of a symmetric matrix, a restricted star colouring; -1 for rows without entries."""
    colors = np.full(count, -1)
    colors[rows[rows == columns]] = 0
    off = rows != columns
    order = np.argsort(rows[off], kind="stable")
    sizes = np.bincount(rows[off], minlength=count)
    ends = np.cumsum(sizes).tolist()
    neighbours = columns[off][order].tolist()
    near = [0] * count  # the colours of a vertex's neighbours
    below = [-1] * count  # the colours that are less than its own: all while it has none
    for vertex in _fullest_first(sizes):
        own = neighbours[ends[vertex] - sizes[vertex] : ends[vertex]]
        forbidden = near[vertex]
        for other in own:
            forbidden |= near[other] & below[other]
        lowest = ~forbidden & (forbidden + 1)
        below[vertex] = lowest - 1
        for other in own:
            near[other] |= lowest
        colors[vertex] = lowest.bit_length() - 1
    return colors


def _fullest_first(sizes: Array) -> list[int]:
    """Those that have entries, those with the most first, else in their order."""
    order = np.argsort(-sizes, kind="stable")
    return order[: np.count_nonzero(sizes)].tolist()  # type: ignore[no-any-return]  # whole numbers


def best(rows: Array, columns: Array, shape: tuple[int, int]) -> Coloring:
    """The colouring with the fewest passes: by rows with a few columns left out, or by columns with a few rows left out.

    One full column costs a colouring by rows as many colours as it has entries. So the fullest columns are left to
    forward passes, and the fullest rows of a colouring by columns to reverse passes, as many as pay.
    """
    attempts = [(*_left_out(columns, shape[1]), True), (*_left_out(rows, shape[0]), False)]
    found: list[Coloring] = []
    for bound, left_out, reverse in sorted(attempts, key=lambda attempt: attempt[0]):
        if found and found[0].passes <= bound:
            break
        full = left_out[columns if reverse else rows]
        by_rows, by_columns = (~full, full) if reverse else (full, ~full)
        found.append(
            Coloring(
                apart(rows[by_rows], columns[by_rows], *shape),
                apart(columns[by_columns], rows[by_columns], *shape[::-1]),
                reverse,
            )
        )
    return min(found, key=lambda coloring: coloring.passes)


def _left_out(crossings: Array, count: int) -> tuple[int, Array]:
    """How many colours are needed at least when the fullest crossings are left out, and which these are."""
    sizes = np.bincount(crossings, minlength=count)
    order = np.argsort(-sizes, kind="stable")
    bounds = np.append(sizes[order], 0) + np.arange(count + 1)
    number = int(bounds.argmin())
    left_out = np.zeros(count, np.bool_)
    left_out[order[:number]] = True
    return int(bounds[number]), left_out
