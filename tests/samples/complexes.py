"""Samples of the primitives of `ops.complexes`."""

from __future__ import annotations

from .makers import Row, complexes, reals

# fmt: off
ROWS: list[Row] = [
    *((name, [complexes(*shape)], {})
      for name in ("real", "imag", "view_as_real", "angle", "sgn", "abs", "conj") for shape in ((3, 2), ())),
    *((name, [reals(3, 2)], {}) for name in ("angle", "sgn")),
    *(("view_as_complex", [reals(*shape)], {}) for shape in ((3, 4, 2), (2,))),
    *(("complex_of", [reals(*a), reals(*b)], {}) for a, b in [((3, 2), (3, 2)), ((3, 1), (2,)), ((), (3,))]),
]
# fmt: on
