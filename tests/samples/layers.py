"""Samples of the primitives of `ops.layers`."""

from __future__ import annotations

from .makers import Row, reals, whole

# fmt: off
ROWS: list[Row] = [
    *(("project", [reals(*shape, 3), reals(4, 3)], {}) for shape in ((2,), (), (2, 5))),
    *(("affine", [reals(*shape, 3), reals(4, 3), reals(4)], {}) for shape in ((2,), (), (2, 5))),
    # With a padding or by frequency the gradient is torch's, and not the derivative.
    *(("embedding", [reals(4, 3), whole(4, *shape)], {"padding": None, "by_frequency": False}) for shape in ((5,), (2, 3), ())),
    *(("scatter_rows", [reals(*shape, 3), whole(4, *shape)], {"rows": 5}) for shape in ((5,), (2, 3))),
]
# fmt: on
