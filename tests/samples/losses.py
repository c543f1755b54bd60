"""Samples of the primitives of `ops.losses`."""

from __future__ import annotations

import numpy as np

from .makers import Array, Maker, Row, fractions, reals, whole


def _skips(*shape: int) -> Maker:
    """0 where a state may be skipped, a very small logarithm where not; whole numbers, for they have no derivative."""

    def make(rng: np.random.Generator) -> Array:
        return np.where(np.arange(np.prod(shape)) % 2, 0, -(10**6)).reshape(shape)

    return make


# fmt: off
ROWS: list[Row] = [
    ("binary_cross_entropy", [fractions(3, 2), fractions(3, 2)], {}),
    ("binary_cross_entropy", [fractions(), fractions()], {}),
    *(("huber", [reals(3, 2)], {"delta": delta}) for delta in (0.99, 2)),
    ("weighed_nll", [reals(4, 3), whole(3, 4), whole(5, 4)], {}),
    ("ctc_step", [reals(3, 5), reals(3, 5), _skips(3, 5)], {}),
    ("ctc_step", [reals(2, 1), reals(2, 1), _skips(2, 1)], {}),
]
# fmt: on
