"""Samples of the primitives of `ops.indexing`."""

from __future__ import annotations

import numpy as np

from .makers import Maker, Row, distinct, mask, reals, whole


def apart(rows: int, columns: int) -> Maker:
    """Whole numbers from 0 to less than `rows`, of which none occurs twice in a column."""
    return lambda rng: rng.permuted(np.arange(rows * columns).reshape(rows, columns) // columns, axis=0)


# fmt: off
ROWS: list[Row] = [
    ("scatter", [reals(4, 3), reals(4, 3), apart(4, 3)], {"axis": 0}),
    ("scatter", [reals(4, 5), reals(4, 1), whole(5, 4, 1)], {"axis": 1}),
    ("scatter", [reals(4, 5), reals(), whole(5, 4, 1)], {"axis": 1}),
    *((name, [distinct(4, 3), reals(*shape), whole(high, *shape)], {"axis": axis})
      for name in ("scatter_add", "scatter_prod", "scatter_amax", "scatter_amin")
      for shape, axis, high in (((6, 3), 0, 4), ((2, 2), 0, 4), ((3, 5), 1, 3), ((0, 3), 0, 4))),
    ("scatter_add", [reals(20, 5), reals(70, 5), whole(20, 70, 5)], {"axis": 0}),
    ("masked_fill", [reals(3, 2), mask(3, 2), reals()], {}),
    ("masked_fill", [reals(3, 1), mask(2), reals()], {}),
    ("masked_fill", [reals(), mask(), reals()], {}),
    *((name, [reals(*shape)], {"k": k}) for name in ("tril", "triu") for shape in ((3, 4), (2, 4, 3)) for k in (-1, 0, 2)),
]
# fmt: on
