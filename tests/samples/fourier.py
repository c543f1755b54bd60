"""Samples of the primitives of `ops.fourier`."""

from __future__ import annotations

from .makers import Row, complexes, reals

# fmt: off
ROWS: list[Row] = [
    *(("fft", [complexes(3, 4)], {"axes": axes, "inverse": inverse, "scale": 0.5})
      for axes in ((0,), (1,), (1, 0), ()) for inverse in (False, True)),
    *(("rfft", [reals(5, 4)], {"axis": axis, "scale": 0.5}) for axis in (0, 1)),
    ("rfft", [reals(1)], {"axis": 0, "scale": 1.0}),
    *(("irfft", [complexes(3, 3)], {"n": n, "axis": axis, "scale": 0.5}) for n in (4, 5) for axis in (0, 1)),
    ("irfft", [complexes(1)], {"n": 1, "axis": 0, "scale": 1.0}),
]
# fmt: on
