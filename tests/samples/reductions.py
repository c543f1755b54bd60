"""Samples of the primitives of `ops.reductions`."""

from __future__ import annotations

import numpy as np

from .makers import Row, complexes, reals

# fmt: off
ROWS: list[Row] = [
    *((name, [reals(3, 4)], {"axis": axis, "keepdims": keep}) for name in ("sum", "mean", "amax", "amin", "largest", "smallest", "logsumexp")
      for axis in ((0,), (1,), (0, 1)) for keep in (True, False)),
    *((name, [reals()], {"axis": (), "keepdims": False}) for name in ("sum", "mean", "amax", "amin", "largest", "smallest", "logsumexp")),
    *((name, [reals(3, 4)], {"axis": axis, "keepdims": keep, "correction": correction}) for name in ("var", "std")
      for axis in ((0,), (1,), (0, 1)) for keep in (True, False) for correction in (0, 1)),
    *(("vector_norm", [reals(3, 4)], {"order": order, "axis": axis, "keepdims": keep})
      for order in (0.0, 1.0, 2.0, 3.0, 0.5, -1.0, np.inf, -np.inf) for axis in ((0,), (0, 1)) for keep in (True, False)),
    *(("cumsum", [reals(3, 4)], {"axis": axis}) for axis in (0, 1)),
    *(("prod", [reals(*shape)], {"axis": axis, "keepdims": keep}) for shape, axis in (((4,), 0), ((3, 4), 1), ((2, 3, 2), 1))
      for keep in (True, False)),
    *((name, [complexes(3, 4)], {"axis": axis, "keepdims": False}) for name in ("sum", "mean", "logsumexp") for axis in ((0,), (0, 1))),
    *((name, [complexes(3, 4)], {"axis": (0,), "keepdims": False, "correction": 1}) for name in ("var", "std")),
    *(("vector_norm", [complexes(3, 4)], {"order": order, "axis": (0,), "keepdims": False})
      for order in (0.0, 1.0, 2.0, 3.0, np.inf, -np.inf)),
    ("prod", [complexes(3, 4)], {"axis": 1, "keepdims": False}),
    ("cumsum", [complexes(3, 4)], {"axis": 1}),
]
# fmt: on
