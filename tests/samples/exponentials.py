"""Samples of the primitives of `ops.exponentials`: small ones, and large ones that are computed in one block and in several."""

from __future__ import annotations

from .makers import Row, fractions, reals, whole

# fmt: off
SHAPES = [((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((70, 60), 0), ((70, 60), 1), ((3, 50, 40), 1), ((1200, 60), 1), ((60, 1200), 0), ((70000,), 0)]
ROWS: list[Row] = [
    *((name, [reals(*shape)], {"axis": axis}) for name in ("softmax", "log_softmax") for shape, axis in SHAPES),
    *((name, [reals(*shape), fractions(*shape)], {"axis": axis})
      for name in ("softmax_pullback", "log_softmax_pullback") for shape, axis in SHAPES),
    *(("cross_entropy", [reals(*shape), whole(shape[1], shape[0])], {"reduction": reduction, "known": None})
      for shape in ((4, 3), (70, 60), (1200, 60)) for reduction in ("none", "mean", "sum")),
    *(("cross_entropy_pullback", [reals(*given), reals(*shape), whole(shape[1], shape[0])], {"reduction": reduction, "known": None})
      for shape in ((4, 3), (70, 60), (1200, 60)) for reduction, given in (("none", shape[:1]), ("mean", ()), ("sum", ()))),
]
# fmt: on
