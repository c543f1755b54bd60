"""Samples of the primitives of `ops.resampling`."""

from __future__ import annotations

import numpy as np

from pullback.ops.resampling import Taps

from .makers import Row, reals

REFLECTED = Taps(np.arange(7), np.array([2, 1, 0, 1, 2, 3, 2]), None, 7, 4)
WEIGHED = Taps(np.array([2, 0, 0, 3, 0]), np.array([1, 0, 2, 3, 3]), np.array([0.5, 2.0, -1.0, 3.0, 0.25]), 5, 4)
EMPTY = Taps(np.zeros(0, int), np.zeros(0, int), None, 0, 4)

ROWS: list[Row] = [
    *(("resample", [reals(2, 4, 3)], {"axis": 1, "taps": taps}) for taps in (REFLECTED, WEIGHED, EMPTY)),
    *(("resample", [reals(2, 3, 4)], {"axis": 2, "taps": taps}) for taps in (REFLECTED, WEIGHED)),
    ("resample", [reals(4)], {"axis": 0, "taps": WEIGHED.transposed.transposed}),
    ("resample", [reals(5)], {"axis": 0, "taps": WEIGHED.transposed}),
]
