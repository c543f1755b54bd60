"""Makers of arguments: each draws an array from a generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Maker = Callable[[np.random.Generator], Any]
Row = tuple[str, list[Maker], dict[str, Any]]


def reals(*shape: int) -> Maker:
    """Numbers of both signs, none of them near 0, where signs, roots and slopes change."""
    return lambda rng: rng.uniform(0.3, 1.7, shape) * rng.choice([-1.0, 1.0], shape)


def positive(*shape: int) -> Maker:
    """Numbers from 0.3 to 1.7."""
    return lambda rng: rng.uniform(0.3, 1.7, shape)


def complexes(*shape: int) -> Maker:
    """Complex numbers of all directions, none of them near 0 or near an axis."""
    return lambda rng: reals(*shape)(rng) + 1j * reals(*shape)(rng)


def fractions(*shape: int) -> Maker:
    """Numbers between 0 and 1, apart from both."""
    return lambda rng: rng.uniform(0.1, 0.9, shape)


def between(*shape: int) -> Maker:
    """Numbers apart from whole numbers and halves, where rounding jumps."""
    return lambda rng: rng.integers(-3, 3, shape) + rng.uniform(0.1, 0.4, shape)


def distinct(*shape: int) -> Maker:
    """Numbers no two of which are close, in any order: nothing changes places with anything."""
    return lambda rng: rng.permutation(np.linspace(-1.3, 1.7, int(np.prod(shape)))).reshape(shape)


def whole(high: int, *shape: int) -> Maker:
    """Whole numbers from 0 to less than `high`."""
    return lambda rng: rng.integers(0, high, shape)


def mask(*shape: int) -> Maker:
    """Two of three are True."""
    return lambda rng: (np.arange(np.prod(shape, dtype=int)) % 3 != 1).reshape(shape)
