"""Samples of the primitives of `ops.normalization`."""

from __future__ import annotations

from .makers import Row, reals

# fmt: off
ROWS: list[Row] = [
    ("tied", [reals(3, 2), reals(3, 2)], {}),
    *(("total", [reals(3, 2, 4)], {"axis": axis}) for axis in ((0,), (1,), (2,), (1, 2), (0, 2), (0, 1, 2), ())),
    *(("standardize", [reals(3, 2, 4)], {"axis": axis, "eps": 1e-5, "known": None}) for axis in ((2,), (1, 2), (0, 2))),
    *(("standardize", [reals(*shape)], {"axis": axis, "eps": 0.1, "known": None})
      for shape, axis in (((70, 60), (1,)), ((1200, 60), (1,)), ((12, 3, 2000), (0, 2)))),
    *(("standardize_pullback", [reals(*shape), reals(*shape)], {"axis": axis, "eps": 0.1, "known": None})
      for shape, axis in (((3, 2, 4), (2,)), ((3, 2, 4), (1, 2)), ((3, 2, 4), (0, 2)), ((1200, 60), (1,)), ((12, 3, 2000), (0, 2)))),
    *(("standardize_affine", [reals(3, 2, 4), reals(*shape), reals(*shape)], {"axis": axis, "eps": 0.1, "known": None})
      for axis, shape in (((2,), (4,)), ((1, 2), (2, 4)), ((0, 2), (2, 1)), ((2,), (2, 1)), ((1, 2), (2, 1)))),
    ("scale_and_shift", [reals(3, 2, 4), reals(2, 1), reals(2, 1)], {}),
    *(("rms_normalize", [reals(3, 2, 4)], {"axis": axis, "eps": 1e-5}) for axis in ((2,), (1, 2))),
]
# fmt: on
