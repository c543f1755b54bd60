"""Samples of the primitives of `ops.scans`."""

from __future__ import annotations

import numpy as np

from .makers import Maker, Row, complexes, reals


def with_zeros(*shape: int) -> Maker:
    """Numbers of both signs, every third of them 0."""
    return lambda rng: reals(*shape)(rng) * (np.arange(np.prod(shape, dtype=int)) % 3 != 1).reshape(shape)


# fmt: off
ROWS: list[Row] = [
    *(("cumprod", [make(*shape)], {"axis": axis, "exclusive": exclusive}) for make in (reals, complexes, with_zeros)
      for shape, axis in (((5,), 0), ((3, 4), 0), ((2, 3, 2), 1), ((1,), 0)) for exclusive in (False, True)),
    *(("product_of_others", [make(*shape)], {"axis": axis}) for make in (reals, complexes, with_zeros)
      for shape, axis in (((5,), 0), ((3, 4), 0), ((2, 3, 2), 1), ((1,), 0))),
    *(("logcumsumexp", [make(*shape)], {"axis": axis}) for make in (reals, complexes)
      for shape, axis in (((7,), 0), ((3, 4), 0), ((2, 3, 2), 1), ((1,), 0))),
]
# fmt: on
