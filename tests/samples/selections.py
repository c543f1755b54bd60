"""Samples of the primitives of `ops.selections`."""

from __future__ import annotations

from .makers import Row, distinct

# fmt: off
ROWS: list[Row] = [
    *(("median", [distinct(*shape)], {"axis": tuple(range(len(shape))), "keepdims": False, "skip": skip})
      for shape in ((5,), (2, 4), ()) for skip in (False, True)),
]
# fmt: on
