"""Samples of the primitives of `ops.decompositions`: matrices far from singular, with values that lie apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .makers import Maker, Row, reals

DOUBLE = np.dtype(np.float64)


def regular(*shape: int) -> Maker:
    """Matrices with eigenvalues and singular values apart from zero and from each other."""

    def make(rng: np.random.Generator) -> Any:
        spread = np.zeros(shape)
        places = np.arange(min(shape[-2:]))
        spread[..., places, places] = 2.0 * places + 2
        return spread + rng.uniform(-0.3, 0.3, shape)

    return make


def complexes(*shape: int) -> Maker:
    """Complex matrices of that kind."""
    return lambda rng: regular(*shape)(rng) + 1j * rng.uniform(-0.3, 0.3, shape)


def definite(source: Callable[..., Maker], *shape: int) -> Maker:
    """Hermitian positive-definite matrices."""

    def make(rng: np.random.Generator) -> Any:
        x = source(*shape)(rng)
        return x @ np.conj(x).swapaxes(-1, -2)

    return make


def bound(*shape: int) -> Maker:
    """A small number for each matrix, as whole numbers since it is no argument of a derivative."""
    return lambda _: np.zeros(shape, int)


SQUARES: list[tuple[int, ...]] = [(1, 1), (3, 3), (2, 3, 3)]
WIDE: list[tuple[int, ...]] = [(2, 4), (2, 2, 3)]
TALL: list[tuple[int, ...]] = [(4, 2), (2, 3, 2)]
SYSTEMS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 2)), ((3, 3), (2, 3, 2)), ((2, 3, 3), (3, 2)), ((2, 1, 3, 3), (4, 3, 1)),
]  # fmt: skip
ROWS: list[Row] = [
    *(
        (name, [matrices(*shape)], {})
        for name in ("inv", "det", "cofactor", "slogdet")
        for matrices in (regular, complexes)
        for shape in SQUARES
    ),
    *(
        ("cofactor_slope", [matrices(*shape), matrices(*shape)], {})
        for matrices in (regular, complexes)
        for shape in SQUARES
    ),
    *(("matrix_exp", [reals(*shape)], {}) for shape in [*SQUARES, (0, 0)]),
    ("matrix_exp", [complexes(2, 2)], {}),
    *(("cholesky", [definite(regular, *shape)], {"upper": upper}) for shape in SQUARES for upper in (True, False)),
    *(("eigh", [definite(regular, *shape)], {"lower": lower}) for shape in SQUARES for lower in (True, False)),
    *(("eig", [regular(*shape)], {"dtype": DOUBLE}) for shape in SQUARES),
    *(("solve", [regular(*a), reals(*b)], {}) for a, b in SYSTEMS),
    ("solve", [complexes(3, 3), complexes(3, 2)], {}),
    ("solve_triangular", [complexes(3, 3), complexes(3, 2)], {"upper": True, "unitriangular": False}),
    *(
        ("solve_triangular", [regular(*a), reals(*b)], {"upper": upper, "unitriangular": unit})
        for a, b in SYSTEMS
        for upper in (True, False)
        for unit in (True, False)
    ),
    *(("lu_factor", [regular(*shape)], {"pivot": True}) for shape in [*SQUARES, *WIDE, *TALL]),
    ("lu_factor", [lambda rng: regular(3, 3)(rng)[[1, 2, 0]]], {"pivot": True}),
    ("lu_factor", [regular(3, 3)], {"pivot": False}),
    *(("lu_factor", [complexes(*shape)], {"pivot": True}) for shape in [(3, 3), *WIDE, *TALL]),
    *(("svd", [regular(*shape)], {"full": False}) for shape in [*SQUARES, *WIDE, *TALL]),
    ("svd", [regular(3, 3)], {"full": True}),
    *(("qr", [regular(*shape)], {"mode": "reduced"}) for shape in [*SQUARES, *WIDE, *TALL]),
    *(("qr", [complexes(*shape)], {"mode": "reduced"}) for shape in [(3, 3), *WIDE, *TALL]),
    *(("qr", [regular(*shape)], {"mode": "complete"}) for shape in WIDE),
    *(
        ("pinv", [matrices(*shape), bound(*shape[:-2]), bound(*shape[:-2])], {"hermitian": False})
        for matrices in (regular, complexes)
        for shape in [*SQUARES, *WIDE, *TALL]
    ),
]
