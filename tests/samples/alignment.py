"""Samples of the primitives of `ops.alignment`."""

from __future__ import annotations

import numpy as np

from .makers import Array, Maker, Row, reals, whole as whole_to


def _skips(*shape: int) -> Maker:
    """0 where a state may be skipped, a very small logarithm where not; whole numbers, for they have no derivative."""

    def make(rng: np.random.Generator) -> Array:
        return np.where(np.arange(np.prod(shape)) % 2, 0, -(10**6)).reshape(shape)

    return make


def _ctc(steps: int, count: int, classes: int, size: int, *, whole: bool) -> Row:
    states = whole_to(classes, count, size)
    arguments = [
        reals(steps, count, classes),
        states,
        _skips(count, size),
        *[whole_to(3, 1, size)] * 2,
        whole_to(steps + 1, count),
    ]
    return "ctc", arguments, {"whole": whole, "normal": False}


def _lattice(*shape: int, reverse: bool) -> Row:
    steps, *others = shape
    return "lattice", [*[reals(steps - 1, *others)] * 3, reals(*shape)], {"reverse": reverse}


# fmt: off
ROWS: list[Row] = [
    *(_ctc(4, 3, 4, 5, whole=whole) for whole in (False, True)),
    _ctc(3, 2, 3, 1, whole=False),
    _ctc(1, 2, 3, 3, whole=False),
    *(_lattice(4, 3, 5, reverse=reverse) for reverse in (False, True)),
    *(_lattice(3, 2, 1, reverse=reverse) for reverse in (False, True)),
    _lattice(1, 2, 3, reverse=False),
]
# fmt: on
