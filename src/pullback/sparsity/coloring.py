"""Colorings: sets of rows or columns of a sparse matrix that can be computed in the same pass.

Columns without a common row can be added and still be separated; so can rows without a common column. Colors are
assigned greedily, in order of decreasing number of entries (Coleman and Moré, Estimation of sparse Jacobian matrices
and graph coloring problems, 1983). A set of colors is an integer used as a bit mask: the forbidden colors of a vertex
are then the bitwise or of a few integers.

An entry of a symmetric matrix can be read at either of its two positions; a star coloring ensures that one of them can
be separated (Gebremedhin, Manne and Pothen, What color is your Jacobian?, 2005). The one here is restricted: neighbors
have different colors, and two neighbors of a vertex share a color only if it is greater than the vertex's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def indexing(indices: Array) -> Array:
    """Integers as `repeat` and `bincount` want them, which on 32-bit systems do not accept int64."""
    return indices.astype(np.intp, copy=False)


class Coloring(NamedTuple):
    """The color of each row computed in a reverse pass, and of each column computed in a forward pass; -1 for others.

    Either all rows have a color, and the columns whose entries they cannot supply (`mainly_rows`), or the other way
    round.
    """

    rows: Array
    columns: Array
    mainly_rows: bool = True

    @property
    def passes(self) -> int:
        """The number of passes: one per color."""
        return int(self.rows.max(initial=-1) + self.columns.max(initial=-1)) + 2

    def by_columns(self, rows: Array, columns: Array) -> Array:
        """A mask of the entries that are read from forward passes."""
        return self.columns[columns] >= 0 if self.mainly_rows else self.rows[rows] < 0


def apart(lines: Array, crossings: Array, count: int, width: int) -> Array:
    """Colors for `count` lines, such that no two lines with a common crossing share one; -1 for lines without entries.

    Lines are rows or columns. Entry k of the matrix is on `lines[k]` and on `crossings[k]`, a number below `width`.
    """
    colors = np.full(count, -1)
    order = np.argsort(lines, kind="stable")
    sizes = np.bincount(indexing(lines), minlength=count)
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
    """A restricted star coloring of the rows of a symmetric matrix; -1 for rows without entries."""
    colors = np.full(count, -1)
    colors[rows[rows == columns]] = 0
    off = rows != columns
    order = np.argsort(rows[off], kind="stable")
    sizes = np.bincount(indexing(rows[off]), minlength=count)
    ends = np.cumsum(sizes).tolist()
    neighbours = columns[off][order].tolist()
    near = [0] * count  # the colors of each vertex's neighbors, as bit masks
    below = [-1] * count  # the colors less than each vertex's own; all, until it has one
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
    """The lines that have entries, by decreasing number of entries."""
    order: list[int] = np.argsort(-sizes, kind="stable").tolist()
    return order[: np.count_nonzero(sizes)]


def best(rows: Array, columns: Array, shape: tuple[int, int]) -> Coloring:
    """The coloring with the fewest passes: by rows except for some columns, or by columns except for some rows.

    In a coloring by rows, a full column needs as many colors as it has entries. So the fullest columns are computed
    in forward passes instead (and by columns, the fullest rows in reverse passes), as many as reduce the number of
    passes.
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
    """The least number of colors needed if the fullest crossings are left out, and these crossings."""
    sizes = np.bincount(indexing(crossings), minlength=count)
    order = np.argsort(-sizes, kind="stable")
    bounds = np.append(sizes[order], 0) + np.arange(count + 1)
    number = int(bounds.argmin())
    left_out = np.zeros(count, np.bool_)
    left_out[order[:number]] = True
    return int(bounds[number]), left_out
