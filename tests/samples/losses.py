"""Samples of the primitives of `ops.losses`."""

from __future__ import annotations

from .makers import Row, fractions, reals, whole

# fmt: off
ROWS: list[Row] = [
    ("binary_cross_entropy", [fractions(3, 2), fractions(3, 2)], {}),
    ("binary_cross_entropy", [fractions(), fractions()], {}),
    *(("binary_cross_entropy_of_logits", [reals(*shape), fractions(*shape)], {}) for shape in ((3, 2), ())),
    *(("huber", [reals(3, 2)], {"delta": delta}) for delta in (0.99, 2)),
    ("weighed_nll", [reals(4, 3), whole(3, 4), whole(5, 4)], {}),
]
# fmt: on
