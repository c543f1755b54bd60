"""Samples of the primitives of `ops.alignment`."""

from __future__ import annotations

import numpy as np

from .makers import Array, Maker, Row, reals, whole


def _skips(*shape: int) -> Maker:
    """0 where a state may be skipped, a very small logarithm where not; whole numbers, for they have no derivative."""

    def make(rng: np.random.Generator) -> Array:
        return np.where(np.arange(np.prod(shape)) % 2, 0, -(10**6)).reshape(shape)

    return make


def _lattice(*shape: int, reverse: bool) -> Row:
    steps, *others = shape
    return "lattice", [*[reals(steps - 1, *others)] * 3, reals(*shape)], {"reverse": reverse}


# fmt: off
ROWS: list[Row] = [
    ("ctc", [reals(4, 3, 5), _skips(3, 5), whole(3, 1, 5)], {}),
    ("ctc", [reals(3, 2, 1), _skips(2, 1), whole(3, 2, 1)], {}),
    ("ctc", [reals(1, 2, 3), _skips(2, 3), whole(3, 2, 3)], {}),
    *(_lattice(4, 3, 5, reverse=reverse) for reverse in (False, True)),
    *(_lattice(3, 2, 1, reverse=reverse) for reverse in (False, True)),
    _lattice(1, 2, 3, reverse=False),
]
# fmt: on
