"""Samples of the primitives of `ops.spectra`: none, for each is a derivative of another only where all inputs fit together.

`tests/vocabulary/test_spectra.py` compares them, through `eigvalsh` and `svdvals`, with differences in high precision.
"""

from __future__ import annotations

from .makers import Row

ROWS: list[Row] = []
TOGETHER = {"eigvalsh", "svdvals", "spectral_gradient", "spectral_slopes"}
